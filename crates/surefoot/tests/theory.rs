//! The theory's statements, held against the exact solver.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::{CausalModelError, SettingError};
use surefoot::margin::margin;
use surefoot::recourse::Settings;
use surefoot::theory::{RobustRecourse, Theory, cost_stability, existence, extra_cost, fragility};
use surefoot::{
    Action, ActionKind, Change, Classifier, Constraint, Cost, Equation, Error, Exact, Feature, Features,
    Intervention, Kind, LimitsOn, Norm, Outcome, Problem, Scm, recourse,
};
use surefoot_random::{linear_causal_model, one, turned_down};

/// Three features, the first of them fixed, with random numbers, and somebody who is turned down;
/// `limited` puts limits on the actionable two.
fn random_problem(seed: u64, limited: bool, causal: bool) -> (Problem, Vec<f64>) {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let limit = if limited { 2.0 } else { f64::INFINITY };
    let features = Features::new(vec![
        Feature::new("a"),
        Feature::new("b").change(Change::Any).limits(-limit, limit).weight(random.random_range(0.5..2.0)),
        Feature::new("c").change(Change::Increase).limits(-limit, limit),
    ])
    .unwrap();
    let (classifier, individual) = turned_down(random, 3, 1.6);
    let mut problem = Problem::new(features.clone(), classifier)
        .unwrap()
        .with_uncertainty(Norm::L2, 0.2)
        .unwrap()
        .with_cost(one(random, &[Cost::L1, Cost::L2]));
    if causal {
        let scm = linear_causal_model(random, &features);
        problem = problem.with_limits_on(LimitsOn::Action).unwrap().with_causal_model(scm).unwrap();
    }
    (problem, individual)
}

/// Every combination of whether features are limited and whether there is a causal model, in turn.
fn limited_and_causal(seed: u64) -> (Problem, Vec<f64>) {
    random_problem(seed, seed.is_multiple_of(2), (seed / 2).is_multiple_of(2))
}

fn solve(problem: &Problem, individual: &[f64]) -> Outcome {
    Exact::new(problem).unwrap().solve(individual).unwrap()
}

fn standard(problem: &Problem) -> Problem {
    problem.clone().with_uncertainty(Norm::L2, 0.0).unwrap()
}

#[test]
fn where_existence_is_guaranteed_everybody_has_robust_recourse() {
    let (mut guaranteed, mut open) = (0, 0);
    for seed in 0..200 {
        let (problem, individual) = limited_and_causal(seed);
        let exact = Exact::new(&problem).unwrap();
        let existence = existence(&exact).unwrap();
        if existence.is_guaranteed() {
            guaranteed += 1;
            assert!(matches!(exact.solve(&individual).unwrap(), Outcome::Found(_)), "{seed}");
        } else {
            open += 1;
        }
    }
    assert!(guaranteed > 50 && open > 20, "{guaranteed} {open}");
}

#[test]
fn conditions_of_the_propositions_by_hand() {
    let problem = |change: [Change; 2], limit: f64, epsilon: f64| {
        let feature = |name: &str, change| Feature::new(name).change(change).limits(-limit, limit);
        let features = Features::new(vec![feature("a", change[0]), feature("b", change[1])]).unwrap();
        let classifier = Classifier::linear(vec![3.0, -4.0], -10.0, 0.5).unwrap();
        Problem::new(features, classifier).unwrap().with_uncertainty(Norm::L2, epsilon).unwrap()
    };
    let of = |problem: &Problem| existence(&Exact::new(problem).unwrap()).unwrap();

    // Proposition 1: at best 3 * 2 + 4 * 2 - 10 - 5 epsilon, so standard recourse for all who
    // can reach the corner, and robust recourse for none once epsilon exceeds 0.8.
    let everything = [Change::Any, Change::Any];
    let fragile = of(&problem(everything, 2.0, 1.0));
    assert!((fragile.most_robust_margin + 1.0).abs() < 1e-12);
    assert!(!fragile.is_guaranteed());
    let outcome = solve(&problem(everything, 2.0, 1.0), &[0.0, 0.0]);
    assert!(matches!(outcome, Outcome::Impossible(s) if (s.missing - 1.0).abs() < 1e-12));
    assert!(matches!(solve(&problem(everything, 2.0, 0.0), &[0.0, 0.0]), Outcome::Found(_)));

    // Proposition 2: somebody is robustly classified and everything may change.
    let robust = of(&problem(everything, 2.0, 0.5));
    assert!(robust.is_guaranteed() && robust.restricted.is_empty() && robust.unbounded.is_empty());

    // Proposition 3: b is unbounded, and lowering it helps; raising it would not.
    let down = of(&problem([Change::Fixed, Change::Decrease], f64::INFINITY, 5.0));
    assert_eq!((down.unbounded, down.restricted), (vec![1], vec![0, 1]));
    assert!(!of(&problem([Change::Fixed, Change::Increase], f64::INFINITY, 5.0)).is_guaranteed());
}

#[test]
fn robustness_costs_at_most_what_proposition_6_says() {
    let mut checked = 0;
    for seed in 0..200 {
        let causal = seed % 2 == 0;
        let form = if seed / 2 % 3 == 0 { ActionKind::Absolute } else { ActionKind::Relative };
        let (problem, individual) = random_problem(seed, false, causal);
        let problem = problem.with_action_kind(form);
        let before = solve(&standard(&problem), &individual);
        let Some(before) = before.recourse() else { continue };
        let exact = Exact::new(&problem).unwrap();
        let bound = extra_cost(&exact, &individual, &before.action).unwrap().unwrap();
        assert!(bound.is_feasible);
        assert_eq!(bound.separated.is_some(), !causal);
        assert!(bound.separated.is_none_or(|separated| separated >= bound.beta));
        // The scaled action is robust, so the cheapest robust one costs no more.
        assert!(exact.worst_case(&individual, &bound.action).unwrap().margin >= -1e-12, "{seed}");
        let after = exact.solve(&individual).unwrap();
        let after = after.recourse().unwrap();
        let extra = after.cost / before.cost - 1.0;
        assert!(extra <= bound.beta + 1e-6, "{seed}: {extra} {}", bound.beta);
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn an_action_that_does_not_work_has_no_extra_cost() {
    let (problem, individual) = random_problem(4, false, true);
    let nothing = Action { features: vec![1], change: vec![0.0] };
    assert_eq!(extra_cost(&Exact::new(&problem).unwrap(), &individual, &nothing).unwrap(), None);
}

#[test]
fn the_stability_of_cost_is_that_of_sampled_neighbours() {
    let (mut finite, mut infinite) = (0, 0);
    for seed in 0..200 {
        let (problem, individual) = limited_and_causal(seed);
        let exact = Exact::new(&problem).unwrap();
        let Some(stability) = cost_stability(&exact, &individual).unwrap() else { continue };
        let robust = exact.solve(&individual).unwrap();
        match robust.recourse() {
            // Appendix D: at most the cost of a robust action ...
            Some(robust) => assert!(stability.delta() <= robust.cost + 1e-9, "{seed}"),
            // ... and infinite where there is none.
            None => assert_eq!(stability.delta(), f64::INFINITY, "{seed}"),
        }
        if stability.delta().is_finite() {
            finite += 1
        } else {
            infinite += 1
        }
        // Individuals of the uncertainty set, with the feasible changes of the individual:
        // what differs is how far the score has to be raised.
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let (mut least, mut greatest) = (f64::INFINITY, 0f64);
        for k in 0..400 {
            let mut d: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
            if k < 2 {
                let worst =
                    exact.worst_case(&individual, &Action { features: vec![], change: vec![] }).unwrap();
                d = worst.perturbation.iter().map(|w| if k == 0 { *w } else { -w }).collect();
            }
            problem.norm().project(&mut d, problem.epsilon());
            let similar = match problem.scm() {
                Some(scm) => scm.counterfactual(&individual, Intervention::Additive(&d)).unwrap(),
                None => individual.iter().zip(&d).map(|(x, d)| x + d).collect(),
            };
            let lowered = problem.classifier().score(&similar) - problem.classifier().score(&individual);
            let (weights, intercept) = problem.classifier().coefficients().unwrap();
            let shifted = Classifier::linear(weights.to_vec(), intercept + lowered, 0.5).unwrap();
            let mut neighbour =
                Problem::new(problem.features().clone(), shifted).unwrap().with_cost(problem.cost());
            if let Some(scm) = problem.scm() {
                neighbour = neighbour
                    .with_limits_on(LimitsOn::Action)
                    .unwrap()
                    .with_causal_model(scm.clone())
                    .unwrap();
            }
            let cost = match solve(&neighbour, &individual) {
                Outcome::AlreadyFavourable => 0.0,
                Outcome::Found(found) => found.cost,
                _ => f64::INFINITY,
            };
            (least, greatest) = (least.min(cost), greatest.max(cost));
        }
        assert!((least - stability.least).abs() < 1e-6, "{seed}: {least} {}", stability.least);
        assert!(greatest == stability.greatest || (greatest - stability.greatest).abs() < 1e-6, "{seed}");
    }
    assert!(finite > 10 && infinite > 5, "{finite} {infinite}");
}

#[test]
fn minimum_cost_actions_are_fragile_however_small_the_perturbation() {
    let mut checked = 0;
    for seed in 0..100 {
        let (problem, individual) = limited_and_causal(seed);
        let before = solve(&standard(&problem), &individual);
        let Some(before) = before.recourse() else { continue };
        for radius in [1e-1, 1e-3, 1e-5, 1e-7] {
            let shown = fragility(&problem, &individual, &before.action, radius).unwrap().unwrap();
            assert!(problem.norm().value(&shown.perturbation) <= radius);
            assert!(shown.margin < 0.0, "{seed}: {shown:?}");
            assert!(problem.cost().of(problem.features(), &shown.cheaper) < before.cost);
            // Acting under the perturbation leads to where the cheaper action leads.
            let zero = vec![0.0; 3];
            let cheaper = margin(&problem, &individual, &shown.cheaper, &zero).unwrap();
            assert!((cheaper - shown.margin).abs() < 1e-12, "{seed}");
        }
        // What breaks it soonest is as small as the safety that was left.
        let smallest = Exact::new(&problem).unwrap().smallest_break(&individual, &before.action).unwrap();
        assert!(smallest < 1e-8, "{seed}: {smallest}");
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}

/// Income alone lowers savings as much as it helps; with savings held it helps without bound.
#[test]
fn unbounded_features_count_while_others_are_held() {
    let features = Features::new(vec![
        Feature::new("income").change(Change::Increase),
        Feature::new("savings").change(Change::Any).limits(-1.0, 1.0),
    ])
    .unwrap();
    let scm = Scm::new(&features, vec![("savings", Equation::formula("-2 * income + u"))]).unwrap();
    let classifier = Classifier::linear(vec![2.0, 1.0], -9.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier)
        .unwrap()
        .with_limits_on(LimitsOn::Action)
        .unwrap()
        .with_causal_model(scm)
        .unwrap();
    let exact = Exact::new(&problem).unwrap();
    assert_eq!(existence(&exact).unwrap().unbounded, [0]);
    assert!(matches!(exact.solve(&[0.0, 0.0]).unwrap(), Outcome::Found(_)));
}

#[test]
fn fragility_needs_relative_actions_and_additive_noise() {
    let (problem, individual) = random_problem(0, false, false);
    let action = Action { features: vec![1], change: vec![1.0] };
    let absolute = problem.clone().with_action_kind(ActionKind::Absolute);
    assert!(matches!(
        fragility(&absolute, &individual, &action, 0.1),
        Err(Error::Setting(SettingError::AbsoluteActions))
    ));
    let exact = Exact::new(&absolute).unwrap();
    assert!(matches!(existence(&exact), Err(Error::Setting(SettingError::AbsoluteActions))));
    assert!(matches!(
        cost_stability(&exact, &individual),
        Err(Error::Setting(SettingError::AbsoluteActions))
    ));
    let scm = Scm::new(problem.features(), vec![("c", Equation::formula("exp(a + u)"))]).unwrap();
    let problem = problem.with_limits_on(LimitsOn::Action).unwrap().with_causal_model(scm).unwrap();
    assert!(matches!(
        fragility(&problem, &individual, &action, 0.1),
        Err(Error::CausalModel(CausalModelError::EquationNotAdditive { .. }))
    ));
}

/// Statements about random problems of every kind agree with what is found by solving them.
#[test]
fn statements_never_contradict_the_solver() {
    let (mut exist, mut missing, mut bounds, mut breaks) = (0, 0, 0, 0);
    for seed in 0..240 {
        let (problem, individual) = limited_and_causal(seed);
        let features = problem.features().clone();
        let problem = match seed / 4 % 6 {
            0 => problem.with_action_kind(ActionKind::Absolute),
            1 => {
                let rule = Constraint::parse(&features, "b + c <= 2").unwrap();
                problem.with_constraints(vec![rule]).unwrap()
            }
            2 => problem.with_limits_on(LimitsOn::Outcome).unwrap(),
            3 => problem.with_uncertainty(Norm::L2, 0.0).unwrap(),
            4 => problem.with_uncertainty(Norm::L2, 3.0).unwrap(),
            _ => problem,
        };
        let without = standard(&problem);
        let theory = Theory::new(&problem, &without, Settings::default()).unwrap();
        let person = theory.about_person(&individual).unwrap();
        let robust = solve(&problem, &individual);
        match (person.robust, &robust) {
            (RobustRecourse::Exists, Outcome::Found(_) | Outcome::Undecided(_)) => exist += 1,
            (RobustRecourse::DoesNotExist, Outcome::Impossible(_) | Outcome::Undecided(_)) => missing += 1,
            (RobustRecourse::Unknown, _) => assert_ne!(theory.about().existence.name(), "guaranteed"),
            (stated, found) => panic!("{seed}: {stated:?} {found:?}"),
        }
        if let (Some(most), Some(found)) = (person.robust_cost_at_most(&problem), robust.recourse()) {
            assert!(found.cost_bound <= most * (1.0 + 1e-9), "{seed}: {} {most}", found.cost_bound);
            bounds += 1;
        }
        if let (Ok(breaking), Some(cheap)) = (&person.breaking, person.outcome.recourse()) {
            let broken = margin(&problem, &individual, &cheap.action, &breaking.perturbation).unwrap();
            assert!(broken < 0.0 && broken == breaking.margin, "{seed}");
            breaks += 1;
            if theory.about().fragility.is_empty() {
                assert!(breaking.size < 1e-4, "{seed}: {}", breaking.size);
            }
        } else if theory.about().fragility.is_empty() {
            assert!(person.outcome.recourse().is_none(), "{seed}");
        }
    }
    assert!(exist > 60 && missing > 20 && bounds > 40 && breaks > 80, "{exist} {missing} {bounds} {breaks}");
}

/// Whole hours: the cheapest action leaves a margin, so that only larger perturbations break it.
#[test]
fn integer_actions_are_not_fragile_however_small_the_perturbation() {
    let hours = Feature::new("hours").kind(Kind::Integer).limits(0.0, 50.0).change(Change::Increase);
    let problem = |classifier: Classifier| {
        let problem = Problem::new(Features::new(vec![hours.clone()]).unwrap(), classifier).unwrap();
        problem.with_uncertainty(Norm::L2, 0.1).unwrap()
    };
    // Favourable from 10.5 hours on: 11 hours withstand shifts of up to half an hour.
    let problem = problem(Classifier::linear(vec![1.0], -10.5, 0.5).unwrap());
    let without = standard(&problem);
    let theory = Theory::new(&problem, &without, Settings::default()).unwrap();
    assert!(!theory.about().fragility.is_empty());
    let person = theory.about_person(&[8.0]).unwrap();
    let breaking = person.breaking.clone().unwrap();
    assert_eq!((breaking.perturbation, breaking.size), (vec![-1.0], 1.0));
    // Scaled by 1 + 0.1 / 3 the action is no whole number of hours.
    assert!(person.extra_cost.is_err() && person.cost_stability.is_err());
    assert_eq!(person.robust, RobustRecourse::Unknown);
    let people = surefoot::People::from_own_units(problem.features(), &[[8.0]]).unwrap();
    assert!(matches!(recourse(&problem, &people).unwrap()[0], Outcome::Found(_)));
}
