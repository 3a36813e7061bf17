//! Files that are written whole or not at all.

use std::io;
use std::path::Path;

/// Writes aside and renames, so that half a file is never left.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.partial", std::process::id()));
    let written = std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, path));
    // If it cannot be removed either there is nothing more to be done.
    written.inspect_err(|_| drop(std::fs::remove_file(&aside)))
}
