//! The command, run as people run it.

#![allow(dead_code, reason = "not every file of tests needs everything")]

use std::path::Path;
use std::process::{Command, Output};

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
