//! Regressions of a feature on its parents, and what their residuals depend on.

use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand_chacha::ChaCha8Rng;

use super::{Function, Warning};
use crate::error::{CausalModelError, PeopleError, TrainingError};
use crate::metrics::ranks;
use crate::network::{Block, Lanes, Real, Trainable};
use crate::train::descend::{Descent, Loss, Samples, Watch};
use crate::train::design;
use crate::{Error, Features, Result};

/// The smallest rank correlation that is reported; weaker ones do not matter even if they are significant.
const WEAK: f64 = 0.1;

/// The critical value, in standard deviations, of the test whether residuals depend on a parent.
const SURE: f64 = 3.5;

/// Standardised rows, split into those of the fit and those on which it is measured.
pub(super) struct Table<'a> {
    pub features: &'a Features,
    pub rows: ArrayView2<'a, f64>,
    pub train: Array2<f64>,
    pub test: Array2<f64>,
}

impl Table<'_> {
    pub fn is_constant(&self, column: usize) -> bool {
        self.rows.column(column).iter().all(|&v| v == self.rows[[0, column]])
    }

    /// The least-squares solution over all rows, and the predictions for the test rows of the solution over
    /// the training rows.
    pub fn fit_linear(&self, target: usize, columns: &[usize]) -> Result<(Function, Array1<f64>)> {
        let whole = least_squares(self.features, self.rows, target, columns).map_err(|error| {
            let Error::Training(TrainingError::Collinear { feature: cause }) = error else { return error };
            let is_constant = self.features.index(&cause).is_ok_and(|j| self.is_constant(j));
            let feature = self.features.feature(target).name.clone();
            Error::CausalModel(CausalModelError::CollinearCause { feature, cause, is_constant })
        })?;
        // The remaining rows may have no unique solution if a rare value is held out.
        let (coefficients, intercept) =
            least_squares(self.features, self.train.view(), target, columns).unwrap_or(whole.clone());
        let predicted =
            Function::Linear { coefficients, intercept }.values(&self.test.select(Axis(1), columns));
        let (coefficients, intercept) = whole;
        Ok((Function::Linear { coefficients, intercept }, predicted))
    }

    /// A network for the training rows, and its predictions for the test rows.
    pub fn fit_network(
        &self,
        descent: &Descent<'_>,
        target: usize,
        columns: &[usize],
        watch: &mut Watch<'_>,
    ) -> Result<(Function, Array1<f64>)> {
        let loss = Regression {
            inputs: self.train.select(Axis(1), columns),
            targets: self.train.column(target).to_owned(),
        };
        let function = Function::Network(descent.minimise::<f32>(&loss, watch)?.network);
        let predicted = function.values(&self.test.select(Axis(1), columns));
        Ok((function, predicted))
    }

    /// A warning if a parent is constant or a linear function of the others.
    pub fn collinear_parent(&self, target: usize, columns: &[usize]) -> Result<Option<Warning>> {
        match least_squares(self.features, self.rows, target, columns) {
            Err(Error::Training(TrainingError::Collinear { feature: parent })) => {
                let feature = self.features.feature(target).name.clone();
                Ok(Some(Warning::Collinear { feature, parent }))
            }
            other => other.map(|_| None),
        }
    }
}

/// Coefficients and intercept, by a QR decomposition.
pub(super) fn least_squares(
    features: &Features,
    rows: ArrayView2<'_, f64>,
    target: usize,
    columns: &[usize],
) -> Result<(Vec<f64>, f64)> {
    let design = design(rows, columns);
    let scale: Vec<f64> = design.column_iter().map(|column| column.norm()).collect();
    let targets = DVector::from_iterator(rows.nrows(), rows.column(target).iter().copied());
    let qr = design.qr();
    let r = qr.r();
    for (k, &column) in columns.iter().enumerate() {
        // A diagonal entry of R is the norm of the part of a column that is orthogonal to the columns
        // before it.
        if r.nrows() <= k + 1 || r[(k + 1, k + 1)].abs() <= 1e-10 * scale[k + 1] {
            return Err(Error::Training(TrainingError::Collinear {
                feature: features.feature(column).name.clone(),
            }));
        }
    }
    let projected = qr.q().transpose() * targets;
    let solution = r.solve_upper_triangular(&projected).ok_or(Error::People(PeopleError::NoPeople))?;
    Ok((solution.iter().skip(1).copied().collect(), solution[0]))
}

/// The standard errors of the coefficients of a linear equation: the roots of the diagonal of `s^2 (X^T X)^-1`, without
/// that of the intercept.
pub(super) fn standard_errors(rows: ArrayView2<'_, f64>, columns: &[usize], deviation: f64) -> Vec<f64> {
    let r = design(rows, columns).qr().r();
    let width = columns.len() + 1;
    // (X^T X)^-1 is R^-1 R^-T. Columns are independent, or there would be no solution.
    let inverse = r.solve_upper_triangular(&DMatrix::identity(width, width));
    (1..width)
        .map(|i| inverse.as_ref().map_or(f64::NAN, |inverse| deviation * inverse.row(i).norm()))
        .collect()
}

/// Squared error.
struct Regression {
    inputs: Array2<f64>,
    targets: Array1<f64>,
}

impl Loss for Regression {
    fn samples(&self) -> usize {
        self.targets.len()
    }

    fn inputs(&self) -> usize {
        self.inputs.ncols()
    }

    fn add_gradient<T: Real>(
        &self,
        network: &Trainable<T>,
        samples: &Samples,
        block: &mut Block<T>,
        _: &mut ChaCha8Rng,
    ) -> f64 {
        let column = |j: usize| Lanes::from_fn(|l| self.inputs[[samples.rows[l], j]]);
        let x: Vec<Lanes> = (0..self.inputs()).map(column).collect();
        let error = network.value(&x, block) - Lanes::from_fn(|l| self.targets[samples.rows[l]]);
        let weighted = error * Lanes(samples.share);
        network.add_gradient(weighted + weighted, None, block);
        (weighted * error).0.iter().sum()
    }
}

/// The parents with which the size of residuals varies, directly or by distance from the median.
pub(super) fn dependence(
    features: &Features,
    feature: &str,
    rows: ArrayView2<'_, f64>,
    columns: &[usize],
    residuals: &Array1<f64>,
) -> Vec<Warning> {
    let squares = ranks(&residuals.mapv(|r| r * r).to_vec());
    let warning = |&column: &usize| {
        let values = rows.column(column).to_vec();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let distances: Vec<f64> = values.iter().map(|v| (v - median).abs()).collect();
        let correlations =
            [correlation(&squares, &ranks(&values)), correlation(&squares, &ranks(&distances))];
        let [a, b] = correlations;
        let correlation = if a.abs() >= b.abs() { a } else { b };
        let sure = correlation.abs() * ((values.len() - 1) as f64).sqrt() > SURE;
        (sure && correlation.abs() > WEAK).then(|| Warning::ResidualsDepend {
            feature: feature.into(),
            parent: features.feature(column).name.clone(),
            correlation,
        })
    };
    columns.iter().filter_map(warning).collect()
}

/// Pearson's correlation; 0 where one side is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum()
    };
    let square = sum(&|a, _| a * a) * sum(&|_, b| b * b);
    if square > 0.0 { sum(&|a, b| a * b) / square.sqrt() } else { 0.0 }
}
