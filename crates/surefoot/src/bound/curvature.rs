//! How far a graph can bend: quadratic bounds from below over a region.
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
use super::jet::{Gram, Jets, LayerPoint, Order, dot};
use super::region::Region;
use crate::graph::{Form, Graph, Interval, Operation, Unit};
use crate::network::{LANES, Lanes, Network, vectorised};

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

/// Everything of one layer that is enclosed.
struct Layer {
    slope: Vec<Lanes>,
    slope_radius: Vec<Lanes>,
    slope_most: Vec<Lanes>,
    bend_low: Vec<Lanes>,
    bend_high: Vec<Lanes>,
    bend: Vec<Lanes>,
    bend_radius: Vec<Lanes>,
    bend_most: Vec<Lanes>,
    /// The largest size of the third derivative.
    jerk: Vec<Lanes>,
    /// How far what goes in can be from its value at the centre, in proportion to the region.
    reach: Vec<Lanes>,
    /// How far the linear part of it can be.
    support: Vec<Lanes>,
    length: Vec<Lanes>,
    rho: Vec<Lanes>,
    rho_linear: Vec<Lanes>,
    /// Bounds the Hessian of what goes in, beyond that of the units before.
    hessian: Vec<Lanes>,
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
        jets.evaluate(graph, centre, Order::Gradient);
        let work = Work { inputs, distance, region, centre, around, bounds, jets };
        let mut slopes: Vec<Slope> = Vec::with_capacity(graph.operations.len());
        let mut layers: Vec<Vec<Layer>> = Vec::with_capacity(graph.operations.len());
        let mut sizes: Vec<f64> = Vec::new();
        for (k, operation) in graph.operations.iter().enumerate() {
            let size = |form: &Form| -> f64 {
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
fn slope_of(form: &Form, inputs: usize, slopes: &[Slope]) -> Slope {
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
        let (slope, bend) = unit.derivatives(at);
        let ((s, s_radius), s_most) = (around(unit.slopes(range), slope), unit.slopes(range).size());
        let ((b, b_radius), b_most) = (around(unit.bends(range), bend), unit.bends(range).size());
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

    /// Gradients of everything that goes into a unit, and of the result.
    fn network(&self, network: &Network, k: usize, arguments: &[Slope]) -> Option<(Slope, Vec<Layer>)> {
        let n = self.inputs;
        let packed = n * (n + 1) / 2;
        let wide = network.wide();
        let (hidden, last) = wide.split_at(wide.len() - 1);
        let unit = Unit::from(network.activation());
        let curved = arguments.iter().any(|a| !a.hessian.is_empty());
        // Into the first layer.
        let stride = arguments.len().div_ceil(LANES);
        let on = |f: &dyn Fn(&Slope) -> f64| -> Vec<Lanes> {
            let mut lanes = vec![Lanes::ZERO; stride];
            arguments.iter().enumerate().for_each(|(j, a)| lanes[j / LANES].0[j % LANES] = f(a));
            lanes
        };
        let mut rho_below = on(&|a| a.radius);
        let mut hessian_below: Vec<Lanes> = Vec::new();
        let mut hessian_radius_below = on(&|a| a.hessian_radius);
        if curved {
            for i in 0..n {
                for j in 0..=i {
                    hessian_below.extend(on(&|a| a.hessian.get(i * n + j).copied().unwrap_or(0.0)));
                }
            }
        }
        let mut inner = Vec::with_capacity(hidden.len());
        for (number, layer) in hidden.iter().enumerate() {
            let blocks = layer.forward.blocks();
            let point = &self.jets.points[k].layers[number];
            let zeros = || vec![Lanes::ZERO; blocks];
            let mut this = Layer::enclose(unit, &self.bounds.states[k].layers[number], point)?;
            let mut rho = zeros();
            layer.forward.multiply_sizes(&rho_below, &mut rho);
            // The Hessian of what goes in, for the mean value theorem.
            let known = !hessian_below.is_empty() || number == 0;
            let mut hessian = vec![Lanes::ZERO; if hessian_below.is_empty() { 0 } else { packed * blocks }];
            let mut hessian_radius = zeros();
            layer.forward.multiply_sizes(&hessian_radius_below, &mut hessian_radius);
            if !hessian.is_empty() {
                layer.forward.multiply(&hessian_below, &mut hessian);
            }
            let mut hessian_length = zeros();
            let mut place = 0;
            for i in 0..n {
                for j in 0..=i {
                    if hessian.is_empty() {
                        break;
                    }
                    let share = if i == j { 1.0 } else { 2.0 };
                    for b in 0..blocks {
                        for l in 0..LANES {
                            let h = hessian[place * blocks + b].0[l];
                            hessian_length[b].0[l] += share * h * h;
                        }
                    }
                    place += 1;
                }
            }
            for b in 0..blocks {
                for l in 0..LANES {
                    hessian_length[b].0[l] = hessian_length[b].0[l].sqrt();
                    let mut square = 0.0;
                    for i in 0..n {
                        square += point.columns[i * blocks + b].0[l].powi(2);
                    }
                    this.length[b].0[l] = square.sqrt();
                    let mean = self.distance * (hessian_length[b].0[l] + hessian_radius[b].0[l]);
                    this.rho[b].0[l] = if known && mean < rho[b].0[l] { mean } else { rho[b].0[l] };
                    this.rho_linear[b].0[l] = if known { mean } else { f64::INFINITY };
                    this.hessian[b].0[l] = hessian_length[b].0[l] + hessian_radius[b].0[l];
                }
            }
            if self.around {
                let (mut low, mut high) = (zeros(), zeros());
                self.region.ranges(&point.columns[..n * blocks], &mut low, &mut high);
                for b in 0..blocks {
                    for l in 0..LANES {
                        let at: f64 =
                            (0..n).map(|i| point.columns[i * blocks + b].0[l] * self.centre[i]).sum();
                        let support = (high[b].0[l] - at).max(at - low[b].0[l]) * (1.0 + 1e-12);
                        this.support[b].0[l] = support;
                        this.reach[b].0[l] = support + 0.5 * times(this.rho_linear[b].0[l], self.distance);
                    }
                }
            }
            // Out of this layer.
            rho_below = zeros();
            hessian_radius_below = zeros();
            let keep = number + 1 < hidden.len() || k + 1 < self.bounds.states.len();
            hessian_below = vec![Lanes::ZERO; if keep { packed * blocks } else { 0 }];
            for b in 0..blocks {
                let (s, sr, sm) = (this.slope[b].0, this.slope_radius[b].0, this.slope_most[b].0);
                let (c, cr, cm) = (this.bend[b].0, this.bend_radius[b].0, this.bend_most[b].0);
                let (long, rho) = (this.length[b].0, this.rho[b].0);
                for l in 0..LANES {
                    rho_below[b].0[l] = sr[l] * long[l] + sm[l] * rho[l];
                    let radius = cr[l] * long[l] * long[l]
                        + cm[l] * rho[l] * (2.0 * long[l] + rho[l])
                        + sr[l] * hessian_length[b].0[l]
                        + sm[l] * hessian_radius[b].0[l];
                    hessian_radius_below[b].0[l] = if radius.is_nan() { f64::INFINITY } else { radius };
                }
                if !keep {
                    continue;
                }
                let mut place = 0;
                for i in 0..n {
                    for j in 0..=i {
                        let (x, y) = (&point.columns[i * blocks + b].0, &point.columns[j * blocks + b].0);
                        let below = hessian.get(place * blocks + b).map_or([0.0; LANES], |h| h.0);
                        let out = &mut hessian_below[place * blocks + b].0;
                        for l in 0..LANES {
                            let bend = if c[l].is_finite() { c[l] } else { 0.0 };
                            out[l] = bend * x[l] * y[l] + s[l] * below[l];
                        }
                        place += 1;
                    }
                }
            }
            inner.push(this);
        }
        // The result.
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let top = inner.last()?;
        let blocks = top.slope.len();
        let mut weight = vec![Lanes::ZERO; blocks];
        last[0].backward.multiply(&one, &mut weight);
        let sizes: Vec<Lanes> = weight.iter().map(|w| w.map(f64::abs)).collect();
        let mut result = Slope { centre: self.jets.points[k].jet.gradient.clone(), ..Slope::default() };
        result.radius = dot(&sizes, &rho_below);
        if !hessian_below.is_empty() {
            result.hessian.resize(n * n, 0.0);
            let mut place = 0;
            for i in 0..n {
                for j in 0..=i {
                    let h = dot(&weight, &hessian_below[place * blocks..(place + 1) * blocks]);
                    (result.hessian[i * n + j], result.hessian[j * n + i]) = (h, h);
                    place += 1;
                }
            }
            result.hessian_radius = dot(&sizes, &hessian_radius_below);
            if result.hessian_radius.is_nan() {
                result.hessian_radius = f64::INFINITY;
            }
            result.refine(self.distance);
        }
        Some((result, inner))
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
                    let (slope, bend) = unit.derivatives(self.jets.points[k].arguments[0].value);
                    let ((s, sr), sm) = (around(unit.slopes(z), slope), unit.slopes(z).size());
                    let ((b, br), bm) = (around(unit.bends(z), bend), unit.bends(z).size());
                    let b = if b.is_finite() { b } else { 0.0 };
                    let reach = self.support(&argument.centre) + 0.5 * times(argument.linear, self.distance);
                    let term = Term {
                        least: least(range, unit.bends(z)),
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

    fn network_backwards(
        &self,
        network: &Network,
        k: usize,
        layers: &[Layer],
        adjoint: &Adjoint,
        arguments: usize,
        sums: &mut [Sum],
    ) -> Option<Vec<Adjoint>> {
        let n = self.inputs;
        let wide = network.wide();
        let top = layers.last()?.slope.len();
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let mut centre = vec![Lanes::ZERO; top];
        wide[wide.len() - 1].backward.multiply(&one, &mut centre);
        let mut radius: Vec<Lanes> = centre.iter().map(|w| w.map(|w| w.abs() * adjoint.radius)).collect();
        let mut linear: Vec<Lanes> = centre.iter().map(|w| w.map(|w| w.abs() * adjoint.linear)).collect();
        let mut spread_back = vec![Lanes::ZERO; top];
        let mut lost = false;
        let mut gradient: Vec<Lanes> = Vec::with_capacity(n * top);
        for i in 0..n {
            let g = adjoint.gradient.get(i).copied().unwrap_or(0.0);
            gradient.extend(centre.iter().map(|w| w.map(|w| w * g)));
        }
        let mut gradient_radius: Vec<Lanes> =
            centre.iter().map(|w| w.map(|w| w.abs() * adjoint.gradient_radius)).collect();
        centre.iter_mut().for_each(|w| *w = w.map(|w| w * adjoint.centre));
        for (number, layer) in layers.iter().enumerate().rev() {
            let blocks = layer.slope.len();
            let columns = &self.jets.points[k].layers[number].columns;
            // For each sum the shares; in the second one the change of v is carried back.
            let mut weight = vec![Lanes::ZERO; sums.len() * blocks];
            let mut carried = vec![Lanes::ZERO; blocks];
            let carries = self.around && number > 0;
            for b in 0..blocks {
                for l in 0..LANES {
                    let (a, r) = (centre[b].0[l], radius[b].0[l]);
                    let range = Interval { lower: a - r, upper: a + r };
                    let bends = Interval { lower: layer.bend_low[b].0[l], upper: layer.bend_high[b].0[l] };
                    let bend = layer.bend[b].0[l];
                    let term = Term {
                        least: least(range, bends),
                        at: a * if bend.is_finite() { bend } else { 0.0 },
                        change: times(a.abs(), times(layer.jerk[b].0[l], layer.reach[b].0[l]))
                            + times(layer.bend_most[b].0[l], linear[b].0[l]),
                        most: times(range.size(), layer.bend_most[b].0[l]),
                        long: layer.length[b].0[l],
                        rho: layer.rho[b].0[l],
                        rho_linear: layer.rho_linear[b].0[l],
                    };
                    let mut chosen = [term.weights(n, self.around)?; 2];
                    let back = spread_back[b].0[l];
                    if carries {
                        let other = term.weights_around(0.0);
                        let strain = 2.0 / 3.0 * times(term.most, layer.support[b].0[l]);
                        if other.0.is_finite() && other.1.is_finite() && strain.is_finite() {
                            chosen[1] = other;
                            carried[b].0[l] = strain;
                        }
                    }
                    if back > 0.0 {
                        // What units above carry back to this one.
                        let (share, identity) = weights(-back * layer.bend_most[b].0[l], term.long, term.rho);
                        let passed = times(back, times(layer.slope_most[b].0[l], layer.hessian[b].0[l]));
                        let bounded = share.is_finite() && identity.is_finite() && passed.is_finite();
                        lost |= !bounded;
                        if bounded {
                            chosen[1].0 += share;
                            chosen[1].1 += identity - passed;
                        }
                    }
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let (share, identity) = chosen[k];
                        weight[k * blocks + b].0[l] = share;
                        sum.identity += identity;
                        sum.size += share.abs() * term.long * term.long + identity.abs();
                    }
                }
            }
            for (k, sum) in sums.iter_mut().enumerate() {
                let weight = &weight[k * blocks..(k + 1) * blocks];
                vectorised(Gram { columns, weight, hessian: &mut sum.matrix, inputs: n });
            }
            spread_back = vec![Lanes::ZERO; wide[number].backward.blocks()];
            if carries {
                wide[number].backward.multiply_sizes(&carried, &mut spread_back);
            }
            // Down to what is below: a' = W^T (a s'), and its gradient W^T (grad a s' + a s'' v).
            let mut down = vec![Lanes::ZERO; blocks];
            let (mut down_radius, mut slope_radius) = (down.clone(), down.clone());
            let mut slope = vec![Lanes::ZERO; n * blocks];
            for b in 0..blocks {
                for l in 0..LANES {
                    let (a, r) = (centre[b].0[l], radius[b].0[l]);
                    let (s, sr, sm) =
                        (layer.slope[b].0[l], layer.slope_radius[b].0[l], layer.slope_most[b].0[l]);
                    let (c, cr, cm) =
                        (layer.bend[b].0[l], layer.bend_radius[b].0[l], layer.bend_most[b].0[l]);
                    let (long, rho) = (layer.length[b].0[l], layer.rho[b].0[l]);
                    let c = if c.is_finite() { c } else { 0.0 };
                    down[b].0[l] = a * s;
                    down_radius[b].0[l] = a.abs() * sr + r * sm;
                    let mut square = 0.0;
                    for i in 0..n {
                        let g = gradient[i * blocks + b].0[l];
                        square += g * g;
                        slope[i * blocks + b].0[l] = g * s + a * c * columns[i * blocks + b].0[l];
                    }
                    slope_radius[b].0[l] = square.sqrt() * sr
                        + gradient_radius[b].0[l] * sm
                        + times(times(a.abs(), cr) + times(r, cm), long)
                        + times(a.abs() + r, times(cm, rho));
                }
            }
            let below = &wide[number].backward;
            let out = below.blocks();
            centre = vec![Lanes::ZERO; out];
            (radius, gradient_radius, linear) = (centre.clone(), centre.clone(), centre.clone());
            gradient = vec![Lanes::ZERO; n * out];
            below.multiply(&down, &mut centre);
            below.multiply_sizes(&down_radius, &mut radius);
            below.multiply(&slope, &mut gradient);
            below.multiply_sizes(&slope_radius, &mut gradient_radius);
            for b in 0..out {
                for l in 0..LANES {
                    let square: f64 = (0..n).map(|i| gradient[i * out + b].0[l].powi(2)).sum();
                    let mean = self.distance * (square.sqrt() + gradient_radius[b].0[l]);
                    linear[b].0[l] = mean;
                    if mean < radius[b].0[l] {
                        radius[b].0[l] = mean;
                    }
                }
            }
        }
        if lost {
            sums[1].identity = f64::NEG_INFINITY;
        }
        let out = centre.len();
        let of = |j: usize| {
            let at = |lanes: &[Lanes]| lanes[j / LANES].0[j % LANES];
            Adjoint {
                centre: at(&centre),
                radius: at(&radius),
                linear: at(&linear),
                gradient: (0..n).map(|i| at(&gradient[i * out..(i + 1) * out])).collect(),
                gradient_radius: at(&gradient_radius),
            }
        };
        Some((0..arguments).map(of).collect())
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
fn spread(form: &Form, adjoint: &Adjoint, inputs: usize, adjoints: &mut [Adjoint]) {
    for (k, &term) in form.terms.iter().skip(inputs).enumerate().filter(|(_, t)| **t != 0.0) {
        let to = &mut adjoints[k];
        to.centre += term * adjoint.centre;
        to.radius += term.abs() * adjoint.radius;
        to.linear += term.abs() * adjoint.linear;
        add(&mut to.gradient, term, &adjoint.gradient);
        to.gradient_radius += term.abs() * adjoint.gradient_radius;
    }
}

impl Layer {
    /// Slopes and second derivatives of a layer; nothing where a kink is too near the point.
    fn enclose(unit: Unit, state: &super::affine::LayerState, point: &LayerPoint) -> Option<Layer> {
        let blocks = point.z.len();
        let zeros = || vec![Lanes::ZERO; blocks];
        let mut layer = Layer {
            slope: zeros(),
            slope_radius: zeros(),
            slope_most: zeros(),
            bend_low: zeros(),
            bend_high: zeros(),
            bend: zeros(),
            bend_radius: zeros(),
            bend_most: zeros(),
            jerk: zeros(),
            reach: zeros(),
            support: zeros(),
            length: zeros(),
            rho: zeros(),
            rho_linear: zeros(),
            hessian: zeros(),
        };
        for b in 0..blocks {
            for l in 0..LANES {
                let range = Interval { lower: state.lower[b].0[l], upper: state.upper[b].0[l] };
                let (slopes, bends) = (unit.slopes(range), unit.bends(range));
                let (s, sr) = around(slopes, point.slope[b].0[l]);
                let (c, cr) = around(bends, point.bend[b].0[l]);
                layer.slope[b].0[l] = s;
                layer.slope_radius[b].0[l] = sr;
                layer.slope_most[b].0[l] = slopes.size();
                layer.bend_low[b].0[l] = bends.lower;
                layer.bend_high[b].0[l] = bends.upper;
                layer.bend[b].0[l] = c;
                layer.bend_radius[b].0[l] = cr;
                layer.bend_most[b].0[l] = bends.size();
                layer.jerk[b].0[l] = unit.jerk(range);
            }
        }
        Some(layer)
    }
}
