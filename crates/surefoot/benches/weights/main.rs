//! Actions that hold for every network whose weights differ from the trained ones by at most .005, beside a published
//! table for the same data, networks and distance:
//!
//! ```text
//! make bench-weights        # prints the table; about a minute on an idle machine
//! cargo bench -p surefoot --bench weights -- networks=2 people=10 verify verbose
//! ```
//!
//! The data set is read from the folder `regions` beside the checkout, or from `SUREFOOT_REGIONS`; see
//! docs/performance.md. Features are standardised over the whole table and may change in both directions, without limits;
//! the cost is Euclidean. Ten networks with one hidden layer of eight relu units are trained as those of the table; for
//! each, everybody whom it gives the class 0 is asked for. One thread. Seconds are those of the processor.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

mod optimum;
mod trained;

use std::path::PathBuf;

use surefoot::verify::Verification;
use surefoot::{
    Budget, Change, Classifier, Complete, Cost, Feature, Features, Outcome, Problem, SavedProof,
    WeightUncertainty,
};

const DELTA: f64 = 0.005;

struct Settings {
    networks: usize,
    people: usize,
    evaluations: usize,
    verify: bool,
    optimum: bool,
    verbose: bool,
}

/// What is found for everybody with one network.
#[derive(Default)]
struct Row {
    people: usize,
    /// Actions of the trained network, and of all networks of the box.
    found: [usize; 2],
    cost: [f64; 2],
    bound: [f64; 2],
    seconds: [f64; 2],
    verified: [usize; 2],
    /// The sums of exact least distances.
    least: [f64; 2],
}

fn main() {
    let mut settings = Settings {
        networks: 10,
        people: usize::MAX,
        evaluations: Budget::default().evaluations,
        verify: false,
        optimum: false,
        verbose: false,
    };
    for argument in std::env::args().skip(1) {
        let number = |text: &str| text.parse().expect("a number");
        match argument.split_once('=') {
            Some(("networks", count)) => settings.networks = number(count),
            Some(("people", count)) => settings.people = number(count),
            Some(("evaluations", count)) => settings.evaluations = number(count),
            _ if argument == "verify" => settings.verify = true,
            _ if argument == "optimum" => settings.optimum = true,
            _ if argument == "verbose" => settings.verbose = true,
            // What cargo adds.
            _ => {
                assert_eq!(argument, "--bench", "networks=, people=, evaluations=, verify, optimum, verbose")
            }
        }
    }
    let (rows, target) = ionosphere();
    println!(
        "| network | people | found | proven | distance | delta | ratio | bound of ratio | seconds | delta |"
    );
    let mut ratios = Vec::new();
    for seed in 0..settings.networks {
        let row = answers(&rows, &target, seed as u64, &settings);
        let mean = |sums: [f64; 2], k: usize| sums[k] / row.found[k] as f64;
        let ratio = mean(row.cost, 1) / mean(row.cost, 0);
        // The least that any robust method can have, over what the distance of one that is not robust is at most.
        let least = mean(row.bound, 1) / mean(row.cost, 0);
        println!(
            "| {seed} | {} | {} | {} | {:.3} | {:.3} | {ratio:.3} | {least:.3} | {:.2} | {:.2} |{}",
            row.people,
            row.found[0],
            row.found[1],
            mean(row.cost, 0),
            mean(row.cost, 1),
            row.seconds[0],
            row.seconds[1],
            if settings.verify { format!(" {:?} verified |", row.verified) } else { String::new() },
        );
        ratios.push((ratio, least, row.seconds[1]));
    }
    let mean = |of: fn(&(f64, f64, f64)) -> f64| ratios.iter().map(of).sum::<f64>() / ratios.len() as f64;
    let ratio = mean(|r| r.0);
    let spread = (ratios.iter().map(|r| (r.0 - ratio).powi(2)).sum::<f64>() / ratios.len() as f64).sqrt();
    let longest = ratios.iter().map(|r| r.2).fold(0.0, f64::max);
    println!(
        "ratio {ratio:.3} (spread {spread:.3}), at least {:.3}; seconds {:.2}, at most {longest:.2}",
        mean(|r| r.1),
        mean(|r| r.2)
    );
}

fn answers(rows: &[Vec<f64>], target: &[f64], seed: u64, settings: &Settings) -> Row {
    let network = trained::network(rows, target, seed);
    let features = (0..rows[0].len()).map(|j| Feature::new(format!("x{j}")).change(Change::Any));
    let features = Features::new(features.collect()).expect("features");
    let plain = Classifier::network(network.clone(), 0.5).expect("a classifier");
    let uncertain =
        plain.clone().with_uncertain_weights(WeightUncertainty::Within(DELTA)).expect("a dense network");
    let mut row = Row::default();
    let people: Vec<&Vec<f64>> = rows.iter().filter(|x| plain.score(x) < 0.0).take(settings.people).collect();
    row.people = people.len();
    for (k, classifier) in [plain, uncertain].into_iter().enumerate() {
        let problem = Problem::new(features.clone(), classifier).expect("a problem").with_cost(Cost::L2);
        let budget = Budget { evaluations: settings.evaluations };
        let complete = Complete::new(&problem).and_then(|c| c.with_budget(budget)).expect("a solver");
        for (number, x) in people.iter().enumerate() {
            let start = processor_seconds();
            let proof = complete.prove(x).expect("an answer");
            let seconds = processor_seconds() - start;
            row.seconds[k] += seconds;
            if let Outcome::Found(found) = &proof.outcome {
                row.found[k] += 1;
                row.cost[k] += found.cost;
                row.bound[k] += found.cost_bound;
            }
            let least = match settings.optimum {
                true => optimum::least_distance(&network, x, [0.0, DELTA][k]),
                false => f64::NAN,
            };
            row.least[k] += least;
            if settings.verify {
                let saved = SavedProof::from_json(&proof.to_json(&problem, x)).expect("a proof");
                let verification = surefoot::verify(&problem, &saved).expect("a check");
                row.verified[k] += usize::from(matches!(verification, Verification::Verified(_)));
            }
            if settings.verbose {
                let (cost, bound) = match &proof.outcome {
                    Outcome::Found(found) => (found.cost, found.cost_bound),
                    other => (f64::NAN, other.cost_bound()),
                };
                println!(
                    "{k} {number} {cost:.4} >= {bound:.4}, {} evaluations, {seconds:.3} s",
                    proof.evaluations
                );
            }
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
