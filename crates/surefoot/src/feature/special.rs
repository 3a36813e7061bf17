//! Special values: numbers that stand for something else than an amount, such as -9 for "no bureau record".

use super::{Feature, Kind, Shown};
use crate::error::FeatureError;
use crate::magnitude::is_moderate;
use crate::{Error, Features};

/// A value of a feature that is no amount.
#[derive(Clone, Debug, PartialEq)]
pub struct Special {
    /// The value, in the feature's own units.
    pub value: f64,
    /// What it means, in words.
    pub meaning: Option<String>,
}

impl Special {
    /// What it means in sentences: the words, otherwise the number.
    pub fn words(&self) -> String {
        self.meaning.clone().unwrap_or_else(|| crate::magnitude::readable(self.value))
    }
}

/// The share of a special value by which a number may differ and still be that value: rounding of units.
const ROUNDING: f64 = 1e-9;

impl Feature {
    /// Makes a value, in own units, a special one. It may be outside of the limits.
    ///
    /// ```
    /// use surefoot::{Feature, Features, People};
    ///
    /// let bureau = Feature::new("bureau").limits(0.0, 100.0).special(-9.0, Some("no bureau record"));
    /// let features = Features::new(vec![bureau])?;
    /// assert!(People::from_own_units(&features, &[[-9.0]]).is_ok());
    /// assert!(People::from_own_units(&features, &[[-8.0]]).is_err());
    /// # Ok::<(), surefoot::Error>(())
    /// ```
    pub fn special(mut self, value: f64, meaning: Option<&str>) -> Self {
        self.special.push(Special { value, meaning: meaning.map(str::to_owned) });
        self
    }

    /// The special value that a number in own units is, if it is one.
    pub fn special_value(&self, value: f64) -> Option<&Special> {
        let is_near = |special: &&Special| {
            let least = ROUNDING * special.value.abs().max(self.std.min(1.0));
            // A value that was standardised and converted back.
            let converted = 8.0 * f64::EPSILON * (self.mean.abs() + special.value.abs());
            (value - special.value).abs() <= least.max(converted)
        };
        self.special.iter().find(is_near)
    }

    /// Everything that is wrong with its special values.
    pub(crate) fn special_mistakes(&self) -> Vec<Error> {
        let feature = || self.name.clone();
        let mut mistakes = Vec::new();
        if self.special.is_empty() {
            return mistakes;
        }
        if self.kind == Kind::Binary || self.shown != Shown::Number {
            mistakes.push(Error::Feature(FeatureError::SpecialKind { feature: feature() }));
        }
        for (place, special) in self.special.iter().enumerate() {
            let value = special.value;
            let is_repeated = self.special[..place].iter().any(|other| other.value == value);
            let is_blank = special.meaning.as_ref().is_some_and(|meaning| meaning.trim().is_empty());
            if !is_moderate(value) || is_repeated || is_blank {
                mistakes.push(Error::Feature(FeatureError::SpecialValue { feature: feature(), value }));
            }
        }
        mistakes
    }
}

impl Features {
    /// The features of which an individual, in standardised units, has a special value, with these values.
    pub fn special_values(&self, individual: &[f64]) -> Vec<(usize, &Special)> {
        let each = self.iter().enumerate().zip(individual);
        let special = |((i, feature), &value): ((usize, &'_ Feature), &f64)| {
            (!feature.special.is_empty()).then_some(())?;
            self.feature(i).special_value(feature.own_units(value)).map(|special| (i, special))
        };
        each.filter_map(special).collect()
    }
}
