//! The method for tree ensembles: exact worst cases, and best-first search over boxes of actions that are cut at
//! thresholds.
//!
//! It answers problems without a causal model and with a linear one. Worst cases and bounds are those of
//! `forest`. For other causal models, the method `complete` bounds trees by their ranges over boxes.

mod actions;
mod committee;
mod search;

use std::time::{Duration, Instant};

use actions::Actions;
use committee::Together;
use search::{Incumbent, Part, Reason, Record, Search};

use super::{Method, Settings};
use crate::action::covering_sets;
use crate::cancel;
use crate::certify::tree_certificate;
use crate::error::{CausalModelError, ModelError, SettingError};
use crate::forest::{Forest, Scene};
use crate::margin::outcome;
use crate::outcome::{Candidate, Shortfall, Undecided, UndecidedReason};
use crate::problem::DEFAULT_SAFETY;
use crate::proof::{Dividing, Division, Proof, TreeReason};
use crate::{Action, Error, Outcome, Problem, Recourse, Result, essential};

/// The share by which the stated bound of the cost is below the computed one.
const BOUND_ROOM: f64 = 1e-7;

/// The share of the gap by which changes as they are displayed may cost more than the computed ones. The search leaves
/// only the rest of the gap.
const DISPLAY_SHARE: f64 = 0.1;

/// The method, prepared for a problem.
#[derive(Debug)]
pub(super) struct Trees<'p> {
    problem: &'p Problem,
    forest: Forest,
    /// A forest whose score is lower by the safety that the problem asks for, if that is more than what other
    /// models need for their rounding errors.
    stricter: Option<Forest>,
    sets: Vec<Vec<usize>>,
    settings: Settings,
}

/// What a search found for one individual.
struct Found {
    proof: Proof,
    is_cut_short: bool,
}

impl<'p> Trees<'p> {
    /// Prepares the method, for the list of methods.
    pub fn prepare_method(problem: &'p Problem, settings: Settings) -> Result<Box<dyn Method + 'p>> {
        match problem.variants().len() {
            1 => Ok(Box::new(Self::new(problem, settings)?)),
            _ => Together::prepare_method(problem, settings),
        }
    }

    /// # Errors
    /// If the classifier is not a tree ensemble, if the causal model is not linear, or if the set of
    /// perturbations is not the ball of a p-norm.
    pub fn new(problem: &'p Problem, settings: Settings) -> Result<Self> {
        settings.check()?;
        problem.require_one_variant("the method `trees` is")?;
        problem.require_no_change_limits("the method `trees` alone")?;
        let forest = Forest::of(problem.classifier()).ok_or(Error::Model(ModelError::ClassifierNotTrees))?;
        if let Some(scm) = problem.scm() {
            scm.coefficients()?;
        }
        problem.require_ball_only(|what| SettingError::UncertaintyNotKnown { what, method: "trees" })?;
        if problem.uncertainty().set().power().is_none() {
            return Err(Error::Model(ModelError::ClassifierNotTrees));
        }
        let stricter = (problem.safety() > DEFAULT_SAFETY).then(|| forest.stricter(problem.safety()));
        let sets = covering_sets(problem.features(), problem.scm(), problem.action_kind())?;
        Ok(Self { problem, forest, stricter, sets, settings })
    }

    fn check(&self, individual: &[f64]) -> Result<f64> {
        let nothing = Action { features: Vec::new(), change: Vec::new() };
        outcome(self.problem, individual, &nothing)?;
        self.problem.require_usual(individual)?;
        self.problem.classifier().finite_score(individual)
    }

    fn parts<'a>(&'a self, forest: &'a Forest, individual: &'a [f64]) -> Result<Vec<Part<'a>>> {
        let part = |set: &Vec<usize>| {
            let scene = Scene::new(self.problem, forest, individual, set);
            let scene = scene.ok_or(Error::CausalModel(CausalModelError::OtherFeatures))?;
            let actions = Actions::new(self.problem, individual, set);
            let whole = actions.whole();
            Ok(Part::new(scene, actions, whole))
        };
        self.sets.iter().map(part).collect()
    }

    /// The answer with its proof. If a larger margin is asked for and the cheapest action does not have it, the
    /// action comes from a second search with the stricter forest; the bound stays that of all actions that
    /// hold.
    pub fn answer(&self, individual: &[f64]) -> Result<Proof> {
        let mut proof = self.search(&self.forest, individual)?.proof;
        let (Some(stricter), Outcome::Found(found)) = (&self.stricter, &proof.outcome) else {
            return Ok(proof);
        };
        if found.margin >= self.problem.safety() {
            return Ok(proof);
        }
        let bound = found.cost_bound;
        let more = self.search(stricter, individual)?.proof;
        proof.evaluations += more.evaluations;
        proof.certificate = more.certificate;
        proof.outcome = match more.outcome {
            Outcome::Found(found) => Outcome::Found(Recourse { cost_bound: bound.min(found.cost), ..found }),
            Outcome::Impossible(shortfall) => {
                let margin = self.problem.safety() - shortfall.missing;
                Outcome::Undecided(Undecided {
                    best: shortfall.best,
                    margin,
                    required: self.problem.safety(),
                    cost_bound: bound,
                    reason: UndecidedReason::Rounding,
                })
            }
            other => other.with_cost_bound(bound),
        };
        Ok(proof)
    }

    /// The cheapest action found, without a bound of the cost.
    pub fn candidate(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let found = self.search(self.stricter.as_ref().unwrap_or(&self.forest), individual)?;
        let evaluations = found.proof.evaluations;
        let outcome = match found.proof.outcome {
            Outcome::Found(Recourse { action, counterfactual, cost, .. }) => {
                Outcome::Unproved(Candidate { action, counterfactual, cost })
            }
            Outcome::Undecided(undecided) if found.is_cut_short => {
                let reason = UndecidedReason::Method;
                Outcome::Undecided(Undecided { reason, cost_bound: 0.0, ..undecided })
            }
            other => other,
        };
        Ok((outcome, evaluations))
    }

    fn search(&self, forest: &Forest, individual: &[f64]) -> Result<Found> {
        if self.check(individual)? >= 0.0 {
            let proof = Proof::of(Outcome::AlreadyFavourable, None, Vec::new());
            return Ok(Found { proof, is_cut_short: false });
        }
        let mut parts = self.parts(forest, individual)?;
        let limit = self.settings.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let is_over = || end.is_some_and(|end| Instant::now() >= end) || cancel::is_cancelled();
        let most = self.settings.budget.evaluations;
        let gap = (1.0 - DISPLAY_SHARE) * self.settings.gap;
        let mut search = Search::new(&mut parts, gap, most, &is_over);
        let ended = search.run();
        // A checker computes the same prices in another order.
        let bound = ended.bound * (1.0 - BOUND_ROOM);
        let displayed = self.displayed(&mut search);
        let evaluations = search.evaluations();
        let mut proof = match displayed {
            Some((incumbent, action)) => self.found(individual, &incumbent, action, bound)?,
            None => Proof::of(self.nothing(&search, bound, ended.is_cut_short), None, Vec::new()),
        };
        proof.evaluations = evaluations;
        let has_bound = match &proof.outcome {
            Outcome::Impossible(_) => true,
            outcome => outcome.cost_bound() > 0.0,
        };
        proof.dividing = has_bound.then(|| dividing(&search));
        Ok(Found { proof, is_cut_short: ended.is_cut_short })
    }

    /// The incumbent with its changes as they will be displayed, if that costs little more.
    fn displayed(&self, search: &mut Search<'_, '_>) -> Option<(Incumbent, Action)> {
        let mut incumbent = search.incumbent.clone()?;
        let part = &search.parts[incumbent.set];
        let change = part.actions.displayed(&incumbent.change);
        let cost = part.scene.cost(part.scene.spent(&change));
        let is_cheap = cost <= incumbent.cost * (1.0 + DISPLAY_SHARE * self.settings.gap);
        if is_cheap && search.holds(incumbent.set, &change) {
            incumbent = Incumbent { change, cost, ..incumbent };
        }
        let action = search.parts[incumbent.set].actions.action(&incumbent.change);
        Some((incumbent, action))
    }

    fn found(&self, individual: &[f64], incumbent: &Incumbent, action: Action, bound: f64) -> Result<Proof> {
        let problem = self.problem;
        let certificate = tree_certificate(problem, individual, &action, self.settings.budget)?;
        let certificate = certificate.filter(|certificate| certificate.holds());
        let Some(certificate) = certificate else {
            let outcome = Outcome::Undecided(Undecided {
                best: action,
                margin: 0.0,
                required: 0.0,
                cost_bound: bound.min(incumbent.cost),
                reason: UndecidedReason::Proof,
            });
            return Ok(Proof::of(outcome, None, Vec::new()));
        };
        let simple = essential(problem, &action);
        let counterfactual = outcome(problem, individual, &simple)?;
        let cost = problem.cost().of(problem.features(), &simple);
        let cost_bound = bound.min(cost);
        let margin = certificate.margin().max(0.0);
        let recourse = Recourse { action: simple, counterfactual, cost, cost_bound, margin };
        Ok(Proof::of(Outcome::Found(recourse), Some(certificate), Vec::new()))
    }

    /// The outcome if no action was found.
    fn nothing(&self, search: &Search<'_, '_>, bound: f64, is_cut_short: bool) -> Outcome {
        let (margin, best) = match &search.best {
            Some((margin, set, change)) => (*margin, search.parts[*set].actions.action(change)),
            None => (f64::NEG_INFINITY, Action { features: Vec::new(), change: Vec::new() }),
        };
        if bound == f64::INFINITY {
            return Outcome::Impossible(Shortfall { best, missing: -margin });
        }
        let reason = if is_cut_short { UndecidedReason::Budget } else { UndecidedReason::Resolution };
        Outcome::Undecided(Undecided { best, margin, required: 0.0, cost_bound: bound, reason })
    }
}

impl Method for Trees<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let proof = self.answer(individual)?;
        Ok((proof.outcome, proof.evaluations))
    }

    fn prove(&self, individual: &[f64]) -> Result<Proof> {
        self.answer(individual)
    }
}

/// The record of a search as part of a proof.
fn dividing(search: &Search<'_, '_>) -> Dividing {
    let reason = |reason: &Reason| match reason {
        Reason::Scenario(scenario) => {
            TreeReason::Scenario { pivot: scenario.pivot.clone(), radii: scenario.radii.clone() }
        }
        Reason::Cell(cell) => TreeReason::Cell { lower: cell.lower.clone(), upper: cell.upper.clone() },
    };
    // Only the reasons of leaves, each once.
    let mut numbers = vec![None; search.reasons.len()];
    let mut reasons = Vec::new();
    let mut sets = Vec::new();
    for (set, root) in search.roots.iter().enumerate() {
        let mut steps = Vec::new();
        let mut open: Vec<usize> = root.iter().copied().collect();
        while let Some(node) = open.pop() {
            steps.push(match search.records[node] {
                Record::Split { k, at, parts } => {
                    open.extend([parts[1], parts[0]]);
                    Division::At { change: k, at }
                }
                Record::Leaf(None) => Division::Closed(None),
                Record::Leaf(Some(number)) => {
                    Division::Closed(Some(*numbers[number].get_or_insert_with(|| {
                        reasons.push(reason(&search.reasons[number]));
                        reasons.len() - 1
                    })))
                }
            });
        }
        sets.push((search.parts[set].scene.set.clone(), steps));
    }
    Dividing { variant: 0, reasons, sets }
}
