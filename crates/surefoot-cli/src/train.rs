//! `surefoot train`: the classifier that decides.

mod committee;
mod options;
mod quality;
mod rows;
mod search;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::table::{Column, Values, Writer};
use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::classifier::Reach;
use surefoot::problem::{ClassifierEntry, ClassifierForm, Edit, Inputs, LinearModel, NetworkFile};
use surefoot::train::{Epoch, LogisticEstimate, Quality, Trained, Training};
use surefoot::{Features, Network, ProblemFile, WeightEllipsoid};

pub use options::{Options, setting_of_descent};
use rows::Rows;
pub use rows::standardised;

use crate::init::{Draft, Wishes};
use crate::outputs::{Outputs, beside, editable, relative};

/// Trains, and says how good the classifier is and where it was written.
pub fn run(options: &Options) -> Result<String> {
    let (training, threshold) = (options.training()?, options.threshold()?);
    if !options.is_search() {
        editable(&options.problem)?;
    }
    let draft = match options.problem.exists() {
        true => None,
        false => {
            Some(crate::init::draft(&options.table, &options.target, &options.problem, &Wishes::default())?)
        }
    };
    let file = match &draft {
        Some(draft) => ProblemFile::parse(&draft.edit.text(), &options.problem)?,
        None => ProblemFile::read(&options.problem)?,
    };
    let features = file.features()?;
    if features.columns().iter().any(|column| column.name() == options.target) {
        bail!(
            "{}: `{}` is both a feature and the target; remove it from the features",
            options.problem.display(),
            options.target
        );
    }
    check_outputs(options, &training, &file)?;
    let scm = if options.is_search() { file.scm()? } else { None };
    let favourable = options.favourable.as_deref();
    let (rows, checked) = Rows::read(&options.table, features, scm, &options.target, favourable)?;
    let (train, test) = rows.split(options.test, options.seed)?;
    let mut text =
        draft.as_ref().filter(|_| !options.is_search()).map_or(String::new(), |draft| draft.said.clone());
    if !checked.is_clean() {
        if options.is_search() {
            bail!("{checked}");
        }
        writeln!(text, "Warning: {checked}")?;
    }
    writeln!(
        text,
        "{} people, {} to train on and {} held out to test on; {:.0}% have the favourable outcome.",
        rows.labels.len(),
        train.labels.len(),
        test.as_ref().map_or(0, |test| test.labels.len()),
        100.0 * rows.labels.iter().filter(|&&label| label).count() as f64 / rows.labels.len() as f64
    )?;
    if options.is_search() {
        let Some(test) = test else { bail!("--search needs rows to test on; give --test a share above 0") };
        return Ok(text + &search::run(options, &training, threshold, &file, &train, &test)?);
    }

    if options.committee.is_some() {
        return Ok(
            text + &committee::run(options, draft, &training, threshold, &file, (&train, test.as_ref()))?
        );
    }

    let estimate = estimate(options, features, &train)?;
    let trained = match &estimate {
        Some((estimate, _)) => estimate.trained()?,
        None => train_with_progress(options, &training, features, &train, "training")?,
    };
    let classifier = trained.classifier(threshold, train.rows.view(), &train.labels);
    let threshold = classifier.map_err(|error| options.explain(error))?.threshold();
    let test_rows = test.as_ref().map(|test| (test.rows.view(), &test.labels[..]));
    let quality = Quality::measure(&trained, threshold, (train.rows.view(), &train.labels), test_rows)?;
    text += &quality::told(&quality, threshold, test.is_some(), !trained.held_out.is_empty());
    text += &course(&training, &trained);
    if let Some(path) = &options.log {
        write_log(path, &trained.log)?;
    }
    text += &write(options, draft, &training, &trained, threshold, estimate.as_ref())?;
    Ok(text)
}

/// The weights by maximum likelihood and how far others are guarded against, where that is asked for.
fn estimate(
    options: &Options,
    features: &Features,
    rows: &Rows,
) -> Result<Option<(LogisticEstimate, Reach)>> {
    // Before any time is spent, whatever the loss.
    let Some(reach) = options.reach(1.0) else { return Ok(None) };
    WeightEllipsoid::new(&[vec![1.0]], reach).map_err(|error| options.explain(error))?;
    let estimate = LogisticEstimate::new(features, rows.rows.view(), &rows.labels);
    let estimate = estimate.map_err(|error| options.explain(error))?;
    let reach = options.reach(estimate.loss).unwrap_or(reach);
    Ok(Some((estimate, reach)))
}

/// Refuses places that cannot be written to, or hold what is needed, before any time is spent.
fn check_outputs(options: &Options, training: &Training, file: &ProblemFile) -> Result<()> {
    let mut outputs = Outputs::default().keep("the table of people", &options.table);
    outputs = match options.problem.exists() || options.is_search() {
        true => outputs.keep("the problem file", &options.problem),
        false => outputs.check("--problem", &options.problem)?,
    };
    outputs = outputs.keep_equations(file);
    // The network of the classifier is what is trained anew; a model that came from elsewhere is not.
    if file.classifier_entries().iter().any(|(_, entry)| entry.form.model().is_foreign()) {
        outputs = outputs.keep_classifier(file);
    }
    if !(options.is_search() || training.hidden.is_empty()) {
        let option = if options.output.is_some() { "--output" } else { "the network's file" };
        let path = network_file(options);
        outputs = match options.committee {
            Some(members) => (1..=members).try_fold(outputs, |outputs, member| {
                outputs.check(option, &committee::file_of(&path, member))
            })?,
            None => outputs.check(option, &path)?,
        };
    }
    outputs = outputs.keep_classifier(file);
    if let Some(path) = &options.log {
        outputs = outputs.check("--log", path)?;
        Writer::check(path)?;
    }
    if let Some(path) = options.plot() {
        outputs.check("--plot", path)?;
    }
    Ok(())
}

/// Trains with a bar that tells the epoch and the loss; quiet where nobody looks.
fn train_with_progress(
    options: &Options,
    training: &Training,
    features: &Features,
    rows: &Rows,
    what: &str,
) -> Result<Trained> {
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
    trained.map_err(|error| options.explain(error))
}

/// How training went: how long, which epoch was kept and its loss.
fn course(training: &Training, trained: &Trained) -> String {
    let (Some(first), Some(kept)) = (trained.log.first(), trained.log.get(trained.kept - 1)) else {
        return String::new();
    };
    let epochs = trained.log.len();
    let rows = trained.held_out.len();
    let held_out =
        kept.validation.map(|loss| format!(", {loss:.4} on the {rows} rows held out for early stopping"));
    let held_out = held_out.unwrap_or_default();
    match training.validation.and_then(|validation| validation.patience) {
        Some(patience) => {
            let stopped = match epochs < training.epochs {
                true => {
                    format!("Stopped early, after {epochs} epochs, the last {patience} without a better one.")
                }
                false => format!("{epochs} epochs."),
            };
            format!("{stopped} Kept: epoch {}, with a loss of {:.4}{held_out}.\n", kept.number, kept.loss)
        }
        None if epochs > 1 => {
            format!("{epochs} epochs: the loss went from {:.4} to {:.4}{held_out}.\n", first.loss, kept.loss)
        }
        None => format!("One epoch, with a loss of {:.4}{held_out}.\n", kept.loss),
    }
}

/// The problem file, opened for changes.
fn edit(options: &Options, draft: Option<Draft>) -> Result<Edit> {
    Ok(match draft {
        Some(draft) => draft.edit,
        None => Edit::open(&options.problem)?,
    })
}

/// Where a network is written.
fn network_file(options: &Options) -> PathBuf {
    options.output.clone().unwrap_or_else(|| beside(&options.problem, "classifier"))
}

/// What the problem file says of a classifier. A network is written into the file that `place` makes of the path
/// for networks.
fn form(
    options: &Options,
    training: &Training,
    trained: &Trained,
    place: impl Fn(&Path) -> PathBuf,
) -> Result<ClassifierForm> {
    if let [layer] = trained.network.layers() {
        let coefficients = layer.weight.row(0).to_vec();
        return Ok(ClassifierForm::Linear(LinearModel { coefficients, intercept: layer.bias[0] }));
    }
    let path = place(&network_file(options));
    Network::write(&path, &[("", &trained.network)])?;
    let path = relative(&path, options.problem.parent().unwrap_or(Path::new("")))?;
    let activation = Some(training.activation);
    Ok(ClassifierForm::Network(NetworkFile { path, prefix: String::new(), activation }))
}

/// Writes the classifier into the problem file, a network into a file of its own beside it.
fn write(
    options: &Options,
    draft: Option<Draft>,
    training: &Training,
    trained: &Trained,
    threshold: f64,
    estimate: Option<&(LogisticEstimate, Reach)>,
) -> Result<String> {
    let mut edit = edit(options, draft)?;
    let form = form(options, training, trained, Path::to_path_buf)?;
    let section = format!("the [classifier] of {}", options.problem.display());
    // A single layer is linear, and stands in the problem file itself.
    let place = match trained.network.layers() {
        [_] => section,
        _ => format!("{}, which {section} names", network_file(options).display()),
    };
    edit.set_classifier(&ClassifierEntry { form, threshold, inputs: Inputs::Standardised });
    let Some((estimate, reach)) = estimate else {
        edit.save()?;
        return Ok(format!("Written to {place}.\n"));
    };
    edit.set_weight_ellipsoid(&estimate.covariance, *reach);
    edit.save()?;
    let weights = match reach {
        Reach::Loss { share, .. } => {
            format!("weights whose loss is up to {}% above the least", percent(*share))
        }
        Reach::Probability(probability) => {
            format!("weights in their {}% confidence region", percent(*probability))
        }
        Reach::Radius(radius) => format!("weights that are up to {radius} standard errors off"),
    };
    Ok(format!("Written to {place}, with an [[uncertainty]] section: recourse holds for all {weights}.\n"))
}

/// A share in percent, without the rounding of the product.
fn percent(share: f64) -> f64 {
    (1e10 * share).round() / 1e8
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
