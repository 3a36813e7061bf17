//! The table of verdicts.

use super::{ColumnPattern, ColumnType, FEASIBLE, Heading, INFEASIBLE_REASON, Values, column, feasibility};
use crate::{Infeasible, Problem, Result, Verdict, describe_break};

/// The columns of a table of verdicts. It has a row for each action.
pub struct VerdictTable<'a> {
    problem: &'a Problem,
}

/// One row of a table of verdicts.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The identifier of the person.
    pub id: &'a str,
    /// The verdict, and the reasons why the action is infeasible, if it is. `None` if the person has no
    /// action.
    pub action: Option<(&'a Verdict, Option<&'a Infeasible>)>,
}

impl<'a> VerdictTable<'a> {
    /// Every column, in order.
    pub const PATTERNS: [ColumnPattern; 7] = [
        column("id", ColumnType::Text, "the person"),
        column("verdict", ColumnType::Text, "`holds`, `breaks` or `undecided`"),
        column("margin", ColumnType::Number, "proven: the margin is at least this for every perturbation"),
        column(
            "margin_at_most",
            ColumnType::Number,
            "the lowest margin that was found, for `breaks` and `undecided`",
        ),
        column(
            "breaks_with",
            ColumnType::Text,
            "the perturbation that breaks the action, in words, and the model in which it does if there are several",
        ),
        FEASIBLE,
        INFEASIBLE_REASON,
    ];

    /// The table of a problem.
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem }
    }

    /// Its columns.
    pub fn headings(&self) -> Vec<Heading> {
        Self::PATTERNS.iter().map(ColumnPattern::heading).collect()
    }

    /// The values of these rows, column by column.
    ///
    /// # Errors
    /// If a perturbation does not fit the problem.
    pub fn values(&self, rows: &[Judged<'_>]) -> Result<Vec<Values>> {
        let verdicts = || rows.iter().map(|row| row.action.map(|(verdict, _)| verdict));
        let finite = |margin: f64| Some(margin).filter(|margin| margin.is_finite());
        let lower = |verdict: &Verdict| match verdict {
            Verdict::Holds { margin } => finite(*margin),
            Verdict::Breaks { .. } => None,
            Verdict::Undecided { lower, .. } => finite(*lower),
        };
        let upper = |verdict: &Verdict| match verdict {
            Verdict::Holds { .. } => None,
            Verdict::Breaks { margin, .. } => finite(*margin),
            Verdict::Undecided { upper, .. } => finite(*upper),
        };
        let shift = |verdict: Option<&Verdict>| match verdict {
            Some(Verdict::Breaks { variant, perturbation, .. }) => {
                describe_break(self.problem, *variant, perturbation).map(Some)
            }
            _ => Ok(None),
        };
        let [feasible, reason] = feasibility(rows.iter().map(|row| row.action.map(|(_, why)| why)));
        Ok(vec![
            Values::texts(rows.iter().map(|row| Some(row.id))),
            Values::texts(verdicts().map(|verdict| verdict.map(word))),
            Values::numbers(verdicts().map(|verdict| lower(verdict?))),
            Values::numbers(verdicts().map(|verdict| upper(verdict?))),
            Values::Text(verdicts().map(shift).collect::<Result<_>>()?),
            feasible,
            reason,
        ])
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds { .. } => "holds",
        Verdict::Breaks { .. } => "breaks",
        Verdict::Undecided { .. } => "undecided",
    }
}
