//! Categories: features whose values are texts in people's tables.
//!
//! An *ordered* category, such as education, is one integer feature whose value is the position of the
//! text in a list. An *unordered* one, such as a job, is a group of binary features, one for each text,
//! named `job=clerk`. People's tables have one [`Column`] of text for either.

use std::collections::HashSet;
use std::ops::Range;

use super::{Change, Feature, Kind};
use crate::error::CategoryProblem;

/// The representation of a feature's values in people's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// As a number, in a column with the name of the feature.
    #[default]
    Number,
    /// As one of these texts, in a column with the name of the feature; the value is the position of the
    /// text.
    Ordered(Vec<String>),
    /// The text `category` in the column `column` is a value of 1; every other text there is a value of 0.
    OneOf {
        /// The column, which features of the other categories share.
        column: String,
        /// The text.
        category: String,
    },
}

/// The known name that is most similar to a misspelt one, if any is similar.
pub(crate) fn nearest(name: &str, known: &[&str]) -> Option<String> {
    let lowercase = name.to_lowercase();
    let distance = |known: &&&str| strsim::damerau_levenshtein(&lowercase, &known.to_lowercase());
    let best = known.iter().min_by_key(distance)?;
    (distance(&best) <= best.len() / 3).then(|| (*best).into())
}

impl Feature {
    /// Makes it an ordered category: an integer feature with the values 0, 1, ..., which tables show as
    /// these texts.
    ///
    /// ```
    /// use surefoot::{Change, Feature, Features};
    ///
    /// let education = Feature::new("education").change(Change::Increase).ordered(["none", "basic", "degree"]);
    /// let features = Features::new(vec![education])?;
    /// let mut row = [0.0];
    /// features.columns()[0].place("degree", &mut row).unwrap();
    /// assert_eq!(row, [2.0]);
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    pub fn ordered<S: Into<String>>(mut self, categories: impl IntoIterator<Item = S>) -> Self {
        let categories: Vec<String> = categories.into_iter().map(Into::into).collect();
        (self.kind, self.lower, self.upper) = (Kind::Integer, 0.0, categories.len().saturating_sub(1) as f64);
        self.shown = Shown::Ordered(categories);
        self
    }

    /// The features of an unordered category: a group of binary features, which tables show as one column
    /// of texts. Each has the scaling, change and weight of this feature.
    ///
    /// ```
    /// use surefoot::{Change, Feature, Features};
    ///
    /// let job = Feature::new("job").change(Change::Any).one_of(["clerk", "cook"]);
    /// let features = Features::new(job)?;
    /// assert_eq!(features.names(), ["job=clerk", "job=cook"]);
    /// assert_eq!(features.columns()[0].categories().unwrap(), ["clerk", "cook"]);
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    pub fn one_of<S: Into<String>>(self, categories: impl IntoIterator<Item = S>) -> Vec<Self> {
        let categories: Vec<String> = categories.into_iter().map(Into::into).collect();
        // A group needs at least two columns.
        let group = (categories.len() > 1).then(|| self.name.clone());
        let of = |category: String| Self {
            name: format!("{}={category}", self.name),
            kind: Kind::Binary,
            group: group.clone(),
            shown: Shown::OneOf { column: self.name.clone(), category },
            ..self.clone()
        };
        categories.into_iter().map(of).collect()
    }

    /// The name in messages about tables and files: the column, or the text of an unordered category.
    pub fn plain_name(&self) -> &str {
        match &self.shown {
            Shown::OneOf { category, .. } => category,
            Shown::Number | Shown::Ordered(_) => &self.name,
        }
    }

    /// The problem with its categories, if there is one.
    pub(crate) fn category_problem(&self) -> Option<CategoryProblem> {
        match &self.shown {
            Shown::Number => None,
            Shown::Ordered(levels) => {
                let last = levels.len().saturating_sub(1);
                let is_within = self.lower >= 0.0 && self.upper <= last as f64;
                let fits = self.kind == Kind::Integer && self.group.is_none() && is_within;
                listed(levels).or((!fits).then_some(CategoryProblem::Codes { last }))
            }
            Shown::OneOf { .. } => {
                let has_direction = matches!(self.change, Change::Increase | Change::Decrease);
                has_direction.then_some(CategoryProblem::Direction)
            }
        }
    }
}

/// The problem with a list of categories, if there is one.
pub(crate) fn listed(categories: &[String]) -> Option<CategoryProblem> {
    if categories.is_empty() {
        return Some(CategoryProblem::None);
    }
    let mut seen = HashSet::with_capacity(categories.len());
    let repeated = categories.iter().find(|category| !seen.insert(category.as_str()));
    repeated.map(|category| CategoryProblem::Repeated { category: category.clone() })
}

/// The text at the position nearest to a value.
pub(super) fn level(levels: &[String], value: f64) -> &str {
    &levels[(value.round() as usize).min(levels.len() - 1)]
}

/// A column of people's tables, and the features whose values it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: String,
    positions: Range<usize>,
    values: Values,
}

/// The kind of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
    Numbers,
    Ordered(Vec<String>),
    OneOf(Vec<String>),
}

impl Column {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The positions of its features: one, or one for each text of an unordered category.
    pub fn positions(&self) -> Range<usize> {
        self.positions.clone()
    }

    /// The texts that it may contain; `None` for numbers.
    pub fn categories(&self) -> Option<&[String]> {
        match &self.values {
            Values::Numbers => None,
            Values::Ordered(categories) | Values::OneOf(categories) => Some(categories),
        }
    }

    /// Whether it is an ordered category, which is one integer feature.
    pub fn is_ordered(&self) -> bool {
        matches!(self.values, Values::Ordered(_))
    }

    /// Writes the values, in own units, of a text into a row of all features.
    ///
    /// # Errors
    /// If the text is none of the categories.
    ///
    /// # Panics
    /// If the column holds numbers, or the row is shorter than the features.
    pub fn place(&self, text: &str, row: &mut [f64]) -> Result<(), CategoryProblem> {
        let Some(categories) = self.categories() else { unreachable!("`{}` holds numbers", self.name) };
        let Some(position) = categories.iter().position(|category| category == text) else {
            let known = categories.to_vec();
            if text.is_empty() {
                return Err(CategoryProblem::Missing { known });
            }
            let names: Vec<&str> = categories.iter().map(String::as_str).collect();
            return Err(CategoryProblem::Unknown {
                value: text.into(),
                nearest: nearest(text, &names),
                known,
            });
        };
        match self.is_ordered() {
            true => row[self.positions.start] = position as f64,
            false => {
                row[self.positions()].fill(0.0);
                row[self.positions.start + position] = 1.0;
            }
        }
        Ok(())
    }

    /// The text for values in own units, given by feature position; `None` for a column of numbers.
    pub fn text(&self, value: impl Fn(usize) -> f64) -> Option<&str> {
        match &self.values {
            Values::Numbers => None,
            // A missing value is no level.
            Values::Ordered(levels) => {
                let value = value(self.positions.start);
                (!value.is_nan()).then(|| level(levels, value))
            }
            Values::OneOf(categories) => {
                let of = |place: usize| value(self.positions.start + place);
                let likeliest = (0..categories.len()).max_by(|&a, &b| of(a).total_cmp(&of(b)));
                likeliest.map(|place| categories[place].as_str())
            }
        }
    }
}

/// The columns of people's tables, in the order of the features.
pub(crate) fn columns(features: &[Feature]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for (i, feature) in features.iter().enumerate() {
        let (name, values) = match &feature.shown {
            Shown::Number => (&feature.name, Values::Numbers),
            Shown::Ordered(levels) => (&feature.name, Values::Ordered(levels.clone())),
            Shown::OneOf { column, category } => {
                if let Some(Column { name, positions, values: Values::OneOf(categories) }) =
                    columns.last_mut()
                    && name == column
                {
                    positions.end = i + 1;
                    categories.push(category.clone());
                    continue;
                }
                (column, Values::OneOf(vec![category.clone()]))
            }
        };
        columns.push(Column { name: name.clone(), positions: i..i + 1, values });
    }
    columns
}

/// The first column whose name is ambiguous: it also names another column, or a group of columns of
/// numbers.
pub(super) fn ambiguous(features: &[Feature], columns: &[Column]) -> Option<String> {
    let mut seen = HashSet::with_capacity(columns.len());
    if let Some(twice) = columns.iter().find(|column| !seen.insert(column.name())) {
        return Some(twice.name.clone());
    }
    let texts: HashSet<&str> =
        columns.iter().filter(|column| matches!(column.values, Values::OneOf(_))).map(Column::name).collect();
    let grouped = features.iter().filter(|feature| !matches!(feature.shown, Shown::OneOf { .. }));
    grouped.filter_map(|feature| feature.group.as_ref()).find(|group| texts.contains(group.as_str())).cloned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::error::FeatureError;
    use crate::{Error, Features};

    fn features() -> Features {
        let mut features = vec![Feature::new("age")];
        features.extend(Feature::new("job").change(Change::Any).one_of(["clerk", "cook", "nurse"]));
        features.push(Feature::new("education").scaling(1.0, 0.5).ordered(["none", "basic", "degree"]));
        Features::new(features).unwrap()
    }

    #[test]
    fn texts_become_values_and_values_become_texts() {
        let features = features();
        let columns = features.columns();
        let names: Vec<&str> = columns.iter().map(Column::name).collect();
        assert_eq!(names, ["age", "job", "education"]);
        assert_eq!(columns[1].positions(), 1..4);
        let mut row = [40.0, 1.0, 0.0, 0.0, 0.0];
        columns[1].place("nurse", &mut row).unwrap();
        columns[2].place("basic", &mut row).unwrap();
        assert_eq!(row, [40.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(columns[0].text(|i| row[i]), None);
        assert_eq!(columns[1].text(|i| row[i]), Some("nurse"));
        assert_eq!(columns[2].text(|i| row[i]), Some("basic"));
        assert_eq!((features.feature(4).lower, features.feature(4).upper), (0.0, 2.0));
        assert_eq!(features.feature(4).level(2.0), Some("degree"));
        assert_eq!(features.feature(2).spoken_name(), "cook");
        assert_eq!(features.groups()[0].name, "job");
    }

    #[test]
    fn an_unknown_text_is_told_with_the_nearest_and_all_others() {
        let features = features();
        let refused = |text: &str| features.columns()[1].place(text, &mut [0.0; 5]).unwrap_err().to_string();
        assert_eq!(
            refused("Clerc"),
            "`Clerc` is no category; did you mean `clerk`? there are `clerk`, `cook` and `nurse`"
        );
        assert_eq!(refused("king"), "`king` is no category; there are `clerk`, `cook` and `nurse`");
        assert_eq!(refused(""), "no value is given; there are `clerk`, `cook` and `nurse`");
    }

    #[test]
    fn categories_that_cannot_be_are_refused() {
        let problem = |features: Vec<Feature>| match Features::new(features) {
            Err(Error::Feature(FeatureError::Categories { feature, problem })) => (feature, problem),
            other => panic!("{other:?}"),
        };
        let education = || Feature::new("education");
        let none: [&str; 0] = [];
        assert_eq!(problem(vec![education().ordered(none)]).1, CategoryProblem::None);
        let repeated = CategoryProblem::Repeated { category: "a".into() };
        assert_eq!(problem(vec![education().ordered(["a", "b", "a"])]), ("education".into(), repeated));
        for wrong in [
            education().ordered(["a", "b"]).limits(0.0, 2.0),
            education().ordered(["a", "b"]).limits(-1.0, 1.0),
            education().ordered(["a", "b"]).kind(Kind::Real),
        ] {
            assert_eq!(problem(vec![wrong]).1, CategoryProblem::Codes { last: 1 });
        }
        let job = Feature::new("job").change(Change::Increase).one_of(["a", "b"]);
        assert_eq!(problem(job).1, CategoryProblem::Direction);
        // An ambiguous name.
        for other in [Feature::new("job"), Feature::new("x").group("job")] {
            let mut features = Feature::new("job").one_of(["a", "b"]);
            features.push(other);
            let refused = Features::new(features).unwrap_err();
            assert_eq!(refused, Error::Feature(FeatureError::DuplicateFeature { feature: "job".into() }));
        }
    }
}
