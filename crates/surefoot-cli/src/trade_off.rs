//! `surefoot trade-off`: what certainty costs one person.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use surefoot::recourse::{Reach, reach, trade_off};
use surefoot::{Outcome, ProblemFile, describe_action};
use surefoot_paper::figure::LineChart;

use crate::outputs::Outputs;
use crate::people;

/// What `surefoot trade-off` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file; how much uncertainty it says to guard against does not matter here.
    problem: PathBuf,
    /// The person, as JSON in own units: '{"age": 31, "income": 2400}'.
    #[arg(long, value_name = "JSON")]
    person: String,
    /// Sizes of the uncertainty, in standard deviations; otherwise twelve up to where no action
    /// holds.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    epsilons: Vec<f64>,
    /// Draw the curve into this SVG or PNG file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Sizes tried if none are given.
const SIZES: usize = 12;

/// Within this share of the true one, the largest uncertainty is told.
const TOLERANCE: f64 = 0.01;

/// Tells and draws the cheapest cost for each size of the uncertainty.
pub fn run(options: &Options) -> Result<String> {
    if let Some(path) = &options.plot {
        is_picture(path)?;
    }
    let file = ProblemFile::read(&options.problem)?;
    if let Some(path) = &options.plot {
        Outputs::default().keep_problem(&file).check("--plot", path)?;
    }
    let problem = file.problem()?;
    let person = people::from_json(&options.person, problem.features())?;
    let individual = person.individual(0);
    if problem.classifier().score(individual) >= 0.0 {
        return Ok("Nothing needs to change: the decision is favourable as things stand.\n".into());
    }
    let Reach { possible, impossible } = reach(&problem, individual, TOLERANCE)?;
    let mut epsilons = options.epsilons.clone();
    if epsilons.is_empty() {
        let last = possible.unwrap_or(0.0).min(4.0);
        epsilons = (0..SIZES).map(|k| last * k as f64 / (SIZES - 1) as f64).collect();
        epsilons.dedup();
    }
    let answers = trade_off(&problem, individual, &epsilons)?;
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(["epsilon", "cost", "at least", "action"]);
    let mut points = Vec::new();
    for (&epsilon, outcome) in epsilons.iter().zip(&answers) {
        let row = match outcome {
            Outcome::Found(found) => {
                points.push((epsilon, found.cost));
                let action = describe_action(&problem, individual, &found.action)?;
                [format!("{:.3}", found.cost), format!("{:.3}", found.cost_bound), action]
            }
            Outcome::Impossible(_) => ["-".into(), "-".into(), "proven: none holds".into()],
            Outcome::Undecided(undecided) => {
                ["-".into(), format!("{:.3}", undecided.cost_bound), "could not be decided".into()]
            }
            Outcome::AlreadyFavourable => ["0".into(), "0".into(), "nothing".into()],
        };
        let [cost, bound, action] = row;
        table.add_row([format!("{epsilon:.4}"), cost, bound, action]);
    }
    table.column_iter_mut().take(3).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    let mut text = format!("{table}\n");
    let largest = match (possible, impossible) {
        (None, _) => "There is no action, not even one that works only if nothing else changes.".into(),
        (Some(possible), Some(impossible)) => format!(
            "There is an action that holds for shifts of up to {possible:.4} standard deviations (proven), and \
             none for {impossible:.4} (proven)."
        ),
        (Some(possible), None) => {
            format!(
                "There is an action that holds for shifts of up to {possible:.4} standard deviations (proven); of \
                 larger ones nothing could be proven."
            )
        }
    };
    writeln!(text, "{largest}")?;
    if let Some(path) = &options.plot {
        let chart = LineChart {
            title: "What certainty costs".into(),
            x_label: "epsilon: how far circumstances may shift, in standard deviations".into(),
            y_label: "cheapest certified cost".into(),
            log_x: false,
            y_range: None,
            lines: vec![("certified".into(), points)],
        };
        chart.write(path).with_context(|| format!("{} cannot be written", path.display()))?;
        writeln!(text, "Drawn in {}.", path.display())?;
    }
    Ok(text)
}

/// Refuses a name for a picture that does not say of which kind it is.
pub fn is_picture(path: &Path) -> Result<()> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if !matches!(ending.as_deref(), Some("svg" | "png")) {
        bail!("--plot {}: not known what kind of picture this is; name it .svg or .png", path.display());
    }
    Ok(())
}
