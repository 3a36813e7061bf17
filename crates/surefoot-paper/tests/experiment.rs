//! The experiments end to end, on few people and with little training: what is kept, what is done
//! again, and the report. Needs no files: Loan is drawn from its model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::Mutex;

use surefoot_paper::data::{DataSet, Files};
use surefoot_paper::experiment::{Event, ExperimentError, Proven, Results, Settings, report, run};
use surefoot_paper::training::{Method, Model};

fn tiny() -> Settings {
    Settings {
        data: vec![DataSet::Loan],
        models: Model::ALL.to_vec(),
        seeds: 1,
        people: 5,
        proofs: 2,
        evaluations: 400,
        epochs: 3,
    }
}

/// The results, and how many units of work were there, were done already, and were done now.
fn done(settings: &Settings, folder: &Path) -> Result<(Results, [usize; 3]), ExperimentError> {
    let counts = Mutex::new([0; 3]);
    let results = run(settings, &Files::in_folder(folder.join("no files")), folder, &|event| {
        let mut counts = counts.lock().unwrap();
        match event {
            Event::Planned { units, done, effort } => {
                assert!(effort > 0.0 || units == done);
                (counts[0], counts[1]) = (units, done);
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
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (results, counts) = done(&tiny(), whole.path()).unwrap();
    assert_eq!(counts, [10, 0, 10]);
    check(&results);
    let expected = page(&tiny(), &results, whole.path());
    check_page(&expected, whole.path());

    // A result that cannot be written breaks the run; what was done before is kept.
    let results = broken.path().join("results");
    let obstacle = results.join("loan_linear_af_s0.json");
    std::fs::create_dir_all(obstacle.join("in the way")).unwrap();
    let error = done(&tiny(), broken.path()).unwrap_err().to_string();
    assert!(
        error.contains("loan_linear_af_s0.json: cannot be written") && error.contains("--out"),
        "{error}"
    );
    let kept = std::fs::read_dir(&results).unwrap().count() - 1;
    assert!(kept >= 6, "{kept}");
    std::fs::remove_dir_all(&obstacle).unwrap();
    // Half a file is as good as none.
    let damaged = results.join("loan_network_erm_s0.json");
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    let (resumed, counts) = done(&tiny(), broken.path()).unwrap();
    assert_eq!(counts, [10, kept - 1, 10 - (kept - 1)]);
    assert_eq!(page(&tiny(), &resumed, broken.path()), expected);
    let names = std::fs::read_dir(&results).unwrap().map(|file| file.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.to_string_lossy().ends_with("s0.json")));

    // Nothing is left to do.
    let (_, counts) = done(&tiny(), broken.path()).unwrap();
    assert_eq!(counts, [10, 10, 0]);
    // A part of it is not done again either, other settings are.
    let part = Settings { models: vec![Model::Linear], ..tiny() };
    assert_eq!(done(&part, broken.path()).unwrap().1, [4, 4, 0]);
    let other = Settings { people: 4, ..part };
    let (results, counts) = done(&other, broken.path()).unwrap();
    assert_eq!(counts, [4, 0, 4]);
    assert!(results.measured.iter().all(|(_, measured)| measured.rows.len() == 4));
}

fn check(results: &Results) {
    assert_eq!(results.data(), [DataSet::Loan]);
    for (unit, measured) in &results.measured {
        let place = unit.name();
        assert!(measured.accuracy > 0.4 && measured.accuracy <= 1.0, "{place}");
        let sizes = if unit.method == Method::Erm { 5 } else { 2 };
        assert_eq!((measured.rows.len(), measured.answers.len()), (5, sizes), "{place}");
        for answers in &measured.answers {
            assert_eq!((answers.cost.len(), answers.smallest_break.len()), (5, 5), "{place}");
            if unit.model == Model::Linear {
                // Exactly as robust as asked for, but for the slack of the published optima.
                for size in answers.smallest_break.iter().flatten() {
                    let excess = size - answers.epsilon;
                    assert!((0.0..1e-4).contains(&excess), "{place}: {size} for {}", answers.epsilon);
                }
            }
        }
        for proofs in &measured.proofs {
            let asked = if unit.model == Model::Linear { 5 } else { 2 };
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
