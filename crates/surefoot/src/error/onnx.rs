//! Errors of reading ONNX files.

use thiserror::Error;

use super::quoted;
use super::trees::TreesProblem;

/// The reason why an ONNX file is refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum OnnxProblem {
    /// The bytes are not an ONNX model, or are truncated.
    #[error("is no whole ONNX file: {0}")]
    Format(String),
    /// An operator is not part of a logistic regression or a dense network.
    #[error(
        "{node}: the operator `{operator}` is not understood; models are logistic regressions, linear layers with Relu, Tanh or Sigmoid between them, or one tree ensemble"
    )]
    Operator { operator: String, node: String },
    /// An operator is known but is used in an unsupported way.
    #[error("{node}: the operator `{operator}` {reason}")]
    Use { operator: String, node: String, reason: UnsupportedUse },
    /// The activations are of several kinds.
    #[error("{node}: `{operator}` follows layers with `{before}`; all layers must have the same activation")]
    MixedActivations { operator: String, node: String, before: String },
    /// A value is not the output of any node.
    #[error("{node}: takes `{value}`, which nothing before it gives")]
    Unknown { node: String, value: String },
    /// Numbers are in another file that must not be read.
    #[error(
        "the numbers of `{tensor}` are in another file, `{location}`, which {reason}; export the model into one file (in PyTorch: external_data=False)"
    )]
    External { tensor: String, location: String, reason: &'static str },
    /// Numbers have an unsupported type.
    #[error("tensor `{tensor}`: numbers of ONNX type {kind}; export weights as floats or doubles")]
    Numbers { tensor: String, kind: i32 },
    /// The content of a tensor does not match its shape.
    #[error("tensor `{tensor}`: {found} numbers where its dimensions {dimensions:?} need another count")]
    Size { tensor: String, dimensions: Vec<i64>, found: usize },
    /// The model has several inputs.
    #[error("has {} inputs, {}; it must have one, with a column for each feature", .0.len(), quoted(.0))]
    Inputs(Vec<String>),
    /// The input is not a table.
    #[error("its input has the dimensions {0:?} (none: any); it must have rows and columns")]
    InputShape(Vec<Option<i64>>),
    /// The width of the input differs from that of the weights.
    #[error("its input has {declared} columns, but its first layer takes {taken}")]
    InputWidth { declared: i64, taken: usize },
    /// The model has no output.
    #[error("has no output")]
    NoOutput,
    /// The model has more than two classes.
    #[error("its output `{output}` has {width} columns; it must be one logit or probability, or two classes")]
    Classes { output: String, width: usize },
    /// The output is not a binary decision.
    #[error(
        "its output `{output}` is neither a logit nor the probability of two classes; end in a linear layer, Sigmoid or Softmax"
    )]
    Ending { output: String },
    /// A matrix is larger than the limit.
    #[error("{node}: the model is too large; all matrices together must have at most {most} numbers")]
    TooLarge { node: String, most: usize },
    /// The model is a tree ensemble where a network is needed.
    #[error("is a tree ensemble where a network is needed")]
    Trees,
    /// The trees do not form a valid ensemble.
    #[error("{node}: {problem}")]
    Ensemble { node: String, problem: TreesProblem },
    /// The layers do not form a valid network.
    #[error("{0}")]
    Network(String),
}

/// An unsupported use of an operator.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum UnsupportedUse {
    /// Two inputs depend on the model's input where one must be a constant.
    #[error("joins two values of which neither is a constant; only chains of layers are understood")]
    NoConstant,
    /// All inputs are constants.
    #[error("is applied to constants, which is not understood")]
    OnlyConstants,
    /// Inputs are missing.
    #[error("has {found} inputs where {expected} are needed")]
    Inputs { found: usize, expected: usize },
    /// Shapes do not match.
    #[error("meets a tensor of the dimensions {dimensions:?} where there are {} columns", width.map_or("unknown".into(), |w| w.to_string()))]
    Shape { dimensions: Vec<usize>, width: Option<usize> },
    /// The number of columns is not known yet.
    #[error("comes before any layer, scaler or constant that says how many columns there are")]
    NoWidth,
    /// An attribute has an unsupported value.
    #[error("has `{attribute}` = {value}, which is not understood")]
    Attribute { attribute: &'static str, value: String },
    /// Values are not known to be probabilities.
    #[error("is applied to values that are not the probabilities of two classes")]
    NotProbabilities,
    /// A decision is not between two classes.
    #[error("decides between another number of classes than two")]
    NotTwoClasses,
    /// A logistic regression has no probabilities.
    #[error("gives raw scores; export the model with probabilities")]
    RawScores,
    /// A decision is the input of further operators.
    #[error("computes with the decision; that is not understood")]
    Decision,
    /// A conversion loses digits.
    #[error("turns values into ones of ONNX type {0}, which loses digits")]
    LosesDigits(i64),
}
