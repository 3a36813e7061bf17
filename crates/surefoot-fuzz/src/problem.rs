//! Problem files, TOML and JSON.

use std::path::Path;

use surefoot::problem::Edit;
use surefoot::{People, Problem, ProblemFile};

use crate::Reading;
use crate::question::ask;

/// A problem file in TOML.
pub fn toml(bytes: &[u8]) -> Reading {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reading::Refused };
    let path = Path::new("no-such-folder/problem.toml");
    let reading = problem(text, path);
    // What commands write into keeps what was there.
    if let Ok(edit) = Edit::parse(text, path) {
        let again = ProblemFile::parse_confined(&edit.text(), path).expect("it was a problem file before");
        let mistakes = |file: &ProblemFile| file.mistakes().len();
        let before = ProblemFile::parse_confined(text, path).expect("it can be edited");
        assert_eq!(mistakes(&again), mistakes(&before));
    }
    reading
}

/// A problem file in JSON.
pub fn json(bytes: &[u8]) -> Reading {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reading::Refused };
    problem(text, Path::new("no-such-folder/problem.json"))
}

fn problem(text: &str, path: &Path) -> Reading {
    let file = match ProblemFile::parse_confined(text, path) {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    let mistakes = file.mistakes();
    assert!(mistakes.iter().all(|mistake| !mistake.to_string().is_empty()));
    let problem = match file.problem() {
        Ok(problem) => problem,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Reading::Refused;
        }
    };
    assert!(mistakes.is_empty(), "a problem with mistakes: {mistakes:?}");
    for people in people(&problem) {
        // What the method cannot answer is an error with words.
        if let Err(error) = ask(&problem, people.individual(0)) {
            assert!(!error.to_string().is_empty());
        }
    }
    Reading::Accepted
}

/// Somebody average, and somebody at the limits, as far as such people can be.
fn people(problem: &Problem) -> Vec<People> {
    let features = problem.features();
    let average: Vec<f64> = features.iter().map(|feature| feature.mean).collect();
    let whole: Vec<f64> = average.iter().map(|value| value.round()).collect();
    let lowest: Vec<f64> = features
        .iter()
        .map(|feature| if feature.lower.is_finite() { feature.lower } else { feature.mean - feature.std })
        .collect();
    // Of a group, exactly one column is 1.
    let mut first = whole.clone();
    for group in features.groups() {
        for (position, &column) in group.columns.iter().enumerate() {
            first[column] = f64::from(u8::from(position == 0));
        }
    }
    let rows = [average, whole, lowest, first];
    rows.iter().filter_map(|row| People::from_own_units(features, &[row]).ok()).collect()
}
