//! Exact recourse on one core: `cargo bench -p surefoot-paper --bench exact`.
//!
//! The goal for 1,000 people of Adult with all three intervention sets is 5 ms.

#![expect(clippy::expect_used, reason = "a benchmark may stop where it stands")]

use divan::Bencher;
use surefoot::{Change, Classifier, Equation, Exact, Feature, Features, Norm, Outcome, Problem, Scm};
use surefoot_paper::Reference;

fn main() {
    divan::main();
}

fn solve_all<'a>(exact: &Exact<'_>, people: impl Iterator<Item = &'a [f64]>) -> usize {
    let found = |x: &[f64]| matches!(exact.solve(x), Ok(Outcome::Found(_)));
    people.filter(|x| found(x)).count()
}

/// The published Adult case: 6 features, 2 actionable, fitted linear equations.
#[divan::bench(args = [0.0, 0.1, 0.5])]
fn adult_1000_people_3_sets(bencher: Bencher, epsilon: f64) {
    let Some(reference) = Reference::locate() else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let case = reference.case("adult_linear_ERM_s0").expect("the published case");
    let problem = case.problem(&reference).expect("the published problem");
    let problem = problem.with_uncertainty(Norm::L2, epsilon).expect("a size of uncertainty");
    assert_eq!(case.people.len(), 1000);
    // Preparing the solver is part of the work.
    bencher.bench_local(|| solve_all(&Exact::new(&problem).expect("a linear problem"), case.people.iter()));
}

/// A chain of features, all of them actionable: sets double with each.
#[divan::bench(args = [2, 4, 8, 12])]
fn chain_1000_people_all_sets(bencher: Bencher, features: usize) {
    let names: Vec<String> = (0..features).map(|i| format!("x{i}")).collect();
    let feature = |name: &String| Feature::new(name).change(Change::Any).limits(-3.0, 3.0);
    let schema = Features::new(names.iter().map(feature).collect()).expect("features");
    let link = |i: usize| (&*names[i], Equation::linear(&[&*names[i - 1]], vec![0.5], 0.0));
    let scm = Scm::new(&schema, (1..features).map(link).collect()).expect("a chain");
    let classifier = Classifier::linear(vec![0.3; features], -1.0, 0.5).expect("a classifier");
    let problem = Problem::new(schema, classifier)
        .and_then(|problem| problem.with_causal_model(scm))
        .and_then(|problem| problem.with_uncertainty(Norm::L2, 0.1))
        .expect("a problem");
    let exact = Exact::new(&problem).expect("a linear problem");
    let people: Vec<Vec<f64>> = (0..1000).map(|k| vec![(k as f64).sin(); features]).collect();
    bencher.bench_local(|| solve_all(&exact, people.iter().map(Vec::as_slice)));
}
