//! Draws people who can be, and aims the classifier at the first of them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::{Feature, Kind, Problem};

use super::{Case, digits, log_uniform, one, rules};

/// How often a person is drawn whom the causal model may be unable to produce.
const ATTEMPTS: usize = 200;

/// Draws one or two people whom the causal model can produce, constraints that suit the first of
/// them, and the intercept of the classifier that gives the first a drawn score. A causal model that
/// produces nobody is left out.
pub(super) fn draw(random: &mut ChaCha8Rng, case: &mut Case) {
    let folder = tempfile::tempdir().unwrap();
    case.write_problem(folder.path());
    let mut problem = case.problem(folder.path());
    let count = one(random, &[1, 1, 2]);
    let mut attempts = 0;
    while case.people.len() < count {
        let person = person(random, case);
        attempts += 1;
        if can_be(&problem, &person) {
            case.people.push(person);
        } else if attempts == ATTEMPTS {
            case.equations.clear();
            case.write_problem(folder.path());
            problem = case.problem(folder.path());
        }
    }
    case.rules = rules::constraints(random, &case.features, &case.people[0]);
    let first: Vec<f64> = case.features.iter().zip(&case.people[0]).map(|(f, &v)| f.standardise(v)).collect();
    let score = match random.random_range(0..12) {
        0 => one(random, &[0.0, 0.5, 1e-9]),
        1 => one(random, &[-1e-9, -1e-6, -1e-12]),
        2 => -random.random_range(1.0..8.0),
        _ => -log_uniform(random, 0.02, 1.0),
    };
    case.model.aim(&first, score);
}

fn can_be(problem: &Problem, person: &[f64]) -> bool {
    let individual: Vec<f64> =
        problem.features().iter().zip(person).map(|(feature, &v)| feature.standardise(v)).collect();
    problem.scm().is_none_or(|scm| scm.abduct(&individual).is_ok())
}

/// Somebody within the limits, in own units; sometimes at them.
fn person(random: &mut ChaCha8Rng, case: &Case) -> Vec<f64> {
    let mut person: Vec<f64> = case.features.iter().map(|feature| value(random, feature)).collect();
    for columns in case.groups() {
        let chosen = one(random, &columns);
        columns.iter().for_each(|&i| person[i] = if i == chosen { 1.0 } else { 0.0 });
    }
    person
}

fn value(random: &mut ChaCha8Rng, feature: &Feature) -> f64 {
    if feature.kind == Kind::Binary {
        return one(random, &[0.0, 1.0]);
    }
    let ends: Vec<f64> = [feature.lower, feature.upper].into_iter().filter(|end| end.is_finite()).collect();
    if !ends.is_empty() && random.random_bool(0.1) {
        return one(random, &ends);
    }
    let spread: f64 = (0..3).map(|_| random.random_range(-1.2..1.2)).sum();
    let value = feature.mean + feature.std * spread;
    let value = match feature.kind {
        Kind::Integer => value.round(),
        _ if random.random_bool(0.5) => digits(value, 6),
        _ => value,
    };
    value.clamp(feature.lower, feature.upper)
}
