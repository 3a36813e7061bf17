//! The Python package `surefoot`, its native part: `surefoot._engine`.
//!
//! What users see is written in Python, in `python/surefoot`: words, defaults, documentation.
//! Here is what must be native: tables in and out without copies, and the engine's verbs, run
//! without the interpreter's lock. Modules are listed in the order in which they build on each
//! other.

mod error;
mod command;
mod work;
mod layout;
mod model;
mod parts;
mod people;
mod problem;
mod table;
mod recourse;
mod action;
mod attack;
mod audit;
mod certify;
mod letters;
mod picture;
mod theory;
mod trade_off;
mod train;
mod verify;

use pyo3::prelude::*;

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<problem::CausalModel>()?;
    module.add_class::<problem::Problem>()?;
    module.add_class::<recourse::Answers>()?;
    module.add_class::<action::Actions>()?;
    module.add_class::<audit::Audit>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<letters::Letter>()?;
    module.add_function(wrap_pyfunction!(command::command_line, module)?)?;
    module.add_function(wrap_pyfunction!(command::commands, module)?)?;
    module.add_function(wrap_pyfunction!(command::parse_graph, module)?)?;
    module.add_function(wrap_pyfunction!(work::limit_threads, module)?)?;
    module.add_function(wrap_pyfunction!(layout::observe, module)?)?;
    module.add_function(wrap_pyfunction!(table::report_columns, module)?)?;
    module.add_function(wrap_pyfunction!(model::read_onnx, module)?)?;
    module.add_function(wrap_pyfunction!(model::tree_counts, module)?)?;
    module.add_function(wrap_pyfunction!(model::tree_scores, module)?)?;
    module.add_function(wrap_pyfunction!(parts::problem_parts, module)?)?;
    module.add_function(wrap_pyfunction!(recourse::recourse, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack, module)?)?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(audit::audit_columns, module)?)?;
    module.add_function(wrap_pyfunction!(certify::certify, module)?)?;
    module.add_function(wrap_pyfunction!(letters::letters, module)?)?;
    module.add_function(wrap_pyfunction!(letters::document_frame, module)?)?;
    module.add_function(wrap_pyfunction!(picture::shifted, module)?)?;
    module.add_function(wrap_pyfunction!(theory::theory, module)?)?;
    module.add_function(wrap_pyfunction!(trade_off::trade_off, module)?)?;
    module.add_function(wrap_pyfunction!(train::train, module)?)?;
    module.add_function(wrap_pyfunction!(train::fit, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    Ok(())
}
