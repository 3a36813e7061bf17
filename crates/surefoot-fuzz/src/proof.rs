//! Saved proofs: the reader, and the checker on small problems.

use std::sync::LazyLock;

use ndarray::array;
use surefoot::outcome::Recourse;
use surefoot::recourse::{Settings, Solver};
use surefoot::verify::{Verification, Verified, verify_within};
use surefoot::{
    Activation, Budget, Change, Classifier, Complete, Constraint, Cost, Ensemble, Equation, Feature,
    Features, Kind, Layer, Network, Norm, Outcome, Problem, SavedProof, Scm, infeasibility,
};

use crate::Reading;
use crate::question::assert_holds;

/// Bounds that the checker may compute: enough for the proofs of the corpus.
const BOUNDS: usize = 300;

/// A problem, and people of whom something can be proven.
struct Case {
    name: &'static str,
    problem: Problem,
    individuals: Vec<Vec<f64>>,
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| cases().expect("the problems are valid"));

fn cases() -> Result<Vec<Case>, surefoot::Error> {
    let linear = {
        let features = Features::new(vec![
            Feature::new("income").change(Change::Increase),
            Feature::new("savings").change(Change::Any).limits(-3.0, 3.0).weight(0.5),
        ])?;
        Problem::new(features, Classifier::linear(vec![1.0, 0.5], -0.5, 0.5)?)?
            .with_uncertainty(Norm::L2, 0.2)?
    };
    let network = {
        let features = Features::new(vec![
            Feature::new("a").change(Change::Any).limits(-2.0, 2.0),
            Feature::new("b").change(Change::Increase).limits(-2.0, 2.0),
        ])?;
        let layers = vec![
            Layer { weight: array![[1.0, -0.5], [0.5, 0.75]], bias: array![0.1, -0.2] },
            Layer { weight: array![[1.0, 1.5]], bias: array![-0.6] },
        ];
        let scm = Scm::new(&features, vec![("b", Equation::formula("0.3 * a ^ 2 + u"))])?;
        Problem::new(features, Classifier::network(Network::new(layers, Activation::Tanh)?, 0.5)?)?
            .with_causal_model(scm)?
            .with_uncertainty(Norm::LINF, 0.1)?
            .with_cost(Cost::L2)
    };
    let whole = {
        let features = Features::new(vec![
            Feature::new("hours")
                .kind(Kind::Integer)
                .scaling(3.0, 2.0)
                .limits(0.0, 8.0)
                .change(Change::Increase),
            Feature::new("rent").change(Change::Decrease).limits(-2.0, 2.0),
        ])?;
        let rule = Constraint::parse(&features, "hours - 4 * rent >= 2")?;
        Problem::new(features, Classifier::linear(vec![0.75, -0.5], -0.4, 0.5)?)?
            .with_uncertainty(Norm::L1, 0.1)?
            .with_constraints(vec![rule])?
    };
    let blocked = {
        let features = Features::new(vec![
            Feature::new("a").change(Change::Any).limits(-1.0, 1.0),
            Feature::new("b").change(Change::Decrease).limits(-1.0, 1.0),
        ])?;
        let layers = vec![
            Layer { weight: array![[1.0, -1.0], [0.5, -0.25]], bias: array![0.0, 0.1] },
            Layer { weight: array![[1.0, 0.5]], bias: array![-3.0] },
        ];
        Problem::new(features, Classifier::network(Network::new(layers, Activation::Relu)?, 0.5)?)?
            .with_uncertainty(Norm::L2, 0.5)?
    };
    let trees = {
        let features = Features::new(vec![
            Feature::new("a").change(Change::Any).limits(-3.0, 3.0),
            Feature::new("b").change(Change::Increase).limits(-3.0, 3.0),
        ])?;
        let ensemble = Ensemble::from_bytes(TREES.as_bytes())?.over(&features, true)?;
        Problem::new(features, Classifier::trees(ensemble, 0.5)?)?.with_uncertainty(Norm::L2, 0.1)?
    };
    Ok(vec![
        Case { name: "blocked", problem: blocked, individuals: vec![vec![0.0, 0.0], vec![0.0, -1.0]] },
        Case { name: "linear", problem: linear, individuals: vec![vec![-1.0, 0.0], vec![2.0, 0.0]] },
        Case { name: "network", problem: network, individuals: vec![vec![-0.5, 0.25], vec![-1.5, -2.0]] },
        Case { name: "trees", problem: trees, individuals: vec![vec![-1.0, -1.0], vec![0.5, 3.0]] },
        Case { name: "whole", problem: whole, individuals: vec![vec![-1.0, 0.5], vec![0.0, 2.0]] },
    ])
}

/// Three trees of depth two, which accept nobody whose `b` is above 2.
const TREES: &str = r#"{"format": "surefoot trees", "version": 1, "model": {
    "inputs": 2, "single_inputs": false,
    "sum": {"single": false, "start": -0.5, "divisor": 1.0, "factor": 1.0, "shift": 0.0},
    "link": {"kind": "logistic", "slope": 1.0, "single": false},
    "rule": {"compares": "sum", "strict": false}, "compares_sums": false,
    "trees": [
        {"feature": [0, 1, 1, 0, 0, 0, 0], "threshold": [0.0, 0.5, -0.5, 0, 0, 0, 0],
         "left": [1, 3, 5, -1, -1, -1, -1], "right": [2, 4, 6, -1, -1, -1, -1],
         "missing_left": [0, 0, 0, 0, 0, 0, 0], "value": [0, 0, 0, -1.0, 0.25, -0.25, 1.0]},
        {"feature": [1, 0, 0, 0, 0, 0, 0], "threshold": [0.25, 1.0, -0.75, 0, 0, 0, 0],
         "left": [1, 3, 5, -1, -1, -1, -1], "right": [2, 4, 6, -1, -1, -1, -1],
         "missing_left": [0, 0, 0, 0, 0, 0, 0], "value": [0, 0, 0, -0.5, 0.5, 0.25, 0.75]},
        {"feature": [1, 0, 0], "threshold": [2.0, 0, 0], "left": [1, -1, -1], "right": [2, -1, -1],
         "missing_left": [0, 0, 0], "value": [0, 0.0, -9.0]}]}}"#;

fn prove(problem: &Problem, individual: &[f64]) -> Result<SavedProof, surefoot::Error> {
    let budget = Budget { evaluations: 4000 };
    if problem.classifier().ensemble().is_some() {
        let settings = Settings { budget, ..Settings::default() };
        return Ok(Solver::new(problem, settings)?.prove(individual)?.saved(problem, individual));
    }
    let complete = Complete::new(problem)?.with_gap(0.1)?.with_budget(budget)?;
    Ok(complete.prove(individual)?.saved(problem, individual))
}

/// The proofs with which the corpus starts, by name.
///
/// # Panics
/// If one of them is not verified.
pub fn valid_proofs() -> Vec<(String, String)> {
    let mut proofs = Vec::new();
    for Case { name, problem, individuals } in CASES.iter() {
        for (number, individual) in individuals.iter().enumerate() {
            let saved = prove(problem, individual).expect("there is an answer");
            let checked = verify_within(problem, &saved, BOUNDS).expect("the proof fits its problem");
            assert!(checked.is_verified(), "{checked:?}");
            let file = format!("{name}-{}-{}", number + 1, saved.outcome.status());
            proofs.push((file, saved.to_json()));
        }
    }
    proofs
}

/// A saved proof. Whatever the checker verifies must be true, whoever wrote it.
pub fn proof(bytes: &[u8]) -> Reading {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reading::Refused };
    let saved = match SavedProof::from_json(text) {
        Ok(saved) => saved,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    assert_eq!(SavedProof::from_json(&saved.to_json()).as_ref(), Ok(&saved));
    let mut reading = Reading::Refused;
    for Case { problem, .. } in CASES.iter() {
        match verify_within(problem, &saved, BOUNDS) {
            Ok(Verification::Verified(verified)) => {
                assert_true(problem, &saved, &verified);
                reading = Reading::Accepted;
            }
            Ok(Verification::Wrong(fault) | Verification::Unverified(fault)) => {
                assert!(!fault.to_string().is_empty())
            }
            Ok(_) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    reading
}

/// Holds what was verified against the definition and against what the search finds for the same
/// person: an action that holds cannot cost less than a verified bound.
fn assert_true(problem: &Problem, saved: &SavedProof, verified: &Verified) {
    let individual = &saved.individual;
    let score = problem.classifier().score(individual);
    assert_eq!(score >= 0.0, saved.outcome == Outcome::AlreadyFavourable, "{saved:?}");
    if let Outcome::Found(found) = &saved.outcome {
        assert_found(problem, individual, found);
    }
    let truth = prove(problem, individual).expect("the person was checked");
    if let Outcome::Found(Recourse { cost, .. }) = truth.outcome {
        let bound = verified.cost_bound;
        assert!(bound <= cost * (1.0 + 1e-9), "{bound} is verified, and an action costs {cost}: {saved:?}");
    }
}

fn assert_found(problem: &Problem, individual: &[f64], found: &Recourse) {
    let reasons = infeasibility(problem, individual, &found.action).expect("the action fits the problem");
    assert!(reasons.is_none(), "{found:?}: {reasons:?}");
    let cost = problem.cost().of(problem.features(), &found.action);
    assert!((cost - found.cost).abs() <= 1e-9 * cost.max(1.0), "{found:?} costs {cost}");
    assert!(found.cost_bound <= found.cost, "{found:?}");
    assert_holds(problem, individual, &found.action);
}
