//! Training the classifier that decides.

use std::ops::ControlFlow;

use ndarray::ArrayView2;

use super::check_labels;
use super::descend::{Descent, Epoch, Minimised, Validation, Watch};
use super::objective::{Classification, Objective};
use super::threshold::Threshold;
use crate::network::sigmoid;
use crate::{Activation, Change, Classifier, Error, Features, Network, Result};

/// How a classifier is trained: a logistic regression or a dense network, by Adam over
/// mini-batches, in single precision.
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
    /// What it is trained for.
    pub objective: Objective,
    /// Widths of the hidden layers; none for a logistic regression.
    pub hidden: Vec<usize>,
    /// The function between layers.
    pub activation: Activation,
    /// Passes over the rows, at most.
    pub epochs: usize,
    /// Rows in a mini-batch.
    pub batch: usize,
    /// The step of Adam.
    pub step: f64,
    /// How much each outcome counts.
    pub classes: ClassWeights,
    /// Rows held out to watch training, and to stop it early.
    pub validation: Option<Validation>,
    /// Decides initial weights, order of rows and random starts.
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

/// How much rows of each outcome count in the cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClassWeights {
    /// Every row the same.
    Equal,
    /// Both outcomes the same in total.
    Balanced,
    /// As given.
    Given {
        /// What a row whose label is unfavourable counts.
        unfavourable: f64,
        /// What a row whose label is favourable counts.
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
                    Some(value) => Err(Error::Setting { setting: "classes", value }),
                    None => Ok(weights),
                }
            }
        }
    }
}

/// A trained model and how training went.
#[derive(Clone, Debug)]
pub struct Trained {
    /// From standardised features to the logit of the favourable outcome.
    pub network: Network,
    /// One entry for each epoch.
    pub log: Vec<Epoch>,
    /// The epoch whose weights the network has: the last, or with early stopping the best.
    pub kept: usize,
    /// The rows that were held out to watch training; none if there was no [`Validation`].
    pub held_out: Vec<usize>,
}

impl Training {
    /// Trains on standardised rows.
    pub fn run(&self, features: &Features, rows: ArrayView2<'_, f64>, labels: &[bool]) -> Result<Trained> {
        self.run_with(features, rows, labels, &mut |_| ControlFlow::Continue(()))
    }

    /// Trains on standardised rows, telling `watch` after each epoch; if it breaks, training
    /// ends there.
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
            return Err(Error::NothingActionable);
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
        // It has never seen the other features; now it need not look.
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
