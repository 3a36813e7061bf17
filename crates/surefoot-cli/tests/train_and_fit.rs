//! `surefoot train` and `surefoot fit`, run as people run them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fmt::Write as _;
use std::path::Path;

use command::{done, refused};
use surefoot::{Problem, ProblemFile};
use tempfile::TempDir;

/// Applicants: age and sex cause income, income causes savings, income and savings decide.
fn people() -> String {
    let mut text = String::from("id,age,male,income,savings,repaid\n");
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    for id in 0..600 {
        let (age, male) = (40.0 + 15.0 * next(), f64::from(u8::from(next() > 0.0)));
        let income = 2000.0 + 40.0 * (age - 40.0) + 500.0 * male + 600.0 * next();
        let savings = 2.0 * income + 2000.0 * next();
        let repaid =
            if (income - 2200.0) / 500.0 + (savings - 4400.0) / 1500.0 + next() > 0.0 { "yes" } else { "no" };
        writeln!(text, "{id},{age:.1},{male},{income:.2},{savings:.2},{repaid}").unwrap();
    }
    text
}

const PROBLEM: &str = r#"# Ours.
epsilon = 0.1

[[feature]]
name = "age"
mean = 40
std = 9

[[feature]]
name = "male"

[[feature]]
name = "income" # per month
mean = 2200
std = 500
change = "increase"

[[feature]]
name = "savings"
mean = 4400
std = 1500
change = "increase"
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), people()).unwrap();
    std::fs::write(folder.path().join("problem.toml"), PROBLEM).unwrap();
    folder
}

fn train<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["train", "people.csv", "--target", "repaid", "--favourable", "yes", "--epochs", "5"], more].concat()
}

fn problem(folder: &Path) -> Problem {
    ProblemFile::read(folder.join("problem.toml")).unwrap().problem().unwrap()
}

#[test]
fn a_network_is_trained_and_named_by_the_problem_file() {
    let folder = folder();
    let at = folder.path();
    let said = done(at, &train(&["--objective", "allr", "--hidden", "10,10", "--log", "log.csv"]));
    assert!(said.contains("480 to train on and 120 to test on"), "{said}");
    assert!(said.contains("Matthews correlation") && said.contains("Written to"), "{said}");
    assert!(problem(at).classifier().coefficients().is_err());
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(text.starts_with("# Ours.") && text.contains("# per month"), "{text}");
    assert!(text.contains("network = \"classifier.safetensors\""), "{text}");
    let log = std::fs::read_to_string(at.join("log.csv")).unwrap();
    assert_eq!(log.lines().count(), 6, "{log}");

    // Again, in another folder: the same to the bit.
    let other = self::folder();
    let again = done(other.path(), &train(&["--objective", "allr", "--hidden", "10,10", "--log", "log.csv"]));
    assert_eq!(said, again);
    let bytes = |folder: &Path| std::fs::read(folder.join("classifier.safetensors")).unwrap();
    assert_eq!(bytes(at), bytes(other.path()));
}

#[test]
fn a_linear_classifier_stands_in_the_problem_file_itself() {
    let folder = folder();
    for objective in ["erm", "af", "allr", "ross"] {
        done(
            folder.path(),
            &train(&["--objective", objective, "--hidden", "none", "--threshold", "accuracy"]),
        );
        let problem = problem(folder.path());
        let (weights, _) = problem.classifier().coefficients().unwrap();
        assert_eq!(weights.len(), 4);
        assert_eq!(objective == "af", weights[0] == 0.0 && weights[1] == 0.0);
    }
    assert!(!folder.path().join("classifier.safetensors").exists());
}

#[test]
fn thresholds_are_as_asked_for() {
    let folder = folder();
    let threshold = |asked: &str| {
        done(folder.path(), &train(&["--hidden", "none", "--balanced", "--threshold", asked]));
        problem(folder.path()).classifier().threshold()
    };
    assert_eq!(threshold("0.37"), 0.37);
    assert!(threshold("fpr=0.02") > threshold("fpr=0.3"));
    let said = refused(folder.path(), &train(&["--threshold", "best"]));
    assert!(said.contains("fpr=0.05"), "{said}");
}

#[test]
fn without_a_problem_file_there_is_one_afterwards() {
    let folder = folder();
    std::fs::remove_file(folder.path().join("problem.toml")).unwrap();
    let said = done(folder.path(), &train(&["--hidden", "none"]));
    assert!(said.contains("written to problem.toml"), "{said}");
    assert_eq!(problem(folder.path()).features().names(), ["age", "male", "income", "savings"]);
}

#[test]
fn equations_are_fitted_and_written() {
    let folder = folder();
    let at = folder.path();
    done(at, &train(&["--hidden", "none"]));
    let graph = "age, male -> income; income -> savings";
    let said = done(at, &["fit", "people.csv", "--graph", graph]);
    assert!(said.contains("age, male") && said.contains('%'), "{said}");
    let coefficients = problem(at).scm().unwrap().coefficients().unwrap();
    // 2 * 500 / 1500
    assert!((coefficients[[3, 2]] - 2.0 / 3.0).abs() < 0.05, "{coefficients}");

    std::fs::write(at.join("graph.txt"), "# ours\nage, male -> income\nincome -> savings\n").unwrap();
    let network = ["--shape", "network", "--epochs", "20", "--output", "scm.safetensors"];
    let said = done(at, &[&["fit", "people.csv", "--graph", "graph.txt"][..], &network].concat());
    assert!(said.contains("scm.safetensors"), "{said}");
    assert!(problem(at).scm().unwrap().coefficients().is_err());
}

#[test]
fn a_search_shows_the_trade_off() {
    let folder = folder();
    let at = folder.path();
    done(at, &["fit", "people.csv", "--graph", "income -> savings"]);
    let before = std::fs::read(at.join("problem.toml")).unwrap();
    let search = ["--search", "--hidden", "none", "--grid", "0.01,3", "--plot", "trade.svg"];
    let said = done(at, &train(&search));
    assert!(
        said.contains("0.01") && said.contains("robust recourse") && said.contains("100.0% of"),
        "{said}"
    );
    let svg = std::fs::read_to_string(at.join("trade.svg")).unwrap();
    assert!(svg.contains("mu_2") && svg.contains("accuracy"));
    assert_eq!(before, std::fs::read(at.join("problem.toml")).unwrap());
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let folder = folder();
    let at = folder.path();
    let said = |arguments: &[&str], words: &[&str]| {
        let said = refused(at, arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    said(&["train", "people.csv", "--target", "repaid"], &["line 2", "`repaid`", "--favourable"]);
    said(&["train", "people.csv", "--target", "outcome"], &["`outcome`"]);
    said(&["train", "people.csv", "--target", "repaid", "--favourable", "maybe"], &["`maybe`", "`repaid`"]);
    said(&["train", "people.csv", "--target", "income"], &["`income`", "both a feature and the target"]);
    said(&["train", "nobody.csv", "--target", "repaid"], &["nobody.csv"]);
    let target = ["train", "people.csv", "--target", "repaid", "--favourable", "yes"];
    said(&[&target[..], &["--epochs", "0"]].concat(), &["epochs"]);
    said(&train(&["--hidden", "ten"]), &["--hidden ten"]);
    said(&train(&["--test", "1"]), &["--test 1"]);
    said(&train(&["--step", "0"]), &["step"]);
    said(&train(&["--output", "missing/model.safetensors"]), &["missing/model.safetensors"]);
    let fit = |graph: &'static str| ["fit", "people.csv", "--graph", graph];
    said(&fit("income -> savings; savings -> income"), &["cycle", "`income`"]);
    said(&fit("wealth -> savings"), &["`wealth`"]);
    said(&fit("graph.dot"), &["graph.dot"]);
    std::fs::write(at.join("holes.csv"), people().replacen(",1,", ",,", 1)).unwrap();
    said(&["fit", "holes.csv", "--graph", "male -> income"], &["holes.csv", "`male`", "line"]);
    // Nothing was written.
    assert_eq!(std::fs::read_to_string(at.join("problem.toml")).unwrap(), PROBLEM);
}
