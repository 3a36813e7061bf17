//! Confirms the results of attacks by the definition of the margin.
//!
//! Attacks evaluate margins in another order of summation than the definition. A perturbation that barely
//! crosses the decision boundary in one may not cross it in the other, so it is scaled up until the
//! definition agrees.

use super::{Break, within_clips};
use crate::margin::{attained_margin, counterfactual, shifts};
use crate::{Action, Problem};

/// Shares by which a perturbation is scaled up until it breaks the action. The first ones match rounding
/// errors relative to the perturbation. The others are needed if the action ends on the boundary, so that
/// the perturbation itself is no larger than a rounding error.
const GROWTH: [f64; 18] =
    [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e6, 1e8];
/// Growth up to this share is tried for perturbations of any size.
const SMALL_GROWTH: f64 = 1e-2;
/// If the uncertainty is smaller, a perturbation may still grow up to this size, in standardised units:
/// it is then no larger than a rounding error in the data.
const NEGLIGIBLE: f64 = 1e-6;
/// The number of bisection steps between a multiple that does not break the action and one that does.
const HALVINGS: usize = 50;

/// Turns a perturbation that breaks an action in a problem with one variant, or nearly does, into a break: the perturbation itself, or
/// the smallest of a few multiples that breaks the action. None is larger than `limit`.
///
/// If there is no limit, and there is no break or only one beyond the uncertainty, the perturbation
/// scaled to the uncertainty is tried as well. So an action that breaks within the uncertainty along this
/// direction is reported as such.
pub(super) fn confirm(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    perturbation: &[f64],
    limit: f64,
) -> Option<Break> {
    let ray = Ray { problem, individual, action, direction: perturbation };
    let found = ray.grown(limit);
    let uncertainty = problem.uncertainty();
    if found.as_ref().is_some_and(|found| uncertainty.includes(found.size)) || uncertainty.includes(limit) {
        return found;
    }
    ray.within_uncertainty().or(found)
}

/// The multiples of a perturbation.
pub(super) struct Ray<'a> {
    pub problem: &'a Problem,
    pub individual: &'a [f64],
    pub action: &'a Action,
    pub direction: &'a [f64],
}

impl Ray<'_> {
    /// The break at a multiple no larger than `limit`, evaluated by the definition. A perturbation that
    /// concerns nobody breaks nothing.
    fn at(&self, share: f64, limit: f64) -> Option<Break> {
        let scaled = self.direction.iter().map(|d| d * share).collect();
        let mut perturbation = within_clips(self.problem, self.individual, scaled);
        self.problem.uncertainty().norm().shrink(&mut perturbation, limit);
        let margin = attained_margin(self.problem, self.individual, self.action, &perturbation).ok()?;
        let counterfactual = counterfactual(self.problem, self.individual, self.action, &perturbation).ok();
        let size = self.problem.uncertainty().size(&perturbation);
        if !(margin < 0.0 && size.is_finite()) {
            return None;
        }
        let shift = shifts(self.problem, self.individual, &perturbation).ok()?;
        let is_within = self.problem.uncertainty().includes(size);
        Some(Break { variant: 0, perturbation, shift, size, is_within, counterfactual, margin })
    }

    fn grown(&self, limit: f64) -> Option<Break> {
        let uncertainty = self.problem.uncertainty();
        let size = uncertainty.size(self.direction);
        let most = uncertainty.radius().max(NEGLIGIBLE);
        let mut without = 0.0;
        for growth in GROWTH {
            let share = 1.0 + growth;
            if growth > SMALL_GROWTH && size * share > most {
                return None;
            }
            if let Some(found) = self.at(share, limit) {
                let is_close = growth < 10.0 * SMALL_GROWTH;
                return Some(if is_close { found } else { self.shrunk(without, share, found) });
            }
            without = share;
        }
        None
    }

    /// The smallest break found along the direction among perturbations within the uncertainty.
    pub fn within_uncertainty(&self) -> Option<Break> {
        let uncertainty = self.problem.uncertainty();
        let share = uncertainty.radius() / uncertainty.size(self.direction);
        if !share.is_finite() {
            return None;
        }
        Some(self.shrunk(0.0, share, self.at(share, uncertainty.radius())?))
    }

    /// The smallest break that bisection finds between a multiple that does not break the action and
    /// one that does.
    fn shrunk(&self, mut without: f64, mut with: f64, mut found: Break) -> Break {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (without + with);
            match self.at(middle, found.size) {
                Some(smaller) => (with, found) = (middle, smaller),
                None => without = middle,
            }
            if with - without <= 1e-12 * with {
                break;
            }
        }
        found
    }
}
