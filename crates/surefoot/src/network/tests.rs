//! Networks by hand, and batches beside single inputs.

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
    assert!(matches!(with(vec![]), Error::Model(ModelError::NetworkWithoutLayers)));
    assert!(matches!(
        with(vec![ok.clone(), ok.clone()]),
        Error::Model(ModelError::NetworkShape { layer: 1, expected: 1, .. })
    ));
    let wide = Layer { weight: array![[1.0], [2.0]], bias: array![0.0, 0.0] };
    assert!(matches!(with(vec![wide]), Error::Model(ModelError::NetworkOutputs { outputs: 2 })));
    let bias = Layer { bias: array![0.0, 0.0], ..ok.clone() };
    assert!(matches!(with(vec![bias]), Error::Model(ModelError::NetworkShape { layer: 0, biases: 2, .. })));
    let nan = Layer { bias: array![f64::NAN], ..ok };
    assert!(matches!(with(vec![nan]), Error::Model(ModelError::NetworkNotFinite { layer: 0, .. })));
    let none = Layer { weight: Array2::zeros((1, 0)), bias: array![0.0] };
    assert!(matches!(with(vec![none]), Error::Model(ModelError::NetworkShape { .. })));
}

#[test]
fn sigmoid_neither_overflows_nor_loses_its_inverse() {
    assert_eq!(sigmoid(-1e4), 0.0);
    assert_eq!(sigmoid(1e4), 1.0);
    assert!((logit(sigmoid(-3.3)) + 3.3).abs() < 1e-12);
}

/// Several depths and widths, some of them no multiples of anything.
fn networks() -> Vec<Network> {
    let mut networks = Vec::new();
    for widths in [vec![3, 1], vec![2, 5, 1], vec![7, 100, 100, 1], vec![4, 9, 3, 17, 1], vec![16, 1, 1]] {
        for activation in [Activation::Tanh, Activation::Relu, Activation::Sigmoid] {
            let layer = |pair: &[usize]| Layer {
                weight: Array2::from_shape_fn((pair[1], pair[0]), |(i, j)| {
                    ((13 * i + 7 * j) as f64).sin() * 0.5
                }),
                bias: (0..pair[1]).map(|i| (i as f64).cos()).collect(),
            };
            networks.push(Network::new(widths.windows(2).map(layer).collect(), activation).unwrap());
        }
    }
    networks
}

#[test]
fn batches_of_any_size_agree_with_single_inputs() {
    for network in networks() {
        for rows in [0, 1, 16, 37] {
            let rows =
                Array2::from_shape_fn((rows, network.inputs()), |(i, j)| ((i * 3 + j) as f64).sin() * 2.0);
            let directions = rows.mapv(|x| (x * 5.0).cos());
            let (values, gradients) = network.gradients(rows.view());
            assert_eq!(values, network.values(rows.view()));
            let slopes = network.directional(rows.view(), directions.view());
            assert_eq!((values.len(), slopes.len()), (rows.nrows(), rows.nrows()));
            for (i, row) in rows.rows().into_iter().enumerate() {
                let row = row.to_vec();
                assert!((values[i] - network.value(&row)).abs() < 1e-12);
                let gradient = Array1::from(network.gradient(&row));
                assert!((&gradient - &gradients.row(i)).iter().all(|d| d.abs() < 1e-12));
                assert!((slopes[i] - gradient.dot(&directions.row(i))).abs() < 1e-11);
            }
        }
    }
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
