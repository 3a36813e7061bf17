//! Intervals, and the evaluation of formulas over them.

use super::Unit;
use crate::expression::{Arithmetic, Function, Operator};

/// A closed interval of real numbers, whose ends may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least number.
    pub lower: f64,
    /// The greatest number.
    pub upper: f64,
}

impl Interval {
    /// The whole real line.
    pub const EVERYTHING: Interval = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// The empty interval.
    pub const NOTHING: Interval = Interval { lower: f64::INFINITY, upper: f64::NEG_INFINITY };

    /// One number.
    pub fn point(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// Whether a number is in it.
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Whether both ends are finite.
    pub fn is_finite(self) -> bool {
        self.lower.is_finite() && self.upper.is_finite()
    }

    /// The largest absolute value.
    pub(crate) fn size(self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    /// Encloses `constant + sum of factors times intervals`, including the rounding errors of the same
    /// sum computed with numbers.
    pub(crate) fn of_sum(constant: f64, terms: impl Iterator<Item = (f64, Interval)>) -> Self {
        let (mut sum, mut size, mut count) = (Interval::point(constant), constant.abs(), 2.0);
        for (factor, x) in terms {
            let term = x.product(Interval::point(factor));
            sum = Interval { lower: sum.lower + term.lower, upper: sum.upper + term.upper };
            size += if term.is_finite() { term.size() } else { 0.0 };
            count += 1.0;
        }
        let room = count * ROUNDING * size;
        Interval { lower: sum.lower - room, upper: sum.upper + room }.widened(ROUNDING)
    }

    /// Replaces ends that are NaN by infinite ones.
    pub(crate) fn or_everything(self) -> Self {
        Self {
            lower: if self.lower.is_nan() { f64::NEG_INFINITY } else { self.lower },
            upper: if self.upper.is_nan() { f64::INFINITY } else { self.upper },
        }
    }

    /// Moves each end outwards by this share of its absolute value.
    pub(crate) fn widened(self, share: f64) -> Self {
        let tiny = f64::MIN_POSITIVE;
        Self {
            lower: self.lower - share * self.lower.abs() - tiny,
            upper: self.upper + share * self.upper.abs() + tiny,
        }
        .or_everything()
    }

    /// The intersection with `[lower, upper]`.
    pub(crate) fn within(self, lower: f64, upper: f64) -> Self {
        Self { lower: self.lower.max(lower), upper: self.upper.min(upper) }
    }

    pub(crate) fn product(self, other: Interval) -> Interval {
        // Zero times an infinite end is zero, since the factor itself is a finite number.
        let times = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            times(self.lower, other.lower),
            times(self.lower, other.upper),
            times(self.upper, other.lower),
            times(self.upper, other.upper),
        ];
        if ends.iter().any(|end| end.is_nan()) {
            return Interval::EVERYTHING;
        }
        Interval {
            lower: ends.iter().copied().fold(f64::INFINITY, f64::min),
            upper: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Evaluates formulas over intervals, with outward rounding.
pub struct Intervals;

const ROUNDING: f64 = 4.0 * f64::EPSILON;

impl Arithmetic for Intervals {
    type Number = Interval;

    fn number(&mut self, value: f64) -> Interval {
        Interval::point(value)
    }

    fn negate(&mut self, x: Interval) -> Interval {
        Interval { lower: -x.upper, upper: -x.lower }
    }

    fn apply(&mut self, function: Function, x: Interval) -> Interval {
        match function {
            Function::Exp => Unit::Exp.range(x),
            Function::Log => Unit::Log.range(x),
            Function::Sqrt => Unit::Sqrt.range(x),
            Function::Tanh => Unit::Tanh.range(x),
            Function::Sigmoid => Unit::Sigmoid.range(x),
            Function::Abs if x.lower >= 0.0 => x,
            Function::Abs if x.upper <= 0.0 => self.negate(x),
            Function::Abs => Interval { lower: 0.0, upper: x.size() }.or_everything(),
        }
    }

    fn combine(&mut self, operator: Operator, a: Interval, b: Interval) -> Interval {
        let sum = |a: Interval, b: Interval| {
            Interval { lower: a.lower + b.lower, upper: a.upper + b.upper }.widened(ROUNDING)
        };
        match operator {
            Operator::Add => sum(a, b),
            Operator::Subtract => sum(a, Interval { lower: -b.upper, upper: -b.lower }),
            Operator::Multiply => a.product(b).widened(ROUNDING),
            Operator::Divide => a.product(Unit::Reciprocal.range(b)).widened(ROUNDING),
            Operator::Min => Interval { lower: a.lower.min(b.lower), upper: a.upper.min(b.upper) },
            Operator::Max => Interval { lower: a.lower.max(b.lower), upper: a.upper.max(b.upper) },
            Operator::Power => power(a, b),
        }
    }
}

fn power(base: Interval, exponent: Interval) -> Interval {
    let ends = [
        base.lower.powf(exponent.lower),
        base.lower.powf(exponent.upper),
        base.upper.powf(exponent.lower),
        base.upper.powf(exponent.upper),
    ];
    // For positive bases the power is monotone in base and in exponent, so the extremes are at the
    // corners.
    if base.lower > 0.0 && !ends.iter().any(|end| end.is_nan()) {
        let lower = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let upper = ends.iter().copied().fold(0.0, f64::max);
        return Interval { lower, upper }.widened(ROUNDING);
    }
    let whole = exponent.lower == exponent.upper && exponent.lower.fract() == 0.0 && exponent.lower > 0.0;
    if !whole {
        return Interval::EVERYTHING;
    }
    let size = base.size().powf(exponent.lower);
    let even = (exponent.lower / 2.0).fract() == 0.0;
    let range = match (even, base.upper <= 0.0) {
        (true, true) => Interval { lower: ends[2], upper: ends[0] },
        (true, false) => Interval { lower: 0.0, upper: size },
        (false, _) => Interval { lower: ends[0], upper: ends[2] },
    };
    range.widened(ROUNDING)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::expression::Expression;

    proptest! {
        #[test]
        fn formulas_over_intervals_enclose_samples(
            x in (-3.0..3.0f64, 0.0..2.0f64),
            y in (-3.0..3.0f64, 0.0..2.0f64),
        ) {
            for formula in [
                "x * y - u / y",
                "x ^ 2 + y ^ 3 - x ^ -1",
                "exp(x) * log(y) + sqrt(y) * tanh(x)",
                "sigmoid(x - y) * max(x, 3) + min(y, -1) * x",
                "abs(x - 1) / (1 + x ^ 2) - 2 ^ y",
                "y ^ x + x ^ 0.5",
            ] {
                let expression = Expression::parse(formula).unwrap();
                let of = |slot: usize| match expression.inputs()[slot].name.as_str() {
                    "x" => Interval { lower: x.0, upper: x.0 + x.1 },
                    "y" => Interval { lower: y.0, upper: y.0 + y.1 },
                    _ => Interval { lower: 0.5, upper: 0.75 },
                };
                let range = expression.fold(&mut Intervals, &of);
                for k in 0..40 {
                    let share = |slot: usize| ((k * (7 + 4 * slot)) % 13) as f64 / 12.0;
                    let at = |slot: usize| of(slot).lower + share(slot) * (of(slot).upper - of(slot).lower);
                    let value = expression.evaluate(&at);
                    prop_assert!(!value.is_finite() || range.contains(value), "{formula} {range:?} {value}");
                }
            }
        }
    }
}
