//! The uncertainty of a problem: a set of perturbations.
//!
//! An individual may be perturbed by any `D` with `w . D` in `radius` times a convex symmetric set, for
//! weights `w` of the features. [`UncertaintySet`] is the trait of sets, [`Norm`] a set with weights,
//! [`Uncertainty`] a norm with a radius. A new set is a file and a line in [`SETS`]. A [`Product`] of sets over
//! groups of coordinates is made for a problem. Of other modules only the checker names sets, `l1`, `l2`, `linf`
//! and `product`, for which it has formulas of its own.

mod covariance;
mod l1;
mod l2;
mod linf;
mod norm;
mod product;
mod set;
mod sources;
#[cfg(test)]
mod tests;

use rand::Rng;

pub use covariance::{Correlation, factor_of};
pub use norm::{Norm, NormKind, SharedSet};
pub use product::{Factor, Product};
use set::ROOM;
pub(crate) use set::project_inside;
pub use set::{Part, UncertaintySet};
pub use sources::{Band, Coefficient, Execution, Group, Shift, Sources};

use crate::error::SettingError;
use crate::magnitude::is_moderate;
use crate::{Error, Result};

/// Every set that problem files, saved proofs, the command line and Python may name.
pub static SETS: &[&dyn UncertaintySet] = &[&l1::L1, &l2::L2, &linf::Linf];

/// The unweighted norms of [`SETS`], with their names.
pub fn named_norms() -> Vec<(&'static str, Norm)> {
    SETS.iter().map(|&set| (set.name(), Norm::unweighted(SharedSet::listed(set)))).collect()
}

/// The set of perturbations against which actions must hold: all `D` whose norm is at most the radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    norm: Norm,
    radius: f64,
}

impl Uncertainty {
    /// No uncertainty: the only perturbation is zero.
    pub const NONE: Uncertainty = Uncertainty { norm: Norm::L2, radius: 0.0 };

    /// All perturbations with `norm <= radius`, in standardised units. The radius is the epsilon of
    /// problem files.
    pub fn new(norm: Norm, radius: f64) -> Result<Self> {
        if !(is_moderate(radius) && radius >= 0.0) {
            return Err(Error::Setting(SettingError::Epsilon { epsilon: radius }));
        }
        Ok(Self { norm, radius })
    }

    /// The same set with another radius.
    pub fn with_radius(&self, radius: f64) -> Result<Self> {
        Self::new(self.norm.clone(), radius)
    }

    /// The same radius in another norm.
    pub fn with_norm(&self, norm: Norm) -> Self {
        Self { norm, radius: self.radius }
    }

    /// The norm that measures perturbations.
    pub fn norm(&self) -> &Norm {
        &self.norm
    }

    /// The greatest norm of a perturbation.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether the radius is zero.
    pub fn is_none(&self) -> bool {
        self.radius == 0.0
    }

    /// The set in coordinates in which the weights are divided out.
    pub fn set(&self) -> &SharedSet {
        self.norm.set()
    }

    /// The weights of `width` features: one unless others were given.
    pub fn weights(&self, width: usize) -> Vec<f64> {
        self.norm.weights().map_or(vec![1.0; width], <[f64]>::to_vec)
    }

    /// The norm of a perturbation.
    pub fn size(&self, perturbation: &[f64]) -> f64 {
        self.norm.value(perturbation)
    }

    /// Whether a perturbation of this size belongs to the set.
    pub fn includes(&self, size: f64) -> bool {
        size <= self.radius
    }

    /// Whether a perturbation belongs to the set.
    pub fn contains(&self, perturbation: &[f64]) -> bool {
        self.includes(self.size(perturbation))
    }

    /// The largest change of a linear function with this gradient by a perturbation of the set.
    pub fn support(&self, gradient: &[f64]) -> f64 {
        self.radius * self.norm.dual(gradient)
    }

    /// A perturbation that raises a linear function with this gradient most.
    pub fn maximiser(&self, gradient: &[f64]) -> Vec<f64> {
        self.norm.maximiser(gradient, self.radius)
    }

    /// The largest shift, in own units, of one of `width` features alone, whose standard deviation is
    /// `std`.
    pub fn alone(&self, feature: usize, width: usize, std: f64) -> f64 {
        let mut unit = vec![0.0; width];
        unit[feature] = 1.0;
        self.radius * std / self.norm.value(&unit)
    }

    /// Projects a perturbation onto the set.
    pub fn project(&self, perturbation: &mut [f64]) {
        self.norm.project(perturbation, self.radius);
    }

    /// Scales a perturbation down until it belongs to the set.
    pub fn shrink(&self, perturbation: &mut [f64]) {
        self.norm.shrink(perturbation, self.radius);
    }

    /// A random perturbation of `width` features, on the border or inside.
    pub fn sample(&self, random: &mut impl Rng, width: usize, on_border: bool) -> Vec<f64> {
        let mut perturbation = self.norm.sample(random, width, on_border);
        perturbation.iter_mut().for_each(|d| *d *= self.radius);
        self.shrink(&mut perturbation);
        perturbation
    }
}
