//! Linear classifiers, written into the problem file itself.

use toml_edit::value;

use super::{ClassifierEntry, ClassifierForm, StatedModel};
use crate::file::ModelFolder;
use crate::problem::edit::{Entries, list, number};
use crate::problem::entry::Inputs;
use crate::problem::fields::Fields;
use crate::problem::summary;
use crate::{Classifier, Features, Result};

/// `coefficients . features + intercept`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// One coefficient for each feature, in order.
    pub coefficients: Vec<f64>,
    /// The logit where all features are zero.
    pub intercept: f64,
}

pub(super) fn read(fields: &mut Fields<'_>) -> Option<ClassifierForm> {
    let (coefficients, intercept) = fields.linear()?;
    Some(ClassifierForm::Linear(LinearModel { coefficients, intercept }))
}

impl StatedModel for LinearModel {
    fn classifier(
        &self,
        entry: &ClassifierEntry,
        features: &Features,
        _folder: &ModelFolder,
    ) -> Result<Classifier> {
        match entry.inputs {
            Inputs::Standardised => {
                Classifier::linear(self.coefficients.clone(), self.intercept, entry.threshold)
            }
            Inputs::Raw => {
                Classifier::linear_in_own_units(features, &self.coefficients, self.intercept, entry.threshold)
            }
        }
    }

    fn summary(&self, features: &Features, _folder: &ModelFolder) -> String {
        summary::sum(&self.coefficients, &features.names(), self.intercept)
    }

    fn fields(&self) -> Entries {
        vec![
            ("coefficients", list(self.coefficients.iter().copied().map(number))),
            ("intercept", value(number(self.intercept))),
        ]
    }
}
