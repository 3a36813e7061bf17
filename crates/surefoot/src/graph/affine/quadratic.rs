//! Quadratic lower bounds of a graph over a region.
//!
//! An affine bound counts all curvature of an operation as error. Here the error symbol of an operation
//! is replaced by a quadratic term. With `z` the argument, in an interval with middle m and half width w,
//!
//! ```text
//! f(z) = slope z + offset + curvature ((z - m)^2 - w^2) / 2 +- radius
//! x y  = x0 y + y0 x - x0 y0 + (x - x0) (y - y0)
//! ```
//!
//! with a radius of third order in the size of the region. In the squares, `z` is replaced by its affine
//! form in the inputs. The resulting error, the distance between `z` and that form times the width, is of
//! third order as well. Each error symbol counts with its exact coefficient in the result, so positive
//! and negative curvature cancel as they do in the graph itself (a Taylor model of second order; Makino
//! and Berz, 2003, with chords in place of tangents).

use super::{Affine, Row, State, rounding};
use crate::graph::{Graph, Quadratic, Region};

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
    /// A lower bound of the least value over a region, and the gradient near the minimiser. Stops as soon
    /// as the bound reaches `enough`.
    pub fn lower(&self, region: &Region, enough: f64) -> (f64, Vec<f64>) {
        let at = vec![0.0; self.linear.len()];
        let quadratic =
            Quadratic { at: &at, value: self.constant, gradient: &self.linear, matrix: &self.matrix };
        let (least, y) = quadratic.lower_in_part(region, enough + self.error);
        (least - self.error, quadratic.slope(&y, 0.0))
    }
}

/// Accumulates the terms of a quadratic bound.
pub(crate) struct QuadraticSum<'a> {
    pub quadratic: QuadraticBound,
    /// The sum of the absolute values of all terms.
    pub size: f64,
    pub region: &'a Region,
}

impl Affine {
    /// The quadratic enclosure of a graph over the region over which it was just bounded. `None` where
    /// its error is infinite.
    pub(super) fn quadratic(&mut self, graph: &Graph<'_>, region: &Region) -> Option<QuadraticBound> {
        if self.states_nothing {
            return None;
        }
        self.count += 1;
        let inputs = graph.inputs;
        let row = &self.row;
        let quadratic = QuadraticBound {
            constant: row.constant,
            linear: row.terms[..inputs].to_vec(),
            matrix: vec![0.0; inputs * inputs],
            error: rounding(row.terms.len()) * row.size,
        };
        let mut sum = QuadraticSum { quadratic, size: 0.0, region };
        for (k, operation) in graph.operations.iter().enumerate() {
            let share = row.terms[inputs + k];
            if share != 0.0 {
                let (before, rest) = self.states.split_at_mut(k);
                operation.operator.add_quadratic(&mut sum, before, &mut rest[0], share);
            }
        }
        let QuadraticSum { mut quadratic, size, .. } = sum;
        quadratic.error = quadratic.error * (1.0 + 1e-12) + rounding(inputs + 256) * size;
        quadratic.error.is_finite().then_some(quadratic)
    }

    /// For each input, the part of the error of the quadratic bound just computed that it causes.
    pub(super) fn quadratic_error_share(&self, inputs: usize) -> Vec<f64> {
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

impl QuadraticSum<'_> {
    pub fn add_error(&mut self, error: f64) {
        self.quadratic.error += error;
    }

    /// Adds a constant that was computed from terms whose absolute values sum to `size`.
    pub fn add_constant(&mut self, constant: f64, size: f64) {
        self.quadratic.constant += constant;
        self.size += size;
    }

    /// An upper bound of the distance between the argument of an operation and its form in the inputs,
    /// given the earlier operations.
    pub fn deviation(&self, row: &Row, before: &[State]) -> f64 {
        let inputs = self.region.inputs();
        let symbols = row.terms[inputs..].iter().zip(before).filter(|(t, _)| **t != 0.0);
        let errors: f64 = symbols.map(|(t, state)| t.abs() * state.radius).sum();
        errors + rounding(row.terms.len()) * row.size
    }

    /// Adds `share (a - x) (b - y)` for two forms.
    pub fn add_product(&mut self, share: f64, [(a, x), (b, y)]: [(&Row, f64); 2]) {
        let region = self.region;
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
}
