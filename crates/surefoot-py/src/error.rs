//! Errors as exceptions of the package, with the engine's messages.

use pyo3::prelude::*;
use surefoot::error::CategoryProblem;
use surefoot::{Error, Unsuitable};
use thiserror::Error;

/// A result of this crate.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// What can go wrong between Python and the engine.
#[derive(Debug, Error)]
pub enum Failure {
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] surefoot::Error),
    /// A table that cannot be read.
    #[error(transparent)]
    Table(#[from] Fault),
    /// Python raised something.
    #[error(transparent)]
    Python(#[from] PyErr),
}

/// What is wrong with a table, or with a word, that Python hands over.
#[derive(Debug, Error)]
pub enum Fault {
    #[error("there is no column `{column}`; there are {}", listed(known))]
    NoColumn { column: String, known: Vec<String> },
    #[error("column `{column}` is {kind}; numbers are needed, or name its categories in the feature")]
    NotNumbers { column: String, kind: String },
    #[error("column `{column}` is of numbers; a feature with categories needs their names")]
    NotNames { column: String },
    #[error("person {person}, feature `{column}`: no value is given; give one, or leave this person out")]
    Missing { person: usize, column: String },
    #[error("person {person}, feature `{column}`: {problem}")]
    Category { person: usize, column: String, problem: CategoryProblem },
    #[error("persons {first} and {second} are both called `{id}`; give everybody another id")]
    SameId { id: String, first: usize, second: usize },
    #[error("column `{column}` has a text of {length} bytes; at most {limit} are allowed")]
    LongText { column: String, length: usize, limit: usize },
    #[error("column `{column}` has {found} rows; the columns before it have {expected}")]
    Length { column: String, expected: usize, found: usize },
    #[error(
        "there are {columns} columns; the problem has {features} features, in this order: {}",
        listed(known)
    )]
    Width { columns: usize, features: usize, known: Vec<String> },
    #[error("feature `{feature}` has categories; give a table with named columns instead of an array")]
    Unnamed { feature: String },
    #[error(
        "feature `{feature}` has categories, which are neither more nor less; let it change to \"any\", or make it \"fixed\" or ordinal"
    )]
    CategoryDirection { feature: String },
    #[error("there are {people} people; give one, as a dict or a table of one row")]
    NotOne { people: usize },
    #[error("column `{column}`: {why}; leave it out with `columns`, or correct it")]
    Unsuitable { column: String, why: Unsuitable },
    #[error("{people} people and {actions} actions; there must be one for each")]
    Actions { people: usize, actions: usize },
    #[error(
        "`{setting}` has no effect with the method `{method}`, which proves nothing; leave it out, or choose another method"
    )]
    NoEffect { setting: &'static str, method: &'static str },
    #[error("proof {line}: {why}; give what `answers.proofs`, or `surefoot recourse --proofs`, wrote")]
    Proof { line: usize, why: String },
    #[error(
        "proofs were not kept, and with a search they cannot be had afterwards; ask for them with recourse(..., \
         proofs=True)"
    )]
    NoProofs,
    #[error("`{word}` is no {what}; there are {}", listed(known))]
    Word { what: &'static str, word: String, known: Vec<String> },
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Settings that Python calls by other names than the engine.
const RENAMED: [(&str, &str); 6] = [
    ("batch", "batch_size"),
    ("evaluations", "max_evaluations"),
    ("seconds", "max_seconds"),
    ("step", "learning_rate"),
    ("test", "test_fraction"),
    ("validation", "validation_fraction"),
];

/// One of some words.
pub fn choice<T: Clone>(what: &'static str, word: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(name, _)| *name == word);
    let names = || known.iter().map(|(name, _)| (*name).to_owned()).collect();
    Ok(found.ok_or_else(|| Fault::Word { what, word: word.into(), known: names() })?.1.clone())
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let class = match &failure {
            Failure::Engine(error) => class(error),
            Failure::Table(Fault::Word { .. } | Fault::NoEffect { .. } | Fault::NoProofs) => "SettingError",
            Failure::Table(Fault::Proof { .. }) => "FileError",
            Failure::Table(Fault::CategoryDirection { .. } | Fault::Unsuitable { .. }) => "FeatureError",
            Failure::Table(_) => "PeopleError",
            Failure::Python(_) => "Error",
        };
        if let Failure::Python(error) = failure {
            return error;
        }
        let mut message = failure.to_string();
        if ["SettingError", "TrainingError"].contains(&class) {
            for (engine, python) in RENAMED {
                message = message.replace(&format!("`{engine}`"), &format!("`{python}`"));
            }
        }
        Python::attach(|py| raise(py, class, &surefoot::escape_text(&message)))
    }
}

/// An exception of `surefoot.errors`.
pub fn raise(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let made = py.import("surefoot.errors").and_then(|module| module.getattr(class)?.call1((message,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception of each stage; one without an exception of its own is the common one.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Feature(_) => "FeatureError",
        Error::People(_) => "PeopleError",
        Error::CausalModel(_) => "CausalModelError",
        Error::Model(_) => "ClassifierError",
        Error::File(_) => "FileError",
        Error::Rule(_) | Error::Setting(_) | Error::Letter(_) | Error::Audit(_) => "SettingError",
        Error::Training(_) => "TrainingError",
        _ => "Error",
    }
}
