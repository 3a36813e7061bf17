//! Bisection over all floating-point numbers in their order.

/// The number farthest from `from` (minus or plus infinity) for which bisection over all floating-point
/// numbers finds the property; `from` itself if none is found.
pub(super) fn last(property: impl Fn(f64) -> bool, from: f64) -> f64 {
    let (mut has, mut lacks) = (ordinal(f64::MAX.copysign(from)), ordinal(f64::MAX.copysign(-from)));
    let mut found = from;
    while (has - lacks).abs() > 1 {
        let middle = has + (lacks - has) / 2;
        if property(number(middle)) {
            (has, found) = (middle, number(middle));
        } else {
            lacks = middle;
        }
    }
    found
}

/// A root of an increasing function that may be undefined (NaN) beyond some point on either side: by
/// bisection over all floating-point numbers in their order, which takes 64 steps wherever the root is.
/// `None` if no point is found where the function is defined.
pub(super) fn root(f: impl Fn(f64) -> f64) -> Option<f64> {
    let anchor = candidates().find(|&x| !f(x).is_nan())?;
    // An undefined value counts as too low left of the anchor and as too high right of it.
    let low = |x: f64| if x < anchor { !matches!(f(x), y if y > 0.0) } else { f(x) <= 0.0 };
    let (mut lower, mut upper) = (ordinal(-f64::MAX), ordinal(f64::MAX));
    while lower + 1 < upper {
        let middle = lower + (upper - lower) / 2;
        if low(number(middle)) { lower = middle } else { upper = middle }
    }
    // An undefined value has an infinite error.
    let error = |x: f64| if f(x).is_nan() { f64::INFINITY } else { f(x).abs() };
    let (lower, upper) = (number(lower), number(upper));
    Some(if error(upper) < error(lower) { upper } else { lower })
}

/// Starting points: zero, then powers of two, then numbers between them.
fn candidates() -> impl Iterator<Item = f64> {
    let scaled = |mantissa: i32| (-40..64).map(move |k| f64::from(mantissa) * 2f64.powi(k));
    let odd = (1..256).step_by(2);
    std::iter::once(0.0).chain(odd.flat_map(scaled).flat_map(|x| [x, -x]))
}

/// The rank of a finite number among all floating-point numbers.
fn ordinal(x: f64) -> i128 {
    let magnitude = i128::from(x.abs().to_bits());
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The inverse of [`ordinal`].
fn number(ordinal: i128) -> f64 {
    let magnitude = f64::from_bits(ordinal.unsigned_abs() as u64);
    if ordinal < 0 { -magnitude } else { magnitude }
}
