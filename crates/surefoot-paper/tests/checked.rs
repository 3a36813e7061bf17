//! Proofs for people of the published network cases, saved and checked again.
//!
//! Needs the published files; see [`surefoot_paper::reference`] for where they are looked for.
//! The benchmark `checked` does the same for more people, and tells how long it takes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use surefoot::proof::SavedProof;
use surefoot::verify::{Verification, verify};
use surefoot::{Complete, Norm};
use surefoot_paper::Reference;

const CASES: [&str; 4] = ["compas_mlp_ERM_s0", "adult_mlp_ERM_s0", "german_mlp_ERM_s0", "loan_mlp_ERM_s0"];
const PEOPLE: usize = 4;

#[test]
#[cfg_attr(without_reference, ignore = "the published answers are missing")]
fn proofs_of_published_cases_are_verified() {
    let reference = Reference::required();
    for name in CASES {
        let case = reference.case(name).unwrap();
        let problem = case.problem(&reference).unwrap().with_uncertainty(Norm::L2, 0.1).unwrap();
        let complete = Complete::new(&problem).unwrap();
        for i in 0..PEOPLE {
            let individual = case.people.individual(i);
            let proof = complete.prove(individual).unwrap();
            let saved = SavedProof::from_json(&proof.to_json(&problem, individual)).unwrap();
            assert_eq!(saved, proof.saved(&problem, individual));
            match verify(&problem, &saved).unwrap() {
                Verification::Verified(verified) => assert!(verified.sets > 0, "{name}, person {i}"),
                other => panic!("{name}, person {i}: {other:?}"),
            }
        }
    }
}
