//! `surefoot fit`: structural equations from a table and a graph.

pub mod graph;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::table::{Table, nearest};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, presets::UTF8_FULL_CONDENSED};
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::error::{CausalModelError, SettingError};
use surefoot::problem::{Edit, EquationEntry, EquationForm, Inputs, NetworkFile};
use surefoot::train::{Fitted, Fitting, Function, Shape};
use surefoot::{Activation, Equation, Error, Features, Network, ProblemFile, Scm};

use crate::outputs::{Outputs, beside, editable, is_same, relative};
use crate::train::{setting_of_descent, standardised};
use crate::validate::people::check_batch;
use graph::Graph;

/// What `surefoot fit` can be asked.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct Options {
    /// A table of people: CSV, Parquet or Arrow.
    table: PathBuf,
    /// The causal graph: `age, sex -> income; income -> savings`, or a file with one such line
    /// for each feature that has causes, or a file in DOT or GML. Names with commas, semicolons or arrows
    /// stand between back quotes (in a file; on the command line single quotes around the whole protect them).
    /// Equations of features that the graph gives no causes stay as they are.
    #[arg(long)]
    graph: String,
    /// The problem file, TOML (not JSON): says what the features are and gets the equations.
    #[arg(long, value_name = "FILE", default_value = "problem.toml")]
    problem: PathBuf,
    /// Where to write networks; problem.equations.safetensors beside problem.toml if not given.
    /// (Linear equations are written into the problem file itself.)
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What equations look like.
    #[arg(long, value_enum, default_value = "linear")]
    shape: Kind,
    /// Networks: widths of the hidden layers [default: 100].
    #[arg(long, value_delimiter = ',', value_name = "WIDTHS")]
    hidden: Option<Vec<usize>>,
    /// Networks: passes over the rows [default: 30].
    #[arg(long)]
    epochs: Option<usize>,
    /// Networks: rows in a mini-batch [default: 100].
    #[arg(long)]
    batch: Option<usize>,
    /// Networks: the step of Adam [default: 0.005].
    #[arg(long)]
    step: Option<f64>,
    /// The share of the rows that is held out to measure how well the equations fit; 0 to fit to all
    /// rows and measure on the same.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    held_out: f64,
    /// Linear equations: guard against errors of their coefficients. Each is within what is written with this
    /// probability, 0.95 unless given.
    #[arg(long, value_name = "PROBABILITY", num_args = 0..=1, require_equals = true, default_missing_value = "0.95")]
    errors: Option<f64>,
    /// Guard against equations anywhere in a band, in which a further person's value is with this probability, 0.95
    /// unless given, judged by what is left unexplained of the rows held out.
    #[arg(long, value_name = "PROBABILITY", num_args = 0..=1, require_equals = true, default_missing_value = "0.95")]
    band: Option<f64>,
    /// Decides which rows those are, and initial weights.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// What equations can look like.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Coefficients and an intercept, by least squares.
    Linear,
    /// Dense networks (tanh), by Adam.
    Network,
}

impl Options {
    fn shape(&self) -> Result<Shape> {
        for (option, probability) in [("--errors", self.errors), ("--band", self.band)] {
            if let Some(probability) = probability.filter(|p| !(*p > 0.0 && *p < 1.0)) {
                bail!("{option}={probability}: give a probability above 0 and below 1");
            }
        }
        if let Kind::Network = self.shape {
            if self.errors.is_some() {
                bail!("--errors is about the coefficients of linear equations; for networks give --band");
            }
            return Ok(Shape::Network {
                hidden: self.hidden.clone().unwrap_or(vec![100]),
                activation: Activation::Tanh,
                epochs: self.epochs.unwrap_or(30),
                batch: self.batch.unwrap_or(100),
                step: self.step.unwrap_or(0.005),
            });
        }
        let given = [
            ("--hidden", self.hidden.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--batch", self.batch.is_some()),
            ("--step", self.step.is_some()),
            ("--output", self.output.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
            bail!("{option} has no effect on linear equations; leave it out, or give --shape network");
        }
        Ok(Shape::Linear)
    }

    fn output(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| beside(&self.problem, "equations"))
    }

    /// What the engine refuses, in the words of the command line.
    fn explain(error: Error) -> anyhow::Error {
        match error {
            Error::Setting(SettingError::Setting { setting, value }) => setting_of_descent(setting, value),
            Error::Setting(SettingError::ValidationShare { .. }) => {
                anyhow::Error::new(error).context("--held-out")
            }
            other => other.into(),
        }
    }
}

/// Fits, and says how good the equations are, what casts doubt on them and where they are.
pub fn run(options: &Options) -> Result<String> {
    let shape = options.shape()?;
    editable(&options.problem)?;
    let graph = graph::read(&options.graph)?;
    if !options.problem.exists() {
        bail!("{} does not exist; write a first one with `surefoot init`", options.problem.display());
    }
    let file = ProblemFile::read(&options.problem)?;
    let features = file.features()?;
    let table = Table::open(&options.table)?;
    check_names(&graph, features, &options.problem, &options.table, table.columns())?;
    let kept = kept(&file, &graph, features)?;
    check_outputs(options, &file)?;
    let batch = table.select_people(features, &[])?.read_all()?;
    let checked = check_batch(&options.table, &batch, features, None);
    let rows = standardised(batch.numbers, features, &checked)?;

    let steps = if let Shape::Network { epochs, .. } = &shape { graph.len() * epochs } else { 0 };
    let fitting = Fitting { shape, held_out: options.held_out, seed: options.seed };
    let bar = ProgressBar::new(steps as u64);
    bar.set_style(ProgressStyle::with_template("fitting {msg} [{bar:30}] {percent}%, {eta} left")?);
    let parents: Vec<(&str, Vec<&str>)> = graph
        .iter()
        .map(|(feature, parents)| (&feature[..], parents.iter().map(String::as_str).collect()))
        .collect();
    let borrowed: Vec<(&str, &[&str])> =
        parents.iter().map(|(feature, parents)| (*feature, &parents[..])).collect();
    let fitted = fitting.run_with(features, rows.view(), &borrowed, &mut |feature, _| {
        bar.set_message(surefoot::escape_line(feature).into_owned());
        bar.inc(1);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let fitted = fitted.map_err(Options::explain)?;
    // Numbers that no equation may have are told here, and not when the file is read.
    fitted.scm(features)?;
    let mut text = if checked.is_clean() { String::new() } else { format!("Warning: {checked}\n") };
    text += &report(options, &fitted, features, rows.nrows())?;
    Ok(text + &write(options, &file, &fitted, &kept)?)
}

/// Every name of the graph must be a feature.
pub fn check_names(
    graph: &Graph,
    features: &Features,
    problem: &Path,
    table: &Path,
    columns: &[String],
) -> Result<()> {
    let known = features.names();
    let names = graph.iter().flat_map(|(feature, causes)| [feature].into_iter().chain(causes));
    let Some(name) = names.into_iter().find(|name| !known.contains(name)) else { return Ok(()) };
    let problem = problem.display();
    let column = features.columns().iter().find(|column| column.name() == name);
    if let Some(categories) = column.and_then(|column| column.categories()) {
        bail!(
            "--graph: `{name}` has categories without an order; name those that matter, between quotes: \"{name}={}\"",
            categories[0]
        );
    }
    if columns.contains(name) {
        bail!(
            "--graph: `{name}` is a column of {} but not a feature of {problem} (`surefoot init` leaves out \
             text of many different values and columns with a single value); add it there, or leave it out of \
             the graph",
            table.display()
        );
    }
    match nearest(name, &known) {
        Some(nearest) => bail!("--graph: `{name}` is not a feature of {problem}; did you mean `{nearest}`?"),
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            bail!("--graph: `{name}` is not a feature of {problem}; there are {}", known.join(", "))
        }
    }
}

/// The equations that stay, which must not make a cycle with the graph; nor may categories follow
/// from what people can change.
fn kept<'a>(file: &'a ProblemFile, graph: &Graph, features: &Features) -> Result<Vec<&'a EquationEntry>> {
    let entries = file.equation_entries().iter();
    let kept: Vec<&EquationEntry> =
        entries.filter(|entry| !graph.iter().any(|(feature, _)| *feature == entry.feature)).collect();
    let mut equations: Vec<(&str, Equation)> = Vec::new();
    for entry in &kept {
        // One that is broken stays as it is; `surefoot validate` tells of it.
        if let Ok(equation) = entry.equation(features, file.folder()) {
            equations.push((&entry.feature, equation));
        }
    }
    for (feature, causes) in graph {
        let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
        equations.push((feature, Equation::linear(&causes, vec![0.0; causes.len()], 0.0)));
    }
    match Scm::new(features, equations) {
        // What no problem may have is not written into one.
        Ok(scm) => scm.require_whole_categories()?,
        Err(error @ Error::CausalModel(CausalModelError::Cycle { .. })) => {
            if kept.is_empty() {
                return Err(error.into());
            }
            let names: Vec<String> = kept.iter().map(|entry| format!("`{}`", entry.feature)).collect();
            bail!("{error} ({} keeps the equations of {})", file.path().display(), names.join(", "));
        }
        Err(_) => {}
    }
    Ok(kept)
}

/// Refuses places that cannot be written to, or hold what is needed.
fn check_outputs(options: &Options, file: &ProblemFile) -> Result<()> {
    if let Kind::Linear = options.shape {
        return Ok(());
    }
    let outputs = Outputs::default()
        .keep("the table of people", &options.table)
        .keep("the problem file", &options.problem)
        .keep("the graph", Path::new(&options.graph));
    let option = if options.output.is_some() { "--output" } else { "the networks' file" };
    // The file may hold networks of equations already; those that stay are kept in it.
    outputs.keep_classifier(file).check(option, &options.output())?;
    Ok(())
}

fn report(options: &Options, fitted: &Fitted, features: &Features, people: usize) -> Result<String> {
    let mut table = comfy_table::Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["feature", "causes", "explained", "left unexplained"]);
    for equation in &fitted.equations {
        let feature = features.feature(features.index(&equation.feature)?);
        table.add_row([
            equation.feature.clone(),
            equation.parents.join(", "),
            match equation.r_squared.is_finite() {
                true => format!("{:.1}%", 100.0 * equation.r_squared),
                false => "-".into(),
            },
            format!("+-{}", readable(equation.deviation * feature.std)),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let on = if options.held_out == 0.0 { "the rows that they were fitted to" } else { "rows held out" };
    let fitted_to = match options.shape {
        Kind::Network if options.held_out > 0.0 => format!("those of {people} people who are not held out"),
        _ => format!("{people} people"),
    };
    let mut text = format!(
        "{table}\nFitted to {fitted_to}. Explained: the share of the variance on {on} (R squared); \
         unexplained: one standard deviation, in the feature's own units.\n"
    );
    for warning in fitted.equations.iter().flat_map(|equation| &equation.warnings) {
        writeln!(text, "Warning: {warning}.")?;
    }
    Ok(text)
}

/// Three digits that matter.
fn readable(value: f64) -> String {
    let digits = if value > 0.0 { (2 - value.log10().floor() as i32).clamp(0, 12) } else { 0 };
    format!("{value:.*}", digits as usize)
}

/// Writes the equations into the problem file, networks into a file of their own beside it.
fn write(options: &Options, file: &ProblemFile, fitted: &Fitted, kept: &[&EquationEntry]) -> Result<String> {
    let mut edit = Edit::open(&options.problem)?;
    let path = options.output();
    let prefix = |feature: &str| format!("{feature}.");
    let mut networks: Vec<(String, Network)> = Vec::new();
    for equation in &fitted.equations {
        if let Function::Network(network) = &equation.function {
            networks.push((prefix(&equation.feature), network.clone()));
        }
    }
    let mut place = format!("the [[equation]]s of {}", options.problem.display());
    let mut named = PathBuf::new();
    if !networks.is_empty() {
        // Those of equations that stay are in the same file, as a rule, and stay with them.
        for entry in kept {
            let EquationForm::Network { network, .. } = &entry.form else { continue };
            if is_same(&file.folder().path().join(&network.path), &path) {
                if networks.iter().any(|(prefix, _)| *prefix == network.prefix) {
                    bail!(
                        "{}: holds the network of `{}`, whose equation is kept, under the name of a new network; \
                         write the new networks to another file with --output",
                        path.display(),
                        entry.feature
                    );
                }
                networks.push((network.prefix.clone(), network.read(file.folder())?.0));
            }
        }
        let borrowed: Vec<(&str, &Network)> =
            networks.iter().map(|(prefix, network)| (&prefix[..], network)).collect();
        Network::write(&path, &borrowed)?;
        named = relative(&path, options.problem.parent().unwrap_or(Path::new("")))?;
        place = format!("{}, which {place} name", path.display());
    }
    let entry = |equation: &surefoot::train::FittedEquation| EquationEntry {
        feature: equation.feature.clone(),
        form: match &equation.function {
            Function::Linear { coefficients, intercept } => EquationForm::Linear {
                parents: equation.parents.clone(),
                coefficients: coefficients.clone(),
                intercept: *intercept,
                inputs: Inputs::Standardised,
            },
            Function::Network(_) => EquationForm::Network {
                parents: equation.parents.clone(),
                network: NetworkFile {
                    path: named.clone(),
                    prefix: prefix(&equation.feature),
                    activation: Some(Activation::Tanh),
                },
                inputs: Inputs::Standardised,
            },
        },
    };
    edit.update_equations(&fitted.equations.iter().map(entry).collect::<Vec<_>>());
    let mut text = format!("Written to {place}.\n");
    if options.errors.is_some() || options.band.is_some() {
        for equation in &fitted.equations {
            let errors = options.errors.map_or(Ok(Vec::new()), |probability| equation.errors(probability))?;
            let band = options.band.map(|probability| equation.band(probability)).transpose()?;
            edit.set_equation_errors(&equation.feature, &errors, band);
        }
        let names: Vec<String> =
            fitted.equations.iter().map(|equation| format!("`{}`", equation.feature)).collect();
        writeln!(
            text,
            "With [[uncertainty]] sections: recourse holds for all equations of {} that these errors leave possible.",
            names.join(", ")
        )?;
    }
    edit.save()?;
    if !kept.is_empty() {
        let names: Vec<String> = kept.iter().map(|entry| format!("`{}`", entry.feature)).collect();
        writeln!(
            text,
            "The equations of {} are kept, since the graph gives them no causes.",
            names.join(", ")
        )?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_to_three_digits() {
        assert_eq!(
            ["1234", "12.3", "0.00123"].map(|n| readable(n.parse().unwrap())),
            ["1234", "12.3", "0.00123"]
        );
    }
}
