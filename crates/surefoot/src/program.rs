//! Small linear programs, with bounds that are valid despite rounding.
//!
//! ```text
//! minimise   sum_k w_k |t_k|
//! such that  row_j . t >= need_j  for every j,   lower <= t <= upper
//! ```
//!
//! A bounded dual simplex starts at the cheapest point of the box, which is optimal as long as no row
//! is violated, and repairs one violated row at a time. Its multipliers are all that a proof needs:
//! by weak duality, for any multipliers `m_j >= 0`,
//!
//! ```text
//! cost(t) >= sum_j m_j need_j + sum_k min over t_k in its side of (w_k |t_k| - a_k t_k),   a = sum_j m_j row_j
//! ```
//!
//! for every t that meets the rows. [`Program::cost_bound`] evaluates the right side with rounding
//! accounted for, so the simplex method itself need not be exact.

mod simplex;
#[cfg(test)]
mod tests;

use nalgebra::DMatrix;

use crate::Cost;
use simplex::Simplex;

/// The number of rounds of dual ascent for l2 cost.
const ROUNDS: usize = 300;
/// The number of rounds of a first attempt, before the simplex method decides whether rows can be met. Not
/// tuned by measurement.
const FIRST_ROUNDS: usize = 20;
/// The largest multiplier that is tried. A row that needs more cannot be met.
const LARGEST_MULTIPLIER: f64 = 1e15;

/// A linear inequality, `coefficients . t >= need`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub coefficients: Vec<f64>,
    pub need: f64,
    /// An upper bound of the error of each coefficient.
    pub doubt: Vec<f64>,
}

/// The linear program for the cheapest change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    pub rows: &'a [Row],
    pub weights: &'a [f64],
    pub cost: Cost,
    pub lower: &'a [f64],
    pub upper: &'a [f64],
}

/// The result of the simplex method.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Solution {
    /// A cheapest point, up to rounding, and multipliers that prove it.
    Optimal { point: Vec<f64>, multipliers: Vec<f64> },
    /// No point meets every row; the multipliers prove it.
    Infeasible { multipliers: Vec<f64> },
    /// The method did not terminate.
    Unknown,
}

impl Program<'_> {
    /// Solves the program; for l2 cost approximately.
    pub fn solve(&self) -> Solution {
        if self.cost == Cost::L2
            && let (Solution::Optimal { point, multipliers }, true) = self.ascend(FIRST_ROUNDS)
            && self.rows.iter().all(|row| row.is_met(&point))
        {
            return Solution::Optimal { point, multipliers };
        }
        let linear = Simplex::new(self).run(self);
        match (self.cost, &linear) {
            (Cost::L2, Solution::Optimal { .. }) => self.ascend(ROUNDS).0,
            _ => linear,
        }
    }

    /// The cheapest point of the box.
    fn base(&self) -> Vec<f64> {
        self.lower.iter().zip(self.upper).map(|(&l, &u)| 0.0f64.max(l).min(u)).collect()
    }

    /// A proven lower bound of the cost of any point that meets every row, for any nonnegative
    /// multipliers. Infinite if they prove that no point meets every row.
    pub fn cost_bound(&self, multipliers: &[f64]) -> f64 {
        if multipliers.iter().any(|m| !(*m >= 0.0 && m.is_finite())) {
            return 0.0;
        }
        if self.excludes(multipliers) {
            return f64::INFINITY;
        }
        let shrunk: Vec<f64> = multipliers.iter().map(|m| m * self.shrinkage(multipliers)).collect();
        let (slopes, doubts) = self.slopes(&shrunk);
        let needs = self.rows.iter().zip(&shrunk).map(|(row, m)| m * row.need);
        let (mut sum, mut size) = (0.0, 0.0);
        for need in needs {
            (sum, size) = (sum + need, size + need.abs());
        }
        for k in 0..self.weights.len() {
            let (least, terms) = self.least_of_side(k, slopes[k], doubts[k]);
            (sum, size) = (sum + least, size + terms);
        }
        let sum = sum - self.rounding() * size;
        let bound = match self.cost {
            Cost::L1 => sum,
            Cost::L2 => (2.0 * sum.max(0.0)).sqrt() * (1.0 - 1e-15),
        };
        if bound > 0.0 && bound.is_finite() { bound } else { 0.0 }
    }

    /// The bound for multipliers that prove, up to rounding, that no point meets every row. If a side is
    /// unbounded and its slope is not certain to be zero, the bound is finite but very large.
    pub fn infeasible_bound(&self, multipliers: Vec<f64>) -> f64 {
        if self.excludes(&multipliers) {
            return f64::INFINITY;
        }
        let largest: Vec<f64> = multipliers.iter().map(|m| 1e18 * m).collect();
        // Half of the allowed scale leaves room for the rounding of slopes.
        let share = 0.5 * self.shrinkage(&largest);
        let scaled: Vec<f64> = largest.iter().map(|m| share * m).collect();
        self.cost_bound(&scaled)
    }

    /// The factor for the multipliers so that, along unbounded sides, the cost of a change outweighs its
    /// gain in the rows.
    fn shrinkage(&self, multipliers: &[f64]) -> f64 {
        if self.cost == Cost::L2 {
            return 1.0;
        }
        let (slopes, doubts) = self.slopes(multipliers);
        let ratio = |k: usize| {
            let up = if self.upper[k].is_infinite() { slopes[k] + doubts[k] } else { 0.0 };
            let down = if self.lower[k].is_infinite() { doubts[k] - slopes[k] } else { 0.0 };
            self.weights[k] / up.max(down).max(0.0)
        };
        let least = (0..slopes.len()).map(ratio).fold(1.0, f64::min);
        // Slightly smaller, since slopes are computed again.
        least.min(1.0) * (1.0 - 1e-12)
    }

    /// Whether multipliers prove that no point of the box meets every row:
    /// `sum_j m_j (row_j . t - need_j)` is negative everywhere.
    fn excludes(&self, multipliers: &[f64]) -> bool {
        let (slopes, doubts) = self.slopes(multipliers);
        let (mut sum, mut size) = (0.0, 0.0);
        for (row, m) in self.rows.iter().zip(multipliers) {
            (sum, size) = (sum - m * row.need, size + (m * row.need).abs());
        }
        for k in 0..slopes.len() {
            let (slope, doubt) = (slopes[k], doubts[k]);
            let end = if slope > 0.0 { self.upper[k] } else { self.lower[k] };
            let is_endless = self.lower[k].is_infinite() || self.upper[k].is_infinite();
            if slope == 0.0 && doubt == 0.0 {
                continue;
            }
            if end.is_infinite() || is_endless && slope.abs() <= doubt {
                return false;
            }
            let reach = [self.lower[k], self.upper[k]].into_iter().filter(|end| end.is_finite());
            let error = doubt * reach.fold(0.0, |most: f64, end| most.max(end.abs()));
            (sum, size) = (sum + slope * end + error, size + (slope * end).abs() + error);
        }
        sum + self.rounding() * size < 0.0
    }

    /// `sum_j m_j row_j`, and error bounds.
    fn slopes(&self, multipliers: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let width = self.weights.len();
        let (mut slopes, mut doubts) = (vec![0.0; width], vec![0.0; width]);
        for (row, &m) in self.rows.iter().zip(multipliers).filter(|(_, m)| **m > 0.0) {
            for k in 0..width {
                slopes[k] += m * row.coefficients[k];
                doubts[k] += m * (row.doubt[k] + self.rounding() * row.coefficients[k].abs());
            }
        }
        (slopes, doubts)
    }

    /// The least value of `price(t) - slope t` over one side for all slopes within the error bound, and
    /// the size of its terms.
    fn least_of_side(&self, k: usize, slope: f64, doubt: f64) -> (f64, f64) {
        let (w, l, u) = (self.weights[k], self.lower[k], self.upper[k]);
        let price = |t: f64| match self.cost {
            Cost::L1 => w * t.abs(),
            Cost::L2 => 0.5 * (w * t) * (w * t),
        };
        // The error may have either sign.
        let at = |t: f64| {
            let gain = slope * t + doubt * t.abs();
            (price(t) - gain, price(t) + gain.abs())
        };
        let mut least = at(0.0f64.max(l).min(u));
        let mut consider = |t: f64| {
            let other = at(t);
            if other.0 < least.0 {
                least = other;
            }
        };
        let steepest = slope.abs() + doubt;
        match self.cost {
            Cost::L1 if steepest <= w => {}
            Cost::L1 => {
                if u.is_infinite() && slope + doubt > w || l.is_infinite() && doubt - slope > w {
                    return (f64::NEG_INFINITY, 0.0);
                }
                [l, u].into_iter().filter(|end| end.is_finite()).for_each(&mut consider);
            }
            Cost::L2 => {
                for t in [(slope + doubt) / w / w, (slope - doubt) / w / w] {
                    consider(t.max(l).min(u));
                }
                [l, u].into_iter().filter(|end| end.is_finite()).for_each(&mut consider);
            }
        }
        least
    }

    fn rounding(&self) -> f64 {
        (self.weights.len() + self.rows.len() + 8) as f64 * f64::EPSILON
    }

    /// For l2 cost: coordinate ascent of the dual. Each multiplier is changed until its row is met
    /// exactly or it is zero. The solution, and whether it has converged.
    fn ascend(&self, rounds: usize) -> (Solution, bool) {
        let mut has_converged = false;
        let mut multipliers = vec![0.0; self.rows.len()];
        let mut slopes = vec![0.0; self.weights.len()];
        let rates: Vec<f64> = self.weights.iter().map(|w| 1.0 / w / w).collect();
        let at = |k: usize, slope: f64| (slope * rates[k]).max(self.lower[k]).min(self.upper[k]);
        let point = |slopes: &[f64]| -> Vec<f64> { (0..slopes.len()).map(|k| at(k, slopes[k])).collect() };
        for _ in 0..rounds {
            let mut moved = 0.0f64;
            for (j, row) in self.rows.iter().enumerate() {
                let size: f64 = row.coefficients.iter().map(|c| c.abs()).sum();
                if size == 0.0 {
                    continue;
                }
                let before = multipliers[j];
                // The surplus of the row, and its derivative.
                let surplus = |m: f64| {
                    let (mut sum, mut derivative) = (-row.need, 0.0);
                    for (k, c) in row.coefficients.iter().enumerate() {
                        let slope = slopes[k] + (m - before) * c;
                        sum += c * at(k, slope);
                        let wanted = slope * rates[k];
                        // At an end of its side, a coordinate is free if it moves inwards.
                        let is_free = match *c > 0.0 {
                            true => wanted >= self.lower[k] && wanted < self.upper[k],
                            false => wanted > self.lower[k] && wanted <= self.upper[k],
                        };
                        if is_free {
                            derivative += c * c * rates[k];
                        }
                    }
                    (sum, derivative)
                };
                let chosen = root(surplus, before);
                moved = moved.max((surplus(before).0 / size).abs().min((chosen - before).abs()));
                slopes.iter_mut().zip(&row.coefficients).for_each(|(s, c)| *s += (chosen - before) * c);
                multipliers[j] = chosen;
            }
            has_converged = moved < 1e-13;
            if has_converged || multipliers.iter().any(|m| *m >= LARGEST_MULTIPLIER) {
                break;
            }
            let is_coupled = multipliers.iter().filter(|m| **m > 0.0).count() > 1;
            if is_coupled && let Some(better) = self.newton(&multipliers, &point(&slopes)) {
                multipliers = better;
                slopes = self.slopes(&multipliers).0;
            }
        }
        (Solution::Optimal { point: point(&slopes), multipliers }, has_converged)
    }

    /// A Newton step of the dual: multipliers for which the active rows are met exactly, as long as the
    /// same coordinates are at their ends. `None` if the dual would not increase.
    fn newton(&self, multipliers: &[f64], point: &[f64]) -> Option<Vec<f64>> {
        let in_force: Vec<usize> = (0..self.rows.len()).filter(|&j| multipliers[j] > 0.0).collect();
        let is_free = |k: &usize| point[*k] > self.lower[*k] && point[*k] < self.upper[*k];
        let free: Vec<usize> = (0..point.len()).filter(is_free).collect();
        let entry = |a: usize, b: usize| -> f64 {
            let (a, b) = (&self.rows[in_force[a]].coefficients, &self.rows[in_force[b]].coefficients);
            free.iter().map(|&k| a[k] * b[k] / self.weights[k] / self.weights[k]).sum()
        };
        let matrix = DMatrix::from_fn(in_force.len(), in_force.len(), entry);
        let missing = |j: usize, _: usize| {
            let row = &self.rows[in_force[j]];
            row.need - dot(&row.coefficients, point)
        };
        let step = matrix.lu().solve(&DMatrix::from_fn(in_force.len(), 1, missing))?;
        let mut better = multipliers.to_vec();
        in_force.iter().zip(step.iter()).for_each(|(&j, step)| better[j] = (better[j] + step).max(0.0));
        let dual = |multipliers: &[f64]| self.cost_bound(multipliers);
        (better.iter().all(|m| m.is_finite()) && dual(&better) > dual(multipliers)).then_some(better)
    }
}

impl Row {
    /// Whether a point meets the row, up to rounding.
    fn is_met(&self, point: &[f64]) -> bool {
        let (mut sum, mut size) = (0.0, self.need.abs());
        for (c, t) in self.coefficients.iter().zip(point) {
            (sum, size) = (sum + c * t, size + (c * t).abs());
        }
        sum >= self.need - 1e-12 * size
    }
}

/// The least `m >= 0` at which a nondecreasing function is zero, up to rounding, or positive.
///
/// `function` returns the value and the derivative. Newton's method from a start, within a bracket; exact
/// after a few steps if the function is piecewise linear. At least [`LARGEST_MULTIPLIER`] if the function
/// is negative up to there.
pub(crate) fn root(function: impl Fn(f64) -> (f64, f64), start: f64) -> f64 {
    let at_zero = function(0.0);
    if at_zero.0 >= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let newton = |m: f64, (value, derivative): (f64, f64)| m - value / derivative;
    let mut m = if start > 0.0 { start } else { newton(0.0, at_zero) };
    for _ in 0..500 {
        if !(m > low && m < high) {
            m = match (low > 0.0, high.is_finite()) {
                (_, false) => 4.0 * low.max(1e-9),
                (false, true) => 1e-3 * high,
                (true, true) if high > 4.0 * low => low.sqrt() * high.sqrt(),
                (true, true) => 0.5 * (low + high),
            };
        }
        if m <= low || m >= high || m >= LARGEST_MULTIPLIER {
            break;
        }
        let (value, derivative) = function(m);
        if value == 0.0 {
            return m;
        }
        if value < 0.0 {
            low = m
        } else {
            high = m
        }
        let next = newton(m, (value, derivative));
        if (next - m).abs() <= 2.0 * f64::EPSILON * m {
            return m;
        }
        m = next;
    }
    if high.is_finite() { high } else { m.max(low) }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
