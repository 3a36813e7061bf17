//! Parquet and Arrow files: record batches turned into numbers and texts.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use ndarray::Array2;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::guard::guarded;
use super::{BATCH_ROWS, Batch, CellFault, CellProblem, Place, Result, Selection, TableError};

/// A file whose schema is known.
pub enum Opened {
    Parquet(ParquetRecordBatchReaderBuilder<File>),
    File(FileReader<BufReader<File>>),
    Stream(StreamReader<BufReader<File>>),
}

fn malformed(path: &Path, kind: &'static str, error: &dyn std::error::Error) -> TableError {
    TableError::Malformed { path: path.into(), kind, reason: error.to_string() }
}

impl Opened {
    pub fn parquet(path: &Path, file: File) -> Result<Self> {
        guarded(path, "Parquet", || {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file);
            Ok(Self::Parquet(builder.map_err(|error| malformed(path, "Parquet", &error))?))
        })
    }

    /// A file with its table of contents at the end, or a stream without one.
    pub fn ipc(path: &Path, mut file: File) -> Result<Self> {
        let mut magic = Vec::new();
        let start = file.by_ref().take(6).read_to_end(&mut magic).and_then(|_| file.seek(SeekFrom::Start(0)));
        start.map_err(|error| TableError::read(path, &error))?;
        let file = BufReader::new(file);
        guarded(path, "Arrow", || {
            let opened = if magic == b"ARROW1" {
                FileReader::try_new(file, None).map(Self::File)
            } else {
                StreamReader::try_new(file, None).map(Self::Stream)
            };
            opened.map_err(|error| malformed(path, "Arrow", &error))
        })
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::Parquet(builder) => builder.schema().clone(),
            Self::File(reader) => reader.schema(),
            Self::Stream(reader) => reader.schema(),
        }
    }

    pub fn columns(&self) -> Vec<String> {
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Starts to read the columns asked for.
    pub fn read(self, selection: &Selection) -> Result<Batches> {
        guarded(&selection.path, "Parquet", || self.start(selection))
    }

    fn start(self, selection: &Selection) -> Result<Batches> {
        let schema = self.schema();
        for &column in &selection.numbers {
            let kind = schema.field(column).data_type();
            if !is_numeric(kind) {
                let (path, column) = (selection.path.clone(), selection.columns[column].clone());
                return Err(TableError::ColumnType { path, column, found: in_words(kind) });
            }
        }
        let mut wanted: Vec<usize> = selection.numbers.iter().chain(&selection.texts).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let (kind, source): (_, Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>) = match self {
            Self::Parquet(builder) => {
                let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
                let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build();
                let reader = reader.map_err(|error| malformed(&selection.path, "Parquet", &error))?;
                ("Parquet", Box::new(reader))
            }
            Self::File(reader) => ("Arrow", Box::new(reader)),
            Self::Stream(reader) => ("Arrow", Box::new(reader)),
        };
        Ok(Batches { kind, source, rest: None })
    }
}

/// Batch after batch.
pub struct Batches {
    kind: &'static str,
    source: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
    /// What is left of one that is larger than ours are.
    rest: Option<RecordBatch>,
}

impl Batches {
    pub fn next_batch(&mut self, selection: &Selection, start: usize) -> Result<Option<Batch>> {
        guarded(&selection.path, self.kind, || self.read_batch(selection, start))
    }

    fn read_batch(&mut self, selection: &Selection, start: usize) -> Result<Option<Batch>> {
        let mut record = self.rest.take();
        while record.as_ref().is_none_or(|record| record.num_rows() == 0) {
            match self.source.next() {
                Some(next) => record = Some(next.map_err(|e| malformed(&selection.path, self.kind, &e))?),
                None => return Ok(None),
            }
        }
        let Some(mut record) = record else { return Ok(None) };
        if record.num_rows() > BATCH_ROWS {
            self.rest = Some(record.slice(BATCH_ROWS, record.num_rows() - BATCH_ROWS));
            record = record.slice(0, BATCH_ROWS);
        }
        convert(selection, start, &record).map(Some)
    }
}

fn convert(selection: &Selection, start: usize, record: &RecordBatch) -> Result<Batch> {
    let mut batch = Batch::empty(selection, start);
    let rows = record.num_rows();
    batch.places = (start..start + rows).map(|row| Place::Row(row as u64 + 1)).collect();
    batch.numbers = Array2::from_elem((rows, selection.numbers.len()), f64::NAN);
    let column = |position: usize| {
        let name = &selection.columns[position];
        let absent = || TableError::ColumnType {
            path: selection.path.clone(),
            column: name.clone(),
            found: "nothing".into(),
        };
        record.column_by_name(name).map(|array| (name, array)).ok_or_else(absent)
    };
    for (mut target, &position) in batch.numbers.columns_mut().into_iter().zip(&selection.numbers) {
        let (name, array) = column(position)?;
        for (row, value) in numbers(array).into_iter().enumerate() {
            let problem = match value {
                Some(number) if number.is_finite() => {
                    target[row] = number;
                    continue;
                }
                Some(number) if !number.is_nan() => CellProblem::NotFinite(number),
                _ => CellProblem::Missing,
            };
            batch.faults.push(CellFault { place: batch.places[row], column: name.clone(), problem });
        }
    }
    // In the order of rows, as in a text file.
    batch.faults.sort_by_key(|fault| match fault.place {
        Place::Line(number) | Place::Row(number) => number,
    });
    for (target, &position) in batch.texts.iter_mut().zip(&selection.texts) {
        let (name, array) = column(position)?;
        *target = texts(array).ok_or_else(|| TableError::ColumnType {
            path: selection.path.clone(),
            column: name.clone(),
            found: format!("{} where text is needed", in_words(array.data_type())),
        })?;
    }
    Ok(batch)
}

fn is_numeric(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_numeric(values),
        DataType::Boolean | DataType::Null | DataType::Float32 | DataType::Float64 => true,
        DataType::Decimal128(..) => true,
        other => other.is_integer(),
    }
}

fn in_words(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Dictionary(_, values) => in_words(values),
        other => format!("values of type {other}"),
    }
}

/// The numbers of a column that [`is_numeric`].
fn numbers(array: &dyn Array) -> Vec<Option<f64>> {
    macro_rules! whole {
        ($kind:ty) => {
            array.as_primitive::<$kind>().iter().map(|value| value.map(|value| value as f64)).collect()
        };
    }
    match array.data_type() {
        DataType::Boolean => {
            array.as_boolean().iter().map(|value| value.map(|v| f64::from(u8::from(v)))).collect()
        }
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float32 => whole!(Float32Type),
        DataType::Float64 => whole!(Float64Type),
        DataType::Decimal128(_, scale) => {
            let one = 10f64.powi((*scale).into());
            array.as_primitive::<Decimal128Type>().iter().map(|v| v.map(|v| v as f64 / one)).collect()
        }
        DataType::Dictionary(..) => through_dictionary(array, numbers),
        _ => vec![None; array.len()],
    }
}

/// The texts of a column; numbers as they are written. None if it holds neither.
fn texts(array: &dyn Array) -> Option<Vec<String>> {
    let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(owned).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(owned).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(owned).collect(),
        DataType::Dictionary(_, values) if !is_numeric(values) => {
            let distinct = texts(array.as_any_dictionary().values())?;
            through_dictionary(array, |_| distinct.iter().cloned().map(Some).collect())
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect()
        }
        // As text a whole number has no fraction, whatever its type: exact up to 64 bits.
        DataType::Int64 => array
            .as_primitive::<Int64Type>()
            .iter()
            .map(|v| v.map(|v| v.to_string()).unwrap_or_default())
            .collect(),
        DataType::UInt64 => array
            .as_primitive::<UInt64Type>()
            .iter()
            .map(|v| v.map(|v| v.to_string()).unwrap_or_default())
            .collect(),
        kind if is_numeric(kind) => {
            numbers(array).into_iter().map(|value| value.map(|v| v.to_string()).unwrap_or_default()).collect()
        }
        _ => return None,
    })
}

/// Distinct values once, then by their keys.
fn through_dictionary<T: Clone>(
    array: &dyn Array,
    of: impl Fn(&dyn Array) -> Vec<Option<T>>,
) -> Vec<Option<T>> {
    let dictionary = array.as_any_dictionary();
    let distinct = of(dictionary.values());
    if distinct.is_empty() {
        return vec![None; array.len()];
    }
    let keys = dictionary.normalized_keys();
    keys.into_iter()
        .enumerate()
        .map(|(row, key)| if array.is_null(row) { None } else { distinct[key].clone() })
        .collect()
}
