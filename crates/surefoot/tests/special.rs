//! Special values: worked out by hand, and held against problems in which the feature is a constant.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use ndarray::Axis;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use surefoot::attack::refute;
use surefoot::error::{PeopleError, RuleError};
use surefoot::margin::margin;
use surefoot::recourse::{Explainer, MethodName, Relaxed, Settings, Solver, trade_off};
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Constraint, Ensemble, Equation, Error, Feature, Features,
    Layer, Network, Norm, Outcome, People, Problem, ProblemFile, SavedProof, Scm, Verdict, certify, describe,
    describe_explanation, describe_options, infeasibility, verify,
};
use surefoot_random::{network, norm, one, uniform};

const PROBLEM: &str = r#"
epsilon = 0.1

[[feature]]
name = "bureau"
label = "bureau score"
special = { "-9" = "no bureau record", "-8" = "a closed record" }
mean = 50
std = 25
limits = [0, 100]
change = "increase"

[[feature]]
name = "income"
mean = 3000
std = 1500
change = "increase"

[[equation]]
feature = "bureau"
formula = "20 + 0.01 * income + u"

[classifier]
coefficients = [2, 1]
intercept = 1
"#;

fn file(text: &str) -> ProblemFile {
    ProblemFile::parse(text, Path::new("problem.toml")).unwrap()
}

fn proven(problem: &Problem, individual: &[f64]) -> Outcome {
    proven_with(problem, individual, Settings::default())
}

fn proven_with(problem: &Problem, individual: &[f64], settings: Settings) -> Outcome {
    let proof = Solver::new(problem, settings).unwrap().prove(individual).unwrap();
    let saved = SavedProof::from_json(&proof.to_json(problem, individual)).unwrap();
    let verification = verify(problem, &saved).unwrap();
    assert!(verification.is_verified(), "{verification:?}");
    proof.outcome
}

/// Bureau -9 is -2.36 standard deviations, an income of 3000 is 0: the logit is -4.72 + 1 = -3.72. Nothing moves the
/// bureau score, so that income has to rise by 3.72, and 0.1 against shifts of income alone. For somebody with a
/// score of 0 (-2; logit -3), income by `d` raises the score by 0.6 d, and the logit by 2.2 d.
#[test]
fn answers_by_hand() {
    let problem = file(PROBLEM).problem().unwrap();
    let people = People::from_own_units(problem.features(), &[[-9.0, 3000.0], [0.0, 3000.0]]).unwrap();
    let special = people.individual(0);
    let Outcome::Found(found) = proven(&problem, special) else { panic!() };
    assert_eq!(found.action.features, [1]);
    assert!((found.cost - 3.82).abs() < 1e-6, "{found:?}");
    assert_eq!(found.counterfactual[0], special[0]);
    let answers = Solver::new(&problem, Settings::default()).unwrap().solve_people(&people).unwrap();
    assert!((answers[0].recourse().unwrap().cost - 3.82).abs() < 1e-6);
    // The other person raises the bureau score and income.
    let Outcome::Found(usual) = &answers[1] else { panic!() };
    assert!(usual.cost < 2.0, "{usual:?}");
    assert_eq!(
        describe(&problem, special, &answers[0]).unwrap(),
        "Raise income by 5731 (from 3000 to 8731). This still works if circumstances shift a little: income by up to \
         150. That is proven, as is that no cheaper allowed action would do. Taken as it is and not to be changed, because the \
         value is special: bureau score (no bureau record)."
    );
    let several = Solver::new(&problem, Settings::default()).unwrap().options(special, 3).unwrap();
    assert_eq!(several.len(), 1);
    let text = describe_options(&problem, special, &several).unwrap();
    assert!(text.ends_with("bureau score (no bureau record)."), "{text}");
    // Actions from elsewhere.
    let raise = |feature: usize, change: f64| Action { features: vec![feature], change: vec![change] };
    let why = infeasibility(&problem, special, &raise(0, 3.0)).unwrap().unwrap();
    assert_eq!(why.to_string(), "`bureau` may not be changed");
    let verdict = |action: &Action| certify(&problem, special, action, Budget::default()).unwrap().verdict;
    assert!(matches!(verdict(&raise(1, 3.8201)), Verdict::Holds { .. }));
    assert!(matches!(verdict(&raise(1, 3.8199)), Verdict::Breaks { .. }));
    let breaks = refute(&problem, &people, &[raise(1, 3.8199), raise(1, 9.0)], Budget::default()).unwrap();
    let found = breaks[0].as_ref().unwrap();
    assert!((found.size - 0.0999).abs() < 1e-6 && found.shift[0] == 0.0, "{found:?}");
    // The logit of the other person is then -3 + 2.2 * 9; the smallest shift is along (2, 1 + 1.2).
    let size = breaks[1].as_ref().unwrap().size;
    assert!((size - 16.8 / 4.0f64.hypot(2.2).max(1e-9)).abs() < 3.0 && size > 5.0, "{size}");
    let curve = trade_off(&problem, special, Some(&[0.0, 0.2]), Settings::default(), |_| {}).unwrap();
    assert!((curve.answers[1].recourse().unwrap().cost - 3.92).abs() < 1e-6);
    // Whatever does not know of the person's own problem refuses them.
    let direct = margin(&problem, special, &raise(1, 4.0), &[0.0, 0.0]);
    assert!(matches!(direct, Err(Error::People(PeopleError::Special { .. }))), "{direct:?}");
    let own = problem.for_person(special).unwrap().unwrap().problem;
    assert!((margin(&own, special, &raise(1, 4.0), &[0.0, 0.0]).unwrap() - 0.28).abs() < 1e-12);
}

/// Nobody can help who has nothing else to change: this is proven, too.
#[test]
fn somebody_with_nothing_else_to_change() {
    let text = PROBLEM.replace("change = \"increase\"\n\n[[equation]]", "\n[[equation]]");
    let problem = file(&text).problem().unwrap();
    let people = People::from_own_units(problem.features(), &[[-8.0, 3000.0], [0.0, 3000.0]]).unwrap();
    let special = people.individual(0);
    let outcome = proven(&problem, special);
    assert!(matches!(outcome, Outcome::Impossible(_)), "{outcome:?}");
    assert!(proven(&problem, people.individual(1)).recourse().is_some());
    let relaxed = Relaxed::all(&problem);
    let explainer = Explainer::new(&problem, &relaxed, Settings::default()).unwrap();
    let explanation = explainer.explain(special, &outcome).unwrap().unwrap();
    let text = describe_explanation(&problem, &explanation);
    assert!(text.contains("if income could be changed") && !text.contains("bureau"), "{text}");
    let text = describe(&problem, special, &outcome).unwrap();
    assert!(text.ends_with("special: bureau score (a closed record)."), "{text}");
    // Favourable as it is.
    let rich = People::from_own_units(problem.features(), &[[-9.0, 9000.0]]).unwrap();
    assert_eq!(proven(&problem, rich.individual(0)), Outcome::AlreadyFavourable);
}

/// A network or a linear model of which one input has a constant value.
fn fixed_input(model: &Network, input: usize, value: f64) -> Network {
    let mut layers: Vec<Layer> = model.layers().to_vec();
    let column = layers[0].weight.column(input).to_owned();
    layers[0].bias = &layers[0].bias + &(column * value);
    layers[0].weight.remove_index(Axis(1), input);
    Network::new(layers, model.activation()).unwrap()
}

/// A problem over features 0 to 3, of which number 1 may be special, and the same problem without it.
fn drawn(random: &mut ChaCha8Rng, value: f64) -> (Problem, Problem) {
    let changes = [Change::Any, Change::Any, Change::Increase, Change::Fixed];
    let features: Vec<Feature> = (0..4)
        .map(|i| {
            let feature = Feature::new(format!("x{i}")).limits(-3.0, 3.0).change(changes[i]);
            if i == 1 { feature.special(value, None) } else { feature }
        })
        .collect();
    let rest = Features::new([0, 2, 3].map(|i| features[i].clone()).to_vec()).unwrap();
    let features = Features::new(features).unwrap();
    let is_linear = random.random_bool(0.5);
    let widths: &[usize] = if is_linear { &[4, 1] } else { &[4, 5, 1] };
    let activation = one(random, &[Activation::Tanh, Activation::Relu]);
    let model = network(random, widths, activation, 1.0);
    let classifier = |model: Network| match model.layers() {
        [only] => Classifier::linear(only.weight.row(0).to_vec(), only.bias[0] - 0.5, 0.5),
        _ => Classifier::network(model, 0.5),
    };
    let norm = norm(random, 4);
    let less = match norm.weights() {
        Some(w) => Norm::weighted(norm.kind().unwrap(), vec![w[0], w[2], w[3]]).unwrap(),
        None => norm.clone(),
    };
    let mut problem = Problem::new(features.clone(), classifier(model.clone()).unwrap()).unwrap();
    let mut without = Problem::new(rest.clone(), classifier(fixed_input(&model, 1, value)).unwrap()).unwrap();
    if random.random_bool(0.5) {
        // x1 follows from x0, and x2 and x3 from x1 and x0.
        let c = uniform(random, 5, -0.8..0.8);
        let linear = |parents: &[&str], by: &[f64]| Equation::linear(parents, by.to_vec(), 0.0);
        let scm = Scm::new(
            &features,
            vec![
                ("x1", linear(&["x0"], &c[..1])),
                ("x2", linear(&["x0", "x1"], &c[1..3])),
                ("x3", linear(&["x1", "x2"], &c[3..])),
            ],
        );
        let fewer = vec![("x2", linear(&["x0"], &c[1..2])), ("x3", linear(&["x2"], &c[4..]))];
        without = without.with_causal_model(Scm::new(&rest, fewer).unwrap()).unwrap();
        problem = problem.with_causal_model(scm.unwrap()).unwrap();
    }
    let epsilon = random.random_range(0.0..0.3);
    (problem.with_uncertainty(norm, epsilon).unwrap(), without.with_uncertainty(less, epsilon).unwrap())
}

#[test]
fn a_special_value_is_a_constant() {
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let (mut found, mut impossible) = (0, 0);
    for case in 0..60 {
        let value = one(&mut random, &[-9.0, -1.0, 0.0, 99.0]);
        let (problem, without) = drawn(&mut random, value);
        let mut x = uniform(&mut random, 4, -2.0..2.0);
        x[1] = value;
        let rest = [x[0], x[2], x[3]];
        let settings =
            |method: &str| Settings { method: method.parse::<MethodName>().unwrap(), ..Settings::default() };
        let expected = Solver::new(&without, settings("auto")).unwrap().solve(&rest).unwrap();
        let answer = proven(&problem, &x);
        assert_eq!(answer.status(), expected.status(), "case {case}");
        let own = problem.for_person(&x).unwrap().unwrap().problem;
        match (&answer, &expected) {
            (Outcome::Found(answer), Outcome::Found(expected)) => {
                found += 1;
                assert!(!answer.action.features.contains(&1));
                // Both are within the gap of 1% of the same least cost.
                let within = |a: f64, b: f64| a >= b * (1.0 - 1e-6);
                assert!(within(answer.cost, expected.cost_bound) && within(expected.cost, answer.cost_bound));
                // No shift of anything else breaks it.
                for _ in 0..200 {
                    let mut shift = without.norm().sample(&mut random, 3, true);
                    shift.iter_mut().for_each(|d| *d *= without.epsilon());
                    let place = |i: usize| [0, 2, 3].iter().position(|&j| j == i).unwrap();
                    let action = Action {
                        features: answer.action.features.iter().map(|&i| place(i)).collect(),
                        change: answer.action.change.clone(),
                    };
                    assert!(margin(&without, &rest, &action, &shift).unwrap() >= -1e-9, "case {case}");
                    let all = [shift[0], 0.0, shift[1], shift[2]];
                    let (a, b) = (
                        margin(&own, &x, &answer.action, &all).unwrap(),
                        margin(&without, &rest, &action, &shift).unwrap(),
                    );
                    assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()) * (1.0 + value.abs()), "{a} {b}");
                }
            }
            (Outcome::Impossible(_), _) => impossible += 1,
            _ => {}
        }
    }
    assert!(found >= 15 && impossible >= 5, "{found} {impossible}");
}

/// Random stumps of three features, some of which ask whether the second one is special.
fn stumps(random: &mut ChaCha8Rng) -> (Ensemble, [Vec<f64>; 3]) {
    let mut thresholds = [Vec::new(), Vec::new(), Vec::new()];
    let mut stump = |k: usize| {
        let feature = k % 3;
        let special = random.random_bool(0.3);
        let threshold = if feature == 1 && special { -5.0 } else { random.random_range(-2.0..2.0) };
        thresholds[feature].push(threshold);
        let (left, right) = (random.random_range(-1.0..1.0), random.random_range(-1.0..1.0));
        json!({"feature": [feature, 0, 0], "threshold": [threshold, 0.0, 0.0], "left": [1, -1, -1],
               "right": [2, -1, -1], "missing_left": [true, true, true], "value": [0.0, left, right], "within": {}})
    };
    let trees: Vec<Value> = (0..12).map(&mut stump).collect();
    let document = json!({
        "format": "surefoot trees", "version": 1,
        "model": {
            "inputs": 3, "single_inputs": false,
            "sum": {"single": false, "start": -0.4, "divisor": 1.0, "factor": 1.0, "shift": 0.0},
            "link": {"kind": "margin"}, "rule": {"compares": "sum", "strict": false},
            "trees": trees,
        },
    });
    (Ensemble::from_bytes(document.to_string().as_bytes()).unwrap(), thresholds)
}

/// The score is a sum of functions of one feature each, constant between thresholds: the worst shift of the others is one
/// to a threshold, or just below it. No action on a grid holds where none is said to.
#[test]
fn trees_take_special_values_as_they_are() {
    let mut random = ChaCha8Rng::seed_from_u64(33);
    let (mut found, mut impossible) = (0, 0);
    for case in 0..20 {
        let features = Features::new(vec![
            Feature::new("x0").limits(-3.0, 3.0).change(Change::Any),
            Feature::new("x1").limits(-3.0, 3.0).change(Change::Any).special(-9.0, None),
            Feature::new("x2").limits(-3.0, 3.0).change(Change::Any),
        ]);
        let (stumps, thresholds) = stumps(&mut random);
        let classifier = Classifier::trees(stumps, 0.5).unwrap();
        let problem = Problem::new(features.unwrap(), classifier).unwrap();
        let (norm, epsilon) = (norm(&mut random, 3), random.random_range(0.01..0.4));
        let problem = problem.with_uncertainty(norm.clone(), epsilon).unwrap();
        let x = [random.random_range(-2.0..2.0), -9.0, random.random_range(-2.0..2.0)];
        let settings = Settings { budget: Budget { evaluations: 2000 }, ..Settings::default() };
        let outcome = proven_with(&problem, &x, settings);
        let own = problem.for_person(&x).unwrap().unwrap().problem;
        let worst = |change: [f64; 2]| {
            let action = Action { features: vec![0, 2], change: change.to_vec() };
            let candidates = |i: usize, at: f64| -> Vec<f64> {
                let to = thresholds[i].iter().flat_map(|t| [t - at, t - at - 1e-9, t - at + 1e-9]);
                to.chain([0.0]).collect()
            };
            let (first, second) = (candidates(0, x[0] + change[0]), candidates(2, x[2] + change[1]));
            let shifts = first.iter().flat_map(|&a| second.iter().map(move |&b| [a, 0.0, b]));
            let allowed = shifts.filter(|shift| norm.value(shift) <= epsilon);
            allowed.map(|shift| margin(&own, &x, &action, &shift).unwrap()).fold(f64::INFINITY, f64::min)
        };
        match outcome {
            Outcome::Found(answer) => {
                found += 1;
                let change = |i: usize| {
                    let place = answer.action.features.iter().position(|&j| j == i);
                    place.map_or(0.0, |place| answer.action.change[place])
                };
                assert!(!answer.action.features.contains(&1));
                assert!(worst([change(0), change(2)]) >= 0.0, "case {case}");
                assert!(answer.cost_bound >= 0.98 * answer.cost, "case {case}: {answer:?}");
            }
            Outcome::Impossible(_) => {
                impossible += 1;
                for (a, b) in (0..=6).flat_map(|a| (0..=6).map(move |b| (a, b))) {
                    let to = |k: i32, value: f64| -3.0 + f64::from(k) - value;
                    assert!(worst([to(a, x[0]), to(b, x[2])]) < 0.0, "case {case}");
                }
            }
            Outcome::AlreadyFavourable => {}
            open => panic!("case {case}: {open:?}"),
        }
    }
    assert!(found >= 5 && impossible >= 2, "{found} {impossible}");
}

#[test]
fn a_proof_that_changes_a_special_value_is_wrong() {
    let problem = file(PROBLEM).problem().unwrap();
    let plain = file(&PROBLEM.replace("special = {", "describe = {}\n#")).problem().unwrap();
    let x = [-2.36, 0.0];
    let proof = Solver::new(&plain, Settings::default()).unwrap().prove(&x).unwrap();
    assert!(verify(&plain, &proof.saved(&plain, &x)).unwrap().is_verified());
    let mut saved = proof.saved(&plain, &x);
    assert!(!verify(&problem, &saved).unwrap().is_verified());
    saved.problem = None;
    assert!(!verify(&problem, &saved).unwrap().is_verified());
}

#[test]
fn what_a_special_value_says_nothing_about_is_refused_by_name() {
    let refused = |text: &str| file(text).problem().unwrap().for_person(&[-2.36, 0.0]).unwrap_err();
    let cause = PROBLEM.replace(
        "feature = \"bureau\"\nformula = \"20 + 0.01 * income + u\"",
        "feature = \"income\"\nformula = \"exp(bureau / 100) + u\"",
    );
    let expected = PeopleError::SpecialCause { feature: "bureau".into(), effect: "income".into() };
    assert_eq!(refused(&cause), Error::People(expected));
    let rule = format!("{PROBLEM}\n[[constraint]]\nrule = \"income >= 30 * bureau\"\n");
    assert!(matches!(refused(&rule), Error::Rule(RuleError::SpecialValue { .. })));
    let stated = format!("{PROBLEM}\n[[uncertainty]]\nof = \"person\"\nfeatures = \"bureau\"\nwithin = 3\n");
    assert!(matches!(refused(&stated), Error::People(PeopleError::SpecialUncertain { .. })));
    let rule = Constraint::parse(file(PROBLEM).features().unwrap(), "income <= 99999").unwrap();
    let problem = file(PROBLEM).problem().unwrap().with_constraints(vec![rule]).unwrap();
    assert!(proven(&problem, &[-2.36, 0.0]).recourse().is_some());
    // Another uncertainty beside it.
    let executed = format!("{PROBLEM}\n[[uncertainty]]\nof = \"execution\"\nshare = 0.1\n");
    let Outcome::Found(found) = proven(&file(&executed).problem().unwrap(), &[-2.36, 0.0]) else { panic!() };
    // 0.9 of the change has to be 3.82.
    assert!((found.cost - 3.82 / 0.9).abs() < 0.05, "{found:?}");
}

#[test]
fn special_values_that_cannot_be_are_refused_with_their_line() {
    for (wrong, message) in [
        (
            "special = { \"none\" = \"no record\" }",
            "line 7, feature `bureau`: the special value `none` is no number",
        ),
        ("special = { \"-9\" = \" \" }", "line 7, feature `bureau`: the special value -9.0 must be"),
        ("special = [-9, -9]", "line 7, feature `bureau`: the special value -9.0 must be"),
        ("special = [nan]", "line 7, feature `bureau`: the special value NaN must be"),
        ("special = [\"-9\"]", "line 7, feature `bureau`: `special` is a list with a text in it"),
        ("special = -9", "line 7, feature `bureau`: `special` is a number"),
        ("special = [-9]\nkind = \"binary\"", "line 7, feature `bureau`: only integer and real features"),
        (
            "special = [-9]\ncategories = [\"a\", \"b\"]",
            "line 7, feature `bureau`: only integer and real features",
        ),
    ] {
        let text =
            PROBLEM.replace(r#"special = { "-9" = "no bureau record", "-8" = "a closed record" }"#, wrong);
        let found: Vec<String> = file(&text).mistakes().iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|found| found.starts_with(message)), "{found:?}");
    }
}
