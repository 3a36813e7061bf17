//! Readers of damaged files may panic where they should report; here that is a report too.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use super::{Result, TableError};

thread_local! {
    /// Whether this thread is reading, so that a panic is not told on the terminal.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Runs something that reads a file; a panic means that the file is damaged. What the reader
/// leaves behind must not be used after an error.
pub fn catch_reader_panics<T>(
    path: &Path,
    kind: &'static str,
    read: impl FnOnce() -> Result<T>,
) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |details| {
            if !IS_READING.get() {
                before(details);
            }
        }));
    });
    IS_READING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(false);
    result.unwrap_or_else(|_| {
        let reason = "its contents contradict each other".into();
        Err(TableError::Malformed { path: path.into(), kind, reason })
    })
}
