//! What is wrong with a problem file: every mistake, with its place and its remedy.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::{Error, quoted};

/// Everything that is wrong with one problem file.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistakes {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, from top to bottom; never empty.
    pub mistakes: Vec<Mistake>,
}

/// One thing that is wrong with a problem file.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// The line, counted from 1; JSON files have none unless they are no JSON at all.
    pub line: Option<usize>,
    /// The entry, for example ``feature `income` ``; none at the top of the file.
    pub entry: Option<String>,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum Fault {
    /// No TOML or JSON.
    #[error("{0}")]
    Syntax(String),
    /// A field that does not exist.
    #[error("unknown field `{field}`; {}", suggestion(nearest.as_deref(), known))]
    UnknownField { field: String, nearest: Option<String>, known: Vec<String> },
    /// A field of the top of the file that follows the heading of an entry.
    #[error("`{field}` belongs at the top of the file; move it above the first heading such as [[feature]]")]
    Misplaced { field: String },
    /// A field that must be there.
    #[error("`{field}` is missing; {remedy}")]
    MissingField { field: &'static str, remedy: &'static str },
    /// A field of JSON that is there twice.
    #[error("`{field}` is given twice; remove one")]
    RepeatedField { field: String },
    /// A field that holds something else.
    #[error("`{field}` is {found}; it must be {expected}")]
    Type { field: String, expected: &'static str, found: String },
    /// A word that means nothing here.
    #[error("`{field}` is \"{found}\"; {}", suggestion(nearest.as_deref(), known))]
    Choice { field: &'static str, found: String, nearest: Option<String>, known: Vec<String> },
    /// Fields that exclude each other.
    #[error("{} cannot stand together; keep one", quoted(fields))]
    Together { fields: Vec<String> },
    /// Values that make no sense.
    #[error(transparent)]
    Meaning(Box<Error>),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Meaning(Box::new(error))
    }
}

/// The nearest name, or all of them.
pub(super) fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("there are {}", quoted(known)),
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = self.fault.to_string();
        // Many faults name the entry themselves.
        let entry = self.entry.as_ref().filter(|entry| !fault.starts_with(entry.as_str()));
        match (self.line, entry) {
            (Some(line), Some(entry)) => write!(f, "line {line}, {entry}: ")?,
            (Some(line), None) if self.entry.is_some() => write!(f, "line {line}, ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, Some(entry)) => write!(f, "{entry}: ")?,
            (None, None) => {}
        }
        f.write_str(&fault)
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes.len() {
            1 => write!(f, "{}: one mistake", self.path.display())?,
            count => write!(f, "{}: {count} mistakes", self.path.display())?,
        }
        for mistake in &self.mistakes {
            let text = mistake.to_string();
            write!(f, "\n  {}", text.trim_end().replace('\n', "\n    "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::nearest;

    #[test]
    fn misspelt_names_are_guessed_and_foreign_ones_are_not() {
        let known = ["name", "mean", "change", "coefficients"];
        assert_eq!(nearest("chnage", &known).as_deref(), Some("change"));
        assert_eq!(nearest("Mean", &known).as_deref(), Some("mean"));
        assert_eq!(nearest("coeficient", &known).as_deref(), Some("coefficients"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(nearest("l3", &["l1", "l2"]), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn a_mistake_says_where_what_and_what_to_do() {
        let known = vec!["change".to_owned()];
        let fault = Fault::UnknownField { field: "chnage".into(), nearest: Some("change".into()), known };
        let entry = Some("feature `income`".to_owned());
        let mistake = Mistake { line: Some(7), entry, fault };
        let text = "line 7, feature `income`: unknown field `chnage`; did you mean `change`?";
        assert_eq!(mistake.to_string(), text);
        let all = Mistakes { path: "problem.toml".into(), mistakes: vec![mistake] };
        assert_eq!(all.to_string(), format!("problem.toml: one mistake\n  {text}"));
    }
}
