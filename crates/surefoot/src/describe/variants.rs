//! Words for committees and alternative causal models.

use super::describe_shift;
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
