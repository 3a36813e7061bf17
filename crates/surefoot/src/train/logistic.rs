//! Logistic regression at its optimum, by Newton's method, and the errors of its weights.

mod estimate;

pub use estimate::LogisticEstimate;

use nalgebra::{DMatrix, DVector};
use ndarray::ArrayView2;

use super::{check_labels, design};
use crate::error::TrainingError;
use crate::network::sigmoid;
use crate::{Classifier, Error, Features, Result};

/// The maximum number of Newton steps; a few suffice unless the classes are separable.
const STEPS: usize = 200;

/// The penalty on squared weights. It matters only where the classes are separable and the likelihood has
/// no maximum.
const RIDGE: f64 = 1e-6;

/// Logistic regression on standardised rows by Newton's method with step halving: maximum
/// likelihood, up to a penalty of a millionth of the squared weights.
/// Favourable iff `sigmoid(logit) >= threshold`.
pub fn logistic_regression(
    features: &Features,
    rows: ArrayView2<'_, f64>,
    labels: &[bool],
    threshold: f64,
) -> Result<Classifier> {
    check_labels(features, rows, labels)?;
    let columns: Vec<usize> = (0..features.len()).collect();
    let weights = Likelihood::new(rows, &columns, labels).maximum()?;
    let weights: Vec<f64> = weights.iter().copied().collect();
    Classifier::linear(weights[1..].to_vec(), weights[0], threshold)
}

/// The likelihood of labels, as a function of the intercept and of the weights of some columns.
struct Likelihood {
    design: DMatrix<f64>,
    targets: DVector<f64>,
}

impl Likelihood {
    fn new(rows: ArrayView2<'_, f64>, columns: &[usize], labels: &[bool]) -> Self {
        let targets = labels.iter().map(|&label| f64::from(u8::from(label)));
        Self { design: design(rows, columns), targets: DVector::from_iterator(labels.len(), targets) }
    }

    /// Its logarithm.
    fn logarithm(&self, weights: &DVector<f64>) -> f64 {
        // log sigmoid(z) and log sigmoid(-z) without overflow
        let term = |z: f64, target: f64| target * z - z.max(0.0) - (-z.abs()).exp().ln_1p();
        (&self.design * weights).iter().zip(&self.targets).map(|(&z, &t)| term(z, t)).sum()
    }

    fn probabilities(&self, weights: &DVector<f64>) -> DVector<f64> {
        (&self.design * weights).map(sigmoid)
    }

    /// The Fisher information: minus the Hessian of the logarithm.
    fn information(&self, probabilities: &DVector<f64>) -> DMatrix<f64> {
        let mut scaled = self.design.clone();
        for (mut row, p) in scaled.row_iter_mut().zip(probabilities) {
            row *= p * (1.0 - p);
        }
        self.design.transpose() * scaled
    }

    /// The weights with the greatest likelihood, up to the penalty.
    fn maximum(&self) -> Result<DVector<f64>> {
        let penalised =
            |weights: &DVector<f64>| self.logarithm(weights) - 0.5 * RIDGE * weights.norm_squared();
        let mut weights = DVector::zeros(self.design.ncols());
        let mut value = penalised(&weights);
        let mut settled = false;
        for _ in 0..STEPS {
            let probabilities = self.probabilities(&weights);
            let gradient = self.design.transpose() * (&self.targets - &probabilities) - &weights * RIDGE;
            let mut hessian = self.information(&probabilities);
            (0..weights.len()).for_each(|i| hessian[(i, i)] += RIDGE);
            let Some(factor) = hessian.cholesky() else { break };
            let mut step = factor.solve(&gradient);
            // The step is halved until the likelihood rises; at the maximum it does not.
            let mut next = penalised(&(&weights + &step));
            while next < value && step.amax() > 1e-12 * weights.amax().max(1.0) {
                step *= 0.5;
                next = penalised(&(&weights + &step));
            }
            settled = step.amax() <= 1e-9 * weights.amax().max(1.0);
            if settled || next.is_nan() {
                break;
            }
            weights += &step;
            value = next;
        }
        if settled { Ok(weights) } else { Err(Error::Training(TrainingError::NotConverged)) }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::Feature;

    fn features(names: &[&str]) -> Features {
        Features::new(names.iter().map(|&name| Feature::new(name)).collect()).unwrap()
    }

    #[test]
    fn logistic_regression_is_where_the_gradient_vanishes() {
        let rows = Array2::from_shape_fn((200, 2), |(i, j)| ((i * (3 + 2 * j)) as f64).sin() * 2.0);
        let labels: Vec<bool> =
            (0..200).map(|i| rows[[i, 0]] - 0.5 * rows[[i, 1]] + (i as f64 * 7.7).cos() > 0.2).collect();
        let classifier = logistic_regression(&features(&["a", "b"]), rows.view(), &labels, 0.5).unwrap();
        for j in 0..3 {
            let gradient: f64 = (0..200)
                .map(|i| {
                    let x = [rows[[i, 0]], rows[[i, 1]]];
                    let error = f64::from(u8::from(labels[i])) - sigmoid(classifier.score(&x));
                    error * if j == 2 { 1.0 } else { x[j] }
                })
                .sum();
            assert!(gradient.abs() < 1e-5, "{j}: {gradient}");
        }
    }

    #[test]
    fn outliers_do_not_throw_it_off() {
        let values = [
            -4.9, 11.2, -0.6, -0.2, 0.0, 0.0, -29.9, -10.7, -1.1, 0.0, 51.6, 0.0, 0.0, 57.3, 31.6, 16.9, 0.0,
            0.0, -3.0, 52.8,
        ];
        let rows = Array2::from_shape_vec((10, 2), values.to_vec()).unwrap();
        let labels = [5, 7, 8].iter().fold([false; 10], |mut labels, &i| {
            labels[i] = true;
            labels
        });
        let classifier = logistic_regression(&features(&["a", "b"]), rows.view(), &labels, 0.5).unwrap();
        let likelihood = |score: &dyn Fn(&[f64]) -> f64| -> f64 {
            let of = |(row, &label): (ndarray::ArrayView1<'_, f64>, &bool)| {
                let z = score(&row.to_vec());
                sigmoid(if label { z } else { -z }).ln()
            };
            rows.rows().into_iter().zip(&labels).map(of).sum()
        };
        assert!(likelihood(&|x| classifier.score(x)) > likelihood(&|_| 0.0));
    }

    #[test]
    fn separable_classes_give_a_finite_classifier_that_separates() {
        let rows = array![[-2.0], [-1.0], [1.0], [2.0]];
        let labels = [false, false, true, true];
        let classifier = logistic_regression(&features(&["a"]), rows.view(), &labels, 0.5).unwrap();
        assert!(classifier.score(&[-1.0]) < 0.0 && classifier.score(&[1.0]) > 0.0);
    }
}
