//! Proofs of exact answers, in the form that the checker verifies.
//!
//! For a linear problem one perturbation per intervention set is the worst for every action on the set. So a
//! single box proves the bound on the cost: all feasible actions on the set that cost less than the bound,
//! with that perturbation, which leaves each of them a negative margin.
//!
//! The checker enumerates the covering intervention sets. Where there are too many of them, a proof shows
//! that the action found holds, and states a bound on the cost of zero.

use super::Exact;
use crate::action::covering_sets;
use crate::action::feasible_change;
use crate::certify::certify;
use crate::error::FeatureError;
use crate::outcome::{Outcome, Recourse};
use crate::proof::{Certificate, Proof, RuledOut, Scenario, Verdict, WeightedMargin};
use crate::recourse::{Complete, Method, Settings};
use crate::{Error, Problem, Result};

/// The largest amount by which the margin of a certificate may be below the stated one: a tenth of the
/// checker's own [tolerance](crate::verify::TOLERANCE), which also has to cover the checker's rounding.
const TOLERANCE: f64 = 1e-10;

/// The share by which the bound on the cost in a proof is below the exact one. At the exact bound the
/// margin is zero, and the checker needs room for its own rounding.
const SLACK: f64 = 1e-9;

impl Method for Exact<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        self.solve_counted(individual)
    }

    fn prove(&self, individual: &[f64]) -> Result<Proof> {
        let outcome = Exact::solve(self, individual)?;
        if outcome == Outcome::AlreadyFavourable {
            return Ok(Proof::of(outcome, None, Vec::new()));
        }
        if let Err(Error::Feature(FeatureError::TooManySets { .. })) = self.complete() {
            return self.proof_without_bound(individual, outcome);
        }
        match self.proof_by_boxes(individual, &outcome)? {
            Some(proof) => Ok(proof),
            None => self.proof_by_search(individual, outcome),
        }
    }

    fn is_closed_form(&self) -> bool {
        true
    }

    fn solve_at_once(&self, individual: &[f64]) -> Result<Option<Outcome>> {
        let is_formula = self.is_enumerated() && !self.is_integer && self.problem.requirements().is_empty();
        if !is_formula {
            return Ok(None);
        }
        let score = self.score(individual)?;
        if score >= 0.0 {
            return Ok(Some(Outcome::AlreadyFavourable));
        }
        // What rounding leaves open may need a search.
        let outcome = self.solve_real(individual, score)?;
        Ok(Some(outcome).filter(|outcome| !matches!(outcome, Outcome::Undecided(_))))
    }
}

impl<'p> Exact<'p> {
    /// The method, for the list of methods.
    pub(in crate::recourse) fn prepare_method(
        problem: &'p Problem,
        settings: Settings,
    ) -> Result<Box<dyn Method + 'p>> {
        Ok(Box::new(Exact::new(problem)?.with_settings(settings)?))
    }

    /// The complete method with the settings of this one.
    pub(super) fn complete(&self) -> Result<Complete<'p>> {
        Complete::new(self.problem)?.with_settings(self.settings)
    }

    /// A proof by one box for each intervention set. `None` where integer features or requirements
    /// determine the answer.
    fn proof_by_boxes(&self, individual: &[f64], outcome: &Outcome) -> Result<Option<Proof>> {
        let is_closed_form = match self.is_enumerated() {
            true => self.solve_real(individual, self.score(individual)?)? == *outcome,
            false => self.problem.requirements().is_empty(),
        };
        if self.is_integer || !is_closed_form {
            return Ok(None);
        }
        let certificate = match outcome {
            Outcome::Found(found) => match self.certificate(individual, found)? {
                Some(certificate) => Some(certificate),
                None => return Ok(None),
            },
            _ => None,
        };
        let outcome = outcome.clone().with_cost_bound(outcome.cost_bound() * (1.0 - SLACK));
        let bound = outcome.cost_bound();
        let (features, scm) = (self.problem.features(), self.problem.scm());
        let Ok(sets) = covering_sets(features, scm, self.problem.action_kind()) else { return Ok(None) };
        let boxes = sets.iter().map(|features| self.ruled_out(individual, features, bound));
        let boxes = if bound > 0.0 { boxes.collect::<Result<Vec<_>>>()? } else { Vec::new() };
        Ok(Some(Proof::of(outcome, certificate, boxes)))
    }

    /// A proof of the action alone.
    fn proof_without_bound(&self, individual: &[f64], outcome: Outcome) -> Result<Proof> {
        let certificate = match &outcome {
            Outcome::Found(found) => self.certificate(individual, found)?,
            _ => None,
        };
        Ok(Proof::of(outcome.with_cost_bound(0.0), certificate, Vec::new()))
    }

    /// A certificate that the action found holds with the stated margin; `None` if it cannot be proved.
    fn certificate(&self, individual: &[f64], found: &Recourse) -> Result<Option<Certificate>> {
        let mut certificate = certify(self.problem, individual, &found.action, self.settings.budget)?;
        let is_proven = matches!(certificate.verdict, Verdict::Holds { .. });
        if !is_proven || certificate.pieces.iter().any(|piece| piece.margin < found.margin - TOLERANCE) {
            return Ok(None);
        }
        certificate.pieces.iter_mut().for_each(|piece| piece.margin = piece.margin.max(found.margin));
        Ok(Some(certificate))
    }

    /// The box of all feasible actions on a set that cost at most `bound`, with the worst perturbation.
    fn ruled_out(&self, individual: &[f64], features: &[usize], bound: f64) -> Result<RuledOut> {
        let downwards: Vec<f64> = self.response(features).iter().map(|r| -r).collect();
        let uncertainty = self.problem.uncertainty();
        let mut perturbation = uncertainty.maximiser(&downwards);
        uncertainty.shrink(&mut perturbation);
        let side = |&i: &usize| {
            let (lower, upper) = feasible_change(self.problem.features(), i, individual[i]);
            // Rounded outwards, so that no cheaper action is cut off.
            let reach = bound / self.problem.features().feature(i).weight * (1.0 + 1e-9) + 1e-12;
            (lower.max(-reach), upper.min(reach))
        };
        let (lower, upper) = features.iter().map(side).unzip();
        Ok(RuledOut {
            features: features.to_vec(),
            undecided: Vec::new(),
            lower,
            upper,
            cost: bound,
            margins: WeightedMargin::only(Scenario { variant: 0, perturbation }),
            cone: None,
            requirements: Vec::new(),
        })
    }

    /// A proof of the same action by the complete method. Its bound on the cost may be lower by the gap.
    fn proof_by_search(&self, individual: &[f64], outcome: Outcome) -> Result<Proof> {
        let proof = self.complete()?.prove(individual)?;
        let Outcome::Found(found) = outcome else { return Ok(proof) };
        let Some(certificate) = self.certificate(individual, &found)? else { return Ok(proof) };
        let cost_bound = proof.outcome.cost_bound().min(found.cost_bound);
        let outcome = Outcome::Found(Recourse { cost_bound, ..found });
        Ok(Proof { outcome, certificate: Some(certificate), ..proof })
    }
}
