//! Structural equations written as text, for example `-4 + 1.5 * max(income, 0) + u`.
//!
//! A formula is parsed into a small tree. One walk over the tree, generic in the kind of number, gives its
//! value and, with dual numbers, its derivatives; two further walks find out whether it is linear in an
//! input and whether it is monotone in one, because the noise of an equation can then be recovered.

mod monotone;
mod parse;
mod scalar;

pub(crate) use monotone::Trend;
pub(crate) use scalar::Scalar;

use scalar::Dual;

/// A parsed formula over named inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    root: Node,
    inputs: Vec<Input>,
}

/// A clip around a formula, which keeps its value above or below a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clip {
    /// `max`, which keeps the value above the limit, or `min`.
    pub is_max: bool,
    /// The limit, over the same slots.
    pub limit: Expression,
}

impl Clip {
    /// The value after the clip.
    pub fn apply(&self, value: f64, limit: f64) -> f64 {
        if self.is_max { Scalar::max(limit, value) } else { Scalar::min(limit, value) }
    }
}

/// A name that occurs in a formula; its position among the inputs is its slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub name: String,
    /// Whether it is between back quotes, and therefore a feature even if it is `u`.
    pub quoted: bool,
    /// Where it first occurs.
    pub column: usize,
}

impl Input {
    pub fn is_noise(&self) -> bool {
        self.name == "u" && !self.quoted
    }
}

/// An arithmetic whose numbers do not implement [`Scalar`]: its evaluation has a state, or its numbers are
/// too large to copy.
pub(crate) trait Arithmetic {
    type Number: Clone;

    fn number(&mut self, value: f64) -> Self::Number;
    fn negate(&mut self, x: Self::Number) -> Self::Number;
    fn apply(&mut self, function: Function, x: Self::Number) -> Self::Number;
    fn combine(&mut self, operator: Operator, left: Self::Number, right: Self::Number) -> Self::Number;
}

/// Formats a formula as text, with every part in parentheses.
struct Canonical;

impl Arithmetic for Canonical {
    type Number = String;

    fn number(&mut self, value: f64) -> String {
        format!("{value:e}")
    }

    fn negate(&mut self, x: String) -> String {
        format!("(-{x})")
    }

    fn apply(&mut self, function: Function, x: String) -> String {
        let name = match function {
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Sqrt => "sqrt",
            Function::Tanh => "tanh",
            Function::Sigmoid => "sigmoid",
            Function::Abs => "abs",
        };
        format!("{name}({x})")
    }

    fn combine(&mut self, operator: Operator, left: String, right: String) -> String {
        let sign = match operator {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Power => "^",
            Operator::Min => "min",
            Operator::Max => "max",
        };
        format!("({left} {sign} {right})")
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    Exp,
    Log,
    Sqrt,
    Tanh,
    Sigmoid,
    Abs,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Input(usize),
    Negate(Box<Node>),
    Apply { function: Function, argument: Box<Node>, column: usize },
    Combine { operator: Operator, left: Box<Node>, right: Box<Node>, column: usize },
}

impl Expression {
    /// The names that occur in it; slots are positions in this list.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Its value, given the value of each slot.
    pub fn evaluate<T: Scalar>(&self, input: &impl Fn(usize) -> T) -> T {
        self.root.evaluate(input)
    }

    /// Its value in another arithmetic.
    pub fn fold<A: Arithmetic>(&self, arithmetic: &mut A, input: &impl Fn(usize) -> A::Number) -> A::Number {
        self.root.fold(arithmetic, input)
    }

    /// A canonical text, independent of spaces and redundant parentheses.
    pub fn canonical(&self) -> String {
        let name = |slot: usize| match &self.inputs[slot] {
            noise if noise.is_noise() => "u".to_owned(),
            input => format!("`{}`", input.name),
        };
        self.fold(&mut Canonical, &name)
    }

    /// Whether it has a finite value for all finite inputs of moderate size, as far as its operations tell: no roots,
    /// logarithms or exponentials, and no divisions or powers but by constants.
    pub fn is_total(&self) -> bool {
        self.root.is_total()
    }

    /// Its derivative in one slot.
    pub fn derivative<T: Scalar>(&self, slot: usize, input: &impl Fn(usize) -> T) -> T {
        let slope = |i| T::constant(if i == slot { 1.0 } else { 0.0 });
        self.root.evaluate(&|i| Dual { value: input(i), slope: slope(i) }).slope
    }

    /// Separates the clips around a formula from the formula inside: `max(0, min(10, x + u))` is clipped at
    /// 0 and at 10, and inside is `x + u`. A clip has the slot on one side only. The outermost clip comes
    /// first.
    pub fn unclipped(&self, slot: usize) -> (Vec<Clip>, Expression) {
        let part = |root: &Node| Expression { root: root.clone(), inputs: self.inputs.clone() };
        let (mut clips, mut inside) = (Vec::new(), &self.root);
        while let Node::Combine {
            operator: operator @ (Operator::Min | Operator::Max), left, right, ..
        } = inside
        {
            let limit = match (left.mentions(slot), right.mentions(slot)) {
                (true, false) => right,
                (false, true) => left,
                _ => break,
            };
            clips.push(Clip { is_max: *operator == Operator::Max, limit: part(limit) });
            inside = if std::ptr::eq(limit, left) { right } else { left };
        }
        (clips, part(inside))
    }

    /// The constant `c` if the formula is `c * slot + (terms without slot)`; 0 if the slot does not occur
    /// or its terms cancel but for rounding, `None` if it occurs in any other way.
    pub fn coefficient(&self, slot: usize) -> Option<f64> {
        let (coefficient, size) = self.root.coefficient(slot)?;
        Some(if coefficient.abs() <= 1e-14 * size { 0.0 } else { coefficient })
    }
}

impl Node {
    fn is_total(&self) -> bool {
        match self {
            Node::Number(_) | Node::Input(_) => true,
            Node::Negate(inner) => inner.is_total(),
            Node::Apply { function, argument, .. } => {
                matches!(function, Function::Tanh | Function::Sigmoid | Function::Abs) && argument.is_total()
            }
            Node::Combine { operator, left, right, .. } => {
                let constant = match **right {
                    Node::Number(value) => Some(value),
                    _ => None,
                };
                let is_total = match operator {
                    Operator::Divide => constant.is_some_and(|value| value != 0.0),
                    Operator::Power => constant.is_some_and(|value| value >= 0.0 && value.fract() == 0.0),
                    _ => true,
                };
                is_total && left.is_total() && right.is_total()
            }
        }
    }

    fn evaluate<T: Scalar>(&self, input: &impl Fn(usize) -> T) -> T {
        match self {
            Node::Number(value) => T::constant(*value),
            Node::Input(slot) => input(*slot),
            Node::Negate(node) => -node.evaluate(input),
            Node::Apply { function, argument, .. } => {
                let x = argument.evaluate(input);
                match function {
                    Function::Exp => x.exp(),
                    Function::Log => x.log(),
                    Function::Sqrt => x.sqrt(),
                    Function::Tanh => x.tanh(),
                    Function::Sigmoid => x.sigmoid(),
                    Function::Abs => x.abs(),
                }
            }
            Node::Combine { operator, left, right, .. } => {
                let (a, b) = (left.evaluate(input), right.evaluate(input));
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Power => a.power(b),
                    Operator::Min => a.min(b),
                    Operator::Max => a.max(b),
                }
            }
        }
    }

    fn fold<A: Arithmetic>(&self, arithmetic: &mut A, input: &impl Fn(usize) -> A::Number) -> A::Number {
        match self {
            Node::Number(value) => arithmetic.number(*value),
            Node::Input(slot) => input(*slot),
            Node::Negate(node) => {
                let x = node.fold(arithmetic, input);
                arithmetic.negate(x)
            }
            Node::Apply { function, argument, .. } => {
                let x = argument.fold(arithmetic, input);
                arithmetic.apply(*function, x)
            }
            Node::Combine { operator, left, right, .. } => {
                let (a, b) = (left.fold(arithmetic, input), right.fold(arithmetic, input));
                arithmetic.combine(*operator, a, b)
            }
        }
    }

    fn mentions(&self, slot: usize) -> bool {
        match self {
            Node::Number(_) => false,
            Node::Input(i) => *i == slot,
            Node::Negate(node) => node.mentions(slot),
            Node::Apply { argument, .. } => argument.mentions(slot),
            Node::Combine { left, right, .. } => left.mentions(slot) || right.mentions(slot),
        }
    }

    /// Its value, if no input occurs in it.
    fn constant(&self) -> Option<f64> {
        self.is_constant().then(|| self.evaluate(&|_| f64::NAN))
    }

    fn is_constant(&self) -> bool {
        match self {
            Node::Number(_) => true,
            Node::Input(_) => false,
            Node::Negate(node) => node.is_constant(),
            Node::Apply { argument, .. } => argument.is_constant(),
            Node::Combine { left, right, .. } => left.is_constant() && right.is_constant(),
        }
    }

    /// The coefficient of a slot and the sum of the sizes of the terms that make it up.
    fn coefficient(&self, slot: usize) -> Option<(f64, f64)> {
        if !self.mentions(slot) {
            return Some((0.0, 0.0));
        }
        let scaled = |(c, size): (f64, f64), k: f64| (c * k, size * k.abs());
        match self {
            Node::Number(_) | Node::Apply { .. } => None,
            Node::Input(_) => Some((1.0, 1.0)),
            Node::Negate(node) => Some(scaled(node.coefficient(slot)?, -1.0)),
            Node::Combine { operator, left, right, .. } => {
                let sum = |sign: f64| {
                    let ((a, size), (b, other)) = (left.coefficient(slot)?, right.coefficient(slot)?);
                    Some((a + sign * b, size + other))
                };
                match operator {
                    Operator::Add => sum(1.0),
                    Operator::Subtract => sum(-1.0),
                    Operator::Multiply => match (left.constant(), right.constant()) {
                        (Some(k), _) => Some(scaled(right.coefficient(slot)?, k)),
                        (_, Some(k)) => Some(scaled(left.coefficient(slot)?, k)),
                        _ => None,
                    },
                    Operator::Divide => Some(scaled(left.coefficient(slot)?, 1.0 / right.constant()?)),
                    Operator::Power | Operator::Min | Operator::Max => None,
                }
            }
        }
    }

    /// The column of the first part from the left that is constant and not finite.
    fn infinite_constant(&self) -> Option<usize> {
        let (parts, column): (Vec<&Node>, usize) = match self {
            Node::Number(_) | Node::Input(_) => return None,
            Node::Negate(node) => return node.infinite_constant(),
            Node::Apply { argument, column, .. } => (vec![argument], *column),
            Node::Combine { left, right, column, .. } => (vec![left, right], *column),
        };
        let by_zero = matches!(self, Node::Combine { operator: Operator::Divide, right, .. } if right.constant() == Some(0.0));
        let inside = parts.iter().find_map(|part| part.infinite_constant());
        let here = by_zero || self.constant().is_some_and(|value| !value.is_finite());
        inside.or(here.then_some(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots in the order x, y, u, independent of the order in the formula.
    fn at(formula: &str, x: f64, y: f64, u: f64) -> f64 {
        let expression = Expression::parse(formula).unwrap();
        expression.evaluate(&|slot| value_of(&expression, slot, [x, y, u]))
    }

    fn value_of(expression: &Expression, slot: usize, [x, y, u]: [f64; 3]) -> f64 {
        match expression.inputs()[slot].name.as_str() {
            "x" => x,
            "y" => y,
            _ => u,
        }
    }

    #[test]
    fn precedence_and_associativity() {
        for (formula, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("8 / 4 / 2", 1.0),
            ("5 - 3 - 1", 1.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ -1", 0.5),
            ("--3", 3.0),
            ("+3", 3.0),
            ("2 * -3", -6.0),
            (".5e1", 5.0),
            ("1e-2", 0.01),
        ] {
            assert_eq!(at(formula, 0.0, 0.0, 0.0), expected, "{formula}");
        }
    }

    #[test]
    fn functions_and_names() {
        assert_eq!(at("-4 + 1.5 * max(x, 0) + u", 2.0, 0.0, 0.5), -0.5);
        assert_eq!(at("min(x, y, u)", 3.0, 1.0, 2.0), 1.0);
        assert_eq!(at("abs(x) + sqrt(y)", -2.0, 9.0, 0.0), 5.0);
        assert_eq!(at("log(exp(x))", 1.0, 0.0, 0.0), 1.0);
        assert_eq!(at("tanh(x) - sigmoid(y)", 0.0, 0.0, 0.0), -0.5);
        assert!(at("max(x, 0)", f64::NAN, 0.0, 0.0).is_nan());
        assert!(at("max(0, x)", f64::NAN, 0.0, 0.0).is_nan());
    }

    #[test]
    fn coefficients_are_found_through_arithmetic_only() {
        let of = |formula: &str| {
            let expression = Expression::parse(formula).unwrap();
            let slot = expression.inputs().iter().position(|input| input.is_noise());
            slot.map_or(Some(0.0), |slot| expression.coefficient(slot))
        };
        assert_eq!(of("x + u"), Some(1.0));
        assert_eq!(of("2 * (x - u) / 4 - exp(1) * 0"), Some(-0.5));
        assert_eq!(of("u - u"), Some(0.0));
        assert_eq!(of("0.1 * u + 0.2 * u - 0.3 * u"), Some(0.0));
        assert_eq!(of("x * y"), Some(0.0));
        assert_eq!(of("sqrt(4) * u + x ^ 2"), Some(2.0));
        assert_eq!(of("x * u"), None);
        assert_eq!(of("exp(u)"), None);
        assert_eq!(of("1 / u"), None);
        assert_eq!(of("u ^ 1"), None);
    }

    proptest! {
        #[test]
        fn derivatives_agree_with_finite_differences(x in -2.0..2.0f64, y in 0.2..2.0f64, u in -2.0..2.0f64) {
            for formula in [
                "x * y - u / y",
                "x ^ 2 + y ^ x - u ^ 3",
                "exp(x) * log(y) + sqrt(y) * tanh(u)",
                "sigmoid(x - y) * max(x, 3) + min(y, -1) * u",
                "abs(x - 5) / (1 + x ^ 2) - 2 ^ u",
            ] {
                let expression = Expression::parse(formula).unwrap();
                for slot in 0..expression.inputs().len() {
                    let value = |i: usize| value_of(&expression, i, [x, y, u]);
                    let shifted = |h: f64| expression.evaluate(&|i| value(i) + if i == slot { h } else { 0.0 });
                    let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                    let exact = expression.derivative(slot, &value);
                    prop_assert!((exact - difference).abs() < 1e-6 * (1.0 + exact.abs()), "{formula} in {slot}");
                }
            }
        }
    }

    #[test]
    fn derivatives_where_nothing_varies_are_zero() {
        let expression = Expression::parse("sqrt(x) + x ^ 0.5 + u").unwrap();
        assert_eq!(expression.derivative(1, &|_| 0.0), 1.0);
        let square = Expression::parse("x ^ 2").unwrap();
        assert_eq!(square.derivative(0, &|_| 0.0), 0.0);
        assert_eq!(square.derivative(0, &|_| -3.0), -6.0);
        assert_eq!(Expression::parse("x ^ 0").unwrap().derivative(0, &|_| 0.0), 0.0);
    }
}
