//! A weighted sum of absolute values as an operator.

use super::{Elements, Operator};
use crate::graph::affine::{Affine, Place, Plane, Row, State, rounding};
use crate::graph::jet::{Jets, Point};
use crate::graph::unit::LineBound;
use crate::graph::{Interval, Region, Unit};

/// `sum_j weight_j |y_j|` with weights that are not negative. It is convex, so that planes that touch it are below
/// it.
#[derive(Clone, Debug)]
pub(crate) struct Sizes(Vec<f64>);

impl Sizes {
    /// One weight for each argument.
    pub fn new(weights: Vec<f64>) -> Self {
        assert!(weights.iter().all(|&w| w >= 0.0), "a weight of an absolute value is not negative");
        Self(weights)
    }
}

impl Operator for Sizes {
    fn value(&self, arguments: &[f64]) -> f64 {
        self.0.iter().zip(arguments).map(|(w, y)| w * y.abs()).sum()
    }

    fn range(&self, arguments: &[Interval]) -> Interval {
        Interval::of_sum(0.0, self.0.iter().copied().zip(arguments.iter().map(|&y| size(y))))
    }

    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        self.0.iter().zip(arguments).map(|(w, &y)| w * sign(y)).collect()
    }

    fn is_total(&self) -> bool {
        true
    }

    fn is_on_kink(&self, point: &Point) -> bool {
        point.arguments.iter().any(|argument| argument.value.abs() < Point::NEAR_KINK)
    }

    /// The sum of the chords of the absolute values.
    fn enclose(&self, affine: &mut Affine, place: &Place<'_>, state: &mut State) -> bool {
        let mut row = std::mem::take(&mut affine.row);
        let mut sum = Row { terms: vec![0.0; place.columns()], constant: 0.0, size: 0.0 };
        state.chords.clear();
        state.error_share.clear();
        state.error_share.resize(place.inputs(), 0.0);
        let mut radius = 0.0;
        for (number, (form, &weight)) in place.arguments.iter().zip(&self.0).enumerate() {
            affine.substitute(form, place.columns(), place.region, &mut row);
            let range = affine.range(&row, form, place.region);
            state.arguments.push(range);
            let chord = chord(range, weight);
            radius += chord.radius;
            let width = range.upper - range.lower;
            let share = if chord.radius > 0.0 { chord.radius / width } else { 0.0 };
            if share.is_finite() {
                let terms = row.terms[..place.inputs()].iter();
                state.error_share.iter_mut().zip(terms).for_each(|(sum, t)| *sum += share * t.abs());
            }
            state.keep(number, &row);
            state.chords.push(chord);
            if chord.slope != 0.0 {
                sum.terms.iter_mut().zip(&row.terms).for_each(|(sum, t)| *sum += chord.slope * t);
                sum.constant += chord.slope * row.constant;
                sum.size += chord.slope.abs() * row.size;
            }
            sum.constant += chord.offset;
            sum.size += chord.offset.abs();
        }
        state.values = self.range(&state.arguments);
        let error_share = std::mem::take(&mut state.error_share);
        let rounded = radius * (1.0 + 1e-12) + rounding(self.0.len()) * sum.size;
        state.become_line(&sum, LineBound { slope: 1.0, offset: 0.0, radius: rounded });
        state.error_share = error_share;
        affine.row = row;
        false
    }

    fn refine(
        &self,
        affine: &mut Affine,
        region: &Region,
        jets: &Jets,
        share: f64,
        mut plane: Plane,
    ) -> Option<Plane> {
        let number = affine.states.len().checked_sub(1)?;
        affine.refined += 1;
        let inputs = region.inputs();
        plane.linear.resize(inputs, 0.0);
        let result = &affine.states[number].result;
        let (own, symbols) = result.terms[..inputs + number].split_at(inputs);
        plane.linear.iter_mut().zip(own).for_each(|(l, t)| *l += share * t);
        let mut symbols: Vec<f64> = symbols.iter().map(|t| share * t).chain([share]).collect();
        let mut size = plane.constant.abs() + share.abs() * result.size;
        plane.constant += share * result.constant;
        affine.touch(&mut symbols, &mut plane, &mut size, jets);
        let symbols = symbols.iter().zip(&affine.states).filter(|(s, _)| **s != 0.0);
        plane.error += symbols.map(|(s, state)| s.abs() * state.radius).sum::<f64>();
        size += (0..inputs).map(|i| plane.linear[i].abs() * region.size(i)).sum::<f64>();
        let terms = inputs + number + 2 * self.0.len() + 16;
        plane.error = plane.error * (1.0 + 1e-12) + rounding(terms) * size;
        Some(plane)
    }

    fn elements(&self) -> Elements<'_> {
        Elements::Sizes(&self.0)
    }
}

impl Affine {
    /// Replaces the error symbols of weighted sums of absolute values that have a positive coefficient in a plane
    /// below a graph: a sum is at least a plane that touches it where `jets` evaluated the graph last. `size`
    /// collects the sizes of all terms, for the bound on rounding errors.
    pub(crate) fn touch(&self, symbols: &mut [f64], plane: &mut Plane, size: &mut f64, jets: &Jets) {
        let (inputs, mut count) = (plane.linear.len(), 0);
        for number in (0..symbols.len()).rev() {
            let (share, state) = (symbols[number], &self.states[number]);
            if state.chords.is_empty() || share <= 0.0 || share.is_nan() {
                continue;
            }
            symbols[number] = 0.0;
            let mut radius = 0.0;
            let arguments = state.chords.iter().zip(&state.forms).zip(&jets.points[number].arguments);
            for ((chord, form), argument) in arguments {
                (radius, count) = (radius + chord.radius, count + 1);
                if chord.radius == 0.0 {
                    continue;
                }
                let slope = share * (chord.weight * sign(argument.value) - chord.slope);
                let (own, earlier) = form.terms.split_at(inputs);
                plane.linear.iter_mut().zip(own).for_each(|(l, t)| *l += slope * t);
                symbols.iter_mut().zip(earlier).for_each(|(s, t)| *s += slope * t);
                plane.constant += slope * form.constant - share * chord.offset;
                *size += slope.abs() * form.size + share * chord.offset.abs();
            }
            // What remains of the radius is for rounding errors.
            *size += share * state.result.size;
            if radius.is_finite() {
                plane.error += share * (state.radius - radius).max(0.0);
            }
        }
        if count > 0 {
            plane.error += rounding(count) * *size;
        }
    }
}

/// `|weight |y| - (slope y + offset)| <= radius` over an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chord {
    pub weight: f64,
    pub slope: f64,
    pub offset: f64,
    pub radius: f64,
}

/// The line in the middle between the chord of a weighted absolute value and the parallel to it through zero.
fn chord(y: Interval, weight: f64) -> Chord {
    if weight == 0.0 || y.lower >= 0.0 || y.upper <= 0.0 {
        let slope = if y.lower >= 0.0 { weight } else { -weight };
        return Chord { weight, slope: if weight == 0.0 { 0.0 } else { slope }, offset: 0.0, radius: 0.0 };
    }
    // |y| = 2 max(y, 0) - y.
    let line = Unit::Relu.line_bound(y);
    match line.radius.is_finite() {
        true => Chord {
            weight,
            slope: weight * (2.0 * line.slope - 1.0),
            offset: 2.0 * weight * line.offset,
            radius: 2.0 * weight * line.radius * (1.0 + 1e-15) + 4.0 * f64::EPSILON * weight * y.size(),
        },
        false => Chord { weight, slope: 0.0, offset: 0.0, radius: f64::INFINITY },
    }
}

fn sign(y: f64) -> f64 {
    if y >= 0.0 { 1.0 } else { -1.0 }
}

/// The absolute values of the numbers of an interval.
fn size(y: Interval) -> Interval {
    let least = if y.lower <= 0.0 && y.upper >= 0.0 { 0.0 } else { y.lower.abs().min(y.upper.abs()) };
    Interval { lower: least, upper: y.size() }
}
