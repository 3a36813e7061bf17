//! Mistakes in what letters are made of: languages, references, templates.

use thiserror::Error;

/// What can be wrong with letters.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum LetterError {
    /// A code that is not that of a language.
    #[error("there are no letters in the language `{language}`; there are `en` (English) and `de` (German)")]
    Language { language: String },
    /// A word that is not that of a format.
    #[error("there is no format `{format}` of letters; the formats are {known}")]
    Format { format: String, known: String },
    /// A text that is no reference number.
    #[error(
        "`{reference}` is no reference; one has four groups of four digits and letters, such as 7K3M-0Q1X-9ABC-DEFG"
    )]
    Reference { reference: String },
    /// A template that cannot be read, or that asks for something that letters do not have.
    #[error("{name}{}: {problem}", line.map_or(String::new(), |line| format!(", line {line}")))]
    Template { name: String, line: Option<usize>, problem: String },
    /// A reason for a column that people's tables do not have.
    #[error("there is no feature `{feature}`; {}", super::mistake::suggestion(nearest.as_deref(), known))]
    Feature { feature: String, nearest: Option<String>, known: Vec<String> },
    /// A second entry for the same column.
    #[error("`{feature}` has an entry already; keep one")]
    Repeated { feature: String },
    /// A reference value for something that has no amount.
    #[error(
        "`{feature}` has categories, and `typical` is an amount; leave it out: the most frequent category counts"
    )]
    Typical { feature: String },
}
