//! Decides whether a formula is strictly monotone in one of its inputs for all values of the others.
//!
//! The decision uses the structure of the formula only: a sum of increasing functions increases, a product
//! with a positive factor keeps its direction, and so on. An undecided formula counts as not monotone, with
//! the position of the obstacle.

use super::{Expression, Function, Node, Operator};
use crate::error::Obstacle;

/// The direction of a formula in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trend {
    Constant,
    Increasing,
    Decreasing,
}

impl Trend {
    fn reversed(self) -> Self {
        match self {
            Trend::Constant => Trend::Constant,
            Trend::Increasing => Trend::Decreasing,
            Trend::Decreasing => Trend::Increasing,
        }
    }
}

/// The sign of a formula for all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sign {
    negative: bool,
    /// Never zero.
    strict: bool,
}

const POSITIVE: Sign = Sign { negative: false, strict: true };

impl Sign {
    fn times(self, other: Sign) -> Sign {
        Sign { negative: self.negative != other.negative, strict: self.strict && other.strict }
    }

    fn apply(self, trend: Trend) -> Trend {
        if self.negative { trend.reversed() } else { trend }
    }
}

impl Expression {
    /// The strict direction of the formula in a slot for all values of the other inputs.
    pub fn trend(&self, slot: usize) -> Result<Trend, Obstacle> {
        self.root.trend(slot)
    }
}

impl Node {
    fn trend(&self, slot: usize) -> Result<Trend, Obstacle> {
        match self {
            Node::Number(_) => Ok(Trend::Constant),
            Node::Input(i) if *i == slot => Ok(Trend::Increasing),
            Node::Input(_) => Ok(Trend::Constant),
            Node::Negate(node) => node.trend(slot).map(Trend::reversed),
            Node::Apply { function: Function::Abs, argument, column } => {
                let trend = argument.trend(slot)?;
                match argument.sign() {
                    _ if trend == Trend::Constant => Ok(trend),
                    Some(sign) => Ok(sign.apply(trend)),
                    None => Err(Obstacle::Sign { column: *column }),
                }
            }
            Node::Apply { argument, .. } => argument.trend(slot),
            Node::Combine { operator, left, right, column } => {
                let (a, b) = (left.trend(slot)?, right.trend(slot)?);
                combine(*operator, (left, a), (right, b), *column)
            }
        }
    }

    fn sign(&self) -> Option<Sign> {
        if let Some(value) = self.constant() {
            return (!value.is_nan()).then_some(Sign { negative: value < 0.0, strict: value != 0.0 });
        }
        match self {
            Node::Number(_) | Node::Input(_) => None,
            Node::Negate(node) => node.sign().map(|s| Sign { negative: !s.negative, ..s }),
            Node::Apply { function, argument, .. } => match function {
                Function::Exp | Function::Sigmoid => Some(POSITIVE),
                Function::Sqrt | Function::Abs => {
                    let strict = argument.sign().is_some_and(|s| s.strict);
                    Some(Sign { negative: false, strict })
                }
                Function::Tanh => argument.sign(),
                Function::Log => None,
            },
            Node::Combine { operator, left, right, .. } => {
                let (a, b) = (left.sign(), right.sign());
                match operator {
                    Operator::Add => agree(a?, b?),
                    Operator::Subtract => agree(a?, Sign { negative: !b?.negative, ..b? }),
                    Operator::Multiply => Some(a?.times(b?)),
                    // The denominator of a finite quotient is not zero.
                    Operator::Divide => Some(a?.times(Sign { strict: true, ..b? })),
                    Operator::Power => match (a, right.constant()) {
                        (Some(POSITIVE), _) => Some(POSITIVE),
                        (_, Some(p)) if p % 2.0 == 0.0 => {
                            Some(Sign { negative: false, strict: a.is_some_and(|s| s.strict) })
                        }
                        _ => None,
                    },
                    Operator::Min | Operator::Max => {
                        // max is positive if either side is, negative only if both are.
                        let upwards = *operator == Operator::Max;
                        let decisive = |s: Option<Sign>| s.filter(|s| s.strict && s.negative != upwards);
                        decisive(a).or(decisive(b)).or_else(|| {
                            let (a, b) = (a?, b?);
                            (a.negative == b.negative)
                                .then_some(Sign { negative: a.negative, strict: a.strict && b.strict })
                        })
                    }
                }
            }
        }
    }
}

/// The sign of a sum.
fn agree(a: Sign, b: Sign) -> Option<Sign> {
    (a.negative == b.negative).then_some(Sign { negative: a.negative, strict: a.strict || b.strict })
}

fn together(a: Trend, b: Trend, column: usize) -> Result<Trend, Obstacle> {
    match (a, b) {
        (Trend::Constant, other) | (other, Trend::Constant) => Ok(other),
        _ if a == b => Ok(a),
        _ => Err(Obstacle::Opposed { column }),
    }
}

fn combine(
    operator: Operator,
    (left, a): (&Node, Trend),
    (right, b): (&Node, Trend),
    column: usize,
) -> Result<Trend, Obstacle> {
    let unknown = Obstacle::Sign { column };
    let strict = |node: &Node| node.sign().filter(|sign| sign.strict).ok_or(Obstacle::Sign { column });
    let varies = |trend: Trend| trend != Trend::Constant;
    if !varies(a) && !varies(b) {
        return Ok(Trend::Constant);
    }
    match operator {
        Operator::Add => together(a, b, column),
        Operator::Subtract => together(a, b.reversed(), column),
        Operator::Multiply if varies(a) && varies(b) => {
            // The product increases with the absolute values of its factors.
            let (s, t) = (strict(left)?, strict(right)?);
            together(t.apply(a), s.apply(b), column)
        }
        Operator::Multiply if varies(a) => Ok(strict(right)?.apply(a)),
        Operator::Multiply => Ok(strict(left)?.apply(b)),
        Operator::Divide if varies(b) => {
            // a / b = a * (1 / b), and 1 / b falls as b rises while b keeps its sign.
            let (s, t) = (strict(left)?, strict(right)?);
            together(t.apply(a), s.apply(b.reversed()), column)
        }
        Operator::Divide => Ok(strict(right)?.apply(a)),
        Operator::Power if varies(a) && varies(b) => Err(unknown),
        Operator::Power if varies(a) => match (right.constant(), left.sign()) {
            (Some(p), _) if p > 0.0 && p % 2.0 == 1.0 => Ok(a),
            (Some(p), Some(sign)) if p > 0.0 && !sign.negative => Ok(a),
            (Some(p), Some(POSITIVE)) if p < 0.0 => Ok(a.reversed()),
            (Some(p), Some(sign)) if p > 0.0 && p % 2.0 == 0.0 && sign.negative => Ok(a.reversed()),
            _ => Err(unknown),
        },
        Operator::Power => match left.constant() {
            Some(base) if base > 1.0 => Ok(b),
            Some(base) if base > 0.0 && base < 1.0 => Ok(b.reversed()),
            _ => Err(unknown),
        },
        Operator::Min | Operator::Max if varies(a) && varies(b) => together(a, b, column),
        Operator::Min | Operator::Max => Err(Obstacle::Flat { column }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(formula: &str) -> Result<Trend, Obstacle> {
        let expression = Expression::parse(formula).unwrap();
        let slot = expression.inputs().iter().position(|input| input.is_noise());
        slot.map_or(Ok(Trend::Constant), |slot| expression.trend(slot))
    }

    #[test]
    fn shapes_that_rise() {
        for formula in [
            "-0.5 + sigmoid(-1 + 0.5 * x + sigmoid(0.1 * y) + u)",
            "exp(x) * u",
            "(1 + abs(x)) * u + x",
            "-3 * -u",
            "u ^ 3",
            "exp(u) ^ 2",
            "2 ^ u",
            "0.5 ^ (-u)",
            "x - 1 / exp(u)",
            "exp(u) / exp(-u)",
            "exp(u) * sigmoid(u)",
            "log(u) + sqrt(u) + tanh(u)",
            "min(u, 2 * u)",
            "u / (1 + x ^ 2)",
            "abs(exp(u))",
            "-abs(-exp(u) - 1) * -1",
            "max(1, x) * u",
        ] {
            assert_eq!(trend(formula), Ok(Trend::Increasing), "{formula}");
        }
    }

    #[test]
    fn shapes_that_fall() {
        for formula in
            ["-u", "x - u", "1 / exp(u)", "exp(u) ^ -1", "-2 / -exp(-u) * -1", "(-exp(u)) ^ 2 * -1"]
        {
            assert_eq!(trend(formula), Ok(Trend::Decreasing), "{formula}");
        }
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        assert_eq!(trend("x + 1"), Ok(Trend::Constant));
        assert_eq!(trend("x * u"), Err(Obstacle::Sign { column: 3 }));
        assert_eq!(trend("u ^ 2"), Err(Obstacle::Sign { column: 3 }));
        assert_eq!(trend("1 / u"), Err(Obstacle::Sign { column: 3 }));
        assert_eq!(trend("sqrt(abs(x)) * u"), Err(Obstacle::Sign { column: 14 }));
        assert_eq!(trend("abs(u)"), Err(Obstacle::Sign { column: 1 }));
        assert_eq!(trend("u - exp(u)"), Err(Obstacle::Opposed { column: 3 }));
        assert_eq!(trend("x + max(u, 0)"), Err(Obstacle::Flat { column: 5 }));
        assert_eq!(trend("0 * u"), Err(Obstacle::Sign { column: 3 }));
        assert_eq!(trend("exp(u) ^ u"), Err(Obstacle::Sign { column: 8 }));
    }
}
