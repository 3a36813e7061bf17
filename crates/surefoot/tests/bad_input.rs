//! Bad input: a typed error that names the place and the remedy, never a panic.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use surefoot::error::{CausalModelError, FeatureError, ModelError, PeopleError, SettingError};
use surefoot::margin::margin;
use surefoot::theory::{cost_stability, extra_cost, fragility};
use surefoot::{
    Action, Activation, Change, Classifier, Complete, Equation, Error, Exact, Feature, Features,
    Intervention, Layer, Network, Noise, Norm, NormKind, People, Problem, Scm, recourse,
};
use surefoot::{describe, describe_shift};

fn features() -> Features {
    Features::new(vec![
        Feature::new("income").change(Change::Increase),
        Feature::new("savings").change(Change::Increase),
        Feature::new("age"),
    ])
    .unwrap()
}

fn model(equations: Vec<(&str, Equation)>) -> Error {
    Scm::new(&features(), equations).unwrap_err()
}

/// The message contains each of these.
fn says(error: &Error, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} not in {message:?}");
    }
}

#[test]
fn a_cycle_is_told_arrow_by_arrow() {
    let error = model(vec![
        ("income", Equation::linear(&["savings"], vec![1.0], 0.0)),
        ("savings", Equation::formula("age + income + u")),
    ]);
    assert!(
        matches!(&error, Error::CausalModel(CausalModelError::Cycle { features }) if features.len() == 3)
    );
    says(&error, &["`income` -> `savings` -> `income`", "remove"]);
    let itself = model(vec![("age", Equation::formula("age * 0.5 + u"))]);
    says(&itself, &["`age` -> `age`"]);
}

#[test]
fn unknown_and_repeated_names_in_equations() {
    let linear = |parents: &[&str], n: usize| Equation::linear(parents, vec![1.0; n], 0.0);
    let error = model(vec![("savings", linear(&["incme"], 1))]);
    assert!(matches!(&error, Error::CausalModel(CausalModelError::UnknownParent { .. })));
    says(&error, &["`savings`", "`incme`", "`income`"]);
    assert!(
        matches!(model(vec![("debt", linear(&[], 0))]), Error::Feature(FeatureError::UnknownFeature { feature, .. }) if feature == "debt")
    );
    let twice = model(vec![("age", linear(&[], 0)), ("age", Equation::formula("u"))]);
    assert!(
        matches!(twice, Error::CausalModel(CausalModelError::DuplicateEquation { feature }) if feature == "age")
    );
    assert!(matches!(
        model(vec![("age", linear(&["income", "income"], 2))]),
        Error::CausalModel(CausalModelError::DuplicateParent { .. })
    ));
    let short = model(vec![("age", linear(&["income", "savings"], 1))]);
    assert!(
        matches!(&short, Error::CausalModel(CausalModelError::EquationInputs { parents, inputs: 1, .. }) if parents.len() == 2)
    );
    says(
        &short,
        &["equation of `age`: it takes 1 input, but 2 parents are named", "order: `income` and `savings`"],
    );
    let orphan = model(vec![("age", linear(&[], 2))]);
    says(&orphan, &["it takes 2 inputs, but 0 parents are named; name its parents"]);
    let nan = model(vec![("age", Equation::linear(&["income"], vec![f64::NAN], 0.0))]);
    assert!(matches!(nan, Error::CausalModel(CausalModelError::EquationNumber { .. })));
    let layer = Layer { weight: ndarray::array![[1.0, 2.0]], bias: ndarray::array![0.0] };
    let network = Network::new(vec![layer], Activation::Tanh).unwrap();
    let narrow = model(vec![("age", Equation::network(&["income"], network))]);
    assert!(matches!(&narrow, Error::CausalModel(CausalModelError::EquationInputs { inputs: 2, .. })));
    says(
        &narrow,
        &["it takes 2 inputs, but 1 parent is named", "one input of the network", "order: `income`"],
    );
}

/// `u` is the noise; where a feature has the same name it must be clear which is meant.
#[test]
fn a_feature_called_as_the_noise_is_refused_where_a_formula_may_mean_it() {
    let features = Features::new(["u", "income", "savings"].map(Feature::new).to_vec()).unwrap();
    let of = |formula: &str| Scm::new(&features, vec![("savings", Equation::formula(formula))]);
    for formula in ["2 * u", "income + u", "u"] {
        let error = of(formula).unwrap_err().to_string();
        assert!(error.contains("`savings`") && error.contains("rename the feature"), "{error}");
    }
    let scm = of("3 * `u` + u").unwrap();
    assert_eq!(scm.parents(2), [0]);
    assert_eq!(scm.abduct(&[1.0, 0.0, 5.0]).unwrap()[2], 2.0);
    // Without a formula there is nothing to confuse.
    Scm::new(&features, vec![("savings", Equation::linear(&["u"], vec![1.0], 0.0))]).unwrap();
}

#[test]
fn faults_in_formulas_point_at_the_column() {
    let of = |formula: &str| model(vec![("savings", Equation::formula(formula))]);
    let error = of("-4 + 1.5 * maxx(income, 0) + u");
    says(&error, &["`savings`", "column 12", "unknown function `maxx`", "exp, log"]);
    // A caret stands under the column.
    let message = error.to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines[1].find("maxx"), lines[2].find('^'));
    says(&of("2 * wealth + u"), &["column 5", "`wealth`", "`income`"]);
    says(&of("income + (u"), &["column 12", "expected `)`", "the end"]);
    says(&of("age ^ 2"), &["cannot be solved for its noise", "+ u"]);
    says(&of("income * u"), &["column 8", "sign", "inverse"]);
    says(&of(""), &["column 1", "a number, a name"]);
    says(&of("x ** 2 + u"), &["column 3", "x ^ 2"]);
    says(&of("income / 0 + u"), &["column 8", "no finite number"]);
    // A long formula is shown around the place.
    let far = of(&(" ".repeat(70_000) + "foo(1)")).to_string();
    assert!(far.contains("column 70001") && far.contains("foo(1)") && far.len() < 500, "{far}");
}

#[test]
fn values_that_equations_cannot_take_or_give() {
    let scm = |formula: &str| Scm::new(&features(), vec![("savings", Equation::formula(formula))]).unwrap();
    let unreachable = scm("exp(u)").abduct(&[0.0, -1.0, 0.0]).unwrap_err();
    says(&unreachable, &["`savings`", "-1"]);
    let undefined = scm("log(income) + u").predict(&[-1.0, 0.0, 0.0]).unwrap_err();
    assert!(
        matches!(&undefined, Error::CausalModel(CausalModelError::EquationNotFinite { feature, .. }) if feature == "savings")
    );
    let huge = scm("exp(income) + u").predict(&[1e4, 0.0, 0.0]).unwrap_err();
    assert!(matches!(huge, Error::CausalModel(CausalModelError::EquationNotFinite { .. })));
}

#[test]
fn vectors_of_the_wrong_length_or_content() {
    let scm = Scm::new(&features(), vec![("savings", Equation::formula("income + u"))]).unwrap();
    let x = [0.0; 3];
    assert!(matches!(
        scm.abduct(&[0.0]),
        Err(Error::People(PeopleError::VectorLength { expected: 3, found: 1 }))
    ));
    assert!(
        matches!(scm.predict(&[0.0, 0.0, f64::NAN]), Err(Error::People(PeopleError::VectorNotFinite { feature, .. })) if feature == "age")
    );
    assert!(scm.counterfactual(&x, Intervention::Additive(&[0.0])).is_err());
    let beyond = Intervention::Shift { features: &[3], change: &[1.0] };
    assert!(matches!(
        scm.counterfactual(&x, beyond),
        Err(Error::Feature(FeatureError::NoSuchFeature { index: 3, features: 3 }))
    ));
    let uneven = Intervention::Set { features: &[0, 1], value: &[1.0] };
    assert!(matches!(scm.counterfactual(&x, uneven), Err(Error::People(PeopleError::VectorLength { .. }))));
    let infinite = Intervention::Set { features: &[0], value: &[f64::INFINITY] };
    assert!(scm.counterfactual(&x, infinite).is_err());
    let twice = Intervention::Shift { features: &[0, 0], change: &[1.0, 2.0] };
    assert!(matches!(
        scm.counterfactual(&x, twice),
        Err(Error::People(PeopleError::RepeatedIntervention { .. }))
    ));
    assert!(scm.jacobian(&x, &[7]).is_err());
    assert!(scm.pullback(&x, &[], &[1.0]).is_err());
    assert!(scm.perturbation_between(&x, &[0.0]).is_err());
}

#[test]
fn noise_that_is_missing_doubled_or_impossible() {
    let scm = Scm::new(&features(), vec![]).unwrap();
    let normal = Noise::Normal { mean: 0.0, std: 1.0 };
    let all = [("income", normal), ("savings", normal), ("age", normal)];
    assert!(
        matches!(scm.sample(&all[..2], 1, 0), Err(Error::CausalModel(CausalModelError::MissingNoise { feature })) if feature == "age")
    );
    let twice = [all[0], all[1], all[2], all[2]];
    assert!(matches!(
        scm.sample(&twice, 1, 0),
        Err(Error::CausalModel(CausalModelError::DuplicateNoise { .. }))
    ));
    assert!(matches!(scm.sample(&all, usize::MAX, 0), Err(Error::People(PeopleError::TooManyPeople { .. }))));
    for noise in [
        Noise::Normal { mean: 0.0, std: -1.0 },
        Noise::Normal { mean: f64::NAN, std: 1.0 },
        Noise::Bernoulli { probability: 1.5 },
        Noise::Gamma { shape: 0.0, scale: 1.0 },
        Noise::Gamma { shape: f64::INFINITY, scale: 1.0 },
        Noise::Uniform { low: 1.0, high: 0.0 },
        Noise::Uniform { low: f64::NAN, high: 0.0 },
    ] {
        let error = scm.sample(&[all[0], all[1], ("age", noise)], 1, 0).unwrap_err();
        assert!(
            matches!(&error, Error::CausalModel(CausalModelError::NoiseParameters { feature, .. }) if feature == "age"),
            "{error}"
        );
    }
}

fn problem() -> Problem {
    Problem::new(features(), Classifier::linear(vec![1.0, 1.0, 0.5], -1.0, 0.5).unwrap()).unwrap()
}

#[test]
fn problems_whose_parts_do_not_fit() {
    let narrow = Classifier::linear(vec![1.0], 0.0, 0.5).unwrap();
    let narrow = Problem::new(features(), narrow).unwrap_err();
    assert!(matches!(&narrow, Error::Model(ModelError::ClassifierInputs { inputs: 1, .. })));
    let order = "give one coefficient, or one input of the network, for each feature, in this order: `income`, `savings` and `age`";
    says(&narrow, &["the classifier takes 1 input, but there are 3 features", order]);
    let other = Features::new(vec![Feature::new("x")]).unwrap();
    let foreign = problem().with_causal_model(Scm::new(&other, vec![]).unwrap());
    assert!(matches!(foreign, Err(Error::CausalModel(CausalModelError::OtherFeatures))));
    for epsilon in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            problem().with_uncertainty(Norm::L2, epsilon),
            Err(Error::Setting(SettingError::Epsilon { .. }))
        ));
        assert!(matches!(problem().with_safety(epsilon), Err(Error::Setting(SettingError::Safety { .. }))));
    }
    let short = Norm::weighted(NormKind::L1, vec![1.0]).unwrap();
    assert!(matches!(
        problem().with_uncertainty(short, 0.1),
        Err(Error::Setting(SettingError::NormWeights { features: 3, weights: 1 }))
    ));
}

#[test]
fn people_and_actions_that_do_not_fit_the_problem() {
    let other = Features::new(vec![Feature::new("x")]).unwrap();
    let people = People::from_own_units(&other, &[[0.0]]).unwrap();
    assert!(matches!(
        recourse(&problem(), &people),
        Err(Error::CausalModel(CausalModelError::OtherFeatures))
    ));
    let problem = problem();
    let exact = Exact::new(&problem).unwrap();
    assert!(exact.solve(&[0.0]).is_err() && exact.solve(&[0.0, f64::NAN, 0.0]).is_err());
    let beyond = Action { features: vec![9], change: vec![1.0] };
    let uneven = Action { features: vec![0, 1], change: vec![1.0] };
    let twice = Action { features: vec![0, 0], change: vec![1.0, 2.0] };
    let infinite = Action { features: vec![0], change: vec![f64::INFINITY] };
    for action in [beyond, uneven, twice, infinite] {
        assert!(exact.worst_case(&[0.0; 3], &action).is_err());
        assert!(exact.smallest_break(&[0.0; 3], &action).is_err());
        assert!(margin(&problem, &[0.0; 3], &action, &[0.0; 3]).is_err());
        assert!(fragility(&problem, &[0.0; 3], &action, 0.1).is_err());
        assert!(extra_cost(&exact, &[0.0; 3], &action).is_err());
    }
    let fine = Action { features: vec![0], change: vec![1.0] };
    assert!(margin(&problem, &[0.0; 3], &fine, &[0.0]).is_err());
    assert!(margin(&problem, &[0.0, f64::NAN, 0.0], &fine, &[0.0; 3]).is_err());
    assert!(margin(&problem, &[0.0; 3], &fine, &[f64::INFINITY, 0.0, 0.0]).is_err());
    assert!(cost_stability(&exact, &[f64::NAN, 0.0, 0.0]).is_err());
    let outcome = exact.solve(&[0.0; 3]).unwrap();
    assert!(describe(&problem, &[], &outcome).is_err() && describe_shift(&problem, &[1.0]).is_err());
    // The same names in another order are other features.
    let swapped = Features::new(vec![Feature::new("b"), Feature::new("a")]).unwrap();
    let people = People::from_records(&swapped, &[&[("a", 1.0), ("b", 2.0)]]).unwrap();
    let straight = Features::new(vec![Feature::new("a").change(Change::Any), Feature::new("b")]).unwrap();
    let other = Problem::new(straight, Classifier::linear(vec![1.0, 1.0], -9.0, 0.5).unwrap()).unwrap();
    assert!(matches!(recourse(&other, &people), Err(Error::CausalModel(CausalModelError::OtherFeatures))));
    assert!(fragility(&problem, &[0.0], &fine, 0.1).is_err());
    assert!(cost_stability(&exact, &[0.0]).is_err());
    for radius in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            fragility(&problem, &[0.0; 3], &fine, radius),
            Err(Error::Setting(SettingError::Epsilon { .. }))
        ));
    }
}

#[test]
fn methods_refuse_what_they_cannot_solve() {
    let scm = Scm::new(&features(), vec![("savings", Equation::formula("max(income, 0) + u"))]).unwrap();
    let bent = problem().with_causal_model(scm).unwrap();
    let error = Exact::new(&bent).unwrap_err();
    says(&error, &["`savings`", "linear"]);
    let hidden = Layer { weight: ndarray::array![[1.0, 2.0, 3.0]], bias: ndarray::array![0.0] };
    let output = Layer { weight: ndarray::array![[1.0]], bias: ndarray::array![0.0] };
    let network = Network::new(vec![hidden, output], Activation::Tanh).unwrap();
    let curved = Problem::new(features(), Classifier::network(network, 0.5).unwrap()).unwrap();
    assert!(matches!(Exact::new(&curved), Err(Error::Model(ModelError::ClassifierNotLinear))));

    let many = |n: usize, change| {
        let features = (0..n).map(|i| Feature::new(format!("x{i}")).change(change)).collect();
        let features = Features::new(features).unwrap();
        let classifier = Classifier::linear(vec![1.0; n], 0.0, 0.5).unwrap();
        let names = features.names();
        let follows = |i: usize| (names[i].as_str(), Equation::linear(&[&names[i - 1]], vec![1.0], 0.0));
        let scm = Scm::new(&features, (1..n).map(follows).collect()).unwrap();
        Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap()
    };
    // The first feature follows from nothing, so that every combination of 13 others is a set.
    assert!(Exact::new(&many(14, Change::Any)).is_ok());
    assert!(Complete::new(&many(14, Change::Any)).is_ok());
    // Where equations are not linear, each set is bounded on its own.
    let bent = |n: usize| {
        let problem = many(n, Change::Any);
        let names = problem.features().names();
        let follows =
            |i: usize| (names[i].as_str(), Equation::formula(format!("tanh({}) + u", names[i - 1])));
        let scm = Scm::new(problem.features(), (1..n).map(follows).collect()).unwrap();
        problem.with_causal_model(scm).unwrap()
    };
    let error = Complete::new(&bent(14)).unwrap_err();
    says(&error, &["8192 intervention sets", "13 features", "4096", "mark some of these features as fixed"]);
    assert!(Complete::new(&bent(13)).is_ok());
    assert!(matches!(
        Exact::new(&many(3, Change::Fixed)),
        Err(Error::Feature(FeatureError::NothingActionable))
    ));
}
