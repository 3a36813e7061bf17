//! Boxes of actions in the order in which they are examined.

use std::cmp::Ordering;

use crate::forest::Sides;

/// A box of actions that may contain one that holds.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The intervention set, by number.
    pub set: usize,
    pub sides: Sides,
    /// A lower bound of the cost of the actions that hold.
    pub cost: f64,
    /// Its node in the record of divisions.
    pub node: usize,
    /// The number of the reason for its cost.
    pub reason: Option<usize>,
    /// The number of boxes that were created before.
    pub number: usize,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    /// The cheapest box is the greatest; among equals, the first created.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.number.cmp(&self.number))
    }
}
