//! What commands say: numbers, grammar, and what to do about a mistake.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use command::{done, refused, surefoot, text};
use tempfile::TempDir;

/// Income in thousands: favourable from 5 on, and 0.1 more makes up for a shift of 0.1.
const PROBLEM: &str = r#"epsilon = 0.1

[[feature]]
name = "income"
mean = 0.0
std = 1.0
change = "increase"

[classifier]
coefficients = [1.0]
intercept = -5.0
"#;

/// A folder with a problem and a table of people.
fn folder(problem: &str, people: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("problem.toml"), problem).unwrap();
    std::fs::write(folder.path().join("people.csv"), people).unwrap();
    folder
}

#[test]
fn a_key_that_a_person_has_twice_is_refused() {
    let folder = folder(PROBLEM, "income\n1\n");
    for command in ["recourse", "trade-off", "theory"] {
        let person = r#"{"income": 1, "income": 2}"#;
        let said = refused(folder.path(), &[command, "problem.toml", "--person", person]);
        assert_eq!(said, "surefoot: --person: `income` is given twice; remove one\n", "{command}");
    }
    let said = refused(folder.path(), &["recourse", "problem.toml", "--person", "[1]"]);
    assert!(said.contains("expected an object with a value for each column"), "{said}");
    assert!(said.contains("write it like '{\"income\": 0}'"), "{said}");
}

/// A table of column names alone is a table of 0 people, for every command.
#[test]
fn nobody_is_a_valid_table() {
    let folder = folder(PROBLEM, "id,income\n");
    let at = folder.path();
    std::fs::write(at.join("actions.csv"), "id,action:income\n").unwrap();
    let said = done(at, &["validate", "problem.toml", "people.csv"]);
    assert!(said.ends_with("People: 0 in people.csv\n"), "{said}");
    let said = done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.parquet"]);
    assert!(said.starts_with("0 people: "), "{said}");
    for command in ["certify", "attack"] {
        let said = done(at, &[command, "problem.toml", "people.csv", "actions.csv"]);
        assert!(said.starts_with("0 actions: "), "{said}");
    }
    let said = done(at, &["theory", "problem.toml", "people.csv"]);
    assert!(said.contains("People: 0."), "{said}");
    // What has been written is a table of nobody as well.
    let columns = PROBLEM.replace("\"income\"", "\"cost\"");
    std::fs::write(at.join("cost.toml"), columns).unwrap();
    let said = done(at, &["validate", "cost.toml", "answers.parquet"]);
    assert!(said.ends_with("People: 0 in answers.parquet\n"), "{said}");
}

#[test]
fn a_cell_that_holds_nan_is_called_so() {
    let folder = folder(PROBLEM, "id,income\nana,nan\nben,NaN\ncarl,\n");
    let said = refused(folder.path(), &["validate", "problem.toml", "people.csv"]);
    assert!(said.contains("column `income`: not a number (2 rows: line 2: `nan`, line 3: `NaN`)"), "{said}");
    assert!(said.contains("column `income`: no value is given (line 4)"), "{said}");
}

#[test]
fn files_that_hold_no_proofs_are_refused_with_the_remedy() {
    let folder = folder(PROBLEM, "id,income\nana,1\n");
    let at = folder.path();
    done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"]);
    let proof = std::fs::read_to_string(at.join("proofs.jsonl")).unwrap();
    let other = proof.replace("\"surefoot_proof\":", "\"edition\":");
    assert_ne!(proof, other);
    for (second, fault) in [
        (&b"no proof"[..], "is not JSON"),
        (b"[1]", "has no `id` with a `proof`"),
        (b"{\"id\": \"ana\"}", "has no `id` with a `proof`"),
        (b"\xff\xfe", "is not text"),
        (other.as_bytes(), "`surefoot_proof` is missing"),
    ] {
        std::fs::write(at.join("mixed.jsonl"), [proof.as_bytes(), second].concat()).unwrap();
        for arguments in [
            &["verify", "problem.toml", "mixed.jsonl"][..],
            &["certify", "problem.toml", "--check", "mixed.jsonl"],
        ] {
            let said = refused(at, arguments);
            assert!(said.starts_with("surefoot: mixed.jsonl, line 2: ") && said.contains(fault), "{said}");
            assert!(said.contains("give the file that `surefoot recourse --proofs` wrote"), "{said}");
        }
    }
}

/// The size that is printed is on the same side of epsilon as the one that was found.
#[test]
fn sizes_of_breaks_stay_on_their_side_of_epsilon() {
    let folder = folder(PROBLEM, "id,income\nana,4\n");
    let at = folder.path();
    for (change, code, least) in
        [("1.100000002", 0, 0.100000002), ("1.099999998", 1, 0.099999998), ("1.2", 0, 0.2)]
    {
        std::fs::write(at.join("actions.csv"), format!("id,action:income\nana,{change}\n")).unwrap();
        let output = surefoot(at, &["attack", "problem.toml", "people.csv", "actions.csv"]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let size = said.split("has size ").nth(1).unwrap().split_whitespace().next().unwrap();
        let size = size.trim_end_matches('.');
        assert!(!size.contains('e'), "{said}");
        let printed: f64 = size.parse().unwrap();
        assert_eq!(printed > 0.1, code == 0, "{said}");
        assert!((printed - least).abs() < 1e-3 * least, "{said}");
    }
}

#[test]
fn people_who_need_no_action_are_counted_apart() {
    let folder = folder(PROBLEM, "id,income\nana,4\nben,6\ncarl,1\ndora,7\nemil,8\n");
    let at = folder.path();
    std::fs::write(at.join("actions.csv"), "id,action:income\nana,2\nben,\ncarl,\n").unwrap();
    for command in ["certify", "attack"] {
        let said = done(at, &[command, "problem.toml", "people.csv", "actions.csv"]);
        let words = "3 people are treated favourably already and need no action. 1 person who is turned down has \
                     no action.";
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder(PROBLEM, "id,income\nana,4\n");
    let at = folder.path();
    let descent = ["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--method", "descent"];
    for (options, words) in [
        (
            &["--options", "2"][..],
            "--options 2: the method `descent` finds one action for each person; leave out",
        ),
        (&["--explain"], "--explain: the method `descent` proves nothing"),
        (
            &["--seconds", "1"],
            "--seconds 1: it has no effect with the method `descent`; leave out --seconds, or choose \
             another --method (auto, exact, trees, complete, local)",
        ),
        (&["--evaluations", "60000"], "--evaluations 60000: it has no effect with the method `descent`"),
        (&["--proofs", "proofs.jsonl"], "--proofs: the method `descent` proves nothing"),
        (&["--gap", "0.05"], "--gap 0.05: it has no effect with the method `descent`; leave out --gap"),
    ] {
        let said = refused(at, &[&descent[..], options].concat());
        assert!(said.contains(words) && said.contains("choose another --method"), "{said}");
        assert!(!at.join("answers.csv").exists());
    }
    done(at, &descent);
}

#[test]
fn actions_of_strangers() {
    let folder = folder(PROBLEM, "id,income\nana,4\n");
    let at = folder.path();
    for (rows, words) in [
        ("zoe,1\n", "has actions for 1 person who is not in people.csv: `zoe`; add"),
        (
            "zoe,1\nyann,1\n",
            "has actions for 2 people who are not in people.csv, the first of them `yann`; add",
        ),
    ] {
        std::fs::write(at.join("actions.csv"), format!("id,action:income\n{rows}")).unwrap();
        for command in ["certify", "attack"] {
            let said = refused(at, &[command, "problem.toml", "people.csv", "actions.csv"]);
            assert!(said.contains(words) && said.contains("remove their rows"), "{said}");
        }
    }
}

/// What was verified is named, and nothing that was not.
#[test]
fn verified_proofs_are_summed_up_without_empty_parts() {
    let limited = PROBLEM.replace("change =", "limits = [0, 8]\nchange =");
    let folder = folder(&limited, "id,income\nana,4\n");
    let at = folder.path();
    let verified = |problem: &str, people: &str| {
        std::fs::write(at.join("problem.toml"), problem).unwrap();
        std::fs::write(at.join("people.csv"), format!("id,income\n{people}")).unwrap();
        done(
            at,
            &["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"],
        );
        done(at, &["verify", "problem.toml", "proofs.jsonl"])
    };
    let cheapest = "holds and costs at most 0.0001% more than the cheapest action that holds";
    assert_eq!(verified(&limited, "ana,4\n"), format!("1 proof, verified: 1 action {cheapest}.\n"));
    assert_eq!(
        verified(&limited, "ana,4\nben,6\n"),
        format!("2 proofs, all verified: 1 action {cheapest}; 1 person is treated favourably already.\n")
    );
    let strict = limited.replace("[0, 8]", "[0, 5]");
    assert_eq!(
        verified(&strict, "ana,4\nben,3\n"),
        "2 proofs, all verified: 2 people have no action that holds.\n"
    );
    std::fs::write(at.join("problem.toml"), limited).unwrap();
    let output = surefoot(at, &["verify", "problem.toml", "proofs.jsonl"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("2 proofs, none verified: 2 are for another problem.\n"), "{said}");
}

/// No sentence has a number of ninety digits.
#[test]
fn huge_numbers_have_an_exponent() {
    let limited = PROBLEM.replace("epsilon = 0.1", "epsilon = 1e90");
    let limited = limited.replace("change =", "limits = [-1e95, 1e80]\nchange =");
    let free = limited.replace("1e80]", "1e95]");
    let folder = folder(&limited, "id,income\nana,4\nben,-2e92\n");
    let at = folder.path();
    std::fs::write(at.join("free.toml"), free).unwrap();
    std::fs::write(at.join("actions.csv"), "id,action:income\nana,1\n").unwrap();
    std::fs::write(at.join("outside.csv"), "id,income\nana,1e96\n").unwrap();
    let person = r#"{"income": 4}"#;
    for problem in ["problem.toml", "free.toml"] {
        for arguments in [
            &["validate", problem, "people.csv"][..],
            &["validate", problem, "outside.csv"],
            &["recourse", problem, "--person", person],
            &["recourse", problem, "outside.csv", "-o", "answers.csv"],
            &["theory", problem, "people.csv"],
            &["certify", problem, "people.csv", "actions.csv"],
            &["attack", problem, "people.csv", "actions.csv"],
        ] {
            let output = surefoot(at, arguments);
            let said = text(&output.stdout) + &text(&output.stderr);
            assert!(!said.contains("00000000000000000000"), "{arguments:?}: {said}");
            assert!(said.contains("e9") || said.contains("e8"), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn one_person_is_turned_down() {
    let folder = folder(PROBLEM, "id,income\nana,4\nben,6\n");
    let said = done(folder.path(), &["validate", "problem.toml", "people.csv"]);
    assert!(said.ends_with("People: 2 in people.csv, of whom 1 is turned down\n"), "{said}");
}

#[test]
fn coefficients_of_another_number_are_refused_with_the_features_in_order() {
    let wide = PROBLEM.replace("[1.0]", "[1.0, 2.0]");
    let folder = folder(&wide, "income\n1\n");
    let said = refused(folder.path(), &["validate", "problem.toml"]);
    let words = "the classifier takes 2 inputs, but there is 1 feature; give one coefficient, or one input of the \
                 network, for each feature, in this order: `income`";
    assert!(said.contains(words), "{said}");
}
