//! The quadratic bound: a quadratic below the result, over a zone.
//!
//! In the plane of the result, every function of the tape has an error of second order. For tanh, sigmoid
//! and square, that error is expanded once more. Newton's interpolation of f at both ends `l, u` and at
//! the middle m of its range, of half width w, is
//!
//! ```text
//! f(z) = slope z + offset + b ((z - m)^2 - w^2) +- r,    b = (f(l) - 2 f(m) + f(u)) / (2 w^2),
//! r = max |f'''| max |(z - l) (z - m) (z - u)| / 6 = max |f'''| w^3 / (9 sqrt(3)),
//! ```
//!
//! and a product is `x y = x0 y + y0 x - x0 y0 + (x - x0) (y - y0)`. Let p be the plane of z, with
//! `|z - p| <= d`. Then `(z - m)^2 = (p - m)^2 + 2 (z - m) (z - p) - (z - p)^2`, where the last two terms
//! are at most `2 w d + d^2`. The same holds for `(x - x0) (y - y0)`.

use super::affine::{Affine, Plane};
use super::curvature::Quadratic;
use super::tape::{Node, Tape};
use super::unit::{ROUNDING, value};
use super::zone::Zone;
use crate::graph::Unit;

/// A lower bound of the result over a zone with known affine bounds. Stops as soon as the bound reaches
/// `wanted`.
pub(super) fn least(tape: &Tape<'_>, zone: &Zone, affine: &Affine, wanted: f64) -> Option<f64> {
    let n = tape.inputs;
    let plane = affine.plane()?;
    let mut sum = Sum {
        matrix: vec![0.0; n * n],
        linear: plane.linear.clone(),
        constant: plane.constant,
        error: plane.error + (0..n).map(|i| plane.doubt[i] * side(zone, i)).sum::<f64>(),
        size: plane.constant.abs()
            + plane.error
            + (0..n).map(|i| plane.linear[i].abs() * side(zone, i)).sum::<f64>(),
    };
    for (k, node) in tape.nodes.iter().enumerate() {
        let share = affine.coefficients[k];
        match node {
            Node::Apply(unit, j) if share != 0.0 => {
                let (Some(line), range) = (affine.lines[k], affine.ranges[*j]) else { continue };
                let Some((offset, curvature, radius)) = parabola(*unit, range.lower, range.upper, line.slope)
                else {
                    continue;
                };
                let argument = Argument::new(affine, *j, zone);
                let (w, d) = (0.5 * (range.upper - range.lower), argument.away);
                let error = radius + curvature.abs() * (2.0 * w * d + d * d);
                if error >= line.radius || !error.is_finite() {
                    continue;
                }
                sum.error += share.abs() * (error - line.radius);
                sum.put(share * (offset - line.offset), share.abs() * (offset.abs() + line.offset.abs()));
                sum.put(-share * curvature * w * w, (share * curvature * w * w).abs());
                let m = range.lower + w;
                sum.square(share * curvature, (&argument, m), (&argument, m), zone);
            }
            Node::Product(i, j) if share != 0.0 => {
                let (x, y) = (affine.ranges[*i], affine.ranges[*j]);
                let (rx, ry) = (0.5 * (x.upper - x.lower), 0.5 * (y.upper - y.lower));
                let (a, b) = (Argument::new(affine, *i, zone), Argument::new(affine, *j, zone));
                let error = rx * b.away + ry * a.away + a.away * b.away;
                if error >= rx * ry || !error.is_finite() {
                    continue;
                }
                sum.error += share.abs() * (error - rx * ry);
                sum.square(share, (&a, x.middle()), (&b, y.middle()), zone);
            }
            _ => {}
        }
    }
    let error = sum.error + (tape.nodes.len() + n + 64) as f64 * f64::EPSILON * sum.size;
    let at = zone.low_point(&plane.linear);
    let row = |i: usize| -> f64 { (0..n).map(|j| sum.matrix[i * n + j] * at[j]).sum() };
    let value = sum.constant + (0..n).map(|i| (sum.linear[i] + 0.5 * row(i)) * at[i]).sum::<f64>();
    let gradient = (0..n).map(|i| sum.linear[i] + row(i)).collect();
    let bound = Quadratic::new(zone, at, value, gradient, sum.matrix).over_zone(wanted + error) - error;
    bound.is_finite().then_some(bound)
}

/// The largest absolute value of an input.
fn side(zone: &Zone, i: usize) -> f64 {
    zone.lower[i].abs().max(zone.upper[i].abs())
}

/// The plane of a node, and a bound of the node's distance from it.
struct Argument {
    linear: Vec<f64>,
    constant: f64,
    away: f64,
}

impl Argument {
    fn new(affine: &Affine, node: usize, zone: &Zone) -> Self {
        let n = zone.lower.len();
        match &affine.planes[node] {
            Some(Plane { linear, doubt, constant, error }) => {
                let doubts: f64 = (0..n).map(|i| doubt[i] * side(zone, i)).sum();
                let away = error + doubts + 4.0 * f64::EPSILON * constant.abs();
                Self { linear: linear.clone(), constant: *constant, away }
            }
            // The node is an input.
            None => {
                let linear = (0..n).map(|i| if i == node { 1.0 } else { 0.0 }).collect();
                Self { linear, constant: 0.0, away: if node < n { 0.0 } else { f64::INFINITY } }
            }
        }
    }
}

struct Sum {
    matrix: Vec<f64>,
    linear: Vec<f64>,
    constant: f64,
    error: f64,
    /// The sum of the magnitudes of all terms.
    size: f64,
}

impl Sum {
    fn put(&mut self, term: f64, size: f64) {
        self.constant += term;
        self.size += size;
    }

    /// Adds `share (a - x) (b - y)`.
    fn square(&mut self, share: f64, (a, x): (&Argument, f64), (b, y): (&Argument, f64), zone: &Zone) {
        let n = self.linear.len();
        let (p, q) = (a.constant - x, b.constant - y);
        for i in 0..n {
            self.linear[i] += share * (p * b.linear[i] + q * a.linear[i]);
            for j in 0..n {
                let both = a.linear[i] * b.linear[j] + b.linear[i] * a.linear[j];
                self.matrix[i * n + j] += share * both;
            }
        }
        let reach = |argument: &Argument, by: f64| -> f64 {
            let along = (0..n).map(|i| argument.linear[i].abs() * side(zone, i)).sum::<f64>();
            argument.constant.abs() + by.abs() + along
        };
        self.put(share * p * q, 4.0 * share.abs() * reach(a, x) * reach(b, y));
    }
}

/// `offset`, `b` and `r` of the quadratic through both ends and the middle, for the slope of the chord.
fn parabola(unit: Unit, l: f64, u: f64, slope: f64) -> Option<(f64, f64, f64)> {
    let w = 0.5 * (u - l);
    if !(w.is_finite() && w > 1e-6 * (1.0 + l.abs().max(u.abs()))) {
        return None;
    }
    let third = match unit {
        Unit::Tanh => third_of_tanh(l, u),
        Unit::Sigmoid => third_of_tanh(0.5 * l, 0.5 * u) / 16.0,
        Unit::Square => 0.0,
        _ => return None,
    };
    let [first, between, last] = [l, l + w, u].map(|z| value(unit, z) - slope * z);
    let offset = 0.5 * (first + last);
    let curvature = (offset - between) / (w * w);
    let size = 1.0 + first.abs() + last.abs() + slope.abs() * l.abs().max(u.abs());
    let radius = third * w.powi(3) / 15.588 + (first - last).abs() + 8.0 * ROUNDING * size;
    (offset.is_finite() && curvature.is_finite()).then_some((offset, curvature, radius))
}

/// The largest absolute value of `-2 (1 - t^2) (1 - 3 t^2)`, which has extrema at 0 and where
/// `t^2 = 2/3`.
fn third_of_tanh(l: f64, u: f64) -> f64 {
    let at = |t: f64| (2.0 * (1.0 - t * t) * (1.0 - 3.0 * t * t)).abs();
    let (l, u) = (l.tanh(), u.tanh());
    let turn = (2.0f64 / 3.0).sqrt();
    let inside = |t: f64| l <= t + 1e-9 && u >= t - 1e-9;
    let turns = [0.0, turn, -turn].into_iter().filter(|t| inside(*t)).map(at);
    turns.fold(at(l).max(at(u)), f64::max) + 1e-12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_sampled_is_beyond() {
        let mut best = f64::INFINITY;
        for unit in [Unit::Tanh, Unit::Sigmoid, Unit::Square] {
            for k in 0..400 {
                let l = -4.0 + 0.02 * f64::from(k);
                for wide in [1e-4, 0.1, 1.0, 5.0] {
                    let u = l + wide;
                    let slope = (value(unit, u) - value(unit, l)) / wide;
                    let Some((offset, curvature, radius)) = parabola(unit, l, u, slope) else { continue };
                    let (m, w) = (0.5 * (l + u), 0.5 * wide);
                    let mut most = 0.0f64;
                    for i in 0..=50 {
                        let z = l + wide * f64::from(i) / 50.0;
                        let quadratic = slope * z + offset + curvature * ((z - m).powi(2) - w * w);
                        most = most.max((value(unit, z) - quadratic).abs());
                    }
                    assert!(most <= radius, "{unit:?} {l} {u}: {most} {radius}");
                    best = best.min(if unit == Unit::Tanh && wide == 0.1 { radius / most } else { best });
                }
            }
        }
        // The radius is not much larger than necessary either.
        assert!(best < 1.1, "{best}");
    }
}
