//! Recourse on COMPAS when the model is trained again: guarded actions still hold where standard ones do not.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use surefoot_paper::data::{DataSet, Files};
use surefoot_paper::experiment::{Change, Guard, Retrained, Settings, run};
use surefoot_paper::training::{Method, Model};

/// The shares of pairs of an action and a later version in which the action holds for the person as reported, and
/// for every shift.
fn held(retrained: &Retrained, guard: Guard, change: Change) -> [f64; 2] {
    let verdicts = &retrained.of(guard).unwrap().on(change).unwrap().verdicts;
    let held: Vec<[usize; 2]> =
        verdicts.iter().flatten().map(|verdicts| [verdicts.both.reported, verdicts.both.robust]).collect();
    [0, 1].map(|k| held.iter().map(|held| held[k]).sum::<usize>() as f64 / (10 * held.len()) as f64)
}

#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn a_committee_foresees_later_models() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        data: vec![DataSet::Compas],
        models: vec![Model::Linear],
        methods: vec![Method::Erm],
        seeds: 1,
        people: 8,
        ..Settings::default()
    };
    let results = run(&settings, &Files::required(), folder.path(), &|_| ()).unwrap();
    let names: Vec<String> = results.retrained.iter().map(|(trial, _)| trial.name()).collect();
    assert_eq!(names, ["retraining_compas_linear_s0", "retraining_compas_linear_period_s0"]);
    let (people, period) = (&results.retrained[0].1, &results.retrained[1].1);
    for (retrained, change) in
        [(people, Change::Bootstrap), (people, Change::People), (period, Change::Period)]
    {
        let [standard, standard_shifted] = held(retrained, Guard::Nothing, change);
        let [_, person_shifted] = held(retrained, Guard::Person, change);
        let [both, both_shifted] = held(retrained, Guard::PersonAndModel, change);
        println!(
            "{change}: {standard:.2} {standard_shifted:.2} {person_shifted:.2} {both:.2} {both_shifted:.2}"
        );
        assert!(both > standard + 0.2 && both_shifted > person_shifted, "{change}");
    }
}
