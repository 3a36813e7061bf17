//! `certify` on actions of the published networks, for `benches/compare/verifiers.py`, which asks another
//! verifier about the same balls:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench verdicts -- folder=FOLDER             # ERM, 200 actions of each network
//! cargo bench -p surefoot-paper --bench verdicts -- folder=FOLDER ALLR adult actions=20 seed=0
//! ```
//!
//! The actions are those of Algorithm 1, which end near the boundary, and the same actions enlarged by half, as
//! far as limits allow. A file for each network has, for each action, the person, the changes, the verdict, the
//! proven margin, the milliseconds of one thread, and the margin under one random perturbation of full size, by
//! which the other program checks that it asks the same question. Without a folder nothing is done.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

mod words;

use std::path::Path;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use surefoot::action::feasible_change;
use surefoot::margin::margin;
use surefoot::{Action, Budget, Descent, Norm, Problem, Verdict, certify};
use surefoot_paper::Reference;
use surefoot_paper::reference::Case;
use words::Words;

const SETS: [&str; 5] = ["adult", "bail", "compas", "german", "loan"];
const EPSILON: f64 = 0.1;
/// The factor of the enlarged actions.
const ENLARGED: f64 = 1.5;

#[derive(Serialize)]
struct Network {
    name: String,
    dataset: String,
    epsilon: f64,
    actions: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    /// The person's position in the case.
    person: usize,
    features: Vec<usize>,
    change: Vec<f64>,
    verdict: &'static str,
    /// The proven margin of an action that holds.
    margin: Option<f64>,
    milliseconds: f64,
    perturbation: Vec<f64>,
    perturbed_margin: Option<f64>,
}

fn main() {
    let words = Words::given();
    let Some(folder) = words.value("folder=") else {
        println!("nothing to do; `make bench-compare` runs the comparison");
        return;
    };
    let Some(reference) = Reference::locate() else {
        println!("without the published networks, which are not there");
        return;
    };
    std::fs::create_dir_all(&folder).expect("a folder");
    let sets = words.among(|word| SETS.contains(&word));
    let seed = words.value("seed=").map(|seed| format!("_s{seed}"));
    let count = words.number("actions=").unwrap_or(200);
    for name in reference.names("mlp").expect("the published cases") {
        let case = reference.case(&name).expect("a published case");
        let wanted = sets.is_empty() || sets.contains(&&case.dataset);
        let wanted = wanted && case.training == words.training();
        if wanted && seed.as_ref().is_none_or(|seed| name.ends_with(seed)) {
            let problem = case.problem(&reference).expect("a published problem");
            let problem = problem.with_uncertainty(Norm::L2, EPSILON).expect("a size of uncertainty");
            let network = verdicts(&problem, &case, count);
            println!("{name}: {} actions", network.actions.len());
            let path = Path::new(&folder).join(format!("{name}.json"));
            std::fs::write(path, serde_json::to_string(&network).expect("JSON")).expect("a file");
        }
    }
}

fn verdicts(problem: &Problem, case: &Case, count: usize) -> Network {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut rows = Vec::new();
    for (person, action) in actions(problem, case, count) {
        let x = case.people.individual(person);
        let start = Instant::now();
        let certificate = certify(problem, x, &action, Budget::default()).expect("a verdict");
        let milliseconds = 1e3 * start.elapsed().as_secs_f64();
        let (verdict, proven) = match certificate.verdict {
            Verdict::Holds { margin } => ("holds", Some(margin)),
            Verdict::Breaks { .. } => ("breaks", None),
            Verdict::Undecided { .. } => ("undecided", None),
        };
        let perturbation = perturbation(&mut random, x.len());
        let perturbed_margin = margin(problem, x, &action, &perturbation).ok();
        rows.push(Row {
            person,
            features: action.features,
            change: action.change,
            verdict,
            margin: proven,
            milliseconds,
            perturbation,
            perturbed_margin,
        });
    }
    Network { name: case.name.clone(), dataset: case.dataset.clone(), epsilon: EPSILON, actions: rows }
}

/// Actions of Algorithm 1, each followed by the same one enlarged.
fn actions(problem: &Problem, case: &Case, count: usize) -> Vec<(usize, Action)> {
    let mut actions = Vec::new();
    // Networks differ in how many people have an action: ask about some more until there are enough.
    let mut asked = 0;
    while actions.len() < count && asked < case.people.len() {
        let numbers: Vec<usize> = (asked..(asked + count).min(case.people.len())).collect();
        asked += numbers.len();
        let people = case.people.select(&numbers).expect("people");
        let attempts = Descent::default().solve(problem, &people).expect("actions");
        for (person, attempt) in numbers.into_iter().zip(attempts) {
            let Some(candidate) = attempt.candidate() else { continue };
            actions.push((person, candidate.action.clone()));
            actions.push((person, enlarged(problem, case.people.individual(person), &candidate.action)));
        }
    }
    actions.truncate(count);
    actions
}

fn enlarged(problem: &Problem, individual: &[f64], action: &Action) -> Action {
    let change = action.features.iter().zip(&action.change).map(|(&i, &change)| {
        let (low, high) = feasible_change(problem.features(), i, individual[i]);
        (ENLARGED * change).clamp(low, high)
    });
    Action { features: action.features.clone(), change: change.collect() }
}

/// A perturbation of full size in a random direction.
fn perturbation(random: &mut ChaCha8Rng, dimensions: usize) -> Vec<f64> {
    let direction: Vec<f64> = (0..dimensions).map(|_| random.random_range(-1.0..1.0)).collect();
    let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    direction.iter().map(|x| x * EPSILON / length.max(1e-12)).collect()
}
