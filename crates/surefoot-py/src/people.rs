//! People from Python: arrays, columns and Arrow tables, read where they are.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3_arrow::input::AnyRecordBatch;
use surefoot::People;
use surefoot::feature::Column;

use crate::error::{Failure, Fault, Result};
use crate::layout::Layout;

/// A column of a table that Python hands over.
#[derive(FromPyObject)]
enum Given<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Names(Vec<Option<String>>),
}

/// People as Python hands them over: an array with a row for each, a list with a column for each
/// column of the layout, or anything that speaks Arrow.
pub struct Source<'a, 'py> {
    given: &'a Bound<'py, PyAny>,
    layout: &'a Layout,
}

/// Rows in people's own units, and what identifies them if that was in the table.
struct Rows {
    values: Vec<f64>,
    ids: Option<Vec<String>>,
}

impl<'a, 'py> Source<'a, 'py> {
    /// Nothing is read yet.
    pub fn new(given: &'a Bound<'py, PyAny>, layout: &'a Layout) -> Self {
        Self { given, layout }
    }

    /// Checked people with what identifies them: `ids`, otherwise the column `id`, if there is one. No two
    /// may have the same.
    pub fn identified(
        &self,
        ids: Option<Vec<String>>,
        id: Option<&str>,
    ) -> Result<(People, Option<Vec<String>>)> {
        let (people, read) = self.people(id)?;
        let ids = ids.or(read);
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (person, id) in ids.iter().flatten().enumerate() {
            if let Some(first) = seen.insert(id, person) {
                return Err(Fault::SameId { id: id.clone(), first: first + 1, second: person + 1 }.into());
            }
        }
        Ok((people, ids))
    }

    /// Checked people, with the values of the column that identifies them, if there is one.
    pub fn people(&self, id: Option<&str>) -> Result<(People, Option<Vec<String>>)> {
        let features = &self.layout.features;
        if let Ok(array) = self.given.extract::<PyReadonlyArray2<'_, f64>>() {
            let view = self.rows_of(&array)?;
            let made = self.given.py().detach(|| match view.is_standard_layout() {
                true => {
                    let rows: Vec<&[f64]> =
                        view.rows().into_iter().filter_map(|row| row.to_slice()).collect();
                    People::from_own_units(features, &rows)
                }
                false => {
                    let rows: Vec<Vec<f64>> = view.rows().into_iter().map(|row| row.to_vec()).collect();
                    People::from_own_units(features, &rows)
                }
            });
            return Ok((made?, None));
        }
        let Rows { values, ids } = self.read(id)?;
        let made = self.given.py().detach(|| {
            let rows: Vec<&[f64]> = values.chunks_exact(features.len()).collect();
            People::from_own_units(features, &rows)
        });
        Ok((made?, ids))
    }

    /// All values in own units, row by row and unchecked.
    pub fn values(&self) -> Result<Vec<f64>> {
        if let Ok(array) = self.given.extract::<PyReadonlyArray2<'_, f64>>() {
            return Ok(self.rows_of(&array)?.iter().copied().collect());
        }
        Ok(self.read(None)?.values)
    }

    /// The array, if its columns are the features.
    fn rows_of<'v>(&self, array: &'v PyReadonlyArray2<'py, f64>) -> Result<ndarray::ArrayView2<'v, f64>> {
        let columns = self.layout.features.columns();
        if let Some(column) = columns.iter().find(|column| column.categories().is_some()) {
            return Err(Fault::Unnamed { feature: column.name().to_owned() }.into());
        }
        let (view, features) = (array.as_array(), columns.len());
        if view.ncols() != features {
            let known = self.layout.names();
            return Err(Fault::Width { columns: view.ncols(), features, known }.into());
        }
        Ok(view)
    }

    fn read(&self, id: Option<&str>) -> Result<Rows> {
        if let Ok(columns) = self.given.cast::<PyList>() {
            return self.read_columns(columns);
        }
        let reader = self.given.extract::<AnyRecordBatch>()?.into_reader()?;
        let mut rows = Rows { values: Vec::new(), ids: None };
        for batch in reader {
            let batch = batch
                .map_err(|error| Failure::Python(pyo3_arrow::error::PyArrowError::from(error).into()))?;
            self.read_batch(&batch, id, &mut rows)?;
        }
        Ok(rows)
    }

    /// A list with an array of numbers or a list of names for each column.
    fn read_columns(&self, given: &Bound<'_, PyList>) -> Result<Rows> {
        let width = self.layout.features.len();
        let mut values = Vec::new();
        for (column, given) in self.layout.features.columns().iter().zip(given.iter()) {
            let given: Given<'_> = given.extract()?;
            let found = match &given {
                Given::Numbers(numbers) => numbers.as_array().len(),
                Given::Names(names) => names.len(),
            };
            if values.is_empty() {
                values = vec![0.0; found * width];
            } else if found * width != values.len() {
                let (column, expected) = (column.name().to_owned(), values.len() / width);
                return Err(Fault::Length { column, expected, found }.into());
            }
            match given {
                Given::Numbers(numbers) => {
                    place_numbers(column, numbers.as_array().iter().copied(), width, &mut values)?;
                }
                Given::Names(names) => {
                    place_names(column, names.iter().map(Option::as_deref), width, 0, &mut values)?;
                }
            }
        }
        Ok(Rows { values, ids: None })
    }

    fn read_batch(&self, batch: &RecordBatch, id: Option<&str>, rows: &mut Rows) -> Result<()> {
        let width = self.layout.features.len();
        let before = rows.values.len() / width;
        rows.values.resize(rows.values.len() + batch.num_rows() * width, 0.0);
        let into = &mut rows.values[before * width..];
        for column in self.layout.features.columns() {
            let name = column.name();
            let array = found(batch, name)?;
            let is_optional = may_be_missing(self.layout, column);
            if let Some(row) = (0..array.len()).find(|&row| array.is_null(row) && !is_optional) {
                return Err(Fault::Missing { person: before + row + 1, column: name.into() }.into());
            }
            match column.categories() {
                None => {
                    let numbers = numbers(name, array)?;
                    let numbers = numbers.as_primitive::<Float64Type>().iter();
                    place_numbers(column, numbers.map(|number| number.unwrap_or(f64::NAN)), width, into)?;
                }
                Some(_) => {
                    let names = names(name, array)?;
                    let names = names.as_string::<i32>();
                    let each = (0..names.len()).map(|row| names.is_valid(row).then(|| names.value(row)));
                    place_names(column, each, width, before, into)?;
                }
            }
        }
        if let Some(id) = id {
            let names = names(id, found(batch, id)?)?;
            let names = names.as_string::<i32>();
            let ids = (0..names.len()).map(|row| names.is_valid(row).then(|| names.value(row).to_owned()));
            rows.ids.get_or_insert_default().extend(ids.map(Option::unwrap_or_default));
        }
        Ok(())
    }
}

fn found<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef> {
    let known = || batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    Ok(batch.column_by_name(name).ok_or_else(|| Fault::NoColumn { column: name.into(), known: known() })?)
}

/// As doubles; those that are doubles already are not copied.
fn numbers(name: &str, array: &ArrayRef) -> Result<ArrayRef> {
    let kind = array.data_type();
    let fault = || Fault::NotNumbers { column: name.into(), kind: format!("of type {kind}") };
    if !(kind.is_numeric() || *kind == DataType::Boolean) {
        return Err(fault().into());
    }
    Ok(cast(array, &DataType::Float64).map_err(|_| fault())?)
}

/// As text; whole numbers without decimals.
fn names(name: &str, array: &ArrayRef) -> Result<ArrayRef> {
    let fault = || Fault::NotNames { column: name.into() };
    let longest = longest(array);
    if longest > MAX_TEXT {
        return Err(Fault::LongText { column: name.into(), length: longest, limit: MAX_TEXT }.into());
    }
    let whole = match array.data_type() {
        kind if kind.is_floating() => cast(array, &DataType::Int64).map_err(|_| fault())?,
        _ => array.clone(),
    };
    Ok(cast(&whole, &DataType::Utf8).map_err(|_| fault())?)
}

/// Bytes of one text: it is copied for every row, although a dictionary may have it once.
const MAX_TEXT: usize = 4096;

/// Bytes of the longest text in a column; 0 if there is none.
fn longest(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::Dictionary(..) => longest(array.as_any_dictionary().values()),
        DataType::Utf8 => array.as_string::<i32>().iter().flatten().map(str::len).max().unwrap_or(0),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().flatten().map(str::len).max().unwrap_or(0),
        DataType::Utf8View => array.as_string_view().iter().flatten().map(str::len).max().unwrap_or(0),
        _ => 0,
    }
}

fn place_numbers(
    column: &Column,
    numbers: impl Iterator<Item = f64>,
    width: usize,
    into: &mut [f64],
) -> Result<()> {
    if column.categories().is_some() {
        return Err(Fault::NotNames { column: column.name().into() }.into());
    }
    let at = column.positions().start;
    into.chunks_exact_mut(width).zip(numbers).for_each(|(row, number)| row[at] = number);
    Ok(())
}

/// Whether the features say what a missing value of a column means.
fn may_be_missing(layout: &Layout, column: &Column) -> bool {
    layout.features.feature(column.positions().start).missing.is_some()
}

/// Places categories; a missing one, which the caller allows, is NaN.
fn place_names<'n>(
    column: &Column,
    given: impl Iterator<Item = Option<&'n str>>,
    width: usize,
    before: usize,
    into: &mut [f64],
) -> Result<()> {
    if column.categories().is_none() {
        return Err(Fault::NotNumbers { column: column.name().into(), kind: "of text".into() }.into());
    }
    for (number, (row, value)) in into.chunks_exact_mut(width).zip(given).enumerate() {
        let Some(value) = value else {
            column.positions().for_each(|i| row[i] = f64::NAN);
            continue;
        };
        column.place(value, row).map_err(|problem| Fault::Category {
            person: before + number + 1,
            column: column.name().into(),
            problem,
        })?;
    }
    Ok(())
}
