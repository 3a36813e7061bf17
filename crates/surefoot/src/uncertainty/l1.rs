//! The l1 unit ball.

use super::{Part, ROOM, UncertaintySet};
use crate::length::{largest_size, sum_of_sizes};
use crate::network::{LANES, Lanes, Vectorised, vectorised};

/// `sum_i |y_i| <= 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L1;

impl UncertaintySet for L1 {
    fn name(&self) -> &'static str {
        "l1"
    }

    fn words(&self) -> &'static str {
        "or several together by accordingly less"
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        sum_of_sizes(y.iter().copied())
    }

    fn support(&self, row: &[f64]) -> f64 {
        largest_size(row.iter().copied())
    }

    fn project(&self, y: &mut [f64], radius: f64) {
        project(y, |_| 1.0, radius);
    }

    fn project_weighted(&self, v: &mut [f64], weights: &[f64], radius: f64) {
        project(v, |i| weights[i], radius);
    }

    fn maximiser(&self, row: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; row.len()];
        // The first of equal entries, so that the result is deterministic.
        let best = (0..y.len()).reduce(|a, b| if row[b].abs() > row[a].abs() { b } else { a });
        if let Some(i) = best.filter(|&i| row[i] != 0.0) {
            y[i] = 1.0f64.copysign(row[i]);
        }
        y
    }

    fn power(&self) -> Option<f64> {
        Some(1.0)
    }

    fn half_widths(&self, inputs: usize) -> Vec<f64> {
        vec![1.0; inputs]
    }

    fn circumradius(&self, _inputs: usize) -> f64 {
        1.0
    }

    fn ranges(&self, radius: f64, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        vectorised(Ranges { radius, columns, lower, upper, is_part: false });
    }

    fn tighten_ranges(&self, part: Part<'_>, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        vectorised(Ranges { radius: part.radius, columns, lower, upper, is_part: true });
    }

    fn tighten_box(&self, radius: f64, lower: &mut [f64], upper: &mut [f64]) -> bool {
        let near = |lower: &[f64], upper: &[f64], i: usize| lower[i].max(-upper[i]).max(0.0);
        let limit = radius * (1.0 + ROOM);
        let used: f64 = (0..lower.len()).map(|i| near(lower, upper, i)).sum();
        if used > limit {
            return false;
        }
        for i in 0..lower.len() {
            let reach = (limit - used + near(lower, upper, i)) * (1.0 + ROOM);
            lower[i] = lower[i].max(-reach);
            upper[i] = upper[i].min(reach);
        }
        true
    }
}

/// Moves each coordinate towards zero by the same threshold times its weight.
fn project(v: &mut [f64], weight: impl Fn(usize) -> f64, radius: f64) {
    let threshold = soft_threshold(v, &weight, radius);
    for (i, v) in v.iter_mut().enumerate() {
        let size = (v.abs() - threshold * weight(i)).max(0.0);
        *v = size.copysign(*v);
    }
}

/// The `t` with `sum_i w_i max(|v_i| - t w_i, 0) = radius`: the l1 projection shrinks
/// coordinate i by `t w_i`. Exact, by adding coordinates in the order in which they
/// reach zero.
fn soft_threshold(v: &[f64], weight: impl Fn(usize) -> f64, radius: f64) -> f64 {
    let mut order: Vec<usize> = (0..v.len()).collect();
    let reach = |i: usize| v[i].abs() / weight(i);
    order.sort_by(|&a, &b| reach(b).total_cmp(&reach(a)));
    let (mut sum, mut squares, mut threshold) = (0.0, 0.0, 0.0);
    for i in order {
        let w = weight(i);
        if reach(i) <= threshold {
            break;
        }
        sum += w * v[i].abs();
        squares += w * w;
        threshold = (sum - radius) / squares;
    }
    threshold
}

struct Ranges<'a> {
    radius: f64,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
    /// Whether `lower` and `upper` already contain the bounds over a box.
    is_part: bool,
}

impl Vectorised for Ranges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Ranges { radius, columns, lower, upper, is_part } = self;
        let blocks = lower.len();
        for b in 0..blocks {
            let mut most = [0.0f64; LANES];
            for column in columns.iter().skip(b).step_by(blocks) {
                for l in 0..LANES {
                    most[l] = most[l].max(radius * column.0[l].abs());
                }
            }
            for l in 0..LANES {
                lower[b].0[l] = if is_part { lower[b].0[l].max(-most[l]) } else { -most[l] };
                upper[b].0[l] = if is_part { upper[b].0[l].min(most[l]) } else { most[l] };
            }
        }
    }
}
