//! The joint perturbations of a problem: shifts of the person and every other uncertain quantity in one
//! vector.
//!
//! The vector has one coordinate for each feature, for each error of execution, for each band and for each
//! uncertain coefficient:
//!
//! ```text
//! v = (features, execution, bands, coefficients)
//! ```
//!
//! The coordinates of features whose shifts are bounded together form the ball of the problem, or groups
//! with balls of their own. All others lie between -1 and 1.

use crate::error::{PeopleError, SettingError};
use crate::uncertainty::{Coefficient, Execution, Factor, Product, Shift, Sources};
use crate::{Error, Features, Kind, Norm, Result, Scm, Uncertainty};

/// How the coordinates of joint perturbations act.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Joint {
    pub sources: Sources,
    /// The number of features.
    pub features: usize,
    /// Divisors of the coordinates of each feature: the weights of the norm.
    pub weights: Vec<f64>,
    /// The feature, the place of the parent among its parents, and the largest error.
    pub slopes: Vec<(usize, usize, f64)>,
    /// Where the shift of a cause is not to spread: the effect, the cause, and the coefficient of its equation.
    pub kept: Vec<(usize, usize, f64)>,
}

impl Joint {
    pub fn new(
        features: &Features,
        scm: Option<&Scm>,
        ball: &Uncertainty,
        sources: &Sources,
    ) -> Result<Self> {
        let named = |i: usize| features.feature(i).name.clone();
        let equation =
            |i: usize, why| Error::Setting(SettingError::UncertainEquation { feature: named(i), why });
        for &Execution { feature, .. } in &sources.execution {
            if features.feature(feature).kind == Kind::Binary {
                let why = "its values are not amounts";
                return Err(Error::Setting(SettingError::UncertainExecution {
                    feature: named(feature),
                    why,
                }));
            }
        }
        let uncertain = sources.bands.iter().map(|band| band.feature);
        for i in uncertain.chain(sources.coefficients.iter().map(|error| error.feature)) {
            match scm {
                Some(scm) if scm.parents(i).is_empty() => return Err(equation(i, "it has no causes")),
                Some(scm) if scm.nonadditive().contains(&i) => {
                    return Err(equation(i, "its noise is not additive"));
                }
                None => return Err(equation(i, "there is no causal model")),
                Some(_) => {}
            }
        }
        for band in &sources.bands {
            // The noise of such a feature would be recovered with one function of the band and used with another.
            let followers = scm.map(|scm| scm.followers(&[band.feature])).unwrap_or_default();
            let nonadditive = scm.map(Scm::nonadditive).unwrap_or_default();
            if followers.iter().any(|i| nonadditive.contains(i)) {
                return Err(equation(
                    band.feature,
                    "a feature that follows from it has noise that is not additive",
                ));
            }
        }
        if let Some(clipped) = scm.and_then(Scm::first_clipped) {
            return Err(Error::Setting(SettingError::UncertainClip { feature: named(clipped) }));
        }
        let place = |feature: usize, parent: usize| {
            let parents = scm.map(|scm| scm.parents(feature)).unwrap_or_default();
            let place = parents.iter().position(|&p| p == parent);
            place.ok_or_else(|| {
                equation(feature, "the feature whose coefficient is uncertain is not among its causes")
            })
        };
        let slope =
            |error: &Coefficient| Ok((error.feature, place(error.feature, error.parent)?, error.within));
        let slopes = sources.coefficients.iter().map(slope).collect::<Result<Vec<_>>>()?;
        let mut kept = Vec::new();
        for (&cause, scm) in sources.alone.iter().flat_map(|cause| scm.map(|scm| (cause, scm))) {
            if scm.nonadditive().contains(&cause) {
                return Err(Error::People(PeopleError::MissingEffect { feature: named(cause) }));
            }
            for effect in (0..features.len()).filter(|&effect| scm.parents(effect).contains(&cause)) {
                let coefficient = scm.coefficient(effect, cause).ok_or_else(|| {
                    let (feature, effect) = (named(cause), named(effect));
                    Error::People(PeopleError::MissingCause { feature, effect })
                })?;
                kept.push((effect, cause, coefficient));
            }
        }
        let weights = ball.weights(features.len());
        Ok(Self { sources: sources.clone(), features: features.len(), weights, slopes, kept })
    }

    /// The coordinates of the features after mixing by the covariance.
    pub fn mixed(&self, perturbation: &[f64]) -> Vec<f64> {
        let (n, factor) = (self.features, &self.sources.factor);
        match factor.is_empty() {
            true => perturbation[..n].to_vec(),
            false => (0..n).map(|i| (0..n).map(|j| factor[i * n + j] * perturbation[j]).sum()).collect(),
        }
    }

    /// The number of coordinates.
    pub fn width(&self) -> usize {
        self.features + self.sources.execution.len() + self.sources.bands.len() + self.slopes.len()
    }

    /// The first coordinate of the bands.
    pub fn first_band(&self) -> usize {
        self.features + self.sources.execution.len()
    }

    /// The first coordinate of the coefficients.
    pub fn first_slope(&self) -> usize {
        self.first_band() + self.sources.bands.len()
    }

    /// Whether a perturbation leaves the effects of changes on other features as they are.
    pub fn has_certain_effects(&self) -> bool {
        self.sources.execution.is_empty() && self.sources.bands.is_empty() && self.slopes.is_empty()
    }

    /// The set of joint perturbations: a product of radius one, or a plain ball where there is nothing else.
    ///
    /// The coordinates of exact features have no effect. They are in the ball of the others, whose projection
    /// on these is the same ball, so that it stays round.
    pub fn uncertainty(&self, ball: &Uncertainty) -> Result<Uncertainty> {
        let mut in_box: Vec<usize> = (self.features..self.width()).collect();
        let mut in_ball: Vec<usize> = Vec::new();
        let grouped = |i: usize| self.sources.groups.iter().any(|group| group.features.contains(&i));
        for i in 0..self.features {
            match self.sources.shift(i) {
                Shift::Ball if grouped(i) => {}
                Shift::Ball | Shift::Exact => in_ball.push(i),
                _ => in_box.push(i),
            }
        }
        let kind =
            ball.norm().kind().ok_or(Error::Setting(SettingError::OwnSet { set: ball.norm().name() }))?;
        let groups = self
            .sources
            .groups
            .iter()
            .map(|group| Factor::new(group.norm, group.epsilon, group.features.clone()));
        let mut factors = vec![
            Factor::new(kind, ball.radius(), in_ball),
            Factor::new(Norm::LINF.set().clone(), 1.0, in_box),
        ];
        factors.extend(groups);
        factors.retain(|factor| !factor.coordinates.is_empty());
        let product = Product::new(factors)?;
        match product.factors() {
            [only] => Uncertainty::new(Norm::unweighted(only.set.clone()), only.radius),
            _ => Uncertainty::new(Norm::unweighted(product), 1.0),
        }
    }
}
