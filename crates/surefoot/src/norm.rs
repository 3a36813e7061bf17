//! Norms that measure perturbations and actions.
//!
//! With weights `w_i > 0` (all one unless given) a norm is `||w . v||_p`, `p` in
//! {1, 2, inf}; its dual is `||v / w||_q` with `1/p + 1/q = 1`. The dual closes every
//! linear worst case: `max { g.v : ||v|| <= r } = r * dual(g)`.

use crate::magnitude::is_scale;
use crate::{Error, Result};

/// Which `p` a [`Norm`] uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// Sum of absolute values.
    L1,
    /// Euclidean length.
    L2,
    /// Largest absolute value.
    Linf,
}

/// A norm with optional positive weights per feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    kind: NormKind,
    weights: Option<Vec<f64>>,
}

impl Norm {
    /// The unweighted l1 norm.
    pub const L1: Norm = Norm::unweighted(NormKind::L1);
    /// The unweighted l2 norm.
    pub const L2: Norm = Norm::unweighted(NormKind::L2);
    /// The unweighted linf norm.
    pub const LINF: Norm = Norm::unweighted(NormKind::Linf);

    /// The norm of this kind with all weights one, for vectors of any length.
    pub const fn unweighted(kind: NormKind) -> Self {
        Self { kind, weights: None }
    }

    /// The norm of `w . v`; every weight must be positive, and neither tiny nor
    /// huge ([`magnitude`](crate::magnitude)).
    pub fn weighted(kind: NormKind, weights: Vec<f64>) -> Result<Self> {
        if let Some(position) = weights.iter().position(|&w| !is_scale(w)) {
            return Err(Error::NormWeight { position, weight: weights[position] });
        }
        Ok(Self { kind, weights: Some(weights) })
    }

    /// Which `p` this is.
    pub fn kind(&self) -> NormKind {
        self.kind
    }

    /// The weights, if any were given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// `||w . v||_p`.
    ///
    /// # Panics
    /// Here and below, if the vector is longer than the weights.
    pub fn value(&self, v: &[f64]) -> f64 {
        let scaled = v.iter().enumerate().map(|(i, v)| v * self.weight(i));
        length(self.kind, scaled)
    }

    /// `||v / w||_q`, the dual norm.
    pub fn dual(&self, v: &[f64]) -> f64 {
        let scaled = v.iter().enumerate().map(|(i, v)| v / self.weight(i));
        let dual = match self.kind {
            NormKind::L1 => NormKind::Linf,
            NormKind::L2 => NormKind::L2,
            NormKind::Linf => NormKind::L1,
        };
        length(dual, scaled)
    }

    /// The point of the ball of this radius at which the linear function `gradient.v` is
    /// greatest; zero where the gradient is zero.
    pub fn maximiser(&self, gradient: &[f64], radius: f64) -> Vec<f64> {
        let mut v = vec![0.0; gradient.len()];
        match self.kind {
            NormKind::L1 => {
                let gain = |i: usize| (gradient[i] / self.weight(i)).abs();
                // The first of equals, so that the answer does not depend on order tricks.
                let best = (0..v.len()).reduce(|a, b| if gain(b) > gain(a) { b } else { a });
                if let Some(i) = best.filter(|&i| gradient[i] != 0.0) {
                    v[i] = (radius / self.weight(i)).copysign(gradient[i]);
                }
            }
            NormKind::L2 => {
                let dual = self.dual(gradient);
                if dual > 0.0 {
                    for (i, v) in v.iter_mut().enumerate() {
                        let w = self.weight(i);
                        *v = radius * (gradient[i] / w / dual) / w;
                    }
                }
            }
            NormKind::Linf => {
                for (i, v) in v.iter_mut().enumerate().filter(|(i, _)| gradient[*i] != 0.0) {
                    *v = (radius / self.weight(i)).copysign(gradient[i]);
                }
            }
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
        match self.kind {
            NormKind::Linf => {
                for (i, v) in v.iter_mut().enumerate() {
                    let bound = radius / self.weight(i);
                    *v = v.clamp(-bound, bound);
                }
            }
            NormKind::L1 => {
                let threshold = self.soft_threshold(v, radius);
                for (i, v) in v.iter_mut().enumerate() {
                    let size = (v.abs() - threshold * self.weight(i)).max(0.0);
                    *v = size.copysign(*v);
                }
            }
            NormKind::L2 => match &self.weights {
                None => {
                    let shrink = radius / self.value(v);
                    v.iter_mut().for_each(|v| *v *= shrink);
                }
                Some(weights) => {
                    let multiplier = self.ellipsoid_multiplier(v, radius);
                    for (v, w) in v.iter_mut().zip(weights) {
                        *v /= 1.0 + multiplier * w * w;
                    }
                }
            },
        }
        // Rounding may leave the point a hair outside.
        self.shrink(v, radius);
    }

    /// Scales `v` down, where its norm exceeds the radius, until it does not.
    pub(crate) fn shrink(&self, v: &mut [f64], radius: f64) {
        // Once is nearly always enough; sums of many terms may round up again.
        for attempt in 1..=64 {
            let value = self.value(v);
            if value <= radius || value.is_nan() {
                return;
            }
            let shrink = radius / value * (1.0 - f64::from(attempt) * f64::EPSILON);
            v.iter_mut().for_each(|v| *v *= shrink);
        }
    }

    /// The `t` with `sum_i w_i max(|v_i| - t w_i, 0) = radius`: the l1 projection shrinks
    /// coordinate i by `t w_i`. Exact, by adding coordinates in the order in which they
    /// reach zero.
    fn soft_threshold(&self, v: &[f64], radius: f64) -> f64 {
        let mut order: Vec<usize> = (0..v.len()).collect();
        let reach = |i: usize| v[i].abs() / self.weight(i);
        order.sort_by(|&a, &b| reach(b).total_cmp(&reach(a)));
        let (mut sum, mut squares, mut threshold) = (0.0, 0.0, 0.0);
        for i in order {
            let w = self.weight(i);
            if reach(i) <= threshold {
                break;
            }
            sum += w * v[i].abs();
            squares += w * w;
            threshold = (sum - radius) / squares;
        }
        threshold
    }

    /// The `m >= 0` with `||w . p|| = radius` for `p_i = v_i / (1 + m w_i^2)`. The length
    /// falls with m, so bisection after doubling cannot fail.
    fn ellipsoid_multiplier(&self, v: &[f64], radius: f64) -> f64 {
        let outside = |m: f64| {
            let shrunk = v.iter().enumerate().map(|(i, v)| {
                let w = self.weight(i);
                w * v / (1.0 + m * w * w)
            });
            length(NormKind::L2, shrunk) > radius
        };
        let (mut low, mut high) = (0.0, 1.0);
        while outside(high) && high < f64::MAX / 2.0 {
            (low, high) = (high, high * 2.0);
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if outside(middle) { low = middle } else { high = middle }
        }
        high
    }
}

/// The unweighted length of a sequence; l2 is scaled by the largest entry, so that huge
/// and tiny vectors neither overflow nor vanish.
pub(crate) fn length(kind: NormKind, values: impl Iterator<Item = f64> + Clone) -> f64 {
    let greater = |a: f64, v: f64| if a.is_nan() || v.abs() <= a { a } else { v.abs() };
    let largest = || values.clone().fold(0.0, greater);
    match kind {
        NormKind::L1 => values.map(f64::abs).sum(),
        NormKind::Linf => largest(),
        NormKind::L2 => {
            let sum: f64 = values.clone().map(|v| v * v).sum();
            if sum.is_finite() && sum > 1e-200 {
                return sum.sqrt();
            }
            let scale = largest();
            if scale == 0.0 || !scale.is_finite() {
                return scale;
            }
            scale * values.map(|v| (v / scale).powi(2)).sum::<f64>().sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [NormKind; 3] = [NormKind::L1, NormKind::L2, NormKind::Linf];

    fn norms(weights: &[f64]) -> impl Iterator<Item = Norm> + '_ {
        KINDS
            .into_iter()
            .flat_map(|kind| [Norm::unweighted(kind), Norm::weighted(kind, weights.to_vec()).unwrap()])
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn values_and_duals_by_hand() {
        let v = [3.0, -4.0];
        assert_eq!(Norm::L1.value(&v), 7.0);
        assert_eq!(Norm::L2.value(&v), 5.0);
        assert_eq!(Norm::LINF.value(&v), 4.0);
        assert_eq!(Norm::L1.dual(&v), 4.0);
        assert_eq!(Norm::LINF.dual(&v), 7.0);
        let weighted = Norm::weighted(NormKind::L1, vec![2.0, 1.0]).unwrap();
        assert_eq!(weighted.value(&v), 10.0);
        assert_eq!(weighted.dual(&v), 4.0);
    }

    #[test]
    fn lengths_of_huge_and_tiny_vectors() {
        assert!((Norm::L2.value(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert!((Norm::L2.value(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
        assert_eq!(Norm::L2.value(&[0.0]), 0.0);
        assert!(Norm::LINF.value(&[1.0, f64::NAN, 0.0]).is_nan());
    }

    #[test]
    fn weights_must_be_positive_and_finite() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-101, 1e101] {
            let error = Norm::weighted(NormKind::L2, vec![1.0, weight]).unwrap_err();
            assert!(matches!(error, Error::NormWeight { position: 1, .. }), "{error}");
        }
    }

    proptest! {
        #[test]
        fn the_maximiser_attains_the_dual(
            g in prop::collection::vec(-5.0..5.0f64, 4),
            w in prop::collection::vec(0.1..10.0f64, 4),
            others in prop::collection::vec(-3.0..3.0f64, 4),
            radius in 0.0..3.0f64,
        ) {
            for norm in norms(&w) {
                let best = norm.maximiser(&g, radius);
                prop_assert!(norm.value(&best) <= radius * (1.0 + 1e-12));
                prop_assert!((dot(&g, &best) - radius * norm.dual(&g)).abs() < 1e-10);
                let mut other = others.clone();
                norm.project(&mut other, radius);
                prop_assert!(dot(&g, &other) <= dot(&g, &best) + 1e-10);
            }
        }

        #[test]
        fn the_projection_is_the_nearest_point(
            v in prop::collection::vec(-5.0..5.0f64, 4),
            w in prop::collection::vec(0.1..10.0f64, 4),
            others in prop::collection::vec(-5.0..5.0f64, 4),
            radius in 0.0..3.0f64,
        ) {
            for norm in norms(&w) {
                let mut p = v.clone();
                norm.project(&mut p, radius);
                prop_assert!(norm.value(&p) <= radius);
                // Variational inequality: (v - p).(q - p) <= 0 for every q of the ball.
                let mut q = others.clone();
                norm.project(&mut q, radius);
                let away: Vec<f64> = v.iter().zip(&p).map(|(v, p)| v - p).collect();
                let along: Vec<f64> = q.iter().zip(&p).map(|(q, p)| q - p).collect();
                prop_assert!(dot(&away, &along) <= 1e-9, "{norm:?} {p:?}");
                let farthest = norm.maximiser(&away, radius);
                let along: Vec<f64> = farthest.iter().zip(&p).map(|(q, p)| q - p).collect();
                prop_assert!(dot(&away, &along) <= 1e-9, "{norm:?} {p:?}");
            }
        }
    }
}
