//! The tables of the retraining experiment.

use super::super::figures::{guard_label, label};
use super::super::retraining::statistic::{Setting, Shares, Worth};
use super::super::{Change, Guard, Results, Statistic};
use super::tables::{Entry, NONE, Table};
use crate::training::Model;

/// The tables for a model: one for each choice of the rows of later versions.
pub(super) fn tables(results: &Results, model: Model) -> Vec<Table> {
    [Change::People, Change::Period, Change::Bootstrap]
        .into_iter()
        .map(|change| table(results, model, change))
        .collect()
}

fn table(results: &Results, model: Model, change: Change) -> Table {
    let mut rows = Vec::new();
    for setting in results.settings(model, change) {
        let worths = Guard::ALL.into_iter().filter_map(|guard| Some((guard, results.worth(setting, guard)?)));
        rows.extend(worths.map(|(guard, worth)| row(setting, guard, &worth)));
        rows.extend(results.favourable(setting).map(|share| idle(setting, share)));
    }
    let head = [
        "data set",
        "guarded against",
        "people",
        "with an action",
        "undecided",
        "cost by standard: median (quartiles)",
        "model again: still holds",
        "within 0.1",
        "causal model again: still holds",
        "within 0.1",
        "both again: still holds",
        "within 0.1",
        "people with every action, both again: still holds",
        "within 0.1",
    ];
    let title = format!("Actions that still hold with later versions, trained on {}", rows_of(change));
    Table { title, head: head.map(String::from).to_vec(), names: 2, rows }
}

/// The rows of later versions, in words.
fn rows_of(change: Change) -> &'static str {
    match change {
        Change::Bootstrap => "further bootstraps of the same rows",
        Change::People => "as many other people",
        Change::Period => "as many people of the next period",
    }
}

fn row(setting: Setting, guard: Guard, worth: &Worth) -> Vec<Entry> {
    let mut row: Vec<Entry> = vec![
        label(setting.data).into(),
        guard_label(guard).into(),
        worth.people.to_string().into(),
        number(Some(worth.found)),
        number(Some(worth.undecided)),
        cost(worth.cost),
    ];
    for shares in [worth.model, worth.causal_model, worth.both, worth.alike] {
        let of = |which: fn(Shares) -> Statistic| number(shares.map(which));
        row.extend([of(|shares| shares.reported), of(|shares| shares.robust)]);
    }
    row
}

/// The row of those who need no action.
fn idle(setting: Setting, share: Statistic) -> Vec<Entry> {
    let mut row: Vec<Entry> = vec![label(setting.data).into(), "without an action".into()];
    row.resize(14, NONE.into());
    row[6] = number(Some(share));
    row
}

/// A mean with the standard deviation from seed to seed.
fn number(statistic: Option<Statistic>) -> Entry {
    match statistic {
        Some(Statistic { mean, deviation, seeds: 2.. }) => format!("{mean:.2} ± {deviation:.2}").into(),
        Some(Statistic { mean, .. }) => format!("{mean:.2}").into(),
        None => NONE.into(),
    }
}

/// A median with its quartiles.
fn cost(quartiles: Option<[f64; 3]>) -> Entry {
    match quartiles {
        Some([lower, median, upper]) => format!("{median:.2} ({lower:.2} to {upper:.2})").into(),
        None => NONE.into(),
    }
}
