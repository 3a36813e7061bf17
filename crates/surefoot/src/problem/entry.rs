//! Equations as stated in a problem file.

use std::path::PathBuf;

use super::units;
use crate::error::FileError;
use crate::error::FileProblem;
use crate::file::ModelFolder;
use crate::{Activation, Equation, Error, Features, Network, Result};

/// The units of the inputs of a classifier or of a linear or network equation. The value of an equation
/// has the same units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Inputs {
    /// `(value - mean) / std`.
    #[default]
    Standardised,
    /// People's own units.
    Raw,
}

/// One `[[equation]]` of a problem file.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationEntry {
    /// The feature that it determines.
    pub feature: String,
    /// How the feature follows from its causes.
    pub form: EquationForm,
}

/// The kinds of `[[equation]]`.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are those of the file")]
pub enum EquationForm {
    /// A text in people's own units.
    Formula { formula: String, inverse: Option<String> },
    /// `coefficients . parents + intercept + u`.
    Linear { parents: Vec<String>, coefficients: Vec<f64>, intercept: f64, inputs: Inputs },
    /// `network(parents) + u`, the network in a safetensors file.
    Network { parents: Vec<String>, network: NetworkFile, inputs: Inputs },
}

/// The location of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFile {
    /// The path, relative to the problem file.
    pub path: PathBuf,
    /// The prefix of its tensor names, if a file contains several networks.
    pub prefix: String,
    /// The activation function between its layers; `None` for the one stated in the file, or else tanh.
    pub activation: Option<Activation>,
}

pub(super) const ACTIVATIONS: [(&str, Activation); 3] =
    [("tanh", Activation::Tanh), ("relu", Activation::Relu), ("sigmoid", Activation::Sigmoid)];

pub(super) fn activation_name(activation: Activation) -> &'static str {
    match activation {
        Activation::Tanh => "tanh",
        Activation::Relu => "relu",
        Activation::Sigmoid => "sigmoid",
    }
}

impl NetworkFile {
    /// Reads the network; `folder` is that of the problem file.
    pub fn read(&self, folder: &ModelFolder) -> Result<(Network, Activation)> {
        let path = folder.path().join(&self.path);
        let read =
            |activation| Network::read_opened(&path, folder.open(&self.path), &self.prefix, activation);
        let activation = self.activation.unwrap_or(Activation::Tanh);
        match read(activation) {
            Err(Error::File(FileError::File { problem: FileProblem::Activation(other), .. }))
                if self.activation.is_none() =>
            {
                let named = ACTIVATIONS.iter().find(|(name, _)| *name == other);
                let activation = named.map_or(activation, |(_, activation)| *activation);
                Ok((read(activation)?, activation))
            }
            result => Ok((result?, activation)),
        }
    }
}

/// The files that equations name.
pub(super) fn files_of(entries: &[EquationEntry]) -> Vec<PathBuf> {
    let network = |entry: &EquationEntry| match &entry.form {
        EquationForm::Network { network, .. } => Some(network.path.clone()),
        EquationForm::Formula { .. } | EquationForm::Linear { .. } => None,
    };
    entries.iter().filter_map(network).collect()
}

impl EquationEntry {
    /// The names of its causes. `None` for formulas, whose causes are determined when the model is built.
    pub fn parents(&self) -> Option<&[String]> {
        match &self.form {
            EquationForm::Formula { .. } => None,
            EquationForm::Linear { parents, .. } | EquationForm::Network { parents, .. } => Some(parents),
        }
    }

    /// The equation, in the standardised units of the engine.
    pub fn equation(&self, features: &Features, folder: &ModelFolder) -> Result<Equation> {
        Ok(match &self.form {
            EquationForm::Formula { formula, inverse: None } => Equation::formula(formula),
            EquationForm::Formula { formula, inverse: Some(inverse) } => {
                Equation::formula_with_inverse(formula, inverse)
            }
            EquationForm::Linear { parents, coefficients, intercept, inputs } => {
                let (coefficients, intercept) =
                    match (inputs, units::scales(features, &self.feature, parents)) {
                        (Inputs::Raw, Some((value, scales))) if scales.len() == coefficients.len() => {
                            units::linear_equation(coefficients, *intercept, &scales, value)
                        }
                        // An equation that does not fit is rejected when the model is built.
                        _ => (coefficients.clone(), *intercept),
                    };
                Equation::linear(&borrowed(parents), coefficients, intercept)
            }
            EquationForm::Network { parents, network, inputs } => {
                let (mut read, activation) = network.read(folder)?;
                if let (Inputs::Raw, Some((value, scales))) =
                    (inputs, units::scales(features, &self.feature, parents))
                    && scales.len() == read.inputs()
                {
                    read = units::network_with_raw_inputs(&read, activation, &scales)?;
                    read = units::network_with_raw_output(&read, activation, value)?;
                }
                Equation::network(&borrowed(parents), read)
            }
        })
    }
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}
