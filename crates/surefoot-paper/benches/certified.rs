//! Recourse with proof on the published network classifiers:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench certified                     # e = 0.1, ERM, 100 people
//! cargo bench -p surefoot-paper --bench certified -- 0.1 0.5 ALLR adult people=20 verbose
//! cargo bench -p surefoot-paper --bench certified -- 0.1 bail seed=0 person=22 verbose
//! cargo bench -p surefoot-paper --bench certified -- attack           # and try to refute it all
//! cargo bench -p surefoot-paper --bench certified -- verify           # and check every proof
//! ```
//!
//! For each data set: share of people with a certified action, with a proof that there is none,
//! and undecided; the published share found and not broken; mean cost over that of the published
//! actions, for those whose published action is unbroken and may hold; how many published ones are unbroken and
//! proven not to hold, since they cost less than the proven bound; mean proven gap; milliseconds for each person on one
//! core. With `attack`, every certified action is attacked with 200 restarts, and random actions
//! cheaper than the proven bound are held against the attack. With `verify`, every answer is saved as JSON,
//! read again and checked.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

mod words;

use std::collections::BTreeMap;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::feasible_change;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::proof::{Proof, SavedProof};
use surefoot::verify::Verification;
use surefoot::{Action, Budget, Complete, Norm, Outcome, Problem};
use surefoot_paper::Reference;
use surefoot_paper::reference::Case;
use words::Words;

const SETS: [&str; 5] = ["adult", "bail", "compas", "german", "loan"];

#[derive(Default)]
struct Row {
    people: usize,
    certified: usize,
    impossible: usize,
    published: usize,
    both: usize,
    refuted: usize,
    cost: [f64; 2],
    gap: f64,
    gaps: usize,
    seconds: f64,
    longest: f64,
    evaluations: usize,
    proving: usize,
    contradictions: usize,
    verified: usize,
    unverified: usize,
    verifying: f64,
    attacked: usize,
    broken: usize,
    random: usize,
    survivors: usize,
}

struct Options {
    training: String,
    people: usize,
    verbose: bool,
    attack: bool,
    verify: bool,
    seed: Option<String>,
    budget: Option<usize>,
    person: Option<usize>,
}

fn main() {
    let Some(reference) = Reference::locate() else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let words = Words::given();
    let options = Options {
        training: words.training().into(),
        people: words.number("people=").unwrap_or(100),
        verbose: words.has("verbose"),
        attack: words.has("attack"),
        verify: words.has("verify"),
        seed: words.value("seed="),
        budget: words.number("budget="),
        person: words.number("person="),
    };
    let sets = words.among(|word| SETS.contains(&word));
    for epsilon in words.epsilons() {
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for name in reference.names("mlp").expect("the published cases") {
            let wanted = options.seed.as_ref().is_none_or(|seed| name.ends_with(&format!("_s{seed}")));
            let case = reference.case(&name).expect("a published case");
            if wanted
                && case.training == options.training
                && (sets.is_empty() || sets.contains(&&case.dataset))
            {
                run(&reference, &case, epsilon, &options, rows.entry(case.dataset.clone()).or_default());
            }
        }
        println!("{}, e = {epsilon}", options.training);
        println!(
            "data set people | certified impossible undecided | publ. | cost/publ. (n, refuted) | mean gap | ms each (longest) | evaluations proving | contradicted"
        );
        for (name, row) in &rows {
            print(name, row);
        }
    }
}

fn print(name: &str, row: &Row) {
    let share = |count: usize| 100.0 * count as f64 / row.people.max(1) as f64;
    let each = |count: usize| count as f64 / row.people.max(1) as f64;
    println!(
        "{name:<8} {:>6} | {:>8.2}% {:>9.2}% {:>8.2}% | {:>4.1}% | {:.4} ({}, {}) | {:.4} | {:.2} ({:.0}) | {:.0} {:.0} | {}{}",
        row.people,
        share(row.certified),
        share(row.impossible),
        share(row.people - row.certified - row.impossible),
        share(row.published),
        row.cost[0] / row.cost[1],
        row.both,
        row.refuted,
        row.gap / row.gaps.max(1) as f64,
        1e3 * row.seconds / row.people.max(1) as f64,
        1e3 * row.longest,
        each(row.evaluations),
        each(row.proving),
        row.contradictions,
        checks(row),
    );
}

/// What attacks and the checker said, where they were asked.
fn checks(row: &Row) -> String {
    let mut words = String::new();
    if row.verified + row.unverified > 0 {
        words += &format!(
            " | {} proofs verified, {} not, in {:.2} times the time of the searches",
            row.verified,
            row.unverified,
            row.verifying / row.seconds
        );
    }
    if row.attacked + row.random > 0 {
        words += &format!(
            " | {} of {} broken, {} of {} cheaper ones survive",
            row.broken, row.attacked, row.survivors, row.random
        );
    }
    words
}

fn run(reference: &Reference, case: &Case, epsilon: f64, options: &Options, row: &mut Row) {
    let problem = case.problem(reference).expect("a published problem");
    let problem = problem.with_uncertainty(Norm::L2, epsilon).expect("a size of uncertainty");
    let Some(published) = case.answers.iter().find(|answers| answers.epsilon == epsilon) else { return };
    let mut complete = Complete::new(&problem).expect("a solver");
    if let Some(evaluations) = options.budget {
        complete = complete.with_budget(Budget { evaluations }).expect("a budget");
    }
    let unbroken = published.unbroken();
    let mut certified = Vec::new();
    let people = options.person.map_or(0..options.people.min(case.people.len()), |i| i..i + 1);
    for i in people {
        let x = case.people.individual(i);
        let start = Instant::now();
        let proof = complete.prove(x).expect("an answer");
        let seconds = start.elapsed().as_secs_f64();
        row.people += 1;
        row.seconds += seconds;
        row.longest = row.longest.max(seconds);
        row.evaluations += proof.evaluations;
        row.proving += proof.proving;
        row.published += usize::from(unbroken[i]);
        let mut note = String::new();
        match &proof.outcome {
            Outcome::Found(found) => {
                row.certified += 1;
                row.gap += (found.cost - found.cost_bound) / found.cost;
                row.gaps += 1;
                note = format!(
                    "found {:.4} bound {:.4} margin {:.1e}",
                    found.cost, found.cost_bound, found.margin
                );
                if let (true, Some(cost)) = (unbroken[i], published.cost[i]) {
                    // Whatever costs less than the bound is proven to be broken by some perturbation.
                    if cost < found.cost_bound {
                        row.refuted += 1;
                    } else {
                        row.both += 1;
                        row.cost[0] += found.cost;
                        row.cost[1] += cost;
                    }
                }
                certified.push((i, found.action.clone(), found.cost_bound));
            }
            Outcome::Impossible(_) => {
                row.impossible += 1;
                row.contradictions += usize::from(unbroken[i]);
                note = "impossible".into();
            }
            Outcome::Undecided(undecided) => {
                note = format!(
                    "undecided, margin {:.3e}, cost at least {:.4}",
                    undecided.margin, undecided.cost_bound
                );
            }
            Outcome::AlreadyFavourable | Outcome::Unproved(_) => {}
        }
        if options.verify {
            verify(&problem, x, &proof, row);
        }
        if options.verbose {
            println!(
                "{} {i}: {:.1} ms, {} evaluations, {} proving, {} ruled out, published {:?} {}: {note}",
                case.name,
                1e3 * seconds,
                proof.evaluations,
                proof.proving,
                proof.ruled_out.len(),
                published.cost[i],
                if unbroken[i] { "unbroken" } else { "" }
            );
        }
    }
    if options.attack {
        refute(&problem, case, &certified, row);
    }
}

/// Checks the saved proof.
fn verify(problem: &Problem, individual: &[f64], proof: &Proof, row: &mut Row) {
    let start = Instant::now();
    let saved = SavedProof::from_json(&proof.to_json(problem, individual)).expect("a saved proof");
    let report = surefoot::verify(problem, &saved).expect("a verdict");
    row.verifying += start.elapsed().as_secs_f64();
    match report {
        Verification::Verified(_) => row.verified += 1,
        other => {
            row.unverified += 1;
            println!("not verified: {other:?}");
        }
    }
}

/// Attacks what was certified, and random actions that are cheaper than the proven bound.
fn refute(problem: &Problem, case: &Case, certified: &[(usize, Action, f64)], row: &mut Row) {
    let attack = ProjectedGradient { steps: 60, samples: 2000, restarts: 200, seed: 3 };
    let select = |numbers: &[usize]| case.people.select(numbers);
    let numbers: Vec<usize> = certified.iter().map(|(i, ..)| *i).collect();
    let actions: Vec<Action> = certified.iter().map(|(_, action, _)| action.clone()).collect();
    if let Ok(people) = select(&numbers) {
        let worst = worst_found(problem, &people, &actions, &attack).expect("an attack");
        row.attacked += worst.len();
        row.broken += worst.iter().filter(|worst| worst.margin < 0.0).count();
    }
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut numbers, mut actions) = (Vec::new(), Vec::new());
    let sets =
        surefoot::action::intervention_sets(problem.features(), problem.scm().is_some()).expect("sets");
    for (i, _, bound) in certified {
        for _ in 0..10_000usize.div_ceil(certified.len()).min(100) {
            let features = sets[random.random_range(0..sets.len())].clone();
            let x = case.people.individual(*i);
            let mut change: Vec<f64> = features
                .iter()
                .map(|&i| {
                    let (low, high) = feasible_change(problem.features(), i, x[i]);
                    let way = if high > 0.0 && (low >= 0.0 || random.random_bool(0.5)) { 1.0 } else { -1.0 };
                    way * random.random_range(0.0..1.0f64)
                })
                .collect();
            let action = |change: &[f64]| Action { features: features.clone(), change: change.to_vec() };
            let cost = problem.cost().of(problem.features(), &action(&change));
            let wanted = bound * random.random_range(0.0..1.0f64).powf(0.25);
            change.iter_mut().for_each(|c| *c *= wanted / cost.max(1e-300));
            let feasible = features.iter().zip(&change).all(|(&i, &c)| {
                let (low, high) = feasible_change(problem.features(), i, x[i]);
                c >= low && c <= high
            });
            if feasible {
                numbers.push(*i);
                actions.push(action(&change));
            }
        }
    }
    if let Ok(people) = select(&numbers) {
        let attack = ProjectedGradient { steps: 40, samples: 64, restarts: 4, seed: 9 };
        let worst = worst_found(problem, &people, &actions, &attack).expect("an attack");
        row.random += worst.len();
        row.survivors += worst.iter().filter(|worst| worst.margin >= 0.0).count();
    }
}
