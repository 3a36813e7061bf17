//! Questions to a problem that was read from hostile input, whose answers must keep what they promise.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::margin::margin;
use surefoot::outcome::Recourse;
use surefoot::verify::{Verification, verify_within};
use surefoot::{
    Action, Budget, Complete, Error, Exact, Outcome, Problem, SavedProof, Verdict, certify, describe,
    infeasibility,
};

/// Bounds and evaluations for a search: enough for small problems, a few milliseconds for large ones.
const EVALUATIONS: usize = 200;

/// Bounds that the checker may compute for a proof.
const BOUNDS: usize = 500;

/// Perturbations that the problem guards against: none, the largest ones along every axis, and some
/// others of any size.
pub fn perturbations(problem: &Problem) -> Vec<Vec<f64>> {
    let width = problem.features().len();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut directions: Vec<Vec<f64>> = Vec::new();
    for i in 0..width.min(8) {
        for sign in [-1.0, 1.0] {
            directions.push((0..width).map(|j| if i == j { sign } else { 0.0 }).collect());
        }
    }
    for _ in 0..8 {
        directions.push((0..width).map(|_| random.random_range(-1.0..1.0)).collect());
    }
    let mut perturbations = vec![vec![0.0; width]];
    for (number, direction) in directions.iter().enumerate() {
        let share = if number % 3 == 2 { 0.5 } else { 1.0 };
        let scale = share * problem.uncertainty().radius() / problem.uncertainty().size(direction);
        let perturbation: Vec<f64> = direction.iter().map(|d| d * scale).collect();
        if problem.uncertainty().contains(&perturbation) {
            perturbations.push(perturbation);
        }
    }
    perturbations
}

/// Holds an action that is proven to hold against the definition of the margin.
pub fn assert_holds(problem: &Problem, individual: &[f64], action: &Action) {
    for perturbation in perturbations(problem) {
        // Where the causal model is undefined there is no margin.
        if let Ok(margin) = margin(problem, individual, action, &perturbation) {
            assert!(margin >= 0.0, "{action:?} is proven, but {perturbation:?} leaves {margin}");
        }
    }
}

/// Asks for recourse and holds the answer against what it promises.
pub fn ask(problem: &Problem, individual: &[f64]) -> Result<Outcome, Error> {
    let outcome = match Exact::new(problem) {
        Ok(exact) => exact.solve(individual)?,
        Err(error) if error.is_for_another_method() => search(problem, individual)?,
        Err(error) => return Err(error),
    };
    assert!(!describe(problem, individual, &outcome)?.is_empty());
    if let Outcome::Found(found) = &outcome {
        assert_found(problem, individual, found);
    }
    Ok(outcome)
}

fn assert_found(problem: &Problem, individual: &[f64], found: &Recourse) {
    let numbers = found.action.change.iter().chain(&found.counterfactual);
    assert!(numbers.chain([&found.cost, &found.margin]).all(|number| number.is_finite()), "{found:?}");
    assert!(found.cost_bound <= found.cost, "{found:?}");
    let reasons = infeasibility(problem, individual, &found.action).expect("the action fits the problem");
    assert!(reasons.is_none(), "{found:?}: {reasons:?}");
    assert_holds(problem, individual, &found.action);
}

/// The search with proof. The proof must survive a trip through JSON and must not be refuted.
fn search(problem: &Problem, individual: &[f64]) -> Result<Outcome, Error> {
    let complete = Complete::new(problem)?.with_budget(Budget { evaluations: EVALUATIONS })?;
    let proof = complete.prove(individual)?;
    let saved = proof.saved(problem, individual);
    let read = SavedProof::from_json(&saved.to_json()).expect("what is written can be read");
    assert_eq!(read, saved);
    let checked = verify_within(problem, &saved, BOUNDS).expect("the proof fits its problem");
    let is_refuted = matches!(checked, Verification::Wrong(_) | Verification::OtherProblem { .. });
    assert!(!is_refuted, "{checked:?} of {saved:?}");
    Ok(proof.outcome)
}

/// Certifies an action and holds the verdict against the definition of the margin.
pub fn ask_whether_it_holds(problem: &Problem, individual: &[f64], action: &Action) {
    let budget = Budget { evaluations: EVALUATIONS };
    let Ok(certificate) = certify(problem, individual, action, budget) else { return };
    match certificate.verdict {
        Verdict::Holds { margin } => {
            assert!(margin >= 0.0);
            assert_holds(problem, individual, action);
        }
        Verdict::Breaks { perturbation, margin: stated, .. } => {
            let found = margin(problem, individual, action, &perturbation).expect("it was evaluated");
            assert!(stated < 0.0 && found == stated, "{perturbation:?} leaves {found}, not {stated}");
            assert!(problem.uncertainty().contains(&perturbation), "{perturbation:?}");
        }
        _ => {}
    }
}
