//! Attacks: exact where the answer is known, honest everywhere.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod every_kind;

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{CarliniWagner, DeepFool, FastGradient, ProjectedGradient, worst_found};
use surefoot::error::{FeatureError, PeopleError, SettingError};
use surefoot::margin::margin;
use surefoot::{
    Action, ActionKind, Activation, Attack, Break, Budget, Change, Classifier, Equation, Error, Exact,
    Feature, Features, Norm, People, Problem, Result, Scm, Verdict, certify, refute, smallest_break,
};
use surefoot_random::{FORMULAS, Family, NORM_KINDS, uniform};

type Run = fn(&Problem, &People, &[Action]) -> Result<Vec<Option<Break>>>;

/// Every attack, under its name.
fn attacks() -> Vec<(&'static str, Run)> {
    vec![
        ("fast gradient", |p, x, a| FastGradient.attack(p, x, a)),
        ("projected gradient", |p, x, a| ProjectedGradient::default().attack(p, x, a)),
        ("DeepFool", |p, x, a| DeepFool::default().attack(p, x, a)),
        ("Carlini-Wagner", |p, x, a| CarliniWagner::default().attack(p, x, a)),
        ("smallest break", smallest_break),
        ("refutation", |p, x, a| refute(p, x, a, Budget { evaluations: 300 })),
    ]
}

/// A linear problem with a causal chain, people, and an action beyond the boundary for each.
fn linear_problem(norm: Norm, form: ActionKind) -> (Problem, People, Vec<Action>) {
    let problem = every_kind::linear_chain();
    let problem = problem.with_uncertainty(norm, 0.3).unwrap().with_action_kind(form);
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let rows = Array2::from_shape_fn((37, 3), |_| random.random_range(-1.0..1.0));
    let people = People::from_standardised(problem.features(), rows.view()).unwrap();
    let actions = people.iter().map(|x| {
        let features = if random.random_bool(0.5) { vec![0] } else { vec![0, 1] };
        // Far enough to be favourable by something between 0.05 and 0.65.
        let mut action = Action { change: vec![0.2; features.len()], features };
        let at = |action: &Action| margin(&problem, x, action, &[0.0; 3]).unwrap();
        let wanted = random.random_range(0.05..0.65);
        let base = at(&action);
        action.change[0] += 1.0;
        let slope = at(&action) - base;
        action.change[0] += (wanted - base) / slope - 1.0;
        action
    });
    let actions = actions.collect();
    (problem, people, actions)
}

#[test]
fn linear_problems_are_attacked_exactly() {
    for kind in NORM_KINDS {
        for norm in [Norm::unweighted(kind), Norm::weighted(kind, vec![0.5, 1.0, 2.0]).unwrap()] {
            for form in [ActionKind::Relative, ActionKind::Absolute] {
                let (problem, people, actions) = linear_problem(norm.clone(), form);
                let exact = Exact::new(&problem).unwrap();
                let worst = worst_found(&problem, &people, &actions, &ProjectedGradient::default()).unwrap();
                for (name, attack) in attacks() {
                    let breaks = attack(&problem, &people, &actions).unwrap();
                    for (i, x) in people.iter().enumerate() {
                        let place = format!("{name} {norm:?} {form:?} {i}");
                        let least = exact.smallest_break(x, &actions[i]).unwrap();
                        let lowest = exact.worst_case(x, &actions[i]).unwrap().margin;
                        assert!((worst[i].margin - lowest).abs() < 1e-6, "{place}");
                        let bounded = name.ends_with("gradient");
                        assert_eq!(breaks[i].is_some(), !bounded || lowest < 0.0, "{place}");
                        let Some(found) = &breaks[i] else { continue };
                        if bounded {
                            assert!((found.margin - lowest).abs() < 1e-6, "{place}");
                            assert!(found.size <= 0.3 * (1.0 + 1e-9), "{place}");
                        } else {
                            assert!((found.size - least).abs() < 1e-6, "{place}: {} not {least}", found.size);
                        }
                    }
                }
            }
        }
    }
}

/// A network classifier over the model with every kind of equation.
fn curved_problem(form: ActionKind) -> (Problem, People, Vec<Action>) {
    let classifier = Classifier::network(every_kind::network(Activation::Tanh, 9), 0.4).unwrap();
    let problem = Problem::new(every_kind::features(), classifier).unwrap();
    let problem = problem.with_causal_model(every_kind::scm()).unwrap().with_action_kind(form);
    let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    let mut individual = || {
        let noise: Vec<f64> = (0..9).map(|_| random.random_range(-1.0..1.0)).collect();
        every_kind::scm().predict(&noise).unwrap()
    };
    let rows: Vec<f64> = (0..20).flat_map(|_| individual()).collect();
    let rows = Array2::from_shape_vec((20, 9), rows).unwrap();
    let people = People::from_standardised(&every_kind::features(), rows.view()).unwrap();
    let sets: [&[usize]; 3] = [&[1], &[4], &[1, 4]];
    let action = |i: usize| Action { features: sets[i % 3].to_vec(), change: vec![0.05; sets[i % 3].len()] };
    let actions = (0..20).map(action).collect();
    (problem, people, actions)
}

#[test]
fn what_is_reported_breaks_when_evaluated_again() {
    for form in [ActionKind::Relative, ActionKind::Absolute] {
        let (problem, people, actions) = curved_problem(form);
        let mut reported = 0;
        for (name, attack) in attacks() {
            for (i, found) in attack(&problem, &people, &actions).unwrap().iter().enumerate() {
                let Some(found) = found else { continue };
                let x = people.individual(i);
                let again = margin(&problem, x, &actions[i], &found.perturbation).unwrap();
                assert!(again < 0.0 && again == found.margin, "{name} {i}");
                assert_eq!(found.size, problem.norm().value(&found.perturbation));
                let reached = found.counterfactual.as_ref().unwrap();
                assert_eq!(again, problem.classifier().score(reached));
                reported += 1;
            }
        }
        assert!(reported > 10, "{reported}");
    }
}

#[test]
fn no_random_perturbation_is_worse_than_what_projected_gradient_finds() {
    let (problem, people, actions) = curved_problem(ActionKind::Relative);
    let worst = worst_found(&problem, &people, &actions, &ProjectedGradient::default()).unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    for (i, x) in people.iter().enumerate() {
        for _ in 0..500 {
            let mut d: Vec<f64> = (0..9).map(|_| random.random_range(-0.1..0.1)).collect();
            let length = problem.norm().value(&d);
            d.iter_mut().for_each(|d| *d *= 0.1 / length);
            let Ok(margin) = margin(&problem, x, &actions[i], &d) else { continue };
            assert!(margin >= worst[i].margin - 1e-6, "{i}: {margin} {}", worst[i].margin);
        }
    }
}

#[test]
fn the_smallest_break_is_no_larger_than_that_of_any_attack() {
    let (problem, people, actions) = curved_problem(ActionKind::Relative);
    let smallest = smallest_break(&problem, &people, &actions).unwrap();
    for (name, attack) in attacks() {
        for (found, smallest) in attack(&problem, &people, &actions).unwrap().iter().zip(&smallest) {
            if let Some(found) = found {
                assert!(smallest.as_ref().unwrap().size <= found.size * (1.0 + 1e-6), "{name}");
            }
        }
    }
}

#[test]
fn answers_depend_on_neither_the_batch_nor_the_number_of_threads() {
    let (problem, people, actions) = curved_problem(ActionKind::Relative);
    for (name, attack) in attacks() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| attack(&problem, &people, &actions).unwrap())
        };
        let together = with(1);
        assert_eq!(together, with(3), "{name}");
        let alone = attack(&problem, &people.select(&[13]).unwrap(), &actions[13..14]).unwrap();
        assert_eq!(alone[0], together[13], "{name}");
    }
}

/// Near the edge of what an equation can produce most perturbations lead nowhere; those that
/// lead somewhere are found.
#[test]
fn breaks_are_found_at_the_edge_of_what_can_be() {
    let features =
        Features::new(vec![Feature::new("g").change(Change::Any), Feature::new("e"), Feature::new("f")])
            .unwrap();
    let equation = Equation::formula("-0.5 + sigmoid(-1 + 0.5 * g + u)");
    let scm = Scm::new(&features, vec![("e", equation)]).unwrap();
    let classifier = Classifier::linear(vec![0.1, -5.0, 1.0], 2.0, 0.5).unwrap();
    let problem = Problem::new(features.clone(), classifier).unwrap().with_causal_model(scm).unwrap();
    let problem = problem.with_uncertainty(Norm::L2, 0.5).unwrap();
    let people = People::from_own_units(&features, &[[0.0, 0.49, 0.9]]).unwrap();
    let actions = [Action { features: vec![0], change: vec![0.1] }];
    let at = |d: [f64; 3]| margin(&problem, people.individual(0), &actions[0], &d).unwrap_or(f64::INFINITY);
    assert!(at([0.0; 3]) > 0.0);
    // Brute force over a grid of perturbations.
    let steps = || (-50..=50).map(|k| k as f64 * 0.01);
    let mut smallest = f64::INFINITY;
    for a in steps() {
        for b in steps() {
            for c in steps() {
                let size = (a * a + b * b + c * c).sqrt();
                if size < smallest && at([a, b, c]) < 0.0 {
                    smallest = size;
                }
            }
        }
    }
    assert!(smallest < 0.5, "{smallest}");
    assert!(ProjectedGradient::default().attack(&problem, &people, &actions).unwrap()[0].is_some());
    let found = smallest_break(&problem, &people, &actions).unwrap()[0].clone().unwrap();
    assert!(found.size <= 1.02 * smallest, "{} {smallest}", found.size);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let (problem, people, actions) = linear_problem(Norm::L2, ActionKind::Relative);
    let refused = |result: Result<Vec<Option<Break>>>| {
        assert!(matches!(result, Err(Error::Setting(SettingError::Setting { .. }))))
    };
    refused(CarliniWagner { searches: 0, ..CarliniWagner::default() }.attack(&problem, &people, &actions));
    refused(CarliniWagner { step: f64::NAN, ..CarliniWagner::default() }.attack(&problem, &people, &actions));
    refused(DeepFool { overshoot: -5.0, ..DeepFool::default() }.attack(&problem, &people, &actions));
    refused(DeepFool { steps: 0, ..DeepFool::default() }.attack(&problem, &people, &actions));
    refused(
        ProjectedGradient { steps: 0, ..ProjectedGradient::default() }.attack(&problem, &people, &actions),
    );
}

#[test]
fn people_and_actions_that_do_not_fit_are_refused() {
    let (problem, people, actions) = curved_problem(ActionKind::Relative);
    let of = |actions: &[Action]| FastGradient.attack(&problem, &people, actions).unwrap_err();
    assert!(matches!(
        of(&actions[1..]),
        Error::People(PeopleError::VectorLength { expected: 20, found: 19 })
    ));
    let mut beyond = actions.clone();
    beyond[7].features = vec![9];
    beyond[7].change = vec![0.0];
    assert!(matches!(of(&beyond), Error::Feature(FeatureError::NoSuchFeature { index: 9, .. })));
}

/// Refutes one action, and holds what is reported against the definition.
fn refuted(problem: &Problem, individual: &[f64], action: &Action, budget: Budget) -> bool {
    let row = Array2::from_shape_vec((1, individual.len()), individual.to_vec()).unwrap();
    let people = People::from_standardised(problem.features(), row.view()).unwrap();
    let found = refute(problem, &people, std::slice::from_ref(action), budget).unwrap().remove(0);
    let Some(found) = found else { return false };
    let again = margin(problem, individual, action, &found.perturbation).unwrap();
    assert!(again < 0.0 && again == found.margin, "{again}");
    assert_eq!(found.size, problem.norm().value(&found.perturbation));
    found.size <= problem.epsilon()
}

/// An action that ends on the decision boundary, or within rounding of it, breaks by next to nothing;
/// but not where nothing at all may shift.
#[test]
fn actions_that_end_on_the_boundary_break() {
    let features = Features::new(vec![
        Feature::new("a").change(Change::Increase),
        Feature::new("b").change(Change::Increase),
    ])
    .unwrap();
    let classifier = Classifier::linear(vec![1.0, 1.0], -1.0, 0.5).unwrap();
    for kind in NORM_KINDS {
        for equation in [None, Some(Equation::formula("0.3 * a + u"))] {
            let mut plain = Problem::new(features.clone(), classifier.clone()).unwrap();
            if let Some(equation) = equation {
                let scm = Scm::new(&features, vec![("b", equation)]).unwrap();
                plain = plain.with_causal_model(scm).unwrap();
            }
            for beyond in [0.0, 1e-16, 1e-12, 1e-10, 5e-10, 1e-9, 1e-8, 1e-7, 1e-3] {
                // With the equation, raising `a` by 1 raises the score by 1.3.
                let slope = if plain.scm().is_some() { 1.3 } else { 1.0 };
                let action = Action { features: vec![0], change: vec![(1.0 + beyond) / slope] };
                let plainly = margin(&plain, &[0.0; 2], &action, &[0.0; 2]).unwrap();
                for epsilon in [0.1, 2e-3] {
                    let guarded = plain.clone().with_uncertainty(Norm::unweighted(kind), epsilon).unwrap();
                    assert!(refuted(&guarded, &[0.0; 2], &action, Budget::default()), "{kind:?} {beyond}");
                }
                let unguarded = plain.clone().with_uncertainty(Norm::unweighted(kind), 0.0).unwrap();
                let is_broken = refuted(&unguarded, &[0.0; 2], &action, Budget::default());
                assert_eq!(is_broken, plainly < 0.0, "{kind:?} {beyond}");
            }
        }
    }
}

/// Categories, a binary feature and a box of perturbations; the action ends within rounding of the
/// boundary, so that half of the box breaks it.
#[test]
fn an_action_on_a_group_that_ends_on_the_boundary_breaks() {
    let column = |name: &str, mean: f64| Feature::new(name).scaling(mean, 0.45).group("g").weight(0.5);
    let features = Features::new(vec![
        Feature::new("a").kind(surefoot::Kind::Binary).scaling(0.4, 0.5).change(Change::Any),
        column("g0", 0.38).change(Change::Any),
        column("g1", 0.41).change(Change::Increase),
    ])
    .unwrap();
    let weights = vec![-2.0632609557470034, -3.5228648359102355, 3.129852953416343];
    let classifier = Classifier::linear(weights, -4.602535475684778, 0.5).unwrap();
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let problem = problem.with_uncertainty(Norm::LINF, 0.1).unwrap();
    let people = People::from_own_units(&features, &[[1.0, 1.0, 0.0]]).unwrap();
    let action = Action { features: vec![1, 2], change: vec![-1.0 / 0.45, 1.0 / 0.45] };
    let plain = margin(&problem, people.individual(0), &action, &[0.0; 3]).unwrap();
    assert!(plain.abs() < 1e-12, "{plain}");
    assert!(refuted(&problem, people.individual(0), &action, Budget::default()));
}

/// A problem with a network, with or without causes, of any norm and form. Steep networks saturate:
/// gradients vanish where the margin does not.
fn random_problem(random: &mut ChaCha8Rng) -> Problem {
    let feature = |name: &str| Feature::new(name).change(Change::Any);
    let features = Features::new(vec![feature("a"), feature("b").scaling(1.0, 2.0), feature("c")]).unwrap();
    let family = Family {
        features: &features,
        hidden: &[&[8, 6]],
        scales: &[0.7, 2.0, 6.0],
        epsilons: &[0.05, 0.2, 0.6],
        formulas: &FORMULAS,
    };
    family.draw(random)
}

/// The action of a random direction that ends on the boundary, by bisection, or a random one where it
/// does not cross it.
fn action_near_the_boundary(random: &mut ChaCha8Rng, problem: &Problem, individual: &[f64]) -> Action {
    let features = if random.random_bool(0.5) { vec![0] } else { vec![0, 1, 2] };
    let direction: Vec<f64> = features.iter().map(|_| random.random_range(-3.0..3.0)).collect();
    let at = |share: f64| Action {
        features: features.clone(),
        change: direction.iter().map(|d| share * d).collect(),
    };
    let favourable = |share: f64| margin(problem, individual, &at(share), &[0.0; 3]).unwrap() >= 0.0;
    if favourable(0.0) == favourable(1.0) {
        return at(random.random_range(0.0..1.0));
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if favourable(middle) == favourable(1.0) { high = middle } else { low = middle }
    }
    let favourable_end = if favourable(high) { high } else { low };
    // On the boundary, next to it, or some way off.
    at(favourable_end + [0.0, 1e-10, 1e-3, 0.02, 0.1][random.random_range(0..5)])
}

#[test]
fn what_certify_disproves_is_refuted_and_what_it_proves_is_not() {
    let (mut broken, mut held) = (0, 0);
    let budget = Budget { evaluations: 1_000 };
    for round in 0..108 {
        let random = &mut ChaCha8Rng::seed_from_u64(round as u64);
        let problem = random_problem(random);
        let individual = uniform(random, 3, -2.0..2.0);
        let action = action_near_the_boundary(random, &problem, &individual);
        let is_refuted = refuted(&problem, &individual, &action, budget);
        match certify(&problem, &individual, &action, budget).unwrap().verdict {
            Verdict::Breaks { perturbation, margin, .. } => {
                assert!(problem.norm().value(&perturbation) <= problem.epsilon() && margin < 0.0, "{round}");
                assert!(is_refuted, "{round}");
                broken += 1;
            }
            Verdict::Holds { .. } => {
                assert!(!is_refuted, "{round}");
                held += 1;
            }
            Verdict::Undecided { .. } => {}
        }
    }
    assert!(broken > 30 && held > 15, "{broken} {held}");
}

/// No random perturbation breaks what is not refuted: sampling is an independent search.
#[test]
fn breaks_that_fill_much_of_the_ball_are_found() {
    let mut unbroken = 0;
    for round in 0..54 {
        let random = &mut ChaCha8Rng::seed_from_u64(1_000 + round as u64);
        let problem = random_problem(random);
        let individual = uniform(random, 3, -2.0..2.0);
        let action = action_near_the_boundary(random, &problem, &individual);
        if refuted(&problem, &individual, &action, Budget { evaluations: 1_000 }) {
            continue;
        }
        unbroken += 1;
        for _ in 0..2_000 {
            let mut d: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
            problem.norm().project(&mut d, problem.epsilon());
            let Ok(margin) = margin(&problem, &individual, &action, &d) else { continue };
            assert!(margin >= 0.0, "{round}: {margin} with {d:?}");
        }
    }
    assert!(unbroken > 10, "{unbroken}");
}
