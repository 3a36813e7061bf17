//! Recourse where weights lie in an ellipsoid: what is said to hold is attacked with perturbations and weights together,
//! what is ruled out breaks, and proofs are checked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::classifier::Reach;
use surefoot::margin::{counterfactual, margin};
use surefoot::verify::{Verification, verify};
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Complete, Cost, Equation, Feature, Features, Layer, Norm,
    Outcome, Problem, SavedProof, Scm, Verdict, WeightEllipsoid, certify,
};
use surefoot_random::{ACTIVATIONS, covariance, network, one, uniform};

/// A problem with what is needed to draw weights for it.
struct Drawn {
    problem: Problem,
    layers: Vec<Layer>,
    activation: Activation,
    radius: f64,
    /// The symmetric square root of the covariance.
    root: DMatrix<f64>,
}

fn drawn(random: &mut ChaCha8Rng, widths: &[usize]) -> Drawn {
    let feature = |name: &str, change| Feature::new(name).change(change).limits(-3.0, 3.0);
    let features = Features::new(vec![
        feature("a", Change::Any),
        feature("b", Change::Increase).weight(0.5),
        feature("c", Change::Any),
    ])
    .unwrap();
    let activation = one(random, &ACTIVATIONS);
    let network = network(random, widths, activation, 0.9);
    let layers = network.layers().to_vec();
    let width = widths[widths.len() - 2] + 1;
    let scale = one(random, &[0.01, 0.05]);
    let matrix = covariance(random, width, scale);
    let radius = one(random, &[0.5, 1.0, 2.0]);
    let ellipsoid = WeightEllipsoid::new(&matrix, Reach::Radius(radius)).unwrap();
    let classifier = Classifier::network(network, one(random, &[0.5, 0.6])).unwrap();
    let mut problem = Problem::new(features.clone(), classifier.with_weight_ellipsoid(ellipsoid).unwrap())
        .unwrap()
        .with_uncertainty(one(random, &[Norm::L2, Norm::L1, Norm::LINF]), one(random, &[0.0, 0.1]))
        .unwrap()
        .with_cost(one(random, &[Cost::L1, Cost::L2]));
    if random.random_bool(0.4) {
        let equation = Equation::formula(one(random, &["0.7 * b + u", "tanh(b) + u"]));
        problem = problem.with_causal_model(Scm::new(&features, vec![("c", equation)]).unwrap()).unwrap();
    }
    let eigen = DMatrix::from_fn(width, width, |i, j| matrix[i][j]).symmetric_eigen();
    let lengths = DMatrix::from_diagonal(&eigen.eigenvalues.map(|v| v.max(0.0).sqrt()));
    let root = &eigen.eigenvectors * lengths * eigen.eigenvectors.transpose();
    Drawn { problem, layers, activation, radius, root }
}

impl Drawn {
    /// The inputs of the last layer and a one.
    fn last_inputs(&self, x: &[f64]) -> Vec<f64> {
        let mut values = x.to_vec();
        for layer in &self.layers[..self.layers.len() - 1] {
            let z = layer.weight.dot(&ndarray::ArrayView1::from(&values)) + &layer.bias;
            let activated = |&z: &f64| match self.activation {
                Activation::Relu => z.max(0.0),
                Activation::Tanh => z.tanh(),
                Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
            };
            values = z.iter().map(activated).collect();
        }
        values.push(1.0);
        values
    }

    /// The score of somebody with the trained weights of the last layer plus a step.
    fn score(&self, x: &[f64], step: &[f64]) -> f64 {
        let last = &self.layers[self.layers.len() - 1];
        let weights = last.weight.iter().chain(&last.bias).zip(step).map(|(w, s)| w + s);
        let threshold = self.problem.classifier().threshold();
        let logit: f64 = weights.zip(self.last_inputs(x)).map(|(w, z)| w * z).sum();
        logit - (threshold / (1.0 - threshold)).ln()
    }

    /// A step of the ellipsoid, often at its edge.
    fn step(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut direction = DVector::from_vec(uniform(random, self.root.nrows(), -1.0..1.0));
        let share = if random.random_bool(0.7) { 1.0 } else { random.random::<f64>() };
        direction *= share * self.radius / direction.norm();
        (&self.root * direction).as_slice().to_vec()
    }
}

/// A perturbation of the ball, often on its boundary.
fn perturbation(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let mut d = uniform(random, 3, -1.0..1.0);
    let (size, radius) = (problem.uncertainty().size(&d), problem.epsilon());
    let share = if random.random_bool(0.7) { 1.0 } else { random.random::<f64>() };
    d.iter_mut().for_each(|d| *d *= share * radius / size);
    problem.uncertainty().shrink(&mut d);
    d
}

/// Projected gradient steps over perturbations, by finite differences, each with the worst weights at its point.
fn attacked(random: &mut ChaCha8Rng, drawn: &Drawn, x: &[f64], action: &Action, restarts: usize) -> f64 {
    let problem = &drawn.problem;
    let worst = |d: &[f64]| {
        let reached = counterfactual(problem, x, action, d).unwrap();
        let z = DVector::from_vec(drawn.last_inputs(&reached));
        let stretched = &drawn.root * z;
        let step = &drawn.root * (&stretched * (-drawn.radius / stretched.norm()));
        drawn.score(&reached, step.as_slice())
    };
    let mut least = f64::INFINITY;
    for _ in 0..restarts {
        let mut d = perturbation(random, problem);
        for step in 0..8 {
            least = least.min(worst(&d));
            let slope = |j: usize| {
                let mut moved = d.clone();
                moved[j] += 1e-6;
                worst(&moved) - worst(&d)
            };
            let slopes: Vec<f64> = (0..3).map(slope).collect();
            let length = slopes.iter().map(|s| s * s).sum::<f64>().sqrt().max(1e-300);
            let step = problem.epsilon() * 0.7f64.powi(step);
            d.iter_mut().zip(&slopes).for_each(|(d, s)| *d -= step * s / length);
            problem.uncertainty().shrink(&mut d);
        }
    }
    least
}

/// A million samples of weights and perturbations together, and attacks with 200 restarts, break no action that is
/// proven to hold; every proof is verified; what is ruled out breaks.
#[test]
fn answers_withstand_weights_and_perturbations_together() {
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let (mut found, mut impossible, mut other, mut unverified, mut cheaper) = (0, 0, 0, 0, 0);
    let mut samples = 0;
    for round in 0..120 {
        let widths: &[usize] = match round % 3 {
            0 => &[3, 6, 1],
            1 => &[3, 1],
            _ => &[3, 5, 4, 1],
        };
        let drawn = drawn(random, widths);
        let problem = &drawn.problem;
        let x = uniform(random, 3, -1.5..1.5);
        let complete = Complete::new(problem).unwrap().with_budget(Budget { evaluations: 3000 }).unwrap();
        let proof = complete.prove(&x).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(problem, &x)).unwrap();
        match verify(problem, &saved).unwrap() {
            Verification::Verified(_) => {}
            Verification::Unverified(fault) => {
                unverified += 1;
                println!("{round}: {fault}");
            }
            verification => panic!("{round}: {verification:?}"),
        }
        match &proof.outcome {
            Outcome::Found(answer) => {
                found += 1;
                for _ in 0..25_000 {
                    let d = perturbation(random, problem);
                    let reached = counterfactual(problem, &x, &answer.action, &d).unwrap();
                    let sampled = drawn.score(&reached, &drawn.step(random));
                    assert!(sampled >= answer.margin - 1e-9, "{round}: {sampled} < {}", answer.margin);
                    samples += 1;
                }
                let least = attacked(random, &drawn, &x, &answer.action, 200);
                assert!(least >= answer.margin - 1e-9, "{round}: attack {least} < {}", answer.margin);
                let certificate = certify(problem, &x, &answer.action, Budget::default()).unwrap();
                assert!(matches!(certificate.verdict, Verdict::Holds { .. }), "{round}");
            }
            Outcome::Impossible(_) => impossible += 1,
            _ => other += 1,
        }
        // Without a perturbation, a cheaper action has a negative score.
        let bound = proof.outcome.cost_bound();
        if problem.epsilon() == 0.0 && bound > 0.0 {
            for _ in 0..2_000 {
                let sides = problem.features().actionable();
                let change = sides.iter().map(|&i| {
                    let feature = problem.features().feature(i);
                    let lower = if feature.change == Change::Increase { 0.0 } else { -3.0 - x[i] };
                    random.random_range(lower..3.0 - x[i])
                });
                let action = Action { features: sides.clone(), change: change.collect() };
                let cost = problem.cost().of(problem.features(), &action);
                let share = bound * random.random_range(0.5..1.0) / cost;
                let change = action.change.iter().map(|c| c * share.min(1.0)).collect();
                let action = Action { change, ..action };
                if problem.cost().of(problem.features(), &action) < bound * (1.0 - 1e-9) {
                    let value = margin(problem, &x, &action, &[0.0; 3]).unwrap();
                    assert!(value < 0.0, "{round}: an action cheaper than the bound survives by {value}");
                    cheaper += 1;
                }
            }
        }
    }
    println!(
        "{found} found, {impossible} impossible, {other} other, {unverified} unverified, {samples} samples"
    );
    assert!(samples >= 1_000_000 && found >= 30 && impossible >= 5 && cheaper >= 5_000);
    assert_eq!(unverified, 0);
}

#[test]
fn tampered_proofs_are_refused() {
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    let mut seen = 0;
    for round in 0..40 {
        let widths: &[usize] = if round % 2 == 0 { &[3, 6, 1] } else { &[3, 1] };
        let Drawn { problem, radius, .. } = drawn(random, widths);
        let x = uniform(random, 3, -1.5..1.5);
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 2000 }).unwrap();
        let proof = complete.prove(&x).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
        let Outcome::Found(found) = &saved.outcome else { continue };
        seen += 1;
        // A larger margin, a bound that nothing proves, and an action that is smaller than it has to be.
        let mut safer = saved.clone();
        safer.outcome = Outcome::Found(surefoot::Recourse { margin: found.margin + 0.05, ..found.clone() });
        let mut dearer = saved.clone();
        dearer.outcome = Outcome::Found(surefoot::Recourse { cost_bound: found.cost, ..found.clone() });
        dearer.ruled_out.clear();
        let mut less = found.clone();
        less.action.change.iter_mut().for_each(|c| *c *= 0.9);
        less.cost = problem.cost().of(problem.features(), &less.action);
        less.cost_bound = 0.0;
        less.counterfactual = counterfactual(&problem, &x, &less.action, &[0.0; 3]).unwrap();
        let is_broken = margin(&problem, &x, &less.action, &[0.0; 3]).unwrap() < 0.0;
        let mut smaller = saved.clone();
        smaller.outcome = Outcome::Found(less);
        for (what, tampered) in [("margin", safer), ("bound", dearer), ("action", smaller)] {
            let checked = verify(&problem, &tampered).unwrap();
            assert!(!checked.is_verified() || what == "action" && !is_broken, "{round}: {what}");
        }
        // The same proof does not go with other weights: certain ones, or those of a larger ellipsoid.
        let width = widths[widths.len() - 2] + 1;
        let wide: Vec<Vec<f64>> =
            (0..width).map(|i| (0..width).map(|j| f64::from(i == j)).collect()).collect();
        let wide = WeightEllipsoid::new(&wide, Reach::Radius(radius)).unwrap();
        let trained = problem.classifier().trained();
        for classifier in [trained.clone(), trained.with_weight_ellipsoid(wide).unwrap()] {
            let other = Problem::new(problem.features().clone(), classifier).unwrap();
            let other = other.with_uncertainty(problem.norm().clone(), problem.epsilon()).unwrap();
            assert!(!verify(&other.with_cost(problem.cost()), &saved).unwrap().is_verified());
        }
    }
    assert!(seen >= 10, "{seen}");
}
