//! Classifiers from ONNX files, as scikit-learn (through skl2onnx) and PyTorch write them.
//!
//! The input is followed through the nodes of the model as a linear function of what the last
//! activation gave ([`affine`]): whatever is linear, a scaler in front of the model too, is folded
//! into the next layer. What remains is a chain of dense layers. A probability at its end becomes
//! the logit before it, two classes become the difference of theirs. What does not fit that is
//! refused by the name of its operator.

mod affine;
mod graph;
mod message;
mod operators;
mod problem;
mod tensor;
#[cfg(test)]
mod tests;

use std::path::Path;

use prost::Message;

pub use problem::{Misuse, OnnxProblem};

use crate::error::FileProblem;
use crate::{Error, Network, Result};

impl Network {
    /// Reads a binary classifier from an ONNX file: a logistic regression or a dense network, with
    /// or without a scaler in front and a sigmoid, softmax or decision behind. The network gives
    /// the logit of the second class, in the units that the model takes.
    ///
    /// # Errors
    /// If the file is something else, or has an operator that is not understood, which is named.
    pub fn read_onnx(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let fault = |problem| Error::File { path: path.into(), problem };
        let bytes = std::fs::read(path).map_err(|error| fault(FileProblem::Read(error.kind())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        network(&bytes, Some(folder)).map_err(|problem| fault(FileProblem::Onnx(problem)))
    }

    /// The same from the bytes of a file.
    ///
    /// # Errors
    /// As above; also if weights are in a file beside it.
    pub fn from_onnx(bytes: &[u8]) -> Result<Self> {
        network(bytes, None).map_err(Error::Onnx)
    }
}

fn network(bytes: &[u8], folder: Option<&Path>) -> Result<Network, OnnxProblem> {
    let model = message::Model::decode(bytes).map_err(|error| OnnxProblem::Format(error.to_string()))?;
    let graph = model.graph.ok_or_else(|| OnnxProblem::Format("it has no graph".into()))?;
    graph::read(&graph, folder)
}
