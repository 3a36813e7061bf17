//! The number types with which a formula can be evaluated.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::network::{Activation, Lanes, sigmoid};

/// A number type: a double, one double for each of several individuals, or either with its derivative.
pub(crate) trait Scalar:
    Copy + Neg<Output = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn constant(value: f64) -> Self;
    fn exp(self) -> Self;
    fn log(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn sigmoid(self) -> Self;
    fn abs(self) -> Self;
    fn power(self, exponent: Self) -> Self;

    /// 1, -1, or 0 for 0.
    fn sign(self) -> Self;
    /// 1 where this is at most the other, or not a number; otherwise 0.
    fn at_most(self, other: Self) -> Self;
    /// `left` where this is not 0, `right` where it is.
    fn blend(self, left: Self, right: Self) -> Self;
    /// This times the factor, and 0 where this is 0 however large the factor.
    fn guarded(self, factor: Self) -> Self;

    /// The minimum; unlike the standard library's it propagates NaN.
    fn min(self, other: Self) -> Self {
        self.at_most(other).blend(self, other)
    }
    /// The maximum; unlike the standard library's it propagates NaN.
    fn max(self, other: Self) -> Self {
        (-self).at_most(-other).blend(self, other)
    }
}

impl Scalar for f64 {
    fn constant(value: f64) -> f64 {
        value
    }
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    fn log(self) -> f64 {
        self.ln()
    }
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
    fn sigmoid(self) -> f64 {
        sigmoid(self)
    }
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    fn power(self, exponent: f64) -> f64 {
        self.powf(exponent)
    }
    fn sign(self) -> f64 {
        if self == 0.0 { 0.0 } else { self.signum() }
    }
    fn at_most(self, other: f64) -> f64 {
        if self <= other || self.is_nan() { 1.0 } else { 0.0 }
    }
    fn blend(self, left: f64, right: f64) -> f64 {
        if self == 0.0 { right } else { left }
    }
    fn guarded(self, factor: f64) -> f64 {
        if self == 0.0 { 0.0 } else { factor * self }
    }
}

/// A value and its derivative in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dual<T> {
    pub value: T,
    pub slope: T,
}

impl<T: Scalar> Dual<T> {
    /// `f(self)` by the chain rule. An infinite derivative does not matter for a constant argument.
    fn chain(self, value: T, derivative: T) -> Self {
        Dual { value, slope: self.slope.guarded(derivative) }
    }
}

impl<T: Scalar> Neg for Dual<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Dual { value: -self.value, slope: -self.slope }
    }
}

impl<T: Scalar> Add for Dual<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Dual { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl<T: Scalar> Sub for Dual<T> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Dual { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl<T: Scalar> Mul for Dual<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let slope = self.slope.guarded(other.value) + other.slope.guarded(self.value);
        Dual { value: self.value * other.value, slope }
    }
}

impl<T: Scalar> Div for Dual<T> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let inverse = T::constant(1.0) / other.value;
        let slope = self.slope.guarded(inverse) - other.slope.guarded(value * inverse);
        Dual { value, slope }
    }
}

impl<T: Scalar> Scalar for Dual<T> {
    fn constant(value: f64) -> Self {
        Dual { value: T::constant(value), slope: T::constant(0.0) }
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    fn log(self) -> Self {
        self.chain(self.value.log(), T::constant(1.0) / self.value)
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, T::constant(0.5) / root)
    }
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.chain(t, T::constant(1.0) - t * t)
    }
    fn sigmoid(self) -> Self {
        let s = self.value.sigmoid();
        self.chain(s, s * (T::constant(1.0) - s))
    }
    fn abs(self) -> Self {
        self.chain(self.value.abs(), self.value.sign())
    }
    fn power(self, exponent: Self) -> Self {
        let value = self.value.power(exponent.value);
        let below = self.value.power(exponent.value - T::constant(1.0));
        let slope = self.slope.guarded(exponent.value.guarded(below))
            + exponent.slope.guarded(value * self.value.log());
        Dual { value, slope }
    }
    fn sign(self) -> Self {
        self.chain(self.value.sign(), T::constant(0.0))
    }
    fn at_most(self, other: Self) -> Self {
        Dual { value: self.value.at_most(other.value), slope: T::constant(0.0) }
    }
    fn blend(self, left: Self, right: Self) -> Self {
        let slope = self.value.blend(left.slope, right.slope);
        Dual { value: self.value.blend(left.value, right.value), slope }
    }
    fn guarded(self, factor: Self) -> Self {
        self * factor
    }
}

impl Scalar for Lanes {
    fn constant(value: f64) -> Lanes {
        Lanes::splat(value)
    }
    fn exp(self) -> Lanes {
        self.map(f64::exp)
    }
    fn log(self) -> Lanes {
        self.map(f64::ln)
    }
    fn sqrt(self) -> Lanes {
        self.map(f64::sqrt)
    }
    fn tanh(self) -> Lanes {
        self.activated(Activation::Tanh)
    }
    fn sigmoid(self) -> Lanes {
        self.activated(Activation::Sigmoid)
    }
    fn abs(self) -> Lanes {
        self.map(f64::abs)
    }
    fn power(self, exponent: Lanes) -> Lanes {
        if exponent == Lanes::splat(2.0) {
            return self * self;
        }
        self.zip(exponent, f64::powf)
    }
    fn sign(self) -> Lanes {
        self.map(Scalar::sign)
    }
    fn at_most(self, other: Lanes) -> Lanes {
        self.zip(other, Scalar::at_most)
    }
    fn blend(self, left: Lanes, right: Lanes) -> Lanes {
        Lanes::from_fn(|l| self.0[l].blend(left.0[l], right.0[l]))
    }
    fn guarded(self, factor: Lanes) -> Lanes {
        self.zip(factor, Scalar::guarded)
    }
}
