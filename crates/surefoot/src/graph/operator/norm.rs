//! The Euclidean norm of some numbers as an operator.

use super::{Elements, Operator};
use crate::graph::affine::{Affine, Place, Plane, Row, State, middle, rounding};
use crate::graph::curvature::{Adjoint, Gradients, Slope, Sums, Surroundings, Term};
use crate::graph::curvature::{around, length};
use crate::graph::jet::{Jet, Jets, Order, Point, add_hessian, outer};
use crate::graph::unit::LineBound;
use crate::graph::{Interval, Region};
use crate::network::Lanes;

/// `|y| = sqrt(sum_k y_k^2)`. It is convex, so that planes that touch it are below it: `g . y` for every `g` that is
/// no longer than one. For a unit vector g and `s = g . y`, it is above that plane by
///
/// ```text
/// sqrt(s^2 + p^2) - s,    p the distance of y from the line through zero along g,
/// ```
///
/// which falls with s and rises with p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EuclideanNorm;

/// Sums of squares in between neither overflow nor underflow.
const SQUARES: std::ops::Range<f64> = 1e-250..1e250;

impl EuclideanNorm {
    /// The norm of numbers.
    pub fn of(y: &[f64]) -> f64 {
        let square = |scale: f64| y.iter().map(|y| (y / scale) * (y / scale)).sum::<f64>();
        let sum = square(1.0);
        let largest = y.iter().fold(0.0f64, |most, y| most.max(y.abs()));
        if SQUARES.contains(&sum) || largest == 0.0 || !largest.is_finite() {
            return sum.sqrt();
        }
        largest * square(largest).sqrt()
    }
}

/// A vector along `y` that is no longer than one, whatever the rounding; `None` near zero.
fn direction(y: &[f64]) -> Option<Vec<f64>> {
    let long = EuclideanNorm::of(y);
    let short = 1.0 - (2 * y.len() + 16) as f64 * f64::EPSILON;
    (long > f64::MIN_POSITIVE && long.is_finite()).then(|| y.iter().map(|y| y / long * short).collect())
}

/// `sqrt(s^2 + p^2) - s`.
fn beyond(s: f64, p: f64) -> f64 {
    let long = s.hypot(p);
    if s > 0.0 { p * (p / (long + s)) } else { long - s }
}

impl Operator for EuclideanNorm {
    fn value(&self, arguments: &[f64]) -> f64 {
        Self::of(arguments)
    }

    fn range(&self, arguments: &[Interval]) -> Interval {
        let nearest = |y: &Interval| match y.lower <= 0.0 && y.upper >= 0.0 {
            true => 0.0,
            false => y.lower.abs().min(y.upper.abs()),
        };
        let least: Vec<f64> = arguments.iter().map(nearest).collect();
        let most: Vec<f64> = arguments.iter().map(|y| y.size()).collect();
        let room = rounding(arguments.len());
        let lower = (Self::of(&least) * (1.0 - room)).max(0.0);
        Interval { lower, upper: Self::of(&most) * (1.0 + room) }.or_everything()
    }

    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        direction(arguments).unwrap_or_else(|| vec![0.0; arguments.len()])
    }

    fn is_total(&self) -> bool {
        true
    }

    /// The Hessian is `(sum_k v_k v_k^T - w w^T) / |y|` and that of the arguments, with `v_k` the gradients of the
    /// arguments and w that of the norm.
    fn evaluate(&self, point: &mut Point, _inputs: usize, order: Order, _lanes: &mut Vec<Lanes>) {
        let at: Vec<f64> = point.arguments.iter().map(|jet| jet.value).collect();
        let mut jet = Jet { value: self.value(&at), ..Jet::default() };
        if order >= Order::Gradient {
            let inputs = point.arguments.first().map_or(0, |jet| jet.gradient.len());
            let slopes = self.gradient(&at);
            jet.gradient.resize(inputs, 0.0);
            for (argument, slope) in point.arguments.iter().zip(&slopes) {
                jet.gradient.iter_mut().zip(&argument.gradient).for_each(|(sum, g)| *sum += slope * g);
            }
            if order >= Order::Hessian && jet.value > 0.0 {
                let share = 1.0 / jet.value;
                for (argument, slope) in point.arguments.iter().zip(&slopes) {
                    outer(&mut jet.hessian, share, &argument.gradient, &argument.gradient);
                    add_hessian(&mut jet.hessian, *slope, &argument.hessian);
                }
                outer(&mut jet.hessian, -share, &jet.gradient, &jet.gradient);
            }
        }
        point.jet = jet;
    }

    fn is_on_kink(&self, point: &Point) -> bool {
        point.jet.value < Point::NEAR_KINK
    }

    /// The line in the middle between the plane that touches the norm in the middle of the ranges and the parallel to
    /// it above the norm.
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        let mut row = std::mem::take(&mut affine.row);
        for (number, form) in place.arguments.iter().enumerate() {
            affine.substitute(form, place.columns(), place.region, &mut row);
            state.arguments.push(affine.range(&row, form, place.region));
            state.keep(number, &row);
        }
        affine.row = row;
        state.values = self.range(&state.arguments);
        let (middles, radii): (Vec<f64>, Vec<f64>) = state.arguments.iter().map(|y| middle(*y)).unzip();
        let slopes = direction(&middles).filter(|_| radii.iter().all(|radius| radius.is_finite()));
        let Some(slopes) = slopes else {
            let (middle, radius) = middle(state.values);
            state.become_constant(place, middle, radius);
            state.error_share.fill(radius);
            return false;
        };
        let mut sum = Row { terms: vec![0.0; place.columns()], constant: 0.0, size: 0.0 };
        for (form, slope) in state.forms.iter().zip(&slopes) {
            sum.terms.iter_mut().zip(&form.terms).for_each(|(sum, t)| *sum += slope * t);
            sum.constant += slope * form.constant;
            sum.size += slope.abs() * form.size;
        }
        let along = affine.range_of_row(&sum, place.region);
        let short = 2.0 * rounding(slopes.len());
        // The middle of the ranges is on the line along the slopes, up to rounding.
        let away = Self::of(&radii) * (1.0 + short) + short * Self::of(&middles);
        let gap = beyond(along.lower, away).min(state.values.upper - along.lower);
        // The slopes are shorter than one by less than this share.
        let gap = gap * (1.0 + 1e-12) + short * state.values.upper;
        let below = short * state.values.upper;
        let values = state.values.within(along.lower - below, along.upper + gap);
        if values.lower <= values.upper {
            state.values = values;
        }
        let radius = 0.5 * gap;
        let rounded = radius * (1.0 + 1e-12) + short * sum.size;
        state.become_line(&sum, LineBound { slope: 1.0, offset: radius, radius: rounded });
        // Each argument causes a part of the gap in proportion to the square of its radius.
        let squares: f64 = radii.iter().map(|radius| radius * radius).sum();
        state.error_share.clear();
        state.error_share.resize(place.inputs(), 0.0);
        for (form, own) in state.forms.iter().zip(&radii).filter(|_| squares > 0.0) {
            let share = 0.5 * radius * own / squares;
            let terms = form.terms[..place.inputs()].iter();
            state.error_share.iter_mut().zip(terms).for_each(|(sum, t)| *sum += share * t.abs());
        }
        false
    }

    /// Where the norm counts positively, the plane that touches it at the point.
    fn refine(
        &self,
        affine: &mut Affine,
        region: &Region,
        jets: &Jets,
        share: f64,
        mut plane: Plane,
    ) -> Option<Plane> {
        let number = affine.states.len().checked_sub(1)?;
        let at: Vec<f64> = jets.points[number].arguments.iter().map(|argument| argument.value).collect();
        let slopes = direction(&at).filter(|_| share > 0.0)?;
        affine.refined += 1;
        let inputs = region.inputs();
        plane.linear.resize(inputs, 0.0);
        let mut symbols = vec![0.0; number];
        let mut size = plane.constant.abs();
        for (form, slope) in affine.states[number].forms.iter().zip(&slopes) {
            let factor = share * slope;
            let (own, earlier) = form.terms.split_at(inputs);
            plane.linear.iter_mut().zip(own).for_each(|(l, t)| *l += factor * t);
            symbols.iter_mut().zip(earlier).for_each(|(s, t)| *s += factor * t);
            plane.constant += factor * form.constant;
            size += factor.abs() * form.size;
        }
        affine.touch(&mut symbols, &mut plane, &mut size, jets);
        plane.error +=
            symbols.iter().zip(&affine.states).map(|(s, state)| s.abs() * state.radius).sum::<f64>();
        size += (0..inputs).map(|i| plane.linear[i].abs() * region.size(i)).sum::<f64>();
        plane.error = plane.error * (1.0 + 1e-12) + rounding(inputs + number + slopes.len() + 16) * size;
        plane.error.is_finite().then_some(plane)
    }

    fn is_smooth_on(&self, arguments: &[Interval]) -> bool {
        self.range(arguments).lower > f64::MIN_POSITIVE
    }

    fn gradients(&self, surroundings: &Surroundings<'_>, number: usize) -> Option<Gradients> {
        let slopes = surroundings.argument_slopes(number);
        let norm = positive(surroundings, number)?;
        let mut result = Slope { centre: vec![0.0; surroundings.inputs()], ..Slope::default() };
        let mut squares = 0.0;
        for (argument, (centre, radius)) in slopes.iter().zip(units(surroundings, number, norm)) {
            result.add(centre, argument);
            let most = length(&argument.centre) + argument.radius;
            result.radius += radius * most;
            result.hessian_radius += radius * (length(&argument.hessian) + argument.hessian_radius);
            squares += most * most;
        }
        // No eigenvalue of the Hessian in the arguments exceeds one over the norm.
        result.hessian_radius += squares / norm.lower * (1.0 + 1e-12);
        if result.hessian_radius.is_nan() {
            result.hessian_radius = f64::INFINITY;
        }
        result.refine(surroundings.distance);
        let size = surroundings.argument_sizes(number).iter().sum();
        Some(Gradients { slope: result, layers: Vec::new(), size })
    }

    fn adjoints(
        &self,
        surroundings: &Surroundings<'_>,
        number: usize,
        adjoint: &Adjoint,
        sums: &mut Sums,
    ) -> Option<Vec<Adjoint>> {
        let norm = positive(surroundings, number)?;
        let inverse = Interval { lower: 1.0 / norm.upper, upper: 1.0 / norm.lower }.widened(1e-14);
        let at = 1.0 / surroundings.jets.points[number].jet.value;
        let own = self.gradients(surroundings, number)?.slope;
        let steepest = length(&own.centre) + own.radius;
        let factor = adjoint.range().product(inverse).widened(1e-14);
        // The factor of the terms is adjoint / norm; the slope of the norm bounds the change of one over it.
        let change = adjoint.centre.abs() * steepest * inverse.upper * inverse.upper * surroundings.distance
            + inverse.upper * adjoint.linear;
        let slopes = surroundings.argument_slopes(number);
        let term = |least: f64, at: f64, slope: &Slope| Term {
            least,
            at,
            change,
            most: factor.size(),
            long: length(&slope.centre),
            rho: slope.radius,
            rho_linear: slope.linear,
        };
        for slope in &slopes {
            sums.add(term(factor.lower, adjoint.centre * at, slope), &slope.centre)?;
        }
        sums.add(term(-factor.upper, -adjoint.centre * at, &own), &own.centre)?;
        let most = adjoint.centre.abs() + adjoint.radius;
        let down = |(slope, (centre, radius)): (&Slope, (f64, f64))| {
            let long = length(&slope.centre) + slope.radius;
            let mut down = Adjoint {
                centre: adjoint.centre * centre,
                radius: adjoint.centre.abs() * radius + adjoint.radius,
                gradient: adjoint.gradient.iter().map(|g| centre * g).collect(),
                // The gradient of y_k / |y| is (v_k - y_k w / |y|) / |y|.
                gradient_radius: adjoint.gradient_radius
                    + radius * length(&adjoint.gradient)
                    + most * inverse.upper * (long + steepest),
                ..Adjoint::default()
            };
            down.refine(surroundings.distance);
            down
        };
        Some(slopes.iter().zip(units(surroundings, number, norm)).map(down).collect())
    }

    fn elements(&self) -> Elements<'_> {
        Elements::Norm
    }
}

/// The range of the norm over a region, if it is bounded and not near zero.
fn positive(surroundings: &Surroundings<'_>, number: usize) -> Option<Interval> {
    let norm = surroundings.bounds.states[number].values;
    (norm.lower > f64::MIN_POSITIVE && norm.is_finite()).then_some(norm)
}

/// For each argument y the value of `y / |y|` at the centre, and its largest distance from there.
fn units(surroundings: &Surroundings<'_>, number: usize, norm: Interval) -> Vec<(f64, f64)> {
    let inverse = Interval { lower: 1.0 / norm.upper, upper: 1.0 / norm.lower }.widened(1e-14);
    let at = surroundings.jets.points[number].jet.value;
    let arguments = surroundings.ranges(number).iter().zip(surroundings.values(number));
    let unit = |(range, value): (&Interval, &Jet)| {
        let range = range.product(inverse).widened(1e-14).within(-1.0, 1.0);
        around(range, value.value / at)
    };
    arguments.map(unit).collect()
}
