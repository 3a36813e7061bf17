//! The errors of the weights of a logistic regression.

use nalgebra::DMatrix;
use ndarray::{Array1, Array2, ArrayView2, array};

use super::Likelihood;
use crate::classifier::Reach;
use crate::error::TrainingError;
use crate::network::{Activation, Layer, Network};
use crate::train::{Trained, check_labels};
use crate::{Error, Features, Result, WeightEllipsoid};

/// A column counts as one that follows from others if they explain all but this share of its information.
const DEPENDENT: f64 = 1e-8;

/// The largest standard error of somebody's logit. Larger ones tell nothing, not even whether the outcome is likely.
const LARGEST_ERROR: f64 = 30.0;

/// A logistic regression at its optimum, with the covariance of its weights: the inverse of the Fisher information
/// `sum over rows of p (1 - p) z z^T`, which is the Hessian of the log-loss.
///
/// Weights of the first column of each one-hot group are zero and have no error: whatever they could say, the others and
/// the intercept do.
///
/// ```
/// use surefoot::train::LogisticEstimate;
/// use surefoot::{Feature, Features};
///
/// // Of 8 people without the feature 2 have the favourable outcome, and of 8 people with it 6.
/// let features = Features::new(vec![Feature::new("a")])?;
/// let rows = ndarray::Array2::from_shape_fn((16, 1), |(i, _)| if i < 8 { 0.0 } else { 1.0 });
/// let labels: Vec<bool> = (0..16).map(|i| i < 2 || i >= 10).collect();
/// let estimate = LogisticEstimate::new(&features, rows.view(), &labels)?;
/// // The logarithm of the odds ratio, and its standard error by Woolf's formula.
/// assert!((estimate.coefficients[0] - 9f64.ln()).abs() < 1e-5);
/// let woolf = (1.0 / 2.0 + 1.0 / 6.0 + 1.0 / 6.0 + 1.0 / 2.0f64).sqrt();
/// assert!((estimate.standard_errors()[0] - woolf).abs() < 1e-5);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LogisticEstimate {
    /// One for each feature.
    pub coefficients: Vec<f64>,
    /// The constant.
    pub intercept: f64,
    /// The covariance of coefficients and intercept, in this order. Rows of weights without an error are zero.
    pub covariance: Vec<Vec<f64>>,
    /// The log-loss, summed over all rows.
    pub loss: f64,
}

impl LogisticEstimate {
    /// The estimate from standardised rows with their labels.
    ///
    /// # Errors
    /// If a column follows from others, or if the outcomes are separated so that there is no optimum.
    pub fn new(features: &Features, rows: ArrayView2<'_, f64>, labels: &[bool]) -> Result<Self> {
        check_labels(features, rows, labels)?;
        let width = features.len();
        let references: Vec<usize> =
            features.groups().iter().filter_map(|group| group.columns.first().copied()).collect();
        let columns: Vec<usize> = (0..width).filter(|j| !references.contains(j)).collect();
        require_independent(features, rows, &columns)?;
        let likelihood = Likelihood::new(rows, &columns, labels);
        let weights = likelihood.maximum()?;
        let probabilities = likelihood.probabilities(&weights);
        let information = likelihood.information(&probabilities);
        let separated = || Error::Training(TrainingError::Separated);
        let inverse = scaled_inverse(&information).map_err(|_| separated())?;
        // Where outcomes are separated, the penalty alone keeps weights finite, and logits have huge errors.
        let spread = &likelihood.design * &inverse;
        let mut errors = spread.row_iter().zip(likelihood.design.row_iter()).map(|(a, b)| a.dot(&b));
        if errors.any(|square| square.is_nan() || square > LARGEST_ERROR * LARGEST_ERROR) {
            return Err(separated());
        }
        let mut covariance = vec![vec![0.0; width + 1]; width + 1];
        let mut coefficients = vec![0.0; width];
        let place = |k: usize| if k == 0 { width } else { columns[k - 1] };
        for i in 0..weights.len() {
            if i > 0 {
                coefficients[columns[i - 1]] = weights[i];
            }
            for j in 0..weights.len() {
                covariance[place(i)][place(j)] = inverse[(i.min(j), i.max(j))];
            }
        }
        let loss = -likelihood.logarithm(&weights);
        Ok(Self { coefficients, intercept: weights[0], covariance, loss })
    }

    /// The standard errors of coefficients and intercept.
    pub fn standard_errors(&self) -> Vec<f64> {
        (0..self.covariance.len()).map(|i| self.covariance[i][i].sqrt()).collect()
    }

    /// The ellipsoid of weights of a size.
    ///
    /// # Errors
    /// As [`WeightEllipsoid::new`].
    pub fn ellipsoid(&self, reach: Reach) -> Result<WeightEllipsoid> {
        WeightEllipsoid::new(&self.covariance, reach)
    }

    /// The model, as one that was trained without epochs.
    ///
    /// # Errors
    /// As [`Network::new`].
    pub fn trained(&self) -> Result<Trained> {
        let weight = Array2::from_shape_fn((1, self.coefficients.len()), |(_, j)| self.coefficients[j]);
        let bias: Array1<f64> = array![self.intercept];
        let network = Network::new(vec![Layer { weight, bias }], Activation::Tanh)?;
        Ok(Trained { network, log: Vec::new(), kept: 1, held_out: Vec::new() })
    }
}

/// Rejects columns that follow from those before them, or are constant.
fn require_independent(features: &Features, rows: ArrayView2<'_, f64>, columns: &[usize]) -> Result<()> {
    let design = crate::train::design(rows, columns);
    let products = design.transpose() * &design;
    match scaled_inverse(&products) {
        Ok(_) => Ok(()),
        Err(k) => {
            let feature =
                k.checked_sub(1).map_or_else(String::new, |k| features.feature(columns[k]).name.clone());
            Err(Error::Training(TrainingError::Collinear { feature }))
        }
    }
}

/// The inverse of a symmetric matrix, computed with a diagonal of ones. The position of a row that follows from those
/// before it, if the matrix is not positive definite.
fn scaled_inverse(matrix: &DMatrix<f64>) -> std::result::Result<DMatrix<f64>, usize> {
    let n = matrix.nrows();
    let scale: Vec<f64> = (0..n).map(|i| matrix[(i, i)].sqrt()).collect();
    if let Some(k) = scale.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
        return Err(k);
    }
    let ones = DMatrix::from_fn(n, n, |i, j| matrix[(i, j)] / scale[i] / scale[j]);
    let mut factor = DMatrix::<f64>::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let rest = ones[(i, j)] - (0..j).map(|k| factor[(i, k)] * factor[(j, k)]).sum::<f64>();
            if i != j {
                factor[(i, j)] = rest / factor[(j, j)];
            } else if rest > DEPENDENT {
                factor[(i, i)] = rest.sqrt();
            } else {
                return Err(i);
            }
        }
    }
    let inverse = factor.solve_lower_triangular(&DMatrix::identity(n, n)).ok_or(n - 1)?;
    let inverse = inverse.transpose() * inverse;
    Ok(DMatrix::from_fn(n, n, |i, j| inverse[(i, j)] / scale[i] / scale[j]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Feature};

    /// Temperatures at 23 starts of the space shuttle, and whether an O-ring was damaged (Dalal, Fowlkes and Hoadley,
    /// 1989), with what `glm` of R says of them.
    #[test]
    fn the_published_errors_of_the_o_rings() {
        let starts = [
            (66, 0),
            (70, 1),
            (69, 0),
            (68, 0),
            (67, 0),
            (72, 0),
            (73, 0),
            (70, 0),
            (57, 1),
            (63, 1),
            (70, 1),
            (78, 0),
            (67, 0),
            (53, 1),
            (67, 0),
            (75, 0),
            (70, 0),
            (81, 0),
            (76, 0),
            (79, 0),
            (75, 1),
            (76, 0),
            (58, 1),
        ];
        let features = Features::new(vec![Feature::new("temperature").scaling(70.0, 7.0)]).unwrap();
        let rows = Array2::from_shape_fn((23, 1), |(i, _)| (f64::from(starts[i].0) - 70.0) / 7.0);
        let labels: Vec<bool> = starts.iter().map(|(_, damage)| *damage == 1).collect();
        let estimate = LogisticEstimate::new(&features, rows.view(), &labels).unwrap();
        assert!((estimate.coefficients[0] / 7.0 + 0.2322).abs() < 5e-5);
        assert!((estimate.standard_errors()[0] / 7.0 - 0.1082).abs() < 5e-5);
        // The intercept at zero degrees.
        let at_zero = estimate.intercept - 10.0 * estimate.coefficients[0];
        let c = &estimate.covariance;
        let error = (c[1][1] - 20.0 * c[0][1] + 100.0 * c[0][0]).sqrt();
        assert!((at_zero - 15.0429).abs() < 5e-5 && (error - 7.3786).abs() < 5e-4, "{at_zero} {error}");
        // The deviance is twice the loss.
        assert!((2.0 * estimate.loss - 20.315).abs() < 5e-4);
        let ellipsoid = estimate.ellipsoid(Reach::Radius(1.0)).unwrap();
        assert!((ellipsoid.standard_error(&[-10.0, 1.0]) - error).abs() < 1e-9);
    }

    #[test]
    fn models_in_the_ellipsoid_of_a_loss_have_about_this_loss() {
        let rows = Array2::from_shape_fn((400, 2), |(i, j)| ((i * (3 + 2 * j)) as f64).sin() * 1.5);
        let labels: Vec<bool> = (0..400)
            .map(|i| rows[[i, 0]] - 0.5 * rows[[i, 1]] + 2.0 * (i as f64 * 7.7).cos() > 0.2)
            .collect();
        let features = Features::new(vec![Feature::new("a"), Feature::new("b")]).unwrap();
        let estimate = LogisticEstimate::new(&features, rows.view(), &labels).unwrap();
        let reach = Reach::Loss { share: 0.01, least: estimate.loss };
        let network = estimate.trained().unwrap().network;
        let classifier = crate::Classifier::network(network, 0.5).unwrap();
        let classifier = classifier.with_weight_ellipsoid(estimate.ellipsoid(reach).unwrap()).unwrap();
        for x in [[1.0, 0.0], [-1.0, 2.0], [0.0, -3.0]] {
            let worst = classifier.worst_weights(&x).unwrap();
            let loss: f64 = rows
                .rows()
                .into_iter()
                .zip(&labels)
                .map(|(row, &label)| {
                    let z = worst.score(&row.to_vec());
                    (if label { -z } else { z }).exp().ln_1p()
                })
                .sum();
            assert!((loss / estimate.loss - 1.01).abs() < 1.5e-3, "{}", loss / estimate.loss);
        }
    }

    #[test]
    fn the_first_of_a_group_is_the_reference() {
        let column = |name: &str| Feature::new(name).group("job").change(Change::Any);
        let features = Features::new(vec![column("a"), column("b"), column("c")]).unwrap();
        let rows = Array2::from_shape_fn((30, 3), |(i, j)| f64::from(i % 3 == j));
        let labels: Vec<bool> = (0..30).map(|i| i % 7 < 3 + i % 3).collect();
        let estimate = LogisticEstimate::new(&features, rows.view(), &labels).unwrap();
        assert_eq!((estimate.coefficients[0], estimate.standard_errors()[0]), (0.0, 0.0));
        // In each category the probability is the share of those with the outcome.
        for j in 0..3 {
            let share = (0..30).filter(|i| i % 3 == j && labels[*i]).count() as f64 / 10.0;
            let logit = estimate.intercept + estimate.coefficients[j];
            assert!((crate::network::sigmoid(logit) - share).abs() < 1e-6);
        }
        assert!(estimate.ellipsoid(Reach::Probability(0.95)).is_ok());
    }

    #[test]
    fn columns_without_errors_are_refused() {
        let features = Features::new(vec![Feature::new("a"), Feature::new("b")]).unwrap();
        let labels = [true, false, true, false, false, true];
        let twice = Array2::from_shape_fn((6, 2), |(i, j)| (i * i) as f64 * (1 + j) as f64);
        let refused = LogisticEstimate::new(&features, twice.view(), &labels).unwrap_err();
        assert_eq!(refused, Error::Training(TrainingError::Collinear { feature: "b".into() }));
        let told = Array2::from_shape_fn(
            (6, 2),
            |(i, j)| if j == 0 { f64::from(labels[i]) } else { (i * i) as f64 },
        );
        let refused = LogisticEstimate::new(&features, told.view(), &labels).unwrap_err();
        assert_eq!(refused, Error::Training(TrainingError::Separated));
    }
}
