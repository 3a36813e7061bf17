//! Which features an action may change together.

use super::Problem;
use crate::error::{RuleError, SettingError};
use crate::{Action, ActionKind, Error, Features, Result};

/// Limits on what an action changes together: at most `most_changes` things, and at most one of each list.
///
/// A thing is a feature, or the columns of a one-hot group together. A feature that is held while something that
/// causes it changes counts as changed, because it takes an intervention to hold it. For absolute actions under
/// uncertainty every feature that is named counts: its level undoes shifts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeLimits {
    most_changes: Option<usize>,
    one_of: Vec<Vec<usize>>,
}

impl ChangeLimits {
    /// No limit.
    pub fn none() -> Self {
        Self::default()
    }

    /// Limits the number of changed things.
    ///
    /// # Errors
    /// If the number is zero.
    pub fn with_most_changes(mut self, most: usize) -> Result<Self> {
        if most == 0 {
            return Err(Error::Rule(RuleError::NoChanges));
        }
        self.most_changes = Some(most);
        Ok(self)
    }

    /// Adds a list of features and one-hot groups, by name, of which at most one may be changed.
    ///
    /// # Errors
    /// If a name is unknown, or if these are not at least two different things.
    pub fn with_one_of(mut self, features: &Features, names: &[&str]) -> Result<Self> {
        let mut positions = Vec::new();
        for name in names {
            let group = features.groups().into_iter().find(|group| group.name == **name);
            positions.push(match group {
                Some(group) => group.columns[0],
                None => first_of_unit(features, features.index(name)?),
            });
        }
        positions.sort_unstable();
        positions.dedup();
        if positions.len() < 2 || positions.len() < names.len() {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            return Err(Error::Rule(RuleError::OneOf { names }));
        }
        self.one_of.push(positions);
        Ok(self)
    }

    /// The largest number of changed things, if it is limited.
    pub fn most_changes(&self) -> Option<usize> {
        self.most_changes
    }

    /// The lists of which at most one thing may be changed: positions of features, of a group that of its first
    /// column.
    pub fn one_of(&self) -> &[Vec<usize>] {
        &self.one_of
    }

    /// The same without the limit on the number.
    pub(crate) fn without_most_changes(&self) -> Self {
        Self { most_changes: None, ..self.clone() }
    }

    /// The same without one of the lists.
    pub(crate) fn without_one_of(&self, list: usize) -> Self {
        let mut limits = self.clone();
        limits.one_of.remove(list);
        limits
    }

    /// Whether things may be changed together. Each is given by the position of its feature, or of the first column
    /// of its group.
    pub(crate) fn allows(&self, things: &[usize]) -> bool {
        let of_list = |list: &Vec<usize>| things.iter().filter(|thing| list.contains(thing)).count();
        self.most_changes.is_none_or(|most| things.len() <= most)
            && self.one_of.iter().all(|list| of_list(list) <= 1)
    }

    fn highest_position(&self) -> usize {
        self.one_of.iter().flatten().copied().max().unwrap_or(0)
    }
}

/// The position of a feature or, for a column of a group, of the first column of the group.
pub(crate) fn first_of_unit(features: &Features, index: usize) -> usize {
    match &features.feature(index).group {
        None => index,
        group => features.iter().position(|feature| feature.group == *group).unwrap_or(index),
    }
}

impl Problem {
    /// Sets which features an action may change together.
    ///
    /// # Errors
    /// If a position is beyond the features.
    pub fn with_change_limits(mut self, limits: ChangeLimits) -> Result<Self> {
        if limits.highest_position() >= self.features.len() {
            return Err(Error::CausalModel(crate::error::CausalModelError::OtherFeatures));
        }
        self.change_limits = limits;
        self.with_variants()
    }

    /// Which features an action may change together.
    pub fn change_limits(&self) -> &ChangeLimits {
        &self.change_limits
    }

    /// Whether some actionable features must not be changed together.
    pub(crate) fn has_change_limits(&self) -> bool {
        let units = self.features.actionable_units();
        let things: Vec<usize> = units.iter().map(|unit| first_of_unit(&self.features, unit[0])).collect();
        !self.change_limits.allows(&things)
    }

    /// Rejects a problem in which some actionable features must not be changed together.
    pub(crate) fn require_no_change_limits(&self, method: &'static str) -> Result<()> {
        match self.has_change_limits() {
            true => Err(Error::Setting(SettingError::ChangeLimits { method })),
            false => Ok(()),
        }
    }

    /// The things that an action changes, in ascending order: each by the position of its feature, or of the first
    /// column of its group. A zero change of a feature that nothing would move does not count.
    pub(crate) fn changed_things(&self, action: &Action) -> Vec<usize> {
        let undoes_shifts = self.form == ActionKind::Absolute && !self.uncertainty.is_none();
        let named = || action.features.iter().copied().zip(action.change.iter().copied());
        let is_moved = |i: usize| {
            let mut changed = named().filter(|&(_, change)| change != 0.0).map(|(j, _)| j);
            changed.any(|j| j != i && self.causal_models().iter().any(|scm| scm.is_downstream(i, j)))
        };
        let counts = |&(i, change): &(usize, f64)| change != 0.0 || undoes_shifts || is_moved(i);
        let things = named().filter(counts).map(|(i, _)| first_of_unit(&self.features, i));
        let mut things: Vec<usize> = things.collect();
        things.sort_unstable();
        things.dedup();
        things
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Classifier, Equation, Feature, Norm, Scm};

    fn problem() -> Problem {
        let feature = |name: &str| Feature::new(name).change(Change::Any);
        let mut features = ["a", "b", "c", "d"].map(feature).to_vec();
        features.push(feature("e").group("g"));
        features.push(feature("f").group("g"));
        let features = Features::new(features).unwrap();
        let scm = Scm::new(&features, vec![("b", Equation::formula("2 * a + u"))]).unwrap();
        let problem = Problem::new(features, Classifier::linear(vec![1.0; 6], 0.0, 0.5).unwrap()).unwrap();
        problem.with_causal_model(scm).unwrap()
    }

    #[test]
    fn what_is_held_against_its_causes_counts_and_a_group_counts_once() {
        let problem = problem();
        let action = |features: &[usize], change: &[f64]| Action {
            features: features.to_vec(),
            change: change.to_vec(),
        };
        let things = |action: &Action| problem.changed_things(action);
        assert_eq!(things(&action(&[0, 1, 2], &[1.0, 0.0, 0.0])), [0, 1]);
        assert_eq!(things(&action(&[0, 1, 2], &[0.0, 0.0, 0.5])), [2]);
        assert_eq!(things(&action(&[3, 4, 5], &[1.0, -1.0, 1.0])), [3, 4]);
        let absolute = problem.clone().with_action_kind(ActionKind::Absolute);
        assert_eq!(absolute.changed_things(&action(&[0, 1, 2], &[0.0, 0.0, 0.5])), [2]);
        let uncertain = absolute.with_uncertainty(Norm::L2, 0.1).unwrap();
        assert_eq!(uncertain.changed_things(&action(&[0, 1, 2], &[0.0, 0.0, 0.5])), [0, 1, 2]);
    }

    #[test]
    fn limits_are_about_actionable_things() {
        let problem = problem();
        let limits = ChangeLimits::none().with_one_of(problem.features(), &["a", "g"]).unwrap();
        assert_eq!(limits.one_of(), [[0, 4]]);
        let limited = problem.clone().with_change_limits(limits).unwrap();
        assert!(limited.has_change_limits() && !limited.without(&[0]).has_change_limits());
        assert!(!limited.without(&[4, 5]).has_change_limits());
        let most = |most| {
            let limits = ChangeLimits::none().with_most_changes(most).unwrap();
            problem.clone().with_change_limits(limits).unwrap().has_change_limits()
        };
        assert_eq!([4, 5].map(most), [true, false]);
        for names in [&["a", "a"][..], &["a"], &["e", "g"], &["e", "f"]] {
            let refused = ChangeLimits::none().with_one_of(problem.features(), names);
            assert!(matches!(refused, Err(Error::Rule(RuleError::OneOf { .. }))), "{names:?}");
        }
        assert!(ChangeLimits::none().with_one_of(problem.features(), &["a", "x"]).is_err());
        assert!(ChangeLimits::none().with_most_changes(0).is_err());
    }
}
