//! How far the weights of a model may be from the trained ones.

use crate::digest::Digest;
use crate::error::ModelError;
use crate::magnitude::is_moderate;
use crate::{Error, Result};

/// A box of weights around the trained ones, in standardised units; biases count as weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightUncertainty {
    /// Each weight changes by at most this ("Delta robustness").
    Within(f64),
    /// Each weight changes by at most this share of its absolute value.
    Share(f64),
}

impl WeightUncertainty {
    /// The largest change of a weight.
    pub fn radius(self, weight: f64) -> f64 {
        match self {
            WeightUncertainty::Within(radius) => radius,
            WeightUncertainty::Share(share) => share * weight.abs(),
        }
    }

    /// What is guarded against, in words: "each of the model's weights changes by up to 1%".
    pub fn words(self) -> String {
        let most = match self {
            WeightUncertainty::Within(radius) => radius.to_string(),
            // As stated, without the rounding of the product.
            WeightUncertainty::Share(share) => format!("{}%", (1e10 * share).round() / 1e8),
        };
        format!("each of the model's weights changes by up to {most}")
    }

    /// Rejects numbers that are no radius, and shares of one or more, by which a weight may change its sign.
    pub(super) fn check(self) -> Result<()> {
        let (value, is_good) = match self {
            WeightUncertainty::Within(radius) => (radius, is_moderate(radius) && radius >= 0.0),
            WeightUncertainty::Share(share) => (share, (0.0..1.0).contains(&share)),
        };
        if is_good { Ok(()) } else { Err(Error::Model(ModelError::WeightUncertainty { value })) }
    }

    pub(super) fn digest(self, digest: &mut Digest) {
        let (kind, value) = match self {
            WeightUncertainty::Within(radius) => ("weights within", radius),
            WeightUncertainty::Share(share) => ("weights by a share", share),
        };
        digest.text(kind);
        digest.number(value);
    }
}
