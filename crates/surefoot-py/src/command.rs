//! The command line within the package, and what it reads.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::error::{Result, raise};

/// Runs the command `surefoot` in this process, which it may end; the exit code. The first argument is the name of
/// the program.
#[pyfunction]
pub fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| surefoot_cli::run_with(arguments))
}

/// Every command with the names of its options and arguments.
#[pyfunction]
pub fn commands() -> Vec<(String, Vec<String>)> {
    surefoot_cli::commands()
}

/// Features with their causes, from a graph in DOT, in GML, or in lines such as `age, sex -> income`.
#[pyfunction]
pub fn parse_graph(py: Python<'_>, text: &str) -> Result<Vec<(String, Vec<String>)>> {
    let refused =
        |error: anyhow::Error| raise(py, "CausalModelError", &surefoot::escape_text(&format!("{error:#}")));
    Ok(surefoot_cli::parse_graph(text).map_err(refused)?)
}
