//! Looks for the files beside the checkout that tests need, so that tests without them are ignored.
//!
//! Sets `without_reference` where the published answers are missing and `without_data` where a file of
//! the data sets is. With the variable `CI` neither is set: there such tests run, and fail. Files that
//! appear later are noticed when this script or one of the variables changes.

use std::path::PathBuf;

/// The files of the data sets, each with its alternative names.
const FILES: [&[&str]; 6] = [
    &["adult.csv", "adult.data"],
    &["bail.csv"],
    &["compas-scores-two-years.csv"],
    &["SouthGermanCredit.asc"],
    &["loan_X.npy"],
    &["loan_Y.npy"],
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_ci = variable("CI").is_some();
    let reference = variable("SUREFOOT_REFERENCE").or_else(|| beside("shared/reference"));
    let has_reference = reference.is_some_and(|folder| exists(folder.join("cases")));
    announce("without_reference", !is_ci && !has_reference);
    let folders = match variable("SUREFOOT_DATA") {
        Some(folder) => vec![folder],
        None => beside("shared/data").into_iter().chain(download_folder()).collect(),
    };
    let is_found =
        |names: &&[&str]| names.iter().any(|name| folders.iter().any(|folder| exists(folder.join(name))));
    let has_data = FILES.iter().filter(|names| is_found(names)).count() == FILES.len();
    announce("without_data", !is_ci && !has_data);
    // A test compares this with the catalogue of data sets.
    println!("cargo::rustc-env=SUREFOOT_PUBLIC_FILES={}", FILES.map(|names| names.join(" ")).join(" "));
}

/// Sets a condition for this package, and says so to packages that depend on it.
fn announce(condition: &str, is_set: bool) {
    println!("cargo::rustc-check-cfg=cfg({condition})");
    println!("cargo::metadata={condition}={is_set}");
    if is_set {
        println!("cargo::rustc-cfg={condition}");
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed={name}");
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A folder in the nearest of this package's ancestors that has one.
fn beside(folder: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|ancestor| ancestor.join(folder)).find(|folder| folder.is_dir())
}

/// Where `surefoot data fetch` puts files.
fn download_folder() -> Option<PathBuf> {
    let programs = if cfg!(windows) { variable("LOCALAPPDATA") } else { variable("XDG_DATA_HOME") };
    let home = || std::env::home_dir().map(|home| home.join(".local/share"));
    programs.or_else(home).map(|programs| programs.join("surefoot"))
}

/// Whether something exists; if so, its removal is noticed.
fn exists(path: PathBuf) -> bool {
    let exists = path.exists();
    if exists {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    exists
}
