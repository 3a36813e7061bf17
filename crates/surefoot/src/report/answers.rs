//! The table of answers.

use super::{ColumnPattern, ColumnType, Heading, Values, column, of_columns};
use crate::feature::Column;
use crate::outcome::Advice;
use crate::{Action, Outcome, Problem, describe_notes, essential};

/// The columns of a table of answers. It has a row for each person or, with several options, for each
/// action.
pub struct AnswerTable<'a> {
    problem: &'a Problem,
    has_options: bool,
}

/// One row of a table of answers.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The identifier of the person.
    pub id: &'a str,
    /// The position of the answer among those of the same person, counted from 0.
    pub option: usize,
    /// The answer.
    pub outcome: &'a Outcome,
    /// Why there is no action, in words.
    pub reason: Option<&'a str>,
    /// The person, in standardised units; NaN where a value is missing.
    pub individual: &'a [f64],
}

const ID: ColumnPattern = column(
    "id",
    ColumnType::Text,
    "the person: the column `id`, or that of `--id`, otherwise the number of the row",
);
const OPTION: ColumnPattern = column(
    "option",
    ColumnType::Number,
    "only with `--options` above 1: 1 for the cheapest action, 2 for the next; empty without an action",
);
const STATUS: ColumnPattern = column("status", ColumnType::Text, "[see below](#statuses-and-verdicts)");
const COST: ColumnPattern = column(
    "cost",
    ColumnType::Number,
    "the effort of the action, in standard deviations; empty without an action",
);
const COST_BOUND: ColumnPattern = column(
    "cost_bound",
    ColumnType::Number,
    "proven: no action that holds costs less; empty for `favourable` and `impossible`",
);
const MARGIN: ColumnPattern = column(
    "margin",
    ColumnType::Number,
    "proven: the margin is at least this for every perturbation; empty without a proven action",
);
const EPSILON: ColumnPattern =
    column("epsilon", ColumnType::Number, "the uncertainty that the answer guards against");
const INTERVENTION: ColumnPattern =
    column("intervention", ColumnType::Text, "the features that the action acts upon, with `;` between them");
const ACTION: ColumnPattern = column(
    "action:<feature>",
    ColumnType::OwnValue,
    "the change of an actionable feature in own units; empty: not acted upon; `0`: held. Of a category the one to reach; the present one: held",
);
const COUNTERFACTUAL: ColumnPattern = column(
    "counterfactual:<feature>",
    ColumnType::OwnValue,
    "the feature after the action, without any perturbation; empty without an action, and where the value is missing",
);
const REASON: ColumnPattern =
    column("reason", ColumnType::Text, "for `impossible` and `undecided`: why, in words");
const NOTE: ColumnPattern = column(
    "note",
    ColumnType::Text,
    "only if a feature has special values or may be missing: which of them the person has, in words",
);

impl<'a> AnswerTable<'a> {
    /// Every column, in order; `option` is only there if people may have several answers.
    pub const PATTERNS: [ColumnPattern; 12] = [
        ID,
        OPTION,
        STATUS,
        COST,
        COST_BOUND,
        MARGIN,
        EPSILON,
        INTERVENTION,
        ACTION,
        COUNTERFACTUAL,
        REASON,
        NOTE,
    ];

    /// The table of a problem; `has_options`: people may have several answers.
    pub fn new(problem: &'a Problem, has_options: bool) -> Self {
        Self { problem, has_options }
    }

    /// Its columns.
    pub fn headings(&self) -> Vec<Heading> {
        let features = self.problem.features();
        let mut headings = vec![ID.heading()];
        headings.extend(self.has_options.then(|| OPTION.heading()));
        let fixed = [STATUS, COST, COST_BOUND, MARGIN, EPSILON, INTERVENTION];
        headings.extend(fixed.iter().map(ColumnPattern::heading));
        headings.extend(of_columns(&ACTION, features, |i| features.feature(i).is_actionable()));
        headings.extend(of_columns(&COUNTERFACTUAL, features, |_| true));
        headings.push(REASON.heading());
        headings.extend(self.has_notes().then(|| NOTE.heading()));
        headings
    }

    /// The values of these rows, column by column.
    pub fn values(&self, rows: &[Answer<'_>]) -> Vec<Values> {
        let outcomes = || rows.iter().map(|row| row.outcome);
        let advice: Vec<Option<Advice<'_>>> = outcomes().map(Outcome::advice).collect();
        let mut values = vec![Values::texts(rows.iter().map(|row| Some(row.id)))];
        if self.has_options {
            // Counted from 1; a person without an action has no option.
            let number = |row: &Answer<'_>| row.outcome.advice().map(|_| (row.option + 1) as f64);
            values.push(Values::numbers(rows.iter().map(number)));
        }
        let bound = |outcome: &Outcome| match outcome {
            Outcome::Found(recourse) => Some(recourse.cost_bound),
            Outcome::Undecided(undecided) => Some(undecided.cost_bound),
            _ => None,
        };
        // The essential changes only: a zero change means that a feature is held.
        let action = |advice: &Option<Advice<'_>>| Some(essential(self.problem, advice.as_ref()?.action));
        let actions: Vec<Option<Action>> = advice.iter().map(action).collect();
        let intervention = |action: &Option<Action>| Some(self.intervention(action.as_ref()?));
        values.extend([
            Values::texts(outcomes().map(|outcome| Some(outcome.status()))),
            Values::numbers(advice.iter().map(|advice| Some(advice.as_ref()?.cost))),
            Values::numbers(outcomes().map(bound)),
            Values::numbers(outcomes().map(|outcome| Some(outcome.recourse()?.margin))),
            Values::numbers(outcomes().map(|_| Some(self.problem.epsilon()))),
            Values::texts(actions.iter().map(intervention)),
        ]);
        let features = self.problem.features();
        for column in features.columns() {
            if column.positions().any(|i| features.feature(i).is_actionable()) {
                values.push(self.actions(column, &actions, &advice));
            }
        }
        values.extend(features.columns().iter().map(|column| self.counterfactuals(column, rows, &advice)));
        values.push(Values::texts(rows.iter().map(|row| row.reason)));
        if self.has_notes() {
            let note = |row: &Answer<'_>| describe_notes(self.problem, row.individual, row.outcome);
            values.push(Values::Text(rows.iter().map(note).collect()));
        }
        values
    }

    /// Whether there is something to note about some people: a special or a missing value.
    fn has_notes(&self) -> bool {
        let mut features = self.problem.features().iter();
        features.any(|feature| !feature.special.is_empty() || feature.missing.is_some())
    }

    /// The columns that an action intervenes upon, as text.
    fn intervention(&self, action: &Action) -> String {
        let is_acted_upon = |column: &&Column| column.positions().any(|i| action.features.contains(&i));
        let names = self.problem.features().columns().iter().filter(is_acted_upon).map(Column::name);
        names.collect::<Vec<_>>().join(";")
    }

    /// The changes of one column in own units. For a category: the one to reach, which is the present one
    /// if it is held.
    fn actions(&self, column: &Column, actions: &[Option<Action>], advice: &[Option<Advice<'_>>]) -> Values {
        let features = self.problem.features();
        if column.categories().is_some() {
            let target = |(action, advice): (&Option<Action>, &Option<Advice<'_>>)| {
                let (action, advice) = (action.as_ref()?, advice.as_ref()?);
                let is_acted_upon = column.positions().any(|i| action.features.contains(&i));
                is_acted_upon.then(|| self.reached(column, advice)).flatten()
            };
            return Values::texts(actions.iter().zip(advice).map(target));
        }
        let at = column.positions().start;
        let feature = features.feature(at);
        let change = |action: &Option<Action>| {
            let action = action.as_ref()?;
            let place = action.features.iter().position(|&acted| acted == at)?;
            Some(feature.snap_to_step(action.change[place] * feature.std))
        };
        Values::numbers(actions.iter().map(change))
    }

    /// The values of one column after the action, in own units. What is not known before is not known after it.
    fn counterfactuals(&self, column: &Column, rows: &[Answer<'_>], advice: &[Option<Advice<'_>>]) -> Values {
        let is_known = |row: &Answer<'_>| {
            column.positions().all(|i| row.individual.get(i).is_none_or(|value| !value.is_nan()))
        };
        let known = rows.iter().zip(advice).map(|(row, advice)| advice.as_ref().filter(|_| is_known(row)));
        if column.categories().is_some() {
            return Values::texts(known.map(|advice| self.reached(column, advice?)));
        }
        let at = column.positions().start;
        let feature = self.problem.features().feature(at);
        let reached = |advice: Option<&Advice<'_>>| {
            Some(feature.snap_to_integer(feature.own_units(advice?.counterfactual[at])))
        };
        Values::numbers(known.map(reached))
    }

    /// The category of a column after an action.
    fn reached<'c>(&self, column: &'c Column, advice: &Advice<'_>) -> Option<&'c str> {
        let features = self.problem.features();
        column.text(|i| features.feature(i).own_units(advice.counterfactual[i]))
    }
}
