//! Edits problem files and preserves everything else in them.

mod uncertainty;

use std::path::{Path, PathBuf};

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use super::classifier::{ClassifierEntry, LinearModel, StatedModel};
use super::entry::{EquationEntry, EquationForm, Inputs, NetworkFile, activation_name};
use super::file::{ProblemFile, is_json};
use crate::error::FileError;
use crate::error::FileProblem;
use crate::feature::{Column, Missing, Special, columns};
use crate::file::{Audience, read_to_string, write_atomically};
use crate::{Change, Error, Feature, Kind, Result};

/// A TOML problem file, opened for changes. Comments, order and everything that is not changed are
/// preserved. The file is written only by [`Edit::save`].
///
/// ```no_run
/// use surefoot::problem::{ClassifierEntry, ClassifierForm, Edit, Inputs, LinearModel};
///
/// let form = ClassifierForm::Linear(LinearModel { coefficients: vec![0.8, 0.6], intercept: -0.5 });
/// let mut edit = Edit::open("problem.toml")?;
/// edit.set_classifier(&ClassifierEntry { form, threshold: 0.5, inputs: Inputs::Standardised });
/// edit.save()?;
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Edit {
    path: PathBuf,
    document: DocumentMut,
}

/// The fields of an entry, in order.
pub type Entries = Vec<(&'static str, Item)>;

impl Edit {
    /// Opens a file. It must be TOML, but may have mistakes or be incomplete.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if is_json(path) {
            return Err(Error::File(FileError::NotEditable { path: path.into() }));
        }
        let read = |error: std::io::Error| fault(path, FileProblem::Read(error.into()));
        // The target of a link is replaced, not the link.
        let path = std::fs::canonicalize(path).map_err(read)?;
        let text = read_to_string(&path).map_err(read)?;
        Self::parse(&text, &path)
    }

    /// As [`Edit::open`] from text, to be saved at this path.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        // Parsing reports a syntax error like any other mistake.
        ProblemFile::parse(text, path)?;
        let document = text.parse::<DocumentMut>();
        let document = document.map_err(|_| Error::File(FileError::NotEditable { path: path.into() }))?;
        Ok(Self { path: path.into(), document })
    }

    /// Replaces whatever decides by a committee, of which all must agree: a `[[classifier]]` for each member.
    pub fn set_committee(&mut self, members: &[(String, ClassifierEntry)]) {
        self.document.remove("agree");
        self.document.remove("classifier");
        let table = |(name, entry): &(String, ClassifierEntry)| {
            let mut table = Table::new();
            let fields = classifier(entry);
            update(&mut table, [vec![("name", value(name))], fields].concat());
            table
        };
        let mut tables: Vec<Table> = members.iter().map(table).collect();
        if let Some(first) = tables.first_mut() {
            self.place_last(first);
        }
        self.put("classifier", tables);
    }

    /// Sets the `[classifier]`.
    pub fn set_classifier(&mut self, entry: &ClassifierEntry) {
        let fields = classifier(entry);
        // One classifier replaces a whole committee.
        self.document.remove("agree");
        match self.document.get_mut("classifier").and_then(Item::as_table_mut) {
            Some(table) => update(table, fields),
            None => {
                let mut table = Table::new();
                update(&mut table, fields);
                self.document.remove("classifier");
                self.place_last(&mut table);
                self.document.insert("classifier", Item::Table(table));
            }
        }
    }

    /// Replaces all `[[equation]]` entries. The entry of a feature that already has one is changed in
    /// place; the others are appended.
    pub fn set_equations(&mut self, entries: &[EquationEntry]) {
        self.equations(entries, false);
    }

    /// Sets the `[[equation]]` of these features; those of other features stay as they are.
    pub fn update_equations(&mut self, entries: &[EquationEntry]) {
        self.equations(entries, true);
    }

    fn equations(&mut self, entries: &[EquationEntry], keep_others: bool) {
        let old = self.document.get_mut("equation").map(std::mem::take).unwrap_or_default();
        let is_inline = old.is_value();
        // Inline tables become sections of their own.
        let old = old.into_array_of_tables().unwrap_or_default();
        let mut placed: Vec<&str> = Vec::new();
        let mut tables: Vec<Table> = Vec::new();
        for mut table in old {
            let feature = table.get("feature").and_then(Item::as_str);
            match entries.iter().find(|entry| Some(entry.feature.as_str()) == feature) {
                Some(entry) if placed.contains(&entry.feature.as_str()) => {}
                Some(entry) => {
                    update(&mut table, equation(entry));
                    placed.push(&entry.feature);
                    tables.push(table);
                }
                None if keep_others => tables.push(table),
                None => {}
            }
        }
        let is_first = tables.is_empty() || is_inline;
        for entry in entries.iter().filter(|entry| !placed.contains(&entry.feature.as_str())) {
            let mut table = Table::new();
            update(&mut table, equation(entry));
            tables.push(table);
        }
        if is_first && let Some(first) = tables.first_mut() {
            self.document.remove("equation");
            self.place_last(first);
        }
        self.put("equation", tables);
    }

    /// Appends a `[[feature]]` for each feature; the features of an unordered category share one.
    pub fn add_features(&mut self, features: &[Feature]) {
        let old = match self.document.get_mut("feature") {
            Some(Item::ArrayOfTables(tables)) => std::mem::take(tables),
            _ => ArrayOfTables::new(),
        };
        let mut tables: Vec<Table> = old.into_iter().collect();
        let is_first = tables.is_empty();
        for column in columns(features) {
            let mut table = Table::new();
            update(&mut table, feature(&features[column.positions().start], &column));
            tables.push(table);
        }
        if is_first && let Some(first) = tables.first_mut() {
            self.document.remove("feature");
            self.place_last(first);
        }
        self.put("feature", tables);
    }

    fn put(&mut self, name: &str, tables: Vec<Table>) {
        if tables.is_empty() {
            self.document.remove(name);
            return;
        }
        let tables = Item::ArrayOfTables(tables.into_iter().collect());
        match self.document.get_mut(name) {
            Some(item) => *item = tables,
            None => {
                self.document.insert(name, tables);
            }
        }
    }

    /// Appends text, such as comments. An error if the result is not TOML.
    pub fn append(&mut self, text: &str) -> Result<()> {
        *self = Self::parse(&(self.text() + text), &self.path)?;
        Ok(())
    }

    /// Makes a new table the last one, after the comments at the end of the file.
    fn place_last(&mut self, table: &mut Table) {
        let positions = self.document.iter().flat_map(|(_, item)| match item {
            Item::Table(table) => vec![table.position()],
            Item::ArrayOfTables(tables) => tables.iter().map(Table::position).collect(),
            _ => Vec::new(),
        });
        let last = positions.flatten().max().unwrap_or(0);
        table.set_position(Some(last + 1));
        let trailing = self.document.trailing().as_str().unwrap_or_default().to_owned();
        if !trailing.trim().is_empty() {
            table.decor_mut().set_prefix(format!("{}\n\n", trailing.trim_end_matches('\n')));
            self.document.set_trailing("");
        }
    }

    /// The current text of the file.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Writes the file, atomically.
    pub fn save(&self) -> Result<()> {
        let written = write_atomically(&self.path, self.text().as_bytes(), Audience::Umask);
        written.map_err(|error| fault(&self.path, FileProblem::Write(error.kind())))
    }
}

fn fault(path: &Path, problem: FileProblem) -> Error {
    Error::File(FileError::File { path: path.into(), problem })
}

/// Sets exactly these fields of a table; comments of the fields that remain are kept.
fn update(table: &mut Table, fields: Entries) {
    let gone: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    for name in gone.iter().filter(|name| !fields.iter().any(|(field, _)| field == name)) {
        table.remove(name);
    }
    for (name, mut item) in fields {
        match table.get_mut(name) {
            Some(old) => {
                if let (Some(old), Some(new)) = (old.as_value(), item.as_value_mut()) {
                    *new.decor_mut() = old.decor().clone();
                }
                *old = item;
            }
            None => {
                table.insert(name, item);
            }
        }
    }
}

pub(super) fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Item {
    value(items.into_iter().collect::<Array>())
}

/// A number in its usual notation: `-6.9e-16`, not fifteen zeros.
pub(super) fn number(number: f64) -> Value {
    let is_plain = number == 0.0 || (1e-5..1e16).contains(&number.abs());
    let short = if is_plain { None } else { format!("{number:e}").parse().ok() };
    short.unwrap_or_else(|| number.into())
}

/// The fields of a network in a file.
pub(super) fn network_fields(file: &NetworkFile) -> Entries {
    let mut fields: Entries = vec![("network", value(file.path.display().to_string()))];
    if !file.prefix.is_empty() {
        fields.push(("prefix", value(&file.prefix)));
    }
    if let Some(activation) = file.activation {
        fields.push(("activation", value(activation_name(activation))));
    }
    fields
}

fn inputs(fields: &mut Entries, inputs: Inputs, default: Inputs) {
    if inputs != default {
        let name = if inputs == Inputs::Raw { "raw" } else { "standardised" };
        fields.push(("inputs", value(name)));
    }
}

fn classifier(entry: &ClassifierEntry) -> Entries {
    let mut fields = entry.form.model().fields();
    fields.push(("threshold", value(entry.threshold)));
    inputs(&mut fields, entry.inputs, entry.form.model().default_inputs());
    fields
}

fn equation(entry: &EquationEntry) -> Entries {
    let mut fields: Entries = vec![("feature", value(&entry.feature))];
    let mut with = |parents: &[String]| fields.push(("parents", list(parents)));
    match &entry.form {
        EquationForm::Formula { formula, inverse } => {
            fields.push(("formula", value(formula)));
            fields.extend(inverse.as_ref().map(|inverse| ("inverse", value(inverse))));
        }
        EquationForm::Linear { parents, coefficients, intercept, inputs: units } => {
            with(parents);
            let linear = LinearModel { coefficients: coefficients.clone(), intercept: *intercept };
            fields.extend(linear.fields());
            inputs(&mut fields, *units, Inputs::Standardised);
        }
        EquationForm::Network { parents, network: file, inputs: units } => {
            with(parents);
            fields.extend(network_fields(file));
            inputs(&mut fields, *units, Inputs::Standardised);
        }
    }
    fields
}

fn feature(feature: &Feature, column: &Column) -> Entries {
    let mut fields: Entries = vec![("name", value(column.name()))];
    if let Some(categories) = column.categories() {
        fields.push(("categories", list(categories)));
        fields.push(("ordered", value(column.is_ordered())));
    } else if let Some(group) = &feature.group {
        fields.push(("group", value(group)));
    } else if feature.kind != Kind::Real {
        fields.push(("kind", value(feature.kind.to_string())));
    }
    let words = &feature.words;
    fields.extend(words.label.as_ref().map(|label| ("label", value(label))));
    fields.extend(words.unit.as_ref().map(|unit| match &unit.forms()[..] {
        [form] => ("unit", value(form)),
        forms => ("unit", list(forms)),
    }));
    if !words.described.is_empty() {
        let described = words.described.iter().map(|(text, words)| (text.as_str(), words.as_str()));
        fields.push(("describe", value(described.collect::<InlineTable>())));
    }
    if !feature.special.is_empty() {
        let meaning = |special: &Special| Some((special.value.to_string(), special.meaning.clone()?));
        let meanings: Option<Vec<(String, String)>> = feature.special.iter().map(meaning).collect();
        fields.push((
            "special",
            match meanings {
                Some(meanings) => value(meanings.into_iter().collect::<InlineTable>()),
                None => list(feature.special.iter().map(|special| number(special.value))),
            },
        ));
    }
    if let Some(Missing { value: assumed, lower, upper }) = feature.missing {
        let mut missing = InlineTable::new();
        match column.categories().filter(|_| column.is_ordered()) {
            Some(texts) => {
                let text = |place: f64| texts.get(place as usize).map_or("", String::as_str);
                missing.insert("value", text(assumed).into());
                missing.insert("between", Value::Array([text(lower), text(upper)].into_iter().collect()));
            }
            None => {
                missing.insert("value", number(assumed));
                missing.insert("between", Value::Array([lower, upper].map(number).into_iter().collect()));
            }
        }
        fields.push(("missing", value(missing)));
    }
    fields.push(("mean", value(number(feature.mean))));
    fields.push(("std", value(number(feature.std))));
    let has_limits = feature.lower.is_finite() || feature.upper.is_finite();
    if has_limits && (column.categories().is_none() || column.is_ordered()) {
        fields.push(("limits", list([feature.lower, feature.upper].map(number))));
    }
    let change = match feature.change {
        Change::Fixed => "fixed",
        Change::Any => "any",
        Change::Increase => "increase",
        Change::Decrease => "decrease",
    };
    fields.push(("change", value(change)));
    fields.extend(feature.step.map(|step| ("step", value(number(step)))));
    for (name, most) in
        [("most_change", feature.most_change), ("most_change_share", feature.most_change_share)]
    {
        if most.is_finite() {
            fields.push((name, value(number(most))));
        }
    }
    if feature.weight != 1.0 {
        fields.push(("weight", value(feature.weight)));
    }
    fields
}
