//! Exact recourse with requirements on outcomes: constraints, and limits on features that change as a
//! consequence.
//!
//! All requirements are linear in the change, as is the score, so each intervention set is a linear
//! program ([`Program`]). Sets are processed in the order of their cost without requirements, so most are
//! never solved. For integer features, boxes whose solution is not integer are split. Lower bounds on the
//! cost depend on multipliers only, and use rows that are more lenient than the definition by more than
//! the rounding error. Actions are found with rows that are stricter by as much, and are then evaluated
//! by the definition.

use super::Exact;
use super::set::Set;
use crate::integer::{Integrality, Sides};
use crate::margin::counterfactual;
use crate::outcome::{Outcome, Recourse, Shortfall, Undecided, UndecidedReason};
use crate::program::{Program, Row, Solution};
use crate::{Action, Kind, Result};

/// The largest number of boxes for one intervention set before another method takes over.
const MAX_BOXES: usize = 5_000;
/// The number of attempts to find an action that its evaluation confirms.
const ATTEMPTS: usize = 4;
/// The number of bisection steps in the search for the largest reachable score.
const HALVINGS: usize = 30;
/// The largest violation of a row by a solution of a linear program, relative to the row's terms.
const ROW_TOLERANCE: f64 = 1e-10;

/// A lower bound on the cost, in standard deviations, from which the answer is `Undecided` for distance:
/// that no action exists at all is then in doubt only because of rounding.
pub(super) const FAR_AWAY: f64 = 1e9;

/// The result of branch and bound over the changes of one set.
struct Branched {
    /// A lower bound of the cost of any change that meets the rows; infinite if none meets them.
    lower: f64,
    /// The cheapest change found.
    change: Option<Vec<f64>>,
}

impl Exact<'_> {
    /// As [`Exact::solve`], over actions whose outcome meets every requirement. `None` if it could not be
    /// decided.
    pub(super) fn solve_constrained(&self, individual: &[f64], score: f64) -> Result<Option<Outcome>> {
        let mut change = Vec::new();
        let unconstrained = self.sets.iter().map(|set| {
            let need = set.worst_decrease - score - set.worst_decrease_error - self.rounding_of_score(individual, &[]);
            let least = self.fill(set, &set.most, individual, need, &mut change);
            (if least.is_nan() { 0.0 } else { least * (1.0 - 1e-12) }, set)
        });
        let mut sets: Vec<(f64, &Set)> = unconstrained.filter(|(least, _)| least.is_finite()).collect();
        sets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut bound = f64::INFINITY;
        let mut best: Option<Recourse> = None;
        for (least, set) in sets {
            let cost = best.as_ref().map_or(f64::INFINITY, |best| best.cost);
            if least > cost * (1.0 + 1e-12) {
                bound = bound.min(least);
                break;
            }
            let integrality = Integrality::new(self.problem, individual, &set.features);
            let lenient = self.rows(set, individual, score, -1.0, &[]);
            let Some(Branched { lower, .. }) = self.branch(individual, set, &integrality, &lenient) else {
                return Ok(None);
            };
            let lower = lower.max(least);
            bound = bound.min(lower);
            if lower > cost * (1.0 + 1e-12) {
                continue;
            }
            let Some(found) = self.found(individual, score, set, &integrality)? else { continue };
            // Among equally cheap actions, prefers the one with the fewest features.
            let is_fewer = |best: &Recourse| found.action.features.len() < best.action.features.len();
            let is_better = best.as_ref().is_none_or(|best| {
                found.cost < best.cost * (1.0 - 1e-12)
                    || is_fewer(best) && found.cost <= best.cost * (1.0 + 1e-12)
            });
            if is_better {
                best = Some(found);
            }
        }
        Ok(match best {
            Some(best) => {
                let cost_bound = bound.min(best.cost);
                Some(Outcome::Found(Recourse { cost_bound, ..best }))
            }
            None if bound == f64::INFINITY => {
                Some(Outcome::Impossible(self.constrained_shortfall(individual, score)))
            }
            // No search would find an action that far away.
            None if bound >= FAR_AWAY => {
                let Shortfall { best, missing } = self.constrained_shortfall(individual, score);
                let required = self.problem.safety() + self.rounding_of_score(individual, &best.change);
                let reason = UndecidedReason::Distance;
                let margin = -missing;
                Some(Outcome::Undecided(Undecided { best, margin, required, cost_bound: bound, reason }))
            }
            None => None,
        })
    }

    /// The rows of a set: the score, then the requirements. With `side` 1 the rows are stricter than the
    /// definition by the rounding error, with -1 more lenient by as much. `extra` is added to the
    /// right-hand side of each row.
    fn rows(&self, set: &Set, individual: &[f64], score: f64, side: f64, extra: &[f64]) -> Vec<Row> {
        let extra = |j: usize| extra.get(j).copied().unwrap_or(0.0);
        let slack = set.worst_decrease_error + self.rounding_of_score(individual, &[]);
        let safety = if side > 0.0 { self.problem.safety() } else { 0.0 };
        let gains = set.gains.values.clone();
        let doubt = gains.iter().zip(&set.most.values).map(|(gain, most)| (most - gain).abs()).collect();
        let need = set.worst_decrease - score + side * slack + safety + extra(0);
        let mut rows = vec![Row { coefficients: gains, need, doubt }];
        for (j, effects) in set.requirements.iter().enumerate() {
            // The value of such a requirement moves in steps, so it is met or missed by much more than
            // rounding. A stricter row would exclude changes that keep a value at its limit.
            let side = if self.is_stepwise(set, &effects.values) { -1.0 } else { side };
            rows.push(Row {
                coefficients: effects.values.clone(),
                need: self.need_of(j, individual, side) + extra(j + 1),
                doubt: effects.errors.clone(),
            });
        }
        rows
    }

    /// The amount by which the value of a requirement must rise. With `side` 1 it is larger by the rounding
    /// error, with -1 smaller by as much.
    pub(super) fn need_of(&self, requirement: usize, individual: &[f64], side: f64) -> f64 {
        let rule = &self.problem.requirements()[requirement];
        let now = rule.upper_value(individual);
        let values = self.problem.features().iter().zip(individual);
        let values = values.map(|(feature, x)| x.abs() + (feature.mean / feature.std).abs());
        let sizes = self.requirement_sizes[requirement].iter().zip(values);
        let size = sizes.map(|(size, value)| size * value).sum::<f64>() + now.abs();
        side * (self.rounding(size) + rule.rounding(individual)) - now
    }

    /// Whether the value of a requirement is unaffected by every real-valued feature of a set, given its
    /// response to each feature. Then it is constant or moves in steps.
    fn is_stepwise(&self, set: &Set, effects: &[f64]) -> bool {
        let is_real = |i: usize| self.problem.features().feature(i).kind == Kind::Real;
        set.features.iter().zip(effects).all(|(&i, effect)| *effect == 0.0 || !is_real(i))
    }

    /// The cheapest change of a set that meets some rows, by branch and bound over integer values. `None`
    /// if it could not be decided.
    fn branch(
        &self,
        individual: &[f64],
        set: &Set,
        integrality: &Integrality,
        rows: &[Row],
    ) -> Option<Branched> {
        let (weights, cost) = (&set.weights[..], self.problem.cost());
        let action = |change: &[f64]| Action { features: set.features.clone(), change: change.to_vec() };
        let price = |change: &[f64]| cost.of(self.problem.features(), &action(change));
        let mut open: Vec<Sides> = integrality.tightened(self.sides(individual, set)).into_iter().collect();
        let mut result = Branched { lower: f64::INFINITY, change: None };
        let mut least_found = f64::INFINITY;
        let mut looked = 0;
        while let Some((lower, upper)) = open.pop() {
            looked += 1;
            let program = Program { rows, weights, cost, lower: &lower, upper: &upper };
            let (least, point) = match program.solve() {
                Solution::Optimal { point, multipliers } => (program.cost_bound(&multipliers), point),
                Solution::Infeasible { multipliers } => {
                    result.lower = result.lower.min(program.infeasible_bound(multipliers));
                    continue;
                }
                Solution::Unknown => return None,
            };
            if looked > MAX_BOXES {
                return None;
            }
            if least >= least_found {
                result.lower = result.lower.min(least);
                continue;
            }
            let near = integrality.near(&lower, &upper, &point);
            let is_good = meets(rows, &near);
            if is_good && price(&near) < least_found {
                (least_found, result.change) = (price(&near), Some(near.clone()));
            }
            let parts = parts(integrality, (&lower, &upper), &point, &near, is_good);
            if parts.is_empty() {
                result.lower = result.lower.min(least);
            }
            open.extend(parts.into_iter().filter_map(|part| integrality.tightened(part)));
        }
        Some(result)
    }

    /// The cheapest action of a set that meets every requirement and holds, as evaluated by the
    /// definition. `None` if there is none, or none that the evaluation confirms.
    pub(super) fn found(
        &self,
        individual: &[f64],
        score: f64,
        set: &Set,
        integrality: &Integrality,
    ) -> Result<Option<Recourse>> {
        let unperturbed = vec![0.0; individual.len()];
        let mut extra = vec![0.0; self.problem.requirements().len() + 1];
        for _ in 0..ATTEMPTS {
            let strict = self.rows(set, individual, score, 1.0, &extra);
            let branched = self.branch(individual, set, integrality, &strict);
            let Some(change) = branched.and_then(|branched| branched.change) else { return Ok(None) };
            let action = Action { features: set.features.clone(), change };
            let reached = counterfactual(self.problem, individual, &action, &unperturbed)?;
            let margin = self.score(&reached)? - set.worst_decrease;
            let required = self.rounding_of_score(individual, &action.change) + set.worst_decrease_error;
            if margin >= required && self.problem.is_met(individual, &reached) {
                let cost = self.problem.cost().of(self.problem.features(), &action);
                let action = self.without_unneeded(action);
                let (counterfactual, cost_bound) = (reached, 0.0);
                return Ok(Some(Recourse { action, counterfactual, cost, cost_bound, margin }));
            }
            extra[0] += (required - margin).max(0.0) + required;
            let rules = self.problem.requirements().iter().zip(&set.requirements);
            for ((rule, effects), extra) in rules.zip(&mut extra[1..]) {
                if !self.is_stepwise(set, &effects.values) || !rule.is_met(individual, &reached) {
                    *extra += 2.0 * (-rule.value(&reached)).max(0.0) + rule.rounding(&reached);
                }
            }
        }
        Ok(None)
    }

    /// The shortfall of the change of the largest set that raises the score most and meets every
    /// requirement.
    pub(super) fn constrained_shortfall(&self, individual: &[f64], score: f64) -> Shortfall {
        let nothing = Shortfall { best: self.no_action(), missing: f64::INFINITY };
        let Some(set) = self.sets.iter().max_by_key(|set| set.features.len()) else { return nothing };
        let integrality = Integrality::new(self.problem, individual, &set.features);
        let rows = self.rows(set, individual, score, 1.0, &[]);
        let with = |share: f64| {
            let mut rows = rows.clone();
            rows[0].need *= share;
            self.branch(individual, set, &integrality, &rows)?.change
        };
        let Some(mut change) = with(0.0) else { return nothing };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match with(middle) {
                Some(better) => (low, change) = (middle, better),
                None => high = middle,
            }
        }
        let raised: f64 = set.gains.values.iter().zip(&change).map(|(gain, change)| gain * change).sum();
        let missing = set.worst_decrease - score - raised;
        let best = self.without_unneeded(Action { features: set.features.clone(), change });
        Shortfall { best, missing }
    }
}

/// Whether a change meets every row, up to [`ROW_TOLERANCE`].
fn meets(rows: &[Row], change: &[f64]) -> bool {
    rows.iter().all(|row| {
        let terms = row.coefficients.iter().zip(change).map(|(c, t)| c * t);
        let size = terms.clone().map(f64::abs).sum::<f64>() + row.need.abs();
        terms.sum::<f64>() >= row.need - ROW_TOLERANCE * size
    })
}

/// The parts into which a box is split: one for each move of a group that is not decided, or two halves
/// at a side on which the solution is not integer. Empty if the solution of the box is final.
pub(super) fn parts(
    integrality: &Integrality,
    (lower, upper): (&[f64], &[f64]),
    point: &[f64],
    near: &[f64],
    is_good: bool,
) -> Vec<Sides> {
    let is_open = |k: usize| integrality.is_integer(k) && lower[k] < upper[k];
    if let Some(group) = integrality.groups().iter().find(|group| group.columns.iter().any(|&k| is_open(k))) {
        let is_inside = |change: &&Vec<f64>| {
            group.columns.iter().zip(*change).all(|(&k, c)| *c >= lower[k] && *c <= upper[k])
        };
        let fixed = |change: &Vec<f64>| {
            let mut part = (lower.to_vec(), upper.to_vec());
            group.put(change, &mut part.0);
            group.put(change, &mut part.1);
            part
        };
        return group.moves.iter().filter(is_inside).map(fixed).collect();
    }
    let off = |k: usize| (point[k] - near[k]).abs();
    let farthest = (0..point.len()).filter(|&k| is_open(k)).max_by(|&a, &b| off(a).total_cmp(&off(b)));
    let is_final = |k: usize| is_good && off(k) <= 1e-9 * (1.0 + near[k].abs());
    let Some(k) = farthest.filter(|&k| !is_final(k)) else { return Vec::new() };
    let Some((end, start)) = integrality.halves(lower, upper, k, point[k]) else { return Vec::new() };
    let mut parts = [(lower.to_vec(), upper.to_vec()), (lower.to_vec(), upper.to_vec())];
    (parts[0].1[k], parts[1].0[k]) = (end, start);
    parts.into()
}
