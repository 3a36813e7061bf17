//! Linear models, such as logistic regressions.

use std::sync::Arc;

use ndarray::{Array2, array};

use super::model::{Blocks, Model, Precision};
use super::uncertain::Dense;
use crate::digest::Digest;
use crate::graph::{AffineForm, Builder, Interval};
use crate::network::{Lanes, Layer};

/// `logit = weights . x + intercept`.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    weights: Arc<[f64]>,
    intercept: f64,
}

impl Linear {
    pub fn new(weights: Vec<f64>, intercept: f64) -> Self {
        Self { weights: weights.into(), intercept }
    }
}

impl Model for Linear {
    fn inputs(&self) -> usize {
        self.weights.len()
    }

    fn logit(&self, x: &[f64]) -> f64 {
        self.intercept + self.weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
    }

    fn range(&self, x: &[Interval]) -> Interval {
        Interval::of_sum(self.intercept, self.weights.iter().copied().zip(x.iter().copied()))
    }

    fn gradient(&self, _x: &[f64]) -> Vec<f64> {
        self.weights.to_vec()
    }

    fn coefficients(&self) -> Option<(&[f64], f64)> {
        Some((&self.weights, self.intercept))
    }

    fn dense(&self) -> Option<Dense> {
        let row = ndarray::ArrayView1::from(&*self.weights);
        let weight: Array2<f64> = row.to_owned().insert_axis(ndarray::Axis(0));
        Some(Dense { layers: vec![Layer { weight, bias: array![self.intercept] }], activation: None })
    }

    fn blocks(&self, _precision: Precision) -> Option<Box<dyn Blocks>> {
        Some(Box::new(self.clone()))
    }

    fn compose<'a>(&'a self, _graph: &mut Builder<'a>, x: &[AffineForm]) -> Option<AffineForm> {
        let terms = self.weights.iter().zip(x);
        Some(terms.fold(AffineForm::constant(self.intercept), |sum, (&w, x)| sum.plus(w, x)))
    }

    fn add_to_digest(&self, digest: &mut Digest) {
        digest.numbers(self.weights.iter());
        digest.number(self.intercept);
    }
}

impl Blocks for Linear {
    fn logits(&mut self, x: &[Lanes]) -> Lanes {
        let terms = self.weights.iter().zip(x);
        terms.fold(Lanes::splat(self.intercept), |sum, (&w, &x)| sum.zip(x, |sum, x| sum + w * x))
    }

    fn gradient(&mut self, gradient: &mut [Lanes]) {
        gradient.iter_mut().zip(self.weights.iter()).for_each(|(g, &w)| *g = Lanes::splat(w));
    }
}
