//! What is done when a signal ends the command: temporary files are removed first.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::{before_the_end, nothing_before_the_end, remove_temporary_files_on_signals};

#[cfg(not(unix))]
mod elsewhere;
#[cfg(not(unix))]
pub use elsewhere::{before_the_end, nothing_before_the_end, remove_temporary_files_on_signals};
