//! Missing values: worked out by hand, held against the definition for every value that the missing one may have, and
//! against the same uncertainty written out in the problem.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::attack::refute;
use surefoot::error::{PeopleError, RuleError};
use surefoot::margin::{gradients, margin, no_perturbation};
use surefoot::recourse::{MethodName, Settings, Solver, trade_off};
use surefoot::report::letter::{LetterSettings, LetterWriter};
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Equation, Error, Feature, Features, Outcome, People,
    Problem, ProblemFile, SavedProof, Scm, Verdict, certify, describe, describe_options, infeasibility,
    verify,
};
use surefoot_random::{network, norm, one, uniform};

const PROBLEM: &str = r#"
epsilon = 0.1

[[feature]]
name = "income"
unit = "EUR {}"
missing = { value = 2400, between = [1500, 4500] }
mean = 3000
std = 1500
limits = [0, 9000]
change = "increase"

[[feature]]
name = "savings"
unit = "EUR {}"
mean = 8000
std = 4000
change = "increase"

[classifier]
coefficients = [1, 1]
intercept = -0.5
"#;

const CAUSE: &str = "\n[[equation]]\nfeature = \"savings\"\nformula = \"2 * income + u\"\n";

fn file(text: &str) -> ProblemFile {
    ProblemFile::parse(text, Path::new("problem.toml")).unwrap()
}

fn settings(method: &str) -> Settings {
    Settings { method: method.parse::<MethodName>().unwrap(), ..Settings::default() }
}

fn proven(problem: &Problem, individual: &[f64]) -> Outcome {
    let proof = Solver::new(problem, Settings::default()).unwrap().prove(individual).unwrap();
    let saved = SavedProof::from_json(&proof.to_json(problem, individual)).unwrap();
    let verification = verify(problem, &saved).unwrap();
    assert!(verification.is_verified(), "{verification:?}");
    proof.outcome
}

/// An income between 1500 and 4500 is one between -1 and 1 standard deviations. Savings of 8000 are 0: the worst logit
/// is -1 - 0.5, and shifts of savings take another 0.1, so that savings have to rise by 1.6 standard deviations. That
/// savings follow income makes no difference: they are known.
#[test]
fn answers_by_hand() {
    for text in [PROBLEM.to_owned(), format!("{PROBLEM}{CAUSE}")] {
        let problem = file(&text).problem().unwrap();
        let people =
            People::from_own_units(problem.features(), &[[f64::NAN, 8000.0], [2400.0, 8000.0]]).unwrap();
        let missing = people.individual(0);
        assert!((problem.score(missing) + 0.9).abs() < 1e-12);
        let Outcome::Found(found) = proven(&problem, missing) else { panic!() };
        assert_eq!(found.action.features, [1]);
        assert!((found.cost - 1.6).abs() < 2e-3 && found.cost_bound > 1.58, "{found:?}");
        let answers = Solver::new(&problem, Settings::default()).unwrap().solve_people(&people).unwrap();
        assert!((answers[0].recourse().unwrap().cost - 1.6).abs() < 0.017);
        assert!(answers[1].recourse().unwrap().cost < 1.1);
        let words = describe(&problem, missing, &answers[0]).unwrap();
        assert!(
            words.contains("Raise savings by EUR 6,")
                && words.contains("savings by up to EUR 400.")
                && words.ends_with(
                    "Income is not known and taken as EUR 2,400; this works for every value between EUR 1,500 and \
                     EUR 4,500. No change of it was considered."
                ),
            "{words}"
        );
        let several = Solver::new(&problem, Settings::default()).unwrap().options(missing, 3).unwrap();
        assert_eq!(several.len(), 1);
        assert!(describe_options(&problem, missing, &several).unwrap().contains("Income is not known"));
        // Actions from elsewhere.
        let raise = |feature: usize, change: f64| Action { features: vec![feature], change: vec![change] };
        let why = infeasibility(&problem, missing, &raise(0, 1.0)).unwrap().unwrap();
        assert_eq!(why.to_string(), "`income` may not be changed");
        let verdict =
            |action: &Action| certify(&problem, missing, action, Budget::default()).unwrap().verdict;
        assert!(matches!(verdict(&raise(1, 1.6001)), Verdict::Holds { .. }));
        let Verdict::Breaks { perturbation, .. } = verdict(&raise(1, 1.5)) else { panic!() };
        // In the terms of everybody's problem: 0.6 standard deviations below what is assumed.
        assert!(perturbation[0] < -0.4 && perturbation[0] > -0.6001, "{perturbation:?}");
        let breaks = refute(&problem, &people, &[raise(1, 1.5), raise(1, 9.0)], Budget::default()).unwrap();
        let found = breaks[0].as_ref().unwrap();
        assert!(found.is_within && found.shift[0] < 0.0 && found.size <= 0.1, "{found:?}");
        assert!(breaks[1].as_ref().is_none_or(|found| !found.is_within));
        let curve = trade_off(&problem, missing, Some(&[0.0, 0.2]), Settings::default(), |_| {}).unwrap();
        let cost = |k: usize| curve.answers[k].recourse().unwrap().cost;
        assert!((cost(0) - 1.5).abs() < 0.016 && (cost(1) - 1.7).abs() < 0.018);
        // Whatever does not know of the person's own problem refuses them.
        let direct = margin(&problem, missing, &raise(1, 2.0), &[0.0, 0.0]);
        assert!(matches!(direct, Err(Error::People(PeopleError::Missing { .. }))), "{direct:?}");
    }
}

/// What is accepted with the value that stands in is accepted, and the words say what was not asked.
#[test]
fn the_decision_is_that_for_the_value_that_stands_in() {
    let problem = file(PROBLEM).problem().unwrap();
    let people = People::from_own_units(problem.features(), &[[f64::NAN, 12_000.0]]).unwrap();
    let outcome = proven(&problem, people.individual(0));
    assert_eq!(outcome, Outcome::AlreadyFavourable);
    let words = describe(&problem, people.individual(0), &outcome).unwrap();
    assert!(
        words.ends_with(
            "Income is not known and taken as EUR 2,400; the decision for other values was not asked."
        ),
        "{words}"
    );
}

/// Nobody can help whose only feature that may change is not known.
#[test]
fn somebody_with_nothing_else_to_change() {
    let text = PROBLEM.replace("std = 4000\nchange = \"increase\"", "std = 4000");
    let problem = file(&text).problem().unwrap();
    let people = People::from_own_units(problem.features(), &[[f64::NAN, 8000.0]]).unwrap();
    let outcome = proven(&problem, people.individual(0));
    assert!(matches!(outcome, Outcome::Impossible(_)), "{outcome:?}");
    let words = describe(&problem, people.individual(0), &outcome).unwrap();
    assert!(
        words.contains("what works must do so for every value between EUR 1,500 and EUR 4,500"),
        "{words}"
    );
    let relaxed = surefoot::recourse::Relaxed::all(&problem);
    let writer =
        LetterWriter::new(&problem, &relaxed, Settings::default(), LetterSettings::default()).unwrap();
    let letter = writer.write("a", people.individual(0)).unwrap().letter;
    assert!(
        letter.unknown[0].contains("whatever it really is between EUR 1,500 and EUR 4,500"),
        "{letter:?}"
    );
    assert!(letter.proven[0].contains("in all of these cases"), "{letter:?}");
}

/// The uncertainty of a person with a missing value is the one that a problem for that person alone would state.
#[test]
fn a_missing_value_is_an_interval_of_the_person() {
    let problem = file(PROBLEM).problem().unwrap();
    let stated = format!(
        "{}\n[[uncertainty]]\nof = \"person\"\nfeatures = \"income\"\nbetween = [1500, 4500]\n",
        PROBLEM.replace("limits = [0, 9000]\nchange = \"increase\"", "limits = [0, 9000]")
    );
    let stated = file(&stated).problem().unwrap();
    for savings in [2000.0, 8000.0, 9500.0, 12_000.0] {
        let row = |income: f64| [[income, savings]];
        let person = People::from_own_units(problem.features(), &row(f64::NAN)).unwrap();
        let same = People::from_own_units(stated.features(), &row(2400.0)).unwrap();
        let (answer, expected) = (
            proven(&problem, person.individual(0)),
            Solver::new(&stated, Settings::default()).unwrap().prove(same.individual(0)).unwrap().outcome,
        );
        assert_eq!(answer.status(), expected.status());
        if let (Outcome::Found(answer), Outcome::Found(expected)) = (&answer, &expected) {
            assert!((answer.cost - expected.cost).abs() <= 0.011 * expected.cost, "{answer:?} {expected:?}");
        }
        let own = problem.for_person(person.individual(0)).unwrap().unwrap();
        assert_eq!(own.individual, same.individual(0));
        let none = no_perturbation(&own.problem, &own.individual).unwrap();
        let act = |change: f64| Action { features: vec![1], change: vec![change] };
        for v in [[-1.0, 0.0], [1.0, 0.05], [0.3, -0.1]] {
            let a = margin(&own.problem, &own.individual, &act(0.7), &v).unwrap();
            let b = margin(&stated, &own.individual, &act(0.7), &v).unwrap();
            assert!((a - b).abs() < 1e-12);
        }
        let unchanged = margin(&own.problem, &own.individual, &act(0.0), &none).unwrap();
        assert!((unchanged - problem.score(person.individual(0))).abs() < 1e-9);
    }
}

/// A problem over three features of which one may be missing, and the same problem without that.
struct Drawn {
    problem: Problem,
    plain: Problem,
    missing: usize,
    /// The interval and the value that stands in.
    interval: (f64, f64, f64),
    x: Vec<f64>,
}

fn drawn(random: &mut ChaCha8Rng, is_linear: bool) -> Drawn {
    let missing = random.random_range(0..3);
    let (lower, upper) = (random.random_range(-2.0..0.0), random.random_range(0.0..2.0));
    let value = random.random_range(lower..upper);
    let changes = [Change::Any, Change::Increase, Change::Any];
    let features = |is_plain: bool| {
        let feature = |i: usize| {
            let feature = Feature::new(format!("x{i}")).limits(-4.0, 4.0).change(changes[i]);
            if i == missing && !is_plain { feature.missing(value, lower, upper) } else { feature }
        };
        Features::new((0..3).map(feature).collect()).unwrap()
    };
    let widths: &[usize] = if is_linear { &[3, 1] } else { &[3, 4, 1] };
    let model = network(random, widths, Activation::Tanh, 1.0);
    let classifier = match model.layers() {
        [only] => Classifier::linear(only.weight.row(0).to_vec(), only.bias[0] - 0.5, 0.5),
        _ => Classifier::network(model.clone(), 0.5),
    }
    .unwrap();
    let has_causes = random.random_bool(0.7);
    let c = uniform(random, 3, -0.8..0.8);
    let (norm, epsilon) = (norm(random, 3), one(random, &[0.0, 0.1, 0.25]));
    let make = |features: Features| {
        let mut problem = Problem::new(features.clone(), classifier.clone()).unwrap();
        if has_causes {
            let linear = |parents: &[&str], by: &[f64]| Equation::linear(parents, by.to_vec(), 0.1);
            let equations = vec![("x1", linear(&["x0"], &c[..1])), ("x2", linear(&["x0", "x1"], &c[1..]))];
            problem = problem.with_causal_model(Scm::new(&features, equations).unwrap()).unwrap();
        }
        problem.with_uncertainty(norm.clone(), epsilon).unwrap()
    };
    let mut x = uniform(random, 3, -2.0..2.0);
    x[missing] = f64::NAN;
    Drawn {
        problem: make(features(false)),
        plain: make(features(true)),
        missing,
        interval: (lower, upper, value),
        x,
    }
}

impl Drawn {
    /// The least margin of an action over the missing value and shifts of everything else, by the definition for somebody
    /// of whom everything is known.
    fn worst(&self, action: &Action, values: usize, shifts: &[Vec<f64>]) -> f64 {
        let (lower, upper, _) = self.interval;
        let mut worst = f64::INFINITY;
        for k in 0..values {
            let mut person = self.x.clone();
            person[self.missing] = lower + (upper - lower) * k as f64 / (values - 1) as f64;
            for shift in shifts {
                worst = worst.min(margin(&self.plain, &person, action, shift).unwrap());
            }
        }
        worst
    }

    /// Shifts of everything that is known, within the ball.
    fn shifts(&self, random: &mut ChaCha8Rng, count: usize) -> Vec<Vec<f64>> {
        let mut shifts = vec![vec![0.0; 3]];
        for _ in 0..count {
            let mut shift = uniform(random, 3, -1.0..1.0);
            shift[self.missing] = 0.0;
            let size = self.plain.norm().value(&shift);
            shift.iter_mut().for_each(|d| *d *= self.plain.epsilon() / size);
            shifts.push(shift);
        }
        shifts
    }

    /// Actions on a grid of everything that is known, with their costs.
    fn grid(&self) -> Vec<(f64, Action)> {
        let known: Vec<usize> = (0..3).filter(|i| *i != self.missing).collect();
        let step = |k: i32| f64::from(k) * 0.2;
        let mut grid = Vec::new();
        for a in -20..=20 {
            for b in -20..=20 {
                let pairs = [(known[0], step(a)), (known[1], step(b))];
                let named: Vec<(usize, f64)> =
                    pairs.into_iter().filter(|(_, change)| *change != 0.0).collect();
                let (features, change) = named.into_iter().unzip();
                let action = Action { features, change };
                if infeasibility(&self.problem, &self.x, &action).unwrap().is_none() {
                    grid.push((self.plain.cost().of(self.plain.features(), &action), action));
                }
            }
        }
        grid.sort_by(|a, b| a.0.total_cmp(&b.0));
        grid
    }
}

#[test]
fn answers_hold_for_every_value_and_cost_no_more_than_they_must() {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let (mut found, mut impossible) = (0, 0);
    for case in 0..60 {
        let is_linear = case % 2 == 0;
        let drawn = drawn(&mut random, is_linear);
        let answer = proven(&drawn.problem, &drawn.x);
        let shifts = drawn.shifts(&mut random, 60);
        // The margin of a linear problem is linear in the missing value and in shifts.
        let values = if is_linear { 2 } else { 21 };
        let slack = if is_linear { 1e-3 } else { 0.15 };
        match &answer {
            Outcome::Found(recourse) => {
                found += 1;
                assert!(!recourse.action.features.contains(&drawn.missing), "case {case}");
                let worst = drawn.worst(&recourse.action, 41, &shifts);
                assert!(worst >= 0.0 && worst >= recourse.margin - 1e-9, "case {case}: {worst} {recourse:?}");
                for (cost, action) in drawn.grid() {
                    if cost < recourse.cost_bound {
                        let worst = drawn.worst(&action, values, &shifts);
                        assert!(worst < slack, "case {case}: {action:?} costs {cost}, {recourse:?}");
                    }
                }
                assert!(recourse.cost_bound >= recourse.cost * 0.98, "case {case}: {recourse:?}");
            }
            Outcome::Impossible(_) => {
                impossible += 1;
                for (_, action) in drawn.grid() {
                    assert!(drawn.worst(&action, values, &shifts) < slack, "case {case}: {action:?}");
                }
            }
            Outcome::AlreadyFavourable => {
                let mut person = drawn.x.clone();
                person[drawn.missing] = drawn.interval.2;
                assert!(drawn.plain.score(&person) >= 0.0);
            }
            other => panic!("case {case}: {other:?}"),
        }
    }
    assert!(found >= 15 && impossible >= 5, "{found} {impossible}");
}

/// The margin of the person's own problem is that of somebody with the other value, whichever coordinates say so; its
/// gradients are those of finite differences.
#[test]
fn perturbations_stand_for_other_values() {
    let mut random = ChaCha8Rng::seed_from_u64(42);
    for case in 0..40 {
        let drawn = drawn(&mut random, case % 2 == 0);
        let own = drawn.problem.for_person(&drawn.x).unwrap().unwrap();
        let (lower, upper, _) = drawn.interval;
        let known: Vec<usize> = (0..3).filter(|i| *i != drawn.missing).collect();
        let action = Action { features: known.clone(), change: uniform(&mut random, 2, -1.0..1.0) };
        let v: Vec<f64> = uniform(&mut random, 3, -1.0..1.0);
        let weights = drawn.plain.norm().weights().map_or(vec![1.0; 3], <[f64]>::to_vec);
        let mut person = drawn.x.clone();
        person[drawn.missing] = 0.5 * (lower + upper) + 0.5 * (upper - lower) * v[drawn.missing];
        let mut shift: Vec<f64> = v.iter().zip(&weights).map(|(v, w)| v / w).collect();
        shift[drawn.missing] = 0.0;
        let expected = margin(&drawn.plain, &person, &action, &shift).unwrap();
        let found = margin(&own.problem, &own.individual, &action, &v).unwrap();
        assert!((found - expected).abs() < 1e-9, "case {case}: {found} {expected}");
        let people = People::from_standardised(
            own.problem.features(),
            ndarray::ArrayView2::from_shape((1, 3), &own.individual).unwrap(),
        )
        .unwrap();
        let row =
            |values: &[f64]| ndarray::Array2::from_shape_vec((1, values.len()), values.to_vec()).unwrap();
        let at =
            gradients(&own.problem, &people, &known, row(&action.change).view(), row(&v).view()).unwrap();
        assert!((at.margin[0] - found).abs() < 1e-9, "case {case}");
        for k in 0..3 {
            let moved = |by: f64| {
                let mut other = v.clone();
                other[k] += by;
                margin(&own.problem, &own.individual, &action, &other).unwrap()
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - at.in_perturbation[[0, k]]).abs() < 1e-5, "case {case}: {slope} {at:?}");
        }
    }
}

/// What follows from actions stays within its limits whatever its value is.
#[test]
fn limits_hold_for_every_value() {
    let text = PROBLEM
        .replace("limits = [0, 9000]\nchange = \"increase\"", "limits = [0, 9000]")
        .replace("coefficients = [1, 1]", "coefficients = [3, 0.01]");
    let text = format!("{text}\n[[equation]]\nfeature = \"income\"\nformula = \"0.5 * savings + u\"\n");
    let reach = |text: &str, missing: bool| {
        let problem = file(text).problem().unwrap();
        let income = if missing { f64::NAN } else { 2400.0 };
        let person = People::from_own_units(problem.features(), &[[income, 8000.0]]).unwrap();
        let outcome = proven(&problem, person.individual(0));
        outcome.recourse().map(|found| problem.features().feature(1).std * found.action.change[0])
    };
    // Income may be 4500 already, so that it may rise by at most 4500, that is savings by 9000.
    let needed = reach(&text, true).unwrap();
    assert!(needed > 3000.0 && needed < 9000.0, "{needed}");
    let tight =
        text.replace("limits = [0, 9000]", &format!("limits = [0, {}]", 4500.0 + 0.5 * needed - 100.0));
    assert_eq!(reach(&tight, true), None);
    assert!(reach(&tight, false).is_some());
}

#[test]
fn what_nothing_can_be_said_about_is_refused_by_name() {
    let refused = |text: &str| file(text).problem().unwrap().for_person(&[f64::NAN, 0.0]).unwrap_err();
    let cause =
        format!("{PROBLEM}\n[[equation]]\nfeature = \"savings\"\nformula = \"exp(income / 1000) + u\"\n");
    let expected = PeopleError::MissingCause { feature: "income".into(), effect: "savings".into() };
    assert_eq!(refused(&cause), Error::People(expected));
    let effect =
        format!("{PROBLEM}\n[[equation]]\nfeature = \"income\"\nformula = \"exp(savings / 9000 + u)\"\n");
    assert!(matches!(refused(&effect), Error::People(PeopleError::MissingEffect { .. })));
    let rule = format!("{PROBLEM}\n[[constraint]]\nrule = \"savings >= 2 * income\"\n");
    assert!(matches!(refused(&rule), Error::Rule(RuleError::MissingValue { .. })));
    for section in [
        "of = \"person\"\nfeatures = \"income\"\nwithin = 3",
        "of = \"person\"\nfeatures = [\"income\", \"savings\"]\nepsilon = 0.2",
        "of = \"person\"\nfeatures = [\"income\", \"savings\"]\ncovariance = [[1, 0.2], [0.2, 1]]",
        "of = \"equation\"\nfeature = \"savings\"\nwithin = 0.1",
    ] {
        let stated = format!("{PROBLEM}{CAUSE}\n[[uncertainty]]\n{section}\n");
        assert!(matches!(refused(&stated), Error::People(PeopleError::MissingUncertain { .. })), "{section}");
    }
    // Methods that cannot answer say so.
    let problem = file(PROBLEM).problem().unwrap();
    let x = [f64::NAN, 0.0];
    let error = Solver::new(&problem, settings("descent")).unwrap().solve(&x).unwrap_err();
    assert!(error.to_string().contains("a missing value"), "{error}");
    for method in ["auto", "complete", "local"] {
        assert!(
            Solver::new(&problem, settings(method)).unwrap().solve(&x).unwrap().advice().is_some(),
            "{method}"
        );
    }
    // Errors of execution beside it: 0.9 of the change has to be 1.6.
    let executed = format!("{PROBLEM}\n[[uncertainty]]\nof = \"execution\"\nshare = 0.1\n");
    let Outcome::Found(found) = proven(&file(&executed).problem().unwrap(), &x) else { panic!() };
    assert!((found.cost - 1.6 / 0.9).abs() < 0.02, "{found:?}");
}

#[test]
fn a_proof_for_another_interval_is_wrong() {
    let problem = file(PROBLEM).problem().unwrap();
    let wider = file(&PROBLEM.replace("between = [1500, 4500]", "between = [1200, 4500]")).problem().unwrap();
    let x = [f64::NAN, 0.0];
    let mut saved =
        Solver::new(&problem, Settings::default()).unwrap().prove(&x).unwrap().saved(&problem, &x);
    assert!(saved.to_json().contains("\"individual\":[null,0.0]"), "{}", saved.to_json());
    assert!(!verify(&wider, &saved).unwrap().is_verified());
    saved.problem = None;
    assert!(!verify(&wider, &saved).unwrap().is_verified());
    // Nor is it about somebody of whom the value is known.
    saved.individual[0] = -0.4;
    assert!(!verify(&problem, &saved).unwrap().is_verified());
}

#[test]
fn what_stands_in_for_missing_values_is_read_and_refused_with_its_line() {
    let rule = |text: &str| {
        let text = PROBLEM.replace("missing = { value = 2400, between = [1500, 4500] }", text);
        let found = file(&text);
        let mistakes: Vec<String> = found.mistakes().iter().map(ToString::to_string).collect();
        match found.features() {
            Ok(features) if mistakes.is_empty() => Ok(features.feature(0).missing.unwrap()),
            _ => Err(mistakes.join("; ")),
        }
    };
    let mean = rule("missing = { value = \"mean\", between = [0, 9000] }").unwrap();
    assert_eq!((mean.value, mean.lower, mean.upper), (3000.0, 0.0, 9000.0));
    let ordered =
        "missing = { value = \"low\" }\ncategories = [\"low\", \"middle\", \"high\"]\nordered = true\n#";
    let levels = |text: &str| {
        let text = PROBLEM
            .replace("limits = [0, 9000]\n", "")
            .replace("mean = 3000\nstd = 1500\n", "")
            .replace("unit = \"EUR {}\"\nmissing = { value = 2400, between = [1500, 4500] }", text);
        file(&text).features().unwrap().feature(0).missing.unwrap()
    };
    let group = PROBLEM
        .replace("limits = [0, 9000]\nchange = \"increase\"\n\n[[feature]]", "\n[[feature]]")
        .replace("mean = 3000\nstd = 1500\n", "categories = [\"a\", \"b\"]\n");
    let found: Vec<String> = file(&group).mistakes().iter().map(ToString::to_string).collect();
    let said = "a missing category that has a column of its own";
    assert!(found.iter().any(|mistake| mistake.contains(said)), "{found:?}");
    let ends = |missing: surefoot::feature::Missing| (missing.value, missing.lower, missing.upper);
    assert_eq!(ends(levels(ordered)), (0.0, 0.0, 2.0));
    let some = ordered.replace("\"low\" }", "\"middle\", between = [\"low\", \"middle\"] }");
    assert_eq!(ends(levels(&some)), (1.0, 0.0, 1.0));
    for (wrong, message) in [
        ("missing = 3", "`missing` is a number"),
        ("missing = { between = [0, 9000] }", "`value` is missing"),
        ("missing = { value = 3000 }", "`between` is missing"),
        ("missing = { value = \"median\", between = [0, 9000] }", "`median` is to stand in"),
        ("missing = { value = 3000, between = [0] }", "`between` is a list of another length"),
        ("missing = { value = 3000, between = [4000, 9000] }", "3000.0 is to stand in"),
        (
            "missing = { value = 3000, between = [-5, 9000] }",
            "a missing value may be between -5.0 and 9000.0",
        ),
        ("missing = { valu = 3000, between = [0, 9000] }", "`valu`"),
        ("missing = { value = 2400.5, between = [0, 9000] }\nkind = \"integer\"", "is not integer"),
    ] {
        let found = rule(wrong).unwrap_err();
        assert!(found.contains("line 7") && found.contains(message), "{wrong}: {found}");
    }
}

/// Everything that a letter says of a missing value.
#[test]
fn letters_say_what_is_not_known() {
    let text = format!(
        "{}\n[[equation]]\nfeature = \"income\"\nformula = \"0.05 * savings + u\"\n",
        PROBLEM.replace("change = \"increase\"\n\n[[feature]]", "\n[[feature]]")
    );
    let problem = file(&text).problem().unwrap();
    let people = People::from_own_units(problem.features(), &[[f64::NAN, 8000.0]]).unwrap();
    let relaxed = surefoot::recourse::Relaxed::all(&problem);
    for language in surefoot::report::letter::Language::ALL {
        let letters = LetterSettings { language, ..LetterSettings::default() };
        let writer = LetterWriter::new(&problem, &relaxed, Settings::default(), letters).unwrap();
        let written = writer.write("a", people.individual(0)).unwrap();
        assert!(verify(&problem, &written.proofs[0].1).unwrap().is_verified());
        let letter = written.letter;
        let all = letter.to_json();
        let expected: &[&str] = match language.code() {
            "en" => &[
                "Income: we do not know this about you. The decision takes it as EUR 2,400. What you can do works \
                 whatever it really is between EUR 1,500 and EUR 4,500. If you tell us, the answer may be another.",
                "whatever it is now",
                "not known, taken as EUR 2,400",
                "anything between EUR 1,500 and EUR 4,500",
            ],
            _ => &[
                "Das ist uns von Ihnen nicht bekannt. Für die Entscheidung gilt es als EUR 2.400.",
                "wie hoch es jetzt auch ist",
                "nicht bekannt, angenommen: EUR 2.400",
            ],
        };
        assert!(expected.iter().all(|words| all.contains(words)), "{all}");
        // The sentence about what was told does not name what was not.
        assert!(!letter.guarded.contains("ncome"), "{}", letter.guarded);
        assert_eq!(letter.consequences[0].value, None);
    }
}
