//! The quality of a classifier on training rows and on held-out rows.

use ndarray::{ArrayView2, Axis};

use super::classifier::Trained;
use crate::{Metrics, Result};

/// The critical value of the two-proportion test, in standard errors: 2.576 has a false alarm in one of a
/// hundred cases.
const STANDARD_ERRORS: f64 = 2.576;

/// The quality of a trained classifier on the rows that its weights were fitted to, and on rows that
/// they were not.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// On the rows that the weights were fitted to.
    pub training: Metrics,
    /// On held-out rows: the test rows, or without any the validation rows, on which it is slightly
    /// optimistic because they decided when to stop. `None` if no rows were held out.
    pub held_out: Option<Metrics>,
}

impl Quality {
    /// Measures a classifier on the rows given to its training, and on rows to test on if there are any.
    pub fn measure(
        trained: &Trained,
        threshold: f64,
        (rows, labels): (ArrayView2<'_, f64>, &[bool]),
        test: Option<(ArrayView2<'_, f64>, &[bool])>,
    ) -> Result<Self> {
        let measure = |rows: ArrayView2<'_, f64>, labels: &[bool]| {
            Metrics::measure(&trained.probabilities(rows), labels, threshold)
        };
        let among = |chosen: &[usize]| {
            let labels: Vec<bool> = chosen.iter().map(|&row| labels[row]).collect();
            measure(rows.select(Axis(0), chosen).view(), &labels)
        };
        let mut is_fitted = vec![true; labels.len()];
        trained.held_out.iter().for_each(|&row| is_fitted[row] = false);
        let fitted: Vec<usize> = (0..labels.len()).filter(|&row| is_fitted[row]).collect();
        let held_out = match test {
            Some((rows, labels)) => Some(measure(rows, labels)?),
            None if trained.held_out.is_empty() => None,
            None => Some(among(&trained.held_out)?),
        };
        Ok(Self { training: among(&fitted)?, held_out })
    }

    /// Whether the accuracies in training and on the rows held out differ by more than chance:
    ///
    /// ```text
    /// |a - b| > 2.576 sqrt(p (1 - p) (1 / n + 1 / m))
    /// ```
    ///
    /// with the accuracy `a` on `n` rows, `b` on `m`, and `p` on all of them (a two-proportion z-test). A
    /// classifier that is equally good on both has such a difference in one of a hundred cases.
    pub fn differs_beyond_chance(&self) -> bool {
        let Some(held_out) = &self.held_out else { return false };
        let ((right, n), (right_held_out, m)) = (right(&self.training), right(held_out));
        let p = (right + right_held_out) / (n + m);
        let error = (p * (1.0 - p) * (1.0 / n + 1.0 / m)).sqrt();
        (right / n - right_held_out / m).abs() > STANDARD_ERRORS * error
    }
}

/// The number of correct decisions and the number of rows.
fn right(metrics: &Metrics) -> (f64, f64) {
    let counts = metrics.confusion;
    let right = counts.true_positives + counts.true_negatives;
    (right as f64, (right + counts.false_positives + counts.false_negatives) as f64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    /// A quality with this number of correct decisions.
    fn metrics(right: usize, rows: usize) -> Metrics {
        let labels: Vec<bool> = (0..rows).map(|row| row < right).collect();
        Metrics::measure(&vec![1.0; rows], &labels, 0.5).unwrap()
    }

    #[test]
    fn a_difference_counts_if_chance_does_not_explain_it() {
        let differs = |training: (usize, usize), held_out: (usize, usize)| {
            let [training, held_out] = [training, held_out].map(|(right, rows)| metrics(right, rows));
            Quality { training, held_out: Some(held_out) }.differs_beyond_chance()
        };
        // p = 0.8, sqrt(0.16 * (1 / 900 + 1 / 100)) = 0.0422, and 2.576 of that are 0.1086.
        assert!(!differs((729, 900), (71, 100)));
        assert!(differs((730, 900), (70, 100)));
        // In the other direction too, and never where there is no difference or next to no rows.
        assert!(differs((700, 1000), (990, 1000)));
        assert!(!differs((90, 90), (10, 10)) && !differs((3, 3), (0, 1)));
        assert!(!Quality { training: metrics(5, 5), held_out: None }.differs_beyond_chance());
    }
}
