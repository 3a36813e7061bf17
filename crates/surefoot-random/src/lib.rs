//! Random problems for tests, and whether everything that Surefoot says about one agrees.
//!
//! A [`Case`] is a random problem file with people, every setting of which is drawn independently of
//! all others. [`contradictions`] asks the engine everything it can be asked about a case and holds the
//! answers against each other and against the definition of an action that holds, evaluated by brute
//! force; [`command::contradictions`] does the same with the command `surefoot`.
//!
//! This crate is for tests and benchmarks alone: it panics where a test would.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod candidates;
pub mod command;
mod definition;
mod draw;
mod judge;
mod words;

use std::fmt;

use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::{Activation, Layer, Network};

pub use draw::Case;
pub use judge::{Settings, Tally, contradictions};

/// A network whose weights are uniform in `[-scale, scale]` and whose biases are uniform in `[-1, 1]`.
pub fn network(random: &mut ChaCha8Rng, widths: &[usize], activation: Activation, scale: f64) -> Network {
    let mut layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_simple_fn((pair[1], pair[0]), || random.random_range(-1.0..1.0) * scale),
        bias: Array1::from_shape_simple_fn(pair[1], || random.random_range(-1.0..1.0)),
    };
    Network::new(widths.windows(2).map(&mut layer).collect(), activation).unwrap()
}

/// Two statements about one person that cannot both be true, or one that the definition refutes.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The property that is violated, as a short name that is the same for all cases.
    pub property: &'static str,
    /// The statements and numbers.
    pub detail: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.detail)
    }
}
