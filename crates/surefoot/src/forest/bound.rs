//! Lower bounds of the cost of actions in a box that withstand one scenario.
//!
//! A scenario is a rule by which the adversary answers every action: it moves each live feature towards a
//! pivot, by at most a radius. So the inputs of the forest are monotone in the action, and every leaf has a
//! least price in the box. The sum over trees of the best leaf that a price affords bounds the score from
//! above. The least price at which that is not negative bounds the cost from below.

mod mode;
mod wishes;

use mode::{Deviation, mode};

use super::scene::Scene;

/// An answer of the adversary to every action: each live feature moves towards `pivot`, by at most `radii`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scenario {
    pub pivot: Vec<f64>,
    pub radii: Vec<f64>,
}

/// A box of changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sides {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl Sides {
    /// The cheapest change, integers and categories apart.
    pub fn cheapest(&self) -> Vec<f64> {
        self.lower.iter().zip(&self.upper).map(|(&l, &u)| 0.0f64.clamp(l, u)).collect()
    }
}

/// Room for rounding in scenarios, relative to `1 + |x|`. The adversary can move every live feature by that
/// much more, because the radii of a scenario leave as much unused.
pub(crate) const SLACK: f64 = 1e-10;

/// The same for an input that follows others: what causes are moved within their slack moves it as well.
const SLACK_OF_EFFECTS: f64 = 1e-8;

/// How one input follows from the action in a scenario.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// It has one value, or is within a slack of it.
    Still { value: f64, slack: f64 },
    /// It follows one change: at most a threshold iff the change is at most `cut`.
    Own { k: usize, shift: f64, pivot: f64, radius: f64, slack: f64, exact: bool },
    /// It follows several changes; `first` is its value at the cheapest action of the box, `zero` without any
    /// change (from where squares are counted, so that parts of a box inherit its bound), `steepness` the most by which a unit of price moves it.
    Ranged { lower: f64, upper: f64, first: f64, zero: f64, steepness: f64 },
}

/// A leaf with its price.
#[derive(Clone, Copy, Debug)]
struct Event {
    price: f64,
    tree: u32,
    value: f64,
}

/// The workspace of bounds.
#[derive(Debug, Default)]
pub(crate) struct Bounder {
    modes: Vec<Mode>,
    /// The part of the box on the path, for each change.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The range on the path of inputs that follow several changes.
    ranges: Vec<(f64, f64)>,
    /// What each change on the path costs more than in the cheapest action.
    extra: Vec<f64>,
    cheapest: Vec<f64>,
    /// The price of the cheapest action.
    spent: f64,
    events: Vec<Event>,
    best: Vec<Event>,
    /// The most that the price may be.
    most: f64,
    visited: usize,
}

/// A wish of a tree: the change `k` beyond a cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wish {
    pub k: usize,
    pub is_up: bool,
    pub at: f64,
    pub gain: f64,
}

impl Bounder {
    /// The number of nodes visited so far.
    pub fn visited(&self) -> usize {
        self.visited
    }

    /// The least price, beyond that of the cheapest action of the box, of an action that withstands the
    /// scenario; infinite if that is more than `most`.
    pub fn price(&mut self, scene: &Scene<'_>, sides: &Sides, scenario: &Scenario, most: f64) -> f64 {
        self.prepare(scene, sides, scenario, most);
        self.events.clear();
        for tree in 0..scene.forest.roots.len() {
            self.visit(scene, scene.forest.roots[tree], tree as u32, 0.0, 0.0);
        }
        self.sweep(scene)
    }

    /// The least price at which the sum of the best leaves is not negative.
    fn sweep(&mut self, scene: &Scene<'_>) -> f64 {
        self.events.sort_unstable_by(|a, b| a.price.total_cmp(&b.price).then(a.tree.cmp(&b.tree)));
        let trees = scene.forest.roots.len();
        self.best.clear();
        let nothing = |tree| Event { price: 0.0, tree, value: f64::NEG_INFINITY };
        self.best.extend((0..trees as u32).map(nothing));
        let mut missing = trees;
        let mut sum = scene.forest.start;
        for event in &self.events {
            let best = &mut self.best[event.tree as usize];
            if event.value <= best.value {
                continue;
            }
            if best.value == f64::NEG_INFINITY {
                missing -= 1;
                sum += event.value;
            } else {
                sum += event.value - best.value;
            }
            *best = *event;
            if missing == 0 && sum >= -2.0 * scene.forest.rounding {
                return event.price;
            }
        }
        f64::INFINITY
    }

    fn prepare(&mut self, scene: &Scene<'_>, sides: &Sides, scenario: &Scenario, most: f64) {
        self.most = most * (1.0 + 1e-12);
        self.lower.clone_from(&sides.lower);
        self.upper.clone_from(&sides.upper);
        self.cheapest = sides.cheapest();
        self.spent = scene.spent(&self.cheapest);
        self.extra.clear();
        self.extra.resize(sides.lower.len(), 0.0);
        let n = scene.x.len();
        self.modes.clear();
        self.modes.resize(n, Mode::Still { value: 0.0, slack: 0.0 });
        self.ranges.clear();
        self.ranges.resize(n, (f64::NEG_INFINITY, f64::INFINITY));
        let mut deviations = vec![Deviation::default(); n];
        for &i in &scene.order {
            (self.modes[i], deviations[i]) = mode(scene, sides, &self.cheapest, scenario, i, &deviations);
            if let Mode::Ranged { lower, upper, .. } = self.modes[i] {
                self.ranges[i] = (lower, upper);
            }
        }
    }

    /// Records the leaves below a node that an action within the budget reaches. `own` is the sum of prices
    /// of changes that are needed on the path, `ranged` the greatest price that an input which follows several
    /// changes needs.
    fn visit(&mut self, scene: &Scene<'_>, at: u32, tree: u32, own: f64, ranged: f64) {
        self.visited += 1;
        let node = scene.forest.nodes[at as usize];
        let Some(feature) = node.feature() else {
            self.events.push(Event { price: own.max(ranged), tree, value: node.number });
            return;
        };
        match self.modes[feature] {
            Mode::Still { value, slack } => {
                if value - slack <= node.number {
                    self.visit(scene, node.left, tree, own, ranged);
                }
                if value + slack > node.number {
                    self.visit(scene, node.right, tree, own, ranged);
                }
            }
            Mode::Own { k, .. } => {
                let (left, right, cut) = self.own_sides(scene, feature, node.number);
                let old = (self.lower[k], self.upper[k], self.extra[k]);
                if left {
                    self.upper[k] = old.1.min(cut);
                    self.descend_own(scene, k, node.left, tree, own - old.2, ranged);
                    (self.lower[k], self.upper[k], self.extra[k]) = old;
                }
                if right {
                    self.lower[k] = old.0.max(cut);
                    self.descend_own(scene, k, node.right, tree, own - old.2, ranged);
                    (self.lower[k], self.upper[k], self.extra[k]) = old;
                }
            }
            Mode::Ranged { first, zero, steepness, .. } => {
                let (lower, upper) = self.ranges[feature];
                let room = 2.0 * SLACK_OF_EFFECTS * (1.0 + first.abs());
                let spent = self.spent;
                let needed = |sign: f64| {
                    let way = |from: f64| (sign * (node.number - from) - room).max(0.0) / steepness;
                    match scene.is_squared {
                        false => way(first),
                        true => (way(zero).powi(2) * (1.0 - 1e-12) - spent).max(0.0),
                    }
                };
                if lower <= node.number {
                    let ranged = ranged.max(needed(-1.0));
                    if ranged <= self.most {
                        self.ranges[feature].1 = upper.min(node.number);
                        self.visit(scene, node.left, tree, own, ranged);
                    }
                }
                if upper > node.number {
                    let ranged = ranged.max(needed(1.0));
                    if ranged <= self.most {
                        self.ranges[feature] = (lower.max(node.number), upper);
                        self.visit(scene, node.right, tree, own, ranged);
                    }
                }
                self.ranges[feature] = (lower, upper);
            }
        }
    }

    /// Whether changes on the path lead to the left and to the right of a threshold, and where they part.
    #[inline]
    fn own_sides(&self, scene: &Scene<'_>, feature: usize, threshold: f64) -> (bool, bool, f64) {
        let Mode::Own { k, shift, pivot, radius, slack, exact } = self.modes[feature] else {
            return (true, true, 0.0);
        };
        let (lower, upper) = (self.lower[k], self.upper[k]);
        let cut = if pivot <= threshold { threshold + radius - shift } else { threshold - radius - shift };
        if exact {
            let x = scene.x[feature];
            return (x + lower <= threshold, x + upper > threshold, exact_cut(x, threshold));
        }
        if upper - lower < 2.0 * slack {
            let is_left = 0.5 * (lower + upper) <= cut;
            return (is_left, !is_left, cut);
        }
        (lower + slack <= cut, upper - slack > cut, cut)
    }

    fn descend_own(&mut self, scene: &Scene<'_>, k: usize, child: u32, tree: u32, others: f64, ranged: f64) {
        let nearest = self.cheapest[k].max(self.lower[k]).min(self.upper[k]);
        self.extra[k] = (scene.price(k, nearest) - scene.price(k, self.cheapest[k])).max(0.0);
        let own = others + self.extra[k];
        if own * (1.0 - 1e-12) <= self.most {
            self.visit(scene, child, tree, own.max(0.0), ranged);
        }
    }
}

/// The largest change, up to a few units in the last place of the threshold, with which a value does not exceed
/// a threshold.
fn exact_cut(x: f64, threshold: f64) -> f64 {
    let (mut low, mut high) = (threshold.next_down().next_down() - x, threshold.next_up().next_up() - x);
    if !(x + low <= threshold && x + high > threshold) {
        return threshold - x;
    }
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if x + middle <= threshold { low = middle } else { high = middle }
    }
    low
}
