//! Recourse where the weights of the classifier are uncertain: what is said to hold is attacked with perturbations and
//! weights together, what is ruled out is broken by some weights, and proofs are checked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::classifier::Dense;
use surefoot::margin::{counterfactual, margin};
use surefoot::recourse::{Settings, Solver};
use surefoot::verify::{Fault, Verification, verify};
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Complete, Cost, Equation, Error, Feature, Features,
    Layer, Network, Norm, Outcome, Problem, SavedProof, Scm, Verdict, WeightUncertainty, certify,
};
use surefoot_random::{network, one, uniform};

const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Sigmoid];

/// Three features with a causal model or none, and a classifier of some depth with uncertain weights.
fn problem(random: &mut ChaCha8Rng, widths: &[usize]) -> (Problem, Dense, WeightUncertainty) {
    let feature = |name: &str, change| Feature::new(name).change(change).limits(-3.0, 3.0);
    let features = Features::new(vec![
        feature("a", Change::Any),
        feature("b", Change::Increase).weight(0.5),
        feature("c", Change::Any),
    ])
    .unwrap();
    let activation = one(random, &ACTIVATIONS);
    let network = network(random, widths, activation, 0.9);
    let uncertainty = match random.random_bool(0.5) {
        true => WeightUncertainty::Within(one(random, &[0.002, 0.01, 0.03])),
        false => WeightUncertainty::Share(one(random, &[0.005, 0.02, 0.1])),
    };
    let layers = network.layers().to_vec();
    let activation = (layers.len() > 1).then_some(activation);
    let classifier = Classifier::network(network, one(random, &[0.5, 0.6])).unwrap();
    let classifier = classifier.with_uncertain_weights(uncertainty).unwrap();
    let mut problem = Problem::new(features.clone(), classifier)
        .unwrap()
        .with_uncertainty(one(random, &[Norm::L2, Norm::L1, Norm::LINF]), one(random, &[0.0, 0.1]))
        .unwrap()
        .with_cost(one(random, &[Cost::L1, Cost::L2]));
    if random.random_bool(0.4) {
        let equation = Equation::formula(one(random, &["0.7 * b + u", "tanh(b) + u"]));
        problem = problem.with_causal_model(Scm::new(&features, vec![("c", equation)]).unwrap()).unwrap();
    }
    (problem, Dense { layers, activation }, uncertainty)
}

fn score(dense: &Dense, threshold: f64, x: &[f64]) -> f64 {
    let mut values = x.to_vec();
    for (number, layer) in dense.layers.iter().enumerate() {
        let z = |m: usize| {
            let row = layer.weight.row(m);
            layer.bias[m] + row.iter().zip(&values).map(|(w, h)| w * h).sum::<f64>()
        };
        values = (0..layer.bias.len()).map(z).collect();
        if number + 1 < dense.layers.len() {
            values.iter_mut().for_each(|z| *z = activated(dense.activation.unwrap(), *z));
        }
    }
    values[0] - (threshold / (1.0 - threshold)).ln()
}

fn activated(activation: Activation, z: f64) -> f64 {
    match activation {
        Activation::Relu => z.max(0.0),
        Activation::Tanh => z.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
    }
}

fn changed(dense: &Dense, uncertainty: WeightUncertainty, mut share: impl FnMut() -> f64) -> Dense {
    let mut dense = dense.clone();
    for layer in &mut dense.layers {
        layer.weight.iter_mut().chain(&mut layer.bias).for_each(|w| *w += share() * uncertainty.radius(*w));
    }
    dense
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

/// Projected gradient steps over perturbation and weights together, by finite differences in the perturbation and the
/// worst corner of the weights at each point.
fn attacked(random: &mut ChaCha8Rng, problem: &Problem, x: &[f64], action: &Action, restarts: usize) -> f64 {
    let attained = |d: &[f64]| {
        let reached = counterfactual(problem, x, action, d).unwrap();
        problem.classifier().attained_score(&reached).unwrap()
    };
    let mut least = f64::INFINITY;
    for _ in 0..restarts {
        let mut d = perturbation(random, problem);
        for step in 0..8 {
            least = least.min(attained(&d));
            let slope = |j: usize| {
                let mut moved = d.clone();
                moved[j] += 1e-6;
                attained(&moved) - attained(&d)
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
/// proven to hold; every proof is verified; what is ruled out is broken.
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
        let (problem, dense, uncertainty) = problem(random, widths);
        let threshold = problem.classifier().threshold();
        let x = uniform(random, 3, -1.5..1.5);
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 3000 }).unwrap();
        let proof = complete.prove(&x).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
        match verify(&problem, &saved).unwrap() {
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
                    let d = perturbation(random, &problem);
                    let corner = random.random_bool(0.5);
                    let share =
                        || if corner { one(random, &[-1.0, 1.0]) } else { random.random_range(-1.0..1.0) };
                    let dense = changed(&dense, uncertainty, share);
                    let reached = counterfactual(&problem, &x, &answer.action, &d).unwrap();
                    let sampled = score(&dense, threshold, &reached);
                    assert!(sampled >= answer.margin - 1e-9, "{round}: {sampled} < {}", answer.margin);
                    samples += 1;
                }
                let least = attacked(random, &problem, &x, &answer.action, 200);
                assert!(least >= answer.margin - 1e-9, "{round}: attack {least} < {}", answer.margin);
                let certificate = certify(&problem, &x, &answer.action, Budget::default()).unwrap();
                assert!(matches!(certificate.verdict, Verdict::Holds { .. }), "{round}");
            }
            Outcome::Impossible(_) => impossible += 1,
            _ => other += 1,
        }
        // Without a perturbation and with an exact worst case, a cheaper action has a negative score.
        let bound = proof.outcome.cost_bound();
        if problem.classifier().is_exact() && problem.epsilon() == 0.0 && bound > 0.0 {
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
                    let value = margin(&problem, &x, &action, &[0.0; 3]).unwrap();
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
    assert!(unverified <= 2, "{unverified}");
}

#[test]
fn tampered_proofs_are_refused() {
    let random = &mut ChaCha8Rng::seed_from_u64(8);
    let mut seen = 0;
    for round in 0..40 {
        let widths: &[usize] = if round % 2 == 0 { &[3, 6, 1] } else { &[3, 4, 4, 1] };
        let (problem, ..) = problem(random, widths);
        let x = uniform(random, 3, -1.5..1.5);
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 2000 }).unwrap();
        let proof = complete.prove(&x).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
        let Outcome::Found(found) = &saved.outcome else { continue };
        seen += 1;
        // A smaller action, a larger margin, and a bound that nothing proves.
        let mut smaller = saved.clone();
        let mut less = found.clone();
        less.action.change.iter_mut().for_each(|c| *c *= 0.98);
        less.cost = problem.cost().of(problem.features(), &less.action);
        less.cost_bound = less.cost_bound.min(less.cost);
        less.counterfactual = counterfactual(&problem, &x, &less.action, &[0.0; 3]).unwrap();
        smaller.outcome = Outcome::Found(less);
        let mut safer = saved.clone();
        safer.outcome = Outcome::Found(surefoot::Recourse { margin: found.margin + 0.05, ..found.clone() });
        let mut dearer = saved.clone();
        dearer.outcome = Outcome::Found(surefoot::Recourse { cost_bound: found.cost, ..found.clone() });
        dearer.ruled_out.clear();
        for (what, tampered) in [("margin", safer), ("bound", dearer)] {
            let checked = verify(&problem, &tampered).unwrap();
            assert!(!checked.is_verified(), "{round}: {what}");
        }
        let checked = verify(&problem, &smaller).unwrap();
        if let Verification::Verified(verified) = checked {
            assert!(
                margin(&problem, &x, &found.action, &[0.0; 3]).unwrap() > 0.0 && verified.margin >= Some(0.0)
            );
        }
        // The same proof does not go with the classifier whose weights are certain, or with a larger radius.
        let wider = problem.classifier().trained().with_uncertain_weights(WeightUncertainty::Within(0.5));
        let wider = Problem::new(problem.features().clone(), wider.unwrap()).unwrap();
        let wider = wider.with_uncertainty(problem.norm().clone(), problem.epsilon()).unwrap();
        let wider = wider.with_cost(problem.cost());
        let refused = verify(&wider, &saved).unwrap();
        assert!(!refused.is_verified());
        assert!(!matches!(refused, Verification::Wrong(Fault::Cost { .. })));
    }
    assert!(seen >= 10, "{seen}");
}

/// For networks with several hidden layers a bound is no break: an action that only the bound fails is undecided, and
/// whatever is called broken is broken by weights that are allowed.
#[test]
fn a_bound_over_weights_breaks_nothing() {
    let layer = |weight: ndarray::Array2<f64>| {
        let outputs = weight.nrows();
        Layer { weight, bias: ndarray::Array1::zeros(outputs) }
    };
    let random = &mut ChaCha8Rng::seed_from_u64(9);
    let (mut undecided, mut broken) = (0, 0);
    for _ in 0..60 {
        let mut draw = |m: usize, n: usize| {
            ndarray::Array2::from_shape_simple_fn((m, n), || random.random_range(-1.0..1.0))
        };
        let layers = vec![layer(draw(6, 1)), layer(draw(6, 6)), layer(draw(1, 6))];
        let network = Network::new(layers, Activation::Tanh).unwrap();
        let uncertainty = WeightUncertainty::Within(0.02);
        let classifier =
            Classifier::network(network, 0.5).unwrap().with_uncertain_weights(uncertainty).unwrap();
        let features = Features::new(vec![Feature::new("a").change(Change::Any)]).unwrap();
        let problem = Problem::new(features, classifier).unwrap();
        let action = Action { features: vec![0], change: vec![random.random_range(-1.0..1.0)] };
        let certificate = certify(&problem, &[0.5], &action, Budget::default()).unwrap();
        let reached = [0.5 + action.change[0]];
        let attained = problem.classifier().attained_score(&reached).unwrap();
        match certificate.verdict {
            Verdict::Breaks { margin, .. } => {
                broken += 1;
                assert!(margin < 0.0 && (margin - attained).abs() < 1e-12);
            }
            Verdict::Undecided { lower, upper } => {
                undecided += 1;
                assert!(lower < 0.0 && upper >= 0.0 && upper == attained);
            }
            Verdict::Holds { margin } => assert!(margin >= 0.0 && attained >= margin - 1e-12),
        }
    }
    assert!(undecided >= 1 && broken >= 10, "{undecided} {broken}");
}

/// Every method answers for all weights or refuses by name.
#[test]
fn methods_answer_for_all_weights_or_refuse() {
    let features = Features::new(vec![
        Feature::new("a").change(Change::Any).limits(-3.0, 3.0),
        Feature::new("b").change(Change::Any).limits(-3.0, 3.0),
    ])
    .unwrap();
    let classifier = Classifier::linear(vec![1.0, 0.5], -0.5, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap();
    let problem = problem.with_uncertain_weights(WeightUncertainty::Share(0.1)).unwrap();
    let x = [-1.0, 0.2];
    let solver = |method: &str| {
        Solver::new(&problem, Settings { method: method.parse().unwrap(), ..Settings::default() })
    };
    // The weight of `a` is at worst 0.9 where `a` is positive, that of `b` 0.45, and the intercept -0.55.
    let least = 1.0 + (0.55 - 0.45 * 0.2) / 0.9;
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
