//! Actions in numbers that people can follow, proven again as they are written.
//!
//! The cheapest action raises an income by 733.0567. A letter says 734: the change is rounded away from zero, and
//! the rounded action gets a certificate of its own. What a letter states is so exactly what is proven.

use crate::certify::certify;
use crate::margin::outcome;
use crate::proof::{Certificate, Proof};
use crate::{Action, ActionKind, Budget, Feature, Outcome, Problem, Recourse, Result, Verdict};
use crate::{essential, infeasibility};

use super::language::plain;

/// The numbers of significant digits that are tried, the fewest first. With three an action costs at most 1% more.
const DIGITS: [usize; 6] = [3, 4, 5, 6, 8, 10];

/// The proof of an answer whose action has fewer digits, if there is such an action that is feasible and proven to
/// hold. Its bound of the cost stays, since it is about every action.
///
/// # Errors
/// If the individual does not fit the problem.
pub fn in_round_numbers(
    problem: &Problem,
    individual: &[f64],
    mut proof: Proof,
    budget: Budget,
) -> Result<Proof> {
    let Outcome::Found(found) = &proof.outcome else { return Ok(proof) };
    if let Some((recourse, certificate)) = rounded(problem, individual, found, budget)? {
        proof.outcome = Outcome::Found(recourse);
        proof.certificate = Some(certificate);
    }
    Ok(proof)
}

/// The proof that one action holds, in fewer digits if possible, without any statement about its cost.
///
/// # Errors
/// If the individual does not fit the problem.
pub fn of_action(
    problem: &Problem,
    individual: &[f64],
    found: &Recourse,
    budget: Budget,
) -> Result<Option<Proof>> {
    let found = Recourse { cost_bound: 0.0, ..found.clone() };
    let proven = match rounded(problem, individual, &found, budget)? {
        Some(proven) => Some(proven),
        None => prove(problem, individual, &found, found.action.clone(), budget)?,
    };
    Ok(proven
        .map(|(recourse, certificate)| Proof::of(Outcome::Found(recourse), Some(certificate), Vec::new())))
}

/// The first rounded action that is proven. `None` if no digits can be spared.
fn rounded(
    problem: &Problem,
    individual: &[f64],
    found: &Recourse,
    budget: Budget,
) -> Result<Option<(Recourse, Certificate)>> {
    let action = essential(problem, &found.action);
    let mut tried = action.clone();
    for digits in DIGITS {
        let shorter = with_digits(problem, individual, &action, digits);
        if shorter == action || shorter == tried {
            continue;
        }
        tried = shorter.clone();
        if let Some(proven) = prove(problem, individual, found, shorter, budget)? {
            return Ok(Some(proven));
        }
    }
    Ok(None)
}

/// An action with its certificate, if it is feasible and holds with the margin that the problem asks for.
fn prove(
    problem: &Problem,
    individual: &[f64],
    found: &Recourse,
    action: Action,
    budget: Budget,
) -> Result<Option<(Recourse, Certificate)>> {
    let cost = problem.cost().of(problem.features(), &action);
    if cost < found.cost_bound || infeasibility(problem, individual, &action)?.is_some() {
        return Ok(None);
    }
    let certificate = certify(problem, individual, &action, budget)?;
    let Verdict::Holds { margin } = certificate.verdict else { return Ok(None) };
    if margin < found.margin.min(problem.safety()) {
        return Ok(None);
    }
    let counterfactual = outcome(problem, individual, &action)?;
    let recourse = Recourse { action, counterfactual, cost, cost_bound: found.cost_bound, margin };
    Ok(Some((recourse, certificate)))
}

/// An action whose changes without a step, or levels if actions are absolute, have so many significant digits of the
/// change. They are rounded away from the person, but not beyond a limit.
fn with_digits(problem: &Problem, individual: &[f64], action: &Action, digits: usize) -> Action {
    let mut action = action.clone();
    for (&i, change) in action.features.iter().zip(&mut action.change) {
        let feature = problem.features().feature(i);
        if *change == 0.0 || feature.spacing().is_some() {
            continue;
        }
        let (from, by) = (feature.own_units(individual[i]), feature.std * *change);
        let decimals = digits as f64 - 1.0 - by.abs().log10().floor();
        let by = match problem.action_kind() {
            ActionKind::Relative => away(by, by, decimals),
            ActionKind::Absolute => away(from + by, by, decimals) - from,
        };
        if is_allowed(feature, from + by) && feature.allows_change(from, by) {
            *change = by / feature.std;
        }
    }
    action
}

/// Whether a value is within the limits of a feature.
fn is_allowed(feature: &Feature, value: f64) -> bool {
    value >= feature.lower && value <= feature.upper
}

/// A number rounded in a direction to so many decimals, or, if that is negative, to tens, hundreds and so on.
fn away(value: f64, direction: f64, decimals: f64) -> f64 {
    if !(-300.0..300.0).contains(&decimals) {
        return value;
    }
    let unit = 10f64.powf(-decimals);
    let steps = value / unit;
    // A number that is round already stays as it is.
    let nearest = steps.round();
    let steps = match (steps - nearest).abs() <= 1e-9 * nearest.abs().max(1.0) {
        true => nearest,
        false if direction > 0.0 => steps.ceil(),
        false => steps.floor(),
    };
    // Read from text, so that the number is the one that is printed.
    let text = plain(steps * unit, decimals.max(0.0) as usize);
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recourse::{Settings, Solver};
    use crate::verify::{Verification, verify};
    use crate::{Change, Classifier, Features, Norm};

    #[test]
    fn numbers_are_rounded_away_from_zero() {
        assert_eq!(away(733.0567, 1.0, 0.0), 734.0);
        assert_eq!(away(-733.0567, -1.0, 0.0), -734.0);
        assert_eq!(away(15113.2, 1.0, -2.0), 15200.0);
        assert_eq!(away(0.030001, 1.0, 4.0), 0.0301);
        assert_eq!(away(0.3, 1.0, 2.0), 0.3);
        assert_eq!(away(1511.0, 1.0, 0.0), 1511.0);
        // A level is rounded in the direction of the change.
        assert_eq!(away(1866.9433, -1.0, 0.0), 1866.0);
    }

    /// The cheapest raise is 733.05: 583 to the boundary and 150 for the uncertainty, with what safety adds.
    #[test]
    fn the_rounded_action_is_proven_and_keeps_the_bound() {
        for (form, limit, by) in [
            (ActionKind::Relative, f64::INFINITY, 734.0),
            (ActionKind::Relative, 3150.5, 733.1),
            (ActionKind::Absolute, f64::INFINITY, 734.0),
        ] {
            let income =
                Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, limit).change(Change::Increase);
            let features = Features::new(vec![income]).unwrap();
            let classifier = Classifier::linear(vec![1.0], 0.0, 0.5).unwrap();
            let problem = Problem::new(features, classifier).unwrap().with_action_kind(form);
            let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
            let person = [problem.features().standardise(0, 2417.0)];
            let solver = Solver::new(&problem, Settings::default()).unwrap();
            let first = solver.prove(&person).unwrap();
            let bound = first.outcome.recourse().unwrap().cost_bound;
            let proof = in_round_numbers(&problem, &person, first, Budget::default()).unwrap();
            let found = proof.outcome.recourse().unwrap();
            let expected = match form {
                ActionKind::Relative => by,
                // From 2417 to the next whole number: 3151 beyond 3150.
                ActionKind::Absolute => 3151.0 - 2417.0,
            };
            // Without uncertainty of the level itself less is needed if actions are absolute.
            if form == ActionKind::Relative {
                assert!((1500.0 * found.action.change[0] - expected).abs() < 1e-6, "{found:?}");
            } else {
                let to = 2417.0 + 1500.0 * found.action.change[0];
                assert!((to - to.round()).abs() < 1e-6, "{to}");
            }
            assert_eq!(found.cost_bound, bound);
            let saved = proof.saved(&problem, &person);
            assert!(matches!(verify(&problem, &saved).unwrap(), Verification::Verified(_)), "{form:?}");
        }
    }
}
