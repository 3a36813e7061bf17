//! Actions that hold for every network whose weights differ from the trained ones by at most .005, beside a published
//! table for the same data, networks and distance:
//!
//! ```text
//! make bench-weights        # prints the table
//! cargo bench -p surefoot --bench weights -- networks=2 people=10 evaluations=60000 verify verbose
//! cargo bench -p surefoot --bench weights -- german    # the paper's networks for the German credit data
//! ```
//!
//! The data set is read from the folder `regions` beside the checkout, or from `SUREFOOT_REGIONS`; see
//! docs/performance.md. Features are standardised over the whole table and may change in both directions, without limits;
//! the cost is Euclidean. Ten networks with one hidden layer of eight relu units are trained as those of the table; for
//! each, everybody whom it gives the class 0 is asked for. One thread. Seconds are those of the processor. Distances are
//! relative to the least distances of actions that are not robust and of robust ones, both found by other code
//! (`optimum.rs`). With `verify` every proof is checked.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

mod german;
mod optimum;
mod trained;

use std::path::PathBuf;

use surefoot::proof::Proof;
use surefoot::{
    Budget, Change, Classifier, Complete, Cost, Feature, Features, Outcome, Problem, SavedProof,
    WeightUncertainty,
};

const DELTA: f64 = 0.005;
/// The budget of each answer.
const EVALUATIONS: usize = 300;

struct Settings {
    networks: usize,
    people: usize,
    evaluations: usize,
    verify: bool,
    verbose: bool,
    german: bool,
}

/// What is found for everybody with one network.
#[derive(Default)]
struct Row {
    people: usize,
    /// Actions that are proven to hold for all networks of the box, their cost, and the bounds on it.
    found: usize,
    cost: f64,
    bound: f64,
    seconds: f64,
    /// Proofs that the checker verified.
    verified: usize,
    /// The least distances of the people with an action: of actions that need not be robust, and of robust ones.
    least: [f64; 2],
}

fn main() {
    let mut settings = Settings {
        networks: 10,
        people: usize::MAX,
        evaluations: EVALUATIONS,
        verify: false,
        verbose: false,
        german: false,
    };
    for argument in std::env::args().skip(1) {
        let number = |text: &str| text.parse().expect("a number");
        match argument.split_once('=') {
            Some(("networks", count)) => settings.networks = number(count),
            Some(("people", count)) => settings.people = number(count),
            Some(("evaluations", count)) => settings.evaluations = number(count),
            _ if argument == "verify" => settings.verify = true,
            _ if argument == "german" => settings.german = true,
            _ if argument == "verbose" => settings.verbose = true,
            // What cargo adds.
            _ => {
                assert_eq!(argument, "--bench", "networks=, people=, evaluations=, verify, verbose, german")
            }
        }
    }
    if settings.german {
        return german::rows(&settings);
    }
    let (rows, target) = ionosphere();
    println!(
        "| network | people | proven | distance | times the least | times the least robust | proven gap | seconds |"
    );
    let mut rows_of_table = Vec::new();
    for seed in 0..settings.networks {
        let row = answers(&rows, &target, seed as u64, &settings);
        let Row { people, found, cost, bound, seconds, verified, least } = row;
        let summary = [cost / least[0], cost / least[1], 1.0 - bound / cost, seconds];
        let [ratio, robust, gap, _] = summary;
        let checked = if settings.verify { format!(" {verified} verified |") } else { String::new() };
        println!(
            "| {seed} | {people} | {found} | {:.3} | {ratio:.3} | {robust:.4} | {:.1}% | {seconds:.2} |{checked}",
            cost / found as f64,
            100.0 * gap,
        );
        rows_of_table.push(summary);
    }
    for (k, what) in ["times the least", "times the least robust", "proven gap", "seconds"].iter().enumerate()
    {
        let values = rows_of_table.iter().map(|summary| summary[k]);
        let mean = values.clone().sum::<f64>() / settings.networks as f64;
        let spread =
            (values.clone().map(|v| (v - mean).powi(2)).sum::<f64>() / settings.networks as f64).sqrt();
        println!("{what}: {mean:.4}, spread {spread:.4}, at most {:.4}", values.fold(0.0, f64::max));
    }
}

fn answers(rows: &[Vec<f64>], target: &[f64], seed: u64, settings: &Settings) -> Row {
    let network = trained::network(rows, target, seed);
    let features = (0..rows[0].len()).map(|j| Feature::new(format!("x{j}")).change(Change::Any));
    let features = Features::new(features.collect()).expect("features");
    let plain = Classifier::network(network.clone(), 0.5).expect("a classifier");
    let people = rows.iter().filter(|x| plain.score(x) < 0.0).take(settings.people);
    let people: Vec<&Vec<f64>> = people.collect();
    let problem = Problem::new(features, plain)
        .and_then(|problem| problem.with_uncertain_weights(WeightUncertainty::Within(DELTA)))
        .expect("a problem")
        .with_cost(Cost::L2);
    let budget = Budget { evaluations: settings.evaluations };
    let complete = Complete::new(&problem).and_then(|c| c.with_budget(budget)).expect("a solver");
    let mut row = Row { people: people.len(), ..Row::default() };
    for (number, x) in people.into_iter().enumerate() {
        let start = processor_seconds();
        let proof = complete.prove(x).expect("an answer");
        let seconds = processor_seconds() - start;
        row.seconds += seconds;
        let least = [0.0, DELTA].map(|delta| optimum::least_distance(&network, x, delta));
        if let Outcome::Found(found) = &proof.outcome {
            row.found += 1;
            row.cost += found.cost;
            row.bound += found.cost_bound;
            row.least[0] += least[0];
            row.least[1] += least[1];
            assert!(found.cost_bound <= least[1] * (1.0 + 1e-5), "a bound above the optimum");
            assert!(found.cost >= least[1] * (1.0 - 1e-5), "an action below the optimum");
        }
        if settings.verify {
            let saved = SavedProof::from_json(&proof.to_json(&problem, x)).expect("a proof");
            let verification = surefoot::verify(&problem, &saved).expect("a check");
            row.verified += usize::from(verification.is_verified());
        }
        if settings.verbose {
            let (cost, bound) = match &proof.outcome {
                Outcome::Found(found) => (found.cost, found.cost_bound),
                other => (f64::NAN, other.cost_bound()),
            };
            let Proof { evaluations, .. } = proof;
            println!(
                "{number} {cost:.4} {least:.4?} >= {bound:.4}, {evaluations} evaluations, {seconds:.3} s"
            );
        }
    }
    row
}

/// The seconds that this thread has run.
fn processor_seconds() -> f64 {
    let stated = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the times of a thread");
    let nanoseconds = stated.split(' ').next().and_then(|text| text.parse::<f64>().ok());
    1e-9 * nanoseconds.expect("a number of nanoseconds")
}

/// The features, standardised over the whole table, and the class.
fn ionosphere() -> (Vec<Vec<f64>>, Vec<f64>) {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/regions");
    let folder = std::env::var_os("SUREFOOT_REGIONS").map_or(PathBuf::from(beside), PathBuf::from);
    let text = std::fs::read_to_string(folder.join("ionosphere.csv")).expect("the folder of the data set");
    let lines = text.lines().filter_map(|line| line.rsplit_once(','));
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    let (mut rows, target): (Vec<Vec<f64>>, Vec<f64>) =
        lines.map(|(cells, class)| (cells.split(',').map(number).collect(), f64::from(class == "g"))).unzip();
    for j in 0..rows[0].len() {
        let count = rows.len() as f64;
        let mean = rows.iter().map(|row| row[j]).sum::<f64>() / count;
        let std = (rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / count).sqrt();
        let scale = if std > 0.0 { std } else { 1.0 };
        rows.iter_mut().for_each(|row| row[j] = (row[j] - mean) / scale);
    }
    (rows, target)
}
