//! The measure of an action's cost.

use crate::length::{euclidean, sum_of_sizes};

/// The measure of an action's cost, with the features' cost weights `w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cost {
    /// `sum_i w_i |change_i|`, as in the paper.
    #[default]
    L1,
    /// `sqrt(sum_i (w_i change_i)^2)`.
    L2,
}

impl Cost {
    /// The cost of changes that have been multiplied by their weights.
    pub(crate) fn of_weighted(self, changes: impl Iterator<Item = f64> + Clone) -> f64 {
        match self {
            Cost::L1 => sum_of_sizes(changes),
            Cost::L2 => euclidean(changes),
        }
    }
}
