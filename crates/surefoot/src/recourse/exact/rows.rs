//! The rows of the linear program of one intervention set: the score and the requirements.

use super::Exact;
use super::set::Set;
use crate::program::Row;

/// The largest violation of a row, relative to its terms, with which it counts as met.
const TOLERANCE: f64 = 1e-10;

/// An individual, with the amounts by which requirements must rise.
pub(super) struct Person<'a> {
    pub individual: &'a [f64],
    pub score: f64,
    /// An upper bound of the rounding error of the score.
    pub rounding: f64,
    /// For each requirement, the least rise of its value and an upper bound of the rounding error.
    pub needs: Vec<(f64, f64)>,
}

impl<'a> Person<'a> {
    pub fn new(exact: &Exact<'_>, individual: &'a [f64], score: f64) -> Self {
        let rules = exact.problem.requirements().iter().zip(&exact.requirement_sizes);
        let need = |(rule, sizes): (&crate::Constraint, &Vec<f64>)| {
            let now = rule.upper_value(individual);
            let values = individual.iter().zip(&exact.offsets).map(|(x, offset)| x.abs() + offset);
            let size = sizes.iter().zip(values).map(|(size, value)| size * value).sum::<f64>() + now.abs();
            (-now, exact.rounding(size) + rule.rounding(individual))
        };
        let needs = rules.map(need).collect();
        Self { individual, score, rounding: exact.rounding_of_score(individual, &[]), needs }
    }
}

/// The rows of a set. Only rows that some solution violated are active; the others are checked when a
/// solution is found.
///
/// Strict rows are stronger than the definition by more than the rounding error: actions are found with
/// them. Lenient rows are weaker by as much: they prove bounds.
pub(super) struct Rows<'a> {
    set: &'a Set,
    /// The strict and the lenient right-hand side of every row; the first one is the score.
    needs: Vec<(f64, f64)>,
    /// The active rows, by number.
    active: Vec<usize>,
    /// The active rows with strict right-hand sides.
    pub strict: Vec<Row>,
}

impl<'a> Rows<'a> {
    /// The rows of a set for an individual. `extra` is added to the strict right-hand side of each row.
    pub fn new(exact: &Exact<'_>, person: &Person<'_>, set: &'a Set, extra: &[f64]) -> Self {
        let extra = |j: usize| extra.get(j).copied().unwrap_or(0.0);
        let slack = set.worst_decrease_error + person.rounding;
        let need = set.worst_decrease - person.score;
        let mut needs = vec![(need + slack + exact.problem.safety() + extra(0), need - slack)];
        for (j, (effects, &(need, error))) in set.requirements.iter().zip(&person.needs).enumerate() {
            // The value of such a requirement moves in steps, so it is met or missed by much more than
            // rounding. A stricter row would exclude changes that keep a value at its limit.
            let strict = if exact.is_stepwise(set, &effects.values) { need - error } else { need + error };
            needs.push((strict + extra(j + 1), need - error));
        }
        let mut rows = Self { set, needs, active: Vec::new(), strict: Vec::new() };
        rows.activate(0);
        // Rows that the individual violates now.
        let violated: Vec<usize> = (1..rows.needs.len()).filter(|&j| rows.needs[j].0 > 0.0).collect();
        violated.into_iter().for_each(|j| rows.activate(j));
        rows
    }

    /// The same rows for proofs: strict right-hand sides are the lenient ones.
    pub fn lenient_only(mut self) -> Self {
        self.needs.iter_mut().for_each(|(strict, lenient)| *strict = *lenient);
        self.strict.iter_mut().zip(&self.active).for_each(|(row, &j)| row.need = self.needs[j].0);
        self
    }

    /// Replaces the amount by which the score must rise.
    pub fn set_score_need(&mut self, need: f64) {
        self.needs[0] = (need, need);
        self.strict[0].need = need;
    }

    /// The amount by which the score must rise, with strict rows.
    pub fn score_need(&self) -> f64 {
        self.needs[0].0
    }

    /// The right-hand sides of all requirements, with strict rows.
    pub fn requirement_needs(&self) -> impl Iterator<Item = f64> + '_ {
        self.needs[1..].iter().map(|(strict, _)| *strict)
    }

    fn coefficients(&self, j: usize) -> &'a [f64] {
        match j {
            0 => &self.set.gains.values,
            _ => &self.set.requirements[j - 1].values,
        }
    }

    fn activate(&mut self, j: usize) {
        let doubt = match j {
            0 => {
                let gains = self.set.gains.values.iter().zip(&self.set.most.values);
                gains.map(|(gain, most)| (most - gain).abs()).collect()
            }
            _ => self.set.requirements[j - 1].errors.clone(),
        };
        self.strict.push(Row { coefficients: self.coefficients(j).to_vec(), need: self.needs[j].0, doubt });
        self.active.push(j);
    }

    /// Activates the rows that a change violates; all of them if the change violates a row that is active
    /// already, which happens where the program was solved only approximately. `false` if no row was
    /// activated.
    pub fn activate_violated(&mut self, change: &[f64]) -> bool {
        let before = self.active.len();
        let is_met = |j: usize| meets(self.coefficients(j), change, self.needs[j].0, TOLERANCE);
        let is_approximate = !self.active.iter().all(|&j| is_met(j));
        let is_wanted = |j: &usize| !self.active.contains(j) && (is_approximate || !is_met(*j));
        let wanted: Vec<usize> = (1..self.needs.len()).filter(is_wanted).collect();
        wanted.into_iter().for_each(|j| self.activate(j));
        self.active.len() > before
    }

    /// Whether a change meets every strict row up to a tolerance.
    pub fn are_met(&self, change: &[f64], tolerance: f64) -> bool {
        (0..self.needs.len()).all(|j| meets(self.coefficients(j), change, self.needs[j].0, tolerance))
    }

    /// Calls a function with the active rows with lenient right-hand sides.
    pub fn with_lenient<R>(&mut self, call: impl FnOnce(&[Row]) -> R) -> R {
        self.strict.iter_mut().zip(&self.active).for_each(|(row, &j)| row.need = self.needs[j].1);
        let result = call(&self.strict);
        self.strict.iter_mut().zip(&self.active).for_each(|(row, &j)| row.need = self.needs[j].0);
        result
    }
}

/// Whether `coefficients . change >= need` up to a tolerance relative to the terms.
pub(super) fn meets(coefficients: &[f64], change: &[f64], need: f64, tolerance: f64) -> bool {
    let (mut sum, mut size) = (0.0, need.abs());
    for (coefficient, change) in coefficients.iter().zip(change) {
        let term = coefficient * change;
        (sum, size) = (sum + term, size + term.abs());
    }
    sum >= need - tolerance * size
}
