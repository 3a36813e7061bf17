//! The floating-point types of the inner loops, and their activations.

use std::ops::{Add, Mul, MulAssign, Sub};

use super::Activation;

/// The floating-point type of a loop: `f64` or `f32`.
pub(crate) trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + MulAssign
    + PartialEq
    + Send
    + Sync
    + 'static
{
    const ZERO: Self;
    const ONE: Self;

    fn from_double(value: f64) -> Self;
    fn to_double(self) -> f64;

    /// `a * b + c`, rounded once if fused.
    fn fused<const FUSED: bool>(a: Self, b: Self, c: Self) -> Self;

    /// The activation of one number, without branches.
    fn activated<const FUSED: bool>(activation: Activation, x: Self) -> Self;

    /// The slope of an activation from its value.
    fn slope(activation: Activation, h: Self) -> Self;

    /// The second derivative of an activation over the first, from its value.
    fn curvature(activation: Activation, h: Self) -> Self;
}

/// Implements [`Real`] for a type: the same formulas with constants of its precision.
macro_rules! real {
    ($real:ident, mantissa: $mantissa:literal, bias: $bias:literal, whole: $whole:literal,
     largest: $largest:literal, ln2: ($high:literal, $low:literal), inverse_factorials: $series:expr) => {
        impl Real for $real {
            const ZERO: $real = 0.0;
            const ONE: $real = 1.0;

            fn from_double(value: f64) -> $real {
                value as $real
            }

            fn to_double(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn fused<const FUSED: bool>(a: $real, b: $real, c: $real) -> $real {
                if FUSED { a.mul_add(b, c) } else { a * b + c }
            }

            #[inline(always)]
            fn activated<const FUSED: bool>(activation: Activation, x: $real) -> $real {
                // 2^k and exp(r) - 1 with exp(-y) = 2^k exp(r), for y >= 0. Larger y are clamped to the
                // largest one whose exponential is a normal number.
                let decay = |y: $real| {
                    // NaN stays NaN.
                    let y = -(if y > $largest { $largest } else { y });
                    // Adding 1.5 * 2^mantissa leaves the nearest whole number in the last bits.
                    let shifted = Self::fused::<FUSED>(y, std::$real::consts::LOG2_E, $whole);
                    let k = shifted - $whole;
                    let r = Self::fused::<FUSED>(k, -$low, Self::fused::<FUSED>(k, -$high, y));
                    let mut series = $series[0];
                    for coefficient in &$series[1..] {
                        series = Self::fused::<FUSED>(series, r, *coefficient);
                    }
                    let power =
                        $real::from_bits((shifted.to_bits() << $mantissa).wrapping_add($bias << $mantissa));
                    (power, Self::fused::<FUSED>(series * r, r, r))
                };
                match activation {
                    Activation::Relu => {
                        if x > 0.0 || x.is_nan() {
                            x
                        } else {
                            0.0
                        }
                    }
                    // tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|), by e - 1 which keeps its
                    // digits where x is tiny.
                    Activation::Tanh => {
                        let (power, series) = decay(2.0 * x.abs());
                        let e = Self::fused::<FUSED>(power, series, power - 1.0);
                        (-e / (2.0 + e)).copysign(x)
                    }
                    // For x < 0 by e / (1 + e) with e = exp(x), which keeps its digits where it
                    // is tiny.
                    Activation::Sigmoid => {
                        let (power, series) = decay(x.abs());
                        let e = Self::fused::<FUSED>(power, series, power);
                        (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
                    }
                }
            }

            #[inline(always)]
            fn slope(activation: Activation, h: $real) -> $real {
                match activation {
                    Activation::Tanh => 1.0 - h * h,
                    Activation::Relu => {
                        if h > 0.0 {
                            1.0
                        } else {
                            0.0
                        }
                    }
                    Activation::Sigmoid => h * (1.0 - h),
                }
            }

            #[inline(always)]
            fn curvature(activation: Activation, h: $real) -> $real {
                match activation {
                    Activation::Tanh => -2.0 * h,
                    Activation::Relu => 0.0,
                    Activation::Sigmoid => 1.0 - 2.0 * h,
                }
            }
        }
    };
}

real!(f64, mantissa: 52, bias: 1023, whole: 6755399441055744.0, largest: 708.0,
ln2: (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10),
inverse_factorials: [
    1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
    1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5,
]);

real!(f32, mantissa: 23, bias: 127, whole: 12582912.0, largest: 87.0,
    ln2: (0.693_359_4, -2.121_944_4e-4),
    inverse_factorials: [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5]);
