//! `surefoot theory`, run as people run it, and held against the engine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use command::{INCOME_AND_AGE, done, folder_with, refused};
use surefoot::margin::margin;
use surefoot::theory::standard;
use surefoot::{Outcome, People, Problem, recourse};
use surefoot_cli::table::Table;

/// Perturbations of 0.1 standard deviations of both features lower the score by 0.1 * (1 + 0.5) = 0.15.
fn problem_text() -> String {
    format!("epsilon = 0.1\nnorm = \"linf\"\n{INCOME_AND_AGE}")
}

const PEOPLE: &str = "id,income,age\nana,2400,40\nben,3600,40\ncleo,1500,50\ndora,2700,40\neve,2850,40\n";

fn folder(problem: &str) -> tempfile::TempDir {
    folder_with(&[("problem.toml", problem), ("people.csv", PEOPLE)])
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The cells of a table by column.
fn read(path: &Path) -> HashMap<String, Vec<String>> {
    let names = Table::open(path).unwrap().columns().to_vec();
    let batch = Table::open(path).unwrap().select(&[], &names).unwrap().read_all().unwrap();
    names.into_iter().zip(batch.texts).collect()
}

fn number(cell: &str) -> Option<f64> {
    (!cell.is_empty()).then(|| cell.parse().unwrap())
}

/// Holds every row of a table of statements against the engine.
fn hold(problem: &Problem, people: &People, rows: &HashMap<String, Vec<String>>) {
    let without = standard(problem).unwrap();
    let (cheap, robust) = (recourse(&without, people).unwrap(), recourse(problem, people).unwrap());
    for (row, individual) in people.iter().enumerate() {
        let cell = |name: &str| rows[name][row].as_str();
        assert_eq!(cell("status"), cheap[row].status());
        match (cell("robust"), &robust[row]) {
            ("unneeded", Outcome::AlreadyFavourable)
            | ("exists", Outcome::Found(_) | Outcome::Undecided(_))
            | ("none", Outcome::Impossible(_) | Outcome::Undecided(_)) => {}
            ("unknown", outcome) => assert_ne!(*outcome, Outcome::AlreadyFavourable),
            (word, outcome) => panic!("{word}: {outcome:?}"),
        }
        if let (Some(most), Some(found)) = (number(cell("robust_cost_at_most")), robust[row].recourse()) {
            assert!(found.cost_bound <= most * (1.0 + 1e-9), "{} {most}", found.cost_bound);
        }
        if let (Some(least), Some(found)) = (number(cell("similar_cost_least")), cheap[row].recourse()) {
            assert!(least <= found.cost + 1e-8);
        }
        let Some(size) = number(cell("breaking_size")) else {
            assert!(cheap[row].recourse().is_none() || !cell("reason").is_empty());
            continue;
        };
        let shift = |(_, feature): (usize, &surefoot::Feature)| {
            number(cell(&format!("shift:{}", feature.name))).unwrap() / feature.std
        };
        let perturbation: Vec<f64> = problem.features().iter().enumerate().map(shift).collect();
        assert!((problem.norm().value(&perturbation) - size).abs() <= 1e-9 * size);
        let action = &cheap[row].recourse().unwrap().action;
        assert!(margin(problem, individual, action, &perturbation).unwrap() < 0.0, "{}", cell("text"));
    }
}

/// Ana lacks 0.4, with robustness 0.55: a factor of 1 + 0.15 / 0.4.
#[test]
fn a_table_by_hand() {
    let folder = folder(&problem_text());
    let said = done(folder.path(), &["theory", "problem.toml", "people.csv", "-o", "theory.csv"]);
    assert!(
        said.contains("everybody whom the classifier turns down has robust recourse (Proposition 3)"),
        "{said}"
    );
    assert!(
        said.contains(
            "People: 5. Treated favourably already: 1. Without uncertainty 4 of the others have an action"
        ),
        "{said}"
    );
    assert!(
        said.contains("Robust recourse exists for 4, does not exist for 0, and is not known for 0."),
        "{said}"
    );
    // Of 1.375 (ana), 1.3 (cleo, who lacks 0.5), 1.75 (dora) and 2.5 (eve) the upper median.
    assert!(said.contains("at most 1.75 times as much, in the median of the 4"), "{said}");
    assert!(said.contains("Written to theory.csv."), "{said}");
    let rows = read(&folder.path().join("theory.csv"));
    let near = |name: &str, row: usize, expected: f64| {
        let found = number(&rows[name][row]).unwrap();
        assert!((found - expected).abs() < 1e-7, "{name}: {found} {expected}");
    };
    near("cost", 0, 0.4);
    near("factor_at_most", 0, 1.375);
    near("robust_cost_at_most", 0, 0.55);
    near("similar_cost_least", 0, 0.25);
    near("similar_cost_greatest", 0, 0.55);
    near("breaking_size", 0, 1e-6);
    near("shift:income", 0, -0.0015);
    near("factor_at_most", 2, 1.3);
    near("factor_at_most", 3, 1.75);
    near("factor_at_most", 4, 2.5);
    assert_eq!(
        (rows["shift:age"][0].as_str(), rows["breaks_with"][0].as_str()),
        ("0", "income 0.0015 lower")
    );
    assert_eq!(rows["scaled_is_feasible"][..2], ["true", ""]);
    assert_eq!(rows["robust"], ["exists", "unneeded", "exists", "exists", "exists"]);
    assert!(rows["reason"].iter().all(String::is_empty));
    assert!(rows["text"][1].starts_with("The decision is favourable as things stand"));
    let problem = Problem::read(folder.path().join("problem.toml")).unwrap();
    let values = [[2400.0, 40.0], [3600.0, 40.0], [1500.0, 50.0], [2700.0, 40.0], [2850.0, 40.0]];
    hold(&problem, &People::from_own_units(problem.features(), &values).unwrap(), &rows);
}

#[test]
fn words_for_the_first_few_and_for_one() {
    let folder = folder(&problem_text());
    let said = done(folder.path(), &["theory", "problem.toml", "people.csv"]);
    for words in [
        "\nana:\n  Without uncertainty: Raise income by 600.1",
        "\nben:\n",
        "\ncleo:\n",
        "\n2 more; --output",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!said.contains("dora"), "{said}");
    let said = done(folder.path(), &["theory", "problem.toml", "--person", r#"{"income": 2400, "age": 40}"#]);
    for words in [
        "Robust recourse costs at most 1.375 times as much, 0.5501:",
        "the cheapest actions cost between 0.25 and 0.55, a difference of at most 0.15",
        "fails under a perturbation of size 1e-6: income 0.0015 lower (Theorem 1).",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

/// Limits leave some people without a bound, some without robust recourse, and some without any.
#[test]
fn limits_decide_who_has_robust_recourse() {
    let folder =
        folder(&problem_text().replace("change = \"increase\"", "change = \"increase\"\nlimits = [0, 3100]"));
    std::fs::write(folder.path().join("people.csv"), "income,age\n2400,40\n2400,42\n2400,45\n2400,30\n")
        .unwrap();
    let said = done(folder.path(), &["theory", "problem.toml", "people.csv", "-o", "theory.csv"]);
    assert!(said.contains("Existence: not known"), "{said}");
    assert!(
        said.contains("Proposition 2 needs every feature to be real-valued and free to change both ways"),
        "{said}"
    );
    let rows = read(&folder.path().join("theory.csv"));
    // An income of 3100 gives 1 / 15; robustness needs 0.15, and each year of age gives 0.05.
    assert_eq!(rows["robust"], ["none", "exists", "exists", "none"]);
    assert_eq!(rows["status"], ["found", "found", "found", "impossible"]);
    assert!(rows["reason"][0].contains("above its limit of 3100"), "{}", rows["reason"][0]);
    assert!(rows["text"][0].contains("so that no action is robust"), "{}", rows["text"][0]);
    assert_eq!(rows["similar_cost_greatest"][0], "");
    let problem = Problem::read(folder.path().join("problem.toml")).unwrap();
    let values = [[2400.0, 40.0], [2400.0, 42.0], [2400.0, 45.0], [2400.0, 30.0]];
    hold(&problem, &People::from_own_units(problem.features(), &values).unwrap(), &rows);
}

/// Every example, in every form, is held against the engine.
#[test]
fn examples_are_held_against_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["independent", "linear", "whole", "network"] {
        for setting in ["", "epsilon = 0\n", "form = \"absolute\"\n", "limits_on = \"action\"\n"] {
            let from = examples().join(name);
            for file in std::fs::read_dir(&from).unwrap().map(|entry| entry.unwrap().path()) {
                std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
            }
            let text = std::fs::read_to_string(from.join("problem.toml")).unwrap();
            let key = setting.split(' ').next().unwrap();
            let kept = text.lines().filter(|line| key.is_empty() || !line.starts_with(&format!("{key} =")));
            let text = format!("{setting}{}", kept.collect::<Vec<_>>().join("\n"));
            std::fs::write(folder.path().join("problem.toml"), text).unwrap();
            let arguments = ["theory", "problem.toml", "people.csv", "-o", "theory.parquet"];
            let said = done(folder.path(), &arguments);
            let problem = Problem::read(folder.path().join("problem.toml")).unwrap();
            let names = problem.features().names();
            let batch = Table::open(folder.path().join("people.csv")).unwrap().select(&names, &[]).unwrap();
            let rows: Vec<Vec<f64>> =
                batch.read_all().unwrap().numbers.rows().into_iter().map(|row| row.to_vec()).collect();
            let people = People::from_own_units(problem.features(), &rows).unwrap();
            done(folder.path(), &["theory", "problem.toml", "people.csv", "-o", "theory.csv"]);
            hold(&problem, &people, &read(&folder.path().join("theory.csv")));
            assert!(said.contains("Written to theory.parquet."), "{name} {setting}: {said}");
        }
    }
}

#[test]
fn conditions_that_are_not_met_are_named() {
    let said = |name: &str| done(&examples().join(name), &["theory", "problem.toml"]);
    let network = said("network");
    for words in [
        "The check needs a linear classifier, and that of this problem is not linear.",
        "It needs linear equations, and those of `education`, `income` and `savings` are not linear.",
        "It needs noise that is added, and that of `education` is not.",
    ] {
        assert!(network.contains(words), "{network}");
    }
    let whole = said("whole");
    for words in [
        "`hours`, `education`, `contract_none`",
        "there is `income >= 3 * rent - 500`",
        "`income` has limits",
    ] {
        assert!(whole.contains(words), "{whole}");
    }
    let linear = said("linear");
    assert!(linear.contains("`income` and `savings` may change without limit"), "{linear}");
    assert!(!linear.contains("no statement"), "{linear}");
}

#[test]
fn bad_input_is_refused() {
    let folder = folder(&problem_text());
    let at = folder.path();
    for (arguments, words) in [
        (&["theory", "none.toml"][..], "none.toml"),
        (&["theory", "problem.toml", "none.csv"], "none.csv"),
        (&["theory", "problem.toml", "--person", "{"], "--person: this is not a person in JSON"),
        (&["theory", "problem.toml", "--person", r#"{"income": 1}"#], "no value for feature `age`"),
        (&["theory", "problem.toml", "-o", "theory.csv"], "PEOPLE"),
        (&["theory", "problem.toml", "people.csv", "-o", "people.csv"], "is the table of people"),
        (&["theory", "problem.toml", "people.csv", "-o", "problem.toml"], "is the problem file"),
        (&["theory", "problem.toml", "people.csv", "--id", "name"], "name"),
        (&["theory", "problem.toml", "people.csv", "--gap", "2"], "--gap 2"),
    ] {
        let said = refused(at, arguments);
        assert!(said.contains(words), "{said}");
    }
    std::fs::write(at.join("people.csv"), "income,age\n2400,12\n").unwrap();
    assert!(refused(at, &["theory", "problem.toml", "people.csv"]).contains("outside [18, 90]"));
    std::fs::write(at.join("problem.toml"), problem_text().replace("change = \"increase\"", "")).unwrap();
    assert!(refused(at, &["theory", "problem.toml"]).contains("every feature is fixed"));
}
