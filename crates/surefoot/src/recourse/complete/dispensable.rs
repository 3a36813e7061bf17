//! Dispensable changes: those that can be dropped, with the others adjusted, at a cost within the gap.
//!
//! The cheapest action may change a feature by an amount that is too small to be advised to anybody. Before the
//! incumbent is proved, such changes are dropped, as long as the cost stays within the gap.
//! [`options`](crate::recourse::options) uses a larger tolerance to decide which changes of an option are essential.

use super::boxes::cost_of;
use super::solve::{Incumbent, Solver};
use crate::proof::Scenario;

/// The cost may rise to where it exceeds its bound by this share of the gap. The rest is for enlarging the
/// action before its proof.
const SHARE_OF_GAP: f64 = 0.9;
/// The largest number of linear programs for each feature.
const STEPS: usize = 4;
/// The share by which the cost of a first linear program may exceed the limit.
const OVERSTATED: f64 = 0.02;
/// The largest step of a change, in standard deviations.
const RADIUS: f64 = 1.0;
/// The number of scenarios of the pool whose margins are linearised.
const KNOWN: usize = 6;

impl Solver<'_, '_> {
    /// Drops those changes of the incumbent that others can make up for, the smallest first.
    pub(super) fn drop_dispensable_changes(&mut self) {
        let Some(first) = self.incumbent.clone() else { return };
        let limit = self.bound() / (1.0 - SHARE_OF_GAP * self.settings.gap);
        let limit = limit.min(first.cost * (1.0 + self.settings.gap));
        let weights = self.sets[first.set].weights.clone();
        let size = |change: &[f64], k: usize| (weights[k] * change[k]).abs();
        let mut order: Vec<usize> = (0..weights.len()).filter(|&k| first.change[k] != 0.0).collect();
        order.retain(|&k| !self.sets[first.set].integrality.is_category(k));
        order.sort_by(|&a, &b| size(&first.change, a).total_cmp(&size(&first.change, b)));
        let mut fixed: Vec<usize> = (0..weights.len()).filter(|&k| first.change[k] == 0.0).collect();
        // The last change is the action itself.
        for &k in order.iter().take(order.len().saturating_sub(1)) {
            if self.prover.is_spent() {
                return;
            }
            fixed.push(k);
            let Some(Incumbent { set, change, .. }) = self.incumbent.clone() else { return };
            match self.without(set, &change, &fixed, limit) {
                Some(change) => {
                    let cost = cost_of(self.cost(), &weights, &change);
                    self.incumbent = Some(Incumbent { set, change, cost });
                }
                None => {
                    fixed.pop();
                }
            }
        }
    }

    /// An action near another that leaves some features unchanged, costs at most `limit` and survives.
    fn without(&mut self, set: usize, change: &[f64], fixed: &[usize], limit: f64) -> Option<Vec<f64>> {
        let mut sides = self.local_sides(set, change);
        fixed.iter().for_each(|&k| sides[k] = (0.0, 0.0));
        let integrality = self.sets[set].integrality.clone();
        let (lower, upper) = integrality.tightened(sides.iter().copied().unzip())?;
        let mut at = change.to_vec();
        let order = self.margins(set, change);
        let mut known: Vec<Scenario> =
            order.into_iter().take(KNOWN).map(|(_, k)| self.pool[k].clone()).collect();
        for _ in 0..STEPS {
            let next = self.linear_step(set, &sides, &at, &known, RADIUS, None)?;
            let next = integrality.near(&lower, &upper, &next);
            let cost = cost_of(self.cost(), &self.sets[set].weights, &next);
            // Far from the action, where the margins were linearised, the program may overstate the cost.
            if cost > limit * (1.0 + OVERSTATED) {
                return None;
            }
            if cost <= limit && self.survives(set, &next) {
                return Some(next);
            }
            let (scenario, _) = self.attack(set, &next, known.last());
            known.push(scenario);
            at = next;
        }
        None
    }
}
