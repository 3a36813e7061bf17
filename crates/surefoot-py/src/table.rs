//! Tables for Python: Arrow inside, handed over without copies.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use surefoot::report::{AnswerTable, AttackTable, ColumnPattern, Heading, Values, VerdictTable};

use crate::error::{Result, choice};

/// A table under construction.
#[derive(Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn add(&mut self, name: impl Into<String>, kind: DataType, array: ArrayRef) {
        self.fields.push(Field::new(name, kind, true));
        self.arrays.push(array);
    }

    /// A column of numbers.
    pub fn numbers(&mut self, name: impl Into<String>, values: impl Iterator<Item = Option<f64>>) {
        self.add(name, DataType::Float64, Arc::new(values.collect::<Float64Array>()));
    }

    /// A column of text.
    pub fn texts<S: AsRef<str>>(&mut self, name: impl Into<String>, values: impl Iterator<Item = Option<S>>) {
        self.add(name, DataType::Utf8, Arc::new(values.collect::<StringArray>()));
    }

    /// A column of truths.
    pub fn truths(&mut self, name: impl Into<String>, values: impl Iterator<Item = Option<bool>>) {
        self.add(name, DataType::Boolean, Arc::new(values.collect::<BooleanArray>()));
    }

    /// A table of the engine.
    pub fn of_report(headings: Vec<Heading>, values: Vec<Values>) -> Result<Table> {
        let mut columns = Self::default();
        for (Heading { name, .. }, values) in headings.into_iter().zip(values) {
            match values {
                Values::Number(values) => columns.numbers(name, values.into_iter()),
                Values::Text(values) => columns.texts(name, values.into_iter()),
                Values::Boolean(values) => columns.truths(name, values.into_iter()),
            }
        }
        columns.finish()
    }

    /// The column that identifies people: as given, otherwise the number of the row.
    pub fn ids(&mut self, ids: Option<&Vec<String>>, people: usize) {
        match ids {
            Some(ids) => self.texts("id", ids.iter().map(Some)),
            None => self.texts("id", (1..=people).map(|number| Some(number.to_string()))),
        }
    }

    /// The table.
    pub fn finish(self) -> Result<Table> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays);
        let batch = batch.map_err(|error| PyErr::from(pyo3_arrow::error::PyArrowError::from(error)))?;
        Ok(Table { batch })
    }
}

/// What identifies people: as given, otherwise the number of the row.
pub fn identities(ids: Option<Vec<String>>, people: usize) -> Vec<String> {
    ids.unwrap_or_else(|| (1..=people).map(|number| number.to_string()).collect())
}

/// The columns of the engine's tables as the glossary lists them: name, type, meaning.
#[pyfunction]
pub fn report_columns(table: &str) -> Result<Vec<(&'static str, &'static str, &'static str)>> {
    let tables: [(&str, &'static [ColumnPattern]); 3] = [
        ("recourse", &AnswerTable::PATTERNS),
        ("certify", &VerdictTable::PATTERNS),
        ("attack", &AttackTable::PATTERNS),
    ];
    let patterns = choice("table", table, &tables)?;
    Ok(patterns.iter().map(|column| (column.name, column.holds.words(), column.meaning)).collect())
}

/// A table that speaks Arrow.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// From columns, each with its name, the kind of its values ("number", "text" or "truth") and these.
    #[staticmethod]
    fn from_columns(given: Vec<(String, String, Bound<'_, PyList>)>) -> Result<Self> {
        let mut columns = Columns::default();
        for (name, kind, values) in given {
            match choice("kind of column", &kind, &[("number", 0), ("text", 1), ("truth", 2)])? {
                0 => columns.numbers(name, values.extract::<Vec<Option<f64>>>()?.into_iter()),
                1 => columns.texts(name, values.extract::<Vec<Option<String>>>()?.into_iter()),
                _ => columns.truths(name, values.extract::<Vec<Option<bool>>>()?.into_iter()),
            }
        }
        columns.finish()
    }

    /// The columns as `from_columns` takes them.
    fn to_columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, &'static str, Bound<'py, PyList>)>> {
        let mut columns = Vec::with_capacity(self.batch.num_columns());
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            let (kind, values) = match field.data_type() {
                DataType::Float64 => ("number", PyList::new(py, array.as_primitive::<Float64Type>().iter())?),
                DataType::Boolean => ("truth", PyList::new(py, array.as_boolean().iter())?),
                _ => ("text", PyList::new(py, array.as_string::<i32>().iter())?),
            };
            columns.push((field.name().clone(), kind, values));
        }
        Ok(columns)
    }

    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new_struct("", self.batch.schema().fields().clone(), false);
        let array: ArrayRef = Arc::new(arrow_array::StructArray::from(self.batch.clone()));
        let reader = Box::new(ArrayIterator::new(vec![Ok(array)], Arc::new(field)));
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }

    /// Columns by name: arrays of numbers (NaN where there is none) and of truths, lists of text.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            let column: Bound<'py, PyAny> = match field.data_type() {
                DataType::Float64 => {
                    let numbers = array.as_primitive::<Float64Type>();
                    PyArray1::from_iter(py, numbers.iter().map(|number| number.unwrap_or(f64::NAN)))
                        .into_any()
                }
                DataType::Boolean => {
                    let truths = array.as_boolean().iter().map(|truth| truth.unwrap_or(false));
                    PyArray1::from_iter(py, truths).into_any()
                }
                _ => PyList::new(py, array.as_string::<i32>().iter())?.into_any(),
            };
            columns.set_item(field.name(), column)?;
        }
        Ok(columns)
    }

    /// One row by name.
    fn row<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            let given = array.is_valid(index);
            let value = match field.data_type() {
                _ if !given => py.None().into_bound(py),
                DataType::Float64 => {
                    array.as_primitive::<Float64Type>().value(index).into_pyobject(py)?.into_any()
                }
                DataType::Boolean => array.as_boolean().value(index).into_pyobject(py)?.to_owned().into_any(),
                _ => array.as_string::<i32>().value(index).into_pyobject(py)?.into_any(),
            };
            row.set_item(field.name(), value)?;
        }
        Ok(row)
    }
}
