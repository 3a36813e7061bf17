//! The exact method with many intervention sets, against brute force over all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::{covering_sets, feasible_change, intervention_sets};
use surefoot::error::FeatureError;
use surefoot::margin::margin;
use surefoot::recourse::{Method, Solver};
use surefoot::theory::cost_stability;
use surefoot::{
    Action, ActionKind, Budget, Change, Classifier, Complete, Constraint, Cost, Equation, Error, Exact,
    Feature, Features, Kind, LimitsOn, Norm, NormKind, Outcome, Problem, Scm, verify,
};

/// A random linear problem with a causal model over all of its features, and somebody who is turned down.
/// With `follows`, a feature follows from each earlier one with this probability.
fn problem(seed: u64, width: usize, follows: f64, kind: ActionKind, cost: Cost) -> (Problem, Vec<f64>) {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let features: Vec<Feature> = (0..width)
        .map(|i| {
            let change = match random.random_range(0..6) {
                0 if i > 0 => Change::Increase,
                1 if i > 0 => Change::Decrease,
                _ => Change::Any,
            };
            let (low, high) = (random.random_range(-3.0..-0.2), random.random_range(0.2..3.0));
            let limits =
                if random.random_bool(0.2) { (f64::NEG_INFINITY, f64::INFINITY) } else { (low, high) };
            Feature::new(format!("x{i}"))
                .change(change)
                .limits(limits.0, limits.1)
                .weight(random.random_range(0.3..3.0))
        })
        .collect();
    let features = Features::new(features).unwrap();
    let individual: Vec<f64> = (0..width).map(|_| random.random_range(-0.2..0.2)).collect();
    let weights: Vec<f64> = (0..width).map(|_| random.random_range(-1.0..1.0)).collect();
    let score: f64 = weights.iter().zip(&individual).map(|(w, x)| w * x).sum();
    let classifier = Classifier::linear(weights, -score - random.random_range(0.2..3.0), 0.5).unwrap();
    let mut equations: Vec<(String, Equation)> = Vec::new();
    for i in 1..width {
        let parents: Vec<String> =
            (0..i).filter(|_| random.random_bool(follows)).map(|j| format!("x{j}")).collect();
        if !parents.is_empty() {
            let slopes = parents.iter().map(|_| random.random_range(-1.2..1.2)).collect();
            let names: Vec<&str> = parents.iter().map(String::as_str).collect();
            equations.push((format!("x{i}"), Equation::linear(&names, slopes, 0.0)));
        }
    }
    let equations = equations.iter().map(|(name, equation)| (name.as_str(), equation.clone())).collect();
    let scm = Scm::new(&features, equations).unwrap();
    let norm = [NormKind::L1, NormKind::L2, NormKind::Linf][random.random_range(0..3)];
    let problem = Problem::new(features, classifier)
        .unwrap()
        .with_uncertainty(Norm::unweighted(norm), [0.0, 0.05, 0.2][random.random_range(0..3)])
        .unwrap()
        .with_cost(cost)
        .with_action_kind(kind)
        .with_limits_on(LimitsOn::Action)
        .unwrap()
        .with_causal_model(scm)
        .unwrap();
    (problem, individual)
}

/// The worst-case margin of an action by the definition: it is linear in the perturbation.
fn worst_margin(problem: &Problem, individual: &[f64], action: &Action) -> f64 {
    let width = individual.len();
    let at = |d: &[f64]| margin(problem, individual, action, d).unwrap();
    let zero = at(&vec![0.0; width]);
    let slope = |i: usize| {
        let mut d = vec![0.0; width];
        d[i] = 1.0;
        zero - at(&d)
    };
    let downwards: Vec<f64> = (0..width).map(slope).collect();
    at(&problem.norm().maximiser(&downwards, problem.epsilon()))
}

/// The least cost of an action on one set, by the definition of the margin and a search for the level at
/// which the changes suffice: `theta_i` is at its limit if its gain per cost is above the level (l1), or
/// grows with it (l2).
fn least_cost_on(problem: &Problem, individual: &[f64], set: &[usize]) -> f64 {
    let mut action = Action { features: set.to_vec(), change: vec![0.0; set.len()] };
    let nothing = worst_margin(problem, individual, &action);
    let unperturbed = vec![0.0; individual.len()];
    let at_zero = margin(problem, individual, &action, &unperturbed).unwrap();
    let mut gains = Vec::new();
    for k in 0..set.len() {
        action.change[k] = 1.0;
        gains.push(margin(problem, individual, &action, &unperturbed).unwrap() - at_zero);
        action.change[k] = 0.0;
    }
    let weight = |k: usize| problem.features().feature(set[k]).weight;
    let room = |k: usize| {
        let (down, up) = feasible_change(problem.features(), set[k], individual[set[k]]);
        if gains[k] > 0.0 { up } else { -down }
    };
    let need = -nothing;
    let gain = |k: usize, change: f64| if change == 0.0 { 0.0 } else { gains[k].abs() * change };
    if (0..set.len()).map(|k| gain(k, room(k))).sum::<f64>() < need {
        return f64::INFINITY;
    }
    match problem.cost() {
        Cost::L1 => {
            let mut order: Vec<usize> = (0..set.len()).filter(|&k| gains[k].abs() > 1e-12).collect();
            order.sort_by(|&a, &b| (gains[b].abs() / weight(b)).total_cmp(&(gains[a].abs() / weight(a))));
            let (mut missing, mut cost) = (need, 0.0);
            for k in order {
                let change = (missing / gains[k].abs()).min(room(k));
                cost += weight(k) * change;
                missing -= gains[k].abs() * change;
            }
            if missing > 1e-9 { f64::INFINITY } else { cost }
        }
        Cost::L2 => {
            let change = |k: usize, level: f64| (level * gains[k].abs() / weight(k).powi(2)).min(room(k));
            let gained = |level: f64| (0..set.len()).map(|k| gain(k, change(k, level))).sum::<f64>();
            let (mut low, mut high) = (0.0, 1e9);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if gained(middle) >= need { high = middle } else { low = middle }
            }
            if gained(high) < need {
                return f64::INFINITY;
            }
            (0..set.len()).map(|k| (weight(k) * change(k, high)).powi(2)).sum::<f64>().sqrt()
        }
    }
}

fn brute_force(problem: &Problem, individual: &[f64]) -> f64 {
    let sets = intervention_sets(problem.features(), true).unwrap();
    sets.iter().map(|set| least_cost_on(problem, individual, set)).fold(f64::INFINITY, f64::min)
}

/// The answer is that of brute force over every set, the action holds by the definition, and the bound is
/// as tight as for enumerated sets.
fn agrees_with_brute_force(name: &str, problem: &Problem, individual: &[f64]) -> bool {
    let outcome = Exact::new(problem).unwrap().solve(individual).unwrap();
    let least = brute_force(problem, individual);
    match &outcome {
        Outcome::Found(found) => {
            assert!((found.cost - least).abs() <= 1e-6 * least.max(1.0), "{name}: {least} {found:?}");
            assert!(found.cost_bound >= found.cost - 1e-6 * found.cost.max(1.0), "{name}: {found:?}");
            assert!(found.cost_bound <= least * (1.0 + 1e-9), "{name}: {least} {found:?}");
            let worst = worst_margin(problem, individual, &found.action);
            assert!((worst - found.margin).abs() < 1e-9 && worst >= 0.0, "{name}: {worst} {found:?}");
            let cost = problem.cost().of(problem.features(), &found.action);
            assert!((cost - found.cost).abs() <= 1e-12 * cost, "{name}: {found:?}");
            for (&i, &change) in found.action.features.iter().zip(&found.action.change) {
                let (low, high) = feasible_change(problem.features(), i, individual[i]);
                assert!(change >= low && change <= high, "{name}: {found:?}");
            }
            true
        }
        Outcome::Impossible(shortfall) => {
            assert!(least.is_infinite(), "{name}: {least} {shortfall:?}");
            false
        }
        other => panic!("{name}: {least} {other:?}"),
    }
}

const KINDS: [ActionKind; 2] = [ActionKind::Relative, ActionKind::Absolute];
const COSTS: [Cost; 2] = [Cost::L1, Cost::L2];

/// Few sets, which are enumerated, and many, which are not.
#[test]
fn brute_force_over_all_sets_agrees() {
    let (mut found, mut impossible) = (0, 0);
    for seed in 0..100 {
        for (kind, cost) in KINDS.into_iter().flat_map(|kind| COSTS.map(|cost| (kind, cost))) {
            let width = 3 + (seed % 7) as usize;
            let follows = [0.2, 0.5, 0.8][(seed % 3) as usize];
            let (problem, individual) = problem(seed, width, follows, kind, cost);
            let name = format!("{seed} {kind:?} {cost:?}");
            match agrees_with_brute_force(&name, &problem, &individual) {
                true => found += 1,
                false => impossible += 1,
            }
        }
    }
    assert!(found > 200 && impossible > 10, "{found} {impossible}");
}

#[test]
fn twelve_features_agree_with_brute_force() {
    for seed in 0..3 {
        for (kind, cost) in KINDS.into_iter().flat_map(|kind| COSTS.map(|cost| (kind, cost))) {
            let (problem, individual) = problem(1000 + seed, 12, 0.4, kind, cost);
            agrees_with_brute_force(&format!("{seed} {kind:?} {cost:?}"), &problem, &individual);
        }
    }
}

/// Every set is covered by a covering set on which an action costs no more.
#[test]
fn covering_sets_cover_all_others() {
    for seed in 0..60 {
        for kind in KINDS {
            let (problem, individual) = problem(seed, 2 + (seed % 5) as usize, 0.3, kind, Cost::L1);
            let covering = covering_sets(problem.features(), problem.scm(), kind).unwrap();
            let least = |sets: &[Vec<usize>]| {
                sets.iter().map(|set| least_cost_on(&problem, &individual, set)).fold(f64::INFINITY, f64::min)
            };
            let all = intervention_sets(problem.features(), true).unwrap();
            assert!(covering.len() <= all.len());
            let (of_covering, of_all) = (least(&covering), least(&all));
            assert!(
                of_covering == of_all || (of_covering - of_all).abs() <= 1e-9 * of_all,
                "{seed} {kind:?}: {of_covering} {of_all}"
            );
        }
    }
}

/// Requirements and integer values with more sets than are enumerated, against the same problem with all
/// features but some fixed: whatever is fixed, the answer is no cheaper. The complete method agrees.
#[test]
fn requirements_and_integers_with_many_sets() {
    let mut checked = 0;
    for seed in 0..40 {
        let kind = KINDS[(seed % 2) as usize];
        let (problem, individual) = problem(seed, 8, 0.6, kind, COSTS[(seed / 2 % 2) as usize]);
        let features: Vec<Feature> = problem
            .features()
            .iter()
            .enumerate()
            .map(|(i, feature)| match i % 3 {
                0 if seed % 4 < 2 => feature.clone().kind(Kind::Integer).limits(-3.0, 3.0).scaling(0.0, 0.7),
                _ => feature.clone().limits(-2.0, 2.0),
            })
            .collect();
        let individual: Vec<f64> = features
            .iter()
            .zip(&individual)
            .map(|(feature, x)| if feature.kind == Kind::Integer { 0.0 } else { *x })
            .collect();
        let features = Features::new(features).unwrap();
        let rules = ["x0 + x1 <= 1.5", "x2 - x3 >= -1", "x4 + x5 + x6 <= 2"]
            .map(|rule| Constraint::parse(&features, rule).unwrap());
        let with = |features: &Features, problem: &Problem| {
            let scm = Scm::new(features, equations(problem)).unwrap();
            Problem::new(features.clone(), problem.classifier().clone())
                .unwrap()
                .with_uncertainty(problem.norm().clone(), problem.epsilon())
                .unwrap()
                .with_cost(problem.cost())
                .with_action_kind(kind)
                .with_causal_model(scm)
                .unwrap()
                .with_constraints(rules.to_vec())
                .unwrap()
        };
        let full = with(&features, &problem);
        let outcome = Exact::new(&full).unwrap().solve(&individual).unwrap();
        let bound = match &outcome {
            Outcome::Found(found) => {
                assert!(worst_margin(&full, &individual, &found.action) >= 0.0, "{seed}");
                assert!(
                    surefoot::infeasibility(&full, &individual, &found.action).unwrap().is_none(),
                    "{seed}"
                );
                assert!(found.cost_bound >= found.cost * (1.0 - 1e-6), "{seed}: {found:?}");
                found.cost_bound
            }
            Outcome::Impossible(_) => f64::INFINITY,
            Outcome::Undecided(open) => open.cost_bound,
            other => panic!("{seed}: {other:?}"),
        };
        // With four features fixed, all sets of the others are enumerated.
        let mut least = f64::INFINITY;
        for fixed in [[0, 1, 2, 3], [4, 5, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7], [0, 1, 6, 7], [2, 3, 4, 5]] {
            let changed = features.iter().enumerate().map(|(i, feature)| match fixed.contains(&i) {
                true => feature.clone().change(Change::Fixed),
                false => feature.clone(),
            });
            let fewer = with(&Features::new(changed.collect()).unwrap(), &problem);
            if let Outcome::Found(found) = Exact::new(&fewer).unwrap().solve(&individual).unwrap() {
                assert!(found.cost >= bound * (1.0 - 1e-9), "{seed}: {found:?} {outcome:?}");
                least = least.min(found.cost);
                checked += 1;
            }
        }
        if least.is_finite() {
            assert!(
                matches!(&outcome, Outcome::Found(found) if found.cost <= least * (1.0 + 1e-9)),
                "{seed}"
            );
        }
    }
    assert!(checked > 60, "{checked}");
}

/// The equations of a problem's linear causal model.
fn equations(problem: &Problem) -> Vec<(&str, Equation)> {
    let scm = problem.scm().unwrap();
    let coefficients = scm.coefficients().unwrap();
    let names: Vec<&str> = problem.features().iter().map(|feature| feature.name.as_str()).collect();
    (0..names.len())
        .filter(|&i| !scm.parents(i).is_empty())
        .map(|i| {
            let parents: Vec<&str> = scm.parents(i).iter().map(|&j| names[j]).collect();
            let slopes = scm.parents(i).iter().map(|&j| coefficients[[i, j]]).collect();
            (names[i], Equation::linear(&parents, slopes, 0.0))
        })
        .collect()
}

fn solved(problem: &Problem, individual: &[f64]) -> (Outcome, Duration) {
    let exact = Exact::new(problem).unwrap();
    let start = Instant::now();
    let outcome = exact.solve(individual).unwrap();
    (outcome, start.elapsed())
}

#[test]
fn without_a_causal_model_any_number_of_features_is_answered_at_once() {
    for width in [60, 200, 1000] {
        for cost in COSTS {
            let random = &mut ChaCha8Rng::seed_from_u64(7);
            let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-0.1, 0.1);
            let features = Features::new((0..width).map(feature).collect()).unwrap();
            let weights: Vec<f64> = (0..width).map(|_| random.random_range(-1.0..1.0)).collect();
            let classifier = Classifier::linear(weights, -1.0, 0.5).unwrap();
            let problem = Problem::new(features, classifier).unwrap().with_cost(cost);
            let (outcome, time) = solved(&problem, &vec![0.0; width]);
            assert!(matches!(outcome, Outcome::Found(_)), "{width} {outcome:?}");
            assert!(time < Duration::from_millis(100), "{width} {time:?}");
            let proof = Solver::new(&problem, Default::default()).unwrap().prove(&vec![0.0; width]).unwrap();
            let saved = proof.saved(&problem, &vec![0.0; width]);
            assert!(width > 200 || verify(&problem, &saved).unwrap().is_verified());
        }
    }
}

/// The answer is proven the cheapest, and a local search over sets finds nothing cheaper.
#[test]
fn twenty_features_with_a_causal_model_over_all_of_them() {
    for seed in 0..8 {
        for (kind, cost) in KINDS.into_iter().flat_map(|kind| COSTS.map(|cost| (kind, cost))) {
            let (problem, individual) = problem(seed, 20, 0.15, kind, cost);
            let (outcome, time) = solved(&problem, &individual);
            let Outcome::Found(found) = &outcome else { panic!("{seed}: {outcome:?}") };
            let name = format!("{seed} {kind:?} {cost:?} {time:?}");
            assert!(found.cost_bound >= found.cost * (1.0 - 1e-6), "{name}: {found:?}");
            assert!(worst_margin(&problem, &individual, &found.action) >= 0.0, "{name}");
            let mut set = found.action.features.clone();
            for _ in 0..3 {
                for i in 0..20 {
                    let mut other: Vec<usize> = set.iter().copied().filter(|&j| j != i).collect();
                    if other.len() == set.len() {
                        other.push(i);
                        other.sort_unstable();
                    }
                    if other.is_empty() {
                        continue;
                    }
                    let cost = least_cost_on(&problem, &individual, &other);
                    assert!(cost >= found.cost_bound * (1.0 - 1e-9), "{name}: {other:?} {cost}");
                    if cost <= found.cost * (1.0 + 1e-6) {
                        set = other;
                    }
                }
            }
        }
    }
}

/// Beyond what can be searched through, answers are still given, with a valid bound.
#[test]
fn two_hundred_features_with_a_causal_model_do_not_fail() {
    for (width, follows) in [(60, 0.03), (200, 0.01), (200, 0.05)] {
        for kind in KINDS {
            let (problem, individual) = problem(3, width, follows, kind, Cost::L1);
            let exact = Exact::new(&problem).unwrap();
            let exact = exact.with_settings(settings(2000)).unwrap();
            let outcome = exact.solve(&individual).unwrap();
            let Outcome::Found(found) = &outcome else { panic!("{width}: {outcome:?}") };
            assert!(
                found.cost_bound <= found.cost && worst_margin(&problem, &individual, &found.action) >= 0.0
            );
            let proof = Method::prove(&exact, &individual).unwrap();
            let saved = proof.saved(&problem, &individual);
            assert!(verify(&problem, &saved).unwrap().is_verified(), "{width}");
            if kind == ActionKind::Relative {
                let stability = cost_stability(&exact, &individual).unwrap();
                assert!(!stability.is_some_and(|stability| stability.greatest < stability.cost));
            }
        }
    }
}

fn settings(evaluations: usize) -> surefoot::recourse::Settings {
    surefoot::recourse::Settings { budget: Budget { evaluations }, ..Default::default() }
}

/// Proofs of more sets than are prepared in advance are verified as others are.
#[test]
fn proofs_of_many_sets_are_verified() {
    for seed in 0..6 {
        let (problem, individual) =
            problem(seed, 9, 0.5, KINDS[(seed % 2) as usize], COSTS[(seed / 2 % 2) as usize]);
        let exact = Exact::new(&problem).unwrap();
        let proof = Method::prove(&exact, &individual).unwrap();
        let bound = proof.outcome.cost_bound();
        assert!(bound > 0.0, "{seed}");
        let saved = proof.saved(&problem, &individual);
        assert!(verify(&problem, &saved).unwrap().is_verified(), "{seed}");
    }
}

/// The complete method enumerates sets; its refusal names the count and the remedy.
#[test]
fn too_many_sets_are_refused_plainly() {
    let (problem, _) = problem(1, 20, 0.9, ActionKind::Absolute, Cost::L1);
    let error = Complete::new(&problem).unwrap_err();
    assert!(matches!(error, Error::Feature(FeatureError::TooManySets { features: 20, most: 4096, .. })));
    let text = error.to_string();
    assert!(
        text.contains("1048576 intervention sets") && text.contains("mark some of these features as fixed")
    );
    // Features that nothing links do not count.
    let features =
        Features::new((0..40).map(|i| Feature::new(format!("x{i}")).change(Change::Any)).collect());
    let features = features.unwrap();
    let scm = Scm::new(&features, vec![("x1", Equation::linear(&["x0"], vec![1.0], 0.0))]).unwrap();
    for (kind, count) in [(ActionKind::Relative, 2), (ActionKind::Absolute, 4)] {
        assert_eq!(covering_sets(&features, Some(&scm), kind).unwrap().len(), count);
    }
}
