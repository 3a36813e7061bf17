//! Exact questions about tree ensembles: the worst perturbation of an action, and bounds of the cost of any
//! action.
//!
//! A score is constant on cells between thresholds. So worst cases are found among finitely many cells, and
//! boxes of actions are divided at thresholds.

mod adversary;
mod bound;
mod flat;
mod pool;
mod read;
mod scene;

pub(crate) use adversary::{Adversary, Question, Worst};
pub(crate) use bound::{Bounder, Scenario, Sides, Wish};
pub(crate) use flat::{Cell, Forest, Node};
pub(crate) use pool::{Bad, ranges, unit_prices, usable_limit};
pub(crate) use scene::Scene;
