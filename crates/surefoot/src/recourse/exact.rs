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
//! `theta_i = min(cap_i, lambda |g_i| / w_i^2)`. Every intervention set is tried. Where actions take
//! whole values it bounds the cost from below, and parts whose solution is not whole are cut.
//! Where the cheapest action does not lead to an outcome that meets every requirement (constraints and
//! limits), which are linear in theta as well, a small linear program takes the place of the closed form.

mod constrained;
mod reach;
mod integer;
mod proof;

use ndarray::Array2;

use super::Settings;
use crate::action::{feasible_change, intervention_sets};
use crate::error::PeopleError;
use crate::margin::counterfactual;
use crate::outcome::{Outcome, Recourse, Shortfall, Undecided, UndecidedReason};
use crate::{Action, ActionKind, Constraint, Cost, Error, Feature, Problem, Result};

/// The exact solver, prepared once for a problem and used for any number of individuals.
#[derive(Clone, Debug)]
pub struct Exact<'p> {
    problem: &'p Problem,
    weights: &'p [f64],
    /// Of the causal model; zero if there is none.
    coefficients: Array2<f64>,
    /// The sizes of all terms by which each feature reaches the score.
    reach: Vec<f64>,
    /// For each requirement of the problem the sizes of all terms by which each feature reaches it.
    requirement_reach: Vec<Vec<f64>>,
    sets: Vec<Set>,
    /// Whether actions take whole values.
    is_integer: bool,
    /// For individuals whom [`Complete`](super::Complete) answers.
    settings: Settings,
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
    /// The cost weight of each change.
    weights: Vec<f64>,
    /// What a unit of each change adds to the score, as computed.
    gains: Gains,
    /// The most it can add, rounding errors considered: for proofs that no action suffices.
    most: Gains,
    /// How far perturbations can lower the score, and how wrong that number may be.
    raise: f64,
    raise_error: f64,
    /// For each requirement of the problem what a unit of each change adds to it, and how wrong that
    /// number may be.
    requirements: Vec<Effects>,
}

/// What a unit of each change adds to the value of a requirement.
#[derive(Clone, Debug)]
struct Effects {
    values: Vec<f64>,
    errors: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Gains {
    values: Vec<f64>,
    /// Whether the sign of each is beyond doubt; if not the change may go either way.
    certain: Vec<bool>,
    /// Positions by `|gain| / weight`, the best first.
    order: Vec<usize>,
}

impl Gains {
    fn new(values: Vec<f64>, certain: Vec<bool>, weights: &[f64]) -> Self {
        let worth = |k: usize| values[k].abs() / weights[k];
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
        Self { values, certain, order }
    }
}

impl<'p> Exact<'p> {
    /// Prepares the solver; refused are classifiers and equations that are not linear, a
    /// problem in which nothing is actionable, and one with too many actionable features.
    pub fn new(problem: &'p Problem) -> Result<Self> {
        let (weights, _) = problem.classifier().coefficients()?;
        let coefficients = match problem.scm() {
            Some(scm) => scm.coefficients()?,
            None => Array2::zeros((weights.len(), weights.len())),
        };
        let is_integer = problem.whole_feature().is_some();
        let mut exact = Self {
            problem,
            weights,
            coefficients,
            reach: Vec::new(),
            requirement_reach: Vec::new(),
            sets: Vec::new(),
            is_integer,
            settings: Settings::default(),
        };
        exact.reach = exact.sizes(weights, &[]);
        let requirements = problem.requirements().iter();
        exact.requirement_reach = requirements.map(|rule| exact.sizes(rule.upper_terms().1, &[])).collect();
        let sets = intervention_sets(problem.features(), problem.scm().is_some())?;
        exact.sets = sets.into_iter().map(|features| exact.prepare(features)).collect::<Result<_>>()?;
        Ok(exact)
    }

    /// Sets the effort that may be spent on individuals whom [`Complete`](super::Complete) answers, see
    /// [`Exact::solve`]; without further word that of [`Settings::default`].
    pub fn with_settings(mut self, settings: Settings) -> Result<Self> {
        settings.check()?;
        self.settings = settings;
        Ok(self)
    }

    fn prepare(&self, features: Vec<usize>) -> Result<Set> {
        let weights: Vec<f64> = features.iter().map(|&i| self.problem.features().feature(i).weight).collect();
        let sizes = self.sizes(self.weights, &features);
        let error = |i: usize| if self.problem.scm().is_some() { self.rounding(sizes[i]) } else { 0.0 };
        let computed = self.gains(self.weights, &features)?;
        // A gain that is no larger than its own error may be none.
        let certain: Vec<bool> = features.iter().zip(&computed).map(|(&i, g)| g.abs() > error(i)).collect();
        let gains = computed.iter().zip(&certain).map(|(&g, &certain)| if certain { g } else { 0.0 });
        let gains = Gains::new(gains.collect(), vec![true; features.len()], &weights);
        let most = features.iter().zip(&computed).map(|(&i, g)| g + error(i).copysign(*g)).collect();
        let most = Gains::new(most, certain, &weights);
        let uncertainty = self.problem.uncertainty();
        let raise = uncertainty.support(&self.response(&features)?);
        let raise_error = self.rounding(uncertainty.support(&sizes));
        let effects = |rule: &Constraint| -> Result<Effects> {
            let (_, coefficients) = rule.upper_terms();
            let sizes = self.sizes(coefficients, &features);
            let errors = features.iter().map(|&i| self.rounding(sizes[i])).collect();
            Ok(Effects { values: self.gains(coefficients, &features)?, errors })
        };
        let requirements = self.problem.requirements().iter().map(effects).collect::<Result<_>>()?;
        Ok(Set { features, weights, gains, most, raise, raise_error, requirements })
    }

    /// What a unit of change of each intervened feature adds to a linear function of the features.
    fn gains(&self, function: &[f64], features: &[usize]) -> Result<Vec<f64>> {
        let response = match self.problem.scm() {
            None => function.to_vec(),
            Some(scm) => scm.pullback(&vec![0.0; function.len()], features, function)?,
        };
        Ok(features.iter().map(|&i| response[i]).collect())
    }

    /// For each feature the sum of the sizes of all terms by which it reaches a linear function of the
    /// features: what rounding errors are relative to.
    fn sizes(&self, function: &[f64], cut: &[usize]) -> Vec<f64> {
        let direct: Vec<f64> = function.iter().map(|w| w.abs()).collect();
        let mut sizes = direct.clone();
        let mut is_cut = vec![false; sizes.len()];
        cut.iter().for_each(|&i| is_cut[i] = true);
        // Paths of ever more arrows, until there are no longer ones; there are none longer than the
        // features are many, and most graphs are shallow.
        for _ in 1..sizes.len() {
            let reach = |j: usize| -> f64 {
                let effects = (0..sizes.len()).filter(|&i| !is_cut[i]);
                effects.map(|i| self.coefficients[[i, j]].abs() * sizes[i]).sum()
            };
            let longer: Vec<f64> = (0..sizes.len()).map(|j| direct[j] + reach(j)).collect();
            if longer == sizes {
                break;
            }
            sizes = longer;
        }
        sizes
    }

    /// A bound on the error of something computed along the graph from terms of this size.
    fn rounding(&self, size: f64) -> f64 {
        rounding(size, 2 * self.weights.len() + 4)
    }

    /// What a unit of perturbation of each feature adds to the score once the action is taken.
    fn response(&self, intervention: &[usize]) -> Result<Vec<f64>> {
        let cut = match self.problem.action_kind() {
            ActionKind::Relative => &[],
            ActionKind::Absolute => intervention,
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
    /// perturbation, and that the action found holds for all of them. Where rounding leaves that open,
    /// or where whole values have too many combinations, [`Complete`](super::Complete) answers with the settings of
    /// [`Exact::with_settings`].
    ///
    /// The individual is taken to be within the limits, as [`People`](crate::People) has
    /// checked.
    ///
    /// # Errors
    /// Only if the individual does not have one finite value for each feature.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.solve_counted(individual)?.0)
    }

    /// The answer, and the evaluations that [`Complete`] took for it; none where it was not needed.
    pub(crate) fn solve_counted(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let score = self.score(individual)?;
        if score >= 0.0 {
            return Ok((Outcome::AlreadyFavourable, 0));
        }
        let outcome = match self.is_integer {
            true => self.solve_whole(individual, score)?,
            false => Some(self.solve_real(individual, score)?),
        };
        // An action that is cheapest without requirements is cheapest with them, if it meets them.
        let is_open = |outcome: &Outcome| match outcome {
            Outcome::Found(found) => !self.problem.is_met(individual, &found.counterfactual),
            Outcome::Undecided(_) => !self.problem.requirements().is_empty(),
            Outcome::AlreadyFavourable | Outcome::Impossible(_) | Outcome::Unproved(_) => false,
        };
        let outcome = match outcome {
            Some(outcome) if is_open(&outcome) => self.solve_constrained(individual, score)?,
            outcome => outcome,
        };
        match outcome {
            // An action that is far from the boundary is not undecided by rounding: gains so small that their signs
            // are in doubt leave the closed form open.
            Some(Outcome::Undecided(open))
                if open.reason == UndecidedReason::Rounding && open.margin < -open.required =>
            {
                if let Ok(proof) = self.complete().and_then(|complete| complete.prove(individual)) {
                    return Ok((proof.outcome, proof.evaluations));
                }
                let reason = UndecidedReason::Distance;
                return Ok((Outcome::Undecided(Undecided { reason, ..open }), 0));
            }
            Some(outcome) => return Ok((outcome, 0)),
            None => {}
        }
        let proof = self.complete()?.prove(individual)?;
        Ok((proof.outcome, proof.evaluations))
    }

    /// Over actions of any size, whatever the constraints.
    fn solve_real(&self, individual: &[f64], score: f64) -> Result<Outcome> {
        let (mut cheapest, mut bound) = (None::<(f64, &Set)>, f64::INFINITY);
        let mut change = Vec::new();
        for set in &self.sets {
            let need = set.raise - score;
            let slack = set.raise_error + self.rounding_of_score(individual, &[]);
            let least = self.fill(set, &set.most, individual, need - slack, &mut change);
            bound = bound.min(if least.is_nan() { 0.0 } else { least });
            let asked = need + slack + self.problem.safety();
            let cost = self.fill(set, &set.gains, individual, asked, &mut change);
            // Sets come smaller first; a larger one must be cheaper by more than rounding.
            let best = cheapest.map_or(f64::MAX, |(cost, _)| cost);
            if cost < best * (1.0 - 1e-12) {
                cheapest = Some((cost, set));
            }
        }
        match cheapest {
            Some((_, set)) => self.evaluated(individual, set, set.raise - score, bound),
            None => self.short(individual, score, bound),
        }
    }

    /// The answer with the action of a set, after evaluating afresh what it leaves in the
    /// worst case. Where that is within rounding of the boundary the action is pushed on.
    fn evaluated(&self, individual: &[f64], set: &Set, need: f64, bound: f64) -> Result<Outcome> {
        let mut action = Action { features: set.features.clone(), change: Vec::new() };
        let mut asked =
            need + set.raise_error + self.rounding_of_score(individual, &[]) + self.problem.safety();
        let mut left = (f64::NAN, f64::NAN);
        for _ in 0..4 {
            let cost = self.fill(set, &set.gains, individual, asked, &mut action.change);
            if !cost.is_finite() {
                break;
            }
            let zero = vec![0.0; individual.len()];
            let Ok(counterfactual) = counterfactual(self.problem, individual, &action, &zero) else { break };
            if !self.problem.classifier().score(&counterfactual).is_finite() {
                break;
            }
            let margin = self.score(&counterfactual)? - set.raise;
            let required = self.rounding_of_score(individual, &action.change) + set.raise_error;
            if margin >= required {
                let cost_bound = bound.min(cost);
                let found = Recourse { action, counterfactual, cost, cost_bound, margin };
                return Ok(found.or_overflow(self.problem, required));
            }
            asked += (required - margin) + required;
            left = (margin, required);
        }
        let (margin, required) = left;
        Ok(Outcome::Undecided(Undecided::within_rounding(action, margin, required, bound)))
    }

    /// The answer without one: what the best feasible action achieves. It is proven that there
    /// is none only if even the most that gains can be does not suffice.
    fn short(&self, individual: &[f64], score: f64, bound: f64) -> Result<Outcome> {
        let mut best: Option<(f64, Action)> = None;
        for set in &self.sets {
            // More than any set can give, so that every feature that helps is at its limit.
            let mut change = Vec::new();
            self.fill(set, &set.gains, individual, f64::INFINITY, &mut change);
            let raised: f64 = set.gains.values.iter().zip(&change).map(|(g, c)| g * c).sum();
            let missing = set.raise - score - raised;
            if missing.is_finite() && best.as_ref().is_none_or(|(least, _)| missing < *least) {
                best = Some((missing, Action { features: set.features.clone(), change }));
            }
        }
        let nothing = Action { features: Vec::new(), change: Vec::new() };
        let (missing, best) = best.unwrap_or((f64::INFINITY, nothing));
        if bound == f64::INFINITY && missing.is_finite() && missing > 0.0 {
            return Ok(Outcome::Impossible(Shortfall { best, missing }));
        }
        let required = self.problem.safety() + self.rounding_of_score(individual, &best.change);
        Ok(Outcome::Undecided(Undecided::within_rounding(best, -missing, required, bound)))
    }

    /// The worst that a perturbation of the given size can do to any action, exactly.
    pub fn worst_case(&self, individual: &[f64], action: &Action) -> Result<WorstCase> {
        let zero = vec![0.0; individual.len()];
        let counterfactual = counterfactual(self.problem, individual, action, &zero)?;
        let response = self.response(&action.features)?;
        let downwards: Vec<f64> = response.iter().map(|r| -r).collect();
        let perturbation = self.problem.uncertainty().maximiser(&downwards);
        let lowered: f64 = response.iter().zip(&perturbation).map(|(r, d)| r * d).sum();
        Ok(WorstCase { margin: self.score(&counterfactual)? + lowered, perturbation })
    }

    /// The size of the smallest perturbation that takes the action to the decision boundary
    /// (any larger one breaks it); zero if it is not beyond the boundary, infinite if no
    /// perturbation reaches it.
    pub fn smallest_break(&self, individual: &[f64], action: &Action) -> Result<f64> {
        let zero = vec![0.0; individual.len()];
        let score = self.score(&counterfactual(self.problem, individual, action, &zero)?)?;
        let dual = self.problem.uncertainty().norm().dual(&self.response(&action.features)?);
        Ok(if score <= 0.0 { 0.0 } else { score / dual })
    }

    /// The cost of the cheapest action that raises the score by `need`, whatever the
    /// uncertainty; infinite if there is none.
    pub(crate) fn cost_of_raising(&self, individual: &[f64], need: f64) -> f64 {
        let mut change = Vec::new();
        let cost = |set: &Set| self.fill(set, &set.gains, individual, need, &mut change);
        self.sets.iter().map(cost).fold(f64::INFINITY, f64::min)
    }

    /// Each actionable feature with what a unit of its change adds to the score, for every
    /// intervention set it is in.
    pub(crate) fn all_gains(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let pairs =
            |set: &'_ Set| set.features.iter().copied().zip(set.gains.values.clone()).collect::<Vec<_>>();
        self.sets.iter().flat_map(pairs)
    }

    /// How far perturbations can lower the score of somebody who does not act.
    pub(crate) fn raise_of_observation(&self) -> Result<f64> {
        Ok(self.problem.uncertainty().support(&self.response(&[])?))
    }

    pub(crate) fn problem(&self) -> &'p Problem {
        self.problem
    }

    fn score(&self, individual: &[f64]) -> Result<f64> {
        let features = self.problem.features();
        if individual.len() != features.len() {
            return Err(Error::People(PeopleError::VectorLength {
                expected: features.len(),
                found: individual.len(),
            }));
        }
        if let Some(i) = individual.iter().position(|v| !v.is_finite()) {
            let feature = features.feature(i).name.clone();
            return Err(Error::People(PeopleError::VectorNotFinite { feature, value: individual[i] }));
        }
        self.problem.classifier().finite_score(individual)
    }

    /// A bound on the rounding error of the score of an individual after changes, all of it:
    /// from own units, along the causal model, to the sum.
    fn rounding_of_score(&self, individual: &[f64], change: &[f64]) -> f64 {
        let constant = self.problem.classifier().coefficients().map_or(0.0, |(_, b)| b.abs());
        let moved: f64 = change.iter().map(|c| c.abs()).sum();
        let value = |(feature, x): (&Feature, &f64)| x.abs() + moved + (feature.mean / feature.std).abs();
        let values = self.problem.features().iter().zip(individual).map(value);
        let terms: f64 = match self.problem.scm() {
            Some(_) => self.reach.iter().zip(values).map(|(size, value)| size * value).sum(),
            None => self.weights.iter().zip(individual).map(|(w, x)| w.abs() * (x.abs() + moved)).sum(),
        };
        self.rounding(terms + constant)
    }

    /// The cheapest change of a set's features that raises the score by `need`, written to
    /// `change`, and its cost. Where the box does not allow that much, every feature that
    /// helps is at its limit and the cost is infinite. Not a number, which proves nothing, where
    /// something overflows or vanishes so that the cost cannot be computed.
    fn fill(&self, set: &Set, gains: &Gains, individual: &[f64], need: f64, change: &mut Vec<f64>) -> f64 {
        change.clear();
        let features = self.problem.features();
        // Room to move in the direction that helps, signed like the gain.
        change.extend(set.features.iter().enumerate().map(|(k, &i)| {
            let (down, up) = feasible_change(features, i, individual[i]);
            let gain = gains.values[k];
            match gain {
                0.0 => 0.0,
                _ if !gains.certain[k] => up.max(-down).copysign(gain),
                _ if gain > 0.0 => up,
                _ => down,
            }
        }));
        match self.problem.cost() {
            Cost::L1 => knapsack(gains, &set.weights, need, change),
            Cost::L2 => waterfill(gains, &set.weights, need, change),
        }
    }
}

/// l1: the features that give most for their price first, each up to its room.
fn knapsack(gains: &Gains, weights: &[f64], need: f64, change: &mut [f64]) -> f64 {
    let (mut missing, mut cost) = (need, 0.0);
    if need.is_nan() {
        return f64::NAN;
    }
    for &k in &gains.order {
        let (gain, room) = (gains.values[k], change[k]);
        if missing <= 0.0 || room == 0.0 {
            change[k] = 0.0;
            continue;
        }
        let wanted = missing / gain;
        if wanted.abs() <= room.abs() {
            change[k] = wanted;
            missing = 0.0;
            if wanted.is_infinite() {
                return f64::NAN;
            }
        } else {
            missing -= gain * room;
        }
        cost += weights[k] * change[k].abs();
    }
    match missing > 0.0 {
        true => f64::INFINITY,
        // An infinite cost is one that overflows: the box does allow so much.
        false if missing.is_nan() || !cost.is_finite() => f64::NAN,
        false => cost,
    }
}

/// l2: all features in proportion to `gain / weight^2`; those that meet their limit stay
/// there and the others make up for them.
fn waterfill(gains: &Gains, weights: &[f64], need: f64, change: &mut [f64]) -> f64 {
    let rate = |k: usize| gains.values[k] / weights[k] / weights[k];
    let mut free: Vec<usize> = (0..change.len()).filter(|&k| change[k] != 0.0).collect();
    if need.is_nan() {
        return f64::NAN;
    }
    let mut missing = need.max(0.0);
    loop {
        if free.is_empty() && missing > 0.0 {
            return f64::INFINITY;
        }
        let speed: f64 = free.iter().map(|&k| gains.values[k] * rate(k)).sum();
        if !free.is_empty() && !speed.is_normal() {
            return f64::NAN;
        }
        let level = if missing > 0.0 { missing / speed } else { 0.0 };
        let full = |change: &[f64], k: usize| (level * rate(k)).abs() > change[k].abs();
        if !free.iter().any(|&k| full(change, k)) {
            free.iter().for_each(|&k| change[k] = level * rate(k));
            let cost = Cost::L2.of_weighted(change.iter().zip(weights).map(|(c, w)| c * w));
            // An infinite cost is one that overflows: the box does allow so much.
            return if cost.is_finite() { cost } else { f64::NAN };
        }
        missing -=
            free.iter().filter(|&&k| full(change, k)).map(|&k| gains.values[k] * change[k]).sum::<f64>();
        free.retain(|&k| !full(change, k));
    }
}

/// A bound on the error of a sum of `terms` numbers whose absolute values sum to `size`.
fn rounding(size: f64, terms: usize) -> f64 {
    4.0 * f64::EPSILON * terms as f64 * size.abs()
}
