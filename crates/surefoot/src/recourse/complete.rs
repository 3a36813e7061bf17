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
//! Sets that a larger one stands for are left out: where a feature is not downstream of an
//! intervention, a relative action that leaves it as it is might as well not name it.

mod boxes;
mod far;
mod solve;

use crate::action::{MOST_ACTIONABLE, intervention_sets};
use crate::certify::{Budget, Certificate, Verdict};
use crate::{Error, Form, Outcome, Problem, Recourse, Result};

/// Room that is asked for, in units of the logit, where a proof fails without.
const ROOM: [f64; 2] = [0.05, 0.25];

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

/// A box of actions, or what is far away in a cone of them, that one perturbation rules out.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledOut {
    /// The features acted upon.
    pub features: Vec<usize>,
    /// The least change of each.
    pub lower: Vec<f64>,
    /// The greatest change of each.
    pub upper: Vec<f64>,
    /// Only actions of the box that cost at most this are ruled out; infinite: all.
    pub cost: f64,
    /// The perturbation that breaks them.
    pub perturbation: Vec<f64>,
    /// Far away, in place of the sides of the box that are infinite: all sums of these changes
    /// with shares that are at least zero and add up to something between the two ends of
    /// `distance`.
    pub rays: Vec<Vec<f64>>,
    /// See `rays`.
    pub distance: (f64, f64),
}

/// An answer with what it takes to check it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The answer.
    pub outcome: Outcome,
    /// That the action found holds.
    pub certificate: Option<Certificate>,
    /// Why nothing else is cheaper, or at all there.
    pub ruled_out: Vec<RuledOut>,
    /// Bounds and evaluations that it took.
    pub evaluations: usize,
    /// How many of them went into proofs that actions hold.
    pub proving: usize,
}

impl<'p> Complete<'p> {
    /// Prepares the solver with a gap of 1% and the default [`Budget`]; refused are problems in
    /// which nothing is actionable, and those with too many actionable features.
    pub fn new(problem: &'p Problem) -> Result<Self> {
        let causal = problem.scm().is_some();
        let mut sets = intervention_sets(problem.features(), causal)?;
        if !causal && problem.features().actionable().len() > MOST_ACTIONABLE {
            let count = problem.features().actionable().len();
            return Err(Error::TooManyActionable { count, most: MOST_ACTIONABLE });
        }
        if let (Some(scm), Form::Relative) = (problem.scm(), problem.form()) {
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
        if !(gap.is_finite() && gap > 0.0 && gap < 1.0) {
            return Err(Error::Setting { setting: "gap", value: gap });
        }
        self.gap = gap;
        Ok(self)
    }

    /// Sets how much work each individual may cost.
    pub fn with_budget(mut self, budget: Budget) -> Result<Self> {
        if budget.evaluations == 0 {
            return Err(Error::Setting { setting: "evaluations", value: 0.0 });
        }
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
        let proof = solve::Solver::new(self, individual)?.run()?;
        match proof.outcome {
            Outcome::Undecided(_) => self.with_room(individual, proof),
            _ => Ok(proof),
        }
    }

    /// An action that leaves more room, where the cheapest one that seems to hold cannot be proved:
    /// the cheapest for a stricter classifier. What is proven of the cost stays.
    fn with_room(&self, individual: &[f64], mut proof: Proof) -> Result<Proof> {
        let Outcome::Undecided(undecided) = &proof.outcome else { return Ok(proof) };
        let bound = undecided.cost_bound;
        for room in ROOM {
            // A threshold so close to 1 that it cannot be raised leaves no room.
            let Ok((problem, room)) = self.problem.stricter(room) else { break };
            let budget = Budget { evaluations: self.budget.evaluations / 3 };
            let stricter = Complete { problem: &problem, sets: self.sets.clone(), gap: self.gap, budget };
            let more = solve::Solver::new(&stricter, individual)?.run()?;
            proof.evaluations += more.evaluations;
            proof.proving += more.proving;
            let (Outcome::Found(found), Some(mut certificate)) = (more.outcome, more.certificate) else {
                continue;
            };
            // Up to the rounding of a sum.
            let more = |margin: f64| margin + room - 1e-12 * (1.0 + margin.abs());
            certificate.pieces.iter_mut().for_each(|piece| piece.margin = more(piece.margin));
            let margin = more(found.margin);
            certificate.verdict = Verdict::Holds { margin };
            let cost_bound = bound.min(found.cost);
            proof.outcome = Outcome::Found(Recourse { cost_bound, margin, ..found });
            proof.certificate = Some(certificate);
            return Ok(proof);
        }
        Ok(proof)
    }
}
