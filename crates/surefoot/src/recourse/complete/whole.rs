//! Constraints and whole values in the search.

use super::RuledOut;
use super::boxes::{Cuboid, highest};
use super::solve::{Set, Solver};
use crate::action::feasible_change;
use crate::bound::{Plane, Region};
use crate::certify::LEAST_MARGIN;
use crate::margin::counterfactual;

impl Solver<'_, '_> {
    /// Whether somebody who takes an action meets every constraint, as the definition has it.
    pub(super) fn meets(&self, set: usize, change: &[f64]) -> bool {
        let problem = self.settings.problem;
        if problem.constraints().is_empty() {
            return true;
        }
        let unperturbed = vec![0.0; self.individual.len()];
        let reached = counterfactual(problem, &self.individual, &self.action(set, change), &unperturbed);
        reached.is_ok_and(|reached| problem.is_met(&reached))
    }

    /// Whether there is a constraint that no action of a box meets.
    pub(super) fn rule_out_by_constraint(&mut self, cuboid: &Cuboid) -> bool {
        let region = Region::cuboid(cuboid.lower.clone(), cuboid.upper.clone());
        for number in 0..self.sets[cuboid.set].constraints.len() {
            let graph = &self.sets[cuboid.set].constraints[number];
            // Not even what is within rounding.
            if self.prover.affine.bound(graph, &region).upper(&region) < -LEAST_MARGIN {
                self.ruled_out.push(RuledOut {
                    features: self.sets[cuboid.set].composer.features().to_vec(),
                    lower: cuboid.lower.clone(),
                    upper: cuboid.upper.clone(),
                    cost: f64::INFINITY,
                    perturbation: vec![0.0; self.individual.len()],
                    rays: Vec::new(),
                    distance: (0.0, 0.0),
                    constraint: Some(number),
                    share: 0.0,
                });
                return true;
            }
        }
        false
    }

    /// Whether there is a constraint that no action of a box meets which survives a perturbation of
    /// the pool: the one that is worst at the middle.
    pub(super) fn rule_out_together(&mut self, cuboid: &Cuboid, middle: &[f64]) -> bool {
        let set = cuboid.set;
        if self.sets[set].constraints.is_empty() {
            return false;
        }
        let Some(&(_, worst)) = self.margins(set, middle).first() else { return false };
        let (limit, cost) = (self.limit(), self.cost());
        let Set { whole, weights, graphs, constraints, composer } = &self.sets[set];
        let Some((lower, upper)) = whole.tightened(cuboid.shrunk(cost, weights, limit)) else { return false };
        let region = Region::cuboid(lower.clone(), upper.clone());
        let margin = self.prover.affine.bound(&graphs[worst], &region);
        let found = constraints.iter().enumerate().find_map(|(number, graph)| {
            let rule = self.prover.affine.bound(graph, &region);
            // The best share is one with which a change makes no difference.
            let shares = rule.linear.iter().zip(&margin.linear).map(|(c, m)| -c / m);
            let mut shares = shares.filter(|share| share.is_finite() && *share > 0.0);
            let share = shares.find(|&share| {
                highest(&sum(&rule, share, &margin, &region), &region, cost, weights, limit)
                    < -LEAST_MARGIN * (1.0 + share)
            })?;
            Some((number, share))
        });
        let Some((number, share)) = found else { return false };
        self.ruled_out.push(RuledOut {
            features: composer.features().to_vec(),
            lower,
            upper,
            cost: limit,
            perturbation: self.pool[worst].clone(),
            rays: Vec::new(),
            distance: (0.0, 0.0),
            constraint: Some(number),
            share,
        });
        if limit < f64::INFINITY {
            // Dearer actions of the box are still open.
            self.push(set, cuboid.lower.clone(), cuboid.upper.clone(), limit);
        }
        true
    }

    /// A change that was moved away from an incumbent, with whole values where they belong and as
    /// far as constraints allow: those of its parts that keep to them.
    pub(super) fn allowed(&self, set: usize, incumbent: &[f64], moved: Vec<f64>) -> Vec<f64> {
        let whole = &self.sets[set].whole;
        let problem = self.settings.problem;
        let feasible = |&i: &usize| feasible_change(problem.features(), i, self.individual[i]);
        let sides = whole.tightened(self.settings.sets[set].iter().map(feasible).unzip());
        let moved = sides.map_or(moved.clone(), |(lower, upper)| whole.near(&lower, &upper, &moved));
        if self.meets(set, &moved) {
            return moved;
        }
        let mut allowed = incumbent.to_vec();
        for k in 0..moved.len() {
            let before = std::mem::replace(&mut allowed[k], moved[k]);
            if !self.meets(set, &allowed) {
                allowed[k] = before;
            }
        }
        allowed
    }
}

/// A plane plus a share of another, with room for the rounding of that.
fn sum(first: &Plane, share: f64, second: &Plane, region: &Region) -> Plane {
    let constant = first.constant + share * second.constant;
    let terms = first.linear.iter().zip(&second.linear).enumerate();
    let terms = terms.map(|(i, (a, b))| (a.abs() + share * b.abs()) * region.size(i));
    let size = first.constant.abs() + share * second.constant.abs() + terms.sum::<f64>();
    Plane {
        linear: first.linear.iter().zip(&second.linear).map(|(a, b)| a + share * b).collect(),
        constant,
        error: first.error + share * second.error + 1e-13 * size,
    }
}
