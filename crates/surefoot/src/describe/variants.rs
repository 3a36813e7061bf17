//! Words for committees and alternative causal models.

use super::{describe_shift, reach_of_shifts};
use crate::{Problem, Result};

/// The variant in which a perturbation breaks an action, and the perturbation: "savings 0.32 lower, according to
/// model `2022`". As [`describe_shift`] for a problem with one variant.
///
/// # Errors
/// If the perturbation does not fit the problem.
pub fn describe_break(problem: &Problem, variant: usize, perturbation: &[f64]) -> Result<String> {
    let shift = describe_shift(problem, perturbation)?;
    Ok(match problem.variant_in_words(variant) {
        Some(words) => format!("{shift}, {words}"),
        None => shift,
    })
}

/// What an answer covers: shifts, every decider of a committee, every causal model.
pub(super) fn reach(problem: &Problem) -> String {
    let shifts = reach_of_shifts(problem);
    let causal_models = 1 + problem.alternative_causal_models().len();
    let right =
        (causal_models > 1).then(|| format!("whichever of the {causal_models} causal models is right"));
    let agreement = problem.committee().map(|committee| (committee.at_least(), committee.members().len()));
    match (agreement, right) {
        (None, None) => shifts,
        (None, Some(right)) => format!("{shifts} It works {right}."),
        (Some((at_least, members)), right) if at_least == members => {
            let right = right.map_or(String::new(), |right| format!(" and {right}"));
            format!("{shifts} It works whichever of the {members} models decides{right}.")
        }
        (Some((at_least, members)), right) => {
            let right = right.map_or(String::new(), |right| format!(", {right}"));
            format!("{shifts} At least {at_least} of the {members} models then agree{right}.")
        }
    }
}
