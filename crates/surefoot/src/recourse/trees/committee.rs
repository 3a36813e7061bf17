//! Problems with several variants, of which at least one is decided by a tree ensemble.
//!
//! Each variant is answered alone, by the best method for it. What is too cheap for one variant is too cheap for
//! all, so that the largest of their bounds of the cost is a bound for all together; it may be far below the cost
//! of the cheapest action that holds for all.
//!
//! An action for all variants is searched for from those for each one: alone, and with the largest changes of
//! all. While a variant rejects it, the change of one feature that helps most for its cost is made. Then changes
//! are reduced one after the other, as far as every variant is certified. The result is proven, and not
//! necessarily the cheapest.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Trees;
use crate::action::{feasible_change, rounded_for_display};
use crate::cancel;
use crate::certify::LEAST_MARGIN;
use crate::error::SettingError;
use crate::feasible::infeasibility;
use crate::margin::outcome;
use crate::outcome::{Undecided, UndecidedReason};
use crate::problem::DEFAULT_SAFETY;
use crate::proof::{Certificate, Proof, Verdict};
use crate::recourse::{Method, MethodName, Settings, Solver};
use crate::{Action, Budget, Error, Outcome, Problem, Recourse, Result, certify, essential};

/// The evaluations that the certificate of one action for one variant may cost during the search.
const TRIAL: usize = 300;
/// The share of the budget for the answers of single variants is one divided by this.
const ALONE_DIVISOR: usize = 2;
/// The steps of real features that are tried, in standard deviations, and of integer ones in own units.
const STEPS: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6];
const INTEGER_STEPS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// The largest number of steps from one start.
const MOST_STEPS: usize = 40;
/// The number of halvings when a change is reduced.
const HALVINGS: usize = 10;

/// The method, prepared for a problem.
#[derive(Debug)]
pub(super) struct Together<'p> {
    problem: &'p Problem,
    settings: Settings,
}

impl<'p> Together<'p> {
    /// Prepares the method.
    ///
    /// # Errors
    /// [`SettingError::SeveralVariants`] if no variant is one for the method `trees`.
    pub fn prepare_method(problem: &'p Problem, settings: Settings) -> Result<Box<dyn Method + 'p>> {
        settings.check()?;
        let variants = problem.variants();
        match variants.iter().any(|variant| Trees::new(variant, settings).is_ok()) {
            true => Ok(Box::new(Self { problem, settings })),
            false => Err(Error::Setting(SettingError::SeveralVariants {
                what: "the method `trees` is for tree ensembles or",
                variants: variants.len(),
            })),
        }
    }

    fn answer(&self, individual: &[f64]) -> Result<Proof> {
        let problem = self.problem;
        if problem.finite_score(individual)? >= 0.0 {
            return Ok(Proof::of(Outcome::AlreadyFavourable, None, Vec::new()));
        }
        let all = self.settings.budget.evaluations;
        let alone = Settings {
            method: MethodName::AUTO,
            budget: Budget { evaluations: (all / ALONE_DIVISOR / problem.variants().len()).max(1) },
            seconds: self
                .settings
                .seconds
                .map(|seconds| seconds / (ALONE_DIVISOR * problem.variants().len()) as f64),
            ..self.settings
        };
        let mut best = Proof::of(Outcome::AlreadyFavourable, None, Vec::new());
        let (mut evaluations, mut starts) = (0, Vec::new());
        for (number, variant) in problem.variants().iter().enumerate() {
            let proof = about_variant(problem, Solver::new(variant, alone)?.prove(individual)?, number);
            evaluations += proof.evaluations;
            starts.extend(proof.outcome.recourse().map(|found| found.action.clone()));
            if proof.outcome.cost_bound() > best.outcome.cost_bound() {
                best = proof;
            }
        }
        best.evaluations = evaluations;
        best.certificate = None;
        if matches!(best.outcome, Outcome::Impossible(_)) {
            return Ok(best);
        }
        let bound = best.outcome.cost_bound();
        let time = self.settings.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds / 2.0).ok());
        let end = time.and_then(|time| Instant::now().checked_add(time));
        let mut search = Search { problem, individual, left: all / ALONE_DIVISOR, end };
        let found = search.from(&starts);
        best.evaluations += all / ALONE_DIVISOR - search.left;
        let certified = match found {
            Some(action) => self.certified(individual, &action, bound)?,
            None => None,
        };
        (best.outcome, best.certificate) = match certified {
            Some((found, certificate)) => (Outcome::Found(found), Some(certificate)),
            None => {
                let undecided = Undecided {
                    best: Action { features: Vec::new(), change: Vec::new() },
                    margin: f64::NEG_INFINITY,
                    required: 0.0,
                    cost_bound: bound,
                    reason: UndecidedReason::Budget,
                };
                (Outcome::Undecided(undecided), None)
            }
        };
        Ok(best)
    }

    /// The action with its certificate for every variant, if it holds.
    fn certified(
        &self,
        individual: &[f64],
        action: &Action,
        bound: f64,
    ) -> Result<Option<(Recourse, Certificate)>> {
        let problem = self.problem;
        let certificate = certify(problem, individual, action, self.settings.budget)?;
        let Verdict::Holds { margin } = certificate.verdict else { return Ok(None) };
        let simple = essential(problem, action);
        let counterfactual = outcome(problem, individual, &simple)?;
        let cost = problem.cost().of(problem.features(), &simple);
        let recourse = Recourse { action: simple, counterfactual, cost, cost_bound: bound.min(cost), margin };
        Ok(recourse.is_finite(problem).then_some((recourse, certificate)))
    }
}

/// The proof of one variant's answer as a statement about the whole problem.
fn about_variant(problem: &Problem, mut proof: Proof, number: usize) -> Proof {
    for margin in proof.ruled_out.iter_mut().flat_map(|part| &mut part.margins) {
        margin.scenario.variant = number;
    }
    proof.dividing.iter_mut().for_each(|dividing| dividing.variant = number);
    // With several causal models, more intervention sets must be covered than one of them alone needs.
    if proof.dividing.is_none() && !problem.alternative_causal_models().is_empty() {
        proof.ruled_out.clear();
        proof.outcome = match proof.outcome {
            Outcome::Found(found) => Outcome::Found(Recourse { cost_bound: 0.0, ..found }),
            _ => Outcome::AlreadyFavourable,
        };
    }
    proof
}

impl Method for Together<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let proof = self.answer(individual)?;
        Ok((proof.outcome, proof.evaluations))
    }

    fn prove(&self, individual: &[f64]) -> Result<Proof> {
        self.answer(individual)
    }
}

/// An action under construction: the change of every feature that it names.
type Changes = BTreeMap<usize, f64>;

/// The search for an action that holds for every variant.
struct Search<'a> {
    problem: &'a Problem,
    individual: &'a [f64],
    /// The evaluations that are left.
    left: usize,
    /// When the search must end.
    end: Option<Instant>,
}

impl Search<'_> {
    /// The cheapest action that is found from these actions of single variants.
    fn from(&mut self, alone: &[Action]) -> Option<Action> {
        let changes = |action: &Action| -> Changes {
            action.features.iter().copied().zip(action.change.iter().copied()).collect()
        };
        let each: Vec<Changes> = alone.iter().map(changes).collect();
        let mut together = Changes::new();
        for (&i, &change) in each.iter().flatten() {
            let most = together.entry(i).or_insert(0.0);
            if change.abs() > most.abs() {
                *most = change;
            }
        }
        let mut best: Option<(f64, Changes)> = None;
        for start in std::iter::once(together).chain(each) {
            let Some(held) = self.repaired(start) else { continue };
            let reduced = self.reduced(held);
            let cost = self.cost(&reduced);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, reduced));
            }
        }
        best.map(|(_, changes)| action(&changes))
    }

    /// Makes one change after the other until the action holds for every variant.
    fn repaired(&mut self, mut at: Changes) -> Option<Changes> {
        let mut missing = self.missing(&at).or_else(|| {
            at.clear();
            self.missing(&at)
        })?;
        for _ in 0..MOST_STEPS {
            if missing <= 0.0 {
                return Some(at);
            }
            let cost = self.cost(&at);
            // The least missing margin for each unit of cost.
            let mut best: Option<(f64, f64, Changes)> = None;
            for step in self.steps(&at) {
                let Some(left) = self.missing(&step).filter(|left| *left < missing) else { continue };
                let price = (self.cost(&step) - cost).max(1e-3);
                let worth = (missing - left) / price;
                if left <= 0.0 && best.as_ref().is_none_or(|(_, other, _)| *other > 0.0)
                    || best
                        .as_ref()
                        .is_none_or(|(most, other, _)| worth > *most && (left <= 0.0 || *other > 0.0))
                {
                    best = Some((worth, left, step));
                }
            }
            (missing, at) = best.map(|(_, left, step)| (left, step))?;
        }
        (missing <= 0.0).then_some(at)
    }

    /// The action with smaller changes, as long as it holds, and with changes as they will be displayed.
    fn reduced(&mut self, mut at: Changes) -> Changes {
        let features = self.problem.features();
        let mut order: Vec<usize> = at.keys().copied().collect();
        let effort = |at: &Changes, i: usize| features.feature(i).weight * at[&i].abs();
        order.sort_by(|&a, &b| effort(&at, b).total_cmp(&effort(&at, a)).then(a.cmp(&b)));
        for i in order {
            let feature = features.feature(i);
            if feature.group.is_some() || at[&i] == 0.0 {
                continue;
            }
            let with = |change: f64| -> Changes {
                let mut other = at.clone();
                other.insert(i, change);
                other
            };
            let whole = |change: f64| match feature.steps_per_std() {
                None => change,
                Some(steps_per_std) => (change * steps_per_std).round() / steps_per_std,
            };
            let (mut low, mut high) = (0.0, at[&i]);
            if self.holds(&with(0.0)) {
                high = 0.0;
            }
            for _ in 0..HALVINGS {
                let middle = whole(0.5 * (low + high));
                if middle == low || middle == high {
                    break;
                }
                if self.holds(&with(middle)) { high = middle } else { low = middle }
            }
            let displayed =
                rounded_for_display(feature, self.problem.action_kind(), self.individual[i], high);
            let change = if self.holds(&with(displayed)) { displayed } else { high };
            at.insert(i, change);
        }
        at
    }

    /// The actions that differ in the change of one feature, or in the category of one group.
    fn steps(&self, at: &Changes) -> Vec<Changes> {
        let features = self.problem.features();
        let with = |changed: &[(usize, f64)]| -> Changes {
            let mut other = at.clone();
            other.extend(changed.iter().copied());
            other
        };
        let mut steps = Vec::new();
        for i in features.actionable() {
            let feature = features.feature(i);
            if feature.group.is_some() {
                continue;
            }
            let (lower, upper) = feasible_change(features, i, self.individual[i]);
            let now = at.get(&i).copied().unwrap_or(0.0);
            let lengths: Vec<f64> = match feature.steps_per_std() {
                None => STEPS.to_vec(),
                Some(steps_per_std) => INTEGER_STEPS.iter().map(|step| step / steps_per_std).collect(),
            };
            for step in lengths.iter().flat_map(|step| [-step, *step]) {
                let change = (now + step).clamp(lower, upper);
                if change != now {
                    steps.push(with(&[(i, change)]));
                }
            }
        }
        for group in features.groups() {
            let own = |i: &&usize| features.feature(**i).own_units(self.individual[**i]).round() == 1.0;
            let Some(&from) = group.columns.iter().find(own) else { continue };
            for &to in group.columns.iter().filter(|to| **to != from) {
                let move_of = |&i: &usize| {
                    let std = features.feature(i).std;
                    (
                        i,
                        if i == to {
                            1.0 / std
                        } else if i == from {
                            -1.0 / std
                        } else {
                            0.0
                        },
                    )
                };
                steps.push(with(&group.columns.iter().map(move_of).collect::<Vec<_>>()));
            }
        }
        steps
    }

    fn holds(&mut self, changes: &Changes) -> bool {
        self.missing(changes).is_some_and(|missing| missing <= 0.0)
    }

    /// The margin that an action misses, summed over all variants, each relative to its size; zero or less if it
    /// is certified for all. `None` if it is not feasible or if the budget is spent.
    fn missing(&mut self, changes: &Changes) -> Option<f64> {
        let action = action(changes);
        let feasible = infeasibility(self.problem, self.individual, &action);
        let is_spent =
            self.left == 0 || self.end.is_some_and(|end| Instant::now() >= end) || cancel::is_cancelled();
        if is_spent || !matches!(feasible, Ok(None)) {
            return None;
        }
        let mut missing = 0.0;
        for variant in self.problem.variants() {
            let certificate =
                certify(variant, self.individual, &action, Budget { evaluations: TRIAL }).ok()?;
            self.left = self.left.saturating_sub(certificate.evaluations.max(1));
            let required = required(variant);
            missing += match certificate.verdict {
                Verdict::Holds { margin } if margin >= required => 0.0,
                Verdict::Holds { margin } => required - margin,
                Verdict::Breaks { margin, .. } => -margin.max(-1e9),
                // It seems to hold, and could not be certified.
                Verdict::Undecided { .. } => 1e-3,
            };
        }
        Some(missing)
    }

    fn cost(&self, changes: &Changes) -> f64 {
        self.problem.cost().of(self.problem.features(), &action(changes))
    }
}

/// The margin that an answer must have: for a tree ensemble none, unless a larger safety is asked for.
fn required(variant: &Problem) -> f64 {
    match variant.classifier().ensemble().is_some() && variant.safety() <= DEFAULT_SAFETY {
        true => 0.0,
        false => variant.safety().max(LEAST_MARGIN),
    }
}

fn action(changes: &Changes) -> Action {
    let (features, change) = changes.iter().map(|(&i, &change)| (i, change)).unzip();
    Action { features, change }
}
