//! Unbounded actions, covered by cones.
//!
//! Where features have no limit, no finite number of bounded boxes suffices, and the margin far away
//! depends on the direction of the change. So actions far away are covered by cones instead of boxes. A
//! cone consists of the nonnegative combinations of some rays. One that cannot be ruled out is split
//! between two of its rays or, if it is narrow, at a distance. Far away, only the sign of a ray's effect
//! on a unit matters, and most units are saturated.

use super::boxes::{Cuboid, DISTANCE};
use super::solve::Solver;
use crate::Cost;
use crate::certify::LEAST_MARGIN;
use crate::graph::Region;
use crate::proof::{Cone, RuledOut, Scenario, WeightedMargin};

/// The largest number of cones processed before the region is covered by boxes instead.
const CONES: usize = 1000;
/// A cone no wider than this at its near end is split at a distance.
const NARROW: f64 = 4.0;

impl Solver<'_, '_> {
    /// Queues a box. If it has at least two long sides, its far part is queued separately.
    pub(super) fn push_near_and_far(&mut self, set: usize, lower: Vec<f64>, upper: Vec<f64>, cost: f64) {
        let mut near = Cuboid::new(set, lower, upper, cost);
        let long = near.long_sides();
        if long.len() < 2 {
            return self.push(near);
        }
        let mut far = near.clone();
        let weights = &self.sets[set].weights;
        let least = long.iter().map(|&k| weights[k]).fold(f64::INFINITY, f64::min);
        let far_cost = match self.cost() {
            Cost::L1 => DISTANCE * least,
            Cost::L2 => DISTANCE * least / (long.len() as f64).sqrt(),
        };
        self.number += 1;
        (far.is_far_part, far.cost, far.number) = (true, cost.max(far_cost * (1.0 - 1e-12)), self.number);
        self.queue.push(far);
        for k in long {
            near.lower[k] = near.lower[k].max(-DISTANCE);
            near.upper[k] = near.upper[k].min(DISTANCE);
        }
        self.push(near);
    }

    /// Rules out the far part of a box by cones. If that fails, queues the far part as boxes.
    pub(super) fn process_cone(&mut self, cuboid: Cuboid) {
        let long = cuboid.long_sides();
        let width = cuboid.lower.len();
        let ray = |&k: &usize| {
            let mut ray = vec![0.0; width];
            ray[k] = if cuboid.upper[k] > 0.0 { 1.0 } else { -1.0 };
            ray
        };
        let to = long.iter().map(|&k| cuboid.upper[k].max(-cuboid.lower[k])).sum::<f64>() * (1.0 + 1e-12);
        let mut cones = vec![Cone { rays: long.iter().map(ray).collect(), from: DISTANCE, to }];
        let before = self.ruled_out.len();
        let mut looked = 0;
        while let Some(cone) = cones.pop() {
            looked += 1;
            let ruled_out = match looked > CONES || self.prover.is_spent() {
                true => None,
                false => self.rule_out_cone(&cuboid, &long, &cone),
            };
            match ruled_out {
                Some(true) => {}
                Some(false) => cones.extend(halves(&cone)),
                None => {
                    cones.push(cone);
                    break;
                }
            }
        }
        if cones.is_empty() {
            return;
        }
        self.ruled_out.truncate(before);
        for &k in &long {
            let (mut lower, mut upper) = (cuboid.lower.clone(), cuboid.upper.clone());
            if upper[k] > 0.0 {
                lower[k] = DISTANCE
            } else {
                upper[k] = -DISTANCE
            }
            self.push(Cuboid::new(cuboid.set, lower, upper, cuboid.cost));
        }
    }

    /// Whether one scenario rules out a whole cone. `None` if no scenario is found that breaks
    /// the action in its middle.
    fn rule_out_cone(&mut self, cuboid: &Cuboid, long: &[usize], cone: &Cone) -> Option<bool> {
        let Cone { rays, from, to } = cone;
        let rest: Vec<usize> = (0..cuboid.lower.len()).filter(|k| !long.contains(k)).collect();
        let side = |ends: &[f64]| -> Vec<f64> { rest.iter().map(|&k| ends[k]).collect() };
        let (lower, upper) = (side(&cuboid.lower), side(&cuboid.upper));
        let mut middle: Vec<f64> = (0..cuboid.lower.len())
            .map(|k| {
                rays.iter().map(|ray| ray[k]).sum::<f64>() * from.max(to.min(2.0 * from)) / rays.len() as f64
            })
            .collect();
        rest.iter().for_each(|&k| middle[k] = 0.5 * (cuboid.lower[k] + cuboid.upper[k]));
        let mut order: Vec<usize> =
            self.margins(cuboid.set, &middle).into_iter().take(2).map(|(_, k)| k).collect();
        let region = Region::orthant_slab(rays.len(), *from, *to, &lower, &upper);
        for attempt in 0..2 {
            for &k in &order {
                let Scenario { variant, perturbation } = &self.pool[k];
                let composer = &self.sets[cuboid.set].composers[*variant];
                let graph = composer.in_rays(perturbation, rays, &rest);
                if self.prover.affine.bound(&graph, &region).upper() < -LEAST_MARGIN {
                    self.ruled_out.push(RuledOut {
                        features: composer.features().to_vec(),
                        undecided: Vec::new(),
                        lower: cuboid.lower.clone(),
                        upper: cuboid.upper.clone(),
                        cost: f64::INFINITY,
                        margins: WeightedMargin::only(self.pool[k].clone()),
                        cone: Some(Cone { rays: rays.to_vec(), from: *from, to: *to }),
                        requirements: Vec::new(),
                    });
                    return Some(true);
                }
            }
            if attempt == 0 {
                let start = order.first().map(|&k| self.pool[k].clone());
                let (scenario, value) = self.attack(cuboid.set, &middle, start.as_ref());
                if value >= 0.0 {
                    return None;
                }
                order.clear();
                order.extend(self.add(cuboid.set, &middle, scenario));
            }
        }
        Some(false)
    }
}

/// The two halves, split between the two rays that are farthest apart or, if the cone is narrow, at a
/// distance.
fn halves(cone: &Cone) -> [Cone; 2] {
    let Cone { rays, from, to } = cone;
    let apart =
        |i: usize, j: usize| -> f64 { rays[i].iter().zip(&rays[j]).map(|(a, b)| (a - b).abs()).sum() };
    let mut farthest = (0, 0, 0.0);
    for i in 0..rays.len() {
        for j in 0..i {
            if apart(i, j) > farthest.2 {
                farthest = (i, j, apart(i, j));
            }
        }
    }
    let (i, j, width) = farthest;
    if width * from <= NARROW && 2.0 * from < *to {
        let at = 4.0 * from;
        let at = if at < *to { at } else { 0.5 * (from + to) };
        return [
            Cone { rays: rays.clone(), from: *from, to: at },
            Cone { rays: rays.clone(), from: at, to: *to },
        ];
    }
    let middle: Vec<f64> = rays[i].iter().zip(&rays[j]).map(|(a, b)| 0.5 * (a + b)).collect();
    let (mut first, mut second) = (rays.clone(), rays.clone());
    (first[i], second[j]) = (middle.clone(), middle);
    [Cone { rays: first, from: *from, to: *to }, Cone { rays: second, from: *from, to: *to }]
}
