//! Mistakes in settings and in the choice of a method.

use thiserror::Error;

/// What can be wrong with settings and the choice of a method.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum SettingError {
    /// A method that does not know whole values or constraints.
    #[error("this method does not know all of the problem: {what}; choose the method `auto`, which does")]
    NotContinuous { what: String },
    /// A statement about relative actions where they are absolute.
    #[error("this holds for relative actions (\"raise by\"), and the problem has absolute ones (\"reach\")")]
    AbsoluteActions,
    /// A norm weight that is not positive.
    #[error("weight {position} of the norm is {weight:?}; it must be positive, between 1e-100 and 1e100")]
    NormWeight { position: usize, weight: f64 },
    /// A norm for another number of features.
    #[error("the norm has {weights} weights; there are {features} features")]
    NormWeights { features: usize, weights: usize },
    /// An impossible amount of uncertainty.
    #[error("epsilon is {epsilon:?}; it must be at most 1e100 and not negative")]
    Epsilon { epsilon: f64 },
    /// An impossible margin.
    #[error("the safety margin is {safety:?}; it must be at most 1e100 and not negative")]
    Safety { safety: f64 },
    /// A name that is not that of a method.
    #[error("there is no method `{name}`; the methods are {known}")]
    UnknownMethod { name: String, known: String },
    /// A method that follows gradients where there are none.
    #[error(
        "the method `{method}` follows gradients, and tree ensembles have none; choose the method `auto`"
    )]
    NoGradient { method: &'static str },
    /// An attack that follows gradients where there are none.
    #[error(
        "the attack `{attack}` follows gradients, and tree ensembles have none; choose `smallest`, which searches tree ensembles exactly"
    )]
    NoGradientForAttack { attack: &'static str },
    /// A method that proves nothing.
    #[error("the method `{method}` proves nothing; choose `auto`, `exact`, `trees` or `complete`")]
    NoProof { method: &'static str },
    /// A gap, or a limit of the effort, for a method that does not use it.
    #[error("`{setting}` has no effect with the method `{method}`; leave it out, or choose one of {others}")]
    NoEffect { setting: &'static str, method: &'static str, others: String },
    /// A setting of a method that makes no sense.
    #[error("the setting `{setting}` is {value:?}, which is out of its range")]
    Setting { setting: &'static str, value: f64 },
    /// A method for independent features where they are not.
    #[error(
        "this method takes features to be independent, and the problem has a causal model; use that of Karimi et al."
    )]
    HasCausalModel,
    /// A method for causal models where there is none.
    #[error("this method needs a causal model, and the problem has none; use that of Wachter et al.")]
    NoCausalModel,
    /// A validation split that leaves nobody on one side.
    #[error(
        "holding out {share:?} of {samples} rows leaves nobody on one side; choose a share between 0 and 1, or give more rows"
    )]
    ValidationShare { share: f64, samples: usize },
    /// A share that is none.
    #[error("the false-positive rate is {rate}; it must lie between 0 and 1")]
    Rate { rate: f64 },
}
