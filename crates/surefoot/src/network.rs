//! Dense networks: layers of weights with one activation between them, one number out.

use ndarray::{Array1, Array2, ArrayView1};

use crate::{Error, Result};

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
    fn value(self, z: f64) -> f64 {
        match self {
            Activation::Tanh => z.tanh(),
            Activation::Relu => z.max(0.0),
            Activation::Sigmoid => sigmoid(z),
        }
    }

    /// The derivative, from the value `h = self.value(z)`.
    fn slope(self, h: f64) -> f64 {
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
}

impl Network {
    /// Checks that layers fit one another, end in one output and hold finite numbers.
    pub fn new(layers: Vec<Layer>, activation: Activation) -> Result<Self> {
        let Some(last) = layers.last() else {
            return Err(Error::NetworkWithoutLayers);
        };
        if last.weight.nrows() != 1 {
            return Err(Error::NetworkOutputs { outputs: last.weight.nrows() });
        }
        for (number, layer) in layers.iter().enumerate() {
            let (outputs, inputs) = layer.weight.dim();
            let expected = number.checked_sub(1).map_or(inputs, |before| layers[before].bias.len());
            if inputs != expected || layer.bias.len() != outputs || inputs == 0 || outputs == 0 {
                let biases = layer.bias.len();
                return Err(Error::NetworkShape { layer: number, outputs, inputs, biases, expected });
            }
            if let Some(&value) = layer.weight.iter().chain(&layer.bias).find(|v| !v.is_finite()) {
                return Err(Error::NetworkNotFinite { layer: number, value });
            }
        }
        Ok(Self { layers, activation })
    }

    /// How many inputs it takes.
    pub fn inputs(&self) -> usize {
        self.layers[0].weight.ncols()
    }

    /// The layers in order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The function between layers.
    pub fn activation(&self) -> Activation {
        self.activation
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

#[cfg(test)]
mod tests {
    use ndarray::array;
    use proptest::prelude::*;

    use super::*;

    fn two_layers(activation: Activation) -> Network {
        let first = Layer { weight: array![[1.0, -2.0], [0.5, 0.25]], bias: array![0.1, -0.3] };
        let second = Layer { weight: array![[2.0, -1.0]], bias: array![0.7] };
        Network::new(vec![first, second], activation).unwrap()
    }

    #[test]
    fn a_value_by_hand() {
        // z = (1 - 1 + 0.1, 0.5 + 0.125 - 0.3) = (0.1, 0.325) at x = (1, 0.5)
        let z: [f64; 2] = [0.1, 0.325];
        let x = [1.0, 0.5];
        let of = |s: fn(f64) -> f64| 2.0 * s(z[0]) - s(z[1]) + 0.7;
        assert!((two_layers(Activation::Tanh).value(&x) - of(f64::tanh)).abs() < 1e-15);
        assert!((two_layers(Activation::Relu).value(&x) - of(|z| z)).abs() < 1e-15);
        let s = |z: f64| 1.0 / (1.0 + (-z).exp());
        assert!((two_layers(Activation::Sigmoid).value(&x) - of(s)).abs() < 1e-15);
    }

    #[test]
    fn a_network_of_one_layer_is_linear() {
        let layer = Layer { weight: array![[2.0, -1.0]], bias: array![0.5] };
        let network = Network::new(vec![layer], Activation::Tanh).unwrap();
        assert_eq!(network.value(&[1.0, 3.0]), -0.5);
        assert_eq!(network.gradient(&[1.0, 3.0]), vec![2.0, -1.0]);
    }

    #[test]
    fn misshapen_networks_are_refused() {
        let ok = Layer { weight: array![[1.0, 2.0]], bias: array![0.0] };
        let with = |layers: Vec<Layer>| Network::new(layers, Activation::Tanh).unwrap_err();
        assert!(matches!(with(vec![]), Error::NetworkWithoutLayers));
        assert!(matches!(
            with(vec![ok.clone(), ok.clone()]),
            Error::NetworkShape { layer: 1, expected: 1, .. }
        ));
        let wide = Layer { weight: array![[1.0], [2.0]], bias: array![0.0, 0.0] };
        assert!(matches!(with(vec![wide]), Error::NetworkOutputs { outputs: 2 }));
        let bias = Layer { bias: array![0.0, 0.0], ..ok.clone() };
        assert!(matches!(with(vec![bias]), Error::NetworkShape { layer: 0, biases: 2, .. }));
        let nan = Layer { bias: array![f64::NAN], ..ok };
        assert!(matches!(with(vec![nan]), Error::NetworkNotFinite { layer: 0, .. }));
        let none = Layer { weight: Array2::zeros((1, 0)), bias: array![0.0] };
        assert!(matches!(with(vec![none]), Error::NetworkShape { .. }));
    }

    #[test]
    fn sigmoid_neither_overflows_nor_loses_its_inverse() {
        assert_eq!(sigmoid(-1e4), 0.0);
        assert_eq!(sigmoid(1e4), 1.0);
        assert!((logit(sigmoid(-3.3)) + 3.3).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn gradients_agree_with_finite_differences(x in prop::collection::vec(-2.0..2.0f64, 2)) {
            for activation in [Activation::Tanh, Activation::Relu, Activation::Sigmoid] {
                let network = two_layers(activation);
                // relu has no derivative at its kinks
                let z = [x[0] - 2.0 * x[1] + 0.1, 0.5 * x[0] + 0.25 * x[1] - 0.3];
                prop_assume!(activation != Activation::Relu || z.iter().all(|z| z.abs() > 1e-4));
                let gradient = network.gradient(&x);
                for i in 0..2 {
                    let at = |h: f64| {
                        let mut x = x.clone();
                        x[i] += h;
                        network.value(&x)
                    };
                    let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                    prop_assert!((gradient[i] - difference).abs() < 1e-8);
                }
            }
        }
    }
}
