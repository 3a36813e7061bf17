//! The perturbation that breaks a minimum-cost action.

use super::{by_effort, take_back};
use crate::error::{CausalModelError, PeopleError};
use crate::margin::margin;
use crate::{Action, Error, Problem, Result};

/// The first size of perturbations that is tried. Answers keep a margin of 2e-9 from the decision
/// boundary, so most minimum-cost actions break well below this size.
const FIRST_SIZE: f64 = 1e-6;
/// The largest size that is tried, in standard deviations.
const LAST_SIZE: f64 = 1e3;
/// Shifts below this share of the largest one are left out.
const SMALLEST_SHARE: f64 = 0.01;

/// A perturbation that breaks an action.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaking {
    /// The perturbation, in standardised units. In own units every shift has three significant digits.
    pub perturbation: Vec<f64>,
    /// Its size in the norm of the problem.
    pub size: f64,
    /// The margin of the action under it, by the definition; always negative.
    pub margin: f64,
}

/// Finds a small perturbation that breaks an action, by the construction of Theorem 1.
///
/// For each size of 1e-6, 1e-5, ... up to 1000 it undoes a part of each change alone, then of all changes
/// in proportion. It returns the first perturbation under which the margin is negative. If the action has
/// minimum cost and every smaller change is feasible, the first size suffices, apart from the safety
/// margin of the action. `None` if no perturbation tried breaks the action.
///
/// # Errors
/// If individual or action do not fit the problem, if actions are absolute or if noise is not additive.
pub fn break_action(problem: &Problem, individual: &[f64], action: &Action) -> Result<Option<Breaking>> {
    super::require_theorem_1(problem)?;
    margin(problem, individual, action, &vec![0.0; individual.len()])?;
    let alone = |k: usize| {
        let mut removed = vec![0.0; action.change.len()];
        removed[k] = action.change[k];
        removed
    };
    let mut removals: Vec<Vec<f64>> = by_effort(problem, action).into_iter().map(alone).collect();
    if removals.len() > 1 {
        removals.push(action.change.clone());
    }
    let mut size = FIRST_SIZE;
    while size <= LAST_SIZE {
        for removed in &removals {
            let taken = match take_back(problem, individual, action, removed, size) {
                Ok(taken) => taken,
                // The causal model cannot produce the perturbed individual.
                Err(error) if says_nothing(&error) => continue,
                Err(error) => return Err(error),
            };
            let Some(taken) = taken else { continue };
            let perturbation = rounded(problem, &taken.perturbation);
            match margin(problem, individual, action, &perturbation) {
                Ok(margin) if margin < 0.0 => {
                    let size = problem.uncertainty().size(&perturbation);
                    return Ok(Some(Breaking { perturbation, size, margin }));
                }
                Ok(_) => {}
                Err(error) if says_nothing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        size *= 10.0;
    }
    Ok(None)
}

/// Whether an error is about the perturbation and not about the individual or the action.
fn says_nothing(error: &Error) -> bool {
    matches!(
        error,
        Error::CausalModel(CausalModelError::Nobody { .. })
            | Error::CausalModel(CausalModelError::ActionUndefined { .. })
            | Error::CausalModel(CausalModelError::EquationNotFinite { .. })
            | Error::People(PeopleError::Unreachable { .. })
            | Error::People(PeopleError::BeyondClip { .. })
    )
}

/// The perturbation as it will be described: small shifts left out, the others with three significant
/// digits in own units.
fn rounded(problem: &Problem, perturbation: &[f64]) -> Vec<f64> {
    let largest = perturbation.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
    let round = |(i, &shift): (usize, &f64)| {
        let std = problem.features().feature(i).std;
        if shift.abs() < SMALLEST_SHARE * largest {
            return 0.0;
        }
        format!("{:.2e}", std * shift).parse::<f64>().map_or(shift, |told| told / std)
    };
    perturbation.iter().enumerate().map(round).collect()
}
