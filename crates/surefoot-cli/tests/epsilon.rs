//! `surefoot epsilon`, run as people run it: probabilities by their closed forms, and covariances that are written.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod command;

use command::{INCOME_AND_AGE, done, folder_with, refused};
use surefoot::ProblemFile;

const PEOPLE: &str = "id,income,age\nana,2400,40\nben,3600,50\ncleo,1500,30\ndora,2700,45\neve,2850,35\n";

fn problem(settings: &str, sections: &str) -> String {
    format!("{settings}\n{INCOME_AND_AGE}{sections}")
}

fn folder(settings: &str, sections: &str) -> tempfile::TempDir {
    folder_with(&[("problem.toml", &problem(settings, sections)), ("people.csv", PEOPLE)])
}

#[test]
fn probabilities_and_radii_have_their_closed_forms() {
    // Two features: P(|error| <= r) = 1 - exp(-r^2 / 2), which is 39.34% for r = 1 and 95% for r = 2.44774...
    let round = folder("epsilon = 0.1\nnorm = \"l2\"", "");
    assert_eq!(
        done(round.path(), &["epsilon", "problem.toml", "--error", "0.1", "--probability", "0.95"]),
        "Assumed: errors are normal, independent with mean 0 and a standard deviation of 10% of that of each feature.\n\
         The problem's epsilon of 0.1 (l2) covers 39.34% of such errors.\n\
         To cover 95% of them:\n  epsilon = 0.244775\n"
    );
    // erf(1 / sqrt 2)^2 = 0.682689^2.
    let square = folder("epsilon = 0.1\nnorm = \"linf\"", "");
    let text = done(square.path(), &["epsilon", "problem.toml", "--error", "0.1"]);
    assert!(text.contains("(linf) covers 46.6% of such errors."), "{text}");
    // For l1, erf(1 / 2)^2 = 0.5205^2.
    let diamond = folder("epsilon = 0.1\nnorm = \"l1\"", "");
    let text = done(diamond.path(), &["epsilon", "problem.toml", "--error", "0.1"]);
    assert!(text.contains("(l1) covers 27.09% of such errors."), "{text}");
    // A problem that does not say yet how much to guard against.
    let none = folder("epsilon = 0\nnorm = \"l2\"", "");
    let text = done(none.path(), &["epsilon", "problem.toml", "--error", "0.1", "--probability", "0.95"]);
    assert!(text.contains("epsilon = 0.244775"), "{text}");
}

#[test]
fn sections_of_the_person_count() {
    let exact = "[[uncertainty]]\nof = \"person\"\nfeatures = \"age\"\nexact = true\n";
    let one = folder("epsilon = 0.1\nnorm = \"l2\"", exact);
    let text = done(one.path(), &["epsilon", "problem.toml", "--error", "0.1", "--probability", "0.95"]);
    assert!(text.contains("without error: age.") && text.contains("covers 68.26%"), "{text}");
    // The 97.5% quantile of a normal number, 1.959964, rounded up.
    assert!(text.contains("epsilon = 0.195997"), "{text}");
    // 5% of an income is 75 for cleo, half of a standard deviation of the error, and 180 for ben.
    let share = "[[uncertainty]]\nof = \"person\"\nfeatures = \"income\"\nshare = 0.05\n";
    let people = folder("epsilon = 0.1\nnorm = \"l2\"", &format!("{share}\n{exact}"));
    let text = refused(people.path(), &["epsilon", "problem.toml", "--error", "0.1"]);
    assert!(text.contains("`income`") && text.contains("table of people"), "{text}");
    let text = done(people.path(), &["epsilon", "problem.toml", "people.csv", "--error", "0.1"]);
    assert!(text.contains("covers 38.29% of such errors of the least covered person"), "{text}");
    let probable = ["epsilon", "problem.toml", "people.csv", "--error", "0.1", "--probability", "0.9"];
    assert!(refused(people.path(), &probable).contains("intervals"));
}

#[test]
fn observed_errors_are_ordered() {
    let folder = folder("epsilon = 0.1\nnorm = \"l2\"", "");
    let rows: String = (1..=19).map(|i| format!("{}\n", if i % 2 == 0 { 15 * i } else { -15 * i })).collect();
    std::fs::write(folder.path().join("errors.csv"), format!("income\n{rows}")).unwrap();
    let asked = |p: &'static str| ["epsilon", "problem.toml", "--errors", "errors.csv", "--probability", p];
    let text = done(folder.path(), &asked("0.95"));
    // Sizes are 0.01 to 0.19 standard deviations.
    assert!(text.contains("19 observed errors; taken as exact: age."), "{text}");
    assert!(text.contains("covers 52.63% of them.") && text.contains("epsilon = 0.19\n"), "{text}");
    let text = refused(folder.path(), &asked("0.96"));
    assert!(text.contains("19 errors are too few for 96%; at least 24 are needed"), "{text}");
}

#[test]
fn correlations_are_written_and_replaced() {
    let folder = folder("epsilon = 0.1\nnorm = \"l2\"", "# Of the bank.\n");
    let path = folder.path().join("problem.toml");
    for _ in 0..2 {
        let text = done(folder.path(), &["epsilon", "problem.toml", "people.csv", "--covariance"]);
        assert!(text.contains("The correlations of income, age in 5 people."), "{text}");
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written.matches("covariance").count(), 1, "{written}");
        assert!(written.contains("# Of the bank."), "{written}");
    }
    let problem = ProblemFile::read(&path).unwrap().problem().unwrap();
    // Deviations of income from 2610 and of age from 40: the sum of products over the root of sums of squares.
    let (income, age) = ([-210.0, 990.0, -1110.0, 90.0, 240.0], [0.0, 10.0, -10.0, 5.0, -5.0]);
    let dot = |a: &[f64; 5], b: &[f64; 5]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let expected = dot(&income, &age) / (dot(&income, &income) * dot(&age, &age)).sqrt();
    let factor = &problem.sources().unwrap().factor;
    assert!((factor[2] - expected).abs() < 1e-6, "{factor:?} {expected}");
    // Errors that correlate as the problem says are covered as often as independent ones by the ball.
    let text = done(folder.path(), &["epsilon", "problem.toml", "--error", "0.1"]);
    assert!(text.contains("correlated as the problem says") && text.contains("covers 39.34%"), "{text}");
    let square = folder_with(&[
        ("problem.toml", &self::problem("epsilon = 0.1\nnorm = \"linf\"", "")),
        ("people.csv", PEOPLE),
    ]);
    let text = refused(square.path(), &["epsilon", "problem.toml", "people.csv", "--covariance"]);
    assert!(text.contains("norm = \"l2\""), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder("epsilon = 0.1\nnorm = \"l2\"", "");
    for (arguments, told) in [
        (&["--error", "-1"][..], "--error is -1"),
        (&["--error", "0.1", "--probability", "1"], "--probability is 1"),
        (&["--error", "0.1", "--probability", "95"], "--probability is 95"),
        (&[], "--error"),
        (&["--covariance"], "PEOPLE"),
        (&["--error", "0.1", "--errors", "people.csv"], "cannot be used"),
        (&["--errors", "nowhere.csv"], "nowhere.csv"),
    ] {
        let text = refused(folder.path(), &[&["epsilon", "problem.toml"], arguments].concat());
        assert!(text.contains(told), "{arguments:?}: {text}");
    }
}
