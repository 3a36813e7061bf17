//! What can be wrong with a table, with file, row and column.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use surefoot::error::CategoryProblem;
use surefoot::escape_line;
use thiserror::Error;

use super::Result;
use super::limits::{CELL_VARIABLE, MEMORY_VARIABLE};

/// Everything that can be wrong with a file of rows.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum TableError {
    /// A name that does not say what the file is.
    #[error("{}: its name does not show what kind of table it is; name it .csv, .parquet or .arrow", path.display())]
    Extension { path: PathBuf },
    /// It cannot be opened.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read { path: PathBuf, reason: String },
    /// Nothing is in it.
    #[error("{}: is empty; the first line must name the columns", path.display())]
    Empty { path: PathBuf },
    /// Column names and nothing else.
    #[error("{}: has no rows; this command needs at least one", path.display())]
    NoRows { path: PathBuf },
    /// A file that breaks off, or is something else.
    #[error("{}: is not a complete {kind} file: {reason}", path.display())]
    Malformed { path: PathBuf, kind: &'static str, reason: String },
    /// Two columns of one name.
    #[error("{}: two columns are called `{}`; rename or remove one", path.display(), escape_line(column))]
    DuplicateColumn { path: PathBuf, column: String },
    /// A column that is not there.
    #[error("{}: has no column `{}`; {}", path.display(), escape_line(column), suggestion(nearest.as_deref(), known))]
    UnknownColumn { path: PathBuf, column: String, nearest: Option<String>, known: Vec<String> },
    /// A column that holds no numbers.
    #[error("{}, column `{}`: holds {found} instead of numbers", path.display(), escape_line(column))]
    ColumnType { path: PathBuf, column: String, found: String },
    /// A row that is too short or too long.
    #[error("{}, {place}: has {found} cells; the first line names {expected} columns", path.display())]
    RowLength { path: PathBuf, place: Place, expected: usize, found: usize },
    /// A quoted cell that does not end.
    #[error("{}, {place}: a quote (\") opens a cell and is never closed; close it, and write quotes inside a cell twice", path.display())]
    OpenQuote { path: PathBuf, place: Place },
    /// Bytes that are no text.
    #[error("{}, {place}: is not UTF-8; save the file as UTF-8", path.display())]
    Encoding { path: PathBuf, place: Place },
    /// A number that is none.
    #[error("{}, {fault}", path.display())]
    Cell { path: PathBuf, fault: CellFault },
    /// A table that would take too much memory.
    #[error(
        "{}: {what} would take {} of memory; at most {} are allowed. Write the table in smaller batches, or set \
         {} to as many megabytes as it may take",
        path.display(), in_units(*needed), in_units(*limit), MEMORY_VARIABLE
    )]
    Memory { path: PathBuf, what: String, needed: u64, limit: u64 },
    /// A text that is too long to be copied for every row.
    #[error(
        "{}, {place}, column `{}`: the text has {length} bytes; at most {limit} are allowed. Shorten it, or \
         set {} to as many bytes as it may have",
        path.display(), escape_line(column), CELL_VARIABLE
    )]
    LongText { path: PathBuf, place: Place, column: String, length: usize, limit: usize },
    /// A limit in the environment that is no number.
    #[error("{variable} is `{value}`; set it to a whole number that is more than 0, or unset it")]
    Setting { variable: &'static str, value: String },
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

/// The error for a file that is not what its name says.
pub(super) fn malformed(path: &Path, kind: &'static str, reason: &dyn fmt::Display) -> TableError {
    TableError::Malformed { path: path.into(), kind, reason: reason.to_string() }
}

/// Refuses what takes more memory than is allowed.
pub(super) fn within(path: &Path, what: &str, needed: u64, limit: u64) -> Result<()> {
    match needed <= limit {
        true => Ok(()),
        false => Err(TableError::Memory { path: path.into(), what: what.into(), needed, limit }),
    }
}

/// Bytes in the unit that people would use.
fn in_units(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes / 1024),
        1_048_576..1_073_741_824 => format!("{} MB", bytes / 1_048_576),
        _ => format!("{:.1} GB", bytes as f64 / 1_073_741_824.0),
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
#[error("{place}, column `{}`: {problem}", escape_line(column))]
pub struct CellFault {
    /// The row.
    pub place: Place,
    /// The column.
    pub column: String,
    /// What is there instead.
    pub problem: CellProblem,
}

/// What stands where a number, or a category, must.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellProblem {
    /// Nothing.
    #[error("no value is given; give one, or leave the row out")]
    Missing,
    /// A text.
    #[error("`{}` is not a number; write a number, or leave the row out", escape_line(.0))]
    Text(String),
    /// NaN, as it is written in the table.
    #[error("the cell holds `{0}`, which is not a number; write a number, or leave the row out")]
    NotANumber(String),
    /// An infinity.
    #[error("the value is {0}; give a finite number, or leave the row out")]
    NotFinite(f64),
    /// A text where one of several must stand.
    #[error("{}", escape_line(&.0.to_string()))]
    Category(Box<CategoryProblem>),
}

/// Names of columns that a message lists.
const MAX_NAMES: usize = 50;

fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    if let Some(nearest) = nearest {
        return format!("did you mean `{}`?", escape_line(nearest));
    }
    // A file with another separator looks like one with a single column.
    if let [only] = known
        && only.contains([';', '\t'])
    {
        return format!("it has one, `{}`: separate columns by commas", escape_line(only));
    }
    let shown: Vec<String> =
        known.iter().take(MAX_NAMES).map(|name| format!("`{}`", escape_line(name))).collect();
    match known.len() - shown.len() {
        0 => format!("there are {}", shown.join(", ")),
        more => format!("there are {} and {more} more", shown.join(", ")),
    }
}

/// The name that a misspelt one most likely stands for, if any comes near.
pub fn nearest(name: &str, known: &[String]) -> Option<String> {
    let distance = |known: &&String| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let best = known.iter().min_by_key(distance)?;
    (distance(&best) <= best.chars().count() / 3).then(|| best.clone())
}
