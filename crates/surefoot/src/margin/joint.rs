//! What a joint perturbation means for one individual and one action.
//!
//! ```text
//! D_i      = c_i + s_i (M v)_i + 2 w_i b_i                          the shift of feature i
//! D_j     -= a_ji (c_i + s_i v_i)                                where i is alone: j, with coefficient a_ji, stays
//! theta_k' = theta_k + (share theta_k + min(within, |theta_k|)) e_k      the change as it is carried out
//! f_b      = f + sum_j r_ij b_ij x_j                                the equation of feature i
//! ```
//!
//! A band of half-width `w` around an equation allows its function, at the causes of the individual and at
//! those of the result, any values within `w` of the stated ones. Noise is additive, so the value after the
//! action differs by up to `2 w`. This counts as a shift of the feature, even for actions that change none of
//! its causes. Every term is zero for a feature that an action leaves as it is, so that naming the feature in
//! an action makes no difference.

use crate::error::SettingError;
use crate::expression::{Arithmetic, Function};
use crate::graph::{AffineForm, Builder, Unit};
use crate::network::Lanes;
use crate::problem::Joint;
use crate::scm::SlopeError;
use crate::uncertainty::Shift;
use crate::{Error, Problem, Result};

/// The numbers in which a perturbation is resolved.
pub(super) trait Terms {
    type Number: Clone;

    fn scaled(&mut self, number: &Self::Number, by: f64) -> Self::Number;
    fn sum(&mut self, a: &Self::Number, b: &Self::Number) -> Self::Number;
    fn product(&mut self, a: &Self::Number, b: &Self::Number) -> Self::Number;

    /// The absolute value, or `most` if that is smaller.
    fn size(&mut self, number: &Self::Number, most: f64) -> Self::Number;
}

/// Single numbers.
pub(super) struct Numbers;

impl Terms for Numbers {
    type Number = f64;

    fn scaled(&mut self, number: &f64, by: f64) -> f64 {
        number * by
    }

    fn sum(&mut self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn product(&mut self, a: &f64, b: &f64) -> f64 {
        a * b
    }

    fn size(&mut self, number: &f64, most: f64) -> f64 {
        number.abs().min(most)
    }
}

/// Numbers of a block of individuals.
pub(super) struct Block;

impl Terms for Block {
    type Number = Lanes;

    fn scaled(&mut self, number: &Lanes, by: f64) -> Lanes {
        *number * Lanes::splat(by)
    }

    fn sum(&mut self, a: &Lanes, b: &Lanes) -> Lanes {
        *a + *b
    }

    fn product(&mut self, a: &Lanes, b: &Lanes) -> Lanes {
        *a * *b
    }

    fn size(&mut self, number: &Lanes, most: f64) -> Lanes {
        number.map(|number| number.abs().min(most))
    }
}

impl Terms for Builder<'_> {
    type Number = AffineForm;

    fn scaled(&mut self, number: &AffineForm, by: f64) -> AffineForm {
        number.clone().scaled(by)
    }

    fn sum(&mut self, a: &AffineForm, b: &AffineForm) -> AffineForm {
        a.clone().plus(1.0, b)
    }

    fn product(&mut self, a: &AffineForm, b: &AffineForm) -> AffineForm {
        Builder::product(self, a.clone(), b.clone())
    }

    fn size(&mut self, number: &AffineForm, most: f64) -> AffineForm {
        // min(|x|, m) = |x| - max(|x| - m, 0)
        let size = Arithmetic::apply(self, Function::Abs, number.clone());
        let beyond = self.unit(Unit::Relu, size.clone().shifted(-most));
        size.plus(-1.0, &beyond)
    }
}

/// A joint perturbation of an individual who takes an action, by its parts.
#[derive(Clone, Debug)]
pub(super) struct Parts<T> {
    /// The shift of each feature.
    pub shift: Vec<T>,
    /// The changes as they are carried out.
    pub change: Vec<T>,
    /// The errors of coefficients.
    pub slopes: Vec<SlopeError<T>>,
}

/// How the coordinates of an individual's features become shifts.
#[derive(Clone, Debug)]
pub(super) struct Reach<T> {
    /// The shift of each feature where its coordinate is zero.
    pub centre: Vec<T>,
    /// The factor of each coordinate.
    pub scale: Vec<T>,
}

impl Reach<f64> {
    /// That of an individual. An error if a value is not in the interval that the problem states for it.
    pub fn of(problem: &Problem, joint: &Joint, individual: &[f64]) -> Result<Self> {
        let mut reach = Self { centre: vec![0.0; joint.features], scale: vec![1.0; joint.features] };
        for (i, &x) in individual.iter().enumerate() {
            let feature = problem.features().feature(i);
            reach.scale[i] = match joint.sources.shift(i) {
                Shift::Ball => 1.0 / joint.weights[i],
                Shift::Exact => 0.0,
                Shift::Share(share) => share * (feature.mean / feature.std + x).abs(),
                Shift::Within(within) => within,
                Shift::Between(lower, upper) => {
                    // Values that were converted to standardised units are as exact as that allows.
                    let room = 1e-9 * (1.0 + lower.abs().max(upper.abs()));
                    if !(lower - room <= x && x <= upper + room) {
                        let own = |value: f64| feature.mean + feature.std * value;
                        return Err(Error::Setting(SettingError::NotBetween {
                            feature: feature.name.clone(),
                            value: own(x),
                            lower: own(lower),
                            upper: own(upper),
                        }));
                    }
                    let (lower, upper) = (lower.min(x), upper.max(x));
                    reach.centre[i] = 0.5 * (lower + upper) - x;
                    0.5 * (upper - lower)
                }
            };
        }
        Ok(reach)
    }

    /// The perturbation that shifts nothing.
    pub fn no_shift(&self, width: usize) -> Vec<f64> {
        let ends = self.centre.iter().zip(&self.scale);
        let mut none: Vec<f64> =
            ends.map(|(&c, &s)| if c == 0.0 { 0.0 } else { (-c / s).clamp(-1.0, 1.0) }).collect();
        none.resize(width, 0.0);
        none
    }
}

/// The parts of a perturbation.
pub(super) fn parts<A: Terms>(
    terms: &mut A,
    joint: &Joint,
    reach: &Reach<A::Number>,
    perturbation: &[A::Number],
    features: &[usize],
    change: &[A::Number],
) -> Parts<A::Number> {
    let n = joint.features;
    let factor = &joint.sources.factor;
    let mut shift = Vec::with_capacity(n);
    for i in 0..n {
        let mixed = match factor.is_empty() {
            true => perturbation[i].clone(),
            false => {
                let mut sum = terms.scaled(&perturbation[i], factor[i * n + i]);
                for j in (0..n).filter(|&j| j != i && factor[i * n + j] != 0.0) {
                    let term = terms.scaled(&perturbation[j], factor[i * n + j]);
                    sum = terms.sum(&sum, &term);
                }
                sum
            }
        };
        let scaled = terms.product(&reach.scale[i], &mixed);
        shift.push(terms.sum(&reach.centre[i], &scaled));
    }
    let alone: Vec<A::Number> = joint.kept.iter().map(|&(_, cause, _)| shift[cause].clone()).collect();
    for (&(effect, _, coefficient), cause) in joint.kept.iter().zip(&alone) {
        let back = terms.scaled(cause, -coefficient);
        shift[effect] = terms.sum(&shift[effect], &back);
    }
    let first = joint.first_band();
    for (k, band) in joint.sources.bands.iter().enumerate() {
        let drift = terms.scaled(&perturbation[first + k], 2.0 * band.width);
        shift[band.feature] = terms.sum(&shift[band.feature], &drift);
    }
    let mut change = change.to_vec();
    for (k, execution) in joint.sources.execution.iter().enumerate() {
        let Some(place) = features.iter().position(|&i| i == execution.feature) else { continue };
        let error = &perturbation[n + k];
        let mut carried_out = change[place].clone();
        if execution.share > 0.0 {
            let part = terms.product(&change[place], error);
            let part = terms.scaled(&part, execution.share);
            carried_out = terms.sum(&carried_out, &part);
        }
        if execution.within > 0.0 {
            let size = terms.size(&change[place], execution.within);
            let part = terms.product(&size, error);
            carried_out = terms.sum(&carried_out, &part);
        }
        change[place] = carried_out;
    }
    let first = joint.first_slope();
    let slopes = joint.slopes.iter().enumerate().map(|(k, &(feature, parent, within))| SlopeError {
        feature,
        parent,
        error: terms.scaled(&perturbation[first + k], within),
    });
    let slopes = slopes.collect();
    Parts { shift, change, slopes }
}
