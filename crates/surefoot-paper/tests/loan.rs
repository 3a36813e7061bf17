//! The Loan model reproduces what is published of it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use surefoot::error::CausalModelError;
use surefoot::{Action, Classifier, Problem, margin};
use surefoot_paper::loan;

#[test]
fn a_large_sample_has_the_published_means_and_deviations() {
    let sample = loan::sample(100_000, 7).unwrap();
    let features = loan::features(f64::INFINITY).unwrap();
    for (i, column) in sample.rows.columns().into_iter().enumerate() {
        // In standardised units the published scaling is mean 0 and deviation 1, except for
        // gender, which is left as it is: 0 or 1 with equal chances.
        let (mean, std) = if i == 0 { (0.5, 0.5) } else { (0.0, 1.0) };
        let (m, s) = (column.mean().unwrap(), column.std(1.0));
        let name = &features.feature(i).name;
        assert!((m - mean).abs() < 0.02, "{name}: mean {m}");
        assert!((s - std).abs() < 0.015, "{name}: deviation {s}");
    }
    let repaid = sample.repaid.iter().filter(|&&repaid| repaid).count();
    assert!((40_000..60_000).contains(&repaid), "{repaid}");
}

#[test]
fn the_same_seed_gives_the_same_people() {
    let (a, b, c) =
        (loan::sample(50, 3).unwrap(), loan::sample(50, 3).unwrap(), loan::sample(50, 4).unwrap());
    assert_eq!((&a.rows, &a.repaid), (&b.rows, &b.repaid));
    assert_ne!(a.rows, c.rows);
}

#[test]
fn education_is_not_additive_and_its_inverse_undoes_it() {
    let features = loan::features(f64::INFINITY).unwrap();
    let scm = loan::scm(&features).unwrap();
    assert!(matches!(
        scm.require_additive(),
        Err(surefoot::Error::CausalModel(CausalModelError::EquationNotAdditive { feature })) if feature == "education"
    ));
    let sample = loan::sample(1000, 1).unwrap();
    for row in sample.rows.rows() {
        let row = row.to_vec();
        let back = scm.predict(&scm.abduct(&row).unwrap()).unwrap();
        for (a, b) in row.iter().zip(back) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

/// The counterfactual of perturbation and action, worked out by hand in own units.
#[test]
fn perturbed_and_acting_applicants_by_hand() {
    let features = loan::features(f64::INFINITY).unwrap();
    let scm = loan::scm(&features).unwrap();
    let classifier = Classifier::linear(vec![0.0; 7], 0.0, 0.5).unwrap();
    let problem = Problem::new(features.clone(), classifier).unwrap().with_causal_model(scm).unwrap();
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());

    let x = [1.0, 4.0, 0.1, 2.0, 5.0, -0.5, 1.0];
    let d = [0.0, 3.0, 0.02, 0.0, -1.0, 0.25, 0.0];
    let (raise_education, raise_income) = (0.05, 2.0);

    let noise = ((0.5f64 + 0.1) / (0.5 - 0.1)).ln() + 1.0 - 0.5 - sigmoid(0.4);
    let age = 7.0;
    let education = -0.5 + sigmoid(-1.0 + 0.5 + sigmoid(0.7) + noise) + 0.02;
    let amount = 2.0 + 0.01 * (4.0f64 - 5.0).powi(2) - 0.01 * (7.0f64 - 5.0).powi(2);
    let duration = 5.0 + 0.1 * 3.0 + (amount - 2.0) - 1.0;
    let income = -0.5 + 0.1 * 3.0 + (education - 0.1) + 0.25;
    let savings = 1.0 + 1.5 * income.max(0.0);
    // The action cuts the equations of education and income; savings follow income.
    let savings = savings + 1.5 * ((income + raise_income).max(0.0) - income.max(0.0));
    let expected = [1.0, age, education + raise_education, amount, duration, income + raise_income, savings];

    let standardised: Vec<f64> = (0..7).map(|i| features.standardise(i, x[i])).collect();
    let perturbation: Vec<f64> = (0..7).map(|i| d[i] / features.feature(i).std).collect();
    let change = vec![raise_education / features.feature(2).std, raise_income / features.feature(5).std];
    let action = Action { features: vec![2, 5], change };
    let result = margin::counterfactual(&problem, &standardised, &action, &perturbation).unwrap();
    for (i, own) in features.own_units(&result).into_iter().enumerate() {
        assert!((own - expected[i]).abs() < 1e-12, "{i}: {own} {}", expected[i]);
    }
}
