//! Long work: without the interpreter's lock, with progress, and ended by Ctrl-C.
//!
//! Work runs on threads of its own while the caller's waits, looks at signals a few times a second
//! and tells how far it is. Once interrupted, the caller goes on at once; the work notices at its
//! next step and ends.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Failure, Result, raise};

/// How often signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Why work ended without a result.
pub enum Ended {
    /// The engine refuses.
    Refused(surefoot::Error),
    /// Nobody waits for it any more.
    Stopped,
}

impl From<surefoot::Error> for Ended {
    fn from(error: surefoot::Error) -> Self {
        Ended::Refused(error)
    }
}

/// How far work is, and whether it is to go on.
#[derive(Default)]
pub struct Watch {
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl Watch {
    /// So many more steps are done.
    pub fn step(&self, steps: usize) -> std::result::Result<(), Ended> {
        self.done.fetch_add(steps, Ordering::Relaxed);
        if self.stopped.load(Ordering::Relaxed) { Err(Ended::Stopped) } else { Ok(()) }
    }
}

/// Runs work to its end, or until Ctrl-C; `progress` is called with the number of further steps.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> std::result::Result<T, Ended> + Send + 'static,
) -> Result<T> {
    let watch = Arc::new(Watch::default());
    let (sender, mut receiver) = mpsc::channel();
    let pool = pool(py)?;
    let seen = Arc::clone(&watch);
    std::thread::spawn(move || {
        let result = pool.install(|| work(&seen));
        // Nobody listens once the caller was interrupted.
        let _ = sender.send(result);
    });
    let mut told = 0;
    let mut tell = || -> PyResult<()> {
        let done = watch.done.load(Ordering::Relaxed);
        if let Some(progress) = progress.filter(|_| done > told) {
            progress.call1((done - told,))?;
        }
        told = done;
        Ok(())
    };
    loop {
        // The receiver comes along: it belongs to one thread at a time.
        let (waited, message) = py.detach(move || {
            let message = receiver.recv_timeout(TICK);
            (receiver, message)
        });
        receiver = waited;
        match message {
            Ok(Ok(result)) => {
                tell()?;
                return Ok(result);
            }
            Ok(Err(Ended::Refused(error))) => return Err(error.into()),
            Ok(Err(Ended::Stopped)) | Err(RecvTimeoutError::Disconnected) => {
                let message = "the engine failed; what it says on the error stream is worth a report";
                return Err(raise(py, "Error", message).into());
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| tell()) {
                    watch.stopped.store(true, Ordering::Relaxed);
                    return Err(error.into());
                }
            }
        }
    }
}

thread_local! {
    /// How many threads work that is begun on this thread may use; all of the process if 0.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// From now on work that is begun on this thread uses so many threads, or all of the process if 0; how many it was.
#[pyfunction]
pub fn limit_threads(threads: usize) -> usize {
    LIMIT.replace(threads)
}

/// The pools of a process, by their limits.
struct Pools {
    process: u32,
    by_limit: HashMap<usize, Arc<ThreadPool>>,
}

/// The threads of this process. A process that was forked has none of its parent's.
fn pool(py: Python<'_>) -> Result<Arc<ThreadPool>> {
    static POOLS: Mutex<Option<Pools>> = Mutex::new(None);
    let mut known = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if known.as_ref().is_some_and(|pools| pools.process != process) {
        // Threads that are not there cannot be ended.
        std::mem::forget(known.take());
    }
    let pools = known.get_or_insert_with(|| Pools { process, by_limit: HashMap::new() });
    let limit = LIMIT.get();
    if let Some(pool) = pools.by_limit.get(&limit) {
        return Ok(Arc::clone(pool));
    }
    let made = ThreadPoolBuilder::new().num_threads(limit).build();
    let made = made.map_err(|error| Failure::from(raise(py, "Error", &error.to_string())))?;
    let pool = Arc::new(made);
    pools.by_limit.insert(limit, Arc::clone(&pool));
    Ok(pool)
}
