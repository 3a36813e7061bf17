//! Errors of reading tree ensembles.

use thiserror::Error;

use super::{count_of, quoted};

/// The reason why a tree ensemble is refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum TreesProblem {
    /// The content is none of the known formats.
    #[error(
        "is none of the tree ensembles that are understood: XGBoost (JSON, UBJ), LightGBM (text), CatBoost (JSON), ONNX, or Surefoot's own JSON"
    )]
    Unknown,
    /// The content cannot be parsed.
    #[error("is no whole {format} file: {message}")]
    Syntax { format: &'static str, message: String },
    /// A field is missing.
    #[error("{place}: `{field}` is missing")]
    Missing { place: String, field: String },
    /// A field has another type or length.
    #[error("{place}: {expected} is expected")]
    Expected { place: String, expected: String },
    /// The model uses something that is not understood.
    #[error("{0} is not understood; {1}")]
    Unsupported(String, &'static str),
    /// A tree is not a tree.
    #[error("tree {tree}, node {node}: {reason}")]
    Structure { tree: usize, node: usize, reason: &'static str },
    /// A tree tests a column that does not exist.
    #[error("tree {tree}, node {node}: it tests column {column}, but there are {inputs}")]
    Column { tree: usize, node: usize, column: usize, inputs: usize },
    /// A number is not finite or too large.
    #[error(
        "tree {tree}, node {node}: {value:?} among its numbers; all must be finite and no larger than 1e100"
    )]
    Number { tree: usize, node: usize, value: f64 },
    /// The ensemble has no trees.
    #[error("has no trees")]
    NoTrees,
    /// The ensemble is larger than the limit.
    #[error("has too many nodes; there may be at most {most}")]
    TooLarge { most: usize },
    /// The ensemble has more inputs than the limit.
    #[error("has {inputs} columns; there may be at most {most}")]
    TooManyInputs { inputs: usize, most: usize },
    /// The columns are not those of the features.
    #[error(
        "takes {}, {}, which are not the features: {}; name the features as the model does, or give one for each of its columns, in their order",
        count_of(columns.len(), "column"), quoted(columns), quoted(features)
    )]
    Columns { columns: Vec<String>, features: Vec<String> },
    /// A categorical feature is used in an unsupported way.
    #[error("column `{column}`: {reason}")]
    Category { column: String, reason: String },
    /// The file has a network.
    #[error("is a network and no tree ensemble; name it as `onnx`")]
    Network,
    /// The model gives no probabilities.
    #[error("gives no probabilities, only decisions; leave out the threshold, or set it to 0.5")]
    NoProbability,
}
