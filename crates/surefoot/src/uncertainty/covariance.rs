//! Covariance matrices and their factors.

use ndarray::{Array2, ArrayView2};

/// The matrix `M`, row by row, with zeros above its diagonal, for which `M M'` is a covariance matrix. `None` if
/// the matrix is not symmetric and positive semidefinite.
///
/// With it, a ball of radius r becomes the ellipsoid of shifts `{M v: |v| <= r}`, the shifts D with
/// `D' C^-1 D <= r^2` where C has an inverse.
pub fn factor_of(covariance: &[Vec<f64>]) -> Option<Vec<f64>> {
    let n = covariance.len();
    let largest = (0..n).map(|i| covariance[i][i].abs()).fold(0.0, f64::max);
    if covariance.iter().any(|row| row.len() != n || row.iter().any(|c| !c.is_finite())) {
        return None;
    }
    let small = 1e-10 * largest;
    if (0..n).any(|i| (0..i).any(|j| (covariance[i][j] - covariance[j][i]).abs() > small)) {
        return None;
    }
    let mut factor = vec![0.0; n * n];
    for j in 0..n {
        let rest = |factor: &[f64], i: usize| -> f64 {
            covariance[i][j] - (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum::<f64>()
        };
        let pivot = rest(&factor, j);
        if pivot < -small {
            return None;
        }
        for i in j..n {
            let value = rest(&factor, i);
            factor[i * n + j] = match pivot > small {
                true => value / pivot.sqrt(),
                // Where nothing is left of the variance, nothing may be left of the covariance.
                false if value.abs() > (small * largest).sqrt() => return None,
                false => 0.0,
            };
        }
    }
    Some(factor)
}

/// A correlation matrix that has been estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// The matrix; its diagonal is one.
    pub matrix: Vec<Vec<f64>>,
    /// By which share correlations were reduced so that the matrix has an inverse; zero if it has one anyway.
    pub shrunk: f64,
}

/// The least eigenvalue of a correlation matrix that counts as invertible.
const LEAST_EIGENVALUE: f64 = 1e-3;

impl Correlation {
    /// The correlations of columns of a table, each row of which is a person. Those of a column that does not
    /// vary are zero.
    ///
    /// Where the least eigenvalue is below 0.001, as for columns of which one follows from the others or for
    /// fewer rows than columns, all correlations are reduced by the share that raises it to 0.001.
    pub fn of_table(rows: ArrayView2<'_, f64>) -> Self {
        let (people, n) = rows.dim();
        let mut centred: Array2<f64> = rows.to_owned();
        for mut column in centred.columns_mut() {
            let mean = column.sum() / people.max(1) as f64;
            column -= mean;
            let length = column.dot(&column).sqrt();
            // A constant leaves rounding errors.
            let varies = length > 1e-9 * (1.0 + mean.abs()) * (people as f64).sqrt();
            column.mapv_inplace(|x| if varies { x / length } else { 0.0 });
        }
        let product = centred.t().dot(&centred);
        let least = {
            let matrix = nalgebra::DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { product[[i, j]] });
            matrix.symmetric_eigenvalues().iter().copied().fold(1.0, f64::min)
        };
        // Eigenvalues of (1 - s) C + s are (1 - s) times those of C, plus s.
        let shrunk = if least < LEAST_EIGENVALUE { (LEAST_EIGENVALUE - least) / (1.0 - least) } else { 0.0 };
        let entry = |i: usize, j: usize| match i == j {
            true => 1.0,
            // Both halves are the same to the bit.
            false => (1.0 - shrunk) * product[[i.min(j), i.max(j)]],
        };
        let matrix = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        Self { matrix, shrunk }
    }
}
