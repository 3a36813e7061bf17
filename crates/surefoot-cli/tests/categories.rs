//! Columns of text on the command line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray};
use command::{done, refused, surefoot, text};
use parquet::arrow::ArrowWriter;

fn example(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/categories").join(file);
    path.to_str().unwrap().to_owned()
}

/// The cells of a CSV file without quotes, by name of the column.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let position = lines.next().unwrap().split(',').position(|found| found == name).unwrap();
    lines.map(|line| line.split(',').nth(position).unwrap().to_owned()).collect()
}

#[test]
fn answers_have_texts_and_actions_by_text_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (problem, people) = (example("problem.toml"), example("people.csv"));
    let said = done(at, &["recourse", &problem, &people, "-o", "answers.csv", "--proofs", "proofs.jsonl"]);
    assert!(said.starts_with("4 people: 1 is treated favourably already; 3 have an action"), "{said}");
    let answers = std::fs::read_to_string(at.join("answers.csv")).unwrap();
    assert_eq!(column(&answers, "action:job")[0], "nurse");
    assert_eq!(column(&answers, "counterfactual:job"), ["nurse", "cook", "", "nurse"]);
    assert_eq!(column(&answers, "counterfactual:education")[0], "basic");
    for output in ["answers.csv", "answers.parquet", "answers.arrow"] {
        done(at, &["recourse", &problem, &people, "-o", output]);
        let said = done(at, &["certify", &problem, &people, output]);
        assert!(said.starts_with("3 actions: 3 are proven to hold"), "{said}");
        let said = done(at, &["attack", &problem, &people, output]);
        assert!(said.contains("0 are broken"), "{said}");
    }
    let said = done(at, &["verify", &problem, "proofs.jsonl"]);
    assert!(said.starts_with("4 proofs, all verified: 3 actions hold"), "{said}");

    // An action by its texts: not allowed for a cook, and too little for Ben.
    std::fs::write(at.join("own.csv"), "id,action:education,action:job\nana,degree,\nben,basic,nurse\n")
        .unwrap();
    let output = surefoot(at, &["certify", &problem, &people, "own.csv", "-o", "verdicts.csv"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(said.contains("`job` may not go from `cook` to `nurse`"), "{said}");
    std::fs::write(at.join("own.csv"), "id,action:job\nana,king\n").unwrap();
    let said = refused(at, &["certify", &problem, &people, "own.csv"]);
    assert!(said.contains("own.csv, line 2, column `action:job`: `king` is no category"), "{said}");
}

#[test]
fn text_comes_from_every_kind_of_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let problem = example("problem.toml");
    done(at, &["recourse", &problem, &example("people.csv"), "-o", "expected.csv"]);
    let jobs = ["clerk", "cook", "nurse", "clerk"];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from(vec!["ana", "ben", "cem", "dia"]))),
        ("income", Arc::new(Float64Array::from(vec![2100.0, 1500.0, 3600.0, 1900.0]))),
        ("education", Arc::new(StringArray::from(vec!["basic", "none", "degree", "none"]))),
        ("job", Arc::new(DictionaryArray::<Int32Type>::from_iter(jobs))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(at.join("people.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let file = std::fs::File::create(at.join("people.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    for people in ["people.parquet", "people.arrow"] {
        done(at, &["recourse", &problem, people, "-o", "answers.csv"]);
        let read = |name: &str| std::fs::read_to_string(at.join(name)).unwrap();
        assert_eq!(read("answers.csv"), read("expected.csv"), "{people}");
    }
}

#[test]
fn one_person_is_given_by_text() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let problem = example("problem.toml");
    let person = r#"{"income": 2100, "education": "basic", "job": "clerk"}"#;
    let said = done(at, &["recourse", &problem, "--person", person]);
    assert!(said.starts_with("Change job from clerk to nurse."), "{said}");
    assert!(done(at, &["trade-off", &problem, "--person", person]).contains("nurse"));
    for (person, words) in [
        (r#"{"income": 2100, "education": "basic", "job": "nurs"}"#, "did you mean `nurse`?"),
        (
            r#"{"income": 2100, "education": 1, "job": "cook"}"#,
            "`1` is no category; there are `none`, `basic`",
        ),
        (r#"{"income": 2100, "job": "cook"}"#, "`education`"),
        ("{}", "--person"),
        ("[]", r#"{"income": 2500, "education": "none", "job": "clerk"}"#),
    ] {
        let said = refused(at, &["recourse", &problem, "--person", person]);
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

#[test]
fn a_text_that_is_no_category_is_told_with_row_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let problem = example("problem.toml");
    let people = "id,income,education,job\n1,2000,none,clerk\n2,1500,bassic,cook\n3,900,,king\n";
    std::fs::write(at.join("people.csv"), people).unwrap();
    let said = refused(at, &["recourse", &problem, "people.csv", "-o", "answers.csv"]);
    let expected = "people.csv, line 3, column `education`: `bassic` is no category; did you mean `basic`? there are \
                    `none`, `basic` and `degree`";
    assert!(said.contains(expected), "{said}");
    let said = refused(at, &["validate", &problem, "people.csv"]);
    for words in [
        "column `education`: not a category; the categories are `none`, `basic`, `degree` (line 3: `bassic`, perhaps `basic`)",
        "column `education`: no value is given (line 4)",
        "column `job`: not a category; the categories are `clerk`, `cook`, `nurse` (line 4: `king`)",
    ] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    std::fs::write(at.join("people.csv"), "id,income,jobs\n1,2000,clerk\n").unwrap();
    let said = refused(at, &["validate", &problem, "people.csv"]);
    assert!(said.contains("no column `education`") && said.contains("no column `job`"), "{said}");
}

#[test]
fn init_lists_categories_and_train_and_fit_take_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut people = String::from("name,income,job,school,approved\n");
    for i in 0..200 {
        let (job, school) = (["cook", "clerk", "nurse"][i % 3], ["some", "none"][i % 2]);
        let income = 1500 + 7 * ((i * 37) % 200) + if job == "nurse" { 900 } else { 0 };
        let approved = u8::from(income + 300 * (i % 5) > 3000);
        people += &format!("person {i},{income},{job},{school},{approved}\n");
    }
    std::fs::write(at.join("people.csv"), people).unwrap();
    let said = done(at, &["init", "people.csv", "--target", "approved"]);
    assert!(said.starts_with("Written to problem.toml: 3 features, from 200 people."), "{said}");
    assert!(said.contains("`name` (text with more than 50 different values)"), "{said}");
    let written = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    assert!(
        written.contains("name = \"job\"\ncategories = [\"clerk\", \"cook\", \"nurse\"]\nordered = false")
    );
    let said = done(at, &["validate", "problem.toml", "people.csv"]);
    assert!(said.contains("Categories of job: clerk, cook, nurse"), "{said}");
    let edited = written
        .replace("\"none\", \"some\"]\nordered = false", "\"none\", \"some\"]\nordered = true")
        .replacen("change = \"fixed\"", "change = \"increase\"", 1);
    std::fs::write(at.join("problem.toml"), edited).unwrap();
    let said = done(at, &["validate", "problem.toml"]);
    assert!(said.contains("Categories of school, the lowest first: none, some"), "{said}");
    assert!(said.contains("none to some"), "{said}");
    let said = refused(at, &["fit", "people.csv", "--graph", "job -> income"]);
    assert!(said.contains("\"job=clerk\""), "{said}");
    done(at, &["fit", "people.csv", "--graph", "school, \"job=nurse\" -> income"]);
    done(at, &["train", "people.csv", "--target", "approved", "--epochs", "30"]);
    let said = done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv"]);
    assert!(said.starts_with("200 people"), "{said}");
    let answers = std::fs::read_to_string(at.join("answers.csv")).unwrap();
    assert!(column(&answers, "counterfactual:job").contains(&"cook".to_owned()));
}
