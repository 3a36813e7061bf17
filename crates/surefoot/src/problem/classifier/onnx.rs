//! Models in ONNX files.

use std::path::PathBuf;

use toml_edit::value;

use super::{ClassifierEntry, ClassifierForm, StatedModel};
use crate::file::ModelFolder;
use crate::onnx::{Contents, external_files};
use crate::problem::edit::Entries;
use crate::problem::entry::Inputs;
use crate::problem::fields::Fields;
use crate::problem::{summary, units};
use crate::{Classifier, Features, Result};

/// A logistic regression, a network or a tree ensemble in an ONNX file.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxFile {
    /// The path, relative to the problem file.
    pub path: PathBuf,
}

pub(super) fn read(fields: &mut Fields<'_>) -> Option<ClassifierForm> {
    fields.text("onnx").map(|path| ClassifierForm::Onnx(OnnxFile { path: path.into() }))
}

impl StatedModel for OnnxFile {
    fn classifier(
        &self,
        entry: &ClassifierEntry,
        features: &Features,
        folder: &ModelFolder,
    ) -> Result<Classifier> {
        match Contents::read(folder, &self.path)? {
            Contents::Network(network) => {
                let network = units::standardised(network, entry.inputs, features)?;
                Classifier::network(network, entry.threshold)
            }
            Contents::Trees(ensemble) => {
                let ensemble = ensemble.over(features, entry.inputs == Inputs::Standardised)?;
                Classifier::trees(ensemble, entry.threshold)
            }
        }
    }

    /// The file, and the external data files beside it.
    fn files(&self, folder: &ModelFolder) -> Vec<PathBuf> {
        [vec![self.path.clone()], external_files(folder, &self.path)].concat()
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn summary(&self, features: &Features, folder: &ModelFolder) -> String {
        match Contents::read(folder, &self.path) {
            Ok(Contents::Network(network)) => match network.layers() {
                [layer] => {
                    let sum = summary::sum(&layer.weight.row(0).to_vec(), &features.names(), layer.bias[0]);
                    format!("{sum}, from {}", self.path.display())
                }
                _ => format!("network, {} ({})", self.path.display(), summary::shape(&network)),
            },
            Ok(Contents::Trees(ensemble)) => summary::trees(&ensemble, &self.path),
            Err(_) => self.path.display().to_string(),
        }
    }

    fn fields(&self) -> Entries {
        vec![("onnx", value(self.path.to_string_lossy().as_ref()))]
    }
}
