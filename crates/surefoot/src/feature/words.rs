//! The words for features: what people read instead of names and numbers.
//!
//! Sentences are for people, tables for programs: labels, units and descriptions appear in sentences only, and no
//! answer depends on them. Every amount of a feature in a sentence is formatted here.

use std::borrow::Cow;

use super::{Column, Feature, Kind, Shown};
use crate::error::WordsProblem;
use crate::magnitude::readable;

/// The words for a feature in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// What people read instead of the name. For an unordered category it stands for its column of texts.
    pub label: Option<String>,
    /// The unit of its amounts.
    pub unit: Option<Unit>,
    /// What values read like: a text of the people's table (a category, or a whole number) and its words.
    pub described: Vec<(String, String)>,
}

/// A unit, and where its amounts stand: "EUR 1,200", "12 months".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    one: String,
    several: String,
}

/// The place of the number in a unit.
const PLACE: &str = "{}";

impl Unit {
    /// From its text, in which `{}` is the place of the number. Without `{}` the unit follows the number.
    ///
    /// ```
    /// use surefoot::feature::Unit;
    ///
    /// assert_eq!(Unit::new("EUR {}")?.around("1,200", false), "EUR 1,200");
    /// assert_eq!(Unit::new("months")?.around("12", false), "12 months");
    /// # Ok::<(), surefoot::error::WordsProblem>(())
    /// ```
    ///
    /// # Errors
    /// If the text is blank or has several places for the number.
    pub fn new(text: &str) -> Result<Self, WordsProblem> {
        Self::with_singular(text, text)
    }

    /// From its text for the number 1, and for all others: "month", "months".
    ///
    /// # Errors
    /// As [`Unit::new`].
    pub fn with_singular(one: &str, several: &str) -> Result<Self, WordsProblem> {
        let placed = |text: &str| match text.matches(PLACE).count() {
            _ if text.replace(PLACE, "").trim().is_empty() => Err(WordsProblem::Blank { field: "unit" }),
            0 => Ok(format!("{PLACE} {text}")),
            1 => Ok(text.to_owned()),
            _ => Err(WordsProblem::Places { unit: text.to_owned() }),
        };
        Ok(Self { one: placed(one)?, several: placed(several)? })
    }

    /// From one text or, for one and for several, from two.
    ///
    /// # Errors
    /// As [`Unit::new`], and if there are more or fewer texts.
    pub fn of_forms<S: AsRef<str>>(forms: &[S]) -> Result<Self, WordsProblem> {
        match forms {
            [text] => Self::new(text.as_ref()),
            [one, several] => Self::with_singular(one.as_ref(), several.as_ref()),
            _ => Err(WordsProblem::Forms { forms: forms.len() }),
        }
    }

    /// Its texts with the place of the number, as [`Unit::of_forms`] takes them.
    pub fn forms(&self) -> Vec<String> {
        match self.one == self.several {
            true => vec![self.several.clone()],
            false => vec![self.one.clone(), self.several.clone()],
        }
    }

    /// The unit around a number that is written already. `is_one`: whether the number is 1.
    pub fn around(&self, number: &str, is_one: bool) -> String {
        let form = if is_one { &self.one } else { &self.several };
        form.replacen(PLACE, number, 1)
    }

    /// Whether amounts are shares of a hundred, whose differences are percentage points.
    pub fn is_percent(&self) -> bool {
        self.several.replacen(PLACE, "", 1).trim() == "%"
    }
}

impl Feature {
    /// Sets what people read instead of the name.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.words.label = Some(label.into());
        self
    }

    /// Sets the unit of its amounts.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.words.unit = Some(unit);
        self
    }

    /// Sets what values read like: each a category or a whole number as tables have it, and its words.
    ///
    /// ```
    /// use surefoot::Feature;
    ///
    /// let account = Feature::new("status").ordered(["A11", "A12"]).describe([("A11", "overdrawn"), ("A12", "in credit")]);
    /// assert_eq!(account.amount(0.0), "overdrawn");
    /// ```
    pub fn describe<S: Into<String>>(mut self, described: impl IntoIterator<Item = (S, S)>) -> Self {
        self.words.described =
            described.into_iter().map(|(value, words)| (value.into(), words.into())).collect();
        self
    }

    /// The name in sentences: the label if there is one. For an unordered category it is what the category
    /// reads like, because the group is mentioned too.
    pub fn spoken_name(&self) -> &str {
        match &self.shown {
            Shown::OneOf { category, .. } => self.reading(category),
            Shown::Number | Shown::Ordered(_) => self.words.label.as_deref().unwrap_or(&self.name),
        }
    }

    /// The name in sentences that do not mention the group: "job=cook", or "occupation=cook" with that label.
    pub fn full_name(&self) -> Cow<'_, str> {
        match &self.shown {
            Shown::OneOf { column, .. } => {
                let column = self.words.label.as_ref().unwrap_or(column);
                format!("{column}={}", self.spoken_name()).into()
            }
            Shown::Number | Shown::Ordered(_) => self.spoken_name().into(),
        }
    }

    /// The name of its group in sentences; `None` without a group.
    pub fn spoken_group(&self) -> Option<&str> {
        let group = self.group.as_deref()?;
        match &self.shown {
            Shown::OneOf { .. } => Some(self.words.label.as_deref().unwrap_or(group)),
            Shown::Number | Shown::Ordered(_) => Some(group),
        }
    }

    /// The words of a value in own units, for an ordered category and for whole numbers that are described;
    /// `None` for other features and values.
    pub fn level(&self, value: f64) -> Option<&str> {
        match &self.shown {
            Shown::Ordered(levels) => Some(self.reading(super::category::level(levels, value))),
            Shown::Number if self.kind != Kind::Real && self.group.is_none() => {
                let is_value = |(key, _): &&(String, String)| whole(key) == Some(value);
                self.words.described.iter().find(is_value).map(|(_, words)| words.as_str())
            }
            Shown::Number | Shown::OneOf { .. } => None,
        }
    }

    /// A value in own units as people read it: "EUR 1,200", "12 months", or the words of a described value.
    /// Thousands are separated where there is a unit.
    ///
    /// ```
    /// use surefoot::{Feature, feature::Unit};
    ///
    /// let income = Feature::new("income").unit(Unit::new("EUR {}")?);
    /// assert_eq!(income.amount(1234567.5), "EUR 1,234,567.5");
    /// assert_eq!(Feature::new("income").amount(1200.0), "1200");
    /// # Ok::<(), surefoot::error::WordsProblem>(())
    /// ```
    pub fn amount(&self, value: f64) -> String {
        let value = self.snap_to_integer(value);
        self.level(value).map_or_else(|| self.with_unit(&readable(value)), str::to_owned)
    }

    /// A difference of values in own units as people read it: "EUR 1,200", "2 levels", "5 percentage points".
    pub fn difference(&self, by: f64) -> String {
        self.difference_with_unit(&readable(self.snap_to_integer(by)))
    }

    /// A number that is written already as an amount: with the unit, if there is one.
    pub fn with_unit(&self, number: &str) -> String {
        match &self.words.unit {
            Some(unit) => unit.around(&grouped(number), is_one(number)),
            None => number.to_owned(),
        }
    }

    /// A number that is written already as a difference of amounts.
    pub fn difference_with_unit(&self, number: &str) -> String {
        let points =
            |word: &str| format!("{} {word}{}", grouped(number), if is_one(number) { "" } else { "s" });
        match &self.words.unit {
            _ if self.has_levels() => points("level"),
            Some(unit) if unit.is_percent() => points("percentage point"),
            _ => self.with_unit(number),
        }
    }

    /// Whether its values are levels: the texts of an ordered category, or whole numbers with descriptions.
    pub(crate) fn has_levels(&self) -> bool {
        match self.shown {
            Shown::Ordered(_) => true,
            Shown::Number => self.kind == Kind::Integer && !self.words.described.is_empty(),
            Shown::OneOf { .. } => false,
        }
    }

    /// The words of a text of the people's table.
    pub fn reading<'a>(&'a self, text: &'a str) -> &'a str {
        let described = self.words.described.iter().find(|(value, _)| value == text);
        described.map_or(text, |(_, words)| words)
    }

    /// The first problem with its words. `column` is its column of people's tables.
    pub(crate) fn words_problem(&self, column: &Column) -> Option<WordsProblem> {
        let Words { label, unit, described } = &self.words;
        if label.as_ref().is_some_and(|label| label.trim().is_empty()) {
            return Some(WordsProblem::Blank { field: "label" });
        }
        if unit.is_some() && (column.categories().is_some() || self.kind == Kind::Binary) {
            return Some(WordsProblem::NoAmount);
        }
        if described.is_empty() {
            return None;
        }
        match column.categories() {
            None if self.kind == Kind::Real => return Some(WordsProblem::NotDescribed),
            None if self.group.is_some() => return Some(WordsProblem::GroupColumn),
            _ => {}
        }
        for (place, (value, words)) in described.iter().enumerate() {
            if words.trim().is_empty() {
                return Some(WordsProblem::Blank { field: "describe" });
            }
            if described[..place].iter().any(|(_, other)| other == words) {
                return Some(WordsProblem::Repeated { words: words.clone() });
            }
            match column.categories() {
                Some(known) if !known.contains(value) => {
                    return Some(WordsProblem::UnknownCategory {
                        value: value.clone(),
                        known: known.to_vec(),
                    });
                }
                None if !self.is_whole_value(value) => {
                    let kind = self.kind.to_string();
                    return Some(WordsProblem::UnknownValue { value: value.clone(), kind });
                }
                _ => {}
            }
        }
        None
    }

    fn is_whole_value(&self, text: &str) -> bool {
        whole(text).is_some_and(|value| self.kind != Kind::Binary || value == 0.0 || value == 1.0)
    }
}

/// The whole number that a text is.
fn whole(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite() && value.fract() == 0.0)
}

fn is_one(number: &str) -> bool {
    matches!(number, "1" | "-1")
}

/// A written number with commas between its thousands. Numbers with an exponent stay as they are.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut text = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    fraction.map_or(text.clone(), |fraction| format!("{text}.{fraction}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::error::FeatureError;
    use crate::{Change, Error, Features};

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("-123456", "-123,456"),
            ("1234567.8912", "1,234,567.8912"),
            ("0.0001234", "0.0001234"),
            ("1e90", "1e90"),
            ("-2.5e-7", "-2.5e-7"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn amounts_have_their_units_in_place() {
        let with = |unit: &[&str]| Feature::new("x").unit(Unit::of_forms(unit).unwrap());
        assert_eq!(with(&["EUR {}"]).amount(1200.0), "EUR 1,200");
        assert_eq!(with(&["months"]).amount(12.0), "12 months");
        assert_eq!(with(&["months"]).amount(1.0), "1 months");
        assert_eq!(with(&["month", "months"]).amount(1.0), "1 month");
        assert_eq!(with(&["month", "months"]).difference(1.5), "1.5 months");
        assert_eq!(with(&["{}%"]).amount(2.5), "2.5%");
        assert_eq!(with(&["{}%"]).difference(2.5), "2.5 percentage points");
        assert_eq!(with(&["%"]).difference(1.0), "1 percentage point");
        let plain = Feature::new("x");
        assert_eq!((plain.amount(1200.0), plain.difference(1200.0)), ("1200".into(), "1200".into()));
    }

    #[test]
    fn described_values_are_read_by_their_words() {
        let codes = Feature::new("status").kind(Kind::Integer).describe([("1", "none"), ("2", "overdrawn")]);
        assert_eq!((codes.amount(2.0), codes.amount(3.0)), ("overdrawn".into(), "3".into()));
        assert_eq!((codes.level(1.5), codes.difference(1.0)), (None, "1 level".into()));
        let education = Feature::new("education").ordered(["a", "b"]).describe([("b", "degree")]);
        assert_eq!((education.level(0.0), education.level(1.0)), (Some("a"), Some("degree")));
        let jobs = Feature::new("job").label("occupation").describe([("j1", "clerk")]).one_of(["j1", "j2"]);
        assert_eq!((jobs[0].spoken_name(), jobs[1].spoken_name()), ("clerk", "j2"));
        assert_eq!(jobs[0].spoken_group(), Some("occupation"));
        assert_eq!(jobs[0].full_name(), "occupation=clerk");
        let column = Feature::new("job_1").group("job").label("clerk");
        assert_eq!((column.spoken_name(), column.spoken_group()), ("clerk", Some("job")));
    }

    #[test]
    fn words_that_cannot_be_are_refused() {
        let problem = |features: Vec<Feature>| match Features::new(features) {
            Err(Error::Feature(FeatureError::Words { problem, .. })) => problem,
            other => panic!("{other:?}"),
        };
        let one = |feature: Feature| problem(vec![feature]);
        let x = || Feature::new("x");
        let months = Unit::new("months").unwrap();
        assert_eq!(one(x().label(" ")), WordsProblem::Blank { field: "label" });
        assert_eq!(one(x().kind(Kind::Binary).unit(months.clone())), WordsProblem::NoAmount);
        assert_eq!(one(x().ordered(["a", "b"]).unit(months.clone())), WordsProblem::NoAmount);
        assert_eq!(problem(x().unit(months).one_of(["a", "b"])), WordsProblem::NoAmount);
        assert_eq!(one(x().describe([("1", "one")])), WordsProblem::NotDescribed);
        let unknown =
            WordsProblem::UnknownCategory { value: "c".into(), known: vec!["a".into(), "b".into()] };
        assert_eq!(problem(x().describe([("c", "see")]).one_of(["a", "b"])), unknown);
        assert_eq!(one(x().ordered(["a", "b"]).describe([("c", "see")])), unknown);
        let integer = |text: &str| WordsProblem::UnknownValue { value: text.into(), kind: "integer".into() };
        assert_eq!(one(x().kind(Kind::Integer).describe([("1.5", "half")])), integer("1.5"));
        assert_eq!(one(x().kind(Kind::Integer).describe([("inf", "all")])), integer("inf"));
        let binary = WordsProblem::UnknownValue { value: "2".into(), kind: "binary".into() };
        assert_eq!(one(x().kind(Kind::Binary).describe([("2", "two")])), binary);
        let repeated = WordsProblem::Repeated { words: "same".into() };
        assert_eq!(one(x().ordered(["a", "b"]).describe([("a", "same"), ("b", "same")])), repeated);
        assert_eq!(
            one(x().ordered(["a", "b"]).describe([("a", "")])),
            WordsProblem::Blank { field: "describe" }
        );
        let group = vec![x().group("g").describe([("1", "yes")]), Feature::new("y").group("g")];
        assert_eq!(problem(group), WordsProblem::GroupColumn);
        assert_eq!(Unit::new(" "), Err(WordsProblem::Blank { field: "unit" }));
        assert_eq!(Unit::new("{}"), Err(WordsProblem::Blank { field: "unit" }));
        assert_eq!(Unit::new("{} to {}"), Err(WordsProblem::Places { unit: "{} to {}".into() }));
        assert_eq!(Unit::of_forms::<&str>(&[]), Err(WordsProblem::Forms { forms: 0 }));
        assert!(Features::new(x().change(Change::Any).describe([("a", "A")]).one_of(["a", "b"])).is_ok());
    }
}
