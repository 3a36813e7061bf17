//! Proofs by parabolas are accepted, and changed ones are not.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::parabolas::at_least;
use super::prove::Work;
use super::tanh_network::Units;
use crate::certify::{Layers, Partition};
use crate::graph::{AffineForm, Builder, Graph};
use crate::network::Layer;
use crate::proof::Cell;
use crate::{Activation, Network};

fn network(random: &mut ChaCha8Rng, widths: &[usize]) -> Network {
    let layer = |random: &mut ChaCha8Rng, pair: &[usize]| {
        let scale = 2.5 / (pair[0] as f64).sqrt();
        let weight =
            ndarray::Array2::from_shape_fn((pair[1], pair[0]), |_| scale * random.random_range(-1.7..1.7));
        Layer { weight, bias: ndarray::Array1::from_shape_fn(pair[1], |_| random.random_range(-1.0..1.0)) }
    };
    let layers = widths.windows(2).map(|pair| layer(random, pair)).collect();
    Network::new(layers, Activation::Tanh).unwrap()
}

fn graph(network: &Network) -> Graph<'_> {
    let mut builder = Builder::new(network.inputs());
    let inputs: Vec<AffineForm> = (0..network.inputs()).map(|i| builder.input(i).shifted(0.2)).collect();
    let output = builder.network(network, &inputs);
    builder.finish(output)
}

/// The least of many sampled values.
fn sampled(random: &mut ChaCha8Rng, network: &Network, radius: f64) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..4000 {
        let y: Vec<f64> = (0..network.inputs()).map(|_| random.random_range(-1.0..1.0)).collect();
        let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        let x: Vec<f64> = y.iter().map(|y| 0.2 + radius * y / length).collect();
        least = least.min(network.value(&x));
    }
    least
}

fn accepts(graph: &Graph<'_>, radius: f64, cells: &[Cell], wanted: f64) -> bool {
    let units = Units::of(graph, radius).unwrap();
    at_least(&units, radius, cells, wanted, &mut Work { left: 20_000, done: 0 }).is_ok()
}

#[test]
fn proofs_are_accepted_and_false_ones_are_not() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let radius = 0.3;
    let mut cut = 0;
    for widths in [&[3, 8, 1][..], &[2, 6, 5, 1], &[6, 20, 15, 1], &[10, 30, 30, 1], &[20, 40, 17, 1]] {
        for gap in [0.05, 0.3] {
            let network = network(&mut random, widths);
            let graph = graph(&network);
            let layers = Layers::of(&graph, radius).unwrap();
            let least = sampled(&mut random, &network, radius);
            let wanted = least - gap;
            let mut partition = Partition::new(&layers, radius * (1.0 + 1e-12), wanted);
            while partition.lowest().is_some() && partition.len() < 40 {
                partition.step();
            }
            let is_proven = partition.lowest().is_none();
            let mut cells = partition.cells();
            assert_eq!(accepts(&graph, radius, &cells, wanted), is_proven, "{widths:?} {gap}");
            // What is sampled cannot be excluded, whatever the cells state.
            assert!(!accepts(&graph, radius, &cells, least + 1e-6));
            if !is_proven {
                continue;
            }
            cut += usize::from(cells.len() > 1);
            // Any numbers are valid, but not sufficient.
            for change in 0..5 {
                let mut other = cells.clone();
                let Some(bound) = other.iter_mut().flat_map(|cell| &mut cell.bounds).next() else { continue };
                match change {
                    0 => bound.ball = -1.0,
                    1 => bound.ball = f64::NAN,
                    2 => bound.outer.clear(),
                    3 => bound.slabs.push(1e9),
                    _ => bound.outer.iter_mut().for_each(|unit| unit[0] += 1e3),
                }
                assert!(!accepts(&graph, radius, &other, least + 1e-6), "{change}");
            }
            if cells.len() > 1 {
                cells.pop();
                assert!(!accepts(&graph, radius, &cells, wanted), "a cell is missing");
            }
            assert!(!accepts(&graph, radius, &[], wanted));
            assert!(!accepts(&graph, 2.0 * radius, &cells, least), "a larger ball");
        }
    }
    assert!(cut > 0, "some proofs have cuts");
}
