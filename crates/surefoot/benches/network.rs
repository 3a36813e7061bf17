//! Value and gradient of a 7-100-100-1 tanh network for 1,024 rows on one thread; beside
//! PyTorch in the same run with `benches/against_pytorch.py`.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

use std::time::Instant;

use ndarray::Array2;
use surefoot::{Activation, Layer, Network};

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_fn((pair[1], pair[0]), |(i, j)| ((13 * i + 7 * j) as f64).sin() * 0.2),
        bias: (0..pair[1]).map(|i| (i as f64).cos()).collect(),
    };
    let layers = [7, 100, 100, 1].windows(2).map(layer).collect();
    let network = Network::new(layers, Activation::Tanh).expect("a network");
    let rows = Array2::from_shape_fn((1024, 7), |(i, j)| ((i * 7 + j) as f64 * 0.37).sin());
    let mut seconds: Vec<f64> = (0..300)
        .map(|_| {
            let start = Instant::now();
            let done = pool.install(|| network.gradients(rows.view()));
            std::hint::black_box(done);
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    println!(
        "surefoot f64 1024 rows: {:.4} ms (median), {:.4} ms (best)",
        seconds[150] * 1e3,
        seconds[0] * 1e3
    );
}
