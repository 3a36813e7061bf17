//! Training: classifiers that leave people recourse, and causal models from data.
//!
//! [`Training`] fits a logistic regression or a network to labelled people for one of several
//! [objectives](Objective); [`Threshold`] turns its probabilities into decisions. [`Fitting`] fits
//! structural equations to a table, given a causal graph.

mod classifier;
mod descend;
mod equation;
mod logistic;
mod objective;
mod quality;
mod split;
mod threshold;

use nalgebra::DMatrix;
use ndarray::ArrayView2;

pub use classifier::{ClassWeights, Trained, Training};
pub use descend::{Epoch, Validation, Watch};
pub use equation::{Fitted, FittedEquation, Fitting, Function, Shape, Warning, linear_equation};
pub use logistic::{LogisticEstimate, logistic_regression};
pub use objective::{Allr, Objective, Ross};
pub use quality::Quality;
pub use split::{bootstrap, split};
pub use threshold::Threshold;

use crate::error::{PeopleError, TrainingError};
use crate::{Error, Features, Result};

/// A column of ones and the given columns.
fn design(rows: ArrayView2<'_, f64>, columns: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.nrows(), columns.len() + 1, |i, j| match j {
        0 => 1.0,
        j => rows[[i, columns[j - 1]]],
    })
}

/// Checks that there are rows and that every value is finite.
fn check_table(
    features: &Features,
    rows: ArrayView2<'_, f64>,
    is_missing: impl Fn(usize, f64) -> bool,
) -> Result<()> {
    if rows.nrows() == 0 {
        return Err(Error::People(PeopleError::NoPeople));
    }
    if rows.ncols() != features.len() {
        return Err(Error::People(PeopleError::RowLength {
            person: 1,
            expected: features.len(),
            found: rows.ncols(),
        }));
    }
    match rows.indexed_iter().find(|((_, i), v)| !(v.is_finite() || is_missing(*i, **v))) {
        Some(((row, column), &value)) => {
            let feature = features.feature(column).name.clone();
            Err(Error::People(PeopleError::NotFinite { person: row + 1, feature, value }))
        }
        None => Ok(()),
    }
}

/// Checks the rows, and that every row has a label and both outcomes occur.
fn check_labels(features: &Features, rows: ArrayView2<'_, f64>, labels: &[bool]) -> Result<()> {
    check_table(features, rows, |_, _| false)?;
    if labels.len() != rows.nrows() {
        return Err(Error::Training(TrainingError::Labels { rows: rows.nrows(), labels: labels.len() }));
    }
    if labels.iter().all(|&label| label == labels[0]) {
        return Err(Error::Training(TrainingError::OneClass));
    }
    Ok(())
}
