//! Quality of a classifier: accuracy, Matthews correlation, F1, area under the curve, calibration.

use crate::error::{PeopleError, TrainingError};
use crate::{Error, Result};

/// The number of bins of equal width over which calibration is measured.
const BINS: usize = 10;

/// The counts of right and wrong decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Accepted people with a favourable label.
    pub true_positives: usize,
    /// Accepted people with an unfavourable label.
    pub false_positives: usize,
    /// Rejected people with an unfavourable label.
    pub true_negatives: usize,
    /// Rejected people with a favourable label.
    pub false_negatives: usize,
}

/// The quality of a classifier on labelled people.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Counts of right and wrong decisions.
    pub confusion: Confusion,
    /// Share of right decisions.
    pub accuracy: f64,
    /// Matthews correlation coefficient; 0 if all decisions are the same.
    pub mcc: f64,
    /// Harmonic mean of precision and recall of the favourable decision.
    pub f1: f64,
    /// Area under the receiver operating characteristic: the probability that somebody with a favourable
    /// label has a higher predicted probability than somebody without, ties counting half.
    pub auc: f64,
    /// Mean squared difference between probability and label (Brier score).
    pub brier: f64,
    /// Expected calibration error: the mean distance between mean probability and favourable share over
    /// ten bins of equal width, weighted by the number of people in them.
    pub calibration_error: f64,
    /// The bins that are not empty.
    pub calibration: Vec<CalibrationBin>,
}

/// The people whose probability is in one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationBin {
    /// The number of people.
    pub people: usize,
    /// Their mean probability.
    pub probability: f64,
    /// The share of them whose label is favourable.
    pub favourable: f64,
}

impl Confusion {
    /// Counts decisions: favourable iff the probability is at least the threshold.
    pub fn count(probabilities: &[f64], labels: &[bool], threshold: f64) -> Self {
        let mut counts = Self::default();
        for (&probability, &label) in probabilities.iter().zip(labels) {
            *match (probability >= threshold, label) {
                (true, true) => &mut counts.true_positives,
                (true, false) => &mut counts.false_positives,
                (false, false) => &mut counts.true_negatives,
                (false, true) => &mut counts.false_negatives,
            } += 1;
        }
        counts
    }

    /// Share of right decisions.
    pub fn accuracy(&self) -> f64 {
        let right = self.true_positives + self.true_negatives;
        right as f64 / (right + self.false_positives + self.false_negatives) as f64
    }

    /// Matthews correlation coefficient; 0 where it is undefined.
    pub fn mcc(&self) -> f64 {
        let [tp, fp, tn, fn_] =
            [self.true_positives, self.false_positives, self.true_negatives, self.false_negatives]
                .map(|count| count as f64);
        let square = (tp + fp) * (tp + fn_) * (tn + fp) * (tn + fn_);
        if square > 0.0 { (tp * tn - fp * fn_) / square.sqrt() } else { 0.0 }
    }

    /// Harmonic mean of precision and recall; 0 where it is undefined.
    pub fn f1(&self) -> f64 {
        let twice = 2 * self.true_positives;
        let all = twice + self.false_positives + self.false_negatives;
        if all > 0 { twice as f64 / all as f64 } else { 0.0 }
    }
}

impl Metrics {
    /// Compares probabilities of the favourable class with labels. A decision is favourable iff the
    /// probability is at least the threshold.
    pub fn measure(probabilities: &[f64], labels: &[bool], threshold: f64) -> Result<Self> {
        check(probabilities, labels)?;
        let confusion = Confusion::count(probabilities, labels, threshold);
        let pairs = || probabilities.iter().zip(labels).map(|(&p, &y)| (p, f64::from(u8::from(y))));
        let n = labels.len() as f64;
        let mut bins = [(0usize, 0.0, 0.0); BINS];
        for (p, y) in pairs() {
            let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + p, bin.2 + y);
        }
        let bins = bins.into_iter().filter(|bin| bin.0 > 0);
        let calibration: Vec<CalibrationBin> = bins
            .map(|(people, p, y)| CalibrationBin {
                people,
                probability: p / people as f64,
                favourable: y / people as f64,
            })
            .collect();
        let distance = |bin: &CalibrationBin| bin.people as f64 * (bin.probability - bin.favourable).abs();
        Ok(Self {
            confusion,
            accuracy: confusion.accuracy(),
            mcc: confusion.mcc(),
            f1: confusion.f1(),
            auc: area(probabilities, labels),
            brier: pairs().map(|(p, y)| (p - y).powi(2)).sum::<f64>() / n,
            calibration_error: calibration.iter().map(distance).sum::<f64>() / n,
            calibration,
        })
    }
}

/// Requires one probability in [0, 1] for each label, and at least one label.
pub(crate) fn check(probabilities: &[f64], labels: &[bool]) -> Result<()> {
    if probabilities.len() != labels.len() {
        return Err(Error::Training(TrainingError::Labels {
            rows: probabilities.len(),
            labels: labels.len(),
        }));
    }
    if labels.is_empty() {
        return Err(Error::People(PeopleError::NoPeople));
    }
    match probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
        Some(i) => {
            Err(Error::Training(TrainingError::Probability { person: i + 1, value: probabilities[i] }))
        }
        None => Ok(()),
    }
}

/// The area under the receiver operating characteristic, by ranks (Mann and Whitney); one half if there
/// is only one class.
fn area(probabilities: &[f64], labels: &[bool]) -> f64 {
    let ranks = ranks(probabilities);
    let positives = labels.iter().filter(|&&label| label).count() as f64;
    let negatives = labels.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return 0.5;
    }
    let sum: f64 = ranks.iter().zip(labels).filter(|(_, label)| **label).map(|(rank, _)| rank).sum();
    (sum - positives * (positives + 1.0) / 2.0) / (positives * negatives)
}

/// Ranks from 1; equal values share their mean rank.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (group.len() + 1) as f64 / 2.0;
        group.iter().for_each(|&i| ranks[i] = rank);
        first += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_hand() {
        let probabilities = [0.9, 0.8, 0.7, 0.3, 0.2, 0.5];
        let labels = [true, false, true, true, false, false];
        let metrics = Metrics::measure(&probabilities, &labels, 0.5).unwrap();
        let confusion =
            Confusion { true_positives: 2, false_positives: 2, true_negatives: 1, false_negatives: 1 };
        assert_eq!(metrics.confusion, confusion);
        assert!((metrics.accuracy - 0.5).abs() < 1e-15);
        // (2 * 1 - 2 * 1) / ...
        assert_eq!(metrics.mcc, 0.0);
        assert!((metrics.f1 - 4.0 / 7.0).abs() < 1e-15);
        // Of nine pairs, 0.9 wins 3, 0.7 wins 2, 0.3 wins 1.
        assert!((metrics.auc - 6.0 / 9.0).abs() < 1e-15);
        let brier = [0.01, 0.64, 0.09, 0.49, 0.04, 0.25].iter().sum::<f64>() / 6.0;
        assert!((metrics.brier - brier).abs() < 1e-15);
    }

    #[test]
    fn ties_count_half_and_degenerate_cases_are_finite() {
        let metrics = Metrics::measure(&[0.5; 4], &[true, false, true, false], 0.4).unwrap();
        assert_eq!((metrics.auc, metrics.mcc, metrics.accuracy), (0.5, 0.0, 0.5));
        assert_eq!(metrics.calibration_error, 0.0);
        let alone = Metrics::measure(&[0.2, 0.9], &[true, true], 0.5).unwrap();
        assert_eq!((alone.auc, alone.mcc, alone.f1), (0.5, 0.0, 2.0 / 3.0));
    }

    #[test]
    fn matthews_by_hand_and_calibration() {
        let confusion =
            Confusion { true_positives: 6, false_positives: 1, true_negatives: 3, false_negatives: 2 };
        let expected = (6.0 * 3.0 - 1.0 * 2.0) / (7.0f64 * 8.0 * 4.0 * 5.0).sqrt();
        assert!((confusion.mcc() - expected).abs() < 1e-15);
        let metrics = Metrics::measure(&[0.05, 0.05, 0.95, 1.0], &[false, true, true, true], 0.5).unwrap();
        assert_eq!(metrics.calibration.len(), 2);
        assert!((metrics.calibration_error - (2.0 * 0.45 + 2.0 * 0.025) / 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        assert!(matches!(
            Metrics::measure(&[0.5, 1.5], &[true, false], 0.5),
            Err(Error::Training(TrainingError::Probability { person: 2, .. }))
        ));
        assert!(matches!(
            Metrics::measure(&[f64::NAN], &[true], 0.5),
            Err(Error::Training(TrainingError::Probability { .. }))
        ));
        assert!(matches!(
            Metrics::measure(&[0.5], &[], 0.5),
            Err(Error::Training(TrainingError::Labels { .. }))
        ));
        assert!(matches!(Metrics::measure(&[], &[], 0.5), Err(Error::People(PeopleError::NoPeople))));
    }
}
