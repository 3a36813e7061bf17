//! The columns of a box's linear program: one for each change or, where cuts have different slopes on both
//! sides of zero, one for each direction of it.

use super::boxes::highest;
use super::programs::Cut;
use crate::Cost;
use crate::graph::{Interval, Plane, Region};
use crate::program::Row;

/// A box in the coordinates of a linear program.
pub(super) struct Columns {
    /// The change of each column, and whether the column counts its decrease.
    changes: Vec<(usize, bool)>,
    pub weights: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The number of changes.
    width: usize,
}

impl Columns {
    /// The columns for some cuts over a box.
    pub fn new(cuts: &[Cut], lower: &[f64], upper: &[f64], weights: &[f64]) -> Self {
        let is_split = cuts.iter().any(|cut| cut.negative.is_some());
        let width = weights.len();
        let mut columns =
            Self { changes: Vec::new(), weights: Vec::new(), lower: Vec::new(), upper: Vec::new(), width };
        for k in 0..width {
            if is_split && lower[k] < 0.0 && upper[k] > 0.0 {
                columns.push((k, false), weights[k], (0.0, upper[k]));
                columns.push((k, true), weights[k], (0.0, -lower[k]));
            } else {
                columns.push((k, false), weights[k], (lower[k], upper[k]));
            }
        }
        columns
    }

    fn push(&mut self, change: (usize, bool), weight: f64, (lower, upper): (f64, f64)) {
        self.changes.push(change);
        self.weights.push(weight);
        self.lower.push(lower);
        self.upper.push(upper);
    }

    /// The slopes of a cut.
    fn slopes(&self, Cut { plane, negative, .. }: &Cut) -> Vec<f64> {
        let slope = |(&(k, is_decrease), &upper): (&(usize, bool), &f64)| match (is_decrease, negative) {
            (true, Some(negative)) => -negative[k],
            (true, None) => -plane.linear[k],
            (false, Some(negative)) if upper <= 0.0 => negative[k],
            (false, _) => plane.linear[k],
        };
        self.changes.iter().zip(&self.upper).map(slope).collect()
    }

    /// The row of the linear program for a cut: the upper bound must not be negative.
    pub fn row(&self, cut: &Cut) -> Row {
        let coefficients = self.slopes(cut);
        let doubt = vec![0.0; coefficients.len()];
        Row { coefficients, need: -(cut.plane.constant + cut.plane.error), doubt }
    }

    /// The changes of a solution of the linear program.
    pub fn changes(&self, solution: &[f64]) -> Vec<f64> {
        let mut changes = vec![0.0; self.width];
        for (&(k, is_decrease), value) in self.changes.iter().zip(solution) {
            changes[k] += if is_decrease { -value } else { *value };
        }
        changes
    }

    /// An upper bound of the weighted sum of cuts over the actions of the box that cost at most `limit`.
    pub fn highest(&self, cuts: &[Cut], shares: &[f64], cost: Cost, limit: f64) -> f64 {
        let region = Region::cuboid(self.lower.clone(), self.upper.clone());
        highest(&self.sum(cuts, shares, &region), &region, cost, &self.weights, limit)
    }

    /// The weighted sum of cuts, including its rounding error.
    fn sum(&self, cuts: &[Cut], shares: &[f64], region: &Region) -> Plane {
        let width = region.inputs();
        let mut sum =
            Plane { linear: vec![0.0; width], constant: 0.0, error: 0.0, range: Interval::EVERYTHING };
        let mut size = 0.0;
        for (cut, &share) in cuts.iter().zip(shares).filter(|(_, share)| **share > 0.0) {
            sum.constant += share * cut.plane.constant;
            sum.error += share * cut.plane.error;
            size += share * cut.plane.constant.abs();
            for (i, slope) in self.slopes(cut).into_iter().enumerate() {
                sum.linear[i] += share * slope;
                size += share * slope.abs() * region.size(i);
            }
        }
        sum.error += (width + cuts.len() + 8) as f64 * f64::EPSILON * (size + sum.error);
        sum
    }
}
