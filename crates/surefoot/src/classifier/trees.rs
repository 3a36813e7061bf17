//! Tree ensembles as models.

use std::sync::Arc;

use super::model::{Blocks, Model, Precision};
use crate::digest::Digest;
use crate::graph::Interval;
use crate::network::{LANES, Lanes};
use crate::trees::Ensemble;

/// An ensemble whose sum decides.
#[derive(Clone, Debug)]
pub(super) struct TreeModel(pub Arc<Ensemble>);

impl Model for TreeModel {
    fn inputs(&self) -> usize {
        self.0.inputs()
    }

    /// The sum of the leaves, which is a logit or, for forests, a probability.
    fn logit(&self, x: &[f64]) -> f64 {
        self.0.sum(x)
    }

    fn range(&self, x: &[Interval]) -> Interval {
        self.0.range(x)
    }

    fn blocks(&self, _precision: Precision) -> Option<Box<dyn Blocks>> {
        Some(Box::new(TreeBlocks { ensemble: self.0.clone(), row: vec![0.0; self.0.inputs()] }))
    }

    fn ensemble(&self) -> Option<&Ensemble> {
        Some(&self.0)
    }

    fn add_to_digest(&self, digest: &mut Digest) {
        self.0.digest(digest);
    }
}

#[derive(Debug)]
struct TreeBlocks {
    ensemble: Arc<Ensemble>,
    row: Vec<f64>,
}

impl Blocks for TreeBlocks {
    fn logits(&mut self, x: &[Lanes]) -> Lanes {
        let mut logits = Lanes::ZERO;
        for lane in 0..LANES {
            self.row.iter_mut().zip(x).for_each(|(value, x)| *value = x.0[lane]);
            logits.0[lane] = self.ensemble.sum(&self.row);
        }
        logits
    }

    /// Zero: the sum is constant but for jumps.
    fn gradient(&mut self, gradient: &mut [Lanes]) {
        gradient.fill(Lanes::ZERO);
    }
}
