//! Enclosures of functions of one number over a range.
//!
//! Every enclosure is rounded outwards by [`ROUNDING`]. This exceeds the error of the few operations and
//! the one function of the C library behind each number (at most some units in the last place). If a
//! range leaves the domain of a function, nothing is known, unless the range is
//! [intersected](within_domain) with the domain first.

use crate::graph::Unit;

/// A closed interval, whose ends may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub lower: f64,
    pub upper: f64,
}

/// `|f(z) - (slope z + offset)| <= radius` over a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub slope: f64,
    pub offset: f64,
    pub radius: f64,
}

/// The share by which results are widened.
pub(super) const ROUNDING: f64 = 32.0 * f64::EPSILON;
/// Over relatively narrower ranges, the slope of a chord would consist of rounding errors.
const NARROW: f64 = 1e-5;

impl Range {
    pub const EVERYTHING: Range = Range { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    pub fn new(lower: f64, upper: f64) -> Self {
        Self { lower, upper }
    }

    pub fn point(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// The largest absolute value.
    pub fn size(self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    pub fn middle(self) -> f64 {
        0.5 * (self.lower + self.upper)
    }

    /// Widens both ends; ends that are NaN become infinite.
    pub fn widened(self, by: f64) -> Self {
        let (lower, upper) = (self.lower - by, self.upper + by);
        Self {
            lower: if lower.is_nan() { f64::NEG_INFINITY } else { lower },
            upper: if upper.is_nan() { f64::INFINITY } else { upper },
        }
    }

    /// Moves each end outwards by a share of its absolute value.
    fn rounded(self) -> Self {
        let by = |end: f64| ROUNDING * end.abs() + f64::MIN_POSITIVE;
        Self { lower: self.lower - by(self.lower), upper: self.upper + by(self.upper) }.widened(0.0)
    }

    /// The intersection of two ranges that enclose the same number.
    pub fn and(self, other: Range) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }

    /// Encloses all products of a number in one range and a number in the other.
    pub fn times(self, other: Range) -> Self {
        // The numbers themselves are finite, so zero times an infinite end is zero.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            product(self.lower, other.lower),
            product(self.lower, other.upper),
            product(self.upper, other.lower),
            product(self.upper, other.upper),
        ];
        let lower = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let upper = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { lower, upper }.rounded()
    }

    /// Encloses all products of a number in the range and a factor.
    pub fn scaled(self, factor: f64) -> Self {
        let product = |end: f64| if factor == 0.0 || end == 0.0 { 0.0 } else { factor * end };
        let (lower, upper) = match factor < 0.0 {
            true => (product(self.upper), product(self.lower)),
            false => (product(self.lower), product(self.upper)),
        };
        Self { lower, upper }.rounded()
    }

    fn crosses_zero(self) -> bool {
        !(self.lower > 0.0 || self.upper < 0.0)
    }
}

pub(super) fn value(unit: Unit, z: f64) -> f64 {
    match unit {
        Unit::Tanh => z.tanh(),
        Unit::Sigmoid => 0.5 + 0.5 * (0.5 * z).tanh(),
        Unit::Relu => z.max(0.0),
        Unit::Square => z * z,
        Unit::Exp => z.exp(),
        Unit::Log => z.ln(),
        Unit::Sqrt => z.sqrt(),
        Unit::Reciprocal => 1.0 / z,
    }
}

/// Whether a function is defined over a range.
fn is_defined(unit: Unit, z: Range) -> bool {
    match unit {
        Unit::Log => z.lower > 0.0,
        Unit::Sqrt => z.lower >= 0.0,
        Unit::Reciprocal => !z.crosses_zero(),
        _ => true,
    }
}

/// The intersection of a range with the domain of a function; `None` if it is empty. The domain of the
/// logarithm starts above zero; its value at zero stands for the limit.
pub(super) fn within_domain(unit: Unit, z: Range) -> Option<Range> {
    match unit {
        Unit::Log | Unit::Sqrt if z.upper < 0.0 => None,
        Unit::Log | Unit::Sqrt => Some(Range::new(z.lower.max(0.0), z.upper)),
        _ => Some(z),
    }
}

/// Encloses all values over the part of a range in the function's domain.
pub(super) fn values_within(unit: Unit, z: Range) -> Range {
    match unit {
        Unit::Log if z.lower == 0.0 => Range::new(f64::NEG_INFINITY, z.upper.ln()).rounded(),
        _ => values(unit, z),
    }
}

/// Encloses all values. Every function is monotone except the square, whose least value is at zero.
pub(super) fn values(unit: Unit, z: Range) -> Range {
    if !is_defined(unit, z) {
        return Range::EVERYTHING;
    }
    let (a, b) = (value(unit, z.lower), value(unit, z.upper));
    match unit {
        Unit::Tanh => Range::new(a, b).rounded().and(Range::new(-1.0, 1.0)),
        // Sigmoid is computed as a sum with one half, so the error is absolute.
        Unit::Sigmoid => Range::new(a, b).widened(ROUNDING).and(Range::new(0.0, 1.0)),
        Unit::Relu => Range::new(a, b),
        Unit::Square if z.crosses_zero() => Range::new(0.0, a.max(b)).rounded(),
        Unit::Square => Range::new(a.min(b), a.max(b)).rounded(),
        Unit::Exp | Unit::Log | Unit::Sqrt => Range::new(a, b).rounded(),
        Unit::Reciprocal => Range::new(b, a).rounded(),
    }
}

/// Encloses all first derivatives.
pub(super) fn slopes(unit: Unit, z: Range) -> Range {
    if !is_defined(unit, z) {
        return Range::EVERYTHING;
    }
    let (least, most) = (nearest_to_zero(z), z.size());
    let positive = |lower: f64, upper: f64| Range::new(lower, upper).rounded();
    match unit {
        // 1 - tanh^2 decreases with the distance from zero; its error is absolute.
        Unit::Tanh => {
            let at = |x: f64| 1.0 - x.tanh() * x.tanh();
            Range::new(at(most), at(least)).widened(ROUNDING).and(Range::new(0.0, 1.0))
        }
        Unit::Sigmoid => {
            let at = |x: f64| 0.25 * (1.0 - (0.5 * x).tanh().powi(2));
            Range::new(at(most), at(least)).widened(ROUNDING).and(Range::new(0.0, 0.25))
        }
        Unit::Relu => {
            Range::new(if z.lower > 0.0 { 1.0 } else { 0.0 }, if z.upper < 0.0 { 0.0 } else { 1.0 })
        }
        Unit::Square => Range::new(2.0 * z.lower, 2.0 * z.upper),
        Unit::Exp => positive(z.lower.exp(), z.upper.exp()),
        Unit::Log => positive(1.0 / z.upper, 1.0 / z.lower),
        Unit::Sqrt => positive(0.5 / z.upper.sqrt(), 0.5 / z.lower.sqrt()),
        Unit::Reciprocal => Range::new(-1.0 / (least * least), -1.0 / (most * most)).rounded(),
    }
}

/// Encloses all second derivatives; `None` where there is no bound.
pub(super) fn second_derivatives(unit: Unit, z: Range) -> Option<Range> {
    if !is_defined(unit, z) {
        return None;
    }
    let range = match unit {
        // -2 t (1 - t^2) decreases for |t| < 1 / sqrt(3) and increases beyond; it is odd.
        Unit::Tanh => bends_of_tanh(z, 1.0),
        Unit::Sigmoid => {
            let half = bends_of_tanh(Range::new(0.5 * z.lower, 0.5 * z.upper), 0.125);
            half.widened(ROUNDING)
        }
        Unit::Relu if z.crosses_zero() => return None,
        Unit::Relu => Range::point(0.0),
        Unit::Square => Range::point(2.0),
        Unit::Exp => slopes(unit, z),
        Unit::Log => Range::new(-1.0 / (z.lower * z.lower), -1.0 / (z.upper * z.upper)).rounded(),
        Unit::Sqrt => {
            let at = |x: f64| -0.25 / (x * x.sqrt());
            Range::new(at(z.lower), at(z.upper)).rounded()
        }
        // 2 / z^3 decreases on either side of zero.
        Unit::Reciprocal => Range::new(2.0 / z.upper.powi(3), 2.0 / z.lower.powi(3)).rounded(),
    };
    (range.lower.is_finite() && range.upper.is_finite()).then_some(range)
}

fn bends_of_tanh(z: Range, scale: f64) -> Range {
    let at = |t: f64| scale * -2.0 * t * (1.0 - t * t);
    let (l, u) = (z.lower.tanh(), z.upper.tanh());
    let turn = 1.0 / 3f64.sqrt();
    let mut range = Range::new(at(l).min(at(u)), at(l).max(at(u)));
    // A small tolerance around the extrema, so that none is missed by rounding.
    let inside = |t: f64| l <= t + 1e-12 && u >= t - 1e-12;
    if inside(turn) {
        range.lower = at(turn);
    }
    if inside(-turn) {
        range.upper = at(-turn);
    }
    range.widened(ROUNDING)
}

fn nearest_to_zero(z: Range) -> f64 {
    if z.crosses_zero() { 0.0 } else { z.lower.abs().min(z.upper.abs()) }
}

/// A line along the chord: `f(z) - slope z` has its extrema at the ends and where `f' = slope`. Any slope
/// gives a valid line, so only these extrema must be rounded outwards. Where `f' = slope`, the difference
/// is stationary, so a small error of the point does not affect the value.
pub(super) fn line(unit: Unit, z: Range) -> Line {
    let (l, u) = (z.lower, z.upper);
    let constant = || {
        let range = values(unit, z);
        let (offset, radius) = (range.middle(), 0.5 * (range.upper - range.lower));
        match offset.is_finite() && radius.is_finite() {
            true => Line { slope: 0.0, offset, radius: radius + ROUNDING * range.size() },
            false => Line { slope: 0.0, offset: 0.0, radius: f64::INFINITY },
        }
    };
    if unit == Unit::Relu {
        if l >= 0.0 {
            return Line { slope: 1.0, offset: 0.0, radius: 0.0 };
        } else if u <= 0.0 {
            return Line { slope: 0.0, offset: 0.0, radius: 0.0 };
        }
    }
    if !(is_defined(unit, z) && l.is_finite() && u.is_finite()) {
        return constant();
    }
    if u - l <= NARROW && unit != Unit::Relu {
        return tangent(unit, z).unwrap_or_else(constant);
    }
    let (a, b) = (value(unit, l), value(unit, u));
    let slope = (b - a) / (u - l);
    let flat = match unit {
        // tanh' = 1 - t^2 = slope at +- atanh(t), atanh(t) = log((1 + t)^2 / (1 - t^2)) / 2.
        Unit::Tanh => flat_of_tanh(slope),
        Unit::Sigmoid => flat_of_tanh(4.0 * slope).map(|x| 2.0 * x),
        Unit::Relu => [0.0; 2],
        Unit::Square => [0.5 * slope; 2],
        Unit::Exp => [slope.ln(); 2],
        Unit::Log => [1.0 / slope; 2],
        Unit::Sqrt => [0.25 / (slope * slope); 2],
        Unit::Reciprocal => [1.0 / (-slope).sqrt(), -1.0 / (-slope).sqrt()],
    };
    let mut extrema = vec![a - slope * l, b - slope * u];
    for x in flat {
        // If the stationary point cannot be computed, the constant enclosure is used.
        if x.is_nan() {
            return constant();
        }
        let inside = x >= l - 1e-9 * (u - l) && x <= u + 1e-9 * (u - l);
        if inside {
            let x = x.clamp(l, u);
            extrema.push(value(unit, x) - slope * x);
        }
    }
    let low = extrema.iter().copied().fold(f64::INFINITY, f64::min);
    let high = extrema.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bounded = if matches!(unit, Unit::Tanh | Unit::Sigmoid) { 1.0 } else { 0.0 };
    let size = bounded + a.abs().max(b.abs()) + slope.abs() * z.size();
    let line = Line { slope, offset: 0.5 * (low + high), radius: 0.5 * (high - low) + 2.0 * ROUNDING * size };
    match slope.is_finite() && line.offset.is_finite() && line.radius.is_finite() {
        true => line,
        false => constant(),
    }
}

fn flat_of_tanh(slope: f64) -> [f64; 2] {
    let slope = slope.clamp(0.0, 1.0);
    let t = (1.0 - slope).sqrt();
    let at = 0.5 * ((1.0 + t) * (1.0 + t) / slope).ln();
    [at, -at]
}

/// A line below a function over a range, or above it. Where the function is convex, or concave, it touches
/// the function at a point; elsewhere it is an edge of the parallel lines.
pub(super) fn touching(unit: Unit, z: Range, at: f64, below: bool, parallel: Line) -> Line {
    let towards = if below { -1.0 } else { 1.0 };
    let Line { slope, offset, radius } = parallel;
    if !(radius.is_finite() && z.size().is_finite()) {
        return parallel;
    }
    let is_touching = match unit {
        Unit::Relu | Unit::Square | Unit::Exp => below,
        Unit::Tanh | Unit::Sigmoid => (below && z.upper <= 0.0) || (!below && z.lower >= 0.0),
        Unit::Log | Unit::Sqrt | Unit::Reciprocal => false,
    };
    if !is_touching || at.is_nan() {
        let offset = offset + towards * (radius + ROUNDING * (offset.abs() + radius));
        return Line { slope, offset, radius: 0.0 };
    }
    let at = at.clamp(z.lower, z.upper);
    if unit == Unit::Relu {
        return Line { slope: if at > 0.0 { 1.0 } else { 0.0 }, offset: 0.0, radius: 0.0 };
    }
    let (slopes, values) = (slopes(unit, Range::point(at)), values(unit, Range::point(at)));
    let slope = slopes.middle();
    // What the errors of slope, value and products may amount to over the range.
    let error = (slopes.upper - slopes.lower) * (z.upper - z.lower)
        + (values.upper - values.lower)
        + ROUNDING * (values.size() + slopes.size() * z.size());
    let offset = values.middle() - slope * at + towards * error;
    match offset.is_finite() && slope.is_finite() {
        true => Line { slope, offset, radius: 0.0 },
        false => parallel,
    }
}

/// By Taylor's theorem: `f(z) = f(m) + f'(m) (z - m) +- most |f''| (z - m)^2 / 2`.
fn tangent(unit: Unit, z: Range) -> Option<Line> {
    let curvature = second_derivatives(unit, z)?.size();
    let middle = z.middle();
    let half = 0.5 * (z.upper - z.lower) + ROUNDING * z.size();
    let slope = slopes(unit, Range::point(middle));
    let value = values(unit, Range::point(middle));
    let line = Line {
        slope: slope.middle(),
        offset: value.middle() - slope.middle() * middle,
        radius: 0.5 * curvature * half * half
            + (slope.upper - slope.lower) * half
            + (value.upper - value.lower)
            + ROUNDING * (value.size() + slope.size() * z.size()),
    };
    (line.offset.is_finite() && line.radius.is_finite()).then_some(line)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn nothing_sampled_is_beyond() {
        let units = [
            Unit::Tanh,
            Unit::Sigmoid,
            Unit::Relu,
            Unit::Square,
            Unit::Exp,
            Unit::Log,
            Unit::Sqrt,
            Unit::Reciprocal,
        ];
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        for round in 0..20_000 {
            let far = [1e-9, 1e-3, 1.0, 30.0, 1e6][round % 5];
            let wide = [1e-12, 1e-6, 1e-2, 2.0, 40.0, 1e7][round / 5 % 6];
            let lower = random.random_range(-1.0..1.0) * far;
            let z = Range::new(lower, lower + random.random_range(0.0..1.0) * wide);
            for unit in units {
                let (range, slope, curvature, line) =
                    (values(unit, z), slopes(unit, z), second_derivatives(unit, z), line(unit, z));
                assert!(!line.radius.is_nan() && line.radius >= 0.0, "{unit:?} {z:?} {line:?}");
                let point = random.random_range(z.lower..=z.upper);
                let [below, above] = [true, false].map(|below| touching(unit, z, point, below, line));
                for k in 0..=30 {
                    let x = (z.lower + (z.upper - z.lower) * f64::from(k) / 30.0).clamp(z.lower, z.upper);
                    let v = unit.value(x);
                    if !v.is_finite() {
                        continue;
                    }
                    assert!(range.lower <= v && v <= range.upper, "{unit:?} {z:?} {range:?} {v}");
                    let error = (v - line.slope * x - line.offset).abs();
                    assert!(error <= line.radius, "{unit:?} {z:?} {line:?} {error}");
                    let over = |line: Line| v - line.slope * x - line.offset;
                    assert!(over(below) >= -below.radius, "{unit:?} {z:?} {point} {below:?} {x}");
                    assert!(over(above) <= above.radius, "{unit:?} {z:?} {point} {above:?} {x}");
                    let (first, second) = unit.derivatives(x);
                    if first.is_finite() {
                        assert!(
                            slope.lower <= first && first <= slope.upper,
                            "{unit:?} {z:?} {slope:?} {first}"
                        );
                    }
                    if let (Some(curvature), true) = (curvature, second.is_finite()) {
                        assert!(
                            curvature.lower <= second && second <= curvature.upper,
                            "{unit:?} {z:?} {curvature:?} {second}"
                        );
                    }
                }
            }
        }
    }
}
