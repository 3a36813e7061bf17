//! An ellipsoid of weights around the estimated ones, and the worst case over it.

mod model;

pub(super) use model::EllipsoidModel;

use std::sync::Arc;

use crate::digest::Digest;
use crate::error::{CovarianceProblem, ModelError};
use crate::magnitude::is_scale;
use crate::{Error, Features, Result, chi_square};

/// All weights `w` with `(w - w0)^T S^-1 (w - w0) <= r^2`, for the estimated weights `w0` of a linear model or of the
/// last layer of a network, intercept last, and the covariance `S` of their estimates.
///
/// ```
/// use surefoot::Classifier;
/// use surefoot::classifier::{Reach, WeightEllipsoid};
///
/// // Two coefficients with standard errors of 0.1 and 0.2, and an intercept with one of 0.1.
/// let covariance = [vec![0.01, 0.0, 0.0], vec![0.0, 0.04, 0.0], vec![0.0, 0.0, 0.01]];
/// let ellipsoid = WeightEllipsoid::new(&covariance, Reach::Radius(2.0))?;
/// let classifier = Classifier::linear(vec![1.0, 1.0], 0.0, 0.5)?.with_weight_ellipsoid(ellipsoid)?;
/// // 3 + 1 less twice the standard error of the logit.
/// let error = (0.01f64 * 9.0 + 0.04 + 0.01).sqrt();
/// assert!((classifier.score(&[3.0, 1.0]) - (4.0 - 2.0 * error)).abs() < 1e-12);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WeightEllipsoid {
    reach: Reach,
    radius: f64,
    width: usize,
    /// A matrix F, row by row, with `F F^T = S`.
    factor: Arc<[f64]>,
}

/// How large an ellipsoid of weights is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// The radius r: the estimate of no weighted sum of the weights is off by more than r standard errors.
    Radius(f64),
    /// All weights together are within the ellipsoid with this probability, if estimates are normal.
    Probability(f64),
    /// The weights are those whose loss is at most this share above the least one, up to second order. The covariance
    /// is the inverse Hessian of the loss.
    Loss {
        /// The share.
        share: f64,
        /// The loss of the estimated weights.
        least: f64,
    },
}

impl Reach {
    /// The radius, for a number of weights.
    fn radius(self, weights: usize) -> Result<f64> {
        let bad =
            |field: &'static str, value: f64| Err(Error::Model(ModelError::WeightReach { field, value }));
        match self {
            Reach::Radius(radius) if is_scale(radius) => Ok(radius),
            Reach::Radius(radius) => bad("radius", radius),
            Reach::Probability(probability) if probability > 0.0 && probability < 1.0 => {
                Ok(chi_square::radius(weights, probability))
            }
            Reach::Probability(probability) => bad("probability", probability),
            Reach::Loss { share, .. } if !is_scale(share) => bad("loss", share),
            Reach::Loss { least, .. } if !is_scale(least) => bad("least_loss", least),
            // The loss is its least value plus half of the square.
            Reach::Loss { share, least } => Ok((2.0 * share * least).sqrt()),
        }
    }
}

/// A row counts as a combination of earlier ones if they explain all but this share of its variance.
const DEPENDENT: f64 = 1e-10;
/// The largest difference of two entries that should be the same, as a share of the standard errors.
const ASYMMETRY: f64 = 1e-9;

impl WeightEllipsoid {
    /// The ellipsoid of a covariance matrix: a row for each weight, the intercept last. A weight that is certain has a
    /// row and a column of zeros.
    ///
    /// # Errors
    /// If the matrix is not symmetric and positive definite in the other weights, or if there is no such radius.
    pub fn new(covariance: &[Vec<f64>], reach: Reach) -> Result<Self> {
        let problem = |problem| Error::Model(ModelError::WeightCovariance { problem });
        let factor = factor_of(covariance).map_err(problem)?;
        let uncertain = (0..covariance.len()).filter(|&i| covariance[i][i] > 0.0).count();
        let radius = reach.radius(uncertain)?;
        Ok(Self { reach, radius, width: covariance.len(), factor: factor.into() })
    }

    /// The ellipsoid of the weights of standardised features, where the covariance is that of a linear model of
    /// features in people's own units.
    ///
    /// # Errors
    /// If there are not as many weights as features, and an intercept.
    pub fn in_own_units(mut self, features: &Features) -> Result<Self> {
        self.check_width(features.len() + 1)?;
        // A weight of own units counts std times its size, and mean times its size in the intercept.
        let width = self.width;
        let mut factor = self.factor.to_vec();
        for (j, feature) in features.iter().enumerate() {
            for k in 0..width {
                let own = factor[j * width + k];
                factor[(width - 1) * width + k] += feature.mean * own;
                factor[j * width + k] = feature.std * own;
            }
        }
        self.factor = factor.into();
        Ok(self)
    }

    /// How large it is, as stated.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The radius r.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The standard error of a weighted sum of the weights.
    ///
    /// # Panics
    /// If there are not as many factors as weights.
    pub fn standard_error(&self, factors: &[f64]) -> f64 {
        assert_eq!(factors.len(), self.width, "factors of other weights");
        let along =
            |k: usize| factors.iter().enumerate().map(|(i, z)| self.factor[i * self.width + k] * z).sum();
        let along: Vec<f64> = (0..self.width).map(along).collect();
        crate::graph::EuclideanNorm::of(&along)
    }

    /// What is guarded against, in words, for the weights of a model or of the last of its layers.
    pub(super) fn words(&self, has_layers: bool) -> String {
        let percent = |share: f64| (1e10 * share).round() / 1e8;
        let weights =
            if has_layers { "the weights of the model's last layer" } else { "the model's weights" };
        let model = if has_layers { "the model's last layer" } else { "the model" };
        match self.reach {
            Reach::Radius(radius) => {
                format!("{weights} are off by up to {radius} standard errors in any direction")
            }
            Reach::Probability(probability) => {
                format!("{weights} are anywhere in their {}% confidence region", percent(probability))
            }
            Reach::Loss { share, .. } => {
                format!(
                    "{model} is any other whose loss is at most about {}% above the least",
                    percent(share)
                )
            }
        }
    }

    fn check_width(&self, weights: usize) -> Result<()> {
        let problem = CovarianceProblem::Weights { weights, rows: self.width };
        match weights == self.width {
            true => Ok(()),
            false => Err(Error::Model(ModelError::WeightCovariance { problem })),
        }
    }

    fn digest(&self, digest: &mut Digest) {
        digest.text("weights in an ellipsoid");
        digest.number(self.radius);
        digest.numbers(self.factor.iter());
    }
}

/// The Cholesky factor of a covariance matrix, row by row. It is computed from correlations, so that standard errors may
/// differ by any factor.
fn factor_of(covariance: &[Vec<f64>]) -> std::result::Result<Vec<f64>, CovarianceProblem> {
    let n = covariance.len();
    for (i, row) in covariance.iter().enumerate() {
        if row.len() != n {
            return Err(CovarianceProblem::RowLength { row: i + 1, rows: n, found: row.len() });
        }
        let is_good = |c: &f64| *c == 0.0 || is_scale(c.abs());
        if let Some((j, &value)) = row.iter().enumerate().find(|(_, c)| !is_good(c)) {
            return Err(CovarianceProblem::Number { row: i + 1, column: j + 1, value });
        }
        if row[i] < 0.0 || row[i] == 0.0 && row.iter().any(|c| *c != 0.0) {
            return Err(CovarianceProblem::NotPositive { row: i + 1 });
        }
    }
    // A weight that is certain has a row of zeros.
    let is_certain = |i: usize| covariance[i][i] == 0.0;
    if (0..n).all(is_certain) {
        return Err(CovarianceProblem::NotPositive { row: 1 });
    }
    let error = |i: usize| covariance[i][i].sqrt();
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let correlation = |a: usize, b: usize| match is_certain(a) && is_certain(b) {
                true => f64::from(a == b),
                false if covariance[a][b] == 0.0 => 0.0,
                false => covariance[a][b] / error(a) / error(b),
            };
            if (correlation(i, j) - correlation(j, i)).abs() > ASYMMETRY {
                return Err(CovarianceProblem::NotSymmetric { row: i + 1, column: j + 1 });
            }
            let own = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum::<f64>();
            let rest = correlation(i, j) - own;
            if i != j {
                factor[i * n + j] = rest / factor[j * n + j];
            } else if rest > DEPENDENT {
                factor[i * n + i] = rest.sqrt();
            } else {
                return Err(CovarianceProblem::NotPositive { row: i + 1 });
            }
        }
    }
    for i in 0..n {
        factor[i * n..][..n].iter_mut().for_each(|f| *f *= error(i));
    }
    Ok(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_of_a_matrix_by_hand() {
        // [[4, 2], [2, 5]] is F F^T with F = [[2, 0], [1, 2]]; standard errors may be of very different sizes.
        assert_eq!(factor_of(&[vec![4.0, 2.0], vec![2.0, 5.0]]).unwrap(), [2.0, 0.0, 1.0, 2.0]);
        let wide = factor_of(&[vec![4e-20, 2.0], vec![2.0, 5e20]]).unwrap();
        assert!((wide[0] / 2e-10 - 1.0).abs() < 1e-15 && (wide[3] / 2e10 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn radii_are_those_stated() {
        let one = |reach| WeightEllipsoid::new(&[vec![1.0, 0.0], vec![0.0, 1.0]], reach).map(|e| e.radius());
        assert_eq!(one(Reach::Radius(1.5)).unwrap(), 1.5);
        // For two weights the probability is 1 - exp(-r^2 / 2).
        let probability = 1.0 - (-0.5f64 * 2.25).exp();
        assert!((one(Reach::Probability(probability)).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(one(Reach::Loss { share: 0.02, least: 100.0 }).unwrap(), 2.0);
        for bad in [
            Reach::Radius(0.0),
            Reach::Radius(f64::NAN),
            Reach::Probability(1.0),
            Reach::Probability(0.0),
            Reach::Loss { share: -0.1, least: 1.0 },
            Reach::Loss { share: 0.1, least: f64::INFINITY },
        ] {
            assert!(matches!(one(bad), Err(Error::Model(ModelError::WeightReach { .. }))), "{bad:?}");
        }
    }
}
