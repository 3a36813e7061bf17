//! `surefoot train --search`: what robust recourse costs in accuracy.

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use ndarray::Axis;
use surefoot::train::{Objective, Threshold, Training};
use surefoot::{Classifier, Metrics, Outcome, People, Problem, ProblemFile, recourse};
use surefoot_paper::figure::LineChart;

use super::quality::{if_both, shown};
use super::rows::Rows;
use super::{Options, train_with_progress};

/// Trains for every weight and tells accuracy and recourse of each.
pub fn run(
    options: &Options,
    training: &Training,
    threshold: Threshold,
    file: &ProblemFile,
    train: &Rows,
    test: &Rows,
) -> Result<String> {
    let features = file.features()?;
    let epsilon = file.uncertainty().radius();
    let grid = options.grid();
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["mu_2", "accuracy", "Matthews correlation", "turned down", "robust recourse"]);
    let mut lines = vec![
        ("accuracy".to_owned(), Vec::new()),
        ("Matthews correlation".to_owned(), Vec::new()),
        (format!("robust recourse at {epsilon}"), Vec::new()),
    ];
    for (number, &weight) in grid.iter().enumerate() {
        let training = Training { objective: Objective::Allr(options.allr(weight)), ..training.clone() };
        let what = format!("mu_2 = {weight} ({} of {})", number + 1, grid.len());
        let trained = train_with_progress(options, &training, features, train, &what)?;
        let classifier = trained.classifier(threshold, train.rows.view(), &train.labels);
        let classifier = classifier.map_err(|error| options.explain(error))?;
        let probabilities = trained.probabilities(test.rows.view());
        let metrics = Metrics::measure(&probabilities, &test.labels, classifier.threshold())?;
        let mcc = if_both(&metrics, metrics.mcc);
        let refused: Vec<usize> =
            (0..probabilities.len()).filter(|&i| probabilities[i] < classifier.threshold()).collect();
        let asked = &refused[..refused.len().min(options.people())];
        let share = if asked.is_empty() {
            None
        } else {
            let people = People::from_standardised(features, test.rows.select(Axis(0), asked).view())?;
            Some(robust(&problem(file, classifier)?, &people)? as f64 / asked.len() as f64)
        };
        table.add_row([
            weight.to_string(),
            format!("{:.3}", metrics.accuracy),
            shown(mcc),
            refused.len().to_string(),
            share.map_or("nobody turned down".into(), |share| {
                format!("{:.1}% of {}", 100.0 * share, asked.len())
            }),
        ]);
        for (line, value) in lines.iter_mut().zip([Some(metrics.accuracy), mcc, share]) {
            line.1.extend(value.map(|value| (weight, value)));
        }
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!(
        "{table}\nThe larger mu_2, the less the classifier relies on features that people cannot change. Robust \
         recourse: an action that is proven to hold for every shift of up to {epsilon}. To train \
         with the value you choose, give --objective allr --mu-2 VALUE.\n"
    );
    if let Some(path) = options.plot() {
        let chart = LineChart {
            title: "Robust recourse against accuracy".into(),
            x_label: "mu_2, the weight of reliance on what people cannot change".into(),
            y_label: "on rows held out to test on".into(),
            log_x: grid.iter().all(|&weight| weight > 0.0),
            y_range: Some((0.0, 1.0)),
            lines,
        };
        chart.write(path).with_context(|| format!("{} cannot be written", path.display()))?;
        text += &format!("Drawn in {}.\n", path.display());
    }
    Ok(text)
}

fn problem(file: &ProblemFile, classifier: Classifier) -> Result<Problem> {
    let (uncertainty, (cost, form, safety)) = (file.uncertainty(), file.settings());
    let problem = Problem::new(file.features()?.clone(), classifier)?
        .with_uncertainty(uncertainty.norm().clone(), uncertainty.radius())?
        .with_safety(safety)?
        .with_cost(cost)
        .with_action_kind(form)
        .with_limits_on(file.limits_on())?
        .with_constraints(file.rules().0.to_vec())?
        .with_forbidden(file.rules().1.to_vec())?;
    Ok(match file.scm()? {
        Some(scm) => problem.with_causal_model(scm.clone())?,
        None => problem,
    })
}

/// How many of the people have an action that is proven to hold.
fn robust(problem: &Problem, people: &People) -> Result<usize> {
    Ok(recourse(problem, people)?.iter().filter_map(Outcome::recourse).count())
}
