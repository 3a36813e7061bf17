//! Causal models: what must always hold, for every kind of equation.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod every_kind;

use every_kind::{CLIP, scm};
use ndarray::{Array2, array};
use proptest::prelude::*;
use surefoot::error::CausalModelError;
use surefoot::{Activation, Equation, Error, Feature, Features, Intervention, Layer, Network, Noise, Scm};

/// An individual that the model can produce: predicted from noise.
fn individual() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0f64, 9).prop_map(|noise| scm().predict(&noise).unwrap())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Central differences of a map, one column per entry of `at`.
fn difference_matrix(at: &[f64], map: impl Fn(&[f64]) -> Vec<f64>) -> Array2<f64> {
    const STEP: f64 = 1e-5;
    let column = |j: usize, step: f64| {
        let mut point = at.to_vec();
        point[j] += step;
        map(&point)
    };
    let columns: Vec<_> = (0..at.len()).map(|j| (column(j, STEP), column(j, -STEP))).collect();
    Array2::from_shape_fn((columns[0].0.len(), at.len()), |(i, j)| {
        (columns[j].0[i] - columns[j].1[i]) / (2.0 * STEP)
    })
}

fn assert_close(a: &Array2<f64>, b: &Array2<f64>) -> Result<(), TestCaseError> {
    for ((place, a), b) in a.indexed_iter().zip(b) {
        prop_assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{place:?}: {a} and {b}");
    }
    Ok(())
}

/// Whether the clipped feature is at one of its limits.
fn is_clipped(individual: &[f64]) -> bool {
    [CLIP.0, CLIP.1].iter().any(|limit| (individual[8] - limit).abs() < 1e-12)
}

/// The kinks of `abs`, `relu` and a clip have no derivative.
fn is_smooth_near(individual: &[f64]) -> bool {
    if individual[8] < CLIP.0 + 1e-3 || individual[8] > CLIP.1 - 1e-3 {
        return false;
    }
    let weight = Array2::from_shape_fn((5, 3), |(i, j)| ((3 * i + 5 * j) as f64).sin());
    let z =
        weight.dot(&array![individual[0], individual[1], individual[2]]) + array![0.1, -0.2, 0.3, 0.05, -0.4];
    z.iter().all(|z| z.abs() > 1e-3)
}

proptest! {
    #[test]
    fn abduct_then_predict_is_the_identity(x in individual()) {
        let back = scm().predict(&scm().abduct(&x).unwrap()).unwrap();
        prop_assert!(largest_difference(&x, &back) < 1e-12, "{x:?} {back:?}");
    }

    #[test]
    fn predict_then_abduct_is_the_identity(noise in prop::collection::vec(-1.0..1.0f64, 9)) {
        let x = scm().predict(&noise).unwrap();
        let back = scm().abduct(&x).unwrap();
        let (all, others) = (largest_difference(&noise, &back), largest_difference(&noise[..8], &back[..8]));
        prop_assert!(others < 1e-10 && (all < 1e-10 || is_clipped(&x)), "{noise:?} {back:?}");
        // At a limit it is the noise that just reaches it: what is drawn is as far out or farther.
        if is_clipped(&x) {
            let beyond = if x[8] < 0.0 { back[8] - noise[8] } else { noise[8] - back[8] };
            prop_assert!(beyond > -1e-10, "{noise:?} {back:?}");
        }
    }

    #[test]
    fn doing_nothing_gives_the_individual_back_to_the_bit(x in individual()) {
        let scm = scm();
        let all: Vec<usize> = (0..9).collect();
        let zero = vec![0.0; 9];
        let nothing = [
            Intervention::Additive(&zero),
            Intervention::Shift { features: &[], change: &[] },
            Intervention::Shift { features: &[1, 4], change: &[0.0, 0.0] },
            Intervention::Set { features: &all, value: &x },
        ];
        for intervention in nothing {
            prop_assert_eq!(&scm.counterfactual(&x, intervention).unwrap(), &x);
        }
    }

    #[test]
    fn additive_interventions_add_up_along_the_graph(x in individual(), d in prop::collection::vec(-0.01..0.01f64, 9)) {
        let scm = scm();
        let moved = scm.counterfactual(&x, Intervention::Additive(&d)).unwrap();
        // By definition: abduct, then every equation plus its perturbation.
        let recovered = scm.perturbation_between(&x, &moved).unwrap();
        prop_assert!(largest_difference(&recovered, &d) < 1e-12);
    }

    #[test]
    fn hard_interventions_cut_what_they_set_and_keep_the_rest(x in individual(), change in -0.3..0.3f64) {
        let scm = scm();
        let features = [1, 3];
        let shift = scm.counterfactual(&x, Intervention::Shift { features: &features, change: &[change, 0.0] }).unwrap();
        prop_assert_eq!(shift[0], x[0]);
        prop_assert_eq!(shift[1], x[1] + change);
        prop_assert_eq!(shift[3], x[3]);
        let value = [shift[1], shift[3]];
        let set = scm.counterfactual(&x, Intervention::Set { features: &features, value: &value }).unwrap();
        prop_assert_eq!(&set, &shift);
        // Features that are not intervened upon keep their noise.
        let (before, after) = (scm.abduct(&x).unwrap(), scm.abduct(&shift).unwrap());
        for i in [0, 2, 4, 5, 6, 7] {
            prop_assert!((before[i] - after[i]).abs() < 1e-9, "{i}");
        }
    }

    #[test]
    fn jacobians_agree_with_finite_differences(x in individual()) {
        prop_assume!(is_smooth_near(&x));
        let scm = scm();
        // Observational, in a perturbation and in the noise.
        let zero = vec![0.0; 9];
        let perturbed = |d: &[f64]| scm.counterfactual(&x, Intervention::Additive(d)).unwrap();
        assert_close(&scm.jacobian(&x, &[]).unwrap(), &difference_matrix(&zero, perturbed))?;
        let noise = scm.abduct(&x).unwrap();
        let predicted = |u: &[f64]| scm.predict(u).unwrap();
        assert_close(&scm.noise_jacobian(&x).unwrap(), &difference_matrix(&noise, predicted))?;
        // Interventional: the columns of the features acted upon.
        let features = [1, 4];
        let acted = |change: &[f64]| scm.counterfactual(&x, Intervention::Shift { features: &features, change }).unwrap();
        let columns = scm.jacobian(&x, &features).unwrap().select(ndarray::Axis(1), &features);
        assert_close(&columns, &difference_matrix(&[0.0, 0.0], acted))?;
    }

    #[test]
    fn pullback_is_the_transposed_jacobian(x in individual(), v in prop::collection::vec(-1.0..1.0f64, 9)) {
        let scm = scm();
        for cut in [vec![], vec![2], vec![1, 4]] {
            let product = scm.jacobian(&x, &cut).unwrap().t().dot(&ndarray::Array1::from(v.clone()));
            let pulled = scm.pullback(&x, &cut, &v).unwrap();
            prop_assert!(largest_difference(&pulled, &product.to_vec()) < 1e-12);
        }
    }
}

#[test]
fn linear_formulas_and_single_layers_are_linear() {
    let features =
        Features::new(vec![Feature::new("a").scaling(1.0, 2.0), Feature::new("b").scaling(0.0, 4.0)])
            .unwrap();
    let layer = Layer { weight: array![[1.5]], bias: array![0.3] };
    let network = Network::new(vec![layer], Activation::Relu).unwrap();
    for (equation, coefficient) in [
        (Equation::formula("3 * (a - 2) / 2 + u"), 0.75),
        (Equation::linear(&["a"], vec![0.7], 0.0), 0.7),
        (Equation::network(&["a"], network), 1.5),
    ] {
        let scm = Scm::new(&features, vec![("b", equation)]).unwrap();
        assert!((scm.coefficients().unwrap()[[1, 0]] - coefficient).abs() < 1e-15);
    }
    let scm = Scm::new(&features, vec![("b", Equation::formula("a ^ 2 + u"))]).unwrap();
    assert!(
        matches!(scm.coefficients(), Err(Error::CausalModel(CausalModelError::EquationNotLinear { feature })) if feature == "b")
    );
    assert!(scm.require_additive().is_ok());
}

#[test]
fn noise_has_the_distribution_asked_for() {
    let names = ["normal", "coin", "gamma", "uniform"];
    let features = Features::new(names.iter().map(|&name| Feature::new(name)).collect()).unwrap();
    let scm = Scm::new(&features, vec![]).unwrap();
    let noise = [
        ("gamma", Noise::Gamma { shape: 4.0, scale: 0.5 }),
        ("normal", Noise::Normal { mean: 3.0, std: 2.0 }),
        ("uniform", Noise::Uniform { low: -1.0, high: 5.0 }),
        ("coin", Noise::Bernoulli { probability: 0.3 }),
    ];
    let rows = scm.sample(&noise, 40_000, 5).unwrap();
    let moments = [(3.0, 2.0), (0.3, 0.21f64.sqrt()), (2.0, 1.0), (2.0, 3f64.sqrt())];
    for (column, (mean, std)) in rows.columns().into_iter().zip(moments) {
        assert!((column.mean().unwrap() - mean).abs() < 0.04 * std, "{:?}", column.mean());
        assert!((column.std(1.0) / std - 1.0).abs() < 0.03);
    }
    assert_eq!(rows, scm.sample(&noise, 40_000, 5).unwrap());
    assert_ne!(rows, scm.sample(&noise, 40_000, 6).unwrap());
    // The first people do not depend on how many are drawn.
    assert_eq!(rows.select(ndarray::Axis(0), &[0, 1, 2, 3, 4]), scm.sample(&noise, 5, 5).unwrap());
}
