//! Dense networks: layers of weights with one activation between them and a single output.
//!
//! Value, gradient and directional derivative are available for one input, by simple loops, and for a block
//! of [`LANES`] inputs, by vectorised ones.

mod file;
mod kernel;
mod lanes;
mod real;
mod trainable;
mod wide;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;

pub(crate) use kernel::{Vectorised, vectorised};
pub use lanes::{LANES, Lanes};
pub(crate) use real::Real;
pub(crate) use wide::{WideLayer, on_lanes};

use crate::digest::Digest;
use crate::error::ModelError;
use crate::magnitude::is_moderate;
use crate::{Error, Result};
use kernel::Packed;
pub(crate) use trainable::{Block, Trainable};

/// The function between the layers of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Hyperbolic tangent.
    Tanh,
    /// `max(z, 0)`, with derivative 0 at 0.
    Relu,
    /// `1 / (1 + exp(-z))`.
    Sigmoid,
}

impl Activation {
    pub(crate) fn value(self, z: f64) -> f64 {
        match self {
            Activation::Tanh => z.tanh(),
            // Unlike the standard library's maximum this propagates NaN.
            Activation::Relu => {
                if z > 0.0 || z.is_nan() {
                    z
                } else {
                    0.0
                }
            }
            Activation::Sigmoid => sigmoid(z),
        }
    }

    /// The derivative, from the value `h = self.value(z)`.
    pub(crate) fn slope(self, h: f64) -> f64 {
        match self {
            Activation::Tanh => 1.0 - h * h,
            Activation::Relu => f64::from(u8::from(h > 0.0)),
            Activation::Sigmoid => h * (1.0 - h),
        }
    }
}

/// `1 / (1 + exp(-z))` without overflow.
pub(crate) fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        let e = z.exp();
        e / (1.0 + e)
    }
}

/// The inverse of [`sigmoid`], for probabilities strictly between 0 and 1.
pub(crate) fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// One layer, `z = weight * x + bias`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// One row per output.
    pub weight: Array2<f64>,
    /// One entry per output.
    pub bias: Array1<f64>,
}

/// A dense network `f(x) = W_k s(... s(W_1 x + b_1) ...) + b_k` with a single output.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    layers: Vec<Layer>,
    activation: Activation,
    double: Passes<f64>,
    single: Passes<f32>,
    /// Every layer, for bounds and second derivatives.
    wide: Vec<WideLayer>,
}

/// The layers, packed for the passes over a block of inputs in one precision.
#[derive(Clone, Debug, PartialEq)]
struct Passes<T> {
    /// The layers, for forward passes.
    forward: Vec<Packed<T>>,
    /// The transposed layers, for reverse passes.
    backward: Vec<Packed<T>>,
    /// The weights of the last layer.
    last: Vec<T>,
}

/// The workspace of an evaluation of a network on a block of inputs.
#[derive(Clone, Debug)]
pub(crate) struct Workspace<T = f64> {
    /// Outputs of the hidden layers.
    hidden: Vec<Vec<Lanes<T>>>,
    /// Two buffers of the size of the largest layer.
    buffers: [Vec<Lanes<T>>; 2],
}

/// The workspace of an evaluation in floats.
#[derive(Clone, Debug)]
pub(crate) struct SingleWorkspace {
    workspace: Workspace<f32>,
    input: Vec<Lanes<f32>>,
    gradient: Vec<Lanes<f32>>,
}

impl Network {
    /// Checks that layers fit one another, end in one output and hold finite numbers.
    pub fn new(layers: Vec<Layer>, activation: Activation) -> Result<Self> {
        let Some(last) = layers.last() else {
            return Err(Error::Model(ModelError::NetworkWithoutLayers));
        };
        if last.weight.nrows() != 1 {
            return Err(Error::Model(ModelError::NetworkOutputs { outputs: last.weight.nrows() }));
        }
        for (number, layer) in layers.iter().enumerate() {
            let (outputs, inputs) = layer.weight.dim();
            let expected = number.checked_sub(1).map_or(inputs, |before| layers[before].bias.len());
            if inputs != expected || layer.bias.len() != outputs || inputs == 0 || outputs == 0 {
                let biases = layer.bias.len();
                return Err(Error::Model(ModelError::NetworkShape {
                    layer: number,
                    outputs,
                    inputs,
                    biases,
                    expected,
                }));
            }
            if let Some(&value) = layer.weight.iter().chain(&layer.bias).find(|v| !is_moderate(**v)) {
                return Err(Error::Model(ModelError::NetworkNotFinite { layer: number, value }));
            }
        }
        let (double, single) = (Passes::new(&layers), Passes::new(&layers));
        let wide = layers.iter().map(WideLayer::new).collect();
        Ok(Self { layers, activation, double, single, wide })
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.layers[0].weight.ncols()
    }

    /// The layers in order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The function between the layers.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Adds the content of the network to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        digest.text(match self.activation {
            Activation::Tanh => "tanh",
            Activation::Relu => "relu",
            Activation::Sigmoid => "sigmoid",
        });
        for layer in &self.layers {
            let (outputs, inputs) = layer.weight.dim();
            digest.count(outputs);
            digest.count(inputs);
            digest.numbers(layer.weight.iter());
            digest.numbers(layer.bias.iter());
        }
    }

    pub(crate) fn wide(&self) -> &[WideLayer] {
        &self.wide
    }

    /// `f(x)`.
    ///
    /// # Panics
    /// Here and below, if `x` is not as long as [`Network::inputs`].
    pub fn value(&self, x: &[f64]) -> f64 {
        let (hidden, last) = self.hidden(x);
        let top = hidden.last().map_or(ArrayView1::from(x), |h| h.view());
        last.weight.row(0).dot(&top) + last.bias[0]
    }

    /// The gradient of `f` at `x`, by one reverse pass.
    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let (hidden, last) = self.hidden(x);
        let mut adjoint = last.weight.row(0).to_owned();
        for (layer, h) in self.layers.iter().zip(&hidden).rev() {
            adjoint.zip_mut_with(h, |a, &h| *a *= self.activation.slope(h));
            adjoint = layer.weight.t().dot(&adjoint);
        }
        adjoint.to_vec()
    }

    /// `f` for every row, on all cores.
    pub fn values(&self, rows: ArrayView2<'_, f64>) -> Vec<f64> {
        self.for_blocks(rows, |block, workspace| self.forward(block, workspace))
    }

    /// `f` and its gradient for every row, on all cores.
    pub fn gradients(&self, rows: ArrayView2<'_, f64>) -> (Vec<f64>, Array2<f64>) {
        let inputs = self.inputs();
        let blocks = self.for_blocks_with(rows, |block, workspace| {
            let value = self.forward(block, workspace);
            let mut gradient = vec![Lanes::ZERO; inputs];
            self.backward(workspace, &mut gradient);
            (value, gradient)
        });
        let value = |row: usize| blocks[row / LANES].0.0[row % LANES];
        let slope = |(row, j): (usize, usize)| blocks[row / LANES].1[j].0[row % LANES];
        ((0..rows.nrows()).map(value).collect(), Array2::from_shape_fn((rows.nrows(), inputs), slope))
    }

    /// The derivative of `f` at every row in the direction of the same row of `directions`, on
    /// all cores, by a tangent pass.
    pub fn directional(&self, rows: ArrayView2<'_, f64>, directions: ArrayView2<'_, f64>) -> Vec<f64> {
        assert_eq!(rows.dim(), directions.dim(), "a direction for every row");
        let both = ndarray::concatenate![ndarray::Axis(1), rows, directions];
        self.for_blocks(both.view(), |block, workspace| {
            let (x, direction) = block.split_at(self.inputs());
            self.forward(x, workspace);
            self.tangent(direction, workspace)
        })
    }

    fn for_blocks(
        &self,
        rows: ArrayView2<'_, f64>,
        f: impl Fn(&[Lanes], &mut Workspace) -> Lanes + Sync,
    ) -> Vec<f64> {
        let mut values: Vec<f64> =
            self.for_blocks_with(rows, f).into_iter().flat_map(|lanes| lanes.0).collect();
        values.truncate(rows.nrows());
        values
    }

    /// Applies a function to every block of rows; an incomplete last block repeats its last row.
    fn for_blocks_with<T: Send>(
        &self,
        rows: ArrayView2<'_, f64>,
        f: impl Fn(&[Lanes], &mut Workspace) -> T + Sync,
    ) -> Vec<T> {
        let blocks = (0..rows.nrows().div_ceil(LANES)).into_par_iter();
        let block = |workspace: &mut Workspace, number: usize| {
            let row = |l: usize| (number * LANES + l).min(rows.nrows() - 1);
            let columns = (0..rows.ncols()).map(|j| Lanes::from_fn(|l| rows[[row(l), j]]));
            f(&columns.collect::<Vec<_>>(), workspace)
        };
        blocks.map_init(|| self.workspace(), block).collect()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        self.double.workspace()
    }

    pub(crate) fn single_workspace(&self) -> SingleWorkspace {
        let zeros = vec![Lanes([0.0; LANES]); self.inputs()];
        SingleWorkspace { workspace: self.single.workspace(), input: zeros.clone(), gradient: zeros }
    }

    /// `f` for a block.
    pub(crate) fn forward(&self, x: &[Lanes], workspace: &mut Workspace) -> Lanes {
        self.double.forward(self.activation, x, workspace)
    }

    /// The gradient of `f` where it was last evaluated with this workspace.
    pub(crate) fn backward(&self, workspace: &mut Workspace, gradient: &mut [Lanes]) {
        self.double.backward(self.activation, workspace, gradient);
    }

    /// `f` for a block, in floats.
    pub(crate) fn forward_single(&self, x: &[Lanes], single: &mut SingleWorkspace) -> Lanes {
        single.input.iter_mut().zip(x).for_each(|(place, x)| *place = x.single());
        self.single.forward(self.activation, &single.input, &mut single.workspace).double()
    }

    /// The gradient of `f` where it was last evaluated in floats with this workspace.
    pub(crate) fn backward_single(&self, single: &mut SingleWorkspace, gradient: &mut [Lanes]) {
        self.single.backward(self.activation, &mut single.workspace, &mut single.gradient);
        gradient.iter_mut().zip(&single.gradient).for_each(|(place, g)| *place = g.double());
    }

    /// The derivative of `f` in a direction, where it was last evaluated with this workspace.
    fn tangent(&self, direction: &[Lanes], workspace: &mut Workspace) -> Lanes {
        let Workspace { hidden, buffers: [tangent, next] } = workspace;
        let forward = &self.double.forward;
        tangent[..direction.len()].copy_from_slice(direction);
        let mut width = direction.len();
        for (layer, h) in forward.iter().zip(hidden.iter()) {
            layer.apply_linear(&tangent[..width], &mut next[..h.len()]);
            kernel::multiply_slopes(self.activation, next, h);
            std::mem::swap(tangent, next);
            width = h.len();
        }
        let mut value = [Lanes::ZERO];
        forward[forward.len() - 1].apply_linear(&tangent[..width], &mut value);
        value[0]
    }

    /// Outputs of the hidden layers in order, and the layer after them.
    fn hidden(&self, x: &[f64]) -> (Vec<Array1<f64>>, &Layer) {
        let (last, before) = match self.layers.split_last() {
            Some(split) => split,
            None => unreachable!("a network has a layer"),
        };
        let mut hidden: Vec<Array1<f64>> = Vec::with_capacity(before.len());
        for layer in before {
            let input = hidden.last().map_or(ArrayView1::from(x), |h| h.view());
            let mut z = layer.weight.dot(&input) + &layer.bias;
            z.mapv_inplace(|z| self.activation.value(z));
            hidden.push(z);
        }
        (hidden, last)
    }
}

impl<T: Real> Passes<T> {
    fn new(layers: &[Layer]) -> Self {
        let forward =
            |layer: &Layer| Packed::new(layer.weight.dim(), |i, j| layer.weight[[i, j]], |i| layer.bias[i]);
        let backward = |layer: &Layer| {
            let (outputs, inputs) = layer.weight.dim();
            Packed::new((inputs, outputs), |i, j| layer.weight[[j, i]], |_| 0.0)
        };
        let last =
            layers.last().map_or(Vec::new(), |layer| layer.weight.row(0).mapv(T::from_double).to_vec());
        Self {
            forward: layers.iter().map(forward).collect(),
            backward: layers.iter().map(backward).collect(),
            last,
        }
    }

    fn workspace(&self) -> Workspace<T> {
        let zeros = |n: usize| vec![Lanes([T::ZERO; LANES]); n];
        let width = self.forward.iter().chain(&self.backward).map(Packed::outputs).max().unwrap_or(0);
        let hidden = &self.forward[..self.forward.len() - 1];
        let hidden = hidden.iter().map(|layer| zeros(layer.outputs())).collect();
        Workspace { hidden, buffers: [zeros(width), zeros(width)] }
    }

    fn forward(&self, activation: Activation, x: &[Lanes<T>], workspace: &mut Workspace<T>) -> Lanes<T> {
        let mut input = x;
        for (layer, output) in self.forward.iter().zip(&mut workspace.hidden) {
            layer.apply(input, output);
            kernel::activate(activation, output);
            input = output;
        }
        let mut value = [Lanes([T::ZERO; LANES])];
        self.forward[self.forward.len() - 1].apply(input, &mut value);
        value[0]
    }

    fn backward(&self, activation: Activation, workspace: &mut Workspace<T>, gradient: &mut [Lanes<T>]) {
        let Workspace { hidden, buffers: [adjoint, next] } = workspace;
        let start = if hidden.is_empty() { &mut *gradient } else { &mut adjoint[..] };
        start.iter_mut().zip(&self.last).for_each(|(a, &w)| *a = Lanes([w; LANES]));
        for (number, h) in hidden.iter().enumerate().rev() {
            kernel::multiply_slopes(activation, adjoint, h);
            let layer = &self.backward[number];
            if number == 0 {
                layer.apply(&adjoint[..h.len()], gradient);
            } else {
                layer.apply(&adjoint[..h.len()], &mut next[..layer.outputs()]);
                std::mem::swap(adjoint, next);
            }
        }
    }
}

#[cfg(test)]
mod tests;
