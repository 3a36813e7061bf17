//! Random problems for tests, and whether everything that Surefoot says about one agrees.
//!
//! A [`Case`] is a random problem file with people, every setting of which is drawn independently of
//! all others. [`contradictions`] asks the engine everything it can be asked about a case and holds the
//! answers against each other and against the definition of an action that holds, evaluated by brute
//! force; [`command::contradictions`] does the same with the command `surefoot`. A [`Family`] gives
//! problems over given features, small enough for brute force.
//!
//! This crate is for tests and benchmarks alone: it panics where a test would.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod candidates;
pub mod command;
mod definition;
mod draw;
mod judge;
mod linear;
mod small;
mod words;

use std::fmt;

pub use draw::Case;
pub use judge::{Settings, Tally, contradictions};
pub use linear::{linear_causal_model, turned_down};
pub use small::{
    ACTIVATIONS, FORMULAS, Family, NORM_KINDS, Plain, causal_model, covariance, individual, network, norm,
    one, product, uniform, with_settings,
};

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
