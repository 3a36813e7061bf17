//! Value, gradient and Hessian of a graph at a point, in one pass forwards.
//!
//! Each operation passes on its value with its gradient and its Hessian in the inputs. Inside a
//! network the Hessian is `sum_n a_n s''(z_n) v_n v_n^T` over the units, with `a_n` the adjoint
//! of the unit's output and `v_n` the gradient of what goes into it, plus what the arguments
//! bring along.

use crate::graph::{AffineForm, Graph, Operation, Unit};
use crate::network::{LANES, Lanes, Network, Real, Vectorised, vectorised};

/// How much is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Value,
    Gradient,
    Hessian,
}

/// A value with its derivatives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jet {
    pub value: f64,
    pub gradient: Vec<f64>,
    /// Row by row; symmetric. Empty where it is zero.
    pub hessian: Vec<f64>,
}

/// A hidden layer at a point.
#[derive(Clone, Debug, Default)]
pub(super) struct LayerPoint {
    /// What goes into each unit: its gradient, input by input.
    pub columns: Vec<Lanes>,
    /// What goes into each unit.
    pub z: Vec<Lanes>,
    /// What comes out, with its first and second derivative.
    pub h: Vec<Lanes>,
    pub slope: Vec<Lanes>,
    pub curvature: Vec<Lanes>,
    adjoint: Vec<Lanes>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub jet: Jet,
    /// The arguments; of a network all of them.
    pub arguments: Vec<Jet>,
    pub layers: Vec<LayerPoint>,
}

/// Evaluates graphs; keeps its memory from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jets {
    pub(super) points: Vec<Point>,
    input: Vec<Lanes>,
    /// Points evaluated so far with derivatives.
    pub count: usize,
    /// Points evaluated so far without.
    pub values: usize,
}

impl Jets {
    /// The value at a point, with derivatives if they are asked for. Not a number where the point
    /// concerns nobody, minus infinity where the result of the action is undefined.
    pub fn evaluate(&mut self, graph: &Graph<'_>, y: &[f64], order: Order) -> Jet {
        if order == Order::Value {
            self.values += 1;
        } else {
            self.count += 1;
        }
        let inputs = graph.inputs;
        self.points.resize_with(graph.operations.len(), Point::default);
        for (k, operation) in graph.operations.iter().enumerate() {
            let mut point = std::mem::take(&mut self.points[k]);
            point.arguments.clear();
            match operation {
                Operation::Unit(unit, form) => {
                    let jet = self.form(form, y, order);
                    point.jet = compose(*unit, &jet, order);
                    point.arguments.push(jet);
                }
                Operation::Product(left, right) => {
                    let (a, b) = (self.form(left, y, order), self.form(right, y, order));
                    point.jet = product(&a, &b, order);
                    point.arguments.extend([a, b]);
                }
                Operation::Network(network, forms) => {
                    point.arguments.extend(forms.iter().map(|form| self.form(form, y, order)));
                    self.network(network, inputs, order, &mut point);
                }
                Operation::Implicit(function, forms) => {
                    point.arguments.extend(forms.iter().map(|form| self.form(form, y, order)));
                    let at: Vec<f64> = point.arguments.iter().map(|jet| jet.value).collect();
                    // For its second derivatives nobody waits: searches do without, proofs do
                    // not rely on them.
                    let mut jet = Jet { value: function.solution(&at), ..Jet::default() };
                    if order >= Order::Gradient {
                        jet.gradient.resize(inputs, 0.0);
                        for (slope, argument) in function.slopes(&at).iter().zip(&point.arguments) {
                            add(&mut jet.gradient, *slope, &argument.gradient);
                        }
                    }
                    point.jet = jet;
                }
                Operation::Slack(..) => {
                    point.jet = Jet::default();
                    if order >= Order::Gradient {
                        point.jet.gradient.resize(inputs, 0.0);
                    }
                }
            }
            self.points[k] = point;
        }
        let mut jet = self.form(&graph.output, y, order);
        let undefined = self.points.iter().position(|point| !point.jet.value.is_finite());
        if graph.is_of_nobody || undefined.is_some_and(|k| k < graph.perturbed) {
            jet.value = f64::NAN;
        } else if undefined.is_some() || jet.value.is_nan() {
            jet.value = f64::NEG_INFINITY;
        }
        jet
    }

    /// Whether the last point is on a kink, or too near to tell.
    pub fn on_a_kink(&self, graph: &Graph<'_>) -> bool {
        let near = |z: f64| z.abs() < 1e-9;
        graph.operations.iter().zip(&self.points).any(|(operation, point)| match operation {
            Operation::Unit(Unit::Relu, _) => point.arguments.iter().any(|argument| near(argument.value)),
            Operation::Network(network, _) if network.activation() == crate::Activation::Relu => {
                let units = network.wide().iter().zip(&point.layers);
                units.into_iter().any(|(layer, units)| {
                    let count = layer.backward.inputs();
                    (0..count).any(|j| near(units.z[j / LANES].0[j % LANES]))
                })
            }
            _ => false,
        })
    }

    pub(super) fn form(&self, form: &AffineForm, y: &[f64], order: Order) -> Jet {
        let inputs = y.len();
        let mut jet = Jet { value: form.constant, ..Jet::default() };
        if order >= Order::Gradient {
            jet.gradient.resize(inputs, 0.0);
        }
        for (i, &term) in form.terms.iter().enumerate().filter(|(_, t)| **t != 0.0) {
            if i < inputs {
                jet.value += term * y[i];
                if order >= Order::Gradient {
                    jet.gradient[i] += term;
                }
                continue;
            }
            let other = &self.points[i - inputs].jet;
            jet.value += term * other.value;
            add(&mut jet.gradient, term, &other.gradient);
            add_hessian(&mut jet.hessian, term, &other.hessian);
        }
        jet
    }

    fn network(&mut self, network: &Network, inputs: usize, order: Order, point: &mut Point) {
        let derivatives = if order >= Order::Gradient { inputs } else { 0 };
        let layers = network.wide();
        let (hidden, last) = layers.split_at(layers.len() - 1);
        let stride = point.arguments.len().div_ceil(LANES);
        self.input.clear();
        self.input.resize((derivatives + 1) * stride, Lanes::ZERO);
        for (j, jet) in point.arguments.iter().enumerate() {
            let mut set = |c: usize, value: f64| self.input[c * stride + j / LANES].0[j % LANES] = value;
            jet.gradient.iter().take(derivatives).enumerate().for_each(|(c, &g)| set(c, g));
            set(derivatives, jet.value);
        }
        point.layers.resize_with(hidden.len(), LayerPoint::default);
        let activation = network.activation();
        for (number, layer) in hidden.iter().enumerate() {
            let blocks = layer.forward.blocks();
            let this = &mut point.layers[number];
            this.columns.resize((derivatives + 1) * blocks, Lanes::ZERO);
            for lanes in [&mut this.z, &mut this.h, &mut this.slope, &mut this.curvature, &mut this.adjoint] {
                lanes.resize(blocks, Lanes::ZERO);
            }
            layer.forward.multiply(&self.input, &mut this.columns);
            this.z.copy_from_slice(&this.columns[derivatives * blocks..]);
            vectorised(Activate { layer: this, bias: &layer.bias, unit: activation.into() });
            // What comes out goes into the next.
            self.input.resize((derivatives + 1) * blocks, Lanes::ZERO);
            for c in 0..derivatives {
                for b in 0..blocks {
                    self.input[c * blocks + b] = this.columns[c * blocks + b] * this.slope[b];
                }
            }
            self.input[derivatives * blocks..].copy_from_slice(&this.h);
        }
        let mut one = [Lanes::ZERO];
        one[0].0[0] = 1.0;
        let jet = &mut point.jet;
        jet.gradient.clear();
        jet.hessian.clear();
        let Some(top) = point.layers.last_mut() else { return };
        last[0].backward.multiply(&one, &mut top.adjoint);
        let blocks = top.adjoint.len();
        jet.value = dot(&top.adjoint, &top.h) + last[0].bias[0].0[0];
        for c in 0..derivatives {
            jet.gradient.push(dot(&top.adjoint, &self.input[c * blocks..(c + 1) * blocks]));
        }
        if order < Order::Hessian {
            return;
        }
        jet.hessian.resize(inputs * inputs, 0.0);
        for number in (0..point.layers.len()).rev() {
            let (below, above) = point.layers.split_at_mut(number + 1);
            let this = &mut below[number];
            if let Some(next) = above.first() {
                self.input.clear();
                self.input.extend(next.adjoint.iter().zip(&next.slope).map(|(&a, &s)| a * s));
                hidden[number + 1].backward.multiply(&self.input, &mut this.adjoint);
            }
            self.input.clear();
            self.input.extend(this.adjoint.iter().zip(&this.curvature).map(|(&a, &s)| a * s));
            vectorised(Gram {
                columns: &this.columns,
                weight: &self.input,
                hessian: &mut jet.hessian,
                inputs,
            });
        }
        if point.arguments.iter().any(|argument| !argument.hessian.is_empty()) {
            let first = &point.layers[0];
            self.input.clear();
            self.input.extend(first.adjoint.iter().zip(&first.slope).map(|(&a, &s)| a * s));
            let mut adjoint = vec![Lanes::ZERO; stride];
            hidden[0].backward.multiply(&self.input, &mut adjoint);
            for (j, argument) in point.arguments.iter().enumerate() {
                add_hessian(&mut jet.hessian, adjoint[j / LANES].0[j % LANES], &argument.hessian);
            }
        }
    }
}

fn add(sum: &mut [f64], share: f64, other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(s, o)| *s += share * o);
}

/// An empty Hessian is zero.
fn add_hessian(sum: &mut Vec<f64>, share: f64, other: &[f64]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), 0.0);
    }
    add(sum, share, other);
}

fn outer(hessian: &mut Vec<f64>, share: f64, a: &[f64], b: &[f64]) {
    let n = a.len();
    hessian.resize(n * n, 0.0);
    for i in 0..n {
        for j in 0..n {
            hessian[i * n + j] += share * 0.5 * (a[i] * b[j] + a[j] * b[i]);
        }
    }
}

fn compose(unit: Unit, argument: &Jet, order: Order) -> Jet {
    let mut jet = Jet { value: unit.value(argument.value), ..Jet::default() };
    if order >= Order::Gradient {
        let (slope, curvature) = unit.derivatives(argument.value);
        jet.gradient.extend(argument.gradient.iter().map(|g| slope * g));
        if order >= Order::Hessian {
            outer(&mut jet.hessian, curvature, &argument.gradient, &argument.gradient);
            add_hessian(&mut jet.hessian, slope, &argument.hessian);
        }
    }
    jet
}

fn product(a: &Jet, b: &Jet, order: Order) -> Jet {
    let mut jet = Jet { value: a.value * b.value, ..Jet::default() };
    if order >= Order::Gradient {
        jet.gradient.extend(a.gradient.iter().zip(&b.gradient).map(|(x, y)| b.value * x + a.value * y));
        if order >= Order::Hessian {
            outer(&mut jet.hessian, 2.0, &a.gradient, &b.gradient);
            add_hessian(&mut jet.hessian, b.value, &a.hessian);
            add_hessian(&mut jet.hessian, a.value, &b.hessian);
        }
    }
    jet
}

pub(super) fn dot(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a.0[l] * b.0[l];
        }
    }
    sums.iter().sum()
}

struct Activate<'a> {
    layer: &'a mut LayerPoint,
    bias: &'a [Lanes],
    unit: Unit,
}

impl Vectorised for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Activate { layer, bias, unit } = self;
        for b in 0..bias.len() {
            for l in 0..LANES {
                layer.z[b].0[l] += bias[b].0[l];
            }
            let z = layer.z[b].0;
            let (mut h, mut slope, mut curvature) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            match unit {
                Unit::Tanh => {
                    for l in 0..LANES {
                        h[l] = f64::activated::<FUSED>(crate::Activation::Tanh, z[l]);
                        slope[l] = 1.0 - h[l] * h[l];
                        curvature[l] = -2.0 * h[l] * slope[l];
                    }
                }
                Unit::Sigmoid => {
                    for l in 0..LANES {
                        h[l] = f64::activated::<FUSED>(crate::Activation::Sigmoid, z[l]);
                        slope[l] = h[l] * (1.0 - h[l]);
                        curvature[l] = slope[l] * (1.0 - 2.0 * h[l]);
                    }
                }
                _ => {
                    for l in 0..LANES {
                        h[l] = unit.value(z[l]);
                        (slope[l], curvature[l]) = unit.derivatives(z[l]);
                    }
                }
            }
            (layer.h[b].0, layer.slope[b].0, layer.curvature[b].0) = (h, slope, curvature);
        }
    }
}

/// Adds `sum_n weight_n v_n v_n^T`.
pub(super) struct Gram<'a> {
    pub columns: &'a [Lanes],
    pub weight: &'a [Lanes],
    pub hessian: &'a mut [f64],
    pub inputs: usize,
}

impl Vectorised for Gram<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Gram { columns, weight, hessian, inputs } = self;
        let blocks = weight.len();
        for i in 0..inputs {
            for j in 0..=i {
                let mut sums = [0.0; LANES];
                for b in 0..blocks {
                    let (x, y) = (&columns[i * blocks + b].0, &columns[j * blocks + b].0);
                    for l in 0..LANES {
                        sums[l] = f64::fused::<FUSED>(weight[b].0[l] * x[l], y[l], sums[l]);
                    }
                }
                let sum: f64 = sums.iter().sum();
                hessian[i * inputs + j] += sum;
                if i != j {
                    hessian[j * inputs + i] += sum;
                }
            }
        }
    }
}
