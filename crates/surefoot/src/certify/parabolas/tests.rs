#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::graph::{AffineForm, Builder, Graph};
use crate::network::Layer;
use crate::{Activation, Network};

/// A random network; larger `gain` saturates its units.
fn network(random: &mut ChaCha8Rng, widths: &[usize], gain: f64) -> Network {
    let layer = |random: &mut ChaCha8Rng, pair: &[usize]| {
        let scale = gain / (pair[0] as f64).sqrt();
        let weight =
            ndarray::Array2::from_shape_fn((pair[1], pair[0]), |_| scale * random.random_range(-1.7..1.7));
        let bias = ndarray::Array1::from_shape_fn(pair[1], |_| gain * random.random_range(-0.5..0.5));
        Layer { weight, bias }
    };
    let layers = widths.windows(2).map(|pair| layer(random, pair)).collect();
    Network::new(layers, Activation::Tanh).unwrap()
}

fn graph(network: &Network) -> Graph<'_> {
    let mut builder = Builder::new(network.inputs());
    let inputs: Vec<AffineForm> =
        (0..network.inputs()).map(|i| builder.input(i).shifted(0.1 * i as f64)).collect();
    let output = builder.network(network, &inputs).plus(0.3, &inputs[0]);
    builder.finish(output)
}

fn value(network: &Network, y: &[f64]) -> f64 {
    let x: Vec<f64> = y.iter().enumerate().map(|(i, y)| y + 0.1 * i as f64).collect();
    network.value(&x) + 0.3 * x[0]
}

/// A point of the ball; every other one on its surface.
fn point(random: &mut ChaCha8Rng, n: usize, radius: f64, surface: bool) -> Vec<f64> {
    let y: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    let share = if surface { 1.0 } else { random.random_range(0.0..1.0f64).powf(1.0 / n as f64) };
    y.iter().map(|y| y / length * radius * share).collect()
}

const WIDTHS: [&[usize]; 6] =
    [&[1, 3, 1], &[4, 20, 1], &[2, 5, 4, 1], &[5, 17, 9, 1], &[8, 33, 20, 1], &[16, 24, 40, 1]];

/// All steps of proofs: ranges contain what is sampled, and every quadratic is below the margin.
#[test]
fn nothing_sampled_is_below_a_bound() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (number, widths) in WIDTHS.iter().enumerate() {
        for (gain, radius) in [(0.5, 0.1), (1.0, 0.5), (4.0, 0.2), (30.0, 0.05), (1.0, 2.0)] {
            let network = network(&mut random, widths, gain);
            let graph = graph(&network);
            let n = graph.inputs;
            let layers = Layers::of(&graph, radius).unwrap();
            let points: Vec<Vec<f64>> = (0..400).map(|k| point(&mut random, n, radius, k % 2 == 0)).collect();
            let values: Vec<f64> = points.iter().map(|y| value(&network, y)).collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // Not the lowest value, so that some points must stay in the ellipsoid.
            let required = least + 0.3 * (most - least);
            let mut partition = Partition::new(&layers, radius, required);
            partition.step();
            // A margin that is not there must not be proven.
            assert!(partition.lower() <= least, "{number} {gain} {radius}: {} {least}", partition.lower());
            for open in &partition.open {
                let (domain, target) = (&open.domain, partition.target);
                let ranges = Ranges::over(&layers, domain).unwrap();
                let (dual, parabolas) = saved(&layers, &ranges, domain, &open.dual);
                let (mut form, size) = dual::quadratic(&layers, &ranges, domain, &dual);
                form.add_multipliers(domain, &parabolas.slabs, parabolas.ellipsoid);
                for (y, &value) in points.iter().zip(&values) {
                    let y = DVector::from_column_slice(y);
                    let inside = |slab: &Slab| {
                        let along = DVector::from_column_slice(&slab.direction).dot(&y);
                        along >= slab.lower && along <= slab.upper
                    };
                    if !domain.slabs.iter().all(inside) {
                        continue;
                    }
                    let own = domain.ellipsoid.as_ref().unwrap();
                    let away = &y - &own.centre;
                    let is_in = away.dot(&(&own.matrix * &away)) <= 1.0;
                    assert!(is_in || value >= target, "{number} {gain} {radius}: a low point is cut off");
                    if is_in {
                        let below = form.constant + form.linear.dot(&y) + y.dot(&(&form.matrix * &y));
                        assert!(below <= value + 1e-12 * (1.0 + size), "{number}: {below} {value}");
                    }
                }
            }
        }
    }
}

/// Proofs close, with a gap that boxes do not reach in as many dimensions.
#[test]
fn margins_are_proven() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for widths in WIDTHS {
        let network = network(&mut random, widths, 1.5);
        let graph = graph(&network);
        let (n, radius) = (graph.inputs, 0.2);
        let layers = Layers::of(&graph, radius).unwrap();
        let points = (0..4000).map(|_| point(&mut random, n, radius, true));
        let values: Vec<f64> = points.map(|y| value(&network, &y)).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut partition = Partition::new(&layers, radius, least - 0.2 * (most - least));
        while partition.lowest().is_some() {
            partition.step();
            assert!(partition.len() < 60, "{widths:?}");
        }
        assert_eq!(partition.lower(), f64::INFINITY);
        let count = partition.len();
        let cells = partition.cells();
        // Every cut is followed by two cells.
        assert!(
            cells.len() == count && 2 * cells.iter().filter(|cell| cell.cut.is_some()).count() + 1 == count
        );
    }
}

#[test]
fn other_graphs_are_left_to_boxes() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let deep = network(&mut random, &[2, 3, 3, 3, 1], 1.0);
    assert!(Layers::of(&graph(&deep), 1.0).is_none());
    let relu =
        Network::new(network(&mut random, &[2, 3, 1], 1.0).layers().to_vec(), Activation::Relu).unwrap();
    assert!(Layers::of(&graph(&relu), 1.0).is_none());
}
