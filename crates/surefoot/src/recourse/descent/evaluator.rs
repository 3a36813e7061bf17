//! The margins that descent uses: without a perturbation, and under the worst known one.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Descent, Inner};
use crate::classifier::Precision;
use crate::margin::{Evaluation, Individuals, Margin};
use crate::network::{LANES, Lanes};
use crate::{Norm, Uncertainty};

/// The margins of the individuals of a run, in one precision.
pub(super) struct Evaluator {
    plain: Evaluation,
    perturbed: Evaluation,
    /// Whether a lane has got a new individual since the last evaluation.
    pub is_new: bool,
    perturbation: Vec<Lanes>,
    zero: Vec<Lanes>,
    /// The gradient, in the change, of the margin under the worst known perturbation.
    pub gradient: Vec<Lanes>,
}

impl Evaluator {
    pub fn new(margin: &Margin<'_>, precision: Precision) -> Self {
        let zero = vec![Lanes::ZERO; margin.problem().perturbation_width()];
        Self {
            plain: margin.evaluation_in(precision),
            perturbed: margin.evaluation_in(precision),
            is_new: true,
            perturbation: zero.clone(),
            zero,
            gradient: vec![Lanes::ZERO; margin.features().len()],
        }
    }

    /// The margins without a perturbation and under the worst known one.
    pub fn evaluate(
        &mut self,
        margin: &Margin<'_>,
        individuals: &Individuals,
        change: &[Lanes],
        settings: &Descent,
    ) -> (Lanes, Lanes) {
        let Self { plain, perturbed, is_new, perturbation, zero, gradient } = self;
        // The part before the action depends on the individuals only.
        let without = if std::mem::take(is_new) {
            margin.value(individuals, change, zero, plain)
        } else {
            margin.value_of_action(individuals, change, zero, plain)
        };
        margin.gradients(plain);
        let uncertainty = margin.problem().uncertainty();
        if uncertainty.is_none() {
            gradient.copy_from_slice(&plain.in_action);
            return (without, without);
        }
        let radius = uncertainty.radius();
        step_against(uncertainty.norm(), &plain.in_perturbation, radius, perturbation, true);
        let mut with = margin.value(individuals, change, perturbation, perturbed);
        margin.gradients(perturbed);
        gradient.copy_from_slice(&perturbed.in_action);
        let Inner::Projected { steps, length, restarts, seed } = settings.inner else {
            return (without, with);
        };
        for start in 0..=restarts {
            if start > 0 {
                scatter(uncertainty, perturbation, seed, start);
                margin.value(individuals, change, perturbation, perturbed);
                margin.gradients(perturbed);
            }
            for _ in 0..steps {
                let norm = uncertainty.norm();
                step_against(norm, &perturbed.in_perturbation, radius * length, perturbation, false);
                project(uncertainty, perturbation);
                let tried = margin.value(individuals, change, perturbation, perturbed);
                margin.gradients(perturbed);
                for lane in 0..LANES {
                    if tried.0[lane] < with.0[lane] {
                        with.0[lane] = tried.0[lane];
                        let slopes = perturbed.in_action.iter();
                        gradient.iter_mut().zip(slopes).for_each(|(g, slope)| g.0[lane] = slope.0[lane]);
                    }
                }
            }
        }
        (without, with)
    }
}

/// Steps of a given length in the direction that lowers a linear function most, from the origin or from
/// the current perturbation.
fn step_against(norm: &Norm, gradient: &[Lanes], length: f64, perturbation: &mut [Lanes], from_origin: bool) {
    let mut downwards = vec![0.0; gradient.len()];
    for lane in 0..LANES {
        downwards.iter_mut().zip(gradient).for_each(|(d, g)| *d = -g.0[lane]);
        for (place, step) in perturbation.iter_mut().zip(norm.maximiser(&downwards, length)) {
            place.0[lane] = step + if from_origin { 0.0 } else { place.0[lane] };
        }
    }
}

/// Sets every lane to the same random perturbation.
fn scatter(uncertainty: &Uncertainty, perturbation: &mut [Lanes], seed: u64, start: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(start as u64);
    let radius = uncertainty.radius();
    perturbation.iter_mut().for_each(|place| *place = Lanes::splat(radius * random.random_range(-1.0..1.0)));
    project(uncertainty, perturbation);
}

/// Projects every lane onto the uncertainty set.
fn project(uncertainty: &Uncertainty, perturbation: &mut [Lanes]) {
    let mut vector = vec![0.0; perturbation.len()];
    for lane in 0..LANES {
        vector.iter_mut().zip(&*perturbation).for_each(|(v, p)| *v = p.0[lane]);
        uncertainty.project(&mut vector);
        perturbation.iter_mut().zip(&vector).for_each(|(p, &v)| p.0[lane] = v);
    }
}
