//! Functions of one number as operators.

use super::{Elements, Operator};
use crate::graph::affine::{Affine, Place, QuadraticSum, State, middle};
use crate::graph::curvature::{Adjoint, Gradients, Slope, Sums, Surroundings, Term};
use crate::graph::curvature::{add, around, length, times};
use crate::graph::jet::{Jet, Order, Point, add_hessian, outer};
use crate::graph::unit::Parabola;
use crate::graph::{Interval, Unit};
use crate::network::Lanes;

impl Unit {
    /// The function as an operator with static lifetime.
    pub fn operator(self) -> &'static dyn Operator {
        match self {
            Unit::Tanh => &Unit::Tanh,
            Unit::Sigmoid => &Unit::Sigmoid,
            Unit::Relu => &Unit::Relu,
            Unit::Square => &Unit::Square,
            Unit::Exp => &Unit::Exp,
            Unit::Log => &Unit::Log,
            Unit::Sqrt => &Unit::Sqrt,
            Unit::Reciprocal => &Unit::Reciprocal,
        }
    }
}

impl Operator for Unit {
    fn value(&self, arguments: &[f64]) -> f64 {
        Unit::value(*self, arguments[0])
    }

    fn range(&self, arguments: &[Interval]) -> Interval {
        Unit::range(*self, arguments[0])
    }

    fn has_limited_domain(&self) -> bool {
        matches!(self, Unit::Log | Unit::Sqrt | Unit::Reciprocal)
    }

    fn evaluate(&self, point: &mut Point, _inputs: usize, order: Order, _lanes: &mut Vec<Lanes>) {
        let argument = &point.arguments[0];
        let mut jet = Jet { value: Unit::value(*self, argument.value), ..Jet::default() };
        if order >= Order::Gradient {
            let (slope, curvature) = self.derivatives(argument.value);
            jet.gradient.extend(argument.gradient.iter().map(|g| slope * g));
            if order >= Order::Hessian {
                outer(&mut jet.hessian, curvature, &argument.gradient, &argument.gradient);
                add_hessian(&mut jet.hessian, slope, &argument.hessian);
            }
        }
        point.jet = jet;
    }

    fn is_on_kink(&self, point: &Point) -> bool {
        *self == Unit::Relu && point.arguments[0].value.abs() < Point::NEAR_KINK
    }

    /// The line with the least error over the range of the argument.
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        let form = &place.arguments[0];
        let mut row = std::mem::take(&mut affine.row);
        affine.substitute(form, place.columns(), place.region, &mut row);
        let range = affine.range(&row, form, place.region);
        state.arguments.push(range);
        if self.is_defined_on(range) || !place.must_be_defined {
            state.values = Unit::range(*self, range);
        }
        let line = self.line_bound(range);
        state.become_line(&row, line);
        let width = range.upper - range.lower;
        let share = if width > 0.0 { line.radius / width } else { 0.0 };
        state.error_share.clear();
        state.error_share.extend(row.terms[..place.inputs()].iter().map(|t| share * t.abs()));
        state.line = line;
        state.keep(0, &row);
        affine.row = row;
        self.is_undefined_on(range) && !place.must_be_defined
    }

    fn add_quadratic(&self, sum: &mut QuadraticSum<'_>, before: &[State], state: &mut State, share: f64) {
        let (form, range) = (&state.forms[0], state.arguments[0]);
        let away = sum.deviation(form, before);
        let (m, w) = middle(range);
        let error = |curvature: &Parabola| curvature.radius + curvature.curvature.abs() * w * away;
        let parabola = self.parabola(range, state.line.slope);
        let Some(parabola) = parabola.filter(|parabola| error(parabola) < state.line.radius) else {
            return sum.add_error(share.abs() * state.radius);
        };
        let rest = state.radius - state.line.radius;
        sum.add_error(share.abs() * (error(&parabola) + rest.max(0.0)));
        let offset = parabola.offset - state.line.offset - 0.5 * parabola.curvature * w * w;
        let size = (share * parabola.offset).abs() + (share * parabola.curvature * w * w).abs();
        sum.add_constant(share * offset, size);
        sum.add_product(0.5 * share * parabola.curvature, [(form, m), (form, m)]);
    }

    fn is_smooth_on(&self, arguments: &[Interval]) -> bool {
        Unit::is_smooth_on(*self, arguments[0])
    }

    fn gradients(&self, surroundings: &Surroundings<'_>, number: usize) -> Option<Gradients> {
        let argument = &surroundings.argument_slopes(number)[0];
        let range = surroundings.ranges(number)[0];
        let at = surroundings.values(number)[0].value;
        let (slope, curvature) = self.derivatives(at);
        let ((s, s_radius), s_most) = (around(self.slopes(range), slope), self.slopes(range).size());
        let ((b, b_radius), b_most) =
            (around(self.second_derivatives(range), curvature), self.second_derivatives(range).size());
        let long = length(&argument.centre);
        let mut result = Slope { centre: vec![0.0; surroundings.inputs()], ..Slope::default() };
        result.add(s, argument);
        result.radius = s_radius * long + s_most * argument.radius;
        result.hessian_radius = s_radius * length(&argument.hessian) + s_most * argument.hessian_radius;
        result.add_outer(b, &argument.centre);
        result.hessian_radius +=
            b_radius * long * long + b_most * argument.radius * (2.0 * long + argument.radius);
        if result.hessian_radius.is_nan() {
            result.hessian_radius = f64::INFINITY;
        }
        result.refine(surroundings.distance);
        let size = s_most * surroundings.argument_sizes(number)[0];
        Some(Gradients { slope: result, layers: Vec::new(), size })
    }

    fn adjoints(
        &self,
        surroundings: &Surroundings<'_>,
        number: usize,
        adjoint: &Adjoint,
        sums: &mut Sums,
    ) -> Option<Vec<Adjoint>> {
        let argument = &surroundings.argument_slopes(number)[0];
        let z = surroundings.ranges(number)[0];
        let (slope, curvature) = self.derivatives(surroundings.values(number)[0].value);
        let ((s, sr), sm) = (around(self.slopes(z), slope), self.slopes(z).size());
        let ((b, br), bm) =
            (around(self.second_derivatives(z), curvature), self.second_derivatives(z).size());
        let b = if b.is_finite() { b } else { 0.0 };
        let reach =
            surroundings.support(&argument.centre) + 0.5 * times(argument.linear, surroundings.distance);
        let range = adjoint.range();
        let term = Term {
            least: range.product(self.second_derivatives(z)).lower,
            at: adjoint.centre * b,
            change: times(adjoint.centre.abs(), times(self.jerk(z), reach)) + times(bm, adjoint.linear),
            most: times(range.size(), bm),
            long: length(&argument.centre),
            rho: argument.radius,
            rho_linear: argument.linear,
        };
        sums.add(term, &argument.centre)?;
        let mut down = Adjoint {
            centre: adjoint.centre * s,
            radius: adjoint.centre.abs() * sr + adjoint.radius * sm,
            gradient: adjoint.gradient.iter().map(|g| s * g).collect(),
            ..Adjoint::default()
        };
        add(&mut down.gradient, adjoint.centre * b, &argument.centre);
        let long = length(&argument.centre);
        down.gradient_radius = sr * length(&adjoint.gradient)
            + sm * adjoint.gradient_radius
            + (adjoint.centre.abs() * br + adjoint.radius * bm) * long
            + (adjoint.centre.abs() + adjoint.radius) * bm * argument.radius;
        down.refine(surroundings.distance);
        Some(vec![down])
    }

    fn elements(&self) -> Elements<'_> {
        Elements::Unit(*self)
    }
}
