//! Steps and largest changes in problem files, in words, and in proofs that were tampered with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use surefoot::problem::ProblemFile;
use surefoot::proof::Fingerprint;
use surefoot::recourse::{Explainer, Relaxed, Settings, Solver};
use surefoot::verify::{Fault, Verification, verify};
use surefoot::{
    Action, Change, Classifier, Feature, Features, Kind, Outcome, People, Problem, describe,
    describe_explanation, infeasibility,
};

const FILE: &str = r#"
epsilon = 0

[[feature]]
name = "income"
mean = 3000
std = 1500
limits = [0, 20000]
change = "any"
step = 100
most_change_share = 0.5

[[feature]]
name = "months"
kind = "integer"
change = "any"
step = 6
most_change = 12

[classifier]
coefficients = [1.0, 0.01]
intercept = 0.0
"#;

fn problem() -> Problem {
    ProblemFile::parse(FILE, Path::new("problem.toml")).unwrap().problem().unwrap()
}

fn mistakes(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    let file = ProblemFile::parse(&FILE.replacen(from, to, 1), Path::new("problem.toml")).unwrap();
    file.mistakes().iter().map(|mistake| format!("{mistake}\n")).collect()
}

fn why(own: [f64; 2], change: [f64; 2]) -> String {
    let problem = problem();
    let people = People::from_own_units(problem.features(), &[own]).unwrap();
    let change = change.iter().zip(problem.features().iter()).map(|(by, feature)| by / feature.std);
    let action = Action { features: vec![0, 1], change: change.collect() };
    infeasibility(&problem, people.individual(0), &action)
        .unwrap()
        .map_or(String::new(), |why| why.to_string())
}

#[test]
fn problem_files_state_steps_and_largest_changes() {
    let features = problem().features().clone();
    let income = Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, 20000.0).change(Change::Any);
    assert_eq!(*features.feature(0), income.step(100.0).most_change_share(0.5));
    let months = Feature::new("months").kind(Kind::Integer).change(Change::Any);
    assert_eq!(*features.feature(1), months.step(6.0).most_change(12.0));
}

#[test]
fn what_cannot_be_is_refused_at_its_line() {
    assert_eq!(mistakes("step = 100", "step = 0.3"), "");
    for (from, to, message) in [
        (
            "step = 6",
            "step = 2.5",
            "line 17, feature `months`: the step is 2.5; that of an integer feature must be a whole number",
        ),
        ("step = 100", "step = 0", "line 10, feature `income`: the step is 0.0; it must be positive"),
        ("kind = \"integer\"", "kind = \"binary\"", "leave it out"),
        (
            "most_change = 12",
            "most_change = -1",
            "line 18, feature `months`: the largest change is -1.0; it must be positive",
        ),
        ("most_change_share = 0.5", "most_change_share = nan", "largest change is NaN"),
        (
            "kind = \"integer\"\nchange = \"any\"\nstep = 6",
            "kind = \"binary\"\nchange = \"any\"",
            "leave the largest change out",
        ),
        ("kind = \"integer\"\nchange", "categories = [\"a\", \"b\"]\nchange", "`categories` and `step`"),
    ] {
        let found = mistakes(from, to);
        assert!(found.contains(message), "{found}\ninstead of {message}");
    }
}

#[test]
fn reasons_name_the_step_and_the_largest_change() {
    assert_eq!(why([2400.0, 24.0], [1200.0, -12.0]), "");
    assert_eq!(
        why([2400.0, 24.0], [1150.0, 6.0]),
        "`income` would change by 1150, and changes by multiples of 100 only"
    );
    assert_eq!(
        why([2400.0, 24.0], [-1300.0, 6.0]),
        "`income` would change by 1300, and may change by 1200 at most"
    );
    assert_eq!(why([0.0, 24.0], [100.0, 0.0]), "`income` would change by 100, and may change by 0 at most");
    assert_eq!(why([2400.0, 24.0], [0.0, 18.0]), "`months` would change by 18, and may change by 12 at most");
    assert_eq!(
        why([2400.0, 24.0], [0.0, 1.0]),
        "`months` would change by 1, and changes by multiples of 6 only"
    );
}

/// Multiples are shown as they are, also where the step has no exact binary number.
#[test]
fn sentences_show_multiples() {
    let sentence = |step: f64, own: f64| {
        let feature = Feature::new("income").scaling(0.37, 1.3).change(Change::Increase).step(step);
        let features = Features::new(vec![feature]).unwrap();
        let classifier = Classifier::linear(vec![1.0], -1.0, 0.5).unwrap();
        let problem = Problem::new(features.clone(), classifier).unwrap();
        let people = People::from_own_units(&features, &[[own]]).unwrap();
        let outcome =
            Solver::new(&problem, Settings::default()).unwrap().solve(people.individual(0)).unwrap();
        describe(&problem, people.individual(0), &outcome).unwrap()
    };
    // 1.67 is needed.
    assert_eq!(sentence(0.1, 0.0).split(". ").next().unwrap(), "Raise income by 1.7 (from 0 to 1.7)");
    assert_eq!(sentence(0.3, 0.5).split(". ").next().unwrap(), "Raise income by 1.2 (from 0.5 to 1.7)");
    assert_eq!(sentence(1.0, 0.53).split(". ").next().unwrap(), "Raise income by 2 (from 0.53 to 2.53)");
}

#[test]
fn explanations_lift_steps_and_largest_changes() {
    let explained = |feature: Feature, own: f64| {
        let features = Features::new(vec![feature]).unwrap();
        let classifier = Classifier::linear(vec![1.0], -10.0, 0.5).unwrap();
        let problem = Problem::new(features.clone(), classifier).unwrap();
        let people = People::from_own_units(&features, &[[own]]).unwrap();
        let x = people.individual(0);
        let outcome = Solver::new(&problem, Settings::default()).unwrap().solve(x).unwrap();
        assert!(matches!(outcome, Outcome::Impossible(_)), "{outcome:?}");
        let relaxed = Relaxed::all(&problem);
        let explainer = Explainer::new(&problem, &relaxed, Settings::default()).unwrap();
        describe_explanation(&problem, &explainer.explain(x, &outcome).unwrap().unwrap())
    };
    let income = || Feature::new("income").change(Change::Increase);
    assert_eq!(
        explained(income().step(3.0).limits(0.0, 10.5), 2.0),
        "There would be one if income could change by other amounts than multiples of 3, or if income could rise to 11, \
         above its limit of 10.5. This is proven."
    );
    assert_eq!(
        explained(income().step(2.0).most_change(6.0), 2.5),
        "There would be one if income could change by 8, more than the 6 that are allowed. This is proven."
    );
    assert_eq!(
        explained(income().most_change_share(0.5), 4.0),
        "There would be one if income could change by 6.001, more than the 2 that are allowed. This is proven."
    );
}

#[test]
fn proofs_of_other_steps_are_refused() {
    let problem = problem();
    let people = People::from_own_units(problem.features(), &[[2400.0, 24.0]]).unwrap();
    let x = people.individual(0);
    let proof = Solver::new(&problem, Settings::default()).unwrap().prove(x).unwrap();
    let saved = proof.saved(&problem, x);
    assert!(verify(&problem, &saved).unwrap().is_verified());
    let by = proof.outcome.recourse().unwrap().action.change[0] * 1500.0;
    assert!((by / 100.0).fract().abs() < 1e-9 && by > 0.0, "{by}");
    // A change that is no multiple of the step.
    let mut other = saved.clone();
    let Outcome::Found(found) = &mut other.outcome else { panic!("{:?}", other.outcome) };
    found.action.change[0] += 30.0 / 1500.0;
    found.cost += 30.0 / 1500.0;
    found.counterfactual[0] += 30.0 / 1500.0;
    let verdict = verify(&problem, &other).unwrap();
    assert!(matches!(verdict, Verification::Wrong(Fault::NotInteger { .. })), "{verdict:?}");
    // A problem with another step or another largest change.
    for (from, to) in [("step = 100", "step = 50"), ("most_change_share = 0.5", "most_change_share = 0.1")] {
        let file = ProblemFile::parse(&FILE.replacen(from, to, 1), Path::new("problem.toml")).unwrap();
        let other = file.problem().unwrap();
        let verdict = verify(&other, &saved).unwrap();
        assert!(
            matches!(verdict, Verification::OtherProblem { what: "features are" }) || verdict.is_verified(),
            "{verdict:?}"
        );
        assert_ne!(Fingerprint::of(&problem), Fingerprint::of(&other));
    }
}
