//! The closed form for real-valued actions without requirements: a fractional knapsack for l1 cost, and
//! changes in proportion to `gain / weight^2` for l2 cost.

use super::Exact;
use super::set::{Gains, Set};
use crate::action::feasible_change;
use crate::margin::outcome;
use crate::outcome::{Outcome, Recourse, Shortfall, Undecided};
use crate::{Action, Cost, Result};

impl Exact<'_> {
    /// Solves without integrality and without requirements, over the enumerated sets.
    pub(super) fn solve_real(&self, individual: &[f64], score: f64) -> Result<Outcome> {
        let (mut cheapest, mut bound) = (None::<(f64, &Set)>, f64::INFINITY);
        let mut change = Vec::new();
        let rounding = self.rounding_of_score(individual, &[]);
        for set in &self.sets {
            let need = set.worst_decrease - score;
            let slack = set.worst_decrease_error + rounding;
            let least = self.fill(set, &set.most, individual, need - slack, &mut change);
            bound = bound.min(if least.is_nan() { 0.0 } else { least });
            let best = cheapest.map_or(f64::MAX, |(cost, _)| cost);
            if least >= best {
                continue;
            }
            let asked = need + slack + self.problem.safety();
            let cost = self.fill(set, &set.gains, individual, asked, &mut change);
            // Sets are ordered by size; a larger one must be cheaper by more than rounding.
            if cost < best * (1.0 - 1e-12) {
                cheapest = Some((cost, set));
            }
        }
        match cheapest {
            Some((_, set)) => self.evaluated(individual, set, set.worst_decrease - score, bound),
            None => self.short(individual, score, bound),
        }
    }

    /// The outcome for the action of a set, with its worst-case margin recomputed by the definition. If
    /// that is within rounding of the boundary, the action is enlarged and evaluated again.
    fn evaluated(&self, individual: &[f64], set: &Set, need: f64, bound: f64) -> Result<Outcome> {
        let mut action = Action { features: set.features.clone(), change: Vec::new() };
        let rounding = self.rounding_of_score(individual, &[]);
        let mut asked = need + set.worst_decrease_error + rounding + self.problem.safety();
        let mut left = (f64::NAN, f64::NAN);
        for _ in 0..4 {
            let cost = self.fill(set, &set.gains, individual, asked, &mut action.change);
            if !cost.is_finite() {
                break;
            }
            let reached = outcome(self.problem, individual, &action);
            let Ok(counterfactual) = reached else { break };
            if !self.problem.classifier().score(&counterfactual).is_finite() {
                break;
            }
            let margin = self.score(&counterfactual)? - set.worst_decrease;
            let required = self.rounding_of_score(individual, &action.change) + set.worst_decrease_error;
            if margin >= required {
                let cost_bound = bound.min(cost);
                let (action, margin) = self.without_unneeded(action, margin, 0.0);
                let found = Recourse { action, counterfactual, cost, cost_bound, margin };
                return Ok(found.or_overflow(self.problem, required));
            }
            asked += (required - margin) + required;
            left = (margin, required);
        }
        let (margin, required) = left;
        let (best, _) = self.without_unneeded(action, margin, 0.0);
        Ok(Outcome::Undecided(Undecided::within_rounding(best, margin, required, bound)))
    }

    /// The outcome if no action was found, with the best feasible action on the prepared sets.
    /// `Impossible` only if the upper bounds of the gains do not suffice either.
    pub(super) fn short(&self, individual: &[f64], score: f64, bound: f64) -> Result<Outcome> {
        let mut best: Option<(f64, Action)> = None;
        for set in &self.sets {
            // An infinite need puts every feature that helps at its limit.
            let mut change = Vec::new();
            self.fill(set, &set.gains, individual, f64::INFINITY, &mut change);
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

    /// Writes the cheapest change of a set's features that raises the score by `need` to `change`, and
    /// returns its cost. If the box does not allow that much, every feature that helps is at its limit
    /// and the cost is infinite. NaN, which proves nothing, if an overflow or underflow prevents
    /// computing the cost.
    pub(super) fn fill(
        &self,
        set: &Set,
        gains: &Gains,
        individual: &[f64],
        need: f64,
        change: &mut Vec<f64>,
    ) -> f64 {
        change.clear();
        let features = self.problem.features();
        // The largest change in the direction that helps, with the sign of the gain.
        change.extend(set.features.iter().enumerate().map(|(k, &i)| {
            let (down, up) = feasible_change(features, i, individual[i]);
            let gain = gains.values[k];
            match gain {
                0.0 => 0.0,
                _ if !gains.certain[k] => up.max(-down).copysign(gain),
                _ if gain > 0.0 => up,
                _ => down,
            }
        }));
        match self.problem.cost() {
            Cost::L1 => knapsack(gains, &set.weights, need, change),
            Cost::L2 => waterfill(gains, &set.weights, need, change),
        }
    }
}

/// l1 cost: features in descending order of gain per cost, each up to its limit.
fn knapsack(gains: &Gains, weights: &[f64], need: f64, change: &mut [f64]) -> f64 {
    let (mut missing, mut cost) = (need, 0.0);
    if need.is_nan() {
        return f64::NAN;
    }
    for &k in &gains.order {
        let (gain, room) = (gains.values[k], change[k]);
        if missing <= 0.0 || room == 0.0 {
            change[k] = 0.0;
            continue;
        }
        let wanted = missing / gain;
        if wanted.abs() <= room.abs() {
            change[k] = wanted;
            missing = 0.0;
            if wanted.is_infinite() {
                return f64::NAN;
            }
        } else {
            missing -= gain * room;
        }
        cost += weights[k] * change[k].abs();
    }
    match missing > 0.0 {
        true => f64::INFINITY,
        // The box does allow `need`, so an infinite cost here is an overflow.
        false if missing.is_nan() || !cost.is_finite() => f64::NAN,
        false => cost,
    }
}

/// l2 cost: changes proportional to `gain / weight^2`. Features that reach their limit stay there, and
/// the others make up for them.
fn waterfill(gains: &Gains, weights: &[f64], need: f64, change: &mut [f64]) -> f64 {
    let rate = |k: usize| gains.values[k] / weights[k] / weights[k];
    let mut free: Vec<usize> = (0..change.len()).filter(|&k| change[k] != 0.0).collect();
    if need.is_nan() {
        return f64::NAN;
    }
    let mut missing = need.max(0.0);
    loop {
        if free.is_empty() && missing > 0.0 {
            return f64::INFINITY;
        }
        let speed: f64 = free.iter().map(|&k| gains.values[k] * rate(k)).sum();
        if !free.is_empty() && !speed.is_normal() {
            return f64::NAN;
        }
        let level = if missing > 0.0 { missing / speed } else { 0.0 };
        let full = |change: &[f64], k: usize| (level * rate(k)).abs() > change[k].abs();
        if !free.iter().any(|&k| full(change, k)) {
            free.iter().for_each(|&k| change[k] = level * rate(k));
            let cost = Cost::L2.of_weighted(change.iter().zip(weights).map(|(c, w)| c * w));
            // The box does allow `need`, so an infinite cost here is an overflow.
            return if cost.is_finite() { cost } else { f64::NAN };
        }
        missing -=
            free.iter().filter(|&&k| full(change, k)).map(|&k| gains.values[k] * change[k]).sum::<f64>();
        free.retain(|&k| !full(change, k));
    }
}
