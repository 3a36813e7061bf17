//! A second action that holds, from another start, which is made cheaper beside the incumbent.
//!
//! Local changes lead from one start to one of many local optima. So there is a challenger: it is made cheaper like the
//! incumbent, takes its place when it is cheaper, and is given up for a new one when it has not become cheaper for long.

use super::Search;
use crate::certify::NODES_PER_EVALUATION;

/// The work without success after which a challenger is given up.
const MOST_IDLE: usize = 8_000 * NODES_PER_EVALUATION;
/// The shares of attempts that search a neighbourhood of the challenger, and that repair it; the others are dives.
const NEAR: f64 = 0.75;
const REPAIRED: f64 = 0.08;

impl Search<'_, '_> {
    /// One attempt to make the challenger cheaper, or to find a new one.
    pub(super) fn challenge(&mut self) {
        let before = self.work();
        let best = std::mem::replace(&mut self.incumbent, self.attempts.challenger.take());
        let cost = self.target();
        let chance = self.repair.random();
        match self.incumbent.is_some() {
            true if chance < NEAR => self.search_neighbourhood(),
            true if chance < NEAR + REPAIRED && self.is_repairable() => self.repair_once(),
            false if chance < 0.5 && self.is_repairable() => self.repair_without_some(),
            _ => self.dive_once(),
        }
        let work = self.work() - before;
        self.attempts.challenged += work;
        self.attempts.idle = if self.target() < cost { 0 } else { self.attempts.idle + work };
        let made = std::mem::replace(&mut self.incumbent, best);
        let Some(made) = made else { return };
        self.attempts.challenger = match self.incumbent.as_ref().is_some_and(|best| best.cost <= made.cost) {
            true => Some(made),
            false => self.incumbent.replace(made),
        };
        if self.attempts.idle > MOST_IDLE {
            self.give_up();
        }
    }

    /// Gives the challenger up, after a search of what lies between it and the incumbent.
    fn give_up(&mut self) {
        let before = self.work();
        if let Some(challenger) = self.attempts.challenger.take() {
            self.search_between(&challenger);
        }
        self.attempts.challenged += self.work() - before;
        self.attempts.idle = 0;
    }
}
