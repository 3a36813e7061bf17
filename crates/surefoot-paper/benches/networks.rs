//! Algorithm 1 and the attacks on the published network classifiers:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench networks                   # e = 0.1, ERM
//! cargo bench -p surefoot-paper --bench networks -- 0 0.5 ALLR adult # and so on
//! ```
//!
//! For each data set: share of people found an action, mean cost over those found by both,
//! and median of the smallest perturbation that breaks an action, each beside the published
//! number; seconds for Algorithm 1 with all its steps, with the convergence test, and for the
//! attack of Carlini and Wagner; and how many times as fast that is as the published
//! implementation on two cores (at e = 0.1, per person).

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

mod words;

use std::collections::BTreeMap;
use std::time::Instant;

use surefoot::attack::CarliniWagner;
use surefoot::{Action, Attack, Descent, Norm, smallest_break};
use surefoot_paper::Reference;
use surefoot_paper::reference::Case;
use words::Words;

/// Data set, people, seconds of Algorithm 1 and of the attack: the published implementation
/// at e = 0.1 on a machine with two cores.
const PUBLISHED: [(&str, f64, f64, f64); 5] = [
    ("adult", 1000.0, 234.0, 50.0),
    ("bail", 407.0, 16.0, 5.0),
    ("compas", 612.0, 54.0, 23.0),
    ("german", 47.0, 10.0, 3.0),
    ("loan", 91.0, 257.0, 23.0),
];

#[derive(Default)]
struct Row {
    people: usize,
    found: [usize; 2],
    cost: [f64; 2],
    breaks: [Vec<f64>; 2],
    seconds: [f64; 3],
    differences: usize,
}

fn main() {
    let Some(reference) = Reference::locate() else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let words = Words::given();
    let sets = words.among(|word| PUBLISHED.iter().any(|(name, ..)| *name == word));
    for epsilon in words.epsilons() {
        table(&reference, epsilon, words.training(), &sets);
    }
}

fn table(reference: &Reference, epsilon: f64, training: &str, sets: &[&String]) {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for name in reference.names("mlp").expect("the published cases") {
        let case = reference.case(&name).expect("a published case");
        if case.training == training && (sets.is_empty() || sets.contains(&&case.dataset)) {
            run(reference, &case, epsilon, rows.entry(case.dataset.clone()).or_default());
        }
    }
    println!("{training}, e = {epsilon}");
    println!(
        "data set people |  found  publ. |  cost / publ. | median break  publ. | all steps  converged  attack (s) | times as fast"
    );
    for (name, row) in &rows {
        if row.people == 0 {
            println!("{name:<8} no published answers");
            continue;
        }
        let share = |k: usize| row.found[k] as f64 / row.people as f64;
        let median = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let [a, b] = [median(&mut row.breaks[0].clone()), median(&mut row.breaks[1].clone())];
        let (_, people, descent, attack) =
            PUBLISHED.iter().find(|(set, ..)| set == name).expect("a known data set");
        let each = |seconds: f64, published: f64| (published / people) / (seconds / row.people as f64);
        let speed = if epsilon == 0.1 {
            let [all, converged, attacked] = row.seconds;
            format!(
                "{:.1} {:.1} {:.1}",
                each(all, *descent),
                each(converged, *descent),
                each(attacked, *attack)
            )
        } else {
            "-".into()
        };
        println!(
            "{name:<8} {:>6} | {:.4} {:.4} | {:>13.4} | {a:>12.3e} {b:.3e} | {:>9.2} {:>10.2} {:>11.2} | {speed}{}",
            row.people,
            share(0),
            share(1),
            row.cost[0] / row.cost[1],
            row.seconds[0],
            row.seconds[1],
            row.seconds[2],
            if row.differences > 0 {
                format!(" ({} differ with the convergence test)", row.differences)
            } else {
                String::new()
            },
        );
    }
}

fn run(reference: &Reference, case: &Case, epsilon: f64, row: &mut Row) {
    let problem = case.problem(reference).expect("a published problem");
    let problem = problem.with_uncertainty(Norm::L2, epsilon).expect("a size of uncertainty");
    let Some(published) = case.answers.iter().find(|answers| answers.epsilon == epsilon) else { return };
    let timed = |stop_when_settled: bool| {
        let start = Instant::now();
        let settings = Descent { stop_when_settled, ..Descent::default() };
        let attempts = settings.solve(&problem, &case.people).expect("Algorithm 1");
        (attempts, start.elapsed().as_secs_f64())
    };
    let ((all, slow), (attempts, fast)) = (timed(false), timed(true));
    row.differences += all.iter().zip(&attempts).filter(|(a, b)| a != b).count();
    row.people += attempts.len();
    for (attempt, published) in attempts.iter().zip(&published.cost) {
        row.found[0] += usize::from(attempt.candidate().is_some());
        row.found[1] += usize::from(published.is_some());
        if let (Some(candidate), Some(cost)) = (attempt.candidate(), published) {
            row.cost[0] += candidate.cost;
            row.cost[1] += cost;
        }
    }
    let found: Vec<usize> = (0..attempts.len()).filter(|&i| attempts[i].candidate().is_some()).collect();
    let actions: Vec<Action> =
        attempts.iter().filter_map(|a| a.candidate()).map(|c| c.action.clone()).collect();
    let Ok(people) = case.people.select(&found) else { return };
    let start = Instant::now();
    CarliniWagner::default().attack(&problem, &people, &actions).expect("the attack");
    let attacked = start.elapsed().as_secs_f64();
    let breaks = smallest_break(&problem, &people, &actions).expect("the attacks");
    row.breaks[0].extend(breaks.iter().map(|b| b.as_ref().map_or(f64::INFINITY, |b| b.size)));
    row.breaks[1].extend(published.smallest_break.iter().flatten());
    for (total, seconds) in row.seconds.iter_mut().zip([slow, fast, attacked]) {
        *total += seconds;
    }
}
