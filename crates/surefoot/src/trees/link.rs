//! From the sum of a model's leaves to its probability and to its decision.

use super::fold::least;

/// How the sum of the leaves becomes a probability. Every link is a function that never decreases.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// The sum is the probability, as the average of a forest is.
    Identity,
    /// `1 / (1 + exp(-slope * sum))`, rounded to single precision where `single` says so.
    Logistic {
        /// The factor of the sum.
        slope: f64,
        /// Whether it is computed in single precision.
        single: bool,
    },
    /// There is no probability: the sign of the sum decides, as with a hinge loss.
    Margin,
    /// One minus the probability of another link at the negative sum: the probability of the other class.
    Opposite {
        /// The link of the model.
        of: Box<Link>,
    },
    /// A calibration behind another link.
    Calibrated {
        /// The link whose probability is calibrated; [`Link::Margin`] if it is the sum itself.
        of: Box<Link>,
        /// The calibration.
        by: Calibration,
    },
}

/// A monotone calibration of scores, as scikit-learn's `CalibratedClassifierCV` fits them.
#[derive(Clone, Debug, PartialEq)]
pub enum Calibration {
    /// `1 / (1 + exp(slope * score + offset))` with a slope that is not positive (Platt).
    Sigmoid {
        /// The factor of the score.
        slope: f64,
        /// The constant.
        offset: f64,
    },
    /// Linear between these points and constant beyond them.
    Isotonic {
        /// The scores, ascending.
        scores: Vec<f64>,
        /// The probability at each of them, not descending.
        probabilities: Vec<f64>,
    },
}

impl Calibration {
    /// Why these numbers are no calibration that never decreases.
    pub fn mistake(&self) -> Option<&'static str> {
        match self {
            Self::Sigmoid { slope, offset } => {
                let finite = slope.is_finite() && offset.is_finite();
                (!finite || *slope > 0.0).then_some("a sigmoid calibration that falls where scores rise")
            }
            Self::Isotonic { scores, probabilities } => {
                let ascends = scores.windows(2).all(|pair| pair[0] < pair[1])
                    && probabilities.windows(2).all(|pair| pair[0] <= pair[1]);
                let finite = scores.iter().chain(probabilities).all(|number| number.is_finite());
                let fits = !scores.is_empty() && scores.len() == probabilities.len();
                (!(ascends && finite && fits)).then_some("an isotonic calibration that does not ascend")
            }
        }
    }

    fn probability(&self, score: f64) -> f64 {
        match self {
            Self::Sigmoid { slope, offset } => 1.0 / (1.0 + (slope * score + offset).exp()),
            Self::Isotonic { scores, probabilities } => {
                let above = scores.partition_point(|&known| known <= score);
                let Some(below) = above.checked_sub(1) else { return probabilities[0] };
                if above == scores.len() {
                    return probabilities[below];
                }
                let rise = probabilities[above] - probabilities[below];
                rise / (scores[above] - scores[below]) * (score - scores[below]) + probabilities[below]
            }
        }
    }
}

impl Link {
    /// The probability of a sum; `None` if the model has none.
    pub fn probability(&self, sum: f64) -> Option<f64> {
        match self {
            Self::Identity => Some(sum),
            Self::Logistic { slope, single: true } => Some(single_sigmoid((slope * sum) as f32)),
            Self::Logistic { slope, single: false } => Some(1.0 / (1.0 + (-slope * sum).exp())),
            Self::Margin => None,
            Self::Opposite { of } => of.probability(-sum).map(|probability| 1.0 - probability),
            Self::Calibrated { of, by } => Some(by.probability(of.probability(sum).unwrap_or(sum))),
        }
    }
}

/// The sigmoid in single precision, as XGBoost and others compute it.
fn single_sigmoid(sum: f32) -> f64 {
    // Beyond 88.7 the exponential overflows.
    let exponential = (-sum).min(88.7).exp();
    f64::from(1.0 / (exponential + 1.0))
}

/// The rule by which the original program decides at a probability of one half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnRule {
    /// What it compares.
    pub compares: Compared,
    /// Whether a tie is unfavourable.
    pub strict: bool,
}

/// What a program compares in order to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared {
    /// The sum of the leaves with zero.
    Sum,
    /// The probability with one half.
    Probability,
}

/// The least sum that is favourable at a threshold, or `None` if the model gives no probability and the
/// threshold is not one half. Infinite if all sums are alike.
///
/// At one half the program's own rule decides ties; at any other threshold a probability that equals it is
/// favourable.
pub fn least_favourable(link: &Link, rule: OwnRule, threshold: f64) -> Option<f64> {
    let beyond = |value: f64, limit: f64| if rule.strict { value > limit } else { value >= limit };
    let probability = |sum: f64| link.probability(sum).unwrap_or(f64::NAN);
    if threshold == 0.5 && (rule.compares == Compared::Sum || *link == Link::Margin) {
        return Some(least(|sum| beyond(sum, 0.0)));
    }
    link.probability(0.0)?;
    if threshold == 0.5 {
        return Some(least(|sum| beyond(probability(sum), 0.5)));
    }
    Some(least(|sum| probability(sum) >= threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: OwnRule = OwnRule { compares: Compared::Probability, strict: true };

    #[test]
    fn ties_are_decided_as_the_program_does() {
        let cut = |compares, strict| least_favourable(&Link::Margin, OwnRule { compares, strict }, 0.5);
        assert_eq!(cut(Compared::Sum, true), Some(5e-324));
        assert_eq!(cut(Compared::Sum, false), Some(0.0));
        assert_eq!(least_favourable(&Link::Margin, STRICT, 0.6), None);
        assert_eq!(least_favourable(&Link::Identity, STRICT, 0.5), Some(0.5f64.next_up()));
        assert_eq!(least_favourable(&Link::Identity, STRICT, 0.6), Some(0.6));
    }

    #[test]
    fn a_logistic_link_turns_into_a_threshold_on_the_sum() {
        for (slope, single, precision) in [(1.0, false, 1e-14), (2.0, false, 1e-14), (1.0, true, 1e-6)] {
            let link = Link::Logistic { slope, single };
            let cut = least_favourable(&link, STRICT, 0.8).unwrap();
            assert!((cut * slope - 4f64.ln()).abs() < precision, "{cut}");
            assert!(
                link.probability(cut).unwrap() >= 0.8 && link.probability(cut.next_down()).unwrap() < 0.8
            );
        }
        // In single precision the sum must exceed zero by some units before the probability does.
        let cut = least_favourable(&Link::Logistic { slope: 1.0, single: true }, STRICT, 0.5).unwrap();
        assert!(cut > 0.0 && cut < 2e-7, "{cut:e}");
    }

    #[test]
    fn calibrations_turn_into_thresholds() {
        let by = Calibration::Isotonic { scores: vec![0.0, 0.5, 1.0], probabilities: vec![0.1, 0.3, 0.9] };
        assert_eq!(by.mistake(), None);
        let link = Link::Calibrated { of: Box::new(Link::Identity), by };
        let cut = least_favourable(&link, STRICT, 0.6).unwrap();
        assert!((cut - 0.75).abs() < 1e-15, "{cut}");
        assert_eq!(least_favourable(&link, STRICT, 0.05), Some(f64::NEG_INFINITY));
        assert_eq!(least_favourable(&link, STRICT, 0.95), Some(f64::INFINITY));
        let by = Calibration::Sigmoid { slope: -2.0, offset: 1.0 };
        let link = Link::Calibrated { of: Box::new(Link::Margin), by };
        let cut = least_favourable(&link, OwnRule { compares: Compared::Probability, strict: false }, 0.5);
        assert!((cut.unwrap() - 0.5).abs() < 1e-15);
        let falling = Calibration::Sigmoid { slope: 2.0, offset: 1.0 };
        assert!(falling.mistake().is_some());
    }

    #[test]
    fn the_other_class_has_the_rest_of_the_probability() {
        let link = Link::Opposite { of: Box::new(Link::Logistic { slope: 1.0, single: false }) };
        assert!((link.probability(1.0).unwrap() - 1.0 / (1.0 + (-1f64).exp())).abs() < 1e-15);
    }
}
