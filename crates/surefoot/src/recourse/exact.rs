//! Exact recourse for a linear classifier with a linear causal model or without a causal model.
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
//! perturbations of `I` and of its ancestors have no effect through `I`, and the interventional Jacobian
//! without the columns of `I` takes the place of `J`.
//!
//! The remaining problem, `min cost(theta)` such that `g.theta >= need` over a box, has a closed form.
//! For l1 cost it is a fractional knapsack, filled in the order of `|g_i| / w_i`; for l2 cost
//! `theta_i = min(cap_i, lambda |g_i| / w_i^2)`. Every intervention set is tried. For integer features
//! the closed form is a relaxation: it bounds the cost from below, and branch and bound splits boxes
//! whose solution is not integer. If the cheapest action leads to an outcome that violates a requirement
//! (a constraint or a limit), which is linear in theta as well, a small linear program replaces the
//! closed form.

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
    /// The coefficients of the causal model; zero if there is none.
    coefficients: Array2<f64>,
    /// For each feature, the sum of the absolute values of all terms through which it affects the score.
    reach: Vec<f64>,
    /// The same for each requirement of the problem.
    requirement_reach: Vec<Vec<f64>>,
    sets: Vec<Set>,
    /// Whether some actions take integer values.
    is_integer: bool,
    /// The settings for individuals whom [`Complete`](super::Complete) answers.
    settings: Settings,
}

/// The effect of the worst perturbation on an action.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstCase {
    /// The worst perturbation.
    pub perturbation: Vec<f64>,
    /// The margin under it; negative if the action is broken.
    pub margin: f64,
}

/// One intervention set.
#[derive(Clone, Debug)]
struct Set {
    features: Vec<usize>,
    /// The cost weight of each change.
    weights: Vec<f64>,
    /// The computed gain of each change: what a unit of it adds to the score.
    gains: Gains,
    /// Upper bounds of the gains, rounding included, for proofs that no action suffices.
    most: Gains,
    /// The largest decrease of the score by a perturbation, and the error bound of that number.
    raise: f64,
    raise_error: f64,
    /// For each requirement of the problem, what a unit of each change adds to it, with error bounds.
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
    /// Whether the sign of each gain is certain. If not, the change may go either way.
    certain: Vec<bool>,
    /// Positions in descending order of `|gain| / weight`.
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
    /// Prepares the solver. Rejects classifiers and equations that are not linear, and problems with no
    /// actionable feature or too many.
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

    /// Sets the effort for individuals whom [`Complete`](super::Complete) answers, see [`Exact::solve`].
    /// The default is [`Settings::default`].
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
        // A gain that is no larger than its own error may be zero.
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

    /// For each feature, the sum of the absolute values of all terms through which it affects a linear
    /// function of the features. Rounding errors are relative to it.
    fn sizes(&self, function: &[f64], cut: &[usize]) -> Vec<f64> {
        let direct: Vec<f64> = function.iter().map(|w| w.abs()).collect();
        let mut sizes = direct.clone();
        let mut is_cut = vec![false; sizes.len()];
        cut.iter().for_each(|&i| is_cut[i] = true);
        // Adds paths with one more arrow in each round, until there are no longer ones. No path has more
        // arrows than there are features, and most graphs are shallow.
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

    /// An upper bound of the rounding error of a number computed along the graph from terms of this total
    /// size.
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
    /// Guarantees that every feasible action cheaper than `cost_bound` is broken by some perturbation,
    /// and that the action found holds for all of them. If rounding prevents such a proof, or if integer
    /// values have too many combinations, [`Complete`](super::Complete) answers with the settings of
    /// [`Exact::with_settings`].
    ///
    /// Requires that the individual is within the limits, which [`People`](crate::People) checks.
    ///
    /// # Errors
    /// Only if the individual does not have one finite value for each feature.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.solve_counted(individual)?.0)
    }

    /// The answer, and the number of evaluations that [`Complete`] used; zero where it was not needed.
    pub(crate) fn solve_counted(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let score = self.score(individual)?;
        if score >= 0.0 {
            return Ok((Outcome::AlreadyFavourable, 0));
        }
        let outcome = match self.is_integer {
            true => self.solve_whole(individual, score)?,
            false => Some(self.solve_real(individual, score)?),
        };
        // An action that is cheapest without requirements is also cheapest with them, if it meets them.
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
            // A margin clearly below zero is not a matter of rounding. It occurs where gains are so small
            // that their signs are uncertain, so that the closed form cannot decide.
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

    /// Solves without integrality and without requirements.
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
            // Sets are ordered by size; a larger one must be cheaper by more than rounding.
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

    /// The outcome for the action of a set, with its worst-case margin recomputed by the definition. If
    /// that is within rounding of the boundary, the action is enlarged and evaluated again.
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

    /// The outcome if no action was found, with the best feasible action. `Impossible` only if the upper
    /// bounds of the gains do not suffice either.
    fn short(&self, individual: &[f64], score: f64, bound: f64) -> Result<Outcome> {
        let mut best: Option<(f64, Action)> = None;
        for set in &self.sets {
            // An infinite need puts every feature that helps at its limit.
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

    /// The exact worst case of any action over all perturbations of the uncertainty set.
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

    /// Each actionable feature with the gain of its change, for every intervention set that contains it.
    pub(crate) fn all_gains(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let pairs =
            |set: &'_ Set| set.features.iter().copied().zip(set.gains.values.clone()).collect::<Vec<_>>();
        self.sets.iter().flat_map(pairs)
    }

    /// The largest decrease of the score by a perturbation of somebody who does not act.
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

    /// An upper bound of the total rounding error of an individual's score after changes: from own units,
    /// along the causal model, to the sum.
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

    /// Writes the cheapest change of a set's features that raises the score by `need` to `change`, and
    /// returns its cost. If the box does not allow that much, every feature that helps is at its limit
    /// and the cost is infinite. NaN, which proves nothing, if an overflow or underflow prevents
    /// computing the cost.
    fn fill(&self, set: &Set, gains: &Gains, individual: &[f64], need: f64, change: &mut Vec<f64>) -> f64 {
        change.clear();
        let features = self.problem.features();
        // The largest change in the direction that helps, with the sign of the gain.
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

/// l1 cost: features in descending order of gain per cost, each up to its limit.
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
        // The box does allow `need`, so an infinite cost here is an overflow.
        false if missing.is_nan() || !cost.is_finite() => f64::NAN,
        false => cost,
    }
}

/// l2 cost: changes proportional to `gain / weight^2`. Features that reach their limit stay there, and
/// the others make up for them.
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
            // The box does allow `need`, so an infinite cost here is an overflow.
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
