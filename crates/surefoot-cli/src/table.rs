//! Tables in files: CSV, Parquet and Arrow, read and written in batches.
//!
//! A table is read a few thousand rows at a time, so that memory does not grow with the file.
//! CSV is read with the `csv` crate and not with Arrow's reader: the latter guesses types from
//! the first rows and names neither column nor line where a value does not fit; here the
//! caller says which columns are numbers, and only those are parsed.

mod arrow;
mod csv;
mod contents;
mod error;
mod guard;
mod input;
mod ipc;
mod limits;
mod parquet;
mod people;
mod thrift;
mod write;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ndarray::{Array2, Axis, concatenate};

use input::Input;
use people::{category_columns, place_categories, without_allowed_gaps};
use surefoot::Features;

pub use error::{CellFault, CellProblem, Place, TableError, nearest};
pub use limits::Limits;
pub use write::{Column, Values, Writer};

/// Rows that are held in memory at a time.
pub const BATCH_ROWS: usize = 8192;

/// Cells that are held in memory at a time: a batch of a table with many columns has fewer rows.
const BATCH_CELLS: usize = 512 * BATCH_ROWS;

/// The number of rows that are held in memory at a time, given the number of columns that are read.
fn batch_rows(columns: usize) -> usize {
    (BATCH_CELLS / columns.max(1)).clamp(1, BATCH_ROWS)
}

/// A result of this module.
pub type Result<T, E = TableError> = std::result::Result<T, E>;

/// The kinds of file, by the end of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Parquet,
    Arrow,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Format::Csv),
            Some("parquet" | "pq") => Ok(Format::Parquet),
            Some("arrow" | "arrows" | "feather" | "ipc") => Ok(Format::Arrow),
            _ => Err(TableError::Extension { path: path.into() }),
        }
    }
}

/// A file whose columns are known and of which nothing else has been read.
pub struct Table {
    path: PathBuf,
    columns: Vec<String>,
    source: Source,
    limits: Limits,
}

enum Source {
    Csv(csv::Csv),
    Arrow(arrow::Opened),
}

impl Table {
    /// Opens a file and reads the names of its columns. The environment sets the limits.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = surefoot::file::open(path);
        // A pipe such as `/dev/stdin` has no ending, but that is not what is wrong with it.
        if let (true, Err(error)) = (surefoot::file::is_special(path), &opened) {
            return Err(TableError::read(path, error));
        }
        let format = Format::of(path)?;
        let limits = Limits::from_environment()?;
        let file = opened.map_err(|error| TableError::read(path, &error))?;
        let length = file.metadata().map_err(|error| TableError::read(path, &error))?;
        if length.is_file() && length.len() == 0 {
            return Err(TableError::Empty { path: path.into() });
        }
        Self::read(path, format, Input::File(file), limits)
    }

    /// A table in memory. The end of `name` says which kind it is; messages name it.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>, limits: Limits) -> Result<Self> {
        let name = name.as_ref();
        let format = Format::of(name)?;
        if bytes.is_empty() {
            return Err(TableError::Empty { path: name.into() });
        }
        Self::read(name, format, Input::bytes(bytes), limits)
    }

    fn read(path: &Path, format: Format, input: Input, limits: Limits) -> Result<Self> {
        let source = match format {
            Format::Csv => Source::Csv(csv::Csv::open(path, input)?),
            Format::Parquet => Source::Arrow(arrow::Opened::parquet(path, input, &limits)?),
            Format::Arrow => Source::Arrow(arrow::Opened::ipc(path, input, &limits)?),
        };
        let columns = match &source {
            Source::Csv(csv) => csv.columns(),
            Source::Arrow(opened) => opened.columns(),
        };
        let mut seen = HashSet::with_capacity(columns.len());
        if let Some(column) = columns.iter().find(|column| !seen.insert(column.as_str())) {
            return Err(TableError::DuplicateColumn { path: path.into(), column: column.clone() });
        }
        Ok(Self { path: path.into(), columns, source, limits })
    }

    /// The names of all columns, in the order of the file.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Reads some columns as numbers and others as text, each in the order given here.
    pub fn select<S: AsRef<str>>(self, numbers: &[S], texts: &[S]) -> Result<Reader> {
        let positions: HashMap<&str, usize> =
            self.columns.iter().enumerate().map(|(position, name)| (name.as_str(), position)).collect();
        let position = |name: &S| {
            let name = name.as_ref();
            positions.get(name).copied().ok_or_else(|| TableError::UnknownColumn {
                path: self.path.clone(),
                column: name.into(),
                nearest: error::nearest(name, &self.columns),
                known: self.columns.clone(),
            })
        };
        let numbers = numbers.iter().map(position).collect::<Result<Vec<usize>>>()?;
        let texts = texts.iter().map(position).collect::<Result<Vec<usize>>>()?;
        let selection = Selection { path: self.path, columns: self.columns, numbers, texts };
        let rows = match self.source {
            Source::Csv(csv) => Rows::Csv(csv, self.limits.cell),
            Source::Arrow(opened) => Rows::Arrow(opened.read(&selection, &self.limits)?),
        };
        Ok(Reader { selection, rows, start: 0, is_over: false, people: None })
    }
}

/// Which columns are read, by position.
struct Selection {
    path: PathBuf,
    columns: Vec<String>,
    numbers: Vec<usize>,
    texts: Vec<usize>,
}

impl Selection {
    /// The error for a column that holds something else than is asked for.
    fn wrong_type(&self, column: usize, found: String) -> TableError {
        TableError::ColumnType { path: self.path.clone(), column: self.columns[column].clone(), found }
    }

    /// Refuses a text that is longer than `limit`.
    fn check_cell(&self, column: usize, place: Place, length: usize, limit: usize) -> Result<()> {
        if length <= limit {
            return Ok(());
        }
        let (path, column) = (self.path.clone(), self.columns[column].clone());
        Err(TableError::LongText { path, place, column, length, limit })
    }
}

enum Rows {
    /// With the bytes that a text may have.
    Csv(csv::Csv, usize),
    Arrow(arrow::Batches),
}

/// Some rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// How many rows came before.
    pub start: usize,
    /// One row each; columns in the order asked for.
    pub numbers: Array2<f64>,
    /// One list for each text column asked for; empty where nothing is given.
    pub texts: Vec<Vec<String>>,
    /// Where each row stands in the file.
    pub places: Vec<Place>,
    /// Numbers that are none; NaN stands in their place, and in that of a value that may be missing.
    pub faults: Vec<CellFault>,
}

impl Batch {
    fn empty(selection: &Selection, start: usize) -> Self {
        Self {
            start,
            numbers: Array2::zeros((0, selection.numbers.len())),
            texts: vec![Vec::new(); selection.texts.len()],
            places: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// How many rows there are; never zero.
    #[expect(clippy::len_without_is_empty, reason = "there is always a row")]
    pub fn len(&self) -> usize {
        self.numbers.nrows()
    }
}

/// Reads batch after batch. As an iterator it stops with an error at the first number that is
/// none; [`Reader::next_batch`] goes on.
pub struct Reader {
    selection: Selection,
    rows: Rows,
    start: usize,
    is_over: bool,
    /// The features whose categories are among the texts; none: every text is given as it is.
    people: Option<Features>,
}

impl Reader {
    /// The next rows, with their faults; none at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        if self.is_over {
            return Ok(None);
        }
        let batch = match &mut self.rows {
            Rows::Csv(csv, max_cell) => csv.next_batch(&self.selection, self.start, *max_cell),
            Rows::Arrow(batches) => batches.next_batch(&self.selection, self.start),
        };
        match &batch {
            Ok(Some(batch)) => self.start += batch.len(),
            _ => self.is_over = true,
        }
        let placed = |batch| match &self.people {
            Some(features) => place_categories(without_allowed_gaps(batch, features), features),
            None => batch,
        };
        batch.map(|batch| batch.map(placed))
    }

    /// The whole table at once, for training; an error if it has no rows or a number is none.
    pub fn read_all(self) -> Result<Batch> {
        let path = self.selection.path.clone();
        let mut whole = Batch::empty(&self.selection, 0);
        whole.texts.truncate(whole.texts.len() - self.people.as_ref().map_or(0, category_columns));
        let mut numbers = Vec::new();
        for batch in self {
            let batch = batch?;
            numbers.push(batch.numbers);
            whole.places.extend(batch.places);
            whole.texts.iter_mut().zip(batch.texts).for_each(|(all, more)| all.extend(more));
        }
        let views: Vec<_> = numbers.iter().map(|numbers| numbers.view()).collect();
        match concatenate(Axis(0), &views) {
            Ok(numbers) if numbers.nrows() > 0 => Ok(Batch { numbers, ..whole }),
            _ => Err(TableError::NoRows { path }),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_batch() {
            Ok(Some(batch)) => match batch.faults.first() {
                Some(fault) => {
                    self.is_over = true;
                    let path = self.selection.path.clone();
                    Some(Err(TableError::Cell { path, fault: fault.clone() }))
                }
                None => Some(Ok(batch)),
            },
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// Whether a cell states nothing.
pub fn is_nothing(cell: &str) -> bool {
    matches!(cell.trim(), "" | "NA" | "N/A" | "null" | "NULL" | "None")
}

/// What a cell of a CSV file, or a text, means as a number.
pub fn parse_number(cell: &str) -> std::result::Result<f64, CellProblem> {
    match cell.trim() {
        cell if is_nothing(cell) => Err(CellProblem::Missing),
        "true" | "True" | "TRUE" => Ok(1.0),
        "false" | "False" | "FALSE" => Ok(0.0),
        text => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number) if number.is_nan() => Err(CellProblem::NotANumber(text.into())),
            Ok(number) => Err(CellProblem::NotFinite(number)),
            Err(_) => Err(CellProblem::Text(shortened(text))),
        },
    }
}

/// As much of a cell as a message needs.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
