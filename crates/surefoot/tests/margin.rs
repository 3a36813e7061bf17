//! The margin: many individuals at once agree with its definition, and its gradients with
//! finite differences, through every kind of equation and classifier.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod every_kind;

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::{FeatureError, PeopleError};
use surefoot::margin::{gradients, margin};
use surefoot::{Action, ActionKind, Activation, Classifier, Error, People, Problem};

fn people(count: usize) -> People {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    // Far enough from the limits of the clipped feature that every shift below concerns somebody.
    let mut individual = || loop {
        let noise: Vec<f64> = (0..9).map(|_| random.random_range(-1.0..1.0)).collect();
        let x = every_kind::scm().predict(&noise).unwrap();
        if x[8] > every_kind::CLIP.0 + 0.3 && x[8] < every_kind::CLIP.1 - 0.3 {
            break x;
        }
    };
    let rows: Vec<f64> = (0..count).flat_map(|_| individual()).collect();
    let rows = Array2::from_shape_vec((count, 9), rows).unwrap();
    People::from_standardised(&every_kind::features(), rows.view()).unwrap()
}

fn problems() -> Vec<Problem> {
    let weights = vec![0.5, -0.3, 0.8, 0.1, -0.6, 0.4, 0.2, -0.9, 0.7];
    let classifiers = [
        Classifier::linear(weights, 0.1, 0.6).unwrap(),
        Classifier::network(every_kind::network(Activation::Tanh, 9), 0.4).unwrap(),
        Classifier::network(every_kind::network(Activation::Sigmoid, 9), 0.5).unwrap(),
    ];
    let mut problems = Vec::new();
    for classifier in classifiers {
        for form in [ActionKind::Relative, ActionKind::Absolute] {
            let problem =
                Problem::new(every_kind::features(), classifier.clone()).unwrap().with_action_kind(form);
            problems.push(problem.clone().with_causal_model(every_kind::scm()).unwrap());
            problems.push(problem);
        }
    }
    problems
}

/// Sets with descendants of every kind, among them equations whose noise is not additive.
const SETS: [&[usize]; 6] = [&[0], &[1, 4], &[6], &[2, 5, 7], &[8], &[]];

#[test]
fn blocks_agree_with_the_definition_and_with_finite_differences() {
    let people = people(21);
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    let mut smooth = 0;
    for problem in problems() {
        for features in SETS {
            let mut table =
                |columns: usize| Array2::from_shape_fn((21, columns), |_| random.random_range(-0.05..0.05));
            let (change, perturbation) = (table(features.len()), table(9));
            let found = gradients(&problem, &people, features, change.view(), perturbation.view()).unwrap();
            for (i, x) in people.iter().enumerate() {
                let at = |change: &[f64], d: &[f64]| {
                    let action = Action { features: features.to_vec(), change: change.to_vec() };
                    margin(&problem, x, &action, d).unwrap()
                };
                let (change, d) = (change.row(i).to_vec(), perturbation.row(i).to_vec());
                assert!((found.margin[i] - at(&change, &d)).abs() < 1e-11, "{}", found.margin[i]);
                let mut check = |exact: f64, shifted: &dyn Fn(f64) -> f64| {
                    let difference = |h: f64| (shifted(h) - shifted(-h)) / (2.0 * h);
                    let (wide, narrow) = (difference(2e-5), difference(1e-5));
                    // At the kinks of relu and abs there is no derivative to compare with.
                    if (wide - narrow).abs() < 1e-7 {
                        smooth += 1;
                        assert!((exact - narrow).abs() < 1e-6, "{features:?} {exact} {narrow}");
                    }
                };
                for j in 0..features.len() {
                    check(found.in_action[[i, j]], &|h| {
                        let mut change = change.clone();
                        change[j] += h;
                        at(&change, &d)
                    });
                }
                for j in 0..9 {
                    check(found.in_perturbation[[i, j]], &|h| {
                        let mut d = d.clone();
                        d[j] += h;
                        at(&change, &d)
                    });
                }
            }
        }
    }
    assert!(smooth > 11_000, "{smooth}");
}

#[test]
fn an_individual_does_not_depend_on_the_others() {
    let all = people(40);
    let problem = &problems()[4];
    let of = |people: &People| {
        let change = Array2::from_elem((people.len(), 2), 0.1);
        let perturbation = Array2::from_elem((people.len(), 9), -0.02);
        gradients(problem, people, &[1, 4], change.view(), perturbation.view()).unwrap()
    };
    let (together, alone) = (of(&all), of(&all.select(&[33]).unwrap()));
    assert_eq!(together.margin[33], alone.margin[0]);
    assert_eq!(together.in_perturbation.row(33), alone.in_perturbation.row(0));
}

#[test]
fn tables_of_the_wrong_shape_are_refused() {
    let (people, problem) = (people(3), &problems()[0]);
    let of = |features: &[usize], change: (usize, usize), d: (usize, usize)| {
        gradients(problem, &people, features, Array2::zeros(change).view(), Array2::zeros(d).view())
    };
    assert!(of(&[1], (3, 1), (3, 9)).is_ok());
    for (features, change, d) in
        [(&[1][..], (2, 1), (3, 9)), (&[1], (3, 2), (3, 9)), (&[1], (3, 1), (3, 8)), (&[1], (3, 1), (4, 9))]
    {
        assert!(matches!(of(features, change, d), Err(Error::People(PeopleError::VectorLength { .. }))));
    }
    assert!(matches!(of(&[9], (3, 1), (3, 9)), Err(Error::Feature(FeatureError::NoSuchFeature { .. }))));
    assert!(matches!(
        of(&[1, 1], (3, 2), (3, 9)),
        Err(Error::People(PeopleError::RepeatedIntervention { .. }))
    ));
}
