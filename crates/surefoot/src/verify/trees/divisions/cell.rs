//! Verifies that the ball around every cheaper action of a box reaches a cell in which the score is negative.

use super::super::super::cover::Sides;
use super::{Checked, SLACK};
use crate::Cost;
use crate::trees::{Member, Node};

impl Checked<'_, '_> {
    /// A negative number if the ball around every action of a box that costs less than the bound reaches a
    /// cell in which the score is negative; otherwise an upper bound of the score in the cell, or zero.
    pub(super) fn cell(&self, sides: &Sides, lower: &[f64], upper: &[f64]) -> f64 {
        let s = self.situation;
        let n = s.x.len();
        let is_own = |i: usize, k: usize| s.effects[i][k] == if s.set[k] == i { 1.0 } else { 0.0 };
        let is_plain = (0..n).all(|i| s.is_alone(i) && (0..s.set.len()).all(|k| is_own(i, k)));
        if lower.len() != n || upper.len() != n || !is_plain || self.problem.cost() != Cost::L1 {
            return f64::INFINITY;
        }
        let mut sum = s.start;
        for &root in s.ensemble.roots() {
            sum += self.greatest_in(root, lower, upper);
        }
        if !(sum + s.rounding < 0.0) && !self.is_decided(lower, upper) {
            return (sum + s.rounding).max(0.0);
        }
        let (cheapest, left) = self.budget(sides);
        if self.leaving(sides, &cheapest, lower, upper) >= left { -1.0 } else { 0.0 }
    }

    /// Whether one leaf of every tree covers the cell, and the classifier's own arithmetic is not favourable there.
    fn is_decided(&self, lower: &[f64], upper: &[f64]) -> bool {
        let s = self.situation;
        let inside = |(&lower, &upper): (&f64, &f64)| match (upper.is_finite(), lower.is_finite()) {
            (true, _) => upper,
            (false, true) => lower.next_up(),
            (false, false) => 0.0,
        };
        let point: Vec<f64> = lower.iter().zip(upper).map(inside).collect();
        let is_single = |&root: &u32| {
            let mut at = root;
            loop {
                at = match s.ensemble.nodes()[at as usize] {
                    Node::Leaf(_) => return true,
                    Node::AtMost { feature, threshold, left, right, .. } => {
                        let i = feature as usize;
                        match (lower[i] < threshold, upper[i] > threshold) {
                            (true, false) => left,
                            (false, true) => right,
                            _ => return false,
                        }
                    }
                    Node::AnyOf { .. } => return false,
                };
            }
        };
        s.ensemble.roots().iter().all(is_single) && self.problem.classifier().score(&point) < 0.0
    }

    fn greatest_in(&self, at: u32, lower: &[f64], upper: &[f64]) -> f64 {
        let s = self.situation;
        match s.ensemble.nodes()[at as usize] {
            Node::Leaf(leaf) => s.leaf(leaf),
            Node::AtMost { feature, threshold, left, right, .. } => {
                let i = feature as usize;
                let below = if lower[i] < threshold {
                    self.greatest_in(left, lower, upper)
                } else {
                    f64::NEG_INFINITY
                };
                let above = if upper[i] > threshold {
                    self.greatest_in(right, lower, upper)
                } else {
                    f64::NEG_INFINITY
                };
                below.max(above)
            }
            Node::AnyOf { first, count, left, right, .. } => {
                let side = |m: &Member| (lower[m.feature as usize], upper[m.feature as usize]);
                let members = s.ensemble.members(first, count);
                let may = |m: &Member| side(m).1 > m.lower && side(m).0 < m.upper;
                let must = |m: &Member| side(m).0 >= m.lower && side(m).1 <= m.upper;
                let below = if members.iter().any(may) {
                    self.greatest_in(left, lower, upper)
                } else {
                    f64::NEG_INFINITY
                };
                let above = if members.iter().any(must) {
                    f64::NEG_INFINITY
                } else {
                    self.greatest_in(right, lower, upper)
                };
                below.max(above)
            }
        }
    }

    /// A lower bound of what it costs, beyond the cheapest action, until the ball no longer reaches a cell.
    ///
    /// The ball reaches the cell while the size of the distances is less than the radius. A power of each
    /// distance is convex in its change, hence below its chord. So the cheapest way is bounded by a knapsack
    /// in which parts of items may be taken.
    fn leaving(&self, sides: &Sides, cheapest: &[f64], lower: &[f64], upper: &[f64]) -> f64 {
        let s = self.situation;
        let room =
            |i: usize| if s.is_live[i] { 4.0 * SLACK * (1.0 + s.x[i].abs()) * s.weights[i] } else { 0.0 };
        let radius = match s.power {
            f64::INFINITY => s.radius - (0..s.x.len()).map(room).fold(0.0, f64::max),
            _ => s.radius - (0..s.x.len()).map(room).sum::<f64>(),
        };
        let radius = radius.max(0.0);
        let exponent = |size: f64| if s.power == 2.0 { size * size } else { size };
        let (mut gained, mut items, mut alone) = (0.0, Vec::new(), f64::INFINITY);
        for i in 0..s.x.len() {
            let place = s.set.iter().position(|&member| member == i);
            let now = s.x[i] + place.map_or(0.0, |k| cheapest[k]);
            let outside = (lower[i] - now).max(now - upper[i]).max(0.0);
            // The lower end is exclusive, so that a feature without perturbation must be above it.
            let is_out = outside > 0.0 || now <= lower[i];
            if is_out && (!s.is_live[i] || radius == 0.0) || outside * s.weights[i] > radius {
                return 0.0;
            }
            let reach = if s.is_live[i] { radius / s.weights[i] } else { 0.0 };
            let already = exponent(outside * s.weights[i]);
            if s.power != f64::INFINITY {
                gained += already;
            }
            let Some(k) = place else { continue };
            for (end, edge, sign) in [(sides.1[k], upper[i], 1.0), (sides.0[k], lower[i], -1.0)] {
                let beyond = sign * (s.x[i] + end - edge);
                let is_at_end = reach == 0.0 && sign < 0.0 && beyond == 0.0;
                if !(beyond > 0.0 || is_at_end) {
                    continue;
                }
                let way = beyond.min(reach);
                let price = self.prices[k] * (sign * (edge + sign * way - now)).max(0.0);
                // Beyond the reach of the ball in one feature, the cell is left.
                if beyond > reach || is_at_end {
                    alone = alone.min(price);
                }
                if s.power != f64::INFINITY {
                    items.push((price, exponent(way * s.weights[i]) - already));
                }
            }
        }
        if s.power == f64::INFINITY {
            return alone * (1.0 - 1e-12);
        }
        let mut needed = exponent(radius) - gained;
        if needed <= 0.0 {
            return 0.0;
        }
        items.retain(|(_, gain)| *gain > 0.0);
        items.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
        let mut price = 0.0;
        for (cost, gain) in items {
            if gain >= needed {
                return alone.min(price + cost * needed / gain) * (1.0 - 1e-12);
            }
            price += cost;
            needed -= gain;
        }
        alone * (1.0 - 1e-12)
    }
}
