//! Readable one-line summaries of equations and models.

use std::fmt::Write;
use std::path::Path;

use super::classifier::ClassifierEntry;
use super::entry::{EquationEntry, EquationForm, Inputs, NetworkFile};
use crate::file::ModelFolder;
use crate::{Ensemble, Features, Network};

impl EquationEntry {
    /// The equation in one line.
    pub fn summary(&self, folder: &ModelFolder) -> String {
        match &self.form {
            EquationForm::Formula { formula, inverse: None } => formula.clone(),
            EquationForm::Formula { formula, inverse: Some(inverse) } => format!("{formula}, u = {inverse}"),
            EquationForm::Linear { parents, coefficients, intercept, inputs } => {
                format!("{} + u{}", sum(coefficients, parents, *intercept), units(*inputs))
            }
            EquationForm::Network { parents, network, inputs } => {
                let network = network_file(network, folder);
                format!("network({}) + u, {network}{}", parents.join(", "), units(*inputs))
            }
        }
    }
}

impl ClassifierEntry {
    /// The model of the logit in one line.
    pub fn summary(&self, features: &Features, folder: &ModelFolder) -> String {
        self.form.model().summary(features, folder) + units(self.inputs)
    }
}

fn units(inputs: Inputs) -> &'static str {
    match inputs {
        Inputs::Standardised => "  (standardised)",
        Inputs::Raw => "  (own units)",
    }
}

/// The path of a network and its shape, such as 4-100-100-1 tanh.
pub(super) fn network_file(file: &NetworkFile, folder: &ModelFolder) -> String {
    let mut text = file.path.display().to_string();
    if !file.prefix.is_empty() {
        let _ = write!(text, " {}", file.prefix);
    }
    if let Ok((network, _)) = file.read(folder) {
        let _ = write!(text, " ({})", shape(&network));
    }
    text
}

/// The shape of a network: `4-100-100-1 tanh`.
pub(super) fn shape(network: &Network) -> String {
    let layers: String = network.layers().iter().map(|layer| format!("-{}", layer.bias.len())).collect();
    format!("{}{layers} {}", network.inputs(), format!("{:?}", network.activation()).to_lowercase())
}

/// The size of an ensemble and its path: `100 trees, model.json (1504 leaves)`.
pub(super) fn trees(ensemble: &Ensemble, path: &Path) -> String {
    let (trees, leaves) = (ensemble.trees(), ensemble.leaves());
    let plural = if trees == 1 { "" } else { "s" };
    format!("{trees} tree{plural}, {} ({leaves} leaves)", path.display())
}

/// A linear expression: `0.5 * age - 2 * income + 3`, without zero terms.
pub(super) fn sum(coefficients: &[f64], names: &[String], intercept: f64) -> String {
    let mut text = String::new();
    let mut add = |size: f64, name: &str| {
        text += match (size < 0.0, text.is_empty()) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        };
        text += &six_digits(size.abs());
        text += name;
    };
    let terms = coefficients.iter().zip(names).filter(|(coefficient, _)| **coefficient != 0.0);
    terms.for_each(|(&coefficient, name)| add(coefficient, &format!(" * {name}")));
    if intercept != 0.0 || coefficients.iter().all(|&coefficient| coefficient == 0.0) {
        add(intercept, "");
    }
    text
}

/// A readable number with six digits.
pub fn six_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = 5 - value.abs().log10().floor() as i32;
    if !(-12..=12).contains(&digits) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.*}", digits.max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sums_read_well() {
        for (value, text) in
            [(0.0, "0"), (1500.0, "1500"), (0.1 + 0.2, "0.3"), (-1234567.0, "-1234567"), (1e-9, "1.00000e-9")]
        {
            assert_eq!(six_digits(value), text);
        }
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(sum(&[0.5, 0.0, -2.0], &names, -3.0), "0.5 * a - 2 * c - 3");
        assert_eq!(sum(&[0.0, 0.0, 0.0], &names, 0.0), "0");
        assert_eq!(sum(&[-1.0, 0.0, 0.0], &names, 0.0), "-1 * a");
    }
}
