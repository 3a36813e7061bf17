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

use nalgebra::DMatrix;

use crate::Cost;

/// Pivots smaller than this count as zero, in rows scaled to a largest coefficient of one.
const TOLERANCE: f64 = 1e-11;
/// The largest number of pivots, per row and column, before the simplex method gives up. Problems of up
/// to thirty rows took at most three.
const PIVOTS: usize = 40;
/// The number of rounds of dual ascent for l2 cost.
const ROUNDS: usize = 300;

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
        let linear = Simplex::new(self).run(self);
        match (self.cost, &linear) {
            (Cost::L2, Solution::Optimal { .. }) => self.ascend(),
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
        let is_endless = |k: &usize| self.lower[*k].is_infinite() || self.upper[*k].is_infinite();
        let ratio = |k: usize| self.weights[k] / (slopes[k].abs() + doubts[k]);
        let least = (0..slopes.len()).filter(is_endless).map(ratio).fold(1.0, f64::min);
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
                if l.is_infinite() || u.is_infinite() {
                    return (f64::NEG_INFINITY, 0.0);
                }
                consider(l);
                consider(u);
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
    /// exactly or it is zero.
    fn ascend(&self) -> Solution {
        let mut multipliers = vec![0.0; self.rows.len()];
        let mut slopes = vec![0.0; self.weights.len()];
        let point = |slopes: &[f64]| -> Vec<f64> {
            let at = |k: usize| {
                (slopes[k] / self.weights[k] / self.weights[k]).max(self.lower[k]).min(self.upper[k])
            };
            (0..slopes.len()).map(at).collect()
        };
        for _ in 0..ROUNDS {
            let mut moved = 0.0f64;
            for (j, row) in self.rows.iter().enumerate() {
                let size: f64 = row.coefficients.iter().map(|c| c.abs()).sum();
                if size == 0.0 {
                    continue;
                }
                let with = |m: f64| -> Vec<f64> {
                    slopes.iter().zip(&row.coefficients).map(|(s, c)| s + (m - multipliers[j]) * c).collect()
                };
                let excess = |m: f64| dot(&row.coefficients, &point(&with(m))) - row.need;
                let chosen = root(excess, multipliers[j]);
                let new = with(chosen);
                moved = moved.max(
                    (excess(multipliers[j]).max(-1e300) / size).abs().min((chosen - multipliers[j]).abs()),
                );
                slopes = new;
                multipliers[j] = chosen;
            }
            if moved < 1e-13 {
                break;
            }
            if let Some(better) = self.newton(&multipliers, &point(&slopes)) {
                multipliers = better;
                slopes = self.slopes(&multipliers).0;
            }
        }
        Solution::Optimal { point: point(&slopes), multipliers }
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

/// The least `m >= 0` at which a nondecreasing function is nonnegative, searched from a start; the
/// largest value tried if there is none.
fn root(excess: impl Fn(f64) -> f64, start: f64) -> f64 {
    if excess(0.0) >= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, start.max(1e-9));
    while excess(high) < 0.0 {
        (low, high) = (high, 4.0 * high);
        if high > 1e15 {
            return low;
        }
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if excess(middle) >= 0.0 { high = middle } else { low = middle }
    }
    high
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A variable of the simplex method: the distance of a coordinate from the cheapest point of the box in
/// one direction, or the surplus of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Variable {
    Move { coordinate: usize, sign: f64, room: f64 },
    Slack { row: usize },
}

impl Variable {
    fn room(&self) -> f64 {
        match self {
            Variable::Move { room, .. } => *room,
            Variable::Slack { .. } => f64::INFINITY,
        }
    }
}

/// The dictionary of a bounded dual simplex: every basic variable as an affine function of the nonbasic
/// ones.
struct Simplex {
    basic: Vec<Variable>,
    values: Vec<f64>,
    other: Vec<Variable>,
    /// Whether each nonbasic variable is at its upper end instead of zero.
    at_upper: Vec<bool>,
    /// The coefficients of the basic variables in the nonbasic ones, row by row.
    table: Vec<Vec<f64>>,
    /// The reduced costs.
    reduced: Vec<f64>,
    /// The factors by which rows were divided.
    scales: Vec<f64>,
}

impl Simplex {
    fn new(program: &Program<'_>) -> Self {
        let base = program.base();
        let mut other = Vec::new();
        for coordinate in 0..base.len() {
            let (up, down) =
                (program.upper[coordinate] - base[coordinate], base[coordinate] - program.lower[coordinate]);
            for (sign, room) in [(1.0, up), (-1.0, down)].into_iter().filter(|(_, room)| *room > 0.0) {
                other.push(Variable::Move { coordinate, sign, room });
            }
        }
        let entry = |row: &Row, variable: &Variable| match variable {
            Variable::Move { coordinate, sign, .. } => sign * row.coefficients[*coordinate],
            Variable::Slack { .. } => 0.0,
        };
        let scale = |row: &Row| row.coefficients.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let scales: Vec<f64> =
            program.rows.iter().map(|row| if scale(row) > 0.0 { scale(row) } else { 1.0 }).collect();
        let table = program.rows.iter().zip(&scales);
        let table = table.map(|(row, s)| other.iter().map(|v| entry(row, v) / s).collect()).collect();
        let values = program.rows.iter().zip(&scales);
        let values = values.map(|(row, s)| (dot(&row.coefficients, &base) - row.need) / s).collect();
        let price = |variable: &Variable| match variable {
            Variable::Move { coordinate, .. } => program.weights[*coordinate],
            Variable::Slack { .. } => 0.0,
        };
        let reduced = other.iter().map(price).collect();
        let basic = (0..program.rows.len()).map(|row| Variable::Slack { row }).collect();
        Self { basic, values, at_upper: vec![false; other.len()], other, table, reduced, scales }
    }

    fn run(mut self, program: &Program<'_>) -> Solution {
        for _ in 0..PIVOTS * (self.basic.len() + self.other.len() + 1) {
            let Some((row, target)) = self.leaving() else { return self.optimal(program) };
            let is_rising = target > self.values[row];
            match self.entering(row, is_rising) {
                Some(column) => self.pivot(row, column, target),
                None => return self.infeasibility(program, row, is_rising),
            }
            if self.values.iter().any(|value| !value.is_finite()) {
                break;
            }
        }
        Solution::Unknown
    }

    /// The basic variable that violates its range most, and the violated end.
    fn leaving(&self) -> Option<(usize, f64)> {
        let violation = |row: usize| {
            let (value, room) = (self.values[row], self.basic[row].room());
            if value < 0.0 { (-value, 0.0) } else { (value - room, room) }
        };
        let worst = (0..self.basic.len()).max_by(|&a, &b| violation(a).0.total_cmp(&violation(b).0))?;
        let (by, end) = violation(worst);
        (by > TOLERANCE * (1.0 + end)).then_some((worst, end))
    }

    /// The nonbasic variable that enters the basis at the least cost.
    fn entering(&self, row: usize, is_rising: bool) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for column in 0..self.other.len() {
            let response = self.table[row][column];
            let helps = (response > 0.0) == (is_rising != self.at_upper[column]);
            if response.abs() <= TOLERANCE || !helps {
                continue;
            }
            let price = self.reduced[column].abs() / response.abs();
            let is_better = best.is_none_or(|(least, other)| {
                price < least || price == least && response.abs() > self.table[row][other].abs()
            });
            if is_better {
                best = Some((price, column));
            }
        }
        best.map(|(_, column)| column)
    }

    /// Exchanges a basic variable, which moves to an end of its range, for a nonbasic one.
    fn pivot(&mut self, row: usize, column: usize, target: f64) {
        let response = self.table[row][column];
        let step = (target - self.values[row]) / response;
        let start = if self.at_upper[column] { self.other[column].room() } else { 0.0 };
        for i in 0..self.values.len() {
            self.values[i] += self.table[i][column] * step;
        }
        self.values[row] = start + step;
        // basic = response * other + rest  becomes  other = basic / response - rest / response.
        let mut expressed: Vec<f64> = self.table[row].iter().map(|t| -t / response).collect();
        expressed[column] = 1.0 / response;
        for i in (0..self.table.len()).filter(|&i| i != row) {
            substitute(&mut self.table[i], column, &expressed);
        }
        substitute(&mut self.reduced, column, &expressed);
        self.table[row] = expressed;
        self.at_upper[column] = target > 0.0;
        std::mem::swap(&mut self.basic[row], &mut self.other[column]);
    }

    fn optimal(&self, program: &Program<'_>) -> Solution {
        let mut point = program.base();
        let mut place = |variable: &Variable, value: f64| {
            if let Variable::Move { coordinate, sign, room } = variable {
                point[*coordinate] += sign * value.max(0.0).min(*room);
            }
        };
        self.basic.iter().zip(&self.values).for_each(|(variable, &value)| place(variable, value));
        let ends = self.other.iter().zip(&self.at_upper).filter(|(_, at_upper)| **at_upper);
        ends.for_each(|(variable, _)| place(variable, variable.room()));
        let sides = program.lower.iter().zip(program.upper);
        point.iter_mut().zip(sides).for_each(|(t, (&l, &u))| *t = t.max(l).min(u));
        let mut multipliers = vec![0.0; program.rows.len()];
        for (variable, reduced) in self.other.iter().zip(&self.reduced) {
            if let Variable::Slack { row } = variable {
                multipliers[*row] = reduced.max(0.0) / self.scales[*row];
            }
        }
        Solution::Optimal { point, multipliers }
    }

    /// The dictionary row that cannot be repaired is a combination of the program's rows.
    fn infeasibility(&self, program: &Program<'_>, row: usize, is_rising: bool) -> Solution {
        let mut multipliers = vec![0.0; program.rows.len()];
        for (variable, response) in self.other.iter().zip(&self.table[row]) {
            if let Variable::Slack { row: own } = variable {
                let towards = if is_rising { -response } else { *response };
                multipliers[*own] = towards.max(0.0) / self.scales[*own];
            }
        }
        if let Variable::Slack { row: own } = self.basic[row] {
            multipliers[own] = 1.0 / self.scales[own];
        }
        Solution::Infeasible { multipliers }
    }
}

/// Replaces one variable of a linear function by its expression in the others.
fn substitute(function: &mut [f64], column: usize, expressed: &[f64]) {
    let factor = std::mem::replace(&mut function[column], 0.0);
    function.iter_mut().zip(expressed).for_each(|(f, e)| *f += factor * e);
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn row(coefficients: &[f64], need: f64) -> Row {
        Row { coefficients: coefficients.to_vec(), need, doubt: vec![0.0; coefficients.len()] }
    }

    fn meets(rows: &[Row], point: &[f64], room: f64) -> bool {
        rows.iter().all(|row| dot(&row.coefficients, point) >= row.need - room)
    }

    #[test]
    fn two_rows_by_hand() {
        // t0 + t1 >= 3 and t0 - t1 <= 1: cheapest with weights 1 and 2 at (2, 1).
        let rows = [row(&[1.0, 1.0], 3.0), row(&[-1.0, 1.0], -1.0)];
        let program = Program {
            rows: &rows,
            weights: &[1.0, 2.0],
            cost: Cost::L1,
            lower: &[-5.0, -5.0],
            upper: &[f64::INFINITY, 5.0],
        };
        let Solution::Optimal { point, multipliers } = program.solve() else { panic!() };
        assert!((point[0] - 2.0).abs() < 1e-12 && (point[1] - 1.0).abs() < 1e-12, "{point:?}");
        assert!((program.cost_bound(&multipliers) - 4.0).abs() < 1e-9);
        // With weights of one and l2 cost at (1.5, 1.5).
        let program = Program { weights: &[1.0, 1.0], cost: Cost::L2, ..program };
        let Solution::Optimal { point, multipliers } = program.solve() else { panic!() };
        assert!((point[0] - 1.5).abs() < 1e-9 && (point[1] - 1.5).abs() < 1e-9, "{point:?}");
        assert!((program.cost_bound(&multipliers) - 4.5f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn contradicting_rows_exclude_each_other() {
        let rows = [row(&[1.0, 1.0], 3.0), row(&[-1.0, -1.0], -2.0)];
        let sides = (&[-10.0, -10.0], &[10.0, 10.0]);
        let program =
            Program { rows: &rows, weights: &[1.0, 1.0], cost: Cost::L1, lower: sides.0, upper: sides.1 };
        let Solution::Infeasible { multipliers } = program.solve() else { panic!() };
        assert_eq!(program.cost_bound(&multipliers), f64::INFINITY);
    }

    /// Random programs against dense sampling: no sample is cheaper than the bound, and the solution
    /// meets the rows and costs hardly more than the bound.
    #[test]
    fn random_programs() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let (mut solved, mut infeasible) = (0, 0);
        for _ in 0..600 {
            let width = random.random_range(1..5);
            let count = random.random_range(1..6);
            let mut number = |low: f64, high: f64| random.random_range(low..high);
            let rows: Vec<Row> = (0..count)
                .map(|_| row(&(0..width).map(|_| number(-2.0, 2.0)).collect::<Vec<_>>(), number(-1.0, 2.0)))
                .collect();
            let weights: Vec<f64> = (0..width).map(|_| number(0.2, 3.0)).collect();
            let lower: Vec<f64> = (0..width).map(|_| number(-2.0, 0.4)).collect();
            let upper: Vec<f64> = lower.iter().map(|l| l + number(0.0, 3.0)).collect();
            for cost in [Cost::L1, Cost::L2] {
                let program = Program { rows: &rows, weights: &weights, cost, lower: &lower, upper: &upper };
                let price = |t: &[f64]| match cost {
                    Cost::L1 => t.iter().zip(&weights).map(|(t, w)| w * t.abs()).sum::<f64>(),
                    Cost::L2 => t.iter().zip(&weights).map(|(t, w)| (w * t).powi(2)).sum::<f64>().sqrt(),
                };
                let bound = match program.solve() {
                    Solution::Optimal { point, multipliers } => {
                        solved += 1;
                        let bound = program.cost_bound(&multipliers);
                        assert!(meets(&rows, &point, 1e-6), "{program:?} {point:?}");
                        assert!(price(&point) <= bound + 1e-5, "{program:?}: {} {bound}", price(&point));
                        bound
                    }
                    Solution::Infeasible { multipliers } => {
                        infeasible += 1;
                        let bound = program.cost_bound(&multipliers);
                        assert_eq!(bound, f64::INFINITY, "{program:?}");
                        bound
                    }
                    Solution::Unknown => panic!("{program:?}"),
                };
                for _ in 0..300 {
                    let point: Vec<f64> =
                        (0..width).map(|k| random.random_range(lower[k]..=upper[k])).collect();
                    assert!(!meets(&rows, &point, 0.0) || price(&point) >= bound, "{program:?} {point:?}");
                }
            }
        }
        assert!(solved > 300 && infeasible > 300, "{solved} {infeasible}");
    }
}
