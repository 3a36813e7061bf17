//! Exact recourse for actions with integer values.
//!
//! The remaining linear problem, `min cost(theta)` such that `g.theta >= need`, is a knapsack of integer
//! features, real features and categories. It is solved by branch and bound: the closed form of the
//! relaxation without integrality bounds the cost of every part, and a part is split where the solution
//! of its relaxation is not integer. Sets are processed in the order of their bounds, so most are never
//! split.

use super::Exact;
use super::set::{Gains, Set};
use crate::action::feasible_change;
use crate::cancel;
use crate::integer::{Integrality, Sides};
use crate::margin::outcome;
use crate::outcome::{Outcome, Recourse, Shortfall, Undecided};
use crate::program::root;
use crate::{Action, Cost, Result};

/// The largest number of parts before another method takes over.
const MAX_PARTS: usize = 20_000;

/// The relative rounding error of a sum of products, bounded from above.
const ROUNDING: f64 = 1e-13;

/// The problem: the cheapest integer-valued change that raises the score by `need`.
struct Knapsack<'a> {
    gains: &'a Gains,
    weights: &'a [f64],
    integrality: &'a Integrality,
    cost: Cost,
    need: f64,
}

impl Exact<'_> {
    /// The outcome over integer-valued actions, without requirements. `None` if there are too many
    /// combinations.
    pub(super) fn solve_whole(&self, individual: &[f64], score: f64) -> Result<Option<Outcome>> {
        let slack = |set: &Set| set.worst_decrease_error + self.rounding_of_score(individual, &[]);
        let mut change = Vec::new();
        // The relaxations without integrality, the cheapest first.
        let relaxed = self.sets.iter().map(|set| {
            let least =
                self.fill(set, &set.most, individual, set.worst_decrease - score - slack(set), &mut change);
            (if least.is_nan() { 0.0 } else { least * (1.0 - 1e-12) }, set)
        });
        let mut relaxed: Vec<(f64, &Set)> = relaxed.filter(|(least, _)| least.is_finite()).collect();
        relaxed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut bound = f64::INFINITY;
        let mut cheapest: Option<(f64, &Set, Integrality)> = None;
        for (least, set) in relaxed {
            let best = cheapest.as_ref().map_or(f64::INFINITY, |(cost, ..)| *cost);
            if least > best {
                break;
            }
            let integrality = Integrality::new(self.problem, individual, &set.features);
            let Some(lower) = self.knapsack(
                individual,
                set,
                &integrality,
                &set.most,
                set.worst_decrease - score - slack(set),
            ) else {
                return Ok(None);
            };
            bound = bound.min(lower.0 * (1.0 - 1e-12));
            if lower.0 > best {
                continue;
            }
            let asked = set.worst_decrease - score + slack(set) + self.problem.safety();
            let Some((cost, _)) = self.knapsack(individual, set, &integrality, &set.gains, asked) else {
                return Ok(None);
            };
            // Among equally cheap actions, prefers the one with the fewest features.
            let fewer =
                cheapest.as_ref().is_some_and(|(_, other, _)| set.features.len() < other.features.len());
            if cost < best * (1.0 - 1e-12) || fewer && cost <= best * (1.0 + 1e-12) {
                cheapest = Some((cost, set, integrality));
            }
        }
        match cheapest {
            Some((_, set, integrality)) => {
                self.prove_whole(individual, score, set, &integrality, bound).map(Some)
            }
            None => self.short_whole(individual, score, bound).map(Some),
        }
    }

    /// As [`Exact::evaluated`], for integer-valued actions.
    fn prove_whole(
        &self,
        individual: &[f64],
        score: f64,
        set: &Set,
        integrality: &Integrality,
        bound: f64,
    ) -> Result<Outcome> {
        let mut asked = set.worst_decrease - score
            + set.worst_decrease_error
            + self.rounding_of_score(individual, &[])
            + self.problem.safety();
        let mut left = None;
        for _ in 0..4 {
            let Some((cost, change)) = self.knapsack(individual, set, integrality, &set.gains, asked) else {
                break;
            };
            if !cost.is_finite() {
                break;
            }
            let action = Action { features: set.features.clone(), change };
            let Ok(counterfactual) = outcome(self.problem, individual, &action) else {
                break;
            };
            let margin = self.problem.classifier().score(&counterfactual) - set.worst_decrease;
            let required = self.rounding_of_score(individual, &action.change) + set.worst_decrease_error;
            if margin >= required {
                let cost = self.problem.cost().of(self.problem.features(), &action);
                let cost_bound = bound.min(cost);
                let spare = margin - required - self.problem.safety();
                let (action, margin) = self.without_unneeded(action, margin, spare);
                let found = Recourse { action, counterfactual, cost, cost_bound, margin };
                return Ok(found.or_overflow(self.problem, required));
            }
            asked += (required - margin) + required;
            left = Some((action, margin, required));
        }
        let (best, margin, required) = left.unwrap_or_else(|| (self.no_action(), f64::NAN, f64::NAN));
        Ok(Outcome::Undecided(Undecided::within_rounding(best, margin, required, bound)))
    }

    /// As [`Exact::short`], with every feature at its most helpful integer and every group at its best
    /// category.
    pub(super) fn short_whole(&self, individual: &[f64], score: f64, bound: f64) -> Result<Outcome> {
        let mut best: Option<(f64, Action)> = None;
        for set in &self.sets {
            let integrality = Integrality::new(self.problem, individual, &set.features);
            let Some((lower, upper)) = integrality.tightened(self.sides(individual, set)) else { continue };
            let end = |k: usize| match set.gains.values[k] {
                gain if gain > 0.0 => upper[k],
                gain if gain < 0.0 => lower[k],
                _ => 0.0,
            };
            let mut change: Vec<f64> = (0..set.features.len()).map(end).collect();
            for group in integrality.groups() {
                let gain = |moved: &&Vec<f64>| -> f64 {
                    group.columns.iter().zip(*moved).map(|(&k, c)| set.gains.values[k] * c).sum()
                };
                let most = group.moves.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)));
                most.into_iter().for_each(|moved| group.put(moved, &mut change));
            }
            let raised: f64 = set.gains.values.iter().zip(&change).map(|(g, c)| g * c).sum();
            let missing = set.worst_decrease - score - raised;
            if missing.is_finite() && best.as_ref().is_none_or(|(least, _)| missing < *least) {
                best = Some((missing, Action { features: set.features.clone(), change }));
            }
        }
        let (missing, best) = best.unwrap_or_else(|| (f64::INFINITY, self.no_action()));
        let (best, _) = self.without_unneeded(best, -missing, 0.0);
        if bound == f64::INFINITY && missing.is_finite() && missing > 0.0 {
            return Ok(Outcome::Impossible(Shortfall { best, missing }));
        }
        let required = self.problem.safety() + self.rounding_of_score(individual, &best.change);
        Ok(Outcome::Undecided(Undecided::within_rounding(best, -missing, required, bound)))
    }

    /// The box of the feasible changes of a set.
    pub(super) fn sides(&self, individual: &[f64], set: &Set) -> Sides {
        let features = self.problem.features();
        set.features.iter().map(|&i| feasible_change(features, i, individual[i])).unzip()
    }

    /// The least cost and a change of that cost; an infinite cost if there is none. `None` if it takes
    /// too long to decide.
    fn knapsack(
        &self,
        individual: &[f64],
        set: &Set,
        integrality: &Integrality,
        gains: &Gains,
        need: f64,
    ) -> Option<(f64, Vec<f64>)> {
        let (weights, cost) = (&set.weights[..], self.problem.cost());
        let sides = self.sides(individual, set);
        Knapsack { gains, weights, integrality, cost, need }.solve(sides)
    }
}

impl Knapsack<'_> {
    fn solve(&self, sides: Sides) -> Option<(f64, Vec<f64>)> {
        let mut best = (f64::INFINITY, Vec::new());
        let mut open: Vec<Sides> = self.integrality.tightened(sides).into_iter().collect();
        let mut looked = 0;
        while let Some((lower, upper)) = open.pop() {
            looked += 1;
            if looked > MAX_PARTS || cancel::is_cancelled() {
                return None;
            }
            let (least, change) = self.relaxed(&lower, &upper);
            if least.is_nan() {
                return None;
            }
            if least * (1.0 - 1e-12) >= best.0 || least == f64::INFINITY {
                continue;
            }
            let near = self.integrality.near(&lower, &upper, &change);
            if self.is_enough(&near) && self.price(&near) < best.0 {
                best = (self.price(&near), near.clone());
            }
            let push = |open: &mut Vec<Sides>, sides: Sides| open.extend(self.integrality.tightened(sides));
            // A group that is not decided yet: one part for each remaining move.
            let split = |group: &&crate::integer::Moves| group.columns.iter().any(|&k| lower[k] < upper[k]);
            if let Some(group) = self.integrality.groups().iter().find(split) {
                for moved in &group.moves {
                    let mut part = (lower.clone(), upper.clone());
                    let is_inside =
                        group.columns.iter().zip(moved).all(|(&k, c)| *c >= lower[k] && *c <= upper[k]);
                    if is_inside {
                        group.put(moved, &mut part.0);
                        group.put(moved, &mut part.1);
                        push(&mut open, part);
                    }
                }
                continue;
            }
            // A feature whose value is not integer, or whose rounding to an integer does not gain enough.
            let is_open = |k: &usize| self.integrality.is_integer(*k) && lower[*k] < upper[*k];
            let off = |k: usize| (change[k] - near[k]).abs() * self.weights[k];
            let farthest =
                (0..change.len()).filter(is_open).reduce(|a, b| if off(b) > off(a) { b } else { a });
            let Some(k) = farthest.filter(|&k| near[k] != change[k] || !self.is_enough(&near)) else {
                continue;
            };
            let Some((end, start)) = self.integrality.halves(&lower, &upper, k, change[k]) else { continue };
            let (mut below, mut above) = ((lower.clone(), upper.clone()), (lower, upper));
            (below.1[k], above.0[k]) = (end, start);
            // The part in the helpful direction is pushed last, so that it is processed first.
            let parts = if self.gains.values[k] > 0.0 { [below, above] } else { [above, below] };
            parts.into_iter().for_each(|part| push(&mut open, part));
        }
        Some(best)
    }

    fn price(&self, change: &[f64]) -> f64 {
        self.cost.of_weighted(self.weights.iter().zip(change).map(|(w, c)| w * c))
    }

    /// The contribution of a change to the score. If the sign of the gain is uncertain: the largest
    /// possible one.
    fn gain(&self, k: usize, change: f64) -> f64 {
        let gain = self.gains.values[k] * change;
        if self.gains.certain[k] { gain } else { gain.abs() }
    }

    /// Whether a change gains enough, up to rounding.
    fn is_enough(&self, change: &[f64]) -> bool {
        let gains = (0..change.len()).map(|k| self.gain(k, change[k]));
        let size: f64 = gains.clone().map(f64::abs).sum::<f64>() + self.need.abs();
        gains.sum::<f64>() + ROUNDING * size >= self.need
    }

    /// The largest distance of a change from the cheapest one, in the direction that helps.
    fn room(&self, k: usize, from: f64, lower: f64, upper: f64) -> f64 {
        let (down, up) = (from - lower, upper - from);
        match self.gains.values[k] {
            0.0 => 0.0,
            _ if !self.gains.certain[k] => {
                if up >= down {
                    up
                } else {
                    -down
                }
            }
            gain if gain > 0.0 => up,
            _ => -down,
        }
    }

    /// The least cost over a box without integrality, lowered slightly for rounding, and a change of
    /// about that cost. The cost is infinite if the box does not allow enough, and NaN if an overflow or
    /// underflow prevents computing it.
    fn relaxed(&self, lower: &[f64], upper: &[f64]) -> (f64, Vec<f64>) {
        let mut change: Vec<f64> = lower.iter().zip(upper).map(|(&l, &u)| 0.0f64.clamp(l, u)).collect();
        if self.need.is_nan() || self.need == f64::INFINITY {
            return (f64::NAN, change);
        }
        if self.is_enough(&change) {
            return (self.price(&change), change);
        }
        let room: Vec<f64> = (0..change.len()).map(|k| self.room(k, change[k], lower[k], upper[k])).collect();
        let mut least = None;
        match self.cost {
            Cost::L1 => self.fill(&room, &mut change),
            Cost::L2 => least = self.waterfill(&room, &mut change),
        }
        // The change may fall short by a rounding error.
        let size = (0..change.len()).map(|k| self.gain(k, change[k]).abs()).sum::<f64>() + self.need.abs();
        let price = least.unwrap_or_else(|| self.price(&change) * (1.0 - 1e-12));
        match self.gained(&change) + 1e-12 * size >= self.need {
            _ if !size.is_finite() || !price.is_finite() => (f64::NAN, change),
            true => (price, change),
            false => (f64::INFINITY, change),
        }
    }

    fn gained(&self, change: &[f64]) -> f64 {
        (0..change.len()).map(|k| self.gain(k, change[k])).sum()
    }

    /// l1 cost: features in descending order of gain per cost, each up to its limit.
    fn fill(&self, room: &[f64], change: &mut [f64]) {
        // Skips features without room before summing the gains: once a group is decided, none of its
        // possibly hundreds of categories has any.
        for &k in self.gains.order.iter().filter(|&&k| room[k] != 0.0) {
            let missing = self.need - self.gained(change);
            if missing <= 0.0 {
                break;
            }
            let wanted = missing / self.gains.values[k].abs();
            change[k] += wanted.min(room[k].abs()).copysign(room[k]);
        }
    }

    /// l2 cost: changes proportional to `gain / weight^2`, multiplied by a level, each within its room.
    /// Sets the change for the least sufficient level. Returns the cost at a slightly lower level that is
    /// insufficient, which is a lower bound, if the box allows enough.
    fn waterfill(&self, room: &[f64], change: &mut Vec<f64>) -> Option<f64> {
        let start = change.clone();
        let free: Vec<usize> = (0..start.len()).filter(|&k| room[k] != 0.0).collect();
        let gain = |k: usize| self.gains.values[k].abs();
        let rate = |k: usize| gain(k) / self.weights[k] / self.weights[k];
        let end = |k: usize| (start[k] + room[k]).abs();
        let size = |k: usize, level: f64| (level * rate(k)).max(start[k].abs()).min(end(k));
        let at = |level: f64| -> Vec<f64> {
            let mut change = start.clone();
            free.iter().for_each(|&k| change[k] = size(k, level).copysign(room[k]));
            change
        };
        if free.is_empty() {
            return None;
        }
        let fixed = (0..start.len()).filter(|&k| room[k] == 0.0).map(|k| self.gain(k, start[k]));
        let missing = self.need - fixed.sum::<f64>();
        let surplus = |level: f64| {
            let (mut sum, mut derivative) = (-missing, 0.0);
            for &k in &free {
                sum += gain(k) * size(k, level);
                let wanted = level * rate(k);
                if wanted >= start[k].abs() && wanted < end(k) {
                    derivative += gain(k) * rate(k);
                }
            }
            (sum, derivative)
        };
        let full = free.iter().map(|&k| end(k) / rate(k)).fold(0.0, f64::max);
        if full.is_finite() && !self.is_enough(&at(full)) {
            *change = at(full);
            return None;
        }
        let level = root(surplus, 0.0).min(full);
        let is_enough = |level: f64| self.is_enough(&at(level));
        let (mut low, mut high) = (level * (1.0 - 1e-13), level);
        let mut step = f64::EPSILON;
        while high < full && !is_enough(high) && step < 0.4 {
            (low, high, step) = (high, high * (1.0 + step), 4.0 * step);
        }
        let mut step = 1e-13;
        while low > 0.0 && is_enough(low) && step < 0.4 {
            (low, step) = (low * (1.0 - step), 4.0 * step);
        }
        *change = at(high);
        // The box allows enough, so that failing to enclose the level is an overflow or underflow.
        if !(high.is_finite() && high > 0.0 && self.is_enough(change)) || is_enough(low) {
            return Some(f64::NAN);
        }
        Some(self.price(&at(low)))
    }
}
