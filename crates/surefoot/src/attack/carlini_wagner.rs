//! The attack of Carlini and Wagner, which minimises a weighted sum of distance and margin.

use super::smallest::refine;
use super::{Attack, Target, at_least_one, lane, positive, set_lane};
use crate::Result;
use crate::adam::Adam;
use crate::network::{LANES, Lanes};

/// Minimises `||D||^2 + c max(margin(D), 0)` by Adam. The constant `c` is found by bisection: the
/// smallest one with which the action breaks (Carlini and Wagner, 2017). The result is then shrunk along
/// the boundary.
///
/// The distance is Euclidean, with the weights of the problem's norm, whatever its kind. Lengths are in
/// units of the distance to the linearised boundary, so the same settings work for actions that break at
/// 0.1 and at a millionth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarliniWagner {
    /// The number of constants to try.
    pub searches: usize,
    /// The number of steps of Adam for each.
    pub steps: usize,
    /// The length of a step, as a share of the distance to the linearised boundary.
    pub step: f64,
}

impl Default for CarliniWagner {
    fn default() -> Self {
        Self { searches: 6, steps: 100, step: 0.02 }
    }
}

impl Attack for CarliniWagner {
    fn name_with_gradient(&self) -> Option<&'static str> {
        Some("carlini_wagner")
    }

    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let width = target.width();
        let weights: Vec<f64> = target.uncertainty().weights(width).iter().map(|w| w * w).collect();
        let mut gradient = target.zero();
        let zero = target.zero();
        let margin = target.gradient(&zero, &mut gradient);
        // In each lane's units, the linearised boundary is at distance 1 and the margin at the origin is
        // 1.
        let square = |l: usize| (0..width).map(|i| gradient[i].0[l].powi(2) / weights[i]).sum::<f64>();
        let scale: [f64; LANES] =
            std::array::from_fn(|l| (margin.0[l].max(1e-12) / square(l).sqrt()).clamp(1e-9, 10.0));
        let unit: [f64; LANES] = std::array::from_fn(|l| margin.0[l].max(1e-12));

        let mut best = target.zero();
        let mut shortest = [f64::INFINITY; LANES];
        let (mut low, mut high, mut constant) = ([0.0; LANES], [f64::INFINITY; LANES], [1.0; LANES]);
        for _ in 0..self.searches {
            let mut at = target.zero();
            let mut averages = vec![[(0.0, 0.0); LANES]; width];
            let mut broken = [false; LANES];
            for step in 1..=self.steps {
                let margin = target.gradient(&at, &mut gradient);
                let adam = Adam::at(step);
                for l in 0..LANES {
                    // Where the perturbed individual does not exist, the perturbation is halved and its
                    // momentum reset.
                    if margin.0[l].is_nan() {
                        for i in 0..width {
                            at[i].0[l] *= 0.5;
                            averages[i][l] = (0.0, 0.0);
                        }
                        continue;
                    }
                    let length = (0..width).map(|i| weights[i] * at[i].0[l].powi(2)).sum::<f64>().sqrt();
                    if margin.0[l] < 0.0 {
                        broken[l] = true;
                        if length < shortest[l] {
                            shortest[l] = length;
                            set_lane(&mut best, l, &lane(&at, l));
                        }
                    }
                    let pull = if margin.0[l] >= 0.0 { constant[l] / unit[l] } else { 0.0 };
                    for i in 0..width {
                        let distance = 2.0 * weights[i] * at[i].0[l] / (scale[l] * scale[l]);
                        let slope = (distance + pull * gradient[i].0[l]) * scale[l];
                        let (first, second) = &mut averages[i][l];
                        let direction = adam.direction(slope, first, second);
                        at[i].0[l] -= self.step * scale[l] * direction;
                    }
                }
            }
            for l in 0..LANES {
                if broken[l] {
                    high[l] = constant[l];
                } else {
                    low[l] = constant[l];
                }
                constant[l] = if high[l].is_finite() { 0.5 * (low[l] + high[l]) } else { 10.0 * constant[l] };
            }
        }
        refine(target, [best])
    }

    fn check(&self) -> Result<()> {
        at_least_one("searches", self.searches)?;
        at_least_one("steps", self.steps)?;
        positive("step", self.step)
    }
}
