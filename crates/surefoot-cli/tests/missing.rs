//! Empty cells: refused, unless the problem says what they mean; then answered by every command alike.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fs;

use command::{done, folder_with, refused, surefoot, text};

const PROBLEM: &str = r#"
epsilon = 0.1

[[feature]]
name = "income"
unit = "EUR {}"
mean = 3000
std = 1500
limits = [0, 9000]
change = "increase"
missing = { value = 2400, between = [1500, 4500] }

[[feature]]
name = "account"
categories = ["none", "some", "much"]
ordered = true
missing = { value = "none" }

[[feature]]
name = "savings"
unit = "EUR {}"
mean = 8000
std = 4000
change = "increase"
step = 100
special = { "-1" = "no account" }

[classifier]
coefficients = [1, 0.2, 1]
intercept = -0.5
"#;

const PEOPLE: &str = "id,income,account,savings\nana,,none,8000\nben,NA,,8000\ncleo,2400,some,8000\ndan,nan,much,12000\n\
                      eva,2400,some,-1\n";

#[test]
fn empty_cells_are_refused_unless_the_problem_says_what_they_mean() {
    let strict = PROBLEM.replace("missing = { value = 2400, between = [1500, 4500] }\n", "");
    let folder = folder_with(&[("problem.toml", &strict), ("people.csv", PEOPLE)]);
    let at = folder.path();
    for command in ["validate", "recourse"] {
        let output: &[&str] = if command == "recourse" { &["-o", "answers.csv"] } else { &[] };
        let said = refused(at, &[&[command, "problem.toml", "people.csv"], output].concat());
        assert!(said.contains("column `income`") && said.contains("no value is given"), "{said}");
    }
    assert!(!at.join("answers.csv").exists());
}

#[test]
fn every_command_answers_for_every_value() {
    let folder = folder_with(&[("problem.toml", PROBLEM), ("people.csv", PEOPLE)]);
    let at = folder.path();
    let said = done(at, &["validate", "problem.toml", "people.csv"]);
    assert!(said.contains("3 have missing values, which are imputed"), "{said}");
    let said = done(
        at,
        &["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"],
    );
    assert!(said.contains("5 people"), "{said}");
    let answers = fs::read_to_string(at.join("answers.csv")).unwrap();
    let rows: Vec<csv::StringRecord> =
        csv::Reader::from_reader(answers.as_bytes()).records().map(Result::unwrap).collect();
    let header = answers.lines().next().unwrap();
    let of = |row: usize, name: &str| {
        rows[row].get(header.split(',').position(|column| column == name).unwrap()).unwrap().to_owned()
    };
    assert_eq!(of(0, "intervention"), "savings");
    // -1 - 0.5 at worst, and 0.1 against shifts of the others (the account counts 0.2): savings by 1.6 to 1.7 at a step
    // of 0.025 standard deviations.
    let change: f64 = of(0, "action:savings").parse().unwrap();
    assert!((6400.0..=6900.0).contains(&change) && change % 100.0 == 0.0, "{change}");
    assert_eq!(of(0, "counterfactual:income"), "");
    assert!(of(0, "note").starts_with("Income is not known and taken as EUR 2,400"), "{answers}");
    assert!(of(1, "note").contains("Account is not known and taken as none"), "{answers}");
    assert_eq!(of(2, "note"), "");
    assert!(of(4, "note").contains("savings (no account)"), "{answers}");
    assert!(done(at, &["verify", "problem.toml", "proofs.jsonl"]).contains("5 proofs, all verified"));
    let said = done(at, &["certify", "problem.toml", "people.csv", "answers.csv", "-o", "verdicts.csv"]);
    assert!(said.contains("proven to hold"), "{said}");
    done(at, &["attack", "problem.toml", "people.csv", "answers.csv"]);
    // A little less breaks, and the words say so in the person's own terms.
    fs::write(at.join("less.csv"), "id,action:savings\nana,6000\n").unwrap();
    let output = surefoot(at, &["attack", "problem.toml", "people.csv", "less.csv"]);
    let said = text(&output.stdout);
    assert!(output.status.code() == Some(1) && said.contains("income EUR"), "{said}");
    // An action on what is not known cannot be taken.
    fs::write(at.join("income.csv"), "id,action:income\nana,9000\n").unwrap();
    let said = text(&surefoot(at, &["certify", "problem.toml", "people.csv", "income.csv"]).stdout);
    assert!(said.contains("`income` may not be changed"), "{said}");
    let person = r#"{"income": null, "account": "none", "savings": 8000}"#;
    let said = done(at, &["recourse", "problem.toml", "--person", person]);
    assert!(said.contains("this works for every value between EUR 1,500 and EUR 4,500"), "{said}");
    let said = done(at, &["trade-off", "problem.toml", "--person", person, "--epsilons", "0,0.1"]);
    assert!(said.contains("0.1"), "{said}");
    done(
        at,
        &["audit", "problem.toml", "people.csv", "--by", "income: 2000", "--by", "account", "-o", "audit"],
    );
    let audit = fs::read_to_string(at.join("audit/audit.json")).unwrap();
    assert!(
        audit.contains("Of 3 people a value is missing.") && audit.contains("\"incomplete\": 3"),
        "{audit}"
    );
    assert!(audit.matches("(not stated)").count() >= 2, "{audit}");
    done(at, &["letters", "problem.toml", "people.csv", "-o", "letters"]);
    let letter = fs::read_to_string(at.join("letters/ana.txt")).unwrap();
    assert!(
        letter.contains("What you can do works whatever it really is between EUR 1,500 and EUR 4,500."),
        "{letter}"
    );
    assert!(done(at, &["verify", "problem.toml", "letters/proofs.jsonl"]).contains("5 proofs, all verified"));
}

#[test]
fn small_mistakes_are_told() {
    let folder = folder_with(&[("problem.toml", PROBLEM), ("people.csv", PEOPLE)]);
    let at = folder.path();
    let validate = |text: &str| {
        fs::write(at.join("other.toml"), text).unwrap();
        surefoot(at, &["validate", "other.toml"])
    };
    let refused_as = |text: &str, words: &str| {
        let said = command::text(&validate(text).stderr);
        assert!(said.contains(words), "{said}");
    };
    refused_as(
        &format!("most_changes = -1\n{PROBLEM}"),
        "`most_changes` is -1; it must be a whole number that is not negative",
    );
    let below = format!(
        "{}\n[[one_of]]\nfeatures = [\"income\", \"savings\"]\nepsilon = 0.1\n",
        PROBLEM.replace("epsilon = 0.1", "")
    );
    refused_as(&below, "`epsilon` belongs at the top of the file; move it above the first heading");
    let doubtful = PROBLEM.replace("step = 100", "step = 100\nmost_change = 50\nlabel = \"income\"");
    let said = text(&validate(&doubtful).stdout);
    assert!(said.contains("Warning: feature `savings`: its step of 100 is larger"), "{said}");
    assert!(said.contains("Warning: features `income` and `savings`: both are called \"income\""), "{said}");
    let said = refused(at, &["validate", "no-such.toml"]);
    assert!(said.contains("there is no such file"), "{said}");
    // Nobody is named.
    fs::write(at.join("nameless.csv"), PEOPLE.replace("cleo,", ",")).unwrap();
    for arguments in [
        &["validate", "problem.toml", "nameless.csv"][..],
        &["recourse", "problem.toml", "nameless.csv", "-o", "answers.csv"],
    ] {
        assert!(refused(at, arguments).contains("nobody is named; give every row its own"));
    }
    // Nobody to write to.
    fs::write(at.join("empty.csv"), "id,income,account,savings\n").unwrap();
    let output = surefoot(at, &["letters", "problem.toml", "empty.csv", "-o", "none"]);
    assert!(!text(&output.stdout).contains("proofs.jsonl"), "{}", text(&output.stdout));
    let said = done(at, &["letters", "problem.toml", "people.csv", "-o", "de", "--language", "de"]);
    assert!(said.contains("--reasons gives them in German"), "{said}");
}

/// What `init` says of empty cells is what the problem file needs.
#[test]
fn init_says_what_empty_cells_need() {
    let folder = folder_with(&[(
        "people.csv",
        "income,level,job,approved\n1000,low,cook,1\n,high,nurse,0\n3000,,cook,1\n2000,low,,0\n",
    )]);
    let at = folder.path();
    let said = done(
        at,
        &[
            "init",
            "people.csv",
            "--target",
            "approved",
            "--order",
            "level=low<high",
            "--change",
            "income=any",
        ],
    );
    let rules = [
        r#"`income` (in 1 row; state of it missing = { value = "mean", between = [1000, 3000] })"#,
        r#"`level` (in 1 row; state of it missing = { value = "high" })"#,
        "`job` (in 1 row; write a text for what is not known into these cells, as one more category)",
    ];
    assert!(rules.iter().all(|rule| said.contains(rule)), "{said}");
    let mut text = fs::read_to_string(at.join("problem.toml")).unwrap();
    for (name, rule) in [
        ("income", r#"missing = { value = "mean", between = [1000, 3000] }"#),
        ("level", r#"missing = { value = "high" }"#),
    ] {
        let name = format!("name = \"{name}\"\n");
        text = text.replacen(&name, &format!("{name}{rule}\n"), 1);
    }
    fs::write(at.join("problem.toml"), text).unwrap();
    fs::write(at.join("filled.csv"), "income,level,job\n,,cook\n").unwrap();
    let said = done(at, &["validate", "problem.toml", "filled.csv"]);
    assert!(said.contains("1 has a missing value, which is imputed"), "{said}");
}
