//! What a classifier is trained for: to be right, and to leave people room to act.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::descend::{Loss, Samples};
use crate::adam::Adam;
use crate::network::{Block, LANES, Lanes, Real, Trainable, sigmoid};
use crate::{Error, Result};

/// What a classifier `h` (the logit) is trained for, on top of cross-entropy.
///
/// | | penalty |
/// | --- | --- |
/// | empirical risk | none |
/// | actionable only | none, but `h` sees no other features |
/// | ALLR | `mu_1 max over \|\|d\|\| <= radius of \|h(x + d) - d . grad h(x) - h(x)\| + mu_2 \|\|grad h(x) over unactionable features\|\|^2` |
/// | Ross et al. | `weight * loss(h(x + d), favourable)`, `d` a step on actionable features |
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Cross-entropy alone (ERM).
    EmpiricalRisk,
    /// Cross-entropy with a classifier that sees actionable features alone (AF): those it
    /// turns down can always do something about it.
    ActionableOnly,
    /// The adversarially robust regulariser of Dominguez-Olmedo et al. (2022): locally linear,
    /// and not relying on what people cannot change.
    Allr(Allr),
    /// The regulariser of Ross et al. (2021): an action is within reach.
    Ross(Ross),
}

/// Settings of [`Objective::Allr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allr {
    /// `mu_1`, the weight of the departure from linearity.
    pub linearity: f64,
    /// `mu_2`, the weight of reliance on unactionable features.
    pub reliance: f64,
    /// The radius within which to be linear.
    pub radius: f64,
    /// Steps of Adam, projected to the ball, that look for the worst departure.
    pub steps: usize,
    /// The length of such a step.
    pub step: f64,
}

impl Allr {
    /// The values of `mu_2` among which the paper chooses.
    pub const GRID: [f64; 4] = [0.01, 0.1, 0.5, 3.0];
}

impl Default for Allr {
    /// The settings of the published models, with the middle of their range of `mu_2`.
    fn default() -> Self {
        Self { linearity: 3.0, reliance: 0.1, radius: 0.1, steps: 10, step: 0.1 }
    }
}

/// Settings of [`Objective::Ross`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ross {
    /// The weight of the penalty.
    pub weight: f64,
    /// The length of the step towards the favourable class.
    pub reach: f64,
}

impl Default for Ross {
    fn default() -> Self {
        Self { weight: 0.8, reach: 0.75 }
    }
}

impl Objective {
    pub(super) fn check(&self) -> Result<()> {
        let check = |setting: &'static str, value: f64, least: f64| {
            let fine = value.is_finite() && value >= least;
            if fine { Ok(()) } else { Err(Error::Setting { setting, value }) }
        };
        match self {
            Objective::EmpiricalRisk | Objective::ActionableOnly => Ok(()),
            Objective::Allr(allr) => {
                check("linearity", allr.linearity, 0.0)?;
                check("reliance", allr.reliance, 0.0)?;
                check("radius", allr.radius, f64::MIN_POSITIVE)?;
                check("steps", allr.steps as f64, 0.0)?;
                check("step", allr.step, f64::MIN_POSITIVE)
            }
            Objective::Ross(ross) => {
                check("weight", ross.weight, 0.0)?;
                check("reach", ross.reach, 0.0)
            }
        }
    }
}

/// Cross-entropy with the penalties of an objective.
pub(super) struct Classification<'a> {
    pub rows: ndarray::ArrayView2<'a, f64>,
    pub labels: &'a [bool],
    /// What a sample weighs whose label is false, and one whose label is true.
    pub weights: [f64; 2],
    pub objective: Objective,
    pub actionable: Vec<bool>,
    /// Whether the network has no hidden layer; it is linear then without being told to.
    pub linear: bool,
}

impl Classification<'_> {
    fn input(&self, samples: &Samples) -> Vec<Lanes> {
        let hidden = |j: usize| self.objective == Objective::ActionableOnly && !self.actionable[j];
        let column = |j: usize| match hidden(j) {
            true => Lanes::ZERO,
            false => Lanes::from_fn(|l| self.rows[[samples.rows[l], j]]),
        };
        (0..self.rows.ncols()).map(column).collect()
    }

    fn weight(&self, sample: usize) -> f64 {
        self.weights[usize::from(self.labels[sample])]
    }

    /// Adds what is due to the cross-entropy to the loss and to its derivative in the logit.
    fn cross_entropy(&self, samples: &Samples, logit: Lanes) -> (f64, Lanes) {
        let weight = |l: usize| samples.share[l] * self.weight(samples.rows[l]);
        let label = |l: usize| self.labels[samples.rows[l]];
        let loss = (0..LANES).map(|l| weight(l) * cross_entropy(logit.0[l], label(l))).sum();
        (loss, Lanes::from_fn(|l| weight(l) * (sigmoid(logit.0[l]) - f64::from(u8::from(label(l))))))
    }

    fn allr<T: Real>(
        &self,
        allr: &Allr,
        network: &Trainable<T>,
        samples: &Samples,
        block: &mut Block<T>,
        random: &mut ChaCha8Rng,
    ) -> f64 {
        let x = self.input(samples);
        let logit = network.value(&x, block);
        let mut gradient = vec![Lanes::ZERO; x.len()];
        network.input_gradient(block, &mut gradient);
        let (mut loss, mut seed) = self.cross_entropy(samples, logit);
        let share = Lanes(samples.share);
        let mut direction = vec![Lanes::ZERO; x.len()];
        if allr.linearity > 0.0 && !self.linear {
            let departure = Departure { x: &x, value: logit, gradient: &gradient };
            let (shift, gap) = departure.worst(allr, network, block, random);
            // Its derivative at the shift that was found, the shift held fixed.
            let weight = share.zip(gap, |share, gap| allr.linearity * share * gap.signum());
            loss += allr.linearity * (0..LANES).map(|l| share.0[l] * gap.0[l].abs()).sum::<f64>();
            network.add_gradient(weight, None, block);
            network.value(&x, block);
            seed = seed - weight;
            direction.iter_mut().zip(&shift).for_each(|(place, &shift)| *place = -(weight * shift));
        }
        for j in (0..x.len()).filter(|&j| !self.actionable[j]) {
            let weight = Lanes::splat(allr.reliance) * share * gradient[j];
            loss += (weight * gradient[j]).0.iter().sum::<f64>();
            direction[j] = direction[j] + weight + weight;
        }
        network.add_gradient(seed, Some(&direction), block);
        loss
    }

    fn ross<T: Real>(
        &self,
        ross: &Ross,
        network: &Trainable<T>,
        samples: &Samples,
        block: &mut Block<T>,
    ) -> f64 {
        let mut x = self.input(samples);
        let logit = network.value(&x, block);
        let (mut loss, seed) = self.cross_entropy(samples, logit);
        network.add_gradient(seed, None, block);
        let mut gradient = vec![Lanes::ZERO; x.len()];
        network.input_gradient(block, &mut gradient);
        let actionable = || (0..gradient.len()).filter(|&j| self.actionable[j]);
        let square = actionable().fold(Lanes::ZERO, |sum, j| sum + gradient[j] * gradient[j]);
        let length = square.map(|square| if square > 0.0 { ross.reach / square.sqrt() } else { 0.0 });
        actionable().for_each(|j| x[j] = x[j] + length * gradient[j]);
        let after = network.value(&x, block);
        loss +=
            ross.weight * (0..LANES).map(|l| samples.share[l] * cross_entropy(after.0[l], true)).sum::<f64>();
        let seed = Lanes::from_fn(|l| ross.weight * samples.share[l] * (sigmoid(after.0[l]) - 1.0));
        network.add_gradient(seed, None, block);
        loss
    }
}

impl Loss for Classification<'_> {
    fn samples(&self) -> usize {
        self.labels.len()
    }

    fn inputs(&self) -> usize {
        self.rows.ncols()
    }

    fn add_gradient<T: Real>(
        &self,
        network: &Trainable<T>,
        samples: &Samples,
        block: &mut Block<T>,
        random: &mut ChaCha8Rng,
    ) -> f64 {
        match &self.objective {
            Objective::Allr(allr) => self.allr(allr, network, samples, block, random),
            Objective::Ross(ross) => self.ross(ross, network, samples, block),
            Objective::EmpiricalRisk | Objective::ActionableOnly => {
                let logit = network.value(&self.input(samples), block);
                let (loss, seed) = self.cross_entropy(samples, logit);
                network.add_gradient(seed, None, block);
                loss
            }
        }
    }

    fn plain(&self, sample: usize, output: f64) -> f64 {
        self.weight(sample) * cross_entropy(output, self.labels[sample])
    }

    fn rows(&self, samples: &[usize]) -> ndarray::Array2<f64> {
        let mut rows = self.rows.select(ndarray::Axis(0), samples);
        if self.objective == Objective::ActionableOnly {
            let hidden = (0..self.inputs()).filter(|&j| !self.actionable[j]);
            hidden.for_each(|j| rows.column_mut(j).fill(0.0));
        }
        rows
    }
}

/// `-log sigmoid(z)` if favourable, `-log sigmoid(-z)` if not, without overflow.
pub(super) fn cross_entropy(logit: f64, favourable: bool) -> f64 {
    let z = if favourable { -logit } else { logit };
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// The departure of `h` from its own linearisation at a block of individuals.
struct Departure<'a> {
    x: &'a [Lanes],
    value: Lanes,
    gradient: &'a [Lanes],
}

impl Departure<'_> {
    /// The shift within the radius at which `h` departs most, as far as a few steps of Adam
    /// find it, and the departure there; the network was last evaluated there.
    fn worst<T: Real>(
        &self,
        allr: &Allr,
        network: &Trainable<T>,
        block: &mut Block<T>,
        random: &mut ChaCha8Rng,
    ) -> (Vec<Lanes>, Lanes) {
        let width = self.x.len();
        let noise = |random: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(random) };
        let mut shift: Vec<Lanes> =
            (0..width).map(|_| Lanes::from_fn(|_| allr.radius * noise(random))).collect();
        let mut averages = vec![[(0.0, 0.0); LANES]; width];
        let mut gradient = vec![Lanes::ZERO; width];
        let mut at = self.x.to_vec();
        for step in 1..=allr.steps {
            let gap = self.gap(&shift, &mut at, network, block);
            network.input_gradient(block, &mut gradient);
            let adam = Adam::at(step);
            for i in 0..width {
                for l in 0..LANES {
                    let slope = -gap.0[l].signum() * (gradient[i].0[l] - self.gradient[i].0[l]);
                    let (first, second) = &mut averages[i][l];
                    shift[i].0[l] -= allr.step * adam.direction(slope, first, second);
                }
            }
            let square = shift.iter().fold(Lanes::ZERO, |sum, &d| sum + d * d);
            let scale = square.map(|square| (allr.radius / square.sqrt()).min(1.0));
            shift.iter_mut().for_each(|d| *d = *d * scale);
        }
        let gap = self.gap(&shift, &mut at, network, block);
        (shift, gap)
    }

    /// `h(x + d) - d . grad h(x) - h(x)`.
    fn gap<T: Real>(
        &self,
        shift: &[Lanes],
        at: &mut [Lanes],
        network: &Trainable<T>,
        block: &mut Block<T>,
    ) -> Lanes {
        let mut linear = self.value;
        for i in 0..shift.len() {
            at[i] = self.x[i] + shift[i];
            linear = linear + shift[i] * self.gradient[i];
        }
        network.value(at, block) - linear
    }
}
