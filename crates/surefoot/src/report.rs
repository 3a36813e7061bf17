//! The tables that Surefoot writes: their columns, the meaning of each, and the values of the rows.
//!
//! The columns and units of answers ([`AnswerTable`]), verdicts of `certify` ([`VerdictTable`]) and
//! results of `attack` ([`AttackTable`]) are defined only here. The command line and the Python package
//! convert [`Values`] into the tables of their libraries.
//!
//! Values are in people's own units. A category is shown by its text: `action:job` is the category to
//! reach.

mod answers;
mod attack;
pub mod audit;
mod certify;
pub mod letter;
mod reasons;

pub use answers::{Answer, AnswerTable};
pub use attack::{AttackTable, Attacked};
pub use certify::{Judged, VerdictTable};
pub use letter::{Letter, LetterSettings, LetterWriter};
pub use reasons::{MOST_REASONS, Reason, Remedy, Thing, reasons};

use crate::{Features, Infeasible};

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// Numbers.
    Number,
    /// True or false.
    Boolean,
    /// Numbers, or texts for a feature with categories.
    OwnValue,
}

impl ColumnType {
    /// The name in the documentation.
    pub fn words(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Number => "number",
            ColumnType::Boolean => "true or false",
            ColumnType::OwnValue => "number; text for a category",
        }
    }
}

/// A column in the documentation, or several: `<feature>` in its name stands for each feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPattern {
    /// The name.
    pub name: &'static str,
    /// The type of its values.
    pub holds: ColumnType,
    /// The meaning, in the terms of the glossary.
    pub meaning: &'static str,
}

/// Shorthand for a [`ColumnPattern`].
const fn column(name: &'static str, holds: ColumnType, meaning: &'static str) -> ColumnPattern {
    ColumnPattern { name, holds, meaning }
}

/// A column of a table: its name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The name.
    pub name: String,
    /// The type of its values; never [`ColumnType::OwnValue`].
    pub holds: ColumnType,
}

/// The values of one column, row by row; `None` for an empty cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// True or false.
    Boolean(Vec<Option<bool>>),
}

impl Values {
    fn texts(values: impl Iterator<Item = Option<impl Into<String>>>) -> Self {
        Self::Text(values.map(|text| text.map(Into::into)).collect())
    }

    fn numbers(values: impl Iterator<Item = Option<f64>>) -> Self {
        Self::Number(values.collect())
    }

    fn booleans(values: impl Iterator<Item = Option<bool>>) -> Self {
        Self::Boolean(values.collect())
    }
}

const FEATURE: &str = "<feature>";

/// The headings of a pattern with one column for each column of people's tables.
fn of_columns<'a>(
    pattern: &'a ColumnPattern,
    features: &'a Features,
    is_chosen: impl Fn(usize) -> bool + 'a,
) -> impl Iterator<Item = Heading> + 'a {
    let chosen = features.columns().iter().filter(move |column| column.positions().any(&is_chosen));
    chosen.map(|column| Heading {
        name: pattern.name.replace(FEATURE, column.name()),
        holds: if column.categories().is_some() { ColumnType::Text } else { ColumnType::Number },
    })
}

impl ColumnPattern {
    /// The heading of a pattern for a single column.
    fn heading(&self) -> Heading {
        Heading { name: self.name.into(), holds: self.holds }
    }
}

/// The columns `feasible` and `reason`; both are empty for people without an action.
fn feasibility<'a>(rows: impl Iterator<Item = Option<Option<&'a Infeasible>>> + Clone) -> [Values; 2] {
    let reason = |row: Option<Option<&Infeasible>>| row.flatten().map(Infeasible::to_string);
    [Values::booleans(rows.clone().map(|row| row.map(|why| why.is_none()))), Values::texts(rows.map(reason))]
}

const FEASIBLE: ColumnPattern =
    column("feasible", ColumnType::Boolean, "whether the problem allows the action");
const INFEASIBLE_REASON: ColumnPattern =
    column("reason", ColumnType::Text, "if not feasible: every reason, with `;` between them");
