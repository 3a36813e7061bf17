//! Networks in safetensors files.

use std::path::PathBuf;

use super::{ClassifierEntry, ClassifierForm, StatedModel};
use crate::file::ModelFolder;
use crate::problem::edit::{Entries, network_fields};
use crate::problem::entry::NetworkFile;
use crate::problem::fields::Fields;
use crate::problem::{summary, units};
use crate::{Classifier, Features, Result};

pub(super) fn read(fields: &mut Fields<'_>) -> Option<ClassifierForm> {
    fields.network_file().map(ClassifierForm::Network)
}

impl StatedModel for NetworkFile {
    fn classifier(
        &self,
        entry: &ClassifierEntry,
        features: &Features,
        folder: &ModelFolder,
    ) -> Result<Classifier> {
        let network = units::standardised(self.read(folder)?.0, entry.inputs, features)?;
        Classifier::network(network, entry.threshold)
    }

    fn files(&self, _folder: &ModelFolder) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn summary(&self, _features: &Features, folder: &ModelFolder) -> String {
        format!("network, {}", summary::network_file(self, folder))
    }

    fn fields(&self) -> Entries {
        network_fields(self)
    }
}
