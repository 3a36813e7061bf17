//! The magnitudes of numbers that the engine accepts.
//!
//! Larger or smaller scales, weights, coefficients and values overflow or underflow when they are
//! multiplied. Within these limits, a product of three numbers is finite.

/// The largest absolute value of an input number: a scale, a weight, a coefficient, a limit, a value.
pub const LARGEST: f64 = 1e100;
/// The smallest absolute value of a divisor: a scale or a weight.
pub const SMALLEST: f64 = 1e-100;

/// Numbers of at least this absolute value are written with an exponent; below it, an `f64` is exact to a
/// unit.
pub(crate) const WITH_EXPONENT: f64 = 1e15;
/// Numbers of a smaller absolute value are written with an exponent.
const SMALLEST_DECIMAL: f64 = 1e-5;

/// The shortest decimal text that reads back as the number: `0.1`, `2400`, `1e90`. Numbers from 1e15 on
/// and below 1e-5 have an exponent, so that a sentence never contains a hundred digits.
///
/// ```
/// use surefoot::magnitude::readable;
///
/// assert_eq!([0.1, 2400.0, 1e90, -2.5e-7, 0.0].map(readable), ["0.1", "2400", "1e90", "-2.5e-7", "0"]);
/// ```
pub fn readable(value: f64) -> String {
    let has_exponent =
        value != 0.0 && value.is_finite() && !(SMALLEST_DECIMAL..WITH_EXPONENT).contains(&value.abs());
    if has_exponent { format!("{value:e}") } else { value.to_string() }
}

/// Whether a number is finite and no larger than [`LARGEST`].
pub(crate) fn is_moderate(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// Whether a number is positive and between [`SMALLEST`] and [`LARGEST`].
pub(crate) fn is_scale(value: f64) -> bool {
    (SMALLEST..=LARGEST).contains(&value)
}
