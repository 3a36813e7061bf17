//! Parses a text into a tree, by recursive descent:
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = unary { ("*" | "/") unary }
//! unary   = ("-" | "+") unary | power
//! power   = atom [ "^" unary ]
//! atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! A name is a word, or anything between back quotes.

use super::{Expression, Function, Input, Node, Operator};
use crate::error::FormulaProblem;

/// The maximum depth of nested parentheses and height of the tree. Both are traversed by recursion, which
/// must not exhaust the stack.
const NESTING: usize = 100;
const HEIGHT: usize = 1000;

/// A problem with its column, counted from 1.
pub(crate) type Fault = (usize, FormulaProblem);

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name { text: String, quoted: bool },
    Symbol(char),
    End,
}

impl Token {
    fn describe(&self) -> String {
        match self {
            Token::Number(value) => format!("`{value}`"),
            Token::Name { text, .. } => format!("`{text}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end".into(),
        }
    }
}

impl Expression {
    /// Parses a formula.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut parser = Parser { tokens: tokens(text)?, position: 0, nesting: 0, inputs: Vec::new() };
        let root = parser.sum()?;
        if *parser.peek() != Token::End {
            return Err(parser.expected("an operator"));
        }
        if let Some(column) = root.node.infinite_constant() {
            return Err((column, FormulaProblem::Constant));
        }
        Ok(Expression { root: root.node, inputs: parser.inputs })
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Fault> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while let Some(&c) = characters.get(i) {
        let start = i;
        let column = start + 1;
        let run = |from: usize, accept: &dyn Fn(char) -> bool| {
            characters[from..].iter().position(|&c| !accept(c)).map_or(characters.len(), |n| from + n)
        };
        if c.is_whitespace() {
            i += 1;
            continue;
        }
        let token = if c.is_ascii_digit() || c == '.' {
            let digits = |c: char| c.is_ascii_digit() || c == '.';
            i = run(i, &digits);
            if matches!(characters.get(i), Some('e' | 'E')) {
                let sign = usize::from(matches!(characters.get(i + 1), Some('+' | '-')));
                // Otherwise the letter starts a name, as in `2exp(x)`.
                if characters.get(i + 1 + sign).is_some_and(char::is_ascii_digit) {
                    i = run(i + 1 + sign, &digits);
                }
            }
            let number: String = characters[start..i].iter().collect();
            match number.parse::<f64>() {
                Ok(value) if value.is_finite() => Token::Number(value),
                _ => return Err((column, FormulaProblem::Number(number))),
            }
        } else if c.is_alphabetic() || c == '_' {
            i = run(i, &|c| c.is_alphanumeric() || c == '_');
            Token::Name { text: characters[start..i].iter().collect(), quoted: false }
        } else if c == '`' {
            let end = run(start + 1, &|c| c != '`');
            if end == characters.len() {
                return Err((column, FormulaProblem::OpenQuote));
            }
            i = end + 1;
            Token::Name { text: characters[start + 1..end].iter().collect(), quoted: true }
        } else if "+-*/^(),".contains(c) && !(c == '*' && characters.get(i + 1) == Some(&'*')) {
            i += 1;
            Token::Symbol(c)
        } else {
            return Err((column, FormulaProblem::Character(c)));
        };
        tokens.push((column, token));
    }
    tokens.push((characters.len() + 1, Token::End));
    Ok(tokens)
}

/// A tree with its height.
struct Tree {
    node: Node,
    height: usize,
}

impl Tree {
    fn leaf(node: Node) -> Self {
        Self { node, height: 1 }
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    position: usize,
    nesting: usize,
    inputs: Vec<Input>,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.position].1
    }

    fn column(&self) -> usize {
        self.tokens[self.position].0
    }

    fn advance(&mut self) -> (usize, Token) {
        let token = self.tokens[self.position].clone();
        // The position does not move beyond the end.
        self.position = (self.position + 1).min(self.tokens.len() - 1);
        token
    }

    fn expected(&self, expected: &'static str) -> Fault {
        (self.column(), FormulaProblem::Expected { expected, found: self.peek().describe() })
    }

    fn take(&mut self, symbol: char, expected: &'static str) -> Result<(), Fault> {
        if *self.peek() != Token::Symbol(symbol) {
            return Err(self.expected(expected));
        }
        self.advance();
        Ok(())
    }

    /// The operator at the current position, if it is one of these.
    fn operator(&mut self, symbols: &[(char, Operator)]) -> Option<(usize, Operator)> {
        let &(_, operator) = symbols.iter().find(|(symbol, _)| *self.peek() == Token::Symbol(*symbol))?;
        Some((self.advance().0, operator))
    }

    fn combine(&self, operator: Operator, column: usize, left: Tree, right: Tree) -> Result<Tree, Fault> {
        let height = 1 + left.height.max(right.height);
        if height > HEIGHT {
            return Err((column, FormulaProblem::TooDeep));
        }
        let (left, right) = (Box::new(left.node), Box::new(right.node));
        Ok(Tree { node: Node::Combine { operator, left, right, column }, height })
    }

    fn sum(&mut self) -> Result<Tree, Fault> {
        let mut left = self.product()?;
        while let Some((column, operator)) = self.operator(&[('+', Operator::Add), ('-', Operator::Subtract)])
        {
            let right = self.product()?;
            left = self.combine(operator, column, left, right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Tree, Fault> {
        let mut left = self.unary()?;
        while let Some((column, operator)) =
            self.operator(&[('*', Operator::Multiply), ('/', Operator::Divide)])
        {
            let right = self.unary()?;
            left = self.combine(operator, column, left, right)?;
        }
        Ok(left)
    }

    /// All nesting passes through this function, which limits the depth.
    fn unary(&mut self) -> Result<Tree, Fault> {
        self.nesting += 1;
        if self.nesting > NESTING {
            return Err((self.column(), FormulaProblem::TooDeep));
        }
        let tree = match self.peek() {
            Token::Symbol('-') => {
                self.advance();
                let Tree { node, height } = self.unary()?;
                Tree { node: Node::Negate(Box::new(node)), height: height + 1 }
            }
            Token::Symbol('+') => {
                self.advance();
                self.unary()?
            }
            _ => self.power()?,
        };
        self.nesting -= 1;
        Ok(tree)
    }

    fn power(&mut self) -> Result<Tree, Fault> {
        let base = self.atom()?;
        match self.operator(&[('^', Operator::Power)]) {
            None => Ok(base),
            Some((column, operator)) => {
                let exponent = self.unary()?;
                self.combine(operator, column, base, exponent)
            }
        }
    }

    fn atom(&mut self) -> Result<Tree, Fault> {
        if !matches!(self.peek(), Token::Number(_) | Token::Name { .. } | Token::Symbol('(')) {
            return Err(self.expected("a number, a name or `(`"));
        }
        let (column, token) = self.advance();
        match token {
            Token::Number(value) => Ok(Tree::leaf(Node::Number(value))),
            Token::Name { text, quoted: false } if *self.peek() == Token::Symbol('(') => {
                self.call(column, &text)
            }
            Token::Name { text, quoted } => Ok(Tree::leaf(Node::Input(self.slot(text, quoted, column)))),
            _ => {
                let inner = self.sum()?;
                self.take(')', "`)`")?;
                Ok(inner)
            }
        }
    }

    fn slot(&mut self, name: String, quoted: bool, column: usize) -> usize {
        let input = Input { name, quoted, column };
        let same = |other: &Input| other.name == input.name && other.is_noise() == input.is_noise();
        self.inputs.iter().position(same).unwrap_or_else(|| {
            self.inputs.push(input);
            self.inputs.len() - 1
        })
    }

    fn call(&mut self, column: usize, name: &str) -> Result<Tree, Fault> {
        let operator = match name {
            "min" => Some(Operator::Min),
            "max" => Some(Operator::Max),
            _ => None,
        };
        let function = match name {
            "exp" => Some(("exp", Function::Exp)),
            "log" => Some(("log", Function::Log)),
            "sqrt" => Some(("sqrt", Function::Sqrt)),
            "tanh" => Some(("tanh", Function::Tanh)),
            "sigmoid" => Some(("sigmoid", Function::Sigmoid)),
            "abs" => Some(("abs", Function::Abs)),
            _ => None,
        };
        if operator.is_none() && function.is_none() {
            return Err((column, FormulaProblem::Function(name.into())));
        }
        self.advance();
        let mut arguments = Vec::new();
        if *self.peek() != Token::Symbol(')') {
            arguments.push(self.sum()?);
            while *self.peek() == Token::Symbol(',') {
                self.advance();
                arguments.push(self.sum()?);
            }
        }
        self.take(')', "`,` or `)`")?;

        let given = arguments.len();
        let wrong = |function, takes| (column, FormulaProblem::Arguments { function, takes, given });
        let mut arguments = arguments.into_iter();
        match (function, operator, arguments.next()) {
            (Some((_, function)), _, Some(Tree { node, height })) if given == 1 => {
                let node = Node::Apply { function, argument: Box::new(node), column };
                Ok(Tree { node, height: height + 1 })
            }
            (Some((name, _)), _, _) => Err(wrong(name, "one argument")),
            (None, Some(operator), Some(first)) if given >= 2 => {
                arguments.try_fold(first, |left, right| self.combine(operator, column, left, right))
            }
            (None, Some(Operator::Min), _) => Err(wrong("min", "two arguments or more")),
            _ => Err(wrong("max", "two arguments or more")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(text: &str) -> Fault {
        Expression::parse(text).unwrap_err()
    }

    #[test]
    fn faults_point_at_their_column() {
        for (text, column) in [
            ("", 1),
            ("1 +", 4),
            ("1 + * 2", 5),
            ("(1 + 2", 7),
            ("1 + 2)", 6),
            ("2 x", 3),
            ("x = 3", 3),
            ("1 ** 2", 3),
            ("exp()", 1),
            ("3 + exp(1, 2)", 5),
            ("max(1)", 1),
            ("min()", 1),
            ("3 + foo(1)", 5),
            ("1.2.3 + x", 1),
            ("4 + 1e999", 5),
            ("4 + 1e", 6),
            ("2exp(x)", 2),
            ("x + 1 / 0", 7),
            ("u * exp(log(0))", 9),
            ("x ^ 2 − 1", 7),
            ("4 + `open", 5),
            ("é + 'x'", 5),
            ("exp(1", 6),
        ] {
            assert_eq!(fault(text).0, column, "{text}");
        }
        assert!(matches!(fault("1 + foo(2)").1, FormulaProblem::Function(name) if name == "foo"));
    }

    #[test]
    fn names_with_dashes_go_between_back_quotes() {
        let expression = Expression::parse("`hours-per-week` * 2 + `u` + u + `u`").unwrap();
        let names: Vec<_> = expression.inputs().iter().map(|i| (i.name.as_str(), i.is_noise())).collect();
        assert_eq!(names, [("hours-per-week", false), ("u", false), ("u", true)]);
    }

    #[test]
    fn a_function_name_without_parentheses_is_a_feature() {
        let expression = Expression::parse("exp + min * 2").unwrap();
        assert_eq!(expression.inputs().len(), 2);
    }

    #[test]
    fn depth_is_refused_and_long_sums_are_not() {
        let long = vec!["x"; 900].join(" + ");
        assert!(Expression::parse(&long).is_ok());
        for deep in ["(".repeat(100_000), "-".repeat(100_000), "exp(".repeat(1000), "2^".repeat(1000)] {
            assert!(matches!(fault(&deep).1, FormulaProblem::TooDeep));
        }
        assert!(matches!(fault(&vec!["x"; 100_000].join("*")).1, FormulaProblem::TooDeep));
    }

    #[test]
    fn long_constants_are_parsed_quickly() {
        // The search for constants visits every part once; visiting parts repeatedly took seven seconds
        // here.
        let start = std::time::Instant::now();
        for sign in ["+", "*", "/"] {
            assert!(Expression::parse(&vec!["1"; 990].join(sign)).is_ok());
        }
        assert!(start.elapsed().as_secs_f64() < 2.0, "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[-+*/^(),.`0-9a-z= ]{0,40}") {
            if let Err((column, _)) = Expression::parse(&text) {
                prop_assert!(column >= 1 && column <= text.chars().count() + 1);
            }
        }
    }
}
