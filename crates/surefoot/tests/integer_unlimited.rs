//! Integer values together with features that have no limits: what is far away is ruled out for
//! whole values, too, and every proof is verified.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::verify::{Fault, Verification, verify_within};
use surefoot::{
    Budget, Change, Classifier, Complete, Constraint, Equation, Feature, Features, Forbidden, Kind, Layer,
    Network, Outcome, Problem, SavedProof, Scm,
};
use surefoot_random::{ACTIVATIONS, one, uniform, with_settings};

/// With `least` zero a network that nothing but raising features helps.
fn network(random: &mut ChaCha8Rng, widths: &[usize], least: f64) -> Network {
    let activation = one(random, &ACTIVATIONS);
    let mut layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_simple_fn((pair[1], pair[0]), || random.random_range(least..0.7)),
        bias: Array1::from_shape_simple_fn(pair[1], || random.random_range(-1.0..1.0)),
    };
    Network::new(widths.windows(2).map(&mut layer).collect(), activation).unwrap()
}

/// A whole number with limits and one without, a category, and two reals without limits; where it
/// is hopeless, what has no limits can only do harm.
fn problem(random: &mut ChaCha8Rng, is_linear: bool, is_hopeless: bool) -> Problem {
    let mut any = || match is_hopeless {
        true => Change::Decrease,
        false => one(random, &[Change::Any, Change::Increase, Change::Decrease, Change::Fixed]),
    };
    let (many, first, second) = (any(), any(), any());
    let least = if is_hopeless { 0.0 } else { -0.7 };
    let features = Features::new(vec![
        Feature::new("few").kind(Kind::Integer).scaling(0.3, 1.7).limits(-3.0, 4.0).change(Change::Any),
        Feature::new("many").kind(Kind::Integer).scaling(-1.0, 0.9).change(many),
        Feature::new("red").group("colour").scaling(0.4, 0.5).change(Change::Any),
        Feature::new("blue").group("colour").scaling(0.6, 0.5).change(Change::Any),
        Feature::new("real").scaling(2.0, 35.5).change(first),
        Feature::new("other").change(second),
        Feature::new("short").limits(-2.0, 2.0).change(Change::Any),
    ])
    .unwrap();
    let classifier = if is_linear {
        let weights = uniform(random, 7, least..1.0);
        Classifier::linear(weights, random.random_range(-6.0..0.0), 0.5).unwrap()
    } else {
        Classifier::network(network(random, &[7, 5, 1], least), 0.8).unwrap()
    };
    let problem = Problem::new(features.clone(), classifier).unwrap();
    let mut problem = with_settings(random, problem, &[0.0, 0.05, 0.3]);
    if random.random_range(0..4) == 0 {
        let equations = vec![
            ("other", Equation::formula("0.3 * few - 0.02 * real + u")),
            ("short", Equation::formula("0.5 * red + u")),
        ];
        problem = problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap();
    }
    if random.random_range(0..3) == 0 {
        let rule = ["other + few >= -3", "real <= 2 * many + 300"][random.random_range(0..2)];
        problem = problem.with_constraints(vec![Constraint::parse(&features, rule).unwrap()]).unwrap();
    }
    if random.random_range(0..3) == 0 {
        let values: Vec<f64> = (-30..30).map(f64::from).filter(|value| value % 3.0 == 0.0).collect();
        problem = problem
            .with_forbidden(vec![
                Forbidden::values(&features, "few", &[], &[1.0]).unwrap(),
                Forbidden::values(&features, "many", &[], &values).unwrap(),
            ])
            .unwrap();
    }
    problem
}

fn person(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let mut own = vec![0.0; 7];
    own[0] = f64::from(random.random_range(-3..5));
    own[1] = f64::from(random.random_range(-4..3));
    own[random.random_range(2..4)] = 1.0;
    own[4] = random.random_range(-40.0..40.0);
    own[5] = random.random_range(-2.0..2.0);
    own[6] = random.random_range(-2.0..2.0);
    problem.features().iter().zip(own).map(|(feature, own)| feature.standardise(own)).collect()
}

#[test]
fn proofs_are_verified() {
    let random = &mut ChaCha8Rng::seed_from_u64(23);
    let (mut found, mut impossible, mut undecided, mut unverified, mut cones) = (0, 0, 0, 0, 0);
    for round in 0..300 {
        let (is_linear, is_hopeless) = (random.random_bool(0.7), random.random_bool(0.5));
        let problem = problem(random, is_linear, is_hopeless);
        let individual = person(random, &problem);
        let complete = Complete::new(&problem).unwrap().with_budget(Budget { evaluations: 1500 }).unwrap();
        let proof = complete.prove(&individual).unwrap();
        let saved = SavedProof::from_json(&proof.to_json(&problem, &individual)).unwrap();
        match &saved.outcome {
            Outcome::Found(_) => found += 1,
            Outcome::Impossible(_) => impossible += 1,
            Outcome::Undecided(_) => undecided += 1,
            Outcome::AlreadyFavourable => {}
            Outcome::Unproved(candidate) => panic!("{candidate:?}"),
        }
        match verify_within(&problem, &saved, 4000).unwrap() {
            Verification::Verified(verified) => cones += usize::from(verified.cones > 0),
            Verification::Unverified(fault) => {
                println!("round {round}: {fault}");
                unverified += 1;
            }
            other => panic!("round {round}: {other:?}"),
        }
    }
    println!(
        "{found} found, {impossible} impossible, {undecided} undecided, {unverified} unverified, {cones} with cones"
    );
    assert!(found >= 20 && impossible >= 20 && cones >= 20, "{found} {impossible} {cones}");
    assert!(unverified <= 5, "{unverified}");
}

/// Cones may be told apart only by whole values; without one of them something is missing.
#[test]
fn a_cone_that_is_missing_is_missed() {
    let features = Features::new(vec![
        Feature::new("few").kind(Kind::Integer).limits(-3.0, 0.0).change(Change::Any),
        Feature::new("first").change(Change::Decrease),
        Feature::new("second").change(Change::Decrease),
    ])
    .unwrap();
    let classifier = Classifier::linear(vec![0.4, 0.6, 1.3], -2.5, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap();
    let proof = Complete::new(&problem).unwrap().prove(&[-2.0, 0.3, 0.2]).unwrap();
    let mut honest = proof.saved(&problem, &[-2.0, 0.3, 0.2]);
    assert!(matches!(honest.outcome, Outcome::Impossible(_)));
    // Every cone is told apart into one for the changes of `few` up to zero and one for those above.
    for part in std::mem::take(&mut honest.ruled_out) {
        let whole = (part.lower[0], part.upper[0]);
        assert!(whole.0 < 0.0 && whole.1 > 0.0, "{part:?}");
        let (mut below, mut above) = (part.clone(), part);
        (below.upper[0], above.lower[0]) = (0.0, 1.0);
        honest.ruled_out.extend([below, above]);
    }
    assert!(matches!(verify_within(&problem, &honest, 4000).unwrap(), Verification::Verified(_)));
    let cones = (0..honest.ruled_out.len()).filter(|&k| honest.ruled_out[k].cone.is_some());
    let cones: Vec<usize> = cones.collect();
    assert!(cones.len() >= 2, "{cones:?}");
    for k in cones {
        let mut saved = honest.clone();
        saved.ruled_out.remove(k);
        let checked = verify_within(&problem, &saved, 4000).unwrap();
        assert!(matches!(checked, Verification::Wrong(Fault::ActionsNotCovered { .. })), "{checked:?}");
    }
}
