//! The magnitudes of numbers that the engine accepts.
//!
//! Scales, weights, coefficients and values beyond them overflow or vanish once they are multiplied.
//! Within them a product of three is still a finite number.

/// The largest size of a number that is given: a scale, a weight, a coefficient, a limit, a value.
pub const LARGEST: f64 = 1e100;
/// The smallest size of a number that is divided by: a scale or a weight.
pub const SMALLEST: f64 = 1e-100;

/// Whether a number is finite and no larger than [`LARGEST`].
pub(crate) fn is_moderate(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// Whether a number is positive and between [`SMALLEST`] and [`LARGEST`].
pub(crate) fn is_scale(value: f64) -> bool {
    (SMALLEST..=LARGEST).contains(&value)
}
