//! The weights by which actions are ruled out where the worst case over uncertain weights is only bounded.

use super::{Fault, Stop};
use crate::{Problem, Result};

/// A share of a radius that covers the rounding of a weight at its end.
const ROUNDING: f64 = 1e-12;

/// The problem with weights that rule actions out, each of which must be within its radius of the trained one. `None`
/// where the score is the exact worst case, or no weights are uncertain.
pub(super) fn for_ruling_out(problem: &Problem, individual: &[f64]) -> Result<Option<Problem>, Stop> {
    let Some(ruling_out) = problem.for_ruling_out(individual)? else { return Ok(None) };
    let (trained, member) = (problem.classifier().dense(), ruling_out.classifier().dense());
    let (Some(uncertainty), Some(trained), Some(member)) =
        (problem.classifier().weight_uncertainty(), trained, member)
    else {
        return Ok(None);
    };
    for (layer, other) in trained.layers.iter().zip(&member.layers) {
        let weights = layer.weight.iter().zip(&other.weight);
        for (&trained, &weight) in weights.chain(layer.bias.iter().zip(&other.bias)) {
            let radius = uncertainty.radius(trained);
            if !((weight - trained).abs() <= radius + ROUNDING * (radius + trained.abs())) {
                return Err(Stop::Wrong(Fault::Weights { weight, trained, radius }));
            }
        }
    }
    Ok(Some(ruling_out))
}
