//! The conditions under which the theory makes statements.

use crate::{ActionKind, Feature, Problem};

/// A condition of a statement that a problem does not meet. Features and constraints are given by
/// position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// The classifier is not linear.
    LinearClassifier,
    /// The equations of these features are not linear.
    LinearEquations(Vec<usize>),
    /// The noise of these features is not additive.
    AdditiveNoise(Vec<usize>),
    /// The equations of these features may be undefined somewhere, so that perturbations there concern
    /// nobody.
    DefinedEverywhere(Vec<usize>),
    /// Actions are absolute.
    RelativeActions,
    /// Actions change these features by integers, by multiples of a step, or from one category to another.
    RealActions(Vec<usize>),
    /// The changes of these features are limited.
    NoLargestChanges(Vec<usize>),
    /// There are constraints.
    NoConstraints(Vec<usize>),
    /// These features are downstream of actions, and their limits apply to outcomes too.
    UnlimitedFollowers(Vec<usize>),
    /// These features are fixed, may change in one direction or by a largest change only, or are not real-valued.
    EverythingActionable(Vec<usize>),
    /// No real-valued feature may change without limit in the direction that raises the score.
    UnboundedFeature,
    /// The best worst-case margin within the limits is too close to zero to decide whether somebody is
    /// robustly classified.
    RobustlyClassified,
}

/// Conditions that depend on the problem alone. Each method returns the condition if it is not met, or
/// nothing.
pub(super) struct Conditions<'p>(pub &'p Problem);

impl Conditions<'_> {
    /// Linear classifier and linear equations.
    pub fn linear(&self) -> Vec<Unmet> {
        let classifier = self.0.classifier().coefficients().is_err().then_some(Unmet::LinearClassifier);
        let equations = self.0.scm().map(|scm| scm.nonlinear()).unwrap_or_default();
        classifier.into_iter().chain(named(equations, Unmet::LinearEquations)).collect()
    }

    /// Relative actions.
    pub fn relative(&self) -> Vec<Unmet> {
        let is_absolute = self.0.action_kind() == ActionKind::Absolute;
        is_absolute.then_some(Unmet::RelativeActions).into_iter().collect()
    }

    /// Additive noise.
    pub fn additive(&self) -> Vec<Unmet> {
        let features = self.0.scm().map(|scm| scm.nonadditive()).unwrap_or_default();
        named(features, Unmet::AdditiveNoise).into_iter().collect()
    }

    /// Equations that are defined everywhere.
    pub fn defined(&self) -> Vec<Unmet> {
        let features = self.0.scm().map(|scm| scm.partial()).unwrap_or_default();
        named(features, Unmet::DefinedEverywhere).into_iter().collect()
    }

    /// Real-valued actions.
    pub fn real(&self) -> Vec<Unmet> {
        let features = self.features(|feature| feature.is_actionable() && feature.spacing().is_some());
        named(features, Unmet::RealActions).into_iter().collect()
    }

    /// No largest changes.
    pub fn no_largest_changes(&self) -> Vec<Unmet> {
        let features = self.features(|feature| {
            feature.is_actionable() && feature.most_change.min(feature.most_change_share).is_finite()
        });
        named(features, Unmet::NoLargestChanges).into_iter().collect()
    }

    /// No constraints.
    pub fn unconstrained(&self) -> Vec<Unmet> {
        let constraints = (0..self.0.constraints().len()).collect();
        named(constraints, Unmet::NoConstraints).into_iter().collect()
    }

    /// No limits on features downstream of actions.
    pub fn unlimited_followers(&self) -> Vec<Unmet> {
        let mut limited: Vec<usize> =
            self.0.requirements().iter().filter_map(|rule| rule.limited_feature()).collect();
        limited.sort_unstable();
        limited.dedup();
        named(limited, Unmet::UnlimitedFollowers).into_iter().collect()
    }

    /// Every feature is real-valued and may change in both directions.
    pub fn everything_actionable(&self) -> Vec<Unmet> {
        let is_free = |feature: &Feature| {
            let is_unlimited = feature.most_change.is_infinite() && feature.most_change_share.is_infinite();
            feature.change == crate::Change::Any && feature.spacing().is_none() && is_unlimited
        };
        named(self.features(|feature| !is_free(feature)), Unmet::EverythingActionable).into_iter().collect()
    }

    fn features(&self, is_meant: impl Fn(&Feature) -> bool) -> Vec<usize> {
        let features = self.0.features().iter().enumerate();
        features.filter(|(_, feature)| is_meant(feature)).map(|(i, _)| i).collect()
    }
}

fn named(positions: Vec<usize>, condition: impl Fn(Vec<usize>) -> Unmet) -> Option<Unmet> {
    (!positions.is_empty()).then(|| condition(positions))
}
