//! Missing values: what stands in for a value that is not known, and between which values it is.

use std::borrow::Cow;

use ndarray::Array2;

use super::{Feature, Kind, Shown};
use crate::error::FeatureError;
use crate::magnitude::is_moderate;
use crate::{Error, Features};

/// What is assumed of a value that a table leaves out, in the feature's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missing {
    /// The value with which the decision is made.
    pub value: f64,
    /// The lowest value that it may really have.
    pub lower: f64,
    /// The highest value that it may really have.
    pub upper: f64,
}

impl Feature {
    /// Lets tables leave the value out, which is NaN in rows of numbers: `value` then stands in for it, and answers
    /// hold for every value between `lower` and `upper`. All are in own units.
    ///
    /// ```
    /// use surefoot::{Feature, Features, People};
    ///
    /// let income = Feature::new("income").limits(0.0, 9000.0).missing(2400.0, 1000.0, 4000.0);
    /// let features = Features::new(vec![income])?;
    /// let people = People::from_own_units(&features, &[[f64::NAN]])?;
    /// assert!(people.individual(0)[0].is_nan());
    /// assert_eq!(*features.imputed(people.individual(0)), [2400.0]);
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    pub fn missing(mut self, value: f64, lower: f64, upper: f64) -> Self {
        self.missing = Some(Missing { value, lower, upper });
        self
    }

    /// What is wrong with the value that stands in for a missing one.
    pub(crate) fn missing_mistake(&self) -> Option<Error> {
        let Missing { value, lower, upper } = self.missing?;
        let feature = || self.name.clone();
        if self.group.is_some() || matches!(self.shown, Shown::OneOf { .. }) {
            return Some(Error::Feature(FeatureError::MissingKind { feature: feature() }));
        }
        let is_number = [value, lower, upper].into_iter().all(is_moderate);
        if !(is_number && lower <= value && value <= upper) {
            return Some(Error::Feature(FeatureError::MissingRange {
                feature: feature(),
                value,
                lower,
                upper,
            }));
        }
        if !(self.allows(lower) && self.allows(upper)) {
            let limits = (self.lower, self.upper);
            return Some(Error::Feature(FeatureError::MissingLimits {
                feature: feature(),
                lower,
                upper,
                limits,
            }));
        }
        let is_level = match self.kind {
            Kind::Real => true,
            Kind::Integer => value.fract() == 0.0,
            Kind::Binary => value == 0.0 || value == 1.0,
        };
        if !is_level {
            let kind = self.kind.to_string();
            return Some(Error::Feature(FeatureError::MissingValueKind { feature: feature(), value, kind }));
        }
        None
    }
}

impl Features {
    /// The features of which an individual, in standardised units, has no value, with what is assumed of them.
    pub fn missing_values(&self, individual: &[f64]) -> Vec<(usize, Missing)> {
        let each = self.iter().enumerate().zip(individual);
        each.filter(|(_, value)| value.is_nan())
            .filter_map(|((i, feature), _)| feature.missing.map(|missing| (i, missing)))
            .collect()
    }

    /// An individual, in standardised units, with the values that stand in for missing ones.
    pub fn imputed<'x>(&self, individual: &'x [f64]) -> Cow<'x, [f64]> {
        if !individual.iter().any(|value| value.is_nan()) {
            return Cow::Borrowed(individual);
        }
        let mut imputed = individual.to_vec();
        for (i, missing) in self.missing_values(individual) {
            imputed[i] = self.standardise(i, missing.value);
        }
        Cow::Owned(imputed)
    }

    /// Puts the values that stand in for missing ones into a table, in standardised units.
    pub fn impute_all(&self, rows: &mut Array2<f64>) {
        for (i, feature) in self.iter().enumerate().take(rows.ncols()) {
            let Some(missing) = feature.missing else { continue };
            let value = feature.standardise(missing.value);
            rows.column_mut(i).mapv_inplace(|known| if known.is_nan() { value } else { known });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::People;

    fn mistake(feature: Feature) -> Error {
        Features::new(vec![feature, Feature::new("other")]).unwrap_err()
    }

    #[test]
    fn what_stands_in_for_a_value_is_one() {
        let income = || Feature::new("income").limits(0.0, 10.0);
        for (value, lower, upper) in [(5.0, 6.0, 7.0), (5.0, 1.0, 4.0), (f64::NAN, 1.0, 4.0), (2.0, 4.0, 1.0)]
        {
            let error = mistake(income().missing(value, lower, upper));
            assert!(matches!(error, Error::Feature(FeatureError::MissingRange { .. })), "{error}");
        }
        let error = mistake(income().missing(5.0, -1.0, 7.0));
        assert!(matches!(error, Error::Feature(FeatureError::MissingLimits { .. })), "{error}");
        let error = mistake(Feature::new("age").kind(Kind::Integer).missing(30.5, 20.0, 40.0));
        assert!(matches!(error, Error::Feature(FeatureError::MissingValueKind { .. })), "{error}");
        let error = mistake(Feature::new("clerk").group("job").missing(0.0, 0.0, 1.0));
        assert!(matches!(error, Error::Feature(FeatureError::MissingKind { .. })), "{error}");
        for feature in [income().missing(0.0, 0.0, 10.0), Feature::new("x").missing(2.0, 2.0, 2.0)] {
            assert!(Features::new(vec![feature]).is_ok());
        }
    }

    #[test]
    fn only_missing_values_are_imputed() {
        let features = Features::new(vec![
            Feature::new("income").scaling(3.0, 2.0).missing(5.0, 1.0, 9.0),
            Feature::new("age"),
        ])
        .unwrap();
        let people = People::from_own_units(&features, &[[f64::NAN, 4.0], [7.0, 4.0]]).unwrap();
        assert_eq!(*features.imputed(people.individual(0)), [1.0, 4.0]);
        assert_eq!(*features.imputed(people.individual(1)), [2.0, 4.0]);
        assert_eq!(features.missing_values(people.individual(0)).len(), 1);
        assert!(People::from_own_units(&features, &[[5.0, f64::NAN]]).is_err());
    }
}
