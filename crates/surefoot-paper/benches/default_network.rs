//! Which network `surefoot train` should train by default: accuracy in training and on rows held
//! out, of the paper's settings and of smaller networks that stop early, as a table in Markdown:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench default_network
//! ```
//!
//! Means over five seeds. Rows that are there more than once are taken once: otherwise those held
//! out would have been seen in training.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

use std::collections::HashSet;

use ndarray::{Array2, Axis};
use surefoot::Features;
use surefoot::train::{Quality, Threshold, Training, split};
use surefoot_paper::data::{DataSet, Files};

/// Splits and random starts.
const SEEDS: u64 = 5;

/// The share of rows held out.
const TEST: f64 = 0.2;

fn main() {
    let files = Files::locate();
    let tables: Vec<(Features, Array2<f64>, Vec<bool>)> = DataSet::ALL
        .iter()
        .map(|data| {
            let table = data.read(&files).expect("the public file");
            let mut seen = HashSet::new();
            let key = |row: usize| -> Vec<u64> {
                let bits = table.rows.row(row).iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                [bits, vec![u64::from(table.favourable[row])]].concat()
            };
            let distinct: Vec<usize> = (0..table.rows.nrows()).filter(|&row| seen.insert(key(row))).collect();
            let labels = distinct.iter().map(|&row| table.favourable[row]).collect();
            (table.features, table.rows.select(Axis(0), &distinct), labels)
        })
        .collect();
    let names: Vec<String> = DataSet::ALL.iter().map(ToString::to_string).collect();
    println!("| network | {} |", names.join(" | "));
    println!("| --- |{}", " --- |".repeat(names.len()));
    let usual = Training::default();
    let paper = Training { hidden: vec![100, 100], epochs: 30, validation: None, ..usual.clone() };
    let stopped = |hidden: &[usize]| Training { hidden: hidden.to_vec(), ..usual.clone() };
    for (name, training) in [
        ("100, 100, 30 epochs", paper),
        ("100, 100, stopped early", stopped(&[100, 100])),
        ("32, 32, stopped early", stopped(&[32, 32])),
        ("50, stopped early", stopped(&[50])),
        ("16, stopped early", stopped(&[16])),
        ("8, stopped early", stopped(&[8])),
        ("none, stopped early", stopped(&[])),
    ] {
        let cells: Vec<String> = tables.iter().map(|table| cell(&training, table)).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// Mean accuracy in training and held out, and how many of the seeds are warned of.
fn cell(training: &Training, (features, rows, labels): &(Features, Array2<f64>, Vec<bool>)) -> String {
    let (mut means, mut warned) = ([0.0; 2], 0);
    for seed in 0..SEEDS {
        let (kept, out) = split(labels, TEST, seed).expect("rows on both sides");
        let pick = |chosen: &[usize]| -> (Array2<f64>, Vec<bool>) {
            (rows.select(Axis(0), chosen), chosen.iter().map(|&row| labels[row]).collect())
        };
        let ((train, outcomes), (test, expected)) = (pick(&kept), pick(&out));
        let training = Training { seed, ..training.clone() };
        let trained = training.run(features, train.view(), &outcomes).expect("training");
        let classifier = trained.classifier(Threshold::BestMcc, train.view(), &outcomes);
        let threshold = classifier.expect("a threshold").threshold();
        let test = Some((test.view(), &expected[..]));
        let quality =
            Quality::measure(&trained, threshold, (train.view(), &outcomes), test).expect("measures");
        let held_out = quality.held_out.as_ref().expect("rows to test on");
        means[0] += quality.training.accuracy / SEEDS as f64;
        means[1] += held_out.accuracy / SEEDS as f64;
        warned += usize::from(quality.differs_beyond_chance());
    }
    let warned = if warned > 0 { format!(" ({warned} warned of)") } else { String::new() };
    format!("{:.3} / {:.3}{warned}", means[0], means[1])
}
