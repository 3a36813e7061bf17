//! Actions from a table, looked up by who takes them.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::table::{Reader, Table, parse_number};
use anyhow::{Context, Result, bail};
use surefoot::feature::Column;
use surefoot::{Action, Features, Infeasible, Problem, escape_line};

use crate::ids::Ids;
use crate::words::number_of;

/// How many examples are shown.
pub const EXAMPLES: usize = 3;

/// A table of actions: a column that identifies people and, for each feature that is acted upon, a
/// column `action:<feature>` with its change in own units; empty: not acted upon; 0: held where it is. Of a
/// category it has the one to reach.
///
/// Somebody may have several actions where there is a column `option`.
///
/// It is read only as far as the people who are looked up ask for. Where both tables are in the
/// same order, as `surefoot recourse` leaves them, memory does not grow with them.
pub struct Answers<'a> {
    path: PathBuf,
    features: &'a Features,
    reader: Reader,
    /// The columns of people's tables that have a column of actions.
    acted_upon: Vec<&'a Column>,
    /// None where people are known by their row.
    ids: Option<Ids>,
    has_options: bool,
    /// What was read and not yet looked up; nothing for people without an action.
    waiting: HashMap<String, Vec<StatedAction>>,
    /// Whose row was read last: more of theirs may follow.
    last: Option<String>,
}

/// An action as the table states it: features with what becomes of each.
pub type StatedAction = Vec<(usize, Becomes)>;

/// What an action makes of a feature.
#[derive(Clone, Copy, Debug)]
pub enum Becomes {
    /// Another value by this much, in standardised units.
    Changed(f64),
    /// This value, in own units: that of a category.
    Reached(f64),
}

impl<'a> Answers<'a> {
    /// Opens a table; people are known by the column `id`, or another that is named, or by their row.
    pub fn open(path: &Path, features: &'a Features, id: Option<&str>) -> Result<Self> {
        let table = Table::open(path)?;
        let has = |name: &String| table.columns().contains(name);
        let id = id.map(str::to_owned).or_else(|| Some("id".to_owned()).filter(has));
        // Also columns of fixed features: an action that changes one is reported as infeasible.
        let acted_upon: Vec<&Column> =
            features.columns().iter().filter(|column| has(&action_column(column))).collect();
        if acted_upon.is_empty() {
            let is_actionable =
                |column: &&Column| column.positions().any(|i| features.feature(i).is_actionable());
            let columns = features.columns().iter().filter(is_actionable);
            let names: Vec<String> = columns.map(|column| format!("`{}`", action_column(column))).collect();
            bail!(
                "{}: has no column of actions; give at least one of {}, as `surefoot recourse` writes them",
                path.display(),
                names.join(", ")
            );
        }
        let known: Vec<String> = acted_upon.iter().map(|column| action_column(column)).collect();
        let is_unknown = |name: &&String| name.starts_with("action:") && !known.contains(name);
        if let Some(name) = table.columns().iter().find(is_unknown) {
            bail!(
                "{}: column `{name}` does not belong to a feature of the problem; correct its name, or remove it",
                path.display()
            );
        }
        let has_options = has(&"option".to_owned());
        let ids = id.as_ref().map(|column| Ids::new(path, column));
        let texts: Vec<String> = known.iter().cloned().chain(id).collect();
        let reader = table.select(&[], &texts)?;
        let (path, waiting, last) = (path.into(), HashMap::new(), None);
        Ok(Self { path, features, reader, acted_upon, ids, has_options, waiting, last })
    }

    /// The actions of somebody, who is given in standardised units; none if the table has none.
    pub fn take(&mut self, id: &str, individual: &[f64]) -> Result<Vec<Action>> {
        let stated = loop {
            let is_complete = !self.has_options || self.last.as_deref() != Some(id);
            if is_complete && let Some(stated) = self.waiting.remove(id) {
                break stated;
            }
            if !self.read()? {
                break self.waiting.remove(id).unwrap_or_default();
            }
        };
        Ok(stated.iter().map(|action| action_of(self.features, action, individual)).collect())
    }

    /// Refuses actions that nobody has looked up.
    pub fn finish(mut self, people: &Path) -> Result<()> {
        while self.read()? {}
        self.waiting.retain(|_, actions| !actions.is_empty());
        let Some(first) = self.waiting.keys().min() else { return Ok(()) };
        let (first, people) = (escape_line(first), people.display());
        let whom = match self.waiting.len() {
            1 => format!("1 person who is not in {people}: `{first}`"),
            count => format!("{count} people who are not in {people}, the first of them `{first}`"),
        };
        bail!(
            "{}: has actions for {whom}; add them to {people}, remove their rows, or name the column that \
             identifies people in both tables with --id",
            self.path.display()
        );
    }

    /// Reads some more; whether there was any.
    fn read(&mut self) -> Result<bool> {
        let Some(batch) = self.reader.next() else { return Ok(false) };
        let mut batch = batch?;
        let mut ids = if self.ids.is_some() { batch.texts.pop() } else { None };
        for (row, place) in batch.places.iter().enumerate() {
            let mut action = StatedAction::new();
            let cells = batch.texts.iter().zip(&self.acted_upon).filter(|(cells, _)| !cells[row].is_empty());
            for (cells, column) in cells {
                let place =
                    || format!("{}, {place}, column `{}`", self.path.display(), action_column(column));
                action.extend(parse_cell(self.features, column, &cells[row]).with_context(place)?);
            }
            let name = match &mut ids {
                Some(ids) => std::mem::take(&mut ids[row]),
                None => (batch.start + row + 1).to_string(),
            };
            // The options of somebody are in rows that follow each other.
            let is_another_option = self.has_options && self.last.as_ref() == Some(&name);
            if let Some(ids) = self.ids.as_mut().filter(|_| !is_another_option) {
                ids.note(&name, *place)?;
            }
            let actions = self.waiting.entry(name.clone()).or_default();
            actions.extend(Some(action).filter(|action| !action.is_empty()));
            self.last = Some(name);
        }
        Ok(true)
    }
}

/// The changes that a stated action asks of an individual.
pub fn action_of(features: &Features, stated: &StatedAction, individual: &[f64]) -> Action {
    let change = |&(i, becomes): &(usize, Becomes)| match becomes {
        Becomes::Changed(change) => change,
        Becomes::Reached(value) => {
            let feature = features.feature(i);
            let own = features.imputed(individual)[i];
            (value - feature.own_units(own).round()) / feature.std
        }
    };
    Action { features: stated.iter().map(|(i, _)| *i).collect(), change: stated.iter().map(change).collect() }
}

/// What one cell of a table of actions states.
fn parse_cell(features: &Features, column: &Column, cell: &str) -> Result<StatedAction> {
    match column.categories() {
        None => Ok(stated_change(features, column, parse_number(cell)?)),
        Some(_) => stated_category(features, column, cell),
    }
}

/// A change of a column of numbers, in own units.
pub fn stated_change(features: &Features, column: &Column, change: f64) -> StatedAction {
    let first = column.positions().start;
    vec![(first, Becomes::Changed(change / features.feature(first).std))]
}

/// The category that is to be reached in a column of texts.
pub fn stated_category(features: &Features, column: &Column, category: &str) -> Result<StatedAction> {
    let mut row = vec![0.0; features.len()];
    column.place(category, &mut row)?;
    Ok(column.positions().map(|i| (i, Becomes::Reached(row[i]))).collect())
}

/// People for whom the table has no action.
#[derive(Default)]
pub struct WithoutAction {
    /// Those who need none: the decision is favourable as things stand.
    favourable: usize,
    /// Those who are turned down.
    turned_down: usize,
}

impl WithoutAction {
    /// Counts a person without an action.
    pub fn add(&mut self, problem: &Problem, individual: &[f64]) {
        match problem.score(individual) >= 0.0 {
            true => self.favourable += 1,
            false => self.turned_down += 1,
        }
    }
}

/// A sentence on each group that is not empty, behind a space.
impl fmt::Display for WithoutAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.favourable {
            0 => {}
            1 => f.write_str(" 1 person is treated favourably already and needs no action.")?,
            count => write!(f, " {count} people are treated favourably already and need no action.")?,
        }
        match self.turned_down {
            0 => Ok(()),
            1 => f.write_str(" 1 person who is turned down has no action."),
            count => write!(f, " {count} people who are turned down have no action."),
        }
    }
}

/// Actions that cannot be taken, whether they hold or not.
#[derive(Default)]
pub struct Hindered {
    /// How many.
    pub count: usize,
    examples: String,
}

impl Hindered {
    /// Notes why somebody cannot take an action, if so.
    pub fn note(&mut self, id: &str, why: Option<&Infeasible>) {
        let Some(why) = why else { return };
        self.count += 1;
        if self.count <= EXAMPLES {
            self.examples += &format!("The action of {} cannot be taken: {why}.\n", escape_line(id));
        }
    }
}

impl fmt::Display for Hindered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => Ok(()),
            count => {
                write!(
                    f,
                    "{} cannot be taken: the problem does not allow {}.\n{}",
                    number_of(count, "action"),
                    if count == 1 { "it" } else { "them" },
                    self.examples
                )
            }
        }
    }
}

/// The column of actions on a column of people's tables.
fn action_column(column: &Column) -> String {
    format!("action:{}", column.name())
}
