//! What breaks the actions of a box: worst cases, the cells that are learnt from them, and scenarios.

use super::Search;
use crate::certify::NODES_PER_EVALUATION;
use crate::forest::{Bad, Cell, Question, Scenario, Sides, Worst};

/// The largest number of nodes that are visited for the worst case of one action.
const MOST_NODES: usize = 250 * NODES_PER_EVALUATION;
/// By how much a ball is smaller whose worst point scenarios reach for sure, relative to its radius.
const INSIDE: f64 = 1e-6;
/// The work of each cell that is looked at, and that of each near one, for each feature, in visited nodes, as measured.
pub(super) const NODES_PER_CELL: usize = 3;
const NODES_PER_NEAR_CELL: usize = 1;

impl Search<'_, '_> {
    /// The scenarios that break a centre: those of the cells that are most expensive to leave, or that the ball reaches
    /// most deeply.
    pub(super) fn scenarios(
        &mut self,
        set: usize,
        sides: &Sides,
        centre: &[f64],
        reach: &Cell,
        count: usize,
    ) -> Vec<(f64, usize, Scenario)> {
        let part = &self.parts[set];
        let cheapest = part.scene.centre(&sides.cheapest());
        self.grown += NODES_PER_CELL * self.pool.len();
        let mut found: Vec<(f64, usize, Scenario)> = Vec::new();
        for (number, bad) in self.pool.iter_mut().enumerate().rev() {
            if !bad.is_near_again(&part.scene, centre, part.usable) {
                continue;
            }
            let leaving = match part.is_plain && !part.scene.is_squared {
                true => {
                    self.grown += NODES_PER_NEAR_CELL * cheapest.len();
                    let above = if found.len() == count { found[count - 1].0 } else { 0.0 };
                    bad.leaving(&part.scene, &cheapest, reach, part.usable, above)
                }
                false => bad.depth(&part.scene, centre, part.usable),
            };
            if found.len() == count && found.last().is_some_and(|last| last.0 >= leaving) {
                continue;
            }
            for scenario in bad.scenarios(&part.scene, centre, reach, &part.prices, part.usable) {
                found.truncate(count - 1);
                let place = found.partition_point(|other| other.0 >= leaving);
                found.insert(place, (leaving, number, scenario));
            }
        }
        found
    }

    /// Adds the cell of a point that breaks a centre. `false` if the ball of scenarios does not reach it.
    pub(super) fn learn(&mut self, set: usize, worst: &Worst, centre: &[f64], reach: &Cell) -> bool {
        let part = &self.parts[set];
        let mut bad = Bad::new(&part.scene, centre, &worst.point, &worst.perturbation);
        self.grown += bad.grow(&part.scene, centre, reach, &part.prices);
        let is_near = bad.is_near(&part.scene, centre, part.usable);
        if is_near {
            self.pool.push(bad);
        }
        is_near
    }

    /// The same for the worst point of a ball that is a little smaller, which scenarios reach. The worst of all may be
    /// only just in reach, while others break the centre as well.
    pub(super) fn learn_inside(&mut self, set: usize, centre: &[f64], reach: &Cell) -> bool {
        let part = &self.parts[set];
        let scene = part.scene.with_radius(part.usable * (1.0 - INSIDE));
        let question = Question { wanted: 0.0, is_least: true, most: MOST_NODES };
        let worst = self.adversary.least(&scene, centre, question);
        worst.found < 0.0 && self.learn(set, &worst, centre, reach)
    }

    /// The worst case of an action.
    pub(super) fn worst(&mut self, set: usize, centre: &[f64], is_least: bool, change: &[f64]) -> Worst {
        let question = Question { wanted: 0.0, is_least, most: MOST_NODES };
        let worst = self.adversary.least(&self.parts[set].scene, centre, question);
        if is_least && self.best.as_ref().is_none_or(|(best, ..)| worst.found > *best) {
            self.best = Some((worst.found, set, change.to_vec()));
        }
        worst
    }
}
