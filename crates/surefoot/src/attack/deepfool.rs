//! DeepFool: to the boundary by way of its linearisations.

use super::smallest::refine;
use super::{Attack, Target, downwards, lane, set_lane};
use crate::network::{LANES, Lanes};

/// Steps to where the margin, linearised at the current point, is just negative, until it is
/// (Moosavi-Dezfooli et al., 2016, for any norm); then shrunk along the boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeepFool {
    /// Steps at most.
    pub steps: usize,
    /// How far beyond the linearised boundary each step goes, as a part of the way to it.
    pub overshoot: f64,
}

impl Default for DeepFool {
    fn default() -> Self {
        Self { steps: 50, overshoot: 0.02 }
    }
}

impl Attack for DeepFool {
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let mut at = target.zero();
        let mut gradient = target.zero();
        for _ in 0..self.steps {
            let margin = target.gradient(&at, &mut gradient);
            if margin.0.iter().all(|&m| m < 0.0) {
                break;
            }
            for l in (0..LANES).filter(|&l| margin.0[l] >= 0.0) {
                let norm = target.problem().norm();
                let slope = norm.dual(&lane(&gradient, l));
                // Past the boundary also where the margin is exactly zero.
                let way = (margin.0[l] * (1.0 + self.overshoot) + 1e-12) / slope;
                if !way.is_finite() {
                    continue;
                }
                let steps = downwards(norm, &gradient, l);
                let point: Vec<f64> = lane(&at, l).iter().zip(steps).map(|(x, d)| x + way * d).collect();
                set_lane(&mut at, l, &point);
            }
        }
        refine(target, [at])
    }
}
