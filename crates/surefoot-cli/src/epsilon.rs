//! `surefoot epsilon`: which share of errors a problem's uncertainty covers, and how large it has to be.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use surefoot::coverage::radius_of_errors;
use surefoot::error::SettingError;
use surefoot::magnitude::readable;
use surefoot::problem::Edit;
use surefoot::uncertainty::{Correlation, Shift};
use surefoot::{Coverage, Error, Features, Kind, Problem, ProblemFile};

use crate::outputs::editable;
use crate::people::Source;
use crate::table::Table;

/// What `surefoot epsilon` can be asked.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow. Needed where intervals depend on a person's values, and for
    /// --covariance.
    people: Option<PathBuf>,
    /// The share of errors to cover, such as 0.95. Without it, the share that the problem covers is stated.
    #[arg(long, value_name = "P")]
    probability: Option<f64>,
    /// The standard deviation of the errors, as a share of that of each feature, such as 0.1. The errors are
    /// taken to be normal and independent.
    #[arg(long, value_name = "SHARE", required_unless_present_any = ["errors", "covariance"])]
    error: Option<f64>,
    /// A table of observed errors instead, in own units, such as repeated measurements minus their mean. A
    /// feature without a column is taken as exact.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["error", "people"])]
    errors: Option<PathBuf>,
    /// Write the correlations of the people's features into the problem file (TOML, not JSON), so that
    /// features that go together shift together.
    #[arg(long, requires = "people", conflicts_with_all = ["probability", "error", "errors"])]
    covariance: bool,
}

/// Answers what was asked.
pub fn run(options: &Options) -> Result<String> {
    if let Some(p) = options.probability.filter(|p| !(*p > 0.0 && *p < 1.0)) {
        bail!("--probability is {}; it must be between 0 and 1, such as 0.95", readable(p));
    }
    if options.covariance {
        editable(&options.problem)?;
    }
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    match (&options.errors, options.error, &options.people) {
        (_, _, Some(people)) if options.covariance => write_covariance(&options.problem, &problem, people),
        (Some(errors), ..) => observed(options, &problem, errors),
        (None, Some(share), people) => assumed(options, &problem, share, people.as_deref()),
        (None, None, _) => bail!("give --error, --errors or --covariance"),
    }
}

/// A share as a percentage, never rounded up to a greater one.
fn percent(share: f64) -> String {
    let rounded = (share * 1e4 + 1e-9).floor() / 100.0;
    format!("{}%", readable(rounded))
}

/// Six digits, rounded up.
fn rounded_up(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let unit = 10f64.powf(value.log10().floor() - 5.0);
    // A number such as 0.3 is no longer 0.300001 after its rounding errors.
    let rounded = ((value / unit) * (1.0 - 1e-12)).ceil();
    readable(format!("{:.5e}", rounded * unit).parse().unwrap_or(value))
}

/// Errors that are assumed to be normal.
fn assumed(options: &Options, problem: &Problem, share: f64, people: Option<&Path>) -> Result<String> {
    let explained = |error: Error| match error {
        Error::Setting(SettingError::Setting { value, .. }) => {
            anyhow::anyhow!("--error is {}; it must be positive", readable(value))
        }
        other => other.into(),
    };
    let mut coverages = Vec::new();
    match people {
        None => coverages.push(Coverage::new(problem, share, None).map_err(explained)?),
        Some(people) => {
            let mut source = Source::open(people, problem.features(), None)?;
            while let Some(group) = source.next()? {
                for (position, individual) in group.people.iter().enumerate() {
                    let individual = problem.features().imputed(individual);
                    let coverage = Coverage::new(problem, share, Some(&individual));
                    coverages
                        .push(coverage.map_err(|error| explained(error).context(group.place(position)))?);
                }
            }
        }
    }
    let mut text = assumptions(problem, share);
    let probabilities: Vec<f64> = coverages.iter().map(Coverage::probability).collect();
    let least = probabilities.iter().copied().fold(1.0, f64::min);
    let mean = probabilities.iter().sum::<f64>() / probabilities.len().max(1) as f64;
    let many = if least < mean - 1e-12 {
        format!(
            " of the least covered person, and {} on average over {} people",
            percent(mean),
            probabilities.len()
        )
    } else {
        String::new()
    };
    writeln!(text, "{} covers {} of such errors{many}.", of_problem(problem), percent(least))?;
    let Some(probability) = options.probability else { return Ok(text) };
    let factors: Option<Vec<f64>> = coverages.iter().map(|coverage| coverage.factor(probability)).collect();
    let Some(factor) = factors.map(|factors| factors.into_iter().fold(0.0, f64::max)) else {
        bail!(
            "no epsilon covers {} of such errors, because the intervals of the problem alone cover less; \
             widen these first",
            percent(probability)
        );
    };
    let mut radii = vec![problem.epsilon()];
    let groups = problem.sources().map(|sources| sources.groups.clone()).unwrap_or_default();
    radii.extend(groups.iter().map(|group| group.epsilon));
    let base = if radii.iter().all(|radius| *radius == 0.0) { 1.0 } else { 0.0 };
    let needed = |radius: f64| rounded_up(factor * (radius + base));
    writeln!(text, "To cover {} of them:", percent(probability))?;
    writeln!(text, "  epsilon = {}", needed(problem.epsilon()))?;
    for group in &groups {
        let names: Vec<String> = names(problem.features(), &group.features);
        writeln!(text, "  epsilon = {} in the section of {}", needed(group.epsilon), names.join(", "))?;
    }
    Ok(text)
}

fn names(features: &Features, members: &[usize]) -> Vec<String> {
    members.iter().map(|&i| features.feature(i).name.clone()).collect()
}

fn of_problem(problem: &Problem) -> String {
    let further = problem.sources().is_some_and(|sources| sources.concern_person());
    let with = if further { " with its sections about the person" } else { "" };
    format!("The problem's epsilon of {} ({}){with}", readable(problem.epsilon()), problem.norm().name())
}

fn assumptions(problem: &Problem, share: f64) -> String {
    let sources = problem.sources().cloned().unwrap_or_default();
    let correlated = if sources.factor.is_empty() {
        "independent"
    } else {
        "correlated as the problem says, otherwise independent,"
    };
    let mut text = format!(
        "Assumed: errors are normal, {correlated} with mean 0 and a standard deviation of {} of that of each \
         feature",
        percent(share)
    );
    let exact: Vec<usize> =
        (0..problem.features().len()).filter(|&i| sources.shift(i) == Shift::Exact).collect();
    if exact.is_empty() {
        text += ".\n";
    } else {
        text += &format!("; without error: {}.\n", names(problem.features(), &exact).join(", "));
    }
    text
}

/// Errors from a table.
fn observed(options: &Options, problem: &Problem, path: &Path) -> Result<String> {
    if problem.sources().is_some_and(|sources| sources.concern_person()) {
        bail!(
            "--errors measures errors by the norm of the problem; it cannot be combined with sections \
             `of = \"person\"`"
        );
    }
    let features = problem.features();
    let table = Table::open(path)?;
    let present: Vec<usize> =
        (0..features.len()).filter(|&i| table.columns().contains(&features.feature(i).name)).collect();
    if present.is_empty() {
        bail!("{}: no column is named as a feature of the problem", path.display());
    }
    let batch = table.select(&names(features, &present), &[])?.read_all()?;
    let mut sizes = Vec::with_capacity(batch.numbers.nrows());
    for row in batch.numbers.rows() {
        let mut error = vec![0.0; features.len()];
        for (&i, value) in present.iter().zip(row) {
            error[i] = value / features.feature(i).std;
        }
        sizes.push(problem.norm().value(&error));
    }
    if let Some(row) = sizes.iter().position(|size| !size.is_finite()) {
        bail!("{}: the error in row {} is not a number", path.display(), row + 1);
    }
    let absent: Vec<usize> = (0..features.len()).filter(|i| !present.contains(i)).collect();
    let mut text = format!("{} observed errors", sizes.len());
    if !absent.is_empty() {
        write!(text, "; taken as exact: {}", names(features, &absent).join(", "))?;
    }
    let covered = sizes.iter().filter(|size| **size <= problem.epsilon()).count();
    let share = covered as f64 / sizes.len().max(1) as f64;
    writeln!(text, ".\n{} covers {} of them.", of_problem(problem), percent(share))?;
    let Some(probability) = options.probability else { return Ok(text) };
    let Some(radius) = radius_of_errors(&sizes, probability) else {
        let needed = (probability / (1.0 - probability) - 1e-9).ceil();
        bail!(
            "{}: {} errors are too few for {}; at least {needed} are needed",
            path.display(),
            sizes.len(),
            percent(probability)
        );
    };
    writeln!(
        text,
        "To cover a further error, drawn like these, with a probability of at least {}:\n  epsilon = {}",
        percent(probability),
        rounded_up(radius)
    )?;
    Ok(text)
}

/// Writes the correlations of people's features into the problem file.
fn write_covariance(path: &Path, problem: &Problem, people: &Path) -> Result<String> {
    if !problem.norm().set().is_round() {
        bail!(
            "--covariance needs `norm = \"l2\"`: the shifts of correlated features are an ellipsoid; the problem's norm \
             is {}",
            problem.norm().name()
        );
    }
    let features = problem.features();
    let sources = problem.sources().cloned().unwrap_or_default();
    let is_apart = |i: &usize| {
        sources.shift(*i) != Shift::Ball
            || sources.groups.iter().any(|group| group.features.contains(i))
            || features.feature(*i).kind == Kind::Binary
    };
    let chosen: Vec<usize> = (0..features.len()).filter(|i| !is_apart(i)).collect();
    if chosen.len() < 2 {
        bail!("--covariance: there are no two features with amounts in the ball of the problem");
    }
    let mut rows = Vec::new();
    let mut source = Source::open(people, features, None)?;
    while let Some(group) = source.next()? {
        let is_known = |individual: &&[f64]| chosen.iter().all(|&i| !individual[i].is_nan());
        for individual in group.people.iter().filter(is_known) {
            rows.extend(chosen.iter().map(|&i| individual[i]));
        }
    }
    let count = rows.len() / chosen.len();
    if count < 2 {
        bail!("{}: correlations need at least two people; there are {count}", people.display());
    }
    let rows = ndarray::ArrayView2::from_shape((count, chosen.len()), &rows)?;
    let Correlation { matrix, shrunk } = Correlation::of_table(rows);
    let names = names(features, &chosen);
    let mut edit = Edit::open(path)?;
    edit.set_covariance(&names, &matrix);
    edit.save()?;
    let pairs = (0..names.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let strongest = pairs.max_by(|a, b| matrix[a.0][a.1].abs().total_cmp(&matrix[b.0][b.1].abs()));
    let mut text = format!("The correlations of {} in {count} people.", names.join(", "));
    if let Some((i, j)) = strongest {
        write!(text, " The strongest is {:.3}, of {} and {}.", matrix[i][j], names[i], names[j])?;
    }
    if shrunk > 0.0 {
        write!(
            text,
            " All are reduced by {:.3}%, because some features follow from others in this table.",
            100.0 * shrunk
        )?;
    }
    writeln!(text, "\nWritten to an [[uncertainty]] section of {}.", path.display())?;
    Ok(text)
}
