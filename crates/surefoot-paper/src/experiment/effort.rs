//! How long a unit of work takes, roughly: for progress bars, and to begin with the longest.

use super::{Settings, Unit};
use crate::training::{DataSet, Method, Model, recipe};

/// Seconds that training, recourse and proofs are expected to take on one core.
pub(super) fn of(unit: &Unit, settings: &Settings) -> [f64; 3] {
    let index = unit.data as usize;
    // Training rows, and people turned down in the test split, in thousands.
    let rows = [4.1, 36.2, 0.8, 0.8, 7.1][index];
    let people = [0.55f64, 1.0, 0.1, 0.06, 0.7][index].min(settings.people as f64 / 1000.0);
    let training = recipe(unit.data, unit.model, unit.method, 0);
    let epochs = training.epochs.min(settings.epochs) as f64;
    if unit.model == Model::Linear {
        return [1e-4 * rows * epochs, 0.1 * people, 0.1 * people];
    }
    // Of a thousand rows, once.
    let epoch = match unit.method {
        Method::Erm | Method::Af | Method::AllrWithoutLinearity => 0.01,
        Method::Ross => 0.02,
        Method::Allr | Method::AllrWithoutReliance => 0.1,
    };
    let sizes = unit.epsilons().len() as f64;
    let each = if unit.data == DataSet::Loan { 100.0 } else { 10.0 };
    let proofs = settings.proofs as f64 * settings.evaluations as f64 * 1e-5;
    [epoch * rows * epochs, each * sizes * people, proofs.min(1e4 * people)]
}
