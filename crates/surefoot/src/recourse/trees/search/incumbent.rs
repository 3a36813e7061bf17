//! Actions that hold: attempts of several kinds, dives along what trees wish, and changes that are made smaller one by
//! one.

use super::neighbourhood::Free;
use super::{DIVE_STEPS, Expanded, Incumbent, Search};
use crate::forest::{Bad, Sides};

/// The number of repairs and dives before the first box is divided.
const FIRST_TRIES: usize = 8;
/// All work is at least this multiple of that of attempts to find cheaper actions.
const TRIED_SHARE: f64 = 2.0;
/// The work of attempts is at least this multiple of that of challengers.
const CHALLENGED_SHARE: usize = 2;

/// The attempts to find cheaper actions.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Their number.
    pub count: usize,
    repairs: Tried,
    dives: Tried,
    neighbourhoods: Tried,
    /// The number of changes that are free in a neighbourhood.
    pub free: Free,
    /// Another action that holds, which attempts make cheaper as well.
    pub challenger: Option<Incumbent>,
    /// The work of attempts with challengers, and that since the present one became cheaper.
    pub challenged: usize,
    pub idle: usize,
}

impl Attempts {
    fn work(&self) -> usize {
        self.repairs.work + self.dives.work + self.neighbourhoods.work + self.challenged
    }
}

/// One way of finding cheaper actions: its work, and how often it found one.
#[derive(Clone, Copy, Debug, Default)]
struct Tried {
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
    /// Attempts to find cheaper actions, as long as they take no more than a share of all work. Half of that is for the
    /// incumbent, half for a challenger.
    pub(super) fn search_around(&mut self) {
        while self.attempts.count < FIRST_TRIES
            || TRIED_SHARE * self.attempts.work() as f64 <= self.work() as f64
        {
            if self.is_spent() {
                return;
            }
            let is_behind = CHALLENGED_SHARE * self.attempts.challenged <= self.attempts.work();
            match self.attempts.count >= FIRST_TRIES && self.incumbent.is_some() && is_behind {
                true => self.challenge(),
                false => self.attempt(),
            }
            self.attempts.count += 1;
        }
    }

    /// A repair, a dive, or a search of a neighbourhood: whichever has taken least work for each cheaper incumbent that
    /// it found.
    fn attempt(&mut self) {
        let (before, cost) = (self.work(), self.target());
        let Attempts { count, repairs, dives, neighbourhoods, .. } = &self.attempts;
        let is_repair = self.is_repairable() && repairs.price() <= dives.price();
        let least = if is_repair { repairs.price() } else { dives.price() };
        let is_near = *count >= FIRST_TRIES && self.incumbent.is_some() && neighbourhoods.price() <= least;
        match (is_near, is_repair) {
            (true, _) => self.search_neighbourhood(),
            (false, true) => self.repair_once(),
            (false, false) => self.dive_once(),
        }
        let (work, is_better) = (self.work() - before, self.target() < cost);
        let tried = match (is_near, is_repair) {
            (true, _) => &mut self.attempts.neighbourhoods,
            (false, true) => &mut self.attempts.repairs,
            (false, false) => &mut self.attempts.dives,
        };
        tried.work += work;
        tried.successes += usize::from(is_better);
    }

    /// A dive around the incumbent or, without one, from a whole box.
    pub(super) fn dive_once(&mut self) {
        if let Some(found) = self.incumbent.clone() {
            return self.dive_around(&found);
        }
        let set = self.attempts.count % self.parts.len();
        if let Some(sides) = self.parts[set].whole.clone() {
            self.dive(set, sides);
        }
    }

    /// Dives from the part of the whole box in which all changes of the incumbent but one or two are as large.
    fn dive_around(&mut self, found: &Incumbent) {
        let set = found.set;
        let changed: Vec<usize> = (0..found.change.len()).filter(|&k| found.change[k] != 0.0).collect();
        let Some(mut sides) = self.parts[set].whole.clone().filter(|_| !changed.is_empty()) else { return };
        let (number, count) = (self.attempts.count, changed.len());
        let round = number / count;
        let freed = [changed[number % count], changed[(number * 7 + round) % count]];
        for &k in changed.iter().filter(|k| !freed[..1 + round % 2].contains(k)) {
            if found.change[k] > 0.0 {
                sides.lower[k] = found.change[k]
            } else {
                sides.upper[k] = found.change[k]
            }
        }
        let far = self.set_aside(set, &sides);
        self.dive(set, sides);
        self.put_back(far);
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
