//! Adam over mini-batches: the loop behind every network that is trained.

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Uniform};
use rayon::prelude::*;

use super::split::divide;
use crate::adam::Adam;
use crate::error::{SettingError, TrainingError};
use crate::network::{Block, LANES, Real, Trainable};
use crate::{Activation, Error, Network, Result};

/// The smallest number of multiplications per step for which a step is computed on several cores.
const WORTH_SHARING: usize = 200_000;

/// The number of parameters per parallel update, such that they stay in the cache.
const CHUNK: usize = 2048;

/// A loss whose mean over samples is minimised.
pub(super) trait Loss: Sync {
    /// The number of samples.
    fn samples(&self) -> usize;

    /// The number of inputs of the network.
    fn inputs(&self) -> usize;

    /// Adds the gradient of `sum of share * loss` over a block of samples to that of the block,
    /// and returns that sum.
    fn add_gradient<T: Real>(
        &self,
        network: &Trainable<T>,
        samples: &Samples,
        block: &mut Block<T>,
        random: &mut ChaCha8Rng,
    ) -> f64;

    /// Whether the outcome of a sample is favourable, so that both outcomes are held out.
    fn label(&self, _sample: usize) -> bool {
        false
    }
}

/// A block of samples with their weights.
pub(super) struct Samples {
    pub rows: [usize; LANES],
    pub share: [f64; LANES],
}

/// The settings of the loop.
#[derive(Clone, Debug)]
pub(super) struct Descent<'a> {
    /// Widths of the hidden layers.
    pub hidden: &'a [usize],
    pub activation: Activation,
    pub epochs: usize,
    pub batch: usize,
    pub step: f64,
    /// The final share of training, between 0 and 1, over which the step falls to 0, so that the weights
    /// converge.
    pub settling: f64,
    pub validation: Option<Validation>,
    pub seed: u64,
}

/// Samples that are held out of training as a validation set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Validation {
    /// The share of the samples, between 0 and 1.
    pub share: f64,
    /// Training stops once the loss on them has not improved for this many epochs, and the best weights so
    /// far are kept. `None` only reports the loss.
    pub patience: Option<usize>,
}

/// The losses after an epoch of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// The number of the epoch, counted from 1.
    pub number: usize,
    /// The mean loss over the epoch, penalties included.
    pub loss: f64,
    /// The mean loss on the samples held out, penalties included.
    pub validation: Option<f64>,
}

/// A trained network and the course of its training.
pub(super) struct Minimised {
    pub network: Network,
    pub log: Vec<Epoch>,
    /// The epoch whose weights the network has.
    pub kept: usize,
    /// The samples held out.
    pub held_out: Vec<usize>,
}

/// A callback after each epoch, which may stop the training.
pub type Watch<'a> = dyn FnMut(&Epoch) -> ControlFlow<()> + 'a;

impl Descent<'_> {
    /// Trains a network from random weights. Ends early if `watch` says so.
    pub fn minimise<T: Real>(&self, loss: &impl Loss, watch: &mut Watch<'_>) -> Result<Minimised> {
        self.check()?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut widths = vec![loss.inputs()];
        widths.extend(self.hidden);
        widths.push(1);
        let mut network = Trainable::<T>::new(widths.clone(), self.activation, initial(&widths, &mut random));
        let (mut order, held_out) = self.split(loss, &mut random)?;
        let most = self.batch.min(order.len().max(held_out.len()));
        let mut blocks: Vec<(Block<T>, f64)> = vec![(network.block(), 0.0); most.div_ceil(LANES)];
        let mut optimiser = Optimiser::new(network.parameters().len());
        let mut log: Vec<Epoch> = Vec::with_capacity(self.epochs.min(10_000));
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        let total = self.epochs * order.len().div_ceil(self.batch);
        let mut steps = 0;
        for number in 1..=self.epochs {
            order.shuffle(&mut random);
            let mut sum = 0.0;
            for batch in order.chunks(self.batch) {
                sum += self.gradient(loss, &network, batch, steps, &mut blocks) * batch.len() as f64;
                let gradients: Vec<&[T]> = blocks[..batch.len().div_ceil(LANES)]
                    .iter()
                    .map(|(block, _)| &block.gradient[..])
                    .collect();
                let done = steps as f64 / total as f64;
                let step = self.step * ((1.0 - done) / self.settling.max(1e-9)).min(1.0);
                network.update(|parameters| optimiser.step(step, parameters, &gradients));
                steps += 1;
            }
            // Every epoch uses the same random numbers here, so that epochs can be compared; the gradient
            // is unused.
            let batches = (total as u64..).zip(held_out.chunks(self.batch));
            let sums = batches.map(|(stream, batch)| {
                self.gradient(loss, &network, batch, stream, &mut blocks) * batch.len() as f64
            });
            let mean = sums.sum::<f64>() / held_out.len() as f64;
            let validation = (!held_out.is_empty()).then_some(mean);
            let epoch = Epoch { number, loss: sum / order.len() as f64, validation };
            if !(epoch.loss.is_finite() && validation.is_none_or(f64::is_finite)) {
                return Err(Error::Training(TrainingError::Diverged { epoch: number }));
            }
            log.push(epoch);
            if watch(&epoch).is_break() {
                break;
            }
            let patience = self.validation.and_then(|validation| validation.patience);
            if let (Some(validation), Some(patience)) = (validation, patience) {
                if best.as_ref().is_none_or(|(loss, ..)| validation < *loss) {
                    best = Some((validation, number, network.parameters().to_vec()));
                } else if best.as_ref().is_some_and(|&(_, at, _)| number - at >= patience) {
                    break;
                }
            }
        }
        let mut kept = log.len();
        if let Some((_, number, parameters)) = best {
            network.update(|place| place.copy_from_slice(&parameters));
            kept = number;
        }
        Ok(Minimised { network: network.network()?, log, kept, held_out })
    }

    /// The gradient of the mean loss of a batch, as one part for each block, and that loss. Parts are
    /// computed independently and added in order, so that the result does not depend on the number of
    /// cores.
    fn gradient<T: Real>(
        &self,
        loss: &impl Loss,
        network: &Trainable<T>,
        batch: &[usize],
        step: u64,
        blocks: &mut [(Block<T>, f64)],
    ) -> f64 {
        let count = batch.len().div_ceil(LANES);
        let work = |(number, (block, sum)): (usize, &mut (Block<T>, f64))| {
            let row = |l: usize| batch[(number * LANES + l).min(batch.len() - 1)];
            let present = |l: usize| number * LANES + l < batch.len();
            let samples = Samples {
                rows: std::array::from_fn(row),
                share: std::array::from_fn(|l| if present(l) { 1.0 / batch.len() as f64 } else { 0.0 }),
            };
            block.gradient.fill(T::ZERO);
            // Every block of every step has its own random stream.
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(1 + step * blocks_per_step(self.batch) + number as u64);
            *sum = loss.add_gradient(network, &samples, block, &mut random);
        };
        let active = &mut blocks[..count];
        if batch.len() * network.parameters().len() < WORTH_SHARING {
            active.iter_mut().enumerate().for_each(work);
        } else {
            active.par_iter_mut().enumerate().for_each(work);
        }
        active.iter().map(|(_, sum)| sum).sum()
    }

    /// Splits samples into those to train on and those held out.
    fn split(&self, loss: &impl Loss, random: &mut ChaCha8Rng) -> Result<(Vec<usize>, Vec<usize>)> {
        let mut order: Vec<usize> = (0..loss.samples()).collect();
        let Some(validation) = self.validation else {
            return Ok((order, Vec::new()));
        };
        order.shuffle(random);
        divide(&order, validation.share, |sample| loss.label(sample))
    }

    fn check(&self) -> Result<()> {
        let positive = |setting: &'static str, value: f64| {
            let fine = value > 0.0 && value <= 1e9;
            if fine { Ok(()) } else { Err(Error::Setting(SettingError::Setting { setting, value })) }
        };
        positive("epochs", self.epochs as f64)?;
        positive("batch", self.batch as f64)?;
        positive("step", self.step)?;
        for &width in self.hidden {
            positive("hidden", width as f64)?;
        }
        if let Some(patience) = self.validation.and_then(|validation| validation.patience) {
            positive("patience", patience as f64)?;
        }
        Ok(())
    }
}

fn blocks_per_step(batch: usize) -> u64 {
    batch.div_ceil(LANES) as u64
}

/// Weights and biases uniform within `1 / sqrt(inputs)` of 0, for every layer.
fn initial(widths: &[usize], random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut parameters = Vec::with_capacity(Trainable::<f64>::count(widths));
    for pair in widths.windows(2) {
        let bound = 1.0 / (pair[0] as f64).sqrt();
        // The bounds of the distribution are finite and in order.
        let Ok(uniform) = Uniform::new_inclusive(-bound, bound) else { unreachable!("bounds in order") };
        parameters.extend(uniform.sample_iter(&mut *random).take(pair[1] * (pair[0] + 1)));
    }
    parameters
}

/// Adam over all parameters.
struct Optimiser {
    count: usize,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Optimiser {
    fn new(parameters: usize) -> Self {
        Self { count: 0, first: vec![0.0; parameters], second: vec![0.0; parameters] }
    }

    /// One step against the sum of the gradients.
    fn step<T: Real>(&mut self, step: f64, parameters: &mut [f64], gradients: &[&[T]]) {
        self.count += 1;
        let adam = Adam::at(self.count);
        let moments = self.first.chunks_mut(CHUNK).zip(self.second.chunks_mut(CHUNK));
        for (number, (parameters, (first, second))) in parameters.chunks_mut(CHUNK).zip(moments).enumerate() {
            let mut sums = [0.0; CHUNK];
            let sums = &mut sums[..parameters.len()];
            for gradient in gradients {
                let gradient = &gradient[number * CHUNK..number * CHUNK + sums.len()];
                sums.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g.to_double());
            }
            for i in 0..sums.len() {
                parameters[i] -= step * adam.direction(sums[i], &mut first[i], &mut second[i]);
            }
        }
    }
}
