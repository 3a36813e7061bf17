//! Seconds per epoch of training the Adult network with ALLR, on all cores:
//! `cargo bench -p surefoot-paper --bench training_speed -- 80`.
//! `training_pytorch.py` sets it against PyTorch.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

use std::time::Instant;

use ndarray::Axis;
use surefoot_paper::Reference;
use surefoot_paper::training::{DataSet, Method, Model, recipe, split};

fn main() {
    let Some(reference) = Reference::locate() else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let epochs = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(4);
    let features = reference.features("adult").expect("features");
    let (rows, labels) = reference.rows("adult").expect("rows");
    let (train, _) = split(rows.nrows(), 0);
    let labels: Vec<bool> = train.iter().map(|&i| labels[i]).collect();
    let rows = rows.select(Axis(0), &train);
    let mut recipe = recipe(DataSet::Adult, Model::Network, Method::Allr, 0);
    recipe.epochs = epochs;
    let start = Instant::now();
    recipe.run(&features, rows.view(), &labels).expect("training");
    println!("seconds per epoch: {}", start.elapsed().as_secs_f64() / epochs as f64);
}
