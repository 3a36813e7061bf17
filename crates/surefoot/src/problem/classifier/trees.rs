//! Tree ensembles in files of the programs that made them.

use std::path::PathBuf;

use toml_edit::value;

use super::{ClassifierEntry, ClassifierForm, StatedModel};
use crate::file::ModelFolder;
use crate::problem::edit::Entries;
use crate::problem::entry::Inputs;
use crate::problem::fields::Fields;
use crate::problem::summary;
use crate::{Classifier, Ensemble, Features, Result};

/// A tree ensemble in a file; see [`Ensemble::read`].
#[derive(Clone, Debug, PartialEq)]
pub struct TreesFile {
    /// The path, relative to the problem file.
    pub path: PathBuf,
}

pub(super) fn read(fields: &mut Fields<'_>) -> Option<ClassifierForm> {
    fields.text("trees").map(|path| ClassifierForm::Trees(TreesFile { path: path.into() }))
}

impl StatedModel for TreesFile {
    fn classifier(
        &self,
        entry: &ClassifierEntry,
        features: &Features,
        folder: &ModelFolder,
    ) -> Result<Classifier> {
        let ensemble = Ensemble::read_in(folder, &self.path)?;
        Classifier::trees(ensemble.over(features, entry.inputs == Inputs::Standardised)?, entry.threshold)
    }

    fn files(&self, _folder: &ModelFolder) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn default_inputs(&self) -> Inputs {
        Inputs::Raw
    }

    fn summary(&self, _features: &Features, folder: &ModelFolder) -> String {
        match Ensemble::read_in(folder, &self.path) {
            Ok(ensemble) => summary::trees(&ensemble, &self.path),
            Err(_) => self.path.display().to_string(),
        }
    }

    fn fields(&self) -> Entries {
        vec![("trees", value(self.path.to_string_lossy().as_ref()))]
    }
}
