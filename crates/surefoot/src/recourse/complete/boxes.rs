//! Boxes of actions, and their costs.

use std::cmp::Ordering;

use crate::Cost;
use crate::graph::{Plane, Region};

/// A box of actions on one intervention set.
#[derive(Clone, Debug)]
pub(super) struct Cuboid {
    /// The intervention set, by number.
    pub set: usize,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// A lower bound of the cost of every action in it that may hold.
    pub cost: f64,
    /// Whether it stands for the far part of the box only: actions whose changes along the long sides sum
    /// to at least [`DISTANCE`] in absolute value.
    pub is_far_part: bool,
    /// Only the actions that cost at most this; more expensive ones of the same box are queued elsewhere.
    pub limit: f64,
    /// The scenarios of the pool, by number, whose margins bounded the box that this one is a part of.
    pub scenarios: Vec<usize>,
    pub number: usize,
}

impl PartialEq for Cuboid {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cuboid {}

impl PartialOrd for Cuboid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cuboid {
    /// Orders the queue: the cheapest box is the greatest; among equals, the first created.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.number.cmp(&self.number))
    }
}

/// The cost of a change, with the cost weights of its features.
pub(super) fn cost_of(cost: Cost, weights: &[f64], change: &[f64]) -> f64 {
    cost.of_weighted(weights.iter().zip(change).map(|(w, c)| w * c))
}

impl Cuboid {
    /// All actions of a box, which cost at least `cost` if they hold.
    pub fn new(set: usize, lower: Vec<f64>, upper: Vec<f64>, cost: f64) -> Self {
        Self {
            set,
            lower,
            upper,
            cost,
            is_far_part: false,
            limit: f64::INFINITY,
            scenarios: Vec::new(),
            number: 0,
        }
    }

    /// The sides that reach beyond `2 * DISTANCE`.
    pub fn long_sides(&self) -> Vec<usize> {
        (0..self.lower.len()).filter(|&k| self.upper[k].max(-self.lower[k]) > 2.0 * DISTANCE).collect()
    }

    /// The cheapest action of the box.
    pub fn cheapest(&self) -> Vec<f64> {
        self.lower.iter().zip(&self.upper).map(|(&l, &u)| 0.0f64.clamp(l, u)).collect()
    }

    /// The point in the middle of all sides; for long and two-sided ones see [`Cuboid::split_point`].
    pub fn middle(&self) -> Vec<f64> {
        let middle = |k: usize| match self.lower[k] < 0.0 && self.upper[k] > 0.0 {
            true => 0.0,
            false => self.split_point(k),
        };
        (0..self.lower.len()).map(middle).collect()
    }

    /// Where to split a side: in the middle or, for sides longer than [`LONG_SIDE`], in the middle of the
    /// compressed side. A side that contains zero is split in the middle of its longer part, so that one
    /// half costs something.
    pub fn split_point(&self, k: usize) -> f64 {
        let (mut l, mut u) = (self.lower[k], self.upper[k]);
        if l < 0.0 && u > 0.0 {
            if u >= -l { l = 0.0 } else { u = 0.0 }
        }
        let middle = 0.5 * (l + u);
        if u - l <= LONG_SIDE {
            return middle;
        }
        let seen = 0.5 * (compress(l) + compress(u));
        let at = seen * SCALE / (SCALE - seen.abs());
        if at > l && at < u { at } else { middle }
    }

    /// The length of a side after [`compress`].
    pub fn length(&self, k: usize) -> f64 {
        compress(self.upper[k]) - compress(self.lower[k])
    }

    /// The smallest box around the actions that cost at most `limit`.
    pub fn shrunk(&self, cost: Cost, weights: &[f64], limit: f64) -> (Vec<f64>, Vec<f64>) {
        let cheapest = self.cheapest();
        let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
        if limit == f64::INFINITY {
            return (lower, upper);
        }
        for k in 0..cheapest.len() {
            let mut others = cheapest.clone();
            others[k] = 0.0;
            let spent = cost_of(cost, weights, &others);
            let remaining_cost = match cost {
                Cost::L1 => limit - spent,
                Cost::L2 => (limit * limit - spent * spent).max(0.0).sqrt(),
            };
            // Rounded outwards, so that no such action is lost.
            let reach = (remaining_cost.max(0.0) / weights[k]) * (1.0 + 1e-9) + 1e-12;
            lower[k] = lower[k].max(-reach).min(upper[k]);
            upper[k] = upper[k].min(reach).max(lower[k]);
        }
        (lower, upper)
    }
}

/// Actions whose changes along long sides sum to at least this, in standardised units, are covered by
/// cones.
pub(super) const DISTANCE: f64 = 32.0;

/// Sides longer than this are split in the middle of the compressed side.
const LONG_SIDE: f64 = 16.0;
/// The distance from zero at which [`compress`] halves a number.
const SCALE: f64 = 4.0;

/// Maps the real line to `[-SCALE, SCALE]` by `x SCALE / (SCALE + |x|)`, so that infinite sides have a
/// middle.
fn compress(x: f64) -> f64 {
    if x.is_infinite() { SCALE.copysign(x) } else { x * (SCALE / (SCALE + x.abs())) }
}

/// An upper bound of a plane over the actions of a box that cost at most `limit`. With l1 cost it is a
/// fractional knapsack.
pub(super) fn highest(plane: &Plane, region: &Region, cost: Cost, weights: &[f64], limit: f64) -> f64 {
    let over_box = plane.upper(region);
    if limit == f64::INFINITY || !over_box.is_finite() {
        return over_box;
    }
    if cost == Cost::L2 {
        return over_box.min(highest_in_ellipsoid(plane, region, weights, limit));
    }
    let cheapest = region.nearest();
    let mut left = (limit - cost_of(cost, weights, &cheapest)).max(0.0) * (1.0 + 1e-9) + 1e-12;
    let mut value = plane.constant + plane.error;
    let mut size = plane.constant.abs() + plane.error;
    let mut order: Vec<(f64, f64)> = Vec::with_capacity(cheapest.len());
    for k in 0..cheapest.len() {
        let gain = plane.linear[k];
        value += gain * cheapest[k];
        size += (gain * cheapest[k]).abs();
        let side = region.side(k);
        let slack = if gain > 0.0 { side.upper - cheapest[k] } else { cheapest[k] - side.lower };
        if gain != 0.0 && slack > 0.0 {
            order.push((gain.abs() / weights[k], slack * weights[k]));
        }
    }
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (worth, most) in order {
        let taken = most.min(left);
        value += worth * taken;
        size += worth * taken;
        left -= taken;
    }
    let bound = value + 1e-13 * size;
    if bound.is_nan() { over_box } else { bound.min(over_box) }
}

/// An upper bound of a plane over the part of a box whose l2 cost is at most `limit`. By weak duality,
/// for every multiplier `m > 0`,
///
/// ```text
/// a.t <= sum_k max over t_k in its side of (a_k t_k - m (w_k t_k)^2 / 2) + m limit^2 / 2
/// ```
fn highest_in_ellipsoid(plane: &Plane, region: &Region, weights: &[f64], limit: f64) -> f64 {
    // Rounded outwards, so that no such action is lost.
    let limit = limit * (1.0 + 1e-9) + 1e-12;
    let bound = |m: f64| {
        let mut value = plane.constant + plane.error + 0.5 * m * limit * limit;
        let (mut size, mut used) = (value.abs(), 0.0);
        for (k, (&a, &w)) in plane.linear.iter().zip(weights).enumerate() {
            let side = region.side(k);
            let t = (a / (m * w * w)).max(side.lower).min(side.upper);
            let (gain, price) = (a * t, 0.5 * m * (w * t) * (w * t));
            value += gain - price;
            size += gain.abs() + price;
            used += (w * t) * (w * t);
        }
        (value + 1e-13 * size, used)
    };
    let length = plane.linear.iter().zip(weights).map(|(a, w)| (a / w) * (a / w)).sum::<f64>().sqrt();
    let (mut low, mut high, mut m) = (0.0, f64::INFINITY, length / limit);
    let mut least = f64::INFINITY;
    for _ in 0..12 {
        if !(m > 0.0 && m.is_finite()) {
            break;
        }
        let (value, used) = bound(m);
        least = least.min(value);
        if used > limit * limit {
            low = m
        } else {
            high = m
        }
        m = if high == f64::INFINITY { 2.0 * m } else { 0.5 * (low + high) };
    }
    if least.is_nan() { f64::INFINITY } else { least }
}
