//! Actions: intervention sets, feasible changes and costs.

use crate::error::{FeatureError, PeopleError};
use crate::{Change, Cost, Error, Feature, Features, Result, Scm};

/// The largest number of units of intervention (features, or one-hot groups) of which every combination
/// is enumerated: 4096 intervention sets.
pub const MOST_ENUMERATED_UNITS: usize = 12;

/// Whether an action is relative (a change) or absolute (a level).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ActionKind {
    /// *Raise your income by 500*: `X_i := x'_i + change`, for the perturbed individual `x'`. The form of
    /// the paper.
    #[default]
    Relative,
    /// *Reach an income of 3500*: `X_i := x_i + change`, a level that is fixed when the action is given.
    Absolute,
}

/// An action: the changes of the features that it intervenes upon.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The features intervened upon, in ascending order. A feature with a zero change is held at its
    /// value, whatever its causes do.
    pub features: Vec<usize>,
    /// The change of each feature from the reported value, in standardised units.
    pub change: Vec<f64>,
}

impl Action {
    /// Rejects an action that does not fit the features: an unknown or repeated position, or another
    /// number of changes.
    pub fn check(&self, features: &Features) -> Result<()> {
        if self.features.len() != self.change.len() {
            return Err(Error::People(PeopleError::VectorLength {
                expected: self.features.len(),
                found: self.change.len(),
            }));
        }
        for (k, &i) in self.features.iter().enumerate() {
            if i >= features.len() {
                return Err(Error::Feature(FeatureError::NoSuchFeature {
                    index: i,
                    features: features.len(),
                }));
            }
            let feature = || features.feature(i).name.clone();
            if self.features[..k].contains(&i) {
                return Err(Error::People(PeopleError::RepeatedIntervention { feature: feature() }));
            }
            if !self.change[k].is_finite() {
                return Err(Error::People(PeopleError::VectorNotFinite {
                    feature: feature(),
                    value: self.change[k],
                }));
            }
        }
        Ok(())
    }
}

impl Cost {
    /// The cost of an action.
    ///
    /// # Panics
    /// If the action names a feature that does not exist; see [`Action::check`].
    pub fn of(self, features: &Features, action: &Action) -> f64 {
        let weighted = action.features.iter().zip(&action.change);
        self.of_weighted(weighted.map(|(&i, change)| features.feature(i).weight * change))
    }
}

/// Every intervention set. With a causal model: every non-empty subset of the actionable features, smaller
/// ones first. Without one: all of them together, since intervening on a feature without an equation
/// changes nothing else. Columns of a one-hot group stay together.
pub fn intervention_sets(features: &Features, causal: bool) -> Result<Vec<Vec<usize>>> {
    require_actionable(features)?;
    match causal {
        true => enumerate(&[], &features.actionable_units()),
        false => Ok(vec![features.actionable()]),
    }
}

/// Intervention sets that cover all others, smaller ones first: for every action there is one on a
/// covering set that costs the same and holds whenever the first does.
///
/// Without a causal model one set suffices, all actionable features together. With one, a feature that is
/// named and left unchanged makes no difference in two cases, so that it is part of every covering set:
///
/// - actions are relative, and the feature is not downstream of another actionable feature;
/// - actions are absolute, and the feature has neither causes nor effects. Then a fixed level only
///   protects the feature itself from perturbation.
///
/// The covering sets are these features with every combination of the others.
///
/// # Errors
/// If there is no actionable feature, or if there are too many covering sets to enumerate.
pub fn covering_sets(features: &Features, scm: Option<&Scm>, kind: ActionKind) -> Result<Vec<Vec<usize>>> {
    covering_sets_except(&[], features, scm.as_slice(), kind)
}

/// As [`covering_sets`] if actions must hold for several causal models, without the sets that some of the features
/// do not belong to.
pub(crate) fn covering_sets_except(
    kept: &[usize],
    features: &Features,
    scms: &[&Scm],
    kind: ActionKind,
) -> Result<Vec<Vec<usize>>> {
    require_actionable(features)?;
    let (always, optional) = always_and_optional_units(features, scms, kind);
    let (kept, optional): (Vec<_>, Vec<_>) = optional.into_iter().partition(|unit| kept.contains(&unit[0]));
    enumerate(&[always.concat(), kept.concat()].concat(), &optional)
}

/// The units of intervention that belong to every covering set, and the others; see [`covering_sets`]. With
/// several causal models, only a unit that makes no difference in any of them belongs to every set.
pub(crate) fn always_and_optional_units(
    features: &Features,
    scms: &[&Scm],
    kind: ActionKind,
) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let units = features.actionable_units();
    let mut is_optional = vec![false; units.len()];
    for scm in scms {
        let of_this: Vec<bool> = match kind {
            ActionKind::Relative => {
                let downstream = scm.followers(&features.actionable());
                units.iter().map(|unit| unit.iter().any(|i| downstream.binary_search(i).is_ok())).collect()
            }
            ActionKind::Absolute => {
                let is_cause = |i: usize| (0..features.len()).any(|j| scm.parents(j).contains(&i));
                let is_linked = |&i: &usize| !scm.parents(i).is_empty() || is_cause(i);
                units.iter().map(|unit| unit.iter().any(is_linked)).collect()
            }
        };
        is_optional.iter_mut().zip(of_this).for_each(|(any, this)| *any |= this);
    }
    let (optional, always): (Vec<_>, Vec<_>) = units.into_iter().zip(is_optional).partition(|(_, is)| *is);
    let units = |flagged: Vec<(Vec<usize>, bool)>| flagged.into_iter().map(|(unit, _)| unit).collect();
    (units(always), units(optional))
}

/// Rejects features of which none is actionable.
pub(crate) fn require_actionable(features: &Features) -> Result<()> {
    match features.actionable().is_empty() {
        true => Err(Error::Feature(FeatureError::NothingActionable)),
        false => Ok(()),
    }
}

/// Every non-empty union of some features with some of the units; smaller ones first.
fn enumerate(always: &[usize], units: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    let count = units.len();
    if count > MOST_ENUMERATED_UNITS {
        let sets = 2f64.powi(count.min(1000) as i32);
        let most = 1 << MOST_ENUMERATED_UNITS;
        return Err(Error::Feature(FeatureError::TooManySets { features: count, sets, most }));
    }
    let members = |mask: u32| (0..count).filter(move |&k| mask >> k & 1 == 1);
    let mut masks: Vec<u32> = (u32::from(always.is_empty())..1 << count).collect();
    masks.sort_by(|&a, &b| a.count_ones().cmp(&b.count_ones()).then_with(|| members(a).cmp(members(b))));
    let set = |mask: u32| {
        let chosen = members(mask).flat_map(|k| units[k].iter());
        let mut set: Vec<usize> = always.iter().chain(chosen).copied().collect();
        set.sort_unstable();
        set
    };
    Ok(masks.into_iter().map(set).collect())
}

/// The lowest and the highest change of one feature that an action may make for an individual.
///
/// Zero is always allowed, also for an individual whom rounding has put outside the limits. For integer
/// features both ends are integer numbers of own units, and so is every allowed change in between. For features
/// with a step they are multiples of it.
///
/// # Panics
/// If there is no feature at this position.
pub fn feasible_change(features: &Features, index: usize, value: f64) -> (f64, f64) {
    let feature = features.feature(index);
    if let Some(steps_per_std) = feature.steps_per_std() {
        let (down, up) = feature.feasible_steps(value);
        return (down / steps_per_std, up / steps_per_std);
    }
    let (lower, upper) = feature.standardised_limits();
    let (mut down, mut up) = ((lower - value).min(0.0), (upper - value).max(0.0));
    let most = feature.largest_change(feature.own_units(value)) / feature.std;
    (down, up) = (down.max(-most), up.min(most));
    match feature.change {
        Change::Fixed => (0.0, 0.0),
        Change::Any => (down, up),
        Change::Increase => (0.0, up),
        Change::Decrease => (down, 0.0),
    }
}

/// The number of significant digits of displayed changes and values.
const DIGITS: u32 = 4;

/// The change, in standardised units, as it will be displayed: rounded away from zero. A change that is
/// already rounded stays as it is.
pub(crate) fn rounded_for_display(feature: &Feature, form: ActionKind, value: f64, change: f64) -> f64 {
    // Integers and multiples of a step are displayed exactly.
    if change == 0.0 || feature.spacing().is_some() {
        return change;
    }
    let (from, by) = (feature.own_units(value), feature.std * change);
    let allows = |by: f64| feature.allows_strictly(from + by) && feature.allows_change(from, by);
    let told = match form {
        ActionKind::Relative => rounded(by, by, allows).0,
        ActionKind::Absolute => {
            let allows = |to: f64| feature.allows_strictly(to) && feature.allows_change(from, to - from);
            rounded(from + by, by, allows).0 - from
        }
    };
    told / feature.std
}

/// Rounds a number in the direction of a change, to as many decimals as show four digits of the change,
/// or more if `allowed` requires it. If no rounded number is allowed, returns the number itself and
/// `None` decimals.
pub(crate) fn rounded(value: f64, change: f64, allowed: impl Fn(f64) -> bool) -> (f64, Option<usize>) {
    let magnitude = change.abs().log10().floor();
    let fewest = (f64::from(DIGITS) - 1.0 - magnitude).max(0.0) as usize;
    for decimals in (fewest..fewest + 12).take_while(|&decimals| decimals < 300) {
        // Parsed from text, so that the checked number is the printed one.
        let unit = 10f64.powi(-(decimals as i32));
        for nudge in [0.0, 1.0] {
            let near = value + nudge * unit.copysign(change);
            let Ok(candidate) = format!("{near:.decimals$}").parse::<f64>() else { continue };
            // With tolerance for the rounding of units, so that a rounded number stays as it is.
            if (candidate - value) * change.signum() >= -4.0 * f64::EPSILON * value.abs()
                && allowed(candidate)
            {
                return (candidate, Some(decimals));
            }
        }
    }
    (value, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feature;

    fn features(changes: &[Change]) -> Features {
        let feature = |(i, &change): (usize, &Change)| Feature::new(format!("x{i}")).change(change);
        Features::new(changes.iter().enumerate().map(feature).collect()).unwrap()
    }

    #[test]
    fn every_subset_smaller_ones_first() {
        let three = features(&[Change::Any, Change::Fixed, Change::Increase, Change::Decrease]);
        let sets = intervention_sets(&three, true).unwrap();
        let expected: [&[usize]; 7] = [&[0], &[2], &[3], &[0, 2], &[0, 3], &[2, 3], &[0, 2, 3]];
        assert_eq!(sets, expected);
        assert_eq!(intervention_sets(&three, false).unwrap(), [[0, 2, 3]]);
    }

    #[test]
    fn too_many_or_no_actionable_features_are_an_error() {
        assert_eq!(intervention_sets(&features(&[Change::Any; 12]), true).unwrap().len(), 4095);
        let many = features(&[Change::Any; 13]);
        assert!(matches!(
            intervention_sets(&many, true),
            Err(Error::Feature(FeatureError::TooManySets { features: 13, sets: 8192.0, most: 4096 }))
        ));
        assert_eq!(intervention_sets(&many, false).unwrap().len(), 1);
        assert!(matches!(
            intervention_sets(&features(&[Change::Fixed]), true),
            Err(Error::Feature(FeatureError::NothingActionable))
        ));
    }

    #[test]
    fn costs_by_hand() {
        let features = Features::new(vec![
            Feature::new("a").weight(2.0).change(Change::Any),
            Feature::new("b"),
            Feature::new("c").weight(0.5).change(Change::Any),
        ])
        .unwrap();
        let action = Action { features: vec![0, 2], change: vec![-1.5, 8.0] };
        assert_eq!(Cost::L1.of(&features, &action), 7.0);
        assert_eq!(Cost::L2.of(&features, &action), 5.0);
        // Squares of these numbers overflow or underflow.
        for size in [1e200, 1e-200] {
            let action = Action { features: vec![0, 2], change: vec![-1.5 * size, 8.0 * size] };
            assert!((Cost::L2.of(&features, &action) / (5.0 * size) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_box_respects_limits_and_direction() {
        let of = |change: Change, value: f64| {
            let feature = Feature::new("x").scaling(10.0, 2.0).limits(8.0, 14.0).change(change);
            feasible_change(&Features::new(vec![feature]).unwrap(), 0, value)
        };
        assert_eq!(of(Change::Any, 0.5), (-1.5, 1.5));
        assert_eq!(of(Change::Increase, 0.5), (0.0, 1.5));
        assert_eq!(of(Change::Decrease, 0.5), (-1.5, 0.0));
        assert_eq!(of(Change::Fixed, 0.5), (0.0, 0.0));
        assert_eq!(of(Change::Any, 2.0 + 1e-12).1, 0.0);
    }
}
