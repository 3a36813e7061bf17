//! Committees of classifiers and alternative causal models: against closed forms, brute force, dense sampling,
//! attacks and the checker.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::action::feasible_change;
use surefoot::attack::{ProjectedGradient, worst_found};
use surefoot::error::SettingError;
use surefoot::margin::{gradients, margin};
use surefoot::proof::SavedProof;
use surefoot::recourse::{Settings, Solver};
use surefoot::verify::Fault;
use surefoot::{
    Action, Activation, Budget, Change, Classifier, Committee, Complete, Cost, Descent, Equation, Error,
    Exact, Feature, Features, Norm, Outcome, People, Problem, Recourse, Scm, Verdict, Verification, certify,
    infeasibility, refute, verify,
};
use surefoot_random::{FORMULAS, causal_model, individual, network, one, uniform, with_settings};

fn features(count: usize, reach: f64) -> Features {
    let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-reach, reach);
    Features::new((0..count).map(feature).collect()).unwrap()
}

fn named(members: Vec<Classifier>) -> Vec<(String, Classifier)> {
    members.into_iter().enumerate().map(|(k, member)| (format!("m{k}"), member)).collect()
}

fn with_members(features: &Features, members: Vec<Classifier>, at_least: usize) -> Problem {
    let problem = Problem::new(features.clone(), members[0].clone()).unwrap();
    problem.with_committee(Committee::new(named(members), at_least).unwrap()).unwrap()
}

fn person(problem: &Problem, x: &[f64]) -> People {
    People::from_standardised(problem.features(), Array2::from_shape_fn((1, x.len()), |(_, j)| x[j]).view())
        .unwrap()
}

/// The answer of the automatic method, after everything that it states was checked: its proof by the checker,
/// its action by certify, by an attack with many restarts and by random perturbations.
fn answer(problem: &Problem, x: &[f64], random: &mut ChaCha8Rng) -> Option<Recourse> {
    let settings = Settings { budget: Budget { evaluations: 20_000 }, ..Settings::default() };
    let proof = Solver::new(problem, settings).unwrap().prove(x).unwrap();
    let saved = proof.saved(problem, x);
    assert_eq!(SavedProof::from_json(&saved.to_json()).unwrap(), saved);
    let verification = verify(problem, &saved).unwrap();
    assert!(verification.is_verified(), "{verification:?} {:?}", proof.outcome);
    let Outcome::Found(found) = proof.outcome else { return None };
    assert_eq!(proof.certificate.unwrap().further.len() + 1, problem.variants().len());
    withstands(problem, x, &found, random);
    Some(found)
}

fn withstands(problem: &Problem, x: &[f64], found: &Recourse, random: &mut ChaCha8Rng) {
    let action = std::slice::from_ref(&found.action);
    let people = person(problem, x);
    let verdict = certify(problem, x, &found.action, Budget::default()).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Holds { .. } | Verdict::Undecided { .. }), "{verdict:?}");
    let attack = ProjectedGradient { restarts: 200, ..ProjectedGradient::default() };
    let worst = worst_found(problem, &people, action, &attack).unwrap().remove(0);
    assert!(worst.margin >= found.margin - 1e-9, "{worst:?} {found:?}");
    assert!(infeasibility(problem, x, &found.action).unwrap().is_none());
    for _ in 0..2_000 {
        let perturbation = drawn(problem, random);
        if let Ok(margin) = margin(problem, x, &found.action, &perturbation) {
            assert!(margin >= found.margin - 1e-9, "{margin} {found:?}");
        }
    }
}

/// A perturbation of the ball, often at its boundary.
fn drawn(problem: &Problem, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut perturbation = uniform(random, problem.features().len(), -1.0..1.0);
    let share = if random.random_bool(0.5) { 1.0 } else { random.random::<f64>() };
    let size = problem.uncertainty().size(&perturbation);
    let factor = share * problem.epsilon() / size * (1.0 - 1e-12);
    perturbation.iter_mut().for_each(|d| *d *= factor);
    perturbation
}

/// Random actions that are cheaper than the bound do not hold.
fn nothing_cheaper(problem: &Problem, x: &[f64], bound: f64, random: &mut ChaCha8Rng) {
    let count = problem.features().len();
    for _ in 0..100 {
        let features: Vec<usize> = (0..count).collect();
        let change: Vec<f64> = features
            .iter()
            .map(|&i| {
                let (low, high) = feasible_change(problem.features(), i, x[i]);
                random.random_range(low.max(-bound.min(9.0))..=high.min(bound.min(9.0)))
            })
            .collect();
        let action = Action { features, change };
        if problem.cost().of(problem.features(), &action) >= bound {
            continue;
        }
        let breaks = (0..400)
            .any(|_| margin(problem, x, &action, &drawn(problem, random)).is_ok_and(|margin| margin < 0.0));
        if !breaks && infeasibility(problem, x, &action).unwrap().is_none() {
            let verdict = certify(problem, x, &action, Budget::default()).unwrap().verdict;
            assert!(!matches!(verdict, Verdict::Holds { .. }), "{action:?} is cheaper than {bound}");
        }
    }
}

/// The least l1 cost of a change of two features in a box that meets all `a . t >= b`: at a point where two of
/// the boundaries, the sides of the box and the axes meet.
fn least_cost(rows: &[([f64; 2], f64)], lower: [f64; 2], upper: [f64; 2]) -> Option<f64> {
    let mut lines: Vec<([f64; 2], f64)> = rows.to_vec();
    for k in 0..2 {
        let unit = if k == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
        lines.extend([(unit, 0.0), (unit, lower[k]), (unit, upper[k])]);
    }
    let mut least: Option<f64> = None;
    for (i, (a, b)) in lines.iter().enumerate() {
        for (c, d) in &lines[..i] {
            let determinant = a[0] * c[1] - a[1] * c[0];
            if determinant.abs() < 1e-12 {
                continue;
            }
            let t = [(b * c[1] - a[1] * d) / determinant, (a[0] * d - b * c[0]) / determinant];
            let is_met = rows.iter().all(|(a, b)| a[0] * t[0] + a[1] * t[1] >= b - 1e-9);
            let is_inside = (0..2).all(|k| t[k] >= lower[k] - 1e-9 && t[k] <= upper[k] + 1e-9);
            let cost = t[0].abs() + t[1].abs();
            if is_met && is_inside && least.is_none_or(|least| cost < least) {
                least = Some(cost);
            }
        }
    }
    least
}

/// All of several linear classifiers must agree: an action holds iff it meets one half-plane for each, and the
/// cheapest one is at a corner.
#[test]
fn linear_committees_have_the_cost_of_the_closed_form() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let features = features(2, 4.0);
    let (mut found_count, mut impossible) = (0, 0);
    for number in 0..60 {
        let size = random.random_range(2..=5);
        let epsilon = one(&mut random, &[0.0, 0.1, 0.4]);
        let spread = one(&mut random, &[0.3, 1.2]);
        let models: Vec<(Vec<f64>, f64)> = (0..size)
            .map(|_| {
                let weights = uniform(&mut random, 2, -spread..spread);
                (vec![1.0 + weights[0], 0.5 + weights[1]], random.random_range(-2.0..-0.5))
            })
            .collect();
        let members: Vec<Classifier> =
            models.iter().map(|(w, b)| Classifier::linear(w.clone(), *b, 0.5).unwrap()).collect();
        let problem = with_members(&features, members, size).with_uncertainty(Norm::L2, epsilon).unwrap();
        let x = uniform(&mut random, 2, -1.0..1.0);
        let rows: Vec<([f64; 2], f64)> = models
            .iter()
            .map(|(w, b)| {
                let drop = epsilon * (w[0] * w[0] + w[1] * w[1]).sqrt();
                ([w[0], w[1]], drop - b - w[0] * x[0] - w[1] * x[1])
            })
            .collect();
        let expected = least_cost(&rows, [-4.0 - x[0], -4.0 - x[1]], [4.0 - x[0], 4.0 - x[1]]);
        let is_rejected = problem.score(&x) < 0.0;
        let found = answer(&problem, &x, &mut random);
        match (found, expected) {
            (Some(found), Some(expected)) => {
                found_count += 1;
                assert!(found.cost >= expected - 1e-7, "{number}: {} < {expected}", found.cost);
                assert!(found.cost <= expected * 1.01 + 1e-7, "{number}: {} > {expected}", found.cost);
                assert!(found.cost_bound <= expected + 1e-9, "{number}: {} > {expected}", found.cost_bound);
            }
            (None, None) => impossible += usize::from(is_rejected),
            (found, expected) => assert!(!is_rejected, "{number}: {found:?} {expected:?}"),
        }
    }
    assert!(found_count >= 25 && impossible >= 3, "{found_count} {impossible}");
}

/// Without uncertainty about the person, at least k of n linear classifiers agree for an action iff k of them do.
#[test]
fn k_of_n_linear_classifiers_have_the_cost_of_the_best_subset() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let features = features(2, 4.0);
    let mut found_count = 0;
    for number in 0..25 {
        let size = random.random_range(3..=4);
        let at_least = random.random_range(1..size);
        let models: Vec<(Vec<f64>, f64)> = (0..size)
            .map(|_| (uniform(&mut random, 2, -1.0..1.5), random.random_range(-2.0..-0.3)))
            .collect();
        let members: Vec<Classifier> =
            models.iter().map(|(w, b)| Classifier::linear(w.clone(), *b, 0.5).unwrap()).collect();
        let problem = with_members(&features, members, at_least);
        let x = uniform(&mut random, 2, -1.0..1.0);
        let row = |k: &usize| {
            let (w, b) = &models[*k];
            ([w[0], w[1]], -b - w[0] * x[0] - w[1] * x[1])
        };
        let subset = |mask: usize| -> Vec<usize> { (0..size).filter(|k| mask >> k & 1 == 1).collect() };
        let subsets = (0..1usize << size).filter(|mask| mask.count_ones() as usize == at_least).map(subset);
        let of = |subset: Vec<usize>| {
            let rows: Vec<([f64; 2], f64)> = subset.iter().map(row).collect();
            least_cost(&rows, [-4.0 - x[0], -4.0 - x[1]], [4.0 - x[0], 4.0 - x[1]])
        };
        let expected = subsets.filter_map(of).reduce(f64::min);
        match (answer(&problem, &x, &mut random), expected) {
            (Some(found), Some(expected)) => {
                found_count += 1;
                assert!(found.cost >= expected - 1e-7 && found.cost <= expected * 1.015 + 1e-7, "{number}");
                assert!(found.cost_bound <= expected + 1e-9, "{number}");
            }
            (None, None) => {}
            (found, expected) => assert!(problem.score(&x) >= 0.0, "{number}: {found:?} {expected:?}"),
        }
    }
    assert!(found_count >= 10, "{found_count}");
}

/// Networks with or without causal models, of which all or some must agree, and alternative causal models.
#[test]
fn random_problems_withstand_attacks_sampling_and_the_checker() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let features = features(3, 3.0);
    let (mut found_count, mut others) = (0, 0);
    for _ in 0..40 {
        let size = random.random_range(1..=3);
        let member = |random: &mut ChaCha8Rng| match random.random_bool(0.3) {
            true => Classifier::linear(uniform(random, 3, -1.0..1.5), random.random_range(-1.5..0.0), 0.5)
                .unwrap(),
            false => {
                let activation = one(random, &[Activation::Relu, Activation::Tanh]);
                Classifier::network(network(random, &[3, 5, 1], activation, 1.0), 0.6).unwrap()
            }
        };
        let members: Vec<Classifier> = (0..size).map(|_| member(&mut random)).collect();
        let at_least = random.random_range(1..=size);
        let mut problem = with_members(&features, members, at_least);
        if random.random_bool(0.6) {
            problem = problem.with_causal_model(causal_model(&mut random, &features, &FORMULAS)).unwrap();
            if random.random_bool(0.6) {
                let other = causal_model(&mut random, &features, &FORMULAS);
                problem = problem.with_alternative_causal_models(vec![("other".into(), other)]).unwrap();
            }
        }
        let problem = with_settings(&mut random, problem, &[0.0, 0.1, 0.3]);
        let x = individual(&mut random, &problem);
        if x.iter().any(|value| value.abs() > 3.0) {
            continue;
        }
        let found = answer(&problem, &x, &mut random);
        match found {
            Some(found) => {
                found_count += 1;
                nothing_cheaper(&problem, &x, found.cost_bound, &mut random);
            }
            None => others += 1,
        }
    }
    assert!(found_count >= 12 && others >= 3, "{found_count} {others}");
}

/// `y` follows `x` with one coefficient or another, and `score = x + y - 1`: raising x by t raises the score by
/// `(1 + c) t` and a perturbation of l-infinity norm e lowers it by `e (2 + c)`.
fn coefficients(first: f64, other: f64, epsilon: f64) -> Problem {
    let features = Features::new(vec![
        Feature::new("x").change(Change::Increase).limits(-9.0, 9.0),
        Feature::new("y").limits(-99.0, 99.0),
    ])
    .unwrap();
    let scm = |c: f64| Scm::new(&features, vec![("y", Equation::linear(&["x"], vec![c], 0.0))]).unwrap();
    Problem::new(features.clone(), Classifier::linear(vec![1.0, 1.0], -1.0, 0.5).unwrap())
        .unwrap()
        .with_causal_model(scm(first))
        .unwrap()
        .with_alternative_causal_models(vec![("flat.toml".into(), scm(other))])
        .unwrap()
        .with_uncertainty(Norm::LINF, epsilon)
        .unwrap()
}

#[test]
fn alternative_causal_models_have_the_cost_of_the_worst_one() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for (first, other, epsilon) in [(1.0, 0.2, 0.0), (1.0, 0.2, 0.1), (0.2, 1.0, 0.1), (0.5, 2.0, 0.3)] {
        let problem = coefficients(first, other, epsilon);
        let need = |c: f64| (1.0 + epsilon * (2.0 + c)) / (1.0 + c);
        let expected = need(first).max(need(other));
        let found = answer(&problem, &[0.0, 0.0], &mut random).unwrap();
        assert!((found.cost / expected - 1.0).abs() < 0.01, "{} {expected}", found.cost);
        assert!(found.cost_bound <= expected + 1e-9 && found.cost_bound >= 0.99 * expected);
        // The outcome that is stated is that of the first causal model.
        assert!((found.counterfactual[1] - first * found.cost).abs() < 1e-9);
        // With the better of both models alone the cheaper action breaks in the other one.
        let cheaper = Action { features: vec![0], change: vec![need(first).min(need(other)) + 1e-6] };
        let Verdict::Breaks { variant, perturbation, margin: left } =
            certify(&problem, &[0.0, 0.0], &cheaper, Budget::default()).unwrap().verdict
        else {
            panic!("{first} {other}");
        };
        assert_eq!(variant, usize::from(need(other) > need(first)));
        assert_eq!(margin(&problem, &[0.0, 0.0], &cheaper, &perturbation).unwrap(), left);
        let people = person(&problem, &[0.0, 0.0]);
        let broken = refute(&problem, &people, &[cheaper], Budget::default()).unwrap().remove(0).unwrap();
        assert_eq!(broken.variant, variant);
        assert!(problem.uncertainty().includes(broken.size));
    }
    let words = |variant: usize| coefficients(1.0, 0.2, 0.0).variant_in_words(variant).unwrap();
    assert_eq!(words(0), "with the first causal model");
    assert_eq!(words(1), "with the causal model `flat.toml`");
}

/// Margins, scores and gradients are those of the variant with the least margin.
#[test]
fn the_definition_is_the_least_margin_of_all_variants() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let features = features(3, 9.0);
    for _ in 0..20 {
        let member = |random: &mut ChaCha8Rng| {
            Classifier::network(network(random, &[3, 4, 1], Activation::Tanh, 1.0), 0.5).unwrap()
        };
        let members: Vec<Classifier> = (0..3).map(|_| member(&mut random)).collect();
        let scm = causal_model(&mut random, &features, &FORMULAS[..1]);
        let problem = with_members(&features, members.clone(), 2).with_causal_model(scm).unwrap();
        let x = individual(&mut random, &problem);
        let action = Action { features: vec![0, 2], change: uniform(&mut random, 2, -1.0..1.0) };
        let d = uniform(&mut random, 3, -0.3..0.3);
        let reached = surefoot::margin::counterfactual(&problem, &x, &action, &d).unwrap();
        let mut scores: Vec<f64> = members.iter().map(|member| member.score(&reached)).collect();
        scores.sort_by(f64::total_cmp);
        assert_eq!(margin(&problem, &x, &action, &d).unwrap(), scores[1]);
        let row = |values: &[f64]| Array2::from_shape_fn((1, values.len()), |(_, j)| values[j]);
        let (change, shift) = (row(&action.change), row(&d));
        let people = person(&problem, &x);
        let together = gradients(&problem, &people, &[0, 2], change.view(), shift.view()).unwrap();
        assert!((together.margin[0] - scores[1]).abs() < 1e-12);
        for k in 0..3 {
            let mut nearby = d.clone();
            nearby[k] += 1e-6;
            let slope = (margin(&problem, &x, &action, &nearby).unwrap() - scores[1]) / 1e-6;
            assert!((together.in_perturbation[[0, k]] - slope).abs() < 1e-4);
        }
    }
}

/// Two lines that cross, so that the proof of the bound needs both members.
fn crossing() -> (Problem, Vec<f64>) {
    let features = features(2, 4.0);
    let members = vec![
        Classifier::linear(vec![1.0, 0.2], -1.0, 0.5).unwrap(),
        Classifier::linear(vec![0.2, 1.0], -1.0, 0.5).unwrap(),
    ];
    (with_members(&features, members, 2).with_uncertainty(Norm::L2, 0.1).unwrap(), vec![0.0, 0.0])
}

#[test]
fn tampered_proofs_are_refused() {
    let (problem, x) = crossing();
    let proof = Complete::new(&problem).unwrap().prove(&x).unwrap();
    let honest = proof.saved(&problem, &x);
    assert!(verify(&problem, &honest).unwrap().is_verified());
    let fault = |saved: &SavedProof| match verify(&problem, saved).unwrap() {
        Verification::Wrong(fault) => fault,
        other => panic!("{other:?}"),
    };
    // A certificate for the first member is none for the second.
    let mut saved = honest.clone();
    saved.further.clear();
    assert_eq!(fault(&saved), Fault::NoCover);
    let mut saved = honest.clone();
    saved.further[0].pieces.clear();
    assert!(matches!(fault(&saved), Fault::BallNotCovered { .. }));
    // An action that holds for the first member alone.
    let alone = Problem::new(problem.features().clone(), problem.classifier().clone()).unwrap();
    let alone = alone.with_uncertainty(Norm::L2, 0.1).unwrap();
    let proof = Complete::new(&alone).unwrap().prove(&x).unwrap();
    let mut saved = proof.saved(&problem, &x);
    assert!(verify(&alone, &saved).unwrap().is_verified());
    saved.further = vec![saved.cover.clone().unwrap()];
    assert!(matches!(fault(&saved), Fault::Broken { .. }));
    // Scenarios are about their own variant.
    let (mut swapped, mut missing) = (0, 0);
    for part in 0..honest.ruled_out.len() {
        for k in 0..honest.ruled_out[part].margins.len() {
            let mut saved = honest.clone();
            let scenario = &mut saved.ruled_out[part].margins[k].scenario;
            scenario.variant = 1 - scenario.variant;
            swapped += usize::from(!verify(&problem, &saved).unwrap().is_verified());
            saved.ruled_out[part].margins[k].scenario.variant = 2;
            missing += usize::from(matches!(fault(&saved), Fault::NoSuchVariant { variant: 2, .. }));
        }
    }
    assert!(swapped > 0 && missing > 1, "{swapped} {missing}");
    // Of another committee: the proof says that it was made for another classifier.
    let (mut other, _) = crossing();
    other = with_members(
        other.features(),
        vec![other.classifier().clone(), Classifier::linear(vec![0.2, 0.9], -1.2, 0.5).unwrap()],
        2,
    );
    let other = other.with_uncertainty(Norm::L2, 0.1).unwrap();
    assert_eq!(verify(&other, &honest).unwrap(), Verification::OtherProblem { what: "classifier is" });
}

/// A committee of one, and one of which all members are the same, answer as the classifier alone.
#[test]
fn committees_of_the_same_classifier_answer_as_it_does() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let features = features(3, 4.0);
    for _ in 0..4 {
        let net = network(&mut random, &[3, 6, 1], Activation::Tanh, 1.0);
        let classifier = Classifier::network(net, 0.7).unwrap();
        let alone = Problem::new(features.clone(), classifier.clone()).unwrap();
        let alone = alone.with_uncertainty(Norm::L2, 0.2).unwrap().with_cost(Cost::L2);
        let x = uniform(&mut random, 3, -1.0..1.0);
        let expected = Complete::new(&alone).unwrap().solve(&x).unwrap();
        let settled = |problem: Problem| {
            let problem = problem.with_uncertainty(Norm::L2, 0.2).unwrap().with_cost(Cost::L2);
            Complete::new(&problem).unwrap().solve(&x).unwrap()
        };
        assert_eq!(settled(with_members(&features, vec![classifier.clone()], 1)), expected);
        let three = settled(with_members(&features, vec![classifier; 3], 3));
        if let (Outcome::Found(a), Outcome::Found(b)) = (&three, &expected) {
            assert!(a.cost <= b.cost * 1.0101 && b.cost <= a.cost * 1.0101, "{} {}", a.cost, b.cost);
        }
        assert_eq!(three.status(), expected.status());
    }
}

/// What answers one classifier and one causal model refuses more by name.
#[test]
fn what_cannot_answer_several_variants_says_so() {
    let (problem, x) = crossing();
    let refused =
        |error: Error| matches!(error, Error::Setting(SettingError::SeveralVariants { variants: 2, .. }));
    assert!(refused(Exact::new(&problem).unwrap_err()));
    assert!(refused(Descent::default().solve(&problem, &person(&problem, &x)).unwrap_err()));
    let action = Action { features: vec![0], change: vec![1.0] };
    assert!(refused(surefoot::bound::in_perturbation(&problem, &x, &action, None).unwrap_err()));
    assert!(refused(surefoot::theory::break_action(&problem, &x, &action).unwrap_err()));
    let message = Exact::new(&problem).unwrap_err().to_string();
    assert!(message.contains("`exact`") && message.contains("2 variants"), "{message}");
    assert_eq!(problem.variant_in_words(1).unwrap(), "by model `m1`");
}
