//! Features: names, kinds, scaling, limits, and which changes are allowed.
//!
//! Data is in people's own units (euros, years). The engine works in standardised units,
//! `(value - mean) / std`, in which perturbations, actions and costs are measured. [`Features`] converts
//! between the two.

mod category;
mod doubts;
mod effort;
mod list;
mod missing;
mod special;
mod words;

use std::fmt;

pub use category::{Column, Shown};
pub(crate) use category::{columns, listed, nearest};
pub use list::{Features, Group};
pub use missing::Missing;
pub use special::Special;
pub use words::{Unit, Words};

use crate::Error;
use crate::error::FeatureError;
use crate::magnitude::{is_moderate, is_scale};

/// The kind of values of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    /// Any real number.
    #[default]
    Real,
    /// Integer numbers in the feature's own units.
    Integer,
    /// 0 or 1 in the feature's own units.
    Binary,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Real => "real",
            Kind::Integer => "integer",
            Kind::Binary => "binary",
        })
    }
}

/// Whether an action may change a feature, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Change {
    /// No action may change it.
    #[default]
    Fixed,
    /// Both directions.
    Any,
    /// Only upwards.
    Increase,
    /// Only downwards.
    Decrease,
}

/// One feature of a person.
///
/// ```
/// use surefoot::{Change, Feature, Features};
///
/// let features = Features::new(vec![
///     Feature::new("age").scaling(40.0, 12.0),
///     Feature::new("income")
///         .scaling(3000.0, 1500.0)
///         .limits(0.0, 20_000.0)
///         .change(Change::Increase),
/// ])?;
/// assert_eq!(features.standardise(1, 4500.0), 1.0);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Its name, unique among the features of a problem.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// The value, in its own units, that is zero in standardised units.
    pub mean: f64,
    /// The difference, in its own units, that is one in standardised units.
    pub std: f64,
    /// The lowest value an action may reach, in its own units; minus infinity for no limit.
    pub lower: f64,
    /// The highest value an action may reach, in its own units; infinity for no limit.
    pub upper: f64,
    /// Whether an action may change it.
    pub change: Change,
    /// The cost of changing it by one standardised unit.
    pub weight: f64,
    /// The smallest change, in its own units: an action changes it by multiples of this. `None` for any change
    /// or, of an integer or binary feature, for whole numbers.
    pub step: Option<f64>,
    /// The largest change, in its own units; infinite for no limit.
    pub most_change: f64,
    /// The largest change as a share of a person's own value; infinite for no limit.
    pub most_change_share: f64,
    /// The one-hot group that it is a column of, if any.
    pub group: Option<String>,
    /// How people's tables show its values.
    pub shown: Shown,
    /// What people read of it in sentences.
    pub words: Words,
    /// Values that are no amounts.
    pub special: Vec<Special>,
    /// What is assumed where a value is missing; `None` if that is an error.
    pub missing: Option<Missing>,
}

impl Feature {
    /// A real feature with mean 0, std 1, no limits, fixed, weight 1.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Real,
            mean: 0.0,
            std: 1.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            change: Change::Fixed,
            weight: 1.0,
            step: None,
            most_change: f64::INFINITY,
            most_change_share: f64::INFINITY,
            group: None,
            shown: Shown::Number,
            words: Words::default(),
            special: Vec::new(),
            missing: None,
        }
    }

    /// Sets the kind of values.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets mean and standard deviation, in own units.
    pub fn scaling(mut self, mean: f64, std: f64) -> Self {
        (self.mean, self.std) = (mean, std);
        self
    }

    /// Sets the limits, in own units.
    pub fn limits(mut self, lower: f64, upper: f64) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }

    /// Sets whether and in which direction it may change.
    pub fn change(mut self, change: Change) -> Self {
        self.change = change;
        self
    }

    /// Sets the cost weight.
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// Makes it a column of a one-hot group: 1 for people in its category, 0 for all others.
    ///
    /// The allowed change of a column restricts moves. `Increase`: people may enter its category but not
    /// leave it. `Decrease`: leave but not enter. `Fixed`: neither.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        (self.kind, self.group) = (Kind::Binary, Some(group.into()));
        self
    }

    /// Whether an action may change it at all.
    pub fn is_actionable(&self) -> bool {
        self.change != Change::Fixed
    }

    /// From its own units to standardised units.
    pub fn standardise(&self, value: f64) -> f64 {
        (value - self.mean) / self.std
    }

    /// From standardised units to its own.
    pub fn own_units(&self, value: f64) -> f64 {
        self.mean + self.std * value
    }

    /// The limits in standardised units.
    pub fn standardised_limits(&self) -> (f64, f64) {
        (self.standardise(self.lower), self.standardise(self.upper))
    }

    /// A value in own units without the rounding error of units: for integer and binary features, a value
    /// very close to an integer becomes that integer.
    pub fn snap_to_integer(&self, value: f64) -> f64 {
        let whole = value.round();
        let is_integer = self.kind != Kind::Real && (value - whole).abs() <= 1e-9 * whole.abs().max(1.0);
        if is_integer { whole + 0.0 } else { value }
    }

    /// Whether a value in own units is within the limits, up to rounding.
    pub fn allows(&self, value: f64) -> bool {
        let slack = |limit: f64| 1e-9 * (self.std + if limit.is_finite() { limit.abs() } else { 0.0 });
        value >= self.lower - slack(self.lower) && value <= self.upper + slack(self.upper)
    }

    /// Whether a value in own units is within the limits exactly.
    pub(crate) fn allows_strictly(&self, value: f64) -> bool {
        value >= self.lower && value <= self.upper
    }

    /// Everything that is wrong with it.
    pub(crate) fn mistakes(&self) -> Vec<Error> {
        let feature = || self.name.clone();
        let mut mistakes = Vec::new();
        if self.name.trim().is_empty() {
            mistakes.push(Error::Feature(FeatureError::FeatureWithoutName));
        }
        if !is_moderate(self.mean) {
            mistakes.push(Error::Feature(FeatureError::FeatureMean { feature: feature(), mean: self.mean }));
        }
        if !is_scale(self.std) {
            mistakes.push(Error::Feature(FeatureError::FeatureStd { feature: feature(), std: self.std }));
        }
        if !is_scale(self.weight) {
            mistakes.push(Error::Feature(FeatureError::FeatureWeight {
                feature: feature(),
                weight: self.weight,
            }));
        }
        let is_lower = is_moderate(self.lower) || self.lower == f64::NEG_INFINITY;
        let is_upper = is_moderate(self.upper) || self.upper == f64::INFINITY;
        if !(self.lower <= self.upper && is_lower && is_upper) {
            let (lower, upper) = (self.lower, self.upper);
            mistakes.push(Error::Feature(FeatureError::FeatureLimits { feature: feature(), lower, upper }));
        }
        mistakes.extend(self.effort_mistakes());
        if let Some(group) = self.group.as_ref().filter(|_| self.kind != Kind::Binary) {
            mistakes.push(Error::Feature(FeatureError::GroupKind {
                feature: feature(),
                group: group.clone(),
                kind: self.kind.to_string(),
            }));
        }
        mistakes.extend(self.special_mistakes());
        mistakes.extend(self.missing_mistake());
        if let Some(problem) = self.category_problem() {
            mistakes.push(Error::Feature(FeatureError::Categories { feature: feature(), problem }));
        }
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(feature: Feature) -> Error {
        Features::new(vec![Feature::new("age"), feature]).unwrap_err()
    }

    #[test]
    fn units_round_trip() {
        let income = Feature::new("income").scaling(0.49, 2.51).limits(-10.0, 50.0);
        assert!((income.own_units(income.standardise(7.3)) - 7.3).abs() < 1e-15);
        let (lower, upper) = income.standardised_limits();
        assert!((lower + 10.49 / 2.51).abs() < 1e-15 && (upper - 49.51 / 2.51).abs() < 1e-14);
        assert_eq!(Feature::new("x").standardised_limits(), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn limits_forgive_rounding_and_nothing_else() {
        let feature = Feature::new("x").scaling(0.0, 2.0).limits(0.0, 10.0);
        assert!(feature.allows(0.0) && feature.allows(10.0 + 1e-12) && feature.allows(-1e-12));
        assert!(!feature.allows(10.001) && !feature.allows(-0.001) && !feature.allows(f64::NAN));
    }

    #[test]
    fn bad_features_are_refused_by_name() {
        let x = || Feature::new("x");
        assert!(matches!(Features::new(vec![]), Err(Error::Feature(FeatureError::NoFeatures))));
        assert!(matches!(refused(Feature::new(" ")), Error::Feature(FeatureError::FeatureWithoutName)));
        assert!(
            matches!(refused(Feature::new("age")), Error::Feature(FeatureError::DuplicateFeature { feature }) if feature == "age")
        );
        for std in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-101, 1e101] {
            let error = refused(x().scaling(0.0, std));
            assert!(
                matches!(&error, Error::Feature(FeatureError::FeatureStd { feature, .. }) if feature == "x"),
                "{error}"
            );
        }
        for mean in [f64::NAN, -1e101] {
            assert!(matches!(
                refused(x().scaling(mean, 1.0)),
                Error::Feature(FeatureError::FeatureMean { .. })
            ));
        }
        for weight in [0.0, 1e-101, 4e299] {
            assert!(matches!(
                refused(x().weight(weight)),
                Error::Feature(FeatureError::FeatureWeight { .. })
            ));
        }
        let infinite = f64::INFINITY;
        for (lower, upper) in
            [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::NAN), (infinite, infinite), (-1e101, 0.0), (0.0, 1e300)]
        {
            assert!(matches!(
                refused(x().limits(lower, upper)),
                Error::Feature(FeatureError::FeatureLimits { .. })
            ));
        }
        assert!(
            matches!(refused(x().group("job")), Error::Feature(FeatureError::GroupSize { group }) if group == "job")
        );
        let half = x().group("job").kind(Kind::Real);
        assert!(
            matches!(refused(half), Error::Feature(FeatureError::GroupKind { feature, .. }) if feature == "x")
        );
    }

    #[test]
    fn columns_of_a_group_are_acted_upon_together() {
        let features = Features::new(vec![
            Feature::new("clerk").group("job").change(Change::Any),
            Feature::new("age").change(Change::Increase),
            Feature::new("king").group("job"),
            Feature::new("cook").group("job").change(Change::Increase),
        ])
        .unwrap();
        assert_eq!(features.groups(), [Group { name: "job".into(), columns: vec![0, 2, 3] }]);
        assert_eq!(features.actionable_units(), [vec![0, 3], vec![1]]);
    }

    #[test]
    fn whole_steps_stay_within_limits() {
        let age = Feature::new("age").kind(Kind::Integer).scaling(40.3, 9.7).limits(17.5, 70.0);
        let at = |change: Change| age.clone().change(change).feasible_steps(age.standardise(31.0));
        assert_eq!(at(Change::Any), (-13.0, 39.0));
        assert_eq!((at(Change::Increase), at(Change::Decrease)), ((0.0, 39.0), (-13.0, 0.0)));
        let member = Feature::new("member").kind(Kind::Binary).change(Change::Any);
        assert_eq!((member.feasible_steps(0.0), member.feasible_steps(1.0)), ((0.0, 1.0), (-1.0, 0.0)));
        assert_eq!((age.snap_to_integer(31.0 + 1e-12), age.snap_to_integer(31.2)), (31.0, 31.2));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let features = Features::new(vec![Feature::new("age")]).unwrap();
        let message = features.index("Age").unwrap_err().to_string();
        assert!(message.contains("`Age`") && message.contains("`age`"), "{message}");
    }
}
