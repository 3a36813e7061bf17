//! Mistakes in constraints and forbidden transitions.

use thiserror::Error;

use super::formula::FormulaProblem;
use super::pointed;

/// What can be wrong with constraints and forbidden transitions.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum RuleError {
    /// A constraint that cannot be read or is not linear.
    #[error("constraint, column {column}: {problem}\n{}", pointed(rule, *column))]
    Rule { rule: String, column: usize, problem: RuleProblem },
    /// A constraint with a number that is none.
    #[error("a constraint has {value:?} among its numbers; all must be finite and no larger than 1e100")]
    ConstraintNumber { value: f64 },
    /// Transitions of something that has none.
    #[error(
        "feature `{feature}` is real: transitions are forbidden between whole numbers and between categories; write a constraint instead"
    )]
    ForbiddenReal { feature: String },
    /// A value that a feature cannot have.
    #[error("forbidden transition of `{feature}`: {value} is none of its values; give whole numbers")]
    ForbiddenValue { feature: String, value: f64 },
    /// A constraint on a feature that is no amount for somebody.
    #[error(
        "the constraint `{rule}` says nothing about the special value of `{feature}`; leave the person out, or the feature out of the constraint"
    )]
    SpecialValue { feature: String, rule: String },
    /// A constraint on a feature whose value is not known.
    #[error(
        "the constraint `{rule}` says nothing about the missing value of `{feature}`; leave the person out, or the feature out of the constraint"
    )]
    MissingValue { feature: String, rule: String },
    /// A transition from everywhere to everywhere.
    #[error(
        "a forbidden transition names neither where from nor where to; make it `change = \"fixed\"` instead"
    )]
    ForbiddenEverything,
    /// A limit that allows no change.
    #[error("at most 0 changes leave no action; allow at least 1")]
    NoChanges,
    /// A list of which at most one may change, that does not name two things.
    #[error(
        "of {} at most one may change: name at least two different features or groups",
        super::quoted(names)
    )]
    OneOf { names: Vec<String> },
}

/// What is wrong with the text of a constraint. The column it points at is kept beside it.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// One of its sides is no formula.
    #[error("{0}")]
    Formula(FormulaProblem),
    /// Nothing is compared.
    #[error("`>=` or `<=` is missing; write for example `savings >= debt`")]
    NoComparison,
    /// Compared in another way, or twice.
    #[error("compare once, by `>=` or `<=`")]
    Comparison,
    /// A feature enters in another way than times a number.
    #[error("this must be linear: sums of features, each times a number, and `{0}` is used otherwise")]
    NotLinear(String),
    /// It is about nothing.
    #[error("no feature is named")]
    NoFeature,
}
