//! Parquet and Arrow files: record batches turned into numbers and texts.

use std::borrow::Cow;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use ndarray::Array2;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::guard::catch_reader_panics;
use super::input::Input;
use super::ipc::Ipc;
use super::limits::Limits;
use super::parquet::Parquet;
use super::{Batch, CellFault, CellProblem, Place, Result, Selection, batch_rows, error};

/// A file whose schema is known.
pub enum Opened {
    Parquet(Box<Parquet>),
    Ipc(Box<Ipc>),
}

impl Opened {
    pub fn parquet(path: &Path, input: Input, limits: &Limits) -> Result<Self> {
        catch_reader_panics(path, "Parquet", || {
            Ok(Self::Parquet(Box::new(Parquet::open(path, input, limits)?)))
        })
    }

    pub fn ipc(path: &Path, input: Input, limits: &Limits) -> Result<Self> {
        catch_reader_panics(path, "Arrow", || Ok(Self::Ipc(Box::new(Ipc::open(path, input, *limits)?))))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Parquet(_) => "Parquet",
            Self::Ipc(_) => "Arrow",
        }
    }

    fn schema(&self) -> &Schema {
        match self {
            Self::Parquet(parquet) => parquet.schema(),
            Self::Ipc(ipc) => ipc.schema(),
        }
    }

    pub fn columns(&self) -> Vec<String> {
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Starts to read the columns asked for.
    pub fn read(self, selection: &Selection, limits: &Limits) -> Result<Batches> {
        catch_reader_panics(&selection.path, self.kind(), || self.start(selection, limits))
    }

    fn start(self, selection: &Selection, limits: &Limits) -> Result<Batches> {
        let schema = self.schema();
        for &column in &selection.numbers {
            let kind = schema.field(column).data_type();
            if !is_numeric(kind) {
                return Err(selection.wrong_type(column, in_words(kind)));
            }
        }
        for &column in &selection.texts {
            let kind = schema.field(column).data_type();
            if !is_textual(kind) {
                return Err(selection.wrong_type(column, format!("{} where text is needed", in_words(kind))));
            }
        }
        let mut wanted: Vec<usize> = selection.numbers.iter().chain(&selection.texts).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let kind = self.kind();
        let source = match self {
            Self::Parquet(parquet) => Source::Parquet(Box::new(parquet.read(selection, &wanted, limits)?)),
            Self::Ipc(ipc) => Source::Ipc(ipc),
        };
        Ok(Batches { kind, source, wanted, rest: None, max_cell: limits.cell })
    }
}

enum Source {
    Parquet(Box<ParquetRecordBatchReader>),
    Ipc(Box<Ipc>),
}

/// Batch after batch.
pub struct Batches {
    kind: &'static str,
    source: Source,
    /// The columns that are read, in ascending order.
    wanted: Vec<usize>,
    /// The rest of a batch of the file that is larger than the batches of this reader.
    rest: Option<Record>,
    max_cell: usize,
}

/// A record batch, with the columns that are read alone or with all.
struct Record {
    batch: RecordBatch,
    is_projected: bool,
}

impl Batches {
    pub fn next_batch(&mut self, selection: &Selection, start: usize) -> Result<Option<Batch>> {
        catch_reader_panics(&selection.path, self.kind, || self.read_batch(selection, start))
    }

    fn read_batch(&mut self, selection: &Selection, start: usize) -> Result<Option<Batch>> {
        let mut record = self.rest.take();
        while record.as_ref().is_none_or(|record| record.batch.num_rows() == 0) {
            record = match &mut self.source {
                Source::Parquet(reader) => reader
                    .next()
                    .transpose()
                    .map_err(|error| error::malformed(&selection.path, self.kind, &error))?
                    .map(|batch| Record { batch, is_projected: true }),
                Source::Ipc(ipc) => ipc
                    .next_batch(&selection.path, &self.wanted)?
                    .map(|(batch, is_projected)| Record { batch, is_projected }),
            };
            if record.is_none() {
                return Ok(None);
            }
        }
        let Some(mut record) = record else { return Ok(None) };
        let (rows, most) = (record.batch.num_rows(), batch_rows(self.wanted.len()));
        if rows > most {
            let rest = record.batch.slice(most, rows - most);
            self.rest = Some(Record { batch: rest, is_projected: record.is_projected });
            record.batch = record.batch.slice(0, most);
        }
        self.convert(selection, start, &record).map(Some)
    }

    fn convert(&self, selection: &Selection, start: usize, record: &Record) -> Result<Batch> {
        let mut batch = Batch::empty(selection, start);
        let rows = record.batch.num_rows();
        batch.places = (start..start + rows).map(|row| Place::Row(row as u64 + 1)).collect();
        batch.numbers = Array2::from_elem((rows, selection.numbers.len()), f64::NAN);
        let column = |position: usize| {
            let index = match record.is_projected {
                true => self.wanted.binary_search(&position).ok(),
                false => Some(position),
            };
            let array = index.and_then(|index| record.batch.columns().get(index));
            array.ok_or_else(|| selection.wrong_type(position, "nothing".into()))
        };
        for (mut target, &position) in batch.numbers.columns_mut().into_iter().zip(&selection.numbers) {
            for (row, value) in numbers(column(position)?).into_iter().enumerate() {
                let problem = match value {
                    Some(number) if number.is_finite() => {
                        target[row] = number;
                        continue;
                    }
                    Some(number) if number.is_nan() => CellProblem::NotANumber("NaN".into()),
                    Some(number) => CellProblem::NotFinite(number),
                    None => CellProblem::Missing,
                };
                let (place, column) = (batch.places[row], selection.columns[position].clone());
                batch.faults.push(CellFault { place, column, problem });
            }
        }
        // In the order of rows, as in a text file.
        batch.faults.sort_by_key(|fault| match fault.place {
            Place::Line(number) | Place::Row(number) => number,
        });
        for (target, &position) in batch.texts.iter_mut().zip(&selection.texts) {
            let array = column(position)?;
            let texts = Texts::new(array);
            target.reserve(rows);
            for (row, &place) in batch.places.iter().enumerate() {
                let text = texts.text(row);
                selection.check_cell(position, place, text.len(), self.max_cell)?;
                target.push(text.into_owned());
            }
        }
        Ok(batch)
    }
}

fn is_numeric(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_numeric(values),
        DataType::Boolean | DataType::Null | DataType::Float32 | DataType::Float64 => true,
        DataType::Decimal128(..) => true,
        other => other.is_integer(),
    }
}

fn is_textual(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_textual(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        other => is_numeric(other),
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
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            let keys = keys(array);
            // Distinct values once, unless there are more of them than rows.
            if values.len() <= keys.len() {
                let distinct = numbers(values);
                return keys.into_iter().map(|key| distinct[key?]).collect();
            }
            keys.into_iter().map(|key| numbers(&values.slice(key?, 1))[0]).collect()
        }
        _ => vec![None; array.len()],
    }
}

/// For each row of a column with a dictionary where its value is; none where it is missing.
fn keys(array: &dyn Array) -> Vec<Option<usize>> {
    let dictionary = array.as_any_dictionary();
    // Without values nothing can be given, and there are no keys to be normalised.
    if dictionary.values().is_empty() {
        return vec![None; array.len()];
    }
    let keys = dictionary.normalized_keys().into_iter().enumerate();
    keys.map(|(row, key)| (!array.is_null(row)).then_some(key)).collect()
}

/// The texts of a column that [`is_textual`], row by row: a text that is in a dictionary once is not
/// copied before its length is known.
struct Texts<'a> {
    array: &'a dyn Array,
    /// Of a dictionary: its values, and where each row has its own.
    values: Option<(Box<Texts<'a>>, Vec<Option<usize>>)>,
}

impl<'a> Texts<'a> {
    fn new(array: &'a dyn Array) -> Self {
        let values = match array.data_type() {
            DataType::Dictionary(..) => {
                Some((Box::new(Self::new(array.as_any_dictionary().values())), keys(array)))
            }
            _ => None,
        };
        Self { array, values }
    }

    /// The text of a row, empty where it is missing; a number as it is written.
    fn text(&self, row: usize) -> Cow<'a, str> {
        let array = self.array;
        if let Some((values, keys)) = &self.values {
            return keys[row].map(|key| values.text(key)).unwrap_or_default();
        }
        if array.is_null(row) {
            return Cow::default();
        }
        match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row).into(),
            DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
            DataType::Utf8View => array.as_string_view().value(row).into(),
            // As text a whole number has no fraction, whatever its type: exact up to 64 bits.
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string().into(),
            DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string().into(),
            _ => numbers(&array.slice(row, 1))[0].map(|number| number.to_string()).unwrap_or_default().into(),
        }
    }
}
