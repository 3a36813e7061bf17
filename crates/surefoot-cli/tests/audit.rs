//! `surefoot audit`: files, findings, and what it refuses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::Path;
use std::process::Command;

use command::{INCOME_AND_AGE, done, folder_with, refused};
use serde_json::Value;

/// Thirty people of two towns, of whom some do not say where they live.
fn people() -> String {
    let mut text = String::from("id,income,age,town,pet\n");
    for i in 0..30 {
        let town = ["Ulm", "Bonn", ""][i % 3];
        text += &format!("p{i},{},{},{town},{i}\n", 1000 + 150 * i, 25 + i);
    }
    text
}

fn folder() -> tempfile::TempDir {
    let problem = format!("epsilon = 0.1\nnorm = \"l2\"\n{INCOME_AND_AGE}");
    folder_with(&[("problem.toml", &problem), ("people.csv", &people())])
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name).join("audit.json")).unwrap()).unwrap()
}

#[test]
fn an_audit_is_written_once_and_again_only_on_request() {
    let folder = folder();
    let audit = |name: &str, more: &[&str]| {
        let arguments =
            ["audit", "problem.toml", "people.csv", "--by", "town", "--by", "age: 30, 40", "-o", name];
        [&arguments[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    let run = |arguments: &[String]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        done(folder.path(), &arguments)
    };
    let said = run(&audit("out/", &[]));
    assert!(said.starts_with("- 30 people were asked about."), "{said}");
    assert!(said.contains("audit.html"), "{said}");
    let read = json(folder.path(), "out");
    let names = |grouping: usize| -> Vec<&str> {
        let groups = read["groupings"][grouping]["groups"].as_array().unwrap();
        groups.iter().map(|group| group["name"].as_str().unwrap()).collect()
    };
    assert_eq!(names(0), ["town: Bonn", "town: Ulm", "town: (not stated)"]);
    assert_eq!(names(1), ["age: under 30", "age: 30 to under 40", "age: 40 and over"]);
    // Ages from 25: five, ten and fifteen people.
    let count = |group: usize| read["groupings"][1]["groups"][group]["counts"]["people"].as_u64().unwrap();
    assert_eq!([count(0), count(1), count(2)], [5, 10, 15]);
    assert_eq!(read["groupings"][1]["groups"][0]["is_small"], true);
    assert!(read["advice"].is_null());

    let again: Vec<String> = audit("out", &[]);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let said = refused(folder.path(), &again);
    assert!(said.contains("has audit.html already") && said.contains("--overwrite"), "{said}");
    let before = std::fs::read(folder.path().join("out/audit.json")).unwrap();
    run(&audit("out", &["--overwrite"]));
    assert_eq!(std::fs::read(folder.path().join("out/audit.json")).unwrap(), before);
    run(&audit("out", &["--overwrite", "--seed", "2"]));
    assert_ne!(std::fs::read(folder.path().join("out/audit.json")).unwrap(), before);
    // On another number of threads.
    let status = Command::new(env!("CARGO_BIN_EXE_surefoot"))
        .current_dir(folder.path())
        .env("RAYON_NUM_THREADS", "3")
        .args(audit("three", &[]))
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    assert_eq!(std::fs::read(folder.path().join("three/audit.json")).unwrap(), before);
    for file in ["audit.html", "audit.json"] {
        let content = std::fs::read_to_string(folder.path().join("three").join(file)).unwrap();
        assert!(!content.contains("NaN") && !content.contains(">inf"), "{file}");
    }
}

#[test]
fn advice_of_others_is_audited_by_person() {
    let folder = folder();
    let at = folder.path();
    done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv"]);
    done(at, &["audit", "problem.toml", "people.csv", "--actions", "answers.csv", "-o", "own"]);
    let own = json(at, "own");
    let advice = &own["everybody"]["advice"];
    let found = own["everybody"]["counts"]["found"].as_u64().unwrap();
    assert!(found > 5);
    assert_eq!([&advice["holding_and_feasible"], &advice["actions"]], [found, found]);
    assert!((advice["cost_ratio"]["upper"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    // What p0 and p1 were advised: too little, and an older age.
    std::fs::write(at.join("other.csv"), "id,action:income,action:age\np0,5,\np1,,3\n").unwrap();
    let said = done(at, &["audit", "problem.toml", "people.csv", "--actions", "other.csv", "-o", "other"]);
    assert!(said.contains("Of 2 advised actions, 0 are proven to hold, 2 break"), "{said}");
    let other = json(at, "other");
    let rows: Vec<(&str, &str, bool)> = other["advice"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap();
            (text("id"), text("verdict"), row["feasible"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(rows, [("p0", "breaks", true), ("p1", "breaks", false)]);
}

#[test]
fn bad_input_is_refused_and_leaves_nothing() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("file"), "").unwrap();
    std::fs::write(at.join("stranger.csv"), "id,action:income\nnobody,5\n").unwrap();
    std::fs::write(at.join("bad.csv"), "id,income,age\na,x,40\n").unwrap();
    for (arguments, words) in [
        (&["people.csv", "--by", "twon"][..], "did you mean `town`?"),
        (&["people.csv", "--by", "pet"], "there are 30 groups"),
        (&["people.csv", "--by", "town: 5"], "`Ulm` in the column `town` is no number"),
        (&["people.csv", "--by", "age: 40, 30"], "ascending order"),
        (&["people.csv", "--by", "town", "--by", "town"], "is given twice"),
        (&["people.csv", "--method", "local"], "proves nothing"),
        (&["people.csv", "--actions", "stranger.csv"], "who is not in people.csv"),
        (&["bad.csv"], "line 2"),
    ] {
        let said = refused(at, &[&["audit", "problem.toml"], arguments, &["-o", "out"]].concat());
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(!at.join("out").exists(), "{arguments:?}");
    }
    for (output, words) in [("file", "is a file"), ("none/out", "folder does not exist")] {
        let said = refused(at, &["audit", "problem.toml", "people.csv", "-o", output]);
        assert!(said.contains(words), "{output}: {said}");
    }
}
