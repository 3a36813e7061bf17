//! Actions from a table, looked up by who takes them.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefoot::{Action, Features, Infeasible, escape_line};
use surefoot_cli::table::{Reader, Table, parse_number};

use crate::ids::Ids;

/// How many examples are told.
pub const EXAMPLES: usize = 3;

/// A table of actions: a column that identifies people and, for each feature that is acted upon, a
/// column `action:<feature>` with its change in own units; empty: not acted upon; 0: held where it is.
///
/// Somebody may have several actions where there is a column `option`.
///
/// It is read only as far as the people who are looked up ask for. Where both tables are in the
/// same order, as `surefoot recourse` leaves them, memory does not grow with them.
pub struct Answers<'a> {
    path: PathBuf,
    features: &'a Features,
    reader: Reader,
    /// The features with a column of actions.
    told: Vec<usize>,
    /// None where people are known by their row.
    ids: Option<Ids>,
    has_options: bool,
    /// What was read and not yet looked up; nothing for people without an action.
    waiting: HashMap<String, Vec<Action>>,
    /// Whose row was read last: more of theirs may follow.
    last: Option<String>,
}

impl<'a> Answers<'a> {
    /// Opens a table; people are known by the column `id`, or another that is named, or by their row.
    pub fn open(path: &Path, features: &'a Features, id: Option<&str>) -> Result<Self> {
        let table = Table::open(path)?;
        let has = |name: &String| table.columns().contains(name);
        let id = id.map(str::to_owned).or_else(|| Some("id".to_owned()).filter(has));
        // Also of what may not be changed: that an action asks for it is told of whoever it is given.
        let told: Vec<usize> = (0..features.len()).filter(|&i| has(&column(features, i))).collect();
        if told.is_empty() {
            let names: Vec<String> =
                features.actionable().iter().map(|&i| format!("`{}`", column(features, i))).collect();
            bail!("{}: has no column of actions; there should be {}", path.display(), names.join(", "));
        }
        let known: Vec<String> = told.iter().map(|&i| column(features, i)).collect();
        let is_unknown = |name: &&String| name.starts_with("action:") && !known.contains(name);
        if let Some(name) = table.columns().iter().find(is_unknown) {
            bail!(
                "{}: column `{name}` is of no feature of the problem; correct its name, or remove it",
                path.display()
            );
        }
        let has_options = has(&"option".to_owned());
        let ids = id.as_ref().map(|column| Ids::new(path, column));
        let texts: Vec<String> = told.iter().map(|&i| column(features, i)).chain(id).collect();
        let reader = table.select(&[], &texts)?;
        let (path, waiting, last) = (path.into(), HashMap::new(), None);
        Ok(Self { path, features, reader, told, ids, has_options, waiting, last })
    }

    /// The actions of somebody; none if the table has none.
    pub fn take(&mut self, id: &str) -> Result<Vec<Action>> {
        loop {
            let is_integer = !self.has_options || self.last.as_deref() != Some(id);
            if is_integer && let Some(actions) = self.waiting.remove(id) {
                return Ok(actions);
            }
            if !self.read()? {
                return Ok(self.waiting.remove(id).unwrap_or_default());
            }
        }
    }

    /// Refuses actions that nobody has looked up.
    pub fn finish(mut self, people: &Path) -> Result<()> {
        while self.read()? {}
        self.waiting.retain(|_, actions| !actions.is_empty());
        let Some(first) = self.waiting.keys().min() else { return Ok(()) };
        bail!(
            "{}: {} actions are of nobody in {}; the first of `{}`",
            self.path.display(),
            self.waiting.len(),
            people.display(),
            escape_line(first)
        );
    }

    /// Reads some more; whether there was any.
    fn read(&mut self) -> Result<bool> {
        let Some(batch) = self.reader.next() else { return Ok(false) };
        let mut batch = batch?;
        let mut ids = if self.ids.is_some() { batch.texts.pop() } else { None };
        for (row, place) in batch.places.iter().enumerate() {
            let mut action = Action { features: Vec::new(), change: Vec::new() };
            let cells = batch.texts.iter().zip(&self.told).filter(|(cells, _)| !cells[row].is_empty());
            for (cells, &i) in cells {
                let place =
                    || format!("{}, {place}, column `{}`", self.path.display(), column(self.features, i));
                let change = parse_number(&cells[row]).with_context(place)?;
                action.features.push(i);
                action.change.push(change / self.features.feature(i).std);
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
            actions.extend(Some(action).filter(|action| !action.features.is_empty()));
            self.last = Some(name);
        }
        Ok(true)
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
                write!(f, "{count} of them cannot be taken, by what the problem allows.\n{}", self.examples)
            }
        }
    }
}

fn column(features: &Features, i: usize) -> String {
    format!("action:{}", features.feature(i).name)
}
