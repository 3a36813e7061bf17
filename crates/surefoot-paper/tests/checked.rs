//! Proofs for people of the published network cases, saved and checked again.
//!
//! Needs the published files; see [`surefoot_paper::reference`] for where they are looked for.
//! `SUREFOOT_PEOPLE` sets how many people of each case are looked at.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Instant;

use surefoot::check::{Checked, SavedProof, check};
use surefoot::{Complete, Norm, Outcome};
use surefoot_paper::Reference;

const CASES: [&str; 4] = ["compas_mlp_ERM_s0", "adult_mlp_ERM_s0", "german_mlp_ERM_s0", "loan_mlp_ERM_s0"];

#[test]
fn proofs_of_published_cases_are_verified() {
    let reference = Reference::locate();
    assert!(
        reference.is_some() || std::env::var_os("CI").is_none(),
        "the published files are missing: put them in shared/reference beside the checkout, \
         or name their folder in SUREFOOT_REFERENCE"
    );
    let Some(reference) = reference else {
        eprintln!("skipped: the published files are not there");
        return;
    };
    let setting = |name: &str| std::env::var(name).ok();
    let people: usize = setting("SUREFOOT_PEOPLE").and_then(|n| n.parse().ok()).unwrap_or(4);
    let only = setting("SUREFOOT_CASE").unwrap_or_default();
    println!("case                people | verified wrong unverified | s proving, s checking, longest");
    for name in CASES.iter().filter(|name| name.contains(&only)) {
        let case = reference.case(name).unwrap();
        let problem = case.problem(&reference).unwrap().with_uncertainty(Norm::L2, 0.1).unwrap();
        let complete = Complete::new(&problem).unwrap();
        let (mut proving, mut checking, mut longest) = (0.0, 0.0, 0.0f64);
        let (mut verified, mut unverified, mut count) = (0, 0, 0);
        for i in 0..people.min(case.people.len()) {
            let individual = case.people.individual(i);
            let start = Instant::now();
            let proof = complete.prove(individual).unwrap();
            proving += start.elapsed().as_secs_f64();
            let text = proof.to_json(&problem, individual);
            let saved = SavedProof::from_json(&text).unwrap();
            assert_eq!(saved, proof.saved(&problem, individual));
            let start = Instant::now();
            let checked = check(&problem, &saved).unwrap();
            let seconds = start.elapsed().as_secs_f64();
            checking += seconds;
            longest = longest.max(seconds);
            count += 1;
            if setting("SUREFOOT_VERBOSE").is_some() {
                let kind = match &proof.outcome {
                    Outcome::Found(found) => format!("found, margin {:.2e}", found.margin),
                    Outcome::Impossible(_) => "impossible".into(),
                    Outcome::Undecided(_) => "undecided".into(),
                    Outcome::AlreadyFavourable => "favourable".into(),
                };
                let pieces = saved.cover.as_ref().map_or(0, |cover| cover.pieces.len());
                let parts = saved.ruled_out.len();
                println!(
                    "{name} {i}: {kind}, {pieces} pieces, {parts} parts, {} kB, {seconds:.3} s: {checked:?}",
                    text.len() / 1000
                );
            }
            match checked {
                Checked::Verified(_) => verified += 1,
                Checked::Wrong(fault) => panic!("{name}, person {i}: {fault}"),
                Checked::Unverified(_) => unverified += 1,
            }
        }
        println!(
            "{name:<20} {count:>5} | {verified:>8} {:>5} {unverified:>10} | {:.3} {:.3} {longest:.3}",
            0,
            proving / count as f64,
            checking / count as f64
        );
        assert!(4 * verified >= 3 * count, "{name}: {verified} of {count} verified");
    }
}
