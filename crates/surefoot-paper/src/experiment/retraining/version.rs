//! A version: a trained classifier with the causal model that was fitted to the same rows.

use ndarray::{Array2, Axis};
use surefoot::train::{Fitted, Fitting, Function, Threshold, Training};
use surefoot::{Classifier, Features, Scm};

use crate::data::{Graph, Table};

/// A classifier and a causal model that have seen the same rows.
#[derive(Clone, Debug)]
pub(super) struct Version {
    /// The classifier, with the threshold that is best on its rows.
    pub classifier: Classifier,
    /// The linear equations; `None` without a causal graph.
    pub equations: Option<Fitted>,
}

impl Version {
    /// Trains the classifier and fits linear equations to some rows of a table.
    pub fn train(table: &Table, graph: Graph, rows: &[usize], training: &Training) -> surefoot::Result<Self> {
        let labels: Vec<bool> = rows.iter().map(|&row| table.favourable[row]).collect();
        let rows: Array2<f64> = table.rows.select(Axis(0), rows);
        let trained = training.run(&table.features, rows.view(), &labels)?;
        let classifier = trained.classifier(Threshold::BestMcc, rows.view(), &labels)?;
        let fit = || Fitting { held_out: 0.0, ..Fitting::linear() }.run(&table.features, rows.view(), graph);
        let equations = if graph.is_empty() { None } else { Some(fit()?) };
        Ok(Self { classifier, equations })
    }

    /// The causal model.
    pub fn scm(&self, features: &Features) -> surefoot::Result<Option<Scm>> {
        self.equations.as_ref().map(|fitted| fitted.scm(features)).transpose()
    }

    /// The coefficients of the causal model, equation by equation.
    pub fn coefficients(&self) -> Vec<f64> {
        let equations = self.equations.iter().flat_map(|fitted| &fitted.equations);
        let coefficients = equations.map(|equation| match &equation.function {
            Function::Linear { coefficients, .. } => &coefficients[..],
            Function::Network(_) => &[],
        });
        coefficients.flatten().copied().collect()
    }
}
