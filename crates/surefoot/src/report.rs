//! The tables that Surefoot writes: which columns they have, what each means, and the values of their rows.
//!
//! Answers ([`AnswerTable`]), verdicts of `certify` ([`VerdictTable`]) and results of `attack`
//! ([`AttackTable`]) have their columns and units here and nowhere else. The command line and the Python
//! package only convert [`Values`] into the tables of their libraries.
//!
//! Values are in people's own units. A feature with categories is shown by its text: `action:job` is the
//! category to reach.

mod answers;
mod attack;
mod certify;

pub use answers::{Answer, AnswerTable};
pub use attack::{AttackTable, Attacked};
pub use certify::{Judged, VerdictTable};

use crate::{Features, Infeasible};

/// What a column of a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// Numbers.
    Number,
    /// True or false.
    Boolean,
    /// Numbers; of a feature with categories their texts.
    OwnValue,
}

impl ColumnType {
    /// The words for it in documentation.
    pub fn words(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Number => "number",
            ColumnType::Boolean => "true or false",
            ColumnType::OwnValue => "number; text for a category",
        }
    }
}

/// A column as the documentation lists it, or several: `<feature>` in its name stands for each feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPattern {
    /// The name.
    pub name: &'static str,
    /// What it holds.
    pub holds: ColumnType,
    /// What that means, as the glossary has it.
    pub meaning: &'static str,
}

/// A pattern in one line.
const fn column(name: &'static str, holds: ColumnType, meaning: &'static str) -> ColumnPattern {
    ColumnPattern { name, holds, meaning }
}

/// A column of a table: its name, and whether it holds text, numbers or truths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The name.
    pub name: String,
    /// What it holds; never [`ColumnType::OwnValue`].
    pub holds: ColumnType,
}

/// The values of one column, row by row; none where there is nothing to say.
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

/// The headings of a pattern that has a column for each column of people's tables.
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
    /// The heading of a pattern that stands for one column.
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
