//! Derives a feature from the values of a column.

use thiserror::Error;

use crate::magnitude::{LARGEST, SMALLEST};
use crate::{Feature, Kind};

/// Accumulates the values of one column, and derives a [`Feature`] from them.
///
/// NaN values are missing: they are only counted.
///
/// ```
/// use surefoot::{Feature, Kind, Observed};
///
/// let age: Observed = [20.0, 30.0, f64::NAN, 40.0].into_iter().collect();
/// let feature = Feature::new("age").kind(Kind::Integer).scaling(30.0, 10.0).limits(20.0, 40.0);
/// assert_eq!(age.feature("age"), Ok(feature));
/// assert_eq!(age.missing(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Observed {
    count: usize,
    missing: usize,
    has_infinity: bool,
    is_fractional: bool,
    is_beyond_binary: bool,
    lower: f64,
    upper: f64,
    mean: f64,
    /// The sum of squared differences from the mean.
    squares: f64,
}

/// The reason why the values of a column give no feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unsuitable {
    /// There are no values.
    #[error("no values")]
    NoValues,
    /// There are infinite values.
    #[error("has infinite values")]
    Infinite,
    /// All values are the same.
    #[error("always the same")]
    Constant,
    /// The mean or the standard deviation overflows.
    #[error("values too large to be standardised")]
    TooLarge,
    /// The standard deviation underflows.
    #[error("values too close together to be standardised")]
    TooClose,
}

impl Observed {
    /// Adds a value; NaN is a missing one.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.missing += usize::from(value.is_nan());
            self.has_infinity |= value.is_infinite();
            return;
        }
        self.lower = if self.count == 0 { value } else { self.lower.min(value) };
        self.upper = if self.count == 0 { value } else { self.upper.max(value) };
        self.is_fractional |= value.fract() != 0.0;
        self.is_beyond_binary |= value != 0.0 && value != 1.0;
        // Welford's update, which is accurate also where the mean is large.
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The number of missing values.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// The lowest and the highest value; `None` without values.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.lower, self.upper))
    }

    /// The feature. It is binary if all values are 0 or 1. Otherwise it has the mean and the standard
    /// deviation of the values, their range as limits, and is integer if all values are.
    pub fn feature(&self, name: &str) -> Result<Feature, Unsuitable> {
        if self.has_infinity {
            return Err(Unsuitable::Infinite);
        }
        if self.count == 0 {
            return Err(Unsuitable::NoValues);
        }
        if self.lower == self.upper {
            return Err(Unsuitable::Constant);
        }
        if !self.is_beyond_binary {
            return Ok(Feature::new(name).kind(Kind::Binary));
        }
        let std = (self.squares / (self.count - 1) as f64).sqrt();
        let is_too_large = |number: f64| !(0.0..=LARGEST).contains(&number.abs());
        if [self.lower, self.upper, self.mean, std].into_iter().any(is_too_large) {
            return Err(Unsuitable::TooLarge);
        }
        // A sum of squares that is not a normal number has lost its digits.
        if !self.squares.is_normal() || std < SMALLEST {
            return Err(Unsuitable::TooClose);
        }
        let kind = if self.is_fractional { Kind::Real } else { Kind::Integer };
        Ok(Feature::new(name).kind(kind).scaling(self.mean, std).limits(self.lower, self.upper))
    }
}

impl FromIterator<f64> for Observed {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut observed = Self::default();
        values.into_iter().for_each(|value| observed.add(value));
        observed
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_known_by_its_values() {
        let feature = |values: &[f64]| values.iter().copied().collect::<Observed>().feature("x");
        let income = feature(&[1.5, 2.5]).unwrap();
        assert_eq!((income.kind, income.mean, income.std), (Kind::Real, 2.0, 0.5f64.sqrt()));
        assert_eq!((income.lower, income.upper), (1.5, 2.5));
        assert_eq!(feature(&[1.0, f64::NAN, 0.0]), Ok(Feature::new("x").kind(Kind::Binary)));
        for (values, reason) in [
            (&[1.0, f64::NEG_INFINITY][..], Unsuitable::Infinite),
            (&[1e308, -1e308], Unsuitable::TooLarge),
            (&[1e-200, 5e-200], Unsuitable::TooClose),
            (&[3.0, f64::NAN, 3.0], Unsuitable::Constant),
            (&[f64::NAN], Unsuitable::NoValues),
        ] {
            assert_eq!(feature(values), Err(reason));
        }
        assert_eq!([-2.0, 7.0, f64::NAN].into_iter().collect::<Observed>().range(), Some((-2.0, 7.0)));
    }
}
