//! What `surefoot train` can be asked, and whether it makes sense.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use surefoot::classifier::Reach;
use surefoot::error::{FeatureError, ModelError, SettingError, TrainingError};
use surefoot::train::{Allr, ClassWeights, Objective, Ross, Threshold, Training, Validation};
use surefoot::{Activation, Error};

use crate::trade_off::is_picture;

/// What `surefoot train` can be asked.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub struct Options {
    /// A table of people with their outcomes: CSV, Parquet or Arrow.
    pub table: PathBuf,
    /// The column with the outcome.
    #[arg(long)]
    pub target: String,
    /// The outcome that is favourable; 1 or true if not given.
    #[arg(long, value_name = "VALUE")]
    pub favourable: Option<String>,
    /// The problem file, TOML (not JSON): says what the features are and gets the classifier.
    /// Written as by `surefoot init` if it is not there.
    #[arg(long, value_name = "FILE", default_value = "problem.toml")]
    pub problem: PathBuf,
    /// Where to write a network; problem.classifier.safetensors beside problem.toml if not given.
    /// (A linear classifier is written into the problem file itself.)
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// What it is trained for.
    #[arg(long, value_enum, default_value = "erm")]
    objective: Goal,
    /// ALLR: the weight of the departure from local linearity [default: 3].
    #[arg(long, value_name = "WEIGHT")]
    mu_1: Option<f64>,
    /// ALLR: the weight of the penalty for features that people cannot change [default: 0.1].
    #[arg(long, value_name = "WEIGHT")]
    mu_2: Option<f64>,
    /// ALLR: the radius within which to be linear, in standard deviations [default: 0.1].
    #[arg(long)]
    radius: Option<f64>,
    /// Ross: the weight of the penalty [default: 0.8].
    #[arg(long, value_name = "WEIGHT")]
    ross_weight: Option<f64>,
    /// Ross: the length of the action that should suffice, in standard deviations
    /// [default: 0.75].
    #[arg(long, value_name = "LENGTH")]
    ross_reach: Option<f64>,

    /// Widths of the hidden layers; `--hidden none` for a logistic regression.
    #[arg(long, default_value = "16", value_name = "WIDTHS")]
    hidden: String,
    /// The function between layers [default: tanh].
    #[arg(long, value_enum)]
    activation: Option<Between>,
    /// Passes over the training rows, at most.
    #[arg(long, default_value_t = 200)]
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
    /// The share of the training rows that is held out for early stopping; 0 to train on all of them
    /// for --epochs epochs.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    validation: f64,
    /// Stop once the loss on these rows has not improved for this many epochs, and keep the best
    /// [default: 20].
    #[arg(long, value_name = "EPOCHS")]
    patience: Option<usize>,
    /// The share of the rows that is held out to test on; 0 for none. A warning is printed if the
    /// accuracy on them and that in training differ by more than chance (2.576 standard errors, which
    /// happens by chance in one of a hundred cases).
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    pub test: f64,
    /// The decision threshold: a probability, `mcc`, `accuracy` (the best on the training rows),
    /// or `fpr=0.05` for a false-positive rate.
    #[arg(long, default_value = "mcc")]
    threshold: String,
    /// Decides splits, initial weights and order; the same seed gives the same classifier.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Write the loss of every epoch into this table.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Train this many models on samples of the training rows, drawn with replacement, and write them as a
    /// committee of which all must agree; networks go into files numbered after the usual one.
    #[arg(long, value_name = "MODELS", conflicts_with_all = ["search", "log"])]
    pub committee: Option<usize>,

    /// With --hidden none: estimate the weights by maximum likelihood on all training rows, and guard against their
    /// errors: all weights together are within what is written with this probability, 0.95 unless given.
    #[arg(
        long, value_name = "PROBABILITY", num_args = 0..=1, require_equals = true, default_missing_value = "0.95",
        conflicts_with_all = ["loss_within", "committee", "search", "objective", "log", "balanced", "validation",
            "patience", "epochs", "batch", "step"],
    )]
    errors: Option<f64>,
    /// As --errors, but guard against all weights whose loss is at most this share above the least one.
    #[arg(
        long, value_name = "SHARE",
        conflicts_with_all = ["committee", "search", "objective", "log", "balanced", "validation", "patience",
            "epochs", "batch", "step"],
    )]
    loss_within: Option<f64>,

    #[command(flatten)]
    search: Box<Search>,
}

/// The search for a strength of ALLR.
#[derive(Args)]
struct Search {
    /// Train with ALLR for each of several values of mu_2 and show how accurate the classifier is
    /// and how many of those it turns down have robust recourse; no classifier is written.
    #[arg(long, conflicts_with_all = ["output", "log", "mu_2", "objective"])]
    search: bool,
    /// The values that --search tries, with commas between them [default: 0.01,0.1,0.5,3].
    #[arg(long, value_delimiter = ',', value_name = "WEIGHTS", requires = "search")]
    grid: Vec<f64>,
    /// How many of the people turned down --search answers, at most [default: 300].
    #[arg(long, value_name = "NUMBER", requires = "search")]
    people: Option<usize>,
    /// Draw what --search finds into this SVG or PNG file.
    #[arg(long, value_name = "FILE", requires = "search")]
    plot: Option<PathBuf>,
}

/// What a classifier can be trained for.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
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
    /// The training asked for; an error if some option would have no effect.
    pub fn training(&self) -> Result<Training> {
        let hidden = widths(&self.hidden)?;
        self.check_effects(hidden.is_empty())?;
        let ross = Ross::default();
        let objective = match self.objective {
            Goal::Erm => Objective::EmpiricalRisk,
            Goal::Af => Objective::ActionableOnly,
            Goal::Allr => Objective::Allr(self.allr(self.mu_2.unwrap_or(Allr::default().reliance))),
            Goal::Ross => Objective::Ross(Ross {
                weight: self.ross_weight.unwrap_or(ross.weight),
                reach: self.ross_reach.unwrap_or(ross.reach),
            }),
        };
        let activation = match self.activation {
            None | Some(Between::Tanh) => Activation::Tanh,
            Some(Between::Relu) => Activation::Relu,
            Some(Between::Sigmoid) => Activation::Sigmoid,
        };
        let patience = Some(self.patience.unwrap_or(PATIENCE));
        let validation = (self.validation != 0.0).then_some(Validation { share: self.validation, patience });
        Ok(Training {
            objective,
            hidden,
            activation,
            epochs: self.epochs,
            batch: self.batch,
            step: self.step,
            classes: if self.balanced { ClassWeights::Balanced } else { ClassWeights::Equal },
            validation,
            seed: self.seed,
        })
    }

    fn check_effects(&self, is_linear: bool) -> Result<()> {
        let is_allr = self.search.search || self.objective == Goal::Allr;
        let is_ross = !self.search.search && self.objective == Goal::Ross;
        for (option, is_given, is_wanted, belongs) in [
            ("--mu-1", self.mu_1.is_some(), is_allr, "--objective allr or --search"),
            ("--mu-2", self.mu_2.is_some(), is_allr, "--objective allr"),
            ("--radius", self.radius.is_some(), is_allr, "--objective allr or --search"),
            ("--ross-weight", self.ross_weight.is_some(), is_ross, "--objective ross"),
            ("--ross-reach", self.ross_reach.is_some(), is_ross, "--objective ross"),
        ] {
            if is_given && !is_wanted {
                bail!("{option} has no effect here; leave it out, or give {belongs}");
            }
        }
        if self.validation == 0.0 && self.patience.is_some() {
            bail!("--patience has no effect with --validation 0; leave one of them out");
        }
        if is_linear && self.activation.is_some() {
            bail!("--activation has no effect with --hidden none; leave one of them out");
        }
        if is_linear && self.output.is_some() {
            bail!(
                "--output has no effect with --hidden none: a linear classifier is written into the \
                 problem file itself; leave it out"
            );
        }
        let guarded = [("--errors", self.errors.is_some()), ("--loss-within", self.loss_within.is_some())];
        if let Some((option, _)) = guarded.iter().find(|(_, is_given)| *is_given && !is_linear) {
            bail!("{option} is for linear classifiers, whose weights have known errors; add --hidden none");
        }
        if let Some(members) = self.committee.filter(|members| !(1..=LARGEST_COMMITTEE).contains(members)) {
            bail!("--committee {members}: give at least 1 and at most {LARGEST_COMMITTEE} models");
        }
        if self.search.people == Some(0) {
            bail!("--people 0: leaves nobody to answer; give at least 1");
        }
        if let Some(path) = &self.search.plot {
            is_picture(path)?;
        }
        Ok(())
    }

    pub fn allr(&self, reliance: f64) -> Allr {
        let usual = Allr::default();
        Allr {
            linearity: self.mu_1.unwrap_or(usual.linearity),
            reliance,
            radius: self.radius.unwrap_or(usual.radius),
            ..usual
        }
    }

    /// How far weights are guarded against, given the loss of the estimated ones; `None` if they are not.
    pub fn reach(&self, least: f64) -> Option<Reach> {
        let loss = |share| Reach::Loss { share, least };
        self.errors.map(Reach::Probability).or(self.loss_within.map(loss))
    }

    /// Whether it is to search rather than to train.
    pub fn is_search(&self) -> bool {
        self.search.search
    }

    /// Where to draw what the search finds.
    pub fn plot(&self) -> Option<&Path> {
        self.search.plot.as_deref()
    }

    /// The weights that --search tries, each once.
    pub fn grid(&self) -> Vec<f64> {
        let mut grid: Vec<f64> = Vec::new();
        let asked = if self.search.grid.is_empty() { &Allr::GRID[..] } else { &self.search.grid[..] };
        for &weight in asked {
            if !grid.contains(&weight) {
                grid.push(weight);
            }
        }
        grid
    }

    /// How many people --search asks about.
    pub fn people(&self) -> usize {
        self.search.people.unwrap_or(300)
    }

    pub fn threshold(&self) -> Result<Threshold> {
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

    /// What the engine refuses, in the words of the command line.
    pub fn explain(&self, error: Error) -> anyhow::Error {
        match error {
            Error::Setting(SettingError::Setting { setting, value }) => {
                let (option, range) = match setting {
                    "linearity" => ("--mu-1", NOT_NEGATIVE),
                    "reliance" if self.search.search => ("--grid", NOT_NEGATIVE),
                    "reliance" => ("--mu-2", NOT_NEGATIVE),
                    "radius" => ("--radius", "above 0"),
                    "weight" => ("--ross-weight", NOT_NEGATIVE),
                    "reach" => ("--ross-reach", NOT_NEGATIVE),
                    other => return setting_of_descent(other, value),
                };
                anyhow::anyhow!("{option} is {}; it must be {range}", short(value))
            }
            Error::Setting(SettingError::ValidationShare { .. }) => {
                anyhow::Error::new(error).context("--validation")
            }
            Error::Feature(FeatureError::NothingActionable) if !self.problem.exists() => anyhow::anyhow!(
                "every feature is fixed: write {problem} with `surefoot init`, state there what an action may \
                 change (change = \"increase\"), and train again",
                problem = self.problem.display()
            ),
            Error::Feature(FeatureError::NothingActionable) => anyhow::anyhow!(
                "{}: every feature is fixed; let an action change at least one, for example with \
                 change = \"increase\"",
                self.problem.display()
            ),
            Error::Training(TrainingError::Diverged { epoch }) => {
                let weight = match self.objective {
                    _ if self.search.search => ", a smaller --mu-1 or smaller weights in --grid",
                    Goal::Allr => ", --mu-1 or --mu-2",
                    Goal::Ross => " or --ross-weight",
                    Goal::Erm | Goal::Af => "",
                };
                anyhow::anyhow!(
                    "training diverged in epoch {epoch}; take a smaller --step{weight}, and check that mean and std in \
                     {} are those of the table",
                    self.problem.display()
                )
            }
            Error::Model(ModelError::WeightReach { field, value }) => {
                let option = if field == "probability" { "--errors" } else { "--loss-within" };
                let range = if field == "probability" { "above 0 and below 1" } else { "above 0" };
                anyhow::anyhow!("{option} is {}; it must be {range}", short(value))
            }
            Error::Model(ModelError::Threshold { .. }) | Error::Setting(SettingError::Rate { .. }) => {
                anyhow::Error::new(error).context("--threshold")
            }
            other => other.into(),
        }
    }
}

/// Epochs without a better one after which training stops.
const PATIENCE: usize = 20;

/// More variants of a problem are not answered.
const LARGEST_COMMITTEE: usize = 128;

const NOT_NEGATIVE: &str = "a finite number, at least 0";

/// A setting of the descent in mini-batches, which is an option of the same name.
pub fn setting_of_descent(setting: &str, value: f64) -> anyhow::Error {
    anyhow::anyhow!("--{setting} is {}; it must be above 0 and at most 1e9", short(value))
}

/// A number without three hundred digits.
fn short(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// More would not fit into the memory of most machines.
const WIDEST: usize = 10_000;

fn widths(text: &str) -> Result<Vec<usize>> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let widths: Result<Vec<usize>, _> = text.split(',').map(|width| width.trim().parse()).collect();
    match widths {
        Ok(widths) => match widths.iter().find(|&&width| width > WIDEST) {
            Some(width) => bail!("--hidden {text}: {width} units are too many; a layer has at most {WIDEST}"),
            None => Ok(widths),
        },
        Err(_) => bail!("--hidden {text}: give widths such as `100,100`, or `none`"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn the_defaults_are_those_of_the_engine() {
        let options = Command::parse_from(["train", "people.csv", "--target", "paid"]).options;
        assert_eq!(options.training().unwrap(), Training::default());
    }
}
