//! Classifiers whose weights lie in an ellipsoid: scores against closed forms and sampled weights, bounds and gradients
//! against the definition, recourse against closed forms.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::array;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::bound::{in_action, in_perturbation};
use surefoot::classifier::Reach;
use surefoot::error::{CovarianceProblem, ModelError};
use surefoot::margin::margin;
use surefoot::recourse::{Settings, Solver};
use surefoot::{
    Action, Activation, Change, Classifier, Committee, Complete, Cost, Error, Feature, Features, Layer,
    Network, Norm, Outcome, Problem, WeightEllipsoid, WeightUncertainty,
};
use surefoot_random::{covariance, network, one, uniform};

const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Sigmoid];

/// `sqrt(z^T S z)`.
fn error(covariance: &[Vec<f64>], z: &[f64]) -> f64 {
    let row = |row: &Vec<f64>| row.iter().zip(z).map(|(c, z)| c * z).sum::<f64>();
    covariance.iter().zip(z).map(|(r, z)| row(r) * z).sum::<f64>().sqrt()
}

/// A factor of a covariance by another way than that of the engine: its symmetric square root.
fn root(covariance: &[Vec<f64>]) -> nalgebra::DMatrix<f64> {
    let n = covariance.len();
    let eigen = nalgebra::DMatrix::from_fn(n, n, |i, j| covariance[i][j]).symmetric_eigen();
    let lengths = nalgebra::DMatrix::from_diagonal(&eigen.eigenvalues.map(|v| v.max(0.0).sqrt()));
    &eigen.eigenvectors * lengths * eigen.eigenvectors.transpose()
}

/// The inputs of the last layer, and a one.
fn last_inputs(layers: &[Layer], activation: Activation, x: &[f64]) -> Vec<f64> {
    let mut values = x.to_vec();
    for layer in &layers[..layers.len() - 1] {
        let z = |m: usize| {
            layer.bias[m] + layer.weight.row(m).iter().zip(&values).map(|(w, h)| w * h).sum::<f64>()
        };
        let activated = |z: f64| match activation {
            Activation::Relu => z.max(0.0),
            Activation::Tanh => z.tanh(),
            Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
        };
        values = (0..layer.bias.len()).map(|m| activated(z(m))).collect();
    }
    values.push(1.0);
    values
}

fn last_weights(layers: &[Layer]) -> Vec<f64> {
    let last = &layers[layers.len() - 1];
    last.weight.iter().chain(&last.bias).copied().collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn features(count: usize) -> Features {
    let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-3.0, 3.0);
    Features::new((0..count).map(feature).collect()).unwrap()
}

#[test]
fn a_linear_score_by_hand() {
    let linear = Classifier::linear(vec![2.0, -1.0], 0.25, 0.5).unwrap();
    let covariance = [vec![0.04, 0.01, 0.0], vec![0.01, 0.09, -0.02], vec![0.0, -0.02, 0.01]];
    let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(2.0)).unwrap();
    let classifier = linear.clone().with_weight_ellipsoid(ellipsoid.clone()).unwrap();
    // z = (1, -3, 1): z S z = 0.04 + 0.81 + 0.01 + 2 (-0.03 + 0.06) = 0.92.
    let score = classifier.score(&[1.0, -3.0]);
    assert!((score - (5.25 - 2.0 * 0.92f64.sqrt())).abs() < 1e-12, "{score}");
    assert!((ellipsoid.standard_error(&[1.0, -3.0, 1.0]) - 0.92f64.sqrt()).abs() < 1e-15);
    assert_eq!(classifier.trained(), linear);
    assert_eq!(classifier.weight_ellipsoid(), Some(&ellipsoid));
    assert!(classifier.weight_uncertainty().is_none() && classifier.is_exact());
    assert!(classifier.coefficients().is_err());
    // The worst weights are at the edge of the ellipsoid: w0 - r S z / sqrt(z S z).
    let worst = classifier.worst_weights(&[1.0, -3.0]).unwrap();
    let (weights, intercept) = worst.coefficients().unwrap();
    let by_hand = |row: [f64; 3], w: f64| w - 2.0 * dot(&row, &[1.0, -3.0, 1.0]) / 0.92f64.sqrt();
    assert!((weights[0] - by_hand([0.04, 0.01, 0.0], 2.0)).abs() < 1e-14);
    assert!((weights[1] - by_hand([0.01, 0.09, -0.02], -1.0)).abs() < 1e-14);
    assert!((intercept - by_hand([0.0, -0.02, 0.01], 0.25)).abs() < 1e-14);
    assert!((worst.score(&[1.0, -3.0]) - score).abs() < 1e-12);
}

/// Weights drawn from the ellipsoid score no less, those at its edge in the worst direction as little.
#[test]
fn sampled_weights_never_score_less() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for round in 0..60 {
        let activation = ACTIVATIONS[round % 3];
        let widths: &[usize] = one(random, &[&[3, 1][..], &[3, 4, 1], &[3, 5, 4, 1]]);
        let network = network(random, widths, activation, 0.8);
        let layers = network.layers().to_vec();
        let w = last_weights(&layers);
        let covariance = covariance(random, w.len(), 0.1);
        let radius = random.random_range(0.1..3.0);
        let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(radius)).unwrap();
        let classifier = Classifier::network(network, 0.5).unwrap().with_weight_ellipsoid(ellipsoid).unwrap();
        let x = uniform(random, 3, -2.0..2.0);
        let z = last_inputs(&layers, activation, &x);
        let score = classifier.score(&x);
        let closed = dot(&w, &z) - radius * error(&covariance, &z);
        assert!((score - closed).abs() < 1e-11, "{score} {closed}");
        assert!((classifier.worst_weights(&x).unwrap().score(&x) - score).abs() < 1e-11);
        let root = root(&covariance);
        let mut least = f64::INFINITY;
        for _ in 0..2_000 {
            let mut direction = nalgebra::DVector::from_vec(uniform(random, w.len(), -1.0..1.0));
            let length = direction.norm();
            direction *= radius / length;
            let moved = &root * direction;
            let sampled = dot(&w, &z) + dot(moved.as_slice(), &z);
            least = least.min(sampled);
            assert!(score <= sampled + 1e-11, "{score} > {sampled}");
        }
        if w.len() <= 4 {
            assert!(least - score < 0.1 * (dot(&w, &z) - score), "sampling comes near: {least} {score}");
        }
    }
}

/// Bounds of the composed score enclose the score by its definition, over boxes and at points, for actions and for
/// perturbations.
#[test]
fn bounds_enclose_the_score() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    for round in 0..90 {
        let activation = ACTIVATIONS[round % 3];
        let widths: &[usize] = one(random, &[&[3, 1][..], &[3, 6, 1], &[3, 5, 4, 1]]);
        let network = network(random, widths, activation, 0.8);
        let covariance = covariance(random, last_weights(network.layers()).len(), 0.2);
        let ellipsoid =
            WeightEllipsoid::new(&covariance, Reach::Radius(random.random_range(0.1..3.0))).unwrap();
        let classifier = Classifier::network(network, 0.5).unwrap().with_weight_ellipsoid(ellipsoid).unwrap();
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
                let plane = planes.constant + dot(&planes.linear, &t);
                assert!((value - plane).abs() <= planes.error, "{activation:?} {planes:?}");
                assert!(planes.lower <= value && value <= planes.upper);
            }
            if lower == upper {
                assert!(planes.error < 1e-9, "exact at a point: {planes:?}");
            }
        }
        // The lower bound over a ball is a proof: no perturbation has a lower margin.
        let problem = problem.with_uncertainty(Norm::L2, 0.3).unwrap();
        let action = Action { features: vec![0, 1, 2], change: vec![0.1, -0.2, 0.3] };
        let bound = in_perturbation(&problem, &x, &action, None).unwrap();
        for _ in 0..200 {
            let mut d = uniform(random, 3, -0.3..0.3);
            problem.uncertainty().shrink(&mut d);
            let value = margin(&problem, &x, &action, &d).unwrap();
            assert!(bound.lower <= value && value <= bound.upper);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    for activation in ACTIVATIONS {
        for widths in [&[3, 1][..], &[3, 6, 1], &[3, 5, 4, 1]] {
            let network = network(random, widths, activation, 0.8);
            let covariance = covariance(random, last_weights(network.layers()).len(), 0.3);
            let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(1.5)).unwrap();
            let classifier =
                Classifier::network(network, 0.5).unwrap().with_weight_ellipsoid(ellipsoid).unwrap();
            let x = uniform(random, 3, -2.0..2.0);
            let gradient = classifier.gradient(&x);
            for j in 0..3 {
                let at = |step: f64| {
                    let mut y = x.clone();
                    y[j] += step;
                    classifier.score(&y)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - gradient[j]).abs() < 1e-6, "{activation:?} {widths:?}");
            }
        }
    }
}

/// One feature `a`: the least change is where `w (a + t) + b = r sqrt(s (a + t)^2 + 2 c (a + t) + v)`, a quadratic
/// equation.
#[test]
fn the_least_change_of_one_feature_by_hand() {
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    for _ in 0..40 {
        let (w, b, a) =
            (random.random_range(0.5..2.0), random.random_range(-2.0..-0.5), random.random_range(-1.0..0.0));
        let covariance = covariance(random, 2, 0.05);
        let (s, c, v) = (covariance[0][0], covariance[0][1], covariance[1][1]);
        let r = random.random_range(0.5..1.5);
        let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(r)).unwrap();
        let classifier =
            Classifier::linear(vec![w], b, 0.5).unwrap().with_weight_ellipsoid(ellipsoid).unwrap();
        let features =
            Features::new(vec![Feature::new("a").change(Change::Any).limits(-50.0, 50.0)]).unwrap();
        let problem = Problem::new(features, classifier).unwrap();
        // (w^2 - r^2 s) x^2 + 2 (w b - r^2 c) x + b^2 - r^2 v = 0, at the root with w x + b > 0.
        let (p, q, o) = (w * w - r * r * s, w * b - r * r * c, b * b - r * r * v);
        if p <= 0.01 {
            continue;
        }
        let x = (-q + (q * q - p * o).sqrt()) / p;
        assert!(w * x + b > 0.0 && x < 50.0);
        let least = x - a;
        let found = Complete::new(&problem).unwrap().prove(&[a]).unwrap().outcome;
        let Outcome::Found(found) = found else { panic!("{found:?}") };
        assert!(found.cost >= least - 1e-9 && found.cost <= least * 1.01, "{} {least}", found.cost);
        assert!(found.cost_bound <= least + 1e-9 && found.cost_bound >= 0.99 * least, "{found:?} {least}");
    }
}

/// Two features and both costs, against a fine grid of directions.
#[test]
fn the_cheapest_action_on_two_features_by_brute_force() {
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    for round in 0..12 {
        let w = uniform(random, 2, 0.5..2.0);
        let covariance = covariance(random, 3, 0.05);
        let r = random.random_range(0.5..1.5);
        let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(r)).unwrap();
        let linear = Classifier::linear(w.clone(), -1.0, 0.5).unwrap();
        let classifier = linear.with_weight_ellipsoid(ellipsoid).unwrap();
        let cost = [Cost::L1, Cost::L2][round % 2];
        let problem = Problem::new(features(2), classifier).unwrap().with_cost(cost);
        let x = uniform(random, 2, -1.0..0.0);
        let score = |t: [f64; 2]| {
            let z = [x[0] + t[0], x[1] + t[1], 1.0];
            w[0] * z[0] + w[1] * z[1] - 1.0 - r * error(&covariance, &z)
        };
        // Along each direction, the least distance at which the score, a concave function, is not negative.
        let mut least = f64::INFINITY;
        for step in 0..20_000 {
            let angle = f64::from(step) * std::f64::consts::TAU / 20_000.0;
            let (sin, cos) = angle.sin_cos();
            let price = if cost == Cost::L1 { sin.abs() + cos.abs() } else { 1.0 };
            let (mut low, mut high) = (0.0, 3.0 - x[0].max(x[1]));
            let at = |length: f64| score([length * cos / price, length * sin / price]);
            let top = (0..60).map(|k| high * f64::from(k) / 59.0).find(|&length| at(length) >= 0.0);
            let Some(top) = top.filter(|&top| top < least * 1.1) else { continue };
            high = top;
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                if at(middle) >= 0.0 { high = middle } else { low = middle }
            }
            least = least.min(high);
        }
        let outcome = Complete::new(&problem).unwrap().prove(&x).unwrap().outcome;
        match outcome {
            Outcome::Found(found) => {
                assert!(found.cost <= least * 1.01 && found.cost_bound <= least + 1e-6, "{found:?} {least}");
                assert!(
                    found.cost >= least * 0.9999 && found.cost_bound >= 0.98 * least,
                    "{found:?} {least}"
                );
            }
            other => panic!("{other:?} {least}"),
        }
    }
}

/// The set of all models whose loss is at most a share above the least: for a quadratic loss exactly, whatever the
/// covariance is scaled by.
#[test]
fn a_share_of_the_loss_is_an_ellipsoid() {
    // The loss 3 + (w - 1)^2 + 2 (b - 0.5)^2 has the Hessian diag(2, 4) and is at most 1% above 3 for
    // (w - 1)^2 + 2 (b - 0.5)^2 <= 0.03.
    let covariance = [vec![0.5, 0.0], vec![0.0, 0.25]];
    let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Loss { share: 0.01, least: 3.0 }).unwrap();
    let linear = Classifier::linear(vec![1.0], 0.5, 0.5).unwrap();
    let classifier = linear.with_weight_ellipsoid(ellipsoid).unwrap();
    for x in [-2.0, 0.0, 0.7] {
        let worst = classifier.worst_weights(&[x]).unwrap();
        let (weights, intercept) = worst.coefficients().unwrap();
        let loss = 3.0 + (weights[0] - 1.0).powi(2) + 2.0 * (intercept - 0.5).powi(2);
        assert!((loss - 3.03).abs() < 1e-12, "{loss}");
        assert!((worst.score(&[x]) - classifier.score(&[x])).abs() < 1e-12);
    }
}

#[test]
fn what_is_no_covariance_of_the_weights_is_refused() {
    let refused = |covariance: &[Vec<f64>]| match WeightEllipsoid::new(covariance, Reach::Radius(1.0)) {
        Err(Error::Model(ModelError::WeightCovariance { problem })) => problem,
        other => panic!("{other:?}"),
    };
    let problem = refused(&[vec![1.0, 2.0], vec![2.0, 1.0]]);
    assert_eq!(problem, CovarianceProblem::NotPositive { row: 2 });
    assert_eq!(refused(&[vec![1.0, 1.0], vec![1.0, 1.0]]), CovarianceProblem::NotPositive { row: 2 });
    assert_eq!(refused(&[vec![0.0]]), CovarianceProblem::NotPositive { row: 1 });
    let problem = refused(&[vec![1.0, 0.5], vec![0.4, 1.0]]);
    assert_eq!(problem, CovarianceProblem::NotSymmetric { row: 2, column: 1 });
    assert_eq!(
        refused(&[vec![1.0, 0.5], vec![0.4]]),
        CovarianceProblem::RowLength { row: 2, rows: 2, found: 1 }
    );
    for bad in [f64::NAN, f64::INFINITY, 1e101, 1e-200] {
        let problem = refused(&[vec![1.0, bad], vec![bad, 1.0]]);
        assert!(matches!(problem, CovarianceProblem::Number { row: 1, column: 2, .. }), "{bad}");
    }
    let one = || WeightEllipsoid::new(&[vec![1.0, 0.0], vec![0.0, 1.0]], Reach::Radius(1.0)).unwrap();
    let wide = Classifier::linear(vec![1.0, 2.0], 0.0, 0.5).unwrap().with_weight_ellipsoid(one());
    let problem = CovarianceProblem::Weights { weights: 3, rows: 2 };
    assert_eq!(wide.unwrap_err(), Error::Model(ModelError::WeightCovariance { problem }));
    let linear = || Classifier::linear(vec![1.0], 0.0, 0.5).unwrap();
    let once = linear().with_weight_ellipsoid(one()).unwrap();
    let twice = once.clone().with_uncertain_weights(WeightUncertainty::Within(0.1));
    assert!(matches!(twice, Err(Error::Model(ModelError::WeightsUncertainTwice))));
    let twice = once.with_weight_ellipsoid(one());
    assert!(matches!(twice, Err(Error::Model(ModelError::WeightsUncertainTwice))));
    let members = vec![("a".into(), linear()), ("b".into(), linear())];
    let committee = Committee::new(members, 2).unwrap();
    let problem = Problem::new(features(1), linear()).unwrap().with_committee(committee).unwrap();
    let refused = problem.with_weight_ellipsoid(one());
    assert!(matches!(refused, Err(Error::Model(ModelError::WeightsOfCommittee))));
}

/// Every method answers for all weights or refuses by name.
#[test]
fn methods_answer_for_all_weights_or_refuse() {
    let layers = vec![Layer { weight: array![[1.0, 0.5]], bias: array![-0.5] }];
    let classifier = Classifier::network(Network::new(layers, Activation::Relu).unwrap(), 0.5).unwrap();
    let covariance = [vec![0.01, 0.0, 0.0], vec![0.0, 0.01, 0.0], vec![0.0, 0.0, 0.01]];
    let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(1.0)).unwrap();
    let problem = Problem::new(features(2), classifier).unwrap().with_weight_ellipsoid(ellipsoid).unwrap();
    let x = [-1.0, 0.2];
    let solver = |method: &str| {
        Solver::new(&problem, Settings { method: method.parse().unwrap(), ..Settings::default() })
    };
    // With b = 0.2: a - 0.4 = 0.1 sqrt(a^2 + 1.04), that is 0.99 a^2 - 0.8 a + 0.1496 = 0.
    let least = 1.0 + (0.8 + (0.64f64 - 4.0 * 0.99 * 0.1496).sqrt()) / 1.98;
    for method in ["auto", "complete"] {
        let outcome = solver(method).unwrap().solve(&x).unwrap();
        let found = outcome.recourse().unwrap();
        assert!(found.cost >= least - 1e-9 && found.cost <= least * 1.01, "{method}: {} {least}", found.cost);
        assert!(found.cost_bound <= least + 1e-9 && found.cost_bound >= 0.98 * least);
    }
    for method in ["local", "descent"] {
        let Outcome::Unproved(found) = solver(method).unwrap().solve(&x).unwrap() else {
            panic!("{method} finds an action")
        };
        let value = margin(&problem, &x, &found.action, &[0.0; 2]).unwrap();
        assert!(value >= 0.0 && found.cost >= least - 1e-9, "{method}: {value}");
    }
    for method in ["exact", "trees"] {
        assert!(matches!(solver(method), Err(Error::Model(_))), "{method}");
    }
}
