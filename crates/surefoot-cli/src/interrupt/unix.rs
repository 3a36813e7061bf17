//! The signals of Unix.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use signal_hook::consts::signal::*;
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};
use surefoot::file::with_temporary_files_removed;

/// The signals that end a process and that can be caught. Left out are SIGPIPE, which is ignored so
/// that writing fails instead, and those by which a fault of the program itself ends it.
const SIGNALS: [i32; 13] = [
    SIGHUP, SIGINT, SIGQUIT, SIGTRAP, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGXCPU, SIGVTALRM,
    SIGPROF, SIGSYS,
];

/// Those that Linux has besides: SIGSTKFLT, SIGIO, SIGPWR and the real-time signals.
#[cfg(target_os = "linux")]
fn further_signals() -> impl Iterator<Item = i32> {
    [16, SIGIO, 30].into_iter().chain(34..=64)
}

#[cfg(not(target_os = "linux"))]
fn further_signals() -> impl Iterator<Item = i32> {
    std::iter::empty()
}

/// From now on a signal that ends the process removes its temporary files before. Signals that the
/// process was started to ignore (as `nohup` does) stay ignored.
pub fn remove_temporary_files_on_signals() -> io::Result<()> {
    let ignored = ignored_signals();
    let is_ignored = |signal: i32| ignored & (1 << (signal - 1)) != 0;
    // Writing beyond the largest size of a file is then an error like any other.
    if !is_ignored(SIGXFSZ) {
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    }
    let caught = SIGNALS.into_iter().chain(further_signals()).filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(caught)?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            if let Some(act) = last_act().take() {
                act();
            }
            with_temporary_files_removed(|| {
                // Whoever waits for the process sees which signal ended it.
                let _ = low_level::emulate_default_handler(signal);
                // Only where it is not known what the signal does.
                low_level::exit(128 + signal);
            });
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

/// Something to do before a signal ends the process.
type Act = Box<dyn FnOnce() + Send>;

static LAST_ACT: Mutex<Option<Act>> = Mutex::new(None);

fn last_act() -> MutexGuard<'static, Option<Act>> {
    LAST_ACT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets what is done before a signal ends the process, instead of what was set before.
pub fn before_the_end(act: impl FnOnce() + Send + 'static) {
    *last_act() = Some(Box::new(act));
}

/// From now on nothing is done before a signal ends the process but the removal of temporary files.
pub fn nothing_before_the_end() {
    *last_act() = None;
}

/// The signals that are ignored now, one bit each. Where the system does not say, SIGHUP is taken to
/// be: a temporary file that is left is removed by the next run, but a run that is ended is lost.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(1 << (SIGHUP - 1))
}
