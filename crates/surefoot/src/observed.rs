//! What the values of a column say of a feature.

use thiserror::Error;

use crate::magnitude::{LARGEST, SMALLEST};
use crate::{Feature, Kind};

/// The values of one column, seen one by one, and the [`Feature`] that follows from them.
///
/// Values that are not numbers (NaN) are missing and leave no trace but their count.
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

/// Why no feature follows from the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unsuitable {
    /// Nobody has a value.
    #[error("no values")]
    NoValues,
    /// Somebody has an infinite one.
    #[error("has infinite values")]
    Infinite,
    /// Everybody has the same.
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
    /// Adds a value; one that is not a number is missing.
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
        // Welford's update, which does not lose digits where the mean is large.
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// How many values are missing.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// The lowest and the highest value; none without values.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.lower, self.upper))
    }

    /// The feature: binary where there is nothing but 0 and 1; otherwise with the mean and the standard
    /// deviation of the values, with their range as limits, and integer where all of them are whole.
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
        // Squares of differences that are not normal numbers have lost their digits.
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
