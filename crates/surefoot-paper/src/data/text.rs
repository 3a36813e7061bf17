//! Text files with one person per line.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Terminator, Trim};

use super::{DataError, Result};

/// A text file whose lines are people and whose columns have names.
pub(super) struct Text {
    path: PathBuf,
    columns: Vec<String>,
    reader: Reader<File>,
}

/// One line.
pub(super) struct Line<'a> {
    path: &'a Path,
    columns: &'a [String],
    cells: &'a StringRecord,
}

impl Text {
    /// Opens a file whose first line names the columns.
    pub fn open(path: &Path, separator: u8) -> Result<Self> {
        let mut text = Self::start(path, separator, true)?;
        let names = text.reader.headers().map_err(|error| refuse(path, error))?;
        text.columns = names.iter().map(str::to_owned).collect();
        Ok(text)
    }

    /// Opens a file without column names.
    pub fn open_without_names(path: &Path, separator: u8, columns: &[&str]) -> Result<Self> {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Ok(Self { columns, ..Self::start(path, separator, false)? })
    }

    fn start(path: &Path, separator: u8, names: bool) -> Result<Self> {
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(names)
            // Lines may end with a carriage return, which is trimmed, so that they are counted correctly.
            .terminator(Terminator::Any(b'\n'))
            .trim(Trim::All)
            .from_path(path)
            .map_err(|error| refuse(path, error))?;
        Ok(Self { path: path.into(), columns: Vec::new(), reader })
    }

    /// The positions of columns by name; the first of several columns with the same name.
    pub fn positions<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N]> {
        let mut positions = [0; N];
        for (position, name) in positions.iter_mut().zip(names) {
            let found = self.columns.iter().position(|column| column == name);
            let missing = || DataError::Column { path: self.path.clone(), column: name.into() };
            *position = found.ok_or_else(missing)?;
        }
        Ok(positions)
    }

    /// Calls a function for each line.
    pub fn each(mut self, mut line: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        let mut cells = StringRecord::new();
        while self.reader.read_record(&mut cells).map_err(|error| refuse(&self.path, error))? {
            let (found, expected) = (cells.len(), self.columns.len());
            let this = Line { path: &self.path, columns: &self.columns, cells: &cells };
            if found != expected {
                return Err(DataError::LineLength {
                    path: self.path.clone(),
                    line: this.number_in_file(),
                    expected: expected as u64,
                    found: found as u64,
                });
            }
            line(&this)?;
        }
        Ok(())
    }
}

impl Line<'_> {
    /// The number of the line in the file, counted from 1.
    fn number_in_file(&self) -> u64 {
        self.cells.position().map_or(0, csv::Position::line)
    }

    /// The text of a cell.
    pub fn text(&self, column: usize) -> &str {
        &self.cells[column]
    }

    /// A cell that must be a finite number.
    pub fn number(&self, column: usize) -> Result<f64> {
        let number = self.text(column).parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.unlike(column, "a number"))
    }

    /// Whether a cell has the first of two texts; an error if it has neither.
    pub fn either(&self, column: usize, [yes, no]: [&str; 2], expected: &'static str) -> Result<bool> {
        match self.text(column) {
            text if text == yes => Ok(true),
            text if text == no => Ok(false),
            _ => Err(self.unlike(column, expected)),
        }
    }

    /// The error of an unexpected cell.
    pub fn unlike(&self, column: usize, expected: &'static str) -> DataError {
        DataError::Cell {
            path: self.path.into(),
            line: self.number_in_file(),
            column: self.columns[column].clone(),
            found: self.text(column).into(),
            expected,
        }
    }
}

fn refuse(path: &Path, error: csv::Error) -> DataError {
    let text = error.to_string();
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(source) => DataError::read(path, source),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            DataError::LineLength { path: path.into(), line, expected: expected_len, found: len }
        }
        ErrorKind::Utf8 { .. } => DataError::Encoding { path: path.into(), line },
        _ => DataError::read(path, std::io::Error::other(text)),
    }
}
