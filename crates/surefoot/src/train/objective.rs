//! Training objectives: accuracy, and classifiers that leave people recourse.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::descend::{Loss, Samples};
use crate::adam::Adam;
use crate::error::SettingError;
use crate::network::{Block, LANES, Lanes, Real, Trainable, sigmoid};
use crate::{Error, Result};

/// The penalty on a classifier `h` (the logit) that training adds to the cross-entropy.
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
    /// Cross-entropy with a classifier that depends on actionable features only (AF).
    ActionableOnly,
    /// The regulariser of Dominguez-Olmedo et al. (2022) for adversarially robust recourse: the classifier
    /// is locally linear and relies little on unactionable features.
    Allr(Allr),
    /// The regulariser of Ross et al. (2021): a step on actionable features reaches the favourable class.
    Ross(Ross),
}

/// Settings of [`Objective::Allr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allr {
    /// `mu_1`, the weight of the departure from linearity.
    pub linearity: f64,
    /// `mu_2`, the weight of reliance on unactionable features.
    pub reliance: f64,
    /// The radius of the ball in which departures from linearity are penalised.
    pub radius: f64,
    /// The number of steps of projected Adam in the search for the largest departure.
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
            if fine { Ok(()) } else { Err(Error::Setting(SettingError::Setting { setting, value })) }
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
    /// The weight of a sample whose label is false, and of one whose label is true.
    pub weights: [f64; 2],
    pub objective: Objective,
    pub actionable: Vec<bool>,
    /// Whether the network has no hidden layer, so that the penalty on departures from linearity is zero.
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

    /// The weighted cross-entropy of a block of samples and its derivative in each logit.
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
            // The derivative of the departure with the shift held fixed.
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

    fn label(&self, sample: usize) -> bool {
        self.labels[sample]
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
    /// The shift within the radius with the largest departure that a few steps of Adam find, and the
    /// departure there. Leaves the network evaluated at that shift.
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

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use rand::SeedableRng;

    use super::*;
    use crate::Activation;

    const WIDTHS: [&[usize]; 3] = [&[3, 1], &[3, 7, 1], &[3, 5, 4, 1]];

    fn rows() -> Array2<f64> {
        Array2::from_shape_fn((20, 3), |(i, j)| ((i * 3 + j) as f64 * 1.7).sin() * 1.5)
    }

    fn labels() -> Vec<bool> {
        (0..20).map(|i| i % 3 == 0).collect()
    }

    fn loss<'a>(
        rows: &'a Array2<f64>,
        labels: &'a [bool],
        objective: Objective,
        linear: bool,
    ) -> Classification<'a> {
        let actionable = vec![false, true, true];
        Classification { rows: rows.view(), labels, weights: [0.7, 1.6], objective, actionable, linear }
    }

    fn samples() -> Samples {
        let share = std::array::from_fn(|l| if l < 13 { 1.0 / 13.0 } else { 0.0 });
        Samples { rows: std::array::from_fn(|l| (l * 7) % 20), share }
    }

    fn network(widths: &[usize]) -> Trainable<f64> {
        let numbers = (0..Trainable::<f64>::count(widths)).map(|i| (i as f64 * 2.3).cos() * 0.6);
        Trainable::new(widths.to_vec(), Activation::Tanh, numbers.collect())
    }

    fn evaluate(loss: &Classification<'_>, network: &Trainable<f64>) -> (f64, Vec<f64>) {
        let mut block = network.block();
        let value = loss.add_gradient(network, &samples(), &mut block, &mut ChaCha8Rng::seed_from_u64(4));
        (value, block.gradient)
    }

    /// With no steps the shift is the random start, which does not depend on the weights: the loss is then
    /// a plain function of the weights, which involves second derivatives of the network.
    #[test]
    fn the_gradient_of_every_objective_agrees_with_finite_differences() {
        let fixed = Allr { steps: 0, reliance: 0.4, radius: 0.3, ..Allr::default() };
        let (rows, labels) = (rows(), labels());
        for widths in WIDTHS {
            let linear = widths.len() == 2;
            let mut objectives = vec![
                Objective::EmpiricalRisk,
                Objective::ActionableOnly,
                Objective::Allr(fixed),
                Objective::Allr(Allr { linearity: 0.0, ..fixed }),
                Objective::Allr(Allr { reliance: 0.0, ..fixed }),
            ];
            // The direction of the step does not depend on the length of a linear model's weights.
            if linear {
                objectives.push(Objective::Ross(Ross::default()));
            }
            for objective in objectives {
                let loss = loss(&rows, &labels, objective, linear);
                let mut network = network(widths);
                let (_, gradient) = evaluate(&loss, &network);
                for (i, exact) in gradient.iter().enumerate() {
                    let mut at = |step: f64| {
                        network.update(|parameters| parameters[i] += step);
                        let (value, _) = evaluate(&loss, &network);
                        network.update(|parameters| parameters[i] -= step);
                        value
                    };
                    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                    assert!((exact - difference).abs() < 1e-8, "{objective:?} {widths:?} {i}");
                }
            }
        }
    }

    #[test]
    fn ross_is_the_cross_entropy_here_and_of_everybody_after_a_step() {
        let (rows, labels) = (rows(), labels());
        let network = network(WIDTHS[2]);
        let plain = network.network().unwrap();
        let mut moved = rows.clone();
        for (i, row) in rows.rows().into_iter().enumerate() {
            let gradient = plain.gradient(&row.to_vec());
            let length = gradient[1].hypot(gradient[2]);
            (1..3).for_each(|j| moved[[i, j]] += 0.75 * gradient[j] / length);
        }
        let (value, gradient) =
            evaluate(&loss(&rows, &labels, Objective::Ross(Ross::default()), false), &network);
        let (here, gradient_here) =
            evaluate(&loss(&rows, &labels, Objective::EmpiricalRisk, false), &network);
        let everybody = vec![true; 20];
        let after = Classification {
            weights: [1.0, 1.0],
            ..loss(&moved, &everybody, Objective::EmpiricalRisk, false)
        };
        let (there, gradient_there) = evaluate(&after, &network);
        assert!((value - (here + 0.8 * there)).abs() < 1e-12);
        for i in 0..gradient.len() {
            assert!((gradient[i] - (gradient_here[i] + 0.8 * gradient_there[i])).abs() < 1e-12);
        }
    }

    #[test]
    fn the_search_finds_more_than_half_of_the_worst_departure() {
        let rows = rows();
        let network = network(WIDTHS[1]);
        let x: Vec<Lanes> = (0..3).map(|j| Lanes::from_fn(|l| rows[[l, j]])).collect();
        let mut block = network.block();
        let value = network.value(&x, &mut block);
        let mut gradient = vec![Lanes::ZERO; 3];
        network.input_gradient(&mut block, &mut gradient);
        let departure = Departure { x: &x, value, gradient: &gradient };
        let allr = Allr { radius: 0.3, ..Allr::default() };
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let (shift, gap) = departure.worst(&allr, &network, &mut block, &mut random);
        let plain = network.network().unwrap();
        let mut total = (0.0, 0.0);
        for l in 0..LANES {
            let square: f64 = shift.iter().map(|d| d.0[l] * d.0[l]).sum();
            assert!(square.sqrt() <= 0.3 + 1e-12);
            let mut worst: f64 = 0.0;
            for k in 0..2000 {
                let (a, b) = (k as f64 * 0.7, (k as f64 * 0.37).sin().acos());
                let d = [0.3 * b.sin() * a.cos(), 0.3 * b.sin() * a.sin(), 0.3 * b.cos()];
                let at: Vec<f64> = (0..3).map(|j| x[j].0[l] + d[j]).collect();
                let linear: f64 = (0..3).map(|j| d[j] * gradient[j].0[l]).sum::<f64>() + value.0[l];
                worst = worst.max((plain.value(&at) - linear).abs());
            }
            assert!(gap.0[l].abs() <= 1.01 * worst);
            total = (total.0 + gap.0[l].abs(), total.1 + worst);
        }
        assert!(total.0 > 0.5 * total.1, "{total:?}");
    }
}
