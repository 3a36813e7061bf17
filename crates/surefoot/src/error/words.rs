//! Mistakes in the words for features.

use thiserror::Error;

use super::quoted;

/// What is wrong with the label, the unit or the descriptions of a feature.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum WordsProblem {
    /// Words without a letter.
    #[error("`{field}` is blank; leave it out, or say what people are to read")]
    Blank { field: &'static str },
    /// A unit that does not say where the number goes.
    #[error(
        "the unit `{unit}` has more than one place for the number; write `{{}}` once, as in \"EUR {{}}\""
    )]
    Places { unit: String },
    /// More than two forms of a unit.
    #[error("the unit has {forms} forms; give one, or the one of a single thing and the one of several")]
    Forms { forms: usize },
    /// A unit of what is no amount.
    #[error("categories and binary features have no unit; leave it out, or describe the values (describe)")]
    NoAmount,
    /// Descriptions of any real numbers.
    #[error(
        "only categories, integer and binary features have values that can be described; give it a kind, or a unit"
    )]
    NotDescribed,
    /// The description of a column of a group.
    #[error("a column of a group is a category of its own; give it a `label` instead of descriptions")]
    GroupColumn,
    /// A description of what is no value.
    #[error("`describe` has `{value}`, which is no category; there are {}", quoted(known))]
    UnknownCategory { value: String, known: Vec<String> },
    /// A description of what is no whole number.
    #[error("`describe` has `{value}`, which is no {kind} value; describe whole numbers such as \"1\"")]
    UnknownValue { value: String, kind: String },
    /// Two values that read alike.
    #[error("`describe` has `{words}` twice; people could not tell the two values apart")]
    Repeated { words: String },
}

impl WordsProblem {
    /// The field of a problem file that causes it.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::Blank { field } => field,
            Self::Places { .. } | Self::Forms { .. } | Self::NoAmount => "unit",
            _ => "describe",
        }
    }
}
