//! An affine bound with the follow-up questions that it can answer.

use super::quadratic::QuadraticBound;
use super::{Affine, Plane};
use crate::graph::curvature::Curvature;
use crate::graph::jet::Gram;
use crate::graph::{Graph, Interval, Jets, Region};
use crate::network::{LANES, Lanes, vectorised};

/// A graph that has been bounded over a region. As long as it lives nothing else can be bounded
/// with the same memory, so that its answers are about this graph and this region.
pub(crate) struct Bounded<'a, 'p> {
    pub plane: Plane,
    affine: &'a mut Affine,
    graph: &'a Graph<'p>,
    region: &'a Region,
}

/// A quadratic bound of a graph over a region.
pub(crate) struct QuadraticBounded<'a> {
    bound: QuadraticBound,
    affine: &'a Affine,
    region: &'a Region,
}

impl<'a, 'p> Bounded<'a, 'p> {
    pub(super) fn new(
        plane: Plane,
        affine: &'a mut Affine,
        graph: &'a Graph<'p>,
        region: &'a Region,
    ) -> Self {
        Self { plane, affine, graph, region }
    }

    /// A lower bound of the least value. Not a number proves nothing.
    pub fn lower(&self) -> f64 {
        self.plane.lower(self.region)
    }

    /// An upper bound of the greatest value. Not a number proves nothing.
    pub fn upper(&self) -> f64 {
        self.plane.upper(self.region)
    }

    /// The share of the error that each input causes, per unit of its range: where to cut.
    pub fn error_share(&self) -> Vec<f64> {
        let inputs = self.graph.inputs;
        let mut error_share = vec![0.0; inputs];
        for (k, state) in self.affine.states.iter().enumerate() {
            let share = self.affine.row.terms.get(inputs + k).map_or(0.0, |t| t.abs());
            if share > 0.0 {
                error_share.iter_mut().zip(&state.error_share).for_each(|(sum, b)| *sum += share * b);
            }
        }
        error_share
    }

    /// The directions in which the error lies: `sum_n e_n v_n v_n^T` over all units, with `e_n` the
    /// error of the unit over the square of its range and `v_n` the slope of its argument; row by
    /// row.
    pub fn error_directions(&self) -> Vec<f64> {
        let inputs = self.graph.inputs;
        let mut error_directions = vec![0.0; inputs * inputs];
        for (k, state) in self.affine.states.iter().enumerate() {
            let share = self.affine.row.terms.get(inputs + k).map_or(0.0, |t| t.abs());
            for layer in &state.layers {
                let blocks = layer.lower.len();
                let mut weight = vec![Lanes::ZERO; blocks];
                for b in 0..blocks {
                    for l in 0..LANES {
                        let width = (layer.upper[b].0[l] - layer.lower[b].0[l]).max(1e-12);
                        // The columns have been multiplied with the slope.
                        let scale = (width * layer.slope[b].0[l].max(1e-12)).powi(2);
                        let e = share * layer.adjoint[b].0[l].abs() * layer.radius[b].0[l] / scale;
                        weight[b].0[l] = if e.is_finite() { e } else { 0.0 };
                    }
                }
                let columns = &layer.columns[..inputs * blocks];
                vectorised(Gram { columns, weight: &weight, hessian: &mut error_directions, inputs });
            }
        }
        error_directions
    }

    /// A plane below the graph, better than that of the bound around the point where `jets`
    /// evaluated the graph last. `None` unless the output is that of the last operation, up to
    /// inputs, and that operation can be refined.
    pub fn refine(&mut self, jets: &Jets) -> Option<Plane> {
        if self.affine.states_nothing {
            return None;
        }
        let output = &self.graph.output;
        let operation = self.graph.operations.last()?;
        let (terms, own) = output.terms.split_at(self.graph.inputs.min(output.terms.len()));
        let (&share, others) = own.split_last()?;
        if own.len() != self.graph.operations.len() || others.iter().any(|&t| t != 0.0) {
            return None;
        }
        let rest = Plane {
            linear: terms.to_vec(),
            constant: output.constant,
            error: 0.0,
            range: Interval::EVERYTHING,
        };
        operation.operator.refine(self.affine, self.region, jets, share, rest)
    }

    /// The quadratic that the graph keeps to over the region. `None` where its error is infinite.
    pub fn quadratic(&mut self) -> Option<QuadraticBounded<'_>> {
        let bound = self.affine.quadratic(self.graph, self.region)?;
        Some(QuadraticBounded { bound, affine: self.affine, region: self.region })
    }

    /// A lower bound of the Hessian over the region, or of the quadratic model `around` a centre,
    /// which is a point of the region. `None` where there is none.
    pub fn curvature(&self, centre: &[f64], jets: &mut Jets, around: bool) -> Option<Curvature> {
        if self.affine.states_nothing {
            return None;
        }
        Curvature::bound(self.graph, self.region, centre, self.affine, jets, around)
    }
}

impl QuadraticBounded<'_> {
    /// The distance between the graph and the quadratic is nowhere more.
    pub fn error(&self) -> f64 {
        self.bound.error
    }

    /// The quadratic.
    #[cfg(test)]
    pub fn bound(&self) -> &QuadraticBound {
        &self.bound
    }

    /// A lower bound of the least value, and the slope about where it is attained; no more effort
    /// is made than it takes to reach `enough`.
    pub fn lower(&self, enough: f64) -> (f64, Vec<f64>) {
        self.bound.lower(self.region, enough)
    }

    /// As [`Bounded::error_share`], of the error of the quadratic bound.
    pub fn error_share(&self) -> Vec<f64> {
        self.affine.quadratic_error_share(self.region.inputs())
    }
}
