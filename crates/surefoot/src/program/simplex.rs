//! A bounded dual simplex method for small linear programs.

use super::{Program, Row, Solution, dot};

/// Pivots smaller than this count as zero, in rows scaled to a largest coefficient of one.
const TOLERANCE: f64 = 1e-11;
/// The largest number of pivots, per row and column, before the simplex method gives up. Problems of up
/// to thirty rows took at most three.
const PIVOTS: usize = 40;

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
pub(super) struct Simplex {
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
    pub fn new(program: &Program<'_>) -> Self {
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

    pub fn run(mut self, program: &Program<'_>) -> Solution {
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
