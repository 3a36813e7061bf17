//! Everything that can be wrong with the input, with its place and its remedy.
//!
//! Mistakes are sorted by stage: features, people, rules, causal model, model, files, settings,
//! training, letters, audit. [`Error`] is any of them.

mod audit;
mod category;
mod causal_model;
mod feature;
mod file;
mod formula;
mod letter;
mod mistake;
mod model;
mod onnx;
mod people;
mod rule;
mod setting;
mod training;
mod trees;
mod words;

pub use audit::AuditError;
pub use category::CategoryProblem;
pub use causal_model::CausalModelError;
pub use feature::{EffortProblem, FeatureError};
pub use file::{FileError, FileProblem, SavedProblem};
pub use formula::{FormulaProblem, Obstacle};
pub use letter::LetterError;
pub use mistake::{Fault, Mistake, Mistakes};
pub use model::{CovarianceProblem, ModelError};
pub use onnx::{OnnxProblem, UnsupportedUse};
pub use people::PeopleError;
pub use rule::{RuleError, RuleProblem};
pub use setting::SettingError;
pub use training::TrainingError;
pub use trees::TreesProblem;
pub use words::WordsProblem;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a question. That no recourse exists is an answer and not an error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A mistake in the features of a problem.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// A mistake in people, actions and perturbations.
    #[error(transparent)]
    People(#[from] PeopleError),
    /// A mistake in constraints and forbidden transitions.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A mistake in equations and the causal model.
    #[error(transparent)]
    CausalModel(#[from] CausalModelError),
    /// A mistake in the model that decides.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A mistake in files.
    #[error(transparent)]
    File(#[from] FileError),
    /// A mistake in settings and the choice of a method.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A mistake in training data and training.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// A mistake in what letters are made of.
    #[error(transparent)]
    Letter(#[from] LetterError),
    /// A mistake in what an audit is asked.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

impl Error {
    /// What stands in the way of the perturbed individual, as a statement about the perturbation.
    pub(crate) fn nobody(why: Error) -> Self {
        CausalModelError::Nobody { why: Box::new(why) }.into()
    }

    /// What stands in the way of an action's result, as a statement about the action.
    pub(crate) fn action_undefined(why: Error) -> Self {
        CausalModelError::ActionUndefined { why: Box::new(why) }.into()
    }

    /// Whether a problem is in order, but beyond a method for models of one kind, such as
    /// [`Exact`](crate::Exact) for linear ones or `trees` for tree ensembles: another method answers it.
    pub fn is_for_another_method(&self) -> bool {
        matches!(
            self,
            Error::Model(ModelError::ClassifierNotLinear | ModelError::ClassifierNotTrees)
                | Error::CausalModel(CausalModelError::EquationNotLinear { .. })
                | Error::Setting(
                    SettingError::SeveralVariants { .. } | SettingError::UncertaintyNotKnown { .. }
                )
        )
    }
}

/// The formula around a column, with a caret under it.
fn pointed(formula: &str, column: usize) -> String {
    const REACH: usize = 60;
    let start = column.saturating_sub(REACH + 1);
    let visible = |c: char| if c.is_whitespace() { ' ' } else { c };
    let excerpt: String = formula.chars().skip(start).take(2 * REACH).map(visible).collect();
    format!("  {excerpt}\n  {}^", " ".repeat(column - 1 - start))
}

/// Names for a message: `` `a`, `b` and `c` ``.
pub(crate) fn quoted(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} and `{last}`", first.join(", "))
        }
    }
}

/// "1 input", "2 inputs".
fn count_of(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
