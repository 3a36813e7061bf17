//! Operators: the pieces that a composed function is made of.
//!
//! A new kind of operator is one file: it needs a [value](Operator::value) and a
//! [range](Operator::range) over a box. Everything else has a default that is sound: without
//! derivatives searches treat it as constant, and without bounds of its own it is bounded by its
//! range. Tighter bounds are worth it for what occurs in most problems.

mod network;
mod product;
mod slack;
mod unit;

pub(crate) use network::{LayerPoint, LayerState, UnitBounds};
pub(super) use product::Product;
pub(super) use slack::Slack;

use std::fmt::Debug;

use super::affine::{Affine, Place, Plane, QuadraticSum, State};
use super::curvature::{Adjoint, Gradients, Sums, Surroundings};
use super::jet::{Jets, Order, Point, chain};
use super::{Interval, Region, Unit};
use crate::Network;
use crate::network::Lanes;

/// A function of some numbers that a graph applies to affine forms.
pub(crate) trait Operator: Debug + Send + Sync {
    /// The value; not a number where the function is undefined.
    fn value(&self, arguments: &[f64]) -> f64;

    /// Encloses all values over a box, as far as the function is defined there, including the
    /// rounding of [`Operator::value`]. [`Interval::NOTHING`] where it is defined nowhere.
    fn range(&self, arguments: &[Interval]) -> Interval;

    /// The derivative in each argument. Searches follow it; no proof relies on it.
    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        vec![0.0; arguments.len()]
    }

    /// Whether whoever composes it must keep it, even where nothing depends on its result,
    /// because the perturbed individual exists only where it is defined.
    fn has_limited_domain(&self) -> bool {
        false
    }

    /// Whether it has a finite value wherever its arguments have. If not, a finite range shows that
    /// it is defined.
    fn is_total(&self) -> bool {
        false
    }

    /// The number of hidden layers whose bounds a [`State`] keeps.
    fn hidden_layers(&self) -> usize {
        0
    }

    /// Computes the value and derivatives up to `order` at the arguments of `point`; `lanes` is
    /// memory to work in.
    fn evaluate(&self, point: &mut Point, inputs: usize, order: Order, _lanes: &mut Vec<Lanes>) {
        let at: Vec<f64> = point.arguments.iter().map(|jet| jet.value).collect();
        // Searches do without second derivatives here, and proofs do not rely on them.
        let slopes = if order >= Order::Gradient { self.gradient(&at) } else { Vec::new() };
        point.jet = chain(self.value(&at), &slopes, &point.arguments, inputs, order);
    }

    /// Whether a derivative jumps at a point that was evaluated, or too near to tell.
    fn is_on_kink(&self, _point: &Point) -> bool {
        false
    }

    /// Encloses the operation by an affine form with an error. True if it is defined nowhere on
    /// the region, so that nobody is concerned.
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        affine.enclose_by_range(self, place, state)
    }

    /// Adds the operation, with its coefficient `share` in the result, to a quadratic bound.
    fn add_quadratic(&self, sum: &mut QuadraticSum<'_>, before: &[State], state: &mut State, share: f64) {
        let _ = before;
        sum.add_error(share.abs() * state.radius);
    }

    /// A plane below a graph whose last operation this is, with coefficient `share` in the output,
    /// better than that of the affine bound around the point where `jets` evaluated the graph last.
    /// `plane` is the rest of the output.
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

    /// Whether it has two finite derivatives at every point of a box, but for kinks.
    fn is_smooth_on(&self, _arguments: &[Interval]) -> bool {
        true
    }

    /// Encloses its gradient and Hessian in the inputs over a region. `None` if nothing is known.
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

    /// The elementary functions that it consists of, for the checker, which bounds them on its own.
    fn elements(&self) -> Elements<'_> {
        Elements::Opaque
    }
}

/// The elementary functions of an operator.
pub(crate) enum Elements<'a> {
    /// A function of one number.
    Unit(Unit),
    /// The product of two.
    Product,
    /// Sums and functions of one number, layer by layer.
    Network(&'a Network),
    /// An unknown number: of at most the second argument times the first or 1, whichever is larger.
    Slack,
    /// Only its value and its range are known.
    Opaque,
}
