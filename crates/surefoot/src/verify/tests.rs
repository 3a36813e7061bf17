//! The checker's bounds against dense sampling.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::affine::Affine;
use super::ball::{Ball, Shape};
use super::rays::Rays;
use super::tape::Tape;
use super::zone::Zone;
use super::{curvature, quadratic};
use crate::margin::margin;
use crate::margin::{Composer, Coordinates};
use crate::small::{FORMULAS, Family, individual, one, product, uniform};
use crate::uncertainty::SharedSet;
use crate::{Action, Activation, Change, Classifier, Feature, Features, Norm, Problem};

/// A formula with a bounded range of values.
const BOUNDED: &str = "tanh(u + 0.3 * {p}) * 3";

fn problem(random: &mut ChaCha8Rng) -> Problem {
    let feature = |name: &str| Feature::new(name).scaling(0.3, 1.2).change(Change::Any);
    let features = Features::new(["a", "b", "c", "d"].map(feature).to_vec()).unwrap();
    let family = Family {
        features: &features,
        hidden: &[&[9, 7], &[9, 7], &[]],
        scales: &[0.01, 0.5, 1.0, 3.0],
        epsilons: &[0.0, 0.01, 0.1, 0.5],
        formulas: &[&FORMULAS[..], &[BOUNDED]].concat(),
    };
    // A third of them with weights in an ellipsoid.
    if random.random_bool(2.0 / 3.0) { family.draw(random) } else { family.draw_with_ellipsoid(random) }
}

/// Random points of a zone, many of them on its border.
fn sample(random: &mut ChaCha8Rng, zone: &Zone) -> Vec<f64> {
    let n = zone.lower.len();
    let direction: Vec<f64> =
        (0..n).map(|_| if random.random_bool(0.3) { 0.0 } else { random.random_range(-1.0..1.0) }).collect();
    let (corner, start) = (zone.low_point(&direction), zone.nearest());
    let share = if random.random_bool(0.5) { 1.0 } else { random.random_range(0.0..1.0) };
    match zone.shares {
        Some(_) => corner,
        None => start.iter().zip(&corner).map(|(s, c)| s + share * (c - s)).collect(),
    }
}

#[test]
fn no_perturbation_is_beyond_a_bound() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let (mut known, mut curved, mut better) = (0, 0, 0);
    for round in 0..600 {
        let mut problem = problem(random);
        if round % 4 == 3 {
            let product = Norm::unweighted(SharedSet::from(product(random, 4)));
            problem = problem.with_uncertainty(product, 0.5).unwrap();
        }
        let x = individual(random, &problem);
        let features = one(random, &[vec![0], vec![1, 2], vec![3], vec![0, 1, 3]]);
        let change = features.iter().map(|_| random.random_range(-1.0..1.0)).collect();
        let action = Action { features, change };
        let coordinates = Coordinates::of(&problem);
        let composer = Composer::new(&problem, &x, &action.features).unwrap();
        let tape = Tape::new(&composer.in_perturbation(&action.change, &coordinates));
        let (ball, reach) = Ball::of_uncertainty(problem.uncertainty(), 4, 0.0);
        let whole = Zone::new(reach.iter().map(|end| -end).collect(), reach, ball).unwrap();
        let (first, second) = (random.random_range(0..4), random.random_range(0..4));
        let part = whole.halves(first)[0].clone().and_then(|half| half.halves(second)[1].clone());
        for zone in [Some(whole), part].into_iter().flatten() {
            let affine = Affine::new(&tape, &zone);
            let range = affine.result();
            let at = sample(random, &zone);
            let lower = curvature::least(&tape, &zone, &affine, &at, f64::INFINITY);
            known += usize::from(range.lower.is_finite());
            curved += usize::from(lower.is_some());
            let quadratic = quadratic::least(&tape, &zone, &affine, f64::INFINITY);
            better += usize::from(quadratic.is_some_and(|quadratic| quadratic > range.lower));
            for _ in 0..60 {
                let y = sample(random, &zone);
                let Ok(value) = margin(&problem, &x, &action, &coordinates.perturbation(&y)) else {
                    continue;
                };
                let slack = 1e-13 * value.abs().max(1.0);
                let inside = value >= range.lower - slack && value <= range.upper + slack;
                assert!(inside, "{round}: {value} {range:?}");
                for (k, (value, range)) in tape.values(&y).iter().zip(&affine.ranges).enumerate() {
                    let slack = 1e-12 * value.abs().max(1.0);
                    let is_inside = *value >= range.lower - slack && *value <= range.upper + slack;
                    assert!(is_inside || value.is_nan(), "{round}, node {k}: {value} {range:?}");
                }
                assert!(lower.is_none_or(|lower| value >= lower - slack), "{round}: {value} {lower:?}");
                assert!(
                    quadratic.is_none_or(|quadratic| value >= quadratic - slack),
                    "{round}: {value} {quadratic:?}"
                );
            }
        }
    }
    assert!(known > 900 && curved > 300 && better > 200, "{known} {curved} {better}");
}

#[test]
fn no_action_is_beyond_a_bound() {
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    let mut known = 0;
    for round in 0..600 {
        let problem = problem(random);
        let x = individual(random, &problem);
        let features = one(random, &[vec![1, 2], vec![0, 3], vec![1, 2, 3]]);
        let width = features.len();
        let perturbation = vec![0.01; 4];
        let composer = Composer::new(&problem, &x, &features).unwrap();
        let far = one(random, &[0.1, 1.0, 8.0, f64::INFINITY]);
        let lower = uniform(random, width, -1.0..0.5);
        let upper: Vec<f64> = lower.iter().map(|l| l + far).collect();
        let ball = random.random_bool(0.5).then(|| Ball {
            shape: one(random, &[Shape::L1, Shape::L2]),
            weights: vec![1.5; width],
            radius: random.random_range(1.0..3.0),
        });
        let rays = vec![
            (0..width).map(|k| [1.0, 0.0, 0.0][k]).collect::<Vec<f64>>(),
            (0..width).map(|k| [0.5, -0.5, 0.0][k]).collect(),
        ];
        let rest: Vec<usize> = (2..width).collect();
        let end = one(random, &[40.0, f64::INFINITY, f64::INFINITY]);
        let cone = Zone::cone(2, 32.0, end, &lower[2..], &upper[2..]);
        let places = [
            (Zone::new(lower, upper, ball), composer.in_change(&perturbation), false),
            (Some(cone), composer.in_rays(&perturbation, &rays, &rest), true),
        ];
        for (zone, graph, is_cone) in places {
            let Some(zone) = zone else { continue };
            let range = Affine::new(&Tape::new(&graph), &zone).result();
            known += usize::from(range.lower.is_finite());
            for _ in 0..60 {
                let mut inputs = sample(random, &zone);
                if is_cone {
                    let (sum, share) = (inputs[0] + inputs[1], random.random_range(0.0..1.0));
                    (inputs[0], inputs[1]) = (share * sum, (1.0 - share) * sum);
                }
                let along = |k: usize| inputs[0] * rays[0][k] + inputs[1] * rays[1][k];
                let change = match is_cone {
                    true => (0..width).map(|k| if k < 2 { along(k) } else { inputs[k] }).collect(),
                    false => inputs.clone(),
                };
                let action = Action { features: features.clone(), change };
                let Ok(value) = margin(&problem, &x, &action, &perturbation) else { continue };
                let slack = 1e-12 * value.abs().max(1.0);
                let inside = value >= range.lower - slack && value <= range.upper + slack;
                assert!(inside, "{round} {is_cone}: {value} {range:?}");
            }
        }
    }
    assert!(known > 500, "{known}");
}

/// Functions below minus the margin of relu networks, interpolated along the rays of a limit on the cost.
#[test]
fn no_action_is_beyond_the_rays() {
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let features =
        Features::new(["a", "b", "c", "d"].map(|name| Feature::new(name).change(Change::Any)).to_vec());
    let features = features.unwrap();
    let (mut negative, mut better) = (0, 0);
    for round in 0..400 {
        let hidden: &[usize] = if round % 2 == 0 { &[4, 9, 1] } else { &[4, 8, 6, 1] };
        let network = crate::small::network(random, hidden, Activation::Relu, 1.2);
        let problem = Problem::new(features.clone(), Classifier::network(network, 0.5).unwrap()).unwrap();
        let x = uniform(random, 4, -1.0..1.0);
        let perturbation = uniform(random, 4, -0.1..0.1);
        let set = one(random, &[vec![1, 2], vec![0, 2, 3], vec![0, 1, 2, 3]]);
        let width = set.len();
        let composer = Composer::new(&problem, &x, &set).unwrap();
        let mut graph = composer.in_change(&perturbation);
        graph.output = graph.output.scaled(-1.0);
        let tape = Tape::new(&graph);
        let lower = uniform(random, width, -1.0..0.5);
        let upper: Vec<f64> = lower.iter().map(|l| l + random.random_range(0.0..1.5)).collect();
        let weights = uniform(random, width, 0.5..2.0);
        let ball = Ball { shape: Shape::L1, weights, radius: random.random_range(0.5..2.0) };
        let Some(zone) = Zone::new(lower, upper, Some(ball)) else { continue };
        let rays = Rays::new(&zone).unwrap();
        let affine = Affine::new(&tape, &zone);
        let functions: Vec<(f64, Vec<f64>)> = (0..2)
            .map(|_| {
                (
                    random.random_range(0.1..1.0),
                    rays.concave(&tape, &affine, Some(&sample(random, &zone))).unwrap(),
                )
            })
            .collect();
        let least = rays.least(&functions);
        let total: f64 = functions.iter().map(|(share, _)| share).sum();
        negative += usize::from(least < 0.0);
        better += usize::from(least > total * affine.result().lower);
        for _ in 0..200 {
            let value = total * tape.value(&sample(random, &zone));
            assert!(value >= least - 1e-12, "{round}: {value} {least}");
        }
    }
    // The bound is negative, and better than that of the plane, in many of the rounds.
    assert!(negative > 50 && better > 80, "{negative} {better}");
}

#[test]
fn sides_that_reach_far_are_split_at_the_geometric_mean() {
    let at = |lower: f64, upper: f64| {
        let zone = Zone::new(vec![lower], vec![upper], None).unwrap();
        let [below, above] = zone.halves(0).map(Option::unwrap);
        assert_eq!((below.lower[0], above.upper[0]), (lower, upper));
        assert_eq!(below.upper[0], above.lower[0]);
        below.upper[0]
    };
    assert!((at(1.0, 1e8) - 1e4).abs() < 1e-8);
    assert!((at(-1e8, -1.0) + 1e4).abs() < 1e-8);
    assert_eq!(at(1.0, 15.0), 8.0);
    assert_eq!(at(-1.0, 1e8), 0.5 * (1e8 - 1.0));
    assert_eq!(at(0.0, 1e8), 5e7);
    assert_eq!(at(3.0, f64::INFINITY), 6.0);
}

/// For a linear function all bounds are exact: the greatest value over a ball is the dual norm, over a
/// ball and a box the solution of a knapsack.
#[test]
fn support_functions_by_hand() {
    let zone = |shape, lower: [f64; 2], upper: [f64; 2]| {
        let ball = Ball { shape, weights: vec![1.0, 2.0], radius: 1.0 };
        Zone::new(lower.to_vec(), upper.to_vec(), Some(ball)).unwrap()
    };
    let (l, u) = ([-9.0, -9.0], [9.0, 9.0]);
    let least = |zone: Zone| zone.least(&[3.0, 8.0], &[0.0, 0.0]);
    assert!((least(zone(Shape::L1, l, u)) + 4.0).abs() < 1e-9);
    assert!((least(zone(Shape::L2, l, u)) + 5.0).abs() < 1e-9);
    // The box limits the second coordinate to 0.25, which uses half of the budget; the rest goes to the
    // first.
    assert!((least(zone(Shape::L1, [-9.0, -0.25], u)) + 3.5).abs() < 1e-9);
    let rest = (1.0f64 - 0.25).sqrt();
    assert!((least(zone(Shape::L2, [-9.0, -0.25], u)) + 2.0 + 3.0 * rest).abs() < 1e-4);
    let cone = Zone::cone(2, 2.0, f64::INFINITY, &[-1.0], &[3.0]);
    assert!((cone.least(&[3.0, 8.0, 1.0], &[0.0; 3]) - 5.0).abs() < 1e-9);
    assert_eq!(cone.least(&[3.0, -1e-9, 1.0], &[0.0; 3]), f64::NEG_INFINITY);
    assert_eq!(cone.least(&[3.0, 1e-9, 1.0], &[0.0, 1e-8, 0.0]), f64::NEG_INFINITY);
}
