//! Limits on what is changed together: answers by hand, in problem files, in words, and in proofs that were tampered with.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use surefoot::error::{RuleError, SettingError};
use surefoot::problem::ProblemFile;
use surefoot::proof::Fingerprint;
use surefoot::recourse::{Explainer, Relaxed, Settings, Solver};
use surefoot::verify::{Fault, Verification, verify};
use surefoot::{
    Action, Activation, Budget, Change, ChangeLimits, Classifier, Complete, Cost, Error, Exact, Feature,
    Features, Layer, Network, Norm, Outcome, Problem, SavedProof, describe_explanation, essential,
    infeasibility,
};

/// Three features with coefficients 3, 2 and 1, of which an action that costs the least in l2 changes all.
fn problem(limits: impl Fn(&Features) -> ChangeLimits) -> Problem {
    let feature = |name: &str| Feature::new(name).limits(-4.0, 4.0).change(Change::Any);
    let features = Features::new(["a", "b", "c"].map(feature).to_vec()).unwrap();
    let limits = limits(&features);
    let classifier = Classifier::linear(vec![3.0, 2.0, 1.0], -6.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap().with_cost(Cost::L2);
    problem.with_change_limits(limits).unwrap()
}

fn most(number: usize) -> impl Fn(&Features) -> ChangeLimits {
    move |_| ChangeLimits::none().with_most_changes(number).unwrap()
}

fn one_of<'n>(names: &'n [&'n str]) -> impl Fn(&Features) -> ChangeLimits + 'n {
    move |features| ChangeLimits::none().with_one_of(features, names).unwrap()
}

fn by(name: &str) -> Settings {
    Settings { method: name.parse().unwrap(), ..Settings::default() }
}

fn solve(problem: &Problem, x: &[f64]) -> Outcome {
    Solver::new(problem, Settings::default()).unwrap().solve(x).unwrap()
}

/// The features that an action changes, and its changes.
fn changed(outcome: &Outcome) -> (Vec<usize>, Vec<f64>) {
    let action = outcome.advice().unwrap_or_else(|| panic!("{outcome:?}")).action;
    let changed = action.features.iter().zip(&action.change).filter(|(_, change)| **change != 0.0);
    changed.map(|(&i, &change)| (i, change)).unzip()
}

const NOBODY: [f64; 3] = [0.0; 3];

#[test]
fn the_cheapest_allowed_action_by_hand() {
    for name in ["auto", "exact", "complete", "local"] {
        let found = |problem: &Problem| Solver::new(problem, by(name)).unwrap().solve(&NOBODY).unwrap();
        let close = |outcome: &Outcome, features: &[usize], cost: f64| {
            assert_eq!(changed(outcome).0, features, "{name}");
            let found = outcome.advice().unwrap().cost;
            assert!(found >= cost - 1e-9 && found <= cost / 0.98, "{name}: {found} instead of {cost}");
        };
        // The gain of one unit of cost is the length of the vector of coefficients.
        close(&found(&problem(most(3))), &[0, 1, 2], 6.0 / 14f64.sqrt());
        close(&found(&problem(most(2))), &[0, 1], 6.0 / 13f64.sqrt());
        close(&found(&problem(most(1))), &[0], 2.0);
        close(&found(&problem(one_of(&["a", "b"]))), &[0, 2], 6.0 / 10f64.sqrt());
        close(&found(&problem(one_of(&["a", "b", "c"]))), &[0], 2.0);
        let both = |features: &Features| most(2)(features).with_one_of(features, &["a", "c"]).unwrap();
        close(&found(&problem(both)), &[0, 1], 6.0 / 13f64.sqrt());
    }
}

#[test]
fn methods_without_cases_refuse_by_name() {
    let limited = problem(most(1));
    let refused = |error: Error| match error {
        Error::Setting(SettingError::ChangeLimits { method }) => method,
        other => panic!("{other}"),
    };
    assert!(refused(Exact::new(&limited).unwrap_err()).contains("exact"));
    assert!(refused(Complete::new(&limited).unwrap_err()).contains("complete"));
    let error = Solver::new(&limited, by("descent")).unwrap_err().to_string();
    assert!(error.contains("must not be changed together") && error.contains("`auto`"), "{error}");
    let error = Solver::new(&limited, by("local")).unwrap().prove(&NOBODY).unwrap_err();
    assert!(matches!(error, Error::Setting(SettingError::NoProof { method: "local" })), "{error}");
    // What limits nothing is no limit.
    assert!(Exact::new(&problem(most(3))).is_ok());
}

/// The shortfall is that of the best action that is allowed, where two changes would be enough and where none are.
#[test]
fn impossible_answers_are_about_allowed_actions() {
    let shortfall = |problem: &Problem, x: &[f64]| match solve(problem, x) {
        Outcome::Impossible(shortfall) => shortfall,
        other => panic!("{other:?}"),
    };
    // The score is -21; the best single changes add 15, 16 and 8.
    let best = shortfall(&problem(most(1)), &[-1.0, -4.0, -4.0]);
    assert_eq!(changed_by(&best.best), [1]);
    assert!((best.missing - 5.0).abs() < 1e-9, "{best:?}");
    // All changes together add 24, and the worst shift takes nine times the length of the coefficients.
    let guarded = problem(most(1)).with_uncertainty(Norm::L2, 9.0).unwrap();
    let best = shortfall(&guarded, &NOBODY);
    assert_eq!(changed_by(&best.best), [0]);
    assert!((best.missing - (9.0 * 14f64.sqrt() + 6.0 - 12.0)).abs() < 1e-9, "{best:?}");
}

fn changed_by(action: &Action) -> Vec<usize> {
    let changed = action.features.iter().zip(&action.change).filter(|(_, change)| **change != 0.0);
    changed.map(|(&i, _)| i).collect()
}

#[test]
fn explanations_lift_limits_on_changes() {
    let x = [-4.0, -2.0, 0.0];
    let explained = |problem: &Problem| {
        let outcome = solve(problem, &x);
        assert!(matches!(outcome, Outcome::Impossible(_)), "{outcome:?}");
        let relaxed = Relaxed::all(problem);
        let explainer = Explainer::new(problem, &relaxed, Settings::default()).unwrap();
        describe_explanation(problem, &explainer.explain(&x, &outcome).unwrap().unwrap())
    };
    // The score is -22: one change is not enough, as much as a may change.
    let feature = |name: &str, upper: f64| Feature::new(name).limits(-4.0, upper).change(Change::Any);
    let features = Features::new(vec![feature("a", 2.0), feature("b", 2.0), feature("c", 2.0)]).unwrap();
    let classifier = Classifier::linear(vec![3.0, 2.0, 1.0], -6.0, 0.5).unwrap();
    let problem = |limits: ChangeLimits| {
        let problem = Problem::new(features.clone(), classifier.clone()).unwrap();
        problem.with_change_limits(limits).unwrap()
    };
    let limited = problem(most(1)(&features));
    assert_eq!(
        explained(&limited),
        "There would be one if a could rise to 3.334, above its limit of 2; if 2 things could be changed together, where \
         1 is allowed; if b could rise to 9.001, above its limit of 2; or if c could rise to 22.01, above its limit of 2. \
         This is proven."
    );
    let text = explained(&problem(one_of(&["a", "b", "c"])(&features)));
    assert!(text.contains("if a and b could be changed together"), "{text}");
}

#[test]
fn options_and_curves_keep_the_limits() {
    let limited = problem(most(2)).with_uncertainty(Norm::L2, 0.1).unwrap();
    let solver = Solver::new(&limited, Settings::default()).unwrap();
    let options = solver.options(&NOBODY, 3).unwrap();
    let sets: Vec<Vec<usize>> = options.iter().map(|option| changed(option).0).collect();
    assert_eq!(sets, [&[0, 1][..], &[0, 2], &[0]]);
    let curve = solver.trade_off(&NOBODY, Some(&[0.0, 0.5, 1.0, 9.0]), |_| {}).unwrap();
    let statuses: Vec<&str> = curve.answers.iter().map(Outcome::status).collect();
    assert_eq!(statuses, ["found", "found", "found", "impossible"]);
    assert!(curve.answers[..3].iter().all(|answer| changed(answer).0 == [0, 1]));
    // The most that two changes can add is 3 * 4 + 2 * 4 - 6, and a unit of shift takes sqrt(14).
    let most = 14.0 / 14f64.sqrt();
    let (possible, impossible) = (curve.reach.possible.unwrap(), curve.reach.impossible.unwrap());
    assert!(
        possible <= most && impossible >= most && impossible <= 1.02 * possible,
        "{possible} {impossible}"
    );
}

/// A network whose budget is spent decides nothing that is not proven, and says so; the same twice.
#[test]
fn the_budget_is_shared_by_all_cases() {
    let ones = |rows: usize, columns: usize, by: f64| {
        ndarray::Array2::from_shape_fn((rows, columns), |(i, j)| by * (1.0 + 0.1 * (i + 2 * j) as f64))
    };
    let layers = vec![
        Layer { weight: ones(5, 3, 0.4), bias: ndarray::Array1::zeros(5) },
        Layer { weight: ones(1, 5, 0.5), bias: ndarray::Array1::from_elem(1, -0.8) },
    ];
    let network = Network::new(layers, Activation::Tanh).unwrap();
    let limited = problem(most(1));
    let problem =
        Problem::new(limited.features().clone(), Classifier::network(network, 0.5).unwrap()).unwrap();
    let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
    let problem = problem.with_change_limits(limited.change_limits().clone()).unwrap();
    for evaluations in [1, 10, 100, 1000, 20_000] {
        let settings = Settings { budget: Budget { evaluations }, ..Settings::default() };
        let solver = Solver::new(&problem, settings).unwrap();
        let proof = solver.prove(&NOBODY).unwrap();
        assert_eq!(proof, solver.prove(&NOBODY).unwrap());
        assert!(proof.evaluations <= 5 * evaluations + 4000, "{evaluations}: {}", proof.evaluations);
        assert!(verify(&problem, &proof.saved(&problem, &NOBODY)).unwrap().is_verified());
        match &proof.outcome {
            Outcome::Found(found) => assert_eq!(changed_by(&found.action).len(), 1),
            Outcome::Undecided(_) => assert!(evaluations < 20_000),
            other => panic!("{other:?}"),
        }
    }
}

const FILE: &str = r#"
epsilon = 0
most_changes = 2

[[feature]]
name = "income"
change = "any"

[[feature]]
name = "clerk"
group = "job"
change = "any"

[[feature]]
name = "cook"
group = "job"
change = "any"

[[feature]]
name = "debt"
change = "any"

[[one_of]]
features = ["income", "job"]

[classifier]
coefficients = [1.0, 0.1, 0.2, -1.0]
intercept = -1.0
"#;

#[test]
fn problem_files_state_what_may_change_together() {
    let read = |text: &str| ProblemFile::parse(text, Path::new("problem.toml")).unwrap();
    let problem = read(FILE).problem().unwrap();
    assert_eq!(problem.change_limits().most_changes(), Some(2));
    assert_eq!(problem.change_limits().one_of(), [[0, 1]]);
    let why = |features: &[usize], change: &[f64]| {
        let action = Action { features: features.to_vec(), change: change.to_vec() };
        infeasibility(&problem, &[0.0, 1.0, 0.0, 0.0], &action).unwrap().map(|why| why.to_string())
    };
    assert_eq!(why(&[0, 3], &[1.0, -1.0]), None);
    assert_eq!(why(&[1, 2, 3], &[-1.0, 1.0, -1.0]), None);
    assert_eq!(why(&[0, 1, 2], &[1.0, -1.0, 1.0]).unwrap(), "only one of income, job may be changed");
    assert_eq!(
        why(&[0, 1, 2, 3], &[1.0, -1.0, 1.0, -1.0]).unwrap(),
        "3 things would be changed or held (income, job, debt), and 2 at most may be; only one of income, job may be \
         changed"
    );
    let mistakes = |from: &str, to: &str| {
        assert!(FILE.contains(from));
        let mistakes = read(&FILE.replacen(from, to, 1)).mistakes();
        mistakes.iter().map(|mistake| format!("{mistake}\n")).collect::<String>()
    };
    for (from, to, message) in [
        ("most_changes = 2", "most_changes = 0", "line 3: at most 0 changes leave no action"),
        (
            "most_changes = 2",
            "most_changes = 1.5",
            "line 3: `most_changes` is 1.5; it must be a whole number",
        ),
        (
            "[\"income\", \"job\"]",
            "[\"income\", \"wage\"]",
            "line 24, list 1 of which one may change: `wage` is no feature",
        ),
        ("[\"income\", \"job\"]", "[\"clerk\", \"cook\"]", "name at least two different features or groups"),
        ("features = [\"income\", \"job\"]", "", "`features` is missing"),
    ] {
        let found = mistakes(from, to);
        assert!(found.contains(message), "{found}instead of {message}");
    }
    let digest = |text: &str| Fingerprint::of(&read(text).problem().unwrap()).rules;
    assert_ne!(digest(FILE), digest(&FILE.replace("most_changes = 2", "most_changes = 3")));
    assert_ne!(digest(FILE), digest(&FILE.replace("[\"income\", \"job\"]", "[\"income\", \"debt\"]")));
}

#[test]
fn tampered_cases_are_refused() {
    let limited = problem(most(2)).with_uncertainty(Norm::L2, 0.2).unwrap();
    let proof = Solver::new(&limited, Settings::default()).unwrap().prove(&NOBODY).unwrap();
    let saved = SavedProof::from_json(&proof.to_json(&limited, &NOBODY)).unwrap();
    assert_eq!(saved, proof.saved(&limited, &NOBODY));
    assert!(verify(&limited, &saved).unwrap().is_verified());
    assert!(saved.cases.len() > 1, "{:?}", saved.cases);
    let verdict = |change: &dyn Fn(&mut SavedProof)| {
        let mut other = saved.clone();
        change(&mut other);
        verify(&limited, &other).unwrap()
    };
    let incomplete =
        |verdict: &Verification| matches!(verdict, Verification::Wrong(Fault::CasesIncomplete { .. }));
    for k in 0..saved.cases.len() {
        let dropped = verdict(&|proof| drop(proof.cases.remove(k)));
        assert!(incomplete(&dropped), "{dropped:?}");
        // A case that fixes more contains less.
        let narrower = verdict(&|proof| proof.cases[k].fixed = vec![0, 1, 2]);
        assert!(incomplete(&narrower), "{narrower:?}");
        // One that fixes less has more actions than were ruled out.
        let wider = verdict(&|proof| proof.cases[k].fixed.clear());
        assert!(matches!(wider, Verification::Wrong(Fault::ActionsNotCovered { .. })), "{wider:?}");
        let empty = verdict(&|proof| proof.cases[k].ruled_out.clear());
        assert!(matches!(empty, Verification::Wrong(Fault::ActionsNotCovered { .. })), "{empty:?}");
    }
    let none = verdict(&|proof| proof.cases.clear());
    assert!(matches!(none, Verification::Wrong(Fault::ActionsNotCovered { .. })), "{none:?}");
    // The answer to the problem without limits changes three things.
    let free = problem(most(3)).with_uncertainty(Norm::L2, 0.2).unwrap();
    let proof = Solver::new(&free, Settings::default()).unwrap().prove(&NOBODY).unwrap();
    let verdict = verify(&limited, &proof.saved(&limited, &NOBODY)).unwrap();
    assert!(matches!(verdict, Verification::Wrong(Fault::Together { .. })), "{verdict:?}");
    let outside = saved.cases[0].clone();
    let mut other = saved.clone();
    other.cases.push(surefoot::proof::Case { fixed: vec![7], ..outside });
    assert!(verify(&limited, &other).is_err());
}

/// An action that is found changes few things, also where the method names every feature that it leaves as it is.
#[test]
fn features_that_are_left_as_they_are_do_not_count() {
    let outcome = solve(&problem(most(1)), &NOBODY);
    let found = outcome.recourse().unwrap();
    assert_eq!(essential(&problem(most(1)), &found.action).features, [0]);
    let refused = ChangeLimits::none().with_most_changes(0).unwrap_err();
    assert!(matches!(refused, Error::Rule(RuleError::NoChanges)));
}
