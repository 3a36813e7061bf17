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

mod network;

use super::affine::Affine;
use super::jet::{Jets, Order};
use super::region::Region;
use crate::graph::{AffineForm, Graph, Interval, Operation, Unit};
use crate::network::LANES;
use network::Layer;

/// A vector within a distance of a centre, and the Hessian of what it is the gradient of, as a
/// matrix within a distance of a centre.
#[derive(Clone, Debug, Default)]
struct Slope {
    centre: Vec<f64>,
    radius: f64,
    /// A radius that shrinks in proportion to the region.
    linear: f64,
    /// Symmetric, row by row; empty where zero.
    hessian: Vec<f64>,
    hessian_radius: f64,
}

/// An adjoint within a distance of a centre, and its gradient likewise.
#[derive(Clone, Debug, Default)]
struct Adjoint {
    centre: f64,
    radius: f64,
    /// A radius that shrinks in proportion to the region.
    linear: f64,
    gradient: Vec<f64>,
    gradient_radius: f64,
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

struct Sum {
    matrix: Vec<f64>,
    identity: f64,
    size: f64,
}

impl Curvature {
    /// The bound over a region; `bounds` must have bounded the same graph over the same region
    /// last. The centre is a point of the region. Nothing where there is none. If it is only for
    /// quadratic bounds `around` the centre, it is better.
    pub fn bound(
        graph: &Graph<'_>,
        region: &Region,
        centre: &[f64],
        bounds: &Affine,
        jets: &mut Jets,
        around: bool,
    ) -> Option<Curvature> {
        let inputs = graph.inputs;
        let distance = region.distance(centre);
        // The way from the centre to any other point must be within the domain.
        let is_smooth = |(k, operation): (usize, &Operation<'_>)| match operation {
            Operation::Unit(unit, _) => unit.is_smooth_on(bounds.states[k].arguments[0]),
            _ => true,
        };
        if bounds.states_nothing || !graph.operations.iter().enumerate().all(is_smooth) {
            return None;
        }
        if !jets.evaluate(graph, centre, Order::Gradient).value.is_finite() {
            return None;
        }
        let work = Work { inputs, distance, region, centre, around, bounds, jets };
        let mut slopes: Vec<Slope> = Vec::with_capacity(graph.operations.len());
        let mut layers: Vec<Vec<Layer>> = Vec::with_capacity(graph.operations.len());
        let mut sizes: Vec<f64> = Vec::new();
        for (k, operation) in graph.operations.iter().enumerate() {
            let size = |form: &AffineForm| -> f64 {
                let of = |i: usize| if i < inputs { 1.0 } else { sizes[i - inputs] };
                form.terms.iter().enumerate().map(|(i, t)| t.abs() * of(i)).sum()
            };
            let (slope, inner, size) = match operation {
                Operation::Unit(unit, form) => {
                    let argument = slope_of(form, inputs, &slopes);
                    let range = bounds.states[k].arguments[0];
                    let most = unit.slopes(range).size();
                    (work.unit(*unit, k, &argument), Vec::new(), most * size(form))
                }
                Operation::Product(left, right) => {
                    let (a, b) = (slope_of(left, inputs, &slopes), slope_of(right, inputs, &slopes));
                    let [x, y] = bounds.states[k].arguments[..] else { return None };
                    let most = x.size() * size(right) + y.size() * size(left);
                    (work.product(k, &a, &b), Vec::new(), most)
                }
                Operation::Network(network, forms) => {
                    let arguments: Vec<Slope> =
                        forms.iter().map(|form| slope_of(form, inputs, &slopes)).collect();
                    let rows: f64 = network.wide().iter().map(|layer| layer.largest_row).product();
                    let largest = forms.iter().map(size).fold(0.0, f64::max);
                    let (slope, inner) = work.network(network, k, &arguments)?;
                    (slope, inner, rows * largest)
                }
                Operation::Implicit(..) | Operation::Slack(..) => return None,
            };
            slopes.push(slope);
            layers.push(inner);
            sizes.push(size);
        }
        let total: f64 = graph
            .output
            .terms
            .iter()
            .enumerate()
            .map(|(i, t)| t.abs() * if i < inputs { 1.0 } else { sizes[i - inputs] })
            .sum();
        let mut matrices = work.backwards(graph, &slopes, &layers)?;
        let terms = 64.0
            + bounds.states.iter().flat_map(|s| &s.layers).map(|l| l.lower.len() * LANES).sum::<usize>()
                as f64;
        let gradient_error = 8.0 * f64::EPSILON * terms * total;
        matrices.retain(|matrix| matrix.iter().all(|m| m.is_finite()));
        (!matrices.is_empty() && gradient_error.is_finite()).then_some(Curvature { matrices, gradient_error })
    }
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The enclosure of the gradient of a form.
fn slope_of(form: &AffineForm, inputs: usize, slopes: &[Slope]) -> Slope {
    let mut sum = Slope { centre: vec![0.0; inputs], ..Slope::default() };
    for (i, &term) in form.terms.iter().enumerate().filter(|(_, t)| **t != 0.0) {
        if i < inputs {
            sum.centre[i] += term;
        } else {
            sum.add(term, &slopes[i - inputs]);
        }
    }
    sum
}

fn add(sum: &mut Vec<f64>, share: f64, other: &[f64]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), 0.0);
    }
    sum.iter_mut().zip(other).for_each(|(s, o)| *s += share * o);
}

impl Slope {
    fn add(&mut self, share: f64, other: &Slope) {
        add(&mut self.centre, share, &other.centre);
        add(&mut self.hessian, share, &other.hessian);
        self.radius += share.abs() * other.radius;
        self.linear += share.abs() * other.linear;
        self.hessian_radius += share.abs() * other.hessian_radius;
    }

    fn add_outer(&mut self, share: f64, v: &[f64]) {
        let n = v.len();
        self.hessian.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..n {
                self.hessian[i * n + j] += share * v[i] * v[j];
            }
        }
    }

    /// The better of the radius so far and that of the mean value theorem.
    fn refine(&mut self, distance: f64) {
        self.linear = distance * (length(&self.hessian) + self.hessian_radius);
        if self.linear < self.radius {
            self.radius = self.linear;
        }
    }
}

/// Centre and radius of an interval around a point of it.
fn around(range: Interval, point: f64) -> (f64, f64) {
    let centre = point.clamp(range.lower, range.upper);
    (centre, (range.upper - centre).max(centre - range.lower))
}

/// The least product of numbers of two intervals; nothing times infinity is nothing.
fn least(a: Interval, b: Interval) -> f64 {
    a.product(b).lower
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
struct Term {
    /// The least value of `a s''`.
    least: f64,
    /// Its value at the centre.
    at: f64,
    /// Its change, in proportion to the region.
    change: f64,
    /// Its largest size.
    most: f64,
    /// The length of v at the centre, and how far it may be from there.
    long: f64,
    rho: f64,
    /// The same in proportion to the region.
    rho_linear: f64,
}

impl Term {
    /// The shares of `c c^T` and of the identity; nothing where there is no bound.
    fn weights(&self, inputs: usize, around: bool) -> Option<(f64, f64)> {
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
    fn weights_around(&self, cross: f64) -> (f64, f64) {
        let Term { least, at, change, most, long, rho_linear, .. } = *self;
        let across = if long > 0.0 && cross > 0.0 { most * cross / long } else { 0.0 };
        let negative = (-least).max(0.0);
        let square = if rho_linear > 0.0 { negative * rho_linear * rho_linear / 6.0 } else { 0.0 };
        (at - (change + across) / 3.0, -across * long * long / 3.0 - square)
    }
}

/// The shares of `c c^T` and of the identity.
fn weights(k: f64, long: f64, rho: f64) -> (f64, f64) {
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

struct Work<'a> {
    inputs: usize,
    distance: f64,
    region: &'a Region,
    centre: &'a [f64],
    around: bool,
    bounds: &'a Affine,
    jets: &'a Jets,
}

/// Nothing times infinity is nothing.
fn times(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x * y }
}

impl Work<'_> {
    /// The largest size of `v . (y - centre)` over the region.
    fn support(&self, v: &[f64]) -> f64 {
        let range = self.region.range(v);
        let at: f64 = v.iter().zip(self.centre).map(|(v, c)| v * c).sum();
        (range.upper - at).max(at - range.lower) * (1.0 + 1e-12)
    }

    fn unit(&self, unit: Unit, k: usize, argument: &Slope) -> Slope {
        let range = self.bounds.states[k].arguments[0];
        let at = self.jets.points[k].arguments[0].value;
        let (slope, curvature) = unit.derivatives(at);
        let ((s, s_radius), s_most) = (around(unit.slopes(range), slope), unit.slopes(range).size());
        let ((b, b_radius), b_most) =
            (around(unit.second_derivatives(range), curvature), unit.second_derivatives(range).size());
        let long = length(&argument.centre);
        let mut result = Slope { centre: vec![0.0; self.inputs], ..Slope::default() };
        result.add(s, argument);
        result.radius = s_radius * long + s_most * argument.radius;
        result.hessian_radius = s_radius * length(&argument.hessian) + s_most * argument.hessian_radius;
        result.add_outer(b, &argument.centre);
        result.hessian_radius +=
            b_radius * long * long + b_most * argument.radius * (2.0 * long + argument.radius);
        if result.hessian_radius.is_nan() {
            result.hessian_radius = f64::INFINITY;
        }
        result.refine(self.distance);
        result
    }

    fn product(&self, k: usize, a: &Slope, b: &Slope) -> Slope {
        let arguments = &self.bounds.states[k].arguments;
        let values = &self.jets.points[k].arguments;
        let (x, x_radius) = around(arguments[0], values[0].value);
        let (y, y_radius) = around(arguments[1], values[1].value);
        let mut result = Slope { centre: vec![0.0; self.inputs], ..Slope::default() };
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
        result.refine(self.distance);
        result
    }

    /// Adjoints from the result to the first operation, and the sum over all units on the way.
    fn backwards(&self, graph: &Graph<'_>, slopes: &[Slope], layers: &[Vec<Layer>]) -> Option<Vec<Vec<f64>>> {
        let n = self.inputs;
        let mut sums = vec![Sum::new(n)];
        if self.around {
            sums.push(Sum::new(n));
        }
        let mut adjoints =
            vec![Adjoint { gradient: vec![0.0; n], ..Adjoint::default() }; graph.operations.len()];
        let one = Adjoint { centre: 1.0, gradient: vec![0.0; n], ..Adjoint::default() };
        spread(&graph.output, &one, n, &mut adjoints);
        for (k, operation) in graph.operations.iter().enumerate().rev() {
            let adjoint = std::mem::take(&mut adjoints[k]);
            let range =
                Interval { lower: adjoint.centre - adjoint.radius, upper: adjoint.centre + adjoint.radius };
            match operation {
                Operation::Unit(unit, form) => {
                    let argument = slope_of(form, n, slopes);
                    let z = self.bounds.states[k].arguments[0];
                    let (slope, curvature) = unit.derivatives(self.jets.points[k].arguments[0].value);
                    let ((s, sr), sm) = (around(unit.slopes(z), slope), unit.slopes(z).size());
                    let ((b, br), bm) =
                        (around(unit.second_derivatives(z), curvature), unit.second_derivatives(z).size());
                    let b = if b.is_finite() { b } else { 0.0 };
                    let reach = self.support(&argument.centre) + 0.5 * times(argument.linear, self.distance);
                    let term = Term {
                        least: least(range, unit.second_derivatives(z)),
                        at: adjoint.centre * b,
                        change: times(adjoint.centre.abs(), times(unit.jerk(z), reach))
                            + times(bm, adjoint.linear),
                        most: times(range.size(), bm),
                        long: length(&argument.centre),
                        rho: argument.radius,
                        rho_linear: argument.linear,
                    };
                    for sum in &mut sums {
                        sum.add(term, &argument.centre, self.around)?;
                    }
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
                    down.refine(self.distance);
                    spread(form, &down, n, &mut adjoints);
                }
                Operation::Product(left, right) => {
                    let (a, b) = (slope_of(left, n, slopes), slope_of(right, n, slopes));
                    // a b^T + b a^T by squares of sum and difference, balanced.
                    let (la, lb) = (length(&a.centre) + a.radius, length(&b.centre) + b.radius);
                    let t = if la > 0.0 && lb > 0.0 { (lb / la).sqrt() } else { 1.0 };
                    for sign in [1.0, -1.0] {
                        let v: Vec<f64> =
                            a.centre.iter().zip(&b.centre).map(|(a, b)| t * a + sign * b / t).collect();
                        let term = Term {
                            least: least(range, Interval::point(0.5 * sign)),
                            at: 0.5 * sign * adjoint.centre,
                            change: 0.5 * adjoint.linear,
                            most: 0.5 * range.size(),
                            long: length(&v),
                            rho: t * a.radius + b.radius / t,
                            rho_linear: t * a.linear + b.linear / t,
                        };
                        for sum in &mut sums {
                            sum.add(term, &v, self.around)?;
                        }
                    }
                    let values = &self.jets.points[k].arguments;
                    let arguments = &self.bounds.states[k].arguments;
                    for (form, other, slope) in [(left, 1, &b), (right, 0, &a)] {
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
                        down.refine(self.distance);
                        spread(form, &down, n, &mut adjoints);
                    }
                }
                Operation::Network(network, forms) => {
                    let down =
                        self.network_backwards(network, k, &layers[k], &adjoint, forms.len(), &mut sums)?;
                    for (form, down) in forms.iter().zip(&down) {
                        spread(form, down, n, &mut adjoints);
                    }
                }
                Operation::Implicit(..) | Operation::Slack(..) => return None,
            }
        }
        Some(sums.into_iter().map(|sum| sum.finish(n)).collect())
    }
}

impl Adjoint {
    fn refine(&mut self, distance: f64) {
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
