//! The networks of the published comparison, trained here.

use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::{Activation, Layer, Network};

const HIDDEN: usize = 8;
const STEPS: i32 = 100;
const STEP: f64 = 0.001;

/// One hidden layer of eight relu units, from the random start of PyTorch (uniform within one over the root of the
/// number of inputs) by full-batch steps of Adam on the binary cross-entropy.
pub fn network(rows: &[Vec<f64>], target: &[f64], seed: u64) -> Network {
    let inputs = rows[0].len();
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut start = |count: usize, inputs: usize| -> Vec<f64> {
        let most = 1.0 / (inputs as f64).sqrt();
        (0..count).map(|_| random.random_range(-most..most)).collect()
    };
    let parts =
        [start(HIDDEN * inputs, inputs), start(HIDDEN, inputs), start(HIDDEN, HIDDEN), start(1, HIDDEN)];
    let mut weights: Vec<f64> = parts.concat();
    let (mut mean, mut square) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
    for step in 1..=STEPS {
        let gradient = gradient(&weights, rows, target);
        for (k, g) in gradient.into_iter().enumerate() {
            mean[k] = 0.9 * mean[k] + 0.1 * g;
            square[k] = 0.999 * square[k] + 0.001 * g * g;
            let (m, s) = (mean[k] / (1.0 - 0.9f64.powi(step)), square[k] / (1.0 - 0.999f64.powi(step)));
            weights[k] -= STEP * m / (s.sqrt() + 1e-8);
        }
    }
    let (first, rest) = weights.split_at(HIDDEN * inputs);
    let weight = Array2::from_shape_fn((HIDDEN, inputs), |(k, j)| first[k * inputs + j]);
    let last = Array2::from_shape_fn((1, HIDDEN), |(_, k)| rest[HIDDEN + k]);
    let layers = vec![
        Layer { weight, bias: Array1::from(rest[..HIDDEN].to_vec()) },
        Layer { weight: last, bias: Array1::from(vec![rest[2 * HIDDEN]]) },
    ];
    #[expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]
    Network::new(layers, Activation::Relu).expect("finite weights")
}

/// The gradient of the mean cross-entropy in all weights: those of the hidden layer, its biases, those of the output.
fn gradient(weights: &[f64], rows: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    let inputs = rows[0].len();
    let (first, rest) = weights.split_at(HIDDEN * inputs);
    let mut gradient = vec![0.0; weights.len()];
    for (x, y) in rows.iter().zip(target) {
        let z = |k: usize| {
            let row = &first[k * inputs..(k + 1) * inputs];
            rest[k] + row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
        };
        let h: Vec<f64> = (0..HIDDEN).map(|k| z(k).max(0.0)).collect();
        let logit = rest[2 * HIDDEN] + (0..HIDDEN).map(|k| rest[HIDDEN + k] * h[k]).sum::<f64>();
        let error = (1.0 / (1.0 + (-logit).exp()) - y) / rows.len() as f64;
        let (of_first, of_rest) = gradient.split_at_mut(HIDDEN * inputs);
        of_rest[2 * HIDDEN] += error;
        for k in (0..HIDDEN).filter(|&k| h[k] > 0.0) {
            of_rest[HIDDEN + k] += error * h[k];
            let adjoint = error * rest[HIDDEN + k];
            of_rest[k] += adjoint;
            let row = &mut of_first[k * inputs..(k + 1) * inputs];
            row.iter_mut().zip(x).for_each(|(g, x)| *g += adjoint * x);
        }
    }
    gradient
}
