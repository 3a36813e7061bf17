//! Training of classifiers and fitting of equations, as a user calls them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::ops::ControlFlow;

use ndarray::{Array2, array};
use surefoot::error::{CausalModelError, FeatureError, PeopleError, SettingError, TrainingError};
use surefoot::train::{
    Allr, ClassWeights, Fitting, Function, Objective, Ross, Shape, Threshold, Training, Validation, Warning,
    logistic_regression,
};
use surefoot::{Change, Error, Feature, Features, Intervention, Metrics};

fn features() -> Features {
    Features::new(vec![
        Feature::new("age"),
        Feature::new("income").change(Change::Increase),
        Feature::new("savings").change(Change::Any),
    ])
    .unwrap()
}

/// A stream of numbers that look random, uniform on [-1, 1).
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// People whose outcome is decided by all three features, not linearly.
fn people(n: usize) -> (Array2<f64>, Vec<bool>) {
    let mut next = noise(3);
    let rows = Array2::from_shape_fn((n, 3), |_| 1.7 * next());
    let labels = rows.rows().into_iter().map(|x| x[0] + x[1] * x[2] + 0.5 * x[1] + 0.3 * next() > 0.0);
    let labels = labels.collect();
    (rows, labels)
}

fn quick() -> Training {
    Training { hidden: vec![20, 20], epochs: 30, validation: None, ..Training::default() }
}

#[test]
fn a_network_learns_what_a_line_cannot() {
    let (rows, labels) = people(2000);
    let accuracy = |training: &Training| {
        let trained = training.run(&features(), rows.view(), &labels).unwrap();
        let classifier = trained.classifier(Threshold::BestMcc, rows.view(), &labels).unwrap();
        let probabilities = trained.probabilities(rows.view());
        Metrics::measure(&probabilities, &labels, classifier.threshold()).unwrap().accuracy
    };
    let line = accuracy(&Training { hidden: vec![], epochs: 100, ..quick() });
    let network = accuracy(&quick());
    assert!(line < 0.85 && network > 0.93, "{line} {network}");
}

#[test]
fn logistic_regression_by_adam_comes_to_its_optimum() {
    let (rows, labels) = people(1000);
    let optimum = logistic_regression(&features(), rows.view(), &labels, 0.5).unwrap();
    let training = Training { hidden: vec![], epochs: 1500, step: 0.005, batch: 1000, ..quick() };
    let trained = training.run(&features(), rows.view(), &labels).unwrap();
    let (weights, intercept) = optimum.coefficients().unwrap();
    let layer = &trained.network.layers()[0];
    for (ours, exact) in layer.weight.iter().zip(weights).chain([(&layer.bias[0], &intercept)]) {
        assert!((ours - exact).abs() < 1e-3, "{ours} {exact}");
    }
}

#[test]
fn the_same_seed_gives_the_same_model_on_any_number_of_threads() {
    let (rows, labels) = people(500);
    for objective in [
        Objective::EmpiricalRisk,
        Objective::ActionableOnly,
        Objective::Allr(Allr::default()),
        Objective::Ross(Ross::default()),
    ] {
        // Wide enough for a step to be shared among cores.
        let training = Training { objective, hidden: vec![64, 64], epochs: 2, ..quick() };
        let with = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let training = Training { seed, ..training.clone() };
            pool.install(|| training.run(&features(), rows.view(), &labels).unwrap().network)
        };
        let one = with(1, 7);
        assert_eq!(one, with(2, 7));
        assert_eq!(one, with(5, 7));
        assert_ne!(one, with(1, 8));
    }
}

#[test]
fn actionable_only_never_looks_at_the_rest() {
    let (rows, labels) = people(500);
    let training = Training { objective: Objective::ActionableOnly, ..quick() };
    let network = training.run(&features(), rows.view(), &labels).unwrap().network;
    for row in rows.rows() {
        let mut other = row.to_vec();
        other[0] = 99.0;
        assert_eq!(network.value(&row.to_vec()), network.value(&other));
        assert_eq!(network.gradient(&other)[0], 0.0);
    }
}

#[test]
fn allr_makes_classifiers_linear_and_not_reliant_on_what_is_fixed() {
    let (rows, labels) = people(1500);
    let run = |objective: Objective| {
        let network =
            Training { objective, ..quick() }.run(&features(), rows.view(), &labels).unwrap().network;
        let (mut reliance, mut bend) = (0.0, 0.0);
        for row in rows.rows() {
            let gradient = network.gradient(&row.to_vec());
            reliance += gradient[0] * gradient[0];
            let at = |d: f64| network.value(&[row[0] + d, row[1] + d, row[2] + d]);
            bend += (at(0.05) + at(-0.05) - 2.0 * at(0.0)).abs();
        }
        (reliance, bend)
    };
    let plain = run(Objective::EmpiricalRisk);
    let without_linearity = run(Objective::Allr(Allr { linearity: 0.0, reliance: 0.5, ..Allr::default() }));
    let without_reliance = run(Objective::Allr(Allr { reliance: 0.0, ..Allr::default() }));
    let both = run(Objective::Allr(Allr { reliance: 0.5, ..Allr::default() }));
    assert!(without_linearity.0 < 0.2 * plain.0, "{without_linearity:?} {plain:?}");
    assert!(without_reliance.1 < 0.5 * plain.1, "{without_reliance:?} {plain:?}");
    assert!(both.0 < 0.2 * plain.0 && both.1 < 0.5 * plain.1, "{both:?} {plain:?}");
}

#[test]
fn ross_puts_an_action_within_reach() {
    let (rows, labels) = people(1500);
    let run = |objective: Objective| {
        let network =
            Training { objective, ..quick() }.run(&features(), rows.view(), &labels).unwrap().network;
        let reached = |row: ndarray::ArrayView1<'_, f64>| {
            let gradient = network.gradient(&row.to_vec());
            let length = gradient[1].hypot(gradient[2]);
            let step = |j: usize| row[j] + 0.75 * gradient[j] / length;
            usize::from(network.value(&[row[0], step(1), step(2)]) > 0.0)
        };
        rows.rows().into_iter().map(reached).sum::<usize>()
    };
    let (plain, ross) = (run(Objective::EmpiricalRisk), run(Objective::Ross(Ross::default())));
    assert!(ross > plain, "{ross} {plain}");
}

#[test]
fn class_weights_shift_the_balance() {
    let (rows, _) = people(1000);
    let labels: Vec<bool> = rows.rows().into_iter().map(|x| x[0] > 1.2).collect();
    let mean = |classes: ClassWeights| {
        let training = Training { classes, hidden: vec![], epochs: 20, ..quick() };
        let trained = training.run(&features(), rows.view(), &labels).unwrap();
        trained.probabilities(rows.view()).iter().sum::<f64>() / 1000.0
    };
    let equal = mean(ClassWeights::Equal);
    assert!(mean(ClassWeights::Balanced) > equal + 0.05);
    assert!(mean(ClassWeights::Given { unfavourable: 5.0, favourable: 1.0 }) < equal - 0.02);
    let refused = Training {
        classes: ClassWeights::Given { unfavourable: 0.0, favourable: 1.0 },
        ..Training::default()
    };
    let refused = refused.run(&features(), rows.view(), &labels);
    assert!(matches!(refused, Err(Error::Setting(SettingError::Setting { setting: "classes", .. }))));
}

#[test]
fn early_stopping_keeps_the_best_weights() {
    let (rows, _) = people(200);
    // Labels that have nothing to do with the rows: all that can be learnt is by heart.
    let mut next = noise(11);
    let labels: Vec<bool> = (0..200).map(|_| next() > 0.0).collect();
    let validation = Some(Validation { share: 0.3, patience: Some(5) });
    let training = Training { epochs: 500, validation, ..quick() };
    let mut told = 0;
    let trained = training
        .run_with(&features(), rows.view(), &labels, &mut |epoch| {
            told += 1;
            assert_eq!(epoch.number, told);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(told < 200 && trained.log.len() == told);
    let losses: Vec<f64> = trained.log.iter().map(|epoch| epoch.validation.unwrap()).collect();
    let best = losses.iter().position(|&l| l == losses.iter().copied().fold(f64::MAX, f64::min)).unwrap();
    assert_eq!(best + 1 + 5, losses.len());
    assert_eq!(trained.kept, best + 1);
    // The same training that ends at the best epoch gives the same weights.
    let watched = Some(Validation { share: 0.3, patience: None });
    let short = Training { epochs: best + 1, validation: watched, ..quick() };
    assert_eq!(short.run(&features(), rows.view(), &labels).unwrap().network, trained.network);
}

/// The rows that are held out are known afterwards, and the loss on them has the penalties of the
/// objective: training for a heavier penalty is not stopped by what that costs in cross-entropy.
#[test]
fn rows_held_out_are_judged_by_the_objective() {
    let (rows, labels) = people(300);
    let validation = Some(Validation { share: 0.2, patience: None });
    let held_out = |reliance: f64| {
        let allr = Allr { linearity: 0.0, reliance, ..Allr::default() };
        let objective = if reliance > 0.0 { Objective::Allr(allr) } else { Objective::EmpiricalRisk };
        let training = Training { objective, epochs: 1, validation, ..quick() };
        let trained = training.run(&features(), rows.view(), &labels).unwrap();
        assert_eq!(trained.held_out.len(), 60);
        let chosen = rows.select(ndarray::Axis(0), &trained.held_out);
        // By hand: cross-entropy, and the squared derivative in age, which nobody can change.
        let mean = |of: &dyn Fn(&[f64], bool) -> f64| {
            let each = chosen.rows().into_iter().zip(&trained.held_out);
            each.map(|(row, &i)| of(&row.to_vec(), labels[i])).sum::<f64>() / 60.0
        };
        let value =
            |x: &[f64]| trained.network.values(Array2::from_shape_vec((1, 3), x.to_vec()).unwrap().view())[0];
        let entropy = mean(&|x, label| (1.0 + (if label { -value(x) } else { value(x) }).exp()).ln());
        let slope = mean(&|x, _| {
            let at = |shift: f64| value(&[x[0] + shift, x[1], x[2]]);
            ((at(1e-4) - at(-1e-4)) / 2e-4).powi(2)
        });
        (trained.log[0].validation.unwrap(), entropy + reliance * slope)
    };
    for reliance in [0.0, 0.5, 3.0] {
        let (told, by_hand) = held_out(reliance);
        assert!((told - by_hand).abs() < 1e-4 * by_hand, "{reliance}: {told} {by_hand}");
    }
}

#[test]
fn watching_may_stop_it() {
    let (rows, labels) = people(100);
    let stop = &mut |epoch: &surefoot::train::Epoch| {
        if epoch.number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(quick().run_with(&features(), rows.view(), &labels, stop).unwrap().log.len(), 3);
}

#[test]
fn bad_training_is_refused() {
    let (rows, labels) = people(50);
    let refused =
        |training: Training| training.run(&features(), rows.view(), &labels).map(|_| ()).unwrap_err();
    assert!(matches!(
        refused(Training { epochs: 0, ..quick() }),
        Error::Setting(SettingError::Setting { setting: "epochs", .. })
    ));
    assert!(matches!(
        refused(Training { batch: 0, ..quick() }),
        Error::Setting(SettingError::Setting { setting: "batch", .. })
    ));
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            refused(Training { step, ..quick() }),
            Error::Setting(SettingError::Setting { setting: "step", .. })
        ));
    }
    assert!(matches!(
        refused(Training { hidden: vec![0], ..quick() }),
        Error::Setting(SettingError::Setting { .. })
    ));
    let allr = Objective::Allr(Allr { radius: -1.0, ..Allr::default() });
    assert!(matches!(
        refused(Training { objective: allr, ..quick() }),
        Error::Setting(SettingError::Setting { .. })
    ));
    for share in [0.0, 1.0, 0.001, -3.0, f64::NAN] {
        let validation = Some(Validation { share, patience: None });
        assert!(matches!(
            refused(Training { validation, ..quick() }),
            Error::Setting(SettingError::ValidationShare { .. })
        ));
    }
    let huge = rows.mapv(|x| x * 1e60);
    assert!(matches!(
        quick().run(&features(), huge.view(), &labels),
        Err(Error::Training(TrainingError::Diverged { epoch: 1 }))
    ));
    let fixed = Features::new(vec![Feature::new("a"), Feature::new("b"), Feature::new("c")]).unwrap();
    let af = Training { objective: Objective::ActionableOnly, ..quick() };
    assert!(matches!(
        af.run(&fixed, rows.view(), &labels),
        Err(Error::Feature(FeatureError::NothingActionable))
    ));
    let alike = vec![true; 50];
    assert!(matches!(
        quick().run(&features(), rows.view(), &alike),
        Err(Error::Training(TrainingError::OneClass))
    ));
    assert!(matches!(
        quick().run(&features(), rows.view(), &labels[..49]),
        Err(Error::Training(TrainingError::Labels { rows: 50, labels: 49 }))
    ));
}

/// age -> income -> savings, with age squared in the last.
fn table(n: usize) -> Array2<f64> {
    let mut next = noise(5);
    let mut rows = Array2::zeros((n, 3));
    for mut row in rows.rows_mut() {
        row[0] = 1.5 * next();
        row[1] = 0.8 * row[0] + 0.3 * next();
        row[2] = row[0] * row[0] - 0.5 * row[1] + 0.2 * next();
    }
    rows
}

#[test]
fn linear_equations_are_the_least_squares_solution() {
    let rows = table(400);
    let fitted = Fitting::linear()
        .run(&features(), rows.view(), &[("income", &["age"]), ("savings", &["age", "income"])])
        .unwrap();
    // Normal equations, solved by hand for one parent.
    let (x, y) = (rows.column(0), rows.column(1));
    let (mx, my) = (x.mean().unwrap(), y.mean().unwrap());
    let slope = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>()
        / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>();
    let Function::Linear { coefficients, intercept } = &fitted.equations[0].function else { panic!() };
    assert!((coefficients[0] - slope).abs() < 1e-10 && (intercept - (my - slope * mx)).abs() < 1e-10);
    // For two parents: residuals are orthogonal to every column.
    let Function::Linear { coefficients, intercept } = &fitted.equations[1].function else { panic!() };
    let residual = |row: ndarray::ArrayView1<'_, f64>| {
        row[2] - intercept - coefficients[0] * row[0] - coefficients[1] * row[1]
    };
    for column in 0..3 {
        let of =
            |row: ndarray::ArrayView1<'_, f64>| residual(row) * if column == 2 { 1.0 } else { row[column] };
        assert!(rows.rows().into_iter().map(of).sum::<f64>().abs() < 1e-10);
    }
    assert!(fitted.equations[0].r_squared > 0.9);
    // uniform on +-0.3
    assert!((fitted.equations[0].deviation - 0.3 / 3f64.sqrt()).abs() < 0.02);
}

#[test]
fn networks_fit_what_lines_cannot_and_abduct_the_noise() {
    let rows = table(4000);
    let graph: [(&str, &[&str]); 2] = [("income", &["age"]), ("savings", &["age", "income"])];
    let line = Fitting::linear().run(&features(), rows.view(), &graph).unwrap();
    let mut epochs = 0;
    let network = Fitting::network(40)
        .run_with(&features(), rows.view(), &graph, &mut |_, _| {
            epochs += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(epochs, 80);
    assert!(line.equations[1].r_squared < 0.5);
    assert!(network.equations[1].r_squared > 0.95, "{}", network.equations[1].r_squared);
    assert!(network.equations.iter().all(|equation| equation.warnings.is_empty()));
    // What would savings be at another income?
    let scm = network.scm(&features()).unwrap();
    let x = [0.5, 0.4, 0.3];
    let there = scm.counterfactual(&x, Intervention::Set { features: &[1], value: &[0.65] }).unwrap();
    assert!((there[2] - (0.3 - 0.5 * 0.25)).abs() < 0.05, "{there:?}");
}

#[test]
fn noise_that_grows_with_a_cause_is_noticed() {
    let mut next = noise(9);
    let mut rows = Array2::zeros((1000, 3));
    for mut row in rows.rows_mut() {
        row[0] = next();
        row[1] = next();
        row[2] = row[0] + row[1] + 0.5 * (1.0 + row[0]) * next();
    }
    let fitted = Fitting::linear().run(&features(), rows.view(), &[("savings", &["age", "income"])]).unwrap();
    let [Warning::ResidualsDepend { feature, parent, correlation }] = &fitted.equations[0].warnings[..]
    else {
        panic!("{:?}", fitted.equations[0].warnings)
    };
    assert!(feature == "savings" && parent == "age" && *correlation > 0.3);
    let text = fitted.equations[0].warnings[0].to_string();
    assert!(text.contains("`savings`") && text.contains("`age`"), "{text}");
}

/// The noise of savings grows with age, or does not.
fn noisy(n: usize, seed: u64, growth: f64) -> Array2<f64> {
    let mut next = noise(seed);
    let mut rows = Array2::zeros((n, 3));
    for mut row in rows.rows_mut() {
        (row[0], row[1]) = (next(), next());
        row[2] = row[0] + row[1] + 0.5 * (1.0 + growth * row[0]) * next();
    }
    rows
}

#[test]
fn dependence_is_seen_in_few_rows_and_not_where_there_is_none() {
    let warnings = |rows: Array2<f64>, fitting: &Fitting| {
        let fitted = fitting.run(&features(), rows.view(), &[("savings", &["age", "income"])]).unwrap();
        fitted.equations[0].warnings.len()
    };
    for seed in 0..20 {
        assert_eq!(warnings(noisy(250, seed, 1.0), &Fitting::linear()), 1, "{seed}");
        assert_eq!(warnings(noisy(250, seed, 0.0), &Fitting::linear()), 0, "{seed}");
    }
    for seed in 0..3 {
        assert_eq!(warnings(noisy(300, seed, 1.0), &Fitting::network(20)), 1, "{seed}");
        assert_eq!(warnings(noisy(300, seed, 0.0), &Fitting::network(20)), 0, "{seed}");
    }
}

#[test]
fn nothing_need_be_held_out() {
    let rows = noisy(200, 3, 0.0);
    let graph: [(&str, &[&str]); 1] = [("savings", &["age", "income"])];
    let all = Fitting { held_out: 0.0, ..Fitting::linear() }.run(&features(), rows.view(), &graph).unwrap();
    let some = Fitting::linear().run(&features(), rows.view(), &graph).unwrap();
    // The equation is the same; what is said of it is of all rows.
    assert_eq!(all.equations[0].function, some.equations[0].function);
    assert_eq!(all.equations[0].deviation, some.equations[0].deviation);
    let actual = rows.column(2);
    let unexplained = all.equations[0].deviation.powi(2) * 197.0 / (actual.var(0.0) * 200.0);
    assert!((all.equations[0].r_squared - (1.0 - unexplained)).abs() < 1e-12);
    assert!(all.equations[0].r_squared != some.equations[0].r_squared);
}

#[test]
fn validation_has_both_outcomes() {
    let (rows, _) = people(60);
    // Three of sixty: one and a half of them are held out.
    let labels: Vec<bool> = (0..60).map(|i| i % 20 == 0).collect();
    for seed in 0..20 {
        let (kept, out) = surefoot::train::split(&labels, 0.5, seed).unwrap();
        assert!([&kept, &out].iter().all(|side| side.iter().any(|&row| labels[row])));
        let validation = Some(Validation { share: 0.5, patience: None });
        let training = Training { epochs: 1, validation, seed, ..quick() };
        training.run(&features(), rows.view(), &labels).unwrap();
    }
}

#[test]
fn a_binary_feature_that_follows_is_warned_of() {
    let mut rows = table(300);
    rows.column_mut(2).mapv_inplace(|value| f64::from(u8::from(value > 0.3)));
    let features = Features::new(vec![
        Feature::new("age"),
        Feature::new("income"),
        Feature::new("savings").kind(surefoot::Kind::Binary),
    ]);
    let fitted = Fitting::linear().run(&features.unwrap(), rows.view(), &[("savings", &["age"])]).unwrap();
    let [Warning::Binary { feature }, ..] = &fitted.equations[0].warnings[..] else { panic!() };
    assert_eq!(feature, "savings");
}

#[test]
fn tables_that_cannot_be_fitted_are_refused_by_name() {
    let fit = |rows: &Array2<f64>, graph: &[(&str, &[&str])]| {
        Fitting::linear().run(&features(), rows.view(), graph).map(|_| ()).unwrap_err()
    };
    let mut rows = table(60);
    let graph: &[(&str, &[&str])] = &[("savings", &["age", "income"])];
    assert!(
        matches!(fit(&rows, &[("savings", &[])]), Error::CausalModel(CausalModelError::NoCauses { feature }) if feature == "savings")
    );
    let cycle: &[(&str, &[&str])] = &[("savings", &["income"]), ("income", &["savings"])];
    assert!(matches!(fit(&rows, cycle), Error::CausalModel(CausalModelError::Cycle { .. })));
    assert!(matches!(
        fit(&rows, &[("savings", &["wealth"])]),
        Error::CausalModel(CausalModelError::UnknownParent { .. })
    ));
    rows.column_mut(1).fill(4.0);
    let said = fit(&rows, graph).to_string();
    assert!(said.starts_with("equation of `savings`: its cause `income` has the same value"), "{said}");
    // A network can live with it, and says so.
    let Shape::Network { .. } = Fitting::network(1).shape else { panic!() };
    let fitted = Fitting::network(1).run(&features(), rows.view(), graph).unwrap();
    assert!(fitted.equations[0].warnings.iter().any(|warning| matches!(
        warning,
        Warning::Collinear { parent, .. } if parent == "income"
    )));
    let causes: &[(&str, &[&str])] = &[("income", &["age"])];
    assert!(
        matches!(fit(&rows, causes), Error::Training(TrainingError::ConstantColumn { feature }) if feature == "income")
    );
    rows[[3, 1]] = f64::NAN;
    assert!(
        matches!(fit(&rows, graph), Error::People(PeopleError::NotFinite { person: 4, feature, .. }) if feature == "income")
    );
    assert!(matches!(
        fit(&array![[1.0, 2.0, 3.0]], graph),
        Error::Setting(SettingError::ValidationShare { .. })
    ));
}
