//! Algorithm 1: against exact optima where they are known, and what must always hold.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::{Array2, array};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::error::{CausalModelError, SettingError};
use surefoot::recourse::{Attempt, Inner, Optimiser, karimi, wachter};
use surefoot::{
    Action, ActionKind, Activation, Change, Classifier, Cost, Descent, Equation, Error, Exact, Feature,
    Features, Layer, LimitsOn, Network, Norm, People, Problem, Scm, margin,
};

fn features() -> Features {
    Features::new(vec![
        Feature::new("a").change(Change::Increase).limits(-9.0, 3.0),
        Feature::new("b").change(Change::Any).weight(1.5).limits(-4.0, 4.0),
        Feature::new("c"),
    ])
    .unwrap()
}

fn people(count: usize) -> People {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let rows = Array2::from_shape_fn((count, 3), |_| random.random_range(-1.0..1.0));
    People::from_standardised(&features(), rows.view()).unwrap()
}

fn linear(cost: Cost, causal: bool) -> Problem {
    let classifier = Classifier::linear(vec![1.0, -0.7, 0.4], -1.2, 0.5).unwrap();
    let problem = Problem::new(features(), classifier).unwrap().with_cost(cost);
    let problem = problem.with_uncertainty(Norm::L2, 0.2).unwrap();
    if !causal {
        return problem;
    }
    let equation = Equation::linear(&["a"], vec![-0.5], 0.1);
    problem
        .with_limits_on(LimitsOn::Action)
        .unwrap()
        .with_causal_model(Scm::new(&features(), vec![("b", equation)]).unwrap())
        .unwrap()
}

/// A small network that is not linear.
fn curved(form: ActionKind) -> Problem {
    let hidden = Layer {
        weight: array![[1.0, -0.5, 0.3], [-0.4, 0.9, 0.2], [0.6, 0.6, -1.0]],
        bias: array![0.1, -0.2, 0.0],
    };
    let output = Layer { weight: array![[1.8, -1.1, 0.9]], bias: array![-0.9] };
    let network = Network::new(vec![hidden, output], Activation::Tanh).unwrap();
    let problem = Problem::new(features(), Classifier::network(network, 0.5).unwrap()).unwrap();
    let scm = Scm::new(&features(), vec![("b", Equation::formula("0.4 * tanh(a) + u"))]).unwrap();
    let problem = problem
        .with_limits_on(LimitsOn::Action)
        .unwrap()
        .with_causal_model(scm)
        .unwrap()
        .with_action_kind(form);
    problem.with_uncertainty(Norm::L2, 0.15).unwrap()
}

/// On linear problems the inner maximum is exact, so what is found holds; it costs no less
/// than the optimum, and not much more.
#[test]
fn linear_problems_are_solved_nearly_as_cheaply_as_can_be() {
    for (cost, causal) in [(Cost::L1, false), (Cost::L1, true), (Cost::L2, true)] {
        let problem = linear(cost, causal);
        let exact = Exact::new(&problem).unwrap();
        let people = people(60);
        let attempts = Descent::default().solve(&problem, &people).unwrap();
        let (mut ours, mut best, mut found) = (0.0, 0.0, 0);
        for (x, attempt) in people.iter().zip(&attempts) {
            let outcome = exact.solve(x).unwrap();
            match (attempt, outcome.recourse()) {
                (Attempt::Found(candidate), Some(optimum)) => {
                    assert!(candidate.cost >= optimum.cost_bound - 1e-12);
                    assert!(exact.worst_case(x, &candidate.action).unwrap().margin >= 0.0);
                    (ours, best, found) = (ours + candidate.cost, best + optimum.cost, found + 1);
                }
                (Attempt::Found(_), None) => panic!("found what cannot be: {outcome:?}"),
                _ => {}
            }
        }
        assert!(found > 40 && ours / best < 1.05, "{cost:?} {causal}: {found} {}", ours / best);
    }
}

#[test]
fn every_setting_finds_actions_that_keep_to_their_limits() {
    let problem = curved(ActionKind::Relative);
    let people = people(40);
    let projected = Inner::Projected { steps: 5, length: 0.5, restarts: 2, seed: 1 };
    let settings = [
        Descent::default(),
        Descent { inner: projected, ..Descent::default() },
        Descent { optimiser: Optimiser::Gradient, step: 0.5, ..Descent::default() },
        Descent { penalty: 0.3, decay: 0.8, rounds: 30, steps: 80, ..Descent::default() },
    ];
    for settings in settings {
        let attempts = settings.solve(&problem, &people).unwrap();
        let mut found = 0;
        for (x, attempt) in people.iter().zip(&attempts) {
            let Some(candidate) = attempt.candidate() else { continue };
            let Action { features: set, change } = &candidate.action;
            for (&i, &change) in set.iter().zip(change) {
                let (low, high) = surefoot::action::feasible_change(problem.features(), i, x[i]);
                assert!(change >= low && change <= high);
            }
            assert_eq!(candidate.cost, problem.cost().of(problem.features(), &candidate.action));
            assert!(problem.classifier().score(&candidate.counterfactual) >= 0.0);
            found += 1;
        }
        assert!(found > 10, "{settings:?}: {found}");
    }
}

/// A stronger inner maximum gives actions that withstand a stronger attack.
#[test]
fn projected_gradient_inside_makes_actions_hold() {
    let problem = curved(ActionKind::Relative);
    let people = people(40);
    let inner = Inner::Projected { steps: 10, length: 0.5, restarts: 2, seed: 1 };
    let attempts = Descent { inner, ..Descent::default() }.solve(&problem, &people).unwrap();
    let found: Vec<usize> = (0..40).filter(|&i| attempts[i].candidate().is_some()).collect();
    let actions: Vec<Action> =
        found.iter().filter_map(|&i| attempts[i].candidate()).map(|c| c.action.clone()).collect();
    let worst =
        worst_found(&problem, &people.select(&found).unwrap(), &actions, &ProjectedGradient::default())
            .unwrap();
    assert!(worst.iter().all(|worst| worst.margin > -1e-3), "{worst:?}");
}

#[test]
fn stopping_early_changes_nothing_but_the_time() {
    for form in [ActionKind::Relative, ActionKind::Absolute] {
        let problem = curved(form);
        let of = |stop_when_settled| {
            Descent { stop_when_settled, ..Descent::default() }.solve(&problem, &people(40)).unwrap()
        };
        assert_eq!(of(true), of(false));
    }
}

#[test]
fn answers_depend_on_neither_the_batch_nor_the_number_of_threads() {
    let problem = curved(ActionKind::Relative);
    let people = people(70);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Descent::default().solve(&problem, &people).unwrap())
    };
    let one = with(1);
    assert_eq!(one, with(4));
    let alone = Descent::default().solve(&problem, &people.select(&[41]).unwrap()).unwrap();
    assert_eq!(alone[0], one[41]);
}

#[test]
fn without_uncertainty_it_goes_by_the_names_of_wachter_and_of_karimi() {
    let (plain, causal) = (linear(Cost::L1, false), linear(Cost::L1, true));
    let people = people(30);
    assert!(matches!(wachter(&causal, &people), Err(Error::Setting(SettingError::HasCausalModel))));
    assert!(matches!(karimi(&plain, &people), Err(Error::Setting(SettingError::NoCausalModel))));
    for (problem, attempts) in [(&plain, wachter(&plain, &people)), (&causal, karimi(&causal, &people))] {
        let standard = problem.clone().with_uncertainty(Norm::L2, 0.0).unwrap();
        let exact = Exact::new(&standard).unwrap();
        for (x, attempt) in people.iter().zip(attempts.unwrap()) {
            let Some(candidate) = attempt.candidate() else { continue };
            let optimum = exact.solve(x).unwrap();
            assert!(candidate.cost >= optimum.recourse().unwrap().cost_bound - 1e-12);
            assert!(margin::margin(&standard, x, &candidate.action, &[0.0; 3]).unwrap() >= 0.0);
        }
    }
}

#[test]
fn bad_settings_and_other_people_are_refused() {
    let problem = curved(ActionKind::Relative);
    let solve = |settings: Descent| settings.solve(&problem, &people(1)).unwrap_err();
    assert!(matches!(
        solve(Descent { step: 0.0, ..Descent::default() }),
        Error::Setting(SettingError::Setting { setting: "step", .. })
    ));
    assert!(matches!(
        solve(Descent { decay: f64::NAN, ..Descent::default() }),
        Error::Setting(SettingError::Setting { setting: "decay", .. })
    ));
    let inner = Inner::Projected { steps: 1, length: -1.0, restarts: 0, seed: 0 };
    assert!(matches!(
        solve(Descent { inner, ..Descent::default() }),
        Error::Setting(SettingError::Setting { setting: "length", .. })
    ));
    let other = Features::new(vec![Feature::new("x")]).unwrap();
    let others = People::from_own_units(&other, &[[0.0]]).unwrap();
    assert!(matches!(
        Descent::default().solve(&problem, &others),
        Err(Error::CausalModel(CausalModelError::OtherFeatures))
    ));
    assert!(matches!(
        solve(Descent { rounds: 0, ..Descent::default() }),
        Error::Setting(SettingError::Setting { setting: "rounds", .. })
    ));
    assert!(matches!(
        solve(Descent { steps: 0, ..Descent::default() }),
        Error::Setting(SettingError::Setting { setting: "steps", .. })
    ));
    let endless = Descent { rounds: usize::MAX, ..Descent::default() };
    assert!(matches!(solve(endless), Error::Setting(SettingError::Setting { setting: "rounds", .. })));
}
