//! What commands say agrees: attacks with proofs, and both with the definition.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::path::Path;

use command::{finding, refused, surefoot, text};

const TWO_FEATURES: &str = r#"epsilon = 0.1
[[feature]]
name = "a"
change = "increase"
[[feature]]
name = "b"
change = "increase"
[classifier]
coefficients = [1.0, 1.0]
intercept = -1
"#;

/// Nine people whose actions end on the decision boundary or just beyond.
#[test]
fn actions_that_end_on_the_boundary_are_reported_as_broken() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let beyond = [0.0, 1e-12, 1e-10, 5e-10, 1e-9, 2e-9, 5e-9, 1e-8, 1e-7];
    let people: String = (0..beyond.len()).map(|i| format!("p{i},0,0\n")).collect();
    let actions: String =
        beyond.iter().enumerate().map(|(i, beyond)| format!("p{i},{}\n", 1.0 + beyond)).collect();
    std::fs::write(at.join("problem.toml"), TWO_FEATURES).unwrap();
    std::fs::write(at.join("people.csv"), format!("id,a,b\n{people}")).unwrap();
    std::fs::write(at.join("actions.csv"), format!("id,action:a\n{actions}")).unwrap();
    let run =
        surefoot(at, &["attack", "problem.toml", "people.csv", "actions.csv", "--output", "breaks.csv"]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    assert!(said.contains("9 actions: 9 are broken by a shift of up to 0.1.\n"), "{said}");
    let breaks = std::fs::read_to_string(at.join("breaks.csv")).unwrap();
    for (line, beyond) in breaks.lines().skip(1).zip(beyond) {
        let cells: Vec<&str> = line.split(',').collect();
        let (size, margin): (f64, f64) = (cells[2].parse().unwrap(), cells[3].parse().unwrap());
        assert!(cells[1] == "true" && margin < 0.0, "{line}");
        // The nearest point of the boundary, up to rounding.
        let nearest = beyond / 2f64.sqrt();
        assert!(size >= 0.0 && (size - nearest).abs() < 1e-12 + 1e-4 * nearest, "{line}");
    }
    // Where nothing may shift the boundary is on the favourable side.
    std::fs::write(at.join("problem.toml"), TWO_FEATURES.replace("epsilon = 0.1", "epsilon = 0")).unwrap();
    let run = surefoot(at, &["attack", "problem.toml", "people.csv", "actions.csv"]);
    assert!(text(&run.stdout).contains("9 actions: 0 are broken"), "{}", text(&run.stdout));
}

/// Networks whose breaks fill a large part of the ball, found by `certify`.
#[test]
#[cfg_attr(without_findings, ignore = "the findings are missing")]
fn breaks_that_fill_much_of_the_ball_are_reported() {
    for case in ["1249", "7063", "7066"] {
        let folder = finding(&format!("attack_misses/{case}"));
        let run = |command: &str| {
            let run = surefoot(Path::new(&folder), &[command, "problem.toml", "people.csv", "actions.csv"]);
            assert_eq!(run.status.code(), Some(1), "{case}: {}", text(&run.stderr));
            text(&run.stdout)
        };
        assert!(run("certify").contains(" 1 does not"), "{case}");
        let said = run("attack");
        assert!(said.contains("1 action: 1 is broken"), "{case}: {said}");
    }
}

/// Costs and changes that overflow are refused with the name of the feature and the remedy.
#[test]
fn magnitudes_that_overflow_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("people.csv"), "x\n0\n").unwrap();
    let problem = |feature: &str, coefficient: &str, intercept: &str| {
        format!(
            "epsilon = 0.1\n[[feature]]\nname = \"x\"\nchange = \"any\"\n{feature}\n[classifier]\n\
             coefficients = [{coefficient}]\nintercept = {intercept}\n"
        )
    };
    for (file, wanted) in [
        (problem("weight = 4e299", "0.77", "-1"), ["`x`", "cost weight", "between 1e-100 and 1e100"]),
        (problem("std = 1e200", "1e-150", "-1"), ["`x`", "standard deviation", "choose another unit"]),
        (problem("", "0.77", "-9e208"), ["classifier", "-9", "no larger than 1e100"]),
    ] {
        std::fs::write(at.join("problem.toml"), file).unwrap();
        let said = refused(at, &["recourse", "problem.toml", "people.csv", "-o", "answers.csv"]);
        assert!(wanted.iter().all(|words| said.contains(words)), "{said}");
        assert!(!at.join("answers.csv").exists());
    }
}
