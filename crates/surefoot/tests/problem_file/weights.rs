//! Sections about the weights of the classifier: where the covariance comes from, its units, and mistakes.

use std::path::Path;

use surefoot::{Outcome, Problem, ProblemFile, describe};

const PROBLEM: &str = r#"
epsilon = 0

[[feature]]
name = "income"
mean = 3000
std = 1500
change = "increase"
limits = [0, 20000]

[[feature]]
name = "savings"
mean = 8000
std = 4000

[classifier]
coefficients = [0.8, 0.6]
intercept = -0.5

[[uncertainty]]
of = "classifier"
radius = 2
covariance = [[0.01, 0.002, 0], [0.002, 0.04, -0.001], [0, -0.001, 0.01]]
"#;

const MATRIX: &str = "[[0.01, 0.002, 0], [0.002, 0.04, -0.001], [0, -0.001, 0.01]]";

fn read(text: &str, folder: &Path) -> Problem {
    ProblemFile::parse(text, &folder.join("problem.toml")).unwrap().problem().unwrap()
}

/// All mistakes as text.
fn told(text: &str, folder: &Path) -> String {
    match ProblemFile::parse(text, &folder.join("problem.toml")).and_then(|file| file.problem()) {
        Err(error) => error.to_string(),
        Ok(problem) => panic!("{problem:?}"),
    }
}

#[test]
fn the_covariance_stands_in_the_file_or_in_one_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let inline = read(PROBLEM, at);
    let x = [-0.5, 0.25];
    let by_hand = 0.01 * 0.25 + 0.04 * 0.0625 + 0.01 + 2.0 * (0.002 * -0.125 - 0.001 * 0.25);
    let score = -0.4 + 0.15 - 0.5 - 2.0 * f64::sqrt(by_hand);
    assert!((inline.classifier().score(&x) - score).abs() < 1e-12);
    std::fs::write(at.join("covariance.json"), MATRIX).unwrap();
    let named = PROBLEM.replace(MATRIX, "\"covariance.json\"");
    let file = ProblemFile::parse(&named, &at.join("problem.toml")).unwrap();
    assert_eq!(file.named_files(), [Path::new("covariance.json")]);
    assert_eq!(file.problem().unwrap().classifier(), inline.classifier());
    let confined = ProblemFile::parse_confined(&named, &at.join("problem.toml")).unwrap();
    assert_eq!(confined.problem().unwrap().classifier(), inline.classifier());
    let outside = named.replace("covariance.json", "../covariance.json");
    let refused =
        ProblemFile::parse_confined(&outside, &at.join("problem.toml")).and_then(|file| file.problem());
    assert!(refused.is_err());
    for (text, expected) in [
        ("[[1, 2], [2", "covariance.json"),
        ("[[0.01, NaN, 0], [0, 1, 0], [0, 0, 1]]", "covariance.json"),
        ("{\"a\": 1}", "a list of lists of numbers"),
        ("[[1, 0], [0, 1]]", "has 2 rows; it must have one for each of 3 weights"),
    ] {
        std::fs::write(at.join("covariance.json"), text).unwrap();
        let told = told(&named, at);
        assert!(told.contains(expected) && told.lines().count() <= 3, "{text}: {told}");
    }
    let missing = told(&named.replace("covariance.json", "missing.json"), at);
    assert!(missing.contains("missing.json") && missing.lines().count() <= 3, "{missing}");
}

/// The covariance of coefficients for own units, `A S A^T` of that for standardised features, is the same ellipsoid.
#[test]
fn covariances_in_own_units_are_those_of_standardised_features() {
    let folder = Path::new("");
    let s = [[0.01, 0.002, 0.0], [0.002, 0.04, -0.001], [0.0, -0.001, 0.01]];
    // The raw coefficient is a / std, and the raw intercept less by mean / std of each.
    let a = [[1.0 / 1500.0, 0.0, 0.0], [0.0, 1.0 / 4000.0, 0.0], [-2.0, -2.0, 1.0]];
    let entry = |i: usize, j: usize| -> f64 {
        (0..3).flat_map(|k| (0..3).map(move |l| (k, l))).map(|(k, l)| a[i][k] * s[k][l] * a[j][l]).sum()
    };
    let rows: Vec<String> = (0..3)
        .map(|i| format!("[{}]", (0..3).map(|j| format!("{:e}", entry(i, j))).collect::<Vec<_>>().join(", ")))
        .collect();
    let raw = PROBLEM.replace(MATRIX, &format!("[{}]\ninputs = \"raw\"", rows.join(", "))).replace(
        "[0.8, 0.6]\nintercept = -0.5",
        &format!(
            "[{}, {}]\nintercept = {}\ninputs = \"raw\"",
            0.8 / 1500.0,
            0.6 / 4000.0,
            -0.5 - 2.0 * 0.8 - 2.0 * 0.6
        ),
    );
    let (raw, standardised) = (read(&raw, folder), read(PROBLEM, folder));
    for x in [[-0.5, 0.25], [3.0, -2.0], [0.0, 0.0]] {
        let (found, expected) = (raw.classifier().score(&x), standardised.classifier().score(&x));
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

#[test]
fn sentences_say_what_is_guarded_against() {
    let folder = Path::new("");
    let solved = |text: &str| {
        let problem = read(text, folder);
        let outcome = surefoot::Complete::new(&problem).unwrap().solve(&[-0.5, 0.0]).unwrap();
        assert!(matches!(outcome, Outcome::Found(_)), "{outcome:?}");
        describe(&problem, &[-0.5, 0.0], &outcome).unwrap()
    };
    for (size, words) in [
        (
            "radius = 2",
            "This works even if the model's weights are off by up to 2 standard errors in any direction.",
        ),
        (
            "probability = 0.95",
            "This works even if the model's weights are anywhere in their 95% confidence region.",
        ),
        (
            "loss = 0.01\nleast_loss = 40.5",
            "This works even if the model is any other whose loss is at most about 1% above the least.",
        ),
    ] {
        let said = solved(&PROBLEM.replace("radius = 2", size));
        assert!(said.contains(words), "{said}");
    }
    let shifted = solved(&PROBLEM.replace("epsilon = 0", "epsilon = 0.1"));
    assert!(
        shifted.contains(", even if the model's weights are off by up to 2 standard errors"),
        "{shifted}"
    );
}

#[test]
fn mistakes_in_sections_about_weights_are_told() {
    let folder = Path::new("");
    for (from, to, expected) in [
        ("radius = 2\n", "", "`radius` is missing"),
        ("radius = 2", "radius = 2\nprobability = 0.9", "cannot stand together"),
        ("radius = 2", "radius = 2\nshare = 0.1", "cannot stand together"),
        ("radius = 2", "radius = 0", "`radius` of the uncertain weights is 0.0; it must be a positive"),
        (
            "radius = 2",
            "probability = 1",
            "`probability` of the uncertain weights is 1.0; it must be above 0 and below 1",
        ),
        ("radius = 2", "loss = 0.1", "`least_loss` is missing"),
        (MATRIX, "[[1, 0], [0, 1]]", "has 2 rows; it must have one for each of 3 weights"),
        (MATRIX, "[[1, 2, 0], [2, 1, 0], [0, 0, 1]]", "is not positive definite: row 2"),
        (MATRIX, "[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]", "is not symmetric: row 2, column 1"),
        (MATRIX, "[[1, 0, 0], [0, nan, 0], [0, 0, 1]]", "NaN in row 2, column 2"),
        (MATRIX, "[[1, 0, 0], [0, 1], [0, 0, 1]]", "row 2 has 2 numbers"),
        (MATRIX, "[1, 2, 3]", "a list of lists of numbers"),
        ("radius = 2", "radius = \"two\"", "a number"),
    ] {
        assert!(PROBLEM.contains(from), "{from}");
        let told = told(&PROBLEM.replacen(from, to, 1), folder);
        assert!(told.contains(expected), "{to}: {told}");
        // A heading and one mistake.
        assert!(told.lines().count() <= 2, "{to}: {told}");
    }
    let committee = PROBLEM.replace(
        "[classifier]\n",
        "[[classifier]]\ncoefficients = [1.0, 0.5]\nintercept = 0\n\n[[classifier]]\n",
    );
    assert!(told(&committee, folder).contains("a committee decides"));
}
