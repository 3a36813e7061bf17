//! Uncertainty sets of one's own, of which the engine knows no more than it must: what holds for its own
//! sets holds for them.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use ndarray::{Array1, Array2, ArrayView2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::margin::margin;
use surefoot::recourse::{Settings, Solver};
use surefoot::theory::{cost_stability, extra_cost, standard};
use surefoot::uncertainty::{SETS, named_norms};
use surefoot::{
    Activation, Budget, Change, Classifier, Equation, Exact, Feature, Features, Layer, LimitsOn, Network,
    Norm, Outcome, People, Problem, SavedProof, Scm, UncertaintySet, Verdict, certify, describe, refute,
    verify,
};
use surefoot_random::Plain;

/// `y^T C^-1 y <= 1` with `C = [[1, r], [r, 1]]`: two features that are off together. Unlike those of the
/// engine it is not symmetric in each coordinate.
#[derive(Debug)]
struct Correlated(f64);

impl UncertaintySet for Correlated {
    fn name(&self) -> &'static str {
        "correlated"
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.0]
    }

    fn words(&self) -> &'static str {
        "or both in the same direction"
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        let [same, opposite] = turned(y);
        (same * same / (1.0 + self.0) + opposite * opposite / (1.0 - self.0)).sqrt()
    }

    fn support(&self, row: &[f64]) -> f64 {
        let [same, opposite] = turned(row);
        (same * same * (1.0 + self.0) + opposite * opposite * (1.0 - self.0)).sqrt()
    }

    fn project(&self, y: &mut [f64], radius: f64) {
        let at = turned(y);
        let axes = [1.0 + self.0, 1.0 - self.0];
        let moved = |m: f64| [0, 1].map(|k| at[k] * axes[k] / (axes[k] + m));
        let outside = |m: f64| {
            let p = moved(m);
            p[0] * p[0] / axes[0] + p[1] * p[1] / axes[1] > radius * radius
        };
        let (mut low, mut high) = (0.0, 1.0);
        while outside(high) {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if outside(middle) { low = middle } else { high = middle }
        }
        y.copy_from_slice(&turned(&moved(high)));
    }
}

/// Along the diagonal and across it; twice is the identity.
fn turned(y: &[f64]) -> [f64; 2] {
    [y[0] + y[1], y[0] - y[1]].map(|y| y / 2.0f64.sqrt())
}

fn network(random: &mut ChaCha8Rng, widths: &[usize]) -> Network {
    let mut layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_simple_fn((pair[1], pair[0]), || random.random_range(-1.0..1.0)),
        bias: Array1::from_shape_simple_fn(pair[1], || random.random_range(-0.5..0.5)),
    };
    Network::new(widths.windows(2).map(&mut layer).collect(), Activation::Tanh).unwrap()
}

fn features(count: usize) -> Features {
    let feature = |name: &&str| Feature::new(*name).change(Change::Any).limits(-3.0, 3.0);
    Features::new(["a", "b", "c"][..count].iter().map(feature).collect()).unwrap()
}

fn solved(problem: &Problem, x: &[f64]) -> Outcome {
    Solver::new(problem, Settings::default()).unwrap().solve(x).unwrap()
}

/// That an answer is proven, that its proof is verified, and that nothing breaks it.
fn stands(problem: &Problem, x: &[f64], random: &mut ChaCha8Rng) -> f64 {
    let proof = Solver::new(problem, Settings::default()).unwrap().prove(x).unwrap();
    let saved = SavedProof::from_json(&proof.to_json(problem, x)).unwrap();
    let verification = verify(problem, &saved).unwrap();
    assert!(verification.is_verified(), "{verification:?}");
    assert!(!describe(problem, x, &proof.outcome).unwrap().is_empty());
    let Outcome::Found(found) = &proof.outcome else { return f64::INFINITY };
    let verdict = certify(problem, x, &found.action, Budget::default()).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Holds { .. }), "{verdict:?}");
    let people = ArrayView2::from_shape((1, x.len()), x).unwrap();
    let people = People::from_standardised(problem.features(), people).unwrap();
    let actions = [found.action.clone()];
    let broken = refute(problem, &people, &actions, Budget::default()).unwrap();
    assert!(broken[0].as_ref().is_none_or(|found| !problem.uncertainty().includes(found.size)));
    let worst = &worst_found(problem, &people, &actions, &ProjectedGradient::default()).unwrap()[0];
    let size = problem.uncertainty().size(&worst.perturbation);
    assert!(size <= problem.uncertainty().radius() * (1.0 + 1e-12), "{size}");
    assert!(worst.margin >= found.margin - 1e-9, "{} {}", worst.margin, found.margin);
    for number in 0..500 {
        let perturbation = problem.uncertainty().sample(random, x.len(), number % 2 == 0);
        assert!(problem.uncertainty().contains(&perturbation));
        assert!(margin(problem, x, &found.action, &perturbation).unwrap() >= found.margin - 1e-9);
    }
    found.cost
}

#[test]
fn linear_answers_do_not_need_more_than_the_required_functions() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for round in 0..12 {
        let features = features(3);
        let weights = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
        let classifier = Classifier::linear(weights, -0.4, 0.5).unwrap();
        let scm = Scm::new(&features, vec![("c", Equation::formula("0.5 * a - b + u"))]).unwrap();
        let problem = Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap();
        let problem = problem.with_limits_on(LimitsOn::Action).unwrap();
        let x = [0.1, -0.2, 0.3];
        if problem.classifier().score(&x) >= 0.0 {
            continue;
        }
        let norm_weights: Vec<f64> = (0..3).map(|_| random.random_range(0.5..2.0)).collect();
        let (_, own) = named_norms()[round % 3].clone();
        let plain = Norm::unweighted(Plain(SETS[round % 3]));
        let with = |norm: Norm| {
            problem.clone().with_uncertainty(norm.with_weights(norm_weights.clone()).unwrap(), 0.2).unwrap()
        };
        let (own, plain) = (with(own), with(plain));
        let cost = stands(&plain, &x, random);
        let expected = solved(&own, &x).recourse().map_or(f64::INFINITY, |found| found.cost);
        assert!(cost == expected || (cost / expected - 1.0).abs() < 1e-6, "{round}: {cost} {expected}");
        let [a, b] = [&own, &plain].map(|problem| {
            let exact = Exact::new(problem).unwrap();
            let cheap = solved(&standard(problem).unwrap(), &x);
            let action = &cheap.recourse().unwrap().action;
            let beta = extra_cost(&exact, &x, action).unwrap().map_or(0.0, |bound| bound.beta);
            (beta, cost_stability(&exact, &x).unwrap())
        });
        assert!((a.0 - b.0).abs() <= 1e-6 * a.0 && a.1 == b.1, "{round}: {a:?} {b:?}");
    }
}

#[test]
fn networks_do_not_need_more_than_the_required_functions() {
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let mut found = 0;
    for round in 0..9 {
        let classifier = Classifier::network(network(random, &[3, 6, 1]), 0.55).unwrap();
        let problem = Problem::new(features(3), classifier).unwrap();
        let x: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
        if problem.classifier().score(&x) >= 0.0 {
            continue;
        }
        let (_, own) = named_norms()[round % 3].clone();
        let own = problem.clone().with_uncertainty(own, 0.1).unwrap();
        let plain = problem.with_uncertainty(Norm::unweighted(Plain(SETS[round % 3])), 0.1).unwrap();
        let cost = stands(&plain, &x, random);
        let expected = solved(&own, &x).recourse().map_or(f64::INFINITY, |found| found.cost);
        // Both are within the gap of the least cost.
        assert!(cost == expected || (cost / expected - 1.0).abs() < 0.02, "{round}: {cost} {expected}");
        found += usize::from(cost.is_finite());
    }
    assert!(found > 2, "{found}");
}

#[test]
fn features_that_are_off_together() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let with = |problem: &Problem, correlation: f64| {
        problem.clone().with_uncertainty(Norm::unweighted(Correlated(correlation)), 0.3).unwrap()
    };
    // Both count alike: they are off by 0.3 (1 + r) (1, 1) / sqrt(2 (1 + r)) at worst, which lowers the sum
    // by 0.3 sqrt(2 (1 + r)). The cheapest change makes up for it and for the score of -1.
    let linear = Problem::new(features(2), Classifier::linear(vec![1.0, 1.0], -1.0, 0.5).unwrap()).unwrap();
    for correlation in [-0.8, 0.0, 0.8] {
        let cost = stands(&with(&linear, correlation), &[0.0, 0.0], random);
        let expected = 1.0 + 0.3 * (2.0 * (1.0 + correlation)).sqrt();
        assert!((cost - expected).abs() < 1e-6, "{cost} {expected}");
    }
    let mut found = 0;
    for _ in 0..6 {
        let classifier = Classifier::network(network(random, &[2, 6, 1]), 0.55).unwrap();
        let problem = with(&Problem::new(features(2), classifier).unwrap(), 0.8);
        if problem.classifier().score(&[0.2, -0.1]) < 0.0 {
            found += usize::from(stands(&problem, &[0.2, -0.1], random).is_finite());
        }
    }
    assert!(found > 1, "{found}");
}

#[test]
fn proofs_name_their_set() {
    let classifier = Classifier::linear(vec![1.0, 1.0], -1.0, 0.5).unwrap();
    let problem = Problem::new(features(2), classifier).unwrap();
    let with = |norm: Norm| problem.clone().with_uncertainty(norm, 0.3).unwrap();
    let own = with(Norm::unweighted(Correlated(0.5)));
    let text = Solver::new(&own, Settings::default()).unwrap().prove(&[0.0, 0.0]).unwrap();
    let text = text.to_json(&own, &[0.0, 0.0]);
    assert!(text.contains(r#""norm":{"kind":"correlated","parameters":[0.5],"weights":null}"#), "{text}");
    let saved = SavedProof::from_json(&text).unwrap();
    assert!(verify(&own, &saved).unwrap().is_verified());
    for other in [Norm::L2, Norm::unweighted(Correlated(0.4)), Norm::unweighted(Plain(SETS[1]))] {
        let verification = verify(&with(other), &saved).unwrap();
        assert!(!verification.is_verified(), "{verification:?}");
    }
    // A set that calls itself l2 is not that of the engine.
    let l2 = Solver::new(&with(Norm::L2), Settings::default()).unwrap().prove(&[0.0, 0.0]).unwrap();
    let l2 = SavedProof::from_json(&l2.to_json(&with(Norm::L2), &[0.0, 0.0])).unwrap();
    assert!(l2.norm.parameters.is_none() && verify(&with(Norm::L2), &l2).unwrap().is_verified());
}
