//! Mistakes in people, actions and perturbations.

use thiserror::Error;

use crate::magnitude::readable;

/// What can be wrong with people, actions and perturbations.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum PeopleError {
    /// A person who belongs to none or to several of the categories of a group.
    #[error(
        "person {person}, group `{group}`: {ones} of its columns are 1; exactly one must be (add the column of a category that was left out)"
    )]
    GroupSum { person: usize, group: String, ones: usize },
    /// A table without people.
    #[error("there are no people; give at least one")]
    NoPeople,
    /// A row that is too short or too long.
    #[error("person {person} has {found} values; there are {expected} features")]
    RowLength { person: usize, expected: usize, found: usize },
    /// A feature that a record leaves out.
    #[error("person {person} has no value for feature `{feature}`; give one")]
    MissingValue { person: usize, feature: String },
    /// A feature that a record gives twice.
    #[error("person {person} has two values for feature `{feature}`; remove one")]
    RepeatedValue { person: usize, feature: String },
    /// NaN or infinity.
    #[error(
        "person {person}, feature `{feature}`: the value is {value:?}; give a finite number, no larger than 1e100 and no more than 1e100 standard deviations from the mean, or leave this person out"
    )]
    NotFinite { person: usize, feature: String, value: f64 },
    /// A person whom the limits exclude.
    #[error(
        "person {person}, feature `{feature}`: {} is outside [{}, {}]; correct the value or widen the limits",
        readable(*value), readable(*lower), readable(*upper)
    )]
    OutsideLimits { person: usize, feature: String, value: f64, lower: f64, upper: f64 },
    /// A fraction where whole numbers belong.
    #[error(
        "person {person}, feature `{feature}`: {} is not {kind}; correct the value or the feature's kind",
        readable(*value)
    )]
    WrongKind { person: usize, feature: String, value: f64, kind: String },
    /// A vector of the wrong length.
    #[error("a vector has {found} entries where {expected} are needed")]
    VectorLength { expected: usize, found: usize },
    /// A vector with NaN or infinity in it.
    #[error("feature `{feature}`: the value is {value}; it must be finite")]
    VectorNotFinite { feature: String, value: f64 },
    /// A value that an equation cannot take.
    #[error(
        "feature `{feature}`: no noise was found for which its equation gives {value}; correct the value or the equation, or give the inverse"
    )]
    Unreachable { feature: String, value: f64 },
    /// A value that an equation clips.
    #[error(
        "feature `{feature}`: its equation clips values at {limit}, and there is {value}; correct the value or the equation"
    )]
    BeyondClip { feature: String, value: f64, limit: f64 },
    /// A special value where people with usual values are answered.
    #[error(
        "feature `{feature}`: {} is a special value, which this does not answer; leave the person out (in Rust, ask Problem::for_person)",
        readable(*value)
    )]
    Special { feature: String, value: f64 },
    /// A special value of which an equation makes something.
    #[error(
        "feature `{feature}`: the value is special, and the equation of `{effect}`, which is not linear, says nothing about it; leave the person out, or `{feature}` out of the equation"
    )]
    SpecialCause { feature: String, effect: String },
    /// A special value of a feature whose uncertainty is stated by itself.
    #[error(
        "feature `{feature}`: the value is special, and how uncertain it or its equation is, is stated by itself; leave the person out, or the section"
    )]
    SpecialUncertain { feature: String },
    /// A missing value where people with all values are answered.
    #[error(
        "feature `{feature}`: the value is missing, which this does not answer; leave the person out (in Rust, ask Problem::for_person)"
    )]
    Missing { feature: String },
    /// A missing value of which an equation makes something.
    #[error(
        "feature `{feature}`: the value is missing, and `{effect}` follows from it by an equation that is not linear, so that nothing can be said for every value; leave the person out, or `{feature}` out of the equation"
    )]
    MissingCause { feature: String, effect: String },
    /// A missing value that follows from other features in a way that depends on it.
    #[error(
        "feature `{feature}`: the value is missing, and its own equation is not a function of its causes plus noise, so that nothing can be said for every value; leave the person out, or the equation"
    )]
    MissingEffect { feature: String },
    /// A missing value of a feature whose uncertainty is stated by itself.
    #[error(
        "feature `{feature}`: the value is missing, and how uncertain it is, or the coefficient of what follows from it, is stated by itself; leave the person out, or the section"
    )]
    MissingUncertain { feature: String },
    /// An intervention with two values for a feature.
    #[error("the intervention names feature `{feature}` twice; remove one")]
    RepeatedIntervention { feature: String },
    /// More people than memory can hold.
    #[error("{people} people do not fit into memory; ask for fewer")]
    TooManyPeople { people: usize },
}
