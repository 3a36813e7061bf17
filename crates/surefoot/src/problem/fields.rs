//! The fields of one entry of a problem file, read one by one. Mistakes are collected.

use super::entry::{ACTIVATIONS, NetworkFile};
use super::syntax::{Node, Value};
use crate::error::{Fault, Mistake};
use crate::feature::nearest;
use crate::magnitude::readable;

/// Fields of the top of a problem file that are no tables.
const AT_THE_TOP: [&str; 8] =
    ["epsilon", "norm", "cost", "form", "limits_on", "safety", "agree", "most_changes"];

/// Whether a field belongs to the top of a problem file and is in an entry, as one that follows a heading is.
fn entry_is_below(entry: &Option<String>, name: &str) -> bool {
    entry.is_some() && AT_THE_TOP.contains(&name)
}

/// A table whose field names have been checked.
pub(crate) struct Fields<'a> {
    entries: &'a [(String, Node)],
    line: Option<usize>,
    entry: Option<String>,
    mistakes: Vec<Mistake>,
}

impl<'a> Fields<'a> {
    /// Reports every unknown or repeated field.
    pub fn new(node: &'a Node, entry: Option<String>, known: &[&'static str]) -> Self {
        let Value::Table(entries) = &node.value else {
            let mut nothing = Self { entries: &[], line: node.line, entry: None, mistakes: Vec::new() };
            let field = entry.unwrap_or_else(|| "the file".into());
            nothing.report(node.line, wrong_type(&field, "a table", &node.value));
            return nothing;
        };
        let mut fields = Self { entries, line: node.line, entry, mistakes: Vec::new() };
        for (position, (name, node)) in entries.iter().enumerate() {
            if entry_is_below(&fields.entry, name) && !known.contains(&name.as_str()) {
                fields.report(node.line, Fault::Misplaced { field: name.clone() });
            } else if !known.contains(&name.as_str()) {
                let known_names = known.iter().map(|&name| name.into()).collect();
                let nearest = nearest(name, known);
                fields.report(
                    node.line,
                    Fault::UnknownField { field: name.clone(), nearest, known: known_names },
                );
            } else if entries[..position].iter().any(|(earlier, _)| earlier == name) {
                fields.report(node.line, Fault::RepeatedField { field: name.clone() });
            }
        }
        fields
    }

    pub fn report(&mut self, line: Option<usize>, fault: impl Into<Fault>) {
        let entry = self.entry.clone();
        self.mistakes.push(Mistake { line: line.or(self.line), entry, fault: fault.into() });
    }

    /// Reports a mistake that no single field causes.
    pub fn report_here(&mut self, fault: impl Into<Fault>) {
        self.report(None, fault);
    }

    /// Reports a mistake at the line of a field.
    pub fn report_at(&mut self, name: &str, fault: impl Into<Fault>) {
        self.report(self.line_of(name), fault);
    }

    /// Sets the name of this entry in its mistakes.
    pub fn rename(&mut self, entry: String) {
        for mistake in &mut self.mistakes {
            mistake.entry = Some(entry.clone());
        }
        self.entry = Some(entry);
    }

    /// The mistakes of this entry.
    pub fn finish(self) -> Vec<Mistake> {
        self.mistakes
    }

    /// Adds the mistakes of a table within this entry.
    pub fn add(&mut self, mistakes: Vec<Mistake>) {
        self.mistakes.extend(mistakes);
    }

    pub fn is_clean(&self) -> bool {
        self.mistakes.is_empty()
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub fn find(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(found, _)| found == name).map(|(_, node)| node)
    }

    fn line_of(&self, name: &str) -> Option<usize> {
        self.find(name).and_then(|node| node.line)
    }

    /// Reports a missing field.
    pub fn require(&mut self, field: &'static str, remedy: &'static str) {
        if !self.has(field) {
            self.report_here(Fault::MissingField { field, remedy });
        }
    }

    pub fn number(&mut self, name: &str) -> Option<f64> {
        let node = self.find(name)?;
        match node.value {
            Value::Number(number) => Some(number),
            ref other => self.mistyped(node, name, "a number", other),
        }
    }

    /// A whole number that is not negative.
    pub fn count(&mut self, name: &str) -> Option<usize> {
        let node = self.find(name)?;
        match node.value {
            Value::Number(number) if number >= 0.0 && number.fract() == 0.0 && number < 1e9 => {
                Some(number as usize)
            }
            Value::Number(number) => {
                let (field, found) = (name.to_owned(), readable(number));
                let expected = "a whole number that is not negative";
                self.report(node.line, Fault::Type { field, expected, found });
                None
            }
            ref other => self.mistyped(node, name, "a whole number", other),
        }
    }

    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        let node = self.find(name)?;
        match node.value {
            Value::Boolean(boolean) => Some(boolean),
            ref other => self.mistyped(node, name, "true or false", other),
        }
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        let node = self.find(name)?;
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            other => self.mistyped(node, name, "a text, between quotes", other),
        }
    }

    /// The value of one of a few words.
    pub fn choice<T: Clone>(&mut self, field: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
        let found = self.text(field)?;
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == found) {
            return Some(choice.clone());
        }
        let known: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let nearest = nearest(&found, &known);
        let known = known.into_iter().map(Into::into).collect();
        self.report_at(field, Fault::Choice { field, found, nearest, known });
        None
    }

    pub fn numbers(&mut self, name: &str) -> Option<Vec<f64>> {
        self.list(name, "a list of numbers", |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    pub fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        self.list(name, "a list of texts", |value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// A table of texts, in its order.
    pub fn named_texts(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        const EXPECTED: &str = "a table of texts";
        let node = self.find(name)?;
        let Value::Table(entries) = &node.value else {
            return self.mistyped(node, name, EXPECTED, &node.value);
        };
        let mut texts = Vec::with_capacity(entries.len());
        for (position, (key, node)) in entries.iter().enumerate() {
            if entries[..position].iter().any(|(earlier, _)| earlier == key) {
                self.report(node.line, Fault::RepeatedField { field: key.clone() });
                return None;
            }
            match &node.value {
                Value::Text(text) => texts.push((key.clone(), text.clone())),
                other => {
                    let found = format!("a table with {} in it", other.kind());
                    self.report(node.line, Fault::Type { field: name.into(), expected: EXPECTED, found });
                    return None;
                }
            }
        }
        Some(texts)
    }

    /// A list of lists of numbers.
    pub fn rows_of_numbers(&mut self, name: &str) -> Option<Vec<Vec<f64>>> {
        self.list(name, "a list of lists of numbers", |value| match value {
            Value::List(row) => {
                let number = |node: &Node| match node.value {
                    Value::Number(number) => Some(number),
                    _ => None,
                };
                row.iter().map(number).collect()
            }
            _ => None,
        })
    }

    /// A number or a list of numbers; empty if the field is missing. `None` if it is neither.
    pub fn one_or_more_numbers(&mut self, name: &str) -> Option<Vec<f64>> {
        match self.find(name).map(|node| &node.value) {
            None => Some(Vec::new()),
            Some(Value::Number(number)) => Some(vec![*number]),
            Some(_) => self.list(name, "a number or a list of numbers", |value| match value {
                Value::Number(number) => Some(*number),
                _ => None,
            }),
        }
    }

    /// A text or a list of texts; empty if the field is missing. `None` if it is neither.
    pub fn one_or_more_texts(&mut self, name: &str) -> Option<Vec<String>> {
        match self.find(name).map(|node| &node.value) {
            None => Some(Vec::new()),
            Some(Value::Text(text)) => Some(vec![text.clone()]),
            Some(_) => self.list(name, "a text or a list of texts", |value| match value {
                Value::Text(text) => Some(text.clone()),
                _ => None,
            }),
        }
    }

    /// Lower and upper limit; `null` for no limit.
    pub fn limits(&mut self, name: &str) -> Option<(f64, f64)> {
        const EXPECTED: &str = "[lower, upper] (infinite: none)";
        let limits = self.list(name, EXPECTED, |value| match value {
            Value::Number(number) => Some(Some(*number)),
            Value::Nothing => Some(None),
            _ => None,
        })?;
        let [lower, upper] = limits[..] else {
            let found = "a list of another length".into();
            self.report_at(name, Fault::Type { field: name.into(), expected: EXPECTED, found });
            return None;
        };
        Some((lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)))
    }

    /// A network in a file, with `prefix` and `activation`.
    pub fn network_file(&mut self) -> Option<NetworkFile> {
        let (path, prefix) = (self.text("network"), self.text("prefix"));
        let activation = self.choice("activation", &ACTIVATIONS);
        Some(NetworkFile { path: path?.into(), prefix: prefix.unwrap_or_default(), activation })
    }

    /// `coefficients` and `intercept`.
    pub fn linear(&mut self) -> Option<(Vec<f64>, f64)> {
        self.require("intercept", "0 if there is none");
        let (coefficients, intercept) = (self.numbers("coefficients"), self.number("intercept"));
        Some((coefficients?, intercept?))
    }

    fn list<T>(
        &mut self,
        name: &str,
        expected: &'static str,
        item: impl Fn(&Value) -> Option<T>,
    ) -> Option<Vec<T>> {
        let node = self.find(name)?;
        let Value::List(nodes) = &node.value else {
            return self.mistyped(node, name, expected, &node.value);
        };
        let mut items = Vec::with_capacity(nodes.len());
        for node in nodes {
            match item(&node.value) {
                Some(item) => items.push(item),
                None => {
                    let found = format!("a list with {} in it", node.value.kind());
                    self.report(node.line, Fault::Type { field: name.into(), expected, found });
                    return None;
                }
            }
        }
        Some(items)
    }

    fn mistyped<T>(&mut self, node: &Node, name: &str, expected: &'static str, found: &Value) -> Option<T> {
        self.report(node.line, wrong_type(name, expected, found));
        None
    }
}

fn wrong_type(field: &str, expected: &'static str, found: &Value) -> Fault {
    Fault::Type { field: field.into(), expected, found: found.kind().into() }
}
