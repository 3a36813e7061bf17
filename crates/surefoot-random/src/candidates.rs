//! Random feasible actions.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::{Action, Kind, Problem};

use crate::Case;
use crate::definition::{cost, obstacle};
use crate::small::one;

/// How far actions without a limit are drawn, in standard deviations.
const FARTHEST: f64 = 12.0;

/// Feasible actions that cost less than `most`: random ones, ones at the ends of what is feasible, and
/// ones close to `near`.
pub(crate) fn draw(
    random: &mut ChaCha8Rng,
    case: &Case,
    problem: &Problem,
    individual: &[f64],
    most: f64,
    near: Option<&Action>,
    count: usize,
) -> Vec<Action> {
    let mut actions = Vec::new();
    for _ in 0..count {
        let mut action = match near {
            Some(near) if random.random_bool(0.5) => moved(random, case, near),
            _ => random_action(random, case, problem, individual, most),
        };
        cheapen(random, case, &mut action, most);
        if cost(case, &action) < most && obstacle(case, problem, individual, &action, 1e-9).is_none() {
            actions.push(action);
        }
    }
    actions
}

/// An action close to another, on the same features.
fn moved(random: &mut ChaCha8Rng, case: &Case, near: &Action) -> Action {
    let size = one(random, &[1e-3, 0.03, 0.3]);
    let change = near.features.iter().zip(&near.change).map(|(&i, &change)| match case.features[i].kind {
        Kind::Real if change != 0.0 && case.features[i].step.is_none() => {
            change * (1.0 + size * random.random_range(-1.0..1.0))
        }
        _ => change,
    });
    Action { features: near.features.clone(), change: change.collect() }
}

fn random_action(
    random: &mut ChaCha8Rng,
    case: &Case,
    problem: &Problem,
    individual: &[f64],
    most: f64,
) -> Action {
    let units = problem.features().actionable_units();
    let share = one(random, &[0.3, 0.6, 1.0]);
    let mut chosen: Vec<&Vec<usize>> = units.iter().filter(|_| random.random_bool(share)).collect();
    if chosen.is_empty() {
        chosen.push(&units[random.random_range(0..units.len())]);
    }
    let mut pairs: Vec<(usize, f64)> = Vec::new();
    for unit in chosen {
        if case.features[unit[0]].group.is_none() {
            pairs.push((unit[0], change(random, case, individual, unit[0], most)));
            continue;
        }
        let is_there = |i: usize| case.features[i].own_units(individual[i]).round() == 1.0;
        let to = one(random, unit);
        let from = unit.iter().copied().find(|&i| is_there(i));
        for &i in unit {
            let steps = match from {
                Some(from) if from != to && i == from => -1.0,
                Some(from) if from != to && i == to => 1.0,
                _ => 0.0,
            };
            pairs.push((i, steps / case.features[i].std));
        }
    }
    pairs.sort_by_key(|&(i, _)| i);
    let (features, change) = pairs.into_iter().unzip();
    Action { features, change }
}

/// A change of one feature within its limits and, where it is real, within what `most` pays for.
fn change(random: &mut ChaCha8Rng, case: &Case, individual: &[f64], i: usize, most: f64) -> f64 {
    let feature = &case.features[i];
    let reach = (most / feature.weight).min(FARTHEST);
    let (lower, upper) = feature.standardised_limits();
    let (low, high) =
        ((lower - individual[i]).max(-reach).min(0.0), (upper - individual[i]).min(reach).max(0.0));
    let (low, high) = match feature.change {
        surefoot::Change::Increase => (0.0, high),
        surefoot::Change::Decrease => (low, 0.0),
        _ => (low, high),
    };
    let change = match random.random_range(0..6) {
        0 => low * (1.0 - 1e-6),
        1 => high * (1.0 - 1e-6),
        2 => 0.0,
        _ => low + (high - low) * random.random_range(0.0..1.0),
    };
    let most = feature.most_change.min(feature.most_change_share * feature.own_units(individual[i]).abs());
    let change = change.clamp(-most / feature.std, most / feature.std);
    if let Some(step) = feature.step {
        return (feature.std * change / step).round() * step / feature.std;
    }
    match feature.kind {
        Kind::Real => change,
        Kind::Integer => (feature.std * change).round() / feature.std,
        Kind::Binary => {
            let now = feature.own_units(individual[i]).round();
            one(random, &[0.0, 1.0 - 2.0 * now]) / feature.std
        }
    }
}

/// Shrinks real changes until an action costs less than `most`; often only just.
fn cheapen(random: &mut ChaCha8Rng, case: &Case, action: &mut Action, most: f64) {
    if !most.is_finite() {
        return;
    }
    let aim = most * one(random, &[1.0 - 1e-6, 0.999, 0.98, 0.8]);
    for _ in 0..6 {
        let now = cost(case, action);
        if now < most {
            return;
        }
        for (&i, change) in action.features.iter().zip(&mut action.change) {
            if case.features[i].kind == Kind::Real && case.features[i].step.is_none() {
                *change *= aim / now;
            }
        }
    }
}
