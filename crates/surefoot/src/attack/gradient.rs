//! Attacks within the uncertainty guarded against: one gradient step, or many.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Attack, Target, downwards, lane, set_lane};
use crate::Problem;
use crate::network::{LANES, Lanes};

/// One step from the origin to the border of the ball, the way that lowers the linearised
/// margin most (Goodfellow et al., 2015, for any norm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastGradient;

impl Attack for FastGradient {
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let zero = target.zero();
        let mut gradient = target.zero();
        target.gradient(&zero, &mut gradient);
        border(target, &gradient)
    }

    fn limit(&self, problem: &Problem) -> f64 {
        problem.epsilon()
    }
}

/// The point of the ball that lowers a linear function with this gradient most.
fn border(target: &Target<'_, '_>, gradient: &[Lanes]) -> Vec<Lanes> {
    let (norm, epsilon) = (target.problem().norm(), target.problem().epsilon());
    let mut perturbation = target.zero();
    for l in 0..LANES {
        let step: Vec<f64> = downwards(norm, gradient, l).iter().map(|d| epsilon * d).collect();
        set_lane(&mut perturbation, l, &step);
    }
    perturbation
}

/// Projected gradient descent of the margin over the ball (Madry et al., 2018), with steps that
/// grow while they help and shrink when they do not, from the origin, from the border and from
/// random points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectedGradient {
    /// Steps from each start.
    pub steps: usize,
    /// Random starts, beside the origin and the border.
    pub restarts: usize,
    /// The seed of the random starts.
    pub seed: u64,
}

impl Default for ProjectedGradient {
    fn default() -> Self {
        Self { steps: 60, restarts: 4, seed: 0 }
    }
}

impl Attack for ProjectedGradient {
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let mut best = target.zero();
        let mut gradient = target.zero();
        let mut lowest = target.gradient(&best, &mut gradient);
        let mut starts = vec![best.clone(), border(target, &gradient)];
        starts.extend((0..self.restarts).map(|number| self.random(target, number)));
        for start in starts {
            let (perturbation, margin) = self.descend(target, start);
            for l in 0..LANES {
                if margin.0[l] < lowest.0[l] || lowest.0[l].is_nan() {
                    lowest.0[l] = margin.0[l];
                    set_lane(&mut best, l, &lane(&perturbation, l));
                }
            }
        }
        best
    }

    fn limit(&self, problem: &Problem) -> f64 {
        problem.epsilon()
    }
}

impl ProjectedGradient {
    /// A random point of the ball for each lane, which depends on the person alone.
    fn random(&self, target: &Target<'_, '_>, number: usize) -> Vec<Lanes> {
        let (norm, epsilon) = (target.problem().norm(), target.problem().epsilon());
        let mut start = target.zero();
        for l in 0..LANES {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream((target.people[l] * self.restarts + number) as u64);
            let mut point: Vec<f64> =
                (0..target.width()).map(|_| epsilon * random.random_range(-1.0..1.0)).collect();
            norm.project(&mut point, epsilon);
            set_lane(&mut start, l, &point);
        }
        start
    }

    fn descend(&self, target: &mut Target<'_, '_>, start: Vec<Lanes>) -> (Vec<Lanes>, Lanes) {
        let epsilon = target.problem().epsilon();
        let mut at = start;
        let mut gradient = target.zero();
        let mut margin = target.gradient(&at, &mut gradient);
        let mut length = [epsilon; LANES];
        let (mut next, mut next_gradient) = (at.clone(), gradient.clone());
        for _ in 0..self.steps {
            for l in 0..LANES {
                let norm = target.problem().norm();
                let way = downwards(norm, &gradient, l);
                let mut point: Vec<f64> =
                    lane(&at, l).iter().zip(way).map(|(x, d)| x + length[l] * d).collect();
                norm.project(&mut point, epsilon);
                set_lane(&mut next, l, &point);
            }
            let tried = target.gradient(&next, &mut next_gradient);
            for l in 0..LANES {
                if tried.0[l] < margin.0[l] || margin.0[l].is_nan() {
                    margin.0[l] = tried.0[l];
                    set_lane(&mut at, l, &lane(&next, l));
                    set_lane(&mut gradient, l, &lane(&next_gradient, l));
                    length[l] *= 2.0;
                } else {
                    length[l] *= 0.3;
                }
            }
        }
        (at, margin)
    }
}
