//! Limits on real data: with equations and a classifier fitted to a table, nobody who is given an action
//! ends outside the limits, by what they do or by what follows.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use command::{done, surefoot, text};
use surefoot_paper::DataSet;
use surefoot_paper::data::Files;

/// Columns of the file of South German credits, what they are called here, and what an action may do.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("laufkont", "account", "fixed"),
    ("laufzeit", "months", "any"),
    ("hoehe", "amount", "any"),
    ("sparkont", "savings", "increase"),
    ("beszeit", "employed", "increase"),
    ("rate", "rate", "fixed"),
    ("alter", "age", "fixed"),
    ("bishkred", "credits", "any"),
];

const GRAPH: &str = "age -> employed; age, employed -> savings; months, savings -> amount; \
                     months, amount -> rate; age, employed -> credits";

/// Writes the table as CSV.
fn write_table(folder: &Path, files: &Files) {
    let entry = DataSet::German.entry();
    let content = fs::read_to_string(files.path(entry, &entry.files[0]).unwrap()).unwrap();
    let mut lines = content.lines();
    let header: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    let mut table = String::from("id");
    COLUMNS.iter().for_each(|(_, name, _)| write!(table, ",{name}").unwrap());
    table.push_str(",repaid\n");
    for (number, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        write!(table, "person {number}").unwrap();
        for name in COLUMNS.iter().map(|(name, _, _)| *name).chain(["kredit"]) {
            write!(table, ",{}", cells[column(name)]).unwrap();
        }
        table.push('\n');
    }
    fs::write(folder.join("german.csv"), table).unwrap();
}

/// Writes the problem file: features by `init`, equations by `fit`, a network by `train`.
fn write_problem(folder: &Path) {
    done(folder, &["init", "german.csv", "--target", "repaid"]);
    let mut problem = fs::read_to_string(folder.join("problem.toml")).unwrap();
    // What follows from an equation is no whole number.
    problem = problem.replace("kind = \"integer\"\n", "");
    for (_, name, change) in COLUMNS {
        let start = problem.find(&format!("name = \"{name}\"")).unwrap();
        let (before, after) = problem.split_at(start);
        problem = format!("{before}{}", after.replacen("\"fixed\"", &format!("\"{change}\""), 1));
    }
    fs::write(folder.join("problem.toml"), problem).unwrap();
    for arguments in [
        &["fit", "german.csv", "--graph", GRAPH][..],
        &["train", "german.csv", "--target", "repaid", "--epochs", "20"],
    ] {
        let output = surefoot(folder, arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// How many people are given an action, and how many of them end outside the limits.
fn answered(folder: &Path, problem: &str) -> (usize, usize) {
    done(
        folder,
        &["recourse", problem, "german.csv", "-o", "answers.csv", "--evaluations", "1000", "--gap", "0.05"],
    );
    let problem = ::surefoot::ProblemFile::read(folder.join(problem)).unwrap().problem().unwrap();
    let mut reader = csv::Reader::from_path(folder.join("answers.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let (mut found, mut outside) = (0, 0);
    for record in reader.records().map(Result::unwrap).filter(|record| &record[column("status")] == "found") {
        found += 1;
        let features = problem.features();
        outside += usize::from((0..features.len()).any(|i| {
            let feature = features.feature(i);
            let value: f64 = record[column(&format!("counterfactual:{}", feature.name))].parse().unwrap();
            value < feature.lower || value > feature.upper
        }));
    }
    (found, outside)
}

#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn nobody_ends_outside_the_limits() {
    let files = Files::required();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_table(at, &files);
    write_problem(at);
    let (found, outside) = answered(at, "problem.toml");
    assert!(found > 250, "{found}");
    assert_eq!(outside, 0, "of {found}");
    // What the limits are about does happen here.
    let checked = surefoot(at, &["validate", "problem.toml", "german.csv"]);
    let said = text(&checked.stdout) + &text(&checked.stderr);
    assert!(said.contains("`amount` would leave its limits (250 to 18424)"), "{said}");
    let problem = fs::read_to_string(at.join("problem.toml")).unwrap();
    fs::write(at.join("paper.toml"), format!("limits_on = \"action\"\n{problem}")).unwrap();
    let (found, outside) = answered(at, "paper.toml");
    assert!(outside > 20, "{outside} of {found}");
}
