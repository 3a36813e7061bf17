//! Categories as text: reading, answering, describing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use surefoot::problem::Edit;
use surefoot::{
    Action, Change, Feature, Kind, People, Problem, ProblemFile, describe, describe_action, describe_shift,
    infeasibility, recourse,
};

const PROBLEM: &str = include_str!("../../../examples/categories/problem.toml");

fn parsed(text: &str) -> ProblemFile {
    ProblemFile::parse(text, Path::new("problem.toml")).unwrap()
}

fn problem() -> Problem {
    parsed(PROBLEM).problem().unwrap()
}

/// A person by income, position of the education, and job.
fn person(problem: &Problem, income: f64, education: &str, job: &str) -> People {
    let mut row = vec![income, 0.0, 0.0, 0.0, 0.0];
    problem.features().columns()[1].place(education, &mut row).unwrap();
    problem.features().columns()[2].place(job, &mut row).unwrap();
    People::from_own_units(problem.features(), &[row]).unwrap()
}

#[test]
fn a_file_with_categories_is_read() {
    let problem = problem();
    let features = problem.features();
    assert_eq!(features.names(), ["income", "education", "job=clerk", "job=cook", "job=nurse"]);
    let education = features.feature(1);
    assert_eq!((education.kind, education.lower, education.upper), (Kind::Integer, 0.0, 2.0));
    assert_eq!((education.mean, education.std, education.change), (0.8, 0.7, Change::Increase));
    let cook = features.feature(3);
    assert_eq!((cook.kind, cook.group.as_deref(), cook.weight), (Kind::Binary, Some("job"), 0.25));
    assert_eq!((cook.mean, cook.std, cook.change), (0.33, 0.47, Change::Any));
    assert_eq!(features.columns().len(), 3);
    assert!(features.columns()[1].is_ordered() && !features.columns()[2].is_ordered());
    // Limits are positions in the list; an infinite upper limit is its last position.
    let limited = PROBLEM.replace("ordered = true", "ordered = true\nlimits = [1, inf]");
    let file = parsed(&limited);
    let education = file.features().unwrap().feature(1).clone();
    assert_eq!((education.lower, education.upper), (1.0, 2.0));
}

#[test]
fn weights_of_the_norm_are_those_of_each_category() {
    let file = parsed(&PROBLEM.replace("weight = 0.25", "norm_weight = 2"));
    assert_eq!(file.uncertainty().norm().weights(), Some(&[1.0, 1.0, 2.0, 2.0, 2.0][..]));
}

#[test]
fn mistakes_in_categories_are_told_with_their_lines() {
    let mistakes = |from: &str, to: &str| {
        let file = parsed(&PROBLEM.replacen(from, to, 1));
        file.problem().unwrap_err().to_string()
    };
    for (from, to, words) in [
        (
            "[\"none\", \"basic\", \"degree\"]",
            "[]",
            "line 15, feature `education`: there are no categories; list them",
        ),
        ("\"basic\", \"degree\"]", "\"basic\", \"none\"]", "the category `none` is given twice"),
        ("ordered = true", "ordered = 1", "`ordered` is a number; it must be true or false"),
        (
            "ordered = true",
            "ordered = true\nkind = \"real\"",
            "`categories` and `kind` cannot stand together",
        ),
        ("ordered = true", "ordered = true\nlimits = [0, 3]", "the whole numbers 0 to 2"),
        (
            "change = \"any\"",
            "change = \"increase\"",
            "feature `job`: categories without an order are neither",
        ),
        ("change = \"any\"", "change = \"any\"\nlimits = [0, 1]", "`categories` and `limits` cannot stand"),
        ("limits = [0, inf]", "ordered = true", "`categories` is missing; list them, the lowest first"),
        ("from = \"cook\"", "from = \"cock\"", "`cock` is no category; did you mean `cook`?"),
        ("from = \"none\"", "from = \"nothing\"", "there are `none`, `basic` and `degree`"),
        ("name = \"income\"", "name = \"job\"", "feature `job` is given twice"),
        ("name = \"income\"", "name = \"job=cook\"", "feature `job=cook` is given twice"),
        ("0.9, 0.3, 0.0, -0.2, 0.7", "0.9, 0.3, 0.0", "3 inputs"),
    ] {
        let said = mistakes(from, to);
        assert!(said.contains(words), "{words} is not in\n{said}");
    }
}

#[test]
fn features_with_categories_are_written_as_they_are_read() {
    let problem = problem();
    let features: Vec<Feature> = problem.features().iter().cloned().collect();
    let mut edit =
        Edit::parse("epsilon = 0.1\n", Path::new("problem.toml")).unwrap_or_else(|error| panic!("{error}"));
    edit.add_features(&features);
    let text = edit.text();
    assert!(text.contains("categories = [\"none\", \"basic\", \"degree\"]\nordered = true"), "{text}");
    assert_eq!(text.matches("[[feature]]").count(), 3);
    assert_eq!(parsed(&text).features().unwrap(), problem.features());
}

#[test]
fn answers_are_told_by_the_names_of_categories() {
    let problem = problem();
    let told = |action: Action, education: &str, job: &str| {
        let people = person(&problem, 2000.0, education, job);
        describe_action(&problem, people.individual(0), &action).unwrap()
    };
    let level = Action { features: vec![1], change: vec![1.0 / 0.7] };
    assert_eq!(told(level, "none", "cook"), "Raise education from none to basic.");
    let moved = Action { features: vec![2, 3], change: vec![-1.0 / 0.47, 1.0 / 0.47] };
    assert_eq!(told(moved.clone(), "none", "clerk"), "Change job from clerk to cook.");
    assert_eq!(
        describe_shift(&problem, &[0.0, -1.0, 0.0, 0.5, 0.0]).unwrap(),
        "education 0.7 levels lower and job=cook 0.235 higher"
    );
    // Somebody's own answer.
    let people = person(&problem, 2100.0, "basic", "clerk");
    let answer = &recourse(&problem, &people).unwrap()[0];
    let said = describe(&problem, people.individual(0), answer).unwrap();
    assert!(said.starts_with("Change job from clerk to nurse."), "{said}");
    assert!(said.contains("education by up to 0.07 levels"), "{said}");
    // The reason of a forbidden transition uses the same names.
    let people = person(&problem, 2100.0, "basic", "cook");
    let moved = Action { features: vec![3, 4], change: vec![-1.0 / 0.47, 1.0 / 0.47] };
    let why = infeasibility(&problem, people.individual(0), &moved).unwrap().unwrap().to_string();
    assert_eq!(why, "`job` may not go from `cook` to `nurse`");
}

#[test]
fn proofs_know_the_order_of_categories() {
    let problem = problem();
    let other = parsed(&PROBLEM.replace("[\"none\", \"basic\"", "[\"basic\", \"none\"")).problem().unwrap();
    let people = person(&problem, 2100.0, "basic", "clerk");
    let solver = surefoot::Complete::new(&problem).unwrap();
    let saved = |of: &Problem| solver.prove(people.individual(0)).unwrap().saved(of, people.individual(0));
    assert_ne!(saved(&problem).to_json(), saved(&other).to_json());
}
