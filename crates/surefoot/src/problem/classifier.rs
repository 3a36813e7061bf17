//! The `[classifier]` of a problem file. Each kind has its own file, and one line each in [`KINDS`] and
//! in [`ClassifierForm`].

mod linear;
mod network;
mod onnx;
mod trees;

use std::path::PathBuf;

use super::edit::Entries;
use super::entry::Inputs;
use super::fields::Fields;
use crate::file::ModelFolder;
use crate::{Classifier, Features, Result};

pub use linear::LinearModel;
pub use onnx::OnnxFile;
pub use trees::TreesFile;

use super::entry::NetworkFile;

/// The `[classifier]` of a problem file.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierEntry {
    /// The model that computes the logit.
    pub form: ClassifierForm,
    /// The least probability that is favourable.
    pub threshold: f64,
    /// The units of its inputs.
    pub inputs: Inputs,
}

/// The kinds of `[classifier]`.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassifierForm {
    /// `coefficients . features + intercept`.
    Linear(LinearModel),
    /// A network in a safetensors file.
    Network(NetworkFile),
    /// A logistic regression, a network or a tree ensemble in an ONNX file.
    Onnx(OnnxFile),
    /// A tree ensemble in a file of the program that made it.
    Trees(TreesFile),
}

/// A model as stated in a problem file.
pub trait StatedModel {
    /// The classifier, in the standardised units of the engine.
    ///
    /// # Errors
    /// If a file cannot be read, or if its numbers do not fit the features.
    fn classifier(
        &self,
        entry: &ClassifierEntry,
        features: &Features,
        folder: &ModelFolder,
    ) -> Result<Classifier>;

    /// The files that contain it, relative to the problem file.
    fn files(&self, _folder: &ModelFolder) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether another program created it, so that training must not overwrite it.
    fn is_foreign(&self) -> bool {
        false
    }

    /// The units of its inputs if the problem file does not state them.
    fn default_inputs(&self) -> Inputs {
        Inputs::Standardised
    }

    /// A readable summary in one line.
    fn summary(&self, features: &Features, folder: &ModelFolder) -> String;

    /// Its fields in a problem file.
    #[doc(hidden)]
    fn fields(&self) -> Entries;
}

/// How one kind is read.
pub(super) struct Kind {
    /// The field that identifies this kind.
    pub field: &'static str,
    /// Fields shared with other kinds that it may have.
    pub others: &'static [&'static str],
    pub read: fn(&mut Fields<'_>) -> Option<ClassifierForm>,
}

/// Every kind that can be read. (`network`, `coefficients` and their fields are also those of equations.)
pub(super) const KINDS: [Kind; 4] = [
    Kind { field: "onnx", others: &[], read: onnx::read },
    Kind { field: "network", others: &["activation"], read: network::read },
    Kind { field: "coefficients", others: &["intercept"], read: linear::read },
    Kind { field: "trees", others: &[], read: trees::read },
];

impl ClassifierForm {
    /// The model, independent of its kind.
    pub fn model(&self) -> &dyn StatedModel {
        match self {
            Self::Linear(model) => model,
            Self::Network(model) => model,
            Self::Onnx(model) => model,
            Self::Trees(model) => model,
        }
    }
}

impl ClassifierEntry {
    /// The classifier, in the standardised units of the engine.
    ///
    /// # Errors
    /// If a file cannot be read, or if its numbers do not fit the features.
    pub fn classifier(&self, features: &Features, folder: &ModelFolder) -> Result<Classifier> {
        self.form.model().classifier(self, features, folder)
    }
}
