//! What a problem file consists of, as Python's classes take it.

use std::path::PathBuf;

use ndarray::Array2;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use surefoot::problem::{ClassifierForm, EquationForm, Inputs};
use surefoot::{Activation, Committee, ProblemFile};

use crate::error::Result;
use crate::model::{ACTIVATIONS, NewLayers, new_layers};

/// The classifier of a problem file as `surefoot.Classifier` takes it.
#[derive(IntoPyObject)]
pub struct StatedClassifier<'py> {
    name: String,
    /// None for the models of other programs.
    layers: Option<NewLayers<'py>>,
    activation: &'static str,
    threshold: f64,
    inputs: &'static str,
    /// The file of a model of another program, and whether it is ONNX.
    file: Option<PathBuf>,
    is_onnx: bool,
}

/// An equation of a problem file as `surefoot.Equation` takes it.
#[derive(IntoPyObject)]
pub struct StatedEquation<'py> {
    feature: String,
    formula: Option<String>,
    inverse: Option<String>,
    parents: Vec<String>,
    layers: NewLayers<'py>,
    activation: &'static str,
    inputs: &'static str,
}

fn activation_name(activation: Activation) -> &'static str {
    ACTIVATIONS.iter().find(|(_, known)| *known == activation).map_or("tanh", |(name, _)| name)
}

fn unit_name(inputs: Inputs) -> &'static str {
    match inputs {
        Inputs::Standardised => "standardised",
        Inputs::Raw => "raw",
    }
}

/// The classifiers and the equations of a problem file, and how many classifiers must agree if they are a committee.
#[pyfunction]
pub fn problem_parts<'py>(
    py: Python<'py>,
    path: PathBuf,
) -> Result<(Vec<StatedClassifier<'py>>, Option<usize>, Vec<StatedEquation<'py>>)> {
    let file = ProblemFile::read(path)?;
    let linear = |coefficients: &[f64], intercept: f64| -> NewLayers<'py> {
        let weight = Array2::from_shape_fn((1, coefficients.len()), |(_, j)| coefficients[j]);
        vec![(weight.into_pyarray(py), vec![intercept].into_pyarray(py))]
    };
    let mut classifiers = Vec::new();
    for (name, entry) in file.classifier_entries() {
        let mut stated = StatedClassifier {
            name: name.clone(),
            layers: None,
            activation: "tanh",
            threshold: entry.threshold,
            inputs: unit_name(entry.inputs),
            file: None,
            is_onnx: matches!(entry.form, ClassifierForm::Onnx(_)),
        };
        match &entry.form {
            ClassifierForm::Linear(model) => {
                stated.layers = Some(linear(&model.coefficients, model.intercept));
            }
            ClassifierForm::Network(network) => {
                let (network, activation) = network.read(file.folder())?;
                stated.layers = Some(new_layers(py, &network));
                stated.activation = activation_name(activation);
            }
            ClassifierForm::Onnx(model) => stated.file = Some(model.path.clone()),
            ClassifierForm::Trees(model) => stated.file = Some(model.path.clone()),
        }
        classifiers.push(stated);
    }
    let mut equations = Vec::new();
    for entry in file.equation_entries() {
        let blank = StatedEquation {
            feature: entry.feature.clone(),
            formula: None,
            inverse: None,
            parents: Vec::new(),
            layers: Vec::new(),
            activation: "tanh",
            inputs: "standardised",
        };
        equations.push(match &entry.form {
            EquationForm::Formula { formula, inverse } => {
                StatedEquation { formula: Some(formula.clone()), inverse: inverse.clone(), ..blank }
            }
            EquationForm::Linear { parents, coefficients, intercept, inputs } => StatedEquation {
                parents: parents.clone(),
                layers: linear(coefficients, *intercept),
                inputs: unit_name(*inputs),
                ..blank
            },
            EquationForm::Network { parents, network, inputs } => {
                let (network, activation) = network.read(file.folder())?;
                StatedEquation {
                    parents: parents.clone(),
                    layers: new_layers(py, &network),
                    activation: activation_name(activation),
                    inputs: unit_name(*inputs),
                    ..blank
                }
            }
        });
    }
    let agree = file.committee()?.map(Committee::at_least);
    Ok((classifiers, agree, equations))
}
