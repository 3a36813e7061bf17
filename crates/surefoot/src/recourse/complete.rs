//! The cheapest action that holds, with proof, for problems of any kind.
//!
//! Best-first branch and bound over boxes of actions, for every intervention set:
//!
//! - a box is *ruled out* by one perturbation D for which a bound from above of `margin(., D)`
//!   over the box is negative. Perturbations that broke an action are kept, in a pool, and tried
//!   on other boxes first;
//! - at the middle of a box the worst perturbation is searched for. One that breaks the action
//!   joins the pool; an action that survives becomes the incumbent, once it has been moved as far
//!   towards the cheapest corner of its box as it survives;
//! - when nothing cheaper than the incumbent but for the gap is left, the incumbent is moved out
//!   a little and *proved* ([`certify`](crate::certify::certify())). If the proof finds a break
//!   instead, that joins the pool and the search goes on.
//!
//! So a proof is made once, at the end. What is left in the queue then is no cheaper than the
//! proven lower bound on the cost of any action that holds; if nothing is left and there is no
//! incumbent, no action holds.
//!
//! Where the cheapest action that seems to hold cannot be proved, however far it is moved out, the
//! cheapest one for a stricter classifier is proved instead; its gap is then larger.
//!
//! Integer and binary features and one-hot groups take whole values only: a box is cut between two
//! of them and shrunk to them, what is looked at in it is one of its whole-valued actions, and one
//! without any is empty.
//!
//! Where outcomes must meet requirements (constraints, and limits on what follows from an action), the
//! affine upper bounds of the requirements and of the margin under a perturbation are the rows of a
//! linear program over the box. Its multipliers rule the box out, or its actions up to some cost; its
//! solution is a candidate for the incumbent. An action that does not meet every requirement is no
//! incumbent.
//!
//! Sets that a larger one stands for are left out: where a feature is not downstream of an
//! intervention, a relative action that leaves it as it is might as well not name it.

mod boxes;
mod cones;
mod finish;
mod requirements;
mod solve;

use super::{Method, Settings};
use crate::action::{MOST_ACTIONABLE, intervention_sets};
use crate::certify::Budget;
use crate::error::FeatureError;
use crate::proof::Proof;

use crate::{ActionKind, Error, Outcome, Problem, Recourse, Result};

/// How often room is asked for, where a proof fails without: more if that was not enough, less if
/// nothing has as much.
const MAX_MARGIN_RETRIES: usize = 6;
/// By how much the classifier is stricter, in units of the logit, if nothing else helps.
const STRICTER: [f64; 2] = [0.05, 0.25];
/// What is dearer by more than this than it need be may be found cheaper with room.
const LARGE_GAP: f64 = 0.05;
/// Where an answer is not settled, a search with one part in so many of the budget is made as well.
const STEP: usize = 4;
/// No search has a smaller budget than this, unless it was asked for.
const LEAST_BUDGET: usize = 100;

/// The solver, prepared once for a problem and used for any number of individuals.
///
/// Guarantees, whenever it answers, that an action `Found` holds for every perturbation guarded
/// against and that every feasible action cheaper than its `cost_bound` is broken by one; and
/// that where the answer is `Impossible` every feasible action is.
#[derive(Clone, Debug)]
pub struct Complete<'p> {
    problem: &'p Problem,
    sets: Vec<Vec<usize>>,
    gap: f64,
    budget: Budget,
}

impl Proof {
    /// The cheaper action of two proofs about one person, and the higher bound on the cost.
    fn combined(mut self, mut other: Proof) -> Proof {
        let cost = |proof: &Proof| match &proof.outcome {
            Outcome::Found(found) => found.cost,
            _ => f64::INFINITY,
        };
        let (evaluations, proving) = (self.evaluations + other.evaluations, self.proving + other.proving);
        if matches!(other.outcome, Outcome::Impossible(_)) {
            return Proof { evaluations, proving, ..other };
        }
        if other.outcome.cost_bound() > self.outcome.cost_bound() {
            std::mem::swap(&mut self.ruled_out, &mut other.ruled_out);
        }
        let bound = self.outcome.cost_bound().max(other.outcome.cost_bound());
        if cost(&other) < cost(&self) {
            (self.outcome, self.certificate) = (other.outcome, other.certificate);
        }
        let outcome = self.outcome.with_cost_bound(bound);
        Proof { outcome, evaluations, proving, ..self }
    }
}

impl Method for Complete<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let proof = Complete::prove(self, individual)?;
        Ok((proof.outcome, proof.evaluations))
    }

    fn prove(&self, individual: &[f64]) -> Result<Proof> {
        Complete::prove(self, individual)
    }
}

impl<'p> Complete<'p> {
    /// The method, for the list of methods.
    pub(super) fn prepare_method(problem: &'p Problem, settings: Settings) -> Result<Box<dyn Method + 'p>> {
        Ok(Box::new(Complete::new(problem)?.with_gap(settings.gap)?.with_budget(settings.budget)?))
    }

    /// The intervention sets that stand for all.
    pub(super) fn sets(&self) -> &[Vec<usize>] {
        &self.sets
    }

    /// Prepares the solver with a gap of 1% and the default [`Budget`]; refused are problems in
    /// which nothing is actionable, and those with too many actionable features.
    pub fn new(problem: &'p Problem) -> Result<Self> {
        let causal = problem.scm().is_some();
        let mut sets = intervention_sets(problem.features(), causal)?;
        let count = problem.features().actionable_units().len();
        if !causal && count > MOST_ACTIONABLE {
            return Err(Error::Feature(FeatureError::TooManyActionable { count, most: MOST_ACTIONABLE }));
        }
        if let (Some(scm), ActionKind::Relative) = (problem.scm(), problem.action_kind()) {
            let actionable = problem.features().actionable();
            sets.retain(|set| {
                let downstream = scm.downstream(set);
                actionable.iter().all(|i| set.contains(i) || downstream.contains(*i))
            });
        }
        Ok(Self { problem, sets, gap: 0.01, budget: Budget::default() })
    }

    /// Sets how much dearer, as a share, the action should be at most than the proven bound. It may
    /// be more where nothing so cheap can be proved; `cost_bound` tells.
    pub fn with_gap(mut self, gap: f64) -> Result<Self> {
        Settings { gap, ..Settings::default() }.check()?;
        self.gap = gap;
        Ok(self)
    }

    /// Sets how much work the search for each individual may cost. Where it leaves an individual
    /// undecided, or an action much dearer than its bound, attempts to find one that is easier to
    /// prove may cost up to three times as much again; and searches with a quarter of the budget, a
    /// sixteenth and so on a third of that, so that four times the budget does not lead to an answer
    /// that is worse by more than the gap.
    pub fn with_budget(mut self, budget: Budget) -> Result<Self> {
        budget.check()?;
        self.budget = budget;
        Ok(self)
    }

    /// The answer for one individual.
    ///
    /// # Errors
    /// If the individual does not have one finite value for each feature, or if the causal model
    /// cannot produce them.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.prove(individual)?.outcome)
    }

    /// The answer with what it takes to check it.
    ///
    /// # Errors
    /// As [`Complete::solve`].
    pub fn prove(&self, individual: &[f64]) -> Result<Proof> {
        let proof = self.prove_once(individual)?;
        let smaller = Budget { evaluations: self.budget.evaluations / STEP };
        if proof.outcome.is_settled(self.gap) || smaller.evaluations < LEAST_BUDGET {
            return Ok(proof);
        }
        // Which action is proved depends on how much may be spent on it, so a smaller budget may have led to a
        // cheaper one.
        let other = Complete { budget: smaller, ..self.clone() }.prove(individual)?;
        Ok(proof.combined(other))
    }

    fn prove_once(&self, individual: &[f64]) -> Result<Proof> {
        let proof = solve::Solver::new(self, individual)?.run()?;
        let is_dear = !proof.outcome.is_settled(LARGE_GAP);
        if is_dear { self.with_room(individual, proof) } else { Ok(proof) }
    }

    /// An action that leaves more room, where the cheapest one that seems to hold cannot be proved,
    /// or only with a large detour: the cheapest for a stricter classifier. What is proven of the
    /// cost stays.
    fn with_room(&self, individual: &[f64], mut proof: Proof) -> Result<Proof> {
        let mut room = proof.room.max(0.05);
        let mut known: Vec<Vec<f64>> = Vec::new();
        for reason in &proof.ruled_out {
            if !known.contains(&reason.perturbation) {
                known.push(reason.perturbation.clone());
            }
        }
        for _ in 0..MAX_MARGIN_RETRIES {
            let (bound, least) = match &proof.outcome {
                Outcome::Undecided(undecided) => (undecided.cost_bound, f64::INFINITY),
                Outcome::Found(found) => (found.cost_bound, found.cost),
                _ => return Ok(proof),
            };
            if proof.evaluations >= 2 * self.budget.evaluations {
                break;
            }
            let left = self.budget.evaluations.saturating_sub(proof.evaluations);
            let settings = Complete {
                budget: Budget { evaluations: (left / 2).max(self.budget.evaluations / 4) },
                ..self.clone()
            };
            // A threshold so close to 1 that it cannot be raised leaves no room.
            let Ok(problem) = self.problem.stricter(room) else { break };
            let stricter = Complete { problem: &problem, ..settings.clone() };
            let (cheapest_unproven, evaluations) =
                solve::Solver::new(&stricter, individual)?.cheapest_unproven(&known);
            proof.evaluations += evaluations;
            let Some(solve::Incumbent { set, change, cost }) = cheapest_unproven else {
                room *= 0.5;
                continue;
            };
            if cost >= least {
                break;
            }
            let (more, broken, evaluations) =
                solve::Solver::new(&settings, individual)?.prove(set, &change)?;
            proof.evaluations += evaluations;
            proof.proving += evaluations;
            if let Some(perturbation) = broken {
                known.push(perturbation);
                continue;
            }
            if let Some(Proof { outcome: Outcome::Found(found), certificate, .. }) = more
                && found.cost < least
            {
                let cost_bound = bound.min(found.cost);
                proof.outcome = Outcome::Found(Recourse { cost_bound, ..found });
                proof.certificate = certificate;
                break;
            }
            room *= 2.2;
        }
        match &proof.outcome {
            Outcome::Undecided(undecided) => {
                let bound = undecided.cost_bound;
                self.for_a_stricter_one(individual, proof, bound)
            }
            _ => Ok(proof),
        }
    }

    /// What holds for a stricter classifier holds for this one, with more margin: how much is proved
    /// anew, so that the margin and the certificate are those of this problem.
    fn for_a_stricter_one(&self, individual: &[f64], mut proof: Proof, bound: f64) -> Result<Proof> {
        let budget = Budget { evaluations: self.budget.evaluations / 3 };
        for room in STRICTER {
            let Ok(problem) = self.problem.stricter(room) else { break };
            let stricter = Complete { problem: &problem, budget, ..self.clone() };
            let more = solve::Solver::new(&stricter, individual)?.run()?;
            proof.evaluations += more.evaluations;
            proof.proving += more.proving;
            let (Outcome::Found(found), Some(certificate)) = (more.outcome, more.certificate) else {
                continue;
            };
            let settings = Complete { budget, ..self.clone() };
            let set = self.sets.iter().position(|set| *set == certificate.action.features);
            let (own, _, evaluations) = match set {
                Some(set) => {
                    solve::Solver::new(&settings, individual)?.prove(set, &certificate.action.change)?
                }
                None => (None, None, 0),
            };
            proof.evaluations += evaluations;
            proof.proving += evaluations;
            let (found, certificate) = match own {
                Some(Proof { outcome: Outcome::Found(own), certificate: Some(proved), .. }) => (own, proved),
                _ => (found, certificate),
            };
            proof.outcome = Outcome::Found(Recourse { cost_bound: bound.min(found.cost), ..found });
            proof.certificate = Some(certificate);
            break;
        }
        Ok(proof)
    }
}
