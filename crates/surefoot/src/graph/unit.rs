//! Functions of one number: values, derivatives, and their enclosures over an interval.
//!
//! Every enclosure is rounded outwards by a few units in the last place. It therefore contains both the
//! exact values of the function and the computed ones. An interval that leaves the domain (a logarithm of
//! negative numbers) is intersected with the domain. [`Unit::is_defined_on`] tells whether the function
//! is defined on the whole interval.

use super::Interval;
use crate::Activation;
use crate::network::sigmoid;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Tanh,
    Sigmoid,
    Relu,
    Square,
    Exp,
    Log,
    Sqrt,
    Reciprocal,
}

/// `|f(z) - (slope z + offset)| <= radius` over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LineBound {
    pub slope: f64,
    pub offset: f64,
    pub radius: f64,
}

/// `atanh(1 / sqrt(3))`, where the second derivative of tanh is least, and `4 / (3 sqrt(3))`, its
/// absolute value there.
const BEND: f64 = 0.658_478_948_462_408_4;
const STEEPEST: f64 = 0.769_800_358_919_501;
/// Intervals narrower than this are enclosed by their tangent.
const NARROW: f64 = 1e-7;
/// The relative rounding error of a few operations, bounded from above.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl From<Activation> for Unit {
    fn from(activation: Activation) -> Unit {
        match activation {
            Activation::Tanh => Unit::Tanh,
            Activation::Relu => Unit::Relu,
            Activation::Sigmoid => Unit::Sigmoid,
        }
    }
}

impl Unit {
    pub fn value(self, z: f64) -> f64 {
        match self {
            Unit::Tanh => z.tanh(),
            Unit::Sigmoid => sigmoid(z),
            Unit::Relu => {
                if z > 0.0 || z.is_nan() {
                    z
                } else {
                    0.0
                }
            }
            Unit::Square => z * z,
            Unit::Exp => z.exp(),
            Unit::Log => z.ln(),
            Unit::Sqrt => z.sqrt(),
            Unit::Reciprocal => 1.0 / z,
        }
    }

    /// First and second derivative.
    pub fn derivatives(self, z: f64) -> (f64, f64) {
        match self {
            Unit::Tanh => {
                let t = z.tanh();
                let slope = 1.0 - t * t;
                (slope, -2.0 * t * slope)
            }
            Unit::Sigmoid => {
                let (slope, curvature) = Unit::Tanh.derivatives(0.5 * z);
                (0.25 * slope, 0.125 * curvature)
            }
            Unit::Relu => (if z > 0.0 { 1.0 } else { 0.0 }, 0.0),
            Unit::Square => (2.0 * z, 2.0),
            Unit::Exp => (z.exp(), z.exp()),
            Unit::Log => (1.0 / z, -1.0 / (z * z)),
            Unit::Sqrt => (0.5 / z.sqrt(), -0.25 / (z * z.sqrt())),
            Unit::Reciprocal => (-1.0 / (z * z), 2.0 / (z * z * z)),
        }
    }

    /// The part of an interval where the function is defined.
    fn domain(self, z: Interval) -> Interval {
        match self {
            Unit::Log | Unit::Sqrt => Interval { lower: z.lower.max(0.0), upper: z.upper.max(0.0) },
            _ => z,
        }
    }

    /// Whether the function has a finite value at every number of an interval.
    pub fn is_defined_on(self, z: Interval) -> bool {
        match self {
            Unit::Log => z.lower > 0.0,
            Unit::Sqrt => z.lower >= 0.0,
            Unit::Reciprocal => z.lower > 0.0 || z.upper < 0.0,
            _ => true,
        }
    }

    /// Whether the function has two finite derivatives at every number of an interval, except at the kink
    /// of relu.
    pub fn is_smooth_on(self, z: Interval) -> bool {
        self.is_defined_on(z) && (self != Unit::Sqrt || z.lower > 0.0)
    }

    /// Whether the function is defined nowhere on an interval.
    pub fn is_undefined_on(self, z: Interval) -> bool {
        matches!(self, Unit::Log | Unit::Sqrt) && z.upper < 0.0
    }

    /// All values over an interval.
    pub fn range(self, z: Interval) -> Interval {
        let z = self.domain(z.or_everything());
        let (a, b) = (self.value(z.lower), self.value(z.upper));
        let range = match self {
            Unit::Relu => return Interval { lower: a, upper: b },
            Unit::Tanh | Unit::Sigmoid | Unit::Exp | Unit::Log | Unit::Sqrt => {
                Interval { lower: a, upper: b }
            }
            Unit::Square if z.lower <= 0.0 && z.upper >= 0.0 => Interval { lower: 0.0, upper: a.max(b) },
            Unit::Square => Interval { lower: a.min(b), upper: a.max(b) },
            Unit::Reciprocal if z.lower > 0.0 || z.upper < 0.0 => Interval { lower: b, upper: a },
            Unit::Reciprocal => Interval::EVERYTHING,
        };
        let range = range.widened(ROUNDING);
        match self {
            Unit::Tanh => range.within(-1.0, 1.0),
            Unit::Sigmoid => range.within(0.0, 1.0),
            Unit::Exp | Unit::Sqrt | Unit::Square => range.within(0.0, f64::INFINITY),
            _ => range.or_everything(),
        }
    }

    /// All first derivatives over an interval.
    pub fn slopes(self, z: Interval) -> Interval {
        let z = self.domain(z.or_everything());
        let (a, b) = (self.derivatives(z.lower).0, self.derivatives(z.upper).0);
        let crosses = z.lower <= 0.0 && z.upper >= 0.0;
        let range = match self {
            Unit::Tanh => Interval { lower: a.min(b), upper: if crosses { 1.0 } else { a.max(b) } },
            Unit::Sigmoid => Interval { lower: a.min(b), upper: if crosses { 0.25 } else { a.max(b) } },
            Unit::Relu => return Interval { lower: a, upper: b },
            Unit::Square | Unit::Exp => Interval { lower: a, upper: b },
            Unit::Log | Unit::Sqrt => Interval { lower: b, upper: a },
            Unit::Reciprocal if crosses => Interval::EVERYTHING,
            Unit::Reciprocal => Interval { lower: a.min(b), upper: a.max(b) },
        };
        let range = range.or_everything().widened(ROUNDING);
        match self {
            // The subtraction in `1 - t^2` cancels digits near zero, so the error is absolute.
            Unit::Tanh | Unit::Sigmoid => {
                Interval { lower: range.lower - ROUNDING, upper: range.upper + ROUNDING }.within(0.0, 1.0)
            }
            _ => range,
        }
    }

    /// All second derivatives over an interval; infinite where a slope jumps.
    pub fn second_derivatives(self, z: Interval) -> Interval {
        let z = self.domain(z.or_everything());
        let (a, b) = (self.derivatives(z.lower).1, self.derivatives(z.upper).1);
        let crosses = z.lower <= 0.0 && z.upper >= 0.0;
        let both = Interval { lower: a.min(b), upper: a.max(b) };
        let range = match self {
            Unit::Tanh | Unit::Sigmoid => {
                let (at, most) = match self {
                    Unit::Tanh => (BEND, STEEPEST),
                    _ => (2.0 * BEND, 0.125 * STEEPEST),
                };
                let inside = |x: f64| z.lower <= x && z.upper >= x;
                let lower = if inside(at) { -most } else { both.lower };
                let upper = if inside(-at) { most } else { both.upper };
                let range = Interval { lower, upper }.or_everything().within(-most, most);
                return Interval { lower: range.lower - ROUNDING, upper: range.upper + ROUNDING };
            }
            Unit::Relu if crosses => return Interval { lower: 0.0, upper: f64::INFINITY },
            Unit::Relu => return Interval { lower: 0.0, upper: 0.0 },
            Unit::Square => return Interval { lower: 2.0, upper: 2.0 },
            Unit::Exp | Unit::Log | Unit::Sqrt => both,
            Unit::Reciprocal if crosses => Interval::EVERYTHING,
            Unit::Reciprocal => both,
        };
        range.or_everything().widened(ROUNDING)
    }

    /// An upper bound of the absolute value of the third derivative over an interval; infinite where
    /// there is none.
    pub fn jerk(self, z: Interval) -> f64 {
        let z = self.domain(z.or_everything());
        let most = match self {
            // In terms of the slope s: 4 s - 6 s^2, with an extremum of 2 / 3 at 1 / 3.
            Unit::Tanh => {
                let Interval { lower, upper } = Unit::Tanh.slopes(z);
                let at = |s: f64| (4.0 * s - 6.0 * s * s).abs();
                let turn = if lower <= 1.0 / 3.0 && upper >= 1.0 / 3.0 { 2.0 / 3.0 } else { 0.0 };
                at(lower).max(at(upper)).max(turn)
            }
            Unit::Sigmoid => Unit::Tanh.jerk(Interval { lower: 0.5 * z.lower, upper: 0.5 * z.upper }) / 16.0,
            Unit::Relu if z.lower <= 0.0 && z.upper >= 0.0 => f64::INFINITY,
            Unit::Relu | Unit::Square => 0.0,
            Unit::Exp => z.upper.exp(),
            Unit::Log => 2.0 / z.lower.powi(3),
            Unit::Sqrt => 0.375 * z.lower.powf(-2.5),
            Unit::Reciprocal if z.lower > 0.0 || z.upper < 0.0 => {
                6.0 / z.lower.abs().min(z.upper.abs()).powi(4)
            }
            Unit::Reciprocal => f64::INFINITY,
        };
        let most = most * (1.0 + ROUNDING) + ROUNDING;
        if most.is_nan() { f64::INFINITY } else { most }
    }

    /// `f(z) = slope z + offset + curvature ((z - m)^2 - w^2) / 2` up to a radius, over an interval with
    /// middle m and half width w. `slope` is that of the chord; the parabola passes through both ends and
    /// the middle. Its error is `f'''/6 (z - l)(z - m)(z - u)`, at most `f''' w^3 / (9 sqrt(3))`. `None`
    /// where the third derivative is unbounded or the interval is too narrow.
    pub fn parabola(self, z: Interval, slope: f64) -> Option<Parabola> {
        let (l, u) = (z.lower, z.upper);
        let width = 0.5 * (u - l);
        // On narrower intervals the curvature is smaller than the rounding error.
        if !(width.is_finite() && width > 1e-6 * (1.0 + l.abs().max(u.abs()))) || self.domain(z) != z {
            return None;
        }
        let middle = l + width;
        let (a, b, c) = (self.value(l), self.value(middle), self.value(u));
        parabola(l, u, [a, b, c], slope, self.jerk(z))
    }

    /// The line with the least error over an interval. Its slope is that of the chord. Its offset is the
    /// middle between the extrema of `f(z) - slope z`, which are at the ends and where the derivative
    /// equals the slope.
    pub fn line_bound(self, z: Interval) -> LineBound {
        let z = self.domain(z.or_everything());
        let (l, u) = (z.lower, z.upper);
        let constant = || {
            let range = self.range(z);
            match range.upper - range.lower {
                width if width.is_finite() => LineBound {
                    slope: 0.0,
                    offset: 0.5 * (range.lower + range.upper),
                    radius: (0.5 + ROUNDING) * width + ROUNDING * (range.lower.abs() + range.upper.abs()),
                },
                _ => LineBound { slope: 0.0, offset: 0.0, radius: f64::INFINITY },
            }
        };
        let width = u - l;
        if !(width.is_finite() && width > 0.0) {
            return constant();
        }
        let (a, b) = (self.value(l), self.value(u));
        let slope = (b - a) / width;
        let touching = match self {
            Unit::Tanh => return tanh_line_bound(l, u, a, b),
            Unit::Sigmoid => {
                let half = tanh_line_bound(0.5 * l, 0.5 * u, (0.5 * l).tanh(), (0.5 * u).tanh());
                return LineBound {
                    slope: 0.25 * half.slope,
                    offset: 0.5 + 0.5 * half.offset,
                    radius: 0.5 * half.radius + ROUNDING,
                };
            }
            Unit::Relu if l >= 0.0 => return LineBound { slope: 1.0, offset: 0.0, radius: 0.0 },
            Unit::Relu if u <= 0.0 => return LineBound { slope: 0.0, offset: 0.0, radius: 0.0 },
            Unit::Relu => {
                let radius = -0.5 * slope * l;
                let size = u.max(-l);
                return LineBound { slope, offset: radius, radius: radius + ROUNDING * size };
            }
            Unit::Square => 0.5 * slope,
            Unit::Exp => slope.ln(),
            Unit::Log => 1.0 / slope,
            Unit::Sqrt => 0.25 / (slope * slope),
            Unit::Reciprocal if l > 0.0 => (-slope).sqrt().recip(),
            Unit::Reciprocal if u < 0.0 => -(-slope).sqrt().recip(),
            Unit::Reciprocal => return constant(),
        };
        // For a convex or concave function, rounding may put the tangent point slightly outside the
        // interval; then it is an end.
        let touching = if touching.is_nan() { l } else { touching.clamp(l, u) };
        let above = [a - slope * l, b - slope * u, self.value(touching) - slope * touching];
        let (low, high) = (above.iter().copied().fold(f64::INFINITY, f64::min), largest(&above));
        let size = a.abs().max(b.abs()) + slope.abs() * l.abs().max(u.abs());
        // The slope of a chord over a few units in the last place is meaningless, so the radius covers
        // any slope.
        let wrong =
            if width <= NARROW * (l.abs() + u.abs()) { (b - a).abs() + slope.abs() * width } else { 0.0 };
        let line = LineBound {
            slope,
            offset: 0.5 * (low + high),
            radius: 0.5 * (high - low) + 4.0 * ROUNDING * size + wrong,
        };
        let sound = slope.is_finite() && line.offset.is_finite() && line.radius.is_finite();
        if sound { line } else { constant() }
    }
}

/// The quadratic enclosure of [`Unit::parabola`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parabola {
    pub offset: f64,
    pub curvature: f64,
    pub radius: f64,
}

/// [`Unit::parabola`] over finite `l < u`. `values` are those at the lower end, the middle and the upper
/// end; `jerk` bounds the absolute value of the third derivative.
#[inline(always)]
pub(crate) fn parabola(l: f64, u: f64, values: [f64; 3], slope: f64, jerk: f64) -> Option<Parabola> {
    let [a, b, c] = values;
    let width = 0.5 * (u - l);
    let (first, last) = (a - slope * l, c - slope * u);
    let offset = 0.5 * (first + last);
    let over = b - slope * (l + width) - offset;
    let curvature = -2.0 * over / (width * width);
    let size = a.abs().max(b.abs()).max(c.abs()) + slope.abs() * l.abs().max(u.abs());
    // `0.064_150_1` is 1 / (9 sqrt(3)), rounded up. The distance of the parabola from the ends that
    // rounding causes counts in full.
    let radius = 0.064_150_1 * width * width * width * jerk
        + 2.0 * (first - last).abs()
        + 8.0 * ROUNDING * (1.0 + size);
    (radius.is_finite() && curvature.is_finite()).then_some(Parabola { offset, curvature, radius })
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Bounds of `tanh(z) - slope z` over finite `l < u`; `a` and `b` are the values of tanh at the ends.
#[inline(always)]
pub(crate) fn offsets_tanh(l: f64, u: f64, a: f64, b: f64, slope: f64) -> (f64, f64) {
    // The derivative equals the slope where tanh is +- t, that is at +- atanh(t) = log((1 + t)^2 / slope)
    // / 2.
    let t = (1.0 - slope).max(0.0).sqrt();
    let at = 0.5 * ((1.0 + t) * (1.0 + t) / slope).ln();
    let (left, right) = (a - slope * l, b - slope * u);
    let (mut low, mut high) = (left.min(right), left.max(right));
    let turn = t - slope * at;
    if at < u && at > l {
        high = high.max(turn);
    }
    if -at > l && -at < u {
        low = low.min(-turn);
    }
    let room = ROUNDING * (1.0 + slope * l.abs().max(u.abs()));
    (low - room, high + room)
}

impl Unit {
    /// Bounds of `f(z) - slope z` over an interval, for the activation functions of networks.
    #[inline(always)]
    pub fn offsets(self, z: Interval, slope: f64) -> (f64, f64) {
        let Interval { lower: l, upper: u } = z;
        let (a, b) = (self.value(l), self.value(u));
        match self {
            Unit::Tanh => offsets_tanh(l, u, a, b, slope),
            Unit::Sigmoid => {
                let (low, high) =
                    offsets_tanh(0.5 * l, 0.5 * u, (0.5 * l).tanh(), (0.5 * u).tanh(), 4.0 * slope);
                (0.5 + 0.5 * low - ROUNDING, 0.5 + 0.5 * high + ROUNDING)
            }
            Unit::Relu => {
                let (left, right) = (a - slope * l, b - slope * u);
                let kink = if l < 0.0 && u > 0.0 { 0.0 } else { left };
                let room = ROUNDING * (1.0 + slope.abs()) * l.abs().max(u.abs());
                (left.min(right).min(kink) - room, left.max(right).max(kink) + room)
            }
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

/// [`Unit::line_bound`] for tanh over finite `l < u`; `a` and `b` are the values of tanh at the ends.
#[inline(always)]
pub(crate) fn tanh_line_bound(l: f64, u: f64, a: f64, b: f64) -> LineBound {
    let width = u - l;
    if width < NARROW {
        // The tangent, with Taylor's remainder as its error.
        let slope = (1.0 - a * a).clamp(0.0, 1.0);
        let radius = 0.5 * STEEPEST * width * width + 4.0 * ROUNDING;
        return LineBound { slope, offset: a - slope * l, radius: radius + ROUNDING * slope * l.abs() };
    }
    let slope = ((b - a) / width).clamp(0.0, 1.0);
    let (low, high) = offsets_tanh(l, u, a, b, slope);
    let size = 1.0 + slope * l.abs().max(u.abs());
    LineBound { slope, offset: 0.5 * (low + high), radius: 0.5 * (high - low) + ROUNDING * size }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNITS: [Unit; 8] = [
        Unit::Tanh,
        Unit::Sigmoid,
        Unit::Relu,
        Unit::Square,
        Unit::Exp,
        Unit::Log,
        Unit::Sqrt,
        Unit::Reciprocal,
    ];

    /// Wide and narrow intervals, close to zero and far from it.
    fn interval() -> impl Strategy<Value = Interval> {
        let size = prop_oneof![Just(1e-9), Just(1e-4), Just(0.1), Just(3.0), Just(40.0), Just(1e6)];
        (-1.0..1.0f64, 0.0..1.0f64, size.clone(), size).prop_map(|(middle, width, far, wide)| {
            let lower = middle * far;
            Interval { lower, upper: lower + width * wide }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_is_sampled_is_enclosed(z in interval()) {
            for unit in UNITS {
                let (range, slopes, second_derivatives) = (unit.range(z), unit.slopes(z), unit.second_derivatives(z));
                let line = unit.line_bound(z);
                let jerk = unit.jerk(z);
                let mut last: Option<(f64, f64)> = None;
                prop_assert!(line.radius >= 0.0, "{unit:?} {z:?} {line:?}");
                for k in 0..=100 {
                    let x = (z.lower + (z.upper - z.lower) * f64::from(k) / 100.0).clamp(z.lower, z.upper);
                    let value = unit.value(x);
                    if !value.is_finite() || matches!(unit, Unit::Log | Unit::Sqrt) && x <= 0.0 {
                        continue;
                    }
                    prop_assert!(range.contains(value), "{unit:?} {z:?} {range:?} {value}");
                    let (slope, curvature) = unit.derivatives(x);
                    prop_assert!(slopes.contains(slope), "{unit:?} {z:?} {slopes:?} {slope}");
                    prop_assert!(!curvature.is_finite() || second_derivatives.contains(curvature), "{unit:?} {z:?} {second_derivatives:?} {curvature}");
                    if let Some((y, before)) = last.filter(|_| unit != Unit::Relu) {
                        let change = (curvature - before).abs();
                        let most = jerk * (x - y) * (1.0 + 1e-9) + 1e-13 * (1.0 + curvature.abs() + before.abs());
                        prop_assert!(change <= most || !change.is_finite(), "{unit:?} {z:?} {jerk} {change}");
                    }
                    last = Some((x, curvature));
                    let error = (value - line.slope * x - line.offset).abs();
                    prop_assert!(error <= line.radius, "{unit:?} {z:?} {line:?} at {x}: {error}");
                }
            }
        }
    }

    #[test]
    fn lines_are_tight() {
        let z = Interval { lower: -1.0, upper: 1.0 };
        let line = Unit::Square.line_bound(z);
        assert!((line.slope, line.offset) == (0.0, 0.5) && (line.radius - 0.5).abs() < 1e-13);
        let line = Unit::Relu.line_bound(z);
        assert!((line.slope, line.offset) == (0.5, 0.25) && (line.radius - 0.25).abs() < 1e-13);
        assert!(Unit::Tanh.line_bound(z).radius < 0.083);
        let beyond = Unit::Log.line_bound(Interval { lower: -1.0, upper: 2.0 });
        assert_eq!(beyond.radius, f64::INFINITY);
        let everything = Unit::Tanh.line_bound(Interval::EVERYTHING);
        assert!((everything.radius - 1.0).abs() < 1e-12);
    }
}
