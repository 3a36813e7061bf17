//! All attacks, combined with the search of proofs.

use rayon::prelude::*;

use super::confirm::Ray;
use super::linear::Linear;
use super::{Break, in_common_terms, smallest_break};
use crate::cancel;
use crate::certify::LEAST_MARGIN;
use crate::margin::outcome;
use crate::problem::OwnProblem;
use crate::{Action, Budget, People, Problem, Result, Verdict, certify};

/// An upper bound of the relative rounding error of a linear margin.
const ROUNDING: f64 = 1e-10;

/// The smallest perturbation found that breaks each action: by [`smallest_break`] and, if that finds none
/// within the uncertainty set, by the search of [`certify()`] with this budget.
///
/// Guarantees that an action which `certify` with the same budget disproves is reported with a break no
/// larger than the uncertainty. An action without a break is not proven to hold.
///
/// # Errors
/// As [`certify()`].
pub fn refute(
    problem: &Problem,
    people: &People,
    actions: &[Action],
    budget: Budget,
) -> Result<Vec<Option<Break>>> {
    budget.check()?;
    let breaks = smallest_break(problem, people, actions)?;
    let each = breaks.into_par_iter().enumerate();
    let current = cancel::Cancel::current();
    let further = |(i, found)| search_further(problem, people.individual(i), &actions[i], found, budget);
    each.map(|task| cancel::with(current.clone(), || further(task))).collect()
}

/// The second part of [`refute`], for one individual. If `found`, the result of [`smallest_break`], is
/// not a break within the uncertainty set, searches for one as [`certify()`] does. Returns `found` if
/// there is none.
///
/// # Errors
/// As [`certify()`].
pub fn search_further(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    found: Option<Break>,
    budget: Budget,
) -> Result<Option<Break>> {
    let own = problem.for_person(individual)?;
    let everybody = problem;
    let (problem, individual) = OwnProblem::or(own.as_ref(), problem, individual);
    let is_broken = found.as_ref().is_some_and(|found| found.is_within);
    // What is known of the smallest break is about all variants together, so that it says nothing of the others.
    let is_linear = problem.variants().len() == 1 && Linear::knows(problem);
    if is_broken || is_linear && is_beyond_doubt(problem, individual, action, found.as_ref())? {
        return Ok(found);
    }
    let verdict = certify(problem, individual, action, budget)?.verdict;
    let Verdict::Breaks { variant, perturbation, .. } = verdict else { return Ok(found) };
    let broken = &problem.variants()[variant];
    let ray = Ray { problem: broken, individual, action, direction: &perturbation };
    let mut further = ray.within_uncertainty().map(|found| Break { variant, ..found });
    in_common_terms(&mut further, problem, everybody);
    Ok(further.or(found))
}

/// Whether the worst case of an action in a linear problem, whose smallest break is known, is favourable
/// by more than rounding errors. Then no search is needed.
fn is_beyond_doubt(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    found: Option<&Break>,
) -> Result<bool> {
    let reached = outcome(problem, individual, action)?;
    let (weights, intercept) = problem.classifier().coefficients()?;
    let size: f64 = weights.iter().zip(&reached).map(|(w, x)| (w * x).abs()).sum();
    // The margin decreases linearly, to zero at the break.
    let left = found.map_or(1.0, |found| 1.0 - problem.uncertainty().radius() / found.size);
    let worst = problem.classifier().score(&reached) * left;
    Ok(worst > 2.0 * LEAST_MARGIN + ROUNDING * (size + intercept.abs()))
}
