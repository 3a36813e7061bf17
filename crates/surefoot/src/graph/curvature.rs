//! Curvature bounds: quadratic lower bounds of a graph over a region.
//!
//! The Hessian is `sum_n a_n s''(z_n) v_n v_n^T` over all units. `a_n` is the adjoint of the unit's
//! output and `v_n` the gradient of its argument `z_n`. Each of `a_n`, `s''(z_n)` and `v_n` is enclosed
//! over the region: the adjoint and the gradient by a centre and a radius, from intervals of slopes and,
//! where that is tighter, from the mean value theorem. With `v` within `rho` of its centre `c` and `k`
//! the least value of `a s''`,
//!
//! ```text
//! k <  0:  k v v^T >= k [(1 + t) c c^T + rho (rho + |c|) I],          t = rho / |c|
//! k >= 0:  k v v^T >= k [(1 - t) c c^T - rho (|c| - rho) I]  if t < 1, otherwise 0
//! ```
//!
//! for every `v` within `rho` of `c`. A kink has an infinite second derivative. It does no harm where the
//! sign of the adjoint makes it convex; otherwise there is no bound.
//!
//! **Around a point.** A bound `f(y) >= f(c) + g.(y - c) + (y - c)^T M (y - c) / 2` needs less than a
//! lower bound of the Hessian H everywhere. By Taylor's theorem it suffices to bound the mean of H over
//! the segment `c + t (y - c)`, `0 <= t <= 1`, with weight `2 (1 - t)`. A change that is at most
//! proportional to t contributes a third of its size; one proportional to t^2 contributes a sixth. So
//! each term of H is split into its value at c and into changes of `a`, `s''` and `v` that are bounded in
//! proportion to t:
//!
//! ```text
//! a s'' v v^T >= k c c^T - t [r c c^T + K (rho / |c| c c^T + rho |c| I)] - t^2 N rho^2 I
//! ```
//!
//! with `k` the value of `a s''` at the point, `c` that of `v`, `r` the change of `a s''`, `K` its
//! largest absolute value and `N = max(0, -least a s'')`. For units of a second hidden layer, the change
//! of `v` can also be attributed to the units of the first layer, which bend in their own directions
//! only. Both bounds are computed, and the better one counts.

use super::affine::Affine;
use super::jet::{Jet, Jets, Order};
use super::operator::UnitBounds;
use super::{AffineForm, Graph, Interval, Region};
use crate::network::LANES;

/// An enclosure of a gradient and of the Hessian that belongs to it, each by a centre and a radius.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slope {
    pub centre: Vec<f64>,
    pub radius: f64,
    /// A bound of the radius that shrinks in proportion to the region.
    pub linear: f64,
    /// The Hessian at the centre: symmetric, row by row; empty where zero.
    pub hessian: Vec<f64>,
    pub hessian_radius: f64,
}

/// An enclosure of an adjoint and of its gradient, each by a centre and a radius.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjoint {
    pub centre: f64,
    pub radius: f64,
    /// A bound of the radius that shrinks in proportion to the region.
    pub linear: f64,
    pub gradient: Vec<f64>,
    pub gradient_radius: f64,
}

/// An enclosure of the gradient of an operation's result in the inputs.
pub(crate) struct Gradients {
    pub slope: Slope,
    /// The bounds of the units of a network, layer by layer.
    pub layers: Vec<UnitBounds>,
    /// An upper bound of the gradient's size, from which its rounding error is bounded.
    pub size: f64,
}

/// Lower bounds of the Hessian, and the rounding error of the gradient.
#[derive(Clone, Debug)]
pub(crate) struct Curvature {
    /// A matrix below the Hessian everywhere on the region, row by row. Around a point: two matrices, for
    /// each of which the quadratic lower bound holds.
    pub matrices: Vec<Vec<f64>>,
    /// An upper bound of the rounding error of the computed gradient.
    pub gradient_error: f64,
}

/// Sums, over all units, of lower bounds of their terms of the Hessian. There is one sum for a bound
/// everywhere, and two for bounds around a point; the second attributes changes of gradients to the layer
/// below.
pub(crate) struct Sums {
    pub sums: Vec<Sum>,
    pub around: bool,
}

pub(crate) struct Sum {
    pub matrix: Vec<f64>,
    pub identity: f64,
    pub size: f64,
}

impl Curvature {
    /// The bound over the region over which `bounds` has just bounded the graph. The centre is a point of
    /// the region. With `around`, the bound is only valid for quadratics that touch the graph at the
    /// centre, and is tighter. `None` where there is no bound.
    pub(super) fn bound(
        graph: &Graph<'_>,
        region: &Region,
        centre: &[f64],
        bounds: &Affine,
        jets: &mut Jets,
        around: bool,
    ) -> Option<Curvature> {
        // Taylor's theorem needs the segment from the centre to any other point to be within the domain.
        let smooth = graph.operations.iter().zip(&bounds.states);
        if !smooth.into_iter().all(|(o, state)| o.operator.is_smooth_on(&state.arguments)) {
            return None;
        }
        if !jets.evaluate(graph, centre, Order::Gradient).value.is_finite() {
            return None;
        }
        let distance = region.distance(centre);
        let gradients = Vec::with_capacity(graph.operations.len());
        let mut work = Surroundings { distance, around, region, centre, graph, bounds, jets, gradients };
        for (number, operation) in graph.operations.iter().enumerate() {
            let gradients = operation.operator.gradients(&work, number)?;
            work.gradients.push(gradients);
        }
        let total = work.size(&graph.output);
        let mut matrices = work.matrices()?;
        let terms = 64.0
            + bounds.states.iter().flat_map(|s| &s.layers).map(|l| l.lower.len() * LANES).sum::<usize>()
                as f64;
        let gradient_error = 8.0 * f64::EPSILON * terms * total;
        matrices.retain(|matrix| matrix.iter().all(|m| m.is_finite()));
        (!matrices.is_empty() && gradient_error.is_finite()).then_some(Curvature { matrices, gradient_error })
    }
}

pub(crate) fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(crate) fn add(sum: &mut Vec<f64>, share: f64, other: &[f64]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), 0.0);
    }
    sum.iter_mut().zip(other).for_each(|(s, o)| *s += share * o);
}

impl Slope {
    pub fn add(&mut self, share: f64, other: &Slope) {
        add(&mut self.centre, share, &other.centre);
        add(&mut self.hessian, share, &other.hessian);
        self.radius += share.abs() * other.radius;
        self.linear += share.abs() * other.linear;
        self.hessian_radius += share.abs() * other.hessian_radius;
    }

    pub fn add_outer(&mut self, share: f64, v: &[f64]) {
        let n = v.len();
        self.hessian.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..n {
                self.hessian[i * n + j] += share * v[i] * v[j];
            }
        }
    }

    /// Replaces the radius by that of the mean value theorem where the latter is smaller.
    pub fn refine(&mut self, distance: f64) {
        self.linear = distance * (length(&self.hessian) + self.hessian_radius);
        if self.linear < self.radius {
            self.radius = self.linear;
        }
    }
}

/// A point of an interval, and the largest distance of the interval's ends from it.
pub(crate) fn around(range: Interval, point: f64) -> (f64, f64) {
    let centre = point.clamp(range.lower, range.upper);
    (centre, (range.upper - centre).max(centre - range.lower))
}

impl Sums {
    fn new(inputs: usize, around: bool) -> Self {
        let count = if around { 2 } else { 1 };
        Self { sums: (0..count).map(|_| Sum::new(inputs)).collect(), around }
    }

    /// Adds a lower bound of `a s'' v v^T` to each sum.
    pub fn add(&mut self, term: Term, centre: &[f64]) -> Option<()> {
        self.sums.iter_mut().try_for_each(|sum| sum.add(term, centre, self.around))
    }
}

impl Sum {
    fn new(inputs: usize) -> Self {
        Self { matrix: vec![0.0; inputs * inputs], identity: 0.0, size: 0.0 }
    }

    /// Adds a lower bound of `a s'' v v^T`.
    fn add(&mut self, term: Term, centre: &[f64], around: bool) -> Option<()> {
        let (share, identity) = term.weights(centre.len(), around)?;
        let n = centre.len();
        for i in 0..n {
            for j in 0..n {
                self.matrix[i * n + j] += share * centre[i] * centre[j];
            }
        }
        self.identity += identity;
        self.size += share.abs() * term.long * term.long + identity.abs();
        Some(())
    }

    fn finish(mut self, inputs: usize) -> Vec<f64> {
        let identity = self.identity - 1e-11 * self.size;
        (0..inputs).for_each(|i| self.matrix[i * inputs + i] += identity);
        self.matrix
    }
}

/// An enclosure of the term `a s'' v v^T` of one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// The least value of `a s''`.
    pub least: f64,
    /// The value of `a s''` at the centre.
    pub at: f64,
    /// The largest change of `a s''` from the centre, in proportion to the region.
    pub change: f64,
    /// The largest absolute value of `a s''`.
    pub most: f64,
    /// The length of v at the centre, and the largest distance of v from there.
    pub long: f64,
    pub rho: f64,
    /// A bound of `rho` that shrinks in proportion to the region.
    pub rho_linear: f64,
}

impl Term {
    /// The coefficients of `c c^T` and of the identity in the lower bound; `None` where there is no
    /// bound.
    pub fn weights(&self, inputs: usize, around: bool) -> Option<(f64, f64)> {
        let Term { least, long, rho, .. } = *self;
        let everywhere =
            if least == 0.0 || long + rho == 0.0 { (0.0, 0.0) } else { weights(least, long, rho) };
        let worth = |(share, identity): (f64, f64)| share * long * long + inputs as f64 * identity;
        let best = if around {
            let other = self.weights_around(self.rho_linear);
            let better = worth(other) > worth(everywhere) || worth(everywhere).is_nan();
            if better && other.0.is_finite() && other.1.is_finite() { other } else { everywhere }
        } else {
            everywhere
        };
        (best.0.is_finite() && best.1.is_finite()).then_some(best)
    }

    /// The coefficients for a bound around the centre. `cross` is the part of the change of v that counts
    /// in all directions.
    pub fn weights_around(&self, cross: f64) -> (f64, f64) {
        let Term { least, at, change, most, long, rho_linear, .. } = *self;
        let across = if long > 0.0 && cross > 0.0 { most * cross / long } else { 0.0 };
        let negative = (-least).max(0.0);
        let square = if rho_linear > 0.0 { negative * rho_linear * rho_linear / 6.0 } else { 0.0 };
        (at - (change + across) / 3.0, -across * long * long / 3.0 - square)
    }
}

/// The coefficients of `c c^T` and of the identity in the lower bound everywhere.
pub(crate) fn weights(k: f64, long: f64, rho: f64) -> (f64, f64) {
    if rho == 0.0 {
        (k, 0.0)
    } else if k < 0.0 {
        match long {
            0.0 => (0.0, k * rho * rho),
            _ => (k * (1.0 + rho / long), k * rho * (rho + long)),
        }
    } else if rho < long {
        (k * (1.0 - rho / long), -k * rho * (long - rho))
    } else {
        (0.0, 0.0)
    }
}

/// A graph over a region, with the enclosures of the operations processed so far.
pub(crate) struct Surroundings<'a> {
    /// An upper bound of the distance between the centre and any point of the region.
    pub distance: f64,
    /// Whether the bound needs to hold only for quadratics that touch the graph at the centre.
    pub around: bool,
    pub region: &'a Region,
    pub centre: &'a [f64],
    graph: &'a Graph<'a>,
    pub bounds: &'a Affine,
    pub jets: &'a Jets,
    gradients: Vec<Gradients>,
}

/// A product in which zero times infinity is zero.
pub(crate) fn times(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y }
}

impl Surroundings<'_> {
    pub fn inputs(&self) -> usize {
        self.graph.inputs
    }

    /// Whether an operation is the last one.
    pub fn is_last(&self, number: usize) -> bool {
        number + 1 == self.graph.operations.len()
    }

    /// Enclosures of the gradients of the arguments of an operation.
    pub fn argument_slopes(&self, number: usize) -> Vec<Slope> {
        self.graph.operations[number].arguments.iter().map(|form| self.slope(form)).collect()
    }

    /// Upper bounds of the sizes of the gradients of the arguments of an operation.
    pub fn argument_sizes(&self, number: usize) -> Vec<f64> {
        self.graph.operations[number].arguments.iter().map(|form| self.size(form)).collect()
    }

    /// The ranges of the arguments of an operation.
    pub fn ranges(&self, number: usize) -> &[Interval] {
        &self.bounds.states[number].arguments
    }

    /// The arguments of an operation at the centre.
    pub fn values(&self, number: usize) -> &[Jet] {
        &self.jets.points[number].arguments
    }

    /// The units of a network.
    pub fn layers(&self, number: usize) -> &[UnitBounds] {
        &self.gradients[number].layers
    }

    /// The enclosure of the gradient of a form.
    fn slope(&self, form: &AffineForm) -> Slope {
        let inputs = self.graph.inputs;
        let mut sum = Slope { centre: vec![0.0; inputs], ..Slope::default() };
        for (i, &term) in form.terms.iter().enumerate().filter(|(_, t)| **t != 0.0) {
            if i < inputs {
                sum.centre[i] += term;
            } else {
                sum.add(term, &self.gradients[i - inputs].slope);
            }
        }
        sum
    }

    /// An upper bound of the size of the gradient of a form.
    fn size(&self, form: &AffineForm) -> f64 {
        let inputs = self.graph.inputs;
        let of = |i: usize| if i < inputs { 1.0 } else { self.gradients[i - inputs].size };
        form.terms.iter().enumerate().map(|(i, t)| t.abs() * of(i)).sum()
    }

    /// The largest absolute value of `v . (y - centre)` over the region.
    pub fn support(&self, v: &[f64]) -> f64 {
        let range = self.region.range(v);
        let at: f64 = v.iter().zip(self.centre).map(|(v, c)| v * c).sum();
        (range.upper - at).max(at - range.lower) * (1.0 + 1e-12)
    }

    /// Propagates adjoints from the result back to the first operation, and sums the terms of all units.
    fn matrices(&self) -> Option<Vec<Vec<f64>>> {
        let n = self.graph.inputs;
        let operations = &self.graph.operations;
        let mut sums = Sums::new(n, self.around);
        let mut adjoints = vec![Adjoint { gradient: vec![0.0; n], ..Adjoint::default() }; operations.len()];
        let one = Adjoint { centre: 1.0, gradient: vec![0.0; n], ..Adjoint::default() };
        spread(&self.graph.output, &one, n, &mut adjoints);
        for (number, operation) in operations.iter().enumerate().rev() {
            let adjoint = std::mem::take(&mut adjoints[number]);
            let down = operation.operator.adjoints(self, number, &adjoint, &mut sums)?;
            for (form, down) in operation.arguments.iter().zip(&down) {
                spread(form, down, n, &mut adjoints);
            }
        }
        Some(sums.sums.into_iter().map(|sum| sum.finish(n)).collect())
    }
}

impl Adjoint {
    pub fn range(&self) -> Interval {
        Interval { lower: self.centre - self.radius, upper: self.centre + self.radius }
    }

    /// Replaces the radius by that of the mean value theorem where the latter is smaller.
    pub fn refine(&mut self, distance: f64) {
        self.linear = distance * (length(&self.gradient) + self.gradient_radius);
        if self.linear < self.radius {
            self.radius = self.linear;
        }
    }
}

/// Adds the adjoint of a form to those of the operations in it.
fn spread(form: &AffineForm, adjoint: &Adjoint, inputs: usize, adjoints: &mut [Adjoint]) {
    for (k, &term) in form.terms.iter().skip(inputs).enumerate().filter(|(_, t)| **t != 0.0) {
        let to = &mut adjoints[k];
        to.centre += term * adjoint.centre;
        to.radius += term.abs() * adjoint.radius;
        to.linear += term.abs() * adjoint.linear;
        add(&mut to.gradient, term, &adjoint.gradient);
        to.gradient_radius += term.abs() * adjoint.gradient_radius;
    }
}
