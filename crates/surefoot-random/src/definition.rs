//! What an action is and when it holds, by definition: written anew, and evaluated by brute force.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::margin::{counterfactual, margin};
use surefoot::{Action, Change, Kind, LimitsOn, NormKind, Problem, essential};

use crate::Case;
use crate::draw::Forbid;

/// The size of a perturbation.
pub(crate) fn size(case: &Case, perturbation: &[f64]) -> f64 {
    let weighted = perturbation.iter().zip(&case.norm_weights).map(|(d, w)| (w * d).abs());
    match case.kind {
        NormKind::L1 => weighted.sum(),
        NormKind::L2 => weighted.map(|d| d * d).sum::<f64>().sqrt(),
        NormKind::Linf => weighted.fold(0.0, f64::max),
    }
}

/// The cost of an action.
pub(crate) fn cost(case: &Case, action: &Action) -> f64 {
    let weighted =
        action.features.iter().zip(&action.change).map(|(&i, c)| (case.features[i].weight * c).abs());
    match case.cost {
        surefoot::Cost::L1 => weighted.sum(),
        surefoot::Cost::L2 => weighted.map(|c| c * c).sum::<f64>().sqrt(),
    }
}

/// Scales a perturbation to a size, or to slightly less.
fn scaled(case: &Case, perturbation: &[f64], radius: f64) -> Vec<f64> {
    let now = size(case, perturbation);
    if now == 0.0 {
        return perturbation.to_vec();
    }
    let mut share = radius / now;
    loop {
        let result: Vec<f64> = perturbation.iter().map(|d| share * d).collect();
        if size(case, &result) <= radius {
            return result;
        }
        share *= 1.0 - f64::EPSILON;
    }
}

/// Perturbations of at most `radius`: none at all, the vertices of the ball, and random ones, most of
/// them on its boundary.
pub(crate) fn ball(random: &mut ChaCha8Rng, case: &Case, radius: f64, count: usize) -> Vec<Vec<f64>> {
    let width = case.features.len();
    let mut all = vec![vec![0.0; width]];
    if radius == 0.0 {
        return all;
    }
    for i in 0..width {
        for sign in [-1.0, 1.0] {
            let mut axis = vec![0.0; width];
            axis[i] = sign;
            all.push(scaled(case, &axis, radius));
        }
    }
    for mask in 0..1u32 << width {
        let corner = (0..width).map(|i| if mask >> i & 1 == 1 { 1.0 } else { -1.0 } / case.norm_weights[i]);
        all.push(scaled(case, &corner.collect::<Vec<_>>(), radius));
    }
    for _ in 0..count {
        let direction: Vec<f64> = (0..width).map(|_| random.random_range(-1.0..1.0f64).powi(3)).collect();
        let share = if random.random_bool(0.7) { 1.0 } else { random.random_range(0.0..1.0) };
        all.push(scaled(case, &direction, share * radius));
    }
    all
}

/// The margin under a perturbation; none where the perturbation concerns nobody.
fn margin_at(problem: &Problem, individual: &[f64], action: &Action, perturbation: &[f64]) -> Option<f64> {
    margin(problem, individual, action, perturbation).ok().filter(|margin| !margin.is_nan())
}

/// The worst perturbation that sampling and descent by finite differences find, with its margin.
pub(crate) fn worst(
    random: &mut ChaCha8Rng,
    case: &Case,
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    count: usize,
) -> (f64, Vec<f64>) {
    let mut tried: Vec<(f64, Vec<f64>)> = ball(random, case, case.epsilon, count)
        .into_iter()
        .filter_map(|d| Some((margin_at(problem, individual, action, &d)?, d)))
        .collect();
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    tried.truncate(3);
    let descended: Vec<_> =
        tried.iter().map(|start| descend(case, problem, individual, action, start.clone())).collect();
    tried.extend(descended);
    tried.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, Vec::new()))
}

fn descend(
    case: &Case,
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    mut best: (f64, Vec<f64>),
) -> (f64, Vec<f64>) {
    let at = |d: &[f64]| margin_at(problem, individual, action, d);
    let mut step = 0.5 * case.epsilon;
    for _ in 0..25 {
        let width = best.1.len();
        let difference = 1e-6 * case.epsilon;
        let slope = |i: usize| {
            let mut other = best.1.clone();
            other[i] += difference;
            at(&other).map_or(0.0, |margin| (margin - best.0) / difference)
        };
        let downhill: Vec<f64> = (0..width).map(|i| -slope(i) / case.norm_weights[i].powi(2)).collect();
        let largest = downhill.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
        if largest == 0.0 {
            break;
        }
        let mut next: Vec<f64> =
            best.1.iter().zip(&downhill).map(|(d, way)| d + step * way / largest).collect();
        problem.norm().project(&mut next, case.epsilon);
        if size(case, &next) > case.epsilon {
            next = scaled(case, &next, case.epsilon);
        }
        match at(&next) {
            Some(margin) if margin < best.0 => best = (margin, next),
            _ => step *= 0.4,
        }
    }
    best
}

/// Why an action may not be taken, if so. `room` is how far, relative to the numbers involved, it must
/// stay within limits and constraints; negative: how far it may exceed them.
pub(crate) fn obstacle(
    case: &Case,
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    room: f64,
) -> Option<String> {
    let own = |i: usize| case.features[i].own_units(individual[i]);
    for (&i, &change) in action.features.iter().zip(&action.change) {
        let feature = &case.features[i];
        let by = feature.std * change;
        let allowed = match feature.change {
            Change::Fixed => false,
            Change::Any => true,
            Change::Increase => change >= 0.0,
            Change::Decrease => change <= 0.0,
        };
        let to = own(i) + by;
        let slack = room * (feature.mean.abs() + own(i).abs() + by.abs() + feature.std);
        // No change is allowed to everybody, also to those whom rounding puts outside the limits.
        let is_within = change == 0.0 || to >= feature.lower + slack && to <= feature.upper - slack;
        let is_integer = feature.kind == Kind::Real || (by - by.round()).abs() < 1e-9 * by.abs().max(1.0);
        let steps = feature.step.map_or(0.0, |step| by / step);
        if (steps - steps.round()).abs() > 1e-9 * steps.abs().max(1.0) {
            return Some(format!(
                "{} may not change by {by}, which is no multiple of its step",
                feature.name
            ));
        }
        // Whole numbers and steps reach the largest change exactly, or not at all.
        let most = feature.most_change.min(feature.most_change_share * own(i).abs());
        let is_exact = feature.step.is_some() || feature.kind != Kind::Real;
        if by.abs()
            > if is_exact { most + 1e-9 * (most.abs() + feature.mean.abs() * 1e-3) } else { most - slack }
        {
            return Some(format!("{} may not change by {by}, only by {most}", feature.name));
        }
        let is_binary = feature.kind != Kind::Binary || [0.0, 1.0].contains(&to.round());
        if !(allowed && is_integer && is_binary && (is_within || feature.kind != Kind::Real)) {
            return Some(format!("{} may not change by {by}, from {} to {to}", feature.name, own(i)));
        }
        let whole = to.round();
        if feature.kind == Kind::Integer
            && change != 0.0
            && !(whole >= feature.lower && whole <= feature.upper)
        {
            return Some(format!("{} would become {whole}", feature.name));
        }
    }
    if let Some(transition) = forbidden_transition(case, individual, action) {
        return Some(transition);
    }
    if let Some(together) = together(case, problem, action) {
        return Some(together);
    }
    let reached = match counterfactual(problem, individual, action, &vec![0.0; individual.len()]) {
        Ok(reached) => reached,
        Err(error) => return Some(error.to_string()),
    };
    if case.limits_on == LimitsOn::Outcome {
        for (i, feature) in case.features.iter().enumerate() {
            let to = feature.own_units(reached[i]);
            let slack = room * (feature.mean.abs() + to.abs() + feature.std);
            let is_within = to >= feature.lower + slack && to <= feature.upper - slack;
            if reached[i] != individual[i] && !action.features.contains(&i) && !is_within {
                return Some(format!("{} would become {to}", feature.name));
            }
        }
    }
    for rule in &case.rules {
        let terms = rule.terms.iter().map(|&(i, c)| c * case.features[i].own_units(reached[i]));
        let scale = terms.clone().map(f64::abs).sum::<f64>()
            + rule.least.abs()
            + rule.terms.iter().map(|&(i, c)| (c * case.features[i].mean).abs()).sum::<f64>();
        let value = terms.sum::<f64>() - rule.least;
        if value < room * scale {
            return Some(format!("constraint {rule:?} has the value {value}"));
        }
    }
    None
}

/// Things that an action changes or holds together, if that is not allowed. A group counts once.
fn together(case: &Case, problem: &Problem, action: &Action) -> Option<String> {
    let group = |i: usize| case.features[i].group.as_ref();
    let is_same = |i: usize, j: usize| i == j || group(i).is_some() && group(i) == group(j);
    let mut things: Vec<usize> = Vec::new();
    for i in essential(problem, action).features {
        if !things.iter().any(|&j| is_same(i, j)) {
            things.push(i);
        }
    }
    let is_listed = |list: &[usize], i: usize| list.iter().any(|&j| is_same(i, j));
    let of = |list: &Vec<usize>| things.iter().filter(|&&i| is_listed(list, i)).count();
    let is_much = case.most_changes.is_some_and(|most| things.len() > most);
    (is_much || case.one_of.iter().any(|list| of(list) > 1))
        .then(|| format!("{things:?} may not change together"))
}

/// A move of a group that leads to no single category, or a transition that is forbidden.
fn forbidden_transition(case: &Case, individual: &[f64], action: &Action) -> Option<String> {
    let own = |i: usize| case.features[i].own_units(individual[i]).round();
    let after = |i: usize| {
        let place = action.features.iter().position(|&named| named == i);
        own(i) + place.map_or(0.0, |place| (case.features[i].std * action.change[place]).round())
    };
    for columns in case.groups() {
        if columns.iter().filter(|&&i| after(i) == 1.0).count() != 1
            || columns.iter().any(|&i| ![0.0, 1.0].contains(&after(i)))
        {
            return Some(format!("columns {columns:?} would have no single category"));
        }
    }
    let names = |list: &[f64], value: f64| list.is_empty() || list.contains(&value);
    for rule in &case.forbidden {
        let is_made = match rule {
            Forbid::Values { feature, from, to } => {
                let (before, after) = (own(*feature), after(*feature));
                before != after && names(from, before) && names(to, after)
            }
            Forbid::Categories { from, to } => {
                let is_left = |i: usize| own(i) == 1.0 && after(i) == 0.0;
                let is_entered = |i: usize| own(i) == 0.0 && after(i) == 1.0;
                let columns = case.groups().into_iter().find(|columns| columns.contains(&to[0])).unwrap();
                let any_left = columns.iter().any(|&i| is_left(i) && (from.is_empty() || from.contains(&i)));
                any_left && to.iter().any(|&i| is_entered(i))
            }
        };
        if is_made {
            return Some(format!("{rule:?} forbids it"));
        }
    }
    None
}
