#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::graph::{AffineForm, Builder};
use crate::network::Layer;
use crate::{Activation, Network, Norm};

fn network(random: &mut ChaCha8Rng, widths: &[usize], gain: f64) -> Network {
    let layer = |random: &mut ChaCha8Rng, pair: &[usize]| {
        let scale = gain / (pair[0] as f64).sqrt();
        let weight =
            ndarray::Array2::from_shape_fn((pair[1], pair[0]), |_| scale * random.random_range(-1.7..1.7));
        Layer { weight, bias: ndarray::Array1::from_shape_fn(pair[1], |_| random.random_range(-0.5..0.5)) }
    };
    let layers = widths.windows(2).map(|pair| layer(random, pair)).collect();
    Network::new(layers, Activation::Relu).unwrap()
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

const WIDTHS: [&[usize]; 5] = [&[1, 3, 1], &[4, 20, 1], &[2, 5, 4, 1], &[5, 17, 9, 1], &[8, 12, 10, 6, 1]];

/// Points of the ball and their margins.
fn sampled(random: &mut ChaCha8Rng, network: &Network, norm: &Norm, radius: f64) -> Vec<(Vec<f64>, f64)> {
    (0..600)
        .map(|k| {
            let y = norm.sample(random, network.inputs(), k % 2 == 0);
            let y: Vec<f64> = y.iter().map(|y| y * radius).collect();
            let value = value(network, &y);
            (y, value)
        })
        .collect()
}

/// At every step of a proof each sampled point is in an open or closed part, whose conditions and ranges contain it
/// and whose bound is below its margin.
#[test]
fn nothing_sampled_is_below_a_bound() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for widths in WIDTHS {
        for norm in [Norm::L1, Norm::L2, Norm::LINF] {
            for (gain, radius) in [(1.0, 0.1), (1.5, 0.5), (5.0, 0.3), (1.0, 3.0)] {
                let network = network(&mut random, widths, gain);
                let graph = graph(&network);
                let ball = Ball { set: norm.set(), radius };
                let layers = layers_of(&graph, ball).unwrap();
                let points = sampled(&mut random, &network, &norm, radius);
                let least = points.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
                let most = points.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
                let mut phases = Phases::new(&layers, ball, least + 0.4 * (most - least));
                for _ in 0..12 {
                    assert!(
                        phases.lower() <= least + 1e-9 || most - least < 1e-9,
                        "{widths:?} {norm:?} {gain} {radius}"
                    );
                    for open in &phases.open {
                        check_part(open, &layers, &points);
                    }
                    if !phases.step() {
                        break;
                    }
                }
            }
        }
    }
}

fn check_part(open: &Open, layers: &Layers, points: &[(Vec<f64>, f64)]) {
    for (y, value) in points {
        let (mut inputs, mut all) = (y.clone(), Vec::new());
        for layer in &layers.hidden {
            let mut z = Vec::new();
            layer.forward(&inputs, &mut z);
            inputs = z.iter().map(|z| z.max(0.0)).collect();
            all.push(z);
        }
        let has_sign = |c: &Condition| (all[c.layer][c.unit] >= 0.0) == c.is_active;
        if !open.conditions.iter().all(has_sign) {
            continue;
        }
        for (z, &(lower, upper)) in all.iter().flatten().zip(open.ranges.iter().flatten()) {
            assert!(*z >= lower - 1e-9 && *z <= upper + 1e-9, "{z} in [{lower}, {upper}]");
        }
        assert!(open.lower <= value + 1e-9, "{} {value}", open.lower);
    }
}

/// With all phases known a bound is exact, so every margin that is there can be proven.
#[test]
fn margins_are_proven() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for widths in WIDTHS {
        for norm in [Norm::L1, Norm::L2, Norm::LINF] {
            let network = network(&mut random, widths, 1.5);
            let graph = graph(&network);
            let ball = Ball { set: norm.set(), radius: 0.3 };
            let layers = layers_of(&graph, ball).unwrap();
            // A lower margin than that of the worst of the points and of what the search itself names.
            let points = sampled(&mut random, &network, &norm, 0.3);
            let least = points.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            let mut required = least - 0.02;
            let mut phases = Phases::new(&layers, ball, required);
            while let Some(lowest) = phases.lowest() {
                let at = value(&network, lowest);
                if at - 0.02 < required {
                    required = at - 0.02;
                    phases = Phases::new(&layers, ball, required);
                    continue;
                }
                assert!(phases.step() && phases.len() < 3000, "{widths:?} {norm:?} {}", phases.len());
            }
            let (count, nodes) = (phases.len(), phases.into_nodes());
            let splits = nodes.iter().filter(|node| matches!(node, PhaseNode::Split { .. })).count();
            assert_eq!((nodes.len(), 2 * splits + 1), (count, count));
        }
    }
}
