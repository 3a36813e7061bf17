//! The Euclidean unit ball.

use super::{Part, ROOM, UncertaintySet};
use crate::length::euclidean;
use crate::network::{LANES, Lanes, Real, Vectorised, vectorised};

/// `sum_i y_i^2 <= 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2;

/// Multipliers of the ball's constraint that are tried, relative to the optimal one without a box.
const MULTIPLIERS: [f64; 5] = [0.75, 1.0, 1.2, 1.6, 2.6];
/// The number of steps in the search for the best multiplier.
const STEPS: usize = 12;

impl UncertaintySet for L2 {
    fn name(&self) -> &'static str {
        "l2"
    }

    fn words(&self) -> &'static str {
        "or several together by accordingly less"
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        euclidean(y.iter().copied())
    }

    fn support(&self, row: &[f64]) -> f64 {
        euclidean(row.iter().copied())
    }

    fn project(&self, y: &mut [f64], radius: f64) {
        let shrink = radius / self.gauge(y);
        y.iter_mut().for_each(|y| *y *= shrink);
    }

    fn project_weighted(&self, v: &mut [f64], weights: &[f64], radius: f64) {
        let multiplier = ellipsoid_multiplier(v, weights, radius);
        for (v, w) in v.iter_mut().zip(weights) {
            *v /= 1.0 + multiplier * w * w;
        }
    }

    fn maximiser(&self, row: &[f64]) -> Vec<f64> {
        let length = self.support(row);
        let share = |r: &f64| if length > 0.0 { r / length } else { 0.0 };
        row.iter().map(share).collect()
    }

    fn power(&self) -> Option<f64> {
        Some(2.0)
    }

    fn half_widths(&self, inputs: usize) -> Vec<f64> {
        vec![1.0; inputs]
    }

    fn circumradius(&self, _inputs: usize) -> f64 {
        1.0
    }

    fn is_round(&self) -> bool {
        true
    }

    fn ranges(&self, radius: f64, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        vectorised(WholeRanges { radius, columns, lower, upper });
    }

    fn tighten_ranges(&self, part: Part<'_>, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        vectorised(PartRanges { part, columns, lower, upper });
    }

    fn tighten_box(&self, radius: f64, lower: &mut [f64], upper: &mut [f64]) -> bool {
        let near = |lower: &[f64], upper: &[f64], i: usize| lower[i].max(-upper[i]).max(0.0);
        let radius = radius * (1.0 + ROOM);
        let used: f64 = (0..lower.len()).map(|i| near(lower, upper, i).powi(2)).sum();
        let limit = radius * radius;
        if used > limit {
            return false;
        }
        for i in 0..lower.len() {
            let own = near(lower, upper, i);
            let reach = (limit - used + own * own).sqrt() * (1.0 + ROOM);
            lower[i] = lower[i].max(-reach);
            upper[i] = upper[i].min(reach);
        }
        true
    }

    /// The nearest point of the part: `share * y` clamped to the box, with the largest `share <= 1` for which
    /// it is in the ball.
    fn project_into(&self, part: Part<'_>, y: &mut [f64]) {
        let limit = part.radius * part.radius;
        let inside = |share: f64, i: usize, y: f64| (share * y).clamp(part.lower[i], part.upper[i]);
        let square = |share: f64, y: &[f64]| -> f64 {
            y.iter().enumerate().map(|(i, &y)| inside(share, i, y).powi(2)).sum()
        };
        let mut share = 1.0;
        if square(share, y) > limit {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..24 {
                share = 0.5 * (low + high);
                if square(share, y) > limit { high = share } else { low = share }
            }
            share = low;
        }
        y.iter_mut().enumerate().for_each(|(i, y)| *y = inside(share, i, *y));
    }

    fn lowest(&self, part: Part<'_>, row: &[f64]) -> Vec<f64> {
        let Part { radius, lower, upper } = part;
        let corner = |i: usize| if row[i] > 0.0 { lower[i] } else { upper[i] };
        let mut y: Vec<f64> = (0..row.len()).map(corner).collect();
        let square = |y: &[f64]| y.iter().map(|y| y * y).sum::<f64>();
        if square(&y) <= radius * radius {
            return y;
        }
        let length = square(row).sqrt();
        let (mut low, mut high) = (0.0, 1e6 * length / radius);
        for _ in 0..40 {
            let middle: f64 = if low == 0.0 { 1e-3 * high } else { (low * high).sqrt() };
            for i in 0..y.len() {
                y[i] = (-row[i] / middle).clamp(lower[i], upper[i]);
            }
            if square(&y) > radius * radius { low = middle } else { high = middle }
        }
        y
    }

    /// The dual is concave in the multiplier. Its slope is half the squared length of the minimiser minus
    /// half the squared radius.
    fn multiplier(&self, part: Part<'_>, row: &[f64]) -> Option<(f64, f64)> {
        let Part { radius, lower, upper } = part;
        let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        let (mut low, mut high) = (0.0, length / radius);
        let mut best = (0.0, f64::NEG_INFINITY);
        let mut multiplier = 0.7 * high;
        for _ in 0..STEPS {
            if !(multiplier > 0.0 && multiplier.is_finite()) {
                break;
            }
            let (mut bound, mut square) = (-0.5 * multiplier * radius * radius, 0.0);
            for (i, &a) in row.iter().enumerate() {
                let y = (-a / multiplier).clamp(lower[i], upper[i]);
                bound += y * (a + 0.5 * multiplier * y);
                square += y * y;
            }
            if bound > best.1 {
                best = (multiplier, bound);
            }
            let excess = square / (radius * radius) - 1.0;
            if excess.abs() < 1e-6 {
                break;
            }
            if excess > 0.0 {
                low = multiplier;
                if high <= low {
                    high = 2.0 * low;
                }
            } else {
                high = multiplier;
            }
            multiplier = 0.5 * (low + high);
        }
        Some(best)
    }
}

/// The `m >= 0` with `||w . p|| = radius` for `p_i = v_i / (1 + m w_i^2)`. The length decreases in m, so
/// doubling and then bisection always succeed.
fn ellipsoid_multiplier(v: &[f64], weights: &[f64], radius: f64) -> f64 {
    let outside = |m: f64| {
        let shrunk = v.iter().zip(weights).map(|(v, w)| w * v / (1.0 + m * w * w));
        euclidean(shrunk) > radius
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

struct WholeRanges<'a> {
    radius: f64,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for WholeRanges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let WholeRanges { radius, columns, lower, upper } = self;
        let blocks = lower.len();
        for b in 0..blocks {
            let mut high = [0.0; LANES];
            for column in columns.iter().skip(b).step_by(blocks) {
                for l in 0..LANES {
                    high[l] = f64::fused::<FUSED>(column.0[l], column.0[l], high[l]);
                }
            }
            for l in 0..LANES {
                upper[b].0[l] = radius * high[l].sqrt();
                lower[b].0[l] = -upper[b].0[l];
            }
        }
    }
}

/// Tightens bounds over a box by multipliers of the ball. For any multiplier `m >= 0`,
/// `sum_i min over y_i of (a_i y_i + m y_i^2 / 2) - m radius^2 / 2` is a lower bound.
struct PartRanges<'a> {
    part: Part<'a>,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for PartRanges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let PartRanges { part, columns, lower, upper } = self;
        let (inputs, blocks) = (part.lower.len(), lower.len());
        for b in 0..blocks {
            let row = |i: usize| &columns[i * blocks + b].0;
            let (low, high) = (&mut lower[b].0, &mut upper[b].0);
            let mut alone = [0.0; LANES];
            for i in 0..inputs {
                for l in 0..LANES {
                    alone[l] = f64::fused::<FUSED>(row(i)[l], row(i)[l], alone[l]);
                }
            }
            for multiplier in &mut alone {
                *multiplier = multiplier.sqrt() / part.radius + f64::MIN_POSITIVE;
            }
            for share in MULTIPLIERS {
                try_multiplier::<FUSED>(part, share, &alone, row, low, high);
            }
        }
    }
}

/// The bounds for one multiplier, given as a share of the optimal one without a box.
#[inline(always)]
fn try_multiplier<'a, const FUSED: bool>(
    part: Part<'_>,
    share: f64,
    alone: &[f64; LANES],
    row: impl Fn(usize) -> &'a [f64; LANES],
    low: &mut [f64; LANES],
    high: &mut [f64; LANES],
) {
    let (mut multiplier, mut inverse) = ([0.0; LANES], [0.0; LANES]);
    let (mut down, mut up) = ([0.0; LANES], [0.0; LANES]);
    for l in 0..LANES {
        multiplier[l] = share * alone[l];
        inverse[l] = 1.0 / multiplier[l];
        down[l] = -0.5 * multiplier[l] * part.radius * part.radius;
        up[l] = -down[l];
    }
    for i in 0..part.lower.len() {
        let (first, last) = (part.lower[i], part.upper[i]);
        for l in 0..LANES {
            let a = row(i)[l];
            let y = a * inverse[l];
            let at = (-y).max(first).min(last);
            down[l] = f64::fused::<FUSED>(at, f64::fused::<FUSED>(0.5 * multiplier[l], at, a), down[l]);
            let at = y.max(first).min(last);
            up[l] = f64::fused::<FUSED>(at, f64::fused::<FUSED>(-0.5 * multiplier[l], at, a), up[l]);
        }
    }
    for l in 0..LANES {
        low[l] = low[l].max(down[l]);
        high[l] = high[l].min(up[l]);
    }
}
