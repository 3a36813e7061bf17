//! The smallest break of an action in a linear problem, in closed form.

use super::{Attack, Target, downwards, set_lane};
use crate::Problem;
use crate::network::{LANES, Lanes};

/// The nearest point of the decision boundary. For a margin `m + g.D` it has the size `m / ||g||*`
/// (`||.||*`: the dual norm), in the direction in which the margin decreases most.
pub(super) struct Linear;

/// A margin below this counts as zero.
const SMALLEST_MARGIN: f64 = f64::EPSILON;

impl Linear {
    /// Whether classifier and causal model are linear, and nothing but a shift within the ball is uncertain.
    pub fn knows(problem: &Problem) -> bool {
        problem.joint().is_none()
            && problem.classifier().coefficients().is_ok()
            && problem.scm().is_none_or(|scm| scm.coefficients().is_ok())
    }
}

impl Attack for Linear {
    fn perturb(&self, target: &mut Target<'_, '_>) -> Vec<Lanes> {
        let mut nearest = target.zero();
        let mut gradient = target.zero();
        let margin = target.gradient(&target.zero(), &mut gradient);
        for l in (0..LANES).filter(|&l| margin.0[l] >= 0.0) {
            let norm = target.uncertainty().norm();
            let slope = norm.dual(&super::lane(&gradient, l));
            let way = margin.0[l].max(SMALLEST_MARGIN) / slope;
            if way.is_finite() {
                let point: Vec<f64> = downwards(norm, &gradient, l).iter().map(|d| way * d).collect();
                set_lane(&mut nearest, l, &point);
            }
        }
        nearest
    }
}
