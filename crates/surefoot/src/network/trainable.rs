//! Networks with mutable weights: the values and derivatives that training needs, for a block of inputs.
//!
//! Besides value and input gradient these include the gradient *in the weights* of
//!
//! ```text
//! seed * f(x) + v . grad f(x)
//! ```
//!
//! for given numbers `seed` and directions `v`: a tangent pass carries `v` forward, and one
//! reverse pass through both gives every derivative exactly. Penalties on the input gradient
//! are of this form once `v` is fixed: the derivative of `|grad f|^2` in the weights is that of
//! `v . grad f` at `v = 2 grad f`.

use super::kernel::{self, Packed};
use super::real::Real;
use super::{Activation, LANES, Lanes, Layer, Network, Passes, Workspace};
use crate::Result;

/// A network in training. Its parameters are doubles; passes are in the precision `T`.
#[derive(Clone, Debug)]
pub(crate) struct Trainable<T> {
    /// Inputs, then the outputs of every layer.
    widths: Vec<usize>,
    activation: Activation,
    /// Weights of every layer by rows, followed by its biases.
    parameters: Vec<f64>,
    passes: Passes<T>,
}

/// The workspace of the passes over one block of inputs.
#[derive(Clone, Debug)]
pub(crate) struct Block<T> {
    workspace: Workspace<T>,
    input: Vec<Lanes<T>>,
    /// The tangents of the input and of every hidden layer.
    tangents: Vec<Vec<Lanes<T>>>,
    /// The adjoints of values and of tangents, for the current layer and for the one before it.
    adjoints: [Vec<Lanes<T>>; 2],
    tangent_adjoints: [Vec<Lanes<T>>; 2],
    products: Products<T>,
    /// The gradient in the parameters, summed over the inputs of this block.
    pub gradient: Vec<T>,
}

impl<T: Real> Trainable<T> {
    /// A network of these widths (inputs first, one output last) with the given numbers: for
    /// every layer its weights by rows, then its biases.
    pub fn new(widths: Vec<usize>, activation: Activation, parameters: Vec<f64>) -> Self {
        assert_eq!(parameters.len(), Self::count(&widths), "a number for every weight and bias");
        let shapes = || widths.windows(2).map(|pair| (pair[1], pair[0]));
        let passes = Passes {
            forward: shapes().map(|(outputs, inputs)| Packed::zeros(outputs, inputs)).collect(),
            backward: shapes().map(|(outputs, inputs)| Packed::zeros(inputs, outputs)).collect(),
            last: vec![T::ZERO; widths[widths.len() - 2]],
        };
        let mut trainable = Self { widths, activation, parameters, passes };
        trainable.pack();
        trainable
    }

    /// The number of weights and biases of a network of these widths.
    pub fn count(widths: &[usize]) -> usize {
        widths.windows(2).map(|pair| pair[1] * (pair[0] + 1)).sum()
    }

    /// The parameters, in the order of [`Trainable::new`].
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Changes the parameters by a function.
    pub fn update(&mut self, change: impl FnOnce(&mut [f64])) {
        change(&mut self.parameters);
        self.pack();
    }

    /// The network with the current parameters.
    pub fn network(&self) -> Result<Network> {
        let layer = |(k, start): (usize, usize)| {
            let (inputs, outputs) = (self.widths[k], self.widths[k + 1]);
            let number = |i: usize| self.parameters[start + i];
            Layer {
                weight: ndarray::Array2::from_shape_fn((outputs, inputs), |(i, j)| number(i * inputs + j)),
                bias: (0..outputs).map(|i| number(outputs * inputs + i)).collect(),
            }
        };
        Network::new(self.starts().into_iter().enumerate().map(layer).collect(), self.activation)
    }

    /// The position of the first parameter of each layer.
    fn starts(&self) -> Vec<usize> {
        let ends = self.widths.windows(2).scan(0, |end, pair| {
            let start = *end;
            *end += pair[1] * (pair[0] + 1);
            Some(start)
        });
        ends.collect()
    }

    fn pack(&mut self) {
        let Passes { forward, backward, last } = &mut self.passes;
        let mut rest = &self.parameters[..];
        for (k, (forward, backward)) in forward.iter_mut().zip(backward).enumerate() {
            let (inputs, outputs) = (self.widths[k], self.widths[k + 1]);
            let (weights, after) = rest.split_at(inputs * outputs);
            let (biases, after) = after.split_at(outputs);
            forward.fill(|i, j| T::from_double(weights[i * inputs + j]), |i| T::from_double(biases[i]));
            backward.fill(|i, j| T::from_double(weights[j * inputs + i]), |_| T::ZERO);
            if after.is_empty() {
                last.iter_mut().zip(weights).for_each(|(place, &w)| *place = T::from_double(w));
            }
            rest = after;
        }
    }

    pub fn block(&self) -> Block<T> {
        let zeros = |n: usize| vec![Lanes([T::ZERO; LANES]); n];
        let widest = self.widths.iter().copied().max().unwrap_or(0);
        Block {
            workspace: self.passes.workspace(),
            input: zeros(self.widths[0]),
            tangents: self.widths[..self.widths.len() - 1].iter().map(|&n| zeros(n)).collect(),
            adjoints: [zeros(widest), zeros(widest)],
            tangent_adjoints: [zeros(widest), zeros(widest)],
            products: Products { left: Vec::new(), right: Vec::new(), result: Vec::new() },
            gradient: vec![T::ZERO; self.parameters.len()],
        }
    }

    /// `f` for a block of inputs.
    pub fn value(&self, x: &[Lanes], block: &mut Block<T>) -> Lanes {
        place(&mut block.input, x);
        double(self.passes.forward(self.activation, &block.input, &mut block.workspace))
    }

    /// The gradient of `f` in the inputs, where it was last evaluated.
    pub fn input_gradient(&self, block: &mut Block<T>, gradient: &mut [Lanes]) {
        let buffer = &mut block.adjoints[0][..self.widths[0]];
        self.passes.backward(self.activation, &mut block.workspace, buffer);
        gradient.iter_mut().zip(buffer).for_each(|(place, g)| *place = double(*g));
    }

    /// Adds to `block.gradient` the gradient in the parameters, summed over the lanes, of
    /// `seed * f(x) + direction . grad f(x)` (or of the first term alone) where `f` was last
    /// evaluated.
    pub fn add_gradient(&self, seed: Lanes, direction: Option<&[Lanes]>, block: &mut Block<T>) {
        if let Some(direction) = direction {
            self.tangent(direction, block);
        }
        let Block { workspace, input, tangents, adjoints, tangent_adjoints, products, gradient } = block;
        let [adjoint, next] = adjoints;
        let [tangent_adjoint, next_tangent] = tangent_adjoints;
        // The adjoints of the output: the seed, and 1 for the directional derivative.
        adjoint[0] = Lanes(seed.0.map(T::from_double));
        tangent_adjoint[0] = Lanes([T::ONE; LANES]);
        let mut end = gradient.len();
        for k in (0..self.widths.len() - 1).rev() {
            let (inputs, outputs) = (self.widths[k], self.widths[k + 1]);
            let below: &[Lanes<T>] = if k == 0 { input } else { &workspace.hidden[k - 1] };
            let start = end - outputs * (inputs + 1);
            let (weights, biases) = gradient[start..end].split_at_mut(outputs * inputs);
            end = start;
            for (bias, adjoint) in biases.iter_mut().zip(&adjoint[..outputs]) {
                *bias = adjoint.0.iter().fold(*bias, |sum, &a| sum + a);
            }
            let values = (&adjoint[..outputs], below);
            match direction {
                Some(_) => {
                    let tangents = (&tangent_adjoint[..outputs], &tangents[k][..]);
                    products.add(&[values, tangents], weights);
                }
                None => products.add(&[values], weights),
            }
            if k == 0 {
                break;
            }
            let transposed = &self.passes.backward[k];
            transposed.apply(&adjoint[..outputs], &mut next[..inputs]);
            kernel::multiply_slopes(self.activation, &mut next[..inputs], below);
            if direction.is_some() {
                // z enters the tangent s'(z) dz as well: by s''(z) dz = (s''/s') h' with
                // h' = s'(z) dz.
                transposed.apply(&tangent_adjoint[..outputs], &mut next_tangent[..inputs]);
                self.curvature(&mut next[..inputs], &next_tangent[..inputs], below, &tangents[k]);
                kernel::multiply_slopes(self.activation, &mut next_tangent[..inputs], below);
            }
            std::mem::swap(adjoint, next);
            std::mem::swap(tangent_adjoint, next_tangent);
        }
    }

    /// The tangent pass: propagates a direction forward at the last point of evaluation.
    fn tangent(&self, direction: &[Lanes], block: &mut Block<T>) {
        place(&mut block.tangents[0], direction);
        for (k, h) in block.workspace.hidden.iter().enumerate() {
            let (before, after) = block.tangents.split_at_mut(k + 1);
            self.passes.forward[k].apply_linear(&before[k], &mut after[0]);
            kernel::multiply_slopes(self.activation, &mut after[0], h);
        }
    }

    fn curvature(
        &self,
        sums: &mut [Lanes<T>],
        adjoints: &[Lanes<T>],
        values: &[Lanes<T>],
        tangents: &[Lanes<T>],
    ) {
        for (i, sum) in sums.iter_mut().enumerate() {
            for l in 0..LANES {
                let curvature = T::curvature(self.activation, values[i].0[l]);
                sum.0[l] = sum.0[l] + adjoints[i].0[l] * curvature * tangents[i].0[l];
            }
        }
    }
}

fn place<T: Real>(places: &mut [Lanes<T>], values: &[Lanes]) {
    for (place, value) in places.iter_mut().zip(values) {
        *place = Lanes(value.0.map(T::from_double));
    }
}

fn double<T: Real>(lanes: Lanes<T>) -> Lanes {
    Lanes(lanes.0.map(T::to_double))
}

/// A pair of factors.
type Pair<'a, T> = (&'a [Lanes<T>], &'a [Lanes<T>]);

/// Sums over lanes of products, by the kernel that multiplies matrices with blocks: samples
/// are the inputs of a matrix, and columns of the result the lanes.
#[derive(Clone, Debug)]
struct Products<T> {
    /// The packed matrices, by shape.
    left: Vec<Packed<T>>,
    right: Vec<Lanes<T>>,
    result: Vec<Lanes<T>>,
}

impl<T: Real> Products<T> {
    /// Adds `sum over pairs and lanes of left right^T` to a matrix stored by rows.
    fn add(&mut self, pairs: &[Pair<'_, T>], matrix: &mut [T]) {
        let (outputs, inputs, samples) = (pairs[0].0.len(), pairs[0].1.len(), pairs.len() * LANES);
        let Self { left, right, result } = self;
        let fits = |packed: &Packed<T>| packed.outputs() == outputs && packed.inputs() == samples;
        let number = left.iter().position(fits).unwrap_or_else(|| {
            left.push(Packed::zeros(outputs, samples));
            left.len() - 1
        });
        left[number].fill(|i, s| pairs[s / LANES].0[i].0[s % LANES], |_| T::ZERO);
        let zero = Lanes([T::ZERO; LANES]);
        right.resize(samples, zero);
        result.resize(outputs, zero);
        for first in (0..inputs).step_by(LANES) {
            let columns = LANES.min(inputs - first);
            for (right, (_, values)) in right.chunks_mut(LANES).zip(pairs) {
                for (c, value) in values[first..first + columns].iter().enumerate() {
                    for l in 0..LANES {
                        right[l].0[c] = value.0[l];
                    }
                }
            }
            left[number].apply(right, result);
            for (row, sums) in matrix.chunks_mut(inputs).zip(result.iter()) {
                for (place, &sum) in row[first..first + columns].iter_mut().zip(&sums.0) {
                    *place = *place + sum;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [&[usize]; 5] = [&[3, 1], &[2, 5, 1], &[4, 21, 9, 1], &[19, 6, 1], &[3, 4, 4, 4, 1]];

    fn trainable<T: Real>(widths: &[usize], activation: Activation) -> Trainable<T> {
        let count = Trainable::<T>::count(widths);
        let parameters = (0..count).map(|i| ((i * i + 3 * i) as f64).sin() * 0.7).collect();
        Trainable::new(widths.to_vec(), activation, parameters)
    }

    fn lanes(n: usize, salt: f64) -> Vec<Lanes> {
        (0..n).map(|i| Lanes::from_fn(|l| ((i * LANES + l) as f64 * 1.3 + salt).sin())).collect()
    }

    #[test]
    fn values_and_input_gradients_are_those_of_the_network() {
        for widths in WIDTHS {
            let trainable = trainable::<f64>(widths, Activation::Tanh);
            let network = trainable.network().unwrap();
            let (x, mut block) = (lanes(widths[0], 0.0), trainable.block());
            let value = trainable.value(&x, &mut block);
            let mut gradient = vec![Lanes::ZERO; widths[0]];
            trainable.input_gradient(&mut block, &mut gradient);
            for l in 0..LANES {
                let row: Vec<f64> = x.iter().map(|x| x.0[l]).collect();
                assert!((value.0[l] - network.value(&row)).abs() < 1e-12);
                for (ours, exact) in gradient.iter().zip(network.gradient(&row)) {
                    assert!((ours.0[l] - exact).abs() < 1e-12);
                }
            }
        }
    }

    /// The gradient in the weights of a value and of a directional derivative, together and
    /// apart, against finite differences of the network's own value and gradient.
    #[test]
    fn weight_gradients_agree_with_finite_differences() {
        for widths in WIDTHS {
            for activation in [Activation::Tanh, Activation::Sigmoid, Activation::Relu] {
                for tangent in [false, true] {
                    let mut trainable = trainable::<f64>(widths, activation);
                    let (x, direction) = (lanes(widths[0], 0.0), lanes(widths[0], 5.0));
                    let seed = lanes(1, 9.0)[0];
                    let mut block = trainable.block();
                    trainable.value(&x, &mut block);
                    trainable.add_gradient(seed, tangent.then_some(&direction[..]), &mut block);
                    let objective = |trainable: &Trainable<f64>| -> f64 {
                        let network = trainable.network().unwrap();
                        let of = |l: usize| {
                            let row: Vec<f64> = x.iter().map(|x| x.0[l]).collect();
                            let slope: f64 =
                                network.gradient(&row).iter().zip(&direction).map(|(g, v)| g * v.0[l]).sum();
                            seed.0[l] * network.value(&row) + if tangent { slope } else { 0.0 }
                        };
                        (0..LANES).map(of).sum()
                    };
                    for i in 0..block.gradient.len() {
                        let mut at = |step: f64| {
                            trainable.update(|parameters| parameters[i] += step);
                            let value = objective(&trainable);
                            trainable.update(|parameters| parameters[i] -= step);
                            value
                        };
                        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                        let error = (block.gradient[i] - difference).abs();
                        // relu: unless the step crosses a kink
                        if activation == Activation::Relu && error > 1e-3 {
                            let finer = (at(1e-8) - at(-1e-8)) / 2e-8;
                            assert!((block.gradient[i] - finer).abs() < 1e-4, "{widths:?} {i}");
                        } else {
                            assert!(error < 1e-7, "{widths:?} {activation:?} {tangent} {i}: {error}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn floats_agree_with_doubles() {
        for widths in WIDTHS {
            let (single, double) =
                (trainable::<f32>(widths, Activation::Tanh), trainable::<f64>(widths, Activation::Tanh));
            let (x, direction, seed) = (lanes(widths[0], 0.0), lanes(widths[0], 5.0), lanes(1, 9.0)[0]);
            let (mut a, mut b) = (single.block(), double.block());
            single.value(&x, &mut a);
            single.add_gradient(seed, Some(&direction), &mut a);
            double.value(&x, &mut b);
            double.add_gradient(seed, Some(&direction), &mut b);
            for (a, b) in a.gradient.iter().zip(&b.gradient) {
                assert!((f64::from(*a) - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
            }
        }
    }
}
