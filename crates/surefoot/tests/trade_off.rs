//! The cost of certainty, against what can be worked out by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::array;
use surefoot::recourse::{Reach, reach, trade_off};
use surefoot::{Activation, Change, Classifier, Feature, Features, Layer, Network, Norm, Outcome, Problem};

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
    let answers = trade_off(&problem, &[-1.0, 0.0], &epsilons).unwrap();
    for (epsilon, outcome) in epsilons.into_iter().zip(&answers) {
        let needed = 1.5 + epsilon * 2f64.sqrt();
        match outcome {
            Outcome::Found(found) => assert!(needed <= 3.0 && (found.cost - needed).abs() < 1e-8),
            Outcome::Impossible(_) => assert!(needed > 3.0),
            other => panic!("{other:?}"),
        }
    }
    // At 2, the most that may be had, 1.5 is left over.
    let Reach { possible, impossible } = reach(&problem, &[-1.0, 0.0], 1e-4).unwrap();
    let exact = 1.5 / 2f64.sqrt();
    assert!(possible.unwrap() <= exact && impossible.unwrap() >= exact);
    assert!(impossible.unwrap() - possible.unwrap() < 2e-4);
}

#[test]
fn a_network_costs_more_and_more() {
    let problem = network().with_uncertainty(Norm::L2, 0.3).unwrap();
    let epsilons = [0.0, 0.05, 0.1, 0.2, 0.4];
    let answers = trade_off(&problem, &[-1.0, 0.0], &epsilons).unwrap();
    let costs: Vec<f64> = answers.iter().map(|outcome| outcome.recourse().unwrap().cost).collect();
    assert!(costs.windows(2).all(|pair| pair[0] < pair[1]), "{costs:?}");
    // Without uncertainty: 2 tanh(income) = 0.5.
    assert!((costs[0] - (1.0 + 0.25f64.atanh())).abs() < 0.02 * costs[0]);
    let Reach { possible, impossible } = reach(&problem, &[-1.0, 0.0], 0.02).unwrap();
    let (possible, impossible) = (possible.unwrap(), impossible.unwrap());
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
    let answer = reach(&linear(), &[-1.0, -9.0], 0.01).unwrap();
    assert_eq!(answer, Reach { possible: None, impossible: Some(0.0) });
    assert!(reach(&linear(), &[-1.0, 0.0], 0.0).is_err());
    assert!(trade_off(&linear(), &[-1.0, 0.0], &[-0.1]).is_err());
}
