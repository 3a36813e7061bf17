//! The cost of certainty, against what can be worked out by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::{Array1, Array2, array};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::SettingError;
use surefoot::recourse::{Reach, Settings, Solver, TradeOff, trade_off};
use surefoot::{
    Activation, Budget, Change, Classifier, Error, Feature, Features, Kind, Layer, Network, Norm, Outcome,
    Problem, Verdict, certify,
};
use surefoot_random::{FORMULAS, Family, linear_causal_model, one, uniform, with_settings};

fn curve(problem: &Problem, individual: &[f64], epsilons: &[f64]) -> TradeOff {
    trade_off(problem, individual, Some(epsilons), Settings::default(), |_| {}).unwrap()
}

fn with_epsilon(problem: &Problem, epsilon: f64) -> Problem {
    problem.clone().with_uncertainty(problem.norm().clone(), epsilon).unwrap()
}

/// Income may rise to at most 2; favourable iff income + age >= 0.5.
fn linear() -> Problem {
    let features = Features::new(vec![
        Feature::new("income").change(Change::Increase).limits(-5.0, 2.0),
        Feature::new("age"),
    ])
    .unwrap();
    Problem::new(features, Classifier::linear(vec![1.0, 1.0], -0.5, 0.5).unwrap()).unwrap()
}

/// `2 tanh(income) + age / 2` in place of a line.
fn network() -> Problem {
    let hidden = Layer { weight: array![[1.0, 0.0], [0.0, 0.01]], bias: array![0.0, 0.0] };
    let output = Layer { weight: array![[2.0, 50.0]], bias: array![-0.5] };
    let network = Network::new(vec![hidden, output], Activation::Tanh).unwrap();
    Problem::new(linear().features().clone(), Classifier::network(network, 0.5).unwrap()).unwrap()
}

#[test]
fn a_line_costs_in_proportion() {
    let problem = linear();
    let epsilons = [0.0, 0.1, 0.5, 1.0, 2.0];
    let TradeOff { answers, reach, evaluations, .. } = curve(&problem, &[-1.0, 0.0], &epsilons);
    assert_eq!(evaluations, 0);
    for (epsilon, outcome) in epsilons.into_iter().zip(&answers) {
        let needed = 1.5 + epsilon * 2f64.sqrt();
        match outcome {
            Outcome::Found(found) => assert!(needed <= 3.0 && (found.cost - needed).abs() < 1e-8),
            Outcome::Impossible(_) => assert!(needed > 3.0),
            other => panic!("{other:?}"),
        }
    }
    // At 2, the most that may be had, 1.5 is left over.
    let exact = 1.5 / 2f64.sqrt();
    assert!(reach.possible.unwrap() <= exact && reach.impossible.unwrap() >= exact);
    assert!(reach.impossible.unwrap() - reach.possible.unwrap() < 0.011 * exact);
    // Sizes that are not given go from zero to the largest.
    let spread = trade_off(&problem, &[-1.0, 0.0], None, Settings::default(), |_| {}).unwrap();
    assert_eq!((spread.epsilons.len(), spread.epsilons[0]), (12, 0.0));
    assert_eq!(spread.epsilons[11], spread.reach.possible.unwrap());
    assert!(spread.answers.iter().all(|answer| answer.recourse().is_some()));
}

#[test]
fn a_network_costs_more_and_more() {
    let problem = network().with_uncertainty(Norm::L2, 0.3).unwrap();
    let epsilons = [0.0, 0.05, 0.1, 0.2, 0.4];
    let TradeOff { answers, reach, .. } = curve(&problem, &[-1.0, 0.0], &epsilons);
    let costs: Vec<f64> = answers.iter().map(|outcome| outcome.recourse().unwrap().cost).collect();
    assert!(costs.windows(2).all(|pair| pair[0] < pair[1]), "{costs:?}");
    // Without uncertainty: 2 tanh(income) = 0.5.
    assert!((costs[0] - (1.0 + 0.25f64.atanh())).abs() < 0.02 * costs[0]);
    let (possible, impossible) = (reach.possible.unwrap(), reach.impossible.unwrap());
    assert!(possible < impossible && impossible - possible < 0.03 * impossible, "{possible} {impossible}");
    // Sampled: at the limit of income the worst shift of that size is about to break it.
    let worst = |size: f64| {
        let at = |k: usize| {
            let angle = k as f64 * 0.001;
            let x = [2.0 + size * angle.cos(), size * angle.sin()];
            problem.classifier().score(&x)
        };
        (0..6284).map(at).fold(f64::INFINITY, f64::min)
    };
    assert!(worst(possible) >= 0.0 && worst(impossible) < 0.0);
}

#[test]
fn who_can_do_nothing_is_told_so() {
    let none = curve(&linear(), &[-1.0, -9.0], &[0.0, 0.3]);
    assert_eq!(none.reach, Reach { possible: None, impossible: Some(0.0) });
    assert!(none.answers.iter().all(|answer| matches!(answer, Outcome::Impossible(_))));
}

/// What makes no sense is refused before anything is searched for.
#[test]
fn arguments_are_checked_first() {
    let problem = network();
    let refused = |epsilons: &[f64], settings: Settings| {
        let searched = std::cell::Cell::new(0);
        let count = |_| searched.set(searched.get() + 1);
        let error = trade_off(&problem, &[-1.0, 0.0], Some(epsilons), settings, count).unwrap_err();
        assert_eq!(searched.get(), 0);
        error
    };
    for epsilon in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            refused(&[0.0, epsilon], Settings::default()),
            Error::Setting(SettingError::Epsilon { .. })
        ));
    }
    for gap in [0.0, 1.0, f64::NAN] {
        let settings = Settings { gap, ..Settings::default() };
        assert!(matches!(
            refused(&[0.0], settings),
            Error::Setting(SettingError::Setting { setting: "gap", .. })
        ));
    }
    let settings = Settings { budget: Budget { evaluations: 0 }, ..Settings::default() };
    assert!(matches!(
        refused(&[0.0], settings),
        Error::Setting(SettingError::Setting { setting: "evaluations", .. })
    ));
}

/// Four features of several kinds; linear problems and networks, with and without a causal model.
fn random_problem(random: &mut ChaCha8Rng) -> Problem {
    let upper = one(random, &[3.0, 3.0, f64::INFINITY]);
    let features = Features::new(vec![
        Feature::new("a").change(one(random, &[Change::Any, Change::Increase])).limits(-2.0, 2.0).weight(1.5),
        Feature::new("b")
            .change(Change::Any)
            .limits(-3.0, upper)
            .kind(one(random, &[Kind::Integer, Kind::Real, Kind::Real]))
            .scaling(0.0, 0.5),
        Feature::new("c"),
        Feature::new("d").change(Change::Decrease).limits(-1.5, 1.5),
    ])
    .unwrap();
    let epsilons = [0.1];
    if random.random_bool(0.25) {
        let classifier = Classifier::linear(uniform(random, 4, -1.0..1.0), -1.0, 0.5).unwrap();
        let mut problem = Problem::new(features.clone(), classifier).unwrap();
        if random.random_bool(0.5) {
            problem = problem.with_causal_model(linear_causal_model(random, &features)).unwrap();
        }
        return with_settings(random, problem, &epsilons);
    }
    let (hidden, scales) = (&[&[8, 6][..]], &[1.2]);
    Family { features: &features, hidden, scales, epsilons: &epsilons, formulas: &FORMULAS }.draw(random)
}

/// What a curve says at one size contradicts neither what it says at another, nor what `recourse` and
/// `certify` say there.
#[test]
fn answers_agree_with_each_other_and_with_recourse_and_certify() {
    let random = &mut ChaCha8Rng::seed_from_u64(31);
    let (mut found, mut impossible, mut undecided) = (0, 0, 0);
    for round in 0..60 {
        let problem = random_problem(random);
        let x: Vec<f64> =
            [0.0, 0.5, 0.0, 0.0].map(|v: f64| v + f64::from(random.random_range(-2..3)) / 2.0).into();
        if problem.classifier().score(&x) >= 0.0 {
            continue;
        }
        // Not in order, and so few evaluations that some are left undecided.
        let epsilons = [0.2, 0.0, 0.05, 0.8, 0.1, 0.4];
        let settings = Settings { budget: Budget { evaluations: 3000 }, ..Settings::default() };
        let curve = trade_off(&problem, &x, Some(&epsilons), settings, |_| {}).unwrap();
        // The total is bounded as stated, up to the last step of each search.
        assert!(curve.evaluations <= 6 * 3000 + 5000, "{round}: {}", curve.evaluations);
        let mut rows: Vec<(f64, &Outcome)> = epsilons.into_iter().zip(&curve.answers).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        check_order(&rows, curve.reach);
        for (epsilon, outcome) in rows {
            let problem = with_epsilon(&problem, epsilon);
            let other = Solver::new(&problem, Settings::default()).unwrap().solve(&x).unwrap();
            match (outcome, &other) {
                (Outcome::Found(ours), Outcome::Found(theirs)) => {
                    assert!(ours.cost >= theirs.cost_bound * (1.0 - 1e-9), "{round} {epsilon}");
                    assert!(theirs.cost >= ours.cost_bound * (1.0 - 1e-9), "{round} {epsilon}");
                }
                (Outcome::Found(_), Outcome::Impossible(_)) | (Outcome::Impossible(_), Outcome::Found(_)) => {
                    panic!("{round} {epsilon}: {outcome:?} {other:?}")
                }
                (Outcome::Undecided(ours), Outcome::Found(theirs)) => {
                    assert!(theirs.cost >= ours.cost_bound * (1.0 - 1e-9), "{round} {epsilon}");
                }
                _ => {}
            }
            if let Outcome::Found(ours) = outcome {
                let verdict = certify(&problem, &x, &ours.action, Budget::default()).unwrap().verdict;
                assert!(matches!(verdict, Verdict::Holds { .. }), "{round} {epsilon}: {verdict:?}");
            }
            match outcome {
                Outcome::Found(_) => found += 1,
                Outcome::Impossible(_) => impossible += 1,
                Outcome::Undecided(_) => undecided += 1,
                Outcome::AlreadyFavourable => {}
                Outcome::Unproved(candidate) => panic!("{round}: {candidate:?}"),
            }
        }
    }
    assert!(found > 60 && impossible > 40 && undecided > 0, "{found} {impossible} {undecided}");
}

/// Costs and bounds rise; what is possible comes before what is undecided, and that before what is
/// impossible; the reach agrees.
fn check_order(rows: &[(f64, &Outcome)], reach: Reach) {
    let rank = |outcome: &Outcome| match outcome {
        Outcome::AlreadyFavourable | Outcome::Found(_) => 0,
        Outcome::Undecided(_) | Outcome::Unproved(_) => 1,
        Outcome::Impossible(_) => 2,
    };
    let bound = |outcome: &Outcome| match outcome {
        Outcome::Found(found) => found.cost_bound,
        Outcome::Undecided(undecided) => undecided.cost_bound,
        _ => f64::INFINITY,
    };
    for pair in rows.windows(2) {
        let (before, after) = (pair[0].1, pair[1].1);
        assert!(rank(before) <= rank(after), "{pair:?}");
        assert!(bound(before) <= bound(after), "{pair:?}");
        if let (Outcome::Found(before), Outcome::Found(after)) = (before, after) {
            assert!(before.cost <= after.cost, "{pair:?}");
        }
    }
    for &(epsilon, outcome) in rows {
        match outcome {
            Outcome::Found(found) => {
                assert!(found.cost_bound <= found.cost && reach.possible.unwrap() >= epsilon);
            }
            Outcome::Impossible(_) => assert!(reach.impossible.unwrap() <= epsilon),
            _ => {}
        }
    }
    if let (Some(possible), Some(impossible)) = (reach.possible, reach.impossible) {
        assert!(possible < impossible);
    }
}

/// A network with a favourable region so small that no small budget finds it: nothing is claimed, and
/// the work is bounded.
#[test]
fn what_could_not_be_decided_is_not_called_impossible() {
    let features = (0..6).map(|i| Feature::new(format!("x{i}")).change(Change::Any).limits(-3.0, 3.0));
    let features = Features::new(features.collect()).unwrap();
    // 0.01 less the sum of the distances from 1.
    let mut hidden = Layer { weight: Array2::zeros((12, 6)), bias: Array1::zeros(12) };
    for i in 0..6 {
        (hidden.weight[[2 * i, i]], hidden.bias[2 * i]) = (1.0, -1.0);
        (hidden.weight[[2 * i + 1, i]], hidden.bias[2 * i + 1]) = (-1.0, 1.0);
    }
    let output = Layer { weight: Array2::from_elem((1, 12), -1.0), bias: array![0.01] };
    let network = Network::new(vec![hidden, output], Activation::Relu).unwrap();
    let problem = Problem::new(features, Classifier::network(network, 0.5).unwrap()).unwrap();
    assert!(problem.classifier().score(&[1.0; 6]) > 0.0);
    let settings = Settings { budget: Budget { evaluations: 200 }, ..Settings::default() };
    let curve = trade_off(&problem, &[-2.0; 6], None, settings, |_| {}).unwrap();
    assert_eq!((&curve.epsilons[..], curve.reach.possible), (&[0.0][..], None));
    assert!(matches!(curve.answers[..], [Outcome::Undecided(_)]), "{:?}", curve.answers);
    assert_ne!(curve.reach.impossible, Some(0.0));
    assert!(curve.evaluations <= 6 * 200 + 5000, "{}", curve.evaluations);
}
