//! Saved results: one file each, with a key of its inputs.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::retraining::{COMMITTEE, LATER, Retrained, Trial};
use super::{COMPARED, ExperimentError, Measured, Result, Settings, Task, Unit};
use crate::training::{Method, recipe};
use surefoot::file::{Audience, write_atomically};

/// The version of the computation. It is raised whenever the same data and settings give other results.
const VERSION: u32 = 3;

/// A result with the key of its inputs and the seconds of its three parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub key: String,
    pub seconds: [f64; 3],
    pub found: Found,
}

/// The result of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Found {
    Unit(Measured),
    Trial(Retrained),
}

/// The key of a result, which contains all of its inputs: tasks with the same key have the same result.
pub(super) fn key(task: &Task, settings: &Settings, digest: &str) -> String {
    match task {
        Task::Unit(unit) => key_of_unit(unit, settings, digest),
        Task::Trial(trial) => key_of_trial(trial, settings, digest),
    }
}

fn key_of_trial(trial: &Trial, settings: &Settings, digest: &str) -> String {
    let training = recipe(trial.data, trial.model, Method::Erm, u64::from(trial.seed));
    format!(
        "version {VERSION} of surefoot {}; {}; data {digest}; {training:?}; epsilon {COMPARED}; committee of \
         {COMMITTEE}, {LATER} later versions; at most {} people, {} evaluations, {} epochs",
        env!("CARGO_PKG_VERSION"),
        trial.name(),
        trial.people(settings),
        settings.evaluations,
        settings.epochs,
    )
}

fn key_of_unit(unit: &Unit, settings: &Settings, digest: &str) -> String {
    let Settings { people, proofs, evaluations, epochs, data: _, models: _, methods: _, seeds: _ } = settings;
    let training = recipe(unit.data, unit.model, unit.method, u64::from(unit.seed));
    format!(
        "version {VERSION} of surefoot {}; {}; data {digest}; {training:?}; epsilons {:?}; at most {people} \
         people, {proofs} proofs of {evaluations} evaluations, {epochs} epochs",
        env!("CARGO_PKG_VERSION"),
        unit.name(),
        unit.epsilons(),
    )
}

impl Kept {
    /// The saved result of a file, if it has the same key. `None` otherwise, also for a damaged file.
    pub fn read(path: &Path, key: &str) -> Option<Self> {
        let kept: Kept = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (kept.key == key).then_some(kept)
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(std::io::Error::other);
        let written = bytes.and_then(|bytes| write_atomically(path, &bytes, Audience::Umask));
        written.map_err(ExperimentError::write(path))
    }
}
