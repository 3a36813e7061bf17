//! `surefoot init` and `surefoot validate`, run as people run them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::{Path, PathBuf};

use command::{done, refused, surefoot, text};
use surefoot::{Kind, ProblemFile};

fn examples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

const PEOPLE: &str = "\
id,name,age,income,member,country,approved
1,Ana,29,2400.5,true,1,0
2,Ben,52,3100,false,1,1
3,Cleo,35,5200,true,1,1
4,Dan,61,,false,1,0
";

#[test]
fn a_first_problem_file_is_whole_and_says_what_to_edit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    let said = done(folder.path(), &["init", "people.csv", "--target", "approved"]);
    assert!(said.starts_with("Written to problem.toml: 3 features, from 4 people."), "{said}");
    assert!(
        said.contains(
            "`country` (always the same).\nMissing values: `income` (in 1 row; state of it missing"
        ),
        "{said}"
    );
    let file = ProblemFile::read(folder.path().join("problem.toml")).unwrap();
    let features = file.features().unwrap();
    assert_eq!(features.names(), ["age", "income", "member"]);
    let [age, income, member] = [0, 1, 2].map(|i| features.feature(i));
    assert_eq!((age.kind, age.mean, age.lower, age.upper), (Kind::Integer, 44.25, 29.0, 61.0));
    // Squared differences from 44.25: 232.5625, 60.0625, 85.5625, 280.5625; their sum over 3.
    assert!((age.std - (658.75f64 / 3.0).sqrt()).abs() < 1e-12);
    assert_eq!((income.kind, income.lower, income.upper), (Kind::Real, 2400.5, 5200.0));
    assert_eq!((member.kind, member.mean, member.std), (Kind::Binary, 0.0, 1.0));
    assert!(features.actionable().is_empty());
    let written = std::fs::read_to_string(folder.path().join("problem.toml")).unwrap();
    for words in [
        "`id` (an identifier, by its name), `name` (text that is different in every row), `country` (always the same)",
        "# Missing values: `income` (in 1 row; state of it missing = { value = \"mean\", between = [2400.5, 5200] }).",
        "not a feature: `approved`",
        "# [classifier]",
        "change = \"fixed\"",
    ] {
        assert!(written.contains(words), "{words} not in\n{written}");
    }
    let said = done(folder.path(), &["validate", "problem.toml"]);
    assert!(said.contains("Still to do: every feature is fixed") && said.contains("there is no classifier"));

    // It is never written over.
    let again = refused(folder.path(), &["init", "people.csv", "--target", "approved"]);
    assert!(again.contains("problem.toml already exists"), "{again}");
    let wrong = refused(folder.path(), &["init", "people.csv", "--target", "aproved", "-o", "other.toml"]);
    assert!(wrong.contains("has no column `aproved`; did you mean `approved`?"), "{wrong}");
    let nowhere =
        refused(folder.path(), &["init", "people.csv", "--target", "approved", "-o", "no/such.toml"]);
    assert!(nowhere.contains("no/such.toml") && nowhere.contains("cannot be written"), "{nowhere}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn every_example_is_understood() {
    let said = done(&examples("linear"), &["validate", "problem.toml", "people.csv"]);
    for words in [
        "income = 200 * education + 600 + u  (own units)",
        "savings = 0.1 * education + 0.6 * income + u  (standardised)",
        "logit = 0.2 * education + 0.8 * income + 0.6 * savings - 0.5",
        "education\n  ●─▶income\n  ●──●─▶savings\n",
        "People: 3 in people.csv, of whom 2 are turned down",
    ] {
        assert!(said.contains(words), "{words} not in\n{said}");
    }
    let said = done(&examples("independent"), &["validate", "problem.toml", "people.csv"]);
    assert!(said.contains("Equations: none") && said.contains("weighted linf norm"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let drawing = folder.path().join("graph.svg");
    let said = done(&examples("network"), &["validate", "problem.toml", "--svg", drawing.to_str().unwrap()]);
    assert!(said.contains("gender\n  ●─▶education\n  ●──●─▶income\n        ●─▶savings\n"), "{said}");
    assert!(
        said.contains("savings = network(income) + u, models.safetensors savings. (1-3-1 tanh)"),
        "{said}"
    );
    assert!(said.contains("logit = network, classifier.safetensors (4-4-3-1 tanh)"), "{said}");
    let svg = std::fs::read_to_string(drawing).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("marker-end").count(), 4, "one tip for each arrow");
    assert_eq!(svg.matches("<rect ").count(), 1 + 4);
}

#[test]
fn mistakes_of_file_and_people_are_told_together() {
    let folder = tempfile::tempdir().unwrap();
    let problem = std::fs::read_to_string(examples("linear").join("problem.toml")).unwrap();
    let save = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    save(
        "problem.toml",
        &problem.replace("threshold = 0.5", "threshold = 5\nbias = 1").replace("[200]", "[200, 3]"),
    );
    save("people.csv", "education,income,savings\n11,2400,6000\n40,x,\n99,1,2\n-1,1,2\n77,1,2\n12.5,inf,3\n");
    let said = refused(folder.path(), &["validate", "problem.toml", "people.csv"]);
    let expected = "surefoot: problem.toml: 3 mistakes
  line 27, equation of `income`: it takes 2 inputs, but 1 parent is named; give one coefficient, or one input of the network, for each parent, in this order: `education`
  line 43, classifier: the threshold is 5; it must lie strictly between 0 and 1
  line 44, classifier: unknown field `bias`; there are `onnx`, `network`, `activation`, `coefficients`, `intercept`, `trees`, `threshold` and `inputs`
people.csv: 4 kinds of mistakes
  column `income`: not a number (line 3: `x`)
  column `savings`: no value is given (line 3)
  column `income`: not a finite number (line 7: inf)
  column `education`: outside [0, 25]; correct the values or widen the limits (4 rows: line 3: 40, line 4: 99, line 5: -1, ...)
";
    assert_eq!(said, expected);
    // A sound file is explained even if the people are not.
    save("problem.toml", &problem);
    let output = surefoot(folder.path(), &["validate", "problem.toml", "people.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("Equations, causes first"));
    assert!(text(&output.stderr).starts_with("surefoot: people.csv: 4 kinds of mistakes"));
    save("few.csv", "education,savins\n1,2\n");
    let said = refused(folder.path(), &["validate", "problem.toml", "few.csv"]);
    assert!(said.contains("no column `income`") && said.contains("no column `savings`"), "{said}");
}

#[test]
fn people_that_equations_or_kinds_exclude() {
    let folder = tempfile::tempdir().unwrap();
    let network = examples("network").join("problem.toml");
    let people = folder.path().join("people.csv");
    std::fs::write(&people, "gender,education,income,savings\n0.5,0,0,0\n1,-0.5,0,0\n0,0.1,0,0\n").unwrap();
    let said = refused(folder.path(), &["validate", network.to_str().unwrap(), "people.csv"]);
    assert!(
        said.contains("column `gender`: not binary; correct the values or the kind (line 2: 0.5)"),
        "{said}"
    );
    assert!(said.contains("column `education`: ") && said.contains("(line 3)"), "{said}");
    let said = refused(folder.path(), &["validate", "none.toml"]);
    assert!(said.contains("none.toml: cannot be read"), "{said}");
}

#[test]
fn columns_that_cannot_be_standardised_are_left_out_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "huge,tiny,open,age,y\n1e308,1e-200,inf,20,0\n-1e308,5e-200,1,30,1\n3,2e-200,2,40,1\n";
    std::fs::write(folder.path().join("people.csv"), rows).unwrap();
    let said = done(folder.path(), &["init", "people.csv", "--target", "y"]);
    for words in [
        "1 feature, from 3 people",
        "`huge` (values too large to be standardised)",
        "`tiny` (values too close together to be standardised)",
        "`open` (has infinite values)",
    ] {
        assert!(said.contains(words), "{words} not in {said}");
    }
    let file = ProblemFile::read(folder.path().join("problem.toml")).unwrap();
    assert_eq!(file.features().unwrap().names(), ["age"]);
    let said = refused(folder.path(), &["init", "people.csv", "--target", "y", "-o", "problem.json"]);
    assert!(said.contains("as TOML"), "{said}");
    // One letter is too little to guess by.
    let said = refused(folder.path(), &["init", "people.csv", "--target", "x", "-o", "other.toml"]);
    assert!(!said.contains("did you mean"), "{said}");
}
