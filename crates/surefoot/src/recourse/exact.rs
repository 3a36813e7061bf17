//! Exact recourse for a linear classifier and a linear causal model, or none.
//!
//! Let the score be `s(x) = w.x + b` and `J` the Jacobian of the observational map. A
//! relative action `theta` on the set `I` gives, for a perturbation `D`,
//!
//! ```text
//! margin(theta, D) = s(x) + g.theta + (J^T w).D,    g = columns I of the interventional J^T w
//! ```
//!
//! so its worst case over `||D|| <= epsilon` is `s(x) + g.theta - epsilon ||J^T w||*`: robust
//! recourse is standard recourse for a raised threshold (Proposition 4). For absolute actions
//! perturbations of `I` and of what causes it are cut off, and the interventional Jacobian
//! without the columns of `I` takes the place of `J`.
//!
//! What remains, `min cost(theta)` such that `g.theta >= need` over a box, has a closed form:
//! for l1 cost a fractional knapsack, filled in the order of `|g_i| / w_i`; for l2 cost
//! `theta_i = min(cap_i, lambda |g_i| / w_i^2)`. Every intervention set is tried.

use super::{Outcome, Recourse, Shortfall, Undecided};
use crate::action::{feasible_change, intervention_sets};
use crate::margin::counterfactual;
use crate::{Action, Cost, Error, Form, Problem, Result};

/// The exact solver, prepared once for a problem and used for any number of individuals.
#[derive(Clone, Debug)]
pub struct Exact<'p> {
    problem: &'p Problem,
    weights: &'p [f64],
    sets: Vec<Set>,
}

/// The worst that a perturbation can do to an action.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstCase {
    /// A perturbation that does it.
    pub perturbation: Vec<f64>,
    /// The margin that is then left; negative: the action is broken.
    pub margin: f64,
}

/// One intervention set.
#[derive(Clone, Debug)]
struct Set {
    features: Vec<usize>,
    /// What a unit of each change adds to the score.
    gains: Vec<f64>,
    /// The cost weight of each change.
    weights: Vec<f64>,
    /// Positions by `|gain| / weight`, the best first.
    order: Vec<usize>,
    /// How far perturbations can lower the score.
    raise: f64,
}

impl<'p> Exact<'p> {
    /// Prepares the solver; refused are classifiers and equations that are not linear, a
    /// problem in which nothing is actionable, and one with too many actionable features.
    pub fn new(problem: &'p Problem) -> Result<Self> {
        let (weights, _) = problem.classifier().coefficients()?;
        if let Some(scm) = problem.scm() {
            scm.coefficients()?;
        }
        let mut exact = Self { problem, weights, sets: Vec::new() };
        let sets = intervention_sets(problem.features(), problem.scm().is_some())?;
        exact.sets = sets.into_iter().map(|features| exact.prepare(features)).collect::<Result<_>>()?;
        Ok(exact)
    }

    fn prepare(&self, features: Vec<usize>) -> Result<Set> {
        let weights: Vec<f64> = features.iter().map(|&i| self.problem.features().feature(i).weight).collect();
        let gains = self.gains(&features)?;
        let mut order: Vec<usize> = (0..features.len()).collect();
        let worth = |k: usize| gains[k].abs() / weights[k];
        order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
        let raise = self.problem.epsilon() * self.problem.norm().dual(&self.response(&features)?);
        Ok(Set { features, gains, weights, order, raise })
    }

    /// What a unit of change of each intervened feature adds to the score. A gain that is no
    /// larger than its own rounding error is none.
    fn gains(&self, features: &[usize]) -> Result<Vec<f64>> {
        let Some(scm) = self.problem.scm() else {
            return Ok(features.iter().map(|&i| self.weights[i]).collect());
        };
        let origin = vec![0.0; self.weights.len()];
        let jacobian = scm.jacobian(&origin, features)?;
        let gain = |&i: &usize| {
            let terms = jacobian.column(i).iter().zip(self.weights).map(|(j, w)| j * w).collect::<Vec<_>>();
            let gain: f64 = terms.iter().sum();
            let size: f64 = terms.iter().map(|t| t.abs()).sum();
            if gain.abs() <= rounding(size, self.weights.len()) { 0.0 } else { gain }
        };
        Ok(features.iter().map(gain).collect())
    }

    /// What a unit of perturbation of each feature adds to the score once the action is taken.
    fn response(&self, intervention: &[usize]) -> Result<Vec<f64>> {
        let cut = match self.problem.form() {
            Form::Relative => &[],
            Form::Absolute => intervention,
        };
        let mut response = match self.problem.scm() {
            None => self.weights.to_vec(),
            Some(scm) => scm.pullback(&vec![0.0; self.weights.len()], cut, self.weights)?,
        };
        cut.iter().for_each(|&i| response[i] = 0.0);
        Ok(response)
    }

    /// The cheapest action that holds, over all intervention sets; among equally cheap ones
    /// the set with the fewest features.
    ///
    /// Guarantees that every feasible action cheaper than `cost_bound` is broken by some
    /// perturbation, and that the action found holds for all of them.
    ///
    /// # Errors
    /// Only if the individual does not have one finite value for each feature.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        let score = self.score(individual)?;
        if score >= 0.0 {
            return Ok(Outcome::AlreadyFavourable);
        }
        let (mut cheapest, mut bound) = (None::<(f64, &Set)>, f64::INFINITY);
        let mut change = Vec::new();
        for set in &self.sets {
            let need = set.raise - score;
            let slack = self.rounding_of_score(individual) + rounding(need, 4);
            bound = bound.min(self.fill(set, individual, need - slack, &mut change));
            let cost = self.fill(set, individual, need + slack + self.problem.safety(), &mut change);
            // Sets come smaller first; a larger one must be cheaper by more than rounding.
            let best = cheapest.map_or(f64::MAX, |(cost, _)| cost);
            if cost < best * (1.0 - 1e-12) {
                cheapest = Some((cost, set));
            }
        }
        match cheapest {
            Some((_, set)) => self.prove(individual, set, set.raise - score, bound),
            None => self.short(individual, score, bound.is_finite()),
        }
    }

    /// The answer with the action of a set, after evaluating afresh what it leaves in the
    /// worst case. Where that is within rounding of the boundary the action is pushed on.
    fn prove(&self, individual: &[f64], set: &Set, need: f64, bound: f64) -> Result<Outcome> {
        let mut action = Action { features: set.features.clone(), change: Vec::new() };
        let mut asked = need + rounding(need, 4) + self.rounding_of_score(individual) + self.problem.safety();
        let mut left = (0.0, 0.0);
        for _ in 0..4 {
            let cost = self.fill(set, individual, asked, &mut action.change);
            if cost.is_infinite() {
                break;
            }
            let zero = vec![0.0; individual.len()];
            let counterfactual = counterfactual(self.problem, individual, &action, &zero)?;
            let margin = self.score(&counterfactual)? - set.raise;
            let required =
                self.rounding_of_score(&counterfactual) + rounding(set.raise, counterfactual.len());
            if margin >= required {
                let cost_bound = bound.min(cost);
                return Ok(Outcome::Found(Recourse { action, counterfactual, cost, cost_bound, margin }));
            }
            asked += (required - margin) + required;
            left = (margin, required);
        }
        let (margin, required) = left;
        Ok(Outcome::Undecided(Undecided { best: action, margin, required }))
    }

    /// The answer without one: what the best feasible action achieves.
    fn short(&self, individual: &[f64], score: f64, borderline: bool) -> Result<Outcome> {
        let mut best: Option<(f64, Action)> = None;
        for set in &self.sets {
            // No set meets the need, so this fills every feature that helps to its limit.
            let mut change = Vec::new();
            let need = set.raise - score + self.problem.safety() + self.rounding_of_score(individual);
            self.fill(set, individual, need * 2.0, &mut change);
            let raised: f64 = set.gains.iter().zip(&change).map(|(g, c)| g * c).sum();
            let missing = set.raise - score - raised;
            if best.as_ref().is_none_or(|(least, _)| missing < *least) {
                best = Some((missing, Action { features: set.features.clone(), change }));
            }
        }
        let Some((missing, best)) = best else { return Err(Error::NothingActionable) };
        if !borderline {
            return Ok(Outcome::Impossible(Shortfall { best, missing }));
        }
        let required = self.problem.safety() + self.rounding_of_score(individual);
        Ok(Outcome::Undecided(Undecided { best, margin: -missing, required }))
    }

    /// The worst that a perturbation of the given size can do to any action, exactly.
    pub fn worst_case(&self, individual: &[f64], action: &Action) -> Result<WorstCase> {
        let zero = vec![0.0; individual.len()];
        let counterfactual = counterfactual(self.problem, individual, action, &zero)?;
        let response = self.response(&action.features)?;
        let downwards: Vec<f64> = response.iter().map(|r| -r).collect();
        let perturbation = self.problem.norm().maximiser(&downwards, self.problem.epsilon());
        let lowered: f64 = response.iter().zip(&perturbation).map(|(r, d)| r * d).sum();
        Ok(WorstCase { margin: self.score(&counterfactual)? + lowered, perturbation })
    }

    /// The size of the smallest perturbation that takes the action to the decision boundary
    /// (any larger one breaks it); zero if it is not beyond the boundary, infinite if no
    /// perturbation reaches it.
    pub fn smallest_break(&self, individual: &[f64], action: &Action) -> Result<f64> {
        let zero = vec![0.0; individual.len()];
        let score = self.score(&counterfactual(self.problem, individual, action, &zero)?)?;
        let dual = self.problem.norm().dual(&self.response(&action.features)?);
        Ok(if score <= 0.0 { 0.0 } else { score / dual })
    }

    /// The cost of the cheapest action that raises the score by `need`, whatever the
    /// uncertainty; infinite if there is none.
    pub(crate) fn cost_of_raising(&self, individual: &[f64], need: f64) -> f64 {
        let mut change = Vec::new();
        let cost = |set| self.fill(set, individual, need, &mut change);
        self.sets.iter().map(cost).fold(f64::INFINITY, f64::min)
    }

    /// What a unit of change of each feature adds to the score, if it alone is changed.
    pub(crate) fn single_gains(&self) -> Result<Vec<(usize, f64)>> {
        let gain = |i| Ok((i, self.gains(&[i])?[0]));
        self.problem.features().actionable().into_iter().map(gain).collect()
    }

    /// How far perturbations can lower the score of somebody who does not act.
    pub(crate) fn raise_of_observation(&self) -> Result<f64> {
        Ok(self.problem.epsilon() * self.problem.norm().dual(&self.response(&[])?))
    }

    pub(crate) fn problem(&self) -> &'p Problem {
        self.problem
    }

    fn score(&self, individual: &[f64]) -> Result<f64> {
        let features = self.problem.features();
        if individual.len() != features.len() {
            return Err(Error::VectorLength { expected: features.len(), found: individual.len() });
        }
        if let Some(i) = individual.iter().position(|v| !v.is_finite()) {
            let feature = features.feature(i).name.clone();
            return Err(Error::VectorNotFinite { feature, value: individual[i] });
        }
        Ok(self.problem.classifier().score(individual))
    }

    /// A bound on the rounding error of a score.
    fn rounding_of_score(&self, individual: &[f64]) -> f64 {
        let terms: f64 = self.weights.iter().zip(individual).map(|(w, x)| (w * x).abs()).sum();
        let constant = self.problem.classifier().coefficients().map_or(0.0, |(_, b)| b.abs());
        rounding(terms + constant, individual.len() + 2)
    }

    /// The cheapest change of a set's features that raises the score by `need`, written to
    /// `change`, and its cost. Where the box does not allow that much, every feature that
    /// helps is at its limit and the cost is infinite.
    fn fill(&self, set: &Set, individual: &[f64], need: f64, change: &mut Vec<f64>) -> f64 {
        change.clear();
        let features = self.problem.features();
        // Room to move in the direction that helps, signed.
        change.extend(set.features.iter().zip(&set.gains).map(|(&i, &gain)| {
            let (down, up) = feasible_change(features, i, individual[i]);
            if gain > 0.0 {
                up
            } else if gain < 0.0 {
                down
            } else {
                0.0
            }
        }));
        match self.problem.cost() {
            Cost::L1 => knapsack(set, need, change),
            Cost::L2 => waterfill(set, need, change),
        }
    }
}

/// l1: the features that give most for their price first, each up to its room.
fn knapsack(set: &Set, need: f64, change: &mut [f64]) -> f64 {
    let (mut missing, mut cost) = (need, 0.0);
    for &k in &set.order {
        let (gain, room) = (set.gains[k], change[k]);
        if missing <= 0.0 || room == 0.0 {
            change[k] = 0.0;
            continue;
        }
        let wanted = missing / gain;
        if wanted.abs() <= room.abs() {
            change[k] = wanted;
            missing = 0.0;
        } else {
            missing -= gain * room;
        }
        cost += set.weights[k] * change[k].abs();
    }
    if missing > 0.0 { f64::INFINITY } else { cost }
}

/// l2: all features in proportion to `gain / weight^2`; those that meet their limit stay
/// there and the others make up for them.
fn waterfill(set: &Set, need: f64, change: &mut [f64]) -> f64 {
    let rate = |k: usize| set.gains[k] / (set.weights[k] * set.weights[k]);
    let mut free: Vec<usize> = (0..change.len()).filter(|&k| change[k] != 0.0).collect();
    let mut missing = need.max(0.0);
    loop {
        let speed: f64 = free.iter().map(|&k| set.gains[k] * rate(k)).sum();
        // Without a feature left to move there is no speed: nothing or infinity.
        let level = if missing > 0.0 { missing / speed } else { 0.0 };
        let full = |change: &[f64], k: usize| (level * rate(k)).abs() > change[k].abs();
        if !free.iter().any(|&k| full(change, k)) {
            free.iter().for_each(|&k| change[k] = level * rate(k));
            let squares: f64 = change.iter().zip(&set.weights).map(|(c, w)| (c * w) * (c * w)).sum();
            return if level.is_finite() { squares.sqrt() } else { f64::INFINITY };
        }
        missing -= free.iter().filter(|&&k| full(change, k)).map(|&k| set.gains[k] * change[k]).sum::<f64>();
        free.retain(|&k| !full(change, k));
    }
}

/// A bound on the error of a sum of `terms` numbers whose absolute values sum to `size`.
fn rounding(size: f64, terms: usize) -> f64 {
    4.0 * f64::EPSILON * terms as f64 * size.abs()
}
