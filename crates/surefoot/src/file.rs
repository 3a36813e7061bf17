//! Files on disk: written atomically, and read only where they are regular files.

mod atomic;
mod kept;
mod read;

use std::fs::File;
use std::path::Path;

pub use atomic::{
    AtomicFile, Audience, destination, is_special, removed_leftovers, with_temporary_files_removed,
    write_atomically,
};
pub use kept::KeptFile;
pub(crate) use read::read_whole;
pub use read::{MOST_BYTES, ModelFolder, ReadProblem, open, read, read_to_string};

/// Whether an open file is the one at a path, which is no link.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: &std::fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata(), std::fs::symlink_metadata(path)),
        (Ok(open), Ok(there)) if identity(&open) == identity(&there))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}
