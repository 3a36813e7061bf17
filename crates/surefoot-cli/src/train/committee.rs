//! `surefoot train --committee`: models trained on samples of the rows, which must all agree.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use surefoot::problem::{ClassifierEntry, Inputs};
use surefoot::train::{Quality, Threshold, Training, bootstrap};
use surefoot::{Classifier, ProblemFile};

use super::options::Options;
use super::rows::Rows;
use super::{form, train_with_progress};
use crate::init::Draft;

/// The file of one member: `problem.classifier.2.safetensors` beside `problem.classifier.safetensors`.
pub fn file_of(path: &Path, member: usize) -> PathBuf {
    path.with_extension(format!("{member}.safetensors"))
}

/// Trains every member on as many rows as there are, drawn with replacement, and writes them as a list.
pub fn run(
    options: &Options,
    draft: Option<Draft>,
    training: &Training,
    threshold: Threshold,
    file: &ProblemFile,
    (train, test): (&Rows, Option<&Rows>),
) -> Result<String> {
    let mut text = String::new();
    let (mut entries, mut classifiers): (Vec<(String, ClassifierEntry)>, Vec<Classifier>) =
        Default::default();
    for member in 1..=options.committee.unwrap_or(1) {
        let sample = train.select(&bootstrap(&train.labels, training.seed, member as u64));
        let own = Training { seed: training.seed.wrapping_add(member as u64), ..training.clone() };
        let what = format!("training model {member}");
        let trained = train_with_progress(options, &own, file.features()?, &sample, &what)?;
        let classifier = trained.classifier(threshold, sample.rows.view(), &sample.labels);
        let classifier = classifier.map_err(|error| options.explain(error))?;
        let test = test.map(|test| (test.rows.view(), &test.labels[..]));
        let threshold = classifier.threshold();
        let quality = Quality::measure(&trained, threshold, (sample.rows.view(), &sample.labels), test)?;
        let held_out = quality.held_out.map(|held_out| format!(", {:.3} held out", held_out.accuracy));
        writeln!(
            text,
            "Model {member}: accuracy {:.3} in training{}; favourable from a probability of {threshold:.4} on.",
            quality.training.accuracy,
            held_out.unwrap_or_default()
        )?;
        let form = form(options, training, &trained, |path| file_of(path, member))?;
        entries.push((member.to_string(), ClassifierEntry { form, threshold, inputs: Inputs::Standardised }));
        classifiers.push(classifier);
    }
    let rows = test.unwrap_or(train);
    let agree = |row: &[f64]| {
        let favourable = classifiers.iter().filter(|classifier| classifier.score(row) >= 0.0).count();
        favourable == 0 || favourable == classifiers.len()
    };
    let agreed = rows.rows.rows().into_iter().filter(|row| agree(&row.to_vec())).count();
    let whom = if test.is_some() { "held out" } else { "trained on" };
    let share = 100.0 * agreed as f64 / rows.labels.len() as f64;
    writeln!(text, "All models agree about {share:.0}% of those {whom}.")?;
    let mut edit = super::edit(options, draft)?;
    edit.set_committee(&entries);
    edit.save()?;
    writeln!(text, "Written to the [[classifier]] list of {}.", options.problem.display())?;
    Ok(text)
}
