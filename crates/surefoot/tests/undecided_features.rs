//! The complete method where many intervention sets are bounded together: against the exact method, against
//! definitions at random actions, and proofs that were tampered with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::feasible_change;
use surefoot::margin::margin;
use surefoot::{
    Action, Activation, Change, Classifier, Complete, Constraint, Cost, Equation, Exact, Feature, Features,
    Kind, LimitsOn, Norm, NormKind, Outcome, Problem, SavedProof, Scm, infeasibility, verify,
};
use surefoot_random::{network, one, uniform};

/// What a random problem is made of.
#[derive(Clone, Copy)]
struct Made {
    width: usize,
    cost: Cost,
    has_network: bool,
    /// Whether outcomes have limits, some features change by whole numbers, and one equation is not linear.
    is_hard: bool,
}

/// A random problem with so many equations that the search leaves features undecided, and somebody who is turned
/// down.
fn problem(seed: u64, made: Made) -> (Problem, Vec<f64>) {
    let Made { width, cost, has_network, is_hard } = made;
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let features: Vec<Feature> = (0..width)
        .map(|i| {
            let change = match random.random_range(0..6) {
                0 => Change::Increase,
                1 => Change::Decrease,
                2 if i + 1 == width => Change::Fixed,
                _ => Change::Any,
            };
            let kind = if is_hard && random.random_bool(0.2) { Kind::Integer } else { Kind::Real };
            let (low, high): (f64, f64) = (random.random_range(-3.0..-0.2), random.random_range(0.2..3.0));
            let (low, high) = match kind {
                Kind::Real => (low, high),
                _ => ((4.0 * low).floor(), (4.0 * high).ceil()),
            };
            Feature::new(format!("x{i}"))
                .kind(kind)
                .scaling(0.0, if kind == Kind::Real { 1.0 } else { 4.0 })
                .change(change)
                .limits(low, high)
                .weight(random.random_range(0.3..3.0))
        })
        .collect();
    let features = Features::new(features).unwrap();
    let mut individual = uniform(random, width, -0.2..0.2);
    for (i, x) in individual.iter_mut().enumerate() {
        if features.feature(i).kind == Kind::Integer {
            *x = (4.0 * *x).round() / 4.0;
        }
    }
    let classifier = match has_network {
        true => {
            let network = network(random, &[width, 6, 1], Activation::Tanh, 1.0);
            let score = Classifier::network(network.clone(), 0.5).unwrap().score(&individual);
            let threshold = 1.0 / (1.0 + (-score - random.random_range(0.2..0.8)).exp());
            Classifier::network(network, threshold).unwrap()
        }
        false => {
            let weights = uniform(random, width, -1.0..1.0);
            let score: f64 = weights.iter().zip(&individual).map(|(w, x)| w * x).sum();
            Classifier::linear(weights, -score - random.random_range(0.2..4.0), 0.5).unwrap()
        }
    };
    let mut equations: Vec<(String, Equation)> = Vec::new();
    for i in 1..width {
        let parents: Vec<String> =
            (0..i).filter(|_| random.random_bool(0.5)).map(|j| format!("x{j}")).collect();
        let Some(first) = parents.first() else { continue };
        let equation = if is_hard && i == width / 2 {
            Equation::formula(format!("0.5 * tanh({first}) + u"))
        } else {
            let names: Vec<&str> = parents.iter().map(String::as_str).collect();
            Equation::linear(&names, uniform(random, names.len(), -1.2..1.2), 0.0)
        };
        equations.push((format!("x{i}"), equation));
    }
    let equations = equations.iter().map(|(name, equation)| (name.as_str(), equation.clone())).collect();
    let scm = Scm::new(&features, equations).unwrap();
    let mut rules = Vec::new();
    if is_hard {
        rules.push(Constraint::parse(&features, "x0 + 0.5 * x1 <= 1.5").unwrap());
    }
    let limits_on = if is_hard { LimitsOn::Outcome } else { LimitsOn::Action };
    let problem = Problem::new(features, classifier)
        .unwrap()
        .with_uncertainty(
            Norm::unweighted(one(random, &[NormKind::L1, NormKind::L2, NormKind::Linf])),
            one(random, &[0.0, 0.05, 0.2]),
        )
        .unwrap()
        .with_cost(cost)
        .with_causal_model(scm)
        .unwrap()
        .with_limits_on(limits_on)
        .unwrap()
        .with_constraints(rules)
        .unwrap();
    (problem, individual)
}

/// The proof after a trip through JSON.
fn prove(problem: &Problem, individual: &[f64]) -> SavedProof {
    let proof = Complete::new(problem).unwrap().prove(individual).unwrap();
    SavedProof::from_json(&proof.to_json(problem, individual)).unwrap()
}

/// A random action on a random set that costs less than a bound; some of its changes are zero.
fn cheaper(random: &mut ChaCha8Rng, problem: &Problem, individual: &[f64], bound: f64) -> Option<Action> {
    let features: Vec<usize> =
        problem.features().actionable().into_iter().filter(|_| random.random_bool(0.6)).collect();
    let mut change: Vec<f64> = features
        .iter()
        .map(|&i| {
            let (low, high) = feasible_change(problem.features(), i, individual[i]);
            match random.random_bool(0.5) {
                true => random.random_range(low..=high),
                false => 0.0,
            }
        })
        .collect();
    let action = |change: &[f64]| Action { features: features.clone(), change: change.to_vec() };
    let cost = problem.cost().of(problem.features(), &action(&change));
    if cost > bound {
        let share = random.random_range(0.8..0.9999) * bound / cost;
        change.iter_mut().for_each(|c| *c *= share);
    }
    for (c, &i) in change.iter_mut().zip(&features) {
        let feature = problem.features().feature(i);
        if feature.kind == Kind::Integer {
            *c = (*c * feature.std).trunc() / feature.std;
        }
    }
    (!features.is_empty()).then(|| action(&change))
}

/// Every action that is cheaper than the bound breaks in a scenario of the proof, or violates a requirement.
fn assert_nothing_cheaper(problem: &Problem, saved: &SavedProof, random: &mut ChaCha8Rng, rounds: usize) {
    let x = &saved.individual;
    for _ in 0..rounds {
        let bound = saved.outcome.cost_bound().min(1e3);
        let Some(action) = cheaper(random, problem, x, bound) else { continue };
        let is_broken = saved.ruled_out.iter().flat_map(|part| &part.margins).any(|weighted| {
            let scenario = &weighted.scenario;
            margin(problem, x, &action, &scenario.perturbation).unwrap() < 0.0
        });
        let is_feasible = infeasibility(problem, x, &action).unwrap().is_none();
        assert!(is_broken || !is_feasible, "{action:?} costs less than {bound} and holds");
    }
}

#[test]
fn costs_and_bounds_agree_with_the_exact_method() {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut found, mut impossible, mut open, mut closed) = (0, 0, 0, 0);
    for seed in 0..60 {
        let cost = if seed % 2 == 0 { Cost::L1 } else { Cost::L2 };
        let made = Made { width: 6 + seed as usize % 3, cost, has_network: false, is_hard: false };
        let (problem, x) = problem(seed, made);
        let best = Exact::new(&problem).unwrap().solve(&x).unwrap();
        let saved = prove(&problem, &x);
        let verification = verify(&problem, &saved).unwrap();
        assert!(verification.is_verified(), "{seed}: {verification:?}");
        open += usize::from(saved.ruled_out.iter().any(|part| !part.undecided.is_empty()));
        match (&best, &saved.outcome) {
            (Outcome::Found(best), Outcome::Found(answer)) => {
                found += 1;
                assert!(answer.cost >= best.cost * (1.0 - 1e-9), "{seed}: {} {}", answer.cost, best.cost);
                assert!(
                    answer.cost_bound <= best.cost * (1.0 + 1e-9),
                    "{seed}: {} {}",
                    answer.cost_bound,
                    best.cost
                );
                closed += usize::from(answer.cost <= best.cost * 1.0102);
            }
            (Outcome::Impossible(_), Outcome::Impossible(_)) => impossible += 1,
            (Outcome::AlreadyFavourable, Outcome::AlreadyFavourable) => {}
            other => panic!("{seed}: {other:?}"),
        }
        assert_nothing_cheaper(&problem, &saved, random, 300);
    }
    assert!(found >= 40 && impossible >= 3 && open >= 40, "{found} {impossible} {open}");
    assert_eq!(closed, found);
}

#[test]
fn what_is_cheaper_breaks_with_networks_whole_numbers_and_requirements() {
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    let (mut found, mut open) = (0, 0);
    for seed in 100..140 {
        let cost = if seed % 2 == 0 { Cost::L1 } else { Cost::L2 };
        let made =
            Made { width: 6 + seed as usize % 3, cost, has_network: seed % 4 < 2, is_hard: seed % 3 < 2 };
        let (problem, x) = problem(seed, made);
        let saved = prove(&problem, &x);
        let verification = verify(&problem, &saved).unwrap();
        assert!(verification.is_verified(), "{seed}: {verification:?}");
        found += usize::from(matches!(saved.outcome, Outcome::Found(_)));
        open += usize::from(saved.ruled_out.iter().any(|part| !part.undecided.is_empty()));
        assert_nothing_cheaper(&problem, &saved, random, 500);
    }
    assert!(found >= 20 && open >= 20, "{found} {open}");
}

#[test]
fn proofs_that_were_tampered_with_are_refused() {
    let (mut refused_without, mut refused_open, mut changed) = (0, 0, 0);
    for seed in 0..24 {
        let made = Made { width: 6, cost: Cost::L1, has_network: seed % 2 == 0, is_hard: false };
        let (problem, x) = problem(seed, made);
        let saved = prove(&problem, &x);
        let Outcome::Found(best) = &saved.outcome else { continue };
        let count = saved.ruled_out.len();
        if count > 200 || saved.ruled_out.iter().all(|part| part.undecided.is_empty()) {
            continue;
        }
        changed += 1;
        // The action costs a little more than the cheapest one, so that this bound is too high, whatever is left open.
        let mut higher = saved.clone();
        if let Outcome::Found(found) = &mut higher.outcome {
            found.cost_bound = found.cost;
        }
        for is_all_open in [false, true] {
            for part in &mut higher.ruled_out {
                part.cost = part.cost.max(2.0 * best.cost);
                if is_all_open {
                    part.undecided = part.features.clone();
                }
            }
            assert!(!is_verified(&problem, &higher), "{seed}");
        }
        // Every part that the check uses is needed, or another one covers what it did.
        for k in (0..count).step_by(count.div_ceil(12)) {
            let mut without = saved.clone();
            without.ruled_out.remove(k);
            refused_without += usize::from(!is_verified(&problem, &without));
            let mut open = saved.clone();
            if open.ruled_out[k].undecided.len() == open.ruled_out[k].features.len() {
                continue;
            }
            let decided: Vec<usize> = {
                let part = &open.ruled_out[k];
                part.features.iter().copied().filter(|i| !part.undecided.contains(i)).collect()
            };
            // One feature more is claimed to be open, in the only part that is left of its set.
            open.ruled_out[k].undecided.push(decided[0]);
            open.ruled_out[k].undecided.sort_unstable();
            refused_open += usize::from(!is_verified(&problem, &open));
        }
        // Features that are not there, or twice.
        for undecided in [vec![x.len() - 1, x.len() - 1], vec![0, 0]] {
            let mut wrong = saved.clone();
            wrong.ruled_out.iter_mut().for_each(|part| part.undecided.clone_from(&undecided));
            assert!(!is_verified(&problem, &wrong), "{seed}");
        }
    }
    assert!(changed >= 5 && refused_without >= 20, "{changed} {refused_without} {refused_open}");
}

fn is_verified(problem: &Problem, saved: &SavedProof) -> bool {
    verify(problem, saved).is_ok_and(|verification| verification.is_verified())
}
