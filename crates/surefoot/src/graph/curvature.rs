//! Curvature bounds: quadratic lower bounds of a graph over a region.
//!
//! The Hessian is `sum_n a_n s''(z_n) v_n v_n^T` over all units, with `a_n` the adjoint of the
//! unit's output and `v_n` the gradient of what goes into it. Each of the three is enclosed over
//! the region: the adjoint and the gradient as a centre with a radius, by intervals of slopes and,
//! where that is better, by the mean value theorem. With `v` known to within `rho` and `k` the
//! least value of `a s''`,
//!
//! ```text
//! k <  0:  k v v^T >= k [(1 + t) c c^T + rho (rho + |c|) I],          t = rho / |c|
//! k >= 0:  k v v^T >= k [(1 - t) c c^T - rho (|c| - rho) I]  if t < 1, otherwise 0
//! ```
//!
//! for every `v` within `rho` of `c`. A kink counts as an infinite second derivative: harmless
//! where the adjoint keeps the sign that makes it convex, fatal otherwise.
//!
//! **Around a point.** A bound `f(y) >= f(c) + g.(y - c) + (y - c)^T M (y - c) / 2` needs less than
//! a bound of the Hessian H everywhere: by Taylor's theorem what counts is the mean of H over the
//! way from c to y with weight `2 (1 - t)`. What changes along the way at most in proportion to t
//! counts for a third, in proportion to t^2 for a sixth. So each term of H is split into its value
//! at c, and changes of `a`, `s''` and `v` that are bounded in proportion to the distance:
//!
//! ```text
//! a s'' v v^T >= k c c^T - (t / 1) [r c c^T + K (rho / |c| c c^T + rho |c| I)] - t^2 K rho^2 I
//! ```
//!
//! with `k` the value at c, `r` the change of `a s''` and `K` its largest size. For units of a
//! second hidden layer the change of `v` can also be carried back to the units before it, which
//! bend in their own directions rather than in all; the better one of the two is taken.

use super::affine::Affine;
use super::jet::{Jet, Jets, Order};
use super::operator::UnitBounds;
use super::{AffineForm, Graph, Interval, Region};
use crate::network::LANES;

/// A vector within a distance of a centre, and the Hessian of what it is the gradient of, as a
/// matrix within a distance of a centre.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slope {
    pub centre: Vec<f64>,
    pub radius: f64,
    /// A radius that shrinks in proportion to the region.
    pub linear: f64,
    /// Symmetric, row by row; empty where zero.
    pub hessian: Vec<f64>,
    pub hessian_radius: f64,
}

/// An adjoint within a distance of a centre, and its gradient likewise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjoint {
    pub centre: f64,
    pub radius: f64,
    /// A radius that shrinks in proportion to the region.
    pub linear: f64,
    pub gradient: Vec<f64>,
    pub gradient_radius: f64,
}

/// The gradient of an operation's result in the inputs.
pub(crate) struct Gradients {
    pub slope: Slope,
    /// The units of a network, layer by layer.
    pub layers: Vec<UnitBounds>,
    /// A bound of the gradient, for its rounding errors.
    pub size: f64,
}

/// The bound, with what it is worth in numbers.
#[derive(Clone, Debug)]
pub(crate) struct Curvature {
    /// The Hessian is nowhere less than this; row by row. Around a point, two matrices for each
    /// of which the quadratic bound holds.
    pub matrices: Vec<Vec<f64>>,
    /// A bound on the error of a gradient as computed.
    pub gradient_error: f64,
}

/// Sums over all units of bounds of their terms of the Hessian: one for a bound everywhere; two
/// for bounds around a point, where the second carries changes of gradients back.
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
    /// The bound over a region over which `bounds` has just bounded the graph. The centre is a point
    /// of the region. `None` where there is no bound. If it is only for quadratic bounds `around`
    /// the centre, it is better.
    pub(super) fn bound(
        graph: &Graph<'_>,
        region: &Region,
        centre: &[f64],
        bounds: &Affine,
        jets: &mut Jets,
        around: bool,
    ) -> Option<Curvature> {
        // The way from the centre to any other point must be within the domain.
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

    /// The better of the radius so far and that of the mean value theorem.
    pub fn refine(&mut self, distance: f64) {
        self.linear = distance * (length(&self.hessian) + self.hessian_radius);
        if self.linear < self.radius {
            self.radius = self.linear;
        }
    }
}

/// Centre and radius of an interval around a point of it.
pub(crate) fn around(range: Interval, point: f64) -> (f64, f64) {
    let centre = point.clamp(range.lower, range.upper);
    (centre, (range.upper - centre).max(centre - range.lower))
}

impl Sums {
    fn new(inputs: usize, around: bool) -> Self {
        let count = if around { 2 } else { 1 };
        Self { sums: (0..count).map(|_| Sum::new(inputs)).collect(), around }
    }

    /// Adds a bound from below of `a s'' v v^T` to each sum.
    pub fn add(&mut self, term: Term, centre: &[f64]) -> Option<()> {
        self.sums.iter_mut().try_for_each(|sum| sum.add(term, centre, self.around))
    }
}

impl Sum {
    fn new(inputs: usize) -> Self {
        Self { matrix: vec![0.0; inputs * inputs], identity: 0.0, size: 0.0 }
    }

    /// Adds a bound from below of `a s'' v v^T`.
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

/// What is known of `a s'' v v^T`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// The least value of `a s''`.
    pub least: f64,
    /// Its value at the centre.
    pub at: f64,
    /// Its change, in proportion to the region.
    pub change: f64,
    /// Its largest size.
    pub most: f64,
    /// The length of v at the centre, and how far it may be from there.
    pub long: f64,
    pub rho: f64,
    /// The same in proportion to the region.
    pub rho_linear: f64,
}

impl Term {
    /// The shares of `c c^T` and of the identity; nothing where there is no bound.
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

    /// The same around the centre, where `cross` of the change of v counts in all directions.
    pub fn weights_around(&self, cross: f64) -> (f64, f64) {
        let Term { least, at, change, most, long, rho_linear, .. } = *self;
        let across = if long > 0.0 && cross > 0.0 { most * cross / long } else { 0.0 };
        let negative = (-least).max(0.0);
        let square = if rho_linear > 0.0 { negative * rho_linear * rho_linear / 6.0 } else { 0.0 };
        (at - (change + across) / 3.0, -across * long * long / 3.0 - square)
    }
}

/// The shares of `c c^T` and of the identity.
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

/// A graph over a region, with everything that is known of its operations so far.
pub(crate) struct Surroundings<'a> {
    /// No point of the region is farther from the centre.
    pub distance: f64,
    /// Whether the bound is only for quadratic bounds around the centre.
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

    /// Bounds of the sizes of the gradients of the arguments of an operation.
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

    /// A bound of the size of the gradient of a form.
    fn size(&self, form: &AffineForm) -> f64 {
        let inputs = self.graph.inputs;
        let of = |i: usize| if i < inputs { 1.0 } else { self.gradients[i - inputs].size };
        form.terms.iter().enumerate().map(|(i, t)| t.abs() * of(i)).sum()
    }

    /// The largest size of `v . (y - centre)` over the region.
    pub fn support(&self, v: &[f64]) -> f64 {
        let range = self.region.range(v);
        let at: f64 = v.iter().zip(self.centre).map(|(v, c)| v * c).sum();
        (range.upper - at).max(at - range.lower) * (1.0 + 1e-12)
    }

    /// Adjoints from the result to the first operation, and the sum over all units on the way.
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

    /// The better of the radius so far and that of the mean value theorem.
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
