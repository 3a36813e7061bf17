//! `surefoot train` and `surefoot fit`, run as people run them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

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

/// A kind of column, and its value in a row.
type Column = (&'static str, fn(usize) -> f64);

/// Whatever the table, what `fit` writes is understood; or it refuses, and the file stays as it was.
#[test]
fn what_is_fitted_to_degenerate_tables_is_understood_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let feature = |name: &str, more: &str| format!("[[feature]]\nname = \"{name}\"\n{more}\n");
    let any = "change = \"any\"";
    let problem = "epsilon = 0.1\n".to_owned()
        + &feature("a", any)
        + &feature("b", &format!("kind = \"binary\"\n{any}"))
        + &feature("c", any)
        + "[classifier]\ncoefficients = [1, 1, 1]\nintercept = -1\n";
    let columns: [Column; 7] = [
        ("ordinary", |row| [0.3, -1.2, 2.5, 0.7, -0.4, 1.9][row % 6] + row as f64),
        ("constant", |_| 3.0),
        ("doubled", |row| 2.0 * ([0.3, -1.2, 2.5, 0.7, -0.4, 1.9][row % 6] + row as f64)),
        ("huge", |row| [1e300, -1e300, 1e308][row % 3]),
        ("tiny", |row| 1e-300 * row as f64),
        ("far away", |row| 1e15 + row as f64),
        ("binary", |row| (row % 2) as f64),
    ];
    let (mut fitted, mut refused) = (0, 0);
    for rows in [1, 2, 5, 30] {
        for (k, (first, a)) in columns.iter().enumerate() {
            let (second, c) = &columns[(k + rows) % columns.len()];
            let line = |row: usize| format!("{:e},{},{:e}\n", a(row), row / 2 % 2, c(row));
            let table: String = (0..rows).map(line).collect();
            std::fs::write(at.join("people.csv"), format!("a,b,c\n{table}")).unwrap();
            for graph in ["a -> c", "a -> b", "b -> c; a, b -> c", "c -> a"] {
                let name = format!("{first}, {second}, {rows} rows, {graph}");
                std::fs::write(at.join("problem.toml"), &problem).unwrap();
                let run = surefoot(at, &["fit", "people.csv", "--graph", graph, "--held-out", "0"]);
                match run.status.code() {
                    Some(0) => {
                        done(at, &["validate", "problem.toml"]);
                        fitted += 1;
                    }
                    Some(2) => {
                        let left = std::fs::read_to_string(at.join("problem.toml")).unwrap();
                        assert_eq!(left, problem, "{name}");
                        refused += 1;
                    }
                    other => panic!("{name}: {other:?} {}", text(&run.stderr)),
                }
                if graph == "a -> b" && rows == 30 && *first == "ordinary" {
                    let said = text(&run.stderr);
                    assert!(said.contains("`b` is a category") && said.contains("leave out"), "{said}");
                }
            }
        }
    }
    assert!(fitted >= 10 && refused >= 10, "{fitted} {refused}");
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
    said(&["train", "people.csv", "--target", "income"], &["problem.toml: `income` is both"]);
    said(&["train", "nobody.csv", "--target", "repaid"], &["nobody.csv"]);
    let target = ["train", "people.csv", "--target", "repaid", "--favourable", "yes"];
    said(&[&target[..], &["--epochs", "0"]].concat(), &["epochs"]);
    said(&train(&["--hidden", "ten"]), &["--hidden ten"]);
    said(&train(&["--test", "1"]), &["--test 1"]);
    said(&train(&["--step", "0"]), &["step"]);
    said(
        &train(&["--output", "missing/model.safetensors"]),
        &["missing/model.safetensors", "folder does not"],
    );
    let fit = |graph: &'static str| ["fit", "people.csv", "--graph", graph];
    said(&fit("income -> savings; savings -> income"), &["cycle", "`income`"]);
    said(&fit("wealth -> savings"), &["`wealth`"]);
    said(&fit("graph.dot"), &["graph.dot"]);
    std::fs::write(at.join("holes.csv"), people().replacen(",1,", ",,", 1)).unwrap();
    said(&["fit", "holes.csv", "--graph", "male -> income"], &["holes.csv", "`male`", "line"]);
    // Nothing was written.
    assert_eq!(std::fs::read_to_string(at.join("problem.toml")).unwrap(), PROBLEM);
}

/// Every file of a folder, with what is in it.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

const FORMULA: &str = r#"
# By hand.
[[equation]]
feature = "savings"
formula = "2 * income + u" # as agreed
"#;

#[test]
fn equations_that_the_graph_does_not_name_are_kept() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), format!("{PROBLEM}{FORMULA}")).unwrap();
    let said = done(at, &["fit", "people.csv", "--graph", "age, male -> income"]);
    assert!(
        said.contains("The equations of `savings` are kept, since the graph gives them no causes."),
        "{said}"
    );
    let text = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(text.contains(FORMULA.trim()), "{text}");
    let features = |at: &Path| -> Vec<String> {
        let file = ProblemFile::read(at.join("problem.toml")).unwrap();
        file.scm().unwrap().unwrap();
        file.equation_entries().iter().map(|entry| entry.feature.clone()).collect()
    };
    assert_eq!(features(at), ["savings", "income"]);
    // A cycle with what is kept is told before anything is written.
    let said = refused(at, &["fit", "people.csv", "--graph", "savings -> income"]);
    assert!(
        said.contains("cycle") && said.contains("problem.toml keeps the equations of `savings`"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(at.join("problem.toml")).unwrap(), text);

    // Networks of equations that are kept stay in the file that they share.
    let network = |graph: &'static str| {
        ["fit", "people.csv", "--shape", "network", "--epochs", "2", "--hidden", "3", "--graph", graph]
    };
    done(at, &network("income -> savings"));
    done(at, &network("age -> income"));
    assert_eq!(features(at), ["savings", "income"]);
    assert!(at.join("problem.equations.safetensors").exists());
}

#[test]
fn problems_in_one_folder_have_networks_of_their_own() {
    let folder = folder();
    let at = folder.path();
    std::fs::copy(at.join("problem.toml"), at.join("other.toml")).unwrap();
    done(at, &train(&["--hidden", "4"]));
    let before = std::fs::read(at.join("problem.classifier.safetensors")).unwrap();
    done(at, &train(&["--hidden", "5", "--problem", "other.toml"]));
    assert_eq!(std::fs::read(at.join("problem.classifier.safetensors")).unwrap(), before);
    assert!(at.join("other.classifier.safetensors").exists());
    // One that is elsewhere is named as seen from the problem file.
    std::fs::create_dir_all(at.join("a/models")).unwrap();
    std::fs::create_dir(at.join("a/problems")).unwrap();
    std::fs::copy(at.join("problem.toml"), at.join("a/problems/p.toml")).unwrap();
    let output = ["--hidden", "3", "--problem", "a/problems/p.toml", "--output", "a/models/m.safetensors"];
    done(at, &train(&output));
    let text = std::fs::read_to_string(at.join("a/problems/p.toml")).unwrap();
    assert!(text.contains("network = \"../models/m.safetensors\""), "{text}");
    ProblemFile::read(at.join("a/problems/p.toml")).unwrap().problem().unwrap();
}

#[test]
fn outputs_never_replace_what_is_read() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("graph.csv"), "age -> income\n").unwrap();
    done(at, &["fit", "people.csv", "--graph", "graph.csv", "--shape", "network", "--epochs", "1"]);
    let before = contents(at);
    let fit = ["fit", "people.csv", "--graph", "graph.csv", "--shape", "network", "--epochs", "1"];
    for (arguments, words) in [
        (train(&["--output", "people.csv"]), "--output people.csv: is the table of people"),
        (train(&["--output", "./problem.toml"]), "--output ./problem.toml: is the problem file"),
        (train(&["--log", "people.csv"]), "--log people.csv: is the table of people"),
        (train(&["--log", "log.csv", "--output", "log.csv"]), "is what --output writes"),
        (train(&["--output", "problem.equations.safetensors"]), "is the network of the equation of `income`"),
        (train(&["--log", "log.txt"]), "name it .csv, .parquet or .arrow"),
        (train(&["--search", "--plot", "problem.toml"]), "name it .svg or .png"),
        (
            train(&["--search", "--plot", "none/a.svg"]),
            "--plot none/a.svg: cannot be written, since its folder does not exist",
        ),
        ([&fit[..], &["--output", "graph.csv"]].concat(), "--output graph.csv: is the graph"),
        ([&fit[..], &["--output", "people.csv"]].concat(), "is the table of people"),
        (vec!["validate", "problem.toml", "--svg", "problem.toml"], "is the problem file"),
    ] {
        let said = refused(at, &arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(contents(at) == before, "{arguments:?}");
    }
}

#[test]
fn training_that_fails_leaves_no_problem_file() {
    let folder = folder();
    let at = folder.path();
    std::fs::remove_file(at.join("problem.toml")).unwrap();
    let before = contents(at);
    let said = refused(at, &train(&["--objective", "allr"]));
    assert!(said.contains("surefoot init") && said.contains("change = \"increase\""), "{said}");
    refused(at, &train(&["--step", "0"]));
    refused(at, &["train", "people.csv", "--target", "repaid"]);
    assert!(contents(at) == before);
    let said = done(at, &train(&["--hidden", "none"]));
    assert!(said.contains("Left out: `id` (an identifier, by its name)."), "{said}");
}

#[test]
fn people_outside_the_limits_are_told_with_their_lines() {
    let folder = folder();
    let at = folder.path();
    let limited = PROBLEM.replace("std = 9", "std = 9\nlimits = [30, 90]");
    std::fs::write(at.join("problem.toml"), limited).unwrap();
    let words = "people.csv: one kind of mistake\n  column `age`: outside [30, 90]";
    let said = done(at, &train(&["--hidden", "none"]));
    assert!(said.contains(&format!("Warning: {words}")) && said.contains("rows: line "), "{said}");
    let said = done(at, &["fit", "people.csv", "--graph", "age -> income"]);
    assert!(said.contains(&format!("Warning: {words}")), "{said}");
    let said = refused(at, &train(&["--hidden", "none", "--search"]));
    assert!(said.contains(words), "{said}");
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

#[test]
fn json_is_not_written_into() {
    let folder = folder();
    let at = folder.path();
    for name in ["old.json", "new.json"] {
        if name == "old.json" {
            std::fs::write(at.join(name), "{\"epsilon\": 0.1, \"feature\": [{\"name\": \"income\"}]}")
                .unwrap();
        }
        for arguments in [
            train(&["--problem", name]),
            vec!["fit", "people.csv", "--graph", "age -> income", "--problem", name],
        ] {
            let said = refused(at, &arguments);
            assert!(said.contains(name) && said.contains("as TOML"), "{said}");
        }
    }
    assert!(!at.join("new.json").exists());
}

#[test]
fn options_without_effect_and_out_of_range_are_told_by_their_names() {
    let folder = folder();
    let at = folder.path();
    let said = |arguments: Vec<&str>, words: &[&str]| {
        let said = refused(at, &arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    for (more, words) in [
        (&["--mu-1", "3"][..], &["--mu-1 has no effect", "--objective allr"][..]),
        (&["--ross-reach", "1"], &["--ross-reach has no effect"]),
        (&["--grid", "1,2"], &["--search"]),
        (&["--people", "10"], &["--search"]),
        (&["--search", "--people", "0"], &["--people 0"]),
        (&["--hidden", "none", "--output", "x.safetensors"], &["--output has no effect"]),
        (&["--search", "--plot", "x.gif"], &["--plot x.gif", ".svg or .png"]),
        (&["--objective", "allr", "--mu-1", "-1"], &["--mu-1 is -1; it must be a finite number, at least 0"]),
        (&["--search", "--grid", "-0.5"], &["--grid is -0.5"]),
        (&["--objective", "ross", "--ross-weight", "-1"], &["--ross-weight is -1"]),
        (&["--step", "1e300"], &["--step is 1e300; it must be above 0 and at most 1e9"]),
        (&["--validation", "1"], &["--validation: holding out"]),
        (&["--validation", "0", "--patience", "3"], &["--patience has no effect with --validation 0"]),
        (&["--threshold", "1.5"], &["--threshold: the threshold is 1.5"]),
        (&["--objective", "allr", "--hidden", "4", "--mu-2", "1e300"], &["diverged", "--mu-2"]),
    ] {
        said(train(more), words);
    }
    let fit = |more: &[&'static str]| [&["fit", "people.csv", "--graph"][..], more].concat();
    said(fit(&["age -> income", "--hidden", "5"]), &["--hidden has no effect", "--shape network"]);
    said(fit(&["age -> incom"]), &["`incom` is not a feature of problem.toml; did you mean `income`?"]);
    said(fit(&["age -> id"]), &["`id` is a column of people.csv but not a feature"]);
    said(fit(&["age <-> income"]), &["graph, line 1: there is no arrow"]);
    let doubled = people().lines().map(|line| format!("{line},7\n")).collect::<String>();
    std::fs::write(at.join("doubled.csv"), doubled.replacen(",7", ",country", 1)).unwrap();
    let country = format!("{PROBLEM}\n[[feature]]\nname = \"country\"\n");
    std::fs::write(at.join("country.toml"), country).unwrap();
    let graph = ["fit", "doubled.csv", "--problem", "country.toml", "--graph", "age, country -> income"];
    said(graph.to_vec(), &["equation of `income`: its cause `country` has the same value in every row"]);
    let target = |value: &'static str| ["train", "people.csv", "--target", "repaid", "--favourable", value];
    said(target("Yes").to_vec(), &["no row has `Yes`", "there is `yes`"]);
    said(target("maybe").to_vec(), &["`no`", "`yes`"]);
    std::fs::write(at.join("gap.csv"), people().replace(",yes\n", ",1\n").replace(",no\n", ",\n")).unwrap();
    said(vec!["train", "gap.csv", "--target", "repaid"], &["line", "no outcome is given"]);
    let fixed = PROBLEM.replace("change = \"increase\"\n", "");
    std::fs::write(at.join("fixed.toml"), fixed).unwrap();
    said(
        train(&["--problem", "fixed.toml", "--objective", "af"]),
        &["fixed.toml: every", "change = \"increase\""],
    );
}
