//! Value, gradient and Hessian of a graph at a point, in one forward pass.
//!
//! Each operation passes on its value, its gradient and its Hessian in the inputs. Inside a network the
//! Hessian is `sum_n a_n s''(z_n) v_n v_n^T` over the units, with `a_n` the adjoint of the unit's output
//! and `v_n` the gradient of its argument, plus the terms of the Hessians of the network's arguments.

use super::operator::LayerPoint;
use super::{AffineForm, Graph};
use crate::network::{LANES, Lanes, Real, Vectorised};

/// The highest derivative to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Value,
    Gradient,
    Hessian,
}

/// A value with its derivatives in the inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jet {
    pub value: f64,
    pub gradient: Vec<f64>,
    /// Symmetric, row by row; empty where it is zero.
    pub hessian: Vec<f64>,
}

/// An operation evaluated at a point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    /// The result.
    pub jet: Jet,
    pub arguments: Vec<Jet>,
    /// The hidden layers of a network.
    pub layers: Vec<LayerPoint>,
}

impl Point {
    /// An argument of relu counts as on the kink if its absolute value is below this.
    pub const NEAR_KINK: f64 = 1e-9;
}

/// Evaluates graphs, and reuses its memory from one evaluation to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jets {
    pub(crate) points: Vec<Point>,
    lanes: Vec<Lanes>,
    /// The number of evaluations with derivatives so far.
    pub count: usize,
    /// The number of evaluations without derivatives so far.
    pub values: usize,
}

impl Jets {
    /// The value at a point, with derivatives up to `order`. NaN where the perturbed individual is
    /// undefined; minus infinity where only the result of the action is undefined.
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
            point.arguments.extend(operation.arguments.iter().map(|form| self.form(form, y, order)));
            operation.operator.evaluate(&mut point, inputs, order, &mut self.lanes);
            self.points[k] = point;
        }
        let mut jet = self.form(&graph.output, y, order);
        let undefined = self.points.iter().position(|point| !point.jet.value.is_finite());
        if graph.is_vacuous || undefined.is_some_and(|k| k < graph.perturbed) {
            jet.value = f64::NAN;
        } else if undefined.is_some() || jet.value.is_nan() {
            jet.value = f64::NEG_INFINITY;
        }
        jet
    }

    /// Whether the last point is on a kink, or within [`Point::NEAR_KINK`] of one.
    pub fn on_a_kink(&self, graph: &Graph<'_>) -> bool {
        graph.operations.iter().zip(&self.points).any(|(o, point)| o.operator.is_on_kink(point))
    }

    fn form(&self, form: &AffineForm, y: &[f64], order: Order) -> Jet {
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
}

fn add(sum: &mut [f64], share: f64, other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(s, o)| *s += share * o);
}

/// Adds `share` times a Hessian; an empty Hessian is zero.
pub(crate) fn add_hessian(sum: &mut Vec<f64>, share: f64, other: &[f64]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), 0.0);
    }
    add(sum, share, other);
}

/// Adds `share (a b^T + b a^T) / 2`.
pub(crate) fn outer(hessian: &mut Vec<f64>, share: f64, a: &[f64], b: &[f64]) {
    let n = a.len();
    hessian.resize(n * n, 0.0);
    for i in 0..n {
        for j in 0..n {
            hessian[i * n + j] += share * 0.5 * (a[i] * b[j] + a[j] * b[i]);
        }
    }
}

/// The value of an operation with its gradient in the inputs, by the chain rule, without second
/// derivatives.
pub(crate) fn chain(value: f64, slopes: &[f64], arguments: &[Jet], inputs: usize, order: Order) -> Jet {
    let mut jet = Jet { value, ..Jet::default() };
    if order >= Order::Gradient {
        jet.gradient.resize(inputs, 0.0);
        for (slope, argument) in slopes.iter().zip(arguments).filter(|(slope, _)| **slope != 0.0) {
            add(&mut jet.gradient, *slope, &argument.gradient);
        }
    }
    jet
}

pub(crate) fn dot(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a.0[l] * b.0[l];
        }
    }
    sums.iter().sum()
}

/// Adds `sum_n weight_n v_n v_n^T`.
pub(crate) struct Gram<'a> {
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
