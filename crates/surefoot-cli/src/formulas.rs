//! Cells of CSV files that a spreadsheet would take for formulas.

use std::path::Path;

use crate::table::Writer;
use anyhow::Result;
use surefoot::escape_line;

/// Completes a table. Warns where a cell of a CSV file is text that a spreadsheet would take for a formula:
/// quoting it would change what other programs read.
pub fn finish(writer: Writer, path: &Path) -> Result<()> {
    let formula = writer.formula().map(str::to_owned);
    writer.finish()?;
    if let Some(text) = formula {
        crate::warn(&format!(
            "{}: a spreadsheet would read some cells as formulas, the first `{}`; open it with all columns as text",
            path.display(),
            escape_line(&text)
        ));
    }
    Ok(())
}
