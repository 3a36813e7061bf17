//! The distribution of the norm of independent normal errors.

use super::functions::{SumOfSizes, SumOfSquares, normal};

/// The distribution of the p-norm of independent normal errors with mean zero.
#[derive(Clone, Debug)]
pub(super) enum Distribution {
    /// The largest of the errors' sizes, by their standard deviations; also that of a single error.
    Largest(Vec<f64>),
    /// Their sum.
    Sum(SumOfSizes),
    /// The root of the sum of their squares.
    Root(SumOfSquares),
}

impl Distribution {
    /// That of the p-norm of errors with these standard deviations. Errors that are always zero do not count.
    pub fn new(power: f64, deviations: &[f64]) -> Self {
        let positive: Vec<f64> = deviations.iter().copied().filter(|s| *s > 0.0).collect();
        match (power, &positive[..]) {
            (_, [] | [_]) => Self::Largest(positive),
            // The square |a| + |b| <= r is the square max(|a|, |b|) <= r / sqrt 2, turned by 45 degrees.
            (1.0, [a, b]) if a == b => Self::Largest(vec![a * 2.0f64.sqrt(); 2]),
            (1.0, _) => Self::Sum(SumOfSizes::new(&positive)),
            (2.0, _) => Self::Root(SumOfSquares::new(&positive)),
            _ => Self::Largest(positive),
        }
    }

    /// The probability that the norm is at most `r`.
    pub fn at_most(&self, r: f64) -> f64 {
        match self {
            Self::Largest(deviations) => deviations.iter().map(|s| normal(r / s)).product(),
            Self::Sum(sum) => sum.at_most(r),
            Self::Root(squares) => squares.at_most(r * r),
        }
    }
}

/// The probability that a normal number with mean zero and this standard deviation is in an interval.
pub(super) fn between(lower: f64, upper: f64, deviation: f64) -> f64 {
    let below = |end: f64| match end {
        0.0 => 0.0,
        _ => 0.5 * normal(end.abs() / deviation).copysign(end),
    };
    if deviation == 0.0 {
        return if lower <= 0.0 && upper >= 0.0 { 1.0 } else { 0.0 };
    }
    (below(upper) - below(lower)).max(0.0)
}
