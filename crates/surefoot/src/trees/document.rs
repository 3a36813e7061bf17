//! Typed access to JSON, with the place of whatever is missing or of another type.

use serde_json::Value;

use crate::error::TreesProblem;

type Result<T> = std::result::Result<T, TreesProblem>;

/// A part of a document, and its path.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    value: &'a Value,
    place: String,
}

impl<'a> Part<'a> {
    /// The whole document.
    pub fn whole(value: &'a Value) -> Self {
        Self { value, place: "the file".into() }
    }

    /// The value itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    fn within(&self, value: &'a Value, name: &str) -> Self {
        let place = if self.place == "the file" { name.into() } else { format!("{}.{name}", self.place) };
        Self { value, place }
    }

    /// A field that may be missing.
    pub fn find(&self, name: &str) -> Option<Self> {
        self.value.get(name).filter(|value| !value.is_null()).map(|value| self.within(value, name))
    }

    /// A field.
    pub fn field(&self, name: &str) -> Result<Self> {
        let missing = || TreesProblem::Missing { place: self.place.clone(), field: name.into() };
        self.find(name).ok_or_else(missing)
    }

    /// The error of another type.
    pub fn expected(&self, expected: &str) -> TreesProblem {
        TreesProblem::Expected { place: self.place.clone(), expected: expected.into() }
    }

    pub fn text(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    /// A number, or a text that is one, infinities included.
    pub fn number(&self) -> Result<f64> {
        let number = self.value.as_f64().or_else(|| self.value.as_str()?.trim().parse().ok());
        number.filter(|number| !number.is_nan()).ok_or_else(|| self.expected("a number"))
    }

    /// A whole number that is not negative.
    pub fn count(&self) -> Result<usize> {
        let number = self.number()?;
        let is_count = number >= 0.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX);
        if is_count { Ok(number as usize) } else { Err(self.expected("a whole number that is not negative")) }
    }

    /// True or false, or 1 or 0.
    pub fn boolean(&self) -> Result<bool> {
        let number = self.value.as_f64();
        let boolean = self.value.as_bool().or(number.map(|number| number != 0.0));
        boolean.ok_or_else(|| self.expected("true or false"))
    }

    /// The items of a list.
    pub fn list(&self) -> Result<Vec<Self>> {
        let items = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        let item = |(position, value): (usize, &'a Value)| Self {
            value,
            place: format!("{}[{position}]", self.place),
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The items of a list, each converted.
    pub fn each<T>(&self, convert: impl Fn(&Self) -> Result<T>) -> Result<Vec<T>> {
        self.list()?.iter().map(convert).collect()
    }

    pub fn numbers(&self) -> Result<Vec<f64>> {
        let items = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        // Without a place for each of them, of which there may be millions.
        let numbers = items.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
        numbers.map_or_else(|| self.each(Part::number), Ok)
    }

    /// Numbers of which there must be this many.
    pub fn numbers_of(&self, length: usize) -> Result<Vec<f64>> {
        let numbers = self.numbers()?;
        let expected = || self.expected(&format!("a list of {length} numbers"));
        if numbers.len() == length { Ok(numbers) } else { Err(expected()) }
    }

    pub fn counts(&self) -> Result<Vec<usize>> {
        self.each(Part::count)
    }

    pub fn texts(&self) -> Result<Vec<String>> {
        self.each(|part| part.text().map(str::to_owned))
    }
}
