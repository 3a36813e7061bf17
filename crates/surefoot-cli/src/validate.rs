//! `surefoot validate`: what is understood of a problem file and of a table of people, or every
//! mistake in them.

mod graph;
pub mod people;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use surefoot::file::{Audience, ModelFolder, write_atomically};
use surefoot::problem::{ClassifierForm, EquationEntry, EquationForm, Inputs, NetworkFile};
use surefoot::{
    ActionKind, Change, Cost, Feature, Features, Forbidden, Network, ProblemFile, escape_line, escape_text,
};

use crate::outputs::Outputs;
use graph::Graph;

/// What `surefoot validate` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people to check against it: CSV, Parquet or Arrow.
    people: Option<PathBuf>,
    /// Also draw the causal graph into this SVG file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Says what is understood; an error that lists every mistake if there are any.
pub fn run(options: &Options) -> Result<String> {
    let file = ProblemFile::read(&options.problem)?;
    if let Some(path) = &options.svg {
        let people = options.people.iter();
        people
            .fold(Outputs::default(), |outputs, people| outputs.keep("the table of people", people))
            .keep_problem(&file)
            .check("--svg", path)?;
    }
    let found = file.mistakes();
    let mut complaints = Vec::new();
    if !found.is_empty() {
        let mistakes = surefoot::problem::Mistakes { path: options.problem.clone(), mistakes: found };
        complaints.push(mistakes.to_string());
    }
    let mut report = None;
    if let (Some(path), Ok(features)) = (&options.people, file.features()) {
        let checked =
            people::check(path, features, file.scm().ok().flatten(), file.classifier().ok().flatten());
        match checked {
            Ok(checked) if checked.is_clean() => report = Some(checked.to_string()),
            Ok(checked) => complaints.push(checked.to_string()),
            Err(error) => complaints.push(error.to_string()),
        }
    }
    let mut text = String::new();
    // What is understood of a broken file would only hide what is wrong with it.
    if file.mistakes().is_empty() {
        let features = file.features()?;
        let graph = Graph::new(features, file.scm()?);
        text = understood(&file, features, &graph)?;
        if let Some(path) = &options.svg {
            write_atomically(path, graph.svg().as_bytes(), Audience::Umask)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    text.extend(report.map(|report| format!("\n{report}\n")));
    if complaints.is_empty() {
        return Ok(text);
    }
    std::io::stdout().write_all(escape_text(&text).as_bytes())?;
    bail!("{}", complaints.join("\n"))
}

fn understood(file: &ProblemFile, features: &Features, graph: &Graph) -> Result<String> {
    let mut text = feature_table(file, features).to_string() + "\n";
    let entries = file.equation_entries();
    if entries.is_empty() {
        text += "\nEquations: none, features are taken to be independent.\n";
    } else {
        text += "\nEquations, causes first:\n";
        let by_feature: HashMap<&str, &EquationEntry> =
            entries.iter().map(|entry| (entry.feature.as_str(), entry)).collect();
        for i in graph.order() {
            let name = &features.feature(i).name;
            match by_feature.get(name.as_str()) {
                Some(entry) => writeln!(text, "  {name} = {}", equation(entry, file.folder()))?,
                None => writeln!(text, "  {name} has no causes")?,
            }
        }
        if graph.is_readable_as_text() {
            text += "\nCausal graph (a dot: causes what the arrow points at):\n";
            for line in graph.text().lines() {
                writeln!(text, "  {line}")?;
            }
        } else {
            text += "\nCausal graph: too wide for text; --svg draws it.\n";
        }
    }
    writeln!(text, "\nClassifier: {}", classifier(file, features))?;
    let (epsilon, norm) = (file.uncertainty().radius(), file.uncertainty().norm());
    let kind = norm.name();
    let (cost, form, safety) = file.settings();
    let weighted = if norm.weights().is_some() { "weighted " } else { "" };
    writeln!(
        text,
        "Uncertainty: shifts of up to {epsilon} standard deviations, {weighted}{kind} norm; safety {safety:e}"
    )?;
    let form = match form {
        ActionKind::Relative => "relative (\"raise by\")",
        ActionKind::Absolute => "absolute (\"reach\")",
    };
    writeln!(text, "Actions: {form}, {} cost", if cost == Cost::L1 { "l1" } else { "l2" })?;
    let (constraints, forbidden) = file.rules();
    for constraint in constraints {
        writeln!(text, "Constraint: {}, for everybody who acts", constraint.text())?;
    }
    for transition in forbidden {
        writeln!(text, "Forbidden: {}", forbids(transition, features))?;
    }
    let mut missing = Vec::new();
    if features.actionable().is_empty() {
        missing.push(
            "every feature is fixed: say of at least one what an action may change (change = \"increase\")",
        );
    }
    if file.classifier_entry().is_none() {
        missing.push("there is no classifier: give one, or train one with `surefoot train`");
    }
    for (number, words) in missing.iter().enumerate() {
        writeln!(text, "{}{words}", if number == 0 { "\nStill to do: " } else { "             " })?;
    }
    Ok(text)
}

/// `job from clerk to cook or king`.
fn forbids(transition: &Forbidden, features: &Features) -> String {
    let list = |items: Vec<String>| if items.is_empty() { "any".into() } else { items.join(" or ") };
    let (of, from, to) = match transition {
        Forbidden::Categories { from, to } => {
            let name = |&i: &usize| features.feature(i).name.clone();
            let named = from.iter().chain(to).next();
            let group = named.and_then(|&i| features.feature(i).group.clone()).unwrap_or_default();
            (group, list(from.iter().map(name).collect()), list(to.iter().map(name).collect()))
        }
        Forbidden::Values { feature, from, to } => {
            let told = |values: &[f64]| list(values.iter().map(|&value| number(value)).collect());
            (features.feature(*feature).name.clone(), told(from), told(to))
        }
    };
    format!("{of} from {from} to {to}")
}

/// The limits of a feature in words.
fn limits(feature: &Feature) -> String {
    match (feature.lower.is_finite(), feature.upper.is_finite()) {
        (false, false) => "none".into(),
        (true, false) => format!("from {}", number(feature.lower)),
        (false, true) => format!("up to {}", number(feature.upper)),
        (true, true) => format!("{} to {}", number(feature.lower), number(feature.upper)),
    }
}

fn feature_table(file: &ProblemFile, features: &Features) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["feature", "kind", "mean", "std", "limits", "change", "cost weight", "shift up to"]);
    for (i, feature) in features.iter().enumerate() {
        let change = match feature.change {
            Change::Fixed => "fixed",
            Change::Any => "any",
            Change::Increase => "increase",
            Change::Decrease => "decrease",
        };
        let weight = if feature.is_actionable() { number(feature.weight) } else { String::new() };
        // Alone, in people's own units.
        let shift = file.uncertainty().alone(i, features.len(), feature.std);
        let kind = feature
            .group
            .as_ref()
            .map_or(feature.kind.to_string(), |group| format!("of {}", escape_line(group)));
        table.add_row([
            escape_line(&feature.name).into_owned(),
            kind,
            number(feature.mean),
            number(feature.std),
            limits(feature),
            change.into(),
            weight,
            number(shift),
        ]);
    }
    for column in [2, 3, 6, 7] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn equation(entry: &EquationEntry, folder: &ModelFolder) -> String {
    match &entry.form {
        EquationForm::Formula { formula, inverse: None } => formula.clone(),
        EquationForm::Formula { formula, inverse: Some(inverse) } => format!("{formula}, u = {inverse}"),
        EquationForm::Linear { parents, coefficients, intercept, inputs } => {
            format!("{} + u{}", linear(coefficients, parents, *intercept), units(*inputs))
        }
        EquationForm::Network { parents, network: file, inputs } => {
            format!("network({}) + u, {}{}", parents.join(", "), network(file, folder), units(*inputs))
        }
    }
}

fn classifier(file: &ProblemFile, features: &Features) -> String {
    let Some(entry) = file.classifier_entry() else { return "none yet".into() };
    let logit = match &entry.form {
        ClassifierForm::Linear { coefficients, intercept } => {
            linear(coefficients, &features.names(), *intercept)
        }
        ClassifierForm::Network(stated) => format!("network, {}", network(stated, file.folder())),
        ClassifierForm::Onnx(path) => onnx(path, file, features),
    };
    format!("logit = {logit}{}; favourable from probability {} on", units(entry.inputs), entry.threshold)
}

/// Where a network is found and, as 4-100-100-1 tanh, what it is.
fn network(file: &NetworkFile, folder: &ModelFolder) -> String {
    let mut text = file.path.display().to_string();
    if !file.prefix.is_empty() {
        let _ = write!(text, " {}", file.prefix);
    }
    if let Ok((network, _)) = file.read(folder) {
        let _ = write!(text, " ({})", shape(&network));
    }
    text
}

/// `4-100-100-1 tanh`.
fn shape(network: &Network) -> String {
    let layers: String = network.layers().iter().map(|layer| format!("-{}", layer.bias.len())).collect();
    format!("{}{layers} {}", network.inputs(), format!("{:?}", network.activation()).to_lowercase())
}

/// What an ONNX model is: a sum, or where it is found and its layers.
fn onnx(path: &Path, file: &ProblemFile, features: &Features) -> String {
    match Network::read_onnx(file.folder().path().join(path)) {
        Ok(network) => match network.layers() {
            [layer] => {
                let sum = linear(&layer.weight.row(0).to_vec(), &features.names(), layer.bias[0]);
                format!("{sum}, from {}", path.display())
            }
            _ => format!("network, {} ({})", path.display(), shape(&network)),
        },
        Err(_) => path.display().to_string(),
    }
}

fn units(inputs: Inputs) -> &'static str {
    match inputs {
        Inputs::Standardised => "  (standardised)",
        Inputs::Raw => "  (own units)",
    }
}

/// `0.5 * age - 2 * income + 3`, without what is zero.
fn linear(coefficients: &[f64], names: &[String], intercept: f64) -> String {
    let mut text = String::new();
    let mut add = |size: f64, name: &str| {
        text += match (size < 0.0, text.is_empty()) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        };
        text += &number(size.abs());
        text += name;
    };
    let terms = coefficients.iter().zip(names).filter(|(coefficient, _)| **coefficient != 0.0);
    terms.for_each(|(&coefficient, name)| add(coefficient, &format!(" * {name}")));
    if intercept != 0.0 || coefficients.iter().all(|&coefficient| coefficient == 0.0) {
        add(intercept, "");
    }
    text
}

/// Six digits, for reading.
fn number(value: f64) -> String {
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
            assert_eq!(number(value), text);
        }
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(linear(&[0.5, 0.0, -2.0], &names, -3.0), "0.5 * a - 2 * c - 3");
        assert_eq!(linear(&[0.0, 0.0, 0.0], &names, 0.0), "0");
        assert_eq!(linear(&[-1.0, 0.0, 0.0], &names, 0.0), "-1 * a");
    }
}
