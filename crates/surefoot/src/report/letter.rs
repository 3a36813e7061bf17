//! Letters: they state a decision, its reasons, what the person can do, and what is proven of it.
//!
//! A [`Letter`] is plain data in one language: sentences with their numbers, and no layout. [`Template`] turns it into
//! text or HTML. [`LetterWriter`] finds the answer of a person and writes the letter, with the proofs of everything
//! that it says is proven.

mod guarded;
mod language;
mod names;
mod obstacles;
mod rounding;
mod said;
mod specimen;
mod spoken;
mod steps;
mod template;
#[cfg(test)]
mod tests;
mod wording;
mod writer;

use serde::Serialize;

pub use language::Language;
pub use names::FileNames;
pub use said::{Said, Sayer};
pub use steps::{Consequence, Step};
pub use template::{Format, Template};
pub use wording::Wording;
pub use writer::{LetterSettings, LetterWriter, Written};

/// The content of a letter to one person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Letter {
    /// Who it is for.
    pub id: String,
    /// The language.
    pub language: Language,
    /// The status of the answer, as in the table of answers.
    pub status: &'static str,
    /// The number by which the proof is found; `None` if nothing is proven.
    pub reference: Option<String>,
    /// What was decided.
    pub decision: String,
    /// What is not known of the person, what the decision takes it for, and what that means for the answer.
    pub unknown: Vec<String>,
    /// Why, the most important first; at most four.
    pub reasons: Vec<GivenReason>,
    /// What to do. Empty without an action.
    pub steps: Vec<Step>,
    /// What will follow by itself.
    pub consequences: Vec<Consequence>,
    /// What the answer is guarded against, in one sentence. Empty where nothing is claimed.
    pub guarded: String,
    /// What is proven, and what is not.
    pub proven: Vec<String>,
    /// What stands in the way if nothing can be done.
    pub obstacles: Vec<String>,
    /// Other things to do instead.
    pub options: Vec<Alternative>,
    /// The values that the person reported, feature by feature.
    pub details: Vec<Detail>,
    /// How several differences come together, and what else is allowed for.
    pub allowances: Vec<String>,
    /// The fixed words of the letter: headings and introductions.
    pub words: Words,
}

/// A reason in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GivenReason {
    /// The column of people's tables.
    pub feature: String,
    /// What people read instead.
    pub label: String,
    /// The code of the organisation, if it has one.
    pub code: Option<String>,
    /// The reason, and whether something can be done about it.
    pub text: String,
    /// `changed`, `changeable`, `follows` or `fixed`.
    pub remedy: &'static str,
    /// The share of the shortfall that it accounts for.
    pub share: f64,
    /// The share of the effort of the action, if the action changes it.
    pub effort: Option<f64>,
}

/// Something else to do instead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// The number by which its proof is found.
    pub reference: String,
    /// What to do.
    pub steps: Vec<Step>,
    /// What will follow by itself.
    pub consequences: Vec<Consequence>,
}

/// What was told about one thing, and by how much it may differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Detail {
    /// What people read instead of the column.
    pub label: String,
    /// The value that was told.
    pub value: String,
    /// The value after the action, if that is another one.
    pub after: Option<String>,
    /// By how much the value may differ from what was told. `None` where nothing is claimed, and for a category, of
    /// which a part means nothing.
    pub allowed: Option<String>,
}

/// Headings and introductions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say which part of a letter they are for")]
pub struct Words {
    pub title: &'static str,
    pub for_whom: &'static str,
    pub reference: &'static str,
    pub reasons: &'static str,
    pub steps: &'static str,
    pub steps_intro: &'static str,
    pub consequences: &'static str,
    pub options: &'static str,
    pub options_intro: &'static str,
    pub option: &'static str,
    pub guarded: &'static str,
    pub obstacles: &'static str,
    pub proven: &'static str,
    pub details: &'static str,
    pub value: &'static str,
    pub after: &'static str,
    pub allowed: &'static str,
}

impl Letter {
    /// The letter with everything escaped that would act on a terminal or change the direction of writing.
    fn escaped(mut self) -> Self {
        let escape = |text: &mut String| *text = crate::escape_line(text).into_owned();
        let escape_steps = |steps: &mut Vec<Step>| {
            for step in steps {
                [&mut step.feature, &mut step.label, &mut step.text, &mut step.before, &mut step.after]
                    .into_iter()
                    .for_each(escape);
            }
        };
        let escape_consequences = |consequences: &mut Vec<Consequence>| {
            for step in consequences {
                [&mut step.feature, &mut step.label, &mut step.text, &mut step.before, &mut step.after]
                    .into_iter()
                    .for_each(escape);
            }
        };
        [&mut self.id, &mut self.decision, &mut self.guarded].into_iter().for_each(escape);
        escape_steps(&mut self.steps);
        escape_consequences(&mut self.consequences);
        for reason in &mut self.reasons {
            [&mut reason.feature, &mut reason.label, &mut reason.text].into_iter().for_each(escape);
            reason.code.iter_mut().for_each(escape);
        }
        [&mut self.unknown, &mut self.proven, &mut self.obstacles, &mut self.allowances]
            .into_iter()
            .for_each(|texts| texts.iter_mut().for_each(escape));
        for option in &mut self.options {
            escape_steps(&mut option.steps);
            escape_consequences(&mut option.consequences);
        }
        for detail in &mut self.details {
            [&mut detail.label, &mut detail.value].into_iter().for_each(escape);
            detail.after.iter_mut().chain(&mut detail.allowed).for_each(escape);
        }
        self
    }

    /// The letter as JSON, on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
