//! Integer numbers, categories, constraints and several options, as people use them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::{Path, PathBuf};

use command::{done, refused};

fn example(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/whole").join(file);
    path.to_str().unwrap().to_owned()
}

const IDA: &str = r#"{"hours": 30, "education": 0, "income": 2300, "rent": 900,
    "contract_none": 0, "contract_temporary": 1, "contract_permanent": 0}"#;

#[test]
fn options_are_rows_that_hold_the_cheapest_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (problem, people) = (example("problem.toml"), example("people.csv"));
    let arguments = ["recourse", &problem, &people, "-o", "answers.csv", "--options", "3"];
    done(at, &[&arguments[..], &["--proofs", "proofs.jsonl"]].concat());
    let text = std::fs::read_to_string(at.join("answers.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|found| *found == name).unwrap();
    let (id, option, cost) = (column("id"), column("option"), column("cost"));
    let of = |who: &str| rows.iter().filter(|row| row[id] == who).collect::<Vec<_>>();
    for who in ["ida", "jon", "leo"] {
        let costs: Vec<f64> = of(who).iter().map(|row| row[cost].parse().unwrap()).collect();
        assert!(costs.len() == 3 && costs.is_sorted(), "{who}: {costs:?}");
        let numbers: Vec<&str> = of(who).iter().map(|row| row[option]).collect();
        assert_eq!(numbers, ["1", "2", "3"]);
        for row in of(who) {
            // Integer numbers are written as such.
            for name in ["hours", "education", "contract_none", "contract_temporary", "contract_permanent"] {
                let (change, to) =
                    (row[column(&format!("action:{name}"))], row[column(&format!("counterfactual:{name}"))]);
                assert!(!change.contains('.') && !to.contains('.'), "{who}: {name} {change} {to}");
            }
        }
    }
    assert_eq!(of("kim").iter().map(|row| row[option]).collect::<Vec<_>>(), [""]);
    let said = done(at, &["certify", &problem, &people, "answers.csv"]);
    assert!(said.starts_with("9 actions: 9 are proven to hold"), "{said}");
    let said = done(at, &["verify", &problem, "proofs.jsonl"]);
    assert!(said.contains("all verified: 3 actions hold and cost") && !said.contains("wrong"), "{said}");
    let said = refused(at, &["recourse", &problem, &people, "-o", "a.csv", "--options", "0"]);
    assert!(said.contains("--options"), "{said}");
}

#[test]
fn one_person_gets_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let problem = example("problem.toml");
    let said = done(folder.path(), &["recourse", &problem, "--person", IDA, "--options", "3"]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "Each of these alone is enough, the cheapest first:");
    assert!(lines[1].starts_with("1. Raise income by") && lines[1].contains("Effort 1.3"), "{said}");
    assert!(lines[3].starts_with("3. Raise hours by 15 (from 30 to 45). Effort 1.667."), "{said}");
    assert!(lines[4].starts_with("Each still works if circumstances shift a little"), "{said}");
    let said = done(folder.path(), &["recourse", &problem, "--person", IDA]);
    assert!(said.starts_with("Raise income by"), "{said}");
    // Categories go by their names as well.
    for category in ["temporary", "contract_temporary"] {
        let person = format!(
            r#"{{"hours": 30, "education": 0, "income": 2300, "rent": 900, "contract": "{category}"}}"#
        );
        assert_eq!(done(folder.path(), &["recourse", &problem, "--person", &person]), said);
    }
    let person = r#"{"hours": 30, "education": 0, "income": 2300, "rent": 900, "contract": "temp"}"#;
    let refused = refused(folder.path(), &["recourse", &problem, "--person", person]);
    assert!(
        refused.contains("`contract` is \"temp\"") && refused.contains("`contract_temporary`"),
        "{refused}"
    );
}

#[test]
fn people_without_a_category_are_refused_by_row_and_group() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let problem = example("problem.toml");
    let table = std::fs::read_to_string(example("people.csv")).unwrap().replace("900,0,1,0", "900,0,1,1");
    std::fs::write(at.join("people.csv"), table).unwrap();
    let said = refused(at, &["recourse", &problem, "people.csv", "-o", "answers.csv"]);
    assert!(
        said.contains("people.csv, line 2") && said.contains("group `contract`: 2 of its columns are 1"),
        "{said}"
    );
    assert!(!at.join("answers.csv").exists());
    let said = refused(at, &["validate", &problem, "people.csv"]);
    assert!(said.contains("group `contract`: exactly one of its columns must be 1"), "{said}");
    let said = done(at, &["validate", &problem]);
    for words in [
        "of contract",
        "Constraint: income >= 3 * rent - 500",
        "Forbidden: contract from contract_none to contract_permanent",
        "Forbidden: education from 0 or 1 to 3",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn columns_that_are_categories_are_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let table = "age,job_clerk,job_cook,has_car,has_dog,paid\n31,1,0,1,0,1\n42,0,1,1,1,0\n53,0,1,0,0,1\n";
    std::fs::write(at.join("people.csv"), table).unwrap();
    let said = done(at, &["init", "people.csv", "--target", "paid"]);
    let note = "Every row has a 1 in exactly one of `job_clerk`, `job_cook`: they are the group \"job\".";
    assert!(said.contains(note) && !said.contains("`has_car`"), "{said}");
    let written = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert_eq!(written.matches("group = \"job\"").count(), 2, "{written}");
}
