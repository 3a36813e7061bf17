//! Attacks within the uncertainty set: one gradient step, or many.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Attack, Target, downwards, lane, set_lane};
use crate::network::{LANES, Lanes};
use crate::{Problem, Result};

/// One step from the origin to the border of the ball, in the direction that lowers the linearised margin
/// most (Goodfellow et al., 2015, for any norm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastGradient;

impl Attack for FastGradient {
    fn name_with_gradient(&self) -> Option<&'static str> {
        Some("fast_gradient")
    }

    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let zero = target.zero();
        let mut gradient = target.zero();
        target.gradient(&zero, &mut gradient);
        let radius = target.uncertainty().radius();
        border(target, &gradient, [radius; LANES])
    }

    fn limit(&self, problem: &Problem) -> f64 {
        problem.uncertainty().radius()
    }
}

/// The points of the balls at which a linear function with this gradient is least.
fn border(target: &Target<'_, '_>, gradient: &[Lanes], radius: [f64; LANES]) -> Vec<Lanes> {
    let norm = target.uncertainty().norm();
    let mut perturbation = target.zero();
    for l in 0..LANES {
        let step: Vec<f64> = downwards(norm, gradient, l).iter().map(|d| radius[l] * d).collect();
        set_lane(&mut perturbation, l, &step);
    }
    perturbation
}

/// Projected gradient descent of the margin over the ball (Madry et al., 2018) from the origin, from the
/// border, and from the worst of a sample of random points. Steps grow after an improvement and shrink
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectedGradient {
    /// The number of steps from each start.
    pub steps: usize,
    /// The number of random points, which are the same for everybody.
    pub samples: usize,
    /// The number of starts among them: the worst ones.
    pub restarts: usize,
    /// The seed of the random points.
    pub seed: u64,
}

impl Default for ProjectedGradient {
    fn default() -> Self {
        Self { steps: 60, samples: 10_000, restarts: 16, seed: 0 }
    }
}

impl Attack for ProjectedGradient {
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let radius = target.uncertainty().radius();
        self.search(target, [radius; LANES])
    }

    fn limit(&self, problem: &Problem) -> f64 {
        problem.uncertainty().radius()
    }

    fn check(&self) -> Result<()> {
        super::at_least_one("steps", self.steps)
    }
}

impl ProjectedGradient {
    /// The worst perturbation found within a radius for each lane.
    pub(super) fn search(&self, target: &mut Target<'_, '_>, radius: [f64; LANES]) -> Vec<Lanes> {
        let mut best = target.zero();
        let mut gradient = target.zero();
        let mut lowest = target.gradient(&best, &mut gradient);
        let mut starts = vec![best.clone(), border(target, &gradient, radius)];
        starts.extend(self.scatter(target, radius));
        for start in starts {
            let (perturbation, margin) = self.descend(target, start, radius);
            for l in 0..LANES {
                if margin.0[l] < lowest.0[l] {
                    lowest.0[l] = margin.0[l];
                    set_lane(&mut best, l, &lane(&perturbation, l));
                }
            }
        }
        best
    }

    /// The worst random points of each lane, in as many blocks as there are restarts.
    fn scatter(&self, target: &mut Target<'_, '_>, radius: [f64; LANES]) -> Vec<Vec<Lanes>> {
        let width = target.width();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut points: Vec<Vec<f64>> = Vec::with_capacity(self.samples);
        for number in 0..self.samples.max(self.restarts) {
            // Half of them are on the border, half inside.
            points.push(target.uncertainty().norm().sample(&mut random, width, number % 2 == 0));
        }
        let at =
            |point: &[f64]| -> Vec<Lanes> { point.iter().map(|x| Lanes(radius.map(|r| r * x))).collect() };
        // Each lane keeps its worst points, the worst first.
        let mut worst: Vec<Vec<(f64, usize)>> = vec![Vec::new(); LANES];
        for (number, point) in points.iter().enumerate() {
            let margin = target.value(&at(point));
            for (l, worst) in worst.iter_mut().enumerate().filter(|(l, _)| !margin.0[*l].is_nan()) {
                let place = worst.partition_point(|(kept, _)| *kept <= margin.0[l]);
                worst.insert(place, (margin.0[l], number));
                worst.truncate(self.restarts);
            }
        }
        let block = |k: usize| {
            let mut start = target.zero();
            for (l, worst) in worst.iter().enumerate() {
                if let Some(&(_, number)) = worst.get(k) {
                    set_lane(
                        &mut start,
                        l,
                        &points[number].iter().map(|x| radius[l] * x).collect::<Vec<_>>(),
                    );
                }
            }
            start
        };
        (0..self.restarts).map(block).collect()
    }

    fn descend(
        &self,
        target: &mut Target<'_, '_>,
        start: Vec<Lanes>,
        radius: [f64; LANES],
    ) -> (Vec<Lanes>, Lanes) {
        let mut at = start;
        let mut gradient = target.zero();
        let mut margin = target.gradient(&at, &mut gradient);
        let mut length = radius;
        let (mut next, mut next_gradient) = (at.clone(), gradient.clone());
        for _ in 0..self.steps {
            for l in 0..LANES {
                let norm = target.uncertainty().norm();
                let way = downwards(norm, &gradient, l);
                let mut point: Vec<f64> =
                    lane(&at, l).iter().zip(way).map(|(x, d)| x + length[l] * d).collect();
                norm.project(&mut point, radius[l]);
                set_lane(&mut next, l, &point);
            }
            let tried = target.gradient(&next, &mut next_gradient);
            for l in 0..LANES {
                // A margin that is NaN, where the perturbed individual does not exist, is no improvement:
                // the next step is shorter.
                if tried.0[l] < margin.0[l] {
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
