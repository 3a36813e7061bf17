//! The largest uncertainty for which a linear problem has recourse, in closed form.
//!
//! The worst-case margin of an action decreases linearly in epsilon: with the unperturbed margin `m` of
//! the best action on a set and the dual norm `d` of its response, it is `m - epsilon d`. So an action of
//! the set holds for every epsilon up to `m / d`, and none for a larger one. The answer is the largest of
//! these over all sets. Where there are too many sets, it is enclosed: from below by the sets that are
//! prepared, from above by a relaxation over all sets.

use super::Exact;
use super::relaxation::Relaxation;
use super::rows::Person;
use super::set::Set;
use crate::integer::Integrality;
use crate::margin::outcome;
use crate::recourse::Reach;
use crate::{Action, Result};

/// The relative rounding error of a product and a quotient, bounded from above.
const ROOM: f64 = 1e-12;

impl Exact<'_> {
    /// Encloses the largest epsilon for which a feasible action holds. Requires a positive epsilon of the
    /// problem and no requirements on outcomes. Both ends account for rounding.
    pub(crate) fn largest_epsilon(&self, individual: &[f64]) -> Result<Reach> {
        let score = self.score(individual)?;
        let rounding = self.rounding_of_score(individual, &[]);
        let radius = self.problem.uncertainty().radius();
        let (mut possible, mut impossible) = (None::<f64>, 0.0_f64);
        // No action holds for more than `highest / dual`.
        let mut exclude = |highest: f64, dual: f64| {
            impossible = impossible.max(match highest < 0.0 {
                true => 0.0,
                false if dual > 0.0 => highest / dual * (1.0 + ROOM),
                false => f64::INFINITY,
            });
        };
        if !self.is_enumerated() {
            let person = Person::new(self, individual, score);
            let (raised, decrease) = Relaxation::new(self, &person).largest_rise(individual);
            exclude(score + raised + rounding, decrease / radius);
        }
        for set in &self.sets {
            // The response to an epsilon of 1.
            let (dual, error) = (set.worst_decrease / radius, set.worst_decrease_error / radius);
            let Some((raised, _)) = self.farthest(individual, set, |k, change| set.most_gain(k, change))
            else {
                continue;
            };
            exclude(score + raised + rounding, dual - error);
            let margin = self.best_margin(individual, set)?;
            if margin >= 0.0 && dual + error > 0.0 {
                let holds = margin / (dual + error) * (1.0 - ROOM);
                possible = Some(possible.map_or(holds, |largest| largest.max(holds)));
            }
        }
        let finite = |end: &f64| end.is_finite();
        Ok(Reach { possible: possible.filter(finite), impossible: Some(impossible).filter(finite) })
    }

    /// The unperturbed margin, by the definition, of the action on a set that raises the score most,
    /// minus the required margin. NaN if that action is unbounded.
    fn best_margin(&self, individual: &[f64], set: &Set) -> Result<f64> {
        let gain = |k: usize, change: f64| match set.gains.values[k] {
            0.0 => 0.0,
            gain => gain * change,
        };
        let change = match self.farthest(individual, set, gain) {
            Some((_, change)) if change.iter().all(|change| change.is_finite()) => change,
            _ => return Ok(f64::NAN),
        };
        let action = Action { features: set.features.clone(), change };
        let reached = outcome(self.problem, individual, &action)?;
        let required = self.rounding_of_score(individual, &action.change) + self.problem.safety();
        Ok(self.score(&reached)? - required)
    }

    /// The feasible change of a set with the largest sum of gains, and that sum. Every feature is at the
    /// end with the largest gain or as near to zero as allowed, every group at its best category. `None`
    /// if there is no integer-valued change.
    fn farthest(
        &self,
        individual: &[f64],
        set: &Set,
        gain: impl Fn(usize, f64) -> f64,
    ) -> Option<(f64, Vec<f64>)> {
        let integrality = Integrality::new(self.problem, individual, &set.features);
        let (lower, upper) = integrality.tightened(self.sides(individual, set))?;
        let best = |k: usize| {
            let ends = [0.0_f64.clamp(lower[k], upper[k]), lower[k], upper[k]];
            ends.into_iter().reduce(|a, b| if gain(k, b) > gain(k, a) { b } else { a }).unwrap_or(0.0)
        };
        let mut change: Vec<f64> = (0..set.features.len()).map(best).collect();
        for group in integrality.groups() {
            let total = |moved: &&Vec<f64>| -> f64 {
                group.columns.iter().zip(*moved).map(|(&k, &change)| gain(k, change)).sum()
            };
            let most = group.moves.iter().max_by(|a, b| total(a).total_cmp(&total(b)));
            most.into_iter().for_each(|moved| group.put(moved, &mut change));
        }
        Some(((0..change.len()).map(|k| gain(k, change[k])).sum(), change))
    }
}

impl Set {
    /// An upper bound of what a change of one feature adds to the score.
    fn most_gain(&self, k: usize, change: f64) -> f64 {
        let (computed, most) = (self.gains.values[k], self.most.values[k]);
        match most * change {
            _ if change == 0.0 || most == 0.0 => 0.0,
            gain if !self.most.certain[k] => gain.abs(),
            gain if gain > 0.0 => gain,
            // The decrease may be smaller than computed, by the error bound of the gain.
            _ => (2.0 * computed - most) * change,
        }
    }
}
