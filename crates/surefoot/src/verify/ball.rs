//! Balls that limit zones: balls of perturbations and of costs.
//!
//! The checker has its own formulas for l1 and l2 and for products of them; an linf ball is a box. For any
//! other uncertainty set, proofs use the support function only. Other functions of the set only choose candidates and prove
//! nothing.

use super::groups::{self, Group};
use super::zone::rounding;
use crate::uncertainty::{SharedSet, Uncertainty};
use crate::{Cost, Problem};

/// `||weights . y|| <= radius`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ball {
    pub shape: Shape,
    pub weights: Vec<f64>,
    pub radius: f64,
}

/// The norm of a ball.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// The sum of absolute values.
    L1,
    /// The Euclidean length.
    L2,
    /// The product of balls over groups of inputs, whose radii include that of the ball. All weights are one.
    Product(Vec<Group>),
    /// A set that is known by its support function. All weights are one.
    Other(SharedSet),
}

impl Shape {
    /// That of a p-norm; `None` where the box around its ball has to do, which for linf is the ball.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "l1" => Some(Self::L1),
            "l2" => Some(Self::L2),
            _ => None,
        }
    }
}

/// The number of steps in the search for the best multiplier of the ball.
const STEPS: usize = 14;
/// Relative room for rounding where a part of a box is cut off.
const ROOM: f64 = 1e-12;
/// Relative room for the rounding of support functions. It is smaller than the room that a search leaves.
const SUPPORT_ROOM: f64 = 1e-13;
/// The number of alternating projections after which box and set are assumed to intersect.
const PROJECTIONS: usize = 200;

impl Ball {
    /// All perturbations of `width` features, in coordinates in which weights are divided out, with the
    /// radius enlarged by the share `room`. Returns the ball, or `None` if it is a box, and the largest
    /// absolute value of each coordinate.
    pub fn of_uncertainty(uncertainty: &Uncertainty, width: usize, room: f64) -> (Option<Self>, Vec<f64>) {
        let radius = uncertainty.radius() * (1.0 + room);
        let ball = |shape: Shape| Some(Self { shape, weights: vec![1.0; width], radius });
        let set = uncertainty.set();
        if let Some(factors) = set.factors() {
            let groups = Group::of_factors(factors, radius);
            let mut reach = vec![0.0; width];
            for factor in factors {
                factor.coordinates.iter().for_each(|&i| reach[i] = radius * factor.radius);
            }
            return if groups.is_empty() { (None, reach) } else { (ball(Shape::Product(groups)), reach) };
        }
        match set.is_listed() && set.power().is_some() {
            true => (Shape::of_name(set.name()).and_then(ball), vec![radius; width]),
            false => {
                let axis = |i: usize| -> Vec<f64> { (0..width).map(|j| f64::from(i == j)).collect() };
                let reach = |i: usize| radius * set.support(&axis(i)) * (1.0 + SUPPORT_ROOM);
                (ball(Shape::Other(set.clone())), (0..width).map(reach).collect())
            }
        }
    }

    /// All changes of some features that cost at most `radius`.
    pub fn of_cost(problem: &Problem, features: &[usize], radius: f64) -> Self {
        let weights = features.iter().map(|&i| problem.features().feature(i).weight).collect();
        let shape = if problem.cost() == Cost::L1 { Shape::L1 } else { Shape::L2 };
        Self { shape, weights, radius }
    }

    /// Whether it is an ellipsoid.
    pub fn is_round(&self) -> bool {
        self.shape == Shape::L2
    }

    /// An upper bound of the Euclidean length, if known.
    pub fn longest(&self) -> Option<f64> {
        (self.is_round() && self.weights.iter().all(|w| *w == 1.0)).then_some(self.radius)
    }

    fn term(&self, i: usize, y: f64) -> f64 {
        let scaled = (self.weights[i] * y).abs();
        if self.is_round() { scaled * scaled } else { scaled }
    }

    /// The radius on the scale of the sum of [`Ball::term`].
    fn limit(&self) -> f64 {
        if self.is_round() { self.radius * self.radius } else { self.radius }
    }

    pub fn contains(&self, y: &[f64]) -> bool {
        match &self.shape {
            Shape::Other(set) => set.gauge(y) <= self.radius,
            Shape::Product(groups) => groups.iter().all(|group| group.contains(y)),
            _ => y.iter().enumerate().map(|(i, &y)| self.term(i, y)).sum::<f64>() <= self.limit(),
        }
    }

    /// Shrinks a box to its part in the ball; `false` if they are disjoint.
    pub fn tighten(&self, lower: &mut [f64], upper: &mut [f64]) -> bool {
        if let Shape::Product(groups) = &self.shape {
            return groups.iter().all(|group| group.tighten(lower, upper));
        }
        let nearest: Vec<f64> = (0..lower.len()).map(|i| 0.0f64.max(lower[i]).min(upper[i])).collect();
        if let Shape::Other(set) = &self.shape {
            return !self.is_apart(set, nearest, lower, upper);
        }
        let near: Vec<f64> = nearest.iter().enumerate().map(|(i, &y)| self.term(i, y)).collect();
        let used: f64 = near.iter().sum();
        let limit = self.limit() * (1.0 + ROOM);
        if used > limit {
            return false;
        }
        for i in 0..near.len() {
            let room = limit - used + near[i];
            let reach = if self.is_round() { room.sqrt() } else { room };
            let reach = reach / self.weights[i] * (1.0 + ROOM);
            lower[i] = lower[i].max(-reach).min(upper[i]);
            upper[i] = upper[i].min(reach).max(lower[i]);
        }
        true
    }

    /// Whether a separating hyperplane between the box and the set is found, by alternating projections.
    fn is_apart(&self, set: &SharedSet, mut at: Vec<f64>, lower: &[f64], upper: &[f64]) -> bool {
        for _ in 0..PROJECTIONS {
            if set.gauge(&at) <= self.radius {
                return false;
            }
            let mut inside = at.clone();
            set.project(&mut inside, self.radius);
            let plane: Vec<f64> = at.iter().zip(&inside).map(|(y, p)| y - p).collect();
            let (mut least, mut size) = (0.0, 0.0);
            for (i, &a) in plane.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                let end = a * if a > 0.0 { lower[i] } else { upper[i] };
                least += end;
                size += end.abs();
            }
            let most = self.radius * set.support(&plane);
            if least - rounding(plane.len()) * size > most * (1.0 + SUPPORT_ROOM) {
                return true;
            }
            at = inside.iter().enumerate().map(|(i, y)| y.max(lower[i]).min(upper[i])).collect();
        }
        false
    }

    /// A lower bound of `linear . y` over the intersection of the ball and a box with finite sides.
    ///
    /// By weak duality, for any multiplier `m >= 0`
    ///
    /// ```text
    /// l1:  sum_i min over y_i in [l_i, u_i] of (a_i y_i + m w_i |y_i|)       - m R
    /// l2:  sum_i min over y_i in [l_i, u_i] of (a_i y_i + m (w_i y_i)^2 / 2) - m R^2 / 2
    /// ```
    ///
    /// is a lower bound. For l1 the best multiplier is 0 (the box alone) or one of `|a_i| / w_i`, where
    /// the piecewise linear function of m has its kinks. For l2 it is found by Newton steps, or bisection. For other sets
    /// the bound ignores the box: it is minus the support function.
    pub fn least(&self, lower: &[f64], upper: &[f64], linear: &[f64]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        match &self.shape {
            Shape::Other(set) => -self.radius * set.support(linear) * (1.0 + SUPPORT_ROOM),
            Shape::Product(groups) => groups::least(groups, lower, upper, linear),
            Shape::L1 => {
                for k in 0..linear.len() {
                    let m = linear[k].abs() / self.weights[k];
                    best = best.max(self.dual_of_sum(lower, upper, linear, m));
                }
                best
            }
            Shape::L2 => {
                let length = (0..linear.len()).map(|i| (linear[i] / self.weights[i]).powi(2)).sum::<f64>();
                let (mut low, mut high) = (0.0, f64::INFINITY);
                let mut m = length.sqrt() / self.radius;
                for _ in 0..STEPS {
                    if !(m > 0.0 && m.is_finite()) {
                        break;
                    }
                    let dual = self.dual_of_length(lower, upper, linear, m);
                    best = best.max(dual.bound);
                    let used = dual.free + dual.fixed;
                    // The minimiser lies on the sphere, so no other multiplier is better.
                    if (used / self.limit() - 1.0).abs() < 1e-9 {
                        break;
                    }
                    if used < self.limit() && dual.is_lowest_corner {
                        // The same corner of the box is the minimiser without the ball.
                        best = best.max(self.dual_of_length(lower, upper, linear, 0.0).bound);
                        break;
                    }
                    if used > self.limit() {
                        low = m
                    } else {
                        high = m
                    }
                    // Where the same sides stay at their ends, this multiplier is the best one.
                    let exact = m * (dual.free / (self.limit() - dual.fixed)).sqrt();
                    m = match exact > low && exact < high {
                        true => exact,
                        false if high == f64::INFINITY => 4.0 * m,
                        false => 0.5 * (low + high),
                    };
                }
                best
            }
        }
    }

    /// A point of a box near the ball where a linear function is low. It proves nothing.
    pub fn low_point(&self, lower: &[f64], upper: &[f64], linear: &[f64]) -> Vec<f64> {
        let mut at: Vec<f64> = (0..linear.len()).map(|i| 0.0f64.max(lower[i]).min(upper[i])).collect();
        let end = |i: usize| if linear[i] > 0.0 { lower[i] } else { upper[i] };
        if let Shape::L1 = self.shape {
            let mut left = self.radius - (0..at.len()).map(|i| self.term(i, at[i])).sum::<f64>();
            let mut order: Vec<usize> = (0..at.len()).filter(|&i| linear[i] != 0.0).collect();
            let worth = |i: usize| linear[i].abs() / self.weights[i];
            order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
            for i in order {
                let far = (end(i) - at[i]).abs().min(left.max(0.0) / self.weights[i]);
                at[i] += far.copysign(end(i) - at[i]);
                left -= self.weights[i] * far;
            }
            return at;
        }
        if let Shape::L2 = self.shape {
            let length = (0..at.len()).map(|i| (linear[i] / self.weights[i]).powi(2)).sum::<f64>();
            let (mut low, mut high) = (0.0, length.sqrt() / self.radius);
            for _ in 0..STEPS {
                let m: f64 = 0.5 * (low + high);
                let y = |i: usize| (-linear[i] / (m * self.weights[i].powi(2))).max(lower[i]).min(upper[i]);
                at = (0..linear.len()).map(y).collect();
                if self.contains(&at) { high = m } else { low = m }
            }
            return at;
        }
        at = (0..linear.len()).map(|i| if linear[i] == 0.0 { at[i] } else { end(i) }).collect();
        if let Shape::Product(groups) = &self.shape {
            groups.iter().for_each(|group| group.lower_point(&mut at, lower, upper, linear));
        }
        at
    }

    /// The bound of a multiplier for an l1 ball, rounded down.
    fn dual_of_sum(&self, lower: &[f64], upper: &[f64], linear: &[f64], m: f64) -> f64 {
        let given = m * self.radius;
        let (mut sum, mut size) = (-given, given);
        for i in 0..linear.len() {
            let (a, w, l, u) = (linear[i], self.weights[i], lower[i], upper[i]);
            let y = match a.abs() {
                // The minimum is at the point nearest to zero.
                size if size <= m * w => 0.0f64.max(l).min(u),
                _ if a > 0.0 => l,
                _ => u,
            };
            let price = m * w * y.abs();
            sum += a * y + price;
            size += (a * y).abs() + price;
        }
        sum - rounding(linear.len()) * size
    }

    /// The bound of a multiplier for a round ball, and its minimiser.
    fn dual_of_length(&self, lower: &[f64], upper: &[f64], linear: &[f64], m: f64) -> Dual {
        let given = 0.5 * m * self.limit();
        let (mut sum, mut size, mut free, mut fixed) = (-given, given, 0.0, 0.0);
        let mut is_lowest_corner = true;
        let sides = linear.iter().zip(&self.weights).zip(lower.iter().zip(upper));
        for ((&a, &w), (&l, &u)) in sides {
            let wanted = -a / (m * w * w);
            let y = wanted.max(l).min(u);
            let square = (w * y) * (w * y);
            let price = 0.5 * m * square;
            sum += a * y + price;
            size += (a * y).abs() + price;
            if y == wanted {
                free += square
            } else {
                fixed += square
            }
            is_lowest_corner &= a == 0.0 || y == if a > 0.0 { l } else { u };
        }
        Dual { bound: sum - rounding(linear.len()) * size, free, fixed, is_lowest_corner }
    }
}

/// What a multiplier proves for a round ball.
struct Dual {
    /// The bound, rounded down.
    bound: f64,
    /// The squared length of the minimiser along sides where it is inside, and along the others.
    free: f64,
    fixed: f64,
    /// Whether the minimiser is the corner of the box where the function is least.
    is_lowest_corner: bool,
}
