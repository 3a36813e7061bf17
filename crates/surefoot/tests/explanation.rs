//! What stands in the way where there is no action: held against problems that are built anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::recourse::{Explainer, Explanation, Reach, Relaxation, Relaxed, Settings, Solver};
use surefoot::{
    ActionKind, Budget, Change, Classifier, Complete, Constraint, Equation, Feature, Features, Kind, Norm,
    NormKind, Outcome, Problem, Scm, Verdict, certify, describe_explanation, infeasibility,
};
use surefoot_random::{ACTIVATIONS, NORM_KINDS, network, one, uniform};

fn settings() -> Settings {
    Settings { budget: Budget { evaluations: 20_000 }, ..Settings::default() }
}

fn explanation(problem: &Problem, individual: &[f64]) -> Option<Explanation> {
    let outcome = Solver::new(problem, settings()).unwrap().solve(individual).unwrap();
    let relaxed = Relaxed::all(problem);
    Explainer::new(problem, &relaxed, settings()).unwrap().explain(individual, &outcome).unwrap()
}

fn with_epsilon(problem: &Problem, epsilon: f64) -> Problem {
    problem.clone().with_uncertainty(problem.norm().clone(), epsilon).unwrap()
}

/// The parts of a problem, so that it can be built anew with some of them changed.
#[derive(Clone)]
struct Parts {
    features: Vec<Feature>,
    classifier: Classifier,
    equations: Vec<(&'static str, Equation)>,
    rules: Vec<&'static str>,
    kind: NormKind,
    epsilon: f64,
    form: ActionKind,
}

impl Parts {
    fn random(random: &mut ChaCha8Rng) -> Self {
        let change = [Change::Fixed, Change::Any, Change::Increase, Change::Decrease];
        let mut feature = |name: &str, least: usize| {
            let reach = f64::from(random.random_range(1..4)) / 2.0;
            Feature::new(name).limits(-reach, reach).change(change[random.random_range(least..4)])
        };
        let mut features = vec![feature("a", 1), feature("b", 0), feature("c", 0), feature("d", 0)];
        if random.random_bool(0.25) {
            features[1] = features[1].clone().kind(Kind::Integer).scaling(0.0, 0.5).limits(-1.0, 1.0);
        }
        features[0].step = one(random, &[None, None, Some(0.4)]);
        features[2].most_change = one(random, &[f64::INFINITY, f64::INFINITY, 0.3]);
        let classifier = match random.random_bool(0.35) {
            true => {
                let activation = one(random, &ACTIVATIONS);
                Classifier::network(network(random, &[4, 6, 1], activation, 1.0), 0.8)
            }
            false => Classifier::linear(uniform(random, 4, -1.0..1.0), random.random_range(-2.0..-0.5), 0.5),
        };
        let equations = match random.random_bool(0.25) {
            true => vec![
                ("c", Equation::formula("0.6 * a + u")),
                ("d", Equation::formula("0.5 * c - 0.2 * b + u")),
            ],
            false => Vec::new(),
        };
        let rules = if random.random_bool(0.2) { vec!["a + b <= 0.75", "c - d <= 1"] } else { Vec::new() };
        Self {
            features,
            classifier: classifier.unwrap(),
            equations,
            rules,
            kind: one(random, &NORM_KINDS),
            epsilon: one(random, &[0.3, 0.0, 0.8]),
            form: one(random, &[ActionKind::Relative, ActionKind::Relative, ActionKind::Absolute]),
        }
    }

    fn problem(&self) -> Problem {
        let features = Features::new(self.features.clone()).unwrap();
        let rules = self.rules.iter().map(|rule| Constraint::parse(&features, rule).unwrap()).collect();
        let mut problem = Problem::new(features.clone(), self.classifier.clone()).unwrap();
        if !self.equations.is_empty() {
            let scm = Scm::new(&features, self.equations.clone()).unwrap();
            problem = problem.with_causal_model(scm).unwrap();
        }
        let problem = problem.with_constraints(rules).unwrap().with_action_kind(self.form);
        problem.with_uncertainty(Norm::unweighted(self.kind), self.epsilon).unwrap()
    }

    /// Without one of the restrictions.
    fn relaxed(&self, relaxation: &Relaxation) -> Problem {
        let mut parts = self.clone();
        match relaxation {
            Relaxation::Limits(i) => {
                parts.features[*i] = parts.features[*i].clone().limits(f64::NEG_INFINITY, f64::INFINITY);
            }
            Relaxation::MostChange(i) => parts.features[*i].most_change = f64::INFINITY,
            Relaxation::Step(i) => parts.features[*i].step = None,
            Relaxation::Change(unit) => {
                let [i] = unit[..] else { panic!("{unit:?}") };
                parts.features[i] = parts.features[i].clone().change(Change::Any);
            }
            Relaxation::Constraint(k) => {
                parts.rules.remove(*k);
            }
            Relaxation::Transition(_) | Relaxation::MostChanges | Relaxation::OneOf(_) => {
                panic!("there is none: {relaxation:?}")
            }
        }
        parts.problem()
    }

    fn relaxations(&self) -> Vec<Relaxation> {
        let all = (0..self.features.len()).map(Relaxation::Limits);
        let all = all.chain([Relaxation::MostChange(2), Relaxation::Step(0)]);
        let all = all.chain((0..self.features.len()).map(|i| Relaxation::Change(vec![i])));
        all.chain((0..self.rules.len()).map(Relaxation::Constraint)).collect()
    }
}

/// Every fact of an explanation is what methods say of problems that were built anew: at less
/// uncertainty, and without one of the restrictions.
#[test]
fn explanations_agree_with_problems_solved_anew() {
    let random = &mut ChaCha8Rng::seed_from_u64(12);
    let (mut less, mut never, mut enough, mut exhaustive) = (0, 0, 0, 0);
    for round in 0..160 {
        let parts = Parts::random(random);
        let problem = parts.problem();
        let x: Vec<f64> = (0..4).map(|_| f64::from(random.random_range(-1..2)) / 2.0).collect();
        let Some(explanation) = explanation(&problem, &x) else { continue };
        let solve = |problem: &Problem| Solver::new(problem, Settings::default()).unwrap().solve(&x).unwrap();
        let Reach { possible, impossible } = explanation.reach;
        assert!(impossible.unwrap() <= parts.epsilon);
        if let Some(possible) = possible {
            less += 1;
            assert!(possible < impossible.unwrap(), "{round}");
            let outcome = solve(&with_epsilon(&problem, possible));
            assert!(matches!(outcome, Outcome::Found(_)), "{round}: {possible} {outcome:?}");
        }
        never += usize::from(impossible == Some(0.0) && parts.epsilon > 0.0);
        let outcome = solve(&with_epsilon(&problem, impossible.unwrap() * (1.0 + 1e-9)));
        assert!(matches!(outcome, Outcome::Impossible(_)), "{round}: {impossible:?} {outcome:?}");
        for (relaxation, found) in &explanation.enough {
            enough += 1;
            let relaxed = parts.relaxed(relaxation);
            let verdict = certify(&relaxed, &x, &found.action, Budget::default()).unwrap().verdict;
            assert!(matches!(verdict, Verdict::Holds { .. }), "{round} {relaxation:?}: {verdict:?}");
            assert_eq!(infeasibility(&relaxed, &x, &found.action).unwrap(), None, "{round} {relaxation:?}");
            assert!(infeasibility(&problem, &x, &found.action).unwrap().is_some(), "{round} {relaxation:?}");
        }
        if explanation.is_exhaustive {
            exhaustive += 1;
            for relaxation in parts.relaxations() {
                if explanation.enough.iter().all(|(other, _)| *other != relaxation) {
                    let relaxed = parts.relaxed(&relaxation);
                    let outcome = Complete::new(&relaxed).unwrap().solve(&x).unwrap();
                    assert!(!matches!(outcome, Outcome::Found(_)), "{round} {relaxation:?}: {outcome:?}");
                }
            }
        }
        check_words(&problem, &explanation);
    }
    assert!(less > 8 && never > 8 && enough > 30 && exhaustive > 15, "{less} {never} {enough} {exhaustive}");
}

/// The text says what is known and nothing else.
fn check_words(problem: &Problem, explanation: &Explanation) {
    let text = describe_explanation(problem, explanation);
    let is_guarded = problem.epsilon() > 0.0;
    assert_eq!(text.contains("There is one"), is_guarded && explanation.reach.possible.is_some(), "{text}");
    let never = is_guarded && explanation.reach.impossible == Some(0.0);
    assert_eq!(text.contains("even if nothing shifts"), never, "{text}");
    assert_eq!(text.contains("There would be one"), !explanation.enough.is_empty(), "{text}");
    let none = explanation.is_exhaustive && explanation.enough.is_empty();
    assert_eq!(text.contains("would not be enough"), none, "{text}");
    assert_eq!(text.ends_with("proven."), !text.is_empty(), "{text}");
    assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
}

/// Words worked out by hand: income counts once, debt against it, age twice; all in standard
/// deviations of one.
#[test]
fn words_name_what_stands_in_the_way() {
    let features = Features::new(vec![
        Feature::new("income").limits(-3.0, 2.0).change(Change::Increase),
        Feature::new("debt").limits(0.0, 9.0).change(Change::Decrease),
        Feature::new("age").limits(-3.0, 3.0),
    ])
    .unwrap();
    let classifier = Classifier::linear(vec![1.0, -1.0, 2.0], -4.0, 0.5).unwrap();
    let problem = Problem::new(features, classifier).unwrap();
    // At best 2 - 0 - 2 - 4: four short, which two more of age would make up for. A higher income alone
    // must make up for the debt as well; less debt comes with the highest income allowed.
    let text = describe_explanation(&problem, &explanation(&problem, &[0.0, 1.0, -1.0]).unwrap());
    assert_eq!(
        text,
        "There would be one if age could be changed; if income could rise to 7.001, above its limit of 2; or if debt \
         could fall to -4.001, below its limit of 0. This is proven."
    );
    // Of whom nobody asks for certainty, there is an action that leaves one; the dual norm is sqrt(6).
    let guarded = problem.with_uncertainty(Norm::L2, 1.0).unwrap();
    let explanation = explanation(&guarded, &[0.0, 1.0, 1.5]).unwrap();
    let exact = 1.0 / 6f64.sqrt();
    let Reach { possible, impossible } = explanation.reach;
    assert!((possible.unwrap() - exact).abs() < 1e-8 && (impossible.unwrap() - exact).abs() < 1e-8);
    let text = describe_explanation(&guarded, &explanation);
    assert!(
        text.starts_with(
            "There is one for shifts of up to 0.4082 standard deviations (1 was asked for), and none for \
             0.4083 or more. There would be one if age could be changed; if income could rise to"
        ),
        "{text}"
    );
}
