//! Recourse: the cheapest action that holds, or why there is none.

mod complete;
mod descent;
mod exact;
mod options;
mod trade_off;

use std::fmt;

use rayon::prelude::*;

pub use complete::{Complete, Proof, RuledOut};
pub use descent::{Attempt, Candidate, Descent, Inner, Optimiser, karimi, wachter};
pub use exact::{Exact, WorstCase};
pub use options::{options, recourse_options};
pub use trade_off::{Reach, reach, trade_off};

use crate::{Action, Budget, Error, People, Problem, Result};

/// The answer for one individual.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The classifier is favourable already.
    AlreadyFavourable,
    /// An action that holds, with what is proven of it.
    Found(Recourse),
    /// Proven: no feasible action holds.
    Impossible(Shortfall),
    /// Neither an action nor its impossibility could be proven.
    Undecided(Undecided),
}

/// An action that is proven to hold for every perturbation guarded against.
#[derive(Clone, Debug, PartialEq)]
pub struct Recourse {
    /// What to do.
    pub action: Action,
    /// What becomes of the individual, unperturbed, in standardised units.
    pub counterfactual: Vec<f64>,
    /// The effort.
    pub cost: f64,
    /// No action that holds costs less than this.
    pub cost_bound: f64,
    /// The margin that is left in the worst case; never negative.
    pub margin: f64,
}

/// How far the best feasible action falls short.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The feasible action with the best worst case; for problems that are not linear, of those
    /// that were looked at.
    pub best: Action,
    /// By how much, in units of the logit, its worst case stays below the boundary.
    pub missing: f64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.missing == f64::INFINITY {
            return f.write_str("nothing that may change meets every constraint");
        }
        write!(
            f,
            "in its worst case the best feasible action stays {:.3e} below the decision boundary",
            self.missing
        )
    }
}

/// What is known where nothing could be proven.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecided {
    /// The feasible action with the best worst case.
    pub best: Action,
    /// Its worst-case margin as evaluated.
    pub margin: f64,
    /// The margin that was asked for, safety and rounding included.
    pub required: f64,
    /// Proven: no action that holds costs less than this.
    pub cost_bound: f64,
    /// Why.
    pub reason: Reason,
}

/// Why nothing could be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What is left is within rounding errors of the boundary, or less than the safety asked for.
    Rounding,
    /// The budget was spent.
    Budget,
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reason == Reason::Budget {
            return write!(
                f,
                "the budget was spent; the best action so far is left with a margin of {:.3e} in the worst case that was found, and no action that holds costs less than {:.3}",
                self.margin, self.cost_bound
            );
        }
        write!(
            f,
            "the best feasible action is left with a margin of {:.3e} in its worst case, too little to tell from rounding or less than the safety asked for ({:.3e})",
            self.margin, self.required
        )
    }
}

impl Outcome {
    /// The action found, if any.
    pub fn recourse(&self) -> Option<&Recourse> {
        match self {
            Outcome::Found(recourse) => Some(recourse),
            _ => None,
        }
    }

    /// The answer in one word, as tables have it.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::AlreadyFavourable => "favourable",
            Outcome::Found(_) => "found",
            Outcome::Impossible(_) => "impossible",
            Outcome::Undecided(_) => "undecided",
        }
    }
}

/// Refuses a gap that [`Complete`] could not keep; also before another method answers, so that a
/// slip is told whatever the problem.
pub fn require_gap(gap: f64) -> Result<()> {
    match gap.is_finite() && gap > 0.0 && gap < 1.0 {
        true => Ok(()),
        false => Err(Error::Setting { setting: "gap", value: gap }),
    }
}

/// Refuses a budget with which nothing can be done.
pub fn require_budget(budget: Budget) -> Result<()> {
    match budget.evaluations {
        0 => Err(Error::Setting { setting: "evaluations", value: 0.0 }),
        _ => Ok(()),
    }
}

/// Answers everyone, in order, on all cores.
///
/// Linear problems are solved exactly ([`Exact`]), others by [`Complete`] with its default gap and
/// budget.
pub fn recourse(problem: &Problem, people: &People) -> Result<Vec<Outcome>> {
    if people.features() != problem.features() {
        return Err(Error::OtherFeatures);
    }
    let individuals: Vec<&[f64]> = people.iter().collect();
    match Exact::new(problem) {
        Ok(exact) => {
            individuals.into_par_iter().with_min_len(64).map(|individual| exact.solve(individual)).collect()
        }
        Err(error) if error.is_beyond_exact() => {
            let complete = Complete::new(problem)?;
            individuals.into_par_iter().map(|individual| complete.solve(individual)).collect()
        }
        Err(error) => Err(error),
    }
}

/// The answer of an individual by the method that [`recourse`] would choose.
fn answer(problem: &Problem, individual: &[f64]) -> Result<Outcome> {
    match Exact::new(problem) {
        Ok(exact) => exact.solve(individual),
        Err(error) if error.is_beyond_exact() => Complete::new(problem)?.solve(individual),
        Err(error) => Err(error),
    }
}
