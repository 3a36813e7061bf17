//! `surefoot trade-off`: what certainty costs one person.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::recourse::{Reach, TradeOff, trade_off};
use surefoot::{Outcome, Problem, ProblemFile, describe_action};
use surefoot_paper::figure::LineChart;

use crate::effort::Effort;
use crate::outputs::Outputs;
use crate::people;

/// What `surefoot trade-off` can be asked.
///
/// An action that holds for more uncertainty holds for less, so that answers for different sizes
/// complete each other. The whole curve may cost up to seven times --evaluations.
#[derive(Args)]
pub struct Options {
    /// The problem file; its epsilon is not used.
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
    #[command(flatten)]
    effort: Effort,
}

/// Tells and draws the cheapest cost for each size of the uncertainty.
pub fn run(options: &Options) -> Result<String> {
    let settings = options.effort.settings()?;
    if let Some(epsilon) = options.epsilons.iter().find(|epsilon| !(epsilon.is_finite() && **epsilon >= 0.0))
    {
        bail!("--epsilons {epsilon}: must be a number that is not negative, in standard deviations");
    }
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
    if problem.score(individual) >= 0.0 {
        return Ok("Nothing needs to change: the decision is favourable as things stand.\n".into());
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}")?);
    bar.enable_steady_tick(Duration::from_millis(100));
    let progress = |epsilon: f64| bar.set_message(format!("searching for epsilon {epsilon:.4}"));
    let epsilons = (!options.epsilons.is_empty()).then_some(&options.epsilons[..]);
    let TradeOff { epsilons, answers, reach, .. } =
        trade_off(&problem, individual, epsilons, settings, progress)?;
    bar.finish_and_clear();
    let mut text = table(&problem, individual, &epsilons, &answers)?;
    writeln!(text, "{}", largest(reach))?;
    if let Some(path) = &options.plot {
        draw(path, &epsilons, &answers)?;
        writeln!(text, "Drawn in {}.", path.display())?;
    }
    Ok(text)
}

/// A row for each size.
fn table(problem: &Problem, individual: &[f64], epsilons: &[f64], answers: &[Outcome]) -> Result<String> {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(["epsilon", "cost", "at least", "action"]);
    for (epsilon, outcome) in epsilons.iter().zip(answers) {
        let [cost, bound, action] = match outcome {
            Outcome::Found(found) => {
                let action = describe_action(problem, individual, &found.action)?;
                [format!("{:.3}", found.cost), format!("{:.3}", found.cost_bound), action]
            }
            Outcome::Impossible(_) => ["-".into(), "-".into(), "proven: none holds".into()],
            Outcome::Undecided(undecided) => {
                ["-".into(), format!("{:.3}", undecided.cost_bound), "could not be decided".into()]
            }
            Outcome::Unproved(candidate) => {
                let action = describe_action(problem, individual, &candidate.action)?;
                [format!("{:.3}", candidate.cost), "-".into(), action]
            }
            Outcome::AlreadyFavourable => ["0".into(), "0".into(), "nothing".into()],
        };
        table.add_row([format!("{epsilon:.4}"), cost, bound, action]);
    }
    table.column_iter_mut().take(3).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    Ok(format!("{table}\n"))
}

/// What is proven of the largest size for which there is an action.
pub fn largest(Reach { possible, impossible }: Reach) -> String {
    match (possible, impossible) {
        (None, Some(0.0)) => {
            "There is no action, not even one that works only if nothing shifts (proven).".into()
        }
        (None, Some(impossible)) => format!(
            "There is no action for shifts of {} standard deviations or more (proven). Whether there is one for \
             smaller shifts, or for none, could not be decided.",
            rounded_up(impossible)
        ),
        (None, None) => {
            "Whether there is an action, even one that works only if nothing shifts, could not be decided."
                .into()
        }
        (Some(possible), Some(impossible)) => format!(
            "There is an action that holds for shifts of up to {} standard deviations (proven), and none for {} \
             (proven).",
            rounded_down(possible),
            rounded_up(impossible)
        ),
        (Some(possible), None) => format!(
            "There is an action that holds for shifts of up to {} standard deviations (proven); whether there is one \
             for larger ones is not known.",
            rounded_down(possible)
        ),
    }
}

/// A size to four digits, not larger than it is.
fn rounded_down(size: f64) -> String {
    rounded(size, f64::floor)
}

/// A size to four digits, not smaller than it is.
fn rounded_up(size: f64) -> String {
    rounded(size, f64::ceil)
}

fn rounded(size: f64, round: fn(f64) -> f64) -> String {
    if size == 0.0 {
        return "0".into();
    }
    let unit = 10f64.powi(size.log10().floor() as i32 - 3);
    let rounded = round(size / unit) * unit;
    if (1e-4..1e6).contains(&rounded) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{rounded:.digits$}")
    } else {
        format!("{rounded:.3e}")
    }
}

fn draw(path: &Path, epsilons: &[f64], answers: &[Outcome]) -> Result<()> {
    let points = epsilons.iter().zip(answers);
    let points = points.filter_map(|(&epsilon, outcome)| Some((epsilon, outcome.recourse()?.cost)));
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let chart = LineChart {
        title: "What certainty costs".into(),
        x_label: "epsilon: how far circumstances may shift, in standard deviations".into(),
        y_label: "cheapest certified cost".into(),
        log_x: false,
        y_range: None,
        lines: vec![("certified".into(), points)],
    };
    chart.write(path).with_context(|| format!("{} cannot be written", path.display()))
}

/// Refuses a name for a picture that does not say of which kind it is.
pub fn is_picture(path: &Path) -> Result<()> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if !matches!(ending.as_deref(), Some("svg" | "png")) {
        bail!(
            "--plot {}: its name does not show what kind of picture it is; name it .svg or .png",
            path.display()
        );
    }
    Ok(())
}
