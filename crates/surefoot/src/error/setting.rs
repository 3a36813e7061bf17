//! Mistakes in settings and in the choice of a method.

use thiserror::Error;

use super::Mistake;

/// What can be wrong with settings and the choice of a method.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum SettingError {
    /// A method that does not know whole values or constraints.
    #[error("this method does not know all of the problem: {what}; choose the method `auto`, which does")]
    NotContinuous { what: String },
    /// Something that does not know limits on what may be changed together.
    #[error(
        "the problem limits what may be changed together (`most_changes`, `one_of`), which {method} does not know; a solver with the method `auto` does"
    )]
    ChangeLimits { method: &'static str },
    /// A statement about relative actions where they are absolute.
    #[error("this holds for relative actions (\"raise by\"), and the problem has absolute ones (\"reach\")")]
    AbsoluteActions,
    /// A norm weight that is not positive.
    #[error("weight {position} of the norm is {weight:?}; it must be positive, between 1e-100 and 1e100")]
    NormWeight { position: usize, weight: f64 },
    /// A norm for another number of features.
    #[error("the norm has {weights} weights; there are {features} features")]
    NormWeights { features: usize, weights: usize },
    /// A group of a product that has no coordinates, or one that does not exist or is in another group.
    #[error(
        "group {position} of the product must consist of coordinates that exist and are in no other group; found {coordinate:?}"
    )]
    Factor { position: usize, coordinate: Option<usize> },
    /// A group of a product whose set is not one of the engine's.
    #[error("group {position} of the product has the set `{set}`; it must be l1, l2 or linf")]
    FactorSet { position: usize, set: &'static str },
    /// An impossible amount of uncertainty.
    #[error("epsilon is {epsilon:?}; it must be at most 1e100 and not negative")]
    Epsilon { epsilon: f64 },
    /// An impossible margin.
    #[error("the safety margin is {safety:?}; it must be at most 1e100 and not negative")]
    Safety { safety: f64 },
    /// A vector or a matrix of the uncertainty for another number of features.
    #[error("the uncertainty states {found} numbers where the features need {expected}")]
    UncertaintyLength { expected: usize, found: usize },
    /// An uncertainty set of one's own, together with further uncertainty.
    #[error("the uncertainty set `{set}` cannot be combined with further uncertainty; choose l1, l2 or linf")]
    OwnSet { set: &'static str },
    /// An interval for a feature whose lower end is above the upper one.
    #[error(
        "the value of `{feature}` is said to be between {lower:?} and {upper:?}, which is not an interval"
    )]
    Between { feature: String, lower: f64, upper: f64 },
    /// A share of a value that is not an amount.
    #[error(
        "the value of `{feature}` is no amount, so it cannot be off by a share of itself; state it `exact`, or `within`"
    )]
    ShareOfBinary { feature: String },
    /// An interval that depends on a person, where there is none.
    #[error("how far `{feature}` may shift depends on its value; give a table of people")]
    IntervalOfNobody { feature: String },
    /// An ellipsoid in another norm than l2.
    #[error("a `covariance` needs `norm = \"l2\"`, in which shifts are an ellipsoid; the norm is {norm}")]
    EllipsoidNorm { norm: &'static str },
    /// A mistake in a section about what is uncertain.
    #[error("{mistake}")]
    Section { mistake: Box<Mistake> },
    /// A matrix that is no covariance matrix.
    #[error("`covariance` must be symmetric and have no negative eigenvalue, as every covariance matrix")]
    NoCovariance,
    /// A value outside of the interval that the problem states for its feature.
    #[error(
        "`{feature}` of this person is {value:?}, which is not between {lower:?} and {upper:?}, as the problem says it is"
    )]
    NotBetween { feature: String, value: f64, lower: f64, upper: f64 },
    /// Two statements about the same uncertain quantity.
    #[error("the uncertainty of `{feature}` is stated twice; keep one of the sections")]
    UncertainTwice { feature: String },
    /// An error of an equation that has none, or that is not additive.
    #[error("the equation of `{feature}` cannot be uncertain: {why}")]
    UncertainEquation { feature: String, why: &'static str },
    /// An error of execution for a feature that no action changes by an amount.
    #[error("`{feature}` cannot be changed by too much or too little: {why}")]
    UncertainExecution { feature: String, why: &'static str },
    /// A causal model with clips, together with further uncertainty.
    #[error(
        "the equation of `{feature}` clips its values, which cannot be combined with `[[uncertainty]]`; state it without a clip"
    )]
    UncertainClip { feature: String },
    /// A method that does not know further uncertainty.
    #[error(
        "`{method}` does not handle uncertainty of {what}; the methods `auto`, `complete` and `local` do"
    )]
    UncertaintyNotKnown { what: &'static str, method: &'static str },
    /// A name that is not that of a method.
    #[error("there is no method `{name}`; the methods are {known}")]
    UnknownMethod { name: String, known: String },
    /// A method that follows gradients where there are none.
    #[error(
        "the method `{method}` follows gradients, and tree ensembles have none; choose the method `auto`"
    )]
    NoGradient { method: &'static str },
    /// Something for one classifier and one causal model where there are several.
    #[error(
        "{what} for one classifier and one causal model, and the problem has {variants} variants of them, which the method `complete` answers"
    )]
    SeveralVariants { what: &'static str, variants: usize },
    /// Several variants of which one has uncertain weights and no exact worst case.
    #[error(
        "the worst case over the weights of one of the classifiers is only bounded, which is known for one classifier and one causal model, and the problem has {variants} variants of them; let its weights be certain"
    )]
    UncertainVariants { variants: usize },
    /// More combinations of classifiers and causal models than can be answered.
    #[error("classifiers and causal models have {variants} combinations; at most {most} are answered")]
    TooManyVariants { variants: usize, most: usize },
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
