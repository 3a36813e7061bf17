//! `surefoot train`: the classifier that decides.

mod rows;
mod search;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::problem::{ClassifierEntry, ClassifierForm, Edit, Inputs, NetworkFile};
use surefoot::train::{Allr, ClassWeights, Epoch, Objective, Ross, Threshold, Trained, Training, Validation};
use surefoot::{Activation, Features, Metrics, Network, ProblemFile};
use surefoot_cli::table::{Column, Values, Writer};

use rows::Rows;
pub use rows::relative;

/// What `surefoot train` can be asked.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct Options {
    /// A table of people with their outcomes: CSV, Parquet or Arrow.
    table: PathBuf,
    /// The column with the outcome.
    #[arg(long)]
    target: String,
    /// The outcome that is favourable; 1 or true if not given.
    #[arg(long, value_name = "VALUE")]
    favourable: Option<String>,
    /// The problem file: says what the features are and gets the classifier. Written first as by
    /// `surefoot init` if it is not there.
    #[arg(long, value_name = "FILE", default_value = "problem.toml")]
    problem: PathBuf,
    /// Where to write a network; beside the problem file if not given. (A linear classifier is
    /// written into the problem file itself.)
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What it is trained for.
    #[arg(long, value_enum, default_value = "erm")]
    objective: Goal,
    /// ALLR: the weight of the departure from local linearity.
    #[arg(long, default_value_t = 3.0, value_name = "WEIGHT")]
    mu_1: f64,
    /// ALLR: the weight of reliance on features that people cannot change.
    #[arg(long, default_value_t = 0.1, value_name = "WEIGHT")]
    mu_2: f64,
    /// ALLR: the radius within which to be linear, in standard deviations.
    #[arg(long, default_value_t = 0.1)]
    radius: f64,
    /// Ross: the weight of the penalty.
    #[arg(long, default_value_t = 0.8, value_name = "WEIGHT")]
    ross_weight: f64,
    /// Ross: the length of the action that should suffice, in standard deviations.
    #[arg(long, default_value_t = 0.75, value_name = "LENGTH")]
    ross_reach: f64,

    /// Widths of the hidden layers; `--hidden none` for a logistic regression.
    #[arg(long, default_value = "100,100", value_name = "WIDTHS")]
    hidden: String,
    /// The function between layers.
    #[arg(long, value_enum, default_value = "tanh")]
    activation: Between,
    /// Passes over the training rows, at most.
    #[arg(long, default_value_t = 30)]
    epochs: usize,
    /// Rows in a mini-batch.
    #[arg(long, default_value_t = 100)]
    batch: usize,
    /// The step of Adam.
    #[arg(long, default_value_t = 0.01)]
    step: f64,
    /// Let both outcomes count the same in total, however rare one is.
    #[arg(long)]
    balanced: bool,
    /// The part of the training rows on which training is watched.
    #[arg(long, value_name = "SHARE")]
    validation: Option<f64>,
    /// Stop once the loss there has not improved for this many epochs.
    #[arg(long, value_name = "EPOCHS", requires = "validation")]
    patience: Option<usize>,
    /// The part of the rows kept apart to test on.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    test: f64,
    /// The decision threshold: a probability, `mcc`, `accuracy` (the best on the training rows),
    /// or `fpr=0.05` for a false-positive rate.
    #[arg(long, default_value = "mcc")]
    threshold: String,
    /// Decides splits, initial weights and order; the same seed gives the same classifier.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the loss of every epoch into this table.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Train with ALLR for each of several values of mu_2 and show how accurate the classifier is
    /// and how many of those it turns down have robust recourse; nothing is written.
    #[arg(long, conflicts_with_all = ["output", "log", "mu_2", "objective"])]
    search: bool,
    /// The values that --search tries.
    #[arg(long, value_delimiter = ',', default_values_t = Allr::GRID, value_name = "WEIGHTS")]
    grid: Vec<f64>,
    /// How many of those turned down --search asks about, at most.
    #[arg(long, default_value_t = 300, value_name = "NUMBER")]
    people: usize,
    /// Draw what --search finds into this SVG or PNG file.
    #[arg(long, value_name = "FILE", requires = "search")]
    plot: Option<PathBuf>,
}

/// What a classifier can be trained for.
#[derive(Clone, Copy, ValueEnum)]
enum Goal {
    /// Being right (empirical risk).
    Erm,
    /// Being right by what people can change alone.
    Af,
    /// Being right, locally linear, and not relying on what people cannot change.
    Allr,
    /// Being right, with an action within reach (Ross et al.).
    Ross,
}

/// What may stand between layers.
#[derive(Clone, Copy, ValueEnum)]
enum Between {
    Tanh,
    Relu,
    Sigmoid,
}

impl Options {
    fn training(&self) -> Result<Training> {
        let objective = match self.objective {
            Goal::Erm => Objective::EmpiricalRisk,
            Goal::Af => Objective::ActionableOnly,
            Goal::Allr => Objective::Allr(self.allr(self.mu_2)),
            Goal::Ross => Objective::Ross(Ross { weight: self.ross_weight, reach: self.ross_reach }),
        };
        let activation = match self.activation {
            Between::Tanh => Activation::Tanh,
            Between::Relu => Activation::Relu,
            Between::Sigmoid => Activation::Sigmoid,
        };
        let validation = self.validation.map(|share| Validation { share, patience: self.patience });
        Ok(Training {
            objective,
            hidden: widths(&self.hidden)?,
            activation,
            epochs: self.epochs,
            batch: self.batch,
            step: self.step,
            classes: if self.balanced { ClassWeights::Balanced } else { ClassWeights::Equal },
            validation,
            seed: self.seed,
        })
    }

    fn allr(&self, reliance: f64) -> Allr {
        Allr { linearity: self.mu_1, reliance, radius: self.radius, ..Allr::default() }
    }

    fn threshold(&self) -> Result<Threshold> {
        if let Ok(probability) = self.threshold.parse() {
            return Ok(Threshold::Fixed(probability));
        }
        match self.threshold.split_once('=') {
            None if self.threshold == "mcc" => Ok(Threshold::BestMcc),
            None if self.threshold == "accuracy" => Ok(Threshold::BestAccuracy),
            Some(("fpr", rate)) if rate.parse::<f64>().is_ok() => {
                Ok(Threshold::FalsePositiveRate(rate.parse()?))
            }
            _ => bail!("--threshold {}: give a probability, `mcc`, `accuracy` or `fpr=0.05`", self.threshold),
        }
    }
}

fn widths(text: &str) -> Result<Vec<usize>> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let widths = text.split(',').map(|width| width.trim().parse::<usize>()).collect::<Result<_, _>>();
    widths.with_context(|| format!("--hidden {text}: give widths such as `100,100`, or `none`"))
}

/// Trains, and says how good the classifier is and where it was written.
pub fn run(options: &Options) -> Result<String> {
    let (training, threshold) = (options.training()?, options.threshold()?);
    let mut text = String::new();
    if !options.problem.exists() {
        text += &crate::init::run(&crate::init::Options {
            table: options.table.clone(),
            target: options.target.clone(),
            output: options.problem.clone(),
        })?;
    }
    let file = ProblemFile::read(&options.problem)?;
    let features = file.features()?;
    let rows = Rows::read(&options.table, features, &options.target, options.favourable.as_deref())?;
    let (train, test) = rows.split(options.test, options.seed)?;
    writeln!(
        text,
        "{} people, {} to train on and {} to test on; {:.0}% have the favourable outcome.",
        rows.labels.len(),
        train.labels.len(),
        test.labels.len(),
        100.0 * rows.labels.iter().filter(|&&label| label).count() as f64 / rows.labels.len() as f64
    )?;
    if options.search {
        return Ok(text + &search::run(options, &training, threshold, &file, &train, &test)?);
    }

    let trained = train_with_progress(&training, features, &train, "training")?;
    let classifier = trained.classifier(threshold, train.rows.view(), &train.labels)?;
    text += &quality(&trained, classifier.threshold(), &train, &test)?;
    if let Some(path) = &options.log {
        write_log(path, &trained.log)?;
    }
    text += &write(options, &training, &trained, classifier.threshold())?;
    Ok(text)
}

/// Trains with a bar that tells the epoch and the loss; quiet where nobody looks.
fn train_with_progress(training: &Training, features: &Features, rows: &Rows, what: &str) -> Result<Trained> {
    let bar = ProgressBar::new(training.epochs as u64);
    bar.set_style(ProgressStyle::with_template("{prefix} [{bar:30}] epoch {pos}/{len}, {eta} left{msg}")?);
    bar.set_prefix(what.to_owned());
    let trained = training.run_with(features, rows.rows.view(), &rows.labels, &mut |epoch| {
        let validation = epoch.validation.map(|loss| format!(", held out {loss:.4}"));
        bar.set_message(format!(", loss {:.4}{}", epoch.loss, validation.unwrap_or_default()));
        bar.inc(1);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    Ok(trained?)
}

fn quality(trained: &Trained, threshold: f64, train: &Rows, test: &Rows) -> Result<String> {
    let measure =
        |rows: &Rows| Metrics::measure(&trained.probabilities(rows.rows.view()), &rows.labels, threshold);
    let (before, after) = (measure(train)?, measure(test)?);
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(["", "training", "test"]);
    let mut add = |name: &str, of: fn(&Metrics) -> f64| {
        table.add_row([name.to_owned(), format!("{:.3}", of(&before)), format!("{:.3}", of(&after))]);
    };
    add("accuracy", |metrics| metrics.accuracy);
    add("Matthews correlation", |metrics| metrics.mcc);
    add("F1", |metrics| metrics.f1);
    add("area under the curve", |metrics| metrics.auc);
    add("Brier score", |metrics| metrics.brier);
    add("calibration error", |metrics| metrics.calibration_error);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{table}\n");
    let turned_down = after.confusion.true_negatives + after.confusion.false_negatives;
    writeln!(
        text,
        "Favourable from a probability of {threshold:.4} on; of those to test on it turns down {turned_down}."
    )?;
    if trained.log.len() > 1
        && let (Some(first), Some(last)) = (trained.log.first(), trained.log.last())
    {
        writeln!(
            text,
            "{} epochs: the loss fell from {:.4} to {:.4}.",
            trained.log.len(),
            first.loss,
            last.loss
        )?;
    }
    Ok(text)
}

/// Writes the classifier into the problem file, a network into a file of its own beside it.
fn write(options: &Options, training: &Training, trained: &Trained, threshold: f64) -> Result<String> {
    let mut edit = Edit::open(&options.problem)?;
    let layers = trained.network.layers();
    let (form, place) = if let [layer] = layers {
        let form =
            ClassifierForm::Linear { coefficients: layer.weight.row(0).to_vec(), intercept: layer.bias[0] };
        (form, format!("the [classifier] of {}", options.problem.display()))
    } else {
        let folder = options.problem.parent().unwrap_or(Path::new(""));
        let path = options.output.clone().unwrap_or_else(|| folder.join("classifier.safetensors"));
        Network::write(&path, &[("", &trained.network)])?;
        let place =
            format!("{}, which the [classifier] of {} names", path.display(), options.problem.display());
        let path = rows::relative(&path, folder)?;
        let activation = Some(training.activation);
        (ClassifierForm::Network(NetworkFile { path, prefix: String::new(), activation }), place)
    };
    edit.set_classifier(&ClassifierEntry { form, threshold, inputs: Inputs::Standardised });
    edit.save()?;
    Ok(format!("Written to {place}.\n"))
}

fn write_log(path: &Path, log: &[Epoch]) -> Result<()> {
    let columns = [("epoch", Column::Number), ("loss", Column::Number), ("validation", Column::Number)];
    let mut writer = Writer::create(path, &columns)?;
    let column = |of: &dyn Fn(&Epoch) -> Option<f64>| Values::Numbers(log.iter().map(of).collect::<Vec<_>>());
    writer.write(&[
        column(&|epoch| Some(epoch.number as f64)),
        column(&|epoch| Some(epoch.loss)),
        column(&|epoch| epoch.validation),
    ])?;
    writer.finish()?;
    Ok(())
}
