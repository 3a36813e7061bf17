//! Joint perturbations: shifts of the person beside errors of execution, bands around equations and errors
//! of coefficients. The definition is held against formulas worked out by hand, fast evaluation against the
//! definition and finite differences, and answers against dense samples, attacks and the checker.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::error::SettingError;
use surefoot::margin::{gradients, margin, no_perturbation, outcome, shifts};
use surefoot::proof::SavedProof;
use surefoot::uncertainty::{Band, Coefficient, Execution, Group, Shift};
use surefoot::verify::{Verification, verify};
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Complete, Equation, Error, Feature, Features, Norm,
    NormKind, Outcome, People, Problem, Scm, Sources, Verdict, certify, recourse,
};
use surefoot_random::{network, one, uniform};

/// `a -> b -> c` and `a -> c`, and `d` alone.
fn features(change: Change) -> Features {
    let feature = |name: &str| Feature::new(name).change(change).limits(-4.0, 4.0).scaling(1.0, 2.0);
    Features::new(["a", "b", "c", "d"].map(feature).to_vec()).unwrap()
}

fn scm(features: &Features) -> Scm {
    let equations = vec![
        ("b", Equation::linear(&["a"], vec![0.5], 0.1)),
        ("c", Equation::linear(&["a", "b"], vec![-0.3, 0.8], -0.2)),
    ];
    Scm::new(features, equations).unwrap()
}

/// Every kind of uncertainty at once.
fn sources() -> Sources {
    Sources {
        alone: Vec::new(),
        shifts: vec![Shift::Ball, Shift::Share(0.1), Shift::Ball, Shift::Between(-1.0, 0.5)],
        groups: vec![Group { features: vec![2], norm: NormKind::L1, epsilon: 0.15 }],
        factor: Vec::new(),
        execution: vec![
            Execution { feature: 0, share: 0.2, within: 0.0 },
            Execution { feature: 3, share: 0.1, within: 0.25 },
        ],
        bands: vec![Band { feature: 2, width: 0.05 }],
        coefficients: vec![
            Coefficient { feature: 1, parent: 0, within: 0.1 },
            Coefficient { feature: 2, parent: 1, within: 0.2 },
        ],
    }
}

fn problem(classifier: Classifier, change: Change) -> Problem {
    let features = features(change);
    Problem::new(features.clone(), classifier)
        .unwrap()
        .with_causal_model(scm(&features))
        .unwrap()
        .with_uncertainty(Norm::L2, 0.2)
        .unwrap()
        .with_sources(sources())
        .unwrap()
}

#[test]
fn the_definition_is_what_the_formulas_say() {
    let weights = [0.7, -0.4, 1.1, 0.5];
    let problem = problem(Classifier::linear(weights.to_vec(), 0.0, 0.5).unwrap(), Change::Any);
    // Four features, two errors of execution, a band and two coefficients.
    assert_eq!(problem.perturbation_width(), 9);
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    for _ in 0..200 {
        let mut x = uniform(random, 4, -1.0..1.0);
        x[3] = random.random_range(-1.0..0.5);
        let v = problem.uncertainty().sample(random, 9, false);
        let theta = uniform(random, 2, -0.5..0.5);
        let action = Action { features: vec![0, 3], change: theta.clone() };
        let (own_b, mid) = (0.5 + x[1], -0.25 - x[3]);
        let d = [v[0], 0.1 * own_b.abs() * v[1], v[2] + 2.0 * 0.05 * v[6], mid + 0.75 * v[3]];
        let carried =
            [theta[0] * (1.0 + 0.2 * v[4]), theta[1] * (1.0 + 0.1 * v[5]) + theta[1].abs().min(0.25) * v[5]];
        let a = x[0] + d[0] + carried[0];
        let b = x[1] + (0.5 + 0.1 * v[7]) * (a - x[0]) + d[1];
        let c = x[2] - 0.3 * (a - x[0]) + (0.8 + 0.2 * v[8]) * (b - x[1]) + d[2];
        let after = [a, b, c, x[3] + d[3] + carried[1]];
        let expected: f64 = after.iter().zip(weights).map(|(x, w)| x * w).sum();
        let found = margin(&problem, &x, &action, &v).unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        let shift = shifts(&problem, &x, &v).unwrap();
        assert!(shift.iter().zip(d).all(|(found, d)| (found - d).abs() < 1e-14));
        // Nothing uncertain: the outcome.
        let none = no_perturbation(&problem, &x).unwrap();
        let plain = margin(&problem, &x, &action, &none).unwrap();
        let reached = outcome(&problem, &x, &action).unwrap();
        assert!((plain - problem.classifier().score(&reached)).abs() < 1e-14);
        assert!(problem.uncertainty().contains(&none));
    }
}

#[test]
fn blocks_agree_with_the_definition_and_with_finite_differences() {
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    for activation in [Activation::Tanh, Activation::Sigmoid] {
        let classifier = Classifier::network(network(random, &[4, 6, 1], activation, 1.0), 0.5).unwrap();
        let problem = problem(classifier, Change::Any);
        let rows = Array2::from_shape_fn((20, 4), |_| random.random_range(-0.9..0.4));
        let people = People::from_standardised(problem.features(), rows.view()).unwrap();
        for set in [vec![0], vec![0, 3], vec![1, 3], vec![0, 1, 2, 3]] {
            let change = Array2::from_shape_fn((20, set.len()), |_| random.random_range(0.3..1.0));
            let v = Array2::from_shape_fn((20, 9), |_| random.random_range(-0.9..0.9));
            let found = gradients(&problem, &people, &set, change.view(), v.view()).unwrap();
            for (i, x) in people.iter().enumerate() {
                let at = |change: &[f64], v: &[f64]| {
                    let action = Action { features: set.clone(), change: change.to_vec() };
                    margin(&problem, x, &action, v).unwrap()
                };
                let (change, v) = (change.row(i).to_vec(), v.row(i).to_vec());
                assert!((found.margin[i] - at(&change, &v)).abs() < 1e-12);
                let moved = |vector: &[f64], j: usize, by: f64| {
                    let mut vector = vector.to_vec();
                    vector[j] += by;
                    vector
                };
                const H: f64 = 1e-5;
                for j in 0..set.len() {
                    let slope = (at(&moved(&change, j, H), &v) - at(&moved(&change, j, -H), &v)) / (2.0 * H);
                    assert!((found.in_action[[i, j]] - slope).abs() < 1e-7, "{set:?} change {j}");
                }
                for j in 0..9 {
                    let slope = (at(&change, &moved(&v, j, H)) - at(&change, &moved(&v, j, -H))) / (2.0 * H);
                    assert!((found.in_perturbation[[i, j]] - slope).abs() < 1e-7, "{set:?} coordinate {j}");
                }
            }
        }
    }
}

/// With a linear classifier, no causes and one feature that may change, everything has a closed form.
#[test]
fn linear_answers_are_those_of_the_closed_form() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for _ in 0..40 {
        let feature = |name: &str, change| Feature::new(name).change(change);
        let features = Features::new(vec![
            feature("income", Change::Increase),
            feature("debt", Change::Fixed),
            feature("age", Change::Fixed),
        ])
        .unwrap();
        let weights = uniform(random, 3, 0.3..1.5);
        let classifier = Classifier::linear(weights.clone(), 0.0, 0.5).unwrap();
        let (share, epsilon) = (random.random_range(0.0..0.5), random.random_range(0.0..0.4));
        let problem = Problem::new(features, classifier)
            .unwrap()
            .with_uncertainty(Norm::L2, epsilon)
            .unwrap()
            .with_sources(Sources {
                shifts: vec![Shift::Ball, Shift::Ball, Shift::Exact],
                execution: vec![Execution { feature: 0, share, within: 0.0 }],
                ..Sources::default()
            })
            .unwrap();
        let x = uniform(random, 3, -2.0..-0.5);
        let score: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
        // w_0 theta (1 - share) = epsilon |(w_0, w_1)| - score
        let needed = (epsilon * weights[0].hypot(weights[1]) - score) / (weights[0] * (1.0 - share));
        let people = People::from_standardised(
            problem.features(),
            Array2::from_shape_vec((1, 3), x.clone()).unwrap().view(),
        )
        .unwrap();
        let answer = &recourse(&problem, &people).unwrap()[0];
        let found = answer.recourse().unwrap();
        assert!(found.cost >= needed - 1e-9, "{} {needed}", found.cost);
        assert!(found.cost_bound <= needed + 1e-9 && found.cost_bound >= 0.985 * needed);
        let sharp = Action { features: vec![0], change: vec![needed * (1.0 - 1e-6)] };
        assert!(matches!(
            certify(&problem, &x, &sharp, Budget::default()).unwrap().verdict,
            Verdict::Breaks { .. }
        ));
        let ample = Action { features: vec![0], change: vec![needed * (1.0 + 1e-6) + 1e-8] };
        assert!(matches!(
            certify(&problem, &x, &ample, Budget::default()).unwrap().verdict,
            Verdict::Holds { .. }
        ));
    }
}

#[test]
fn certified_actions_withstand_samples_and_attacks_and_are_verified() {
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let (mut found, mut impossible, mut closed) = (0, 0, 0);
    for round in 0..60 {
        let classifier = match round % 3 {
            0 => Classifier::linear(uniform(random, 4, -1.0..1.0), -0.5, 0.5).unwrap(),
            k => {
                let activation = [Activation::Tanh, Activation::Relu][k - 1];
                Classifier::network(network(random, &[4, 6, 1], activation, 0.8), 0.5).unwrap()
            }
        };
        let problem = problem(classifier, one(random, &[Change::Any, Change::Increase]));
        let mut x = uniform(random, 4, -0.9..0.9);
        x[3] = random.random_range(-1.0..0.5);
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 4_000 }).unwrap();
        let proof = complete.prove(&x).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
        assert_eq!(saved, proof.saved(&problem, &x));
        let verification = verify(&problem, &saved).unwrap();
        match &saved.outcome {
            Outcome::Found(answer) => {
                assert!(matches!(verification, Verification::Verified(_)), "{round}: {verification:?}");
                found += 1;
                closed += usize::from(answer.cost_bound >= 0.98 * answer.cost);
                for number in 0..4_000 {
                    let v = problem.uncertainty().sample(random, 9, number % 2 == 0);
                    let margin = margin(&problem, &x, &answer.action, &v).unwrap();
                    assert!(margin >= answer.margin - 1e-9, "{round}: {margin} {}", answer.margin);
                }
                let people = People::from_standardised(
                    problem.features(),
                    Array2::from_shape_vec((1, 4), x.clone()).unwrap().view(),
                )
                .unwrap();
                let attack = ProjectedGradient { steps: 40, samples: 2_000, restarts: 20, seed: 7 };
                let worst =
                    worst_found(&problem, &people, std::slice::from_ref(&answer.action), &attack).unwrap();
                assert!(worst[0].margin >= answer.margin - 1e-9);
                // Cheaper actions do not hold.
                for _ in 0..40 {
                    let action = cheaper(random, answer.cost_bound * 0.999);
                    if surefoot::infeasibility(&problem, &x, &action).unwrap().is_some() {
                        continue;
                    }
                    let verdict =
                        certify(&problem, &x, &action, Budget { evaluations: 300 }).unwrap().verdict;
                    assert!(!matches!(verdict, Verdict::Holds { .. }), "{round}: {action:?}");
                }
            }
            Outcome::Impossible(_) => {
                assert!(matches!(verification, Verification::Verified(_)), "{round}: {verification:?}");
                impossible += 1;
            }
            _ => {}
        }
    }
    assert!(found >= 15 && impossible >= 3 && closed * 10 >= found * 9, "{found} {impossible} {closed}");
}

/// A random action on some of four features with at most this cost.
fn cheaper(random: &mut ChaCha8Rng, cost: f64) -> Action {
    let sets = [vec![0], vec![1], vec![3], vec![0, 3], vec![1, 2], vec![0, 1, 2, 3]];
    let features = one(random, &sets);
    let shares = uniform(random, features.len(), -1.0..1.0);
    let total: f64 = shares.iter().map(|share| share.abs()).sum();
    let size = cost * random.random_range(0.9..1.0f64);
    Action { change: shares.iter().map(|share| size * share / total).collect(), features }
}

#[test]
fn words_say_what_is_guarded_against_and_what_breaks_an_action() {
    let feature = |name: &str, std| Feature::new(name).scaling(0.0, std).change(Change::Increase);
    let features = Features::new(vec![feature("income", 1000.0), feature("savings", 2000.0)]).unwrap();
    let equations = vec![("savings", Equation::linear(&["income"], vec![0.5], 0.0))];
    let scm = Scm::new(&features, equations).unwrap();
    let problem = Problem::new(features, Classifier::linear(vec![1.0, 0.5], 0.0, 0.5).unwrap())
        .unwrap()
        .with_causal_model(scm)
        .unwrap()
        .with_sources(Sources {
            execution: vec![
                Execution { feature: 0, share: 0.1, within: 0.0 },
                Execution { feature: 1, share: 0.1, within: 0.0 },
            ],
            bands: vec![Band { feature: 1, width: 0.01 }],
            coefficients: vec![Coefficient { feature: 1, parent: 0, within: 0.05 }],
            ..Sources::default()
        })
        .unwrap();
    let x = [-1.0, -1.0];
    let people = People::from_standardised(
        problem.features(),
        Array2::from_shape_vec((1, 2), x.to_vec()).unwrap().view(),
    )
    .unwrap();
    let answer = &recourse(&problem, &people).unwrap()[0];
    let words = surefoot::describe(&problem, &x, answer).unwrap();
    let expected = "It also works if each change is missed by up to 10%, if the equation of savings is wrong by \
                    up to 20 and if a change of income by 1 changes savings by up to 0.1 more or less than \
                    assumed, even if all of that happens together.";
    assert!(words.contains(expected), "{words}");
    assert!(!words.contains("by up to 0 "), "{words}");
    let shift = surefoot::describe_shift(&problem, &[0.0, 0.0, -1.0, 0.0, 1.0, -0.5]).unwrap();
    assert_eq!(
        shift,
        "a change of income that is 10% too little, savings 40 more than its equation says and savings changing \
         by 0.05 less with income than assumed"
    );
    // The attack finds such a break of the cheapest action without all of that.
    let action = Action { features: vec![0], change: vec![1.21] };
    let found = surefoot::smallest_break(&problem, &people, &[action]).unwrap()[0].clone().unwrap();
    assert!(problem.uncertainty().includes(found.size) && found.margin < 0.0);
    assert_eq!(found.shift.len(), 2);
}

/// Options and trade-offs solve problems with other features and other balls, which keep what is uncertain.
#[test]
fn options_and_trade_offs_keep_what_is_uncertain() {
    use surefoot::recourse::{Settings, Solver};
    let problem = problem(Classifier::linear(vec![0.6, 0.5, 0.7, 0.8], -1.0, 0.5).unwrap(), Change::Increase);
    let x = [-0.5, -0.2, -0.3, -0.4];
    let solver = Solver::new(&problem, Settings::default()).unwrap();
    let options = solver.options(&x, 3).unwrap();
    assert!(options.len() >= 2);
    for option in options.iter().filter_map(Outcome::recourse) {
        let verdict = certify(&problem, &x, &option.action, Budget::default()).unwrap().verdict;
        assert!(matches!(verdict, Verdict::Holds { .. }), "{verdict:?}");
    }
    let curve = solver.trade_off(&x, Some(&[0.0, 0.2, 0.4]), |_| {}).unwrap();
    let costs: Vec<f64> = curve.answers.iter().map(|answer| answer.recourse().unwrap().cost).collect();
    assert!(costs[0] < costs[1] && costs[1] < costs[2], "{costs:?}");
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let features = features(Change::Any);
    let classifier = Classifier::linear(vec![1.0; 4], 0.0, 0.5).unwrap();
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let causal = problem.clone().with_causal_model(scm(&features)).unwrap();
    let refused = |problem: &Problem, sources: Sources| match problem.clone().with_sources(sources) {
        Err(Error::Setting(error)) => error,
        other => panic!("{other:?}"),
    };
    let band = |feature| Sources { bands: vec![Band { feature, width: 0.1 }], ..Sources::default() };
    assert!(matches!(refused(&problem, band(1)), SettingError::UncertainEquation { .. }));
    assert!(matches!(refused(&causal, band(0)), SettingError::UncertainEquation { .. }));
    let coefficient = |feature, parent| Sources {
        coefficients: vec![Coefficient { feature, parent, within: 0.1 }],
        ..Sources::default()
    };
    assert!(matches!(refused(&causal, coefficient(1, 2)), SettingError::UncertainEquation { .. }));
    let execution = Execution { feature: 0, share: 0.1, within: 0.0 };
    let twice = Sources { execution: vec![execution; 2], ..Sources::default() };
    assert!(matches!(refused(&causal, twice), SettingError::UncertainTwice { .. }));
    let negative = Sources { execution: vec![Execution { share: -0.1, ..execution }], ..Sources::default() };
    assert!(matches!(refused(&causal, negative), SettingError::Setting { .. }));
    // Ends of intervals are told in own units: these features have a mean of 1 and a standard deviation of 2.
    let reversed = Sources { shifts: vec![Shift::Between(1.0, 0.0); 4], ..Sources::default() };
    assert_eq!(
        refused(&causal, reversed).to_string(),
        "the value of `a` is said to be between 3.0 and 1.0, which is not an interval"
    );
    let uncertain =
        problem.with_sources(Sources { execution: vec![execution], ..Sources::default() }).unwrap();
    let nobody = People::from_standardised(uncertain.features(), Array2::zeros((1, 4)).view()).unwrap();
    let descent = surefoot::Descent::default().solve(&uncertain, &nobody);
    assert!(matches!(descent, Err(Error::Setting(SettingError::UncertaintyNotKnown { .. }))), "{descent:?}");
}
