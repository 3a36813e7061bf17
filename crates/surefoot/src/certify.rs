//! Proofs that an action holds for every perturbation of the uncertainty set.
//!
//! The least margin over the ball is enclosed: from above by search, from below by bounds:
//!
//! 1. an affine bound over the whole ball;
//! 2. the curvature bound: from a local minimum p,
//!    `margin(p) + min over the ball of g.(D - p) + (D - p)^T M (D - p) / 2`
//!    with a matrix M below the Hessian on the whole ball. Where M plus the multiplier of the ball is
//!    positive semidefinite, the bound is exact: the local minimum is proven to be the global one;
//! 3. branch and bound over cells of the ball, where both leave a gap, with affine bounds and, in small
//!    enough cells, quadratic ones whose error is of third order;
//! 4. where too many such cells are needed: for tanh networks over a Euclidean ball, parabolas below all
//!    units; for relu networks, branch and bound over the phases of units.
//!
//! For tree ensembles the least margin is found exactly, by a search over cells between thresholds.
//!
//! A proof by bounds requires a bound of at least [`LEAST_MARGIN`], and every bound accounts for its own
//! rounding. The margin of a tree ensemble that is searched exactly may be zero: where a sum is within
//! rounding errors of zero, the arithmetic of the program that made the model decides. An action that cannot
//! be decided within the budget is reported as undecided.

mod branch;
mod parabolas;
mod phases;
mod search;
mod trees;

pub(crate) use branch::{ProofAttempt, Prover};
#[cfg(test)]
pub(crate) use parabolas::{Layers, Partition};
#[cfg(test)]
pub(crate) use phases::proof_by_phases;
pub(crate) use search::{Found, Search};
pub(crate) use trees::tree_certificate;

use crate::error::{CausalModelError, SettingError};
use crate::margin::{Composer, attained_margin, in_common_coordinates, margin, shifts};
use crate::problem::OwnProblem;
use crate::{Action, Certificate, Error, Problem, Result, Verdict};

/// The least margin, in units of the score, that counts as proven by bounds. It exceeds the rounding error of
/// a classifier evaluated in double precision. Exact searches of tree ensembles do not need it.
pub const LEAST_MARGIN: f64 = 1e-9;

/// The number of nodes of trees whose visit counts as one evaluation.
pub(crate) const NODES_PER_EVALUATION: usize = 8_000;

/// The work that one question may cost. Work is counted, not timed, so the answer does not depend on the
/// load of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The number of bounds and of evaluations of the margin with derivatives. Each takes some tens of
    /// microseconds for networks with two hidden layers of a hundred units.
    pub evaluations: usize,
}

impl Budget {
    /// As good as no limit.
    const UNLIMITED: Self = Self { evaluations: usize::MAX / 64 };

    /// The budget for settings that may or may not name one: without a number of evaluations it is the
    /// default or, if the seconds are limited instead, as good as no limit.
    pub fn given(evaluations: Option<usize>, seconds: Option<f64>) -> Self {
        match (evaluations, seconds) {
            (Some(evaluations), _) => Self { evaluations },
            (None, Some(_)) => Self::UNLIMITED,
            (None, None) => Self::default(),
        }
    }

    /// Rejects a budget of zero.
    pub fn check(self) -> Result<()> {
        match self.evaluations {
            0 => Err(Error::Setting(SettingError::Setting { setting: "evaluations", value: 0.0 })),
            _ => Ok(()),
        }
    }
}

impl Default for Budget {
    /// The budget of about a second of work.
    fn default() -> Self {
        Self { evaluations: 60_000 }
    }
}

/// Whether an action holds for every perturbation that the problem guards against.
///
/// If the problem has several variants, the action must hold for each, and each is certified by the best means
/// for its kind. Accepts any action, whichever method found it. `Holds` is proven. The perturbation of `Breaks` has
/// been evaluated by [`margin`](crate::margin::margin()), whose documentation says which perturbations
/// are ignored because the perturbed individual does not exist.
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
    let (everybody, own) = (problem, problem.for_person(individual)?);
    let (problem, individual) = OwnProblem::or(own.as_ref(), problem, individual);
    let variants = problem.variants();
    let (mut left, mut done) = (budget.evaluations, Vec::with_capacity(variants.len()));
    for (number, variant) in variants.iter().enumerate() {
        // Whatever a variant leaves of its share is for the others.
        let share = Budget { evaluations: (left / (variants.len() - number)).max(1) };
        let certificate = certify_variant(variant, individual, action, share)?;
        left = left.saturating_sub(certificate.evaluations);
        let is_broken = matches!(certificate.verdict, Verdict::Breaks { .. });
        done.push(certificate);
        if is_broken {
            break;
        }
    }
    let mut certificate = Certificate::of_variants(done);
    if let (Some(own), Verdict::Breaks { perturbation, .. }) = (&own, &mut certificate.verdict) {
        let shift = shifts(&own.problem, individual, perturbation)?;
        *perturbation = in_common_coordinates(&own.problem, everybody, perturbation, &shift);
    }
    Ok(certificate)
}

/// The certificate of an action for a problem with one variant.
fn certify_variant(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    budget: Budget,
) -> Result<Certificate> {
    if let Some(certificate) = tree_certificate(problem, individual, action, budget)? {
        return Ok(certificate);
    }
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
        further: Vec::new(),
        evaluations: prover.evaluations(),
    })
}

fn verdict(problem: &Problem, individual: &[f64], action: &Action, proven: &ProofAttempt) -> Verdict {
    let required = LEAST_MARGIN;
    let evaluated = margin(problem, individual, action, &proven.perturbation);
    // A negative lower bound over uncertain weights breaks nothing; a margin with some of these weights does.
    let attained = || attained_margin(problem, individual, action, &proven.perturbation);
    match evaluated {
        Ok(margin) if margin < 0.0 && !problem.classifier().is_exact() => match attained() {
            Ok(margin) if margin < 0.0 => {
                Verdict::Breaks { variant: 0, perturbation: proven.perturbation.clone(), margin }
            }
            attained => Verdict::Undecided { lower: margin, upper: attained.unwrap_or(f64::INFINITY) },
        },
        Ok(margin) if margin < 0.0 => {
            Verdict::Breaks { variant: 0, perturbation: proven.perturbation.clone(), margin }
        }
        // The definition decides: its margin at the worst perturbation found must not be below the proven
        // bound.
        Ok(margin) if proven.lower >= required && margin >= proven.lower - LEAST_MARGIN => {
            Verdict::Holds { margin: proven.lower }
        }
        Ok(margin) => Verdict::Undecided { lower: proven.lower, upper: margin },
        // A perturbation that concerns nobody does not break anything.
        Err(Error::CausalModel(CausalModelError::Nobody { .. })) if proven.lower >= required => {
            Verdict::Holds { margin: proven.lower }
        }
        Err(_) => Verdict::Undecided { lower: proven.lower, upper: f64::INFINITY },
    }
}

/// Whether a perturbation breaks an action: by the definition of the margin, with a perturbation no
/// larger than the uncertainty.
pub(crate) fn breaks(problem: &Problem, individual: &[f64], action: &Action, perturbation: &[f64]) -> bool {
    problem.uncertainty().contains(perturbation)
        && matches!(margin(problem, individual, action, perturbation), Ok(margin) if margin < 0.0)
}
