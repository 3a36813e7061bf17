//! Work whose instructions are counted, so that a regression shows on the noisiest machine:
//!
//! ```text
//! cargo bench -p surefoot-paper --bench counts                # names what there is
//! cargo bench -p surefoot-paper --bench counts -- exact_1000_people
//! make bench-check                                            # counts, and compares with benches/counts.json
//! ```
//!
//! Under callgrind only what happens within [`counted_region`] is counted. All of it is seeded and runs
//! on one thread, and none of it depends on the order of a hash map.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use ndarray::{Array2, Axis};
use surefoot::recourse::Inner;
use surefoot::train::{Threshold, Trained, Training};
use surefoot::{
    Action, Budget, Change, Classifier, Complete, Descent, Equation, Exact, Feature, Features, Norm, People,
    Problem, Scm, certify, smallest_break,
};
use surefoot_paper::training::{Method, Model, recipe};
use surefoot_paper::{DataSet, loan};

/// A name, and what makes the work ready and hands it over.
type Count = (&'static str, fn(&mut dyn FnMut(&mut dyn FnMut())));

const COUNTS: [Count; 9] = [
    ("forward_64_rows", |count| {
        let (trained, rows) = (trained(), rows(64));
        count(&mut || drop(black_box(trained.network.values(rows.view()))));
    }),
    ("forward_and_gradient_64_rows", |count| {
        let (trained, rows) = (trained(), rows(64));
        count(&mut || drop(black_box(trained.network.gradients(rows.view()))));
    }),
    ("tangent_64_rows", |count| {
        let (trained, rows) = (trained(), rows(64));
        count(&mut || drop(black_box(trained.network.directional(rows.view(), rows.view()))));
    }),
    ("exact_1000_people", |count| {
        let problem = chain();
        let exact = Exact::new(&problem).unwrap();
        let people: Vec<Vec<f64>> = (0..1000).map(|k| vec![(k as f64).sin() - 1.0; 4]).collect();
        count(&mut || people.iter().for_each(|person| drop(black_box(exact.solve(person).unwrap()))));
    }),
    ("descent_10_steps_of_16_people", |count| {
        let (problem, people) = applicants(16);
        let descent = Descent { rounds: 1, steps: 10, stop_when_settled: false, ..Descent::default() };
        assert_eq!(descent.inner, Inner::NormalisedStep);
        count(&mut || drop(black_box(descent.solve(&problem, &people).unwrap())));
    }),
    ("proof_of_4_actions", |count| {
        let (problem, people) = applicants(4);
        let complete = Complete::new(&problem).unwrap();
        let action = |person: &[f64]| match complete.solve(person).unwrap().recourse() {
            Some(found) => found.action.clone(),
            None => Action { features: problem.features().actionable(), change: vec![0.5; 3] },
        };
        let actions: Vec<Action> = people.iter().map(action).collect();
        count(&mut || {
            for (person, action) in people.iter().zip(&actions) {
                drop(black_box(certify(&problem, person, action, Budget::default()).unwrap()));
            }
        });
    }),
    ("recourse_with_proof_4_people", |count| {
        let (problem, people) = applicants(4);
        let complete = Complete::new(&problem).unwrap();
        count(&mut || people.iter().for_each(|person| drop(black_box(complete.solve(person).unwrap()))));
    }),
    ("attack_on_4_actions", |count| {
        let (problem, people) = applicants(4);
        let action = || Action { features: problem.features().actionable(), change: vec![0.5; 3] };
        let actions: Vec<Action> = (0..4).map(|_| action()).collect();
        count(&mut || drop(black_box(smallest_break(&problem, &people, &actions).unwrap())));
    }),
    ("training_epoch_200_rows", |count| {
        let sample = loan::sample(200, 0).unwrap();
        let features = loan::features(sample.most_education).unwrap();
        let training = Training { epochs: 1, ..recipe(DataSet::Loan, Model::Network, Method::Erm, 0) };
        count(&mut || drop(black_box(training.run(&features, sample.rows.view(), &sample.repaid).unwrap())));
    }),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let Some((_, prepare)) = COUNTS.iter().find(|(name, _)| words.iter().any(|word| word == name)) else {
        COUNTS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    // The main thread is the only one of the pool, so that nothing waits, or is counted, elsewhere.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
    pool.install(|| prepare(&mut |work| counted_region(work)));
}

/// Where callgrind counts.
#[inline(never)]
fn counted_region(work: &mut dyn FnMut()) {
    work();
}

fn sample() -> loan::Sample {
    loan::sample(300, 0).unwrap()
}

/// A network of the paper's size, trained a little: a whole training takes minutes under callgrind.
fn trained() -> Trained {
    let sample = sample();
    let features = loan::features(sample.most_education).unwrap();
    let training = Training { epochs: 8, ..recipe(DataSet::Loan, Model::Network, Method::Erm, 0) };
    training.run(&features, sample.rows.view(), &sample.repaid).unwrap()
}

fn rows(count: usize) -> Array2<f64> {
    sample().rows.select(Axis(0), &(0..count).collect::<Vec<_>>())
}

/// Loan applicants whom the network turns down, through their causal model.
fn applicants(count: usize) -> (Problem, People) {
    let sample = sample();
    let features = loan::features(sample.most_education).unwrap();
    let classifier = trained().classifier(Threshold::BestMcc, sample.rows.view(), &sample.repaid).unwrap();
    let down = |row: &usize| classifier.score(&sample.rows.row(*row).to_vec()) < 0.0;
    let chosen: Vec<usize> = (0..sample.rows.nrows()).filter(down).take(count).collect();
    let people = People::from_standardised(&features, sample.rows.select(Axis(0), &chosen).view()).unwrap();
    let scm = loan::scm(&features).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap();
    (problem.with_uncertainty(Norm::L2, 0.1).unwrap(), people)
}

/// Four features, each the cause of the next, all of them actionable: fifteen sets.
fn chain() -> Problem {
    let names = ["a", "b", "c", "d"];
    let feature = |name: &str| Feature::new(name).change(Change::Any).limits(-3.0, 3.0);
    let features = Features::new(names.map(feature).to_vec()).unwrap();
    let link = |i: usize| (names[i], Equation::linear(&[names[i - 1]], vec![0.5], 0.0));
    let scm = Scm::new(&features, (1..4).map(link).collect()).unwrap();
    let classifier = Classifier::linear(vec![0.3; 4], -1.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap();
    problem.with_uncertainty(Norm::L2, 0.1).unwrap()
}
