//! Mistakes in the model that decides.

use thiserror::Error;

use super::onnx::OnnxProblem;
use super::trees::TreesProblem;
use super::{count_of, quoted};

/// What can be wrong with the model that decides.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum ModelError {
    /// A network of nothing.
    #[error("a network has no layers; give at least one")]
    NetworkWithoutLayers,
    /// A network with several outputs.
    #[error("a network has {outputs} outputs; it must have one, the logit or the value")]
    NetworkOutputs { outputs: usize },
    /// Layers that do not fit together.
    #[error(
        "layer {layer} of a network: a weight of {outputs} x {inputs} with {biases} biases, where {expected} inputs come in; check the shapes"
    )]
    NetworkShape { layer: usize, outputs: usize, inputs: usize, biases: usize, expected: usize },
    /// NaN or infinity among weights.
    #[error(
        "layer {layer} of a network: {value:?} among its numbers; all must be finite and no larger than 1e100"
    )]
    NetworkNotFinite { layer: usize, value: f64 },
    /// An ONNX model that cannot be used.
    #[error("the ONNX model {0}")]
    Onnx(OnnxProblem),
    /// A tree ensemble that cannot be used.
    #[error("the tree ensemble {0}")]
    Trees(TreesProblem),
    /// A classifier that looks at another number of features.
    #[error(
        "the classifier takes {}, but there {}; give one coefficient, or one input of the network, for each feature, in this order: {}",
        count_of(*inputs, "input"), features_there(features.len()), quoted(features)
    )]
    ClassifierInputs { features: Vec<String>, inputs: usize },
    /// A weight that is not finite.
    #[error(
        "the classifier has {value:?} among its numbers; all must be finite and, with standardised inputs, no larger than 1e100"
    )]
    ClassifierNumber { value: f64 },
    /// A threshold that is not between 0 and 1.
    #[error("the threshold is {threshold}; it must lie strictly between 0 and 1")]
    Threshold { threshold: f64 },
    /// A method for linear classifiers given another.
    #[error("this method needs a linear classifier; choose the method `auto`, which answers for others")]
    ClassifierNotLinear,
    /// A method for tree ensembles given something else.
    #[error(
        "this method needs a tree ensemble, a linear causal model or none, and the norm l1, l2 or linf; choose the method `auto`, which answers for others"
    )]
    ClassifierNotTrees,
    /// A number of members that must agree, of which there are fewer.
    #[error(
        "`agree` is {agree}, and the committee has {members} members; it must lie between 1 and their number"
    )]
    Agreement { agree: usize, members: usize },
    /// Two members with the same name.
    #[error("two classifiers have the name `{name}`; give each a name of its own")]
    MemberName { name: String },
    /// Members that look at different numbers of features.
    #[error("the members of the committee take {inputs:?} inputs; all must take every feature")]
    CommitteeInputs { inputs: Vec<usize> },
    /// More subsets of members than can be answered.
    #[error(
        "at least {agree} of {members} members agree iff each of {subsets} subsets has a favourable one, and at most {most} subsets are answered; require more of them, or give fewer"
    )]
    CommitteeTooLarge { agree: usize, members: usize, subsets: f64, most: usize },
    /// A radius of weights that is none.
    #[error(
        "weights are uncertain by {value:?}; give a radius of at least 0, or a share of at least 0 and less than 1"
    )]
    WeightUncertainty { value: f64 },
    /// A size of an ellipsoid of weights that is none.
    #[error("`{field}` of the uncertain weights is {value:?}; it must be {}", reach_range(field))]
    WeightReach { field: &'static str, value: f64 },
    /// A matrix that is no covariance of the weights.
    #[error("the covariance of the weights {problem}")]
    WeightCovariance { problem: CovarianceProblem },
    /// The ellipsoid of one classifier's weights for several classifiers.
    #[error(
        "a covariance is that of the weights of one classifier, and a committee decides; give the weights of its members a radius or a share"
    )]
    WeightsOfCommittee,
    /// Uncertain weights of a model whose weights are not known.
    #[error(
        "weights can be uncertain for linear classifiers and dense networks; this classifier is neither. Leave out the uncertainty of its weights, or give several versions of the classifier"
    )]
    WeightsNotKnown,
    /// Two uncertainties of the same weights.
    #[error("the weights of the classifier are uncertain already; state their uncertainty once")]
    WeightsUncertainTwice,
    /// A score that overflows.
    #[error(
        "the classifier gives somebody the score {score}, which is no finite number; check the magnitudes of its weights and of the equations"
    )]
    ScoreNotFinite { score: f64 },
}

/// What is wrong with a covariance matrix of weights, as the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum CovarianceProblem {
    /// A row of another length.
    #[error("has {rows} rows, and row {row} has {found} numbers; give as many as there are rows")]
    RowLength { row: usize, rows: usize, found: usize },
    /// A covariance of other weights.
    #[error(
        "has {rows} rows; it must have one for each of {weights} weights: those of a linear classifier or of the last layer of a network, in their order, and then the intercept"
    )]
    Weights { weights: usize, rows: usize },
    /// A number that is not finite, too large or too small.
    #[error(
        "has {value:?} in row {row}, column {column}; give zero or a number between 1e-100 and 1e100 in size"
    )]
    Number { row: usize, column: usize, value: f64 },
    /// Two halves that differ.
    #[error("is not symmetric: row {row}, column {column} is not row {column}, column {row}")]
    NotSymmetric { row: usize, column: usize },
    /// A matrix with a direction without variance.
    #[error(
        "is not positive definite: row {row} says that weight {row} follows from those before it; leave out features that follow from others when estimating it"
    )]
    NotPositive { row: usize },
}

/// What a field for the size of an ellipsoid of weights must be.
fn reach_range(field: &str) -> &'static str {
    if field == "probability" { "above 0 and below 1" } else { "a positive finite number" }
}

/// "is 1 feature", "are 2 features".
fn features_there(count: usize) -> String {
    format!("{} {}", if count == 1 { "is" } else { "are" }, count_of(count, "feature"))
}
