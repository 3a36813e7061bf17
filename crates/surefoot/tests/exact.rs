//! Exact recourse against brute force and against answers worked out by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::{feasible_change, intervention_sets};
use surefoot::margin::margin;
use surefoot::{
    Action, ActionKind, Change, Classifier, Cost, Equation, Exact, Feature, Features, LimitsOn, Norm,
    Outcome, People, Problem, Scm, recourse,
};
use surefoot_random::{linear_causal_model, turned_down, with_settings};

/// A random linear problem of two to four features, and somebody who is turned down.
fn random_problem(seed: u64) -> (Problem, Vec<f64>) {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let width = random.random_range(2..=4);
    let features: Vec<Feature> = (0..width)
        .map(|i| {
            let change = match random.random_range(0..5) {
                0 if i > 0 => Change::Fixed,
                1 => Change::Increase,
                2 => Change::Decrease,
                _ => Change::Any,
            };
            let lower =
                if random.random_bool(0.3) { f64::NEG_INFINITY } else { random.random_range(-4.0..-1.0) };
            let upper = if random.random_bool(0.3) { f64::INFINITY } else { random.random_range(1.0..4.0) };
            let (mean, std) = (random.random_range(-5.0..5.0), random.random_range(0.5..3.0));
            Feature::new(format!("x{i}"))
                .scaling(mean, std)
                .limits(mean + std * lower, mean + std * upper)
                .change(change)
                .weight(random.random_range(0.3..3.0))
        })
        .collect();
    let features = Features::new(features).unwrap();
    let (classifier, individual) = turned_down(random, width, 3.0);
    let epsilon = if random.random_bool(0.2) { 0.0 } else { random.random_range(0.0..0.6) };
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let mut problem = with_settings(random, problem, &[epsilon]);
    if random.random_bool(0.2) {
        problem = problem.with_safety(0.0).unwrap();
    }
    if random.random_bool(0.8) {
        let scm = linear_causal_model(random, &features);
        problem = problem.with_limits_on(LimitsOn::Action).unwrap().with_causal_model(scm).unwrap();
    }
    (problem, individual)
}

/// The worst perturbation, found without the solver: the margin is linear in it, so
/// differences of its definition give the gradient.
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

/// All feasible actions of a set on a grid; unbounded features are cut at `reach`.
fn grid(problem: &Problem, individual: &[f64], set: &[usize], reach: f64) -> Vec<Action> {
    let points = [0, 401, 41, 15, 9][set.len()];
    let axis = |&i: &usize| {
        let (low, high) = feasible_change(problem.features(), i, individual[i]);
        let (low, high) = (low.max(-reach), high.min(reach));
        (0..points).map(|k| low + (high - low) * k as f64 / (points - 1) as f64).collect::<Vec<f64>>()
    };
    let mut changes = vec![vec![]];
    for i in set {
        let axis = axis(i);
        let extend = |change: Vec<f64>| {
            let with = move |&c: &f64| change.iter().copied().chain([c]).collect::<Vec<f64>>();
            axis.iter().map(with).collect::<Vec<_>>()
        };
        changes = changes.into_iter().flat_map(extend).collect();
    }
    changes.into_iter().map(|change| Action { features: set.to_vec(), change }).collect()
}

#[test]
fn brute_force_never_beats_the_closed_form() {
    let (mut found, mut impossible, mut tried) = (0, 0, 0);
    for seed in 0..600 {
        let (problem, individual) = random_problem(seed);
        let Ok(sets) = intervention_sets(problem.features(), problem.scm().is_some()) else { continue };
        let outcome = Exact::new(&problem).unwrap().solve(&individual).unwrap();
        let bound = match &outcome {
            Outcome::Found(found) => found.cost_bound,
            Outcome::Impossible(_) => f64::INFINITY,
            other => panic!("{seed}: {other:?}"),
        };
        // No feasible action below the bound holds.
        let reach = if bound.is_finite() { 4.0 * bound.max(1.0) } else { 20.0 };
        for set in &sets {
            for action in grid(&problem, &individual, set, reach) {
                if problem.cost().of(problem.features(), &action) < bound * (1.0 - 1e-9) {
                    tried += 1;
                    let worst = worst_margin(&problem, &individual, &action);
                    assert!(worst < 0.0, "{seed}: {action:?} holds with {worst}, but {outcome:?}");
                }
            }
        }
        match &outcome {
            Outcome::Found(recourse) => {
                found += 1;
                let action = &recourse.action;
                // It is feasible, it costs what it says, and it is as cheap as proven.
                for (&i, &change) in action.features.iter().zip(&action.change) {
                    let (low, high) = feasible_change(problem.features(), i, individual[i]);
                    assert!(change >= low && change <= high, "{seed}");
                }
                let cost = problem.cost().of(problem.features(), action);
                assert!((cost - recourse.cost).abs() <= 1e-12 * cost, "{seed}");
                let (cost, bound) = (recourse.cost, recourse.cost_bound);
                assert!(bound <= cost && bound >= cost - 1e-6 * cost.max(1.0), "{seed}: {cost} {bound}");
                // It holds with equality against the exact worst perturbation ...
                let worst = worst_margin(&problem, &individual, action);
                assert!((worst - problem.safety()).abs() <= 1e-9, "{seed}: {worst}");
                assert!(worst >= 0.0 && (worst - recourse.margin).abs() <= 1e-12, "{seed}: {worst}");
                // ... and against a dense cloud of others.
                let random = &mut ChaCha8Rng::seed_from_u64(seed);
                for _ in 0..300 {
                    let mut d: Vec<f64> = individual.iter().map(|_| random.random_range(-1.0..1.0)).collect();
                    problem.norm().project(&mut d, problem.epsilon());
                    assert!(margin(&problem, &individual, action, &d).unwrap() >= 0.0, "{seed}: {d:?}");
                }
            }
            Outcome::Impossible(shortfall) => {
                impossible += 1;
                let worst = worst_margin(&problem, &individual, &shortfall.best);
                assert!((worst + shortfall.missing).abs() <= 1e-9 && shortfall.missing > 0.0, "{seed}");
            }
            _ => unreachable!(),
        }
    }
    assert!(found > 200 && impossible > 50 && tried > 100_000, "{found} {impossible} {tried}");
}

#[test]
fn the_worst_case_is_the_worst_for_any_action() {
    for seed in 0..100 {
        let (problem, individual) = random_problem(seed);
        let Ok(exact) = Exact::new(&problem) else { continue };
        let action = Action { features: vec![0, 1], change: vec![0.7, -0.3] };
        let worst = exact.worst_case(&individual, &action).unwrap();
        assert!(problem.norm().value(&worst.perturbation) <= problem.epsilon() * (1.0 + 1e-12));
        let evaluated = margin(&problem, &individual, &action, &worst.perturbation).unwrap();
        assert!((evaluated - worst.margin).abs() < 1e-12, "{seed}");
        assert!((worst.margin - worst_margin(&problem, &individual, &action)).abs() < 1e-12, "{seed}");
    }
}

fn two_features() -> Features {
    Features::new(vec![
        Feature::new("income").change(Change::Increase),
        Feature::new("savings").change(Change::Increase),
    ])
    .unwrap()
}

fn income_causes_savings(coefficient: f64) -> Scm {
    let equation = Equation::linear(&["income"], vec![coefficient], 0.0);
    Scm::new(&two_features(), vec![("savings", equation)]).unwrap()
}

fn solve(problem: &Problem, individual: [f64; 2]) -> Outcome {
    Exact::new(problem).unwrap().solve(&individual).unwrap()
}

/// Score = income + savings - 3, savings = income + u, from (0, 0): a unit of income gives 2.
/// J = [[1, 0], [1, 1]], so J^T w = (2, 1) for relative actions.
#[test]
fn a_causal_problem_by_hand() {
    let classifier = Classifier::linear(vec![1.0, 1.0], -3.0, 0.5).unwrap();
    let problem = Problem::new(two_features(), classifier)
        .unwrap()
        .with_causal_model(income_causes_savings(1.0))
        .unwrap()
        .with_safety(0.0)
        .unwrap();
    let cost = |norm: Norm, form: ActionKind| {
        let problem = problem.clone().with_uncertainty(norm, 0.5).unwrap().with_action_kind(form);
        solve(&problem, [0.0, 0.0]).recourse().unwrap().cost
    };
    let standard = solve(&problem, [0.0, 0.0]);
    let standard = standard.recourse().unwrap();
    assert_eq!(standard.action.features, [0]);
    assert!((standard.cost - 1.5).abs() < 1e-13);
    assert!((standard.counterfactual[1] - 1.5).abs() < 1e-13);

    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-13, "{a} {b}");
    close(cost(Norm::L2, ActionKind::Relative), (3.0 + 0.5 * 5f64.sqrt()) / 2.0);
    close(cost(Norm::L1, ActionKind::Relative), (3.0 + 0.5 * 2.0) / 2.0);
    close(cost(Norm::LINF, ActionKind::Relative), (3.0 + 0.5 * 3.0) / 2.0);
    // A fixed income keeps perturbations of income out: only savings' own remain, J^T w = (0, 1).
    close(cost(Norm::L2, ActionKind::Absolute), (3.0 + 0.5) / 2.0);
}

/// Where savings suffer from income (coefficient -0.9), holding savings while raising income
/// is the better action: the cheapest set has a feature whose change is zero.
#[test]
fn holding_a_feature_in_place_can_be_part_of_the_answer() {
    let classifier = Classifier::linear(vec![1.0, 0.9], -1.0, 0.5).unwrap();
    let problem = Problem::new(two_features(), classifier)
        .unwrap()
        .with_causal_model(income_causes_savings(-0.9))
        .unwrap();
    let outcome = solve(&problem, [0.0, 0.0]);
    let recourse = outcome.recourse().unwrap();
    assert_eq!(recourse.action.features, [0, 1]);
    assert!((recourse.action.change[0] - 1.0).abs() < 1e-8 && recourse.action.change[1] == 0.0);
    let words = surefoot::describe(&problem, &[0.0, 0.0], &outcome).unwrap();
    assert!(words.contains("hold savings where it is"), "{words}");
}

/// min sqrt(t1^2 + (2 t2)^2) with 3 t1 + 4 t2 >= 5: t_i proportional to g_i / w_i^2 = (3, 1).
#[test]
fn l2_cost_by_hand_free_and_at_a_limit() {
    let with_limit = |limit: f64| {
        let features = Features::new(vec![
            Feature::new("a").change(Change::Any).limits(-9.0, limit),
            Feature::new("b").change(Change::Any).weight(2.0),
        ])
        .unwrap();
        let classifier = Classifier::linear(vec![3.0, 4.0], -5.0, 0.5).unwrap();
        let problem =
            Problem::new(features, classifier).unwrap().with_cost(Cost::L2).with_safety(0.0).unwrap();
        solve(&problem, [0.0, 0.0]).recourse().unwrap().action.change.clone()
    };
    let close = |a: &[f64], b: [f64; 2]| assert!((a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-13, "{a:?}");
    close(&with_limit(f64::INFINITY), [15.0 / 13.0, 5.0 / 13.0]);
    close(&with_limit(1.0), [1.0, 0.5]);
}

#[test]
fn impossible_says_how_far_short_and_favourable_needs_nothing() {
    let features = Features::new(vec![Feature::new("a").change(Change::Increase).limits(-5.0, 1.0)]).unwrap();
    let classifier = Classifier::linear(vec![2.0], -3.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_uncertainty(Norm::L2, 0.25).unwrap();
    let answer = |x: f64| Exact::new(&problem).unwrap().solve(&[x]).unwrap();
    // At best 2 * 1 - 3 - 0.25 * 2 = -1.5.
    match answer(0.0) {
        Outcome::Impossible(shortfall) => {
            assert!((shortfall.missing - 1.5).abs() < 1e-12);
            assert_eq!(shortfall.best, Action { features: vec![0], change: vec![1.0] });
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(answer(1.5), Outcome::AlreadyFavourable);
}

/// The best action holds, but by less than the safety asked for: not impossible, not found.
#[test]
fn an_action_within_the_safety_margin_is_undecided() {
    let features = Features::new(vec![Feature::new("a").change(Change::Increase).limits(-5.0, 1.0)]).unwrap();
    let classifier = Classifier::linear(vec![1.0], -1.0 + 1e-4, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap();
    let answer = |safety: f64| {
        let problem = problem.clone().with_safety(safety).unwrap();
        Exact::new(&problem).unwrap().solve(&[0.0]).unwrap()
    };
    assert!(matches!(answer(1e-5), Outcome::Found(_)));
    assert!(matches!(answer(1e-3), Outcome::Undecided(u) if (u.margin - 1e-4).abs() < 1e-12));
}

/// The effects of income cancel but for rounding. A change of 1e16 is no recourse; but neither
/// is it proven that there is none, unless the change is limited.
#[test]
fn a_gain_that_is_only_rounding_is_no_gain() {
    let answer = |limit: f64| {
        let income = Feature::new("income").change(Change::Increase).limits(-1.0, limit);
        let features = Features::new(vec![income, Feature::new("savings")]).unwrap();
        let equation = Equation::linear(&["income"], vec![0.3], 0.0);
        let scm = Scm::new(&features, vec![("savings", equation)]).unwrap();
        let classifier = Classifier::linear(vec![0.1 + 0.2, -1.0], -1.0, 0.5).unwrap();
        let problem = Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap();
        solve(&problem, [0.0, 0.0])
    };
    assert!(matches!(answer(f64::INFINITY), Outcome::Undecided(_)));
    assert!(matches!(answer(1e6), Outcome::Impossible(_)));
}

/// Numbers whose squares or quotients overflow or vanish: never a false answer.
#[test]
fn extreme_numbers_prove_nothing() {
    for (gain, weight, cost) in [
        (1e-300, 1.0, Cost::L1),
        (1e-170, 1.0, Cost::L2),
        (1e100, 1e-100, Cost::L2),
        (1.0, 1e100, Cost::L2),
        (1.0, 1e-100, Cost::L2),
        (1e-250, 1e100, Cost::L1),
        (1e-250, 1e100, Cost::L2),
        (1e-110, 1e100, Cost::L2),
    ] {
        let feature = Feature::new("a").change(Change::Increase).weight(weight);
        let features = Features::new(vec![feature, Feature::new("b")]).unwrap();
        let classifier = Classifier::linear(vec![gain, 0.0], -1e10, 0.5).unwrap();
        let problem = Problem::new(features, classifier).unwrap().with_cost(cost);
        match solve(&problem, [0.0, 0.0]) {
            Outcome::Impossible(shortfall) => panic!("{gain} {weight}: {shortfall}"),
            Outcome::Found(found) => assert!(found.action.change[0] * gain >= 1e10 && found.cost.is_finite()),
            _ => {}
        }
    }
}

/// Doing what the words say works and is allowed, for every form, norm and limit.
#[test]
fn the_words_keep_the_promise() {
    let mut told = 0;
    for seed in 0..600 {
        let (problem, individual) = random_problem(seed);
        let Ok(exact) = Exact::new(&problem) else { continue };
        let outcome = exact.solve(&individual).unwrap();
        let Some(found) = outcome.recourse() else { continue };
        let words = surefoot::describe(&problem, &individual, &outcome).unwrap();
        let said = words.split(". This").next().unwrap();
        let mut action = found.action.clone();
        for (k, &i) in found.action.features.iter().enumerate() {
            let feature = problem.features().feature(i);
            let from = feature.own_units(individual[i]);
            let Some(place) = said.find(&format!("{} ", feature.name)) else {
                assert_eq!(found.action.change[k], 0.0, "{seed}: {words}");
                continue;
            };
            let mut rest = said[place..].split([' ', ',']).skip(1);
            let (word, number) = (rest.next().unwrap(), rest.next().unwrap().parse::<f64>());
            let sign = if found.action.change[k] > 0.0 { 1.0 } else { -1.0 };
            let to = match word {
                "by" => from + sign * number.unwrap(),
                "to" | "at" => number.unwrap(),
                _ => from,
            };
            assert!(feature.allows(to), "{seed}: {words}");
            action.change[k] = (to - from) / feature.std;
        }
        let worst = worst_margin(&problem, &individual, &action);
        assert!(worst >= -1e-12, "{seed}: {worst} {words}");
        told += 1;
    }
    assert!(told > 200, "{told}");
}

#[test]
fn everybody_is_answered_in_order_whatever_the_number_of_threads() {
    let (problem, _) = random_problem(11);
    let rows: Vec<Vec<f64>> = (0..1000)
        .map(|k| problem.features().own_units(&vec![(k as f64 * 0.37).sin(); problem.features().len()]))
        .collect();
    let people = People::from_own_units(problem.features(), &rows).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| recourse(&problem, &people).unwrap())
    };
    let one = with(1);
    assert_eq!(one, with(3));
    let exact = Exact::new(&problem).unwrap();
    for (answer, individual) in one.iter().zip(people.iter()) {
        assert_eq!(*answer, exact.solve(individual).unwrap());
    }
}
