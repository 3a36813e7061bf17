//! Limits hold for how people end up: for what follows from an action as well as for what is acted upon.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::{feasible_change, intervention_sets};
use surefoot::margin::counterfactual;
use surefoot::{
    Action, ActionKind, Budget, Change, Classifier, Complete, Constraint, Cost, Equation, Exact, Feature,
    Features, Kind, LimitsOn, Norm, NormKind, Outcome, People, Problem, Scm, infeasibility, recourse, verify,
};

/// Income may rise; the number of open accounts falls with it and cannot be negative.
fn accounts(limits_on: LimitsOn) -> Problem {
    let features = Features::new(vec![
        Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, 20000.0).change(Change::Increase),
        Feature::new("accounts").scaling(4.0, 2.0).limits(0.0, 30.0),
        Feature::new("savings").scaling(8000.0, 4000.0).limits(0.0, 90000.0).change(Change::Increase),
    ])
    .unwrap();
    let scm = Scm::new(&features, vec![("accounts", Equation::formula("8 - 0.002 * income + u"))]).unwrap();
    let classifier = Classifier::linear(vec![1.0, 0.0, 0.5], -3.0, 0.5).unwrap();
    Problem::new(features, classifier)
        .unwrap()
        .with_causal_model(scm)
        .unwrap()
        .with_uncertainty(Norm::L2, 0.1)
        .unwrap()
        .with_limits_on(limits_on)
        .unwrap()
}

#[test]
fn an_action_stops_where_what_follows_meets_its_limit() {
    for (limits_on, is_inside) in [(LimitsOn::Outcome, true), (LimitsOn::Action, false)] {
        let problem = accounts(limits_on);
        let people = People::from_own_units(problem.features(), &[[3000.0, 2.0, 8000.0]]).unwrap();
        let Outcome::Found(found) = &recourse(&problem, &people).unwrap()[0] else { panic!() };
        let own = |i: usize| problem.features().feature(i).own_units(found.counterfactual[i]);
        // One account fewer for every 500: two accounts allow 1000 more of income and no more.
        assert_eq!(own(1) >= 0.0, is_inside, "{found:?}");
        if is_inside {
            assert!((own(0) - 4000.0).abs() < 1e-6 && own(0) <= 4000.0, "{}", own(0));
            // Savings make up for the rest: (3 + .1 * sqrt(1.25) - 2 / 3) / .5 standard deviations.
            let savings = (3.0 + 0.1 * 1.25f64.sqrt() - 2.0 / 3.0) / 0.5;
            assert!((found.counterfactual[2] - savings).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(infeasibility(&problem, people.individual(0), &found.action).unwrap(), None);
        let action = Action { features: vec![0], change: vec![3.2] };
        let reason =
            infeasibility(&problem, people.individual(0), &action).unwrap().map(|why| why.to_string());
        let expected = "`accounts` would become -7.6, below its limit of 0";
        assert_eq!(reason.as_deref(), is_inside.then_some(expected));
    }
}

/// A random linear problem whose features follow from each other, all of them limited.
fn random_problem(random: &mut ChaCha8Rng, is_network: bool) -> (Problem, Vec<f64>) {
    let width = random.random_range(2..5);
    let changes = [Change::Any, Change::Increase, Change::Decrease, Change::Fixed];
    let feature = |i: usize, random: &mut ChaCha8Rng| {
        let change = if i == 0 { Change::Any } else { changes[random.random_range(0..4)] };
        let kind = if i == 0 && random.random_bool(0.3) { Kind::Integer } else { Kind::Real };
        let (mean, std): (f64, f64) = if kind == Kind::Integer { (3.0, 1.5) } else { (10.0, 4.0) };
        let (down, up) = (random.random_range(0.3..2.0), random.random_range(0.3..2.0));
        let limits = ((mean - std * down).round(), (mean + std * up).round());
        Feature::new(format!("x{i}")).kind(kind).scaling(mean, std).limits(limits.0, limits.1).change(change)
    };
    let features = Features::new((0..width).map(|i| feature(i, random)).collect()).unwrap();
    let mut equations: Vec<(String, Equation)> = Vec::new();
    for i in 1..width {
        if random.random_bool(0.75) {
            let parents: Vec<String> = (0..i).map(|j| format!("x{j}")).collect();
            let slopes = parents.iter().map(|_| random.random_range(-1.2..1.2)).collect();
            let names: Vec<&str> = parents.iter().map(String::as_str).collect();
            let equation = match is_network {
                false => Equation::linear(&names, slopes, 0.0),
                true => Equation::formula(format!(
                    "10 + {:.3} * tanh(({} - 10) / 4) + u",
                    4.0 * slopes[0],
                    names[0]
                )),
            };
            equations.push((format!("x{i}"), equation));
        }
    }
    let equations = equations.iter().map(|(name, equation)| (name.as_str(), equation.clone())).collect();
    let scm = Scm::new(&features, equations).unwrap();
    let weights = (0..width).map(|_| random.random_range(-1.5..1.5)).collect();
    let classifier = Classifier::linear(weights, random.random_range(-1.5..-0.3), 0.5).unwrap();
    let individual: Vec<f64> = features
        .iter()
        .map(|feature| {
            let own = random.random_range(feature.lower..=feature.upper);
            feature.standardise(if feature.kind == Kind::Integer { own.round() } else { own })
        })
        .collect();
    let kinds = [NormKind::L1, NormKind::L2, NormKind::Linf];
    let norm = Norm::unweighted(kinds[random.random_range(0..3)]);
    let mut problem = Problem::new(features.clone(), classifier)
        .unwrap()
        .with_causal_model(scm)
        .unwrap()
        .with_uncertainty(norm, [0.0, 0.05, 0.3][random.random_range(0..3)])
        .unwrap()
        .with_cost([Cost::L1, Cost::L2][random.random_range(0..2)])
        .with_action_kind([ActionKind::Relative, ActionKind::Absolute][random.random_range(0..2)]);
    if random.random_bool(0.3) {
        let rule =
            Constraint::parse(&features, &format!("x0 + x1 <= {}", random.random_range(12..18))).unwrap();
        problem = problem.with_constraints(vec![rule]).unwrap();
    }
    (problem, individual)
}

/// Whether everything that an action changes stays within its limits, and every constraint is met.
fn stays_inside(problem: &Problem, individual: &[f64], action: &Action) -> bool {
    let reached = counterfactual(problem, individual, action, &vec![0.0; individual.len()]).unwrap();
    let inside = problem.features().iter().enumerate().all(|(i, feature)| {
        let own = feature.own_units(reached[i]);
        reached[i] == individual[i] || own >= feature.lower - 1e-12 && own <= feature.upper + 1e-12
    });
    inside && problem.constraints().iter().all(|rule| rule.value(&reached) >= -1e-12)
}

/// The cheapest action on a grid that stays inside and holds, by the definition of both.
fn cheapest_on_grid(problem: &Problem, individual: &[f64], steps: usize) -> f64 {
    let exact = Exact::new(problem);
    let holds = |action: &Action| match &exact {
        Ok(exact) => exact.worst_case(individual, action).unwrap().margin >= 0.0,
        Err(_) => surefoot::certify(problem, individual, action, Budget { evaluations: 400 })
            .is_ok_and(|certificate| matches!(certificate.verdict, surefoot::Verdict::Holds { .. })),
    };
    let mut cheapest = f64::INFINITY;
    for set in intervention_sets(problem.features(), true).unwrap() {
        let sides: Vec<Vec<f64>> = set
            .iter()
            .map(|&i| {
                let feature = problem.features().feature(i);
                let (l, u) = feasible_change(problem.features(), i, individual[i]);
                if feature.kind == Kind::Integer {
                    let (first, last) = ((l * feature.std).round() as i64, (u * feature.std).round() as i64);
                    return (first..=last).map(|k| k as f64 / feature.std).collect();
                }
                let count = if u > l { steps } else { 1 };
                (0..count).map(|k| l + (u - l) * k as f64 / (count.max(2) - 1) as f64).collect()
            })
            .collect();
        let total: usize = sides.iter().map(Vec::len).product();
        for number in 0..total {
            let mut rest = number;
            let change = sides.iter().map(|side| {
                let at = side[rest % side.len()];
                rest /= side.len();
                at
            });
            let action = Action { features: set.clone(), change: change.collect() };
            let cost = problem.cost().of(problem.features(), &action);
            if cost < cheapest && stays_inside(problem, individual, &action) && holds(&action) {
                cheapest = cost;
            }
        }
    }
    cheapest
}

fn check_outcome(problem: &Problem, individual: &[f64], outcome: &Outcome, on_grid: f64, round: usize) {
    match outcome {
        Outcome::Found(found) => {
            assert!(stays_inside(problem, individual, &found.action), "round {round}: {found:?}");
            for (i, feature) in problem.features().iter().enumerate() {
                let own = feature.own_units(found.counterfactual[i]);
                let is_changed = found.counterfactual[i] != individual[i];
                assert!(
                    !is_changed || feature.kind != Kind::Real || own >= feature.lower && own <= feature.upper
                );
            }
            assert_eq!(infeasibility(problem, individual, &found.action).unwrap(), None);
            assert!(
                found.cost_bound <= on_grid * (1.0 + 1e-9),
                "round {round}: {} {on_grid}",
                found.cost_bound
            );
        }
        Outcome::Impossible(_) => assert_eq!(on_grid, f64::INFINITY, "round {round}"),
        Outcome::Undecided(undecided) => assert!(undecided.cost_bound <= on_grid, "round {round}"),
        Outcome::AlreadyFavourable => {}
        Outcome::Unproved(candidate) => panic!("{candidate:?}"),
    }
}

#[test]
fn linear_problems_against_a_grid() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut found, mut impossible, mut bound_by_limits) = (0, 0, 0);
    for round in 0..150 {
        let (problem, individual) = random_problem(&mut random, false);
        let Ok(exact) = Exact::new(&problem) else { continue };
        let outcome = exact.solve(&individual).unwrap();
        if outcome == Outcome::AlreadyFavourable {
            continue;
        }
        let on_grid = cheapest_on_grid(&problem, &individual, 17);
        check_outcome(&problem, &individual, &outcome, on_grid, round);
        match &outcome {
            Outcome::Found(answer) => {
                found += 1;
                assert!(answer.cost <= on_grid * (1.0 + 1e-7), "round {round}: {} {on_grid}", answer.cost);
                assert!(answer.cost <= answer.cost_bound * (1.0 + 1e-6), "round {round}: {answer:?}");
                let free = problem.clone().with_limits_on(LimitsOn::Action).unwrap();
                let free = Exact::new(&free).unwrap().solve(&individual).unwrap();
                bound_by_limits += usize::from(free.recourse().unwrap().cost < 0.999 * answer.cost);
            }
            Outcome::Impossible(_) => impossible += 1,
            other => panic!("round {round}: {other:?}"),
        }
    }
    assert!(found > 40 && impossible > 20 && bound_by_limits > 10, "{found} {impossible} {bound_by_limits}");
}

#[test]
fn the_complete_search_agrees_and_its_proofs_are_verified() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let (mut found, mut impossible, mut undecided) = (0, 0, 0);
    for round in 0..60 {
        let (problem, individual) = random_problem(&mut random, round % 2 == 1);
        let Ok(complete) = Complete::new(&problem) else { continue };
        let proof = complete.with_budget(Budget { evaluations: 8_000 }).unwrap().prove(&individual).unwrap();
        if proof.outcome == Outcome::AlreadyFavourable {
            continue;
        }
        let on_grid = cheapest_on_grid(&problem, &individual, 9);
        check_outcome(&problem, &individual, &proof.outcome, on_grid, round);
        let checked = verify(&problem, &proof.saved(&problem, &individual)).unwrap();
        assert!(checked.is_verified(), "round {round}: {checked:?}");
        match &proof.outcome {
            Outcome::Found(answer) => {
                found += 1;
                assert!(answer.cost <= 1.05 * on_grid, "round {round}: {} {on_grid}", answer.cost);
            }
            Outcome::Impossible(_) => impossible += 1,
            _ => undecided += 1,
        }
    }
    assert!(found > 15 && impossible > 8 && undecided < 3, "{found} {impossible} {undecided}");
}
