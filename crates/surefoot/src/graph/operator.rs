//! Operators: the functions that a graph is composed of.
//!
//! A new kind of operator is one file. It needs a [value](Operator::value) and a [range](Operator::range)
//! over a box. Everything else has a sound default: without derivatives, searches treat the operator as
//! constant, and without bounds of its own it is bounded by its range. Tighter bounds pay for operators
//! that occur in most problems.

mod network;
mod norm;
mod product;
mod sizes;
mod slack;
mod unit;

pub(crate) use network::{LayerPoint, LayerState, UnitBounds};
pub(crate) use norm::EuclideanNorm;
pub(super) use product::Product;
pub(crate) use sizes::{Chord, Sizes};
pub(super) use slack::Slack;

use std::fmt::Debug;

use super::affine::{Affine, Interpolated, Place, Plane, QuadraticSum, State};
use super::curvature::{Adjoint, Gradients, Sums, Surroundings};
use super::jet::{Jets, Order, Point, chain};
use super::{Interval, Region, Unit};
use crate::Network;
use crate::network::Lanes;

/// A function of some numbers that a graph applies to affine forms.
pub(crate) trait Operator: Debug + Send + Sync {
    /// The value; NaN where the function is undefined.
    fn value(&self, arguments: &[f64]) -> f64;

    /// Encloses all values over a box where the function is defined, including the rounding of
    /// [`Operator::value`]. [`Interval::NOTHING`] if it is defined nowhere on the box.
    fn range(&self, arguments: &[Interval]) -> Interval;

    /// The derivative in each argument. Searches use it; no proof relies on it.
    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        vec![0.0; arguments.len()]
    }

    /// Whether a graph must keep the operation even where no result depends on it, because the perturbed
    /// individual exists only where the operation is defined.
    fn has_limited_domain(&self) -> bool {
        false
    }

    /// Whether it has a finite value wherever its arguments have. If not, only a finite range proves that
    /// it is defined.
    fn is_total(&self) -> bool {
        false
    }

    /// The number of hidden layers whose bounds a [`State`] keeps.
    fn hidden_layers(&self) -> usize {
        0
    }

    /// Computes the value and the derivatives up to `order` at the arguments of `point`. `lanes` is
    /// scratch memory.
    fn evaluate(&self, point: &mut Point, inputs: usize, order: Order, _lanes: &mut Vec<Lanes>) {
        let at: Vec<f64> = point.arguments.iter().map(|jet| jet.value).collect();
        // By default there are no second derivatives: searches work without them, and no proof relies on
        // them.
        let slopes = if order >= Order::Gradient { self.gradient(&at) } else { Vec::new() };
        point.jet = chain(self.value(&at), &slopes, &point.arguments, inputs, order);
    }

    /// Whether an evaluated point is on a jump of a derivative, or too close to one to exclude it.
    fn is_on_kink(&self, _point: &Point) -> bool {
        false
    }

    /// Encloses the operation by an affine form with an error. Returns true if it is defined nowhere on
    /// the region, so that the perturbed individual is undefined there.
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        affine.enclose_by_range(self, place, state)
    }

    /// Adds the operation to a quadratic bound; `share` is its coefficient in the result.
    fn add_quadratic(&self, sum: &mut QuadraticSum<'_>, before: &[State], state: &mut State, share: f64) {
        let _ = before;
        sum.add_error(share.abs() * state.radius);
    }

    /// A plane below a graph whose last operation is this one, with coefficient `share` in the output. It
    /// is tighter than the affine bound around the point where `jets` evaluated the graph last. `plane`
    /// is the rest of the output.
    fn refine(
        &self,
        _affine: &mut Affine,
        _region: &Region,
        _jets: &Jets,
        _share: f64,
        _plane: Plane,
    ) -> Option<Plane> {
        None
    }

    /// A bound above a graph whose only operation is this one, with a coefficient in the output and the rest of
    /// the output; see [`Bounded::interpolate`](super::Bounded::interpolate).
    fn interpolate(
        &self,
        _affine: &mut Affine,
        _region: &Region,
        _jets: &Jets,
        _output: (f64, Plane),
        _at: &[f64],
    ) -> Option<Interpolated> {
        None
    }

    /// Whether it has two finite derivatives at every point of a box, except at kinks.
    fn is_smooth_on(&self, _arguments: &[Interval]) -> bool {
        true
    }

    /// Encloses its gradient and Hessian in the inputs over a region. `None` if there is no bound.
    fn gradients(&self, _around: &Surroundings<'_>, _number: usize) -> Option<Gradients> {
        None
    }

    /// Adds its share of the Hessian of the result to `sums`, given the adjoint of its result;
    /// returns the adjoints of its arguments. `None` if there is no bound.
    fn adjoints(
        &self,
        _around: &Surroundings<'_>,
        _number: usize,
        _adjoint: &Adjoint,
        _sums: &mut Sums,
    ) -> Option<Vec<Adjoint>> {
        None
    }

    /// The elementary functions that it consists of. The checker of proofs bounds them with its own code.
    fn elements(&self) -> Elements<'_> {
        Elements::Opaque
    }
}

/// The elementary functions of an operator.
pub(crate) enum Elements<'a> {
    /// A function of one number.
    Unit(Unit),
    /// The product of two numbers.
    Product,
    /// A dense network: affine maps and functions of one number, layer by layer.
    Network(&'a Network),
    /// The sum of the absolute values of its arguments, with these weights.
    Sizes(&'a [f64]),
    /// The Euclidean norm of its arguments.
    Norm,
    /// An unknown number of absolute value at most `second * max(|first|, 1)`, for the two arguments.
    Slack,
    /// Only its value and its range are known.
    Opaque,
}

impl<'a> Elements<'a> {
    /// The network, if that is what the operator is.
    pub fn network(self) -> Option<&'a Network> {
        match self {
            Elements::Network(network) => Some(network),
            _ => None,
        }
    }
}
