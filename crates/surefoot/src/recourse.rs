//! Recourse: the cheapest action that holds, or why there is none.

mod complete;
mod descent;
mod exact;
mod explain;
mod method;
mod options;
mod trade_off;

use rayon::prelude::*;

pub use complete::Complete;
pub use descent::{Attempt, Candidate, Descent, Inner, Optimiser, karimi, wachter};
pub use exact::{Exact, WorstCase};
pub use explain::{Explainer, Explanation, Relaxation, Relaxed};
pub use method::{Method, Settings};
pub use options::{options, recourse_options};
pub use trade_off::{Reach, TradeOff, trade_off};

use crate::{Budget, Error, Outcome, People, Problem, Result};

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
    match Method::new(problem, Settings::default())? {
        Method::Exact(exact) => {
            individuals.into_par_iter().with_min_len(64).map(|individual| exact.solve(individual)).collect()
        }
        Method::Complete(complete) => {
            individuals.into_par_iter().map(|individual| complete.solve(individual)).collect()
        }
    }
}

/// The answer of an individual by the method that [`recourse`] would choose.
fn answer(problem: &Problem, individual: &[f64]) -> Result<Outcome> {
    Method::new(problem, Settings::default())?.solve(individual)
}
