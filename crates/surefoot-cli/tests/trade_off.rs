//! `surefoot trade-off` and what `recourse` says where there is no action, run as people run them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::time::Instant;

use command::{INCOME_AND_AGE, done, finding, folder_with, refused};

const PERSON: &str = r#"{"income": 2400, "age": 40}"#;

/// Income may rise to 4500 at most.
fn problem_text() -> String {
    let limited =
        INCOME_AND_AGE.replace("change = \"increase\"", "limits = [0, 4500]\nchange = \"increase\"");
    format!("epsilon = 1.5\n{limited}")
}

fn folder() -> tempfile::TempDir {
    folder_with(&[("problem.toml", &problem_text())])
}

/// Arguments are refused before anything is searched for or written.
#[test]
fn arguments_are_checked_first() {
    let folder = folder();
    let at = folder.path();
    let ask = |more: &[&str], words: &[&str]| {
        let said = refused(at, &[&["trade-off", "problem.toml", "--person", PERSON][..], more].concat());
        assert!(words.iter().all(|word| said.contains(word)), "{more:?}: {said}");
    };
    ask(&["--epsilons=0.1,-0.2"], &["--epsilons -0.2", "not negative"]);
    ask(&["--epsilons=nan"], &["--epsilons NaN"]);
    ask(&["--gap=1"], &["--gap 1", "less than 1"]);
    ask(&["--evaluations=0"], &["--evaluations 0", "at least 1"]);
    ask(&["--plot=curve.pdf"], &["--plot curve.pdf", ".svg or .png"]);
    ask(&["--plot=none/curve.svg"], &["none/curve.svg", "folder"]);
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 1);
}

#[test]
fn costs_rise_and_the_largest_size_is_enclosed() {
    let folder = folder();
    let ask = |more: &[&str]| {
        done(folder.path(), &[&["trade-off", "problem.toml", "--person", PERSON][..], more].concat())
    };
    let said = ask(&["--epsilons", "0.5,0,1.5", "--gap", "0.05", "--evaluations", "500"]);
    assert!(said.contains("proven: none holds") && said.contains("0.400"), "{said}");
    // The most that income may rise leaves 1, and shifts lower it by up to sqrt(1.25) for each unit.
    let size = |after: &str| -> f64 {
        let rest = said.split_once(after).unwrap().1;
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let exact = 1.0 / 1.25f64.sqrt();
    let (possible, impossible) = (size("shifts of up to "), size("and none for "));
    assert!(possible <= exact && impossible >= exact && impossible - possible < 0.01, "{said}");
    let said = ask(&["--plot", "curve.svg"]);
    assert_eq!(said.matches("Raise income").count(), 12, "{said}");
    assert!(std::fs::read_to_string(folder.path().join("curve.svg")).unwrap().contains("certified"));
}

/// Whoever has no action is told what stands in the way, alone and in a table.
#[test]
fn impossible_says_what_stands_in_the_way() {
    let folder = folder();
    let at = folder.path();
    let told = "There is no feasible action that would still work if circumstances shift by as much as is guarded against. There is one \
                for shifts of up to 0.8944 standard deviations (1.5 was asked for), and none for 0.8945 or more. \
                There would be one if income could rise to 5516, above its limit of 4500, or if age could be \
                changed. All of this is proven.";
    assert_eq!(done(at, &["recourse", "problem.toml", "--person", PERSON]), format!("{told}\n"));
    std::fs::write(at.join("people.csv"), "income,age\n2400,40\n").unwrap();
    done(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv"]);
    let answers = std::fs::read_to_string(at.join("answers.csv")).unwrap();
    assert!(answers.contains(told), "{answers}");
    // Without uncertainty, and with an income that may not rise enough.
    let strict = problem_text().replace("epsilon = 1.5", "epsilon = 0").replace("4500", "2700");
    std::fs::write(at.join("problem.toml"), strict).unwrap();
    assert_eq!(
        done(at, &["recourse", "problem.toml", "--person", PERSON]),
        "There is no feasible action that leads to a favourable decision. There would be one if income could \
         rise to 3000.1, above its limit of 2700, or if age could be changed. This is proven.\n"
    );
}

/// `certify` proves that an action holds that the search does not find: nothing is said against it.
#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn what_could_not_be_decided_is_not_called_impossible() {
    let at = finding("tradeoff_false_impossible");
    let said = done(&at, &["certify", "p.toml", "x.csv", "act.csv"]);
    assert!(said.contains("1 is proven to hold"), "{said}");
    let person = r#"{"x0":0,"x1":0,"x2":0,"x3":0,"x4":0,"x5":0,"x6":0,"x7":0}"#;
    let said = done(&at, &["trade-off", "p.toml", "--person", person, "--evaluations", "2000"]);
    assert!(!said.contains("There is no action") && !said.contains("none holds"), "{said}");
    assert!(said.contains("decided") || said.contains("There is an action"), "{said}");
}

/// A curve takes seconds, and fewer evaluations take less time.
#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn the_work_of_a_curve_is_bounded() {
    let at = finding("tradeoff_slow");
    let person = std::fs::read_to_string(at.join("per.json")).unwrap();
    let start = Instant::now();
    let curve = ["trade-off", "problem.toml", "--person", person.trim(), "--epsilons", "0.2"];
    let said = done(&at, &[&curve[..], &["--evaluations", "1000"]].concat());
    assert!(said.contains("0.2000"), "{said}");
    // Without a limit it took 40 seconds; this is some hundred times less work.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
