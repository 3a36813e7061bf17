//! Converts models in people's own units into models in standardised units.
//!
//! With `x = mean + std z` for every input and `y = mean + std v` for the output,
//! `f(x)` becomes `v = (f(mean + std z) - mean_y) / std_y`: again a linear function, or a
//! network of the same shape with other numbers in its first and last layers.

use ndarray::{Array1, Axis};

use super::entry::Inputs;
use crate::{Activation, Feature, Features, Network, Result};

/// The zero and the unit of standardised values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    mean: f64,
    std: f64,
}

impl Scale {
    pub fn of(feature: &Feature) -> Self {
        Self { mean: feature.mean, std: feature.std }
    }
}

/// The scales of a feature and of its parents; `None` if one of them is unknown.
pub(super) fn scales(features: &Features, feature: &str, parents: &[String]) -> Option<(Scale, Vec<Scale>)> {
    let of = |name: &str| features.index(name).ok().map(|i| Scale::of(features.feature(i)));
    Some((of(feature)?, parents.iter().map(|parent| of(parent)).collect::<Option<_>>()?))
}

/// Coefficients and intercept of a linear equation.
pub(super) fn linear_equation(
    coefficients: &[f64],
    intercept: f64,
    parents: &[Scale],
    value: Scale,
) -> (Vec<f64>, f64) {
    let shift: f64 = coefficients.iter().zip(parents).map(|(c, parent)| c * parent.mean).sum();
    let scaled = coefficients.iter().zip(parents).map(|(c, parent)| c * parent.std / value.std);
    (scaled.collect(), (intercept + shift - value.mean) / value.std)
}

/// Converts a network with inputs in own units into one with standardised inputs.
pub(super) fn network_with_raw_inputs(
    network: &Network,
    activation: Activation,
    inputs: &[Scale],
) -> Result<Network> {
    let mut layers = network.layers().to_vec();
    let means: Array1<f64> = inputs.iter().map(|input| input.mean).collect();
    layers[0].bias = &layers[0].bias + &layers[0].weight.dot(&means);
    for (mut column, input) in layers[0].weight.axis_iter_mut(Axis(1)).zip(inputs) {
        column *= input.std;
    }
    Network::new(layers, activation)
}

/// The network of a classifier over all features, with standardised inputs. A network that does not fit
/// the features is returned unchanged; the problem rejects it.
pub(super) fn standardised(network: Network, inputs: Inputs, features: &Features) -> Result<Network> {
    if inputs == Inputs::Standardised || network.inputs() != features.len() {
        return Ok(network);
    }
    let scales: Vec<_> = features.iter().map(Scale::of).collect();
    network_with_raw_inputs(&network, network.activation(), &scales)
}

/// Converts a network with an output in own units into one with a standardised output.
pub(super) fn network_with_raw_output(
    network: &Network,
    activation: Activation,
    value: Scale,
) -> Result<Network> {
    let mut layers = network.layers().to_vec();
    if let Some(last) = layers.last_mut() {
        last.weight /= value.std;
        last.bias.mapv_inplace(|bias| (bias - value.mean) / value.std);
    }
    Network::new(layers, activation)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::Layer;

    fn features() -> Features {
        Features::new(vec![
            Feature::new("age").scaling(40.0, 10.0),
            Feature::new("income").scaling(3000.0, 1500.0),
            Feature::new("savings").scaling(8000.0, 4000.0),
        ])
        .unwrap()
    }

    fn parents() -> Vec<String> {
        vec!["age".into(), "income".into()]
    }

    #[test]
    fn a_linear_equation_gives_the_same_in_both_units() {
        let features = features();
        let (value, scales) = scales(&features, "savings", &parents()).unwrap();
        let (coefficients, intercept) = linear_equation(&[20.0, 2.0], -500.0, &scales, value);
        // 20 * 55 + 2 * 2400 - 500 = 5400, worked out by hand; (5400 - 8000) / 4000 = -0.65.
        let result = intercept + coefficients[0] * 1.5 + coefficients[1] * -0.4;
        assert!((result + 0.65).abs() < 1e-15, "{result}");
        assert!(super::scales(&features, "savings", &["wealth".into()]).is_none());
    }

    #[test]
    fn a_network_gives_the_same_in_both_units() {
        let features = features();
        let (value, scales) = scales(&features, "savings", &parents()).unwrap();
        for activation in [Activation::Tanh, Activation::Relu] {
            let hidden = Layer { weight: array![[0.02, 0.0003], [-0.01, 0.001]], bias: array![0.1, -2.0] };
            let output = Layer { weight: array![[900.0, 1700.0]], bias: array![4000.0] };
            for layers in
                [vec![hidden, output], vec![Layer { weight: array![[3.0, 2.0]], bias: array![7.0] }]]
            {
                let raw = Network::new(layers, activation).unwrap();
                let inner = network_with_raw_inputs(&raw, activation, &scales).unwrap();
                let standardised = network_with_raw_output(&inner, activation, value).unwrap();
                for z in [[0.0, 0.0], [1.5, -0.4], [-2.0, 3.0]] {
                    let own = raw.value(&[40.0 + 10.0 * z[0], 3000.0 + 1500.0 * z[1]]);
                    assert!((inner.value(&z) - own).abs() < 1e-11 * own.abs());
                    assert!((8000.0 + 4000.0 * standardised.value(&z) - own).abs() < 1e-11 * own.abs());
                }
            }
        }
    }
}
