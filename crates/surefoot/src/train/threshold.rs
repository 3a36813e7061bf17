//! The decision threshold: the smallest probability with a favourable decision.

use crate::error::{ModelError, SettingError, TrainingError};
use crate::metrics::{self, Confusion};
use crate::{Error, Result};

/// The number of parts into which candidate thresholds 0.01, 0.02, ..., 0.99 divide the probabilities.
const PARTS: usize = 100;

/// How the decision threshold is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A given probability.
    Fixed(f64),
    /// The lowest of the probabilities 0.01, 0.02, ..., 0.99 with the highest Matthews correlation.
    BestMcc,
    /// The lowest of the probabilities 0.01, 0.02, ..., 0.99 with the highest accuracy.
    BestAccuracy,
    /// A threshold whose false positive rate is at most this share: the middle between the highest
    /// probability that must be refused for that and the next higher one.
    FalsePositiveRate(f64),
}

impl Threshold {
    /// The threshold for these probabilities and labels, usually those of the training rows.
    pub fn choose(self, probabilities: &[f64], labels: &[bool]) -> Result<f64> {
        metrics::check(probabilities, labels)?;
        match self {
            Threshold::Fixed(threshold) if threshold > 0.0 && threshold < 1.0 => Ok(threshold),
            Threshold::Fixed(threshold) => Err(Error::Model(ModelError::Threshold { threshold })),
            Threshold::BestMcc => Ok(best(probabilities, labels, |confusion| confusion.mcc())),
            Threshold::BestAccuracy => Ok(best(probabilities, labels, |confusion| confusion.accuracy())),
            Threshold::FalsePositiveRate(rate) => false_positive_rate(rate, probabilities, labels),
        }
    }
}

/// The best of the candidate thresholds. 0 and 1 give everybody the same decision and are not among them.
fn best(probabilities: &[f64], labels: &[bool], quality: impl Fn(&Confusion) -> f64) -> f64 {
    let candidates = (1..PARTS).map(|i| i as f64 / PARTS as f64);
    let scored = candidates.map(|t| (t, quality(&Confusion::count(probabilities, labels, t))));
    scored.fold((0.5, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best }).0
}

fn false_positive_rate(rate: f64, probabilities: &[f64], labels: &[bool]) -> Result<f64> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(Error::Setting(SettingError::Rate { rate }));
    }
    let negatives = probabilities.iter().zip(labels).filter(|(_, label)| !**label);
    let mut negatives: Vec<f64> = negatives.map(|(&p, _)| p).collect();
    if negatives.is_empty() {
        return Err(Error::Training(TrainingError::OneClass));
    }
    negatives.sort_by(|a, b| b.total_cmp(a));
    let allowed = (rate * negatives.len() as f64 + 1e-9) as usize;
    // Either everybody may pass, or this is the first probability that must not.
    let refused = negatives.get(allowed).copied().unwrap_or(0.0);
    let above = probabilities.iter().copied().filter(|&p| p > refused).fold(1.0, f64::min);
    let threshold = 0.5 * (refused + above);
    if threshold > refused && threshold < 1.0 {
        Ok(threshold)
    } else {
        Err(Error::Model(ModelError::Threshold { threshold }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBABILITIES: [f64; 6] = [0.1, 0.35, 0.4, 0.62, 0.8, 0.9];
    const LABELS: [bool; 6] = [false, false, true, false, true, true];

    #[test]
    fn the_best_of_the_grid_is_the_lowest_of_the_best() {
        // One mistake at best: from 0.36 (one wrongly passed) or from 0.63 (one wrongly refused).
        assert_eq!(Threshold::BestAccuracy.choose(&PROBABILITIES, &LABELS).unwrap(), 0.36);
        assert_eq!(Threshold::BestMcc.choose(&PROBABILITIES, &LABELS).unwrap(), 0.36);
        assert_eq!(Threshold::Fixed(0.2).choose(&PROBABILITIES, &LABELS).unwrap(), 0.2);
    }

    #[test]
    fn a_false_positive_rate_is_kept_and_used_up() {
        for (rate, passed) in [(0.0, 0), (0.3, 0), (0.34, 1), (0.67, 2), (1.0, 3)] {
            let threshold = Threshold::FalsePositiveRate(rate).choose(&PROBABILITIES, &LABELS).unwrap();
            let confusion = Confusion::count(&PROBABILITIES, &LABELS, threshold);
            assert_eq!(confusion.false_positives, passed, "{rate}: {threshold}");
        }
    }

    #[test]
    fn impossible_thresholds_are_refused() {
        let refused = |threshold: Threshold| threshold.choose(&PROBABILITIES, &LABELS).unwrap_err();
        assert!(matches!(refused(Threshold::Fixed(1.0)), Error::Model(ModelError::Threshold { .. })));
        assert!(matches!(
            refused(Threshold::FalsePositiveRate(1.5)),
            Error::Setting(SettingError::Rate { .. })
        ));
        let certain = Threshold::FalsePositiveRate(0.0).choose(&[1.0, 1.0], &[true, false]);
        assert!(matches!(certain, Err(Error::Model(ModelError::Threshold { .. }))));
    }
}
