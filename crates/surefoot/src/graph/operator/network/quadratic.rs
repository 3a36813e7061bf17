//! Quadratic bounds of a network: unit by unit, in lanes.

use super::affine::LayerState;
use crate::graph::affine::{QuadraticSum, State, rounding};
use crate::graph::jet::{Gram, dot};
use crate::graph::unit::parabola;
use crate::graph::{Interval, Region, Unit};
use crate::network::{LANES, Lanes, Real, Vectorised, vectorised};

/// Adds a network to a quadratic bound; `share` is its coefficient in the result, and `number` operations
/// come before it.
pub(super) fn add(unit: Unit, sum: &mut QuadraticSum<'_>, number: usize, state: &mut State, share: f64) {
    let mut radius = 0.0;
    for layer in &mut state.layers {
        radius += add_layer(sum, layer, unit, share);
    }
    let columns = sum.region.inputs() + number;
    let rest = rounding(columns + 16) * state.result.size;
    sum.add_error(radius * (1.0 + 1e-12) + share.abs() * rest);
}

/// Adds the units of a layer. Returns their error.
fn add_layer(sum: &mut QuadraticSum<'_>, layer: &mut LayerState, unit: Unit, share: f64) -> f64 {
    let n = sum.quadratic.linear.len();
    let blocks = layer.lower.len();
    let mut weight = vec![Lanes::ZERO; 2 * blocks];
    let (square, linear) = weight.split_at_mut(blocks);
    let work = BendUnits { layer, unit, share, region: sum.region, inputs: n, square, linear };
    let (constant, error, size) = vectorised(work);
    sum.add_constant(constant, size);
    let columns = &layer.columns[..n * blocks];
    for (i, term) in sum.quadratic.linear.iter_mut().enumerate() {
        *term += dot(linear, &columns[i * blocks..(i + 1) * blocks]);
    }
    vectorised(Gram { columns, weight: square, hessian: &mut sum.quadratic.matrix, inputs: n });
    error
}

/// Replaces the line of a unit by a parabola where that leaves a smaller error. Computes the weights of
/// the units' columns (which already contain the factor `slope`) in the squares and in the linear part.
/// Returns the change of the constant, the error, and the sizes of all terms.
struct BendUnits<'a> {
    layer: &'a mut LayerState,
    unit: Unit,
    share: f64,
    region: &'a Region,
    inputs: usize,
    square: &'a mut [Lanes],
    linear: &'a mut [Lanes],
}

impl Vectorised for BendUnits<'_> {
    type Output = (f64, f64, f64);

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> (f64, f64, f64) {
        let BendUnits { layer, unit, share, region, inputs, square, linear } = self;
        let blocks = square.len();
        let (mut constants, mut errors, mut sizes) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for b in 0..blocks {
            let (lower, upper) = (layer.lower[b].0, layer.upper[b].0);
            let mut values = [[0.0; LANES]; 3];
            let mut jerk = [0.0; LANES];
            if unit == Unit::Tanh {
                for l in 0..LANES {
                    let middle = lower[l] + 0.5 * (upper[l] - lower[l]);
                    for (value, z) in values.iter_mut().zip([lower[l], middle, upper[l]]) {
                        value[l] = f64::activated::<FUSED>(crate::Activation::Tanh, z);
                    }
                }
                for l in 0..LANES {
                    jerk[l] = jerk_of_tanh(values[0][l], values[2][l]);
                }
            }
            let mut reach = [0.0; LANES];
            for i in 0..inputs {
                let (column, far) = (&layer.columns[i * blocks + b].0, region.size(i));
                for l in 0..LANES {
                    reach[l] += column[l].abs() * far;
                }
            }
            for l in 0..LANES {
                let share = share * layer.adjoint[b].0[l];
                let (slope, radius) = (layer.slope[b].0[l], layer.radius[b].0[l]);
                let width = 0.5 * (upper[l] - lower[l]);
                let wide = width > 1e-6 * (1.0 + lower[l].abs().max(upper[l].abs()));
                let curvature = match unit {
                    Unit::Tanh if wide && width < f64::INFINITY => {
                        parabola(lower[l], upper[l], values.map(|v| v[l]), slope, jerk[l])
                    }
                    Unit::Tanh => None,
                    unit => unit.parabola(Interval { lower: lower[l], upper: upper[l] }, slope),
                };
                layer.quadratic[b].0[l] = radius;
                (square[b].0[l], linear[b].0[l]) = (0.0, 0.0);
                let size = if share == 0.0 { 0.0 } else { share.abs() };
                let Some(curvature) = curvature.filter(|_| slope > 1e-8) else {
                    errors[l] += if size == 0.0 { 0.0 } else { size * radius };
                    continue;
                };
                // The radius of the line already contains the rounding error that the parabola needs.
                let error = curvature.radius
                    + curvature.curvature.abs() * width * layer.deviation[b].0[l]
                    + slope * layer.round[b].0[l];
                if error >= radius || error.is_nan() {
                    errors[l] += if size == 0.0 { 0.0 } else { size * radius };
                    continue;
                }
                layer.quadratic[b].0[l] = error;
                errors[l] += size * error;
                let off = layer.origin[b].0[l] - (lower[l] + width);
                let second_derivatives = share * curvature.curvature;
                square[b].0[l] = second_derivatives / (slope * slope);
                linear[b].0[l] = second_derivatives * off / slope;
                constants[l] += share * (curvature.offset - layer.offset[b].0[l])
                    + 0.5 * second_derivatives * (off * off - width * width);
                let far = off.abs() + reach[l] / slope;
                sizes[l] += size * (curvature.offset.abs() + layer.offset[b].0[l].abs())
                    + second_derivatives.abs() * (far * far + width * width);
            }
        }
        (constants.iter().sum(), errors.iter().sum(), sizes.iter().sum())
    }
}

/// The largest size of the third derivative of tanh, from its values at two ends: in terms of the
/// slope s it is `4 s - 6 s^2`, with an extremum of 2 / 3 at 1 / 3.
#[inline(always)]
fn jerk_of_tanh(a: f64, b: f64) -> f64 {
    let (first, last) = (1.0 - a * a, 1.0 - b * b);
    let least = first.min(last);
    let most = if a <= 0.0 && b >= 0.0 { 1.0 } else { first.max(last) };
    let at = |s: f64| (4.0 * s - 6.0 * s * s).abs();
    let turn = if least <= 0.334 && most >= 0.333 { 2.0 / 3.0 } else { 0.0 };
    at(least).max(at(most)).max(turn) + 1e-13
}
