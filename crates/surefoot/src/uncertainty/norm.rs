//! Norms that measure perturbations: uncertainty sets with weights.
//!
//! With weights `w_i > 0` (all one unless given) a perturbation `v` has the size
//! `gauge(w . v)` of its set, `||w . v||_p` for the sets l1, l2 and linf. The dual norm gives every
//! linear worst case: `max { g.v : ||v|| <= r } = r * dual(g)`.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::l1::L1;
use super::l2::L2;
use super::linf::Linf;
use super::set::{UncertaintySet, shrink};
use crate::error::SettingError;
use crate::magnitude::is_scale;
use crate::{Error, Result};

/// A shared uncertainty set: one of [`SETS`](super::SETS), or a custom one.
///
/// Two are equal if they have the same name and the same parameters.
#[derive(Clone)]
pub struct SharedSet(Handle);

#[derive(Clone)]
enum Handle {
    Listed(&'static dyn UncertaintySet),
    Own(Arc<dyn UncertaintySet>),
}

impl SharedSet {
    pub(super) const fn listed(set: &'static dyn UncertaintySet) -> Self {
        Self(Handle::Listed(set))
    }

    /// Whether the set is one of [`SETS`](super::SETS), so that its name identifies it.
    pub fn is_listed(&self) -> bool {
        matches!(self.0, Handle::Listed(_))
    }
}

impl<S: UncertaintySet + 'static> From<S> for SharedSet {
    fn from(set: S) -> Self {
        Self(Handle::Own(Arc::new(set)))
    }
}

impl From<NormKind> for SharedSet {
    fn from(kind: NormKind) -> Self {
        Self::listed(kind.set())
    }
}

impl Deref for SharedSet {
    type Target = dyn UncertaintySet;

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Handle::Listed(set) => *set,
            Handle::Own(set) => &**set,
        }
    }
}

impl PartialEq for SharedSet {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.parameters() == other.parameters()
    }
}

impl fmt::Debug for SharedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// The names of the lp norms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// Sum of absolute values.
    L1,
    /// Euclidean length.
    L2,
    /// Largest absolute value.
    Linf,
}

impl NormKind {
    const fn set(self) -> &'static dyn UncertaintySet {
        match self {
            NormKind::L1 => &L1,
            NormKind::L2 => &L2,
            NormKind::Linf => &Linf,
        }
    }
}

impl fmt::Display for NormKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.set().name())
    }
}

/// A norm: an uncertainty set, its unit ball, with optional positive weights per feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    set: SharedSet,
    weights: Option<Vec<f64>>,
}

impl Norm {
    /// The unweighted l1 norm.
    pub const L1: Norm = Norm::of(NormKind::L1);
    /// The unweighted l2 norm.
    pub const L2: Norm = Norm::of(NormKind::L2);
    /// The unweighted linf norm.
    pub const LINF: Norm = Norm::of(NormKind::Linf);

    const fn of(kind: NormKind) -> Self {
        Self { set: SharedSet::listed(kind.set()), weights: None }
    }

    /// The norm of this set with all weights one, for vectors of any length.
    pub fn unweighted(set: impl Into<SharedSet>) -> Self {
        Self { set: set.into(), weights: None }
    }

    /// The norm of `w . v`; every weight must be positive, and neither tiny nor
    /// huge ([`magnitude`](crate::magnitude)).
    pub fn weighted(set: impl Into<SharedSet>, weights: Vec<f64>) -> Result<Self> {
        Self::unweighted(set).with_weights(weights)
    }

    /// The same with other weights; see [`Norm::weighted`].
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        if let Some(position) = weights.iter().position(|&w| !is_scale(w)) {
            return Err(Error::Setting(SettingError::NormWeight { position, weight: weights[position] }));
        }
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The set that is the unit ball of the norm without its weights.
    pub fn set(&self) -> &SharedSet {
        &self.set
    }

    /// The name of the set, as in problem files.
    pub fn name(&self) -> &'static str {
        self.set.name()
    }

    /// The name of the lp norm whose unit ball the set is, if it is one.
    pub fn kind(&self) -> Option<NormKind> {
        let kinds = [NormKind::L1, NormKind::L2, NormKind::Linf];
        kinds.into_iter().find(|&kind| self.set == SharedSet::from(kind))
    }

    /// The weights, if any were given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// `||w . v||`.
    ///
    /// # Panics
    /// Here and below, if the vector is longer than the weights.
    pub fn value(&self, v: &[f64]) -> f64 {
        match &self.weights {
            None => self.set.gauge(v),
            Some(weights) => {
                let scaled: Vec<f64> = v.iter().enumerate().map(|(i, v)| v * weights[i]).collect();
                self.set.gauge(&scaled)
            }
        }
    }

    /// The dual norm: the greatest value of `v . d` over all `d` of norm one.
    pub fn dual(&self, v: &[f64]) -> f64 {
        match self.unscaled(v) {
            None => self.set.support(v),
            Some(row) => self.set.support(&row),
        }
    }

    /// Converts a gradient in perturbations to the coordinates of the set; `None` if they are the same.
    fn unscaled(&self, gradient: &[f64]) -> Option<Vec<f64>> {
        let weights = self.weights.as_ref()?;
        Some(gradient.iter().enumerate().map(|(i, g)| g / weights[i]).collect())
    }

    /// The point of the ball of this radius at which the linear function `gradient.v` is
    /// greatest; zero where the gradient is zero.
    pub fn maximiser(&self, gradient: &[f64], radius: f64) -> Vec<f64> {
        let unscaled = self.unscaled(gradient);
        let mut v = self.set.maximiser(unscaled.as_deref().unwrap_or(gradient));
        v.iter_mut().for_each(|v| *v *= radius);
        if let Some(weights) = &self.weights {
            v.iter_mut().zip(weights).for_each(|(v, w)| *v /= w);
        }
        v
    }

    /// Moves `v` to the point of the ball of this radius that is nearest in Euclidean
    /// distance. Points inside stay where they are. A radius below zero counts as zero.
    pub fn project(&self, v: &mut [f64], radius: f64) {
        let radius = radius.max(0.0);
        if self.value(v) <= radius {
            return;
        }
        match &self.weights {
            None => self.set.project(v, radius),
            Some(weights) => self.set.project_weighted(v, weights, radius),
        }
        // Rounding may leave the point slightly outside.
        self.shrink(v, radius);
    }

    /// Scales `v` down until its norm is at most the radius.
    pub(crate) fn shrink(&self, v: &mut [f64], radius: f64) {
        shrink(v, radius, |v| self.value(v));
    }

    /// A random vector in a normally distributed direction, of norm one or, unless `on_border`, at most
    /// one.
    pub fn sample(&self, random: &mut impl Rng, width: usize, on_border: bool) -> Vec<f64> {
        let mut point: Vec<f64> = (0..width).map(|_| random.sample(StandardNormal)).collect();
        let inside: f64 = random.random();
        let share = if on_border { 1.0 } else { inside.powf(1.0 / width as f64) };
        let scales = match &self.weights {
            None => self.set.scaling(&point, share),
            Some(weights) => {
                let scaled: Vec<f64> = point.iter().enumerate().map(|(i, v)| v * weights[i]).collect();
                self.set.scaling(&scaled, share)
            }
        };
        point.iter_mut().zip(scales).for_each(|(x, scale)| *x *= scale);
        point
    }
}
