//! Models: safetensors and ONNX.

use std::collections::HashMap;

use ndarray::Array2;
use safetensors::tensor::{Dtype, TensorView};
use surefoot::{Activation, Classifier, Ensemble, Feature, Features, Interval, Network};

use crate::Reading;

/// A network in a safetensors file.
pub fn safetensors(bytes: &[u8]) -> Reading {
    let mut reading = Reading::Refused;
    for activation in [Activation::Tanh, Activation::Relu, Activation::Sigmoid] {
        for prefix in ["", "savings."] {
            match Network::from_safetensors(bytes, prefix, activation) {
                Ok(network) => {
                    assert_eq!(network.activation(), activation);
                    let again = Network::from_safetensors(&written(&network), "", activation);
                    assert_eq!(again.as_ref(), Ok(&network));
                    assert_consistent(&network);
                    reading = Reading::Accepted;
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    reading
}

/// A classifier in an ONNX file.
pub fn onnx(bytes: &[u8]) -> Reading {
    match Network::from_onnx(bytes) {
        Ok(network) => {
            let again = Network::from_safetensors(&written(&network), "", network.activation());
            assert_eq!(again.as_ref(), Ok(&network));
            assert_consistent(&network);
            Reading::Accepted
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            Reading::Refused
        }
    }
}

/// A tree ensemble in any format.
pub fn trees(bytes: &[u8]) -> Reading {
    let ensemble = match Ensemble::from_bytes(bytes) {
        Ok(ensemble) => ensemble,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    assert!(ensemble.trees() > 0 && ensemble.leaves() >= ensemble.trees());
    for value in [-1e6, 0.0, 0.4, 1.0, 3.5, 1e9] {
        let row = vec![value; ensemble.inputs()];
        let sum = ensemble.sum(&row);
        assert!(ensemble.range(&vec![Interval::point(value); row.len()]).contains(sum));
        assert!(ensemble.range(&vec![Interval::EVERYTHING; row.len()]).contains(sum));
        assert!(ensemble.sum(&vec![f64::NAN; row.len()]).is_finite());
    }
    let names = (0..ensemble.inputs().min(20)).map(|i| Feature::new(format!("x{i}"))).collect();
    if let Ok(over) = ensemble.over(&Features::new(names).expect("names differ"), true) {
        let row = vec![0.4; over.inputs()];
        assert!(Classifier::trees(over, 0.5).expect("one half is a threshold").score(&row).is_finite());
    }
    Reading::Accepted
}

/// Layers fit each other, all numbers are finite, and individuals give the same logit in blocks as
/// alone.
fn assert_consistent(network: &Network) {
    let mut inputs = network.inputs();
    for layer in network.layers() {
        assert_eq!(layer.weight.dim(), (layer.bias.len(), inputs));
        assert!(layer.weight.iter().chain(&layer.bias).all(|number| number.is_finite()));
        inputs = layer.bias.len();
    }
    assert_eq!(inputs, 1);
    let rows = Array2::from_shape_fn((3, network.inputs()), |(i, j)| (i as f64 - 1.0) * (0.5 + j as f64));
    let block = network.values(rows.view());
    for (row, value) in rows.rows().into_iter().zip(&block) {
        let alone = network.value(&row.to_vec());
        // Numbers near the largest double may overflow in one order of summation and not in another.
        if alone.is_finite() && value.is_finite() && alone.abs() < 1e100 {
            let size: f64 = network.layers().iter().flat_map(|layer| &layer.weight).map(|w| w.abs()).sum();
            let tolerance = 1e-9 * (1.0 + alone.abs() + size * network.inputs() as f64);
            assert!((alone - value).abs() <= tolerance, "{alone} alone and {value} in a block");
        }
    }
    let classifier = Classifier::network(network.clone(), 0.5).expect("a network is a classifier");
    assert_eq!(classifier.inputs(), network.inputs());
}

/// The network as doubles in a safetensors file.
fn written(network: &Network) -> Vec<u8> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for (number, layer) in network.layers().iter().enumerate() {
        let (outputs, inputs) = layer.weight.dim();
        let weight = layer.weight.iter().flat_map(|number| number.to_le_bytes()).collect();
        let bias = layer.bias.iter().flat_map(|number| number.to_le_bytes()).collect();
        tensors.push((format!("layer{number}.weight"), vec![outputs, inputs], weight));
        tensors.push((format!("layer{number}.bias"), vec![outputs], bias));
    }
    let views: HashMap<&str, TensorView<'_>> = tensors
        .iter()
        .map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F64, shape.clone(), bytes).expect("the shape fits");
            (name.as_str(), view)
        })
        .collect();
    safetensors::serialize(views, None).expect("tensors can be written")
}
