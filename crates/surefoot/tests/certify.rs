//! Certificates: never broken, exact where the answer is known, honest about the rest.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod every_kind;

use ndarray::{Array2, array};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::certify::LEAST_MARGIN;
use surefoot::error::{FeatureError, PeopleError, SettingError};
use surefoot::margin::margin;
use surefoot::{
    Action, ActionKind, Activation, Budget, Change, Classifier, Error, Exact, Feature, Features, Layer,
    Network, Norm, People, Problem, Verdict, certify,
};
use surefoot_random::{FORMULAS, Family, NORM_KINDS, network, one, uniform};

const BUDGET: Budget = Budget { evaluations: 3000 };

/// The size of perturbations `d` is scaled to that of the ball.
fn on_the_border(problem: &Problem, d: &mut [f64]) {
    let size = problem.norm().value(d).max(1e-300);
    d.iter_mut().for_each(|d| *d *= problem.epsilon() * (1.0 - 1e-15) / size);
}

#[test]
fn no_certificate_is_broken_and_no_break_is_invented() {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut holds, mut breaks, mut undecided) = (0, 0, 0);
    let feature = |name| Feature::new(name).change(Change::Any);
    let features = Features::new(["a", "b", "c"].map(feature).to_vec()).unwrap();
    let family = Family {
        features: &features,
        hidden: &[&[12, 8]],
        scales: &[1.0],
        epsilons: &[0.0, 0.05, 0.2, 0.6],
        formulas: &FORMULAS,
    };
    for round in 0..240 {
        let problem = family.draw(random);
        let x = uniform(random, 3, -1.0..1.0);
        let action = Action { features: vec![0, 1], change: vec![random.random_range(-1.0..1.0), 0.3] };
        let certificate = certify(&problem, &x, &action, BUDGET).unwrap();
        let rows = Array2::from_shape_vec((1, 3), x.clone()).unwrap();
        let people = People::from_standardised(&features, rows.view()).unwrap();
        let attack = ProjectedGradient { steps: 60, samples: 500, restarts: 30, seed: 5 };
        let worst = worst_found(&problem, &people, std::slice::from_ref(&action), &attack).unwrap()[0].margin;
        match certificate.verdict {
            Verdict::Holds { margin: proven } => {
                holds += 1;
                assert!(proven >= LEAST_MARGIN && worst >= proven, "{round}: {worst} {proven}");
                for _ in 0..300 {
                    let mut d: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
                    on_the_border(&problem, &mut d);
                    assert!(margin(&problem, &x, &action, &d).unwrap() >= proven, "{round}");
                }
                assert!(certificate.pieces.iter().all(|piece| piece.margin >= proven));
                assert!(!certificate.pieces.is_empty());
            }
            Verdict::Breaks { perturbation, margin: left, .. } => {
                breaks += 1;
                assert!(
                    left < 0.0 && left == margin(&problem, &x, &action, &perturbation).unwrap(),
                    "{round}"
                );
                assert!(problem.norm().value(&perturbation) <= problem.epsilon(), "{round}");
            }
            Verdict::Undecided { lower, upper } => {
                undecided += 1;
                assert!(lower <= upper && worst >= lower, "{round}: {lower} {upper} {worst}");
            }
        }
    }
    assert!(holds > 60 && breaks > 60 && undecided < 20, "{holds} {breaks} {undecided}");
}

/// The pieces of a certificate cover the ball.
#[test]
fn pieces_cover_the_ball() {
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let mut many = 0;
    for round in 0..40 {
        let features = Features::new((0..3).map(|i| Feature::new(format!("x{i}"))).collect()).unwrap();
        let net = network(random, &[3, 20, 12, 1], Activation::Tanh, 1.6);
        let problem = Problem::new(features, Classifier::network(net, 0.5).unwrap()).unwrap();
        let kind = one(random, &NORM_KINDS);
        let problem = problem.with_uncertainty(Norm::unweighted(kind), 0.5).unwrap();
        let x = uniform(random, 3, -1.0..1.0);
        let nothing = Action { features: vec![], change: vec![] };
        let certificate = certify(&problem, &x, &nothing, BUDGET).unwrap();
        if !matches!(certificate.verdict, Verdict::Holds { .. }) {
            continue;
        }
        many += usize::from(certificate.pieces.len() > 1);
        for _ in 0..500 {
            let mut d: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
            on_the_border(&problem, &mut d);
            let share: f64 = random.random();
            d.iter_mut().for_each(|d| *d *= share.cbrt());
            let y: Vec<f64> = match certificate.basis.is_empty() {
                true => d.clone(),
                false => (0..3).map(|j| (0..3).map(|i| certificate.basis[i * 3 + j] * d[i]).sum()).collect(),
            };
            let value = margin(&problem, &x, &nothing, &d).unwrap();
            let inside =
                |ends: &[f64], sign: f64| y.iter().zip(ends).all(|(y, e)| sign * y >= sign * e - 1e-12);
            let covering: Vec<_> = certificate
                .pieces
                .iter()
                .filter(|p| inside(&p.lower, 1.0) && inside(&p.upper, -1.0))
                .collect();
            assert!(!covering.is_empty(), "{round}: {y:?}");
            assert!(covering.iter().all(|piece| value >= piece.margin - 1e-12), "{round}");
        }
    }
    assert!(many >= 5, "{many}");
}

#[test]
fn linear_problems_are_certified_exactly() {
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    for kind in NORM_KINDS {
        for form in [ActionKind::Relative, ActionKind::Absolute] {
            let problem = every_kind::linear_chain().with_action_kind(form);
            let problem = problem.with_uncertainty(Norm::unweighted(kind), 0.3).unwrap();
            let exact = Exact::new(&problem).unwrap();
            for _ in 0..50 {
                let x: Vec<f64> = (0..3).map(|_| random.random_range(-1.0..1.0)).collect();
                let change = vec![random.random_range(-2.0..2.0), random.random_range(-2.0..2.0)];
                let action = Action { features: vec![0, 1], change };
                let worst = exact.worst_case(&x, &action).unwrap().margin;
                match certify(&problem, &x, &action, BUDGET).unwrap().verdict {
                    Verdict::Holds { margin } => assert!((margin - worst).abs() < 1e-9),
                    Verdict::Breaks { margin, .. } => assert!((margin - worst).abs() < 1e-9 && worst < 0.0),
                    Verdict::Undecided { .. } => panic!("{worst}"),
                }
            }
        }
    }
}

/// A margin with a saddle: the worst perturbation is not where the gradient at the origin points.
#[test]
fn the_worst_is_found_where_the_gradient_does_not_point() {
    // h = relu(y) + relu(-y) = |y|, margin = 0.3 - |y| + 0.1 x
    let hidden = Layer {
        weight: array![[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]],
        bias: array![0.0, 0.0, 0.0, 0.0],
    };
    let output = Layer { weight: array![[-1.0, -1.0, 0.1, -0.1]], bias: array![0.3] };
    let classifier =
        Classifier::network(Network::new(vec![hidden, output], Activation::Relu).unwrap(), 0.5).unwrap();
    let features = Features::new(vec![Feature::new("x"), Feature::new("y")]).unwrap();
    let problem = Problem::new(features, classifier).unwrap();
    let nothing = Action { features: vec![], change: vec![] };
    let of = |epsilon: f64| {
        let problem = problem.clone().with_uncertainty(Norm::L2, epsilon).unwrap();
        certify(&problem, &[0.0, 0.0], &nothing, Budget::default()).unwrap().verdict
    };
    // The least margin is 0.3 - epsilon sqrt(1.01).
    assert!(matches!(of(0.29), Verdict::Holds { margin } if margin <= 0.3 - 0.29 * 1.01f64.sqrt() + 1e-9));
    assert!(matches!(of(0.31), Verdict::Breaks { .. }));
}

#[test]
fn without_uncertainty_the_margin_itself_decides() {
    let classifier = Classifier::network(every_kind::network(Activation::Tanh, 9), 0.4).unwrap();
    let problem = Problem::new(every_kind::features(), classifier).unwrap();
    let problem = problem.with_causal_model(every_kind::scm()).unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(9);
    for _ in 0..30 {
        let noise: Vec<f64> = (0..9).map(|_| random.random_range(-1.0..1.0)).collect();
        let x = every_kind::scm().predict(&noise).unwrap();
        let action = Action { features: vec![0], change: vec![random.random_range(-1.0..1.0)] };
        let value = margin(&problem, &x, &action, &[0.0; 9]).unwrap();
        match certify(&problem, &x, &action, BUDGET).unwrap().verdict {
            Verdict::Holds { margin } => {
                assert!(value >= margin && value - margin < 1e-3, "{value} {margin}")
            }
            Verdict::Breaks { margin, .. } => assert_eq!(value, margin),
            Verdict::Undecided { lower, .. } => {
                assert!(value.abs() < 1e-3 && value >= lower, "{value} {lower}")
            }
        }
    }
}

#[test]
fn too_small_a_budget_is_no_verdict() {
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    let features = Features::new((0..6).map(|i| Feature::new(format!("x{i}"))).collect()).unwrap();
    let net = network(random, &[6, 40, 40, 1], Activation::Tanh, 1.5);
    let problem = Problem::new(features, Classifier::network(net, 0.5).unwrap()).unwrap();
    let problem = problem.with_uncertainty(Norm::L2, 0.3).unwrap();
    let nothing = Action { features: vec![], change: vec![] };
    let x = [0.3, -0.2, 0.5, 0.1, -0.4, 0.2];
    assert!(matches!(
        certify(&problem, &x, &nothing, Budget { evaluations: 0 }),
        Err(Error::Setting(SettingError::Setting { .. }))
    ));
    let of = |evaluations| certify(&problem, &x, &nothing, Budget { evaluations }).unwrap();
    if let Verdict::Undecided { lower, upper } = of(1).verdict {
        assert!(lower <= upper);
    }
    // The same twice.
    assert_eq!(of(500), of(500));
}

#[test]
fn what_does_not_fit_is_refused() {
    let features = Features::new(vec![Feature::new("a"), Feature::new("b")]).unwrap();
    let problem = Problem::new(features, Classifier::linear(vec![1.0, 1.0], 0.0, 0.5).unwrap()).unwrap();
    let of = |x: &[f64], features: &[usize], change: &[f64]| {
        let action = Action { features: features.to_vec(), change: change.to_vec() };
        certify(&problem, x, &action, BUDGET)
    };
    assert!(of(&[0.0, 0.0], &[0], &[1.0]).is_ok());
    assert!(matches!(
        of(&[0.0], &[0], &[1.0]),
        Err(Error::People(PeopleError::VectorLength { expected: 2, found: 1 }))
    ));
    assert!(matches!(
        of(&[0.0, f64::NAN], &[0], &[1.0]),
        Err(Error::People(PeopleError::VectorNotFinite { .. }))
    ));
    assert!(matches!(of(&[0.0, 0.0], &[2], &[1.0]), Err(Error::Feature(FeatureError::NoSuchFeature { .. }))));
    assert!(matches!(
        of(&[0.0, 0.0], &[0, 0], &[1.0, 1.0]),
        Err(Error::People(PeopleError::RepeatedIntervention { .. }))
    ));
    assert!(matches!(
        of(&[0.0, 0.0], &[0], &[f64::INFINITY]),
        Err(Error::People(PeopleError::VectorNotFinite { .. }))
    ));
}
