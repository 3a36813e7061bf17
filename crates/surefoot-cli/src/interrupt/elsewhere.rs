//! Systems without the signals of Unix: nothing is done before they end the command. A temporary file that an ended run
//! leaves is removed by the next one.

use std::io;

/// Does nothing.
pub fn remove_temporary_files_on_signals() -> io::Result<()> {
    Ok(())
}

/// Does nothing.
pub fn before_the_end(_act: impl FnOnce() + Send + 'static) {}

/// Does nothing.
pub fn nothing_before_the_end() {}
