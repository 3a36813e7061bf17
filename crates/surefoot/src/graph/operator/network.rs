//! Dense networks as operators.

mod affine;
mod curvature;
mod interpolate;
mod jet;
mod quadratic;
mod refine;

pub(crate) use affine::LayerState;
pub(crate) use curvature::UnitBounds;
pub(crate) use jet::LayerPoint;

use super::{Elements, Operator};
use crate::graph::affine::{Affine, Interpolated, Place, Plane, QuadraticSum, State};
use crate::graph::curvature::{Adjoint, Gradients, Sums, Surroundings};
use crate::graph::jet::{Jets, Order, Point};
use crate::graph::{Interval, Region, Unit};
use crate::network::{LANES, Lanes};
use crate::{Activation, Network};

impl Operator for Network {
    fn value(&self, arguments: &[f64]) -> f64 {
        Network::value(self, arguments)
    }

    /// By interval arithmetic, unit by unit. Affine bounds are tighter.
    fn range(&self, arguments: &[Interval]) -> Interval {
        let unit = Unit::from(self.activation());
        let last = self.layers().len() - 1;
        let mut values = arguments.to_vec();
        for (number, layer) in self.layers().iter().enumerate() {
            let mut next = Vec::with_capacity(layer.bias.len());
            for (row, &bias) in layer.weight.rows().into_iter().zip(&layer.bias) {
                let sum = Interval::of_sum(bias, row.iter().copied().zip(values.iter().copied()));
                next.push(if number < last { unit.range(sum) } else { sum });
            }
            values = next;
        }
        values[0]
    }

    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        Network::gradient(self, arguments)
    }

    fn is_total(&self) -> bool {
        true
    }

    fn hidden_layers(&self) -> usize {
        self.layers().len() - 1
    }

    fn evaluate(&self, point: &mut Point, inputs: usize, order: Order, lanes: &mut Vec<Lanes>) {
        jet::evaluate(self, point, inputs, order, lanes);
    }

    fn is_on_kink(&self, point: &Point) -> bool {
        self.activation() == Activation::Relu
            && self.wide().iter().zip(&point.layers).any(|(layer, units)| {
                let near = |j: usize| units.z[j / LANES].0[j % LANES].abs() < Point::NEAR_KINK;
                (0..layer.backward.inputs()).any(near)
            })
    }

    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        affine::enclose(self, affine, place, state);
        false
    }

    fn add_quadratic(&self, sum: &mut QuadraticSum<'_>, before: &[State], state: &mut State, share: f64) {
        quadratic::add(Unit::from(self.activation()), sum, before.len(), state, share);
    }

    fn refine(
        &self,
        affine: &mut Affine,
        region: &Region,
        jets: &Jets,
        share: f64,
        plane: Plane,
    ) -> Option<Plane> {
        Some(refine::refine(self, affine, region, jets, share, plane))
    }

    fn interpolate(
        &self,
        affine: &mut Affine,
        region: &Region,
        jets: &Jets,
        output: (f64, Plane),
        at: &[f64],
    ) -> Option<Interpolated> {
        interpolate::interpolate(self, affine, region, jets, output, at)
    }

    fn gradients(&self, surroundings: &Surroundings<'_>, number: usize) -> Option<Gradients> {
        curvature::gradients(self, surroundings, number)
    }

    fn adjoints(
        &self,
        surroundings: &Surroundings<'_>,
        number: usize,
        adjoint: &Adjoint,
        sums: &mut Sums,
    ) -> Option<Vec<Adjoint>> {
        curvature::adjoints(self, surroundings, number, adjoint, sums)
    }

    fn elements(&self) -> Elements<'_> {
        Elements::Network(self)
    }
}
