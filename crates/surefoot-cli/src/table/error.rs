//! What can be wrong with a table, with file, row and column.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Everything that can be wrong with a file of rows.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum TableError {
    /// A name that does not say what the file is.
    #[error("{}: not known what kind of table this is; name it .csv, .parquet or .arrow", path.display())]
    Extension { path: PathBuf },
    /// It cannot be opened.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read { path: PathBuf, reason: String },
    /// Nothing is in it.
    #[error("{}: is empty; the first line must name the columns", path.display())]
    Empty { path: PathBuf },
    /// Column names and nothing else.
    #[error("{}: has no rows", path.display())]
    NoRows { path: PathBuf },
    /// A file that breaks off, or is something else.
    #[error("{}: is no whole {kind} file: {reason}", path.display())]
    Malformed { path: PathBuf, kind: &'static str, reason: String },
    /// Two columns of one name.
    #[error("{}: two columns are called `{column}`; rename or remove one", path.display())]
    DuplicateColumn { path: PathBuf, column: String },
    /// A column that is not there.
    #[error("{}: has no column `{column}`; {}", path.display(), suggestion(nearest.as_deref(), known))]
    UnknownColumn { path: PathBuf, column: String, nearest: Option<String>, known: Vec<String> },
    /// A column that holds no numbers.
    #[error("{}, column `{column}`: holds {found} and no numbers", path.display())]
    ColumnType { path: PathBuf, column: String, found: String },
    /// A row that is too short or too long.
    #[error("{}, {place}: has {found} cells; the first line names {expected} columns", path.display())]
    RowLength { path: PathBuf, place: Place, expected: usize, found: usize },
    /// Bytes that are no text.
    #[error("{}, {place}: is not UTF-8; save the file as UTF-8", path.display())]
    Encoding { path: PathBuf, place: Place },
    /// A number that is none.
    #[error("{}, {fault}", path.display())]
    Cell { path: PathBuf, fault: CellFault },
    /// It cannot be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Write { path: PathBuf, reason: String },
}

impl TableError {
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        TableError::Read { path: path.into(), reason: error.to_string() }
    }

    pub(super) fn write(path: &Path, reason: impl ToString) -> Self {
        TableError::Write { path: path.into(), reason: reason.to_string() }
    }
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The line of a text file; that of the column names is 1.
    Line(u64),
    /// The row of another, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// A number that is none.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{place}, column `{column}`: {problem}")]
pub struct CellFault {
    /// The row.
    pub place: Place,
    /// The column.
    pub column: String,
    /// What is there instead.
    pub problem: CellProblem,
}

/// What stands where a number must.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellProblem {
    /// Nothing.
    #[error("no value is given; give one, or leave the row out")]
    Missing,
    /// A text.
    #[error("`{0}` is no number")]
    Text(String),
    /// An infinity.
    #[error("the value is {0}; give a finite number, or leave the row out")]
    NotFinite(f64),
}

fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    if let Some(nearest) = nearest {
        return format!("did you mean `{nearest}`?");
    }
    // A file with another separator looks like one with a single column.
    if let [only] = known
        && only.contains([';', '\t'])
    {
        return format!("it has one, `{only}`: separate columns by commas");
    }
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("there are {}", known.join(", "))
}

/// The name that a misspelt one most likely stands for, if any comes near.
pub fn nearest(name: &str, known: &[String]) -> Option<String> {
    let distance = |known: &&String| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let best = known.iter().min_by_key(distance)?;
    (distance(&best) <= best.chars().count() / 3).then(|| best.clone())
}
