//! Classifiers from ONNX files, as scikit-learn (through skl2onnx) and PyTorch write them.
//!
//! Each value is represented as a linear function of the last activation's output ([`affine`]). Linear
//! operators, including a scaler in front of the model, are folded into the next layer, so that a chain of
//! dense layers remains. A probability at its end is replaced by its logit, and two classes by the
//! difference of their logits. A model with trees is read by [`trees`]. An error names the operator of a model
//! that has another form.

mod affine;
mod graph;
mod message;
mod operators;
mod tensor;
#[cfg(test)]
mod tests;
mod trees;

use std::path::{Path, PathBuf};

use prost::Message;

use crate::error::{FileError, FileProblem, ModelError, OnnxProblem, TreesProblem};
use crate::file::{ModelFolder, read_whole};
use crate::trees::parse;
use crate::{Ensemble, Error, Network, Result};

impl Network {
    /// Reads a binary classifier from an ONNX file: a logistic regression or a dense network, with
    /// or without a scaler in front and a sigmoid, softmax or decision behind. The network gives
    /// the logit of the second class, in the units that the model takes.
    ///
    /// # Errors
    /// If the file is not an ONNX model, or has an unsupported operator, which the error names.
    pub fn read_onnx(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let folder = ModelFolder::new(path.parent().unwrap_or(Path::new("")));
        Self::read_onnx_in(&folder, Path::new(path.file_name().unwrap_or_default()))
    }

    /// Reads a classifier by its path relative to a folder, which also decides which files may be read.
    pub(crate) fn read_onnx_in(folder: &ModelFolder, named: &Path) -> Result<Self> {
        let fault = |problem| Error::File(FileError::File { path: folder.path().join(named), problem });
        let bytes = folder.open(named).and_then(read_whole);
        let bytes = bytes.map_err(|error| fault(FileProblem::Read(error.into())))?;
        let model = ModelFile { folder, named };
        network(&bytes, Some(model)).map_err(|problem| fault(FileProblem::Onnx(problem)))
    }

    /// Reads a classifier from the bytes of a file.
    ///
    /// # Errors
    /// As for [`Network::read_onnx`]; also if weights are in a file beside it.
    pub fn from_onnx(bytes: &[u8]) -> Result<Self> {
        network(bytes, None).map_err(|problem| ModelError::Onnx(problem).into())
    }
}

/// The location of a model, for weights in a file beside it.
#[derive(Clone, Copy)]
struct ModelFile<'a> {
    folder: &'a ModelFolder,
    named: &'a Path,
}

/// The files beside an ONNX model with some of its weights, by their paths relative to the folder; empty if
/// the model cannot be read.
pub(crate) fn external_files(folder: &ModelFolder, named: &Path) -> Vec<PathBuf> {
    let bytes = folder.open(named).and_then(read_whole).unwrap_or_default();
    let graph = message::Model::decode(&bytes[..]).ok().and_then(|model| model.graph).unwrap_or_default();
    let attributes = graph.nodes.iter().flat_map(|node| &node.attributes);
    let tensors = attributes.filter_map(|attribute| attribute.tensor.as_ref()).chain(&graph.initializers);
    let mut files: Vec<PathBuf> =
        tensors.filter_map(|tensor| tensor::beside(tensor).map(|name| named.with_file_name(name))).collect();
    files.sort();
    files.dedup();
    files
}

/// The contents of an ONNX file.
#[derive(Debug)]
pub(crate) enum Contents {
    /// A logistic regression or a dense network.
    Network(Network),
    /// A tree ensemble.
    Trees(Ensemble),
}

impl Contents {
    /// Reads a classifier by its path relative to a folder, which also decides which files may be read.
    pub fn read(folder: &ModelFolder, named: &Path) -> Result<Self> {
        let fault = |problem| Error::File(FileError::File { path: folder.path().join(named), problem });
        let bytes = folder.open(named).and_then(read_whole);
        let bytes = bytes.map_err(|error| fault(FileProblem::Read(error.into())))?;
        let model = ModelFile { folder, named };
        contents(&bytes, Some(model)).map_err(|problem| fault(FileProblem::Onnx(problem)))
    }
}

impl Ensemble {
    /// Reads a binary classifier: a model of XGBoost (JSON or UBJ), LightGBM (text) or CatBoost (JSON), trees
    /// in an ONNX file, or Surefoot's own JSON. The format is recognised by the content.
    ///
    /// # Errors
    /// If the file is none of these, or has something that is not understood, which the error names.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let folder = ModelFolder::new(path.parent().unwrap_or(Path::new("")));
        Self::read_in(&folder, Path::new(path.file_name().unwrap_or_default()))
    }

    /// Reads a classifier by its path relative to a folder, which also decides which files may be read.
    pub(crate) fn read_in(folder: &ModelFolder, named: &Path) -> Result<Self> {
        let fault = |problem| Error::File(FileError::File { path: folder.path().join(named), problem });
        let bytes = folder.open(named).and_then(read_whole);
        let bytes = bytes.map_err(|error| fault(FileProblem::Read(error.into())))?;
        match parse(&bytes).map_err(|problem| fault(FileProblem::Trees(problem)))? {
            Some(ensemble) => Ok(ensemble),
            None => match contents(&bytes, Some(ModelFile { folder, named })) {
                Ok(Contents::Trees(ensemble)) => Ok(ensemble),
                Ok(Contents::Network(_)) => Err(fault(FileProblem::Trees(TreesProblem::Network))),
                Err(OnnxProblem::Format(_)) => Err(fault(FileProblem::Trees(TreesProblem::Unknown))),
                Err(problem) => Err(fault(FileProblem::Onnx(problem))),
            },
        }
    }

    /// Reads a classifier from the bytes of a file.
    ///
    /// # Errors
    /// As for [`Ensemble::read`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let fault = |problem| Error::Model(ModelError::Trees(problem));
        match parse(bytes).map_err(fault)? {
            Some(ensemble) => Ok(ensemble),
            None => match contents(bytes, None) {
                Ok(Contents::Trees(ensemble)) => Ok(ensemble),
                Ok(Contents::Network(_)) => Err(fault(TreesProblem::Network)),
                Err(OnnxProblem::Format(_)) => Err(fault(TreesProblem::Unknown)),
                Err(problem) => Err(ModelError::Onnx(problem).into()),
            },
        }
    }
}

fn network(bytes: &[u8], file: Option<ModelFile<'_>>) -> Result<Network, OnnxProblem> {
    match contents(bytes, file)? {
        Contents::Network(network) => Ok(network),
        Contents::Trees(_) => Err(OnnxProblem::Trees),
    }
}

fn contents(bytes: &[u8], file: Option<ModelFile<'_>>) -> Result<Contents, OnnxProblem> {
    let model = message::Model::decode(bytes).map_err(|error| OnnxProblem::Format(error.to_string()))?;
    let graph = model.graph.ok_or_else(|| OnnxProblem::Format("it has no graph".into()))?;
    match trees::read(&graph, file)? {
        Some(ensemble) => Ok(Contents::Trees(ensemble)),
        None => graph::read(&graph, file).map(Contents::Network),
    }
}
