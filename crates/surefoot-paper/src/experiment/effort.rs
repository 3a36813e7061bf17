//! Estimates of the duration of a unit of work, for progress bars and to start with the longest.

use super::measure::proven_epsilons;
use super::retraining::{COMMITTEE, LATER, Trial};
use super::{Settings, Task, Unit};
use crate::training::{DataSet, Method, Model, recipe};

/// Seconds that the three parts of a task are expected to take on one core.
pub(super) fn of(task: &Task, settings: &Settings) -> [f64; 3] {
    match task {
        Task::Unit(unit) => of_unit(unit, settings),
        Task::Trial(trial) => of_trial(trial, settings),
    }
}

/// Seconds of training, recourse and judging.
pub(super) fn of_trial(trial: &Trial, settings: &Settings) -> [f64; 3] {
    let unit = Unit { data: trial.data, model: trial.model, method: Method::Erm, seed: trial.seed };
    // Each version has a third of the rows of a unit.
    let versions = 1 + COMMITTEE + LATER * trial.changes().len();
    let training = of_unit(&unit, settings)[0] * versions as f64 / 3.0;
    let people = trial.people(settings) as f64;
    // Seconds for one person; errors of coefficients and networks take most of them.
    let (answers, verdicts) = match trial.model {
        Model::Linear => ([0.2, 0.5, 0.3, 0.005, 0.2], 0.01),
        Model::Network => ([0.3, 2.0, 3.5, 0.1, 2.0], 0.3),
    };
    [training, answers[trial.data as usize] * people, verdicts * people]
}

/// Seconds of training, recourse and proofs.
pub(super) fn of_unit(unit: &Unit, settings: &Settings) -> [f64; 3] {
    let index = unit.data as usize;
    // Thousands of training rows, and people in the test split who are turned down.
    let rows = [4.1, 36.2, 0.8, 0.8, 7.1][index];
    let people = [550, 1000, 100, 60, 700][index].min(settings.people);
    let epochs = recipe(unit.data, unit.model, unit.method, 0).epochs.min(settings.epochs) as f64;
    if unit.model == Model::Linear {
        return [0.0002 * rows * epochs, 0.0002 * people as f64, 0.0005 * people as f64];
    }
    // Seconds for a thousand rows and one epoch.
    let epoch = match unit.method {
        Method::Erm | Method::Af | Method::AllrWithoutLinearity => 0.003,
        Method::Ross => 0.005,
        Method::Allr | Method::AllrWithoutReliance => 0.012,
    };
    // Seconds for one person and one size of uncertainty; Loan has more intervention sets.
    let action = if unit.data == DataSet::Loan { 0.018 } else { 0.006 };
    let proof = [0.005, 0.12, 0.12, 0.05, 0.35][index] * settings.evaluations as f64 / 20_000.0;
    [
        epoch * rows * epochs,
        action * (people * unit.epsilons().len()) as f64,
        proof * (people.min(settings.proofs) * proven_epsilons(unit).len()) as f64,
    ]
}
