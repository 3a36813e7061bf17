//! Why a search stopped without an answer: the reason and its words are true.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::array;
use surefoot::outcome::{Undecided, UndecidedReason};
use surefoot::{
    Activation, Budget, Change, Classifier, Complete, Feature, Features, Kind, Layer, Network, Outcome,
    Problem, describe,
};

/// `top - |x - 1|`: the score has its highest value `top` at 1.
fn peak(kind: Kind, top: f64) -> Problem {
    let feature = Feature::new("x").kind(kind).change(Change::Any).limits(-3.0, 3.0);
    let hidden = Layer { weight: array![[1.0], [-1.0]], bias: array![-1.0, 1.0] };
    let output = Layer { weight: array![[-1.0, -1.0]], bias: array![top] };
    let network = Network::new(vec![hidden, output], Activation::Relu).unwrap();
    let features = Features::new(vec![feature]).unwrap();
    Problem::new(features, Classifier::network(network, 0.5).unwrap()).unwrap()
}

/// A network whose favourable region is narrow in six features.
fn narrow(top: f64) -> Problem {
    let features = (0..6).map(|i| Feature::new(format!("x{i}")).change(Change::Any).limits(-3.0, 3.0));
    let features = Features::new(features.collect()).unwrap();
    let mut hidden = Layer { weight: ndarray::Array2::zeros((12, 6)), bias: ndarray::Array1::zeros(12) };
    for i in 0..6 {
        (hidden.weight[[2 * i, i]], hidden.bias[2 * i]) = (1.0, -1.0);
        (hidden.weight[[2 * i + 1, i]], hidden.bias[2 * i + 1]) = (-1.0, 1.0);
    }
    let output = Layer { weight: ndarray::Array2::from_elem((1, 12), -1.0), bias: array![top] };
    let network = Network::new(vec![hidden, output], Activation::Relu).unwrap();
    Problem::new(features, Classifier::network(network, 0.5).unwrap()).unwrap()
}

fn undecided(problem: &Problem, individual: &[f64], evaluations: usize) -> (Undecided, usize, String) {
    let budget = Budget { evaluations };
    let proof = Complete::new(problem).unwrap().with_budget(budget).unwrap().prove(individual).unwrap();
    let text = describe(problem, individual, &proof.outcome).unwrap();
    match proof.outcome {
        Outcome::Undecided(undecided) => (undecided, proof.evaluations, text),
        other => panic!("{other:?}"),
    }
}

/// The highest score is below zero by less than any bound accounts for: no budget decides it.
#[test]
fn what_is_too_small_to_divide_is_not_a_spent_budget() {
    for kind in [Kind::Real, Kind::Integer] {
        let problem = peak(kind, -5e-10);
        let budget = Budget::default().evaluations;
        let (open, evaluations, text) = undecided(&problem, &[0.0], budget);
        assert_eq!(open.reason, UndecidedReason::Resolution, "{kind}");
        assert!(evaluations < budget / 10, "{kind}: {evaluations}");
        assert!(text.contains("a larger budget will not decide it") && !text.contains("spent"), "{text}");
        // Three orders of magnitude more do not change it.
        assert_eq!(undecided(&problem, &[0.0], 1000 * budget).0.reason, UndecidedReason::Resolution);
        // What is clearly below is proven to be.
        let below = peak(kind, -1e-3);
        assert!(matches!(Complete::new(&below).unwrap().solve(&[0.0]).unwrap(), Outcome::Impossible(_)));
    }
}

#[test]
fn a_spent_budget_is_one() {
    let (open, evaluations, text) = undecided(&narrow(0.01), &[-2.0; 6], 200);
    assert_eq!(open.reason, UndecidedReason::Budget);
    assert!(evaluations >= 150, "{evaluations}");
    assert!(text.contains("the budget was spent before every action was examined"), "{text}");
}

/// Texts have no number that is none.
#[test]
fn texts_have_numbers_only() {
    let bare = Undecided {
        best: surefoot::Action { features: vec![], change: vec![] },
        margin: f64::INFINITY,
        required: 1e-9,
        cost_bound: 0.0,
        reason: UndecidedReason::Budget,
    };
    for reason in [
        UndecidedReason::Budget,
        UndecidedReason::Resolution,
        UndecidedReason::Proof,
        UndecidedReason::Rounding,
    ] {
        for margin in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.5] {
            let text = Undecided { margin, reason, ..bare.clone() }.to_string();
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
            assert_eq!(text.contains("-5.000e-1"), margin == -0.5, "{text}");
        }
    }
}
