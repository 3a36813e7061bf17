//! Directed graphs in the DOT language of Graphviz.

use std::collections::HashMap;

use super::Edges;

/// A piece of the text.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name, a number or a quoted text.
    Word(String),
    /// `{ } [ ] = ; , :`
    Mark(char),
    /// `->`
    Arrow,
    /// `--`
    Line,
}

/// The edges of the first graph of a text, by the names of its nodes.
///
/// A node is called by its identifier. Where all identifiers are numbers, as programs write them, it is called by its
/// `label`.
pub fn parse(text: &str) -> Result<Edges, String> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0, labels: HashMap::new(), edges: Vec::new() };
    while reader.next_is_word() && !reader.next_is_mark('{') {
        reader.at += 1;
    }
    reader.expect('{')?;
    reader.statements()?;
    let Reader { labels, edges, .. } = reader;
    let is_number = |name: &String| name.chars().all(|c| c.is_ascii_digit());
    let by_label = edges.iter().all(|(cause, effect)| is_number(cause) && is_number(effect));
    let named = |name: String| labels.get(&name).filter(|_| by_label).cloned().unwrap_or(name);
    Ok(edges.into_iter().map(|(cause, effect)| (named(cause), named(effect))).collect())
}

/// Whether a text is of this language: `digraph {` or `strict digraph name {`.
pub fn is_dot(text: &str) -> bool {
    let Ok(tokens) = tokens(text) else { return false };
    let start = tokens.iter().take_while(|token| matches!(token, Token::Word(_))).count();
    let kind = |token: &Token| match token {
        Token::Word(word) => ["graph", "digraph", "strict"].contains(&word.to_ascii_lowercase().as_str()),
        _ => false,
    };
    tokens.first().is_some_and(kind) && tokens.get(start) == Some(&Token::Mark('{'))
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let is_line_start = rest.len() == text.len() || text[..text.len() - rest.len()].ends_with('\n');
        if next.is_whitespace() {
            rest = &rest[next.len_utf8()..];
        } else if rest.starts_with("//") || (next == '#' && is_line_start) {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map(|end| &rest[end + 2..]).ok_or("a comment `/*` is not closed")?;
        } else if next == '"' {
            let (word, after) = quoted(&rest[1..])?;
            tokens.push(Token::Word(word));
            rest = after;
        } else if next == '<' {
            return Err("names of HTML are not understood; give nodes plain names".into());
        } else if rest.starts_with("->") {
            tokens.push(Token::Arrow);
            rest = &rest[2..];
        } else if rest.starts_with("--") {
            tokens.push(Token::Line);
            rest = &rest[2..];
        } else if "{}[]=;,:+".contains(next) {
            tokens.push(Token::Mark(next));
            rest = &rest[1..];
        } else {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = rest.chars().skip(1).take_while(|&c| is_part(c)).map(char::len_utf8).sum::<usize>();
            if !(is_part(next) || next == '-') {
                return Err(format!("`{next}` is not understood; names with it stand between double quotes"));
            }
            let end = next.len_utf8() + length;
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    Ok(tokens)
}

/// The text up to the closing quote, and what comes after it. Only `\"` is an escape.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut word = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((word, &text[at + 1..])),
            '\\' if letters.peek().is_some_and(|(_, next)| *next == '"') => {
                letters.next();
                word.push('"');
            }
            _ => word.push(letter),
        }
    }
    Err("a double quote is not closed".into())
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    labels: HashMap<String, String>,
    edges: Edges,
}

/// How deep subgraphs may lie in each other.
const DEPTH: usize = 32;

impl Reader {
    fn next_is_mark(&self, mark: char) -> bool {
        self.tokens.get(self.at) == Some(&Token::Mark(mark))
    }

    fn next_is_word(&self) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Word(_)))
    }

    fn take(&mut self, mark: char) -> bool {
        let is_next = self.next_is_mark(mark);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(format!("`{mark}` is missing")),
        }
    }

    fn word(&mut self) -> Result<String, String> {
        let Some(Token::Word(word)) = self.tokens.get(self.at) else {
            return Err("a name is missing".into());
        };
        let mut word = word.clone();
        self.at += 1;
        // Quoted texts may be joined.
        while self.take('+') {
            word += &self.word()?;
        }
        Ok(word)
    }

    /// The statements of a graph up to its closing brace; the nodes that they name.
    fn statements(&mut self) -> Result<Vec<String>, String> {
        self.statements_at(0)
    }

    fn statements_at(&mut self, depth: usize) -> Result<Vec<String>, String> {
        let mut nodes = Vec::new();
        while !self.take('}') {
            if self.at >= self.tokens.len() {
                return Err("`}` is missing".into());
            }
            if !(self.take(';') || self.take(',')) {
                nodes.extend(self.statement(depth)?);
            }
        }
        Ok(nodes)
    }

    fn statement(&mut self, depth: usize) -> Result<Vec<String>, String> {
        let mut ends = vec![self.end(depth)?];
        if self.take('=') {
            self.word()?;
            return Ok(Vec::new());
        }
        while let Some(link @ (Token::Arrow | Token::Line)) = self.tokens.get(self.at).cloned() {
            self.at += 1;
            let next = self.end(depth)?;
            if link == Token::Line {
                let (left, right) = (ends.last().map(|end| end.join(", ")), next.join(", "));
                let left = left.unwrap_or_default();
                return Err(format!("the edge between `{left}` and `{right}` has no direction; write `->`"));
            }
            ends.push(next);
        }
        let attributes = self.attributes()?;
        let attribute = |name: &str| attributes.iter().find(|(known, _)| known == name).map(|(_, text)| text);
        let backwards = match attribute("dir").map(String::as_str) {
            None | Some("forward") => false,
            Some("back") => true,
            Some(other) => {
                return Err(format!(
                    "an edge has the direction `{other}`; every edge must lead from a cause to an effect"
                ));
            }
        };
        if backwards && ends.len() == 1 {
            return Err(
                "`edge [dir=back]` turns edges round; write each of them from its cause to its effect".into(),
            );
        }
        if let ([only], Some(label)) = (&ends[..], attribute("label")) {
            only.iter().for_each(|name| _ = self.labels.insert(name.clone(), label.clone()));
        }
        for pair in ends.windows(2) {
            for cause in &pair[0] {
                for effect in &pair[1] {
                    let edge = (cause.clone(), effect.clone());
                    self.edges.push(if backwards { (edge.1, edge.0) } else { edge });
                }
            }
        }
        Ok(ends.concat())
    }

    /// A node, or all nodes of a subgraph; none for `node`, `edge` and `graph`, of which attributes follow.
    fn end(&mut self, depth: usize) -> Result<Vec<String>, String> {
        let mut is_subgraph = false;
        if let Some(Token::Word(word)) = self.tokens.get(self.at)
            && word.eq_ignore_ascii_case("subgraph")
        {
            self.at += 1;
            is_subgraph = true;
            if self.next_is_word() {
                self.at += 1;
            }
        }
        if is_subgraph || self.next_is_mark('{') {
            self.expect('{')?;
            if depth >= DEPTH {
                return Err(format!("subgraphs lie deeper than {DEPTH} levels in each other"));
            }
            return self.statements_at(depth + 1);
        }
        let name = self.word()?;
        // Ports.
        for _ in 0..2 {
            if self.take(':') {
                self.word()?;
            }
        }
        let is_default = self.next_is_mark('[')
            && ["node", "edge", "graph"].iter().any(|kind| name.eq_ignore_ascii_case(kind));
        Ok(if is_default { Vec::new() } else { vec![name] })
    }

    fn attributes(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut attributes = Vec::new();
        while self.take('[') {
            while !self.take(']') {
                if self.take(';') || self.take(',') {
                    continue;
                }
                let name = self.word()?;
                let text = if self.take('=') { self.word()? } else { "true".into() };
                attributes.push((name, text));
            }
        }
        Ok(attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> Vec<(String, String)> {
        assert!(is_dot(text), "{text}");
        parse(text).unwrap()
    }

    fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn what_programs_write() {
        assert_eq!(
            edges("digraph {age -> income;income->savings}"),
            named(&[("age", "income"), ("income", "savings")])
        );
        let pydot = "strict digraph  {\nage;\n\"hours per week\" [shape=box, label=\"h\"];\nage -> \"hours per week\"  \
                     [weight=0.5, key=0];\n}\n";
        assert_eq!(edges(pydot), named(&[("age", "hours per week")]));
        let numbered = "digraph G { 0 [label=\"age\"]; 1 [label=\"say \\\"x\\\"\"]; 0 -> 1 [dir=forward]; }";
        assert_eq!(edges(numbered), named(&[("age", "say \"x\"")]));
        let rich = "# a\n/* b */ digraph \"g\" { rankdir=LR; node [shape=circle] // c\n a -> b -> {c d}:x; \
                    subgraph s { e [label=f] } -> a; b:n:sw -> g [dir=back, penwidth] }";
        assert!(parse(rich).is_err());
        let rich = rich.replace("}:x;", "};");
        let expected = [("a", "b"), ("b", "c"), ("b", "d"), ("e", "a"), ("g", "b")];
        assert_eq!(edges(&rich), named(&expected));
    }

    #[test]
    fn what_is_no_causal_graph_is_refused_with_a_reason() {
        for (text, reason) in [
            ("graph { a -- b }", "has no direction"),
            ("digraph { a -> b [dir=both] }", "direction `both`"),
            ("digraph { edge [dir=none] a -> b }", "direction `none`"),
            ("digraph { edge [dir=back] a -> b }", "turns edges round"),
            ("digraph { a -> b", "`}` is missing"),
            ("digraph { a -> }", "a name is missing"),
            ("digraph { a -> \"b }", "double quote is not closed"),
            ("digraph { a -> <b> }", "HTML"),
            ("digraph { a -> b ! }", "`!` is not understood"),
            ("digraph { a [x=", "a name is missing"),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.contains(reason), "{text}: {told}");
        }
        let deep = format!("digraph {}{}", "{".repeat(10_000), "}".repeat(10_000));
        assert!(parse(&deep).unwrap_err().contains("deeper"));
        assert!(!is_dot("digraph -> income") && !is_dot("age -> income") && !is_dot("graph [ directed 1 ]"));
    }
}
