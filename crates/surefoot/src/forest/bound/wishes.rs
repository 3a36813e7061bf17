//! What trees wish: the cuts that changes must cross so that the best affordable leaves are reached.

use super::{Bounder, Mode, Scenario, Sides, Wish};
use crate::forest::Scene;

impl Bounder {
    /// What the trees wish at the price that [`Bounder::price`] returned, compared with the cheapest action.
    pub fn wishes(&mut self, scene: &Scene<'_>, sides: &Sides, scenario: &Scenario, wishes: &mut Vec<Wish>) {
        wishes.clear();
        let best = std::mem::take(&mut self.best);
        let first = Sides { lower: self.cheapest.clone(), upper: self.cheapest.clone() };
        self.prepare(scene, &first, scenario, f64::INFINITY);
        let now: Vec<f64> = (0..best.len())
            .map(|tree| {
                self.events.clear();
                self.visit(scene, scene.forest.roots[tree], tree as u32, 0.0, 0.0);
                self.events.iter().map(|event| event.value).fold(f64::NEG_INFINITY, f64::max)
            })
            .collect();
        self.prepare(scene, sides, scenario, f64::INFINITY);
        for (tree, event) in best.iter().enumerate() {
            let gain = event.value - now[tree];
            if gain > 0.0 && gain.is_finite() {
                let mut path = Vec::new();
                self.most = event.price * (1.0 + 1e-9) + 1e-12;
                self.path(scene, scene.forest.roots[tree], event.value, &mut path);
                wishes.extend(path.into_iter().map(|(k, is_up, at)| Wish { k, is_up, at, gain }));
            }
        }
        self.best = best;
    }

    /// Finds a leaf of the same value and price again, and what its path asks of the changes.
    fn path(&mut self, scene: &Scene<'_>, at: u32, value: f64, path: &mut Vec<(usize, bool, f64)>) -> bool {
        let node = scene.forest.nodes[at as usize];
        let Some(feature) = node.feature() else { return node.number == value };
        self.visited += 1;
        let depth = path.len();
        for is_left in [true, false] {
            let child = if is_left { node.left } else { node.right };
            match self.modes[feature] {
                Mode::Still { value: input, slack } => {
                    let goes =
                        if is_left { input - slack <= node.number } else { input + slack > node.number };
                    if goes && self.path(scene, child, value, path) {
                        return true;
                    }
                }
                Mode::Own { k, .. } => {
                    let (goes_left, goes_right, cut) = self.own_sides(scene, feature, node.number);
                    if !(if is_left { goes_left } else { goes_right }) {
                        continue;
                    }
                    let old = (self.lower[k], self.upper[k]);
                    if is_left {
                        self.upper[k] = old.1.min(cut)
                    } else {
                        self.lower[k] = old.0.max(cut)
                    }
                    let cheapest = self.cheapest[k];
                    let nearest = cheapest.max(self.lower[k]).min(self.upper[k]);
                    if nearest != cheapest && (cheapest > cut) == is_left {
                        path.push((k, !is_left, cut));
                    }
                    let extra = scene.price(k, nearest) - scene.price(k, cheapest);
                    let found = extra <= self.most && self.path(scene, child, value, path);
                    (self.lower[k], self.upper[k]) = old;
                    if found {
                        return true;
                    }
                }
                Mode::Ranged { first, steepness, .. } => {
                    let (lower, upper) = self.ranges[feature];
                    if if is_left { lower > node.number } else { upper <= node.number } {
                        continue;
                    }
                    self.ranges[feature] = if is_left {
                        (lower, upper.min(node.number))
                    } else {
                        (lower.max(node.number), upper)
                    };
                    let distance = if is_left { first - node.number } else { node.number - first };
                    if distance > 0.0 {
                        path.extend(steepest(scene, feature, is_left, distance, &self.cheapest));
                    }
                    let price = (distance.max(0.0) / steepness).powi(if scene.is_squared { 2 } else { 1 });
                    let found = price <= self.most && self.path(scene, child, value, path);
                    self.ranges[feature] = (lower, upper);
                    if found {
                        return true;
                    }
                }
            }
            path.truncate(depth);
        }
        false
    }
}

/// The change that moves an input most for its price, and where it would be after a distance.
fn steepest(
    scene: &Scene<'_>,
    feature: usize,
    is_down: bool,
    distance: f64,
    from: &[f64],
) -> Option<(usize, bool, f64)> {
    let worth = |&(k, effect): &(usize, f64)| effect.abs() / scene.prices[k];
    let effects = scene.effects[feature].iter().copied();
    let (k, effect) = effects.max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
    let is_up = (effect > 0.0) != is_down;
    let way = distance / effect.abs();
    Some((k, is_up, if is_up { from[k] + way } else { from[k] - way }))
}
