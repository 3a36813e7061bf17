//! The product of two numbers as an operator.

use super::{Elements, Operator};
use crate::graph::Interval;
use crate::graph::affine::{Affine, Place, QuadraticSum, Row, State, middle};
use crate::graph::curvature::{Adjoint, Gradients, Slope, Sums, Surroundings, Term};
use crate::graph::curvature::{add, around, length};
use crate::graph::jet::{Jet, Order, Point, add_hessian, outer};
use crate::graph::unit::LineBound;
use crate::network::Lanes;

/// The product of two numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product;

impl Operator for Product {
    fn value(&self, arguments: &[f64]) -> f64 {
        arguments[0] * arguments[1]
    }

    fn range(&self, arguments: &[Interval]) -> Interval {
        arguments[0].product(arguments[1]).widened(1e-14)
    }

    fn evaluate(&self, point: &mut Point, _inputs: usize, order: Order, _lanes: &mut Vec<Lanes>) {
        let [a, b] = &point.arguments[..] else { unreachable!("a product has two factors") };
        let mut jet = Jet { value: a.value * b.value, ..Jet::default() };
        if order >= Order::Gradient {
            jet.gradient.extend(a.gradient.iter().zip(&b.gradient).map(|(x, y)| b.value * x + a.value * y));
            if order >= Order::Hessian {
                outer(&mut jet.hessian, 2.0, &a.gradient, &b.gradient);
                add_hessian(&mut jet.hessian, b.value, &a.hessian);
                add_hessian(&mut jet.hessian, a.value, &b.hessian);
            }
        }
        point.jet = jet;
    }

    /// `x y = x0 y + y0 x - x0 y0 + (x - x0)(y - y0)`. The last term is at most the product of the radii
    /// (McCormick, 1976, with parallel planes).
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        let [left, right] = place.arguments else { unreachable!("a product has two factors") };
        let (mut a, mut b) = (std::mem::take(&mut affine.row), Row::default());
        affine.substitute(left, place.columns(), place.region, &mut a);
        affine.substitute(right, place.columns(), place.region, &mut b);
        let (x, y) = (affine.range(&a, left, place.region), affine.range(&b, right, place.region));
        state.arguments.extend([x, y]);
        state.values = self.range(&[x, y]);
        state.keep(0, &a);
        state.keep(1, &b);
        let ((x0, rx), (y0, ry)) = (middle(x), middle(y));
        let radius = if rx == 0.0 || ry == 0.0 { 0.0 } else { rx * ry };
        let share = |row: &Row, radius: f64, i: usize| {
            if radius > 0.0 { row.terms[i].abs() / radius } else { 0.0 }
        };
        let of_input = |i: usize| 0.5 * radius * (share(&a, rx, i) + share(&b, ry, i));
        let mut error_share = std::mem::take(&mut state.error_share);
        error_share.clear();
        error_share.extend((0..place.inputs()).map(of_input));
        if radius.is_finite() {
            a.terms.iter_mut().zip(&b.terms).for_each(|(a, b)| *a = y0 * *a + x0 * b);
            a.constant = y0 * a.constant + x0 * b.constant - x0 * y0;
            a.size = y0.abs() * a.size + x0.abs() * b.size + (x0 * y0).abs();
            state.become_line(&a, LineBound { slope: 1.0, offset: 0.0, radius });
        } else {
            let (middle, radius) = middle(state.values);
            state.become_constant(place, middle, radius);
        }
        state.error_share = error_share;
        affine.row = a;
        false
    }

    fn add_quadratic(&self, sum: &mut QuadraticSum<'_>, before: &[State], state: &mut State, share: f64) {
        let (a, b) = (&state.forms[0], &state.forms[1]);
        let ((x, rx), (y, ry)) = (middle(state.arguments[0]), middle(state.arguments[1]));
        let error = rx * sum.deviation(b, before) + ry * sum.deviation(a, before);
        if error < rx * ry && (rx * ry).is_finite() {
            let rest = state.radius - rx * ry;
            sum.add_error(share.abs() * (error + rest.max(0.0)));
            sum.add_product(share, [(a, x), (b, y)]);
        } else {
            sum.add_error(share.abs() * state.radius);
        }
    }

    fn gradients(&self, surroundings: &Surroundings<'_>, number: usize) -> Option<Gradients> {
        let slopes = surroundings.argument_slopes(number);
        let (a, b) = (&slopes[0], &slopes[1]);
        let (arguments, values) = (surroundings.ranges(number), surroundings.values(number));
        let (x, x_radius) = around(arguments[0], values[0].value);
        let (y, y_radius) = around(arguments[1], values[1].value);
        let mut result = Slope { centre: vec![0.0; surroundings.inputs()], ..Slope::default() };
        result.add(y, a);
        result.add(x, b);
        let (la, lb) = (length(&a.centre), length(&b.centre));
        result.radius += y_radius * (la + a.radius) + x_radius * (lb + b.radius);
        result.hessian_radius += y_radius * (length(&a.hessian) + a.hessian_radius)
            + x_radius * (length(&b.hessian) + b.hessian_radius);
        // a b^T + b a^T
        let plus: Vec<f64> = a.centre.iter().zip(&b.centre).map(|(a, b)| a + b).collect();
        let minus: Vec<f64> = a.centre.iter().zip(&b.centre).map(|(a, b)| a - b).collect();
        result.add_outer(0.5, &plus);
        result.add_outer(-0.5, &minus);
        result.hessian_radius += 2.0 * (la * b.radius + lb * a.radius + a.radius * b.radius);
        result.refine(surroundings.distance);
        let sizes = surroundings.argument_sizes(number);
        let size = arguments[0].size() * sizes[1] + arguments[1].size() * sizes[0];
        Some(Gradients { slope: result, layers: Vec::new(), size })
    }

    fn adjoints(
        &self,
        surroundings: &Surroundings<'_>,
        number: usize,
        adjoint: &Adjoint,
        sums: &mut Sums,
    ) -> Option<Vec<Adjoint>> {
        let slopes = surroundings.argument_slopes(number);
        let (a, b) = (&slopes[0], &slopes[1]);
        let range = adjoint.range();
        // Bounds a b^T + b a^T by the squares of `t a + b / t` and `t a - b / t`; t balances their
        // lengths.
        let (la, lb) = (length(&a.centre) + a.radius, length(&b.centre) + b.radius);
        let t = if la > 0.0 && lb > 0.0 { (lb / la).sqrt() } else { 1.0 };
        for sign in [1.0, -1.0] {
            let v: Vec<f64> = a.centre.iter().zip(&b.centre).map(|(a, b)| t * a + sign * b / t).collect();
            let term = Term {
                least: range.product(Interval::point(0.5 * sign)).lower,
                at: 0.5 * sign * adjoint.centre,
                change: 0.5 * adjoint.linear,
                most: 0.5 * range.size(),
                long: length(&v),
                rho: t * a.radius + b.radius / t,
                rho_linear: t * a.linear + b.linear / t,
            };
            sums.add(term, &v)?;
        }
        let (arguments, values) = (surroundings.ranges(number), surroundings.values(number));
        let of_factor = |other: usize, slope: &Slope| {
            let (x, xr) = around(arguments[other], values[other].value);
            let xm = arguments[other].size();
            let mut down = Adjoint {
                centre: adjoint.centre * x,
                radius: adjoint.centre.abs() * xr + adjoint.radius * xm,
                gradient: adjoint.gradient.iter().map(|g| x * g).collect(),
                ..Adjoint::default()
            };
            add(&mut down.gradient, adjoint.centre, &slope.centre);
            down.gradient_radius = xr * length(&adjoint.gradient)
                + xm * adjoint.gradient_radius
                + adjoint.radius * length(&slope.centre)
                + (adjoint.centre.abs() + adjoint.radius) * slope.radius;
            down.refine(surroundings.distance);
            down
        };
        Some(vec![of_factor(1, b), of_factor(0, a)])
    }

    fn elements(&self) -> Elements<'_> {
        Elements::Product
    }
}
