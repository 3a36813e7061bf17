//! Proofs by phases are accepted, and changed ones are not.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::ball::Ball;
use super::phases::Relus;
use super::prove::Work;
use super::zone::Zone;
use crate::certify::proof_by_phases;
use crate::graph::{AffineForm, Builder, Graph};
use crate::network::Layer;
use crate::proof::PhaseNode;
use crate::uncertainty::Uncertainty;
use crate::{Activation, Network, Norm};

const RADIUS: f64 = 0.3;

fn network(random: &mut ChaCha8Rng, widths: &[usize]) -> Network {
    let layer = |random: &mut ChaCha8Rng, pair: &[usize]| {
        let scale = 2.0 / (pair[0] as f64).sqrt();
        let weight =
            ndarray::Array2::from_shape_fn((pair[1], pair[0]), |_| scale * random.random_range(-1.7..1.7));
        Layer { weight, bias: ndarray::Array1::from_shape_fn(pair[1], |_| random.random_range(-0.6..0.6)) }
    };
    let layers = widths.windows(2).map(|pair| layer(random, pair)).collect();
    Network::new(layers, Activation::Relu).unwrap()
}

fn graph(network: &Network) -> Graph<'_> {
    let mut builder = Builder::new(network.inputs());
    let inputs: Vec<AffineForm> = (0..network.inputs()).map(|i| builder.input(i).shifted(0.2)).collect();
    let output = builder.network(network, &inputs);
    builder.finish(output)
}

fn accepts(graph: &Graph<'_>, norm: &Norm, radius: f64, nodes: &[PhaseNode], wanted: f64) -> bool {
    let uncertainty = Uncertainty::new(norm.clone(), radius).unwrap();
    let (ball, reach) = Ball::of_uncertainty(&uncertainty, graph.inputs, 0.0);
    let zone = Zone::new(reach.iter().map(|end| -end).collect(), reach, ball).unwrap();
    let relus = Relus::of(graph, &zone).unwrap();
    relus.at_least(&zone, nodes, wanted, &mut Work { left: 20_000, done: 0 }).is_ok()
}

/// Changes the first bound among some nodes. Returns whether the result is invalid; otherwise it is valid, as any slopes
/// and multipliers are, but need not be sufficient. `None` if there is no bound.
fn changed(nodes: &mut [PhaseNode], change: usize) -> Option<bool> {
    let bound = nodes.iter_mut().find_map(|node| match node {
        PhaseNode::Closed(bound) if !bound.slopes.is_empty() => Some(bound),
        _ => None,
    })?;
    match change {
        0 => bound.multipliers.first_mut().map(|multiplier| *multiplier = -1.0)?,
        1 => bound.multipliers.push(1.0),
        2 => bound.slopes[0][0] = 1.5,
        3 => bound.slopes[0][0] = f64::NAN,
        4 => bound.slopes.truncate(bound.slopes.len() - 1),
        5 => bound.slopes.iter_mut().flatten().for_each(|slope| *slope = 1.0 - *slope),
        _ => bound.multipliers.iter_mut().for_each(|multiplier| *multiplier = 1e3),
    }
    Some(change < 5)
}

#[test]
fn proofs_are_accepted_and_false_ones_are_not() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut divided = 0;
    for widths in [&[3, 8, 1][..], &[2, 6, 5, 1], &[6, 20, 15, 1], &[4, 9, 8, 7, 1], &[20, 30, 1]] {
        for norm in [Norm::L1, Norm::L2, Norm::LINF] {
            for gap in [0.02, 0.3] {
                let network = network(&mut random, widths);
                let graph = graph(&network);
                let value = |random: &mut ChaCha8Rng| {
                    let y = norm.sample(random, network.inputs(), true);
                    network.value(&y.iter().map(|y| 0.2 + RADIUS * y).collect::<Vec<f64>>())
                };
                let least = (0..4000).map(|_| value(&mut random)).fold(f64::INFINITY, f64::min);
                let wanted = least - gap;
                let larger = RADIUS * (1.0 + 1e-12);
                let (nodes, is_proven) = proof_by_phases(&graph, norm.set(), larger, wanted, 400);
                assert_eq!(
                    accepts(&graph, &norm, RADIUS, &nodes, wanted),
                    is_proven,
                    "{widths:?} {norm:?} {gap}"
                );
                // What is sampled cannot be excluded, whatever the nodes state.
                assert!(!accepts(&graph, &norm, RADIUS, &nodes, least + 1e-6));
                if !is_proven {
                    continue;
                }
                divided += usize::from(nodes.len() > 1);
                for change in 0..7 {
                    let mut other = nodes.clone();
                    let Some(is_invalid) = changed(&mut other, change) else { continue };
                    assert!(!accepts(&graph, &norm, RADIUS, &other, least + 1e-6), "{change}");
                    assert!(!is_invalid || !accepts(&graph, &norm, RADIUS, &other, wanted), "{change}");
                }
                let mut fewer = nodes.clone();
                fewer.pop();
                assert!(!accepts(&graph, &norm, RADIUS, &fewer, wanted), "a node is missing");
                let outside =
                    [PhaseNode::Split { layer: 9, unit: 0 }, PhaseNode::Split { layer: 0, unit: 999 }];
                for node in outside {
                    let mut other = nodes.clone();
                    other[0] = node;
                    assert!(!accepts(&graph, &norm, RADIUS, &other, wanted), "no such unit");
                }
                assert!(!accepts(&graph, &norm, 2.0 * RADIUS, &nodes, least), "a larger ball");
            }
        }
    }
    assert!(divided > 5, "{divided} proofs divide the ball");
}
