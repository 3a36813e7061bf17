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
//! `theta_i = min(cap_i, lambda |g_i| / w_i^2)`. For integer features the closed form is a relaxation: it
//! bounds the cost from below, and branch and bound splits boxes whose solution is not integer. If the
//! cheapest action leads to an outcome that violates a requirement (a constraint or a limit), which is
//! linear in theta as well, a small linear program replaces the closed form.
//!
//! Of the intervention sets, those that cover all others are tried
//! ([`covering_sets`](crate::action::covering_sets)). Where there are more than a few, branch and bound
//! decides feature by feature whether an action names it, so that no number of features is too large.

mod arrows;
mod branch;
mod closed_form;
mod conflict;
mod constrained;
mod largest_epsilon;
mod integer;
mod proof;
mod relaxation;
mod rows;
mod set;

use super::Settings;
use crate::action::{always_and_optional_units, covering_sets};
use crate::error::{PeopleError, SettingError};
use crate::essential::essential;
use crate::margin::outcome;
use crate::outcome::{Outcome, Undecided, UndecidedReason};
use crate::{Action, ActionKind, Error, Problem, Result};
use arrows::Arrows;
use set::Set;

/// The largest number of optional units of intervention of which every combination is prepared in
/// advance: 64 sets. Not tuned by measurement.
const MOST_PREPARED_UNITS: usize = 6;

/// The exact solver, prepared once for a problem and used for any number of individuals.
#[derive(Clone, Debug)]
pub struct Exact<'p> {
    problem: &'p Problem,
    weights: &'p [f64],
    arrows: Arrows,
    /// For each feature, the sum of the absolute values of all terms through which it affects the score.
    score_sizes: Vec<f64>,
    /// The distance of each feature's mean from zero, in standard deviations.
    offsets: Vec<f64>,
    /// The sizes of terms, as for the score, for each requirement of the problem.
    requirement_sizes: Vec<Vec<f64>>,
    /// The features that every covering set contains.
    always: Vec<usize>,
    /// The units of intervention, each one or several features, that a covering set may contain or not.
    optional: Vec<Vec<usize>>,
    /// Every covering set, smaller ones first. If there are too many to enumerate
    /// ([`Exact::is_enumerated`]): the smallest and the largest alone.
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

impl<'p> Exact<'p> {
    /// Prepares the solver. Rejects classifiers and equations that are not linear, and problems with no
    /// actionable feature.
    pub fn new(problem: &'p Problem) -> Result<Self> {
        problem.require_one_variant("the method `exact` is")?;
        problem.require_no_change_limits("the method `exact` alone")?;
        problem.require_ball_only(|what| SettingError::UncertaintyNotKnown { what, method: "exact" })?;
        let (weights, _) = problem.classifier().coefficients()?;
        let arrows = Arrows::new(problem)?;
        let (features, scm, kind) = (problem.features(), problem.scm(), problem.action_kind());
        crate::action::require_actionable(features)?;
        let (always, optional) = always_and_optional_units(features, scm.as_slice(), kind);
        let always = always.concat();
        let sets = match optional.len() <= MOST_PREPARED_UNITS {
            true => covering_sets(features, scm, kind)?,
            false => {
                [always.clone(), features.actionable()].into_iter().filter(|set| !set.is_empty()).collect()
            }
        };
        let nothing = vec![false; weights.len()];
        let requirements = problem.requirements().iter();
        let mut exact = Self {
            problem,
            weights,
            offsets: features.iter().map(|feature| (feature.mean / feature.std).abs()).collect(),
            score_sizes: arrows.sizes(weights, &nothing),
            requirement_sizes: requirements
                .map(|rule| arrows.sizes(rule.upper_terms().1, &nothing))
                .collect(),
            arrows,
            always,
            optional,
            sets: Vec::new(),
            is_integer: problem.whole_feature().is_some(),
            settings: Settings::default(),
        };
        exact.sets = sets.into_iter().map(|features| exact.prepare(features)).collect();
        Ok(exact)
    }

    /// Sets the effort for individuals whom [`Complete`](super::Complete) answers, see [`Exact::solve`].
    /// The default is [`Settings::default`].
    pub fn with_settings(mut self, settings: Settings) -> Result<Self> {
        settings.check()?;
        self.settings = settings;
        Ok(self)
    }

    /// Whether [`Exact::sets`] contains every covering set.
    fn is_enumerated(&self) -> bool {
        self.optional.len() <= MOST_PREPARED_UNITS
    }

    /// The cheapest action that holds, over all intervention sets; among equally cheap ones one with few
    /// features.
    ///
    /// Guarantees that every feasible action cheaper than `cost_bound` is broken by some perturbation,
    /// and that the action found holds for all of them. If rounding prevents such a proof, or if integer
    /// values have too many combinations, [`Complete`](super::Complete) answers with the settings of
    /// [`Exact::with_settings`]. With very many intervention sets the search for the cheapest one may end
    /// at the budget of these settings; then `cost_bound` is below the cost of the action by more than
    /// rounding, or the answer is undecided.
    ///
    /// Requires that the individual is within the limits, which [`People`](crate::People) checks.
    ///
    /// # Errors
    /// Only if the individual does not have one finite value for each feature.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.solve_counted(individual)?.0)
    }

    /// The answer, and the number of evaluations: of [`Complete`](super::Complete) where it was needed, of
    /// relaxations where intervention sets are branched on, otherwise zero.
    pub(crate) fn solve_counted(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let score = self.score(individual)?;
        if score >= 0.0 {
            return Ok((Outcome::AlreadyFavourable, 0));
        }
        if !self.is_enumerated() {
            return self.solve_by_branching(individual, score);
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

    /// The exact worst case of any action over all perturbations of the uncertainty set.
    pub fn worst_case(&self, individual: &[f64], action: &Action) -> Result<WorstCase> {
        let counterfactual = outcome(self.problem, individual, action)?;
        let response = self.response(&action.features);
        let downwards: Vec<f64> = response.iter().map(|r| -r).collect();
        let perturbation = self.problem.uncertainty().maximiser(&downwards);
        let lowered: f64 = response.iter().zip(&perturbation).map(|(r, d)| r * d).sum();
        Ok(WorstCase { margin: self.score(&counterfactual)? + lowered, perturbation })
    }

    /// The size of the smallest perturbation that takes the action to the decision boundary
    /// (any larger one breaks it); zero if it is not beyond the boundary, infinite if no
    /// perturbation reaches it.
    pub fn smallest_break(&self, individual: &[f64], action: &Action) -> Result<f64> {
        let score = self.score(&outcome(self.problem, individual, action)?)?;
        let dual = self.problem.uncertainty().norm().dual(&self.response(&action.features));
        Ok(if score <= 0.0 { 0.0 } else { score / dual })
    }

    /// Each actionable feature with the gain of its change, for every prepared set that contains it and, if
    /// not every set is prepared, for the set of the feature alone.
    pub(crate) fn all_gains(&self) -> Vec<(usize, f64)> {
        let pairs =
            |set: &Set| set.features.iter().copied().zip(set.gains.values.clone()).collect::<Vec<_>>();
        let mut gains: Vec<(usize, f64)> = self.sets.iter().flat_map(pairs).collect();
        if !self.is_enumerated() {
            let units = self.problem.features().actionable_units();
            gains.extend(units.into_iter().flat_map(|unit| pairs(&self.prepare(unit))));
        }
        gains
    }

    /// The largest decrease of the score by a perturbation of somebody who does not act.
    pub(crate) fn worst_decrease_of_observation(&self) -> f64 {
        self.problem.uncertainty().support(&self.response(&[]))
    }

    /// The action that changes nothing.
    fn no_action(&self) -> Action {
        Action { features: Vec::new(), change: Vec::new() }
    }

    /// An action on a covering set without the features that make no difference, and its margin. Without a
    /// causal model the one set is kept as it is.
    ///
    /// An absolute action that leaves a feature unchanged protects it from perturbation. Such a feature is
    /// dropped too, as long as the margin decreases by no more than `spare`.
    fn without_unneeded(&self, action: Action, margin: f64, spare: f64) -> (Action, f64) {
        let Some(scm) = self.problem.scm() else { return (action, margin) };
        let mut action = essential(self.problem, &action);
        if self.problem.action_kind() == ActionKind::Relative || self.problem.uncertainty().is_none() {
            return (action, margin);
        }
        let decrease = |features: &[usize]| self.problem.uncertainty().support(&self.response(features));
        let before = decrease(&action.features);
        let changes = action.features.iter().zip(&action.change);
        let changed: Vec<usize> = changes.filter(|(_, change)| **change != 0.0).map(|(&i, _)| i).collect();
        let moved = scm.moved_by(&changed, &action.features);
        let is_still = |i: usize| !scm.parents(i).iter().any(|&cause| moved[cause]);
        let mut lost = 0.0;
        for k in (0..action.features.len()).rev() {
            if action.change[k] == 0.0 && is_still(action.features[k]) {
                let feature = action.features.remove(k);
                let more = decrease(&action.features) - before;
                match more <= spare.max(0.0) {
                    true => {
                        action.change.remove(k);
                        lost = more.max(0.0);
                    }
                    false => action.features.insert(k, feature),
                }
            }
        }
        (action, margin - lost)
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
        self.problem.require_usual(individual)?;
        self.problem.classifier().finite_score(individual)
    }

    /// An upper bound of the total rounding error of an individual's score after changes: from own units,
    /// along the causal model, to the sum.
    fn rounding_of_score(&self, individual: &[f64], change: &[f64]) -> f64 {
        let constant = self.problem.classifier().coefficients().map_or(0.0, |(_, b)| b.abs());
        let moved: f64 = change.iter().map(|c| c.abs()).sum();
        let terms: f64 = match self.problem.scm() {
            Some(_) => {
                let values = individual.iter().zip(&self.offsets).map(|(x, offset)| x.abs() + moved + offset);
                self.score_sizes.iter().zip(values).map(|(size, value)| size * value).sum()
            }
            None => self.weights.iter().zip(individual).map(|(w, x)| w.abs() * (x.abs() + moved)).sum(),
        };
        self.rounding(terms + constant)
    }
}

/// A bound on the error of a sum of `terms` numbers whose absolute values sum to `size`.
fn rounding(size: f64, terms: usize) -> f64 {
    4.0 * f64::EPSILON * terms as f64 * size.abs()
}
