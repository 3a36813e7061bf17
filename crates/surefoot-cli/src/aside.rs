//! Files that are written bit by bit, aside, and get their name when they are whole.
//!
//! What is aside is removed if the writer gives up, and also if the program is interrupted: a
//! thread waits for the signals, removes what there is and lets the signal take its course. (Names
//! that the next run replaces would do without, but then two runs at a time would write into one
//! file.)

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use surefoot::file::{aside, destination, is_special};

/// What is aside now.
static ASIDE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn with_asides<T>(act: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    act(&mut ASIDE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A file that stands under another name in the same folder until [`Aside::finish`]; dropped before
/// that, it is removed.
#[derive(Debug)]
pub struct Aside {
    destination: PathBuf,
    /// None for what is written in place: devices and pipes.
    aside: Option<PathBuf>,
}

impl Aside {
    /// Starts a file; links are followed, so that they stay.
    pub fn create(path: &Path) -> io::Result<(Self, File)> {
        let destination = destination(path)?;
        if is_special(&destination) {
            let file = File::options().write(true).open(&destination)?;
            return Ok((Self { destination, aside: None }, file));
        }
        let aside = aside(&destination);
        // Noted before it is there, so that no signal comes in between.
        with_asides(|all| all.push(aside.clone()));
        let created = Self { destination, aside: Some(aside.clone()) };
        let file = File::create(aside)?;
        Ok((created, file))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(aside) = self.aside.take() else { return Ok(()) };
        let renamed = std::fs::rename(&aside, &self.destination);
        if renamed.is_err() {
            let _ = std::fs::remove_file(&aside);
        }
        forget(&aside);
        renamed
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            // If it cannot be removed nothing more can be done.
            let _ = std::fs::remove_file(aside);
            forget(aside);
        }
    }
}

fn forget(aside: &Path) {
    with_asides(|all| all.retain(|other| other != aside));
}

/// From now on, an interrupted program leaves nothing aside; otherwise it ends as it would.
pub fn clean_up_when_interrupted() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            with_asides(|all| {
                for aside in all.drain(..) {
                    let _ = std::fs::remove_file(aside);
                }
                // While nothing new can be noted.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            });
        }
    });
    Ok(())
}
