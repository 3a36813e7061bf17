//! DeepFool: steps to the linearised decision boundary.

use super::smallest::refine;
use super::{Attack, Target, at_least_one, downwards, lane, positive, set_lane};
use crate::Result;
use crate::network::{LANES, Lanes};

/// Steps repeatedly to where the margin, linearised at the current point, is just negative, until the
/// margin itself is (Moosavi-Dezfooli et al., 2016, for any norm). The result is then shrunk along the
/// boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeepFool {
    /// The largest number of steps.
    pub steps: usize,
    /// The distance of each step beyond the linearised boundary, as a share of the distance to it.
    pub overshoot: f64,
}

impl Default for DeepFool {
    fn default() -> Self {
        Self { steps: 50, overshoot: 0.02 }
    }
}

/// The longest step, in standardised units.
const LONGEST: f64 = 10.0;

impl Attack for DeepFool {
    fn name_with_gradient(&self) -> Option<&'static str> {
        Some("deepfool")
    }

    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let mut at = target.zero();
        let mut gradient = target.zero();
        for _ in 0..self.steps {
            let margin = target.gradient(&at, &mut gradient);
            if margin.0.iter().all(|&m| m < 0.0) {
                break;
            }
            for l in 0..LANES {
                // Where the perturbed individual does not exist, the perturbation is halved.
                if margin.0[l].is_nan() {
                    let half: Vec<f64> = lane(&at, l).iter().map(|x| 0.5 * x).collect();
                    set_lane(&mut at, l, &half);
                    continue;
                }
                if margin.0[l] < 0.0 {
                    continue;
                }
                let norm = target.uncertainty().norm();
                let slope = norm.dual(&lane(&gradient, l));
                // The small constant crosses the boundary also where the margin is exactly zero.
                let way = (margin.0[l] * (1.0 + self.overshoot) + 1e-12) / slope;
                // Where the gradient nearly vanishes, the linearisation is not valid over such a
                // distance.
                let way = way.min(LONGEST);
                if way.is_nan() {
                    continue;
                }
                let steps = downwards(norm, &gradient, l);
                let point: Vec<f64> = lane(&at, l).iter().zip(steps).map(|(x, d)| x + way * d).collect();
                set_lane(&mut at, l, &point);
            }
        }
        refine(target, [at])
    }

    fn check(&self) -> Result<()> {
        at_least_one("steps", self.steps)?;
        positive("overshoot", self.overshoot)
    }
}
