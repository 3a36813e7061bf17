//! Mistakes in equations and causal models.

use super::formula::{FormulaProblem, Obstacle};
use super::{Error, count_of, pointed, quoted};

/// What can be wrong with equations and the causal model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum CausalModelError {
    /// A category with an equation, by which an action on its cause would change it by fractions.
    #[error(
        "feature `{feature}` is a category, and an action on `{cause}` would change it by fractions; leave out its equation, fix `{cause}`, or make its kind \"real\""
    )]
    CategoryFollows { feature: String, cause: String },
    /// A second equation for a feature.
    #[error("feature `{feature}` has two equations; remove one")]
    DuplicateEquation { feature: String },
    /// A parent that is not among the features.
    #[error("equation of `{feature}`: the parent `{parent}` is no feature; there are {}", quoted(known))]
    UnknownParent { feature: String, parent: String, known: Vec<String> },
    /// A parent named twice.
    #[error("equation of `{feature}`: the parent `{parent}` is given twice; remove one")]
    DuplicateParent { feature: String, parent: String },
    /// Features that cause themselves.
    #[error("the causal graph has a cycle: {}; remove one of these arrows", arrows(features))]
    Cycle { features: Vec<String> },
    /// Coefficients or a network that do not fit the parents.
    #[error(
        "equation of `{feature}`: it takes {}, but {} named; {}",
        count_of(*inputs, "input"), parents_named(parents.len()), inputs_for_parents(parents)
    )]
    EquationInputs { feature: String, parents: Vec<String>, inputs: usize },
    /// A coefficient that is not finite.
    #[error(
        "equation of `{feature}`: {value:?} among its numbers; all must be finite and no larger than 1e100"
    )]
    EquationNumber { feature: String, value: f64 },
    /// A formula that cannot be read.
    #[error("formula of `{feature}`, column {column}: {problem}\n{}", pointed(formula, *column))]
    Formula { feature: String, formula: String, column: usize, problem: FormulaProblem },
    /// An equation whose noise cannot be recovered.
    #[error(
        "formula of `{feature}` cannot be solved for its noise: {reason}; change it or give its inverse\n  {formula}"
    )]
    NotInvertible { feature: String, formula: String, reason: Obstacle },
    /// An inverse that does not undo its formula.
    #[error(
        "inverse of `{feature}`: for the value {value} it gives u = {noise}, but the formula then gives {back}; correct one of the two"
    )]
    WrongInverse { feature: String, value: f64, noise: f64, back: f64 },
    /// A perturbation that says nothing about an action.
    #[error("the perturbation leads to somebody whom the causal model cannot produce: {why}")]
    Nobody { why: Box<Error> },
    /// An action that fails because its result is not defined.
    #[error("the action leads to where the causal model is undefined: {why}")]
    ActionUndefined { why: Box<Error> },
    /// An equation that gives NaN or infinity.
    #[error(
        "feature `{feature}`: its equation gives {value} here; check the values of its parents, and the equation for logarithms, roots and divisions"
    )]
    EquationNotFinite { feature: String, value: f64 },
    /// A distribution with impossible parameters.
    #[error("noise of `{feature}`: {noise} is no distribution; check its parameters")]
    NoiseParameters { feature: String, noise: String },
    /// A feature whose noise is unknown.
    #[error("noise of `{feature}` is not given; sampling needs one for every feature")]
    MissingNoise { feature: String },
    /// A feature whose noise is given twice.
    #[error("noise of `{feature}` is given twice; remove one")]
    DuplicateNoise { feature: String },
    /// A method for linear causal models given another.
    #[error("this method needs linear equations, and that of `{feature}` is not; fit a linear one")]
    EquationNotLinear { feature: String },
    /// A statement about additive noise where it is not additive.
    #[error("this needs noise that is simply added, and that of `{feature}` is not")]
    EquationNotAdditive { feature: String },
    /// A causal model of other features.
    #[error(
        "the causal model or the people were built on other features than the problem; build all on the same"
    )]
    OtherFeatures,
    /// An equation to fit from nothing.
    #[error("no causes are named for `{feature}`; name at least one, or leave it out of the graph")]
    NoCauses { feature: String },
    /// A cause that adds nothing.
    #[error(
        "equation of `{feature}`: its cause `{cause}` {}; leave it out of the graph",
        if *is_constant { "has the same value in every row" } else { "follows from the causes named before it" }
    )]
    CollinearCause { feature: String, cause: String, is_constant: bool },
}

fn arrows(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" -> ")
}

/// What to do where an equation does not fit its parents.
fn inputs_for_parents(parents: &[String]) -> String {
    match parents {
        [] => "name its parents in the order of its inputs".into(),
        _ => format!(
            "give one coefficient, or one input of the network, for each parent, in this order: {}",
            quoted(parents)
        ),
    }
}

/// "1 parent is", "2 parents are".
fn parents_named(count: usize) -> String {
    format!("{} {}", count_of(count, "parent"), if count == 1 { "is" } else { "are" })
}
