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
    /// A score that overflows.
    #[error(
        "the classifier gives somebody the score {score}, which is no finite number; check the magnitudes of its weights and of the equations"
    )]
    ScoreNotFinite { score: f64 },
}

/// "is 1 feature", "are 2 features".
fn features_there(count: usize) -> String {
    format!("{} {}", if count == 1 { "is" } else { "are" }, count_of(count, "feature"))
}
