//! What pictures show of shifts.

use pyo3::prelude::*;
use surefoot::error::CausalModelError;
use surefoot::margin::{counterfactual, no_perturbation};
use surefoot::{Action, Error};

use crate::action::Actions;
use crate::error::{Fault, Result};
use crate::people::Source;
use crate::problem::Problem;

/// Points between two corners of a set of shifts.
const STEPS: u32 = 8;

/// Two features of a person, after an action if one is given, as they are when only these two shift: the furthest
/// shifts in some directions of their plane, in standard deviations, that the problem guards against, and shifts
/// between them. None if shifts of features depend on one another by a covariance.
#[pyfunction]
#[pyo3(signature = (problem, person, actions, first, second, directions))]
pub fn shifted(
    problem: &Problem,
    person: &Bound<'_, PyAny>,
    actions: Option<&Actions>,
    first: &str,
    second: &str,
    directions: Vec<(f64, f64)>,
) -> Result<Option<Vec<(f64, f64)>>> {
    let features = problem.problem.features();
    let (first, second) = (features.index(first)?, features.index(second)?);
    let (people, _) = Source::new(person, &problem.layout).people(None)?;
    if people.len() != 1 {
        return Err(Fault::NotOne { people: people.len() }.into());
    }
    let individual = people.individual(0);
    let own = problem.problem.for_person(individual)?;
    let (problem, individual) = own
        .as_ref()
        .map_or((problem.problem.as_ref(), individual), |own| (&own.problem, &own.individual[..]));
    if problem.sources().is_some_and(|sources| !sources.factor.is_empty()) {
        return Ok(None);
    }
    let none = Action { features: Vec::new(), change: Vec::new() };
    let action = actions.and_then(|actions| actions.actions.first().cloned().flatten()).unwrap_or(none);
    let still = no_perturbation(problem, individual)?;
    let furthest = |(a, b): &(f64, f64)| {
        let mut gradient = vec![0.0; still.len()];
        (gradient[first], gradient[second]) = (*a, *b);
        let most = problem.uncertainty().maximiser(&gradient);
        (most[first], most[second])
    };
    let corners: Vec<(f64, f64)> = directions.iter().map(furthest).collect();
    let mut points = Vec::new();
    for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        // What lies between two shifts is a shift, too: a causal model may bend the line.
        for step in 0..STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            let mut perturbation = still.clone();
            perturbation[first] = from.0 + share * (to.0 - from.0);
            perturbation[second] = from.1 + share * (to.1 - from.1);
            let after = match counterfactual(problem, individual, &action, &perturbation) {
                // The causal model cannot produce such a person.
                Err(Error::CausalModel(CausalModelError::Nobody { .. })) => continue,
                after => after?,
            };
            let own = |i: usize| features.feature(i).own_units(after[i]);
            points.push((own(first), own(second)));
            if from == to {
                break;
            }
        }
    }
    Ok(Some(points))
}
