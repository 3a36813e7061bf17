//! Proofs by bounds along the rays of a limit on the cost are verified; those that were tampered with are refused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use surefoot::error::{FileError, SavedProblem};
use surefoot::outcome::Undecided;
use surefoot::verify::{Fault, Verification, verify, verify_within};
use surefoot::{
    Activation, Change, Classifier, Complete, Error, Feature, Features, Norm, Outcome, Problem, SavedProof,
};
use surefoot_random::{network, uniform};

/// Eight features that may change in both directions, without limits.
fn problem(random: &mut ChaCha8Rng, widths: &[usize]) -> Problem {
    let features = (0..8).map(|k| Feature::new(format!("x{k}")).change(Change::Any)).collect();
    let network = network(random, widths, Activation::Relu, 0.7);
    Problem::new(Features::new(features).unwrap(), Classifier::network(network, 0.5).unwrap())
        .unwrap()
        .with_uncertainty(Norm::L2, 0.1)
        .unwrap()
}

/// Saved proofs with at least one part that is proved along rays.
fn proofs(count: usize) -> Vec<(Problem, SavedProof)> {
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let mut proofs = Vec::new();
    while proofs.len() < count {
        let widths: &[usize] = if proofs.len() % 2 == 0 { &[8, 12, 1] } else { &[8, 9, 6, 1] };
        let problem = problem(random, widths);
        let x = uniform(random, 8, -1.0..1.0);
        let proof = Complete::new(&problem).unwrap().prove(&x).unwrap();
        let mut margins = proof.ruled_out.iter().flat_map(|part| &part.margins);
        if proof.outcome.recourse().is_some() && margins.any(|margin| margin.touches.is_some()) {
            let saved = SavedProof::from_json(&proof.to_json(&problem, &x)).unwrap();
            assert_eq!(saved, proof.saved(&problem, &x));
            proofs.push((problem, saved));
        }
    }
    proofs
}

#[test]
fn proofs_along_rays_are_verified() {
    let mut closed = 0;
    for (problem, saved) in proofs(12) {
        let Outcome::Found(found) = &saved.outcome else { panic!("{:?}", saved.outcome) };
        closed += usize::from(found.cost_bound > 0.985 * found.cost);
        let verification = verify(&problem, &saved).unwrap();
        assert!(verification.is_verified(), "{verification:?}");
    }
    assert!(closed >= 9, "{closed}");
}

#[test]
fn tampered_proofs_along_rays_are_refused() {
    for (problem, saved) in proofs(4) {
        let is_refused = |change: &dyn Fn(&mut SavedProof)| {
            let mut changed = saved.clone();
            change(&mut changed);
            match verify_within(&problem, &changed, 400).unwrap() {
                Verification::Verified(_) => None,
                Verification::Wrong(fault) | Verification::Unverified(fault) => Some(fault),
                other => panic!("{other:?}"),
            }
        };
        let margin = |saved: &mut SavedProof, change: &dyn Fn(&mut surefoot::proof::WeightedMargin)| {
            saved.ruled_out.iter_mut().flat_map(|part| &mut part.margins).for_each(change);
        };
        // An action that holds costs less than this.
        let doubled = is_refused(&|saved| {
            let Outcome::Found(found) = saved.outcome.clone() else { return };
            let cost_bound = 2.0 * found.cost;
            saved.ruled_out.iter_mut().for_each(|part| part.cost *= 3.0);
            saved.cover = None;
            saved.outcome = Outcome::Undecided(Undecided {
                best: found.action,
                margin: found.margin,
                required: 1e-9,
                cost_bound,
                reason: surefoot::outcome::UndecidedReason::Budget,
            });
        });
        assert!(doubled.is_some());
        let unperturbed = is_refused(&|saved| {
            margin(saved, &|margin| margin.scenario.perturbation.iter_mut().for_each(|d| *d = 0.0))
        });
        assert!(unperturbed.is_some());
        let negative = is_refused(&|saved| margin(saved, &|margin| margin.share = -1.0));
        assert!(matches!(negative, Some(Fault::Share { .. })), "{negative:?}");
        let opposite = is_refused(&|saved| {
            margin(saved, &|margin| margin.scenario.perturbation.iter_mut().for_each(|d| *d *= -1.0))
        });
        assert!(opposite.is_some());
        // Whatever the points are, what is verified is true; nothing is called wrong because of them.
        let moved = is_refused(&|saved| {
            margin(saved, &|margin| margin.touches.iter_mut().flatten().for_each(|t| *t += 3.0));
        });
        assert!(moved.is_none_or(|fault| matches!(fault, Fault::RuledOut { .. })));
    }
}

#[test]
fn points_that_are_none_are_errors() {
    let (_, saved) = proofs(1).remove(0);
    let value: serde_json::Value = serde_json::from_str(&saved.to_json()).unwrap();
    let parts = value["ruled_out"].as_array().unwrap();
    let k = parts.iter().position(|part| part["points"].as_array().is_some_and(|p| !p.is_empty())).unwrap();
    let error = |path: &str, new: serde_json::Value| {
        let mut changed = value.clone();
        *changed.pointer_mut(&format!("/ruled_out/{k}/{path}")).unwrap() = new;
        match SavedProof::from_json(&changed.to_string()) {
            Err(Error::File(FileError::SavedProof { place, problem })) => (place, problem),
            other => panic!("{other:?}"),
        }
    };
    let place = format!("ruled_out[{k}]");
    assert_eq!(
        error("margins/0", serde_json::json!([0, 1.0, 99])),
        (format!("{place}.margins[0][2]"), SavedProblem::Expected("the number of a point"))
    );
    assert_eq!(
        error("points/0", serde_json::json!([0.5])),
        (format!("{place}.points[0]"), SavedProblem::Length { expected: 8, found: 1 })
    );
    assert!(matches!(error("margins/0", serde_json::json!([0, 1.0, 0, 0])), (_, SavedProblem::Expected(_))));
}
