//! Proofs that an action holds for every perturbation guarded against.
//!
//! The least margin over the ball is enclosed from above by search and from below by bounds:
//!
//! 1. an affine bound over the whole ball;
//! 2. the curvature bound: from a local minimum p, `margin(p) + min over the ball of
//!    g.(D - p) + (D - p)^T M (D - p) / 2` with a matrix M that the Hessian is nowhere below.
//!    Where M and the multiplier of the ball together are convex, it has no gap: the local
//!    minimum is proved to be the global one;
//! 3. branch and bound over cells of the ball, where both leave a gap, with affine bounds and, in
//!    cells small enough, quadratic ones: quadratics whose error is of third order.
//!
//! A proof is one only if its bound is at least [`LEAST_MARGIN`], and every bound accounts for
//! its own rounding. Whatever cannot be closed within the budget is undecided, never claimed.

mod branch;
mod search;

pub(crate) use branch::{ProofAttempt, Prover};
pub(crate) use search::{Found, Search};

use crate::error::SettingError;
use crate::margin::{Composer, margin};
use crate::{Action, Certificate, Error, Problem, Result, Verdict};

/// The least margin, in units of the logit, that counts as proven: more than the rounding of
/// whatever evaluates the classifier in doubles.
pub const LEAST_MARGIN: f64 = 1e-9;

/// How much work a question may cost. Work is counted, not timed, so that an answer does not
/// depend on how busy the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bounds and evaluations of the margin with its derivatives, each some tens of microseconds
    /// for networks with two hidden layers of a hundred units.
    pub evaluations: usize,
}

impl Budget {
    /// Refuses a budget with which nothing can be done.
    pub fn check(self) -> Result<()> {
        match self.evaluations {
            0 => Err(Error::Setting(SettingError::Setting { setting: "evaluations", value: 0.0 })),
            _ => Ok(()),
        }
    }
}

impl Default for Budget {
    /// About a second.
    fn default() -> Self {
        Self { evaluations: 60_000 }
    }
}

/// Whether an action holds for every perturbation that the problem guards against.
///
/// Works on any action, wherever it came from. `Holds` is proven; `Breaks` has been evaluated
/// again through [`margin`](crate::margin::margin()), where it says which perturbations concern
/// nobody.
///
/// # Errors
/// If individual or action do not fit the problem, or if the causal model cannot produce the
/// individual.
pub fn certify(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    budget: Budget,
) -> Result<Certificate> {
    action.check(problem.features())?;
    budget.check()?;
    let composer = Composer::new(problem, individual, &action.features)?;
    let mut prover = Prover::new(problem, budget.evaluations);
    let required = LEAST_MARGIN;
    let proven = prover.prove(&composer, &action.change, required, &[], true);
    let verdict = verdict(problem, individual, action, &proven);
    let holds = matches!(verdict, Verdict::Holds { .. });
    Ok(Certificate {
        action: action.clone(),
        verdict,
        basis: proven.coordinates.basis().to_vec(),
        worst: proven.coordinates.of_perturbation(&proven.perturbation),
        pieces: if holds { proven.pieces } else { Vec::new() },
        evaluations: prover.evaluations(),
    })
}

fn verdict(problem: &Problem, individual: &[f64], action: &Action, proven: &ProofAttempt) -> Verdict {
    let required = LEAST_MARGIN;
    let evaluated = margin(problem, individual, action, &proven.perturbation);
    match evaluated {
        Ok(margin) if margin < 0.0 => Verdict::Breaks { perturbation: proven.perturbation.clone(), margin },
        // The last word has the definition: what it says must not be below what was proved.
        Ok(margin) if proven.lower >= required && margin >= proven.lower - LEAST_MARGIN => {
            Verdict::Holds { margin: proven.lower }
        }
        Ok(margin) => Verdict::Undecided { lower: proven.lower, upper: margin },
        Err(_) if proven.lower >= required => Verdict::Holds { margin: proven.lower },
        Err(_) => Verdict::Undecided { lower: proven.lower, upper: f64::INFINITY },
    }
}

/// A perturbation that breaks an action, as the definition of the margin evaluates it and no
/// larger than the uncertainty.
pub(crate) fn breaks(problem: &Problem, individual: &[f64], action: &Action, perturbation: &[f64]) -> bool {
    problem.uncertainty().contains(perturbation)
        && matches!(margin(problem, individual, action, perturbation), Ok(margin) if margin < 0.0)
}
