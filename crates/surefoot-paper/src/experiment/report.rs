//! The report: one page.

use std::path::{Path, PathBuf};

use super::{Conclusion, Result, Results, Settings, conclusion};

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The page.
    pub page: PathBuf,
    /// The folder with the figures.
    pub figures: PathBuf,
    /// The paper's conclusions and whether they hold.
    pub conclusions: Vec<Conclusion>,
}

/// Writes the report.
pub fn write(_settings: &Settings, results: &Results, folder: &Path) -> Result<Written> {
    Ok(Written { page: folder.into(), figures: folder.into(), conclusions: conclusion::all(results) })
}
