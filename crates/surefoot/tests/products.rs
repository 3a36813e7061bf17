//! Products of balls over groups of features, some of them exact: closed forms, dense samples, attacks and the
//! checker.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use ndarray::ArrayView2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::margin::margin;
use surefoot::proof::Proof;
use surefoot::recourse::{Settings, Solver};
use surefoot::uncertainty::{Factor, Product, SharedSet};
use surefoot::{
    Activation, Budget, Change, Classifier, Equation, Feature, Features, LimitsOn, Norm, NormKind, People,
    Problem, SavedProof, Scm, Verdict, certify, refute, smallest_break, verify,
};
use surefoot_random::{network, one, product, uniform};

fn features() -> Features {
    let feature = |name: &str| Feature::new(name).change(Change::Any).limits(-9.0, 9.0);
    Features::new(["a", "b", "c", "d"].map(feature).to_vec()).unwrap()
}

/// `c` follows from `a` and `b`, `d` from `c`.
fn causal_model() -> Scm {
    let equations =
        vec![("c", Equation::formula("0.5 * a - b + u")), ("d", Equation::formula("0.3 * c + u"))];
    Scm::new(&features(), equations).unwrap()
}

fn with_product(problem: &Problem, product: &Product) -> Problem {
    problem.clone().with_uncertainty(Norm::unweighted(SharedSet::from(product.clone())), 1.0).unwrap()
}

fn dual(factor: &Factor, gradient: &[f64]) -> f64 {
    let own: Vec<f64> = factor.coordinates.iter().map(|&i| gradient[i].abs()).collect();
    let greatest = own.iter().copied().fold(0.0, f64::max);
    factor.radius
        * match factor.set.name() {
            "l1" => greatest,
            "l2" => own.iter().map(|g| g * g).sum::<f64>().sqrt(),
            _ => own.iter().sum::<f64>(),
        }
}

/// A point of a product, drawn group by group: half of the groups are on their border.
fn drawn(random: &mut ChaCha8Rng, factors: &[Factor]) -> Vec<f64> {
    let mut point = vec![0.0; 4];
    for factor in factors {
        let count = factor.coordinates.len();
        let mut own: Vec<f64> = (0..count).map(|_| random.sample(StandardNormal)).collect();
        let share = if random.random_bool(0.5) { 1.0 } else { random.random_range(0.0..1.0f64) };
        if factor.set.name() == "linf" {
            own.iter_mut().for_each(|y| *y = if random.random_bool(0.7) { y.signum() } else { y.tanh() });
        } else {
            let size = factor.set.gauge(&own);
            own.iter_mut().for_each(|y| *y /= size);
        }
        for (&i, y) in factor.coordinates.iter().zip(own) {
            point[i] = (1.0 - 1e-15) * factor.radius * share * y;
        }
    }
    point
}

fn proven(problem: &Problem, x: &[f64]) -> Proof {
    Solver::new(problem, Settings::default()).unwrap().prove(x).unwrap()
}

fn one_person(x: &[f64]) -> People {
    People::from_standardised(&features(), ArrayView2::from_shape((1, 4), x).unwrap()).unwrap()
}

#[test]
fn linear_answers_have_their_closed_form() {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    for round in 0..40 {
        let weights = uniform(random, 4, -1.0..1.0);
        let classifier = Classifier::linear(weights.clone(), -0.5, 0.5).unwrap();
        let mut problem =
            Problem::new(features(), classifier).unwrap().with_limits_on(LimitsOn::Action).unwrap();
        let mut effects = weights.clone();
        // An action may hold what follows as it is, so it has the effect of any part of the chain.
        let mut possible = weights.clone();
        if round % 2 == 0 {
            problem = problem.with_causal_model(causal_model()).unwrap();
            effects[2] += 0.3 * effects[3];
            effects[1] -= effects[2];
            effects[0] += 0.5 * effects[2];
            for c in [weights[2], effects[2]] {
                possible.extend([c, weights[1] - c, weights[0] + 0.5 * c]);
            }
        }
        let x = uniform(random, 4, -0.3..0.3);
        let score = problem.classifier().score(&x);
        let product = product(random, 4);
        let problem = with_product(&problem, &product);
        let lost: f64 = product.factors().iter().map(|factor| dual(factor, &effects)).sum();
        let largest = possible.iter().fold(0.0, |most: f64, effect| most.max(effect.abs()));
        let least = (lost - score) / largest;
        if score >= 0.0 || least > 5.0 {
            continue;
        }
        let proof = proven(&problem, &x);
        let found = proof.outcome.recourse().unwrap();
        assert!((found.cost - least).abs() < 1e-6, "{round}: {} {least}", found.cost);
        assert!(found.cost_bound > found.cost - 1e-6);
        let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
        assert!(verify(&problem, &saved).unwrap().is_verified());
        // What breaks an action is the worst perturbation of the set, scaled by what the action leaves.
        let mut action = found.action.clone();
        action.change.iter_mut().for_each(|change| *change *= 1.1);
        let left = margin(&problem, &x, &action, &[0.0; 4]).unwrap();
        let broken = smallest_break(&problem, &one_person(&x), &[action]).unwrap();
        if lost > 0.0 {
            let size = broken[0].as_ref().unwrap().size;
            let expected = left / lost;
            assert!((size / expected - 1.0).abs() < 1e-4, "{round}: {size} {expected}");
        }
    }
}

#[test]
fn actions_of_networks_hold_on_the_whole_product() {
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    let (mut answered, mut pieces) = (0, 0);
    for round in 0..14 {
        let activation = one(random, &[Activation::Tanh, Activation::Relu]);
        let classifier = Classifier::network(network(random, &[4, 8, 1], activation, 1.0), 0.5).unwrap();
        let mut problem = Problem::new(features(), classifier).unwrap();
        if round % 2 == 0 {
            problem = problem.with_causal_model(causal_model()).unwrap();
        }
        let x = uniform(random, 4, -1.0..1.0);
        let drawn_product = product(random, 4);
        let factors = drawn_product.factors().iter().cloned();
        let smaller = |mut factor: Factor| {
            factor.radius *= 0.15;
            factor
        };
        let product = Product::new(factors.map(smaller).collect()).unwrap();
        let problem = with_product(&problem, &product);
        if problem.classifier().score(&x) >= 0.0 {
            continue;
        }
        let proof = proven(&problem, &x);
        let text = proof.to_json(&problem, &x);
        let saved = SavedProof::from_json(&text).unwrap();
        let verification = verify(&problem, &saved).unwrap();
        assert!(verification.is_verified(), "{round}: {verification:?}");
        let Some(found) = proof.outcome.recourse() else { continue };
        answered += 1;
        let certificate = certify(&problem, &x, &found.action, Budget::default()).unwrap();
        assert!(matches!(certificate.verdict, Verdict::Holds { .. }), "{round}: {:?}", certificate.verdict);
        pieces += certificate.pieces.len();
        let (people, actions) = (one_person(&x), [found.action.clone()]);
        let attack = ProjectedGradient { restarts: 200, ..ProjectedGradient::default() };
        let worst = &worst_found(&problem, &people, &actions, &attack).unwrap()[0];
        assert!(worst.margin >= found.margin - 1e-9, "{round}: {} {}", worst.margin, found.margin);
        assert!(problem.uncertainty().size(&worst.perturbation) <= 1.0 + 1e-12);
        let broken = refute(&problem, &people, &actions, Budget::default()).unwrap();
        assert!(broken[0].as_ref().is_none_or(|found| !problem.uncertainty().includes(found.size)));
        let samples = if answered <= 2 { 1_000_000 } else { 20_000 };
        for _ in 0..samples {
            let perturbation = drawn(random, product.factors());
            assert!(problem.uncertainty().contains(&perturbation), "{product:?} {perturbation:?}");
            let left = margin(&problem, &x, &found.action, &perturbation).unwrap();
            assert!(left >= found.margin - 1e-9, "{round}: {left} {}", found.margin);
        }
        // A proof is for its product alone, and of no more than it shows.
        let mut larger = product.factors().to_vec();
        let first = larger.iter_mut().find(|factor| factor.radius > 0.0);
        if let Some(factor) = first {
            factor.radius *= 1.01;
            let other = with_product(&problem, &Product::new(larger).unwrap());
            assert!(!verify(&other, &saved).unwrap().is_verified());
            let mut retold = saved.clone();
            retold.norm = other.uncertainty().norm().into();
            assert!(!verify(&problem, &retold).unwrap().is_verified());
        }
        let mut gap = saved.clone();
        let cover = gap.cover.as_mut().unwrap();
        if cover.pieces.len() > 1 {
            cover.pieces.pop();
            assert!(!verify(&problem, &gap).unwrap().is_verified(), "{round}");
        }
    }
    assert!(answered > 4 && pieces > answered, "{answered} {pieces}");
}

#[test]
fn nothing_shifts_an_exact_feature() {
    let classifier = Classifier::linear(vec![1.0, 1.0, 1.0, 1.0], -1.0, 0.5).unwrap();
    let product = Product::new(vec![
        Factor::new(NormKind::L2, 0.5, vec![0, 2]),
        Factor::new(NormKind::L1, 0.0, vec![1]),
        Factor::new(NormKind::Linf, 0.25, vec![3]),
    ]);
    let problem = with_product(&Problem::new(features(), classifier).unwrap(), &product.unwrap());
    let x = [0.0; 4];
    let proof = proven(&problem, &x);
    let found = proof.outcome.recourse().unwrap();
    // 1 for the score, 0.25 for d, 0.5 sqrt 2 for a and c together.
    assert!((found.cost - (1.25 + 0.5f64.sqrt())).abs() < 1e-6, "{}", found.cost);
    let worst = &worst_found(
        &problem,
        &one_person(&x),
        std::slice::from_ref(&found.action),
        &ProjectedGradient::default(),
    )
    .unwrap()[0];
    assert_eq!(worst.perturbation[1], 0.0);
    assert!((worst.margin - found.margin).abs() < 1e-6, "{} {}", worst.margin, found.margin);
}
