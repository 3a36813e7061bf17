//! A graph that has been bounded over a region, and the further bounds that can be computed from it.

use super::quadratic::QuadraticBound;
use super::{Affine, Interpolated, Plane};
use crate::graph::curvature::Curvature;
use crate::graph::jet::Gram;
use crate::graph::{Graph, Interval, Jets, Operation, Region};
use crate::network::{LANES, Lanes, vectorised};

/// A graph that has been bounded over a region. It borrows the memory of the bound, so that no other
/// graph can be bounded meanwhile and every result refers to this graph and this region.
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

    /// A lower bound of the least value. NaN proves nothing.
    pub fn lower(&self) -> f64 {
        self.plane.lower(self.region)
    }

    /// An upper bound of the greatest value. NaN proves nothing.
    pub fn upper(&self) -> f64 {
        self.plane.upper(self.region)
    }

    /// For each input, the part of the error that it causes, per unit of its range. Used to choose where
    /// to split.
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

    /// The matrix `sum_n e_n v_n v_n^T` over all units, whose principal directions are those along which
    /// the error is large. `e_n` is the error of the unit divided by the square of its range, and `v_n`
    /// the gradient of its argument. Row by row.
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
                        // The columns already contain the factor `slope`.
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

    /// A plane below the graph that is tighter than the affine bound around the point where `jets`
    /// evaluated the graph last. `None` unless the output is the last operation plus an affine form in
    /// the inputs, and that operation can be refined.
    pub fn refine(&mut self, jets: &Jets) -> Option<Plane> {
        let (operation, share, rest) = self.last_operation()?;
        operation.operator.refine(self.affine, self.region, jets, share, rest)
    }

    /// A convex upper bound of the graph over a box within a limit on the l1 cost, interpolated between the
    /// cheapest point of the box and the ends of the rays. It is close to the graph near the point `at`, where
    /// `jets` evaluated the graph last. `None` unless the graph is a relu network of affine arguments.
    pub fn interpolate(&mut self, jets: &Jets, at: &[f64]) -> Option<Interpolated> {
        let (operation, share, rest) = self.last_operation()?;
        operation.operator.interpolate(self.affine, self.region, jets, (share, rest), at)
    }

    /// The last operation with its coefficient in the output, and the rest of the output. `None` if the bound
    /// states nothing or the output depends on another operation.
    fn last_operation(&self) -> Option<(&'a Operation<'p>, f64, Plane)> {
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
        Some((operation, share, rest))
    }

    /// The quadratic enclosure of the graph over the region. `None` where its error is infinite.
    pub fn quadratic(&mut self) -> Option<QuadraticBounded<'_>> {
        let bound = self.affine.quadratic(self.graph, self.region)?;
        Some(QuadraticBounded { bound, affine: self.affine, region: self.region })
    }

    /// A lower bound of the Hessian over the region or, if `around`, a matrix for a quadratic lower bound
    /// that touches the graph at `centre`. The centre must be in the region. `None` where there is no
    /// bound.
    pub fn curvature(&self, centre: &[f64], jets: &mut Jets, around: bool) -> Option<Curvature> {
        if self.affine.states_nothing {
            return None;
        }
        Curvature::bound(self.graph, self.region, centre, self.affine, jets, around)
    }
}

impl QuadraticBounded<'_> {
    /// The largest distance between the graph and the quadratic over the region, bounded from above.
    pub fn error(&self) -> f64 {
        self.bound.error
    }

    /// The quadratic.
    #[cfg(test)]
    pub fn bound(&self) -> &QuadraticBound {
        &self.bound
    }

    /// A lower bound of the least value, and the gradient near the minimiser. Stops as soon as the bound
    /// reaches `enough`.
    pub fn lower(&self, enough: f64) -> (f64, Vec<f64>) {
        self.bound.lower(self.region, enough)
    }

    /// As [`Bounded::error_share`], for the error of the quadratic bound.
    pub fn error_share(&self) -> Vec<f64> {
        self.affine.quadratic_error_share(self.region.inputs())
    }
}
