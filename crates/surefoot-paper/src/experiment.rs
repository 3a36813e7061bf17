//! The paper's experiments: training of classifiers, recourse for the people whom they turn down, attacks
//! on it, and proofs for the same people; and one more, [`Trial`]s of recourse by models that are trained again.
//!
//! [`run`] works off all [`Task`]s on all cores and keeps the result of each in a separate file. A result
//! that exists for the same data and settings is used again.
//!
//! ```no_run
//! use std::path::Path;
//! use surefoot_paper::data::{DataSet, Files};
//! use surefoot_paper::experiment::{Settings, report, run};
//!
//! let settings = Settings { data: vec![DataSet::Loan], seeds: 1, ..Settings::default() };
//! let results = run(&settings, &Files::locate(), Path::new("out"), &|_| ())?;
//! report::write(&settings, &results, Path::new("out"))?;
//! # Ok::<(), surefoot_paper::experiment::ExperimentError>(())
//! ```

mod effort;
mod kept;
mod measure;
mod prepare;
mod retraining;
mod published;
mod statistic;
mod figures;
mod conclusion;
pub mod report;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use thiserror::Error;

pub use conclusion::Conclusion;
pub use figures::Figure;
pub use measure::{Answers, Measured, Proofs, Proven};
pub use retraining::{Change, Guard, Guarded, Held, Judged, Retrained, Trial, Verdicts};
pub use statistic::{Results, Statistic};

use crate::data::{DataError, DataSet, Files};
use crate::training::{Method, Model};
use kept::{Found, Kept};
use prepare::Prepared;

/// The sizes of uncertainty for robust recourse; 0 is standard recourse.
pub const EPSILONS: [f64; 5] = [0.0, 0.001, 0.01, 0.1, 0.5];

/// The size of uncertainty at which training methods are compared.
pub const COMPARED: f64 = 0.1;

/// The settings of a run. The default is the paper's, with proofs in addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The data sets.
    pub data: Vec<DataSet>,
    /// The models.
    pub models: Vec<Model>,
    /// The training methods.
    pub methods: Vec<Method>,
    /// The number of splits into training and test rows, those of seeds 0, 1, ...
    pub seeds: u32,
    /// The maximum number of people per test split for whom recourse is computed.
    pub people: usize,
    /// The maximum number of them for whom a proof is attempted if the classifier is a network.
    pub proofs: usize,
    /// The budget of each such proof; see [`surefoot::Budget`].
    pub evaluations: usize,
    /// The maximum number of training epochs; the paper's number applies where it is smaller.
    pub epochs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data: DataSet::ALL.to_vec(),
            models: Model::ALL.to_vec(),
            methods: Method::ALL.to_vec(),
            seeds: 5,
            people: 1000,
            proofs: 60,
            evaluations: 20_000,
            epochs: usize::MAX,
        }
    }
}

/// A unit of work: one classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The data set.
    pub data: DataSet,
    /// The model.
    pub model: Model,
    /// The training method.
    pub method: Method,
    /// The seed of the split.
    pub seed: u32,
}

impl Unit {
    /// The name of its file, without ending: `loan_network_allr_s0`.
    pub fn name(&self) -> String {
        format!("{}_{}_{}_s{}", self.data, self.model, self.method.name(), self.seed)
    }

    /// The sizes of uncertainty of a unit: all for empirical risk minimisation, otherwise 0 and the size at
    /// which training methods are compared.
    pub fn epsilons(&self) -> &'static [f64] {
        if self.method == Method::Erm { &EPSILONS } else { &[0.0, COMPARED] }
    }
}

/// A task of a run, whose result has a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A classifier.
    Unit(Unit),
    /// A deployed version and those that come after it.
    Trial(Trial),
}

impl Task {
    /// The name of its file, without ending.
    pub fn name(&self) -> String {
        match self {
            Task::Unit(unit) => unit.name(),
            Task::Trial(trial) => trial.name(),
        }
    }

    /// Its data set.
    pub fn data(&self) -> DataSet {
        match self {
            Task::Unit(unit) => unit.data,
            Task::Trial(trial) => trial.data,
        }
    }
}

impl Settings {
    /// All tasks.
    pub fn tasks(&self) -> Vec<Task> {
        let units = self.units().into_iter().map(Task::Unit);
        units.chain(self.trials().into_iter().map(Task::Trial)).collect()
    }

    /// All trials. They are of the usual way of training.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        let data = || self.data.iter().filter(|data| retraining::DATA.contains(data));
        for seed in (0..self.seeds).filter(|_| self.methods.contains(&Method::Erm)) {
            for &data in data() {
                for &model in &self.models {
                    let dated: &[bool] =
                        if retraining::DATED.contains(&data) { &[false, true] } else { &[false] };
                    trials.extend(dated.iter().map(|&by_period| Trial { data, model, seed, by_period }));
                }
            }
        }
        trials
    }

    /// All units of work. Ablations are for networks only, because both terms matter only there.
    pub fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        for seed in 0..self.seeds {
            for &data in &self.data {
                for &model in &self.models {
                    let wanted =
                        |method: &&Method| model == Model::Network || !Method::ABLATIONS.contains(method);
                    let methods = self.methods.iter().filter(wanted);
                    units.extend(methods.map(|&method| Unit { data, model, method, seed }));
                }
            }
        }
        units
    }
}

/// Errors of an experiment.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum ExperimentError {
    /// A data set cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The engine refuses its input.
    #[error("{place}: {source}")]
    Refused { place: String, source: Box<surefoot::Error> },
    /// A file or folder cannot be written.
    #[error("{}: cannot be written: {source}; name another folder with --out", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    /// Threads cannot be started.
    #[error("no threads to work on: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// The report cannot be rendered.
    #[error("the report: {source}")]
    Page { source: Box<minijinja::Error> },
}

impl ExperimentError {
    fn refused(place: impl Into<String>) -> impl FnOnce(surefoot::Error) -> Self {
        let place = place.into();
        move |source| ExperimentError::Refused { place, source: source.into() }
    }

    fn write(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| ExperimentError::Write { path, source }
    }
}

/// The result type of this module.
pub type Result<T> = std::result::Result<T, ExperimentError>;

/// Progress of a run. Effort is an estimate, in seconds of one core of an ordinary machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Before the work begins.
    Planned {
        /// The number of tasks.
        tasks: usize,
        /// The number of tasks whose results exist.
        done: usize,
        /// The expected effort of the others.
        effort: f64,
    },
    /// A task begins.
    Begun(Task),
    /// A part of a task is done.
    Advanced {
        /// The expected effort of that part.
        effort: f64,
    },
    /// A task is done and its result is saved.
    Finished(Task),
}

/// Works off all tasks without a result, and returns the results of all tasks.
///
/// Results are kept in `results` of the folder, one file for each task, written when it is done. A result
/// from other data or other settings is replaced.
///
/// # Errors
/// If a data set cannot be read or a file cannot be written. Results that are complete by then are
/// kept.
pub fn run(
    settings: &Settings,
    files: &Files,
    folder: &Path,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<Results> {
    let results = folder.join("results");
    std::fs::create_dir_all(&results).map_err(ExperimentError::write(&results))?;
    let tables = settings.data.par_iter().map(|&data| Prepared::read(data, files));
    let tables = tables.collect::<Result<Vec<Prepared>>>()?;
    let table = |data: DataSet| tables.iter().find(|table| table.data == data);
    let place = |task: &Task| results.join(format!("{}.json", task.name()));

    let mut done: Vec<(usize, Kept)> = Vec::new();
    let mut missing: Vec<(usize, Task, String, &Prepared)> = Vec::new();
    let tasks = settings.tasks();
    for (number, task) in tasks.iter().enumerate() {
        let Some(table) = table(task.data()) else { continue };
        let key = kept::key(task, settings, &table.digest);
        match Kept::read(&place(task), &key) {
            Some(kept) => done.push((number, kept)),
            None => missing.push((number, *task, key, table)),
        }
    }
    // The longest tasks come first, so that all cores finish at about the same time.
    let effort = |task: &Task| -> f64 { effort::of(task, settings).iter().sum() };
    missing.sort_by(|a, b| effort(&b.1).total_cmp(&effort(&a.1)));
    let expected = missing.iter().map(|(_, task, ..)| effort(task)).sum();
    watch(Event::Planned { tasks: done.len() + missing.len(), done: done.len(), effort: expected });
    for table in &tables {
        let models = settings.models.iter().copied();
        let needed = |model: &Model| {
            let of = |task: &Task| matches!(task, Task::Unit(u) if u.data == table.data && u.model == *model);
            missing.iter().any(|(_, task, ..)| of(task))
        };
        models.filter(needed).try_for_each(|model| table.fit(model))?;
    }

    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let finished = Mutex::new(Ok(done));
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let Some((number, task, key, table)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            watch(Event::Begun(*task));
            let found = match task {
                Task::Unit(unit) => measure::measure(unit, settings, table, watch)
                    .map(|(measured, seconds)| (Found::Unit(measured), seconds)),
                Task::Trial(trial) => retraining::measure(trial, settings, table, watch)
                    .map(|(retrained, seconds)| (Found::Trial(retrained), seconds)),
            };
            let made = found.and_then(|(found, seconds)| {
                let kept = Kept { key: key.clone(), seconds, found };
                kept.write(&place(task))?;
                Ok((*number, kept))
            });
            let mut finished = finished.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match (made, &mut *finished) {
                (Ok(made), Ok(finished)) => finished.push(made),
                (Ok(_), Err(_)) => {}
                (Err(error), finished) => {
                    failed.store(true, Ordering::Relaxed);
                    *finished = Err(error);
                }
            }
            watch(Event::Finished(*task));
        }
    };
    // Each core works on its own task with its own thread pool. In a shared pool the short steps of
    // training would wait for the long proofs of other tasks. The last tasks use all cores.
    let cores = rayon::current_num_threads();
    let workers = cores.min(missing.len());
    let threads = (2 * cores).div_ceil(workers.max(1)).min(cores);
    let pools = (0..workers).map(|_| ThreadPoolBuilder::new().num_threads(threads).build());
    let pools = pools.collect::<std::result::Result<Vec<_>, _>>().map_err(ExperimentError::Threads)?;
    thread::scope(|scope| pools.iter().for_each(|pool| drop(scope.spawn(|| pool.install(work)))));
    let mut finished = finished.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?;
    finished.sort_by_key(|(number, _)| *number);
    let seconds = finished.iter().flat_map(|(_, kept)| kept.seconds).sum();
    let (mut measured, mut retrained) = (Vec::new(), Vec::new());
    for (number, kept) in finished {
        match (tasks[number], kept.found) {
            (Task::Unit(unit), Found::Unit(found)) => measured.push((unit, found)),
            (Task::Trial(trial), Found::Trial(found)) => retrained.push((trial, found)),
            // Keys name their task, so that a file of another kind has another key.
            (Task::Unit(_), Found::Trial(_)) | (Task::Trial(_), Found::Unit(_)) => {}
        }
    }
    let origins = tables.iter().map(|prepared| (prepared.data, prepared.table.origin.clone())).collect();
    Ok(Results { measured, retrained, origins, seconds })
}
