//! Bounds that only proofs use, compared with dense sampling.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::graph::{Order, Quadratic};
use crate::small::{FORMULAS, Family, individual, one, uniform};
use crate::{Change, Feature, Features};

fn problem(random: &mut ChaCha8Rng) -> Problem {
    drawn(random, &[&[9], &[20, 18], &[5, 6, 5]], |family, random| family.draw(random))
}

/// A linear model or a network with weights in an ellipsoid.
fn with_ellipsoid(random: &mut ChaCha8Rng) -> Problem {
    drawn(random, &[&[], &[], &[5], &[4, 3]], |family, random| family.draw_with_ellipsoid(random))
}

fn drawn(
    random: &mut ChaCha8Rng,
    hidden: &[&[usize]],
    draw: impl Fn(&Family<'_>, &mut ChaCha8Rng) -> Problem,
) -> Problem {
    let feature = |name| Feature::new(name).change(Change::Any);
    let features = Features::new(["a", "b", "c", "d"].map(feature).to_vec()).unwrap();
    let family = Family {
        features: &features,
        hidden,
        scales: &[0.3, 1.0, 3.0],
        epsilons: &[0.02, 0.1, 0.5],
        formulas: &FORMULAS,
    };
    draw(&family, random)
}

/// Random points of a region, many of them on its border.
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
    let Counts { curved, refined, gain, second_derivatives, better } = compared(problem, 1.0);
    assert!(curved > 300 && refined > 500 && gain > 100, "{curved} {refined} {gain}");
    assert!(second_derivatives > 500 && better > 300, "{second_derivatives} {better}");
}

#[test]
fn bounds_with_ellipsoids_of_weights_are_below_what_is_sampled() {
    let Counts { curved, refined, second_derivatives, better, .. } = compared(with_ellipsoid, 1.0);
    // The margin is concave in what the norm is of, so that no plane that touches it is below it.
    assert!(curved > 300 && refined == 0, "{curved} {refined}");
    assert!(second_derivatives > 500 && better > 50, "{second_derivatives} {better}");
    // Below minus the margin, there are such planes for linear models.
    let Counts { curved, refined, gain, .. } = compared(with_ellipsoid, -1.0);
    assert!(curved > 300 && refined > 100 && gain > 50, "{curved} {refined} {gain}");
}

/// How many bounds of each kind there were, and how many of them were better than affine ones.
struct Counts {
    curved: usize,
    refined: usize,
    gain: usize,
    second_derivatives: usize,
    better: usize,
}

/// Compares all bounds of the margin over perturbations, times a factor, with what is sampled.
fn compared(problem: impl Fn(&mut ChaCha8Rng) -> Problem, factor: f64) -> Counts {
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let (mut curved, mut refined, mut gain, mut second_derivatives, mut better) = (0, 0, 0, 0, 0);
    for round in 0..600 {
        let problem = problem(random);
        let x = individual(random, &problem);
        let set = [&[0][..], &[1, 2], &[3], &[0, 1, 3], &[]][random.random_range(0..5)];
        let change: Vec<f64> = set.iter().map(|_| random.random_range(-0.5..0.5)).collect();
        let composer = Composer::new(&problem, &x, set).unwrap();
        let coordinates = Coordinates::of(&problem);
        let mut graph = composer.in_perturbation(&change, &coordinates);
        graph.output = graph.output.scaled(factor);
        let region = part(random, &Region::uncertain(problem.uncertainty(), 4, 0.0));
        let (mut affine, mut jets) = (Affine::default(), Jets::default());
        let points: Vec<Vec<f64>> = (0..60)
            .map(|_| sample(random, &region))
            .filter(|y| region.contains(y) && problem.uncertainty().contains(&coordinates.perturbation(y)))
            .collect();
        let Some(centre) = points.first().cloned() else { continue };
        let mut bounded = affine.bound(&graph, &region);
        // Refined around any point.
        jets.evaluate(&graph, &centre, Order::Value);
        if let Some(better) = bounded.refine(&jets) {
            refined += 1;
            gain += usize::from(better.lower(&region) > bounded.lower());
            for y in &points {
                let value = jets.evaluate(&graph, y, Order::Value).value;
                let along: f64 = better.linear.iter().zip(y).map(|(l, y)| l * y).sum();
                let bound = better.constant + along - better.error;
                assert!(value >= bound - 1e-12, "{round}: {value} {bound} {:?}", graph.operations.len());
                assert!(value >= better.lower(&region), "{round}");
            }
        }
        // The quadratic bound, from above and from below.
        let (plane, affine_lower) = (bounded.plane.clone(), bounded.lower());
        if let Some(quadratic) = bounded.quadratic() {
            second_derivatives += 1;
            let (lower, _) = quadratic.lower(f64::INFINITY);
            let quadratic = quadratic.bound();
            better += usize::from(lower > affine_lower);
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
        let Some(curvature) = affine.bound(&graph, &region).curvature(&centre, &mut jets, true) else {
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
    Counts { curved, refined, gain, second_derivatives, better }
}

/// Regions with a limited sum: whatever the sum, no sampled value is beyond the bound.
#[test]
fn far_regions_hold_what_is_far_away() {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    for _ in 0..200 {
        let problem = problem(random);
        let x = individual(random, &problem);
        let composer = Composer::new(&problem, &x, &[0, 2, 3]).unwrap();
        let rays = vec![vec![1.0, 0.0, 0.0], vec![0.4, -0.6, 0.0]];
        let d = uniform(random, 4, -0.01..0.01);
        let graph = composer.in_rays(&d, &rays, &[2]);
        let to = one(random, &[40.0, 1e4, f64::INFINITY]);
        let region = Region::orthant_slab(2, 32.0, to, &[-0.5], &[0.5]);
        let mut affine = Affine::default();
        let bounded = affine.bound(&graph, &region);
        let (lower, upper) = (bounded.lower(), bounded.upper());
        for _ in 0..100 {
            let total = 32.0 + (to.min(1e7) - 32.0) * random.random::<f64>().powi(8);
            let share: f64 = random.random();
            let y = [share * total, (1.0 - share) * total, random.random_range(-0.5..0.5)];
            let value = Jets::default().evaluate(&graph, &y, Order::Value).value;
            let change = [y[0] + 0.4 * y[1], -0.6 * y[1], y[2]];
            let action = Action { features: vec![0, 2, 3], change: change.to_vec() };
            if let Ok(margin) = crate::margin::margin(&problem, &x, &action, &d) {
                // Both are infinite where a formula overflows.
                let is_same = margin == value || (margin - value).abs() <= 1e-6 * (1.0 + value.abs());
                assert!(is_same, "{margin} {value}");
            }
            // A result that overflows is undefined: its margin is minus infinity, below any upper bound.
            let beyond = value > upper || value.is_finite() && value < lower;
            assert!(!beyond, "{value} {lower} {upper}");
        }
    }
}
