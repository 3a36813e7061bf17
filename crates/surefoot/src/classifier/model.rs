//! Models, which compute the logit of a classifier.

use std::fmt::Debug;
use std::sync::Arc;

use super::uncertain::Dense;
use crate::digest::Digest;
use crate::graph::{AffineForm, Builder, Interval, Operator};
use crate::network::{LANES, Lanes};
use crate::trees::Ensemble;

/// A function from standardised features to a logit.
///
/// A new kind of model needs its number of inputs, its logit and a range of its logits over a box. That
/// suffices for proofs: the search bounds the margin by ranges over smaller and smaller boxes, and the
/// checker does the same independently. Derivatives and tighter bounds make the search faster.
/// `examples/rule_list.rs` shows a complete model.
pub trait Model: Debug + Send + Sync {
    /// The number of features that it takes as inputs.
    fn inputs(&self) -> usize;

    /// The logit of an individual; a finite number wherever the features are finite.
    fn logit(&self, x: &[f64]) -> f64;

    /// Encloses the logits of all individuals of a box, including the rounding errors of
    /// [`Model::logit`]. Sides of the box may be infinite.
    fn range(&self, x: &[Interval]) -> Interval;

    /// The gradient of the logit. Searches use it; no proof relies on it.
    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        vec![0.0; x.len()]
    }

    /// Weights and intercept, if the logit is linear.
    fn coefficients(&self) -> Option<(&[f64], f64)> {
        None
    }

    /// A text that two models share only if they compute the same logits. Saved proofs refer to it.
    fn fingerprint(&self) -> String {
        format!("{self:?}")
    }

    /// The trees, if it is a tree ensemble.
    #[doc(hidden)]
    fn ensemble(&self) -> Option<&Ensemble> {
        None
    }

    /// Its layers, if it is linear or a dense network.
    #[doc(hidden)]
    fn dense(&self) -> Option<Dense> {
        None
    }

    /// An evaluator of blocks of individuals, if it is faster than one by one.
    #[doc(hidden)]
    fn blocks(&self, _precision: Precision) -> Option<Box<dyn Blocks>> {
        None
    }

    /// The logit as part of a graph, if that gives tighter bounds than ranges.
    #[doc(hidden)]
    fn compose<'a>(&'a self, _graph: &mut Builder<'a>, _x: &[AffineForm]) -> Option<AffineForm> {
        None
    }

    /// Adds everything that determines logits to a digest.
    #[doc(hidden)]
    fn add_to_digest(&self, digest: &mut Digest) {
        digest.text(&self.fingerprint());
    }
}

/// The precision in which a block of individuals is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Double precision.
    Double,
    /// Networks in single precision: twice as fast, accurate enough for search directions but not for
    /// decisions.
    Single,
}

/// Evaluates a model on blocks of individuals, and stores what the gradient needs.
pub trait Blocks: Debug + Send {
    /// The logits of a block.
    fn logits(&mut self, x: &[Lanes]) -> Lanes;

    /// The gradients of the logits at the last evaluation.
    fn gradient(&mut self, gradient: &mut [Lanes]);
}

/// A shared model as an operator of graphs.
#[derive(Clone, Debug)]
pub(super) struct Shared(pub Arc<dyn Model>);

impl Operator for Shared {
    fn value(&self, arguments: &[f64]) -> f64 {
        self.0.logit(arguments)
    }

    fn range(&self, arguments: &[Interval]) -> Interval {
        self.0.range(arguments).or_everything()
    }

    fn gradient(&self, arguments: &[f64]) -> Vec<f64> {
        self.0.gradient(arguments)
    }
}

impl Shared {
    /// An evaluator of blocks of individuals.
    pub fn blocks(&self, precision: Precision) -> Box<dyn Blocks> {
        let one_by_one = || Box::new(OneByOne { model: self.0.clone(), at: Vec::new() });
        self.0.blocks(precision).unwrap_or_else(|| one_by_one())
    }
}

/// Evaluates the individuals of a block one by one.
#[derive(Debug)]
struct OneByOne {
    model: Arc<dyn Model>,
    /// The individuals of the last evaluation.
    at: Vec<Vec<f64>>,
}

impl Blocks for OneByOne {
    fn logits(&mut self, x: &[Lanes]) -> Lanes {
        self.at = (0..LANES).map(|lane| x.iter().map(|x| x.0[lane]).collect()).collect();
        let mut logits = Lanes::ZERO;
        logits.0.iter_mut().zip(&self.at).for_each(|(logit, x)| *logit = self.model.logit(x));
        logits
    }

    fn gradient(&mut self, gradient: &mut [Lanes]) {
        for (lane, x) in self.at.iter().enumerate() {
            let of_lane = self.model.gradient(x);
            gradient.iter_mut().zip(of_lane).for_each(|(lanes, g)| lanes.0[lane] = g);
        }
    }
}
