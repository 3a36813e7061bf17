//! A fast method without proof: a local search for a cheap action, and attacks on it.
//!
//! It is the search for the incumbent of [`Complete`](super::Complete) alone. Its actions withstood
//! thorough attacks, and nothing more is known of them.

use super::{Complete, Method, Settings};
use crate::error::SettingError;
use crate::proof::Proof;
use crate::{Error, Outcome, Problem, Result};

/// The local search prepared for a problem, as one of the methods.
#[derive(Debug)]
pub(super) struct Local<'p> {
    complete: Complete<'p>,
}

impl<'p> Local<'p> {
    /// Prepares the method, for the list of methods.
    pub fn prepare_method(problem: &'p Problem, settings: Settings) -> Result<Box<dyn Method + 'p>> {
        Ok(Box::new(Local { complete: Complete::new(problem)?.with_settings(settings)? }))
    }
}

impl Method for Local<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        self.complete.search_locally(individual)
    }

    fn prove(&self, _: &[f64]) -> Result<Proof> {
        Err(Error::Setting(SettingError::NoProof { method: "local" }))
    }
}
