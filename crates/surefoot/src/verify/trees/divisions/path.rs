//! The way of a walk to a leaf: the part of a box of actions, and the ranges of inputs.

use super::super::super::cover::Sides;
use super::super::Situation;
use super::{Input, SLACK_OF_EFFECTS};
use crate::Cost;

/// The part of the box, and the ranges of inputs, on the way to a leaf.
pub(super) struct Path {
    pub sides: Sides,
    pub ranges: Vec<(f64, f64)>,
    /// The price of the cheapest action of the whole box.
    pub spent: f64,
}

impl Path {
    /// What [`Path::narrow`] may change.
    pub fn state(&self, i: usize, input: Input) -> [(f64, f64); 2] {
        match input {
            Input::Own { k, .. } | Input::Exact { k } => [(self.sides.0[k], self.sides.1[k]), self.ranges[i]],
            _ => [(0.0, 0.0), self.ranges[i]],
        }
    }

    pub fn restore(&mut self, i: usize, input: Input, [sides, range]: [(f64, f64); 2]) {
        if let Input::Own { k, .. } | Input::Exact { k } = input {
            (self.sides.0[k], self.sides.1[k]) = sides;
        }
        self.ranges[i] = range;
    }

    /// Restricts the thresholds between which an input lies. `false` if it is not on this side.
    fn part(&mut self, i: usize, threshold: f64, is_left: bool) -> bool {
        let (lower, upper) = self.ranges[i];
        if is_left {
            self.ranges[i].1 = upper.min(threshold)
        } else {
            self.ranges[i].0 = lower.max(threshold)
        }
        if is_left { lower < threshold } else { upper > threshold }
    }

    /// Restricts the path to one side of a threshold. Returns the price that an input which follows several
    /// changes needs; `None` if no action leads there.
    pub fn narrow(
        &mut self,
        s: &Situation<'_>,
        i: usize,
        input: Input,
        threshold: f64,
        is_left: bool,
        cost: Cost,
    ) -> Option<f64> {
        match input {
            Input::Between(lower, upper) => {
                (if is_left { lower <= threshold } else { upper > threshold }).then_some(0.0)
            }
            Input::Exact { k } => {
                let (lower, upper) = (self.sides.0[k], self.sides.1[k]);
                let goes = if is_left { s.x[i] + lower <= threshold } else { s.x[i] + upper > threshold };
                let goes = self.part(i, threshold, is_left) && goes;
                let cut = threshold - s.x[i];
                // Rounding of the cut must not exclude an action.
                let room = 1e-15 * (threshold.abs() + s.x[i].abs());
                if is_left {
                    self.sides.1[k] = upper.min(cut + room).max(lower);
                } else {
                    self.sides.0[k] = lower.max(cut - room).min(upper);
                }
                goes.then_some(0.0)
            }
            Input::Own { k, base, pivot, radius, slack } => {
                let (lower, upper) = (self.sides.0[k], self.sides.1[k]);
                let cut = threshold - base + if pivot <= threshold { radius } else { -radius };
                let is_short = upper - lower < 2.0 * slack;
                let middle = 0.5 * (lower + upper);
                let goes = match (is_short, is_left) {
                    (true, true) => middle <= cut,
                    (true, false) => middle > cut,
                    (false, true) => lower + slack <= cut,
                    (false, false) => upper - slack > cut,
                };
                let goes = self.part(i, threshold, is_left) && goes;
                if is_left {
                    self.sides.1[k] = upper.min(cut + slack).max(lower);
                } else {
                    self.sides.0[k] = lower.max(cut - slack).min(upper);
                }
                goes.then_some(0.0)
            }
            Input::Moved { lower, upper, first, zero, steepness } => {
                let (lower, upper) = (lower.max(self.ranges[i].0), upper.min(self.ranges[i].1));
                let goes = if is_left { lower <= threshold } else { upper > threshold };
                let room = 2.0 * SLACK_OF_EFFECTS * (1.0 + first.abs());
                let way = |from: f64| {
                    let distance = if is_left { from - threshold } else { threshold - from };
                    (distance - room).max(0.0) / steepness
                };
                self.ranges[i] =
                    if is_left { (lower, upper.min(threshold)) } else { (lower.max(threshold), upper) };
                // Squares: what is spent already counts for the way from zero.
                let price = match cost {
                    Cost::L1 => way(first),
                    Cost::L2 => (way(zero).powi(2) * (1.0 - 1e-12) - self.spent).max(0.0),
                };
                goes.then_some(if price.is_nan() { 0.0 } else { price })
            }
        }
    }
}
