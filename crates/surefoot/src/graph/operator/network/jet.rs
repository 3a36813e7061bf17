//! Value, gradient and Hessian of a network at a point: layer by layer, in lanes.

use crate::graph::Unit;
use crate::graph::jet::{Gram, Order, Point, add_hessian, dot};
use crate::network::{LANES, Lanes, Network, Real, Vectorised, vectorised};

/// A hidden layer evaluated at a point.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayerPoint {
    /// The gradients of the units' arguments, input by input.
    pub columns: Vec<Lanes>,
    /// The units' arguments.
    pub z: Vec<Lanes>,
    /// The units' outputs, with their first and second derivatives.
    pub h: Vec<Lanes>,
    pub slope: Vec<Lanes>,
    pub curvature: Vec<Lanes>,
    adjoint: Vec<Lanes>,
}

/// Evaluates a network at the arguments of a point. `input` is scratch memory.
pub(super) fn evaluate(
    network: &Network,
    point: &mut Point,
    inputs: usize,
    order: Order,
    input: &mut Vec<Lanes>,
) {
    let derivatives = if order >= Order::Gradient { inputs } else { 0 };
    let layers = network.wide();
    let (hidden, last) = layers.split_at(layers.len() - 1);
    let stride = point.arguments.len().div_ceil(LANES);
    input.clear();
    input.resize((derivatives + 1) * stride, Lanes::ZERO);
    for (j, jet) in point.arguments.iter().enumerate() {
        let mut set = |c: usize, value: f64| input[c * stride + j / LANES].0[j % LANES] = value;
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
        layer.forward.multiply(input, &mut this.columns);
        this.z.copy_from_slice(&this.columns[derivatives * blocks..]);
        vectorised(Activate { layer: this, bias: &layer.bias, unit: activation.into() });
        // The outputs are the inputs of the next layer.
        input.resize((derivatives + 1) * blocks, Lanes::ZERO);
        for c in 0..derivatives {
            for b in 0..blocks {
                input[c * blocks + b] = this.columns[c * blocks + b] * this.slope[b];
            }
        }
        input[derivatives * blocks..].copy_from_slice(&this.h);
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
        jet.gradient.push(dot(&top.adjoint, &input[c * blocks..(c + 1) * blocks]));
    }
    if order >= Order::Hessian {
        add_hessians(network, point, inputs, input);
    }
}

/// Computes the Hessian of a network from its value and gradient: the terms of its units, and those of
/// its arguments' Hessians.
fn add_hessians(network: &Network, point: &mut Point, inputs: usize, input: &mut Vec<Lanes>) {
    let hidden = network.wide();
    let jet = &mut point.jet;
    jet.hessian.resize(inputs * inputs, 0.0);
    for number in (0..point.layers.len()).rev() {
        let (below, above) = point.layers.split_at_mut(number + 1);
        let this = &mut below[number];
        if let Some(next) = above.first() {
            input.clear();
            input.extend(next.adjoint.iter().zip(&next.slope).map(|(&a, &s)| a * s));
            hidden[number + 1].backward.multiply(input, &mut this.adjoint);
        }
        input.clear();
        input.extend(this.adjoint.iter().zip(&this.curvature).map(|(&a, &s)| a * s));
        vectorised(Gram { columns: &this.columns, weight: input, hessian: &mut jet.hessian, inputs });
    }
    if point.arguments.iter().any(|argument| !argument.hessian.is_empty()) {
        let first = &point.layers[0];
        input.clear();
        input.extend(first.adjoint.iter().zip(&first.slope).map(|(&a, &s)| a * s));
        let mut adjoint = vec![Lanes::ZERO; point.arguments.len().div_ceil(LANES)];
        hidden[0].backward.multiply(input, &mut adjoint);
        for (j, argument) in point.arguments.iter().enumerate() {
            add_hessian(&mut jet.hessian, adjoint[j / LANES].0[j % LANES], &argument.hessian);
        }
    }
}

/// Adds biases and applies the activation, with two derivatives, to a layer.
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
