//! Fuzz targets: hostile input for every reader of Surefoot.
//!
//! A [`Target`] takes any bytes and panics if a reader misbehaves: if it panics itself, takes too much
//! memory or time, or accepts something that is then inconsistent. The same targets are run by the
//! coverage-guided fuzzer (`make fuzz`) and, over their corpora and seeded mutations of them, by a test.

#![allow(clippy::expect_used, clippy::panic, reason = "a target fails by panicking")]

mod formula;
mod model;
mod mutate;
mod problem;
mod proof;
mod question;
mod request;
mod table;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

pub use mutate::mutate;
pub use proof::valid_proofs;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The longest input that is looked at, in bytes. Longer ones find little more and take longer.
pub const MAX_INPUT: usize = 16 << 10;

/// Memory that one input may take, in bytes. The limits for tables are set to a quarter of it.
pub const MAX_MEMORY: usize = 256 << 20;

/// Processor time that one input may take. Most take less than a millisecond; the bound leaves room for the
/// instrumentation of the fuzzer.
pub const MAX_TIME: Duration = Duration::from_secs(10);

/// Whether a reader took an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It was read, and what was read is consistent.
    Accepted,
    /// It was refused with an error.
    Refused,
}

/// The kind of text or bytes that a target reads; [`mutate()`] changes it accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Any bytes.
    Binary,
    /// Text with words and numbers.
    Text,
    /// JSON.
    Json,
}

/// A reader with what must hold of whatever it accepts.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of its corpus too.
    pub name: &'static str,
    /// What its inputs look like.
    pub syntax: Syntax,
    read: fn(&[u8]) -> Reading,
}

/// Every target.
pub const TARGETS: [Target; 13] = [
    Target { name: "formula", syntax: Syntax::Text, read: formula::equation },
    Target { name: "constraint", syntax: Syntax::Text, read: formula::constraint },
    Target { name: "problem_toml", syntax: Syntax::Text, read: problem::toml },
    Target { name: "problem_json", syntax: Syntax::Json, read: problem::json },
    Target { name: "csv", syntax: Syntax::Text, read: table::csv },
    Target { name: "arrow", syntax: Syntax::Binary, read: table::arrow },
    Target { name: "parquet", syntax: Syntax::Binary, read: table::parquet },
    Target { name: "safetensors", syntax: Syntax::Binary, read: model::safetensors },
    Target { name: "onnx", syntax: Syntax::Binary, read: model::onnx },
    Target { name: "trees", syntax: Syntax::Binary, read: model::trees },
    Target { name: "trees_json", syntax: Syntax::Json, read: model::trees },
    Target { name: "proof", syntax: Syntax::Json, read: proof::proof },
    Target { name: "request", syntax: Syntax::Json, read: request::request },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Reads an input.
    ///
    /// # Panics
    /// If the reader panics, exceeds [`MAX_MEMORY`] or [`MAX_TIME`], or accepts what is inconsistent.
    pub fn run(&self, bytes: &[u8]) -> Reading {
        // Memory is counted for the whole process.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &bytes[..bytes.len().min(MAX_INPUT)];
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let start = processor_time();
        let reading = (self.read)(bytes);
        let time = processor_time().saturating_sub(start);
        let memory = ALLOCATOR.peak_usage().saturating_sub(before);
        assert!(memory <= MAX_MEMORY, "{}: {memory} bytes of memory for {}", self.name, bytes.len());
        assert!(time <= MAX_TIME, "{}: {time:?} for {} bytes", self.name, bytes.len());
        reading
    }
}

/// The processor time that this process has used. How busy the machine is does not matter.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
