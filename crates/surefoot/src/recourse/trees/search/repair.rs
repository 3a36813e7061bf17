//! Actions that hold, by a local search over the scenarios that broke earlier ones.
//!
//! From an action that does not withstand some of the scenarios, the change with the greatest gain for its price
//! is made, until all are withstood; then changes are taken back where all still are. What holds against the
//! exact worst case is a new incumbent. What does not adds a scenario. Repairs start from no change at all, with
//! some features left out, or from the incumbent without a few of its changes.

use super::Search;
use crate::forest::{Bad, Forest, Node, Scenario, Scene, ranges};

/// The largest number of scenarios that are kept.
const SCENARIOS: usize = 24;
/// The largest number of values of one change that are tried.
const VALUES: usize = 48;
/// How far beyond a threshold a change goes, relative to the radius.
const INSET: f64 = 2e-3;
/// The largest number of steps of a repair, and the number of failed worst cases that end it; without an
/// incumbent, [`PATIENCE`] times as many.
const STEPS: usize = 120;
const FAILURES: usize = 25;
const PATIENCE: usize = 4;
/// The share of repairs that start from no change at all.
const FRESH: f64 = 0.5;
/// The largest share of features that such a repair leaves out.
const LEFT_OUT: f64 = 0.5;
/// How much the order of gains is disturbed, at most.
const NOISE: f64 = 3.0;
/// The largest number of changes of the incumbent that a repair drops.
const DROPPED: f64 = 3.0;

/// An action under the scenarios.
#[derive(Debug, Default)]
pub(super) struct Repair {
    scenarios: Vec<Scenario>,
    /// For each scenario: where it leads, the sum there, and the leaf of each tree.
    points: Vec<Vec<f64>>,
    sums: Vec<f64>,
    leaves: Vec<Vec<f64>>,
    /// For each change: the trees that test its input.
    trees: Vec<Vec<u32>>,
    /// For each node: the number of lower thresholds of its input.
    ranks: Vec<u32>,
    /// For each scenario: the sum for each interval between the thresholds of one input.
    tables: Vec<Vec<f64>>,
    open: Vec<(u32, usize, usize)>,
    seed: u64,
    visited: usize,
}

impl Repair {
    /// The number of nodes visited so far.
    pub fn visited(&self) -> usize {
        self.visited
    }

    /// A number between 0 and 1 by a linear congruential generator, of which the upper bits are used.
    pub fn random(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 11) as f64 / (1u64 << 53) as f64
    }

    fn prepare(&mut self, scene: &Scene<'_>) {
        let forest: &Forest = scene.forest;
        let trees = |&i: &usize| {
            let testers = forest.thresholds(i).iter().flat_map(|&at| forest.testers(i, at));
            let mut trees: Vec<u32> = testers.copied().collect();
            trees.sort_unstable();
            trees.dedup();
            trees
        };
        let rank = |node: &Node| match node.feature() {
            Some(i) => forest.thresholds(i).partition_point(|&t| t < node.number) as u32,
            None => 0,
        };
        self.trees = scene.set.iter().map(trees).collect();
        self.ranks = forest.nodes.iter().map(rank).collect();
    }

    /// Evaluates all trees under all scenarios.
    fn evaluate(&mut self, scene: &Scene<'_>, change: &[f64]) {
        (0..self.scenarios.len()).for_each(|number| self.evaluate_one(scene, change, number));
    }

    fn evaluate_one(&mut self, scene: &Scene<'_>, change: &[f64], number: usize) {
        let forest: &Forest = scene.forest;
        let centre = scene.centre(change);
        let scenario = &self.scenarios[number];
        let point = &mut self.points[number];
        point.clear();
        point.extend((0..centre.len()).map(|i| moved(scene, scenario, i, centre[i])));
        let leaves = &mut self.leaves[number];
        leaves.clear();
        leaves.extend(forest.roots.iter().map(|&root| forest.value(root, point)));
        self.sums[number] = forest.start + leaves.iter().sum::<f64>();
        self.visited += 4 * leaves.len();
    }

    /// Adds a scenario. If there are too many, the one that is withstood best is dropped.
    fn add(&mut self, scene: &Scene<'_>, scenario: Scenario, change: &[f64]) {
        if self.scenarios.len() >= SCENARIOS {
            let best = (0..self.sums.len()).max_by(|&a, &b| self.sums[a].total_cmp(&self.sums[b]));
            let best = best.unwrap_or_default();
            self.scenarios.swap_remove(best);
            self.points.swap_remove(best);
            self.sums.swap_remove(best);
            self.leaves.swap_remove(best);
        }
        self.scenarios.push(scenario);
        self.points.push(Vec::new());
        self.sums.push(0.0);
        self.leaves.push(Vec::new());
        self.evaluate_one(scene, change, self.scenarios.len() - 1);
    }

    /// What is missing in all scenarios together.
    fn missing(&self) -> f64 {
        self.sums.iter().map(|sum| (-sum).max(0.0)).sum()
    }

    /// Fills the tables for one change.
    fn tabulate(&mut self, scene: &Scene<'_>, k: usize) {
        let forest: &Forest = scene.forest;
        let i = scene.set[k];
        let count = forest.thresholds(i).len() + 1;
        self.tables.resize(self.scenarios.len(), Vec::new());
        for (number, table) in self.tables.iter_mut().enumerate() {
            table.clear();
            table.resize(count + 1, 0.0);
            let mut sum = self.sums[number];
            for &tree in &self.trees[k] {
                sum -= self.leaves[number][tree as usize];
                self.open.push((forest.roots[tree as usize], 0, count));
                while let Some((at, low, high)) = self.open.pop() {
                    self.visited += 1;
                    let node = forest.nodes[at as usize];
                    match node.feature() {
                        None => {
                            table[low] += node.number;
                            table[high] -= node.number;
                        }
                        Some(tested) if tested == i => {
                            let middle = self.ranks[at as usize] as usize + 1;
                            if low < middle {
                                self.open.push((node.left, low, high.min(middle)));
                            }
                            if high > middle {
                                self.open.push((node.right, low.max(middle), high));
                            }
                        }
                        Some(tested) => {
                            let is_left = self.points[number][tested] <= node.number;
                            self.open.push((if is_left { node.left } else { node.right }, low, high));
                        }
                    }
                }
            }
            // From differences to sums.
            for value in table {
                sum += *value;
                *value = sum;
            }
        }
    }

    /// What would be missing with a value of the change of the tables; not exactly beyond `most`.
    fn missing_with(&self, scene: &Scene<'_>, k: usize, value: f64, most: f64) -> f64 {
        let i = scene.set[k];
        let thresholds = scene.forest.thresholds(i);
        let mut missing = 0.0;
        for (scenario, table) in self.scenarios.iter().zip(&self.tables) {
            let point = moved(scene, scenario, i, scene.x[i] + value);
            missing += (-table[thresholds.partition_point(|&t| t < point)]).max(0.0);
            if missing > most {
                break;
            }
        }
        missing
    }

    /// The values of a change that matter to scenarios which are not withstood, and zero, as far as the sum of
    /// prices stays below `most`.
    fn values(&self, scene: &Scene<'_>, k: usize, sides: (f64, f64), most: f64) -> Vec<f64> {
        let i = scene.set[k];
        let mut values = vec![0.0];
        let broken = (0..self.sums.len()).filter(|&number| self.sums[number] < 0.0);
        for number in broken.take(2) {
            let Scenario { pivot, radii } = &self.scenarios[number];
            let radius = if scene.live[i] { radii[i] } else { 0.0 };
            let way = radius + INSET * scene.ball.radius.max(1e-4);
            values.extend(scene.forest.thresholds(i).iter().map(|&threshold| {
                let is_up = !scene.live[i] || pivot[i] <= threshold;
                threshold + if is_up { way } else { -way } - scene.x[i]
            }));
        }
        values.retain(|&v| v >= sides.0 && v <= sides.1 && scene.price(k, v) < most);
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() > VALUES {
            let count = values.len();
            values = (0..VALUES).map(|n| values[n * count / VALUES]).collect();
        }
        values
    }

    /// The change with the greatest gain for its price, and its value.
    fn best(
        &mut self,
        scene: &Scene<'_>,
        change: &[f64],
        sides: impl Fn(usize) -> (f64, f64),
        barred: &[usize],
        most: f64,
        noise: f64,
    ) -> Option<(usize, f64)> {
        let (missing, spent) = (self.missing(), scene.spent(change));
        let mut best: Option<(f64, usize, f64)> = None;
        for k in (0..change.len()).filter(|k| !barred.contains(k)) {
            let own = scene.price(k, change[k]);
            let values = self.values(scene, k, sides(k), most - (spent - own));
            if values.is_empty() {
                continue;
            }
            self.tabulate(scene, k);
            for value in values.into_iter().filter(|&value| value != change[k]) {
                let gain = missing - self.missing_with(scene, k, value, missing);
                if gain <= 1e-12 {
                    continue;
                }
                let price = (scene.price(k, value) - own).max(1e-6);
                let score = gain / price * (1.0 + noise * self.random());
                if best.is_none_or(|(greatest, ..)| score > greatest) {
                    best = Some((score, k, value));
                }
            }
        }
        best.map(|(_, k, value)| (k, value))
    }
}

/// Where a scenario moves one input.
fn moved(scene: &Scene<'_>, scenario: &Scenario, i: usize, centre: f64) -> f64 {
    match scene.live[i] {
        true => centre + (scenario.pivot[i] - centre).clamp(-scenario.radii[i], scenario.radii[i]),
        false => centre,
    }
}

impl Search<'_, '_> {
    /// Whether repairs are possible: every input follows its own change alone.
    pub(super) fn is_repairable(&self) -> bool {
        self.parts.len() == 1 && self.parts[0].is_plain
    }

    /// One repair, from no change or from the incumbent without some of its changes.
    pub(super) fn repair_once(&mut self) {
        let count = self.parts[0].scene.set.len();
        let Some(found) = self.incumbent.clone().filter(|_| self.repair.random() >= FRESH) else {
            if self.incumbent.is_some() {
                return self.repair_without_some();
            }
            let noise = NOISE * self.repair.random();
            return self.repair(vec![0.0; count], Vec::new(), noise);
        };
        let mut change = found.change;
        let changed: Vec<usize> = (0..count).filter(|&k| change[k] != 0.0).collect();
        if changed.is_empty() {
            return;
        }
        let mut barred = Vec::new();
        for _ in 0..1 + (self.repair.random() * DROPPED) as usize {
            let k = changed[(self.repair.random() * changed.len() as f64) as usize];
            let Some(without) = self.parts[0].actions.with(&change, k, 0.0) else { continue };
            change = without;
            if self.repair.random() < 0.5 {
                barred.push(k);
            }
        }
        self.repair(change, barred, 1.0);
    }

    /// A repair from no change at all that leaves out some features.
    pub(super) fn repair_without_some(&mut self) {
        let count = self.parts[0].scene.set.len();
        let share = LEFT_OUT * self.repair.random();
        let barred = (0..count).filter(|_| self.repair.random() < share).collect();
        let noise = NOISE * self.repair.random();
        self.repair(vec![0.0; count], barred, noise);
    }

    /// Repairs an action; if it holds in the end, it is offered. Changes in `barred` are not made.
    fn repair(&mut self, mut change: Vec<f64>, mut barred: Vec<usize>, noise: f64) {
        let Some(whole) = self.parts[0].whole.clone() else { return };
        let patience = if self.incumbent.is_some() { 1 } else { PATIENCE };
        let mut failures = patience * FAILURES;
        if self.repair.trees.is_empty() {
            self.repair.prepare(&self.parts[0].scene);
        }
        self.repair.evaluate(&self.parts[0].scene, &change);
        for _ in 0..patience * STEPS {
            if self.is_spent() {
                return;
            }
            let (part, repair) = (&self.parts[0], &mut self.repair);
            let scene = &part.scene;
            let missing = repair.missing();
            if missing > 0.0 {
                let most = self.incumbent.as_ref().map_or(f64::INFINITY, |found| scene.budget(found.cost));
                let sides = |k: usize| (whole.lower[k], whole.upper[k]);
                let Some((k, value)) = repair.best(scene, &change, sides, &barred, most, noise) else {
                    return;
                };
                let with = part.actions.with(&change, k, value);
                repair.evaluate(scene, with.as_ref().unwrap_or(&change));
                match with.filter(|_| repair.missing() < missing) {
                    Some(with) => change = with,
                    None => {
                        // A whole number or a category that does not do what the value would.
                        barred.push(k);
                        repair.evaluate(scene, &change);
                    }
                }
                continue;
            }
            self.take_back(&mut change);
            if self.holds_or_learns(&change, &whole) {
                self.offer(0, change.clone());
                return self.improve(0, change);
            }
            failures -= 1;
            if failures == 0 || self.repair.missing() == 0.0 {
                return;
            }
        }
    }

    /// Whether an action holds. If not, its scenario is added.
    fn holds_or_learns(&mut self, change: &[f64], whole: &crate::forest::Sides) -> bool {
        let centre = self.parts[0].scene.centre(change);
        let worst = self.worst(0, &centre, false, change);
        if worst.lower >= 0.0 {
            return self.parts[0].actions.is_met(change);
        }
        if worst.found < 0.0 {
            let part = &self.parts[0];
            let mut bad = Bad::new(&part.scene, &centre, &worst.point, &worst.perturbation);
            let reach = ranges(&part.scene, whole);
            self.grown += bad.grow(&part.scene, &centre, &reach, &part.prices);
            for scenario in bad.scenarios(&part.scene, &centre, &reach, &part.prices, part.usable) {
                self.repair.add(&part.scene, scenario, change);
            }
            self.pool.push(bad);
        }
        false
    }

    /// Takes changes back as far as all scenarios stay withstood, the most expensive first.
    fn take_back(&mut self, change: &mut Vec<f64>) {
        let (part, repair) = (&self.parts[0], &mut self.repair);
        let scene = &part.scene;
        let mut order: Vec<usize> = (0..change.len()).filter(|&k| change[k] != 0.0).collect();
        order.sort_by(|&a, &b| scene.price(b, change[b]).total_cmp(&scene.price(a, change[a])));
        for k in order {
            repair.tabulate(scene, k);
            let (mut low, mut high) = (0.0, change[k]);
            for step in 0..12 {
                let value = if step == 0 { 0.0 } else { 0.5 * (low + high) };
                let Some(tried) = part.actions.with(change, k, value) else { break };
                let value = tried[k];
                if value == high {
                    break;
                }
                if repair.missing_with(scene, k, value, 0.0) == 0.0 {
                    (*change, high) = (tried, value);
                } else {
                    low = value;
                }
                if high == 0.0 || (high - low).abs() < 1e-2 * scene.ball.radius {
                    break;
                }
            }
            repair.evaluate(scene, change);
        }
    }
}
