//! Recourse: the cheapest action that holds, or a proof that there is none.

mod cases;
mod complete;
mod descent;
mod exact;
mod explain;
mod local;
mod method;
mod observe;
mod options;
mod solver;
mod trade_off;
mod trees;

pub use complete::Complete;
pub use descent::{Attempt, Descent, Inner, Optimiser, karimi, wachter};
pub use exact::{Exact, WorstCase};
pub use explain::{Explainer, Explanation, Relaxation, Relaxed};
pub use method::{Method, MethodName};
pub use observe::{Improvement, Observer};
pub use options::recourse_options;
pub use solver::{Settings, Solver};
pub use trade_off::{Reach, TradeOff, trade_off};

use crate::{Outcome, People, Problem, Result};

/// Answers everyone, in order, on all cores, with the default [`Settings`].
///
/// # Errors
/// As [`Solver::new`] and [`Solver::solve_people`].
pub fn recourse(problem: &Problem, people: &People) -> Result<Vec<Outcome>> {
    Solver::new(problem, Settings::default())?.solve_people(people)
}
