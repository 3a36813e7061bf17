//! What it means that an action holds, where the causal model is undefined or clips a value: every
//! part of the engine says the same, and what it says is so in a dense sample of the ball.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::{CausalModelError, PeopleError};
use surefoot::margin::{counterfactual, gradients, margin};
use surefoot::{
    Action, Budget, Change, Classifier, Complete, Equation, Error, Feature, Features, Norm, Outcome, People,
    Problem, SavedProof, Scm, Verdict, certify, infeasibility, smallest_break, verify,
};
use surefoot_random::{ACTIVATIONS, network, one, uniform, with_settings};

fn feature(name: &str, change: Change) -> Feature {
    Feature::new(name).change(change)
}

fn linear(features: &Features, equations: Vec<(&str, Equation)>, coefficients: Vec<f64>, b: f64) -> Problem {
    Problem::new(features.clone(), Classifier::linear(coefficients, b, 0.5).unwrap())
        .unwrap()
        .with_causal_model(Scm::new(features, equations).unwrap())
        .unwrap()
}

fn with_l2(problem: Problem, epsilon: f64) -> Problem {
    problem.with_uncertainty(Norm::L2, epsilon).unwrap()
}

/// A fixed cause near the end of the domain of the root that follows from it.
fn near_a_root() -> (Problem, Vec<f64>) {
    let p = feature("p", Change::Fixed).limits(0.0, f64::INFINITY);
    let features = Features::new(vec![p, feature("y", Change::Any), feature("z", Change::Any)]).unwrap();
    let equations = vec![("y", Equation::formula("sqrt(p) + u"))];
    (with_l2(linear(&features, equations, vec![0.3, 0.5, 1.0], -1.0), 0.1), vec![0.05, -1.0, 0.0])
}

/// The same with a cause that an action may lead out of the domain of a logarithm.
fn before_a_logarithm() -> (Problem, Vec<f64>) {
    let features = Features::new(["p", "y", "z"].map(|name| feature(name, Change::Any)).to_vec()).unwrap();
    let equations = vec![("y", Equation::formula("log(p) + u"))];
    (with_l2(linear(&features, equations, vec![0.3, 0.5, 1.0], -1.0), 0.1), vec![0.5, -1.0, 0.0])
}

fn prove(problem: &Problem, x: &[f64], evaluations: usize) -> surefoot::proof::Proof {
    Complete::new(problem).unwrap().with_budget(Budget { evaluations }).unwrap().prove(x).unwrap()
}

/// A proof goes through the checker as anybody would have it do: from its text.
fn verified(problem: &Problem, x: &[f64], proof: &surefoot::proof::Proof, round: usize) {
    let saved = SavedProof::from_json(&proof.to_json(problem, x)).unwrap();
    let checked = verify(problem, &saved).unwrap();
    assert!(checked.is_verified(), "{round}: {checked:?} of {:?}", proof.outcome);
}

#[test]
fn nobody_and_a_failure_are_told_apart() {
    let (problem, x) = before_a_logarithm();
    let raise = |change: f64| Action { features: vec![0], change: vec![change] };
    // There is nobody with a negative p.
    let nobody = margin(&problem, &x, &raise(0.0), &[-0.6, 0.0, 0.0]);
    assert!(matches!(nobody, Err(Error::CausalModel(CausalModelError::Nobody { .. }))), "{nobody:?}");
    // Somebody with a small p exists, and may not take that much away from it.
    let shift = [-0.1, 0.0, 0.0];
    assert!(margin(&problem, &x, &raise(-0.3), &shift).unwrap().is_finite());
    assert_eq!(margin(&problem, &x, &raise(-0.45), &shift).unwrap(), f64::NEG_INFINITY);
    let undefined = counterfactual(&problem, &x, &raise(-0.45), &shift);
    assert!(
        matches!(undefined, Err(Error::CausalModel(CausalModelError::ActionUndefined { .. }))),
        "{undefined:?}"
    );
    // Without a shift that is infeasible.
    assert!(infeasibility(&problem, &x, &raise(-0.45)).unwrap().is_none());
    let why = infeasibility(&problem, &x, &raise(-0.7)).unwrap().unwrap().to_string();
    assert!(why.contains("undefined") && why.contains("`y`"), "{why}");
    // A person who cannot be is a mistake of the input, whatever the shift.
    let cannot_be = margin(&problem, &[-0.5, 0.0, 0.0], &raise(0.1), &[0.0; 3]);
    assert!(matches!(cannot_be, Err(Error::People(PeopleError::Unreachable { .. }))), "{cannot_be:?}");
    // Blocks say the same.
    let rows = Array2::from_shape_fn((3, 3), |(_, j)| x[j]);
    let people = People::from_standardised(problem.features(), rows.view()).unwrap();
    let shifts = Array2::from_shape_vec((3, 3), [[-0.6, 0.0, 0.0], shift, shift].concat()).unwrap();
    let changes = Array2::from_shape_vec((3, 1), vec![0.0, -0.3, -0.45]).unwrap();
    let all = gradients(&problem, &people, &[0], changes.view(), shifts.view()).unwrap().margin;
    assert!(all[0].is_nan() && all[1].is_finite() && all[2] == f64::NEG_INFINITY, "{all:?}");
}

#[test]
fn an_action_out_of_the_domain_breaks_wherever_it_is_judged() {
    let (problem, x) = before_a_logarithm();
    // For the person themselves both work; for somebody with less of p the second is undefined.
    for (p, holds) in [(-0.2, true), (-0.45, false)] {
        let action = Action { features: vec![0, 2], change: vec![p, 5.0] };
        assert!(margin(&problem, &x, &action, &[0.0; 3]).unwrap() > 0.0);
        let verdict = certify(&problem, &x, &action, Budget::default()).unwrap().verdict;
        let rows = Array2::from_shape_vec((1, 3), x.clone()).unwrap();
        let people = People::from_standardised(problem.features(), rows.view()).unwrap();
        let found = smallest_break(&problem, &people, std::slice::from_ref(&action)).unwrap().remove(0);
        match verdict {
            Verdict::Holds { margin } => assert!(holds && margin > 0.0),
            Verdict::Breaks { perturbation, margin: left, .. } => {
                assert!(!holds && left < 0.0);
                assert_eq!(left, margin(&problem, &x, &action, &perturbation).unwrap());
            }
            Verdict::Undecided { lower, upper } => panic!("{lower} {upper}"),
        }
        assert_eq!(found.is_some_and(|found| found.size <= problem.epsilon()), !holds);
    }
}

#[test]
fn proofs_near_the_end_of_a_domain_are_verified() {
    let (problem, x) = near_a_root();
    let income = Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, f64::INFINITY);
    let savings = Feature::new("savings").scaling(8000.0, 4000.0).change(Change::Increase);
    let features = Features::new(vec![income.change(Change::Fixed), savings]).unwrap();
    let equations = vec![("savings", Equation::formula("100 * sqrt(income) + u"))];
    let realistic = with_l2(linear(&features, equations, vec![0.8, 0.6], -0.5), 0.1);
    let poor = vec![features.standardise(0, 100.0), features.standardise(1, 6000.0)];
    for (problem, x) in [(problem, x), (realistic, poor)] {
        let proof = prove(&problem, &x, 60_000);
        let Outcome::Found(found) = &proof.outcome else { panic!("{:?}", proof.outcome) };
        assert!(found.cost_bound > 0.9 * found.cost, "{} {}", found.cost, found.cost_bound);
        verified(&problem, &x, &proof, 0);
        let worst = least_margin(&problem, &x, &found.action, 60);
        assert!(worst >= found.margin - 1e-9 && worst < 0.1, "{worst} {}", found.margin);
    }
}

#[test]
fn more_work_never_makes_an_answer_worse() {
    let (problem, x) = before_a_logarithm();
    // Raising z alone by 2.5 holds.
    let known = Action { features: vec![2], change: vec![2.5] };
    let verdict = certify(&problem, &x, &known, Budget::default()).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Holds { .. }), "{verdict:?}");
    let mut least = f64::INFINITY;
    for evaluations in [3000, 10_000, 60_000, 200_000] {
        let proof = prove(&problem, &x, evaluations);
        let Outcome::Found(found) = &proof.outcome else { panic!("{evaluations}: {:?}", proof.outcome) };
        assert!(found.cost <= 2.5 && found.margin.is_finite(), "{evaluations}: {found:?}");
        assert!(found.cost <= least * (1.0 + 1e-9), "{evaluations}: {} after {least}", found.cost);
        least = found.cost;
        verified(&problem, &x, &proof, evaluations);
    }
}

/// Savings follow from income and are never negative; the person has none.
fn without_savings() -> (Problem, Vec<f64>) {
    let income = Feature::new("income").scaling(3.0, 2.0).change(Change::Increase);
    let savings = Feature::new("savings").scaling(4.0, 4.0).change(Change::Increase).weight(2.0);
    let debt = Feature::new("debt").change(Change::Decrease);
    let features = Features::new(vec![income, savings, debt]).unwrap();
    let equations = vec![
        ("savings", Equation::formula("max(0, 2 * income - 3 + u)")),
        ("debt", Equation::formula("min(0.5, 0.1 * income + u)")),
    ];
    let x = vec![features.standardise(0, 2.0), features.standardise(1, 0.0), 0.1];
    (with_l2(linear(&features, equations, vec![0.4, 0.8, -0.5], -0.3), 0.2), x)
}

#[test]
fn shifts_beyond_a_clip_concern_nobody() {
    let (problem, x) = without_savings();
    let nothing = Action { features: vec![2], change: vec![-0.1] };
    let of = |d: [f64; 3]| margin(&problem, &x, &nothing, &d);
    assert!(matches!(of([0.0, -0.1, 0.0]), Err(Error::CausalModel(CausalModelError::Nobody { .. }))));
    assert!(matches!(of([0.0, 0.0, 0.45]), Err(Error::CausalModel(CausalModelError::Nobody { .. }))));
    // Less income leaves savings where they are, and more raises them at once: by 2 * 2 / 4 of it.
    let savings = |d: f64| counterfactual(&problem, &x, &nothing, &[d, 0.0, 0.0]).unwrap()[1];
    assert_eq!(savings(-0.1), x[1]);
    assert!((savings(0.1) - x[1] - 0.1).abs() < 1e-12);
    // A person with less than nothing is refused.
    let refused = problem.scm().unwrap().abduct(&[x[0], x[1] - 0.1, x[2]]).unwrap_err();
    assert!(
        refused.to_string().contains("`savings`")
            && matches!(refused, Error::People(PeopleError::BeyondClip { .. }))
    );
    // Blocks count a shift beyond the clip as far as the clip.
    let rows = Array2::from_shape_vec((1, 3), x.clone()).unwrap();
    let people = People::from_standardised(problem.features(), rows.view()).unwrap();
    let at = |d: [f64; 3]| {
        let (d, change) = (Array2::from_shape_fn((1, 3), |(_, j)| d[j]), Array2::from_elem((1, 1), -0.1));
        gradients(&problem, &people, &[2], change.view(), d.view()).unwrap().margin[0]
    };
    assert!((at([0.05, -0.3, 0.0]) - at([0.05, -0.05, 0.0])).abs() < 1e-12);
    assert!((at([0.0, -0.3, 0.0]) - of([0.0; 3]).unwrap()).abs() < 1e-12);
}

#[test]
fn clipped_equations_have_recourse_with_proof() {
    let (problem, x) = without_savings();
    for epsilon in [0.0, 0.05, 0.2, 0.6] {
        let problem = with_l2(problem.clone(), epsilon);
        let proof = prove(&problem, &x, 20_000);
        let Outcome::Found(found) = &proof.outcome else { panic!("{epsilon}: {:?}", proof.outcome) };
        assert!(found.cost_bound > 0.95 * found.cost, "{epsilon}: {} {}", found.cost, found.cost_bound);
        verified(&problem, &x, &proof, 0);
        let worst = least_margin(&problem, &x, &found.action, 400);
        assert!(worst >= found.margin - 1e-9 && worst < 0.05, "{epsilon}: {worst} {}", found.margin);
    }
}

/// The least margin over a dense sample of the ball: directions at random and along the axes, many
/// of them of full length.
fn least_margin(problem: &Problem, x: &[f64], action: &Action, rounds: usize) -> f64 {
    let random = &mut ChaCha8Rng::seed_from_u64(rounds as u64);
    let n = x.len();
    let mut least = margin(problem, x, action, &vec![0.0; n]).unwrap();
    for _ in 0..rounds * 20 {
        let mut d: Vec<f64> = match random.random_bool(0.3) {
            true => (0..n).map(|_| f64::from(random.random_range(-1..2))).collect(),
            false => uniform(random, n, -1.0..1.0),
        };
        let size = problem.norm().value(&d);
        if size == 0.0 {
            continue;
        }
        let share = if random.random_bool(0.5) { 1.0 } else { random.random::<f64>() };
        d.iter_mut().for_each(|d| *d *= share * problem.epsilon() * (1.0 - 1e-15) / size);
        match margin(problem, x, action, &d) {
            Ok(margin) => least = least.min(margin),
            Err(Error::CausalModel(CausalModelError::Nobody { .. })) => {}
            Err(error) => panic!("{error}"),
        }
    }
    least
}

const FORMULAS: [&str; 12] = [
    "sqrt(a + 0.3) + u",
    "0.5 * log(a) + u",
    "0.3 / a + u",
    "exp(0.5 * a) + u",
    "a ^ 1.5 + 0.5 * u",
    "sqrt(0.2 - a) * 2 + u",
    "exp(0.3 * a + u)",
    "max(0, 0.8 * a + u)",
    "min(0.6, a + u)",
    "max(-0.5, min(0.5, a ^ 2 - 0.4 + 0.5 * u))",
    "max(0, a + u ^ 3 + u)",
    "min(a, 0.4 + u)",
];

/// Three features of which the second follows from the first by one formula and the third from both by
/// another or by none, with a linear classifier or a small network.
fn random_problem(random: &mut ChaCha8Rng) -> (Problem, Vec<f64>) {
    let far = one(random, &[2.5, 2.5, 2.5, f64::INFINITY]);
    let limited = |name: &str, change| feature(name, change).limits(-far, far);
    let features = Features::new(vec![
        limited("a", one(random, &[Change::Any, Change::Increase, Change::Fixed])),
        limited("b", Change::Any).weight(1.5),
        limited("c", one(random, &[Change::Any, Change::Fixed])),
    ])
    .unwrap();
    let mut equations = vec![("b", Equation::formula(one(random, &FORMULAS)))];
    if random.random_bool(0.6) {
        let second = ["0.4 * a - log(b + 3) + u", "max(-0.2, a - 0.5 * b + u)", "sqrt(b + 1) + u"];
        equations.push(("c", Equation::formula(one(random, &second))));
    }
    let scm = Scm::new(&features, equations).unwrap();
    let classifier = if random.random_bool(0.6) {
        Classifier::linear(uniform(random, 3, -1.0..1.0), -random.random_range(0.2..1.2), 0.5)
    } else {
        let activation = one(random, &ACTIVATIONS);
        Classifier::network(network(random, &[3, 5, 1], activation, 1.0), 0.5)
    };
    let problem = Problem::new(features, classifier.unwrap()).unwrap().with_causal_model(scm).unwrap();
    let problem = with_settings(random, problem, &[0.05, 0.15, 0.4]);
    // Somebody whom the model can produce.
    let x = loop {
        let mut noise: Vec<f64> = (0..3).map(|_| random.random_range(-0.8..0.8)).collect();
        noise[0] = random.random_range(0.02..0.8);
        if let Ok(x) = problem.scm().unwrap().predict(&noise)
            && problem.classifier().score(&x) < 0.0
            && x.iter().all(|x| x.abs() < 2.5)
        {
            break x;
        }
        if random.random_bool(0.02) {
            return random_problem(random);
        }
    };
    (problem, x)
}

#[test]
fn search_certificates_attacks_and_checker_agree_with_a_dense_sample() {
    let random = &mut ChaCha8Rng::seed_from_u64(21);
    let (mut found, mut impossible, mut undecided) = (0, 0, 0);
    for round in 0..84 {
        let (problem, x) = random_problem(random);
        let proof = prove(&problem, &x, 4000);
        verified(&problem, &x, &proof, round);
        let bound = match &proof.outcome {
            Outcome::Found(answer) => {
                found += 1;
                let worst = least_margin(&problem, &x, &answer.action, 40);
                assert!(worst >= answer.margin - 1e-9, "{round}: {worst} {answer:?}");
                assert!(infeasibility(&problem, &x, &answer.action).unwrap().is_none(), "{round}");
                answer.cost_bound
            }
            Outcome::Impossible(_) => {
                impossible += 1;
                f64::INFINITY
            }
            Outcome::Undecided(answer) => {
                undecided += 1;
                answer.cost_bound
            }
            Outcome::AlreadyFavourable => panic!("{round}"),
            Outcome::Unproved(candidate) => panic!("{candidate:?}"),
        };
        // Nothing that is cheaper than the bound holds; whatever is said of an action is so.
        for _ in 0..12 {
            let all = problem.features().actionable();
            let set: Vec<usize> = all.into_iter().filter(|_| random.random_bool(0.6)).collect();
            let change = |&i: &usize| {
                let least = if problem.features().feature(i).change == Change::Any { -2.0 } else { 0.0 };
                random.random_range(least..2.0)
            };
            let change: Vec<f64> = set.iter().map(change).collect();
            let action = Action { features: set, change };
            let sampled = least_margin(&problem, &x, &action, 10);
            let cost = problem.cost().of(problem.features(), &action);
            let verdict = certify(&problem, &x, &action, Budget { evaluations: 3000 }).unwrap().verdict;
            match &verdict {
                Verdict::Holds { margin } => {
                    assert!(sampled >= *margin - 1e-9, "{round}: {sampled} {margin} {action:?}");
                    let feasible = infeasibility(&problem, &x, &action).unwrap().is_none();
                    assert!(!feasible || cost >= bound * (1.0 - 1e-9), "{round}: {cost} {bound} {action:?}");
                }
                Verdict::Breaks { perturbation, margin: left, .. } => {
                    assert!(problem.norm().value(perturbation) <= problem.epsilon(), "{round}");
                    assert_eq!(*left, margin(&problem, &x, &action, perturbation).unwrap(), "{round}");
                }
                Verdict::Undecided { .. } => {
                    assert!(sampled > -1e-3, "{round}: {sampled} {verdict:?} {action:?}");
                }
            }
            if let Verdict::Holds { .. } = verdict {
                let rows = Array2::from_shape_vec((1, 3), x.clone()).unwrap();
                let people = People::from_standardised(problem.features(), rows.view());
                let Ok(people) = people else { continue };
                let broken =
                    smallest_break(&problem, &people, std::slice::from_ref(&action)).unwrap().remove(0);
                assert!(broken.is_none_or(|broken| broken.size > problem.epsilon()), "{round}");
            }
        }
    }
    assert!(found > 40 && impossible > 3 && undecided < 8, "{found} {impossible} {undecided}");
}
