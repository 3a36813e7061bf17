//! Bounds that only proofs use, against dense sampling.

use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{
    ActionKind, Activation, Change, Classifier, Equation, Feature, Features, Layer, Network, Norm, NormKind,
    Scm,
};

fn network(random: &mut ChaCha8Rng, widths: &[usize], activation: Activation, scale: f64) -> Network {
    let mut layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_simple_fn((pair[1], pair[0]), || random.random_range(-1.0..1.0) * scale),
        bias: Array1::from_shape_simple_fn(pair[1], || random.random_range(-1.0..1.0)),
    };
    Network::new(widths.windows(2).map(&mut layer).collect(), activation).unwrap()
}

fn problem(random: &mut ChaCha8Rng, kind: NormKind) -> Problem {
    let activation = [Activation::Tanh, Activation::Sigmoid, Activation::Relu][random.random_range(0..3)];
    let scale = [0.3, 1.0, 3.0][random.random_range(0..3)];
    let depth: &[usize] = [&[4, 9, 1][..], &[4, 20, 18, 1], &[4, 5, 6, 5, 1]][random.random_range(0..3)];
    let feature = |name| Feature::new(name).change(Change::Any);
    let features = Features::new(["a", "b", "c", "d"].map(feature).to_vec()).unwrap();
    let classifier = Classifier::network(network(random, depth, activation, scale), 0.5).unwrap();
    let formula = ["0.5 * a * b + u", "(a - 1)^2 / 3 + u", "sigmoid(b) * a + exp(0.3 * b) + u"];
    let equations = vec![
        ("b", Equation::network(&["a"], network(random, &[1, 6, 1], Activation::Tanh, 1.0))),
        ("c", Equation::formula(formula[random.random_range(0..3)])),
        ("d", Equation::network(&["b", "c"], network(random, &[2, 5, 4, 1], activation, 1.0))),
    ];
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let problem = if random.random_bool(0.7) {
        problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap()
    } else {
        problem
    };
    let epsilon = [0.02, 0.1, 0.5][random.random_range(0..3)];
    let form = if random.random_bool(0.3) { ActionKind::Absolute } else { ActionKind::Relative };
    problem.with_uncertainty(Norm::unweighted(kind), epsilon).unwrap().with_action_kind(form)
}

/// Points of a region, many of them at its border.
fn sample(random: &mut ChaCha8Rng, region: &Region) -> Vec<f64> {
    let mut y: Vec<f64> = (0..region.inputs())
        .map(|i| {
            let share =
                if random.random_bool(0.3) { f64::from(random.random_range(0..2)) } else { random.random() };
            region.lower[i] + share * (region.upper[i] - region.lower[i])
        })
        .collect();
    region.project(&mut y);
    y
}

/// A part of the ball around a point of it.
fn part(random: &mut ChaCha8Rng, ball: &Region) -> Region {
    let mut region = ball.clone();
    for _ in 0..random.random_range(0..6) {
        let axis = random.random_range(0..region.inputs());
        let at = 0.5 * (region.lower[axis] + region.upper[axis]);
        let halves: Vec<Region> = region.split(axis, at).into_iter().flatten().collect();
        region = halves[random.random_range(0..halves.len())].clone();
    }
    region
}

#[test]
fn quadratic_and_refined_bounds_are_below_what_is_sampled() {
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let (mut curved, mut refined, mut gain, mut second_derivatives, mut better) = (0, 0, 0, 0, 0);
    for round in 0..600 {
        let kind = [NormKind::L2, NormKind::L2, NormKind::L1, NormKind::Linf][round % 4];
        let problem = problem(random, kind);
        let noise: Vec<f64> = (0..4).map(|_| random.random_range(-1.0..1.0)).collect();
        let x = problem.scm().map_or(noise.clone(), |scm| scm.predict(&noise).unwrap());
        let set = [&[0][..], &[1, 2], &[3], &[0, 1, 3], &[]][random.random_range(0..5)];
        let change: Vec<f64> = set.iter().map(|_| random.random_range(-0.5..0.5)).collect();
        let composer = Composer::new(&problem, &x, set).unwrap();
        let graph = composer.in_perturbation(&change, &Coordinates::of(&problem));
        let region = part(random, &Region::uncertain(problem.uncertainty(), 4, 0.0));
        let (mut affine, mut jets) = (Affine::default(), Jets::default());
        let points: Vec<Vec<f64>> = (0..60)
            .map(|_| sample(random, &region))
            .filter(|y| region.contains(y) && problem.uncertainty().contains(y))
            .collect();
        let Some(centre) = points.first().cloned() else { continue };
        let plane = affine.bound(&graph, &region);
        // Refined around any point.
        jets.evaluate(&graph, &centre, Order::Value);
        if let Some(better) = affine.refine(&graph, &region, &jets) {
            refined += 1;
            gain += usize::from(better.lower(&region) > plane.lower(&region));
            for y in &points {
                let value = jets.evaluate(&graph, y, Order::Value).value;
                let along: f64 = better.linear.iter().zip(y).map(|(l, y)| l * y).sum();
                let bound = better.constant + along - better.error;
                assert!(value >= bound - 1e-12, "{round}: {value} {bound} {:?}", graph.operations.len());
                assert!(value >= better.lower(&region), "{round}");
            }
        }
        // The quadratic bound, from above and from below.
        if let Some(quadratic) = affine.quadratic(&graph, &region) {
            second_derivatives += 1;
            let (lower, _) = quadratic.lower(&region, f64::INFINITY);
            better += usize::from(lower > plane.lower(&region));
            assert!(
                quadratic.error <= plane.error * (1.0 + 1e-9),
                "{round}: {} {}",
                quadratic.error,
                plane.error
            );
            for y in &points {
                let value = jets.evaluate(&graph, y, Order::Value).value;
                let first: f64 = y.iter().zip(&quadratic.linear).map(|(y, g)| y * g).sum();
                let second: f64 = (0..16).map(|k| y[k / 4] * quadratic.matrix[k] * y[k % 4]).sum();
                let middle = quadratic.constant + first + 0.5 * second;
                assert!(
                    (value - middle).abs() <= quadratic.error + 1e-13,
                    "{round}: {value} {middle} {}",
                    quadratic.error
                );
                assert!(value >= lower, "{round}: {value} {lower}");
            }
        }
        // Around the centre.
        affine.bound(&graph, &region);
        let Some(curvature) = Curvature::bound(&graph, &region, &centre, &affine, &mut jets, true) else {
            continue;
        };
        let jet = jets.evaluate(&graph, &centre, Order::Gradient);
        if jets.on_a_kink(&graph) {
            continue;
        }
        curved += 1;
        for matrix in &curvature.matrices {
            let quadratic = Quadratic { at: &centre, value: jet.value, gradient: &jet.gradient, matrix };
            let lower = quadratic.lower(&region);
            for y in &points {
                let value = jets.evaluate(&graph, y, Order::Value).value;
                let u: Vec<f64> = y.iter().zip(&centre).map(|(y, c)| y - c).collect();
                let first: f64 = u.iter().zip(&jet.gradient).map(|(u, g)| u * g).sum();
                let second: f64 = (0..16).map(|k| u[k / 4] * matrix[k] * u[k % 4]).sum();
                let bound = jet.value + first + 0.5 * second;
                let room = 1e-11 * (1.0 + jet.value.abs() + first.abs() + second.abs());
                assert!(value >= bound - room, "{round}: {value} {bound}");
                assert!(value >= lower - room, "{round}: {value} {lower}");
            }
        }
    }
    assert!(curved > 300 && refined > 500 && gain > 100, "{curved} {refined} {gain}");
    assert!(second_derivatives > 500 && better > 300, "{second_derivatives} {better}");
}

/// Directions far away: whatever the sum, nothing is beyond the bound.
#[test]
fn far_regions_hold_what_is_far_away() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for round in 0..200 {
        let problem = problem(random, NormKind::L2);
        let x: Vec<f64> = (0..4).map(|_| random.random_range(-1.0..1.0)).collect();
        let Ok(composer) = Composer::new(&problem, &x, &[0, 2, 3]) else { continue };
        let rays = vec![vec![1.0, 0.0, 0.0], vec![0.4, -0.6, 0.0]];
        let d: Vec<f64> = (0..4).map(|_| random.random_range(-0.01..0.01)).collect();
        let graph = composer.in_rays(&d, &rays, &[2]);
        let to = [40.0, 1e4, f64::INFINITY][round % 3];
        let region = Region::far(2, 32.0, to, &[-0.5], &[0.5]);
        let plane = Affine::default().bound(&graph, &region);
        let (lower, upper) = (plane.lower(&region), plane.upper(&region));
        for _ in 0..100 {
            let total = 32.0 + (to.min(1e7) - 32.0) * random.random::<f64>().powi(8);
            let share: f64 = random.random();
            let y = [share * total, (1.0 - share) * total, random.random_range(-0.5..0.5)];
            let value = Jets::default().evaluate(&graph, &y, Order::Value).value;
            let change = [y[0] + 0.4 * y[1], -0.6 * y[1], y[2]];
            let action = Action { features: vec![0, 2, 3], change: change.to_vec() };
            if let Ok(margin) = crate::margin::margin(&problem, &x, &action, &d) {
                assert!((margin - value).abs() <= 1e-6 * (1.0 + value.abs()), "{margin} {value}");
            }
            let beyond = value < lower || value > upper;
            assert!(!beyond, "{value} {lower} {upper}");
        }
    }
}
