//! The table of attacked actions.

use super::{
    ColumnPattern, ColumnType, FEASIBLE, FEATURE, Heading, INFEASIBLE_REASON, Values, column, feasibility,
};
use crate::{Break, Infeasible, Problem, Result, describe_break};

/// The columns of a table of attacked actions. It has a row for each action.
pub struct AttackTable<'a> {
    problem: &'a Problem,
}

/// One row of a table of attacked actions.
#[derive(Clone, Copy, Debug)]
pub struct Attacked<'a> {
    /// The identifier of the person.
    pub id: &'a str,
    /// The smallest break found, if any, and the reasons why the action is infeasible, if it is. `None`
    /// if the person has no action.
    pub action: Option<(Option<&'a Break>, Option<&'a Infeasible>)>,
}

const ID: ColumnPattern = column("id", ColumnType::Text, "the person");
const BROKEN: ColumnPattern = column(
    "broken",
    ColumnType::Boolean,
    "whether a perturbation of at most `epsilon` was found that breaks the action",
);
const SMALLEST_BREAK: ColumnPattern = column(
    "smallest_break",
    ColumnType::Number,
    "the size of the smallest perturbation found that breaks it; may exceed `epsilon`",
);
const MARGIN: ColumnPattern = column("margin", ColumnType::Number, "the margin under that perturbation");
const SHIFT: ColumnPattern = column(
    "shift:<feature>",
    ColumnType::Number,
    "the shift of the feature by that perturbation, in own units; an unordered category has a column for each text, `shift:job=clerk`",
);
const BREAKS_WITH: ColumnPattern = column(
    "breaks_with",
    ColumnType::Text,
    "the same in words, and the model in which it breaks the action if there are several",
);

impl<'a> AttackTable<'a> {
    /// Every column, in order.
    pub const PATTERNS: [ColumnPattern; 8] =
        [ID, BROKEN, SMALLEST_BREAK, MARGIN, SHIFT, BREAKS_WITH, FEASIBLE, INFEASIBLE_REASON];

    /// The table of a problem.
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem }
    }

    /// Its columns. A shift has one for each feature of the engine, including those of categories,
    /// because shifts are not integer.
    pub fn headings(&self) -> Vec<Heading> {
        let mut headings: Vec<Heading> =
            [ID, BROKEN, SMALLEST_BREAK, MARGIN].iter().map(ColumnPattern::heading).collect();
        let features = self.problem.features().iter();
        headings.extend(
            features.map(|feature| Heading {
                name: SHIFT.name.replace(FEATURE, &feature.name),
                holds: SHIFT.holds,
            }),
        );
        headings.extend([BREAKS_WITH, FEASIBLE, INFEASIBLE_REASON].iter().map(ColumnPattern::heading));
        headings
    }

    /// Whether a break is within the uncertainty of the problem.
    pub fn is_broken(&self, found: &Break) -> bool {
        found.is_within
    }

    /// The values of these rows, column by column.
    ///
    /// # Errors
    /// If a perturbation does not fit the problem.
    pub fn values(&self, rows: &[Attacked<'_>]) -> Result<Vec<Values>> {
        let breaks = || rows.iter().map(|row| row.action.and_then(|(found, _)| found));
        let broken = |row: &Attacked<'_>| {
            row.action.map(|(found, _)| found.is_some_and(|found| self.is_broken(found)))
        };
        let mut values = vec![
            Values::texts(rows.iter().map(|row| Some(row.id))),
            Values::booleans(rows.iter().map(broken)),
            Values::numbers(breaks().map(|found| Some(found?.size))),
            Values::numbers(breaks().map(|found| Some(found?.margin))),
        ];
        for (i, feature) in self.problem.features().iter().enumerate() {
            values.push(Values::numbers(breaks().map(|found| Some(found?.shift[i] * feature.std))));
        }
        let describe = |found: &Break| describe_break(self.problem, found.variant, &found.perturbation);
        let words = breaks().map(|found| found.map(describe).transpose());
        values.push(Values::Text(words.collect::<Result<_>>()?));
        values.extend(feasibility(rows.iter().map(|row| row.action.map(|(_, why)| why))));
        Ok(values)
    }
}
