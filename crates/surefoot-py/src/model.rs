//! Classifiers and equations as Python declares them.

use std::path::PathBuf;

use ndarray::Axis;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use surefoot::error::{FileError, FileProblem, ModelError, OnnxProblem};
use surefoot::file::ModelFolder;
use surefoot::problem::{ClassifierEntry, ClassifierForm, EquationEntry, EquationForm, Inputs, LinearModel};
use surefoot::{
    Activation, Classifier, Ensemble, Equation, Error, Feature, Features, Layer, Network, WeightUncertainty,
};

use crate::error::{Result, choice};

/// Layers for Python.
pub type NewLayers<'py> = Vec<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>;

/// Layers, each a weight and a bias.
pub type Layers<'py> = Vec<(PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>)>;

/// The functions between layers.
pub const ACTIVATIONS: [(&str, Activation); 3] =
    [("tanh", Activation::Tanh), ("relu", Activation::Relu), ("sigmoid", Activation::Sigmoid)];
const INPUTS: [(&str, Inputs); 2] = [("standardised", Inputs::Standardised), ("raw", Inputs::Raw)];

/// A `surefoot.Classifier`.
#[derive(FromPyObject)]
pub struct DeclaredClassifier<'py> {
    layers: Layers<'py>,
    activation: String,
    threshold: f64,
    inputs: String,
    trees: Option<Vec<u8>>,
    uncertain_weights: Option<(String, f64)>,
}

/// A `surefoot.Equation`.
#[derive(FromPyObject)]
pub struct DeclaredEquation<'py> {
    formula: Option<String>,
    inverse: Option<String>,
    parents: Vec<String>,
    layers: Layers<'py>,
    activation: String,
    inputs: String,
}

fn layers(declared: &Layers<'_>) -> Vec<Layer> {
    let layer = |(weight, bias): &(PyReadonlyArray2<'_, f64>, PyReadonlyArray1<'_, f64>)| Layer {
        weight: weight.as_array().to_owned(),
        bias: bias.as_array().to_owned(),
    };
    declared.iter().map(layer).collect()
}

/// Changes the first layer of a network that takes the features in own units into one that takes them standardised.
fn take_raw_inputs(first: &mut Layer, features: &[&Feature]) {
    let means = features.iter().map(|feature| feature.mean).collect::<ndarray::Array1<f64>>();
    first.bias = &first.bias + &first.weight.dot(&means);
    for (mut column, feature) in first.weight.axis_iter_mut(Axis(1)).zip(features) {
        column *= feature.std;
    }
}

/// The layers of a network, handed over.
pub fn new_layers<'py>(py: Python<'py>, network: &Network) -> NewLayers<'py> {
    let each = network.layers().iter();
    each.map(|layer| (layer.weight.clone().into_pyarray(py), layer.bias.clone().into_pyarray(py))).collect()
}

/// An ONNX model: its bytes, or where it is.
#[derive(FromPyObject)]
pub enum Onnx {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// The layers of an ONNX model and what stands between them; nothing if it is a tree ensemble.
#[pyfunction]
pub fn read_onnx(py: Python<'_>, model: Onnx) -> Result<Option<(NewLayers<'_>, &'static str)>> {
    let network = match model {
        Onnx::Bytes(bytes) => Network::from_onnx(&bytes),
        Onnx::File(path) => Network::read_onnx(path),
    };
    let network = match network {
        Err(
            Error::Model(ModelError::Onnx(OnnxProblem::Trees))
            | Error::File(FileError::File { problem: FileProblem::Onnx(OnnxProblem::Trees), .. }),
        ) => return Ok(None),
        network => network?,
    };
    let activation = ACTIVATIONS.iter().find(|(_, activation)| *activation == network.activation());
    Ok(Some((new_layers(py, &network), activation.map_or("tanh", |(name, _)| name))))
}

/// The numbers of inputs, trees and leaves of a tree ensemble.
#[pyfunction]
pub fn tree_counts(model: &[u8]) -> Result<(usize, usize, usize)> {
    let ensemble = Ensemble::from_bytes(model)?;
    Ok((ensemble.inputs(), ensemble.trees(), ensemble.leaves()))
}

/// The scores of a tree ensemble for rows of its own inputs, in which NaN is a missing value, and a bound on
/// what rounding adds to them.
#[pyfunction]
pub fn tree_scores<'py>(
    py: Python<'py>,
    model: &[u8],
    threshold: f64,
    rows: PyReadonlyArray2<'py, f64>,
) -> Result<(Bound<'py, PyArray1<f64>>, f64)> {
    let (ensemble, least) = Ensemble::from_bytes(model)?.least_favourable(threshold)?;
    let rows = rows.as_array();
    if rows.ncols() != ensemble.inputs() {
        let (features, inputs) = (Vec::new(), ensemble.inputs());
        return Err(Error::Model(ModelError::ClassifierInputs { features, inputs }).into());
    }
    let scores: Vec<f64> = rows.rows().into_iter().map(|row| ensemble.sum(&row.to_vec()) - least).collect();
    Ok((scores.into_pyarray(py), ensemble.rounding()))
}

impl DeclaredClassifier<'_> {
    /// The classifier over these features.
    pub fn compile(&self, features: &Features) -> Result<Classifier> {
        let classifier = self.certain(features)?;
        let Some((kind, most)) = &self.uncertain_weights else { return Ok(classifier) };
        let kinds = [("within", false), ("share", true)];
        let uncertainty = match choice("uncertainty of weights", kind, &kinds)? {
            true => WeightUncertainty::Share(*most),
            false => WeightUncertainty::Within(*most),
        };
        Ok(classifier.with_uncertain_weights(uncertainty)?)
    }

    /// The classifier with the stated weights.
    fn certain(&self, features: &Features) -> Result<Classifier> {
        let inputs = choice("unit of inputs", &self.inputs, &INPUTS)?;
        if let Some(model) = &self.trees {
            let ensemble = Ensemble::from_bytes(model)?.over(features, inputs == Inputs::Standardised)?;
            return Ok(Classifier::trees(ensemble, self.threshold)?);
        }
        let activation = choice("activation", &self.activation, &ACTIVATIONS)?;
        let mut layers = layers(&self.layers);
        if let [layer] = &layers[..]
            && layer.weight.nrows() == 1
            && layer.bias.len() == 1
        {
            let coefficients = layer.weight.row(0).to_vec();
            let form = ClassifierForm::Linear(LinearModel { coefficients, intercept: layer.bias[0] });
            let entry = ClassifierEntry { form, threshold: self.threshold, inputs };
            return Ok(entry.classifier(features, &ModelFolder::new(""))?);
        }
        // With x = mean + std z the first layer has other numbers, and nothing else changes.
        if let (Inputs::Raw, Some(first)) = (inputs, layers.first_mut())
            && first.weight.ncols() == features.len()
        {
            take_raw_inputs(first, &features.iter().collect::<Vec<&Feature>>());
        }
        Ok(Classifier::network(Network::new(layers, activation)?, self.threshold)?)
    }
}

impl DeclaredEquation<'_> {
    /// The equation of a feature.
    pub fn compile(&self, feature: &str, features: &Features) -> Result<Equation> {
        let inputs = choice("unit of inputs", &self.inputs, &INPUTS)?;
        let form = match (&self.formula, &layers(&self.layers)[..]) {
            (Some(formula), _) => {
                EquationForm::Formula { formula: formula.clone(), inverse: self.inverse.clone() }
            }
            (None, [layer]) if layer.weight.nrows() == 1 && layer.bias.len() == 1 => EquationForm::Linear {
                parents: self.parents.clone(),
                coefficients: layer.weight.row(0).to_vec(),
                intercept: layer.bias[0],
                inputs,
            },
            (None, layers) => {
                let activation = choice("activation", &self.activation, &ACTIVATIONS)?;
                let parents: Vec<&str> = self.parents.iter().map(String::as_str).collect();
                let mut layers = layers.to_vec();
                if inputs == Inputs::Raw {
                    let find = |name: &&str| Ok(features.feature(features.index(name)?));
                    let (of, causes) =
                        (find(&feature)?, parents.iter().map(find).collect::<Result<Vec<_>>>()?);
                    if let Some(first) =
                        layers.first_mut().filter(|first| first.weight.ncols() == causes.len())
                    {
                        take_raw_inputs(first, &causes);
                    }
                    if let Some(last) = layers.last_mut() {
                        last.weight /= of.std;
                        last.bias.mapv_inplace(|bias| (bias - of.mean) / of.std);
                    }
                }
                return Ok(Equation::network(&parents, Network::new(layers, activation)?));
            }
        };
        Ok(EquationEntry { feature: feature.into(), form }.equation(features, &ModelFolder::new(""))?)
    }
}
