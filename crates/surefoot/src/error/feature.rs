//! Mistakes in the features of a problem.

use thiserror::Error;

use super::category::CategoryProblem;
use super::quoted;
use super::words::WordsProblem;

/// What can be wrong with the features of a problem.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum FeatureError {
    /// A problem over nothing.
    #[error("there are no features; give at least one")]
    NoFeatures,
    /// A blank name.
    #[error("a feature has no name; give every feature one")]
    FeatureWithoutName,
    /// Two features of one name.
    #[error("feature `{feature}` is given twice; rename or remove one")]
    DuplicateFeature { feature: String },
    /// A mean that is no number.
    #[error(
        "feature `{feature}`: the mean is {mean:?}; it must be a number no larger than 1e100 (for larger ones choose another unit)"
    )]
    FeatureMean { feature: String, mean: f64 },
    /// A scale that cannot be divided by.
    #[error(
        "feature `{feature}`: the standard deviation is {std:?}; it must be positive, between 1e-100 and 1e100 (drop a constant feature, or use 1; for numbers beyond choose another unit)"
    )]
    FeatureStd { feature: String, std: f64 },
    /// A cost weight that is not positive.
    #[error(
        "feature `{feature}`: the cost weight is {weight:?}; it must be positive, between 1e-100 and 1e100"
    )]
    FeatureWeight { feature: String, weight: f64 },
    /// Limits the wrong way round, or not numbers.
    #[error(
        "feature `{feature}`: the limits [{lower:?}, {upper:?}] contain no number, or end beyond 1e100; give the lower one first (infinite: none)"
    )]
    FeatureLimits { feature: String, lower: f64, upper: f64 },
    /// A step that cannot be.
    #[error("feature `{feature}`: {problem}")]
    FeatureStep { feature: String, problem: EffortProblem },
    /// A largest change that cannot be.
    #[error("feature `{feature}`: {problem}")]
    FeatureMostChange { feature: String, problem: EffortProblem },
    /// A largest share that cannot be.
    #[error("feature `{feature}`: {problem}")]
    FeatureMostShare { feature: String, problem: EffortProblem },
    /// A column of a group that is not 0 or 1.
    #[error(
        "feature `{feature}`: a column of the group `{group}` is 0 or 1, not {kind}; make its kind \"binary\", or leave out the group"
    )]
    GroupKind { feature: String, group: String, kind: String },
    /// Categories that cannot be.
    #[error("feature `{feature}`: {problem}")]
    Categories { feature: String, problem: CategoryProblem },
    /// Words that people could not read.
    #[error("feature `{feature}`: {problem}")]
    Words { feature: String, problem: WordsProblem },
    /// Special values of categories.
    #[error(
        "feature `{feature}`: only integer and real features have special values; give the categories one more, for what has no category"
    )]
    SpecialKind { feature: String },
    /// A special value that is no number, given twice or with blank words.
    #[error(
        "feature `{feature}`: the special value {value:?} must be a number no larger than 1e100, given once, and its words must not be blank"
    )]
    SpecialValue { feature: String, value: f64 },
    /// A special value that is text.
    #[error("feature `{feature}`: the special value `{value}` is no number; give one, such as \"-9\"")]
    SpecialNumber { feature: String, value: String },
    /// A missing category of which the model takes a column each.
    #[error(
        "feature `{feature}`: nothing stands in for a missing category that has a column of its own; give the categories one more, for what is not known"
    )]
    MissingKind { feature: String },
    /// A value for a missing one that is not in its interval.
    #[error(
        "feature `{feature}`: {value:?} is to stand in for a missing value between {lower:?} and {upper:?}; give numbers, no larger than 1e100, of which it lies between the others"
    )]
    MissingRange { feature: String, value: f64, lower: f64, upper: f64 },
    /// Missing values beyond the limits.
    #[error(
        "feature `{feature}`: a missing value may be between {lower:?} and {upper:?}, and the limits are [{:?}, {:?}]; keep it within the limits, or widen them",
        limits.0, limits.1
    )]
    MissingLimits { feature: String, lower: f64, upper: f64, limits: (f64, f64) },
    /// A fraction for a missing whole number.
    #[error(
        "feature `{feature}`: {value:?} is to stand in for a missing value, and is not {kind}; give one that is"
    )]
    MissingValueKind { feature: String, value: f64, kind: String },
    /// A value for a missing one that is neither a number nor a rule.
    #[error(
        "feature `{feature}`: `{value}` is to stand in for a missing value; give a number, \"mean\" or one of the categories"
    )]
    MissingWord { feature: String, value: String },
    /// A group of one.
    #[error(
        "group `{group}` has one column only; give one for each of its categories, or leave out the group"
    )]
    GroupSize { group: String },
    /// A category that is none of the group's.
    #[error("group `{group}` has no column `{column}`; there are {}", quoted(known))]
    NotInGroup { group: String, column: String, known: Vec<String> },
    /// A group that is not there.
    #[error("there is no group `{group}`; there are {}", quoted(known))]
    UnknownGroup { group: String, known: Vec<String> },
    /// A name that is not among the features.
    #[error("`{feature}` is no feature; there are {}", quoted(known))]
    UnknownFeature { feature: String, known: Vec<String> },
    /// A position beyond the features.
    #[error("there is no feature number {index}; there are {features}, counted from 0")]
    NoSuchFeature { index: usize, features: usize },
    /// Every feature is fixed.
    #[error(
        "every feature is fixed; say of at least one what may change it: \"increase\", \"decrease\" or \"any\""
    )]
    NothingActionable,
    /// Too many intervention sets to enumerate.
    #[error(
        "there are {sets} intervention sets to try, every combination of {features} features that affect one another, and {most} is the most that are tried: mark some of these features as fixed, or simplify the graph"
    )]
    TooManySets { features: usize, sets: f64, most: usize },
}

/// What can be wrong with the step and the largest change of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum EffortProblem {
    /// A step of something that has no amounts.
    #[error("the values of binary features and of categories have no step; leave it out")]
    StepOfCategory,
    /// A step that is no positive number.
    #[error("the step is {step:?}; it must be positive, between 1e-100 and 1e100")]
    StepSize { step: f64 },
    /// A step of an integer feature that leads to fractions.
    #[error("the step is {step:?}; that of an integer feature must be a whole number")]
    StepOfInteger { step: f64 },
    /// A largest change of something that changes or does not.
    #[error("a binary feature or a category changes or does not; leave the largest change out, or fix it")]
    MostOfCategory,
    /// A share of something that is no amount.
    #[error("a category has no share; give `most_change` as a number of categories, or leave it out")]
    ShareOfCategory,
    /// A largest change that is no positive number.
    #[error(
        "the largest change is {most:?}; it must be positive, between 1e-100 and 1e100 (fix the feature if it must not change)"
    )]
    Most { most: f64 },
}
