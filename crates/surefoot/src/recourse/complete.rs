//! The cheapest action that holds, with proof, for problems of any kind.
//!
//! Best-first branch and bound over boxes of actions, for every intervention set:
//!
//! - a local search looks for a cheap action that survives attacks, the first *incumbent*;
//! - a box is bounded, shrunk or *ruled out* by cuts: affine upper bounds of the margin in several
//!   *scenarios*. Scenarios that broke an action are kept in a pool and tried on other boxes;
//! - the solution of a box's linear program and the action in its middle are attacked. What breaks them
//!   joins the pool. An action that survives and is cheaper becomes the incumbent;
//! - when nothing cheaper than the incumbent, up to the gap, is left, the incumbent's changes are
//!   enlarged a little ("pushed outwards") and the result is *proved*
//!   ([`certify`](crate::certify::certify())). If the proof finds a scenario that breaks the action,
//!   it joins the pool and the search goes on.
//!
//! So actions are proved only at the end. The cheapest box left in the queue then gives the proven lower
//! bound on the cost of any action that holds. If the queue is empty and there is no incumbent, no action
//! holds.
//!
//! If the incumbent cannot be proved, however much its changes are enlarged, the cheapest action for a
//! stricter classifier is proved instead. Its gap is then larger.
//!
//! Integer and binary features and one-hot groups take integer values only. A box is split between two
//! integers and shrunk to integer ends, candidates in it have integer values, and a box without any is
//! empty.
//!
//! Where outcomes must meet requirements (constraints, and limits on features that change as a
//! consequence of an action), the affine upper bounds of the requirements are further cuts. Only an action
//! that meets every requirement can be an incumbent.
//!
//! Some intervention sets are covered by a larger one and left out: a relative action that does not
//! change a feature which is not downstream of the intervention is the same with and without that
//! feature. Where many are left and equations are linear, the search leaves open which features an action
//! changes, and bounds many sets together (`complete/undecided.rs`).

mod boxes;
mod candidate;
mod columns;
mod cones;
mod cuts;
mod dispensable;
mod finish;
mod local;
mod patterns;
mod programs;
mod requirements;
mod solve;
mod starts;
mod undecided;

use std::time::{Duration, Instant};

use super::{Improvement, Method, Observer, Settings};
use crate::action::covering_sets_except;
use crate::cancel;
use crate::certify::{Budget, LEAST_MARGIN};
use crate::proof::{Proof, Scenario};
use finish::Tried;
use solve::Unproven;

use crate::outcome::{Shortfall, Undecided, UndecidedReason};
use crate::{Outcome, Problem, Recourse, Result};

/// The largest number of searches for an action with a larger margin after a failed proof. The margin
/// asked for rises if the proof failed again, and falls if no action has that much.
const MAX_MARGIN_RETRIES: usize = 10;
/// The two amounts, in units of the score, by which the classifier is made stricter as a last resort.
const STRICTER: [f64; 2] = [0.05, 0.25];
/// A found action whose cost exceeds the lower bound by more than this share triggers a search for a
/// cheaper one that is easier to prove.
const LARGE_GAP: f64 = 0.02;
/// The search for an action that is easier to prove ends at this gap, and where margins that could be proved
/// and that could not differ by less than this factor.
const SMALL_GAP: f64 = 0.015;
const CLOSE_MARGINS: f64 = 1.6;
/// The number of evaluations that a search with a larger margin, and its proof, may cost.
const RETRY_EVALUATIONS: usize = 12_500;
/// If an answer is not settled, a second search uses the budget divided by this.
const SMALLER_BUDGET_DIVISOR: usize = 4;
/// No such smaller search gets less than this budget.
const LEAST_BUDGET: usize = 100;
/// The shares by which an action of the local searches is enlarged until a proof succeeds.
const CANDIDATE_PUSHES: [f64; 3] = [0.0, 0.01, 0.04];
/// With a limit in seconds, the first search and its proof may take `FIRST_SHARE` of the time. Each further
/// attempt may take `RETRY_SHARE` of the remaining time.
const FIRST_SHARE: f64 = 0.75;
const RETRY_SHARE: f64 = 0.4;

/// The solver, prepared once for a problem and used for any number of individuals.
///
/// Guarantees: a `Found` action holds for every perturbation of the uncertainty set, and every feasible
/// action cheaper than its `cost_bound` is broken by one. If the answer is `Impossible`, every feasible
/// action is broken by one.
#[derive(Clone, Debug)]
pub struct Complete<'p> {
    problem: &'p Problem,
    /// Intervention sets that cover all others together with those without some of the undecided features.
    sets: Vec<Vec<usize>>,
    undecided: Vec<usize>,
    gap: f64,
    budget: Budget,
    seconds: Option<f64>,
    /// When the current answer must be there.
    end: Option<Instant>,
    /// What is told of better answers as they are found.
    observer: Option<Observer>,
}

impl Proof {
    /// Combines two proofs about one individual: the cheaper action, and the higher bound on the cost.
    fn combined(mut self, mut other: Proof) -> Proof {
        let (evaluations, proving) = (self.evaluations + other.evaluations, self.proving + other.proving);
        if matches!(other.outcome, Outcome::Impossible(_)) {
            return Proof { evaluations, proving, ..other };
        }
        if other.outcome.cost_bound() > self.outcome.cost_bound() {
            std::mem::swap(&mut self.ruled_out, &mut other.ruled_out);
        }
        let bound = self.outcome.cost_bound().max(other.outcome.cost_bound());
        if other.found_cost() < self.found_cost() {
            (self.outcome, self.certificate) = (other.outcome, other.certificate);
        }
        let outcome = self.outcome.with_cost_bound(bound);
        Proof { outcome, evaluations, proving, ..self }
    }
}

impl Proof {
    /// The cost of the proven action; infinite if there is none.
    fn found_cost(&self) -> f64 {
        match &self.outcome {
            Outcome::Found(found) => found.cost,
            _ => f64::INFINITY,
        }
    }

    /// The margin of the proven action; infinite if there is none.
    fn found_margin(&self) -> f64 {
        match &self.outcome {
            Outcome::Found(found) => found.margin,
            _ => f64::INFINITY,
        }
    }

    /// Takes over the proof of a cheaper action, if an attempt gave one, and keeps the bound on the cost. Returns
    /// whether it did.
    fn adopt(&mut self, tried: Tried) -> bool {
        self.evaluations += tried.evaluations;
        self.proving += tried.evaluations;
        let bound = self.outcome.cost_bound();
        match tried.proof {
            Some(Proof { outcome: Outcome::Found(found), certificate, .. })
                if found.cost < self.found_cost() =>
            {
                let cost_bound = bound.min(found.cost);
                self.outcome = Outcome::Found(Recourse { cost_bound, ..found });
                self.certificate = certificate;
                true
            }
            _ => false,
        }
    }

    /// The proof that an action holds, with the bound on the cost that another proof has for some weights.
    fn bounded_by(self, other: Proof, safety: f64) -> Proof {
        let (evaluations, proving) = (self.evaluations + other.evaluations, self.proving + other.proving);
        let cost_bound = other.outcome.cost_bound();
        let outcome = match (self.outcome, other.outcome) {
            (Outcome::Found(found), _) => Outcome::Found(found).with_cost_bound(cost_bound),
            (_, impossible @ Outcome::Impossible(_)) => impossible,
            (Outcome::Impossible(Shortfall { best, missing }), _) => Outcome::Undecided(Undecided {
                best,
                margin: -missing,
                required: safety.max(LEAST_MARGIN),
                cost_bound,
                reason: UndecidedReason::Weights,
            }),
            (Outcome::Undecided(undecided), _) => {
                Outcome::Undecided(Undecided { reason: UndecidedReason::Weights, cost_bound, ..undecided })
            }
            (outcome, _) => outcome,
        };
        let ruled_out = other.ruled_out;
        Proof { outcome, ruled_out, evaluations, proving, searched: None, ..self }
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

    fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }
}

/// A margin between the largest with which a proof failed, zero if none did, and one that is enough.
fn next_margin(failed: f64, enough: f64) -> f64 {
    if failed == 0.0 { 0.4 * enough } else { (failed * enough).sqrt() }
}

impl<'p> Complete<'p> {
    /// Prepares the method, for the list of methods.
    pub(super) fn prepare_method(problem: &'p Problem, settings: Settings) -> Result<Box<dyn Method + 'p>> {
        Ok(Box::new(Complete::new(problem)?.with_settings(settings)?))
    }

    /// Prepares the solver with a gap of 1% and the default [`Budget`]. Rejects problems without an
    /// actionable feature, and those with too many intervention sets; see
    /// [`covering_sets`](crate::action::covering_sets).
    pub fn new(problem: &'p Problem) -> Result<Self> {
        problem.require_no_change_limits("the method `complete` alone")?;
        let causal_models = problem.causal_models();
        let undecided = undecided::undecided_features(problem);
        let sets =
            covering_sets_except(&undecided, problem.features(), &causal_models, problem.action_kind())?;
        Ok(Self {
            problem,
            sets,
            undecided,
            gap: 0.01,
            budget: Budget::default(),
            seconds: None,
            end: None,
            observer: None,
        })
    }

    /// Sets the largest share by which the action's cost should exceed the proven bound. The gap may be
    /// larger where no cheaper action can be proved; `cost_bound` shows the actual one.
    pub fn with_gap(mut self, gap: f64) -> Result<Self> {
        Settings { gap, ..Settings::default() }.check()?;
        self.gap = gap;
        Ok(self)
    }

    /// Sets the number of evaluations that the search for each individual may cost. If the answer is
    /// undecided, or its cost is far above the bound, two more stages follow. Attempts to find an action
    /// that is easier to prove may cost up to two and a half times the budget. Searches with a quarter of
    /// the budget, a sixteenth and so on cost a third of all that, so that four times the budget does not
    /// give an answer that is worse by more than the gap. They are left out where the proof is by parabolas
    /// and such a budget suffices for the same search.
    ///
    /// An answer thus usually costs at most twice the budget and always less than five times:
    /// `(1 + 2.5) * 4 / 3`, and the rest of a step that has begun when its part is spent.
    pub fn with_budget(mut self, budget: Budget) -> Result<Self> {
        budget.check()?;
        self.budget = budget;
        Ok(self)
    }

    /// Limits the seconds that each answer may take, beside the budget. The answer is the best proven action
    /// and the best bound on the cost that were found by then; it depends on the machine and its load. A step
    /// that has begun is completed, so that an answer may take a little longer.
    pub fn with_seconds(mut self, seconds: Option<f64>) -> Result<Self> {
        Settings { seconds, ..Settings::default() }.check()?;
        self.seconds = seconds;
        Ok(self)
    }

    /// Sets the gap, the budget and the seconds.
    pub(super) fn with_settings(self, Settings { gap, budget, seconds, .. }: Settings) -> Result<Self> {
        self.with_gap(gap)?.with_budget(budget)?.with_seconds(seconds)
    }

    /// The same with an end for an answer that starts now. Seconds beyond what a clock counts are no limit.
    fn started(&self) -> Self {
        let limit = self.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        Complete { end, ..self.clone() }
    }

    /// The same with an end after a share of the time that is left.
    fn for_a_share(self, share: f64) -> Self {
        let now = Instant::now();
        let end = self.end.map(|end| now + end.saturating_duration_since(now).mul_f64(share));
        Complete { end, ..self }
    }

    /// Whether the answer must be there.
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end) || cancel::is_cancelled()
    }

    /// The answer for one individual.
    ///
    /// # Errors
    /// If the individual does not have one finite value for each feature, or if the causal model
    /// cannot produce them.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.prove(individual)?.outcome)
    }

    /// The answer with the data that is needed to check it.
    ///
    /// # Errors
    /// As [`Complete::solve`].
    pub fn prove(&self, individual: &[f64]) -> Result<Proof> {
        let Some(problem) = self.problem.for_ruling_out(individual)? else {
            return self.prove_alone(individual);
        };
        // The lower bound over uncertain weights proves that an action holds; weights rule actions out.
        let halved = Complete { seconds: self.seconds.map(|seconds| 0.5 * seconds), ..self.clone() };
        let proof = halved.prove_alone(individual)?;
        if proof.outcome == Outcome::AlreadyFavourable {
            return Ok(proof);
        }
        // What is found with these weights alone is no answer.
        let ruling_out =
            Complete { problem: &problem, observer: None, ..halved.clone() }.prove_alone(individual)?;
        Ok(proof.bounded_by(ruling_out, self.problem.safety()))
    }

    /// The answer by one classifier for all claims.
    fn prove_alone(&self, individual: &[f64]) -> Result<Proof> {
        if self.seconds.is_some() {
            return self.started().prove_once(individual);
        }
        let proof = self.prove_once(individual)?;
        let smaller = |budget: Budget| Budget { evaluations: budget.evaluations / SMALLER_BUDGET_DIVISOR };
        let mut budget = smaller(self.budget);
        // A smaller budget that suffices for the same search leads to the same proofs, as far as it goes.
        let is_the_same = |budget: Budget| {
            proof.searched.is_some_and(|searched| searched <= solve::search_evaluations(budget))
        };
        while is_the_same(budget) && budget.evaluations >= LEAST_BUDGET {
            budget = smaller(budget);
        }
        if proof.outcome.is_settled(self.gap) || budget.evaluations < LEAST_BUDGET {
            return Ok(proof);
        }
        // The action that is proved depends on the budget, so a smaller budget may have led to a cheaper
        // one.
        let other = Complete { budget, observer: None, ..self.clone() }.prove_alone(individual)?;
        Ok(proof.combined(other))
    }

    /// What the local search alone finds, without a proof; and the number of evaluations.
    pub(super) fn search_locally(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        solve::Solver::new(&self.started(), individual)?.candidate()
    }

    fn prove_once(&self, individual: &[f64]) -> Result<Proof> {
        let proof = solve::Solver::new(&self.clone().for_a_share(FIRST_SHARE), individual)?.run()?;
        self.tell(&proof);
        if proof.outcome.is_settled(LARGE_GAP) {
            return Ok(proof);
        }
        // Searches for stricter problems find neither answers nor bounds of this one.
        let quiet = Complete { observer: None, ..self.clone() };
        let proof = quiet.with_candidate(individual, proof)?;
        self.tell(&proof);
        let has_large_gap = !proof.outcome.is_settled(LARGE_GAP);
        if has_large_gap { quiet.with_larger_margin(individual, proof) } else { Ok(proof) }
    }

    /// Tells the observer of a proven action.
    fn tell(&self, proof: &Proof) {
        if let (Some(observer), Outcome::Found(found)) = (&self.observer, &proof.outcome) {
            observer.tell(Improvement::Bound(found.cost_bound));
            observer.tell(Improvement::Proven { action: found.action.clone(), cost: found.cost });
        }
    }

    /// Proves what the local searches alone find, if it is cheaper than the proven action. The search by boxes may end
    /// with an incumbent that no proof confirms, although there is another one that can be proved.
    fn with_candidate(&self, individual: &[f64], mut proof: Proof) -> Result<Proof> {
        if self.is_over() || !proof.outcome.is_open_to_search() {
            return Ok(proof);
        }
        let evaluations = (self.budget.evaluations / 2).clamp(1, RETRY_EVALUATIONS);
        let settings = Complete { budget: Budget { evaluations }, ..self.clone().for_a_share(RETRY_SHARE) };
        let (found, pool, evaluations) = solve::Solver::new(&settings, individual)?.unproven_candidate()?;
        proof.evaluations += evaluations;
        let Some(Unproven { action, cost }) = found else { return Ok(proof) };
        if cost < proof.found_cost() {
            let tried = solve::Solver::new(&settings, individual)?.prove(&action, &CANDIDATE_PUSHES, pool)?;
            proof.adopt(tried);
        }
        Ok(proof)
    }

    /// Searches for an action with a larger margin, if the cheapest unproven one cannot be proved or only
    /// at a much higher cost. Such an action is the cheapest one for a stricter classifier. The proven
    /// bound on the cost is kept.
    fn with_larger_margin(&self, individual: &[f64], mut proof: Proof) -> Result<Proof> {
        let mut required = proof.needed_margin.max(0.05);
        let mut known: Vec<Scenario> = Vec::new();
        for margin in proof.ruled_out.iter().flat_map(|part| &part.margins) {
            if !known.contains(&margin.scenario) {
                known.push(margin.scenario.clone());
            }
        }
        // The largest margin with which a proof failed, and the least with which one succeeded.
        let (mut failed, mut proven) = (0.0f64, f64::INFINITY);
        // The factor by which proofs may take longer than searches.
        let mut longer = 1;
        for _ in 0..MAX_MARGIN_RETRIES {
            if !matches!(proof.outcome, Outcome::Undecided(_) | Outcome::Found(_)) {
                return Ok(proof);
            }
            let least = proof.found_cost();
            let left = self.budget.evaluations.saturating_sub(proof.evaluations);
            let is_settled = proof.outcome.is_settled(SMALL_GAP);
            if is_settled || proof.evaluations >= 2 * self.budget.evaluations || self.is_over() {
                break;
            }
            if proven < CLOSE_MARGINS * failed {
                // Smaller margins need longer proofs.
                if left < 2 * longer * RETRY_EVALUATIONS {
                    break;
                }
                (required, failed, longer) = (failed, 0.0, 2 * longer);
            }
            let evaluations = (left / 2).max(self.budget.evaluations / 4).min(RETRY_EVALUATIONS);
            let settings =
                Complete { budget: Budget { evaluations }, ..self.clone().for_a_share(RETRY_SHARE) };
            // A threshold so close to 1 that it cannot be raised allows no larger margin.
            let Ok(problem) = self.problem.stricter(required) else { break };
            let stricter = Complete { problem: &problem, ..settings.clone() };
            let (cheapest_unproven, pool, searching) =
                solve::Solver::new(&stricter, individual)?.cheapest_unproven(&known);
            proof.evaluations += searching;
            let Some(Unproven { action, cost }) = cheapest_unproven else {
                required *= 0.5;
                continue;
            };
            if cost >= least {
                // So much margin costs too much; the proven action has less of it.
                proven = required.min(proof.found_margin());
                required = next_margin(failed, proven);
                continue;
            }
            let proving = Complete { budget: Budget { evaluations: longer * evaluations }, ..settings };
            let tried = solve::Solver::new(&proving, individual)?.prove(&action, &[0.0], pool)?;
            if let Some(scenario) = tried.broken.clone() {
                proof.adopt(tried);
                known.push(scenario);
                continue;
            }
            let needed_margin = tried.needed_margin;
            match proof.adopt(tried) {
                true => proven = required,
                false => failed = required,
            }
            required = match proven {
                f64::INFINITY => needed_margin.max(2.2 * failed),
                proven => next_margin(failed, proven),
            };
        }
        match &proof.outcome {
            Outcome::Undecided(undecided) => {
                let bound = undecided.cost_bound;
                self.for_a_stricter_one(individual, proof, bound, &known)
            }
            _ => Ok(proof),
        }
    }

    /// Solves for a stricter classifier. An action that holds for it holds for this one with more margin.
    /// That action is proved again for this problem, so that its margin and certificate refer to this
    /// problem. If that proof fails, those of the stricter problem are kept; its margin is a lower bound.
    fn for_a_stricter_one(
        &self,
        individual: &[f64],
        mut proof: Proof,
        bound: f64,
        known: &[Scenario],
    ) -> Result<Proof> {
        let budget = Budget { evaluations: self.budget.evaluations / 3 };
        for required in STRICTER {
            let Ok(problem) = self.problem.stricter(required) else { break };
            let stricter = Complete { problem: &problem, budget, ..self.clone().for_a_share(RETRY_SHARE) };
            let more = solve::Solver::new(&stricter, individual)?.run()?;
            proof.evaluations += more.evaluations;
            proof.proving += more.proving;
            let (Outcome::Found(found), Some(certificate)) = (more.outcome, more.certificate) else {
                continue;
            };
            let settings = Complete { budget, ..self.clone() };
            let solver = solve::Solver::new(&settings, individual)?;
            let tried = solver.prove(&certificate.action, &[0.0], known.to_vec())?;
            proof.evaluations += tried.evaluations;
            proof.proving += tried.evaluations;
            let (found, certificate) = match tried.proof {
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
