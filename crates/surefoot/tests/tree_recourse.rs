//! Recourse, certificates, attacks and proofs for tree ensembles, compared with dense samples of actions and
//! perturbations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use surefoot::margin::margin;
use surefoot::outcome::Shortfall;
use surefoot::proof::{Dividing, Piece, TreeReason};
use surefoot::recourse::{Settings, Solver};
use surefoot::{
    Action, ActionKind, Activation, Budget, Change, Classifier, Committee, Constraint, Cost, Ensemble,
    Equation, Feature, Features, Kind, Norm, Outcome, People, Problem, SavedProof, Scm, Verdict, certify,
    infeasibility, smallest_break, verify,
};
use surefoot_random::network;

/// A tree with tests of random thresholds, in the format of the package.
fn tree(random: &mut ChaCha8Rng, inputs: usize, depth: usize, threshold_of: fn(i32) -> f64) -> Value {
    let (mut feature, mut threshold, mut left, mut right, mut value) =
        (vec![], vec![], vec![], vec![], vec![]);
    // Nodes in the order of their depth.
    let inner = (1 << depth) - 1;
    for node in 0..2 * inner + 1 {
        let is_inner = node < inner;
        feature.push(if is_inner { random.random_range(0..inputs) } else { 0 });
        threshold.push(if is_inner { threshold_of(random.random_range(-10..=10)) } else { 0.0 });
        left.push(if is_inner { 2 * node as i64 + 1 } else { -1 });
        right.push(if is_inner { 2 * node as i64 + 2 } else { -1 });
        value.push(random.random_range(-1.0..1.0));
    }
    let missing: Vec<bool> = vec![true; feature.len()];
    json!({"feature": feature, "threshold": threshold, "left": left, "right": right,
           "missing_left": missing, "value": value, "within": {}})
}

fn ensemble(random: &mut ChaCha8Rng, inputs: usize, trees: usize, depth: usize) -> Ensemble {
    of_trees(inputs, (0..trees).map(|_| tree(random, inputs, depth, |tenths| f64::from(tenths) / 10.0)))
}

/// An ensemble whose thresholds are just below whole numbers.
fn whole_thresholds(random: &mut ChaCha8Rng, inputs: usize, trees: usize) -> Ensemble {
    of_trees(inputs, (0..trees).map(|_| tree(random, inputs, 3, |number| f64::from(number / 4) - 3e-8)))
}

fn of_trees(inputs: usize, trees: impl Iterator<Item = Value>) -> Ensemble {
    let trees: Vec<Value> = trees.collect();
    let document = json!({
        "format": "surefoot trees", "version": 1,
        "model": {
            "inputs": inputs, "single_inputs": false,
            "sum": {"single": false, "start": -0.4, "divisor": 1.0, "factor": 1.0, "shift": 0.0},
            "link": {"kind": "margin"}, "rule": {"compares": "sum", "strict": false},
            "trees": trees,
        },
    });
    Ensemble::from_bytes(document.to_string().as_bytes()).unwrap()
}

/// A random problem with two or three features, each setting drawn by itself.
fn problem(random: &mut ChaCha8Rng) -> Problem {
    let inputs = random.random_range(2..=3);
    let feature = |random: &mut ChaCha8Rng, i: usize| {
        let change =
            [Change::Any, Change::Any, Change::Increase, Change::Decrease][random.random_range(0..4)];
        let feature = Feature::new(format!("x{i}")).change(change).weight(random.random_range(0.5..2.0));
        let feature = if random.random_bool(0.5) { feature.limits(-2.0, 2.0) } else { feature };
        let is_integer = random.random_bool(0.2);
        if is_integer { feature.kind(Kind::Integer).scaling(0.0, 2.0).limits(-6.0, 6.0) } else { feature }
    };
    let features = Features::new((0..inputs).map(|i| feature(random, i)).collect()).unwrap();
    let trees = random.random_range(1..=7);
    let depth = random.random_range(1..=3);
    let ensemble = ensemble(random, inputs, trees, depth).over(&features, true).unwrap();
    let classifier = Classifier::trees(ensemble, 0.5).unwrap();
    let norm = [Norm::L1, Norm::L2, Norm::LINF][random.random_range(0..3)].clone();
    let epsilon = [0.0, 0.0437, 0.1391][random.random_range(0..3)];
    let mut problem = Problem::new(features.clone(), classifier).unwrap();
    if random.random_bool(0.5) {
        let last = inputs - 1;
        let coefficient = random.random_range(-1.0..1.0);
        let equation = Equation::linear(&["x0"], vec![coefficient], 0.1);
        let scm = Scm::new(&features, vec![(&format!("x{last}"), equation)]).unwrap();
        problem = problem.with_causal_model(scm).unwrap();
    }
    if random.random_bool(0.25) {
        let rule = Constraint::parse(&features, "x0 + x1 <= 1.3").unwrap();
        problem = problem.with_constraints(vec![rule]).unwrap();
    }
    let form = [ActionKind::Relative, ActionKind::Absolute][random.random_range(0..2)];
    let cost = [Cost::L1, Cost::L2][random.random_range(0..2)];
    problem.with_uncertainty(norm, epsilon).unwrap().with_action_kind(form).with_cost(cost)
}

fn individual(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let value = |feature: &Feature, random: &mut ChaCha8Rng| match feature.kind {
        Kind::Real => random.random_range(-1.2..1.2),
        _ => random.random_range(-3..=3) as f64 / feature.std,
    };
    problem.features().iter().map(|feature| value(feature, random)).collect()
}

/// A perturbation of the uncertainty set, on its border in half of the cases.
fn perturbation(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let on_border = random.random_bool(0.5);
    problem.uncertainty().sample(random, problem.features().len(), on_border)
}

fn is_broken(random: &mut ChaCha8Rng, problem: &Problem, x: &[f64], action: &Action, samples: usize) -> bool {
    (0..samples).any(|_| {
        let perturbation = perturbation(random, problem);
        margin(problem, x, action, &perturbation).is_ok_and(|margin| margin < 0.0)
    })
}

/// A feasible action on some of the features.
fn random_action(random: &mut ChaCha8Rng, problem: &Problem, x: &[f64]) -> Option<Action> {
    let mut features = Vec::new();
    let mut change = Vec::new();
    for i in problem.features().actionable() {
        if random.random_bool(0.3) {
            continue;
        }
        let (lower, upper) = surefoot::action::feasible_change(problem.features(), i, x[i]);
        let drawn = random.random_range(lower.max(-3.0)..=upper.min(3.0));
        let feature = problem.features().feature(i);
        let step =
            if feature.kind == Kind::Real { drawn } else { (drawn * feature.std).round() / feature.std };
        features.push(i);
        change.push(if random.random_bool(0.3) { 0.0 } else { step });
    }
    let action = Action { features, change };
    let reached = surefoot::margin::counterfactual(problem, x, &action, &vec![0.0; x.len()]).ok()?;
    let is_met = problem.requirements().iter().all(|rule| rule.value(&reached) >= 0.0);
    (is_met && surefoot::infeasibility(problem, x, &action).unwrap().is_none()).then_some(action)
}

/// Answers are broken by no sample, nothing cheaper than the bound holds, and the checker agrees.
#[test]
fn answers_agree_with_samples_and_with_the_checker() {
    let (mut statuses, mut open) = (std::collections::BTreeMap::new(), 0);
    for number in 0..400 {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let problem = problem(&mut random);
        let x = individual(&mut random, &problem);
        let settings = Settings { budget: Budget { evaluations: 2_000 }, ..Settings::default() };
        let solver = Solver::new(&problem, settings).unwrap();
        let proof = solver.prove(&x).unwrap();
        *statuses.entry(proof.outcome.status()).or_insert(0) += 1;
        let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
        assert_eq!(saved, proof.saved(&problem, &x), "{number}");
        let verified = verify(&problem, &saved).unwrap();
        assert!(verified.is_verified(), "{number}: {verified:?}\n{:?}", proof.outcome);
        let bound = match &proof.outcome {
            Outcome::AlreadyFavourable => continue,
            Outcome::Found(found) => {
                assert!(!is_broken(&mut random, &problem, &x, &found.action, 2_000), "{number}: {found:?}");
                assert!(surefoot::infeasibility(&problem, &x, &found.action).unwrap().is_none(), "{number}");
                let is_closed = found.cost_bound >= found.cost * 0.985;
                assert!(is_closed || problem.scm().is_some(), "{number}: {found:?}");
                open += usize::from(!is_closed);
                found.cost_bound
            }
            Outcome::Impossible(_) => f64::INFINITY,
            Outcome::Undecided(undecided) if problem.scm().is_some() => {
                open += 1;
                undecided.cost_bound
            }
            other => panic!("{number}: {other:?}"),
        };
        for _ in 0..300 {
            let Some(action) = random_action(&mut random, &problem, &x) else { continue };
            let cost = problem.cost().of(problem.features(), &action);
            if cost >= bound * (1.0 - 1e-9) || is_broken(&mut random, &problem, &x, &action, 50) {
                continue;
            }
            let verdict = certify(&problem, &x, &action, Budget::default()).unwrap().verdict;
            assert!(matches!(verdict, Verdict::Breaks { .. }), "{number}: {action:?} at {cost}: {verdict:?}");
        }
    }
    // With a causal model, this budget leaves some open.
    assert!(open <= 8, "{open}");
    assert!(statuses["found"] > 100 && statuses["impossible"] > 20, "{statuses:?}");
}

/// Thresholds just below whole numbers, where programs put them for columns of whole numbers, and individuals who are
/// exactly there, in features that follow each other.
#[test]
fn individuals_just_above_thresholds_are_decided() {
    let (mut found, mut impossible, mut open) = (0, 0, 0);
    for number in 0..200 {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let change = [Change::Any, Change::Increase][random.random_range(0..2)];
        let features = vec![
            Feature::new("x0").change(Change::Fixed),
            Feature::new("x1").change(Change::Fixed),
            Feature::new("x2").change(change).limits(-6.0, 6.0),
            Feature::new("x3").limits(-6.0, 6.0),
        ];
        let features = Features::new(features).unwrap();
        let trees = random.random_range(3..=12);
        let ensemble = whole_thresholds(&mut random, 4, trees).over(&features, true).unwrap();
        let mut draw = |parents: &[&str]| {
            let coefficients = parents.iter().map(|_| random.random_range(-0.5..0.5)).collect();
            Equation::linear(parents, coefficients, 0.1)
        };
        let equations =
            vec![("x1", draw(&["x0"])), ("x2", draw(&["x0", "x1"])), ("x3", draw(&["x0", "x1", "x2"]))];
        let scm = Scm::new(&features, equations).unwrap();
        let norm = [Norm::L1, Norm::L2, Norm::LINF][random.random_range(0..3)].clone();
        let problem = Problem::new(features, Classifier::trees(ensemble, 0.5).unwrap()).unwrap();
        let problem = problem.with_causal_model(scm).unwrap().with_uncertainty(norm, 0.1).unwrap();
        let x: Vec<f64> = (0..4).map(|_| random.random_range(-2..=2) as f64).collect();
        let settings = Settings { budget: Budget { evaluations: 5_000 }, ..Settings::default() };
        let proof = Solver::new(&problem, settings).unwrap().prove(&x).unwrap();
        assert!(is_verified(&problem, &proof.saved(&problem, &x)), "{number}");
        match &proof.outcome {
            Outcome::AlreadyFavourable => {}
            Outcome::Found(answer) => {
                open += usize::from(answer.cost_bound < 0.99 * answer.cost);
                found += 1;
            }
            Outcome::Impossible(_) => impossible += 1,
            _ => open += 1,
        }
    }
    // An input that follows a change may be within rounding errors of a threshold.
    assert!(open <= 2, "{open}");
    assert!(found > 20 && impossible > 50, "{found} {impossible}");
}

fn is_verified(problem: &Problem, saved: &SavedProof) -> bool {
    verify(problem, saved).is_ok_and(|verified| verified.is_verified())
}

/// What a proof needs cannot be changed or left out. Some reasons are not needed, because what a part costs already
/// suffices.
#[test]
fn changed_proofs_are_not_verified() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let (mut changed, mut refused) = ([0; 2], [0; 2]);
    for number in 0..300 {
        let problem = problem(&mut random);
        let x = individual(&mut random, &problem);
        let settings = Settings { budget: Budget { evaluations: 2_000 }, ..Settings::default() };
        let proof = Solver::new(&problem, settings).unwrap().prove(&x).unwrap();
        let saved = proof.saved(&problem, &x);
        let (Outcome::Found(found), Some(divided)) = (&saved.outcome, &saved.dividing) else { continue };
        let with = |dividing: Dividing| SavedProof { dividing: Some(dividing), ..saved.clone() };
        // Larger radii than the ball has.
        let mut reasons = divided.reasons.clone();
        let mut is_changed = false;
        for reason in &mut reasons {
            if let TreeReason::Scenario { radii, .. } = reason {
                is_changed |= radii.iter().any(|&radius| radius > 0.0);
                radii.iter_mut().filter(|radius| **radius > 0.0).for_each(|radius| *radius = 0.5);
            }
        }
        if is_changed {
            changed[0] += 1;
            let reasons = with(Dividing { reasons, ..divided.clone() });
            refused[0] += usize::from(!is_verified(&problem, &reasons));
        }
        // A cell with favourable scores.
        let mut reasons = divided.reasons.clone();
        let mut is_changed = false;
        for reason in &mut reasons {
            if let TreeReason::Cell { lower, upper } = reason {
                is_changed = true;
                lower.fill(f64::NEG_INFINITY);
                upper.fill(f64::INFINITY);
            }
        }
        if is_changed {
            changed[1] += 1;
            let reasons = with(Dividing { reasons, ..divided.clone() });
            refused[1] += usize::from(!is_verified(&problem, &reasons));
        }
        // A missing part.
        let mut sets = divided.sets.clone();
        if sets.iter_mut().any(|(_, divisions)| divisions.len() > 1 && divisions.pop().is_some()) {
            assert!(
                !is_verified(&problem, &with(Dividing { sets, ..divided.clone() })),
                "{number}: division"
            );
        }
        // A cheaper action than there can be.
        if found.cost_bound > 0.5 * found.cost {
            let mut cheaper = found.clone();
            cheaper.action.change.iter_mut().for_each(|change| *change *= 0.5);
            cheaper.cost = problem.cost().of(problem.features(), &cheaper.action);
            cheaper.cost_bound = cheaper.cost_bound.min(cheaper.cost);
            let cheaper = SavedProof { outcome: Outcome::Found(cheaper), ..saved.clone() };
            assert!(!is_verified(&problem, &cheaper), "{number}: action");
        }
        // Pieces that leave out a part of the ball, or that state less than the answer.
        if found.margin > 0.0 && problem.uncertainty().radius() > 0.0 {
            let of = |change: &dyn Fn(&mut Piece)| {
                let mut cover = saved.cover.clone().unwrap();
                cover.pieces.iter_mut().for_each(change);
                SavedProof { cover: Some(cover), ..saved.clone() }
            };
            assert!(!is_verified(&problem, &of(&|piece| piece.lower[0] *= 0.5)), "{number}: cover");
            assert!(!is_verified(&problem, &of(&|piece| piece.margin *= 0.5)), "{number}: piece");
        }
        // No action, where there is one.
        let shortfall = Shortfall { best: found.action.clone(), missing: 0.1 };
        let impossible = SavedProof { outcome: Outcome::Impossible(shortfall), cover: None, ..saved.clone() };
        assert!(!is_verified(&problem, &impossible), "{number}: impossible");
    }
    assert!(changed[0] > 30 && 10 * refused[0] > 9 * changed[0], "radii: {refused:?} of {changed:?}");
    assert!(changed[1] > 5 && 10 * refused[1] > 9 * changed[1], "cells: {refused:?} of {changed:?}");
}

/// With a nonlinear causal model, ranges of trees bound the margin: what is said is right, though less is decided.
#[test]
fn nonlinear_causal_models_are_answered() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut statuses = std::collections::BTreeMap::new();
    for number in 0..40 {
        let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-2.0, 2.0);
        let features = Features::new((0..2).map(feature).collect()).unwrap();
        let trees = ensemble(&mut random, 2, 3, 2).over(&features, true).unwrap();
        let equation = Equation::formula("0.5 * tanh(x0) + u");
        let scm = Scm::new(&features, vec![("x1", equation)]).unwrap();
        let problem = Problem::new(features, Classifier::trees(trees, 0.5).unwrap()).unwrap();
        let problem = problem.with_causal_model(scm).unwrap().with_uncertainty(Norm::L2, 0.05).unwrap();
        let x = individual(&mut random, &problem);
        let settings = Settings { budget: Budget { evaluations: 2_000 }, ..Settings::default() };
        let proof = Solver::new(&problem, settings).unwrap().prove(&x).unwrap();
        *statuses.entry(proof.outcome.status()).or_insert(0) += 1;
        let verified = verify(&problem, &proof.saved(&problem, &x)).unwrap();
        assert!(verified.is_verified(), "{number}: {verified:?}\n{:?}", proof.outcome);
        let bound = match &proof.outcome {
            Outcome::AlreadyFavourable => continue,
            Outcome::Found(answer) => {
                assert!(!is_broken(&mut random, &problem, &x, &answer.action, 2_000), "{number}: {answer:?}");
                answer.cost_bound
            }
            Outcome::Impossible(_) => f64::INFINITY,
            other => other.cost_bound(),
        };
        for _ in 0..300 {
            let Some(action) = random_action(&mut random, &problem, &x) else { continue };
            let cost = problem.cost().of(problem.features(), &action);
            let is_cheaper = cost < bound * (1.0 - 1e-9);
            assert!(
                !is_cheaper || is_broken(&mut random, &problem, &x, &action, 5_000),
                "{number}: {action:?}"
            );
        }
    }
    assert!(statuses["found"] >= 2 && statuses["impossible"] >= 5, "{statuses:?}");
}

/// The least margin of a certificate is not above that of any sample, and a break is one.
#[test]
fn certificates_agree_with_samples() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut counts = [0; 2];
    for number in 0..600 {
        let problem = problem(&mut random);
        let x = individual(&mut random, &problem);
        let Some(action) = random_action(&mut random, &problem, &x) else { continue };
        match certify(&problem, &x, &action, Budget::default()).unwrap().verdict {
            Verdict::Holds { margin: least } => {
                counts[0] += 1;
                for _ in 0..500 {
                    let perturbation = perturbation(&mut random, &problem);
                    let sampled = margin(&problem, &x, &action, &perturbation).unwrap();
                    assert!(sampled >= least - 1e-12, "{number}: {sampled} < {least}");
                }
            }
            Verdict::Breaks { perturbation, margin: stated, .. } => {
                counts[1] += 1;
                assert!(problem.uncertainty().contains(&perturbation), "{number}");
                let computed = margin(&problem, &x, &action, &perturbation).unwrap();
                assert!(computed == stated && stated < 0.0, "{number}");
            }
            // An action whose ball touches a threshold exactly may be left open.
            Verdict::Undecided { upper, .. } => assert!(upper >= 0.0, "{number}"),
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}

/// No sample within the size of the smallest break breaks an action.
#[test]
fn the_smallest_break_is_smallest() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut found_some = 0;
    for number in 0..200 {
        let problem = problem(&mut random);
        let x = individual(&mut random, &problem);
        let Some(action) = random_action(&mut random, &problem, &x) else { continue };
        let row = ndarray::ArrayView2::from_shape((1, x.len()), &x).unwrap();
        let people = People::from_standardised(problem.features(), row).unwrap();
        let found = smallest_break(&problem, &people, std::slice::from_ref(&action)).unwrap().remove(0);
        let size = found.as_ref().map_or(10.0, |found| found.size);
        found_some += usize::from(found.is_some());
        if let Some(found) = &found {
            assert!(margin(&problem, &x, &action, &found.perturbation).unwrap() < 0.0, "{number}");
        }
        if size == 0.0 {
            continue;
        }
        let smaller = problem.clone().with_epsilon(size * (1.0 - 1e-4)).unwrap();
        assert!(!is_broken(&mut random, &smaller, &x, &action, 1_000), "{number}: {size}");
    }
    assert!(found_some > 100, "{found_some}");
}

/// Committees of two ensembles or of an ensemble and a network, with one causal model or two: actions hold for
/// every member, bounds are true, and the checker verifies both.
#[test]
fn committees_with_trees_are_answered_with_proof() {
    let mut random = ChaCha8Rng::seed_from_u64(77);
    let (mut found_count, mut bounded, mut impossible) = (0, 0, 0);
    for number in 0..40 {
        let mut problem = problem(&mut random);
        let inputs = problem.features().len();
        let second = match random.random_bool(0.5) {
            true => {
                let ensemble = ensemble(&mut random, inputs, 3, 2).over(problem.features(), true).unwrap();
                Classifier::trees(ensemble, 0.5).unwrap()
            }
            false => {
                let network = network(&mut random, &[inputs, 4, 1], Activation::Tanh, 1.0);
                Classifier::network(network, 0.5).unwrap()
            }
        };
        let members = vec![("first".into(), problem.classifier().clone()), ("second".into(), second)];
        problem = problem.with_committee(Committee::new(members, 2).unwrap()).unwrap();
        if problem.scm().is_some() && random.random_bool(0.5) {
            let equation = Equation::linear(&["x0"], vec![0.3], 0.1);
            let scm = Scm::new(problem.features(), vec![("x1", equation)]).unwrap();
            problem = problem.with_alternative_causal_models(vec![("other".into(), scm)]).unwrap();
        }
        let x = individual(&mut random, &problem);
        if problem.score(&x) >= 0.0 {
            continue;
        }
        let settings = Settings { budget: Budget { evaluations: 4_000 }, ..Settings::default() };
        let proof = Solver::new(&problem, settings).unwrap().prove(&x).unwrap();
        let saved = proof.saved(&problem, &x);
        assert_eq!(SavedProof::from_json(&saved.to_json()).unwrap(), saved);
        let verification = verify(&problem, &saved).unwrap();
        assert!(verification.is_verified(), "{number}: {verification:?} {:?}", proof.outcome);
        let bound = proof.outcome.cost_bound();
        bounded += usize::from(bound > 0.0 && bound.is_finite());
        impossible += usize::from(bound == f64::INFINITY);
        if let Outcome::Found(found) = &proof.outcome {
            found_count += 1;
            assert!(!is_broken(&mut random, &problem, &x, &found.action, 2_000), "{number}: {found:?}");
            let verdict = certify(&problem, &x, &found.action, Budget::default()).unwrap().verdict;
            assert!(matches!(verdict, Verdict::Holds { .. }), "{number}: {verdict:?}");
        }
        // Nothing cheaper than the bound holds.
        let all = problem.features().actionable();
        for _ in 0..60 {
            let most = bound.min(3.0);
            let change: Vec<f64> = all.iter().map(|_| random.random_range(-most..=most)).collect();
            let action = Action { features: all.clone(), change };
            let is_allowed = infeasibility(&problem, &x, &action).unwrap().is_none();
            if is_allowed && problem.cost().of(problem.features(), &action) < bound {
                let verdict = certify(&problem, &x, &action, Budget::default()).unwrap().verdict;
                assert!(!matches!(verdict, Verdict::Holds { .. }), "{number}: {action:?} {bound}");
            }
        }
    }
    assert!(found_count >= 8 && bounded >= 8, "{found_count} {bounded} {impossible}");
}

/// What is uncertain beside a shift within the ball is not for the exact search of trees: bounds by ranges answer.
#[test]
fn single_features_that_are_exact_are_taken_as_exact() {
    use surefoot::Sources;
    use surefoot::uncertainty::Shift;
    let random = &mut ChaCha8Rng::seed_from_u64(31);
    let (mut holds, mut breaks, mut only_exact) = (0, 0, 0);
    for _ in 0..60 {
        let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-2.0, 2.0);
        let features = Features::new((0..2).map(feature).collect()).unwrap();
        let classifier = Classifier::trees(ensemble(random, 2, 3, 2), 0.5).unwrap();
        let ball = Problem::new(features, classifier).unwrap().with_uncertainty(Norm::L2, 0.3).unwrap();
        let shifts = vec![Shift::Exact, Shift::Ball];
        let exact = ball.clone().with_sources(Sources { shifts, ..Sources::default() }).unwrap();
        let x: Vec<f64> = (0..2).map(|_| random.random_range(-0.9..0.9)).collect();
        let change: Vec<f64> = (0..2).map(|_| random.random_range(-1.0..1.0)).collect();
        let action = Action { features: vec![0, 1], change };
        let verdict = certify(&exact, &x, &action, Budget { evaluations: 2_000 }).unwrap().verdict;
        let least = (0..=600)
            .map(|k| margin(&ball, &x, &action, &[0.0, 0.3 * (f64::from(k) / 300.0 - 1.0)]).unwrap())
            .fold(f64::INFINITY, f64::min);
        match verdict {
            Verdict::Holds { margin } => {
                assert!(least >= margin - 1e-9, "{least} {margin}");
                holds += 1;
                let of_ball = certify(&ball, &x, &action, Budget::default()).unwrap().verdict;
                only_exact += usize::from(matches!(of_ball, Verdict::Breaks { .. }));
            }
            Verdict::Breaks { .. } => breaks += 1,
            Verdict::Undecided { .. } => {}
        }
        let proof =
            Solver::new(&exact, Settings { budget: Budget { evaluations: 500 }, ..Settings::default() })
                .unwrap()
                .prove(&x)
                .unwrap();
        if proof.outcome.recourse().is_some() || matches!(proof.outcome, Outcome::Impossible(_)) {
            let verified = verify(&exact, &proof.saved(&exact, &x)).unwrap();
            assert!(!matches!(verified, surefoot::Verification::Wrong(_)), "{verified:?}");
        }
    }
    assert!(holds >= 8 && breaks >= 8 && only_exact >= 1, "{holds} {breaks} {only_exact}");
}
