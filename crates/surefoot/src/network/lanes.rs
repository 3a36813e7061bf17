//! Sixteen numbers at a time: one for each of sixteen individuals.
//!
//! Computations for many individuals run lane by lane, with the same operations in the same order for every
//! lane. An answer therefore depends on neither the batch nor the number of threads.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Activation;
use super::kernel;

/// The number of individuals per block: two registers of AVX-512, four of AVX2.
pub const LANES: usize = 16;

/// One number for each of [`LANES`] individuals: doubles, or floats in searches whose result is checked
/// afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct Lanes<T = f64>(pub [T; LANES]);

impl Lanes<f32> {
    pub(crate) fn double(self) -> Lanes {
        Lanes(self.0.map(f64::from))
    }
}

impl Lanes {
    /// Zero everywhere.
    pub const ZERO: Lanes = Lanes([0.0; LANES]);

    /// The same number everywhere.
    pub fn splat(value: f64) -> Self {
        Lanes([value; LANES])
    }

    /// The number of each lane.
    pub fn from_fn(f: impl FnMut(usize) -> f64) -> Self {
        Lanes(std::array::from_fn(f))
    }

    /// A function of each number.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Lanes(self.0.map(f))
    }

    /// A function of each number and its counterpart.
    pub fn zip(self, other: Lanes, f: impl Fn(f64, f64) -> f64) -> Self {
        Lanes(std::array::from_fn(|l| f(self.0[l], other.0[l])))
    }

    pub(crate) fn single(self) -> Lanes<f32> {
        Lanes(self.0.map(|x| x as f32))
    }

    pub(crate) fn activated(mut self, activation: Activation) -> Self {
        kernel::activate(activation, std::slice::from_mut(&mut self));
        self
    }
}

impl Neg for Lanes {
    type Output = Lanes;
    fn neg(self) -> Lanes {
        self.map(|x| -x)
    }
}

impl Add for Lanes {
    type Output = Lanes;
    fn add(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Lanes;
    fn sub(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Lanes;
    fn mul(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a * b)
    }
}

impl Div for Lanes {
    type Output = Lanes;
    fn div(self, other: Lanes) -> Lanes {
        self.zip(other, |a, b| a / b)
    }
}
