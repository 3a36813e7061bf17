//! The worst case over the weights of a model in a box, as a model of its own:
//!
//! ```text
//! logit(x) = min over W in the box of logit_W(x)
//! ```
//!
//! It is computed layer by layer. If the inputs of a layer lie in `[l, u]`, its results lie between
//!
//! ```text
//! b - r0 + sum_j min over h in {l_j, u_j} of (w_j h - r_j |h|)      and      b + r0 + sum_j max ... (w_j h + r_j |h|)
//! ```
//!
//! and every activation is increasing. Units of one layer do not share weights, so for linear models and for one
//! hidden layer this is the exact worst case. For deeper networks it is a lower bound, because the units of a layer
//! are bounded one by one although they have their inputs in common. There, tanh counts as a number of size one where
//! it multiplies a changed weight.

mod composition;
mod worst;

use std::sync::Arc;

use super::model::Model;
use super::weights::WeightUncertainty;
use crate::digest::Digest;
use crate::error::ModelError;
use crate::graph::{AffineForm, Builder, Interval};
use crate::network::{Activation, Layer, Network};
use crate::{Error, Result};
use composition::Composition;

/// The layers of a model: linear, or a dense network.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// The layers in order.
    pub layers: Vec<Layer>,
    /// The function between layers; `None` for a single layer.
    pub activation: Option<Activation>,
}

/// The worst case over a box of weights.
#[derive(Clone, Debug)]
pub(super) struct UncertainModel {
    trained: Dense,
    uncertainty: WeightUncertainty,
    composition: Composition,
}

impl UncertainModel {
    pub fn new(trained: Dense, uncertainty: WeightUncertainty) -> Result<Self> {
        uncertainty.check()?;
        let composition = Composition::new(&trained, uncertainty)?;
        Ok(Self { trained, uncertainty, composition })
    }

    pub fn uncertainty(&self) -> WeightUncertainty {
        self.uncertainty
    }

    /// Whether the logit is the exact worst case, and not a lower bound of it.
    pub fn is_exact(&self) -> bool {
        self.trained.layers.len() <= 2
    }
}

impl Dense {
    /// The model with these weights.
    pub fn model(self) -> Result<Arc<dyn Model>> {
        Ok(match self.activation {
            Some(activation) => {
                Arc::new(super::network::NetworkModel(Arc::new(Network::new(self.layers, activation)?)))
            }
            None => {
                let weights = self.layers[0].weight.row(0).to_vec();
                Arc::new(super::linear::Linear::new(weights, self.layers[0].bias[0]))
            }
        })
    }

    /// Whether a tanh that multiplies a changed weight counts as a number of size one.
    fn is_coarse(&self) -> bool {
        self.activation == Some(Activation::Tanh) && self.layers.len() > 2
    }
}

/// Intervals of the results of a layer.
type Ends = (Vec<f64>, Vec<f64>);

impl UncertainModel {
    /// The intervals of every layer's arguments.
    fn passes(&self, x: &[f64]) -> Vec<Ends> {
        let Dense { layers, activation } = &self.trained;
        let (mut low, mut high) = (x.to_vec(), x.to_vec());
        let mut passes = Vec::with_capacity(layers.len());
        for (number, layer) in layers.iter().enumerate() {
            let is_coarse = number > 0 && self.trained.is_coarse();
            let (mut lower, mut upper) = (layer.bias.to_vec(), layer.bias.to_vec());
            for (m, (row, &bias)) in layer.weight.rows().into_iter().zip(&layer.bias).enumerate() {
                lower[m] -= self.uncertainty.radius(bias);
                upper[m] += self.uncertainty.radius(bias);
                for ((&w, &l), &u) in row.iter().zip(&low).zip(&high) {
                    let r = self.uncertainty.radius(w);
                    let size = |h: f64| if is_coarse { 1.0 } else { h.abs() };
                    lower[m] += (w * l - r * size(l)).min(w * u - r * size(u));
                    upper[m] += (w * l + r * size(l)).max(w * u + r * size(u));
                }
            }
            passes.push((lower.clone(), upper.clone()));
            if let Some(activation) = activation.filter(|_| number + 1 < layers.len()) {
                lower.iter_mut().chain(&mut upper).for_each(|z| *z = activation.value(*z));
            }
            (low, high) = (lower, upper);
        }
        passes
    }
}

impl Model for UncertainModel {
    fn inputs(&self) -> usize {
        self.trained.layers[0].weight.ncols()
    }

    fn logit(&self, x: &[f64]) -> f64 {
        self.passes(x).last().map_or(f64::NAN, |(lower, _)| lower[0])
    }

    fn range(&self, x: &[Interval]) -> Interval {
        self.composition.range(x)
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        self.composition.gradient(x)
    }

    fn compose<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> Option<AffineForm> {
        Some(self.composition.compose(graph, x))
    }

    fn add_to_digest(&self, digest: &mut Digest) {
        self.uncertainty.digest(digest);
        match self.trained.clone().model() {
            Ok(model) => model.add_to_digest(digest),
            Err(_) => unreachable!("the layers were those of a model"),
        }
    }
}

/// The worst case of a model over a box of its weights.
///
/// # Errors
/// If the model is neither linear nor a dense network, or if the box is none.
pub(super) fn uncertain(model: &dyn Model, uncertainty: WeightUncertainty) -> Result<UncertainModel> {
    let dense = model.dense().ok_or(Error::Model(ModelError::WeightsNotKnown))?;
    UncertainModel::new(dense, uncertainty)
}
