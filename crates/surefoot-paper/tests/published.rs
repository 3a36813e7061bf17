//! Every published answer for a linear classifier, computed again.
//!
//! Needs the published files; see [`surefoot_paper::reference`] for where they are looked
//! for. Any further cases in that folder are checked as well.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use surefoot::{Norm, Outcome, recourse};
use surefoot_paper::Reference;
use surefoot_paper::reference::SLACK;

fn reference() -> Option<Reference> {
    let reference = Reference::locate();
    assert!(
        reference.is_some() || std::env::var_os("CI").is_none(),
        "the published files are missing: put them in shared/reference beside the checkout, \
         or name their folder in SUREFOOT_REFERENCE"
    );
    if reference.is_none() {
        eprintln!("skipped: the published files are not there");
    }
    reference
}

#[test]
fn linear_cases_agree_in_who_is_found_and_at_what_cost() {
    let Some(reference) = reference() else { return };
    let names = reference.names("linear").unwrap();
    assert!(!names.is_empty(), "no linear case in {}", reference.as_ref().display());
    let mut answers = 0;
    // Per data set: answers, found, worst relative difference in cost.
    let mut table: BTreeMap<String, (usize, usize, f64)> = BTreeMap::new();
    for name in names {
        let case = reference.case(&name).unwrap();
        let problem = case.problem(&reference).unwrap();
        for published in &case.answers {
            let problem = problem.clone().with_safety(SLACK).unwrap();
            let problem = problem.with_uncertainty(Norm::L2, published.epsilon).unwrap();
            let outcomes = recourse(&problem, &case.people).unwrap();
            assert_eq!(outcomes.len(), published.cost.len());
            let row = table.entry(case.dataset.clone()).or_default();
            for (person, (outcome, published_cost)) in outcomes.iter().zip(&published.cost).enumerate() {
                let place = format!("{name}, epsilon {}, person {person}", published.epsilon);
                answers += 1;
                row.0 += 1;
                match (outcome, published_cost) {
                    (Outcome::Found(found), Some(cost)) => {
                        let difference = (found.cost - cost).abs() / cost;
                        assert!(difference <= 2e-4, "{place}: cost {} not {cost}", found.cost);
                        assert!(found.cost_bound <= found.cost && found.margin >= 0.0, "{place}");
                        row.1 += 1;
                        row.2 = row.2.max(difference);
                    }
                    (Outcome::Impossible(shortfall), None) => assert!(shortfall.missing > 0.0, "{place}"),
                    (outcome, cost) => panic!("{place}: {outcome:?}, published {cost:?}"),
                }
            }
        }
    }
    println!("data set   answers   found   worst difference in cost");
    for (dataset, (answers, found, worst)) in &table {
        println!("{dataset:<9} {answers:>8} {found:>7}   {worst:.1e}");
    }
    println!("{answers} published answers agree");
}
