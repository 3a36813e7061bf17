//! Proofs of small problems of every kind are verified after a trip through JSON; proofs that
//! were tampered with are refused, and files that are none are errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot::error::SavedProblem;
use surefoot::error::{FileError, PeopleError};
use surefoot::outcome::Recourse;
use surefoot::proof::Proof;
use surefoot::verify::{Fault, Verification, verify, verify_within};
use surefoot::{
    Action, ActionKind, Activation, Budget, Change, Classifier, Complete, Cost, Equation, Error, Feature,
    Features, Norm, Outcome, Problem, SavedProof, Scm,
};
use surefoot_random::{FORMULAS, Family, network, one, uniform};

/// Four features, three of them actionable, with or without limits.
fn problem(random: &mut ChaCha8Rng) -> Problem {
    let far = one(random, &[2.0, 2.0, 2.0, f64::INFINITY]);
    let feature = |name: &str, change| Feature::new(name).change(change).limits(-far, far);
    let features = Features::new(vec![
        feature("a", Change::Fixed),
        feature("b", Change::Any),
        feature("c", Change::Increase).weight(0.5),
        feature("d", Change::Decrease).weight(2.0),
    ])
    .unwrap();
    let family = Family {
        features: &features,
        hidden: &[&[8, 6]],
        scales: &[0.4, 0.8, 1.2],
        epsilons: &[0.0, 0.05, 0.2, 0.6],
        formulas: &FORMULAS,
    };
    family.draw(random)
}

fn prove(problem: &Problem, individual: &[f64]) -> (Proof, SavedProof) {
    let complete = Complete::new(problem).unwrap().with_budget(Budget { evaluations: 4000 }).unwrap();
    let proof = complete.prove(individual).unwrap();
    let saved = SavedProof::from_json(&proof.to_json(problem, individual)).unwrap();
    assert_eq!(saved, proof.saved(problem, individual));
    (proof, saved)
}

#[test]
fn proofs_of_every_kind_are_verified() {
    let random = &mut ChaCha8Rng::seed_from_u64(11);
    let (mut found, mut impossible, mut undecided, mut favourable, mut unverified) = (0, 0, 0, 0, 0);
    for round in 0..240 {
        let problem = problem(random);
        let x = uniform(random, 4, -1.5..1.5);
        let (_, saved) = prove(&problem, &x);
        match &saved.outcome {
            Outcome::Found(_) => found += 1,
            Outcome::Impossible(_) => impossible += 1,
            Outcome::Undecided(_) => undecided += 1,
            Outcome::AlreadyFavourable | Outcome::Unproved(_) => favourable += 1,
        }
        match verify_within(&problem, &saved, 2000).unwrap() {
            Verification::Verified(verified) => {
                if let Outcome::Found(Recourse { margin, cost_bound, .. }) = &saved.outcome {
                    assert!(verified.margin.unwrap() >= margin - surefoot::verify::TOLERANCE);
                    assert_eq!(verified.cost_bound, *cost_bound);
                }
            }
            Verification::Unverified(fault) => {
                println!("round {round}: {fault}");
                unverified += 1;
            }
            other => panic!("round {round}: {other:?}"),
        }
    }
    println!("{found} found, {impossible} impossible, {undecided} undecided, {favourable} favourable");
    assert!(found >= 20 && impossible >= 20 && favourable >= 20, "{found} {impossible} {favourable}");
    assert!(unverified <= 5, "{unverified}");
}

/// A network of two features in which both pieces and boxes are many.
fn steep() -> (Problem, Vec<f64>) {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let features = Features::new(vec![
        Feature::new("a").change(Change::Any).limits(-3.0, 3.0),
        Feature::new("b").change(Change::Any).limits(-3.0, 3.0),
    ])
    .unwrap();
    loop {
        let network = network(random, &[2, 10, 8, 1], Activation::Tanh, 1.3);
        let problem = Problem::new(features.clone(), Classifier::network(network, 0.5).unwrap()).unwrap();
        let problem = problem.with_uncertainty(Norm::L2, 0.3).unwrap();
        let x = vec![random.random_range(-1.0..1.0), random.random_range(-1.0..1.0)];
        let proof = Complete::new(&problem).unwrap().prove(&x).unwrap();
        if let (Outcome::Found(found), Some(certificate)) = (&proof.outcome, &proof.certificate)
            && certificate.pieces.len() >= 4
            && proof.ruled_out.len() >= 4
            && found.cost > 0.2
        {
            return (problem, x);
        }
    }
}

fn found(saved: &mut SavedProof) -> &mut Recourse {
    match &mut saved.outcome {
        Outcome::Found(found) => found,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_wrong(problem: &Problem, saved: &SavedProof, is_it: impl Fn(&Fault) -> bool) {
    match verify(problem, saved).unwrap() {
        Verification::Wrong(fault) => assert!(is_it(&fault), "{fault}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_other(problem: &Problem, saved: &SavedProof, what: &'static str) {
    assert_eq!(verify(problem, saved).unwrap(), Verification::OtherProblem { what });
}

#[test]
fn tampered_certificates_are_refused() {
    let (problem, x) = steep();
    let (_, honest) = prove(&problem, &x);
    assert!(verify(&problem, &honest).unwrap().is_verified());

    let mut saved = honest.clone();
    found(&mut saved).margin += 1.0;
    saved.cover.as_mut().unwrap().pieces.iter_mut().for_each(|piece| piece.margin += 1.0);
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Broken { .. }));
    // Even without the worst perturbation at hand.
    saved.cover.as_mut().unwrap().worst = vec![0.0; 2];
    assert!(!verify(&problem, &saved).unwrap().is_verified());

    let mut saved = honest.clone();
    found(&mut saved).margin += 1e-3;
    assert!(!verify(&problem, &saved).unwrap().is_verified());

    let mut saved = honest.clone();
    found(&mut saved).margin = -1e-3;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Margin { .. }));

    for k in 0..honest.cover.as_ref().unwrap().pieces.len() {
        let mut saved = honest.clone();
        saved.cover.as_mut().unwrap().pieces.remove(k);
        assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::BallNotCovered { .. }));

        let mut saved = honest.clone();
        let piece = &mut saved.cover.as_mut().unwrap().pieces[k];
        piece.upper[0] -= 0.01 * (piece.upper[0] - piece.lower[0]);
        assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::BallNotCovered { .. }));
    }

    let mut saved = honest.clone();
    saved.cover.as_mut().unwrap().basis = vec![1.0, 0.0, 0.0, 1.001];
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Basis { .. }));

    let mut saved = honest.clone();
    saved.cover = None;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::NoCover));

    // A cheaper action, with its own cost and counterfactual.
    let mut saved = honest.clone();
    let action = Action {
        features: found(&mut saved).action.features.clone(),
        change: found(&mut saved).action.change.iter().map(|c| 0.9 * c).collect(),
    };
    let unperturbed = [0.0; 2];
    let cheaper = found(&mut saved);
    cheaper.cost = problem.cost().of(problem.features(), &action);
    cheaper.cost_bound = cheaper.cost_bound.min(cheaper.cost);
    cheaper.counterfactual = surefoot::margin::counterfactual(&problem, &x, &action, &unperturbed).unwrap();
    cheaper.action = action.clone();
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Broken { .. }));

    let mut saved = honest.clone();
    found(&mut saved).action = action;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Cost { .. }));

    let mut saved = honest.clone();
    found(&mut saved).cost *= 0.9;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Cost { .. }));

    let mut saved = honest.clone();
    found(&mut saved).counterfactual[0] += 0.1;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Counterfactual { .. }));

    let mut saved = honest.clone();
    found(&mut saved).action.change[0] = 4.0;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Infeasible { .. }));
}

#[test]
fn tampered_bounds_are_refused() {
    let (problem, x) = steep();
    let (_, honest) = prove(&problem, &x);

    let mut saved = honest.clone();
    found(&mut saved).cost_bound = found(&mut saved).cost;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::ActionsNotCovered { .. }));

    let mut saved = honest.clone();
    found(&mut saved).cost_bound *= 1.1;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::CostBound { .. }));

    // Of boxes that are needed each is, and each must be ruled out by its own perturbation.
    let bound = found(&mut honest.clone()).cost_bound;
    let (mut removed, mut flipped) = (0, 0);
    for k in 0..honest.ruled_out.len() {
        let mut saved = honest.clone();
        saved.ruled_out.remove(k);
        removed += usize::from(matches!(
            verify(&problem, &saved).unwrap(),
            Verification::Wrong(Fault::ActionsNotCovered { .. })
        ));

        let mut saved = honest.clone();
        saved.ruled_out[k].margins[0].scenario.perturbation.iter_mut().for_each(|d| *d *= 1.000_001);
        let full = problem.norm().value(&honest.ruled_out[k].margins[0].scenario.perturbation) > 0.299_999_9;
        if full {
            assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Perturbation { .. }));
        }

        let mut saved = honest.clone();
        saved.ruled_out[k]
            .margins
            .iter_mut()
            .flat_map(|m| &mut m.scenario.perturbation)
            .for_each(|d| *d = -*d);
        flipped += usize::from(matches!(
            verify(&problem, &saved).unwrap(),
            Verification::Wrong(Fault::Survives { .. })
        ));

        let mut saved = honest.clone();
        saved.ruled_out[k].cost = 0.5 * bound;
        assert!(!verify(&problem, &saved).unwrap().is_verified() || removed <= k);
    }
    assert!(removed >= 3 && flipped >= 1, "{removed} {flipped} of {}", honest.ruled_out.len());

    // Everything is claimed to be impossible.
    let mut saved = honest.clone();
    let best = found(&mut saved).action.clone();
    saved.outcome = Outcome::Impossible(surefoot::outcome::Shortfall { best, missing: 1.0 });
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::ActionsNotCovered { .. }));
    // With a box that is not.
    let mut everything = saved.ruled_out[0].clone();
    (everything.lower, everything.upper) = (vec![-9.0; 2], vec![9.0; 2]);
    everything.cost = f64::INFINITY;
    saved.ruled_out = vec![everything];
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Survives { .. }));
}

#[test]
fn scenarios_of_variants_that_do_not_exist_are_refused() {
    let (problem, x) = steep();
    let (_, mut saved) = prove(&problem, &x);
    assert!(!saved.to_json().contains("variants"));
    saved.ruled_out[0].margins[0].scenario.variant = 1;
    let read = SavedProof::from_json(&saved.to_json()).unwrap();
    assert_eq!(read.ruled_out, saved.ruled_out);
    assert_wrong(&problem, &read, |fault| matches!(fault, Fault::NoSuchVariant { part: 0, variant: 1 }));
}

#[test]
fn proofs_about_something_else_are_refused() {
    let (problem, x) = steep();
    let (_, honest) = prove(&problem, &x);

    let mut saved = honest.clone();
    saved.epsilon = 0.2;
    assert_other(&problem, &saved, "size of uncertainty is");
    let larger = problem.clone().with_uncertainty(Norm::L2, 0.31).unwrap();
    assert_other(&larger, &honest, "size of uncertainty is");
    // The same with the numbers made to fit: the pieces do not.
    let mut saved = honest.clone();
    saved.epsilon = 0.31;
    assert!(matches!(verify(&larger, &saved).unwrap(), Verification::Wrong(_)));

    let mut saved = honest.clone();
    saved.norm = (&Norm::L1).into();
    assert_other(&problem, &saved, "norm is");
    let mut saved = honest.clone();
    saved.cost = Cost::L2;
    assert_other(&problem, &saved, "kind of cost is");
    let mut saved = honest.clone();
    saved.form = ActionKind::Absolute;
    assert_other(&problem, &saved, "form of actions is");
    let mut saved = honest.clone();
    (saved.individual, saved.cover, saved.ruled_out) = (vec![0.0], None, vec![]);
    assert_other(&problem, &saved, "number of features is");

    let mut saved = honest.clone();
    saved.ruled_out[0].upper.pop();
    assert_eq!(
        verify(&problem, &saved),
        Err(Error::People(PeopleError::VectorLength { expected: 2, found: 1 }))
    );
    let mut saved = honest.clone();
    saved.cover.as_mut().unwrap().worst.push(0.0);
    assert_eq!(
        verify(&problem, &saved),
        Err(Error::People(PeopleError::VectorLength { expected: 2, found: 3 }))
    );

    let mut saved = honest.clone();
    saved.individual[0] += 0.3;
    assert!(matches!(verify(&problem, &saved).unwrap(), Verification::Wrong(_)));

    let mut saved = honest.clone();
    saved.outcome = Outcome::AlreadyFavourable;
    assert_wrong(&problem, &saved, |fault| matches!(fault, Fault::Score { .. }));
}

/// A proof that fails because the problem was altered is not called wrong, unless it does not say
/// which problem it was made for.
#[test]
fn proofs_of_an_altered_problem_are_told_apart() {
    let features = |upper: f64| {
        Features::new(vec![
            Feature::new("a").change(Change::Any).limits(-3.0, 3.0),
            Feature::new("b").change(Change::Any).limits(-3.0, upper),
        ])
        .unwrap()
    };
    let build = |upper: f64, weight: f64, formula: &str, rule: &str| {
        let features = features(upper);
        let scm = Scm::new(&features, vec![("b", Equation::formula(formula))]).unwrap();
        Problem::new(features.clone(), Classifier::linear(vec![1.0, weight], -1.0, 0.5).unwrap())
            .unwrap()
            .with_uncertainty(Norm::L2, 0.1)
            .unwrap()
            .with_causal_model(scm)
            .unwrap()
            .with_constraints(vec![surefoot::Constraint::parse(&features, rule).unwrap()])
            .unwrap()
    };
    let x = [-0.5, 0.2];
    let problem = build(3.0, 0.5, "0.5 * a + u", "a >= -3");
    let (_, saved) = prove(&problem, &x);
    assert!(matches!(saved.outcome, Outcome::Found(_)));
    assert!(verify(&problem, &saved).unwrap().is_verified());
    let mut earlier = saved.clone();
    earlier.problem = None;
    let earlier = SavedProof::from_json(&earlier.to_json()).unwrap();
    assert!(earlier.problem.is_none() && verify(&problem, &earlier).unwrap().is_verified());
    // The same, written otherwise, and what makes no difference to the proof.
    assert!(verify(&build(3.0, 0.5, "(a*0.5)+u", "a >= -3"), &saved).unwrap().is_verified());
    let same = surefoot::proof::Fingerprint::of(&build(3.0, 0.5, "(0.5 *a)+u", "a>=-3"));
    assert_eq!(saved.problem, Some(same));
    for (altered, what) in [
        (build(0.2, 0.5, "0.5 * a + u", "a >= -3"), "features are"),
        (build(3.0, -0.9, "0.5 * a + u", "a >= -3"), "classifier is"),
        (build(3.0, 0.5, "-0.9 * a + u", "a >= -3"), "causal model is"),
        (
            build(3.0, 0.5, "0.5 * a + u", "b <= 0.2"),
            "constraints, forbidden transitions, what may change together, what limits are about or what else is \
             uncertain are",
        ),
    ] {
        match verify(&altered, &saved).unwrap() {
            Verification::OtherProblem { what: found } => assert_eq!(found, what),
            Verification::Verified(_) => assert_eq!(what, "features are"),
            other => panic!("{what}: {other:?}"),
        }
        assert!(!matches!(verify(&altered, &earlier).unwrap(), Verification::OtherProblem { .. }));
    }
}

/// What is too much for the budget is not called wrong.
#[test]
fn without_a_budget_nothing_is_wrong() {
    let (problem, x) = steep();
    let (_, mut saved) = prove(&problem, &x);
    // One piece in place of many, which the checker has to cut for itself.
    let radius = problem.epsilon() * (1.0 + 1e-12);
    let cover = saved.cover.as_mut().unwrap();
    let mut whole = cover.pieces[0].clone();
    (whole.lower, whole.upper) = (vec![-radius; 2], vec![radius; 2]);
    whole.margin = f64::MAX;
    cover.pieces = vec![whole];
    assert!(matches!(
        verify_within(&problem, &saved, 2).unwrap(),
        Verification::Unverified(Fault::Piece { .. })
    ));
    assert!(verify(&problem, &saved).unwrap().is_verified());
}

#[test]
fn files_that_are_no_proof_are_errors() {
    let (problem, x) = steep();
    let (_, saved) = prove(&problem, &x);
    let text = saved.to_json();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let error = |text: &str| match SavedProof::from_json(text) {
        Err(Error::File(FileError::SavedProof { place, problem })) => (place, problem),
        other => panic!("{other:?}"),
    };
    assert!(matches!(error(""), (_, SavedProblem::Syntax(_))));
    assert!(matches!(error(&text[..text.len() / 2]), (_, SavedProblem::Syntax(_))));
    assert_eq!(error("[]"), ("the top".into(), SavedProblem::Expected("an object")));
    assert_eq!(error("{}"), ("the top".into(), SavedProblem::Missing("surefoot_proof")));
    let with = |path: &str, new: serde_json::Value| {
        let mut changed = value.clone();
        *changed.pointer_mut(path).unwrap() = new;
        error(&changed.to_string())
    };
    let number = "a number, \"inf\" or \"-inf\"";
    for (path, new, place, problem) in [
        ("/surefoot_proof", 10.into(), "surefoot_proof", SavedProblem::Version { found: 10, newest: 9 }),
        ("/surefoot_proof", "1".into(), "surefoot_proof", SavedProblem::Expected("a whole number")),
        ("/individual", 3.into(), "individual", SavedProblem::Expected("a list")),
        ("/individual/1", "inf".into(), "individual[1]", SavedProblem::Expected("a finite number")),
        ("/epsilon", "nan".into(), "epsilon", SavedProblem::Expected(number)),
        ("/norm", "l2".into(), "norm", SavedProblem::Expected("an object")),
        ("/norm/kind", "l3".into(), "norm.kind", SavedProblem::NotOneOf(vec!["l1", "l2", "linf"])),
        ("/cost", 1.into(), "cost", SavedProblem::Expected("a string")),
        ("/form", "other".into(), "form", SavedProblem::Expected("`relative` or `absolute`")),
        (
            "/outcome/kind",
            "other".into(),
            "outcome.kind",
            SavedProblem::Expected("`found`, `impossible`, `undecided` or `favourable`"),
        ),
        (
            "/outcome/action/features/0",
            7.into(),
            "outcome.action.features[0]",
            SavedProblem::Expected("the number of a feature"),
        ),
        (
            "/ruled_out/1/margins/0",
            serde_json::json!([9999, 1.0]),
            "ruled_out[1].margins[0][0]",
            SavedProblem::Expected("the number of a perturbation"),
        ),
        (
            "/ruled_out/1/features",
            serde_json::json!([1, 0]),
            "ruled_out[1].features",
            SavedProblem::Expected("a list in ascending order"),
        ),
        (
            "/ruled_out/1/upper",
            serde_json::json!([1.0]),
            "ruled_out[1].upper",
            SavedProblem::Length { expected: 2, found: 1 },
        ),
        ("/ruled_out/0/cost", serde_json::Value::Null, "ruled_out[0].cost", SavedProblem::Expected(number)),
        ("/ruled_out/0", serde_json::json!({}), "ruled_out[0]", SavedProblem::Missing("features")),
        (
            "/cover/pieces/0/reason",
            "none".into(),
            "cover.pieces[0].reason",
            SavedProblem::Expected("`affine`, `quadratic`, `curvature`, `parabolas`, `phases` or `trees`"),
        ),
        (
            "/cover/basis",
            serde_json::json!([1.0]),
            "cover.basis",
            SavedProblem::Length { expected: 4, found: 1 },
        ),
    ] {
        assert_eq!(with(path, new), (place.to_owned(), problem), "{path}");
    }
}

/// Whatever is changed: an error or a proof, never a panic.
#[test]
fn damaged_proofs_are_errors_or_judged() {
    let (problem, x) = steep();
    let text = prove(&problem, &x).1.to_json();
    for k in (0..text.len()).step_by(97) {
        let mut bytes = text.clone().into_bytes();
        bytes[k] = b'9';
        if let Ok(Ok(changed)) = String::from_utf8(bytes).map(|text| SavedProof::from_json(&text)) {
            let _ = verify_within(&problem, &changed, 50);
        }
    }
}
