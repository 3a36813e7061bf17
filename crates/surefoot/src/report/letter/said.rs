//! An action in words without a letter around it, for programs that show answers.

use super::language::Language;
use super::spoken::Spoken;
use super::steps::{Consequence, Digits, Step, consequences, steps};
use super::wording::Wording;
use crate::{Action, Problem, Result};

/// An action in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// What to do, step by step. Sentences have four significant digits of each change.
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
            Spoken::new(own, features, self.spoken.language, wording)
        });
        let of_person = of_person.transpose()?;
        let spoken = of_person.as_ref().unwrap_or(&self.spoken);
        Ok(Said {
            steps: steps(spoken, individual, action, Digits::Rounded),
            consequences: consequences(spoken, individual, action, reached),
        })
    }
}
