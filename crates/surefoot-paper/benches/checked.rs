//! Proofs on the published network classifiers, saved, read back and checked:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench checked                     # e = 0.1, ERM, 20 people
//! cargo bench -p surefoot-paper --bench checked -- 0.5 ALLR adult people=50 seed=1 verbose
//! ```
//!
//! For each case: people, and proofs that were verified, wrong, and not verified within the
//! budget; of the latter, those that the search had left undecided. Milliseconds to prove, to
//! check, and the longest check; kilobytes of JSON.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

use std::time::Instant;

use surefoot::proof::SavedProof;
use surefoot::verify::{Verification, verify};
use surefoot::{Budget, Complete, Norm, Outcome};
use surefoot_paper::Reference;
use surefoot_paper::reference::Case;

const SETS: [&str; 5] = ["adult", "bail", "compas", "german", "loan"];
const TRAININGS: [&str; 6] = ["ERM", "AF", "ALLR", "ALLR0", "ALLR1", "ROSS"];

fn main() {
    let Some(reference) = Reference::locate() else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let has = |list: &[&str], word: &str| {
        !words.iter().any(|w| list.contains(&w.as_str())) || words.iter().any(|w| w == word)
    };
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key).map(str::to_owned));
    let epsilon = words.iter().find_map(|word| word.parse().ok()).unwrap_or(0.1);
    let seed = value("seed=").unwrap_or("0".into());
    println!(
        "case, e = {epsilon}: people | verified wrong unverified (undecided) | ms proving checking longest | kB"
    );
    for name in reference.names("mlp").expect("the published cases") {
        let case = reference.case(&name).expect("a published case");
        let training = match words.iter().any(|w| TRAININGS.contains(&w.as_str())) {
            true => has(&TRAININGS, &case.training),
            false => case.training == "ERM",
        };
        if training && has(&SETS, &case.dataset) && name.ends_with(&format!("_s{seed}")) {
            let people = value("people=").and_then(|n| n.parse().ok()).unwrap_or(20);
            let budget = value("budget=").and_then(|n| n.parse().ok());
            run(&reference, &case, epsilon, people, budget, words.iter().any(|word| word == "verbose"));
        }
    }
}

fn run(
    reference: &Reference,
    case: &Case,
    epsilon: f64,
    people: usize,
    budget: Option<usize>,
    verbose: bool,
) {
    let problem = case.problem(reference).expect("a published problem");
    let problem = problem.with_uncertainty(Norm::L2, epsilon).expect("a size of uncertainty");
    let mut complete = Complete::new(&problem).expect("a solver");
    if let Some(evaluations) = budget {
        complete = complete.with_budget(Budget { evaluations }).expect("a budget");
    }
    let (mut proving, mut checking, mut longest, mut size) = (0.0, 0.0, 0.0f64, 0);
    let (mut verified, mut wrong, mut unverified, mut undecided) = (0, 0, 0, 0);
    let people = people.min(case.people.len());
    for i in 0..people {
        let individual = case.people.individual(i);
        let start = Instant::now();
        let proof = complete.prove(individual).expect("an answer");
        proving += start.elapsed().as_secs_f64();
        let text = proof.to_json(&problem, individual);
        size += text.len();
        let start = Instant::now();
        let saved = SavedProof::from_json(&text).expect("a saved proof");
        let checked = verify(&problem, &saved).expect("a check");
        let seconds = start.elapsed().as_secs_f64();
        checking += seconds;
        longest = longest.max(seconds);
        let open = matches!(proof.outcome, Outcome::Undecided(_));
        match &checked {
            Verification::Verified(_) => verified += 1,
            Verification::Wrong(fault) => {
                wrong += 1;
                println!("{}, person {i} is WRONG: {fault}", case.name);
            }
            Verification::Unverified(_) | Verification::OtherProblem { .. } => {
                unverified += 1;
                undecided += usize::from(open);
            }
        }
        if verbose {
            let kind = match &proof.outcome {
                Outcome::Found(found) => format!("found, margin {:.2e}", found.margin),
                other => other.status().into(),
            };
            let pieces = saved.cover.as_ref().map_or(0, |cover| cover.pieces.len());
            let parts = saved.ruled_out.len();
            println!(
                "{} {i}: {kind}, {pieces} pieces, {parts} parts, {:.0} ms: {checked:?}",
                case.name,
                1e3 * seconds
            );
        }
    }
    let each = |total: f64| total / people.max(1) as f64;
    println!(
        "{:<20} {people:>5} | {verified:>4} {wrong:>3} {unverified:>3} ({undecided}) | {:.1} {:.1} {:.0} | {:.0}",
        case.name,
        1e3 * each(proving),
        1e3 * each(checking),
        1e3 * longest,
        each(size as f64) / 1e3
    );
}
