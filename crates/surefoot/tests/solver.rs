//! One way in: settings, methods and their proofs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::SettingError;
use surefoot::recourse::{Attempt, Settings, Solver};
use surefoot::{
    ActionKind, Change, Classifier, Cost, Descent, Equation, Error, Feature, Features, Norm, Outcome, People,
    Problem, Scm, Verification, verify,
};

/// A linear problem in which every setting is drawn independently of all others.
fn linear(random: &mut ChaCha8Rng) -> Problem {
    let count = random.random_range(1..=4);
    let feature = |i: usize, random: &mut ChaCha8Rng| {
        let change = [Change::Any, Change::Increase, Change::Decrease][random.random_range(0..3)];
        let mut feature = Feature::new(format!("x{i}")).change(change).weight(random.random_range(0.2..3.0));
        if random.random_bool(0.5) {
            feature = feature.limits(-random.random_range(2.0..5.0), random.random_range(2.0..5.0));
        }
        feature
    };
    let features = Features::new((0..count).map(|i| feature(i, random)).collect()).unwrap();
    let weights = (0..count).map(|_| random.random_range(-2.0..2.0)).collect();
    let classifier = Classifier::linear(weights, random.random_range(-1.0..1.0), 0.5).unwrap();
    let mut problem = Problem::new(features.clone(), classifier).unwrap();
    if count > 1 && random.random_bool(0.5) {
        let equation = Equation::linear(&["x0"], vec![random.random_range(-1.0..1.0)], 0.1);
        problem = problem.with_causal_model(Scm::new(&features, vec![("x1", equation)]).unwrap()).unwrap();
    }
    let norm = [Norm::L1, Norm::L2, Norm::LINF][random.random_range(0..3)].clone();
    let epsilon = [0.0, 0.1, 0.5][random.random_range(0..3)];
    let kind = [ActionKind::Relative, ActionKind::Absolute][random.random_range(0..2)];
    let cost = [Cost::L1, Cost::L2][random.random_range(0..2)];
    let limits = [surefoot::LimitsOn::Outcome, surefoot::LimitsOn::Action][random.random_range(0..2)];
    let problem = problem.with_uncertainty(norm, epsilon).unwrap().with_cost(cost);
    problem.with_action_kind(kind).with_limits_on(limits).unwrap()
}

#[test]
fn the_checker_verifies_proofs_of_exact_answers() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut found, mut impossible, mut boxes) = (0, 0, 0);
    for round in 0..400 {
        let problem = linear(&mut random);
        let x: Vec<f64> = (0..problem.features().len()).map(|_| random.random_range(-2.0..2.0)).collect();
        let solver =
            Solver::new(&problem, Settings { method: "exact".parse().unwrap(), ..Settings::default() });
        let solver = solver.unwrap();
        let outcome = solver.solve(&x).unwrap();
        let proof = solver.prove(&x).unwrap();
        let action = |outcome: &Outcome| outcome.recourse().map(|found| found.action.clone());
        assert_eq!(action(&proof.outcome), action(&outcome), "{round}");
        // The bound that is proved is the one that is answered but for rounding, unless a search had to prove it.
        if proof.evaluations == 0 {
            let (stated, exact) = (proof.outcome.cost_bound(), outcome.cost_bound());
            assert!(stated <= exact && stated >= exact * (1.0 - 2e-9), "{round}: {stated} {exact}");
            boxes += proof.ruled_out.len();
        }
        match verify(&problem, &proof.saved(&problem, &x)).unwrap() {
            Verification::Verified(verified) => {
                found += usize::from(verified.margin.is_some());
                impossible += usize::from(verified.cost_bound == f64::INFINITY);
            }
            other => panic!("{round}: {other:?}, {outcome:?}"),
        }
    }
    assert!(found > 100 && impossible > 15 && boxes > 200, "{found} {impossible} {boxes}");
}

#[test]
fn descent_is_labelled_unproved() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let settings = Settings { method: "descent".parse().unwrap(), ..Settings::default() };
    let mut unproved = 0;
    for round in 0..12 {
        let problem = linear(&mut random).with_limits_on(surefoot::LimitsOn::Action).unwrap();
        let row: Vec<f64> = (0..problem.features().len()).map(|_| random.random_range(-1.0..1.0)).collect();
        let solver = Solver::new(&problem, settings).unwrap();
        let rows = ndarray::ArrayView2::from_shape((1, row.len()), &row).unwrap();
        let people = People::from_standardised(problem.features(), rows).unwrap();
        let attempt = Descent::default().solve(&problem, &people).unwrap().remove(0);
        match (solver.solve(&row).unwrap(), attempt) {
            (Outcome::AlreadyFavourable, Attempt::AlreadyFavourable) => {}
            (Outcome::Undecided(open), Attempt::NotFound) => assert_eq!(open.cost_bound, 0.0, "{round}"),
            (Outcome::Unproved(candidate), Attempt::Found(expected)) => {
                assert_eq!(candidate, expected, "{round}");
                unproved += 1;
            }
            (outcome, attempt) => panic!("{round}: {outcome:?} and {attempt:?}"),
        }
        assert!(matches!(
            solver.prove(&row),
            Err(Error::Setting(SettingError::NoProof { method: "descent" }))
        ));
        assert!(matches!(
            solver.trade_off(&row, None, |_| {}),
            Err(Error::Setting(SettingError::NoProof { .. }))
        ));
    }
    assert!(unproved > 2, "{unproved}");
}
