//! Who causes whom, as people and other programs write it.

mod dot;
mod gml;

use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

use anyhow::{Result, bail};

/// Features with their causes.
pub type Graph = Vec<(String, Vec<String>)>;

/// Pairs of cause and effect.
type Edges = Vec<(String, String)>;

/// The graph that `--graph` names: a file, or the graph itself.
pub fn read(argument: &str) -> Result<Graph> {
    match surefoot::file::read_to_string(Path::new(argument)) {
        Ok(text) => parse(&text),
        Err(_) if is_graph(argument) => parse(argument),
        Err(error) => bail!(
            "--graph {argument}: neither a graph such as `age -> income` nor a file that can be read ({error})"
        ),
    }
}

/// A graph in DOT, in GML, or in lines such as `age, sex -> income`, whichever the text is.
pub fn parse(text: &str) -> Result<Graph> {
    let (language, edges) = if dot::is_dot(text) {
        ("DOT", dot::parse(text))
    } else if gml::is_gml(text) {
        ("GML", gml::parse(text))
    } else {
        return parse_lines(text);
    };
    let edges = edges.map_err(|fault| anyhow::anyhow!("graph in {language}: {fault}"))?;
    if edges.is_empty() {
        bail!("the graph in {language} has no edges; it needs one from each cause to its effect");
    }
    let mut graph: Graph = Vec::new();
    for (cause, effect) in edges {
        match graph.iter_mut().find(|(known, _)| *known == effect) {
            Some((_, causes)) if causes.contains(&cause) => {}
            Some((_, causes)) => causes.push(cause),
            None => graph.push((effect, vec![cause])),
        }
    }
    Ok(graph)
}

/// What a line is made of.
#[derive(Debug, PartialEq)]
enum Part {
    Name(String),
    Comma,
    /// `->`, or the other way round.
    Arrow {
        backwards: bool,
    },
    End,
}

/// Whether a text looks like a graph rather than the name of a file.
fn is_graph(text: &str) -> bool {
    ["->", "=>", "<-", "→", "←"].iter().any(|arrow| text.contains(arrow))
}

/// Lines (or parts between semicolons) such as `a, b -> c`. Names with commas and the like stand
/// between quotes. What follows `#` is a comment.
fn parse_lines(text: &str) -> Result<Graph> {
    let mut graph: Graph = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let parts = parts(line).map_err(|fault| anyhow::anyhow!("graph, line {}: {fault}", number + 1))?;
        for statement in parts.split(|part| *part == Part::End).filter(|statement| !statement.is_empty()) {
            for single in singles(statement) {
                let (causes, effects) = sides(single).map_err(|fault| {
                    anyhow::anyhow!("graph, line {}: {fault} in `{}`", number + 1, line.trim())
                })?;
                // Arrows into the same feature add up.
                for effect in effects {
                    match graph.iter_mut().find(|(known, _)| *known == effect) {
                        Some((_, known)) => known.extend(causes.iter().cloned()),
                        None => graph.push((effect, causes.clone())),
                    }
                }
            }
        }
    }
    if graph.is_empty() {
        bail!("the graph has no arrows; write for example `age, sex -> income`");
    }
    Ok(graph)
}

/// The statements of `a -> b, b -> c`, where commas stand between arrows with one name on each side; otherwise the
/// statement itself.
fn singles(statement: &[Part]) -> Vec<&[Part]> {
    let pieces: Vec<&[Part]> = statement.split(|part| *part == Part::Comma).collect();
    let is_arrow = |piece: &&[Part]| matches!(piece, [Part::Name(_), Part::Arrow { .. }, Part::Name(_)]);
    match pieces.iter().all(is_arrow) {
        true => pieces,
        false => vec![statement],
    }
}

/// Causes and effects of one statement.
fn sides(statement: &[Part]) -> Result<(Vec<String>, Vec<String>), &'static str> {
    let arrows: Vec<usize> =
        (0..statement.len()).filter(|&i| matches!(statement[i], Part::Arrow { .. })).collect();
    let [arrow] = arrows[..] else {
        return Err(match arrows.len() {
            0 => "there is no arrow; write `cause, cause -> effect`",
            _ => "there are several arrows; write `a -> b; b -> c`",
        });
    };
    let (left, right) = (names(&statement[..arrow])?, names(&statement[arrow + 1..])?);
    Ok(if statement[arrow] == (Part::Arrow { backwards: true }) { (right, left) } else { (left, right) })
}

fn names(side: &[Part]) -> Result<Vec<String>, &'static str> {
    let name = |part: &[Part]| match part {
        [Part::Name(name)] => Ok(name.clone()),
        [] => Err("a name is missing"),
        _ => Err("two names stand side by side; put a comma between them"),
    };
    side.split(|part| *part == Part::Comma).map(name).collect()
}

fn parts(line: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = line.chars().peekable();
    while let Some(&next) = rest.peek() {
        match next {
            '#' => break,
            _ if next.is_whitespace() => {
                rest.next();
            }
            ',' | ';' => {
                rest.next();
                parts.push(if next == ',' { Part::Comma } else { Part::End });
            }
            '`' | '\'' | '"' => {
                rest.next();
                let name: String = std::iter::from_fn(|| rest.next_if(|&c| c != next)).collect();
                if rest.next().is_none() {
                    return Err(format!("the quote {next} before `{name}` is not closed"));
                }
                parts.push(Part::Name(name));
            }
            _ => match direction(&strokes(&rest)) {
                Some(backwards) => {
                    strokes(&rest).chars().for_each(|_| _ = rest.next());
                    parts.push(Part::Arrow { backwards });
                }
                None => parts.push(Part::Name(word(&mut rest))),
            },
        }
    }
    Ok(parts)
}

/// What comes next of which arrows are made.
fn strokes(rest: &Peekable<Chars<'_>>) -> String {
    rest.clone().take_while(|c| "-=<>→←".contains(*c)).collect()
}

/// Whether strokes are an arrow, and then whether it points to the left.
fn direction(strokes: &str) -> Option<bool> {
    let line = strokes.trim_matches(['<', '>']);
    let is_line = !line.is_empty() && (line.chars().all(|c| c == '-') || line.chars().all(|c| c == '='));
    match strokes {
        "→" => Some(false),
        "←" => Some(true),
        _ if is_line && strokes == format!("{line}>") => Some(false),
        _ if is_line && strokes == format!("<{line}") => Some(true),
        _ => None,
    }
}

/// A name without quotes: up to a comma, semicolon, comment or arrow.
fn word(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut word = String::new();
    while let Some(&next) = rest.peek() {
        let strokes = strokes(rest);
        if ",;#".contains(next) || direction(&strokes).is_some() {
            break;
        }
        for _ in 0..strokes.chars().count().max(1) {
            word.extend(rest.next());
        }
    }
    word.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap().into_iter().map(|(effect, causes)| (effect, causes.join("|"))).collect()
    }

    #[test]
    fn a_graph_is_read_line_by_line() {
        let text =
            "# who causes whom\nage, sex -> income, `hours per week`; income -> savings\nage -> savings";
        let expected = [("income", "age|sex"), ("hours per week", "age|sex"), ("savings", "income|age")];
        assert_eq!(read(text), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(read("a -> b, b->c"), [("b", "a"), ("c", "b")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        for wrong in [
            "a -> b, c, d -> e",
            "",
            "age",
            "age -> ",
            "a -> b -> c",
            ", -> b",
            "`a -> b",
            "'a' 'b' -> c",
            "a <-> b",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn graphs_of_other_programs_give_the_same() {
        let lines = read("age, sex -> income; income -> savings");
        let dot = "digraph { age -> income; sex -> income; age -> income; income -> savings }";
        assert_eq!(read(dot), lines);
        let names = ["age", "sex", "income", "savings"];
        let node = |(id, name): (usize, &&str)| format!("node [ id {id} label \"{name}\" ]\n");
        let nodes: String = names.iter().enumerate().map(node).collect();
        let edge = |(source, target): (usize, usize)| format!("edge [ source {source} target {target} ]\n");
        let edges: String = [(0, 2), (1, 2), (2, 3)].map(edge).concat();
        assert_eq!(read(&format!("graph [ directed 1\n{nodes}{edges}]")), lines);
        for empty in ["digraph { age }", "graph [ directed 1 ]"] {
            assert!(parse(empty).unwrap_err().to_string().contains("has no edges"), "{empty}");
        }
    }

    #[test]
    fn quotes_protect_and_every_arrow_is_one() {
        for text in [
            "`a, b; c`, d-e -> f's g",
            "'a, b; c',d-e=>f's g # why",
            "f's g <- \"a, b; c\", d-e",
            "`a, b; c`, d-e → f's g",
            "f's g ← `a, b; c`, d-e;",
            "`a, b; c`, d-e --> f's g",
            "`a, b; c`, d-e->f's g",
        ] {
            assert_eq!(read(text), [("f's g".to_owned(), "a, b; c|d-e".to_owned())], "{text}");
        }
        assert!(is_graph("a => b") && !is_graph("graph.txt"));
    }
}
