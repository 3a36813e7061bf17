//! The cheapest action of one individual: best first over boxes of actions.

mod breaking;
mod challenger;
mod choice;
mod incumbent;
mod neighbourhood;
mod open;
mod repair;

use std::collections::BinaryHeap;

use choice::{edge, median, middle};
use incumbent::Attempts;
use open::Open;
use repair::Repair;

use super::actions::Actions;
use crate::certify::NODES_PER_EVALUATION;
use crate::forest::{
    Adversary, Bad, Bounder, Cell, Scenario, Scene, Sides, Wish, ranges, unit_prices, usable_limit,
};

/// The number of enlarged cells, and of scenarios, that are tried on a box.
const CELLS: usize = 4;
/// The work of examining a box apart from the trees, for each feature, in visited nodes, as measured.
const NODES_PER_STEP: usize = 120;
/// The number of steps of a dive.
const DIVE_STEPS: usize = 200;
/// How far inside of a box its cheapest action is tried, relative to the radius of the ball: by the search, and
/// by dives.
const INSET: f64 = 1e-4;
const DIVE_INSET: f64 = 1e-2;
/// The least side of a box that is divided, relative to the size of the ball.
const LEAST_SIDE: f64 = 1e-4;

/// An action that was proven to hold.
#[derive(Clone, Debug)]
pub(super) struct Incumbent {
    pub set: usize,
    pub change: Vec<f64>,
    pub cost: f64,
}

/// Why actions of a box that cost less than some bound do not hold.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    /// They do not withstand a scenario.
    Scenario(Scenario),
    /// The ball reaches a cell in which the score is negative.
    Cell(Cell),
}

/// A node of the record of divisions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Record {
    /// Changes `k` of at most `at` are in the first part.
    Split { k: usize, at: f64, parts: [usize; 2] },
    /// A box with the number of its reason, if its costs and requirements are not enough.
    Leaf(Option<usize>),
}

/// What became of a box.
enum Expanded {
    /// Its cheapest action holds.
    Holds(Vec<f64>),
    /// No action is of interest, by a reason or by its costs and requirements.
    Closed(Option<Reason>),
    /// It is divided; the cost is bounded by a reason.
    Divide { cost: f64, reason: Option<Reason>, k: usize, at: f64, from: f64 },
    /// It is too small to be divided.
    Sliver,
}

/// One set of features of the individual.
pub(super) struct Part<'f> {
    pub scene: Scene<'f>,
    pub actions: Actions<'f>,
    pub whole: Option<Sides>,
    prices: Vec<f64>,
    usable: f64,
    is_plain: bool,
}

impl<'f> Part<'f> {
    pub fn new(scene: Scene<'f>, actions: Actions<'f>, whole: Option<Sides>) -> Self {
        let (prices, usable, is_plain) = (unit_prices(&scene), usable_limit(&scene), scene.is_plain());
        Self { scene, actions, whole, prices, usable, is_plain }
    }
}

/// The search for one individual.
pub(super) struct Search<'s, 'f> {
    pub parts: &'s mut [Part<'f>],
    pub gap: f64,
    pub most_evaluations: usize,
    pub is_over: &'s dyn Fn() -> bool,
    pub adversary: Adversary,
    bounder: Bounder,
    repair: Repair,
    /// Cells in which the score is negative, from actions that failed.
    pool: Vec<Bad>,
    /// The work of enlarging cells and of looking at them, and of examining boxes apart from the trees.
    grown: usize,
    pub incumbent: Option<Incumbent>,
    /// The best action that was examined: its worst sum.
    pub best: Option<(f64, usize, Vec<f64>)>,
    pub records: Vec<Record>,
    pub reasons: Vec<Reason>,
    pub roots: Vec<Option<usize>>,
    wishes: Vec<Wish>,
    number: usize,
    pub boxes: usize,
    attempts: Attempts,
}

/// How a search ended.
pub(super) struct Ended {
    /// A lower bound of the cost of any action that holds; infinite if there is none.
    pub bound: f64,
    /// Whether the budget was spent.
    pub is_cut_short: bool,
}

impl<'s, 'f> Search<'s, 'f> {
    pub fn new(
        parts: &'s mut [Part<'f>],
        gap: f64,
        most_evaluations: usize,
        is_over: &'s dyn Fn() -> bool,
    ) -> Self {
        Self {
            parts,
            gap,
            most_evaluations,
            is_over,
            adversary: Adversary::default(),
            bounder: Bounder::default(),
            repair: Repair::default(),
            pool: Vec::new(),
            grown: 0,
            incumbent: None,
            best: None,
            records: Vec::new(),
            reasons: Vec::new(),
            roots: Vec::new(),
            wishes: Vec::new(),
            number: 0,
            boxes: 0,
            attempts: Attempts::default(),
        }
    }

    fn work(&self) -> usize {
        let visited = self.adversary.visited() + self.bounder.visited() + self.repair.visited();
        visited + self.grown
    }

    pub fn evaluations(&self) -> usize {
        self.work() / NODES_PER_EVALUATION
    }

    fn is_spent(&self) -> bool {
        self.evaluations() >= self.most_evaluations || (self.is_over)()
    }

    /// The cost below which boxes are of interest.
    fn target(&self) -> f64 {
        self.incumbent.as_ref().map_or(f64::INFINITY, |found| found.cost * (1.0 - self.gap))
    }

    /// Searches until the bound is within the gap of the incumbent, or the budget is spent.
    pub fn run(&mut self) -> Ended {
        let mut heap = BinaryHeap::new();
        for set in 0..self.parts.len() {
            let Some(sides) = self.parts[set].whole.clone() else {
                self.roots.push(None);
                continue;
            };
            let node = self.record(Record::Leaf(None));
            self.roots.push(Some(node));
            let cost = self.least_cost(set, &sides);
            heap.push(Open { set, sides, cost, node, reason: None, number: self.number });
            self.number += 1;
        }
        let (mut slivers, mut next_dive) = (f64::INFINITY, 1);
        let mut is_cut_short = false;
        while let Some(open) = heap.pop() {
            if open.cost >= self.target() {
                heap.push(open);
                break;
            }
            if self.is_spent() {
                heap.push(open);
                is_cut_short = true;
                break;
            }
            self.boxes += 1;
            if self.boxes >= next_dive {
                self.dive(open.set, open.sides.clone());
                self.search_around();
                next_dive = self.boxes + (self.boxes / 10).max(5);
            }
            match self.expand(open.set, &open.sides, false) {
                Expanded::Holds(change) => {
                    self.offer(open.set, change.clone());
                    self.improve(open.set, change);
                    // Its cost is the least of the box but for the distance by which it is inside.
                    slivers = slivers.min(open.cost.max(self.least_cost(open.set, &open.sides)));
                }
                Expanded::Closed(Some(reason)) => {
                    self.reasons.push(reason);
                    self.records[open.node] = Record::Leaf(Some(self.reasons.len() - 1));
                }
                Expanded::Closed(None) => {}
                Expanded::Sliver => slivers = slivers.min(open.cost),
                Expanded::Divide { cost, reason, k, at, .. } => {
                    let reason = match reason {
                        Some(reason) if cost > open.cost => {
                            self.reasons.push(reason);
                            Some(self.reasons.len() - 1)
                        }
                        _ => open.reason,
                    };
                    self.divide(Open { cost: cost.max(open.cost), reason, ..open }, k, at, &mut heap);
                }
            }
        }
        let open = heap.peek().map_or(f64::INFINITY, |open| open.cost);
        Ended { bound: open.min(slivers).min(self.target()), is_cut_short }
    }

    fn record(&mut self, record: Record) -> usize {
        self.records.push(record);
        self.records.len() - 1
    }

    /// The cost of the cheapest action of a box.
    fn least_cost(&self, set: usize, sides: &Sides) -> f64 {
        let part = &self.parts[set];
        part.scene.cost(part.scene.spent(&part.actions.cheapest(sides)))
    }

    fn divide(&mut self, open: Open, k: usize, at: f64, heap: &mut BinaryHeap<Open>) {
        let mut parts = [0; 2];
        let halves = self.parts[open.set].actions.halves(&open.sides, k, at);
        for (part, sides) in parts.iter_mut().zip(halves) {
            *part = self.record(Record::Leaf(open.reason));
            let Some(sides) = sides else { continue };
            let cost = open.cost.max(self.least_cost(open.set, &sides));
            if cost < self.target() {
                self.number += 1;
                heap.push(Open { sides, cost, node: *part, number: self.number, ..open.clone() });
            }
        }
        self.records[open.node] = Record::Split { k, at, parts };
    }

    /// Examines one box.
    fn expand(&mut self, set: usize, sides: &Sides, is_light: bool) -> Expanded {
        let target = self.target();
        let part = &self.parts[set];
        self.grown += NODES_PER_STEP * part.scene.x.len();
        let scene = &part.scene;
        if part.actions.excludes(scene, sides) {
            return Expanded::Closed(None);
        }
        let first = sides.cheapest();
        let spent = scene.spent(&first);
        let most = if target.is_finite() { scene.budget(target) - spent } else { f64::INFINITY };
        if most <= 0.0 {
            return Expanded::Closed(None);
        }
        let change = part.actions.inside(scene, sides, if is_light { DIVE_INSET } else { INSET });
        let centre = scene.centre(&change);
        let reach = ranges(scene, sides);
        let mut scenarios = self.scenarios(set, sides, &centre, &reach, if is_light { 1 } else { CELLS });
        if scenarios.is_empty() {
            let worst = self.worst(set, &centre, true, &change);
            if worst.lower >= 0.0 {
                let is_met = self.parts[set].actions.is_met(&change);
                return if is_met { Expanded::Holds(change) } else { self.halve(set, sides, spent, None) };
            }
            let is_learnt = worst.found < 0.0
                && (self.learn(set, &worst, &centre, &reach) || self.learn_inside(set, &centre, &reach));
            if !is_learnt {
                return self.halve(set, sides, spent, None);
            }
            scenarios = self.scenarios(set, sides, &centre, &reach, 1);
            if scenarios.is_empty() {
                return self.halve(set, sides, spent, None);
            }
        }
        self.bound(set, sides, scenarios, spent, most, &centre, &reach, is_light)
    }

    /// Bounds a box by scenarios, and chooses where to divide it.
    #[expect(clippy::too_many_arguments, reason = "the box, what was computed of it, and how to bound it")]
    fn bound(
        &mut self,
        set: usize,
        sides: &Sides,
        scenarios: Vec<(f64, usize, Scenario)>,
        spent: f64,
        most: f64,
        centre: &[f64],
        reach: &Cell,
        is_light: bool,
    ) -> Expanded {
        let part = &self.parts[set];
        let (mut best, mut reason) = (0.0f64, None);
        if part.is_plain && !part.scene.is_squared {
            let cheapest = part.scene.centre(&sides.cheapest());
            for (leaving, bad, _) in &scenarios {
                if *leaving >= most {
                    return Expanded::Closed(Some(Reason::Cell(self.pool[*bad].grown.clone())));
                }
                if *leaving > best {
                    (best, reason) = (*leaving, Some(Reason::Cell(self.pool[*bad].grown.clone())));
                }
            }
            if !is_light {
                let mut bad = self.pool[scenarios[0].1].clone();
                self.grown += bad.grow(&part.scene, centre, reach, &part.prices);
                let leaving = bad.leaving(&part.scene, &cheapest, reach, part.usable, 0.0);
                if leaving >= most {
                    return Expanded::Closed(Some(Reason::Cell(bad.grown)));
                }
                if leaving > best * 1.02 + 1e-9 {
                    (best, reason) = (leaving, Some(Reason::Cell(bad.grown.clone())));
                    self.pool.push(bad);
                }
            }
        }
        let mut chosen: Option<(f64, usize)> = None;
        for (number, (_, _, scenario)) in scenarios.iter().enumerate() {
            let price = self.bounder.price(&part.scene, sides, scenario, most);
            if price >= most {
                return Expanded::Closed(Some(Reason::Scenario(scenario.clone())));
            }
            if price > best {
                (best, reason) = (price, Some(Reason::Scenario(scenario.clone())));
            }
            if chosen.is_none_or(|(greatest, _)| price > greatest) {
                chosen = Some((price, number));
            }
        }
        let cost = part.scene.cost(spent + best);
        let Some((_, number)) = chosen else { return Expanded::Sliver };
        let scenario = &scenarios[number].2;
        if scenarios.len() > 1 {
            self.bounder.price(&part.scene, sides, scenario, most);
        }
        self.bounder.wishes(&part.scene, sides, scenario, &mut self.wishes);
        let first = sides.cheapest();
        let leaving =
            || edge(&part.scene, &self.pool[scenarios[number].1].grown, scenario, sides, &part.actions);
        let taste = if is_light { Some(self.attempts.count) } else { None };
        match median(&self.wishes, sides, &part.actions, &part.scene.prices, taste).or_else(leaving) {
            Some((k, at)) => Expanded::Divide { cost, reason, k, at, from: first[k] },
            None => self.halve(set, sides, spent + best, reason),
        }
    }

    /// Divides the longest of the sides of a box whose changes lead over thresholds, or over the border of a requirement.
    fn halve(&self, set: usize, sides: &Sides, spent: f64, reason: Option<Reason>) -> Expanded {
        let part = &self.parts[set];
        let least = LEAST_SIDE * part.scene.ball.radius.max(1e-4);
        let length = |k: &usize| (sides.upper[*k] - sides.lower[*k]) * part.scene.prices[*k];
        let reach = ranges(&part.scene, sides);
        let matters = |k: &usize| part.actions.has_requirements() || part.scene.leads_over(*k, &reach);
        let longest = (0..part.scene.set.len()).filter(|&k| sides.upper[k] > sides.lower[k]).filter(matters);
        let Some(k) = longest.max_by(|a, b| length(a).total_cmp(&length(b))) else { return Expanded::Sliver };
        if sides.upper[k] - sides.lower[k] < least {
            return Expanded::Sliver;
        }
        let at = middle(sides.lower[k], sides.upper[k]);
        Expanded::Divide { cost: part.scene.cost(spent), reason, k, at, from: sides.cheapest()[k] }
    }
}
