//! The demo, run as a newcomer would.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn surefoot(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surefoot")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The numbers in the row of the table that starts with this name.
fn row(text: &str, name: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.contains(&format!("│ {name} "))).unwrap();
    line.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn standard_actions_break_and_robust_ones_hold() {
    let start = Instant::now();
    let output = surefoot(&["demo"]);
    // Less than a second when built for release; tests are built otherwise and share the machine.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "progress is for terminals");
    let text = stdout(&output);
    let [found, asked, _, _, _, cost, holding, of] = row(&text, "linear: standard")[..] else {
        panic!("{text}")
    };
    let [
        robust_found,
        robust_asked,
        certified,
        impossible,
        undecided,
        robust_cost,
        robust_holding,
        robust_of,
    ] = row(&text, "linear: robust")[..]
    else {
        panic!("{text}")
    };
    assert_eq!((certified, undecided), (robust_found, 0.0));
    assert!(asked > 300.0 && asked == robust_asked && found > 0.9 * asked);
    // By Theorem 1 not one standard action holds; by proof every robust one does.
    assert_eq!((holding, of), (0.0, found));
    assert_eq!((robust_holding, robust_of), (robust_found, robust_found));
    assert_eq!(robust_found + impossible, robust_asked);
    assert!(robust_cost > cost);
    // Of Algorithm 1's standard actions hardly one withstands the attack, of its robust ones most.
    let [found, _, cost, holding, _] = row(&text, "network: standard")[..] else { panic!("{text}") };
    let [robust_found, _, robust_cost, robust_holding, _] = row(&text, "network: robust")[..] else {
        panic!("{text}")
    };
    assert!(
        found > 30.0 && holding < 0.2 * found && robust_holding > 0.7 * robust_found && robust_cost > cost,
        "{text}"
    );
    // Whatever is certified withstands it.
    let [found, asked, certified, impossible, undecided, _, holding, _] =
        row(&text, "network: certified")[..]
    else {
        panic!("{text}")
    };
    assert!(found == certified && holding == found && found >= robust_holding, "{text}");
    assert!(certified + impossible + undecided == asked && undecided <= 0.05 * asked, "{text}");
    // For trees, standard actions are at thresholds, and worst cases are exact.
    let [found, _, certified, _, undecided, cost, holding, _] = row(&text, "trees: standard")[..] else {
        panic!("{text}")
    };
    assert!(found == certified && found > 100.0 && undecided == 0.0 && holding == 0.0, "{text}");
    let [found, _, certified, _, undecided, robust_cost, holding, _] = row(&text, "trees: certified")[..]
    else {
        panic!("{text}")
    };
    assert!(found == certified && found > 100.0 && undecided == 0.0 && holding == found, "{text}");
    assert!(robust_cost > cost, "{text}");
    for words in [
        "One of them: gender",
        "amount of the loan EUR ",
        " months, ",
        "Standard recourse: Raise",
        "It breaks with",
        "This still works if",
        "The letter to this applicant:",
        "Reference: ",
        "Your application was turned down.",
        "It is proven that the decision will be favourable",
    ] {
        assert!(text.replace('\n', " ").contains(words), "{words}: {text}");
    }
}

#[test]
fn the_same_seed_gives_the_same_output() {
    let of = |seed: &str| stdout(&surefoot(&["demo", "--seed", seed, "--people", "200"]));
    assert_eq!(of("5"), of("5"));
    assert_ne!(of("5"), of("6"));
}

#[test]
fn without_uncertainty_everything_holds_and_costs_the_same() {
    let text = stdout(&surefoot(&["demo", "--epsilon", "0"]));
    assert_eq!(row(&text, "linear: standard"), row(&text, "linear: robust"));
    assert_eq!(row(&text, "network: standard"), row(&text, "network: robust"));
    let numbers = row(&text, "linear: standard");
    assert_eq!(numbers[6], numbers[7]);
    assert!(!text.contains("breaks"), "{text}");
}

#[test]
fn bad_options_are_refused_with_exit_code_2() {
    for (arguments, word) in [
        (["demo", "--epsilon", "-1"], "epsilon"),
        (["demo", "--epsilon", "nan"], "epsilon"),
        (["demo", "--people", "3"], "--people"),
        (["demo", "--people", "many"], "--people"),
        (["demo", "--people", "18446744073709551615"], "--people"),
    ] {
        let output = surefoot(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(word) && output.stdout.is_empty(), "{message}");
    }
}
