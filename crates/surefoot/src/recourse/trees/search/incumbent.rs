//! Actions that hold: dives along what trees wish, and changes that are made smaller one by one.

use super::{DIVE_STEPS, Expanded, Incumbent, Search};
use crate::forest::{Bad, Sides};

/// The number of repairs and dives before the first box is divided.
const FIRST_TRIES: usize = 8;
/// All work is at least this multiple of that of repairs and dives.
const TRIED_SHARE: f64 = 2.0;

/// One way of finding cheaper actions: its work, and how often it found one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    work: usize,
    successes: usize,
}

impl Tried {
    /// The work of finding a cheaper action.
    fn price(self) -> usize {
        self.work / (1 + self.successes)
    }
}

impl Search<'_, '_> {
    /// Repairs and dives, whichever has taken less work for each cheaper incumbent that it found, as long as both take
    /// no more than a share of all work.
    pub(super) fn search_around(&mut self) {
        let mut first = if self.tries == 0 { FIRST_TRIES } else { 0 };
        while (first > 0 || TRIED_SHARE * self.trying() as f64 <= self.work() as f64) && !self.is_spent() {
            first = first.saturating_sub(1);
            let (before, cost) = (self.work(), self.target());
            let is_repair = self.is_repairable() && self.repairs.price() <= self.dives.price();
            match (is_repair, self.incumbent.clone()) {
                (true, _) => self.repair_once(),
                (false, Some(found)) => self.dive_around(&found),
                (false, None) => {
                    let set = self.tries % self.parts.len();
                    if let Some(sides) = self.parts[set].whole.clone() {
                        self.dive(set, sides);
                    }
                }
            }
            self.tries += 1;
            let (work, is_better) = (self.work() - before, self.target() < cost);
            let tried = if is_repair { &mut self.repairs } else { &mut self.dives };
            tried.work += work;
            tried.successes += usize::from(is_better);
        }
    }

    /// The work of repairs and dives.
    fn trying(&self) -> usize {
        self.repairs.work + self.dives.work
    }

    /// Dives from the part of the whole box in which all changes of the incumbent but one or two are as large.
    fn dive_around(&mut self, found: &Incumbent) {
        let set = found.set;
        let changed: Vec<usize> = (0..found.change.len()).filter(|&k| found.change[k] != 0.0).collect();
        let Some(mut sides) = self.parts[set].whole.clone().filter(|_| !changed.is_empty()) else { return };
        let (count, round) = (changed.len(), self.tries / changed.len());
        let freed = [changed[self.tries % count], changed[(self.tries * 7 + round) % count]];
        for &k in changed.iter().filter(|k| !freed[..1 + round % 2].contains(k)) {
            if found.change[k] > 0.0 {
                sides.lower[k] = found.change[k]
            } else {
                sides.upper[k] = found.change[k]
            }
        }
        self.dive(set, sides);
    }

    /// Follows the wanted side of each division until the cheapest action of the box holds.
    pub(super) fn dive(&mut self, set: usize, mut sides: Sides) {
        for _ in 0..DIVE_STEPS {
            if self.is_spent() {
                return;
            }
            match self.expand(set, &sides, true) {
                Expanded::Holds(change) => {
                    self.offer(set, change.clone());
                    self.improve(set, change);
                    return;
                }
                Expanded::Divide { k, at, from, .. } => {
                    let [first, second] = self.parts[set].actions.halves(&sides, k, at);
                    let wanted = if from <= at { second.or(first) } else { first.or(second) };
                    let Some(wanted) = wanted else { return };
                    sides = wanted;
                }
                Expanded::Closed(_) | Expanded::Sliver => return,
            }
        }
    }

    /// Keeps an action that holds if it is the cheapest so far.
    pub fn offer(&mut self, set: usize, change: Vec<f64>) {
        let scene = &self.parts[set].scene;
        let cost = scene.cost(scene.spent(&change));
        if self.incumbent.as_ref().is_none_or(|found| cost < found.cost) {
            self.incumbent = Some(Incumbent { set, change, cost });
        }
    }

    /// Whether an action meets the requirements and holds.
    pub fn holds(&mut self, set: usize, change: &[f64]) -> bool {
        if !self.parts[set].actions.is_met(change) {
            return false;
        }
        let centre = self.parts[set].scene.centre(change);
        let part = &self.parts[set];
        if self.pool.iter().rev().take(64).any(|bad| bad.is_near(&part.scene, &centre, part.usable)) {
            return false;
        }
        let worst = self.worst(set, &centre, false, change);
        if worst.lower < 0.0 && worst.found < 0.0 {
            let scene = &self.parts[set].scene;
            self.pool.push(Bad::new(scene, &centre, &worst.point, &worst.perturbation));
        }
        worst.lower >= 0.0
    }

    /// Makes an action that holds cheaper: all changes together, then one by one.
    pub fn improve(&mut self, set: usize, mut change: Vec<f64>) {
        change = self.shrink(set, change);
        let scene = &self.parts[set].scene;
        let mut cost = scene.cost(scene.spent(&change));
        for round in 0..4 {
            if self.is_spent() {
                break;
            }
            let scene = &self.parts[set].scene;
            let mut order: Vec<usize> = (0..change.len()).filter(|&k| change[k] != 0.0).collect();
            order.sort_by(|&a, &b| scene.price(a, change[a]).total_cmp(&scene.price(b, change[b])));
            if round % 2 == 1 {
                order.reverse();
            }
            for k in order {
                self.pull(set, &mut change, k);
            }
            let scene = &self.parts[set].scene;
            let now = scene.cost(scene.spent(&change));
            self.offer(set, change.clone());
            if now > cost * (1.0 - 1e-3) {
                break;
            }
            cost = now;
        }
    }

    /// The smallest multiple of an action that is found to hold.
    fn shrink(&mut self, set: usize, change: Vec<f64>) -> Vec<f64> {
        let (mut low, mut high, mut best) = (0.0, 1.0, change.clone());
        for _ in 0..8 {
            let middle = 0.5 * (low + high);
            let tried = self.parts[set].actions.scaled(&change, middle);
            if self.holds(set, &tried) {
                (high, best) = (middle, tried);
            } else {
                low = middle;
            }
        }
        best
    }

    /// Moves one change towards zero as far as the action holds.
    fn pull(&mut self, set: usize, change: &mut Vec<f64>, k: usize) {
        let cost = self.incumbent.as_ref().map_or(0.0, |found| found.cost);
        let (mut low, mut high) = (0.0, change[k]);
        for step in 0..16 {
            let value = if step == 0 { 0.0 } else { 0.5 * (low + high) };
            let Some(tried) = self.parts[set].actions.with(change, k, value) else { break };
            let value = tried[k];
            if value == high {
                break;
            }
            if self.holds(set, &tried) {
                (*change, high) = (tried, value);
            } else {
                low = value;
            }
            let part = &self.parts[set];
            if high == 0.0 || part.scene.prices[k] * (high - low).abs() < 1e-4 * cost.max(1e-9) {
                break;
            }
        }
    }
}
