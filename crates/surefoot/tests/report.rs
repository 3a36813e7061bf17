//! The tables that Surefoot writes, worked out by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use surefoot::report::{
    Answer, AnswerTable, AttackTable, Attacked, ColumnType, Judged, Values, VerdictTable,
};
use surefoot::{
    Break, Change, Classifier, Feature, Features, Norm, People, Problem, Verdict, infeasibility, recourse,
};

/// Income, one of two jobs, and education in three levels. The logit is that of a linear classifier in
/// standardised units.
fn problem() -> Problem {
    let mut features = vec![Feature::new("income").scaling(3000.0, 1000.0)];
    features.extend(Feature::new("job").change(Change::Any).one_of(["clerk", "cook"]));
    features.push(
        Feature::new("education").change(Change::Increase).weight(10.0).ordered(["none", "basic", "degree"]),
    );
    let features = Features::new(features).unwrap();
    let classifier = Classifier::linear(vec![1.0, 0.0, 2.0, 3.0], -1.0, 0.5).unwrap();
    Problem::new(features, classifier).unwrap().with_uncertainty(Norm::L2, 0.1).unwrap()
}

fn text(values: &Values, row: usize) -> Option<&str> {
    match values {
        Values::Text(values) => values[row].as_deref(),
        other => panic!("{other:?}"),
    }
}

fn number(values: &Values, row: usize) -> Option<f64> {
    match values {
        Values::Number(values) => values[row],
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_show_categories_by_their_texts() {
    let problem = problem();
    let table = AnswerTable::new(&problem, false);
    let headings = table.headings();
    let names: Vec<&str> = headings.iter().map(|heading| heading.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "id",
            "status",
            "cost",
            "cost_bound",
            "margin",
            "epsilon",
            "intervention",
            "action:job",
            "action:education",
            "counterfactual:income",
            "counterfactual:job",
            "counterfactual:education",
            "reason"
        ]
    );
    let text_columns = headings.iter().filter(|heading| heading.holds == ColumnType::Text);
    assert_eq!(text_columns.count(), 8);

    // A clerk without education: to become a cook costs 2 and adds 2 to the logit, to reach `basic` costs 10.
    let people = People::from_own_units(problem.features(), &[[3000.0, 1.0, 0.0, 0.0]]).unwrap();
    let outcome = &recourse(&problem, &people).unwrap()[0];
    let values = table.values(&[Answer {
        id: "ana",
        option: 0,
        outcome,
        reason: None,
        individual: people.individual(0),
    }]);
    assert_eq!(values.len(), headings.len());
    assert_eq!((text(&values[0], 0), text(&values[1], 0)), (Some("ana"), Some("found")));
    assert_eq!((number(&values[2], 0), number(&values[5], 0)), (Some(2.0), Some(0.1)));
    assert_eq!(
        (text(&values[6], 0), text(&values[7], 0), text(&values[8], 0)),
        (Some("job"), Some("cook"), None)
    );
    assert_eq!(number(&values[9], 0), Some(3000.0));
    assert_eq!((text(&values[10], 0), text(&values[11], 0)), (Some("cook"), Some("none")));
    assert_eq!(text(&values[12], 0), None);

    let with_options = AnswerTable::new(&problem, true);
    assert_eq!(with_options.headings()[1].name, "option");
    let values = with_options.values(&[Answer {
        id: "ana",
        option: 1,
        outcome,
        reason: Some("why"),
        individual: people.individual(0),
    }]);
    assert_eq!(number(&values[1], 0), Some(2.0));
    assert_eq!(text(&values[13], 0), Some("why"));
}

#[test]
fn verdicts_and_attacks_are_empty_for_people_without_an_action() {
    let problem = problem();
    let holds = Verdict::Holds { margin: 0.25 };
    let breaks = Verdict::Breaks { variant: 0, perturbation: vec![-0.1, 0.0, 0.0, 0.0], margin: -0.5 };
    let action = surefoot::Action { features: vec![0], change: vec![1.0] };
    let why = infeasibility(&problem, &[0.0, 1.0, 0.0, 0.0], &action).unwrap();
    let rows = [
        Judged { id: "a", action: Some((&holds, None)) },
        Judged { id: "b", action: Some((&breaks, why.as_ref())) },
        Judged { id: "c", action: None },
    ];
    let values = VerdictTable::new(&problem).values(&rows).unwrap();
    assert_eq!(
        (text(&values[1], 0), text(&values[1], 1), text(&values[1], 2)),
        (Some("holds"), Some("breaks"), None)
    );
    assert_eq!((number(&values[2], 0), number(&values[3], 1)), (Some(0.25), Some(-0.5)));
    assert_eq!(text(&values[4], 1), Some("income 100 lower"));
    assert_eq!(values[5], Values::Boolean(vec![Some(true), Some(false), None]));
    assert_eq!(text(&values[6], 1), Some("`income` may not be changed"));

    let found = Break {
        is_within: false,
        variant: 0,
        perturbation: vec![0.0, 0.0, 0.0, -0.2],
        shift: vec![0.0, 0.0, 0.0, -0.2],
        size: 0.2,
        counterfactual: None,
        margin: -0.1,
    };
    let rows = [
        Attacked { id: "a", action: Some((Some(&found), None)) },
        Attacked { id: "b", action: Some((None, None)) },
        Attacked { id: "c", action: None },
    ];
    let table = AttackTable::new(&problem);
    let names: Vec<String> = table.headings().into_iter().map(|heading| heading.name).collect();
    assert_eq!(names[4..8], ["shift:income", "shift:job=clerk", "shift:job=cook", "shift:education"]);
    let values = table.values(&rows).unwrap();
    assert_eq!(values.len(), names.len());
    assert_eq!(values[1], Values::Boolean(vec![Some(false), Some(false), None]));
    assert_eq!((number(&values[2], 0), number(&values[7], 0)), (Some(0.2), Some(-0.2)));
    assert_eq!(text(&values[8], 0), Some("education 0.2 levels lower"));
    assert_eq!(values[9], Values::Boolean(vec![Some(true), Some(true), None]));
}
