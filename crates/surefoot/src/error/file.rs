//! Mistakes in files.

use std::path::PathBuf;

use thiserror::Error;

use super::mistake::Mistakes;
use super::onnx::OnnxProblem;
use super::trees::TreesProblem;
use crate::file::ReadProblem;

/// What can be wrong with files.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum FileError {
    /// A model file that cannot be used.
    #[error("{path}: {problem}", path = path.display())]
    File { path: PathBuf, problem: FileProblem },
    /// A problem file with mistakes.
    #[error("{0}")]
    ProblemFile(Mistakes),
    /// A problem file that can be read but not edited.
    #[error("{path}: only TOML files are edited in place; write the problem as TOML", path = path.display())]
    NotEditable { path: PathBuf },
    /// A saved proof that cannot be read.
    #[error("the saved proof, at {place}: {problem}")]
    SavedProof { place: String, problem: SavedProblem },
}

/// "`a`, `b` or `c`".
fn choices(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// What is wrong with a saved proof.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SavedProblem {
    /// It is no JSON.
    #[error("this is no JSON: {0}")]
    Syntax(String),
    /// Something is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// Something else is expected.
    #[error("{0} is expected here")]
    Expected(&'static str),
    /// A name that is none of the known ones.
    #[error("{} is expected here", choices(.0))]
    NotOneOf(Vec<&'static str>),
    /// Written in another way than this program reads.
    #[error("version {found} is not known; this program reads versions 1 to {newest}")]
    Version {
        /// The version of the file.
        found: u64,
        /// The newest version that is read.
        newest: u64,
    },
    /// A list of another length than those beside it.
    #[error("there are {found} numbers where {expected} are needed")]
    Length {
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

/// What is wrong with a model file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(ReadProblem),
    /// It cannot be written.
    #[error("cannot be written: {}", no_folder(*.0))]
    Write(std::io::ErrorKind),
    /// It is no safetensors file.
    #[error("is no whole safetensors file: {0}")]
    Format(String),
    /// A tensor is not there.
    #[error("has no tensor `{0}`; name layers `layer0.weight`, `layer0.bias`, `layer1.weight`, ...")]
    Missing(String),
    /// The activation is another than was asked for.
    #[error("was written for the activation {0}")]
    Activation(String),
    /// What it holds is no network.
    #[error("{0}")]
    Network(String),
    /// A tensor is no matrix.
    #[error("`{0}` has the wrong number of dimensions; weights have two, biases one")]
    Shape(String),
    /// It is no ONNX model that is understood.
    #[error("{0}")]
    Onnx(OnnxProblem),
    /// It is no tree ensemble that is understood.
    #[error("{0}")]
    Trees(TreesProblem),
    /// A tensor is of whole numbers or the like.
    #[error("holds numbers of type {0}; save weights as F64 or F32")]
    Numbers(String),
}

/// What is not found when a file is written is its folder.
fn no_folder(kind: std::io::ErrorKind) -> String {
    match kind {
        std::io::ErrorKind::NotFound => "its folder does not exist".into(),
        other => other.to_string(),
    }
}
