//! Classifiers, which accept or reject people.
//!
//! A classifier gives a logit; a person is treated favourably iff
//! `sigmoid(logit) >= threshold`. The engine works with the *score*, logit minus the logit
//! of the threshold, so that favourable means a score of at least 0. The score of a tree
//! ensemble is the sum of its leaves minus the least favourable sum: in units of the logit
//! for boosted trees, of the probability for forests. Inputs are standardised.

mod committee;
mod ellipsoid;
mod greatest;
mod linear;
mod model;
mod network;
mod trees;
mod uncertain;
mod weights;
mod worst_case;

pub use committee::Committee;
pub(crate) use committee::MOST_VARIANTS;
pub use ellipsoid::{Reach, WeightEllipsoid};
pub use model::Model;
pub(crate) use model::{Blocks, Precision};
pub use uncertain::Dense;
pub use weights::WeightUncertainty;

use std::path::Path;
use std::sync::Arc;

use crate::digest::Digest;
use crate::error::ModelError;
use crate::graph::{AffineForm, Builder};
use crate::magnitude::is_moderate;
use crate::network::{Lanes, Network, logit, sigmoid};
use crate::{Ensemble, Error, Features, Result};
use ellipsoid::EllipsoidModel;
use linear::Linear;
use model::Shared;
use network::NetworkModel;
use trees::TreeModel;
use uncertain::uncertain;
use worst_case::WorstCase;

/// A model with the threshold of its favourable decision.
#[derive(Clone, Debug)]
pub struct Classifier {
    model: Shared,
    threshold: f64,
    offset: f64,
    uncertain: Option<UncertainWeights>,
}

/// A classifier whose model is the worst case over uncertain weights.
#[derive(Clone, Debug)]
struct UncertainWeights {
    worst: WorstCase,
    trained: Shared,
}

/// Two classifiers are equal if they have the same threshold and their models the same numbers.
impl PartialEq for Classifier {
    fn eq(&self, other: &Self) -> bool {
        let hash = |classifier: &Self| {
            let mut digest = Digest::new();
            classifier.digest(&mut digest);
            digest.hash()
        };
        Arc::ptr_eq(&self.model.0, &other.model.0) && self.threshold == other.threshold
            || hash(self) == hash(other)
    }
}

impl Classifier {
    /// `logit = weights . x + intercept` over standardised features, for example a logistic
    /// regression. Favourable iff `sigmoid(logit) >= threshold`.
    pub fn linear(weights: Vec<f64>, intercept: f64, threshold: f64) -> Result<Self> {
        if let Some(&value) = weights.iter().chain([&intercept]).find(|v| !is_moderate(**v)) {
            return Err(Error::Model(ModelError::ClassifierNumber { value }));
        }
        Self::with_model(Linear::new(weights, intercept), threshold)
    }

    /// As [`Classifier::linear`] over features in people's own units.
    pub fn linear_in_own_units(
        features: &Features,
        weights: &[f64],
        intercept: f64,
        threshold: f64,
    ) -> Result<Self> {
        if weights.len() != features.len() {
            return Err(Error::Model(ModelError::ClassifierInputs {
                features: features.names(),
                inputs: weights.len(),
            }));
        }
        let scaled = || features.iter().zip(weights);
        let shift: f64 = scaled().map(|(feature, w)| w * feature.mean).sum();
        let weights = scaled().map(|(feature, w)| w * feature.std).collect();
        Self::linear(weights, intercept + shift, threshold)
    }

    /// A dense network over standardised features whose output is the logit.
    ///
    /// A single layer is stored as a linear classifier.
    pub fn network(network: Network, threshold: f64) -> Result<Self> {
        if let [layer] = network.layers() {
            return Self::linear(layer.weight.row(0).to_vec(), layer.bias[0], threshold);
        }
        Self::with_model(NetworkModel(Arc::new(network)), threshold)
    }

    /// A classifier from an ONNX file, as skl2onnx and PyTorch write them; see [`Network::read_onnx`].
    /// Its inputs must be standardised.
    pub fn from_onnx(path: impl AsRef<Path>, threshold: f64) -> Result<Self> {
        Self::network(Network::read_onnx(path)?, threshold)
    }

    /// A tree ensemble over standardised features; see [`Ensemble::over`]. Scores are in units of its sums:
    /// logits of boosted trees, probabilities of forests.
    ///
    /// # Errors
    /// If the threshold is not between 0 and 1, or is not one half where the model gives no probabilities.
    pub fn trees(ensemble: Ensemble, threshold: f64) -> Result<Self> {
        let (ensemble, offset) = ensemble.least_favourable(threshold)?;
        Ok(Self { offset, ..Self::with_model(TreeModel(Arc::new(ensemble)), threshold)? })
    }

    /// The trees, if it is a tree ensemble. Favourable sums are those of at least [`Classifier::offset`].
    pub fn ensemble(&self) -> Option<&Ensemble> {
        self.model.0.ensemble()
    }

    /// What is subtracted from the model's output to give the score: the logit of the threshold or, for tree
    /// ensembles, the least sum that is favourable.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// A classifier with a model of any kind, over standardised features.
    pub fn with_model(model: impl Model + 'static, threshold: f64) -> Result<Self> {
        Self::new(Shared(Arc::new(model)), threshold)
    }

    fn new(model: Shared, threshold: f64) -> Result<Self> {
        let offset = logit(threshold);
        if !(threshold > 0.0 && threshold < 1.0 && offset.is_finite()) {
            return Err(Error::Model(ModelError::Threshold { threshold }));
        }
        Ok(Self { model, threshold, offset, uncertain: None })
    }

    /// The same classifier with scores that are lower by about this much.
    pub(crate) fn stricter(&self, by: f64) -> Result<Self> {
        if self.ensemble().is_some() {
            return Ok(Self { offset: self.offset + by, ..self.clone() });
        }
        Ok(Self {
            uncertain: self.uncertain.clone(),
            ..Self::new(self.model.clone(), sigmoid(self.offset + by))?
        })
    }

    /// The worst case over all models whose weights and biases differ from those of this one by no more than stated:
    /// from now on the score is the least score of all of them. For linear models and networks with one hidden layer it
    /// is exact. For deeper networks it is a lower bound; what rules actions out is then the score with
    /// [`Classifier::worst_weights`].
    ///
    /// # Errors
    /// If the model is neither linear nor a dense network, or if its weights are uncertain already.
    pub fn with_uncertain_weights(self, uncertainty: WeightUncertainty) -> Result<Self> {
        self.require_certain_weights()?;
        let worst = WorstCase::Box(Arc::new(uncertain(&*self.model.0, uncertainty)?));
        Ok(self.with_worst_case(worst))
    }

    /// The worst case over all models whose weights, or those of whose last layer, lie in an ellipsoid around those of
    /// this one: from now on the score is the least score of all of them, exactly.
    ///
    /// # Errors
    /// If the model is neither linear nor a dense network, if it has another number of weights, or if its weights are
    /// uncertain already.
    pub fn with_weight_ellipsoid(self, ellipsoid: WeightEllipsoid) -> Result<Self> {
        self.require_certain_weights()?;
        let dense = self.model.0.dense().ok_or(Error::Model(ModelError::WeightsNotKnown))?;
        let worst = WorstCase::Ellipsoid(Arc::new(EllipsoidModel::new(dense, ellipsoid)?));
        Ok(self.with_worst_case(worst))
    }

    fn require_certain_weights(&self) -> Result<()> {
        match self.uncertain {
            Some(_) => Err(Error::Model(ModelError::WeightsUncertainTwice)),
            None => Ok(()),
        }
    }

    fn with_worst_case(self, worst: WorstCase) -> Self {
        let model = worst.model();
        let uncertain = UncertainWeights { worst, trained: self.model };
        Self { model, uncertain: Some(uncertain), ..self }
    }

    /// How far each of the weights may be from the trained ones, if they are in a box.
    pub fn weight_uncertainty(&self) -> Option<WeightUncertainty> {
        match &self.uncertain.as_ref()?.worst {
            WorstCase::Box(worst) => Some(worst.uncertainty()),
            WorstCase::Ellipsoid(_) => None,
        }
    }

    /// The ellipsoid of the weights, if they are in one.
    pub fn weight_ellipsoid(&self) -> Option<&WeightEllipsoid> {
        match &self.uncertain.as_ref()?.worst {
            WorstCase::Box(_) => None,
            WorstCase::Ellipsoid(worst) => Some(worst.ellipsoid()),
        }
    }

    /// What is uncertain of the weights, in words: "each of the model's weights changes by up to 1%". `None` if they
    /// are certain.
    pub fn uncertain_weights_in_words(&self) -> Option<String> {
        self.uncertain.as_ref().map(|uncertain| uncertain.worst.words())
    }

    /// The classifier with the trained weights.
    pub fn trained(&self) -> Self {
        match &self.uncertain {
            Some(uncertain) => self.with_shared(uncertain.trained.clone()),
            None => self.clone(),
        }
    }

    /// A classifier with weights that the uncertainty allows and a low score for an individual. Where
    /// [`Classifier::is_exact`], no other has a lower one.
    pub fn worst_weights(&self, x: &[f64]) -> Result<Self> {
        match &self.uncertain {
            Some(uncertain) => Ok(self.with_shared(Shared(uncertain.worst.worst(x).model()?))),
            None => Ok(self.clone()),
        }
    }

    /// Whether the score is that of some weights which the uncertainty allows, and not a lower bound.
    pub fn is_exact(&self) -> bool {
        self.uncertain.as_ref().is_none_or(|uncertain| uncertain.worst.is_exact())
    }

    /// An upper bound of the least score over all weights that the uncertainty allows, which is attained by some of
    /// them; the score itself where that is exact.
    pub fn attained_score(&self, x: &[f64]) -> Result<f64> {
        if self.is_exact() { Ok(self.score(x)) } else { Ok(self.worst_weights(x)?.score(x)) }
    }

    /// The layers of the model with the trained weights, if it is linear or a dense network.
    pub(crate) fn dense(&self) -> Option<Dense> {
        self.trained().model.0.dense()
    }

    fn with_shared(&self, model: Shared) -> Self {
        Self { model, threshold: self.threshold, offset: self.offset, uncertain: None }
    }

    /// The number of features that it takes as inputs.
    pub fn inputs(&self) -> usize {
        self.model.0.inputs()
    }

    /// The least probability that is favourable.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The output of the model minus [`Classifier::offset`]: `logit(x) - logit(threshold)`, and for tree
    /// ensembles the sum of the leaves minus the least favourable one. Favourable iff not negative.
    ///
    /// # Panics
    /// Here and below, if `x` is not as long as [`Classifier::inputs`].
    pub fn score(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.inputs(), "an individual of another width");
        self.model.0.logit(x) - self.offset
    }

    /// The score; an error if it is not finite.
    pub(crate) fn finite_score(&self, x: &[f64]) -> Result<f64> {
        let score = self.score(x);
        if score.is_finite() { Ok(score) } else { Err(Error::Model(ModelError::ScoreNotFinite { score })) }
    }

    /// The gradient of the score.
    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        self.model.0.gradient(x)
    }

    /// An evaluator of blocks of individuals.
    pub(crate) fn blocks(&self, precision: Precision) -> Box<dyn Blocks> {
        self.model.blocks(precision)
    }

    /// The score of a block of individuals.
    pub(crate) fn score_lanes(&self, x: &[Lanes], blocks: &mut dyn Blocks) -> Lanes {
        blocks.logits(x).map(|logit| logit - self.offset)
    }

    /// The score as part of a graph.
    pub(crate) fn compose<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> AffineForm {
        let composed = self.model.0.compose(graph, x);
        composed.unwrap_or_else(|| graph.operate(&self.model, x.to_vec())).shifted(-self.offset)
    }

    /// Adds everything that determines scores to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        digest.number(self.threshold);
        if self.ensemble().is_some() {
            digest.number(self.offset);
        }
        self.model.0.add_to_digest(digest);
    }

    /// Weights and intercept of the score, if it is linear.
    pub fn coefficients(&self) -> Result<(&[f64], f64)> {
        let (weights, intercept) =
            self.model.0.coefficients().ok_or(Error::Model(ModelError::ClassifierNotLinear))?;
        Ok((weights, intercept - self.offset))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::{Activation, Feature, Layer};

    #[test]
    fn favourable_means_probability_at_least_the_threshold() {
        let classifier = Classifier::linear(vec![1.0], 0.0, 0.75).unwrap();
        let boundary = 3f64.ln();
        assert!(classifier.score(&[boundary]).abs() < 1e-15);
        assert!(classifier.score(&[boundary + 0.1]) > 0.0);
        assert!(classifier.score(&[boundary - 0.1]) < 0.0);
    }

    #[test]
    fn own_units_and_standardised_units_agree() {
        let features = Features::new(vec![Feature::new("a").scaling(3.0, 2.0), Feature::new("b")]).unwrap();
        let classifier = Classifier::linear_in_own_units(&features, &[0.5, -1.0], 0.2, 0.5).unwrap();
        let own = [7.0, 1.5];
        let standardised = [2.0, 1.5];
        assert_eq!(features.own_units(&standardised), own);
        assert!((classifier.score(&standardised) - (0.5 * 7.0 - 1.5 + 0.2)).abs() < 1e-15);
    }

    #[test]
    fn a_network_scores_but_is_not_linear() {
        let output = Layer { weight: array![[2.0, -1.0]], bias: array![0.5] };
        let single = Network::new(vec![output.clone()], Activation::Relu).unwrap();
        let linear = Classifier::network(single, 0.5).unwrap();
        assert_eq!(linear.coefficients().unwrap(), (&[2.0, -1.0][..], 0.5));
        let hidden = Layer { weight: array![[1.0, 0.0], [0.0, 1.0]], bias: array![0.0, 0.0] };
        let network = Network::new(vec![hidden, output], Activation::Relu).unwrap();
        let classifier = Classifier::network(network, 0.5).unwrap();
        assert_eq!(classifier.score(&[1.0, 3.0]), -0.5);
        assert_eq!(classifier.gradient(&[1.0, 3.0]), [2.0, -1.0]);
        assert!(matches!(classifier.coefficients(), Err(Error::Model(ModelError::ClassifierNotLinear))));
    }

    #[test]
    fn bad_numbers_are_refused() {
        for threshold in [0.0, 1.0, -0.5, f64::NAN, 1e-320 * 1e-10] {
            assert!(matches!(
                Classifier::linear(vec![1.0], 0.0, threshold),
                Err(Error::Model(ModelError::Threshold { .. }))
            ));
        }
        for number in [f64::NAN, 1e101, -9e208] {
            let [weight, intercept] = [(number, 0.0), (1.0, number)];
            for (weight, intercept) in [weight, intercept] {
                let refused = Classifier::linear(vec![weight], intercept, 0.5);
                assert!(matches!(refused, Err(Error::Model(ModelError::ClassifierNumber { .. }))));
            }
        }
        let features = Features::new(vec![Feature::new("a")]).unwrap();
        let wide = Classifier::linear_in_own_units(&features, &[1.0, 2.0], 0.0, 0.5);
        assert!(
            matches!(wide, Err(Error::Model(ModelError::ClassifierInputs { features, inputs: 2 })) if features == ["a"]),
        );
    }
}
