//! Enclosures of the Euclidean norm of several numbers.
//!
//! For every vector g that is no longer than one, `g . y <= |y|`. Let h be the unit vector along g and c a point on the
//! line through zero along h. With `s = h . y` and p the distance of y from that line,
//!
//! ```text
//! |y| - s = sqrt(s^2 + p^2) - s,    p <= |y - c|,
//! ```
//!
//! which falls with s and rises with p.

use super::unit::{Line, Range};

/// A share that exceeds the rounding of a sum of squares, of its root and of a quotient.
fn rounding(count: usize) -> f64 {
    (4 * count + 64) as f64 * f64::EPSILON
}

/// A plane with a distance: `|y|` is at least `slopes . y`, and exceeds it by at most `gap`.
#[derive(Clone, Debug)]
pub(super) struct Touching {
    pub slopes: Vec<f64>,
    pub gap: f64,
}

impl Touching {
    /// Offset and radius of the parallel planes; the slopes stand apart.
    pub fn parallel(&self) -> Line {
        let half = 0.5 * self.gap;
        Line { slope: 0.0, offset: half, radius: half * (1.0 + 1e-15) + f64::MIN_POSITIVE }
    }

    /// The plane below if `is_below`, otherwise the one above.
    pub fn one_sided(&self, is_below: bool) -> Line {
        Line { slope: 0.0, offset: if is_below { 0.0 } else { self.gap }, radius: 0.0 }
    }
}

/// The square root of the sum of squares, up to rounding; without overflow.
fn long(y: &[f64]) -> f64 {
    y.iter().fold(0.0, |long: f64, y| long.hypot(*y))
}

/// Encloses the norm of numbers in these ranges.
pub(super) fn values(ranges: &[Range]) -> Range {
    let nearest = |y: &Range| if y.lower > 0.0 { y.lower } else { (-y.upper).max(0.0) };
    let least = long(&ranges.iter().map(nearest).collect::<Vec<f64>>());
    let most = long(&ranges.iter().map(|y| y.size()).collect::<Vec<f64>>());
    let room = rounding(ranges.len());
    Range::new((least * (1.0 - room) - f64::MIN_POSITIVE).max(0.0), most * (1.0 + room) + f64::MIN_POSITIVE)
        .widened(0.0)
}

/// The plane that touches the norm in the middle of the ranges; `None` near zero and for infinite ranges.
pub(super) fn in_the_middle(ranges: &[Range]) -> Option<Touching> {
    let middles: Vec<f64> = ranges.iter().map(|y| y.middle()).collect();
    touching(ranges, &middles)
}

/// The plane that touches the norm at a point, which need not be in the ranges.
pub(super) fn touching(ranges: &[Range], at: &[f64]) -> Option<Touching> {
    let size = long(at);
    if !(size > 1e-100 && size < 1e100 && ranges.iter().all(|y| y.size().is_finite())) {
        return None;
    }
    let room = rounding(at.len());
    let slopes: Vec<f64> = at.iter().map(|y| y / size * (1.0 - room)).collect();
    // The largest distance of each number from the point.
    let apart: Vec<f64> = ranges.iter().zip(at).map(|(y, at)| (y.upper - at).max(at - y.lower)).collect();
    let along: f64 = slopes.iter().zip(&apart).map(|(g, apart)| g.abs() * apart).sum();
    let most = values(ranges).upper;
    let p = long(&apart) * (1.0 + room) + room * size;
    // With slopes that are a little shorter than one.
    let s = size - along * (1.0 + 2.0 * room) - 4.0 * room * (size + most);
    let root = s.hypot(p);
    let beyond = if s > 0.0 { p * (p / (root + s)) } else { root - s };
    let gap = beyond.min(most - s) * (1.0 + 1e-12) + 4.0 * room * (size + most);
    gap.is_finite().then_some(Touching { slopes, gap })
}

/// Encloses `y / |y|` for each number, given the range of the norm; `None` where that may be zero.
pub(super) fn units(ranges: &[Range], norm: Range) -> Option<Vec<Range>> {
    let inverse = inverse(norm)?;
    let one = Range::new(-1.0, 1.0).widened(1e-15);
    Some(ranges.iter().map(|y| y.times(inverse).and(one)).collect())
}

/// Encloses one over the norm; `None` where that may be zero.
pub(super) fn inverse(norm: Range) -> Option<Range> {
    let is_good = norm.lower > 1e-100 && norm.upper < 1e100;
    let room = 4.0 * f64::EPSILON;
    is_good.then(|| Range::new((1.0 - room) / norm.upper, (1.0 + room) / norm.lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges of different widths around several points, with random numbers in them.
    #[test]
    fn nothing_sampled_is_beyond() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut tightest = f64::INFINITY;
        for round in 0..400 {
            let count = 1 + round % 5;
            let wide = [1e-9, 1e-3, 0.3, 4.0][round / 5 % 4];
            let ranges: Vec<Range> = (0..count)
                .map(|_| {
                    let (middle, half) = (4.0 * random() - 2.0, wide * random());
                    Range::new(middle - half, middle + half)
                })
                .collect();
            let elsewhere: Vec<f64> = ranges.iter().map(|y| y.lower + random()).collect();
            let planes = [in_the_middle(&ranges), touching(&ranges, &elsewhere)];
            let (all, mut most) = (values(&ranges), 0.0f64);
            for _ in 0..300 {
                let y: Vec<f64> = ranges.iter().map(|y| y.lower + (y.upper - y.lower) * random()).collect();
                let norm = y.iter().map(|y| y * y).sum::<f64>().sqrt();
                assert!(all.lower <= norm && norm <= all.upper);
                for (number, plane) in planes.iter().flatten().enumerate() {
                    let along: f64 = plane.slopes.iter().zip(&y).map(|(g, y)| g * y).sum();
                    assert!(along <= norm * (1.0 + 1e-15), "{along} {norm}");
                    assert!(norm - along <= plane.gap, "{} {}", norm - along, plane.gap);
                    most = if number == 0 { most.max(norm - along) } else { most };
                }
                for (unit, y) in units(&ranges, all).into_iter().flatten().zip(&y) {
                    assert!(unit.lower <= y / norm && y / norm <= unit.upper);
                }
            }
            if let ([Some(plane), _], true) = (&planes, count > 1 && wide == 1e-3) {
                tightest = tightest.min(plane.gap / most);
            }
        }
        // The gap is not much larger than necessary either.
        assert!(tightest < 2.0, "{tightest}");
    }
}
