//! `surefoot reproduce`, run as people run it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use command::{done, refused};

#[test]
fn a_part_is_reproduced_once() {
    let folder = tempfile::tempdir().unwrap();
    // No files there: Loan is drawn from its model.
    let arguments =
        ["reproduce", "--seeds", "1", "--only", "loan,linear", "--data", "none", "--out", "new/out"];
    let said = done(folder.path(), &arguments);
    assert!(said.contains("Holds: For linear classifiers robust recourse is exactly as robust"), "{said}");
    assert!(said.contains("Not examined: Both terms of ALLR matter."), "{said}");
    assert!(said.contains("Classifiers: 4. Retraining trials: 1. From an earlier run: 0."), "{said}");
    let page = std::fs::read(folder.path().join("new/out/report.html")).unwrap();
    for figure in ["comparison-linear.png", "retraining-linear.png"] {
        assert!(folder.path().join("new/out/figures").join(figure).is_file(), "{figure}");
    }
    assert!(!folder.path().join("new/out/figures/ablation.png").exists());
    let said = done(folder.path(), &arguments);
    assert!(said.contains("Classifiers: 4. Retraining trials: 1. From an earlier run: 5."), "{said}");
    assert_eq!(std::fs::read(folder.path().join("new/out/report.html")).unwrap(), page);
}

#[test]
fn what_cannot_be_done_is_said_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(folder.path(), &["reproduce", "--only", "loan,campos"]);
    assert!(
        said.contains("campos") && said.contains("there are compas, adult, loan, german, bail"),
        "{said}"
    );
    let said = refused(folder.path(), &["reproduce", "--only", ""]);
    assert!(said.contains("there are compas"), "{said}");
    let said = refused(folder.path(), &["reproduce", "--seeds", "0"]);
    assert!(said.contains("1..=100"), "{said}");
    let said = refused(folder.path(), &["reproduce", "--only", "german", "--data", "none"]);
    assert!(said.contains("surefoot data fetch german"), "{said}");
    std::fs::write(folder.path().join("file"), "").unwrap();
    let said = refused(folder.path(), &["reproduce", "--only", "loan", "--out", "file"]);
    assert!(said.contains("file/results: cannot be written") && said.contains("--out"), "{said}");
}
