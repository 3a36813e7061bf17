//! What can be wrong with an ONNX file.

use thiserror::Error;

use crate::error::quoted;

/// Why an ONNX file was not understood.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum OnnxProblem {
    /// The bytes are something else, or break off.
    #[error("is no whole ONNX file: {0}")]
    Format(String),
    /// An operator that makes no logistic regression or dense network.
    #[error(
        "{node}: the operator `{operator}` is not understood; models are logistic regressions or linear layers with Relu, Tanh or Sigmoid between them"
    )]
    Operator { operator: String, node: String },
    /// An operator that is known but does something else here.
    #[error("{node}: the operator `{operator}` {reason}")]
    Use { operator: String, node: String, reason: UnsupportedUse },
    /// Activations of several kinds.
    #[error("{node}: `{operator}` follows layers with `{before}`; all layers must have the same activation")]
    MixedActivations { operator: String, node: String, before: String },
    /// A value that nothing gives.
    #[error("{node}: takes `{value}`, which nothing before it gives")]
    Unknown { node: String, value: String },
    /// Numbers in another file that is not to be read.
    #[error(
        "the numbers of `{tensor}` are in another file, `{location}`, which {reason}; export the model into one file (in PyTorch: external_data=False)"
    )]
    External { tensor: String, location: String, reason: &'static str },
    /// Numbers of another type.
    #[error("tensor `{tensor}`: numbers of ONNX type {kind}; export weights as floats or doubles")]
    Numbers { tensor: String, kind: i32 },
    /// A tensor that does not hold what its shape says.
    #[error("tensor `{tensor}`: {found} numbers where its dimensions {dimensions:?} need another count")]
    Size { tensor: String, dimensions: Vec<i64>, found: usize },
    /// A model of several tables.
    #[error("has {} inputs, {}; it must have one, with a column for each feature", .0.len(), quoted(.0))]
    Inputs(Vec<String>),
    /// An input that is no table.
    #[error("its input has the dimensions {0:?} (none: any); it must have rows and columns")]
    InputShape(Vec<Option<i64>>),
    /// An input of another width than the weights.
    #[error("its input has {declared} columns, but its first layer takes {taken}")]
    InputWidth { declared: i64, taken: usize },
    /// Nothing comes out.
    #[error("has no output")]
    NoOutput,
    /// More than two classes.
    #[error("its output `{output}` has {width} columns; it must be one logit or probability, or two classes")]
    Classes { output: String, width: usize },
    /// An output that says neither yes nor no.
    #[error(
        "its output `{output}` is neither a logit nor the probability of two classes; end in a linear layer, Sigmoid or Softmax"
    )]
    Ending { output: String },
    /// A matrix that no classifier of people needs.
    #[error("{node}: the model is too large; all matrices together must have at most {most} numbers")]
    TooLarge { node: String, most: usize },
    /// What it holds is no network.
    #[error("{0}")]
    Network(String),
}

/// What an operator does that is not understood.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum UnsupportedUse {
    /// Two values meet where one must be a constant.
    #[error("joins two values of which neither is a constant; only chains of layers are understood")]
    NoConstant,
    /// Only constants meet.
    #[error("is applied to constants, which is not understood")]
    OnlyConstants,
    /// Missing inputs.
    #[error("has {found} inputs where {expected} are needed")]
    Inputs { found: usize, expected: usize },
    /// Shapes that do not fit.
    #[error("meets a tensor of the dimensions {dimensions:?} where there are {} columns", width.map_or("unknown".into(), |w| w.to_string()))]
    Shape { dimensions: Vec<usize>, width: Option<usize> },
    /// A layer on nothing.
    #[error("comes before any layer, scaler or constant that says how many columns there are")]
    NoWidth,
    /// An attribute that changes what it does.
    #[error("has `{attribute}` = {value}, which is not understood")]
    Attribute { attribute: &'static str, value: String },
    /// Values that are not known to be probabilities.
    #[error("is applied to values that are not the probabilities of two classes")]
    NotProbabilities,
    /// A decision between anything but two classes.
    #[error("decides between another number of classes than two")]
    NotTwoClasses,
    /// A logistic regression without probabilities.
    #[error("gives raw scores; export the model with probabilities")]
    RawScores,
    /// A decision that is computed with.
    #[error("computes with the decision; that is not understood")]
    Decision,
    /// Numbers are lost.
    #[error("turns values into ones of ONNX type {0}, which loses digits")]
    LosesDigits(i64),
}
