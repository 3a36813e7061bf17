//! Models that XGBoost, LightGBM, CatBoost, scikit-learn and skl2onnx wrote (`tests/ecosystem/make_tree_fixtures.py`),
//! and what these programs say of rows at thresholds, beside them, and with missing values.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use surefoot::attack::{CarliniWagner, DeepFool, FastGradient, ProjectedGradient};
use surefoot::outcome::Shortfall;
use surefoot::recourse::{Settings, Solver};
use surefoot::{
    Action, Attack, Budget, Change, Classifier, Ensemble, Feature, Features, Interval, Outcome, People,
    Problem, ProblemFile, Verdict, certify, describe, smallest_break, verify,
};

const FILES: [&str; 13] = [
    "xgboost.json",
    "xgboost.ubj",
    "lightgbm.txt",
    "catboost.json",
    "catboost-lossguide.json",
    "sklearn-tree.json",
    "sklearn-forest.json",
    "sklearn-boosting.json",
    "sklearn-histogram.json",
    "sklearn-ada.json",
    "onnx-forest.onnx",
    "onnx-boosting.onnx",
    "onnx-scaled.onnx",
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(name)
}

struct Expected {
    rows: Vec<Vec<f64>>,
    favourable: Vec<bool>,
    sums: Option<Vec<f64>>,
}

fn expected(name: &str) -> Expected {
    let text = fs::read_to_string(path(&format!("{name}.expected"))).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    Expected {
        rows: list(&document["rows"]).iter().map(|row| list(row).iter().map(number).collect()).collect(),
        favourable: list(&document["favourable"]).iter().map(|value| value.as_bool().unwrap()).collect(),
        sums: document["sums"].as_array().map(|sums| sums.iter().map(number).collect()),
    }
}

/// Features of unit scale, or of another one.
fn features(scale: f64) -> Features {
    let feature = |name: &str| Feature::new(name).scaling(0.3 * (scale - 1.0), scale).change(Change::Any);
    Features::new(["a", "b", "c"].map(feature).to_vec()).unwrap()
}

#[test]
fn decisions_and_sums_are_those_of_the_programs() {
    for name in FILES.iter().filter(|name| !name.contains("scaled")) {
        let expected = expected(name);
        let (ensemble, least) = Ensemble::read(path(name)).unwrap().least_favourable(0.5).unwrap();
        for (row, &favourable) in expected.rows.iter().zip(&expected.favourable) {
            assert_eq!(ensemble.sum(row) - least >= 0.0, favourable, "{name}: {row:?}");
        }
        for (row, sum) in expected.rows.iter().zip(expected.sums.iter().flatten()) {
            assert!(
                (ensemble.sum(row) - sum).abs() <= 1e-15 * sum.abs(),
                "{name}: {} {sum}",
                ensemble.sum(row)
            );
        }
    }
}

#[test]
fn decisions_are_the_same_in_standardised_units() {
    for name in FILES {
        for scale in [1.0, 2.0] {
            let (features, expected) = (features(scale), expected(name));
            let ensemble = Ensemble::read(path(name)).unwrap().over(&features, false).unwrap();
            let classifier = Classifier::trees(ensemble, 0.5).unwrap();
            for (row, &favourable) in expected.rows.iter().zip(&expected.favourable) {
                if row.iter().any(|value| value.is_nan()) {
                    continue;
                }
                let individual: Vec<f64> = (0..3).map(|i| features.standardise(i, row[i])).collect();
                // Neighbours may be the same number in standardised units.
                let is_same = |i: usize| {
                    [row[i].next_down(), row[i].next_up()]
                        .iter()
                        .any(|&x| features.standardise(i, x) == individual[i])
                };
                if !(0..3).any(is_same) {
                    assert_eq!(classifier.score(&individual) >= 0.0, favourable, "{name}, {scale}: {row:?}");
                }
            }
        }
    }
}

#[test]
fn ranges_contain_the_sums_of_boxes() {
    for name in FILES {
        let (ensemble, rows) = (Ensemble::read(path(name)).unwrap(), expected(name).rows);
        let rows: Vec<&Vec<f64>> = rows.iter().filter(|row| row.iter().all(|x| x.is_finite())).collect();
        for pair in rows.windows(2) {
            let side =
                |i: usize| Interval { lower: pair[0][i].min(pair[1][i]), upper: pair[0][i].max(pair[1][i]) };
            let range = ensemble.range(&[side(0), side(1), side(2)]);
            let middle: Vec<f64> = (0..3).map(|i| 0.5 * (side(i).lower + side(i).upper)).collect();
            for row in [pair[0], pair[1], &middle] {
                assert!(range.contains(ensemble.sum(row)), "{name}: {row:?}");
            }
            let point = ensemble.range(&std::array::from_fn::<_, 3, _>(|i| Interval::point(middle[i])));
            assert!(point.upper - point.lower <= 4.0 * ensemble.rounding(), "{name}");
        }
    }
}

fn problem(name: &str, text: &str) -> ProblemFile {
    let entries: String = ["a", "b", "c"]
        .map(|name| format!("[[feature]]\nname = \"{name}\"\nchange = \"any\"\nstd = 2.0\n"))
        .concat();
    let text = format!("epsilon = 0.1\n{entries}[classifier]\ntrees = \"{name}\"\n{text}");
    ProblemFile::parse(&text, &path("problem.toml")).unwrap()
}

#[test]
fn problem_files_name_trees() {
    for name in FILES {
        let file = problem(name, "");
        let problem = file.problem().unwrap();
        let (expected, features) = (expected(name), problem.features());
        let row = &expected.rows[0];
        let people = People::from_own_units(features, &[row]).unwrap();
        assert_eq!(problem.classifier().score(people.individual(0)) >= 0.0, expected.favourable[0], "{name}");
        assert_eq!(file.named_files(), [PathBuf::from(name)]);
        let summary = file.classifier_entry().unwrap().summary(features, file.folder());
        assert!(summary.contains("tree") && summary.ends_with("(own units)"), "{summary}");
        // Standardised inputs are taken as they are.
        let standardised = self::problem(name, "inputs = \"standardised\"").problem().unwrap();
        if !name.contains("scaled") {
            assert_eq!(standardised.classifier().score(row) >= 0.0, expected.favourable[0], "{name}");
        }
    }
    let threshold = problem("xgboost.json", "threshold = 0.8").problem().unwrap();
    assert!((threshold.classifier().offset() - 4f64.ln()).abs() < 1e-6);
    let missing = problem("none.json", "").problem().unwrap_err().to_string();
    assert!(missing.contains("none.json: cannot be read"), "{missing}");
}

/// Every format goes through the search, and its proofs through the checker.
#[test]
fn every_format_is_answered() {
    for name in FILES {
        let problem: Problem = problem(name, "").problem().unwrap();
        let rows: Vec<Vec<f64>> = expected(name)
            .rows
            .into_iter()
            .filter(|row| row.iter().all(|x| x.is_finite()))
            .take(12)
            .collect();
        let people = People::from_own_units(problem.features(), &rows).unwrap();
        let solver = Solver::new(&problem, Settings::default()).unwrap();
        for x in people.iter() {
            let proof = solver.prove(x).unwrap();
            let verified = verify(&problem, &proof.saved(&problem, x)).unwrap();
            assert!(verified.is_verified(), "{name}: {verified:?}");
            if let Some(found) = proof.outcome.recourse() {
                let verdict = certify(&problem, x, &found.action, Budget::default()).unwrap().verdict;
                assert!(matches!(verdict, Verdict::Holds { .. }), "{name}: {verdict:?}");
            }
        }
    }
}

#[test]
fn equal_trees_are_equal_classifiers() {
    let classifier = |name: &str, threshold: f64| {
        let ensemble = Ensemble::read(path(name)).unwrap().over(&features(1.0), false).unwrap();
        Classifier::trees(ensemble, threshold).unwrap()
    };
    assert_eq!(classifier("xgboost.json", 0.5), classifier("xgboost.ubj", 0.5));
    assert_ne!(classifier("xgboost.json", 0.5), classifier("xgboost.json", 0.6));
    assert_ne!(classifier("xgboost.json", 0.5), classifier("lightgbm.txt", 0.5));
}

/// Every prefix of a file, and every file with one byte replaced, is read or refused without a panic.
#[test]
fn malformed_files_are_refused() {
    for name in FILES {
        let bytes = fs::read(path(name)).unwrap();
        for end in (0..bytes.len()).step_by(7) {
            // Whatever is read has trees.
            if let Ok(ensemble) = Ensemble::from_bytes(&bytes[..end]) {
                assert!(ensemble.trees() > 0, "{name} to byte {end}");
            }
        }
        for at in (0..bytes.len()).step_by(11) {
            for replaced in [0, b'9', b'-', 0xff] {
                let mut changed = bytes.clone();
                changed[at] = replaced;
                if let Ok(ensemble) = Ensemble::from_bytes(&changed) {
                    let sum = ensemble.sum(&vec![0.5; ensemble.inputs()]);
                    assert!(
                        ensemble.range(&vec![Interval::point(0.5); ensemble.inputs()]).contains(sum),
                        "{name}"
                    );
                }
            }
        }
    }
}

/// Attacks and methods that cannot answer for trees are refused by name, with a remedy that is one.
#[test]
fn what_cannot_answer_for_trees_is_refused_by_name() {
    let problem = problem("xgboost.json", "").problem().unwrap();
    let rows = expected("xgboost.json").rows;
    let rows: Vec<Vec<f64>> =
        rows.into_iter().filter(|row| row.iter().all(|x| x.is_finite())).take(1).collect();
    let people = People::from_own_units(problem.features(), &rows).unwrap();
    let action = [Action { features: vec![0], change: vec![0.1] }];
    let refused = [
        ("fast_gradient", FastGradient.attack(&problem, &people, &action)),
        ("deepfool", DeepFool::default().attack(&problem, &people, &action)),
        ("carlini_wagner", CarliniWagner::default().attack(&problem, &people, &action)),
    ];
    for (name, result) in refused {
        let said = result.unwrap_err().to_string();
        assert!(said.contains(&format!("the attack `{name}` follows gradients")), "{said}");
        assert!(said.contains("choose `smallest`"), "{said}");
    }
    assert_eq!(smallest_break(&problem, &people, &action).unwrap().len(), 1);
    assert_eq!(ProjectedGradient::default().attack(&problem, &people, &action).unwrap().len(), 1);
    for (name, words) in [("descent", "tree ensembles have none"), ("exact", "needs a linear classifier")] {
        let settings = Settings { method: name.parse().unwrap(), ..Settings::default() };
        let said = Solver::new(&problem, settings).unwrap_err().to_string();
        assert!(said.contains(words) && said.contains("choose the method `auto`"), "{said}");
    }
}

/// What a proof guards against is called little only if it is.
#[test]
fn shifts_are_called_little_only_if_they_are() {
    let problem = problem("xgboost.json", "").problem().unwrap();
    for (epsilon, is_little) in [(0.1, true), (50.0, false)] {
        let problem = problem.clone().with_epsilon(epsilon).unwrap();
        let impossible = Outcome::Impossible(Shortfall {
            best: Action { features: Vec::new(), change: Vec::new() },
            missing: 1.0,
        });
        let said = describe(&problem, &[0.0; 3], &impossible).unwrap();
        assert_eq!(said.contains("shift a little"), is_little, "{said}");
        assert_eq!(said.contains("shift by as much as is guarded against"), !is_little, "{said}");
    }
}
