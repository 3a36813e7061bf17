//! Where a box of actions is divided.

use super::super::actions::Actions;
use crate::forest::{Cell, Scenario, Scene, Sides, Wish};

/// A point between two ends, one of which may be infinite.
pub(super) fn middle(lower: f64, upper: f64) -> f64 {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) => 0.5 * (lower + upper),
        (true, false) => {
            if lower < 1.0 {
                2.0
            } else {
                2.0 * lower
            }
        }
        (false, true) => {
            if upper > -1.0 {
                -2.0
            } else {
                2.0 * upper
            }
        }
        (false, false) => 0.0,
    }
}

/// The cheapest change at which a cell is left, if it divides the box.
pub(super) fn edge(
    scene: &Scene<'_>,
    cell: &Cell,
    scenario: &Scenario,
    sides: &Sides,
    actions: &Actions<'_>,
) -> Option<(usize, f64)> {
    let cheapest = sides.cheapest();
    let mut least: Option<(f64, usize, f64)> = None;
    for (k, &i) in scene.set.iter().enumerate() {
        let radius = if scene.live[i] { scenario.radii[i] } else { 0.0 };
        for at in [cell.upper[i] + radius - scene.x[i], cell.lower[i] - radius - scene.x[i]] {
            let price = scene.prices[k] * (at - cheapest[k]).abs();
            if actions.divides(sides, k, at) && least.is_none_or(|(cheapest, ..)| price < cheapest) {
                least = Some((price, k, at));
            }
        }
    }
    least.map(|(_, k, at)| (k, at))
}

/// Where most gain lies: the weighted median of the cuts of the change and direction with the greatest gain.
pub(super) fn median(
    wishes: &[Wish],
    sides: &Sides,
    actions: &Actions<'_>,
    prices: &[f64],
    taste: Option<usize>,
) -> Option<(usize, f64)> {
    let cheapest = sides.cheapest();
    let weight = |wish: &Wish| match taste {
        Some(dive) if dive > 0 => {
            let jitter = 0.3
                + ((dive * 31 + 2 * wish.k + usize::from(wish.is_up)) as f64 * 0.618_033_988_749_895).fract();
            let price = prices[wish.k] * (wish.at - cheapest[wish.k]).abs() + 1e-3;
            jitter * wish.gain / if dive % 3 == 0 { 1.0 } else { price }
        }
        _ => wish.gain,
    };
    let inside = |wish: &&Wish| actions.divides(sides, wish.k, wish.at);
    let mut votes = vec![[0.0; 2]; sides.lower.len()];
    for wish in wishes.iter().filter(inside) {
        votes[wish.k][usize::from(wish.is_up)] += weight(wish);
    }
    let mut most = (0.0, None);
    for (k, vote) in votes.iter().enumerate() {
        for (up, &gain) in vote.iter().enumerate() {
            if gain > most.0 {
                most = (gain, Some((k, up == 1)));
            }
        }
    }
    let (k, is_up) = most.1?;
    let mut cuts: Vec<(f64, f64)> = wishes
        .iter()
        .filter(inside)
        .filter(|wish| wish.k == k && wish.is_up == is_up)
        .map(|wish| (wish.at, weight(wish)))
        .collect();
    cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    for &(at, gain) in &cuts {
        sum += gain;
        if sum >= 0.5 * most.0 {
            return Some((k, at));
        }
    }
    cuts.last().map(|&(at, _)| (k, at))
}
