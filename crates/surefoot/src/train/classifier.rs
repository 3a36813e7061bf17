//! Training of classifiers.

use std::ops::ControlFlow;

use ndarray::ArrayView2;

use super::check_labels;
use super::descend::{Descent, Epoch, Minimised, Validation, Watch};
use super::objective::{Classification, Objective};
use super::threshold::Threshold;
use crate::error::{FeatureError, SettingError};
use crate::network::sigmoid;
use crate::{Activation, Change, Classifier, Error, Features, Network, Result};

/// The settings with which a logistic regression or a dense network is trained, by Adam over mini-batches
/// in single precision.
///
/// The same settings and rows give the same classifier on any number of threads.
///
/// ```
/// use surefoot::train::{Allr, Objective, Threshold, Training};
/// use surefoot::{Change, Feature, Features};
///
/// let features =
///     Features::new(vec![Feature::new("age"), Feature::new("income").change(Change::Increase)])?;
/// let rows = ndarray::array![[0.1, -1.0], [-0.4, 1.2], [0.5, 0.7], [-0.3, -0.8]];
/// let labels = [false, true, true, false];
/// let training = Training {
///     objective: Objective::Allr(Allr::default()),
///     hidden: vec![16],
///     epochs: 50,
///     ..Training::default()
/// };
/// let trained = training.run(&features, rows.view(), &labels)?;
/// let classifier = trained.classifier(Threshold::BestMcc, rows.view(), &labels)?;
/// assert!(classifier.score(&[-0.4, 1.2]) > 0.0);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The objective.
    pub objective: Objective,
    /// Widths of the hidden layers; none for a logistic regression.
    pub hidden: Vec<usize>,
    /// The function between layers.
    pub activation: Activation,
    /// The maximum number of passes over the rows.
    pub epochs: usize,
    /// Rows in a mini-batch.
    pub batch: usize,
    /// The step of Adam.
    pub step: f64,
    /// The weights of the two outcomes.
    pub classes: ClassWeights,
    /// The validation rows, for early stopping.
    pub validation: Option<Validation>,
    /// The seed of initial weights, of the order of rows and of random starts.
    pub seed: u64,
}

impl Default for Training {
    /// A small network, whose training stops early: one hidden layer of 16 tanh, Adam with step 0.01 and
    /// batches of 100, for 200 epochs at most; a fifth of the rows is held out, and training stops once
    /// the loss on them has not improved for 20 epochs.
    fn default() -> Self {
        Self {
            objective: Objective::EmpiricalRisk,
            hidden: vec![16],
            activation: Activation::Tanh,
            epochs: 200,
            batch: 100,
            step: 0.01,
            classes: ClassWeights::Equal,
            validation: Some(Validation { share: 0.2, patience: Some(20) }),
            seed: 0,
        }
    }
}

/// The weights of rows in the cross-entropy, by outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassWeights {
    /// Every row has the same weight.
    Equal,
    /// Both outcomes have the same total weight.
    Balanced,
    /// Given weights.
    Given {
        /// The weight of a row whose label is unfavourable.
        unfavourable: f64,
        /// The weight of a row whose label is favourable.
        favourable: f64,
    },
}

impl ClassWeights {
    fn of(self, labels: &[bool]) -> Result<[f64; 2]> {
        match self {
            ClassWeights::Equal => Ok([1.0, 1.0]),
            ClassWeights::Balanced => {
                let favourable = labels.iter().filter(|&&label| label).count();
                let weight = |count: usize| labels.len() as f64 / (2.0 * count as f64);
                Ok([weight(labels.len() - favourable), weight(favourable)])
            }
            ClassWeights::Given { unfavourable, favourable } => {
                let weights = [unfavourable, favourable];
                match weights.into_iter().find(|w| !(w.is_finite() && *w > 0.0)) {
                    Some(value) => Err(Error::Setting(SettingError::Setting { setting: "classes", value })),
                    None => Ok(weights),
                }
            }
        }
    }
}

/// A trained model and the course of its training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The network from standardised features to the logit of the favourable outcome.
    pub network: Network,
    /// One entry for each epoch.
    pub log: Vec<Epoch>,
    /// The epoch whose weights the network has: the last, or with early stopping the best.
    pub kept: usize,
    /// The validation rows; empty without [`Validation`].
    pub held_out: Vec<usize>,
}

impl Training {
    /// Trains on standardised rows.
    pub fn run(&self, features: &Features, rows: ArrayView2<'_, f64>, labels: &[bool]) -> Result<Trained> {
        self.run_with(features, rows, labels, &mut |_| ControlFlow::Continue(()))
    }

    /// Trains on standardised rows and calls `watch` after each epoch; training ends when it breaks.
    pub fn run_with(
        &self,
        features: &Features,
        rows: ArrayView2<'_, f64>,
        labels: &[bool],
        watch: &mut Watch<'_>,
    ) -> Result<Trained> {
        check_labels(features, rows, labels)?;
        self.objective.check()?;
        let actionable: Vec<bool> = features.iter().map(|feature| feature.change != Change::Fixed).collect();
        if self.objective != Objective::EmpiricalRisk && !actionable.contains(&true) {
            return Err(Error::Feature(FeatureError::NothingActionable));
        }
        let loss = Classification {
            rows,
            labels,
            weights: self.classes.of(labels)?,
            objective: self.objective,
            actionable: actionable.clone(),
            linear: self.hidden.is_empty(),
        };
        let descent = Descent {
            hidden: &self.hidden,
            activation: self.activation,
            epochs: self.epochs,
            batch: self.batch,
            step: self.step,
            settling: 0.0,
            validation: self.validation,
            seed: self.seed,
        };
        let Minimised { network, log, kept, held_out } = descent.minimise::<f32>(&loss, watch)?;
        if self.objective != Objective::ActionableOnly {
            return Ok(Trained { network, log, kept, held_out });
        }
        // The network was trained on the actionable features only; the other columns get zero weights.
        let mut layers = network.layers().to_vec();
        let hidden = (0..actionable.len()).filter(|&j| !actionable[j]);
        hidden.for_each(|j| layers[0].weight.column_mut(j).fill(0.0));
        Ok(Trained { network: Network::new(layers, self.activation)?, log, kept, held_out })
    }
}

impl Trained {
    /// The probability of the favourable outcome for every row.
    pub fn probabilities(&self, rows: ArrayView2<'_, f64>) -> Vec<f64> {
        self.network.values(rows).into_iter().map(sigmoid).collect()
    }

    /// The classifier with a threshold chosen on these rows, usually those of training.
    pub fn classifier(
        &self,
        threshold: Threshold,
        rows: ArrayView2<'_, f64>,
        labels: &[bool],
    ) -> Result<Classifier> {
        let threshold = threshold.choose(&self.probabilities(rows), labels)?;
        Classifier::network(self.network.clone(), threshold)
    }
}
