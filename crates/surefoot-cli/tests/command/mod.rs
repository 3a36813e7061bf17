//! The command, run as people run it.

#![allow(dead_code, reason = "not every file of tests needs everything")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Income, which may rise, and age, which may not change. Favourable from an income of 3000 on at the age
/// of 40. Settings go before it.
pub const INCOME_AND_AGE: &str = r#"
[[feature]]
name = "income"
mean = 3000
std = 1500
change = "increase"

[[feature]]
name = "age"
mean = 40
std = 10
limits = [18, 90]

[classifier]
coefficients = [1, 0.5]
intercept = 0
"#;

/// A folder with files of these names and contents.
pub fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    folder
}

pub fn surefoot(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surefoot")).current_dir(folder).args(arguments).output().unwrap()
}

/// What a command says that succeeds.
pub fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = surefoot(folder, arguments);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && stderr.is_empty(), "{stdout}{stderr}");
    stdout
}

/// What a command says that refuses its input.
pub fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = surefoot(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    text(&output.stderr)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The folder of a finding: a case in which an earlier version went wrong, with files that are not part of
/// this project. They are in the folder that `SUREFOOT_FINDINGS` names, otherwise in `shared/findings`
/// beside the checkout.
pub fn finding(name: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|up| up.join("shared/findings"));
    let named = std::env::var_os("SUREFOOT_FINDINGS").map(PathBuf::from);
    let folder = named.into_iter().chain(beside).find(|folder| folder.is_dir());
    assert!(folder.is_some(), "put the findings in shared/findings beside the checkout");
    folder.unwrap().join(name)
}
