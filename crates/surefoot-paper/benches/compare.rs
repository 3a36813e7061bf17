//! What `benches/compare` needs of the engine: cases to answer, and Algorithm 1, which the Python
//! package does not have.
//!
//! ```text
//! cargo bench -p surefoot-paper --bench compare -- prepare FOLDER
//! cargo bench -p surefoot-paper --bench compare -- descent CASE.json EPSILON ANSWERS.json
//! ```
//!
//! A case is a classifier, a thousand people whom it turns down, and what they may change, all in
//! standardised units and without a causal model, since others know of none. Loan is drawn and needs
//! no file; Adult is there where its file is found. Without arguments nothing is done.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::path::Path;
use std::time::Instant;

use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use surefoot::train::Threshold;
use surefoot::{
    Activation, Change, Classifier, Descent, Feature, Features, Layer, Network, Norm, People, Problem,
};
use surefoot_paper::DataSet;
use surefoot_paper::data::Files;
use surefoot_paper::loan;
use surefoot_paper::training::{Method, Model, recipe, split};

/// How many people are asked about.
const PEOPLE: usize = 1000;

/// How many rows of the training data others are given, who look into them for examples.
const KNOWN: usize = 2000;

#[derive(Serialize, Deserialize)]
struct Case {
    features: Vec<Described>,
    layers: Vec<Weights>,
    /// Favourable from this probability on.
    threshold: f64,
    known: Vec<Vec<f64>>,
    known_favourable: Vec<bool>,
    people: Vec<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
struct Described {
    name: String,
    lower: Option<f64>,
    upper: Option<f64>,
    /// `fixed`, `any`, `increase` or `decrease`.
    change: String,
}

#[derive(Serialize, Deserialize)]
struct Weights {
    weight: Vec<Vec<f64>>,
    bias: Vec<f64>,
}

#[derive(Serialize)]
struct Answers {
    seconds: f64,
    /// What becomes of each person; nothing where no action was found.
    counterfactuals: Vec<Option<Vec<f64>>>,
}

const CHANGES: [(&str, Change); 4] = [
    ("fixed", Change::Fixed),
    ("any", Change::Any),
    ("increase", Change::Increase),
    ("decrease", Change::Decrease),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["prepare", folder] => prepare(Path::new(folder)),
        ["descent", case, epsilon, answers] => descent(case, epsilon.parse().unwrap(), answers),
        _ => println!("nothing to do; `make bench-compare` runs the comparison"),
    }
}

fn prepare(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    // Four thousand, of whom one in four trains, as many as the paper has.
    let sample = loan::sample(4 * PEOPLE, 0).unwrap();
    let features = loan::features(sample.most_education).unwrap();
    let order: Vec<usize> = (0..4 * PEOPLE).collect();
    let (train, test) = order.split_at(PEOPLE);
    write(folder, DataSet::Loan, &features, sample.rows.view(), &sample.repaid, (train, test));
    match DataSet::Adult.read(&Files::locate()) {
        Ok(table) => {
            let (train, test) = split(table.rows.nrows(), 0);
            let rows = table.rows.view();
            write(folder, DataSet::Adult, &table.features, rows, &table.favourable, (&train, &test));
        }
        Err(error) => println!("without Adult: {error}"),
    }
}

/// Trains both classifiers on some rows and asks about those of the others whom they turn down.
fn write(
    folder: &Path,
    data: DataSet,
    features: &Features,
    rows: ArrayView2<'_, f64>,
    favourable: &[bool],
    (train, test): (&[usize], &[usize]),
) {
    let known: Vec<bool> = train.iter().map(|&row| favourable[row]).collect();
    let train = rows.select(Axis(0), train);
    for model in Model::ALL {
        let trained = recipe(data, model, Method::Erm, 0).run(features, train.view(), &known).unwrap();
        let classifier = trained.classifier(Threshold::BestMcc, train.view(), &known).unwrap();
        let people: Vec<Vec<f64>> = test
            .iter()
            .map(|&row| rows.row(row).to_vec())
            .filter(|person| classifier.score(person) < 0.0)
            .take(PEOPLE)
            .collect();
        let weights =
            |layer: &Layer| Weights { weight: nested(layer.weight.view()), bias: layer.bias.to_vec() };
        let case = Case {
            features: features.iter().map(described).collect(),
            layers: trained.network.layers().iter().map(weights).collect(),
            threshold: classifier.threshold(),
            known: nested(train.view()).into_iter().take(KNOWN).collect(),
            known_favourable: known.iter().copied().take(KNOWN).collect(),
            people,
        };
        println!("{data} {model}: {} people", case.people.len());
        let path = folder.join(format!("{data}-{model}.json"));
        std::fs::write(path, serde_json::to_string(&case).unwrap()).unwrap();
    }
}

fn nested(rows: ArrayView2<'_, f64>) -> Vec<Vec<f64>> {
    rows.rows().into_iter().map(|row| row.to_vec()).collect()
}

fn described(feature: &Feature) -> Described {
    let (lower, upper) = feature.standardised_limits();
    let finite = |limit: f64| limit.is_finite().then_some(limit);
    let (change, _) = CHANGES.into_iter().find(|(_, change)| *change == feature.change).unwrap();
    Described {
        name: feature.name.clone(),
        lower: finite(lower),
        upper: finite(upper),
        change: change.into(),
    }
}

/// The question of a case.
fn problem(case: &Case) -> Problem {
    let feature = |feature: &Described| {
        let (_, change) = CHANGES.into_iter().find(|(name, _)| *name == feature.change).unwrap();
        let (lower, upper) =
            (feature.lower.unwrap_or(f64::NEG_INFINITY), feature.upper.unwrap_or(f64::INFINITY));
        Feature::new(&feature.name).limits(lower, upper).change(change)
    };
    let features = Features::new(case.features.iter().map(feature).collect()).unwrap();
    let layer = |layer: &Weights| Layer {
        weight: Array2::from_shape_fn((layer.weight.len(), layer.weight[0].len()), |(i, j)| {
            layer.weight[i][j]
        }),
        bias: layer.bias.clone().into(),
    };
    let classifier = match &case.layers[..] {
        [only] => Classifier::linear(only.weight[0].clone(), only.bias[0], case.threshold),
        layers => {
            let network = Network::new(layers.iter().map(layer).collect(), Activation::Tanh).unwrap();
            Classifier::network(network, case.threshold)
        }
    };
    Problem::new(features, classifier.unwrap()).unwrap()
}

/// Algorithm 1, on all cores; the median of as many turns as fit into some seconds.
fn descent(case: &str, epsilon: f64, answers: &str) {
    let case: Case = serde_json::from_str(&std::fs::read_to_string(case).unwrap()).unwrap();
    let problem = problem(&case).with_uncertainty(Norm::L2, epsilon).unwrap();
    let people = People::from_own_units(problem.features(), &case.people).unwrap();
    let (mut seconds, begin) = (Vec::new(), Instant::now());
    let attempts = loop {
        let start = Instant::now();
        let attempts = Descent::default().solve(&problem, &people).unwrap();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == 9 || begin.elapsed().as_secs_f64() > 10.0 {
            break attempts;
        }
    };
    seconds.sort_by(f64::total_cmp);
    let reached = |attempt: &surefoot::recourse::Attempt| {
        attempt.candidate().map(|candidate| candidate.counterfactual.clone())
    };
    let counterfactuals = attempts.iter().map(reached).collect();
    let text = serde_json::to_string(&Answers { seconds: seconds[seconds.len() / 2], counterfactuals });
    std::fs::write(answers, text.unwrap()).unwrap();
}
