//! The margin of an action under a perturbation, on which all questions are defined:
//!
//! ```text
//! margin(action, D) = score(CF(CF(x, D), action))
//! ```
//!
//! It is the score of an individual x who is perturbed by D and then acts. This module evaluates it
//! directly from the definition, by abduction and prediction twice. So it is the independent check of
//! results that are found by faster methods. For many individuals at a time, [`Gradients`] composes
//! classifier, causal model and action once.
//!
//! Where more than a shift of the person is uncertain, a perturbation states all of it together: see
//! [`Sources`](crate::Sources). Then
//!
//! ```text
//! margin(action, v) = score(CF_b(CF_b(x, D), action + e))      D, e, b: the parts of v
//! ```
//!
//! **Where the causal model is undefined.** The two counterfactuals fail for different reasons:
//!
//! - If the causal model cannot produce the perturbed individual `CF(x, D)`, the perturbation *concerns
//!   nobody* ([`CausalModelError::Nobody`]) and says nothing about the action. This
//!   happens where an equation gives no finite number, where a clipped feature is shifted beyond its
//!   clip, and where no noise gives the value of a feature that is downstream of the action.
//! - If the perturbed individual exists and the result of the action is undefined
//!   ([`CausalModelError::ActionUndefined`]), the action fails for that individual:
//!   the margin is minus infinity.
//!
//! An action *holds* iff its margin is nonnegative for every perturbation of the ball that concerns
//! somebody. If several classifiers must agree or several causal models may be right, these are *variants* of
//! the problem, and an action holds iff it holds for every variant.

mod block;
mod compose;
mod joint;

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

pub(crate) use block::{Evaluation, Individuals, Margin, blocks};
pub(crate) use compose::{Composer, Coordinates};
use joint::{Numbers, Parts, Reach, parts};

use crate::error::{CausalModelError, PeopleError, SettingError};
use crate::network::{LANES, Lanes};
use crate::problem::Joint;
use crate::scm::SlopeError;
use crate::uncertainty::Shift;
use crate::{Action, ActionKind, Error, Intervention, People, Problem, Result, Scm};

/// One possible situation: a variant of the problem, which decides about a perturbed individual.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The number of the variant of the problem.
    pub variant: usize,
    /// The perturbation.
    pub perturbation: Vec<f64>,
}

/// The individual after perturbation and action, `CF(CF(x, D), action)`, by the problem's first causal model.
///
/// The perturbation has [`Problem::perturbation_width`] coordinates: the shifts of the features unless more
/// is uncertain.
///
/// # Errors
/// [`CausalModelError::Nobody`] if the causal model cannot produce `CF(x, D)`,
/// [`CausalModelError::ActionUndefined`] if it can and the result of the action is
/// undefined; others if individual, action or perturbation do not fit the problem, or if the causal model
/// cannot produce the individual.
pub fn counterfactual(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    perturbation: &[f64],
) -> Result<Vec<f64>> {
    problem.require_usual(individual)?;
    check_vector(problem, individual, problem.features().len())?;
    check_vector(problem, perturbation, problem.perturbation_width())?;
    action.check(problem.features())?;
    if problem.joint().is_none() {
        return after(problem, individual, action, perturbation, &[]);
    }
    let parts = resolved(problem, individual, perturbation, &action.features, &action.change)?;
    let carried_out = Action { features: action.features.clone(), change: parts.change };
    after(problem, individual, &carried_out, &parts.shift, &parts.slopes)
}

/// The parts of a perturbation of an individual who changes some features.
fn resolved(
    problem: &Problem,
    individual: &[f64],
    perturbation: &[f64],
    features: &[usize],
    change: &[f64],
) -> Result<Parts<f64>> {
    let Some(joint) = problem.joint() else {
        return Ok(Parts { shift: perturbation.to_vec(), change: change.to_vec(), slopes: Vec::new() });
    };
    let reach = Reach::of(problem, joint, individual)?;
    Ok(parts(&mut Numbers, joint, &reach, perturbation, features, change))
}

/// The individual after an action without any perturbation.
///
/// # Errors
/// As [`counterfactual`].
pub fn outcome(problem: &Problem, individual: &[f64], action: &Action) -> Result<Vec<f64>> {
    problem.require_usual(individual)?;
    check_vector(problem, individual, problem.features().len())?;
    action.check(problem.features())?;
    after(problem, individual, action, &vec![0.0; individual.len()], &[])
}

/// The perturbation that leaves an individual as they are.
///
/// # Errors
/// If a value of the individual is not in the interval that the problem states for it.
pub fn no_perturbation(problem: &Problem, individual: &[f64]) -> Result<Vec<f64>> {
    let width = problem.perturbation_width();
    match problem.joint() {
        None => Ok(vec![0.0; width]),
        Some(joint) => Ok(Reach::of(problem, joint, individual)?.no_shift(width)),
    }
}

/// The shifts of an individual's features by a perturbation.
///
/// # Errors
/// As [`no_perturbation`].
pub fn shifts(problem: &Problem, individual: &[f64], perturbation: &[f64]) -> Result<Vec<f64>> {
    let mut shifts = match problem.joint() {
        Some(joint) if !joint.kept.is_empty() => {
            // What keeps its value is not shifted.
            let spreading = Joint { kept: Vec::new(), ..joint.clone() };
            let reach = Reach::of(problem, joint, individual)?;
            parts(&mut Numbers, &spreading, &reach, perturbation, &[], &[]).shift
        }
        _ => resolved(problem, individual, perturbation, &[], &[])?.shift,
    };
    // What the weight of a special value leaves of its shift is none.
    shifts.iter_mut().enumerate().filter(|(i, _)| problem.is_exact(*i)).for_each(|(_, shift)| *shift = 0.0);
    Ok(shifts)
}

/// A perturbation of a person with a problem of their own in the coordinates of everybody's problem; `shift` is what it
/// shifts. They differ where a missing value has an interval of its own.
pub(crate) fn in_common_coordinates(
    own: &Problem,
    everybody: &Problem,
    perturbation: &[f64],
    shift: &[f64],
) -> Vec<f64> {
    let mut common = perturbation.to_vec();
    match (own.joint(), everybody.joint()) {
        (None, _) => {}
        (Some(_), None) => common.clone_from_slice(shift),
        (Some(own), Some(joint)) => {
            own.sources.alone.iter().for_each(|&i| common[i] = shift[i] * joint.weights[i]);
        }
    }
    common
}

/// The interval of shifts of each feature whose value is known up to an interval of its own.
///
/// # Errors
/// As [`no_perturbation`]; also if an interval depends on a value of the individual, and there is none.
pub(crate) fn shift_intervals(
    problem: &Problem,
    individual: Option<&[f64]>,
) -> Result<Vec<Option<(f64, f64)>>> {
    let count = problem.features().len();
    let Some(joint) = problem.joint() else { return Ok(vec![None; count]) };
    let depends = |i: &usize| matches!(joint.sources.shift(*i), Shift::Share(_) | Shift::Between(..));
    let x = match (individual, (0..count).find(depends)) {
        (Some(x), _) => x.to_vec(),
        (None, None) => vec![0.0; count],
        (None, Some(i)) => {
            let feature = problem.features().feature(i).name.clone();
            return Err(Error::Setting(SettingError::IntervalOfNobody { feature }));
        }
    };
    let reach = Reach::of(problem, joint, &x)?;
    let interval = |i: usize| match joint.sources.shift(i) {
        Shift::Ball => None,
        _ => Some((reach.centre[i] - reach.scale[i], reach.centre[i] + reach.scale[i])),
    };
    Ok((0..count).map(interval).collect())
}

/// Rejects a vector of another length, or with numbers that are not finite.
fn check_vector(problem: &Problem, vector: &[f64], expected: usize) -> Result<()> {
    if vector.len() != expected {
        return Err(Error::People(PeopleError::VectorLength { expected, found: vector.len() }));
    }
    match vector.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let named = problem.features().names().into_iter().nth(i);
            let feature = named.unwrap_or_else(|| "uncertainty".into());
            Err(Error::People(PeopleError::VectorNotFinite { feature, value: vector[i] }))
        }
    }
}

/// The individual after a shift of the features and an action, in a model with errors of coefficients.
fn after(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    shift: &[f64],
    slopes: &[SlopeError<f64>],
) -> Result<Vec<f64>> {
    let level = || action.features.iter().zip(&action.change).map(|(&i, change)| individual[i] + change);
    let Some(scm) = problem.scm() else {
        let mut result: Vec<f64> = individual.iter().zip(shift).map(|(x, d)| x + d).collect();
        require_finite(problem, &result).map_err(Error::nobody)?;
        for ((&i, change), level) in action.features.iter().zip(&action.change).zip(level()) {
            result[i] = match problem.action_kind() {
                ActionKind::Relative => result[i] + change,
                ActionKind::Absolute => level,
            };
        }
        require_finite(problem, &result).map_err(Error::action_undefined)?;
        return Ok(result);
    };
    let perturbed = perturbed(scm, individual, &action.features, shift, slopes)?;
    let features = &action.features;
    let acted = match problem.action_kind() {
        ActionKind::Relative => {
            let shift = Intervention::Shift { features, change: &action.change };
            scm.counterfactual_with(&perturbed, shift, slopes)
        }
        ActionKind::Absolute => {
            let value: Vec<f64> = level().collect();
            scm.counterfactual_with(&perturbed, Intervention::Set { features, value: &value }, slopes)
        }
    };
    acted.map_err(Error::action_undefined)
}

/// The perturbed individual `CF(x, D)` who then acts on some features.
fn perturbed(
    scm: &Scm,
    individual: &[f64],
    features: &[usize],
    shift: &[f64],
    slopes: &[SlopeError<f64>],
) -> Result<Vec<f64>> {
    let shifted = scm
        .counterfactual_with(individual, Intervention::Additive(shift), slopes)
        .and_then(|shifted| scm.require_producible(&shifted, features).map(|()| shifted));
    shifted.or_else(|why| {
        // If the unperturbed individual is impossible too, the input is wrong.
        scm.abduct(individual)?;
        Err(Error::nobody(why))
    })
}

fn require_finite(problem: &Problem, vector: &[f64]) -> Result<()> {
    match vector.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let feature = problem.features().feature(i).name.clone();
            Err(Error::People(PeopleError::VectorNotFinite { feature, value: vector[i] }))
        }
    }
}

/// `margin(action, D)`: the action works under this perturbation iff it is nonnegative. Minus infinity
/// where the result of the action is undefined. If the problem has several variants, it is the least margin of
/// those in which the perturbation concerns somebody.
///
/// # Errors
/// [`CausalModelError::Nobody`] if the perturbation concerns nobody, in no variant; otherwise as
/// [`counterfactual`].
pub fn margin(problem: &Problem, individual: &[f64], action: &Action, perturbation: &[f64]) -> Result<f64> {
    let mut least = Err(None);
    for variant in problem.variants() {
        match margin_of_variant(variant, individual, action, perturbation) {
            Ok(margin) => least = Ok(least.map_or(margin, |least: f64| least.min(margin))),
            Err(error @ Error::CausalModel(CausalModelError::Nobody { .. })) => {
                least = least.map_err(|_| Some(error))
            }
            Err(error) => return Err(error),
        }
    }
    // There is at least one variant.
    least.map_err(|nobody| nobody.unwrap_or(Error::CausalModel(CausalModelError::OtherFeatures)))
}

/// The margin of a problem with one variant.
fn margin_of_variant(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    perturbation: &[f64],
) -> Result<f64> {
    match counterfactual(problem, individual, action, perturbation) {
        Ok(individual) => {
            let score = problem.classifier().score(&individual);
            // A score that is NaN after an overflow does not count as favourable.
            Ok(if score.is_nan() { f64::NEG_INFINITY } else { score })
        }
        Err(Error::CausalModel(CausalModelError::ActionUndefined { .. })) => Ok(f64::NEG_INFINITY),
        Err(error) => Err(error),
    }
}

/// An upper bound of the margin of an action under a perturbation and the worst weights that the classifier's
/// uncertainty allows: the margin with some of these weights. It is the margin itself unless the score of the
/// classifier is a lower bound, see [`Classifier::is_exact`](crate::Classifier::is_exact).
///
/// # Errors
/// As [`margin()`].
pub fn attained_margin(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    perturbation: &[f64],
) -> Result<f64> {
    if problem.classifier().is_exact() {
        return margin(problem, individual, action, perturbation);
    }
    match counterfactual(problem, individual, action, perturbation) {
        Ok(reached) => {
            let score = problem.classifier().attained_score(&reached)?;
            Ok(if score.is_nan() { f64::NEG_INFINITY } else { score })
        }
        Err(Error::CausalModel(CausalModelError::ActionUndefined { .. })) => Ok(f64::NEG_INFINITY),
        Err(error) => Err(error),
    }
}

/// Margins of many individuals who act on the same features, with their gradients.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// `margin(action, D)` of each individual. NaN where the perturbation concerns nobody, minus infinity
    /// where the result of the action is undefined. An individual whom the causal model cannot produce is
    /// an error. A perturbation beyond a clip is reduced to the clip.
    pub margin: Vec<f64>,
    /// The derivatives in each change of the action, one row for each individual.
    pub in_action: Array2<f64>,
    /// The derivatives in the perturbation of each feature, one row for each individual.
    pub in_perturbation: Array2<f64>,
}

/// Margins and gradients for many individuals, on all cores. Each individual has one row of changes of
/// the given features and one row of perturbations. If the problem has several variants, they are those of the
/// variant with the least margin.
pub fn gradients(
    problem: &Problem,
    people: &People,
    features: &[usize],
    change: ArrayView2<'_, f64>,
    perturbation: ArrayView2<'_, f64>,
) -> Result<Gradients> {
    let mut each = problem.variants().iter();
    let of = |variant: &Problem| gradients_of_variant(variant, people, features, change, perturbation);
    // There is at least one variant.
    let mut least = of(each.next().unwrap_or(problem))?;
    for variant in each {
        let other = of(variant)?;
        for i in 0..people.len() {
            // A margin that is NaN says nothing.
            if other.margin[i] < least.margin[i] || least.margin[i].is_nan() {
                least.margin[i] = other.margin[i];
                least.in_action.row_mut(i).assign(&other.in_action.row(i));
                least.in_perturbation.row_mut(i).assign(&other.in_perturbation.row(i));
            }
        }
    }
    Ok(least)
}

/// The margins and gradients of a problem with one variant.
fn gradients_of_variant(
    problem: &Problem,
    people: &People,
    features: &[usize],
    change: ArrayView2<'_, f64>,
    perturbation: ArrayView2<'_, f64>,
) -> Result<Gradients> {
    if people.features() != problem.features() {
        return Err(Error::CausalModel(CausalModelError::OtherFeatures));
    }
    let width = problem.perturbation_width();
    Action { features: features.to_vec(), change: vec![0.0; features.len()] }.check(problem.features())?;
    for (found, expected) in [
        (change.nrows(), people.len()),
        (change.ncols(), features.len()),
        (perturbation.nrows(), people.len()),
        (perturbation.ncols(), width),
    ] {
        if found != expected {
            return Err(Error::People(PeopleError::VectorLength { expected, found }));
        }
    }
    let margin = Margin::new(problem, features);
    let evaluate = |positions: [usize; LANES]| {
        let mut individuals = margin.individuals();
        for (lane, &i) in positions.iter().enumerate() {
            margin.place(&mut individuals, lane, people.individual(i))?;
        }
        let gather = |from: &ArrayView2<'_, f64>, j: usize| Lanes::from_fn(|l| from[[positions[l], j]]);
        let change: Vec<Lanes> = (0..features.len()).map(|j| gather(&change, j)).collect();
        let perturbation: Vec<Lanes> = (0..width).map(|j| gather(&perturbation, j)).collect();
        let mut evaluation = margin.evaluation();
        let value = margin.value(&individuals, &change, &perturbation, &mut evaluation);
        margin.gradients(&mut evaluation);
        Ok((value, evaluation.in_action, evaluation.in_perturbation))
    };
    let positions: Vec<_> = blocks(people.len()).collect();
    let done = positions.into_par_iter().map(evaluate).collect::<Result<Vec<_>>>()?;
    let at = |i: usize| (&done[i / LANES], i % LANES);
    Ok(Gradients {
        margin: (0..people.len()).map(|i| at(i).0.0.0[at(i).1]).collect(),
        in_action: Array2::from_shape_fn(change.dim(), |(i, j)| at(i).0.1[j].0[at(i).1]),
        in_perturbation: Array2::from_shape_fn(perturbation.dim(), |(i, j)| at(i).0.2[j].0[at(i).1]),
    })
}
