//! A fast method without proof: a local search for a cheap action, and attacks on it.
//!
//! It is the search for the incumbent of [`Complete`](super::Complete) alone. Its actions withstood
//! thorough attacks, and nothing more is known of them. For tree ensembles it is a short search of the method
//! `trees`, whose worst cases are exact.

use super::trees::Trees;
use super::{Complete, Method, Settings};
use crate::error::SettingError;
use crate::proof::Proof;
use crate::{Budget, Error, Outcome, Problem, Result};

/// The largest number of evaluations for tree ensembles.
const EVALUATIONS_OF_TREES: usize = 1_000;

/// The local search prepared for a problem, as one of the methods.
#[derive(Debug)]
pub(super) enum Local<'p> {
    Complete(Complete<'p>),
    Trees(Box<Trees<'p>>),
}

impl<'p> Local<'p> {
    /// Prepares the method, for the list of methods.
    pub fn prepare_method(problem: &'p Problem, settings: Settings) -> Result<Box<dyn Method + 'p>> {
        let evaluations = settings.budget.evaluations.min(EVALUATIONS_OF_TREES);
        match Trees::new(problem, Settings { budget: Budget { evaluations }, ..settings }) {
            Ok(trees) => Ok(Box::new(Local::Trees(Box::new(trees)))),
            Err(error) if error.is_for_another_method() => {
                Ok(Box::new(Local::Complete(Complete::new(problem)?.with_settings(settings)?)))
            }
            Err(error) => Err(error),
        }
    }
}

impl Method for Local<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        match self {
            Local::Complete(complete) => complete.search_locally(individual),
            Local::Trees(trees) => trees.candidate(individual),
        }
    }

    fn prove(&self, _: &[f64]) -> Result<Proof> {
        Err(Error::Setting(SettingError::NoProof { method: "local" }))
    }
}
