//! A common syntax tree of TOML and JSON, with line numbers.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use toml_edit::{Document, InlineTable, Item, Table};

use crate::error::{Fault, Mistake};

/// A value with its line number, which JSON does not have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub line: Option<usize>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Boolean(bool),
    List(Vec<Node>),
    /// The fields in the order of the file; JSON may repeat a name.
    Table(Vec<(String, Node)>),
    /// JSON's `null`, which means "no limit" among limits.
    Nothing,
    /// A value that no field accepts.
    Other(&'static str),
}

impl Value {
    /// The name of the type, for "is a number; it must be a text".
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Number(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Nothing => "null",
            Value::Other(kind) => kind,
        }
    }
}

fn syntax(line: Option<usize>, message: &str) -> Box<Mistake> {
    Box::new(Mistake { line, entry: None, fault: Fault::Syntax(message.into()) })
}

impl Node {
    pub fn from_toml(text: &str) -> Result<Self, Box<Mistake>> {
        let ends: Vec<usize> =
            text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(end, _)| end).collect();
        let line = |offset: usize| ends.partition_point(|&end| end < offset) + 1;
        let document = Document::parse(text)
            .map_err(|error| syntax(error.span().map(|span| line(span.start)), error.message().trim_end()))?;
        let line = |span: Option<std::ops::Range<usize>>| span.map(|span| line(span.start));
        Ok(Node { line: None, value: from_table(document.as_table(), &line) })
    }

    pub fn from_json(text: &str) -> Result<Self, Box<Mistake>> {
        serde_json::from_str(text).map_err(|error| {
            // The message repeats the position at its end.
            let message = error.to_string();
            let short = message.split(" at line ").next().unwrap_or(&message);
            syntax(Some(error.line()), &format!("{short} (column {})", error.column()))
        })
    }
}

/// The line number of the start of a span of bytes.
type Lines<'a> = dyn Fn(Option<std::ops::Range<usize>>) -> Option<usize> + 'a;

fn from_table(table: &Table, line: &Lines<'_>) -> Value {
    let entry = |(name, item): (&str, &Item)| {
        let place = item.span().or_else(|| table.key(name).and_then(|key| key.span()));
        (name.to_owned(), Node { line: line(place), value: from_item(item, line) })
    };
    Value::Table(table.iter().map(entry).collect())
}

fn from_inline(table: &InlineTable, line: &Lines<'_>) -> Value {
    let entry = |(name, value): (&str, &toml_edit::Value)| (name.to_owned(), from_value(value, line));
    Value::Table(table.iter().map(entry).collect())
}

fn from_item(item: &Item, line: &Lines<'_>) -> Value {
    match item {
        Item::None => Value::Nothing,
        Item::Value(value) => from_value(value, line).value,
        Item::Table(table) => from_table(table, line),
        Item::ArrayOfTables(tables) => {
            let node = |table: &Table| Node { line: line(table.span()), value: from_table(table, line) };
            Value::List(tables.iter().map(node).collect())
        }
    }
}

fn from_value(value: &toml_edit::Value, line: &Lines<'_>) -> Node {
    use toml_edit::Value as Toml;
    let node = match value {
        Toml::String(text) => Value::Text(text.value().clone()),
        Toml::Integer(number) => Value::Number(*number.value() as f64),
        Toml::Float(number) => Value::Number(*number.value()),
        Toml::Boolean(boolean) => Value::Boolean(*boolean.value()),
        Toml::Datetime(_) => Value::Other("a date"),
        Toml::Array(list) => Value::List(list.iter().map(|value| from_value(value, line)).collect()),
        Toml::InlineTable(table) => from_inline(table, line),
    };
    Node { line: line(value.span()), value: node }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(Json)?;
        Ok(Node { line: None, value })
    }
}

/// Keeps repeated names, which a map would silently drop.
struct Json;

impl<'de> Visitor<'de> for Json {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<Value, E> {
        Ok(Value::Boolean(boolean))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Table(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(node: &'a Node, name: &str) -> &'a Node {
        let Value::Table(entries) = &node.value else { panic!("{node:?}") };
        &entries.iter().find(|(found, _)| found == name).unwrap().1
    }

    #[test]
    fn toml_keeps_its_lines() {
        let tree = Node::from_toml("a = 1\n# note\n[[b]]\nc = [1.5,\n  \"x\"]\n[[b]]\n\n[d]\ne = {f = true}")
            .unwrap();
        assert_eq!(entry(&tree, "a"), &Node { line: Some(1), value: Value::Number(1.0) });
        let Value::List(tables) = &entry(&tree, "b").value else { panic!() };
        assert_eq!((tables[0].line, tables[1].line), (Some(3), Some(6)));
        let Value::List(list) = &entry(&tables[0], "c").value else { panic!() };
        assert_eq!(list[1], Node { line: Some(5), value: Value::Text("x".into()) });
        assert_eq!(entry(&tree, "d").line, Some(8));
        assert_eq!(entry(entry(entry(&tree, "d"), "e"), "f").value, Value::Boolean(true));
    }

    #[test]
    fn json_is_the_same_tree_and_keeps_what_is_there_twice() {
        let tree = Node::from_json(r#"{"a": 1, "a": [null, -2, 1e3, "x"], "b": false}"#).unwrap();
        let Value::Table(entries) = &tree.value else { panic!() };
        assert_eq!(entries.len(), 3);
        let Value::List(list) = &entries[1].1.value else { panic!() };
        let values: Vec<&Value> = list.iter().map(|node| &node.value).collect();
        let text = Value::Text("x".into());
        assert_eq!(values, [&Value::Nothing, &Value::Number(-2.0), &Value::Number(1000.0), &text]);
    }

    #[test]
    fn text_that_is_neither_is_refused_with_its_line() {
        let mistake = Node::from_toml("a = 1\nb = = 2\n").unwrap_err();
        assert_eq!(mistake.line, Some(2));
        assert_eq!(Node::from_toml("a = 1\na = 2\n").unwrap_err().line, Some(2));
        let mistake = Node::from_json("{\"a\": 1,\n\"b\": }").unwrap_err();
        assert_eq!(mistake.line, Some(2));
        assert!(!mistake.to_string().contains("at line"), "{mistake}");
    }
}
