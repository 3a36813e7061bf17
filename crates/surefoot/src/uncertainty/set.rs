//! The trait of uncertainty sets.

use std::fmt;

#[cfg(doc)]
use super::Product;
use super::product::Factor;
use crate::length::euclidean;
use crate::network::{LANES, Lanes};

/// A bounded, convex and symmetric set of perturbations (with `y` it contains `-y`) with the origin in
/// its interior.
///
/// Coordinates `y` are those in which the weights of the features are divided out. Actions must hold for
/// `radius` times the set, where the radius is the epsilon of a problem.
///
/// Five methods must be implemented: [`name`](Self::name), [`words`](Self::words),
/// [`gauge`](Self::gauge), [`support`](Self::support) and [`project`](Self::project). They suffice for
/// all methods, attacks, certificates and the checker. The others have defaults that are sound for every
/// set; overriding them makes searches faster and bounds tighter.
///
/// Results may have a relative rounding error of at most 1e-13. Proofs depend on `support` only: it must
/// not be below the exact value by more than that.
pub trait UncertaintySet: fmt::Debug + Send + Sync {
    /// The name in problem files, in saved proofs and on the command line, such as `l2`.
    fn name(&self) -> &'static str;

    /// Numbers that distinguish sets of the same name. They are saved with proofs, which are valid for
    /// this set only.
    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    /// How shifts of several features together compare with a shift of one alone. The text ends a
    /// sentence such as "income by up to 3 or savings by up to 4, or several together by accordingly
    /// less".
    fn words(&self) -> &'static str;

    /// The least `r >= 0` for which `y` is in `r` times the set: the norm whose unit ball the set is.
    fn gauge(&self, y: &[f64]) -> f64;

    /// The greatest value of `row . y` over the set: the dual norm.
    fn support(&self, row: &[f64]) -> f64;

    /// Moves `y`, which is outside, to the point of `radius` times the set that is nearest in Euclidean
    /// distance.
    fn project(&self, y: &mut [f64], radius: f64);

    /// A point of the set at which `row . y` is greatest; the origin where `row` is zero. The default
    /// projects a distant point along `row`: the value is below the greatest by a share of about 1e-8,
    /// and exact at most corners.
    fn maximiser(&self, row: &[f64]) -> Vec<f64> {
        let length = euclidean(row.iter().copied());
        if !(length > 0.0 && length.is_finite()) {
            return vec![0.0; row.len()];
        }
        let far = FAR * self.circumradius(row.len());
        let mut y: Vec<f64> = row.iter().map(|r| far * (r / length)).collect();
        project_inside(self, &mut y, 1.0);
        y
    }

    /// The factors of the coordinates by which a random `y`, in a normally distributed direction, becomes a
    /// point of norm `size`.
    fn scaling(&self, y: &[f64], size: f64) -> Vec<f64> {
        vec![size / self.gauge(y); y.len()]
    }

    /// The factors, if the set is a [`Product`] of balls over groups of coordinates.
    fn factors(&self) -> Option<&[Factor]> {
        None
    }

    /// As [`project`](Self::project) for a perturbation `v`, whose coordinates are `weights . v`. The
    /// default gives the point that is nearest in these coordinates.
    fn project_weighted(&self, v: &mut [f64], weights: &[f64], radius: f64) {
        v.iter_mut().zip(weights).for_each(|(v, w)| *v *= w);
        self.project(v, radius);
        v.iter_mut().zip(weights).for_each(|(v, w)| *v /= w);
    }

    /// The greatest value of each coordinate over the set.
    fn half_widths(&self, inputs: usize) -> Vec<f64> {
        let mut axis = vec![0.0; inputs];
        let mut along = |i: usize| {
            axis[i] = 1.0;
            let width = self.support(&axis) * (1.0 + ROOM);
            axis[i] = 0.0;
            width
        };
        (0..inputs).map(&mut along).collect()
    }

    /// An upper bound of the Euclidean length of points of the set.
    fn circumradius(&self, inputs: usize) -> f64 {
        euclidean(self.half_widths(inputs).into_iter())
    }

    /// Whether the set is the box of its [`half_widths`](Self::half_widths).
    fn is_box(&self) -> bool {
        false
    }

    /// Whether the set is the Euclidean unit ball, so that coordinates may be rotated.
    fn is_round(&self) -> bool {
        false
    }

    /// The exponent p if the gauge is the p-norm: 1, 2 or infinity. Tree ensembles are searched exactly for such
    /// sets only.
    fn power(&self) -> Option<f64> {
        None
    }

    /// Bounds of many rows over `radius` times the set: `lower <= row . y <= upper`. Rows are on lanes:
    /// the coefficients of input `i` in the rows of block `b` are `columns[i * blocks + b]`.
    fn ranges(&self, radius: f64, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        by_support(self, radius, columns, lower.len(), |b, l, most| {
            (lower[b].0[l], upper[b].0[l]) = (-most, most);
        });
    }

    /// As [`ranges`](Self::ranges) over a part of the set. `lower` and `upper` contain the bounds over
    /// the box alone, and are tightened.
    fn tighten_ranges(&self, part: Part<'_>, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        by_support(self, part.radius, columns, lower.len(), |b, l, most| {
            lower[b].0[l] = lower[b].0[l].max(-most);
            upper[b].0[l] = upper[b].0[l].min(most);
        });
    }

    /// Shrinks a box without losing a point of `radius` times the set. `false` if it is proven that they
    /// are disjoint.
    fn tighten_box(&self, radius: f64, lower: &mut [f64], upper: &mut [f64]) -> bool {
        for (i, width) in self.half_widths(lower.len()).into_iter().enumerate() {
            let reach = radius * width * (1.0 + ROOM);
            lower[i] = lower[i].max(-reach);
            upper[i] = upper[i].min(reach);
            if lower[i] > upper[i] {
                return false;
            }
        }
        !is_apart(self, radius, lower, upper)
    }

    /// Moves a point into a part of the set, or near to it.
    fn project_into(&self, part: Part<'_>, y: &mut [f64]) {
        project_inside(self, y, part.radius);
        part.clamp(y);
    }

    /// A point in the box of a part, in or near the set, where `row . y` is approximately least.
    fn lowest(&self, part: Part<'_>, row: &[f64]) -> Vec<f64> {
        let down: Vec<f64> = row.iter().map(|r| -r).collect();
        let mut y = self.maximiser(&down);
        y.iter_mut().for_each(|y| *y *= part.radius);
        part.clamp(&mut y);
        y
    }

    /// For a round set: the multiplier `m` of the constraint `|y|^2 <= radius^2` for which the dual bound
    /// `sum_i min over y_i in [l_i, u_i] of (a_i y_i + m y_i^2 / 2) - m radius^2 / 2` of `row . y` over a
    /// part is best, and that bound.
    fn multiplier(&self, _part: Part<'_>, _row: &[f64]) -> Option<(f64, f64)> {
        None
    }
}

/// The part of `radius` times a set that lies in a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part<'a> {
    /// The factor by which the set is scaled.
    pub radius: f64,
    /// The least corner of the box.
    pub lower: &'a [f64],
    /// The greatest corner of the box.
    pub upper: &'a [f64],
}

impl Part<'_> {
    /// Moves a point to the nearest one of the box.
    pub fn clamp(&self, y: &mut [f64]) {
        y.iter_mut().enumerate().for_each(|(i, y)| *y = y.clamp(self.lower[i], self.upper[i]));
    }
}

/// Relative room for rounding, so that no point of a set is lost.
pub(super) const ROOM: f64 = 1e-12;

/// The distance, in multiples of the circumradius, of the point whose projection maximises a row. A
/// larger distance loses digits, a smaller one is inaccurate on round sets.
const FAR: f64 = 1e8;

/// The number of alternating projections between a box and a set after which it is left open whether they
/// intersect.
const PROJECTIONS: usize = 40;

/// Calls `put(block, lane, radius * support)` for every row, including room for rounding.
fn by_support<S: UncertaintySet + ?Sized>(
    set: &S,
    radius: f64,
    columns: &[Lanes],
    blocks: usize,
    mut put: impl FnMut(usize, usize, f64),
) {
    let mut row = vec![0.0; columns.len() / blocks.max(1)];
    for b in 0..blocks {
        for l in 0..LANES {
            row.iter_mut().enumerate().for_each(|(i, a)| *a = columns[i * blocks + b].0[l]);
            put(b, l, radius * set.support(&row) * (1.0 + ROOM));
        }
    }
}

/// Projects `y` onto `radius` times a set, unless it is inside already.
pub(crate) fn project_inside<S: UncertaintySet + ?Sized>(set: &S, y: &mut [f64], radius: f64) {
    let radius = radius.max(0.0);
    if set.gauge(y) <= radius {
        return;
    }
    set.project(y, radius);
    // Rounding may leave the point slightly outside.
    shrink(y, radius, |y| set.gauge(y));
}

/// Scales `y` down until its size is at most the radius.
pub(super) fn shrink(y: &mut [f64], radius: f64, size: impl Fn(&[f64]) -> f64) {
    // One pass is nearly always enough; sums of many terms may round up again.
    for attempt in 1..=64 {
        let value = size(y);
        if value <= radius || value.is_nan() {
            return;
        }
        let shrink = radius / value * (1.0 - f64::from(attempt) * f64::EPSILON);
        y.iter_mut().for_each(|y| *y *= shrink);
    }
}

/// Whether a separating hyperplane between a box and `radius` times a set is found, which proves that
/// they are disjoint. Alternating projections approximate the nearest points of both; the hyperplane
/// orthogonal to the line between them is tried. The proof depends on the support function only.
fn is_apart<S: UncertaintySet + ?Sized>(set: &S, radius: f64, lower: &[f64], upper: &[f64]) -> bool {
    let mut y: Vec<f64> = lower.iter().zip(upper).map(|(&l, &u)| 0.0f64.clamp(l, u)).collect();
    for _ in 0..PROJECTIONS {
        if set.gauge(&y) <= radius {
            return false;
        }
        let mut inside = y.clone();
        set.project(&mut inside, radius);
        let across: Vec<f64> = y.iter().zip(&inside).map(|(y, p)| y - p).collect();
        let (mut least, mut size) = (0.0, 0.0);
        for (i, &a) in across.iter().enumerate() {
            let term = a * if a > 0.0 { lower[i] } else { upper[i] };
            least += term;
            size += term.abs();
        }
        if least - ROOM * size > radius * set.support(&across) * (1.0 + ROOM) {
            return true;
        }
        let next = inside.iter().zip(lower.iter().zip(upper)).map(|(y, (&l, &u))| y.clamp(l, u));
        y = next.collect();
    }
    false
}
