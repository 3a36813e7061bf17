//! Answers people of one problem.

use anyhow::{Result, bail};
use surefoot::proof::SavedProof;
use surefoot::recourse::{Explainer, Observer, Relaxed, Settings, Solver};
use surefoot::{Outcome, Problem, describe, describe_explanation};

/// What one person is answered.
pub struct Answered {
    /// Up to as many as were asked for, the cheapest first.
    pub outcomes: Vec<Outcome>,
    /// Of the first, if it is to be kept.
    pub proof: Option<SavedProof>,
    /// Why there is no action, in words.
    pub reason: Option<String>,
}

/// What is wanted beside the cheapest action.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// The proof of every answer.
    pub proofs: bool,
    /// Up to this many actions for each person.
    pub options: u16,
    /// Explanations why people have no action, whatever they cost.
    pub explain: bool,
    /// The answer is for one person alone, who gets an explanation anyway.
    pub alone: bool,
}

/// Answers people of one problem.
pub struct Answering<'a> {
    problem: &'a Problem,
    pub solver: Solver<'a>,
    wanted: Wanted,
    /// Explains why people have no action, where that was asked for or costs little.
    explainer: Option<Explainer<'a>>,
}

impl<'a> Answering<'a> {
    pub fn new(
        problem: &'a Problem,
        relaxed: &'a [Relaxed],
        settings: Settings,
        wanted: Wanted,
    ) -> Result<Self> {
        let solver = Solver::new(problem, settings)?;
        if wanted.proofs && !settings.method.proves() {
            bail!(
                "--proofs: the method `{}` proves nothing; leave out --proofs, or choose another --method",
                settings.method
            );
        }
        if wanted.options > 1 && !settings.method.proves() {
            bail!(
                "--options {}: the method `{}` finds one action for each person; leave out --options, or choose \
                 another --method",
                wanted.options,
                settings.method
            );
        }
        if wanted.explain && !settings.method.proves() {
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
        let is_asked = wanted.explain || wanted.alone;
        let explainer = explainer.filter(|explainer| is_asked || explainer.is_cheap());
        Ok(Self { problem, solver, wanted, explainer })
    }

    /// Has an observer told of better answers as they are found.
    pub fn observed(self, observer: Observer) -> Self {
        Self { solver: self.solver.with_observer(observer), ..self }
    }

    /// The answers of some people, in order, on this thread.
    pub fn answers(&self, individuals: &[&[f64]]) -> surefoot::Result<Vec<Answered>> {
        // A search gives its proof with the answer; a closed form is evaluated once more.
        if self.wanted.proofs && !self.solver.is_closed_form() {
            let proved = individuals.iter().map(|individual| {
                let (outcome, proof) = self.solver.solve_with_proof(individual)?;
                self.complete(individual, outcome, Some(proof.saved(self.problem, individual)))
            });
            return proved.collect();
        }
        let outcomes = self.solver.solve_all(individuals, &|_| {})?;
        let complete = |(individual, outcome): (&&[f64], Outcome)| {
            let proof = match self.wanted.proofs {
                true => Some(self.solver.prove(individual)?.saved(self.problem, individual)),
                false => None,
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
        let outcomes = match self.wanted.options {
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
