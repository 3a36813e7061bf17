//! `surefoot train` and `surefoot fit`, run as people run them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../command/mod.rs"]
mod command;
mod errors;
mod fit;
mod refusals;

use std::fmt::Write as _;
use std::path::Path;

use command::{done, refused, surefoot, text};
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
    assert!(said.contains("480 to train on and 120 held out to test on"), "{said}");
    assert!(said.contains("Matthews correlation") && said.contains("Written to"), "{said}");
    assert!(problem(at).classifier().coefficients().is_err());
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(text.starts_with("# Ours.") && text.contains("# per month"), "{text}");
    assert!(text.contains("network = \"problem.classifier.safetensors\""), "{text}");
    let log = std::fs::read_to_string(at.join("log.csv")).unwrap();
    assert_eq!(log.lines().count(), 6, "{log}");

    // Again, in another folder: the same to the bit.
    let other = self::folder();
    let again = done(other.path(), &train(&["--objective", "allr", "--hidden", "10,10", "--log", "log.csv"]));
    assert_eq!(said, again);
    let bytes = |folder: &Path| std::fs::read(folder.join("problem.classifier.safetensors")).unwrap();
    assert_eq!(bytes(at), bytes(other.path()));
}

#[test]
fn a_committee_is_trained_on_samples_of_the_rows() {
    let folder = folder();
    let at = folder.path();
    let said = done(at, &train(&["--hidden", "none", "--committee", "3"]));
    assert!(said.contains("Model 3: accuracy") && said.contains("All models agree about"), "{said}");
    let trained = problem(at);
    let committee = trained.committee().unwrap();
    let names: Vec<&str> = committee.members().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, committee.at_least()), (vec!["1", "2", "3"], 3));
    let weights = |member: usize| committee.members()[member].1.coefficients().unwrap().0.to_vec();
    assert!(weights(0) != weights(1) && weights(1) != weights(2));
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(text.starts_with("# Ours.") && text.contains("# per month"), "{text}");
    assert_eq!(text.matches("[[classifier]]").count(), 3);

    // Again, in another folder: the same to the byte. Then networks, and then one classifier instead.
    let other = self::folder();
    assert_eq!(done(other.path(), &train(&["--hidden", "none", "--committee", "3"])), said);
    assert_eq!(std::fs::read_to_string(other.path().join("problem.toml")).unwrap(), text);
    done(at, &train(&["--hidden", "4", "--committee", "2"]));
    assert_eq!(problem(at).variants().len(), 2);
    assert!(at.join("problem.classifier.2.safetensors").exists());
    done(at, &train(&["--hidden", "none"]));
    assert!(problem(at).committee().is_none());
    assert!(refused(at, &train(&["--committee", "0"])).contains("give at least 1 and at most 128"));
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
    assert!(!folder.path().join("problem.classifier.safetensors").exists());
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
    assert!(said.contains("Written to problem.toml: 4 features"), "{said}");
    assert_eq!(problem(folder.path()).features().names(), ["age", "male", "income", "savings"]);
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
fn all_rows_may_be_trained_on() {
    let folder = folder();
    let at = folder.path();
    let said = done(at, &train(&["--hidden", "none", "--test", "0"]));
    assert!(
        said.contains("600 to train on and 0 held out to test on")
            && said.contains("held out for early stopping, on which"),
        "{said}"
    );
    let said = done(at, &train(&["--hidden", "none", "--test", "0", "--validation", "0"]));
    assert!(
        said.contains("Warning: no rows were held out")
            && said.contains("of those trained on are turned down"),
        "{said}"
    );
    assert!(!said.contains("┆ held out"), "{said}");
    let said = refused(at, &train(&["--hidden", "none", "--test", "0", "--search"]));
    assert!(said.contains("--test a share above 0"), "{said}");
    let said = done(at, &["fit", "people.csv", "--graph", "age -> income", "--held-out", "0"]);
    assert!(said.contains("on the rows that they were fitted to"), "{said}");
    let said = refused(at, &["fit", "people.csv", "--graph", "age -> income", "--held-out", "1"]);
    assert!(said.contains("--held-out: holding out 1.0 of 600 rows"), "{said}");
}

#[test]
fn rare_outcomes_are_on_both_sides_and_undefined_measures_are_dashes() {
    let folder = folder();
    let at = folder.path();
    let table = |favourable: usize| {
        let mut text = String::from("age,male,income,savings,repaid\n");
        for i in 0..20 {
            writeln!(text, "{},{},{},{},{}", 20 + i, i % 2, 2000 + i * 7, 4000 + i, u8::from(i < favourable))
                .unwrap();
        }
        text
    };
    let rare = |seed: &'static str| {
        ["train", "rare.csv", "--target", "repaid", "--hidden", "none", "--epochs", "2", "--seed", seed]
    };
    std::fs::write(at.join("rare.csv"), table(2)).unwrap();
    for seed in ["0", "1", "2", "3", "4", "5"] {
        let said = done(at, &rare(seed));
        assert!(!said.contains("- │"), "{said}");
    }
    // One alone is trained on, and nothing compares outcomes among the rest.
    std::fs::write(at.join("rare.csv"), table(1)).unwrap();
    for seed in ["0", "1", "2", "3", "4", "5"] {
        let said = done(at, &rare(seed));
        for measure in ["Matthews correlation", "area under the curve"] {
            let line = said.lines().find(|line| line.contains(measure)).unwrap();
            assert!(line.ends_with("- │"), "{said}");
        }
    }
    std::fs::write(at.join("rare.csv"), table(0)).unwrap();
    let said = refused(at, &rare("0"));
    assert!(said.contains("rare.csv, column `repaid`: every row has `0`; training needs both"), "{said}");
}

#[test]
fn early_stopping_is_told_with_what_was_kept() {
    let folder = folder();
    let at = folder.path();
    let options =
        ["--validation", "0.3", "--patience", "2", "--hidden", "20", "--step", "0.1", "--log", "log.csv"];
    let target = ["train", "people.csv", "--target", "repaid", "--favourable", "yes", "--epochs", "200"];
    let said = done(at, &[&target[..], &options].concat());
    let log = std::fs::read_to_string(at.join("log.csv")).unwrap();
    let rows: Vec<Vec<f64>> =
        log.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let best = rows.iter().min_by(|a, b| a[2].total_cmp(&b[2])).unwrap();
    let expected = format!(
        "Stopped early, after {} epochs, the last 2 without a better one. Kept: epoch {}, with a loss of {:.4}, \
         {:.4} on the 144 rows held out for early stopping.",
        rows.len(),
        best[0],
        best[1],
        best[2]
    );
    assert!(said.contains(&expected), "{expected}\n{said}");
}

/// Outcomes that have nothing to do with the features: whatever is right in training is learnt by heart.
#[test]
fn a_classifier_that_knows_its_training_rows_by_heart_is_warned_of() {
    let folder = folder();
    let at = folder.path();
    let coin = |(number, line): (usize, &str)| {
        let (rest, outcome) = line.rsplit_once(',').unwrap();
        let flipped = if (number * number * 7919 + number * 104_729) % 1013 < 506 { "yes" } else { "no" };
        format!("{rest},{}\n", if number == 0 { outcome } else { flipped })
    };
    let table: String = people().lines().enumerate().map(coin).collect();
    std::fs::write(at.join("people.csv"), table).unwrap();
    let train = |more: &[&'static str]| {
        done(at, &[&["train", "people.csv", "--target", "repaid", "--favourable", "yes"][..], more].concat())
    };
    let said = train(&["--hidden", "100,100", "--epochs", "100", "--validation", "0"]);
    assert!(
        said.contains(" in training and ") && said.contains("on the rows held out to test on."),
        "{said}"
    );
    assert!(
        said.contains("Warning: these differ by more than chance") && said.contains("--hidden"),
        "{said}"
    );
    // As it trains unless told otherwise, it learns nothing where there is nothing to learn.
    let said = train(&[]);
    assert!(said.contains(" in training and ") && !said.contains("Warning"), "{said}");
    assert!(said.contains("Stopped early"), "{said}");
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(text.contains("network = \"problem.classifier.safetensors\""), "{text}");
    assert_eq!(said, train(&[]));
}
