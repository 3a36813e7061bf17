//! Extreme magnitudes: numbers that overflow or vanish are refused, or prove nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::SettingError;
use surefoot::margin::margin;
use surefoot::outcome::UndecidedReason;
use surefoot::{
    Action, ActionKind, Budget, Change, Classifier, Complete, Cost, Equation, Error, Exact, Feature,
    Features, Kind, Norm, NormKind, Outcome, People, Problem, Scm, Verdict, Verification, certify, describe,
    infeasibility, refute, verify,
};

fn one_feature(feature: Feature, coefficient: f64, intercept: f64) -> Result<Problem, Error> {
    let classifier = Classifier::linear(vec![coefficient], intercept, 0.5)?;
    Problem::new(Features::new(vec![feature.change(Change::Any)])?, classifier)
}

#[test]
fn magnitudes_whose_products_overflow_are_refused_with_name_and_remedy() {
    let refused = |feature: Feature, coefficient: f64, intercept: f64| {
        one_feature(feature, coefficient, intercept).unwrap_err().to_string()
    };
    let x = || Feature::new("x");
    let said = refused(x().weight(4e299), 0.77, -1.0);
    assert!(
        said.contains("`x`: the cost weight is 4") && said.contains("between 1e-100 and 1e100"),
        "{said}"
    );
    let said = refused(x().scaling(0.0, 1e200), 1e-150, -1.0);
    assert!(
        said.contains("`x`: the standard deviation is 1") && said.contains("choose another unit"),
        "{said}"
    );
    let said = refused(x(), 0.77, -9e208);
    assert!(said.contains("no larger than 1e100"), "{said}");
    let said = refused(x().limits(0.0, 1e308), 0.77, -1.0);
    assert!(said.contains("`x`: the limits") && said.contains("infinite: none"), "{said}");
    for epsilon in [1e101, f64::INFINITY] {
        let problem = one_feature(x(), 1.0, -1.0).unwrap().with_uncertainty(Norm::L2, epsilon);
        assert!(matches!(problem, Err(Error::Setting(SettingError::Epsilon { .. }))));
    }
}

/// The cheapest action costs, or is in own units, more than the largest number: there is one, so that
/// "impossible" would be false, and it cannot be told, so that "found" would be, too.
#[test]
fn costs_and_changes_beyond_all_numbers_prove_nothing() {
    for (weight, std, coefficient, cost) in [
        (1e100, 1.0, 1e-250, Cost::L1),
        (1e100, 1.0, 1e-250, Cost::L2),
        (1.0, 1e100, 1e-250, Cost::L1),
        (1.0, 1e100, 1e-250, Cost::L2),
        (1.0, 1.0, 1e-300, Cost::L1),
    ] {
        for kind in [Kind::Real, Kind::Integer] {
            let feature = Feature::new("x").kind(kind).weight(weight).scaling(0.0, std);
            let problem = one_feature(feature, coefficient, -1e10).unwrap().with_cost(cost);
            let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
            let place = format!("{weight} {std} {coefficient} {cost:?} {kind:?}");
            let exact = Exact::new(&problem).unwrap().solve(&[0.0]).unwrap();
            let Outcome::Undecided(undecided) = &exact else { panic!("{place}: {exact:?}") };
            assert_eq!(undecided.cost_bound.to_string().find("inf"), None, "{place}");
            let words = describe(&problem, &[0.0], &exact).unwrap();
            assert!(!words.contains("inf") && !words.contains("NaN"), "{place}: {words}");
            let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 500 }).unwrap();
            let proof = complete.prove(&[0.0]).unwrap();
            assert!(matches!(proof.outcome, Outcome::Undecided(_)), "{place}: {:?}", proof.outcome);
            let words = describe(&problem, &[0.0], &proof.outcome).unwrap();
            assert!(!words.contains("inf") && !words.contains("NaN"), "{place}: {words}");
        }
    }
    let overflow = one_feature(Feature::new("x").weight(1e100), 1e-250, -1e10).unwrap();
    let Outcome::Undecided(undecided) = Exact::new(&overflow).unwrap().solve(&[0.0]).unwrap() else {
        panic!("decided")
    };
    assert_eq!(undecided.reason, UndecidedReason::Overflow);
}

/// A proof of impossibility does not become one because what is left to rule out costs too much.
#[test]
fn the_checker_does_not_take_overflow_for_proof() {
    let feature = Feature::new("x").weight(1e100).change(Change::Any);
    let problem = one_feature(feature, 1e-290, -1e-30).unwrap();
    let problem = problem.with_uncertainty(Norm::L1, 0.1).unwrap();
    let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 300 }).unwrap();
    let mut proof = complete.prove(&[0.0]).unwrap();
    // What is beyond 1e260 holds, and costs more than the largest number, as does what is beyond 1e250.
    assert!(
        margin(&problem, &[0.0], &Action { features: vec![0], change: vec![1e265] }, &[0.0]).unwrap() > 0.0
    );
    let missing = 1.0;
    let best = Action { features: vec![0], change: vec![0.0] };
    proof.outcome = Outcome::Impossible(surefoot::outcome::Shortfall { best, missing });
    proof.certificate = None;
    proof.ruled_out = vec![surefoot::proof::RuledOut {
        undecided: Vec::new(),
        features: vec![0],
        lower: vec![f64::NEG_INFINITY],
        upper: vec![0.0],
        cost: f64::INFINITY,
        margins: surefoot::proof::WeightedMargin::only(surefoot::proof::Scenario {
            variant: 0,
            perturbation: vec![0.0],
        }),
        cone: None,
        requirements: Vec::new(),
    }];
    let mut dear = proof.ruled_out[0].clone();
    (dear.lower, dear.upper) = (vec![0.0], vec![1e250]);
    proof.ruled_out.push(dear);
    let saved = proof.saved(&problem, &[0.0]);
    assert!(!verify(&problem, &saved).unwrap().is_verified());
}

/// An l2 cost with large weights asks for levels far beyond 1.
#[test]
fn whole_numbers_with_large_weights_are_solved() {
    for weight in [1e-12, 1.0, 1e10, 1e30] {
        let feature = Feature::new("x").kind(Kind::Integer).weight(weight).limits(-9.0, 9.0);
        let problem = one_feature(feature, 1.0, -2.5).unwrap().with_cost(Cost::L2);
        let outcome = Exact::new(&problem).unwrap().solve(&[0.0]).unwrap();
        let found = outcome.recourse().unwrap_or_else(|| panic!("{weight}: {outcome:?}"));
        assert_eq!(found.action.change, [3.0]);
        assert!((found.cost / (3.0 * weight) - 1.0).abs() < 1e-9);
        assert!(found.cost_bound > 0.8 * found.cost, "{weight}: {}", found.cost_bound);
    }
}

/// A magnitude, mostly moderate, sometimes anything that a double can hold.
fn magnitude(random: &mut ChaCha8Rng) -> f64 {
    let exponent: f64 = match random.random_range(0..4) {
        0 => random.random_range(-300.0..300.0),
        1 => random.random_range(-100.0..100.0),
        _ => random.random_range(-3.0..3.0),
    };
    10f64.powf(exponent)
}

fn signed(random: &mut ChaCha8Rng) -> f64 {
    let size = magnitude(random);
    if random.random_bool(0.5) { size } else { -size }
}

/// A problem and somebody in it, or why it is refused.
fn extreme(random: &mut ChaCha8Rng) -> Result<(Problem, Vec<f64>), Error> {
    let mut feature = |name: &str| {
        let mut feature = Feature::new(name).weight(magnitude(random)).scaling(0.0, magnitude(random));
        if random.random_bool(0.3) {
            feature = feature.kind(Kind::Integer);
        }
        if random.random_bool(0.4) {
            feature = feature.limits(-magnitude(random), magnitude(random));
        }
        let changes = [Change::Any, Change::Increase, Change::Decrease];
        feature.change(*changes.choose(random).unwrap())
    };
    let features = Features::new(vec![feature("a"), feature("b")])?;
    let classifier = Classifier::linear(vec![signed(random), signed(random)], signed(random), 0.5)?;
    let cost = if random.random_bool(0.5) { Cost::L1 } else { Cost::L2 };
    let form = if random.random_bool(0.5) { ActionKind::Relative } else { ActionKind::Absolute };
    let kind = *[NormKind::L1, NormKind::L2, NormKind::Linf].choose(random).unwrap();
    let mut problem = Problem::new(features.clone(), classifier)?.with_cost(cost).with_action_kind(form);
    let epsilon = if random.random_bool(0.3) { 0.0 } else { magnitude(random) };
    problem = problem.with_uncertainty(Norm::unweighted(kind), epsilon)?;
    if random.random_bool(0.4) {
        let equation = Equation::linear(&["a"], vec![signed(random)], 0.0);
        problem = problem.with_causal_model(Scm::new(&features, vec![("b", equation)])?)?;
    }
    let people = People::from_own_units(&features, &[[0.0, 0.0]])?;
    Ok((problem, people.individual(0).to_vec()))
}

/// Feasible actions of many sizes, one feature at a time and both, at limits too.
fn candidates(problem: &Problem, individual: &[f64]) -> Vec<Action> {
    let sizes = (-300..=300).step_by(4).map(|exponent| 10f64.powi(exponent));
    let mut candidates = Vec::new();
    let both = |i: usize, size: f64| {
        let (down, up) = surefoot::action::feasible_change(problem.features(), i, individual[i]);
        let std = problem.features().feature(i).std;
        let whole = |change: f64| match problem.features().feature(i).kind {
            Kind::Real => change,
            _ => (change * std).trunc() / std,
        };
        [whole(size.min(up)), whole((-size).max(down))]
    };
    for size in sizes {
        for i in 0..2 {
            candidates.extend(both(i, size).map(|change| Action { features: vec![i], change: vec![change] }));
        }
        for a in both(0, size) {
            let pairs = both(1, size).map(|b| Action { features: vec![0, 1], change: vec![a, b] });
            candidates.extend(pairs);
        }
    }
    candidates.retain(|action| action.change.iter().all(|change| change.is_finite()));
    // An action whose outcome has no finite numbers cannot be taken either.
    candidates
        .retain(|action| infeasibility(problem, individual, action).is_ok_and(|reason| reason.is_none()));
    candidates
}

fn holds(problem: &Problem, individual: &[f64], action: &Action) -> bool {
    let verdict = certify(problem, individual, action, Budget { evaluations: 200 }).unwrap().verdict;
    matches!(verdict, Verdict::Holds { .. })
}

/// Whatever is said of a problem with extreme numbers agrees with its definition, with proofs that
/// actions hold, with attacks and with the checker.
#[test]
fn extreme_problems_are_refused_or_answered_soundly() {
    let (mut refused, mut found, mut impossible, mut undecided) = (0, 0, 0, 0);
    for seed in 0..2_000 {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let Ok((problem, individual)) = extreme(random) else {
            refused += 1;
            continue;
        };
        let Ok(outcome) = Exact::new(&problem).and_then(|exact| exact.solve(&individual)) else {
            refused += 1;
            continue;
        };
        let words = describe(&problem, &individual, &outcome).unwrap();
        assert!(!words.contains("inf ") && !words.contains("NaN"), "{seed}: {words}");
        match &outcome {
            Outcome::AlreadyFavourable => assert!(problem.classifier().score(&individual) >= 0.0),
            Outcome::Found(recourse) => {
                found += 1;
                let features = problem.features();
                let own = features.own_units(&recourse.counterfactual);
                let changes = recourse.action.features.iter().zip(&recourse.action.change);
                let changes = changes.map(|(&i, change)| features.feature(i).std * change);
                let mut numbers = own.into_iter().chain(changes).chain([
                    recourse.cost,
                    recourse.cost_bound,
                    recourse.margin,
                ]);
                assert!(numbers.all(f64::is_finite), "{seed}: {recourse:?}");
                assert!(infeasibility(&problem, &individual, &recourse.action).unwrap().is_none(), "{seed}");
                let row = ndarray::Array2::from_shape_vec((1, 2), individual.clone()).unwrap();
                let people = People::from_standardised(features, row.view()).unwrap();
                let actions = [recourse.action.clone()];
                let broken = refute(&problem, &people, &actions, Budget { evaluations: 200 }).unwrap();
                let is_broken = broken[0].as_ref().is_some_and(|found| found.size <= problem.epsilon());
                assert!(!is_broken, "{seed}: {recourse:?} {broken:?}");
                for cheaper in candidates(&problem, &individual) {
                    let cost = problem.cost().of(features, &cheaper);
                    if cost < recourse.cost_bound * (1.0 - 1e-9) {
                        assert!(!holds(&problem, &individual, &cheaper), "{seed}: {cheaper:?} {recourse:?}");
                    }
                }
            }
            Outcome::Impossible(_) => {
                impossible += 1;
                for action in candidates(&problem, &individual) {
                    assert!(!holds(&problem, &individual, &action), "{seed}: {action:?}");
                }
            }
            Outcome::Undecided(_) => undecided += 1,
            Outcome::Unproved(candidate) => panic!("{candidate:?}"),
        }
    }
    let counts = [refused, found, impossible, undecided];
    assert!(counts.iter().zip([500, 100, 30, 30]).all(|(count, least)| *count > least), "{counts:?}");
}

/// The same of the search with proof, and of the checker.
#[test]
fn proofs_of_extreme_problems_are_sound() {
    let (mut found, mut impossible) = (0, 0);
    for seed in 0..150 {
        let random = &mut ChaCha8Rng::seed_from_u64(50_000 + seed);
        let Ok((problem, individual)) = extreme(random) else { continue };
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 400 }).unwrap();
        let Ok(proof) = complete.prove(&individual) else { continue };
        match &proof.outcome {
            Outcome::Found(recourse) => {
                found += 1;
                assert!(recourse.cost.is_finite() && recourse.margin.is_finite(), "{seed}");
                for cheaper in candidates(&problem, &individual) {
                    if problem.cost().of(problem.features(), &cheaper) < recourse.cost_bound * (1.0 - 1e-9) {
                        assert!(!holds(&problem, &individual, &cheaper), "{seed}: {cheaper:?} {recourse:?}");
                    }
                }
            }
            Outcome::Impossible(_) => {
                impossible += 1;
                for action in candidates(&problem, &individual) {
                    assert!(!holds(&problem, &individual, &action), "{seed}: {action:?}");
                }
            }
            _ => continue,
        }
        let saved = proof.saved(&problem, &individual);
        assert!(!matches!(verify(&problem, &saved).unwrap(), Verification::Wrong(_)), "{seed}");
    }
    assert!(found > 5 && impossible > 3, "{found} {impossible}");
}
