//! Quadratic lower bounds of a graph over a region.
//!
//! An affine bound counts all curvature of an operation as error. Here the error symbol of an
//! operation is resolved once more: with `z` its argument, in an interval with middle m and half
//! width w,
//!
//! ```text
//! f(z) = slope z + offset + curvature ((z - m)^2 - w^2) / 2 +- radius
//! x y  = x0 y + y0 x - x0 y0 + (x - x0) (y - y0)
//! ```
//!
//! with a radius of third order in the size of the region. In the squares `z` is replaced by its
//! affine form in the inputs; by how far it may be from that, times the width, is of third order
//! as well. Each symbol counts with its coefficient in the result, which is exact, so that
//! positive and negative curvature cancel as they do in the graph itself (a Taylor model of second
//! order; Makino and Berz, 2003, with chords in place of tangents).

use super::{Affine, LayerState, Region, Row, middle, rounding};
use crate::bound::jet::{Gram, dot};
use crate::bound::quadratic::Quadratic;
use crate::graph::{Graph, Interval, Operation, Parabola, Unit, parabola};
use crate::network::{LANES, Lanes, Real, Vectorised, vectorised};

/// `constant + linear . y + y^T matrix y / 2` up to an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuadraticBound {
    pub constant: f64,
    pub linear: Vec<f64>,
    /// Symmetric, row by row.
    pub matrix: Vec<f64>,
    pub error: f64,
}

impl QuadraticBound {
    /// The least value over a region, bounded from below, and the slope about where it is; no more
    /// effort is made than it takes to reach `enough`.
    pub fn lower(&self, region: &Region, enough: f64) -> (f64, Vec<f64>) {
        let at = vec![0.0; self.linear.len()];
        let quadratic =
            Quadratic { at: &at, value: self.constant, gradient: &self.linear, matrix: &self.matrix };
        let (least, y) = quadratic.lower_in_part(region, enough + self.error);
        (least - self.error, quadratic.slope(&y, 0.0))
    }
}

/// A quadratic bound as it is added up.
struct Sum {
    quadratic: QuadraticBound,
    /// Sizes of all terms.
    size: f64,
}

impl Affine {
    /// The quadratic that a graph keeps to over the region of the last bound, which must have been
    /// of the same graph. Nothing where that is infinite.
    pub fn quadratic(&mut self, graph: &Graph<'_>, region: &Region) -> Option<QuadraticBound> {
        if self.states_nothing {
            return None;
        }
        self.count += 1;
        let inputs = graph.inputs;
        let row = &self.row;
        let mut sum = Sum {
            quadratic: QuadraticBound {
                constant: row.constant,
                linear: row.terms[..inputs].to_vec(),
                matrix: vec![0.0; inputs * inputs],
                error: rounding(row.terms.len()) * row.size,
            },
            size: 0.0,
        };
        let mut states = std::mem::take(&mut self.states);
        for (k, operation) in graph.operations.iter().enumerate() {
            let share = row.terms[inputs + k];
            if share == 0.0 {
                continue;
            }
            let (before, rest) = states.split_at_mut(k);
            let state = &mut rest[0];
            let deviation = |row: &Row| -> f64 {
                let symbols = row.terms[inputs..].iter().zip(before.iter()).filter(|(t, _)| **t != 0.0);
                let errors: f64 = symbols.map(|(t, state)| t.abs() * state.radius).sum();
                errors + rounding(row.terms.len()) * row.size
            };
            match operation {
                Operation::Unit(unit, _) => {
                    let (form, range) = (&state.forms[0], state.arguments[0]);
                    let away = deviation(form);
                    let curvature = unit.parabola(range, state.line.slope);
                    let (m, w) = middle(range);
                    let error =
                        |curvature: &Parabola| curvature.radius + curvature.curvature.abs() * w * away;
                    match curvature.filter(|curvature| error(curvature) < state.line.radius) {
                        Some(curvature) => {
                            let rest = state.radius - state.line.radius;
                            sum.quadratic.error += share.abs() * (error(&curvature) + rest.max(0.0));
                            let offset =
                                curvature.offset - state.line.offset - 0.5 * curvature.curvature * w * w;
                            sum.quadratic.constant += share * offset;
                            sum.size += (share * curvature.offset).abs()
                                + (share * curvature.curvature * w * w).abs();
                            sum.square(0.5 * share * curvature.curvature, [(form, m), (form, m)], region);
                        }
                        None => sum.quadratic.error += share.abs() * state.radius,
                    }
                }
                Operation::Product(..) => {
                    let (a, b) = (&state.forms[0], &state.forms[1]);
                    let ((x, rx), (y, ry)) = (middle(state.arguments[0]), middle(state.arguments[1]));
                    let error = rx * deviation(b) + ry * deviation(a);
                    if error < rx * ry && (rx * ry).is_finite() {
                        let rest = state.radius - rx * ry;
                        sum.quadratic.error += share.abs() * (error + rest.max(0.0));
                        sum.square(share, [(a, x), (b, y)], region);
                    } else {
                        sum.quadratic.error += share.abs() * state.radius;
                    }
                }
                Operation::Network(network, _) => {
                    let unit = Unit::from(network.activation());
                    let mut radius = 0.0;
                    for layer in &mut state.layers {
                        radius += sum.layer(layer, unit, share, region);
                    }
                    let columns = inputs + k;
                    let rest = rounding(columns + 16) * state.result.size;
                    sum.quadratic.error += radius * (1.0 + 1e-12) + share.abs() * rest;
                }
                Operation::Implicit(..) | Operation::Slack(..) => {
                    sum.quadratic.error += share.abs() * state.radius
                }
            }
        }
        self.states = states;
        let Sum { mut quadratic, size } = sum;
        quadratic.error = quadratic.error * (1.0 + 1e-12) + rounding(inputs + 256) * size;
        quadratic.error.is_finite().then_some(quadratic)
    }

    /// As [`Affine::error_share`], of the error of the last quadratic bound.
    pub fn quadratic_error_share(&self, inputs: usize) -> Vec<f64> {
        let mut error_share = vec![0.0; inputs];
        for (k, state) in self.states.iter().enumerate() {
            let share = self.row.terms.get(inputs + k).map_or(0.0, |t| t.abs());
            if share == 0.0 {
                continue;
            }
            if state.layers.is_empty() {
                error_share.iter_mut().zip(&state.error_share).for_each(|(sum, b)| *sum += share * b);
            }
            for layer in &state.layers {
                layer.error_share(&layer.quadratic, share, &mut error_share);
            }
        }
        error_share
    }
}

impl Sum {
    /// Adds `share (a - x) (b - y)` for two forms.
    fn square(&mut self, share: f64, [(a, x), (b, y)]: [(&Row, f64); 2], region: &Region) {
        let n = self.quadratic.linear.len();
        let (p, q) = (a.constant - x, b.constant - y);
        for i in 0..n {
            for j in 0..n {
                self.quadratic.matrix[i * n + j] +=
                    share * (a.terms[i] * b.terms[j] + b.terms[i] * a.terms[j]);
            }
            self.quadratic.linear[i] += share * (p * b.terms[i] + q * a.terms[i]);
        }
        self.quadratic.constant += share * p * q;
        let reach = |row: &Row, constant: f64| -> f64 {
            constant.abs() + (0..n).map(|i| row.terms[i].abs() * region.size(i)).sum::<f64>()
        };
        self.size += 2.0 * share.abs() * reach(a, p) * reach(b, q);
    }

    /// Adds the units of a layer and gives their error.
    fn layer(&mut self, layer: &mut LayerState, unit: Unit, share: f64, region: &Region) -> f64 {
        let n = self.quadratic.linear.len();
        let blocks = layer.lower.len();
        let mut weight = vec![Lanes::ZERO; 2 * blocks];
        let (square, linear) = weight.split_at_mut(blocks);
        let work = BendUnits { layer, unit, share, region, inputs: n, square, linear };
        let (constant, error, size) = vectorised(work);
        self.quadratic.constant += constant;
        self.size += size;
        let columns = &layer.columns[..n * blocks];
        for (i, term) in self.quadratic.linear.iter_mut().enumerate() {
            *term += dot(linear, &columns[i * blocks..(i + 1) * blocks]);
        }
        vectorised(Gram { columns, weight: square, hessian: &mut self.quadratic.matrix, inputs: n });
        error
    }
}

/// Bends the units of a layer where that leaves a smaller error. Leaves the weights with which
/// their columns (which have been multiplied with the slope) count in squares and alone, and gives
/// what is added to the constant, the error, and the sizes of all terms.
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
                // Of its rounding the radius of the line has what the quadratic one needs as well.
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
