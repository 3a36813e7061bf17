//! Classifiers whose weights are uncertain: scores against hand-derived ones, the corners of the box and sampled
//! weights; actions against sampled weights and perturbations together; proofs against the checker.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::array;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::bound::in_action;
use surefoot::error::ModelError;
use surefoot::{
    Activation, Change, Classifier, Error, Feature, Features, Layer, Network, Problem, WeightUncertainty,
};
use surefoot_random::{network, one, uniform};

const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Sigmoid];

/// The score of a network, written out.
fn score(layers: &[Layer], activation: Activation, x: &[f64]) -> f64 {
    let mut values = x.to_vec();
    for (number, layer) in layers.iter().enumerate() {
        let z = |m: usize| {
            let row = layer.weight.row(m);
            layer.bias[m] + row.iter().zip(&values).map(|(w, h)| w * h).sum::<f64>()
        };
        values = (0..layer.bias.len()).map(z).collect();
        if number + 1 < layers.len() {
            for value in &mut values {
                *value = match activation {
                    Activation::Relu => value.max(0.0),
                    Activation::Tanh => value.tanh(),
                    Activation::Sigmoid => 1.0 / (1.0 + (-*value).exp()),
                };
            }
        }
    }
    values[0]
}

/// The weights with each number changed by a share, in [-1, 1], of its radius.
fn changed(layers: &[Layer], uncertainty: WeightUncertainty, mut share: impl FnMut() -> f64) -> Vec<Layer> {
    let mut layers = layers.to_vec();
    for layer in &mut layers {
        layer.weight.iter_mut().chain(&mut layer.bias).for_each(|w| *w += share() * uncertainty.radius(*w));
    }
    layers
}

fn numbers(layers: &[Layer]) -> u32 {
    layers.iter().map(|layer| (layer.weight.len() + layer.bias.len()) as u32).sum()
}

fn uncertain(layers: &[Layer], activation: Activation, uncertainty: WeightUncertainty) -> Classifier {
    let network = Network::new(layers.to_vec(), activation).unwrap();
    Classifier::network(network, 0.5).unwrap().with_uncertain_weights(uncertainty).unwrap()
}

fn features(count: usize) -> Features {
    let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-3.0, 3.0);
    Features::new((0..count).map(feature).collect()).unwrap()
}

#[test]
fn a_linear_score_by_hand() {
    let linear = || Classifier::linear(vec![2.0, -1.0, 0.5], 0.25, 0.5).unwrap();
    let x = [1.0, -3.0, 0.0];
    let within = linear().with_uncertain_weights(WeightUncertainty::Within(0.1)).unwrap();
    assert!((within.score(&x) - (5.25 - 0.1 * (1.0 + 3.0 + 0.0 + 1.0))).abs() < 1e-12);
    let share = linear().with_uncertain_weights(WeightUncertainty::Share(0.1)).unwrap();
    assert!((share.score(&x) - (5.25 - 0.1 * (2.0 + 3.0 + 0.25))).abs() < 1e-12);
    assert_eq!(share.trained().score(&x), 5.25);
    assert_eq!(share.weight_uncertainty(), Some(WeightUncertainty::Share(0.1)));
    assert!(within.coefficients().is_err() && within.trained().coefficients().is_ok());
}

#[test]
fn a_network_score_by_hand() {
    // Units at z = 1 and z = -2 with weights 3 and -1: with radius 0.1, z changes by 0.1 (|2| + 1) = 0.3.
    let layers = [
        Layer { weight: array![[0.5], [-1.0]], bias: array![0.0, 0.0] },
        Layer { weight: array![[3.0, -1.0]], bias: array![1.0] },
    ];
    let at = |activation| uncertain(&layers, activation, WeightUncertainty::Within(0.1)).score(&[2.0]);
    assert!((at(Activation::Relu) - (0.9 + 2.9 * 0.7)).abs() < 1e-12);
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    let by_hand = 0.9 + 2.9 * sigmoid(0.7) - 1.1 * sigmoid(-1.7);
    assert!((at(Activation::Sigmoid) - by_hand).abs() < 1e-12);
    // The second unit is tanh(-1.7) < 0, so its weight is -0.9 at worst.
    let by_hand = 0.9 + 2.9 * 0.7f64.tanh() - 0.9 * (-1.7f64).tanh();
    assert!((at(Activation::Tanh) - by_hand).abs() < 1e-12);
}

/// A logit is monotone in each weight, so that the worst case is at a corner of the box.
#[test]
fn the_least_score_is_that_of_a_corner() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for round in 0..60 {
        let activation = ACTIVATIONS[round % 3];
        let scale = one(random, &[0.05, 0.5, 2.0]);
        let network = network(random, &[2, 2, 1], activation, scale);
        let layers = network.layers();
        let radius = random.random_range(0.0..0.4);
        let uncertainty = match round % 2 {
            0 => WeightUncertainty::Within(radius),
            _ => WeightUncertainty::Share(radius),
        };
        let classifier = uncertain(layers, activation, uncertainty);
        assert!(classifier.is_exact());
        let x = uniform(random, 2, -2.0..2.0);
        let corner = |number: u64| {
            let mut bit = 0;
            let share = || {
                bit += 1;
                if number >> (bit - 1) & 1 == 1 { 1.0 } else { -1.0 }
            };
            score(&changed(layers, uncertainty, share), activation, &x)
        };
        let least = (0..1u64 << numbers(layers)).map(corner).fold(f64::INFINITY, f64::min);
        let found = classifier.score(&x);
        assert!((found - least).abs() < 1e-12, "{activation:?} {uncertainty:?}: {found}, corners {least}");
        let worst = classifier.worst_weights(&x).unwrap().score(&x);
        assert!((found - worst).abs() < 1e-12, "{activation:?} {uncertainty:?}: {found}, attained {worst}");
    }
}

/// The score of a deeper network is below that of every sampled member, and its attained score is of a member.
#[test]
fn sampled_weights_never_score_less() {
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    for round in 0..60 {
        let activation = ACTIVATIONS[round % 3];
        let widths: &[usize] = if round % 2 == 0 { &[3, 5, 4, 1] } else { &[3, 4, 1] };
        let network = network(random, widths, activation, 0.7);
        let layers = network.layers();
        let uncertainty = match round / 2 % 2 {
            0 => WeightUncertainty::Within(random.random_range(0.0..0.05)),
            _ => WeightUncertainty::Share(random.random_range(0.0..0.1)),
        };
        let classifier = uncertain(layers, activation, uncertainty);
        let x = uniform(random, 3, -2.0..2.0);
        let (low, attained) = (classifier.score(&x), classifier.attained_score(&x).unwrap());
        assert!(low <= attained + 1e-12);
        let member = classifier.worst_weights(&[0.3, -0.2, 1.0]).unwrap().score(&x);
        assert!(low <= member + 1e-12);
        let mut least = f64::INFINITY;
        for _ in 0..2_000 {
            let corner = random.random_bool(0.5);
            let share = || if corner { one(random, &[-1.0, 1.0]) } else { random.random_range(-1.0..1.0) };
            let sampled = score(&changed(layers, uncertainty, share), activation, &x);
            least = least.min(sampled);
            assert!(low <= sampled + 1e-12, "{activation:?} {uncertainty:?}: {low} > {sampled}");
        }
        assert!(
            attained <= least + 1e-12,
            "steps along gradients find more than sampling: {attained} {least}"
        );
    }
}

/// Bounds of the composed score enclose the score by its definition, over boxes and at points.
#[test]
fn bounds_enclose_the_score() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    for round in 0..120 {
        let activation = ACTIVATIONS[round % 3];
        let widths: &[usize] = one(random, &[&[3, 1][..], &[3, 6, 1], &[3, 5, 4, 1]]);
        let scale = one(random, &[0.02, 0.8]);
        let network = network(random, widths, activation, scale);
        let uncertainty = match round % 2 {
            0 => WeightUncertainty::Within(random.random_range(0.0..0.05)),
            _ => WeightUncertainty::Share(random.random_range(0.0..0.1)),
        };
        let classifier = uncertain(network.layers(), activation, uncertainty);
        let problem = Problem::new(features(3), classifier).unwrap();
        let x = uniform(random, 3, -2.0..2.0);
        let (lower, upper) = (uniform(random, 3, -1.0..0.0), uniform(random, 3, 0.0..1.0));
        for (lower, upper) in [(lower.clone(), upper), (lower.clone(), lower)] {
            let planes = in_action(&problem, &x, &[0, 1, 2], (&lower, &upper), &[0.0; 3]).unwrap();
            for _ in 0..200 {
                let t: Vec<f64> =
                    lower.iter().zip(&upper).map(|(&l, &u)| l + (u - l) * random.random::<f64>()).collect();
                let reached: Vec<f64> = x.iter().zip(&t).map(|(x, t)| x + t).collect();
                let value = problem.classifier().score(&reached);
                let plane = planes.constant + planes.linear.iter().zip(&t).map(|(a, t)| a * t).sum::<f64>();
                assert!((value - plane).abs() <= planes.error, "{activation:?} {uncertainty:?} {planes:?}");
                assert!(planes.lower <= value && value <= planes.upper);
            }
            if lower == upper {
                assert!(planes.error < 1e-9, "exact at a point: {planes:?}");
            }
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    for activation in ACTIVATIONS {
        for uncertainty in [WeightUncertainty::Within(0.03), WeightUncertainty::Share(0.1)] {
            let network = network(random, &[3, 6, 1], activation, 0.8);
            let classifier = uncertain(network.layers(), activation, uncertainty);
            let x = uniform(random, 3, -2.0..2.0);
            let gradient = classifier.gradient(&x);
            for j in 0..3 {
                let at = |step: f64| {
                    let mut y = x.clone();
                    y[j] += step;
                    classifier.score(&y)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - gradient[j]).abs() < 1e-6, "{activation:?} {uncertainty:?}");
            }
        }
    }
}

#[test]
fn what_has_no_weights_is_refused() {
    let linear = || Classifier::linear(vec![1.0], 0.0, 0.5).unwrap();
    for bad in [
        WeightUncertainty::Within(-1.0),
        WeightUncertainty::Within(f64::NAN),
        WeightUncertainty::Share(1.0),
        WeightUncertainty::Share(-0.1),
    ] {
        let refused = linear().with_uncertain_weights(bad);
        assert!(matches!(refused, Err(Error::Model(ModelError::WeightUncertainty { .. }))));
    }
    let once = linear().with_uncertain_weights(WeightUncertainty::Within(0.1)).unwrap();
    let twice = once.with_uncertain_weights(WeightUncertainty::Within(0.1));
    assert!(matches!(twice, Err(Error::Model(ModelError::WeightsUncertainTwice))));
}
