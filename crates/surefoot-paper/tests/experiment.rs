//! The experiments end to end, on few people and with little training: what is kept, what is done
//! again, and the report. Needs no files: Loan is drawn from its model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::Mutex;

use surefoot_paper::data::{DataSet, Files};
use surefoot_paper::experiment::{
    Change, Event, ExperimentError, Guard, Proven, Results, Settings, report, run,
};
use surefoot_paper::training::{Method, Model};

fn tiny() -> Settings {
    Settings {
        data: vec![DataSet::Loan],
        models: Model::ALL.to_vec(),
        methods: vec![Method::Erm, Method::Allr, Method::AllrWithoutReliance],
        seeds: 1,
        people: 3,
        proofs: 2,
        evaluations: 400,
        epochs: 3,
    }
}

/// The results, and how many tasks were there, were done already, and were done now.
fn done(settings: &Settings, folder: &Path) -> Result<(Results, [usize; 3]), ExperimentError> {
    let counts = Mutex::new([0; 3]);
    let results = run(settings, &Files::in_folder(folder.join("no files")), folder, &|event| {
        let mut counts = counts.lock().unwrap();
        match event {
            Event::Planned { tasks, done, effort } => {
                assert!(effort > 0.0 || tasks == done);
                (counts[0], counts[1]) = (tasks, done);
            }
            Event::Begun(_) => counts[2] += 1,
            Event::Advanced { .. } | Event::Finished(_) => {}
        }
    })?;
    Ok((results, counts.into_inner().unwrap()))
}

fn page(settings: &Settings, results: &Results, folder: &Path) -> String {
    let written = report::write(settings, results, folder).unwrap();
    std::fs::read_to_string(written.page).unwrap()
}

#[test]
fn a_broken_run_goes_on_where_it_stopped_and_gives_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let results = folder.join("results");
    let result = |name: &str| results.join(format!("loan_{name}_s0.json"));

    // A result that cannot be written breaks the run; what was done before is kept.
    let obstacle = result("linear_allr");
    std::fs::create_dir_all(obstacle.join("in the way")).unwrap();
    let error = done(&tiny(), folder).unwrap_err().to_string();
    assert!(
        error.contains("loan_linear_allr_s0.json: cannot be written") && error.contains("--out"),
        "{error}"
    );
    std::fs::remove_dir_all(&obstacle).unwrap();
    let kept = std::fs::read_dir(&results).unwrap().count();
    assert!((2..7).contains(&kept), "{kept}");
    let (measured, counts) = done(&tiny(), folder).unwrap();
    assert_eq!(counts, [7, kept, 7 - kept]);
    check(&measured);
    check_trials(&measured);
    let expected = page(&tiny(), &measured, folder);
    check_page(&expected, folder);

    // What is missing or damaged is done again, with the same result.
    let damaged = result("network_allr");
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::remove_file(result("linear_erm")).unwrap();
    std::fs::remove_file(results.join("retraining_loan_network_s0.json")).unwrap();
    let (measured, counts) = done(&tiny(), folder).unwrap();
    assert_eq!(counts, [7, 4, 3]);
    assert_eq!(page(&tiny(), &measured, folder), expected);
    let names = std::fs::read_dir(&results).unwrap().map(|file| file.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.to_string_lossy().ends_with("s0.json")));

    // Nothing is left to do, nor of a part; with other settings all is.
    assert_eq!(done(&tiny(), folder).unwrap().1, [7, 7, 0]);
    let part = Settings { models: vec![Model::Linear], ..tiny() };
    assert_eq!(done(&part, folder).unwrap().1, [3, 3, 0]);
    let other = Settings { people: 2, ..part };
    let (measured, counts) = done(&other, folder).unwrap();
    assert_eq!(counts, [3, 0, 3]);
    assert!(measured.measured.iter().all(|(_, measured)| measured.rows.len() == 2));
    assert!(measured.retrained.iter().all(|(_, retrained)| retrained.rows.len() == 2));
}

fn check_trials(results: &Results) {
    assert_eq!(results.retrained.len(), 2);
    for (trial, retrained) in &results.retrained {
        let place = trial.name();
        let is_linear = trial.model == Model::Linear;
        let people = if is_linear { 3 } else { 2 };
        assert_eq!(retrained.rows.len(), people, "{place}");
        let guards: Vec<Guard> = retrained.guarded.iter().map(|guarded| guarded.guard).collect();
        // Boxes of weights are for linear models.
        assert_eq!(guards, if is_linear { &Guard::ALL[..] } else { &Guard::ALL[..5] }, "{place}");
        for guarded in &retrained.guarded {
            for change in [Change::Bootstrap, Change::People] {
                let verdicts = &guarded.on(change).unwrap().verdicts;
                assert_eq!(verdicts.len(), people, "{place}");
                for (verdict, cost) in verdicts.iter().zip(&guarded.costs) {
                    assert_eq!(verdict.is_some(), cost.is_some(), "{place}");
                    for held in verdict.iter().flat_map(|v| [v.model, v.causal_model, v.both]) {
                        // An action that holds for every shift holds without one.
                        assert!(held.robust <= held.reported && held.reported <= 10, "{place}: {held:?}");
                    }
                }
            }
        }
        // An action that withstands more costs no less, up to the gap of the search.
        let cost =
            |guard: Guard, person: usize| retrained.of(guard).and_then(|guarded| guarded.costs[person]);
        for person in 0..people {
            for guard in Guard::ALL {
                let (Some(guarded), Some(standard)) = (cost(guard, person), cost(Guard::Nothing, person))
                else {
                    continue;
                };
                assert!(guarded >= 0.989 * standard, "{place}, {guard:?}: {guarded} {standard}");
            }
        }
    }
    let linear = &results.retrained[0].1;
    assert!(linear.guarded.iter().flat_map(|guarded| &guarded.costs).flatten().count() > 3);
}

fn check(results: &Results) {
    assert_eq!(results.data(), [DataSet::Loan]);
    for (unit, measured) in &results.measured {
        let place = unit.name();
        assert!(measured.accuracy > 0.4 && measured.accuracy <= 1.0, "{place}");
        let sizes = if unit.method == Method::Erm { 5 } else { 2 };
        assert_eq!((measured.rows.len(), measured.answers.len()), (3, sizes), "{place}");
        for answers in &measured.answers {
            assert_eq!((answers.cost.len(), answers.smallest_break.len()), (3, 3), "{place}");
            if unit.model == Model::Linear {
                // Exactly as robust as asked for, but for the slack of the published optima.
                for size in answers.smallest_break.iter().flatten() {
                    let excess = size - answers.epsilon;
                    assert!((0.0..1e-4).contains(&excess), "{place}: {size} for {}", answers.epsilon);
                }
            }
        }
        for proofs in &measured.proofs {
            let asked = if unit.model == Model::Linear { 3 } else { 2 };
            assert_eq!(proofs.people.len(), asked, "{place}");
            for proven in &proofs.people {
                if let Proven::Certified { cost, bound, broken } = proven {
                    assert!(bound <= cost && !broken, "{place}");
                }
            }
        }
    }
}

fn check_page(page: &str, folder: &Path) {
    let figures = [
        "fragility",
        "robustness",
        "comparison-linear",
        "comparison-network",
        "ablation",
        "proofs",
        "retraining-linear",
        "retraining-network",
        "robust-recourse",
        "neighbourhood-linear",
        "neighbourhood-quadratic",
        "robust-boundary",
        "sine",
    ];
    for name in figures {
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        for ending in ["svg", "png"] {
            let path = folder.join(format!("figures/{name}.{ending}"));
            assert!(path.metadata().unwrap().len() > 1000, "{name}.{ending}");
        }
    }
    assert_eq!(page.matches("<svg").count(), figures.len());
    // One file that needs no other: nothing is loaded from elsewhere.
    for outside in ["<script", "<img", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("class=\"verdict").count(), 5);
    // Published numbers of Loan beside ours.
    for number in ["0.725", "0.454", "0.786", "2.7e-2"] {
        assert!(page.contains(&format!(">{number}<")), "{number}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
}
