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
        methods: vec![Method::Erm, Method::Allr, Method::AllrWithoutReliance],
        seeds: 1,
        people: 3,
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
    assert!((2..5).contains(&kept), "{kept}");
    let (measured, counts) = done(&tiny(), folder).unwrap();
    assert_eq!(counts, [5, kept, 5 - kept]);
    check(&measured);
    let expected = page(&tiny(), &measured, folder);
    check_page(&expected, folder);

    // What is missing or damaged is done again, with the same result.
    let damaged = result("network_allr");
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::remove_file(result("linear_erm")).unwrap();
    let (measured, counts) = done(&tiny(), folder).unwrap();
    assert_eq!(counts, [5, 3, 2]);
    assert_eq!(page(&tiny(), &measured, folder), expected);
    let names = std::fs::read_dir(&results).unwrap().map(|file| file.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.to_string_lossy().ends_with("s0.json")));

    // Nothing is left to do, nor of a part; with other settings all is.
    assert_eq!(done(&tiny(), folder).unwrap().1, [5, 5, 0]);
    let part = Settings { models: vec![Model::Linear], ..tiny() };
    assert_eq!(done(&part, folder).unwrap().1, [2, 2, 0]);
    let other = Settings { people: 2, ..part };
    let (measured, counts) = done(&other, folder).unwrap();
    assert_eq!(counts, [2, 0, 2]);
    assert!(measured.measured.iter().all(|(_, measured)| measured.rows.len() == 2));
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
