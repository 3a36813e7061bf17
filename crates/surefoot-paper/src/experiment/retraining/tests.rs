//! Guards, verdicts and shares worked out by hand.

use surefoot::train::{Fitted, FittedEquation, Function};
use surefoot::{Budget, Change as Direction, Classifier, Feature, Features};

use super::super::{Results, Statistic};
use super::guard::Guards;
use super::judge::Judge;
use super::statistic::Setting;
use super::version::Version;
use super::*;
use crate::data::Files;

const BUDGET: Budget = Budget { evaluations: 2000 };

/// A version with `score(x) = w.x + bias` and the equation `savings := slope * income + u`, if there is one.
fn version(weights: &[f64], bias: f64, slope: Option<f64>) -> Version {
    let equation = |slope: f64| FittedEquation {
        feature: "savings".into(),
        parents: vec!["income".into()],
        function: Function::Linear { coefficients: vec![slope], intercept: 0.0 },
        r_squared: 1.0,
        deviation: 1.0,
        standard_errors: vec![0.0],
        residuals: Vec::new(),
        warnings: Vec::new(),
    };
    Version {
        classifier: Classifier::linear(weights.to_vec(), bias, 0.5).unwrap(),
        equations: slope.map(|slope| Fitted { equations: vec![equation(slope)] }),
    }
}

/// The cost of a person's action with each guard, and the verdicts of later versions.
fn guarded(
    features: &Features,
    [deployed, bootstraps, later]: [&[Version]; 3],
    person: &[f64],
) -> Vec<(Guard, f64, Verdicts)> {
    let people = vec![person.to_vec()];
    let guards = Guards::new(features, &deployed[0], bootstraps).unwrap();
    let judge = Judge { features, deployed: &deployed[0], budget: BUDGET };
    let later = [(Change::People, later.to_vec())];
    let answer = |guard: Guard| {
        let outcomes = solve(&guards.problem(guard).unwrap(), &people, BUDGET).unwrap();
        let Guarded { costs, judged, .. } = judged(guard, &outcomes, &people, &later, &judge).unwrap();
        (guard, costs[0].unwrap(), judged[0].verdicts[0].unwrap())
    };
    guards.available().map(answer).collect()
}

/// The cost is the optimum, up to the gap of the search.
fn assert_cost(cost: f64, optimum: f64) {
    assert!(cost >= optimum - 1e-9 && cost <= 1.0101 * optimum, "{cost} {optimum}");
}

fn held(reported: usize, robust: usize) -> Held {
    Held { reported, robust }
}

/// Deployed is the boundary 0, the only bootstrap has it at 0.2, and later models have it at 0.05 and 0.15. A
/// person at -1 acts up to 0, 0.1 (epsilon), 0.2 (the committee), 0.3 (both), or 0.25 (weights within 0.2). Within 0.1
/// the action must end beyond 0.15 and 0.25.
#[test]
fn a_model_shifted_by_a_known_amount_breaks_what_was_not_guarded_against_it() {
    let features = Features::new(vec![Feature::new("income").change(Direction::Any)]).unwrap();
    let at = |boundary: f64| version(&[1.0], -boundary, None);
    let answers = guarded(&features, [&[at(0.0)], &[at(0.2)], &[at(0.05), at(0.15)]], &[-1.0]);
    let expected = [
        (Guard::Nothing, 1.0, held(0, 0)),
        (Guard::Person, 1.1, held(1, 0)),
        (Guard::Model, 1.2, held(2, 1)),
        (Guard::PersonAndModel, 1.3, held(2, 2)),
        // The worst weight and intercept of the box are 0.8 and -0.2.
        (Guard::Weights, 1.25, held(2, 2)),
    ];
    // Without a causal model there are no coefficients to guard against.
    assert_eq!(answers.len(), expected.len());
    for ((guard, cost, verdicts), (expected, optimum, both)) in answers.into_iter().zip(expected) {
        assert_eq!(guard, expected);
        assert_cost(cost, optimum);
        assert_eq!((verdicts.both, verdicts.model), (both, both), "{guard:?}");
        // Every action holds with the deployed model; within 0.1 those that are guarded against it.
        let is_robust = usize::from(guard != Guard::Nothing);
        assert_eq!(verdicts.causal_model, held(2, 2 * is_robust), "{guard:?}");
    }
}

/// The score is savings less 1, and savings follow income with the slope `c`. A raise of income by `theta` gives
/// `c theta - 1`, and `c theta - 1 - 0.1 sqrt(1 + c^2)` in the worst case. Deployed is `c = 1`, twice the standard
/// error of the bootstraps is 0.2, and later `c` is 0.9.
#[test]
fn a_causal_model_fitted_again_breaks_what_was_not_guarded_against_it() {
    let income = Feature::new("income").change(Direction::Increase);
    let features = Features::new(vec![income, Feature::new("savings")]).unwrap();
    let slope = |slope: f64| version(&[0.0, 1.0], -1.0, Some(slope));
    // The standard deviation of two numbers is their difference by the root of two.
    let error = 0.05 * 2f64.sqrt();
    let versions: [&[Version]; 3] = [&[slope(1.0)], &[slope(1.0 - error), slope(1.0 + error)], &[slope(0.9)]];
    let answers = guarded(&features, versions, &[0.0, 0.0]);
    let needed = |slope: f64| (1.0 + 0.1 * (1.0 + slope * slope).sqrt()) / slope;
    let expected = [
        (Guard::Nothing, 1.0, held(0, 0)),
        (Guard::Person, needed(1.0), held(1, 0)),
        (Guard::Model, 1.0, held(0, 0)),
        (Guard::PersonAndModel, needed(1.0), held(1, 0)),
        (Guard::Everything, needed(0.8), held(1, 1)),
        // All models are the same, so that the box is a point.
        (Guard::Weights, 1.0, held(0, 0)),
    ];
    assert_eq!(answers.len(), expected.len());
    for ((guard, cost, verdicts), (expected, optimum, both)) in answers.into_iter().zip(expected) {
        assert_eq!(guard, expected);
        assert_cost(cost, optimum);
        assert_eq!((verdicts.both, verdicts.causal_model), (both, both), "{guard:?}");
        assert_eq!(verdicts.model.reported, 1, "{guard:?}");
    }
}

/// Two trials: of three people two have an action with every guard.
#[test]
fn shares_and_costs_are_over_actions_and_seeds() {
    let verdicts = |reported, robust| {
        let both = held(reported, robust);
        Some(Verdicts { both, ..Verdicts::default() })
    };
    let of = |guard, costs: [Option<f64>; 3], verdicts: [Option<Verdicts>; 3]| Guarded {
        guard,
        costs: costs.to_vec(),
        undecided: costs.iter().filter(|cost| cost.is_none()).count(),
        judged: vec![Judged { change: Change::People, verdicts: verdicts.to_vec() }],
    };
    let standard = of(
        Guard::Nothing,
        [Some(1.0), Some(3.0), Some(2.0)],
        [verdicts(5, 0), verdicts(3, 1), verdicts(10, 0)],
    );
    let first = of(Guard::Person, [Some(2.0), Some(4.0), None], [verdicts(10, 5), verdicts(8, 5), None]);
    let second = of(Guard::Person, [Some(1.0), Some(3.0), None], [verdicts(10, 10), verdicts(10, 10), None]);
    let trial = |seed: u32, robust: Guarded| {
        let trial = Trial { data: DataSet::German, model: Model::Linear, seed, by_period: false };
        let favourable = vec![(Change::People, vec![0, 5, 10])];
        (trial, Retrained { rows: vec![1, 2, 3], guarded: vec![standard.clone(), robust], favourable })
    };
    let retrained = vec![trial(0, first), trial(1, second)];
    let results = Results { measured: Vec::new(), retrained, origins: Vec::new(), seconds: 0.0 };
    let setting = Setting { data: DataSet::German, model: Model::Linear, change: Change::People };
    assert_eq!(results.settings(Model::Linear, Change::People), [setting]);
    assert!(results.settings(Model::Network, Change::People).is_empty());

    let standard = results.worth(setting, Guard::Nothing).unwrap();
    assert_eq!((standard.people, standard.found.mean, standard.cost), (6, 1.0, Some([1.0; 3])));
    assert!((standard.both.unwrap().reported.mean - 18.0 / 30.0).abs() < 1e-12);
    assert!((standard.alike.unwrap().reported.mean - 8.0 / 20.0).abs() < 1e-12);
    // German has no causal model.
    assert_eq!(standard.causal_model, None);

    let person = results.worth(setting, Guard::Person).unwrap();
    assert!(
        (person.found.mean - 2.0 / 3.0).abs() < 1e-12 && (person.undecided.mean - 1.0 / 3.0).abs() < 1e-12
    );
    // By those of standard recourse, 1 and 3, the costs are 2 and 4 / 3, 1 and 1.
    let [lower, median, upper] = person.cost.unwrap();
    assert_eq!(lower, 1.0);
    assert!((median - 7.0 / 6.0).abs() < 1e-12 && (upper - 1.5).abs() < 1e-12);
    let both = person.both.unwrap();
    assert_eq!(
        (both.reported, both.robust),
        (Statistic::of(&[0.9, 1.0]).unwrap(), Statistic::of(&[0.5, 1.0]).unwrap())
    );
    // Of all pairs, those without an action included.
    assert!((person.kept.reported.mean - 38.0 / 60.0).abs() < 1e-12);
    assert!((person.kept.robust.mean - 30.0 / 60.0).abs() < 1e-12);
    assert_eq!(results.worth(setting, Guard::Everything), None);
    assert_eq!(results.favourable(setting), Statistic::of(&[0.5, 0.5]));
}

#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn trials_by_period_are_of_tables_with_periods() {
    for data in DATA {
        let table = data.read(&Files::required()).unwrap();
        assert_eq!(table.periods.is_some(), DATED.contains(&data), "{data}");
    }
}
