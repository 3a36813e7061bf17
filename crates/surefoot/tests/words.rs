//! Sentences with labels, units and descriptions, worked out by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use surefoot::problem::Edit;
use surefoot::recourse::{Explainer, Relaxed, Settings, Solver};
use surefoot::{
    Action, People, Problem, ProblemFile, describe, describe_action, describe_explanation,
    describe_further_uncertainty, describe_options, describe_shift, verify,
};

/// Logit: income / 1500 - 2 + 0.5 * education, with incomes from 0 to 6000 and one category more or less.
const PROBLEM: &str = r#"
epsilon = 0.1

[[feature]]
name = "income"
label = "net monthly income"
unit = "EUR {}"
mean = 3000
std = 1500
limits = [0, 6000]
change = "increase"

[[feature]]
name = "duration"
unit = ["month", "months"]
kind = "integer"
mean = 24
std = 12
limits = [1, 72]
change = "decrease"
weight = 2

[[feature]]
name = "status"
label = "your account"
categories = ["A11", "A12", "A13"]
ordered = true
describe = { A11 = "overdrawn", A13 = "well filled" }
change = "increase"
weight = 9

[[feature]]
name = "purpose"
label = "use of the loan"
categories = ["A40", "A41"]
describe = { A40 = "a new car", A41 = "a used car" }
change = "any"
weight = 9

[[feature]]
name = "abroad"
kind = "binary"
describe = { "0" = "no", "1" = "yes" }

[classifier]
coefficients = [1, -0.5, 0.5, 0, 1, 0]
intercept = -1
"#;

/// Income 2400 (-0.4), 36 months (1), A12 (1), A40, abroad.
const PERSON: [f64; 6] = [2400.0, 36.0, 1.0, 1.0, 0.0, 1.0];

fn file(text: &str) -> ProblemFile {
    ProblemFile::parse(text, Path::new("problem.toml")).unwrap()
}

fn problem(text: &str) -> Problem {
    file(text).problem().unwrap()
}

fn person(problem: &Problem) -> Vec<f64> {
    People::from_own_units(problem.features(), &[PERSON]).unwrap().individual(0).to_vec()
}

#[test]
fn an_action_speaks_of_labels_units_and_descriptions() {
    let problem = problem(PROBLEM);
    let x = person(&problem);
    let of = |features: &[usize], change: &[f64]| {
        let action = Action { features: features.to_vec(), change: change.to_vec() };
        describe_action(&problem, &x, &action).unwrap()
    };
    assert_eq!(of(&[0], &[0.8]), "Raise net monthly income by EUR 1,200 (from EUR 2,400 to EUR 3,600).");
    assert_eq!(of(&[1], &[-1.0]), "Lower duration by 12 months (from 36 months to 24 months).");
    assert_eq!(of(&[1], &[-1.0 / 12.0]), "Lower duration by 1 month (from 36 months to 35 months).");
    assert_eq!(of(&[2], &[1.0]), "Raise your account from A12 to well filled.");
    assert_eq!(of(&[3, 4], &[-1.0, 1.0]), "Change use of the loan from a new car to a used car.");
    let shift = [-0.2, 1.0, -1.0, 0.0, 0.0, 0.0];
    assert_eq!(
        describe_shift(&problem, &shift).unwrap(),
        "duration 12 months higher, your account 1 level lower and net monthly income EUR 300 lower"
    );
}

/// The logit is -0.4 - 0.5 + 0.5 - 1 = -1.4. A shift of size 0.1 costs 0.1 * sqrt(1 + 1/4 + 1/4 + 1) = 0.158.
/// So 1.558 are lacking: income, at cost 1 each, by 1.558 standard deviations, 2337.2, which is rounded up.
#[test]
fn an_answer_by_hand() {
    let problem = problem(PROBLEM);
    let x = person(&problem);
    let answers =
        surefoot::recourse(&problem, &People::from_own_units(problem.features(), &[PERSON]).unwrap());
    let answer = &answers.unwrap()[0];
    assert_eq!(
        describe(&problem, &x, answer).unwrap(),
        "Raise net monthly income by EUR 2,338 (from EUR 2,400 to EUR 4,738). This still works if circumstances \
         shift a little: net monthly income by up to EUR 150, duration by up to 1.2 months or your account by up to \
         0.1 levels, or several together by accordingly less. That is proven, as is that no cheaper allowed action would do."
    );
}

#[test]
fn options_and_explanations_speak_so_too() {
    let limited = PROBLEM.replace("limits = [0, 6000]", "limits = [0, 2500]");
    let limited = limited.replace("change = \"decrease\"", "").replace("change = \"any\"", "");
    let problem = problem(&limited);
    let x = person(&problem);
    let solver = Solver::new(&problem, Settings::default()).unwrap();
    let relaxed = Relaxed::all(&problem);
    let explanation = Explainer::new(&problem, &relaxed, Settings::default())
        .unwrap()
        .explain(&x, &solver.solve(&x).unwrap())
        .unwrap()
        .unwrap();
    let text = describe_explanation(&problem, &explanation);
    assert!(text.contains("if net monthly income could rise to EUR "), "{text}");
    assert!(text.contains(", above its limit of EUR 2,500"), "{text}");
    assert!(text.contains("if any change of use of the loan were allowed"), "{text}");
    let problem = self::problem(PROBLEM);
    let several = Solver::new(&problem, Settings::default()).unwrap().options(&x, 3).unwrap();
    let text = describe_options(&problem, &x, &several).unwrap();
    assert!(text.contains("1. Raise net monthly income by EUR 2,338"), "{text}");
}

#[test]
fn uncertainty_of_every_kind_speaks_so_too() {
    let sections = r#"
[[equation]]
feature = "duration"
formula = "10 + 0.01 * income + u"

[[uncertainty]]
of = "person"
features = "status"
exact = true
[[uncertainty]]
of = "person"
features = "income"
between = [2000, 2500]
[[uncertainty]]
of = "execution"
features = "income"
within = 100
[[uncertainty]]
of = "equation"
feature = "duration"
band = 0.1
[[uncertainty]]
of = "equation"
feature = "duration"
within = 0.1
"#;
    let one = problem(&(PROBLEM.to_owned() + &sections[..sections.rfind("[[unc").unwrap()]));
    let words = describe_further_uncertainty(&one).unwrap();
    assert_eq!(
        words,
        "It also works if the change of net monthly income is missed by up to EUR 100 and if the equation of duration is \
         wrong by up to 1.2 months, even if all of that happens together."
    );
}

#[test]
fn words_change_no_answer_and_no_proof() {
    let plain: String = PROBLEM
        .lines()
        .filter(|l| !["label", "unit", "descr"].iter().any(|w| l.starts_with(w)))
        .map(|l| l.to_owned() + "\n")
        .collect();
    let (plain, with) = (problem(&plain), problem(PROBLEM));
    let x = person(&plain);
    let proof = Solver::new(&plain, Settings::default()).unwrap().prove(&x).unwrap();
    assert!(verify(&with, &proof.saved(&plain, &x)).unwrap().is_verified());
}

#[test]
fn the_editor_writes_what_it_read() {
    let features = file(PROBLEM).features().unwrap().clone();
    let mut edit = Edit::parse("epsilon = 0\n", Path::new("problem.toml")).unwrap();
    edit.add_features(&features.iter().cloned().collect::<Vec<_>>());
    assert_eq!(file(&edit.text()).features().unwrap(), &features);
}

#[test]
fn words_that_cannot_be_are_refused_with_their_line() {
    for (line, wrong, message) in [
        (6, "label = \" \"", "line 6, feature `income`: `label` is blank"),
        (7, "unit = \"{} of {}\"", "line 7, feature `income`: the unit `{} of {}` has more than one place"),
        (7, "unit = 3", "line 7, feature `income`: `unit` is a number; it must be a text or a list of texts"),
        (7, "unit = []", "line 7, feature `income`: the unit has 0 forms"),
        (7, "describe = { \"1\" = \"one\" }", "line 7, feature `income`: only categories"),
        (
            7,
            "describe = { \"1\" = 3 }",
            "line 7, feature `income`: `describe` is a table with a number in it",
        ),
        (
            28,
            "describe = { A12 = \"x\", A99 = \"y\" }",
            "line 28, feature `status`: `describe` has `A99`, which is no category",
        ),
        (28, "unit = \"EUR {}\"", "line 28, feature `status`: categories and binary features have no unit"),
        (
            36,
            "describe = { A40 = \"x\", A41 = \"x\" }",
            "line 36, feature `purpose`: `describe` has `x` twice",
        ),
        (
            43,
            "describe = { \"2\" = \"two\" }",
            "line 43, feature `abroad`: `describe` has `2`, which is no binary value",
        ),
    ] {
        let text: String = PROBLEM
            .lines()
            .enumerate()
            .map(|(i, old)| if i + 1 == line { format!("{wrong}\n") } else { format!("{old}\n") })
            .collect();
        let found = file(&text).mistakes().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(found.contains(message), "{found}");
    }
}
