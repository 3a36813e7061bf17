//! Looks for the files beside the checkout that tests need, so that tests without them are ignored.
//!
//! Sets `without_data` as `surefoot-paper` does, and `without_findings` where the findings are missing.
//! With the variable `CI` neither is set: there such tests run, and fail.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CI");
    println!("cargo::rerun-if-env-changed=SUREFOOT_FINDINGS");
    println!("cargo::rustc-check-cfg=cfg(without_data, without_findings)");
    if std::env::var_os("DEP_SUREFOOT_TEST_FILES_WITHOUT_DATA").is_some_and(|value| value == "true") {
        println!("cargo::rustc-cfg=without_data");
    }
    match findings() {
        Some(folder) => println!("cargo::rerun-if-changed={}", folder.join("README.md").display()),
        None if std::env::var_os("CI").is_none() => println!("cargo::rustc-cfg=without_findings"),
        None => {}
    }
}

/// The folder of findings, where the tests look for it.
fn findings() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let beside = here.ancestors().map(|folder| folder.join("shared/findings"));
    let named = std::env::var_os("SUREFOOT_FINDINGS").map(PathBuf::from);
    named.map_or_else(
        || beside.into_iter().find(|folder| folder.is_dir()),
        |folder| Some(folder).filter(|folder| folder.is_dir()),
    )
}
