//! Complete recourse: against brute force, against the exact method, and against attacks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::{feasible_change, intervention_sets};
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::error::{PeopleError, SettingError};
use surefoot::{
    Action, ActionKind, Activation, Budget, Change, Classifier, Complete, Cost, Equation, Error, Exact,
    Feature, Features, Layer, Network, Norm, Outcome, People, Problem, Scm, Verdict, certify, infeasibility,
    recourse,
};
use surefoot_random::{FORMULAS, Family, network, one, uniform};

/// Three features with a drawn direction and drawn limits, of which two may change.
fn problem(random: &mut ChaCha8Rng) -> Problem {
    let upper = one(random, &[3.0, 3.0, f64::INFINITY]);
    let features = Features::new(vec![
        Feature::new("a").change(one(random, &[Change::Any, Change::Increase])).limits(-2.0, 2.0).weight(1.5),
        Feature::new("b").change(Change::Any).limits(-3.0, upper),
        Feature::new("c"),
    ])
    .unwrap();
    let family = Family {
        features: &features,
        hidden: &[&[10, 8]],
        scales: &[1.0],
        epsilons: &[0.0, 0.1, 0.3],
        formulas: &FORMULAS,
    };
    family.draw(random)
}

fn person(problem: &Problem, x: &[f64], count: usize) -> People {
    let rows = Array2::from_shape_fn((count, x.len()), |(_, j)| x[j]);
    People::from_standardised(problem.features(), rows.view()).unwrap()
}

/// Random feasible actions of every set, spread over costs up to `most`; fewer than `count` where few
/// are feasible.
fn random_actions(
    random: &mut ChaCha8Rng,
    problem: &Problem,
    x: &[f64],
    most: f64,
    count: usize,
) -> Vec<Action> {
    let sets = intervention_sets(problem.features(), problem.scm().is_some()).unwrap();
    let mut actions = Vec::new();
    for _ in 0..4 * count {
        if actions.len() == count {
            break;
        }
        let features = sets[random.random_range(0..sets.len())].clone();
        let change: Vec<f64> = features
            .iter()
            .map(|&i| {
                let (low, high) = feasible_change(problem.features(), i, x[i]);
                let reach = most / problem.features().feature(i).weight;
                match random.random_bool(0.1) {
                    true => 0.0,
                    false => random.random_range(low.max(-reach)..=high.min(reach)),
                }
            })
            .collect();
        let action = Action { features, change };
        let is_cheap = problem.cost().of(problem.features(), &action) < most;
        if is_cheap && infeasibility(problem, x, &action).unwrap().is_none() {
            actions.push(action);
        }
    }
    actions
}

/// Nothing cheaper than the proven bound survives, what is found is certified again, and where
/// there is nothing no random action survives.
#[test]
fn answers_agree_with_brute_force() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let (mut found, mut impossible, mut undecided) = (0, 0, 0);
    for round in 0..150 {
        let problem = problem(random);
        let x = uniform(random, 3, -1.0..1.0);
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 6000 }).unwrap();
        let outcome = complete.solve(&x).unwrap();
        let most = match &outcome {
            Outcome::AlreadyFavourable => continue,
            Outcome::Found(recourse) => {
                found += 1;
                let verdict = certify(&problem, &x, &recourse.action, Budget::default()).unwrap().verdict;
                assert!(matches!(verdict, Verdict::Holds { .. }), "{round}: {verdict:?}");
                assert_eq!(recourse.cost, problem.cost().of(problem.features(), &recourse.action));
                assert!(recourse.cost_bound <= recourse.cost && recourse.cost_bound > 0.0, "{round}");
                for (&i, &c) in recourse.action.features.iter().zip(&recourse.action.change) {
                    let (low, high) = feasible_change(problem.features(), i, x[i]);
                    assert!(c >= low && c <= high, "{round}");
                }
                recourse.cost_bound
            }
            Outcome::Impossible(shortfall) => {
                impossible += 1;
                assert!(shortfall.missing > 0.0, "{round}");
                8.0
            }
            Outcome::Undecided(open) => {
                undecided += 1;
                open.cost_bound
            }
            Outcome::Unproved(candidate) => panic!("{candidate:?}"),
        };
        if most == 0.0 {
            continue;
        }
        let actions = random_actions(random, &problem, &x, most, 400);
        let attack = ProjectedGradient { steps: 25, samples: 16, restarts: 2, seed: 1 };
        let worst = worst_found(&problem, &person(&problem, &x, actions.len()), &actions, &attack).unwrap();
        for (worst, action) in worst.iter().zip(&actions) {
            assert!(worst.margin < 1e-6, "{round}: {action:?} survives with {}", worst.margin);
        }
    }
    assert!(found > 25 && impossible > 20 && undecided <= 8, "{found} {impossible} {undecided}");
}

/// On linear problems the complete method finds what the exact one finds.
#[test]
fn linear_problems_have_their_exact_cost() {
    let features = Features::new(vec![
        Feature::new("a").change(Change::Any).limits(-2.0, 2.0),
        Feature::new("b").change(Change::Increase),
        Feature::new("c"),
    ])
    .unwrap();
    let equations =
        vec![("b", Equation::linear(&["a"], vec![0.7], 0.1)), ("c", Equation::formula("a - 0.5 * b + u"))];
    let scm = Scm::new(&features, equations).unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    for form in [ActionKind::Relative, ActionKind::Absolute] {
        for cost in [Cost::L1, Cost::L2] {
            for _ in 0..10 {
                let weights: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
                let classifier = Classifier::linear(weights, -1.0, 0.5).unwrap();
                let problem = Problem::new(features.clone(), classifier)
                    .unwrap()
                    .with_causal_model(scm.clone())
                    .unwrap();
                let problem =
                    problem.with_uncertainty(Norm::L2, 0.2).unwrap().with_action_kind(form).with_cost(cost);
                let x: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
                let exact = Exact::new(&problem).unwrap().solve(&x).unwrap();
                let complete = Complete::new(&problem).unwrap().solve(&x).unwrap();
                match (&exact, &complete) {
                    (Outcome::Found(exact), Outcome::Found(complete)) => {
                        assert!(complete.cost_bound <= exact.cost && complete.cost >= exact.cost_bound);
                        assert!(complete.cost <= 1.0101 * complete.cost_bound + 1e-3, "{complete:?}");
                    }
                    (Outcome::Impossible(_), Outcome::Impossible(_))
                    | (Outcome::AlreadyFavourable, Outcome::AlreadyFavourable) => {}
                    (exact, complete) => panic!("{exact:?} {complete:?}"),
                }
            }
        }
    }
}

#[test]
fn networks_are_answered_by_default_and_the_same_on_any_number_of_threads() {
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    let mut found = 0;
    for _ in 0..15 {
        let problem = problem(random);
        let rows = Array2::from_shape_simple_fn((8, 3), || random.random_range(-1.0..1.0));
        let people = People::from_standardised(problem.features(), rows.view()).unwrap();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| recourse(&problem, &people).unwrap())
        };
        let answers = with(1);
        assert_eq!(answers, with(3));
        found += answers.iter().filter(|answer| answer.recourse().is_some()).count();
    }
    assert!(found > 3, "{found}");
}

/// A network that is nearly linear has about the exact cost of the linear model, however many features
/// may change.
#[test]
fn many_actionable_features_cost_no_more_than_needed() {
    let random = &mut ChaCha8Rng::seed_from_u64(17);
    for cost in [Cost::L1, Cost::L2] {
        let weights = uniform(random, 10, -1.0..1.0);
        let feature = |i: usize| {
            let change = if weights[i] > 0.0 { Change::Increase } else { Change::Decrease };
            Feature::new(format!("x{i}")).change(change).limits(-4.0, 4.0)
        };
        let features = Features::new((0..10).map(feature).collect()).unwrap();
        // tanh is linear near zero.
        let hidden = Layer {
            weight: Array2::from_shape_fn((1, 10), |(_, i)| 0.02 * weights[i]),
            bias: Array1::zeros(1),
        };
        let output = Layer { weight: Array2::from_elem((1, 1), 50.0), bias: Array1::from_elem(1, -2.0) };
        let network = Network::new(vec![hidden, output], Activation::Tanh).unwrap();
        let with = |classifier| {
            let problem = Problem::new(features.clone(), classifier).unwrap().with_cost(cost);
            problem.with_uncertainty(Norm::L2, 0.1).unwrap()
        };
        let linear = with(Classifier::linear(weights.clone(), -2.0, 0.5).unwrap());
        let network = with(Classifier::network(network, 0.5).unwrap());
        let x = uniform(random, 10, -0.5..0.5);
        let (Outcome::Found(exact), Outcome::Found(found)) = (
            Exact::new(&linear).unwrap().solve(&x).unwrap(),
            Complete::new(&network).unwrap().solve(&x).unwrap(),
        ) else {
            panic!("both have an action")
        };
        let ratio = found.cost / exact.cost;
        assert!((0.99..1.03).contains(&ratio), "{cost:?}: {} {}", found.cost, exact.cost);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let problem = problem(&mut ChaCha8Rng::seed_from_u64(8));
    let complete = || Complete::new(&problem).unwrap();
    for gap in [0.0, -1.0, 1.0, f64::NAN] {
        assert!(matches!(complete().with_gap(gap), Err(Error::Setting(SettingError::Setting { .. }))));
    }
    assert!(matches!(
        complete().with_budget(Budget { evaluations: 0 }),
        Err(Error::Setting(SettingError::Setting { .. }))
    ));
    assert!(matches!(complete().solve(&[0.0]), Err(Error::People(PeopleError::VectorLength { .. }))));
    assert!(matches!(
        complete().solve(&[0.0, f64::NAN, 0.0]),
        Err(Error::People(PeopleError::VectorNotFinite { .. }))
    ));
    // A tiny budget leaves it open, with what is known.
    let small = complete().with_budget(Budget { evaluations: 1 }).unwrap();
    assert!(small.solve(&[0.1, -0.2, 0.3]).is_ok());
}

/// What is proven is what people are told: numbers of four digits in own units, and no changes
/// that are hardly worth telling.
#[test]
fn actions_are_told_as_they_were_proven() {
    let features = Features::new(vec![
        Feature::new("income").scaling(2813.0, 1234.5).change(Change::Increase),
        Feature::new("debt").scaling(917.0, 377.7).change(Change::Any),
    ])
    .unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut told = 0;
    for _ in 0..40 {
        let classifier = Classifier::network(network(&mut random, &[2, 6, 1], Activation::Tanh, 1.5), 0.5);
        let problem = Problem::new(features.clone(), classifier.unwrap()).unwrap();
        let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
        let individual = [random.random_range(-1.0..1.0), random.random_range(-1.0..1.0)];
        let Outcome::Found(found) = Complete::new(&problem).unwrap().solve(&individual).unwrap() else {
            continue;
        };
        for (&i, &change) in found.action.features.iter().zip(&found.action.change) {
            let own = change.abs() * features.feature(i).std;
            let digits = format!("{own:.3e}").parse::<f64>().unwrap();
            told += usize::from((own - digits).abs() < 1e-9 * own);
            assert!(change.abs() > 0.002 * found.cost || (own - digits).abs() < 1e-9 * own);
        }
    }
    assert!(told > 15, "{told}");
}
