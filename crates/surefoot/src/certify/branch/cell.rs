//! Cells of branch and bound: parts of the ball, ordered by their lower bounds.

use std::cmp::Ordering;

use crate::graph::{Bounded, Region};
use crate::proof::{BoundKind, Piece};

/// A part of the ball with its lower bound.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) region: Region,
    pub(super) lower: f64,
    pub(super) reason: BoundKind,
    /// For each axis, the part of the error that it causes, per unit of its length.
    pub(super) error_share: Vec<f64>,
    /// The gradient of the bound near its lowest point.
    pub(super) slope: Vec<f64>,
    pub(super) number: usize,
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cell {
    /// Orders the heap: the cell with the lowest bound is the greatest; among equals, the first created.
    fn cmp(&self, other: &Self) -> Ordering {
        other.lower.total_cmp(&self.lower).then(other.number.cmp(&self.number))
    }
}

impl Cell {
    /// A cell with its affine bound.
    pub(super) fn new(bounded: &Bounded<'_, '_>, region: Region) -> Self {
        Self {
            lower: bounded.lower(),
            region,
            reason: BoundKind::Affine,
            error_share: bounded.error_share(),
            slope: bounded.plane.linear.clone(),
            number: 0,
        }
    }

    pub(super) fn piece(&self) -> Piece {
        Piece {
            lower: self.region.lower.clone(),
            upper: self.region.upper.clone(),
            // Where the perturbed individual does not exist, any margin is valid. A finite one can be
            // written to a file.
            margin: self.lower.min(f64::MAX),
            reason: self.reason,
            cells: Vec::new(),
            phases: Vec::new(),
        }
    }
}
