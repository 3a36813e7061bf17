//! How the inputs of a forest follow from an action in a scenario.

use super::{Mode, SLACK, SLACK_OF_EFFECTS, Scenario, Sides};
use crate::forest::Scene;

/// The deviation of an input from its centre, over the box, and how it follows the changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Deviation {
    lower: f64,
    upper: f64,
    /// At the cheapest action, and without any change.
    first: f64,
    zero: f64,
    /// The most by which a unit of each change moves it.
    slopes: Vec<(usize, f64)>,
}

/// How an input follows from the action, and its deviation.
pub(super) fn mode(
    scene: &Scene<'_>,
    sides: &Sides,
    cheapest: &[f64],
    scenario: &Scenario,
    i: usize,
    deviations: &[Deviation],
) -> (Mode, Deviation) {
    let (mut lower, mut upper, mut first) = (scene.x[i], scene.x[i], scene.x[i]);
    for &(k, effect) in &scene.effects[i] {
        let (a, b) = (effect * sides.lower[k], effect * sides.upper[k]);
        (lower, upper, first) = (lower + a.min(b), upper + a.max(b), first + effect * cheapest[k]);
    }
    let mut from = Deviation::default();
    for &(j, c) in &scene.causes[i] {
        let (a, b) = (c * deviations[j].lower, c * deviations[j].upper);
        from.lower += a.min(b);
        from.upper += a.max(b);
        from.first += c * deviations[j].first;
        from.zero += c * deviations[j].zero;
        from.slopes.extend(deviations[j].slopes.iter().map(|&(k, slope)| (k, slope * c.abs())));
    }
    let (pivot, radius) = match scene.live[i] {
        true => (scenario.pivot[i], scenario.radii[i]),
        false => (0.0, 0.0),
    };
    let towards = |value: f64| if scene.live[i] { (pivot - value).clamp(-radius, radius) } else { 0.0 };
    let slack = if scene.exact[i] { 0.0 } else { SLACK * (1.0 + scene.x[i].abs()) };
    let is_own =
        scene.effects[i].len() == 1 && scene.set[scene.effects[i][0].0] == i && from.lower == from.upper;
    let deviation = match scene.live[i] {
        false => Deviation::default(),
        true => {
            let mut slopes = from.slopes.clone();
            if radius > 0.0 {
                slopes.extend(scene.effects[i].iter().map(|&(k, effect)| (k, effect.abs())));
            }
            Deviation {
                lower: from.lower + towards(upper + from.lower),
                upper: from.upper + towards(lower + from.upper),
                first: from.first + towards(first + from.first),
                zero: from.zero + towards(scene.x[i] + from.zero),
                slopes,
            }
        }
    };
    if lower == upper && from.lower == from.upper {
        let value = lower + from.lower + towards(lower + from.lower);
        let follows =
            if scene.causes[i].is_empty() { 0.0 } else { SLACK_OF_EFFECTS * (1.0 + scene.x[i].abs()) };
        return (Mode::Still { value, slack: scene.slack(i, value) + follows }, deviation);
    }
    if is_own {
        let shift = scene.x[i] + from.lower;
        let exact = scene.exact[i];
        return (Mode::Own { k: scene.effects[i][0].0, shift, pivot, radius, slack, exact }, deviation);
    }
    let end = |value: f64| value + towards(value);
    let mut by_change = vec![0.0; cheapest.len()];
    for (k, slope) in from.slopes.iter().copied().chain(scene.effects[i].iter().map(|&(k, e)| (k, e.abs()))) {
        by_change[k] += slope;
    }
    let worth = by_change.iter().zip(&scene.prices).map(|(slope, price)| slope / price);
    let steepness = match scene.is_squared {
        false => worth.fold(0.0, f64::max),
        true => worth.map(|worth| worth * worth).sum::<f64>().sqrt(),
    };
    let room = SLACK_OF_EFFECTS * (1.0 + scene.x[i].abs());
    let mode = Mode::Ranged {
        lower: end(lower + from.lower) - room,
        upper: end(upper + from.upper) + room,
        first: end(first + from.first),
        zero: end(scene.x[i] + from.zero),
        steepness: steepness * (1.0 + 1e-12),
    };
    (mode, deviation)
}
