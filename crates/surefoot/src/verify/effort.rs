//! The changes that limits, directions and largest changes leave to an individual, in the checker.

use super::cover::Sides;
use crate::{Change, Kind, Problem};

/// The least and the greatest change of a feature that an action may make. Of a feature that changes by steps both are
/// ends between which every step that is allowed lies: the steps themselves are counted by
/// [`Cells`](super::integer::Cells).
pub(super) fn allowed_change(problem: &Problem, individual: &[f64], i: usize) -> (f64, f64) {
    let feature = problem.features().feature(i);
    let (std, value) = (feature.std, individual[i]);
    let from = feature.mean + std * value;
    let from = if feature.kind == Kind::Real { from } else { from.round() };
    let most = match feature.most_change_share {
        share if share.is_finite() => (share * from.abs()).min(feature.most_change),
        _ => feature.most_change,
    };
    let ends = match (feature.kind, feature.step) {
        (Kind::Real, None) => {
            let limits = ((feature.lower - feature.mean) / std, (feature.upper - feature.mean) / std);
            ((limits.0 - value).max(-(most / std)), (limits.1 - value).min(most / std))
        }
        (kind, step) => {
            let step = step.unwrap_or(1.0);
            let (lower, upper) = match kind {
                Kind::Binary => (feature.lower.max(0.0), feature.upper.min(1.0)),
                Kind::Real | Kind::Integer => (feature.lower, feature.upper),
            };
            // Limits, and what may be changed at most, are reached up to the rounding of units.
            let room = |limit: f64| match kind {
                _ if limit.is_infinite() => 0.0,
                Kind::Real => 16.0 * f64::EPSILON * (feature.mean.abs() + from.abs() + limit.abs()),
                Kind::Integer | Kind::Binary => 1e-9 * limit.abs().max(1.0),
            };
            let room_of_most = if most.is_finite() {
                16.0 * f64::EPSILON * (feature.mean.abs() + from.abs() + most)
            } else {
                0.0
            };
            let down = (lower - room(lower) - from).max(-(most + room_of_most));
            let up = (upper + room(upper) - from).min(most + room_of_most);
            ((down / step).ceil() / (std / step), (up / step).floor() / (std / step))
        }
    };
    let (down, up) = (ends.0.min(0.0), ends.1.max(0.0));
    match feature.change {
        Change::Fixed => (0.0, 0.0),
        Change::Any => (down, up),
        Change::Increase => (0.0, up),
        Change::Decrease => (down, 0.0),
    }
}

/// The box of the changes of some features.
pub(super) fn allowed_changes(problem: &Problem, individual: &[f64], features: &[usize]) -> Sides {
    features.iter().map(|&i| allowed_change(problem, individual, i)).unzip()
}
