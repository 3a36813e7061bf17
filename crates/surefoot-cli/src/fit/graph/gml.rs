//! Directed graphs in GML, the Graph Modelling Language.

use std::collections::HashMap;

use super::Edges;

/// A value of a list of keys and values.
#[derive(Debug)]
enum Value<'t> {
    /// A number or a word, as it stands.
    Plain(&'t str),
    Text(String),
    List(Vec<(&'t str, Value<'t>)>),
}

/// How deep lists may lie in each other.
const DEPTH: usize = 32;

/// Whether a text is of this language: it has a key `graph` with a list.
pub fn is_gml(text: &str) -> bool {
    let mut rest = text;
    // `Creator "..."` and `Version 1` may come first.
    while let Ok(Some(key)) = word(&mut rest) {
        skip(&mut rest);
        if rest.starts_with('[') {
            return key.eq_ignore_ascii_case("graph");
        }
        let known = ["creator", "version", "comment"].iter().any(|known| key.eq_ignore_ascii_case(known));
        if !known || value(&mut rest, 0).is_err() {
            return false;
        }
    }
    false
}

/// The edges of the graph, by the labels of its nodes.
pub fn parse(text: &str) -> Result<Edges, String> {
    let mut rest = text;
    let entries = list(&mut rest, 0)?;
    if !rest.is_empty() {
        return Err("a bracket `]` is not opened".into());
    }
    let graph = entries.iter().find_map(|(key, value)| match value {
        Value::List(graph) if key.eq_ignore_ascii_case("graph") => Some(graph),
        _ => None,
    });
    let graph = graph.ok_or("there is no `graph [ ... ]`")?;
    if field(graph, "directed").as_deref() != Some("1") {
        return Err("the graph is not directed; it needs `directed 1`".into());
    }
    let lists = |name: &'static str| {
        graph.iter().filter_map(move |(key, value)| match value {
            Value::List(fields) if key.eq_ignore_ascii_case(name) => Some(fields),
            _ => None,
        })
    };
    let mut names: HashMap<String, String> = HashMap::new();
    for node in lists("node") {
        let id = field(node, "id").ok_or("a node has no `id`")?;
        let name = field(node, "label").unwrap_or_else(|| id.clone());
        if names.insert(id.clone(), name).is_some() {
            return Err(format!("two nodes have the `id` {id}"));
        }
    }
    let end = |edge: &[(&str, Value<'_>)], key: &str| -> Result<String, String> {
        let id = field(edge, key).ok_or_else(|| format!("an edge has no `{key}`"))?;
        names.get(&id).cloned().ok_or_else(|| format!("an edge has the `{key}` {id}, which is no node"))
    };
    lists("edge").map(|edge| Ok((end(edge, "source")?, end(edge, "target")?))).collect()
}

fn field(fields: &[(&str, Value<'_>)], name: &str) -> Option<String> {
    fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).and_then(|(_, value)| match value {
        Value::Plain(text) => Some((*text).to_owned()),
        Value::Text(text) => Some(text.clone()),
        Value::List(_) => None,
    })
}

fn skip(rest: &mut &str) {
    *rest = rest.trim_start();
    while rest.starts_with('#') {
        *rest = rest.find('\n').map_or("", |end| &rest[end..]).trim_start();
    }
}

/// The next word; none at the end and before a bracket.
fn word<'t>(rest: &mut &'t str) -> Result<Option<&'t str>, String> {
    skip(rest);
    let end = rest.find(|c: char| c.is_whitespace() || "[]\"".contains(c)).unwrap_or(rest.len());
    if rest.starts_with('"') {
        return Err("a key is missing before a text".into());
    }
    let (word, after) = rest.split_at(end);
    *rest = after;
    Ok((!word.is_empty()).then_some(word))
}

fn value<'t>(rest: &mut &'t str, depth: usize) -> Result<Value<'t>, String> {
    skip(rest);
    if let Some(text) = rest.strip_prefix('"') {
        let end = text.find('"').ok_or("a double quote is not closed")?;
        *rest = &text[end + 1..];
        return Ok(Value::Text(without_entities(&text[..end])));
    }
    if let Some(inside) = rest.strip_prefix('[') {
        if depth >= DEPTH {
            return Err(format!("lists lie deeper than {DEPTH} levels in each other"));
        }
        *rest = inside;
        let entries = list(rest, depth + 1)?;
        *rest = rest.strip_prefix(']').ok_or("a bracket `[` is not closed")?;
        return Ok(Value::List(entries));
    }
    Ok(Value::Plain(word(rest)?.ok_or("a value is missing")?))
}

/// Keys and values up to a closing bracket or the end.
fn list<'t>(rest: &mut &'t str, depth: usize) -> Result<Vec<(&'t str, Value<'t>)>, String> {
    let mut entries = Vec::new();
    while let Some(key) = word(rest)? {
        entries.push((key, value(rest, depth)?));
    }
    if rest.starts_with('[') {
        return Err("a key is missing before a bracket `[`".into());
    }
    Ok(entries)
}

/// Letters beyond ASCII, `"` and `&` are written as entities.
fn without_entities(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        plain += &rest[..start];
        rest = &rest[start..];
        let Some(end) = rest.find(';') else { break };
        let name = &rest[1..end];
        let letter = match name {
            "quot" => Some('"'),
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "apos" => Some('\''),
            _ => name
                .strip_prefix('#')
                .and_then(|code| match code.strip_prefix('x') {
                    Some(code) => u32::from_str_radix(code, 16).ok(),
                    None => code.parse().ok(),
                })
                .and_then(char::from_u32),
        };
        match letter {
            Some(letter) => plain.push(letter),
            None => plain += &rest[..=end],
        }
        rest = &rest[end + 1..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = "Creator \"x\"\n# y\ngraph [\n  directed 1\n  node [\n    id 0\n    label \"age\"\n  ]\n  node [ id 1 \
                         label \"Verm&#246;gen &amp; co\" graphics [ x 0.5 ] ]\n  edge [ source 0 target 1 weight 2 ]\n]\n";

    #[test]
    fn what_networkx_writes() {
        assert!(is_gml(GRAPH));
        assert_eq!(parse(GRAPH).unwrap(), [("age".to_owned(), "Vermögen & co".to_owned())]);
        assert!(!is_gml("age -> income") && !is_gml("digraph { a -> b }") && !is_gml(""));
    }

    #[test]
    fn what_is_no_causal_graph_is_refused_with_a_reason() {
        for (change, to, reason) in [
            ("directed 1", "directed 0", "not directed"),
            ("directed 1", "", "not directed"),
            ("target 1", "target 7", "7, which is no node"),
            ("target 1", "", "no `target`"),
            ("id 1", "id 0", "two nodes have the `id` 0"),
            ("id 1", "", "a node has no `id`"),
            ("  ]\n  node", "  node", "is not closed"),
            ("]\n]", "]]\n]", "is not opened"),
            ("graph [", "[", "a key is missing before a bracket"),
            ("co\"", "co", "a double quote is not closed"),
        ] {
            let text = GRAPH.replace(change, to);
            assert_ne!(text, GRAPH, "{change}");
            let told = parse(&text).unwrap_err();
            assert!(told.contains(reason), "{change} -> {to}: {told}");
        }
        assert!(parse(&"a [ ".repeat(10_000)).unwrap_err().contains("deeper"));
    }
}
