//! `surefoot fit`: structural equations from a table and a graph.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, presets::UTF8_FULL_CONDENSED};
use indicatif::{ProgressBar, ProgressStyle};
use ndarray::Axis;
use surefoot::problem::{Edit, EquationEntry, EquationForm, Inputs, NetworkFile};
use surefoot::train::{Fitted, Fitting, Function, Shape};
use surefoot::{Activation, Features, Network, ProblemFile};
use surefoot_cli::table::Table;

use crate::train::relative;

/// What `surefoot fit` can be asked.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct Options {
    /// A table of people: CSV, Parquet or Arrow.
    table: PathBuf,
    /// Who causes whom: `age, sex -> income; income -> savings`, or a file with one such line
    /// for each feature that has causes.
    #[arg(long)]
    graph: String,
    /// The problem file: says what the features are and gets the equations.
    #[arg(long, value_name = "FILE", default_value = "problem.toml")]
    problem: PathBuf,
    /// Where to write networks; beside the problem file if not given. (Linear equations are
    /// written into the problem file itself.)
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What equations look like.
    #[arg(long, value_enum, default_value = "linear")]
    shape: Kind,
    /// Networks: widths of the hidden layers.
    #[arg(long, value_delimiter = ',', default_values_t = [100], value_name = "WIDTHS")]
    hidden: Vec<usize>,
    /// Networks: passes over the rows.
    #[arg(long, default_value_t = 30)]
    epochs: usize,
    /// Networks: rows in a mini-batch.
    #[arg(long, default_value_t = 100)]
    batch: usize,
    /// Networks: the step of Adam.
    #[arg(long, default_value_t = 0.005)]
    step: f64,
    /// The part of the rows kept apart to see how well the equations do.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    held_out: f64,
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

/// Fits, and says how good the equations are, what casts doubt on them and where they are.
pub fn run(options: &Options) -> Result<String> {
    let text = match std::fs::read_to_string(&options.graph) {
        Ok(text) => text,
        Err(_) if options.graph.contains("->") => options.graph.clone(),
        Err(error) => {
            return Err(error).with_context(|| {
                format!(
                    "--graph {}: neither a graph such as `age -> income` nor a file that can be read",
                    options.graph
                )
            });
        }
    };
    let graph = parse(&text)?;
    let file = ProblemFile::read(&options.problem)
        .with_context(|| "a first problem file comes from `surefoot init`")?;
    let features = file.features()?;
    let mut rows = Table::open(&options.table)?.select(&features.names(), &[])?.read_all()?.numbers;
    for (j, mut column) in rows.axis_iter_mut(Axis(1)).enumerate() {
        column.mapv_inplace(|value| features.standardise(j, value));
    }
    let shape = match options.shape {
        Kind::Linear => Shape::Linear,
        Kind::Network => Shape::Network {
            hidden: options.hidden.clone(),
            activation: Activation::Tanh,
            epochs: options.epochs,
            batch: options.batch,
            step: options.step,
        },
    };
    let fitting = Fitting { shape, held_out: options.held_out, seed: options.seed };
    let steps = if let Kind::Network = options.shape { graph.len() * options.epochs } else { 0 };
    let bar = ProgressBar::new(steps as u64);
    bar.set_style(ProgressStyle::with_template("fitting {msg} [{bar:30}] {percent}%, {eta} left")?);
    let parents: Vec<(&str, Vec<&str>)> = graph
        .iter()
        .map(|(feature, parents)| (&feature[..], parents.iter().map(String::as_str).collect()))
        .collect();
    let borrowed: Vec<(&str, &[&str])> =
        parents.iter().map(|(feature, parents)| (*feature, &parents[..])).collect();
    let fitted = fitting.run_with(features, rows.view(), &borrowed, &mut |feature, _| {
        bar.set_message(feature.to_owned());
        bar.inc(1);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    let fitted = fitted?;
    Ok(report(&fitted, features, rows.nrows())? + &write(options, &fitted)?)
}

/// Lines (or parts between semicolons) such as `a, b -> c`. What follows `#` is a comment.
fn parse(text: &str) -> Result<Vec<(String, Vec<String>)>> {
    let mut graph: Vec<(String, Vec<String>)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for part in line.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let sides: Vec<&str> = part.split("->").collect();
            let names = |side: &str| -> Vec<String> {
                side.split(',').map(|name| name.trim().trim_matches('`').to_owned()).collect()
            };
            let [causes, effects] = sides[..] else {
                bail!("graph, line {}: `{part}` is not of the form `cause, cause -> effect`", number + 1);
            };
            let (causes, effects) = (names(causes), names(effects));
            if causes.iter().chain(&effects).any(String::is_empty) {
                bail!("graph, line {}: a name is missing in `{part}`", number + 1);
            }
            // Arrows into the same feature add up.
            for effect in effects {
                match graph.iter_mut().find(|(known, _)| *known == effect) {
                    Some((_, known)) => known.extend(causes.iter().cloned()),
                    None => graph.push((effect, causes.clone())),
                }
            }
        }
    }
    if graph.is_empty() {
        bail!("the graph has no arrows; write for example `age, sex -> income`");
    }
    Ok(graph)
}

fn report(fitted: &Fitted, features: &Features, people: usize) -> Result<String> {
    let mut table = comfy_table::Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["feature", "causes", "explained", "left unexplained"]);
    for equation in &fitted.equations {
        let feature = features.feature(features.index(&equation.feature)?);
        table.add_row([
            equation.feature.clone(),
            equation.parents.join(", "),
            format!("{:.1}%", 100.0 * equation.r_squared),
            format!("+-{}", readable(equation.deviation * feature.std)),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!(
        "{table}\nFitted to {people} people. Explained: the share of the variance on rows held out \
         (R squared); unexplained: one standard deviation, in the feature's own units.\n"
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
fn write(options: &Options, fitted: &Fitted) -> Result<String> {
    let mut edit = Edit::open(&options.problem)?;
    let folder = options.problem.parent().unwrap_or(Path::new(""));
    let path = options.output.clone().unwrap_or_else(|| folder.join("equations.safetensors"));
    let prefix = |feature: &str| format!("{feature}.");
    let networks: Vec<(String, &Network)> = fitted
        .equations
        .iter()
        .filter_map(|equation| match &equation.function {
            Function::Network(network) => Some((prefix(&equation.feature), network)),
            Function::Linear { .. } => None,
        })
        .collect();
    let mut place = format!("the [[equation]]s of {}", options.problem.display());
    let mut named = PathBuf::new();
    if !networks.is_empty() {
        let borrowed: Vec<(&str, &Network)> =
            networks.iter().map(|(prefix, network)| (&prefix[..], *network)).collect();
        Network::write(&path, &borrowed)?;
        named = relative(&path, folder)?;
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
    edit.set_equations(&fitted.equations.iter().map(entry).collect::<Vec<_>>());
    edit.save()?;
    Ok(format!("Written to {place}.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_read_line_by_line() {
        let text =
            "# who causes whom\nage, sex -> income, `hours per week`; income -> savings\nage -> savings";
        let graph = parse(text).unwrap();
        let expected: [(&str, &[&str]); 3] = [
            ("income", &["age", "sex"]),
            ("hours per week", &["age", "sex"]),
            ("savings", &["income", "age"]),
        ];
        assert_eq!(graph.len(), 3);
        for ((feature, parents), (name, causes)) in graph.iter().zip(expected) {
            assert!(feature == name && parents == causes);
        }
        for wrong in ["", "age", "age -> ", "a -> b -> c", ", -> b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_told_to_three_digits() {
        assert_eq!(
            ["1234", "12.3", "0.00123"].map(|n| readable(n.parse().unwrap())),
            ["1234", "12.3", "0.00123"]
        );
    }
}
