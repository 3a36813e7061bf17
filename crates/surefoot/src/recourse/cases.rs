//! Limits on what is changed together, by cases.
//!
//! A problem may limit which things an action changes together ([`ChangeLimits`](crate::ChangeLimits)): at most a
//! number of them, or at most one of a list. A part of an allowed set is allowed as well. A method answers the problem without these limits,
//! which is a relaxation: its bound on the cost holds for every allowed action. If the action found changes an allowed
//! set, it is the answer. Otherwise one of the things that it changes is chosen, and two cases are answered instead:
//!
//! - the thing is not changed, that is its features are fixed;
//! - the thing may be changed, and everything that must not be changed together with it is fixed.
//!
//! Cases are taken in the order of their bounds (best-first branch and bound), until no case that is left can contain an
//! action that is cheaper than the cheapest allowed one by more than the gap. The bound on the cost is the least of the
//! bounds of all cases, and a proof is a list of cases with the proof of each.

mod search;

use super::{Method, MethodName, Settings};
use crate::outcome::{Undecided, UndecidedReason};
use crate::problem::{ChangeLimits, first_of_unit};
use crate::proof::{self, Proof};
use crate::{Action, Outcome, Problem, Result};
use search::Search;

/// The number of individuals that a thread answers at a time, where each case is a closed form.
const BATCH: usize = 16;

/// A method by cases, prepared for a problem that limits what is changed together.
#[derive(Debug)]
pub(super) struct Cases<'p> {
    problem: &'p Problem,
    /// The same problem without these limits.
    relaxed: Problem,
    method: MethodName,
    settings: Settings,
    is_closed_form: bool,
}

impl<'p> Cases<'p> {
    /// Prepares the method for a problem that limits what is changed together.
    ///
    /// # Errors
    /// As the method, for the problem without these limits.
    pub fn prepare_method(
        problem: &'p Problem,
        method: MethodName,
        settings: Settings,
    ) -> Result<Box<dyn Method + 'p>> {
        let relaxed = problem.clone().with_change_limits(ChangeLimits::none())?;
        let is_closed_form = method.prepare(&relaxed, settings)?.is_closed_form();
        Ok(Box::new(Self { problem, relaxed, method, settings, is_closed_form }))
    }

    fn allows(&self, things: &[usize]) -> bool {
        self.problem.change_limits().allows(things)
    }

    /// Everything that may be changed.
    fn things(&self) -> Vec<usize> {
        let features = self.problem.features();
        let units = features.actionable_units();
        let mut things: Vec<usize> = units.iter().map(|unit| first_of_unit(features, unit[0])).collect();
        things.sort_unstable();
        things
    }

    /// The actionable features that do not belong to some things.
    fn others(&self, things: &[usize]) -> Vec<usize> {
        let features = self.problem.features();
        let is_other = |&i: &usize| things.binary_search(&first_of_unit(features, i)).is_err();
        features.actionable().into_iter().filter(is_other).collect()
    }

    /// The cost of what an action changes of a thing, for comparison.
    fn effort(&self, action: &Action, thing: usize) -> f64 {
        let features = self.problem.features();
        let named = action.features.iter().zip(&action.change);
        let of_thing = named.filter(|&(&i, _)| first_of_unit(features, i) == thing);
        of_thing.map(|(&i, change)| features.feature(i).weight * change.abs()).sum()
    }

    /// Whether the answer of a closed form is proven case by case after the search: answers and proofs have bounds of
    /// their own there, and must be about the same action.
    fn proves_later(&self) -> bool {
        self.is_closed_form || !self.method.proves()
    }
}

impl Method for Cases<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let mut search = Search::run(self, individual)?;
        let bound = search.bound();
        let (outcome, _) = search.outcome(bound)?;
        Ok((outcome, search.evaluations))
    }

    fn prove(&self, individual: &[f64]) -> Result<Proof> {
        if !self.method.proves() {
            return self.method.prepare(&self.relaxed, self.settings)?.prove(individual);
        }
        let mut search = Search::run(self, individual)?;
        let (bound, cases) = search.proven_cases()?;
        let (outcome, certificate) = search.outcome(bound)?;
        let certificate = match (&outcome, certificate) {
            (Outcome::Found(_), None) => search.certificate()?,
            (_, certificate) => certificate,
        };
        let outcome = match (outcome, &certificate) {
            (Outcome::Found(found), None) => Outcome::Undecided(Undecided {
                best: found.action,
                margin: found.margin,
                required: self.problem.safety(),
                cost_bound: found.cost_bound,
                reason: UndecidedReason::Proof,
            }),
            (outcome, _) => outcome,
        };
        let mut proof = Proof::of(outcome, certificate, Vec::new());
        (proof.evaluations, proof.proving) = (search.evaluations, search.proving);
        match <[proof::Case; 1]>::try_from(cases) {
            // A proof for all features needs no other case.
            Ok([case]) if case.fixed.is_empty() => {
                (proof.ruled_out, proof.dividing) = (case.ruled_out, case.dividing)
            }
            Ok([case]) => proof.cases = vec![case],
            Err(cases) => proof.cases = cases,
        }
        Ok(proof)
    }

    fn batch_size(&self) -> usize {
        if self.is_closed_form { BATCH } else { 1 }
    }

    fn is_closed_form(&self) -> bool {
        self.is_closed_form
    }
}
