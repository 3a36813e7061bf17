//! Actions that cannot be taken are told so, each reason by itself; those of this crate never are.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use surefoot::{
    Action, ActionKind, Change, Classifier, Constraint, Equation, Feature, Features, Forbidden, Kind, People,
    Problem, Scm, infeasibility, recourse,
};

const NAMES: [&str; 7] = ["age", "income", "debt", "children", "clerk", "cook", "king"];

fn problem() -> Problem {
    let features = Features::new(vec![
        Feature::new("age").scaling(40.0, 9.0),
        Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, 9000.0).change(Change::Increase),
        Feature::new("debt").scaling(1000.0, 800.0).limits(0.0, f64::INFINITY).change(Change::Any),
        Feature::new("children").kind(Kind::Integer).scaling(1.3, 1.1).limits(0.0, 6.0).change(Change::Any),
        Feature::new("clerk").group("job").scaling(0.4, 0.49).change(Change::Any),
        Feature::new("cook").group("job").scaling(0.3, 0.46).change(Change::Any),
        Feature::new("king").group("job").scaling(0.3, 0.46).change(Change::Decrease),
    ])
    .unwrap();
    let scm = Scm::new(&features, vec![("income", Equation::formula("100 * children + u"))]).unwrap();
    let classifier = Classifier::linear(vec![0.0, 1.0, -0.3, 0.2, 0.1, 0.3, 0.0], -1.0, 0.5).unwrap();
    Problem::new(features.clone(), classifier)
        .unwrap()
        .with_causal_model(scm)
        .unwrap()
        .with_constraints(vec![Constraint::parse(&features, "income >= 2 * debt").unwrap()])
        .unwrap()
        .with_forbidden(vec![
            Forbidden::values(&features, "children", &[], &[3.0]).unwrap(),
            Forbidden::categories(&features, "job", &["cook"], &["clerk"]).unwrap(),
        ])
        .unwrap()
}

fn why(problem: &Problem, own: [f64; 7], changes: &[(&str, f64)]) -> Option<String> {
    let people = People::from_own_units(problem.features(), &[own]).unwrap();
    let mut changes: Vec<(usize, f64)> = changes
        .iter()
        .map(|(name, by)| {
            let i = NAMES.iter().position(|known| known == name).unwrap();
            (i, by / problem.features().feature(i).std)
        })
        .collect();
    changes.sort_by_key(|(i, _)| *i);
    let (features, change) = changes.into_iter().unzip();
    let infeasible = infeasibility(problem, people.individual(0), &Action { features, change }).unwrap();
    infeasible.map(|why| why.to_string())
}

const ANA: [f64; 7] = [31.0, 2400.0, 900.0, 1.0, 1.0, 0.0, 0.0];
const BEN: [f64; 7] = [31.0, 2400.0, 900.0, 1.0, 0.0, 1.0, 0.0];

#[test]
fn every_reason_is_told() {
    let problem = problem();
    for (own, changes, expected) in [
        (ANA, &[("income", 6600.0)][..], None),
        (ANA, &[("debt", -900.0), ("children", 1.0)], None),
        (ANA, &[("clerk", -1.0), ("cook", 1.0)], None),
        (ANA, &[("age", 0.0)], None),
        (ANA, &[("age", 1.0)], Some("`age` may not be changed")),
        (ANA, &[("income", -1.0)], Some("`income` may only rise")),
        (ANA, &[("income", 6600.5)], Some("`income` would become 9000.5, above its limit of 9000")),
        (ANA, &[("debt", -900.1)], Some("`debt` would become -0.1, below its limit of 0")),
        (ANA, &[("children", 6.0)], Some("`children` would become 7, above its limit of 6")),
        (ANA, &[("children", 2.0)], Some("`children` may not go from 1 to 3")),
        (ANA, &[("cook", 1.0)], Some("`job` would not go from one category to another")),
        (ANA, &[("clerk", -1.0), ("king", 1.0)], Some("`king` may not be entered")),
        (BEN, &[("clerk", 1.0), ("cook", -1.0)], Some("`job` may not go from `cook` to `clerk`")),
        (ANA, &[("debt", 301.0)], Some("the constraint `income >= 2 * debt` is not met")),
        (
            ANA,
            &[("age", 1.0), ("debt", 301.0), ("income", 1.0)],
            Some("`age` may not be changed; the constraint `income >= 2 * debt` is not met"),
        ),
    ] {
        assert_eq!(why(&problem, own, changes).as_deref(), expected, "{changes:?}");
    }
    let half = why(&problem, ANA, &[("children", 0.5)]).unwrap();
    assert!(
        half.starts_with("`children` would change by 0.5") && half.ends_with("whole numbers only"),
        "{half}"
    );
    // To hold at a level what may not be touched shields it.
    let absolute = problem.with_action_kind(ActionKind::Absolute);
    assert_eq!(why(&absolute, ANA, &[("age", 0.0)]).unwrap(), "`age` may not be changed");
}

/// Also after a trip through own units, as tables have them.
#[test]
fn what_is_found_can_be_taken() {
    let problem = problem();
    let mut rows = Vec::new();
    for k in 0..60 {
        let mut row = ANA;
        (row[0], row[1], row[2]) = (25.0 + f64::from(k % 30), 90.0 * f64::from(k), 37.7 * f64::from(k % 11));
        row[3] = f64::from(k % 3);
        (row[4], row[5], row[6]) = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)][k as usize % 3];
        rows.push(row);
    }
    let people = People::from_own_units(problem.features(), &rows).unwrap();
    let mut found = 0;
    for (individual, outcome) in people.iter().zip(recourse(&problem, &people).unwrap()) {
        let Some(recourse) = outcome.recourse() else { continue };
        let mut action = recourse.action.clone();
        for (&i, change) in action.features.iter().zip(&mut action.change) {
            let feature = problem.features().feature(i);
            *change = feature.snap_to_integer(*change * feature.std) / feature.std;
        }
        assert_eq!(infeasibility(&problem, individual, &action).unwrap(), None);
        found += 1;
    }
    assert!(found >= 20, "{found}");
}
