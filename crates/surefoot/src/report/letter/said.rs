//! An action in words without a letter around it, for programs that show answers.

use super::language::Language;
use super::spoken::Spoken;
use super::steps::{Consequence, Step, consequences, steps};
use super::wording::Wording;
use crate::describe::described_action;
use crate::problem::OwnProblem;
use crate::{Action, Problem, Result};

/// An action in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// What to do, step by step. The numbers in sentences are those of [`describe_action`](crate::describe_action);
    /// `change` is the exact one.
    pub steps: Vec<Step>,
    /// What will follow by itself.
    pub consequences: Vec<Consequence>,
}

/// Says the actions of one problem in one language.
pub struct Sayer<'p> {
    problem: &'p Problem,
    spoken: Spoken<'p>,
}

impl<'p> Sayer<'p> {
    /// Prepares the words.
    ///
    /// # Errors
    /// If words of the wording do not fit the features.
    pub fn new(problem: &'p Problem, language: Language, wording: &Wording) -> Result<Self> {
        let spoken = Spoken::new(problem, problem.features(), language, wording.clone())?;
        Ok(Self { problem, spoken })
    }

    /// An action in words; `reached` is the individual after it.
    ///
    /// # Errors
    /// If no problem can be made of the individual's special values.
    pub fn say(&self, individual: &[f64], action: &Action, reached: &[f64]) -> Result<Said> {
        let own = self.problem.for_person(individual)?;
        let of_person = own.as_ref().map(|own| {
            let (features, wording) = (self.problem.features(), self.spoken.wording.clone());
            Spoken::new(&own.problem, features, self.spoken.language, wording)
        });
        let of_person = of_person.transpose()?;
        let (_, individual) = OwnProblem::or(own.as_ref(), self.problem, individual);
        let spoken = of_person.as_ref().unwrap_or(&self.spoken);
        let described = described_action(spoken.problem, individual, action);
        let exact = steps(spoken, individual, action);
        let said = steps(spoken, individual, &described).into_iter().zip(exact);
        Ok(Said {
            steps: said.map(|(said, exact)| Step { change: exact.change, ..said }).collect(),
            consequences: consequences(spoken, individual, action, reached),
        })
    }
}
