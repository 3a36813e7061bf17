//! The one function behind every question:
//!
//! ```text
//! margin(action, D) = score(CF(CF(x, D), action))
//! ```
//!
//! the score of an individual x who is perturbed by D and then acts. It is evaluated here as
//! it is written, by abduction and prediction twice over, which makes it the independent
//! check of everything that is found by cleverer means.

use crate::{Action, Error, Form, Intervention, Problem, Result};

/// The individual after perturbation and action, `CF(CF(x, D), action)`.
pub fn counterfactual(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    perturbation: &[f64],
) -> Result<Vec<f64>> {
    let width = problem.features().len();
    for vector in [individual, perturbation] {
        if vector.len() != width {
            return Err(Error::VectorLength { expected: width, found: vector.len() });
        }
    }
    action.check(problem.features())?;
    let level = || action.features.iter().zip(&action.change).map(|(&i, change)| individual[i] + change);
    let Some(scm) = problem.scm() else {
        let mut result: Vec<f64> = individual.iter().zip(perturbation).map(|(x, d)| x + d).collect();
        for ((&i, change), level) in action.features.iter().zip(&action.change).zip(level()) {
            result[i] = match problem.form() {
                Form::Relative => result[i] + change,
                Form::Absolute => level,
            };
        }
        return Ok(result);
    };
    let perturbed = scm.counterfactual(individual, Intervention::Additive(perturbation))?;
    let features = &action.features;
    match problem.form() {
        Form::Relative => {
            scm.counterfactual(&perturbed, Intervention::Shift { features, change: &action.change })
        }
        Form::Absolute => {
            let value: Vec<f64> = level().collect();
            scm.counterfactual(&perturbed, Intervention::Set { features, value: &value })
        }
    }
}

/// `margin(action, D)`: the action is good for this perturbation iff it is not negative.
pub fn margin(problem: &Problem, individual: &[f64], action: &Action, perturbation: &[f64]) -> Result<f64> {
    let individual = counterfactual(problem, individual, action, perturbation)?;
    Ok(problem.classifier().score(&individual))
}
