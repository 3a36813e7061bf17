//! Actions that hold, by searches of small parts of the whole box: all changes but a few keep the values of the
//! incumbent, and best-first search finds the cheapest of the others.
//!
//! The number of free changes grows while such searches end, and falls while they are cut short.

use std::collections::BinaryHeap;

use super::breaking::NODES_PER_CELL;
use super::open::Open;
use super::{Expanded, Incumbent, Search};
use crate::certify::NODES_PER_EVALUATION;
use crate::forest::{Bad, Sides, ranges};

/// The most work of one search, in visited nodes, and as a share of all work before.
const MOST_NODES: usize = 400 * NODES_PER_EVALUATION;
const WORK_SHARE: usize = 8;
/// The number of free changes of the first search.
const FIRST_FREE: f64 = 4.0;
/// What is added to the number of free changes after a search that ended, and by what it is multiplied after one
/// that was cut short.
const GROWTH: f64 = 0.5;
const DECLINE: f64 = 0.85;
/// The difference of two changes, relative to the radius, up to which they are taken for the same.
const SAME: f64 = 0.2;

/// The number of changes that are free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free(f64);

impl Default for Free {
    fn default() -> Self {
        Self(FIRST_FREE)
    }
}

impl Free {
    fn after(self, has_ended: bool) -> Self {
        Self(if has_ended { self.0 + GROWTH } else { (self.0 * DECLINE).max(2.0) })
    }
}

impl Search<'_, '_> {
    /// Searches the actions that differ from the incumbent in a few changes.
    pub(super) fn search_neighbourhood(&mut self) {
        let Some(found) = self.incumbent.clone() else { return };
        let Some(mut sides) = self.parts[found.set].whole.clone() else { return };
        let free = self.drawn(&found, &sides);
        for (k, &change) in found.change.iter().enumerate().filter(|(k, _)| !free[*k]) {
            (sides.lower[k], sides.upper[k]) = (change, change);
        }
        let has_ended = self.search_within(found.set, sides);
        if !(has_ended && free.iter().all(|&free| free)) {
            self.attempts.free = self.attempts.free.after(has_ended);
        }
    }

    /// Searches the actions between the incumbent and another one.
    pub(super) fn search_between(&mut self, other: &Incumbent) {
        let Some(found) = self.incumbent.clone().filter(|found| found.set == other.set) else { return };
        let least = SAME * self.parts[found.set].scene.ball.radius;
        let ends = found.change.iter().zip(&other.change).map(|(&a, &b)| match (a - b).abs() < least {
            true => (a, a),
            false => (a.min(b), a.max(b)),
        });
        let (lower, upper) = ends.unzip();
        self.search_within(found.set, Sides { lower, upper });
    }

    /// The changes that are free: half of them of those that the incumbent makes, as far as there are as many.
    fn drawn(&mut self, found: &Incumbent, whole: &Sides) -> Vec<bool> {
        let (scene, count) = (&self.parts[found.set].scene, found.change.len());
        let reach = ranges(scene, whole);
        let (mut made, mut others): (Vec<usize>, Vec<usize>) = (0..count)
            .filter(|&k| found.change[k] != 0.0 || scene.leads_over(k, &reach))
            .partition(|&k| found.change[k] != 0.0);
        let mut free = vec![false; count];
        for number in 0..self.attempts.free.0 as usize {
            let is_made = number % 2 == 0 && !made.is_empty() || others.is_empty();
            let list = if is_made { &mut made } else { &mut others };
            if list.is_empty() {
                break;
            }
            let place = (self.repair.random() * list.len() as f64) as usize;
            free[list.swap_remove(place)] = true;
        }
        free
    }

    /// Best-first search of a box for actions that are cheaper than the incumbent, without a record. Returns whether it
    /// ended before its share of the work was spent.
    fn search_within(&mut self, set: usize, sides: Sides) -> bool {
        let end = self.work() + (self.work() / WORK_SHARE).min(MOST_NODES);
        let far = self.set_aside(set, &sides);
        let has_ended = self.search_box(set, sides, end);
        self.put_back(far);
        has_ended
    }

    fn search_box(&mut self, set: usize, sides: Sides, end: usize) -> bool {
        let cost = self.least_cost(set, &sides);
        let mut heap = BinaryHeap::from([Open { set, sides, cost, node: 0, reason: None, number: 0 }]);
        let mut number = 0;
        while let Some(open) = heap.pop() {
            if open.cost >= self.target() {
                return true;
            }
            if self.work() >= end || self.is_spent() {
                return false;
            }
            match self.expand(set, &open.sides, true) {
                Expanded::Holds(change) => {
                    self.offer(set, change.clone());
                    self.improve(set, change);
                }
                Expanded::Divide { cost, k, at, .. } => {
                    let halves = self.parts[set].actions.halves(&open.sides, k, at);
                    for sides in halves.into_iter().flatten() {
                        let cost = cost.max(open.cost).max(self.least_cost(set, &sides));
                        if cost < self.target() {
                            number += 1;
                            heap.push(Open { sides, cost, number, ..open.clone() });
                        }
                    }
                }
                Expanded::Closed(_) | Expanded::Sliver => {}
            }
        }
        true
    }

    /// Takes the cells out of the pool that the ball reaches from nowhere in a box.
    pub(super) fn set_aside(&mut self, set: usize, sides: &Sides) -> Vec<Bad> {
        let part = &self.parts[set];
        let reach = ranges(&part.scene, sides);
        self.grown += NODES_PER_CELL * self.pool.len();
        let pool = std::mem::take(&mut self.pool).into_iter();
        let (near, far) = pool.partition(|bad| bad.may_be_near(&part.scene, &reach, part.usable));
        self.pool = near;
        far
    }

    /// Puts such cells back, before those that were in use.
    pub(super) fn put_back(&mut self, mut far: Vec<Bad>) {
        far.append(&mut self.pool);
        self.pool = far;
    }
}
