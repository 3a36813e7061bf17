//! What is uncertain about a person, an action and a causal model beside a shift within one ball.

use crate::digest::Digest;
use crate::error::{FeatureError, SettingError};
use crate::magnitude::is_moderate;
use crate::{Error, Features, NormKind, Result};

/// How far the value of one feature of a person may be from the reported one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shift {
    /// As far as the ball of the problem allows.
    #[default]
    Ball,
    /// Not at all: the feature is measured exactly.
    Exact,
    /// By up to this share of its value in own units, whatever the other features do.
    Share(f64),
    /// By up to this much in standardised units, whatever the other features do.
    Within(f64),
    /// The value is between these two, in standardised units, whatever the other features do.
    Between(f64, f64),
}

/// A ball for some of the features alone: their shifts together have a norm of at most `epsilon`.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Positions of the features.
    pub features: Vec<usize>,
    /// The norm.
    pub norm: NormKind,
    /// The radius, in standardised units.
    pub epsilon: f64,
}

/// An action on a feature that is carried out with an error: a change `theta` becomes any of
/// `theta -+ (share * |theta| + within)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Execution {
    /// The position of the feature.
    pub feature: usize,
    /// The error relative to the change.
    pub share: f64,
    /// The error whatever the change, in standardised units.
    pub within: f64,
}

/// An equation whose function is known up to a band: the true function is anywhere within `width` of the
/// stated one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The position of the feature of the equation.
    pub feature: usize,
    /// Half the width of the band, in standardised units.
    pub width: f64,
}

/// A coefficient of an equation that is known up to an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// The position of the feature of the equation.
    pub feature: usize,
    /// The position of the parent among all features.
    pub parent: usize,
    /// The largest error, in standardised units.
    pub within: f64,
}

/// Everything that is uncertain beside a shift of the person within the ball of the problem.
///
/// Each entry adds coordinates to the perturbations that an action must withstand. All of them may take their
/// worst values together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// How far each feature may be from its reported value; empty if all shift within the ball.
    pub shifts: Vec<Shift>,
    /// Features whose uncertain value is uncertain alone: what follows from them by an equation, which must be linear,
    /// has the reported value whatever theirs is. The shift of any other feature spreads to what it causes.
    pub alone: Vec<usize>,
    /// Groups of features with a ball of their own.
    pub groups: Vec<Group>,
    /// The matrix, row by row, that turns coordinates of the ball into shifts; empty for the identity. With
    /// the factor `M` of a covariance matrix `M M'`, the ball becomes the ellipsoid of that covariance.
    pub factor: Vec<f64>,
    /// Actions carried out with an error.
    pub execution: Vec<Execution>,
    /// Equations known up to a band.
    pub bands: Vec<Band>,
    /// Coefficients known up to an error.
    pub coefficients: Vec<Coefficient>,
}

impl Sources {
    /// Whether nothing is uncertain beside the ball.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether shifts of the person are stated otherwise than by the ball of the problem.
    pub fn concern_person(&self) -> bool {
        !(self.shifts.is_empty() && self.groups.is_empty() && self.factor.is_empty())
    }

    /// Whether what a person reported may be otherwise, other than by the ball of the problem.
    pub(crate) fn concern_reports(&self) -> bool {
        let shifts = self.shifts.iter().enumerate();
        let is_stated = |(i, shift): (usize, &Shift)| *shift != Shift::Ball && !self.alone.contains(&i);
        shifts.into_iter().any(is_stated) || !(self.groups.is_empty() && self.factor.is_empty())
    }

    /// What is uncertain, in words.
    pub fn words(&self) -> &'static str {
        let equations = !(self.bands.is_empty() && self.coefficients.is_empty());
        match (self.concern_person(), self.execution.is_empty(), equations) {
            (_, false, true) => "the execution of actions and the causal model",
            (_, false, false) => "the execution of actions",
            (_, true, true) => "the causal model",
            _ if !self.alone.is_empty() && !self.concern_reports() => "a missing value",
            _ => "single features",
        }
    }

    /// How far a feature may be from its reported value.
    pub fn shift(&self, feature: usize) -> Shift {
        self.shifts.get(feature).copied().unwrap_or_default()
    }

    /// Adds everything that is stated to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        digest.text("uncertainty");
        digest.count(self.shifts.len());
        for shift in &self.shifts {
            let (kind, numbers) = match *shift {
                Shift::Ball => ("ball", vec![]),
                Shift::Exact => ("none", vec![]),
                Shift::Share(share) => ("share", vec![share]),
                Shift::Within(within) => ("within", vec![within]),
                Shift::Between(lower, upper) => ("between", vec![lower, upper]),
            };
            digest.text(kind);
            digest.numbers(numbers.iter());
        }
        // Nothing else is added where no feature is alone.
        if !self.alone.is_empty() {
            digest.text("alone");
            digest.count(self.alone.len());
            self.alone.iter().for_each(|&feature| digest.count(feature));
        }
        digest.count(self.groups.len());
        for group in &self.groups {
            digest.text(&group.norm.to_string());
            digest.number(group.epsilon);
            digest.count(group.features.len());
            group.features.iter().for_each(|&feature| digest.count(feature));
        }
        digest.numbers(self.factor.iter());
        digest.count(self.execution.len());
        for execution in &self.execution {
            digest.count(execution.feature);
            digest.numbers([execution.share, execution.within].iter());
        }
        digest.count(self.bands.len());
        for band in &self.bands {
            digest.count(band.feature);
            digest.number(band.width);
        }
        digest.count(self.coefficients.len());
        for coefficient in &self.coefficients {
            digest.count(coefficient.feature);
            digest.count(coefficient.parent);
            digest.number(coefficient.within);
        }
    }

    /// Rejects positions of features that do not exist, features that are listed twice, and sizes that are
    /// negative or not finite.
    pub fn check(&self, features: &Features) -> Result<()> {
        let count = features.len();
        let vectors = [(self.shifts.len(), count), (self.factor.len(), count * count)];
        for (found, expected) in vectors.into_iter().filter(|(found, _)| *found > 0) {
            if found != expected {
                return Err(Error::Setting(SettingError::UncertaintyLength { expected, found }));
            }
        }
        let known = |index: usize| match index < count {
            true => Ok(()),
            false => Err(Error::Feature(FeatureError::NoSuchFeature { index, features: count })),
        };
        let size = |what: &'static str, value: f64| match is_moderate(value) && value >= 0.0 {
            true => Ok(()),
            false => Err(Error::Setting(SettingError::Setting { setting: what, value })),
        };
        for (i, &shift) in self.shifts.iter().enumerate() {
            match shift {
                Shift::Ball | Shift::Exact => {}
                Shift::Share(share) => size("share", share)?,
                Shift::Within(within) => size("within", within)?,
                Shift::Between(lower, upper) => {
                    if !(is_moderate(lower) && is_moderate(upper) && lower <= upper) {
                        let feature = features.feature(i);
                        return Err(Error::Setting(SettingError::Between {
                            feature: feature.name.clone(),
                            lower: rounded(feature.own_units(lower)),
                            upper: rounded(feature.own_units(upper)),
                        }));
                    }
                }
            }
        }
        self.alone.iter().try_for_each(|&i| known(i))?;
        let mut grouped = vec![false; count];
        for group in &self.groups {
            size("epsilon", group.epsilon)?;
            for &i in &group.features {
                known(i)?;
                if std::mem::replace(&mut grouped[i], true) || self.shift(i) != Shift::Ball {
                    let feature = features.feature(i).name.clone();
                    return Err(Error::Setting(SettingError::UncertainTwice { feature }));
                }
            }
        }
        for execution in &self.execution {
            known(execution.feature)?;
            let feature = features.feature(execution.feature);
            if !feature.is_actionable() {
                let (feature, why) = (feature.name.clone(), "no action may change it");
                return Err(Error::Setting(SettingError::UncertainExecution { feature, why }));
            }
            size("share", execution.share)?;
            size("within", execution.within)?;
        }
        for band in &self.bands {
            known(band.feature)?;
            size("band", band.width)?;
        }
        for coefficient in &self.coefficients {
            known(coefficient.feature)?;
            known(coefficient.parent)?;
            size("within", coefficient.within)?;
        }
        if let Some(value) = self.factor.iter().find(|value| !is_moderate(**value)) {
            return Err(Error::Setting(SettingError::Setting { setting: "covariance", value: *value }));
        }
        let executed = self.execution.iter().map(|execution| (execution.feature, usize::MAX));
        let fitted = self.coefficients.iter().map(|error| (error.feature, error.parent));
        let banded = self.bands.iter().map(|band| (band.feature, usize::MAX));
        unique(features, executed)?;
        unique(features, fitted)?;
        unique(features, banded)
    }
}

/// A number in own units for a message, without the rounding errors of the conversion.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// Rejects an entry that occurs twice.
fn unique(features: &Features, entries: impl Iterator<Item = (usize, usize)>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for entry in entries {
        if !seen.insert(entry) {
            let feature = features.feature(entry.0).name.clone();
            return Err(Error::Setting(SettingError::UncertainTwice { feature }));
        }
    }
    Ok(())
}
