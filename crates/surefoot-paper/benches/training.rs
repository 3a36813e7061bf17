//! Every classifier of the paper trained anew, its quality beside the published one:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench training                        # everything, five seeds
//! cargo bench -p surefoot-paper --bench training -- adult network seeds=1 quick
//! ```
//!
//! Accuracy and Matthews correlation on the test split, and the share of people turned down
//! there (at most 1,000) who have an action against uncertainty of 0.1 that the attacks do not
//! break (not with `quick`). In parentheses the difference on those of our seeds for which there
//! are published models. With `starts=8`, say, every seed's split is trained on from eight
//! random starts, and the spread (one standard deviation) of a table made with a single one is
//! told.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

use std::time::Instant;

use ndarray::Axis;
use surefoot::train::Threshold;
use surefoot::{Action, Descent, Exact, Metrics, Norm, People, Problem, smallest_break};
use surefoot_paper::Reference;
use surefoot_paper::reference::Equations;
use surefoot_paper::training::{DataSet, Method, Model, published, recipe, split};

/// The uncertainty of the table.
const EPSILON: f64 = 0.1;

/// People asked about, at most.
const PEOPLE: usize = 1000;

fn main() {
    let Some(reference) = Reference::locate() else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let asked = |name: String, all: &[String]| {
        let relevant: Vec<&String> = words.iter().filter(|word| all.contains(word)).collect();
        relevant.is_empty() || relevant.contains(&&name)
    };
    let seeds = words.iter().find_map(|word| word.strip_prefix("seeds=")?.parse().ok()).unwrap_or(5);
    let quick = words.iter().any(|word| word == "quick");
    let starts = words.iter().find_map(|word| word.strip_prefix("starts=")?.parse().ok()).unwrap_or(1);
    let sets: Vec<String> = DataSet::ALL.iter().map(ToString::to_string).collect();
    let models: Vec<String> = Model::ALL.iter().map(ToString::to_string).collect();
    let methods: Vec<String> = Method::COMPARED.iter().map(ToString::to_string).collect();
    println!(
        "data set model   method | accuracy  publ.  diff (same seeds) |   MCC  publ.  diff (same seeds) | robust publ. | seconds"
    );
    for model in Model::ALL.into_iter().filter(|model| asked(model.to_string(), &models)) {
        for data in DataSet::ALL.into_iter().filter(|data| asked(data.to_string(), &sets)) {
            for method in Method::COMPARED.into_iter().filter(|m| asked(m.to_string(), &methods)) {
                row(&reference, Cell { data, model, method }, seeds, starts, quick);
            }
        }
    }
}

/// One classifier of the paper.
#[derive(Clone, Copy)]
struct Cell {
    data: DataSet,
    model: Model,
    method: Method,
}

/// Means over seeds: of what we train, and of what is published for the same seeds.
fn row(reference: &Reference, cell: Cell, seeds: u32, starts: u64, quick: bool) {
    let Cell { data, model, method } = cell;
    let begin = Instant::now();
    let runs: Vec<Vec<[f64; 4]>> = (0..seeds)
        .map(|seed| (0..starts).map(|start| train(reference, cell, seed, start, quick)).collect())
        .collect();
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    // The mean of one seed, and of all.
    let of = |seed: usize, k: usize| mean(runs[seed].iter().map(|run| run[k]).collect());
    let column = |k: usize| mean((0..runs.len()).map(|seed| of(seed, k)).collect());
    let spread = |k: usize| {
        let variance = |seed: usize| {
            let squares: f64 = runs[seed].iter().map(|run| (run[k] - of(seed, k)).powi(2)).sum();
            squares / (starts.max(2) - 1) as f64
        };
        100.0 * ((0..runs.len()).map(variance).sum::<f64>()).sqrt() / runs.len() as f64
    };
    let [accuracy, mcc, robust] = [column(0), column(1), column(2)];
    let published = published(data, model, method).expect("the methods compared are published");
    let same: Vec<(usize, (f64, f64))> = (0..seeds as usize)
        .filter_map(|seed| {
            let kind = if model == Model::Linear { "linear" } else { "mlp" };
            let method = method.to_string().to_uppercase();
            let case = reference.case(&format!("{data}_{kind}_{method}_s{seed}")).ok()?;
            Some((seed, case.quality))
        })
        .collect();
    let difference = |k: usize, published: fn(&(f64, f64)) -> f64| {
        100.0 * mean(same.iter().map(|(seed, quality)| of(*seed, k) - published(quality)).collect())
    };
    let spreads =
        if starts > 1 { format!(" | spread {:.1} {:.1}", spread(0), spread(1)) } else { String::new() };
    println!(
        "{data:<8} {model:<7} {method:<6} | {accuracy:>8.3} {:>6.3} {:>+5.1} ({:>+11.1}) | {mcc:>5.3} {:>6.3} {:>+5.1} ({:>+11.1}) | {robust:>6.2} {:>5.2} | {:.2} to train one, {:.1} in all{spreads}",
        published.accuracy,
        100.0 * (accuracy - published.accuracy),
        difference(0, |quality| quality.0),
        published.mcc,
        100.0 * (mcc - published.mcc),
        difference(1, |quality| quality.1),
        published.robust,
        column(3),
        begin.elapsed().as_secs_f64(),
    );
}

/// Accuracy, Matthews correlation, robust share, seconds to train.
fn train(reference: &Reference, cell: Cell, seed: u32, start: u64, quick: bool) -> [f64; 4] {
    let Cell { data, model, method } = cell;
    let features = reference.features(data.name()).expect("features");
    let (rows, labels) = reference.rows(data.name()).expect("rows");
    let (train, test) = split(rows.nrows(), seed);
    let pick = |chosen: &[usize]| {
        let labels: Vec<bool> = chosen.iter().map(|&i| labels[i]).collect();
        (rows.select(Axis(0), chosen), labels)
    };
    let ((train_rows, train_labels), (test_rows, test_labels)) = (pick(&train), pick(&test));
    let begin = Instant::now();
    let recipe = recipe(data, model, method, u64::from(seed) + 1000 * start);
    let trained = recipe.run(&features, train_rows.view(), &train_labels).expect("training");
    let seconds = begin.elapsed().as_secs_f64();
    let classifier =
        trained.classifier(Threshold::BestMcc, train_rows.view(), &train_labels).expect("a threshold");
    let probabilities = trained.probabilities(test_rows.view());
    let metrics =
        Metrics::measure(&probabilities, &test_labels, classifier.threshold()).expect("probabilities");
    if quick {
        return [metrics.accuracy, metrics.mcc, f64::NAN, seconds];
    }
    let refused: Vec<usize> =
        (0..test.len()).filter(|&i| probabilities[i] < classifier.threshold()).take(PEOPLE).collect();
    let people = People::from_standardised(&features, test_rows.select(Axis(0), &refused).view());
    let people = people.expect("people");
    let kind = if model == Model::Linear { Equations::Linear } else { Equations::Network };
    let mut problem = Problem::new(features.clone(), classifier).expect("a problem");
    if let Some(scm) = reference.scm(data.name(), &features, kind).expect("a causal model") {
        problem = problem.with_causal_model(scm).expect("a causal model");
    }
    let problem = problem.with_uncertainty(Norm::L2, EPSILON).expect("an uncertainty");
    [metrics.accuracy, metrics.mcc, robust_share(&problem, &people, model), seconds]
}

fn robust_share(problem: &Problem, people: &People, model: Model) -> f64 {
    if model == Model::Linear {
        let exact = Exact::new(problem).expect("a linear problem");
        let found = people.iter().filter(|x| exact.solve(x).expect("an answer").recourse().is_some()).count();
        return found as f64 / people.len() as f64;
    }
    let attempts = Descent::default().solve(problem, people).expect("Algorithm 1");
    let found: Vec<usize> = (0..attempts.len()).filter(|&i| attempts[i].candidate().is_some()).collect();
    let Ok(acting) = people.select(&found) else { return 0.0 };
    let actions: Vec<Action> =
        attempts.iter().filter_map(|a| a.candidate()).map(|c| c.action.clone()).collect();
    let breaks = smallest_break(problem, &acting, &actions).expect("the attacks");
    let holding = breaks.iter().filter(|b| b.as_ref().is_none_or(|b| b.size >= EPSILON)).count();
    holding as f64 / people.len() as f64
}
