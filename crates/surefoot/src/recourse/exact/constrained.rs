//! Exact recourse with requirements on outcomes: constraints, and limits on features that change as a
//! consequence.
//!
//! All requirements are linear in the change, as is the score, so each intervention set is a linear
//! program ([`Program`]). Sets are processed in the order of their cost without requirements, so most are
//! never solved. A program starts with the row of the score; rows that its solution violates are added.
//! For integer features, boxes whose solution is not integer are split. Actions are found with rows that
//! are stricter than the definition by more than the rounding error, and are then evaluated by the
//! definition. Lower bounds on the cost depend on the multipliers of these programs only, and use rows
//! that are more lenient by as much.

use super::Exact;
use super::rows::{Person, Rows};
use super::set::Set;
use crate::cancel;
use crate::integer::{Integrality, Sides};
use crate::margin::outcome;
use crate::outcome::{Outcome, Recourse, Shortfall, Undecided, UndecidedReason};
use crate::program::{Program, Row, Solution};
use crate::{Action, Cost, Result};

/// The largest number of boxes for one intervention set before another method takes over.
const MAX_BOXES: usize = 5_000;
/// The number of attempts to find an action that its evaluation confirms.
const ATTEMPTS: usize = 4;
/// The number of bisection steps in the search for the largest possible score.
const HALVINGS: usize = 30;
/// The largest violation of a row by a solution of a linear program, relative to the row's terms.
const ROW_TOLERANCE: f64 = 1e-10;

/// A lower bound on the cost, in standard deviations, from which the answer is `Undecided` for distance:
/// that no action exists at all is then in doubt only because of rounding.
pub(super) const FAR_AWAY: f64 = 1e9;

/// The result for one intervention set.
pub(super) struct SetAnswer {
    /// A lower bound of the cost of any action on the set that holds; infinite if there is none.
    pub lower: f64,
    /// The cheapest action.
    pub found: Option<Recourse>,
}

/// The result of branch and bound over the changes of one set.
struct Branched {
    /// A lower bound of the cost of any change that meets the lenient rows; infinite if none meets them.
    lower: f64,
    /// The cheapest change found that meets the strict rows.
    change: Option<Vec<f64>>,
    /// Whether a box has no change that meets the strict rows, but may have one that meets the lenient
    /// ones.
    is_unclear: bool,
}

impl Exact<'_> {
    /// As [`Exact::solve`], over actions whose outcome meets every requirement. `None` if it could not be
    /// decided.
    pub(super) fn solve_constrained(&self, individual: &[f64], score: f64) -> Result<Option<Outcome>> {
        let person = Person::new(self, individual, score);
        let mut change = Vec::new();
        let unconstrained = self.sets.iter().map(|set| {
            let need = set.worst_decrease - score - set.worst_decrease_error - person.rounding;
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
            let Some(SetAnswer { lower, found }) = self.cheapest_on(&person, set, cost)? else {
                return Ok(None);
            };
            bound = bound.min(lower.max(least));
            let Some(found) = found else { continue };
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
            None if bound == f64::INFINITY => Some(Outcome::Impossible(self.constrained_shortfall(&person))),
            // No search would find an action that far away.
            None if bound >= FAR_AWAY => {
                let Shortfall { best, missing } = self.constrained_shortfall(&person);
                let required = self.problem.safety() + self.rounding_of_score(individual, &best.change);
                let reason = UndecidedReason::Distance;
                let margin = -missing;
                Some(Outcome::Undecided(Undecided { best, margin, required, cost_bound: bound, reason }))
            }
            None => None,
        })
    }

    /// Whether the value of a requirement is unaffected by every feature of a set that may change by any amount,
    /// given its response to each feature. Then it is constant or moves in steps.
    pub(super) fn is_stepwise(&self, set: &Set, effects: &[f64]) -> bool {
        let has_steps = |i: usize| self.problem.features().feature(i).spacing().is_some();
        set.features.iter().zip(effects).all(|(&i, effect)| *effect == 0.0 || has_steps(i))
    }

    /// The cheapest action of a set that meets every requirement and holds, as evaluated by the
    /// definition, and a lower bound of the cost. Actions that cost more than `most` need not be found.
    /// `None` if the set could not be decided.
    pub(super) fn cheapest_on(&self, person: &Person<'_>, set: &Set, most: f64) -> Result<Option<SetAnswer>> {
        let individual = person.individual;
        let integrality = Integrality::new(self.problem, individual, &set.features);
        let mut extra = vec![0.0; self.problem.requirements().len() + 1];
        let mut lower = 0.0_f64;
        for attempt in 0..ATTEMPTS {
            let mut rows = Rows::new(self, person, set, &extra);
            let Some(branched) = self.branch(person, set, &integrality, &mut rows, most) else {
                return Ok((attempt > 0).then_some(SetAnswer { lower, found: None }));
            };
            if branched.is_unclear {
                let mut lenient = Rows::new(self, person, set, &[]).lenient_only();
                let Some(other) = self.branch(person, set, &integrality, &mut lenient, f64::INFINITY) else {
                    return Ok(None);
                };
                lower = lower.max(other.lower);
            } else {
                lower = lower.max(branched.lower);
            }
            let Some(change) = branched.change else { return Ok(Some(SetAnswer { lower, found: None })) };
            let action = Action { features: set.features.clone(), change };
            let reached = outcome(self.problem, individual, &action)?;
            let margin = self.score(&reached)? - set.worst_decrease;
            let required = self.rounding_of_score(individual, &action.change) + set.worst_decrease_error;
            if margin >= required && self.problem.is_met(individual, &reached) {
                let cost = self.problem.cost().of(self.problem.features(), &action);
                let spare = margin - required - self.problem.safety();
                let (action, margin) = self.without_unneeded(action, margin, spare);
                let (counterfactual, cost_bound) = (reached, 0.0);
                let found = Some(Recourse { action, counterfactual, cost, cost_bound, margin });
                return Ok(Some(SetAnswer { lower, found }));
            }
            extra[0] += (required - margin).max(0.0) + required;
            let rules = self.problem.requirements().iter().zip(&set.requirements);
            for ((rule, effects), extra) in rules.zip(&mut extra[1..]) {
                if !self.is_stepwise(set, &effects.values) || !rule.is_met(individual, &reached) {
                    *extra += 2.0 * (-rule.value(&reached)).max(0.0) + rule.rounding(&reached);
                }
            }
        }
        Ok(Some(SetAnswer { lower, found: None }))
    }

    /// The cheapest change of a set that meets the strict rows, by branch and bound over integer values.
    /// Boxes in which every change costs more than `most` are not searched. `None` if it could not be
    /// decided.
    fn branch(
        &self,
        person: &Person<'_>,
        set: &Set,
        integrality: &Integrality,
        rows: &mut Rows<'_>,
        most: f64,
    ) -> Option<Branched> {
        let (weights, cost) = (&set.weights[..], self.problem.cost());
        let price = |change: &[f64]| cost.of_weighted(weights.iter().zip(change).map(|(w, c)| w * c));
        let sides = self.sides(person.individual, set);
        let mut open: Vec<Sides> = integrality.tightened(sides).into_iter().collect();
        let mut result = Branched { lower: f64::INFINITY, change: None, is_unclear: false };
        let mut least_found = most * (1.0 + 2e-12);
        let mut looked = 0;
        'boxes: while let Some((lower, upper)) = open.pop() {
            looked += 1;
            if looked > MAX_BOXES || cancel::is_cancelled() {
                return None;
            }
            let program = Program { rows: &[], weights, cost, lower: &lower, upper: &upper };
            let (least, point) = loop {
                let solution = Program { rows: &rows.strict, ..program }.solve();
                match solution {
                    Solution::Optimal { point, multipliers } => {
                        if rows.activate_violated(&point) {
                            continue;
                        }
                        let bound = |rows: &[Row]| Program { rows, ..program }.cost_bound(&multipliers);
                        break (rows.with_lenient(bound), point);
                    }
                    Solution::Infeasible { multipliers } => {
                        let bound = |rows: &[Row]| Program { rows, ..program }.infeasible_bound(multipliers);
                        let least = rows.with_lenient(bound);
                        result.is_unclear |= least < FAR_AWAY;
                        result.lower = result.lower.min(least);
                        continue 'boxes;
                    }
                    Solution::Unknown => return None,
                }
            };
            if least >= least_found {
                result.lower = result.lower.min(least);
                continue;
            }
            let near = integrality.near(&lower, &upper, &point);
            let is_good = rows.are_met(&near, ROW_TOLERANCE);
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

    /// The shortfall of the change of the largest set that raises the score most and meets every
    /// requirement.
    pub(super) fn constrained_shortfall(&self, person: &Person<'_>) -> Shortfall {
        let nothing = Shortfall { best: self.no_action(), missing: f64::INFINITY };
        let Some(set) = self.sets.iter().max_by_key(|set| set.features.len()) else { return nothing };
        let integrality = Integrality::new(self.problem, person.individual, &set.features);
        let change = match self.largest_rise(person, set, &integrality) {
            Some(change) => Some(change),
            None => self.largest_rise_by_bisection(person, set, &integrality),
        };
        let Some(change) = change else { return nothing };
        let raised: f64 = set.gains.values.iter().zip(&change).map(|(gain, change)| gain * change).sum();
        let missing = set.worst_decrease - person.score - raised;
        let best = Action { features: set.features.clone(), change };
        let (best, _) = self.without_unneeded(best, -missing, 0.0);
        Shortfall { best, missing }
    }

    /// The change of a set that raises the score most and meets every requirement, by one linear program:
    /// the least loss of score against the end of every side that helps. `None` if a change is integer, if
    /// such an end is infinite or if no change meets the requirements.
    fn largest_rise(&self, person: &Person<'_>, set: &Set, integrality: &Integrality) -> Option<Vec<f64>> {
        let (lower, upper) = self.sides(person.individual, set);
        let gains = &set.gains.values;
        // Each change is `end + direction * distance`.
        let place = |k: usize| match gains[k] {
            gain if gain > 0.0 => (upper[k], -1.0),
            gain if gain < 0.0 => (lower[k], 1.0),
            _ => (0.0, 1.0),
        };
        let is_simple = |k: usize| !integrality.is_integer(k) && place(k).0.is_finite();
        if !(0..gains.len()).all(is_simple) {
            return None;
        }
        let rows = Rows::new(self, person, set, &[]);
        let needs = set.requirements.iter().zip(rows.requirement_needs());
        let turned = needs.map(|(effects, need)| {
            let at_ends: f64 = effects.values.iter().enumerate().map(|(k, e)| e * place(k).0).sum();
            let coefficients = effects.values.iter().enumerate().map(|(k, e)| e * place(k).1).collect();
            Row { coefficients, need: need - at_ends, doubt: vec![0.0; gains.len()] }
        });
        let turned: Vec<Row> = turned.collect();
        let range = |k: usize| match gains[k] == 0.0 {
            true => (lower[k], upper[k]),
            false => (0.0, upper[k] - lower[k]),
        };
        let (from, to): Sides = (0..gains.len()).map(range).unzip();
        let weights: Vec<f64> = gains.iter().map(|gain| gain.abs()).collect();
        let program = Program { rows: &turned, weights: &weights, cost: Cost::L1, lower: &from, upper: &to };
        let Solution::Optimal { point, .. } = program.solve() else { return None };
        let change: Vec<f64> = (0..gains.len())
            .map(|k| (place(k).0 + place(k).1 * point[k]).clamp(lower[k], upper[k]))
            .collect();
        rows.requirement_needs()
            .zip(&set.requirements)
            .all(|(need, effects)| super::rows::meets(&effects.values, &change, need, ROW_TOLERANCE))
            .then_some(change)
    }

    /// As [`Exact::largest_rise`] for any set: the largest share of the rise that is needed, by bisection.
    fn largest_rise_by_bisection(
        &self,
        person: &Person<'_>,
        set: &Set,
        integrality: &Integrality,
    ) -> Option<Vec<f64>> {
        let mut rows = Rows::new(self, person, set, &[]);
        let need = rows.score_need();
        let mut with = |share: f64| {
            rows.set_score_need(need * share);
            self.branch(person, set, integrality, &mut rows, f64::INFINITY)?.change
        };
        let share = |change: &[f64]| {
            set.gains.values.iter().zip(change).map(|(gain, change)| gain * change).sum::<f64>() / need
        };
        let mut change = with(0.0)?;
        let (mut low, mut high) = (share(&change).max(0.0), 1.0);
        for _ in 0..HALVINGS {
            if high - low < 1e-9 {
                break;
            }
            let middle = 0.5 * (low + high);
            match with(middle) {
                Some(better) => (low, change) = (middle.max(share(&better)), better),
                None => high = middle,
            }
        }
        Some(change)
    }
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
