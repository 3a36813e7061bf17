//! Categories with an order of which the model takes a column each: they may only go up, or only down.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::recourse::{Settings, Solver};
use surefoot::{Action, Outcome, People, Problem, ProblemFile, describe, infeasibility, verify};
use surefoot_random::{one, uniform};

const LEVELS: [&str; 4] = ["none", "basic", "degree", "doctorate"];

fn text(coefficients: &[f64], change: &str) -> String {
    format!(
        r#"
epsilon = 0.1
classifier = {{ coefficients = {coefficients:?}, intercept = -1.0 }}

[[feature]]
name = "income"
change = "increase"
weight = 3

[[feature]]
name = "education"
label = "your education"
categories = {LEVELS:?}
ordered = true
one_hot = true
change = "{change}"
describe = {{ degree = "a degree" }}
"#
    )
}

fn problem(coefficients: &[f64], change: &str) -> Problem {
    ProblemFile::parse(&text(coefficients, change), Path::new("problem.toml")).unwrap().problem().unwrap()
}

fn person(problem: &Problem, income: f64, level: usize) -> Vec<f64> {
    let mut row = vec![income, 0.0, 0.0, 0.0, 0.0];
    row[level + 1] = 1.0;
    People::from_own_units(problem.features(), &[row]).unwrap().individual(0).to_vec()
}

/// Every category that is allowed, and for each the least income: the margin is the score less 0.1 times the length of
/// the weights. A move costs 2, a unit of income 3.
#[test]
fn the_cheapest_move_is_that_of_brute_force() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut moves, mut steps) = (0, [0; 3]);
    for case in 0..200 {
        let mut weights = uniform(&mut random, 5, -2.0..2.0);
        weights[0] = weights[0].abs().max(0.1);
        let change = one(&mut random, &["increase", "decrease", "any"]);
        let problem = problem(&weights, change);
        let (income, level) = (random.random_range(-2.0..1.0), random.random_range(0..4));
        let x = person(&problem, income, level);
        let proof = Solver::new(&problem, Settings::default()).unwrap().prove(&x).unwrap();
        assert!(verify(&problem, &proof.saved(&problem, &x)).unwrap().is_verified(), "case {case}");
        let worst = 0.1 * weights.iter().map(|w| w * w).sum::<f64>().sqrt() + problem.safety();
        let score = |level: usize| weights[0] * income + weights[level + 1] - 1.0;
        let allowed = |to: usize| match change {
            "increase" => to >= level,
            "decrease" => to <= level,
            _ => true,
        };
        let cost = |to: usize| {
            let move_cost = if to == level { 0.0 } else { 2.0 };
            move_cost + 3.0 * ((worst - score(to)) / weights[0]).max(0.0)
        };
        let least = (0..4).filter(|&to| allowed(to)).map(cost).fold(f64::INFINITY, f64::min);
        match &proof.outcome {
            Outcome::AlreadyFavourable => assert!(score(level) >= 0.0),
            Outcome::Found(found) => {
                assert!(
                    (found.cost - least).abs() < 1e-6 * (1.0 + least),
                    "case {case}: {} {least}",
                    found.cost
                );
                let to = (0..4).find(|&k| found.counterfactual[k + 1] == 1.0).unwrap();
                assert!(allowed(to), "case {case}");
                moves += usize::from(to != level);
                steps[["increase", "decrease", "any"].iter().position(|c| *c == change).unwrap()] += 1;
            }
            other => panic!("case {case}: {other:?}"),
        }
    }
    assert!(moves > 20 && steps.iter().all(|&count| count > 20), "{moves} {steps:?}");
}

#[test]
fn words_and_actions_from_elsewhere_keep_to_the_order() {
    let problem = problem(&[0.1, -2.0, 0.0, 2.0, 0.5], "increase");
    let x = person(&problem, 0.0, 1);
    let answer = Solver::new(&problem, Settings::default()).unwrap().solve(&x).unwrap();
    let text = describe(&problem, &x, &answer).unwrap();
    assert!(text.starts_with("Change your education from basic to a degree."), "{text}");
    let to = |level: usize| Action { features: vec![2, level + 1], change: vec![-1.0, 1.0] };
    let action = Action { features: vec![1, 2], change: vec![1.0, -1.0] };
    let why = infeasibility(&problem, &x, &action).unwrap().unwrap();
    assert_eq!(why.to_string(), "`education` may not go from `basic` to `none`");
    assert_eq!(infeasibility(&problem, &x, &to(3)).unwrap(), None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let weights = [0.1, -2.0, 0.0, 2.0, 3.0];
    for (from, to, message) in [
        ("ordered = true\n", "", "`ordered` is missing; categories without an order"),
        ("one_hot = true", "one_hot = 1", "`one_hot` is a number; it must be true or false"),
        ("one_hot = true", "one_hot = true\nlimits = [0, 1]", "`one_hot` and `limits` cannot stand together"),
        ("one_hot = true", "one_hot = false", "the classifier"),
    ] {
        let text = text(&weights, "increase").replace(from, to);
        let file = ProblemFile::parse(&text, Path::new("problem.toml")).unwrap();
        let found: Vec<String> = file.mistakes().iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|found| found.contains(message)), "{from}: {found:?}");
    }
}
