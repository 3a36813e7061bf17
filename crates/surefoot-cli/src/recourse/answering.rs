//! Answers people of one problem.

use anyhow::{Result, bail};
use surefoot::proof::SavedProof;
use surefoot::recourse::{Explainer, Relaxed, Solver};
use surefoot::{Outcome, Problem, describe, describe_explanation};

use super::Options;

/// What one person is answered.
pub struct Answered {
    /// Up to as many as were asked for, the cheapest first.
    pub outcomes: Vec<Outcome>,
    /// Of the first, if it is to be kept.
    pub proof: Option<SavedProof>,
    /// Why there is no action, in words.
    pub reason: Option<String>,
}

/// Answers people of one problem.
pub struct Answering<'a> {
    problem: &'a Problem,
    pub solver: Solver<'a>,
    options: &'a Options,
    /// Explains why people have no action, where that was asked for or costs little.
    explainer: Option<Explainer<'a>>,
}

impl<'a> Answering<'a> {
    pub fn new(problem: &'a Problem, relaxed: &'a [Relaxed], options: &'a Options) -> Result<Self> {
        let settings = options.effort.settings()?;
        let solver = Solver::new(problem, settings)?;
        if options.proofs.is_some() && !settings.method.proves() {
            bail!(
                "--proofs: the method `{}` proves nothing; leave out --proofs, or choose another --method",
                settings.method
            );
        }
        if options.options > 1 && !settings.method.proves() {
            bail!(
                "--options {}: the method `{}` finds one action for each person; leave out --options, or choose \
                 another --method",
                options.options,
                settings.method
            );
        }
        if options.explain && !settings.method.proves() {
            bail!(
                "--explain: the method `{}` proves nothing, so that it cannot say what stands in the way; leave out \
                 --explain, or choose another --method",
                settings.method
            );
        }
        let explainer = match settings.method.proves() {
            true => Some(Explainer::new(problem, relaxed, settings)?),
            false => None,
        };
        let is_asked = options.explain || options.person.is_some();
        let explainer = explainer.filter(|explainer| is_asked || explainer.is_cheap());
        Ok(Self { problem, solver, options, explainer })
    }

    /// The answers of some people, in order, on this thread.
    pub fn answers(&self, individuals: &[&[f64]]) -> surefoot::Result<Vec<Answered>> {
        // A search gives its proof with the answer; a closed form is evaluated once more.
        if self.options.proofs.is_some() && !self.solver.is_closed_form() {
            let proved = individuals.iter().map(|individual| {
                let proof = self.solver.prove(individual)?;
                let saved = proof.saved(self.problem, individual);
                self.complete(individual, proof.outcome, Some(saved))
            });
            return proved.collect();
        }
        let outcomes = self.solver.solve_all(individuals, &|_| {})?;
        let complete = |(individual, outcome): (&&[f64], Outcome)| {
            let proof = match self.options.proofs {
                Some(_) => Some(self.solver.prove(individual)?.saved(self.problem, individual)),
                None => None,
            };
            self.complete(individual, outcome, proof)
        };
        individuals.iter().zip(outcomes).map(complete).collect()
    }

    /// The first answer of a person, with further options and the reason why there is no action.
    fn complete(
        &self,
        individual: &[f64],
        first: Outcome,
        proof: Option<SavedProof>,
    ) -> surefoot::Result<Answered> {
        let reason = self.reason(individual, &first)?;
        let outcomes = match self.options.options {
            1 => vec![first],
            count => self.solver.options_after(first, individual, count.into())?,
        };
        Ok(Answered { outcomes, proof, reason })
    }

    /// Why a person has no action, in words.
    fn reason(&self, individual: &[f64], outcome: &Outcome) -> surefoot::Result<Option<String>> {
        if !matches!(outcome, Outcome::Impossible(_) | Outcome::Undecided(_)) {
            return Ok(None);
        }
        let explanation =
            self.explainer.as_ref().map(|explainer| explainer.explain(individual, outcome)).transpose()?;
        let explanation = explanation.flatten().map(|known| describe_explanation(self.problem, &known));
        let mut text = describe(self.problem, individual, outcome)?;
        if let Some(explanation) = explanation.filter(|text| !text.is_empty()) {
            text = format!("{text} {explanation}");
        }
        Ok(Some(text))
    }
}
