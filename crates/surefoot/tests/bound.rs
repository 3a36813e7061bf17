//! Bounds against dense sampling: whatever the network, the equations and the region, nothing
//! that is sampled is beyond a bound.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod every_kind;

use ndarray::{Array1, Array2};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::bound::{curvature, in_action, in_perturbation};
use surefoot::margin::{gradients, margin};
use surefoot::{
    Action, ActionKind, Change, Classifier, Equation, Feature, Features, Intervention, Norm, People, Problem,
    Scm,
};
use surefoot_random::{ACTIVATIONS, NORM_KINDS, network};

/// A problem with four features and equations of several kinds.
fn problem(random: &mut ChaCha8Rng, scale: f64, causal: bool) -> Problem {
    let feature = |(i, name): (usize, &str)| {
        Feature::new(name).scaling(0.3 * i as f64, 1.0 + 0.2 * i as f64).change(Change::Any)
    };
    let features =
        Features::new(["a", "b", "c", "d"].iter().copied().enumerate().map(feature).collect()).unwrap();
    let pick = random.random_range(0..3);
    let depth: &[usize] = [&[4, 7, 1][..], &[4, 20, 18, 1], &[4, 5, 6, 5, 1]][random.random_range(0..3)];
    let classifier = network(random, depth, ACTIVATIONS[pick], scale);
    let problem = Problem::new(features.clone(), Classifier::network(classifier, 0.4).unwrap()).unwrap();
    let norm = NORM_KINDS[random.random_range(0..3)];
    let norm = match random.random_bool(0.5) {
        true => Norm::unweighted(norm),
        false => Norm::weighted(norm, (0..4).map(|_| random.random_range(0.5..2.0)).collect()).unwrap(),
    };
    let form = if random.random_bool(0.3) { ActionKind::Absolute } else { ActionKind::Relative };
    let epsilon = [0.0, 1e-6, 0.1, 0.5, 3.0][random.random_range(0..5)];
    let problem = problem.with_uncertainty(norm, epsilon).unwrap().with_action_kind(form);
    if !causal {
        return problem;
    }
    let third = [
        "0.5 * a * b + u",
        "max(a, b) - (a - 1)^2 + u",
        "sigmoid(b) / (2 + tanh(a)) + 2 * u",
        "abs(a) * exp(-b^2) + sqrt(1 + a^2) + u",
        "log(2 + a^2) + 2 ^ b + u",
        "tanh(u + 0.3 * a) * 3",
        "min(a, 0.5) + b^3 / 10 + u",
    ][random.random_range(0..7)];
    let other = ACTIVATIONS[random.random_range(0..3)];
    let hidden = network(random, &[2, 6, 1], other, scale.min(2.0));
    let equations = vec![
        ("b", Equation::network(&["a"], network(random, &[1, 5, 1], ACTIVATIONS[pick], scale.min(2.0)))),
        ("c", Equation::formula(third)),
        ("d", Equation::network(&["b", "c"], hidden)),
    ];
    problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap()
}

fn individual(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let noise: Vec<f64> = (0..4).map(|_| random.random_range(-1.0..1.0)).collect();
    problem.scm().map_or(noise.clone(), |scm| scm.predict(&noise).unwrap())
}

fn action(random: &mut ChaCha8Rng) -> Action {
    let sets: [&[usize]; 5] = [&[0], &[1, 2], &[3], &[0, 1, 3], &[]];
    let features = sets[random.random_range(0..5)].to_vec();
    let size = [0.0, 0.1, 1.0, 20.0][random.random_range(0..4)];
    let change = features.iter().map(|_| random.random_range(-1.0..1.0) * size).collect();
    Action { features, change }
}

/// Points of the ball, many of them on its border or where few coordinates are not zero.
fn perturbation(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let sparse = random.random_bool(0.5);
    let mut d: Vec<f64> = (0..problem.features().len())
        .map(|_| if sparse && random.random_bool(0.5) { 0.0 } else { random.random_range(-1.0..1.0) })
        .collect();
    if random.random_bool(0.3) {
        d.iter_mut().for_each(|d| *d = if *d == 0.0 { 0.0 } else { d.signum() });
    }
    let size = problem.norm().value(&d).max(1e-300);
    let share = if random.random_bool(0.7) { 1.0 - 1e-15 } else { random.random_range(0.0..1.0f64) };
    d.iter_mut().for_each(|d| *d *= share * problem.epsilon() / size);
    d
}

/// Whether the causal model can produce whom a perturbation leads to. Nobody else is concerned,
/// though the definition copies their features where nothing upstream changes.
fn is_somebody(problem: &Problem, x: &[f64], perturbation: &[f64]) -> bool {
    problem.scm().is_none_or(|scm| {
        let perturbed = scm.counterfactual(x, Intervention::Additive(perturbation)).unwrap();
        scm.abduct(&perturbed).is_ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_perturbation_is_beyond_a_bound(seed in any::<u64>(), scale in prop_oneof![Just(1e-3), Just(0.5), Just(2.0), Just(30.0)]) {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let causal = random.random_bool(0.7);
        let problem = problem(random, scale, causal);
        let x = individual(random, &problem);
        let action = action(random);
        let whole = in_perturbation(&problem, &x, &action, None).unwrap();
        let mut corners = [perturbation(random, &problem), perturbation(random, &problem)];
        for i in 0..4 {
            if corners[0][i] > corners[1][i] {
                let [a, b] = &mut corners;
                std::mem::swap(&mut a[i], &mut b[i]);
            }
        }
        let part = in_perturbation(&problem, &x, &action, Some((&corners[0], &corners[1]))).unwrap();
        for k in 0..60 {
            let mut d = perturbation(random, &problem);
            if k % 2 == 0 {
                d.iter_mut().enumerate().for_each(|(i, d)| *d = d.clamp(corners[0][i], corners[1][i]));
            }
            if problem.norm().value(&d) > problem.epsilon() {
                continue;
            }
            let Ok(value) = margin(&problem, &x, &action, &d) else { continue };
            // Far away a sum of infinities is no number, of which nothing is said.
            if value.is_nan() || !is_somebody(&problem, &x, &d) {
                continue;
            }
            prop_assert!(value >= whole.lower && value <= whole.upper, "{value} {whole:?}");
            let along: f64 = whole.linear.iter().zip(&d).map(|(l, d)| l * d).sum();
            let away = (value - whole.constant - along).abs();
            prop_assert!(away <= whole.error * (1.0 + 1e-9) + 1e-9, "{away} {whole:?}");
            if d.iter().enumerate().all(|(i, d)| *d >= corners[0][i] && *d <= corners[1][i]) {
                prop_assert!(value >= part.lower && value <= part.upper, "{value} {part:?}");
            }
        }
    }

    #[test]
    fn no_action_is_beyond_a_bound(seed in any::<u64>(), scale in prop_oneof![Just(1e-3), Just(0.5), Just(2.0), Just(30.0)]) {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let causal = random.random_bool(0.7);
        let problem = problem(random, scale, causal);
        let x = individual(random, &problem);
        let Action { features, change: lower } = action(random);
        let d = perturbation(random, &problem);
        let width = [0.0, 0.01, 1.0, 1e6, f64::INFINITY][random.random_range(0..5)];
        let upper: Vec<f64> = lower.iter().map(|l| l + random.random_range(0.0..1.0) * width).collect();
        let upper: Vec<f64> = upper.into_iter().map(|u| if u.is_nan() { f64::INFINITY } else { u }).collect();
        let planes = in_action(&problem, &x, &features, (&lower, &upper), &d).unwrap();
        for _ in 0..40 {
            let change = lower.iter().zip(&upper).map(|(&l, &u)| {
                let far = if u.is_finite() { u } else { l + 10f64.powf(random.random_range(-2.0..9.0)) };
                let share = if random.random_bool(0.3) { 1.0 } else { random.random_range(0.0..1.0) };
                (l + share * (far - l)).clamp(l, u)
            });
            let action = Action { features: features.clone(), change: change.collect() };
            let Ok(value) = margin(&problem, &x, &action, &d) else { continue };
            // Bounds are about results that are defined.
            if value == f64::NEG_INFINITY {
                continue;
            }
            // Far away a sum of infinities is no number, of which nothing is said.
            if value.is_nan() || !is_somebody(&problem, &x, &d) {
                continue;
            }
            prop_assert!(value >= planes.lower && value <= planes.upper, "{value} {planes:?}");
        }
    }

    /// Between any two perturbations the slope changes at least as the matrix says.
    #[test]
    fn no_hessian_is_below_the_curvature(seed in any::<u64>(), scale in prop_oneof![Just(1e-3), Just(0.5), Just(2.0), Just(30.0)]) {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let causal = random.random_bool(0.7);
        let problem = problem(random, scale, causal);
        let x = individual(random, &problem);
        let action = action(random);
        let Some(matrix) = curvature(&problem, &x, &action).unwrap() else { return Ok(()) };
        let people = People::from_standardised(problem.features(), Array2::from_shape_vec((1, 4), x.clone()).unwrap().view()).unwrap();
        let slope = |d: &[f64]| {
            let change = Array2::from_shape_vec((1, action.change.len()), action.change.clone()).unwrap();
            let d = Array2::from_shape_vec((1, 4), d.to_vec()).unwrap();
            gradients(&problem, &people, &action.features, change.view(), d.view()).unwrap().in_perturbation.row(0).to_owned()
        };
        for _ in 0..20 {
            let (d, e) = (perturbation(random, &problem), perturbation(random, &problem));
            let way: Array1<f64> = d.iter().zip(&e).map(|(d, e)| e - d).collect();
            let bend = (slope(&e) - slope(&d)).dot(&way);
            let least = way.dot(&matrix.dot(&way));
            let slack = 1e-10 * (1.0 + bend.abs() + least.abs()) * (1.0 + scale.powi(3));
            prop_assert!(bend >= least - slack || bend.is_nan(), "{bend} {least} {matrix:?}");
        }
    }
}

/// Every kind of equation, among them noise that is recovered by search or by a given inverse.
#[test]
fn every_kind_of_equation_is_bounded() {
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    let mut bounded = 0;
    for form in [ActionKind::Relative, ActionKind::Absolute] {
        for activation in ACTIVATIONS {
            let classifier = Classifier::network(every_kind::network(activation, 9), 0.4).unwrap();
            let problem = Problem::new(every_kind::features(), classifier).unwrap();
            let problem = problem.with_causal_model(every_kind::scm()).unwrap().with_action_kind(form);
            let problem = problem.with_uncertainty(Norm::L2, 0.05).unwrap();
            for set in [&[0][..], &[1, 4], &[6], &[2, 5, 7], &[8], &[]] {
                let noise: Vec<f64> = (0..9).map(|_| random.random_range(-1.0..1.0)).collect();
                let x = every_kind::scm().predict(&noise).unwrap();
                let change: Vec<f64> = set.iter().map(|_| random.random_range(-0.1..0.1)).collect();
                let action = Action { features: set.to_vec(), change };
                let planes = in_perturbation(&problem, &x, &action, None).unwrap();
                bounded += usize::from(planes.lower.is_finite());
                let d = perturbation(random, &problem);
                let ends: (Vec<f64>, Vec<f64>) = set.iter().map(|_| (-0.1, 0.1)).unzip();
                let actions = in_action(&problem, &x, set, (&ends.0, &ends.1), &d).unwrap();
                for _ in 0..200 {
                    let at = perturbation(random, &problem);
                    if let Ok(value) = margin(&problem, &x, &action, &at) {
                        assert!(value >= planes.lower && value <= planes.upper, "{set:?} {value} {planes:?}");
                    }
                    let change = set.iter().map(|_| random.random_range(-0.1..0.1)).collect();
                    let other = Action { features: set.to_vec(), change };
                    if let Ok(value) = margin(&problem, &x, &other, &d) {
                        assert!(
                            value >= actions.lower && value <= actions.upper,
                            "{set:?} {value} {actions:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(bounded >= 28, "{bounded}");
}

/// Without anything curved the planes are one and the bound is exact.
#[test]
fn linear_margins_are_bounded_exactly() {
    let features = Features::new(vec![Feature::new("a"), Feature::new("b")]).unwrap();
    let classifier = Classifier::linear(vec![3.0, -4.0], 1.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_uncertainty(Norm::L2, 0.5).unwrap();
    let nothing = Action { features: vec![], change: vec![] };
    let planes = in_perturbation(&problem, &[1.0, 1.0], &nothing, None).unwrap();
    assert!((planes.lower + 2.5).abs() < 1e-9 && (planes.upper - 2.5).abs() < 1e-9, "{planes:?}");
    assert!(planes.error < 1e-12);
    assert_eq!(curvature(&problem, &[1.0, 1.0], &nothing).unwrap().unwrap(), Array2::<f64>::zeros((2, 2)));
}
