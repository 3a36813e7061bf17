//! Writing tables, atomically.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use surefoot::file::{AtomicFile, Audience};
use surefoot::report::{self, ColumnType, Heading};

use super::{Format, Result, TableError};

/// Rows of a Parquet file that are packed together.
const ROW_GROUP: usize = 1 << 16;

/// What a column of an output holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Numbers.
    Number,
    /// Text.
    Text,
    /// True or false.
    Truth,
}

/// Some values of one column; none where there is nothing to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Text.
    Texts(Vec<Option<String>>),
    /// True or false.
    Truths(Vec<Option<bool>>),
}

impl From<report::Values> for Values {
    fn from(values: report::Values) -> Self {
        match values {
            report::Values::Number(values) => Values::Numbers(values),
            report::Values::Text(values) => Values::Texts(values),
            report::Values::Boolean(values) => Values::Truths(values),
        }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Texts(values) => values.len(),
            Values::Truths(values) => values.len(),
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Values::Numbers(values) => Arc::new(Float64Array::from_iter(values.iter().copied())),
            Values::Texts(values) => Arc::new(StringArray::from_iter(values.iter().map(Option::as_deref))),
            Values::Truths(values) => Arc::new(BooleanArray::from_iter(values.iter().copied())),
        }
    }

    /// The texts of the column, if it has texts.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let texts: &[Option<String>] = if let Values::Texts(values) = self { values } else { &[] };
        texts.iter().filter_map(Option::as_deref)
    }

    /// Adds one value to a text, as it stands in a CSV file.
    fn write_cell(&self, row: usize, text: &mut String) {
        // A text takes everything that is written to it.
        let _ = match self {
            Values::Numbers(values) => values[row].map_or(Ok(()), |value| write!(text, "{value}")),
            Values::Texts(values) => text.write_str(values[row].as_deref().unwrap_or_default()),
            Values::Truths(values) => values[row].map_or(Ok(()), |value| write!(text, "{value}")),
        };
    }
}

/// Writes a table batch by batch. Until [`Writer::finish`] it stands under another name in
/// the same folder, so that half a table is never taken for a whole one; dropped before
/// that, it is removed. Tables hold personal data: a new one is for its owner alone.
pub struct Writer {
    path: PathBuf,
    file: AtomicFile,
    schema: SchemaRef,
    /// None once it is finished.
    target: Option<Target>,
    /// The first text of a CSV file that a spreadsheet would take for a formula.
    formula: Option<String>,
}

enum Target {
    Csv(Box<csv::Writer<BufWriter<File>>>),
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
}

impl Writer {
    /// Whether the end of a name says which kind of file to write; an error if not.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        Format::of(path.as_ref()).map(|_| ())
    }

    /// Starts a file of the kind that the end of its name says.
    pub fn create<S: AsRef<str>>(path: impl AsRef<Path>, columns: &[(S, Column)]) -> Result<Self> {
        let path = path.as_ref();
        let format = Format::of(path)?;
        let field = |(name, column): &(S, Column)| {
            let kind = match column {
                Column::Number => DataType::Float64,
                Column::Text => DataType::Utf8,
                Column::Truth => DataType::Boolean,
            };
            Field::new(name.as_ref(), kind, true)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<Field>>()));
        if path.is_dir() {
            return Err(TableError::write(path, "it is a folder"));
        }
        let created = AtomicFile::create(path, Audience::Owner).and_then(|file| Ok((file.writer()?, file)));
        let (content, file) = created.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => TableError::write(path, "its folder does not exist"),
            _ => TableError::write(path, error),
        })?;
        let mut writer = Self { path: path.into(), file, schema, target: None, formula: None };
        writer.target = Some(writer.start(format, content)?);
        Ok(writer)
    }

    /// Starts a file with the columns of one of the engine's tables.
    pub fn create_report(path: impl AsRef<Path>, headings: &[Heading]) -> Result<Self> {
        let column = |heading: &Heading| match heading.holds {
            ColumnType::Number | ColumnType::OwnValue => Column::Number,
            ColumnType::Text => Column::Text,
            ColumnType::Boolean => Column::Truth,
        };
        let columns: Vec<(&str, Column)> =
            headings.iter().map(|heading| (heading.name.as_str(), column(heading))).collect();
        Self::create(path, &columns)
    }

    /// Adds rows of one of the engine's tables.
    pub fn write_report(&mut self, columns: Vec<report::Values>) -> Result<()> {
        self.write(&columns.into_iter().map(Values::from).collect::<Vec<Values>>())
    }

    /// The first text of a CSV file, if there is one, that a spreadsheet would take for a formula.
    pub fn formula(&self) -> Option<&str> {
        self.formula.as_deref()
    }

    fn start(&self, format: Format, file: File) -> Result<Target> {
        Ok(match format {
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(BufWriter::new(file));
                let names = self.schema.fields().iter().map(|field| field.name());
                csv.write_record(names).map_err(|error| self.fault(error))?;
                Target::Csv(Box::new(csv))
            }
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_max_row_group_row_count(Some(ROW_GROUP))
                    .build();
                let writer = ArrowWriter::try_new(file, self.schema.clone(), Some(properties));
                Target::Parquet(Box::new(writer.map_err(|error| self.fault(error))?))
            }
            Format::Arrow => {
                let writer = FileWriter::try_new(BufWriter::new(file), &self.schema);
                Target::Arrow(Box::new(writer.map_err(|error| self.fault(error))?))
            }
        })
    }

    /// Adds rows: the values of each column, in the order of the columns.
    pub fn write(&mut self, columns: &[Values]) -> Result<()> {
        let rows = columns.first().map_or(0, Values::len);
        if columns.len() != self.schema.fields().len() || columns.iter().any(|values| values.len() != rows) {
            return Err(self.fault("the rows do not have the columns that were announced"));
        }
        if matches!(self.target, Some(Target::Csv(_))) && self.formula.is_none() {
            let names = self.schema.fields().iter().map(|field| field.name().as_str());
            let texts = columns.iter().flat_map(Values::texts);
            self.formula = names.chain(texts).find(|text| is_formula(text)).map(str::to_owned);
        }
        let written = match &mut self.target {
            Some(Target::Csv(csv)) => write_rows(csv, columns, rows).map_err(|error| error.to_string()),
            Some(Target::Parquet(writer)) => record(&self.schema, columns)
                .and_then(|record| writer.write(&record).map_err(|error| error.to_string())),
            Some(Target::Arrow(writer)) => record(&self.schema, columns)
                .and_then(|record| writer.write(&record).map_err(|error| error.to_string())),
            None => Err("it is finished".into()),
        };
        written.map_err(|error| self.fault(error))
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<()> {
        let completed = match self.target.take() {
            Some(Target::Csv(csv)) => csv
                .into_inner()
                .map_err(|error| error.error().to_string())
                .and_then(|mut file| file.flush().map_err(|error| error.to_string())),
            Some(Target::Parquet(writer)) => writer.close().map(|_| ()).map_err(|error| error.to_string()),
            Some(Target::Arrow(mut writer)) => writer
                .finish()
                .map_err(|error| error.to_string())
                .and_then(|()| writer.get_mut().flush().map_err(|error| error.to_string())),
            None => Ok(()),
        };
        completed.map_err(|error| self.fault(error))?;
        let Self { path, file, .. } = self;
        file.commit().map_err(|error| TableError::write(&path, error))
    }

    fn fault(&self, reason: impl ToString) -> TableError {
        TableError::write(&self.path, reason)
    }
}

/// Writes rows cell by cell, with one text for all cells: to make one for each takes a tenth of the time of a
/// linear problem.
fn write_rows(csv: &mut csv::Writer<impl io::Write>, columns: &[Values], rows: usize) -> csv::Result<()> {
    let mut text = String::new();
    for row in 0..rows {
        for values in columns {
            text.clear();
            values.write_cell(row, &mut text);
            csv.write_field(&text)?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// Whether a spreadsheet would calculate this text instead of showing it. A number is a number to it.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err()
}

fn record(schema: &SchemaRef, columns: &[Values]) -> std::result::Result<RecordBatch, String> {
    let arrays = columns.iter().map(Values::array).collect();
    RecordBatch::try_new(schema.clone(), arrays).map_err(|error| error.to_string())
}
