//! Proofs by the phases of units, for relu networks.
//!
//! A unit of relu is *active* where its argument is not negative and *inactive* elsewhere. Where the phases of all
//! units are known the margin is affine, and its least value over a ball is known. Where some are open, lines
//! below and above these units give a lower bound ([`bound`]). The part of the ball with the lowest bound is divided by
//! the phase of one of its open units. Parts are not boxes but are described by conditions on units, so the number of
//! parts depends on the number of open units and not on the dimension of the ball.
//!
//! The proof consists of the units by which the ball is divided and, for each part, of slopes and multipliers from
//! which the checker computes the bound again.

mod bound;
mod layers;
mod program;
mod prover;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::graph::Graph;
use crate::proof::{PhaseBound, PhaseNode};
use bound::{Ascent, Ball, Bound, Condition, Ranges};
use layers::Layers;
use program::Least;

/// Bounds must exceed the required margin by this much, which is more than the difference between the
/// rounding of the search and that of the checker.
const SLACK: f64 = 1e-8;
/// The number of steps of an ascent at the whole ball, at later parts, and when a unit is tried.
const STEPS: (usize, usize, usize) = (60, 20, 3);
/// The number of steps where the phases of all units are known.
const STEPS_OF_KNOWN_PHASES: usize = 300;
/// The number of units by which a part is divided on trial.
const TRIALS: usize = 5;

/// A part of the ball that is not closed yet.
struct Open {
    lower: f64,
    /// Its number among the nodes.
    number: usize,
    conditions: Vec<Condition>,
    ranges: Ranges,
    by: PhaseBound,
    bound: Bound,
    /// Whether its least margin is known.
    is_finished: bool,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    /// Orders the heap: the part with the lowest bound is the greatest; among equals, the first created.
    fn cmp(&self, other: &Self) -> Ordering {
        other.lower.total_cmp(&self.lower).then(other.number.cmp(&self.number))
    }
}

/// A node of the tree of parts.
enum Node {
    Open,
    Empty,
    Closed(PhaseBound),
    Split { layer: usize, unit: usize, children: [usize; 2] },
}

/// A proof in progress.
struct Phases<'a> {
    layers: &'a Layers,
    ball: Ball<'a>,
    /// The required margin with [`SLACK`].
    target: f64,
    nodes: Vec<Node>,
    open: BinaryHeap<Open>,
    /// The number of passes through the network so far.
    passes: f64,
}

impl<'a> Phases<'a> {
    /// Bounds the whole ball.
    pub fn new(layers: &'a Layers, ball: Ball<'a>, required: f64) -> Self {
        let mut phases = Self {
            layers,
            ball,
            target: required + SLACK,
            nodes: vec![Node::Open],
            open: BinaryHeap::new(),
            passes: 0.0,
        };
        let ranges = bound::ranges(layers, ball);
        phases.count_ranges(0);
        let by = bound::start(&ranges);
        phases.add(0, Vec::new(), ranges, by, f64::NEG_INFINITY, STEPS.0);
        phases
    }

    /// The lowest bound of the parts that are not closed; infinite if there are none.
    pub fn lower(&self) -> f64 {
        self.open.peek().map_or(f64::INFINITY, |open| open.lower)
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A point of the lowest part, near which the margin may be lowest. `None` if all parts are closed, so that the
    /// margin is proven.
    pub fn lowest(&self) -> Option<&[f64]> {
        self.open.peek().map(|open| &open.bound.at[..])
    }

    /// The number of evaluations so far. A bound of the margin over a box takes as many passes as there are inputs,
    /// and two more.
    pub fn evaluations(&self) -> usize {
        (self.passes / (self.layers.inputs + 2) as f64).ceil() as usize
    }

    /// Counts the passes for the ranges of the layers after one.
    fn count_ranges(&mut self, after: usize) {
        let total: usize = self.layers.hidden.iter().map(layers::Layer::work).sum();
        let later = self.layers.hidden.iter().enumerate().skip(after + 1);
        let below =
            |number: usize| self.layers.hidden[..number].iter().map(layers::Layer::work).sum::<usize>();
        let work: usize = later.map(|(number, layer)| 2 * layer.units * below(number)).sum();
        self.passes += work as f64 / total as f64;
    }

    fn ascend(
        &mut self,
        ranges: &Ranges,
        conditions: &[Condition],
        by: PhaseBound,
        steps: usize,
    ) -> (Bound, PhaseBound) {
        let ascent = Ascent { layers: self.layers, ball: self.ball, ranges, conditions };
        let (bound, by, done) = ascent.run(by, steps, self.target);
        self.passes += (2 * done + 1) as f64;
        (bound, by)
    }

    /// Bounds a node. `known` is a bound that holds already.
    fn add(
        &mut self,
        number: usize,
        conditions: Vec<Condition>,
        ranges: Ranges,
        by: PhaseBound,
        known: f64,
        steps: usize,
    ) {
        let (bound, by) = self.ascend(&ranges, &conditions, by, steps);
        if bound.lower >= self.target {
            // With few digits the bound may be a little lower.
            let short = bound::saved(&by, &ranges);
            let again = bound::bound(self.layers, self.ball, &ranges, &conditions, &short);
            self.nodes[number] = Node::Closed(if again.lower >= self.target { short } else { by });
            return;
        }
        let lower = if bound.lower > known { bound.lower } else { known };
        self.open.push(Open { lower, number, conditions, ranges, by, bound, is_finished: false });
    }

    /// Divides the part with the lowest bound. If the phases of all its units are known, so that there is nothing to
    /// divide, finds its least margin. Returns `false` if that is known too.
    pub fn step(&mut self) -> bool {
        let Some(open) = self.open.pop() else { return true };
        let arguments = open.bound.arguments(self.layers);
        let mut candidates = open.bound.errors(&arguments, &open.ranges);
        candidates.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        candidates.truncate(TRIALS);
        let mut best: Option<(f64, usize, usize)> = None;
        for &(layer, unit, _) in &candidates {
            let gains = [true, false].map(|is_active| {
                let condition = Condition { layer, unit, is_active };
                self.tried(&open, condition)
            });
            // The lower of both counts most.
            let worth = gains[0].min(gains[1]) + 0.1 * gains[0].max(gains[1]);
            if best.as_ref().is_none_or(|(most, ..)| worth > *most) {
                best = Some((worth, layer, unit));
            }
        }
        let Some((_, layer, unit)) = best else { return self.finish(open) };
        let first = self.nodes.len();
        self.nodes.extend([Node::Open, Node::Open]);
        self.nodes[open.number] = Node::Split { layer, unit, children: [first, first + 1] };
        for (number, is_active) in [(first, true), (first + 1, false)] {
            let condition = Condition { layer, unit, is_active };
            self.count_ranges(layer);
            let Some(ranges) = bound::narrower(self.layers, self.ball, &open.ranges, condition) else {
                self.nodes[number] = Node::Empty;
                continue;
            };
            let mut conditions = open.conditions.clone();
            conditions.push(condition);
            self.add(number, conditions, ranges, open.by.clone(), open.lower, STEPS.1);
        }
        true
    }

    /// Bounds a part where the phases of all units are known, by its least margin or, for sets of other kinds, by a
    /// longer ascent. Returns `false` if that was done before.
    ///
    /// Some phases are known because ranges became narrower. Elsewhere in the ball these units have the other phase,
    /// so their phases are conditions too. The part is divided by those that the bound needs, which leaves one side
    /// empty.
    fn finish(&mut self, open: Open) -> bool {
        if open.is_finished {
            self.open.push(open);
            return false;
        }
        let Open { lower, mut number, conditions, ranges, by, .. } = open;
        let mut all = conditions.clone();
        all.extend(bound::decided(self.layers, &ranges, &conditions));
        let (multipliers, least) = match program::solve(self.layers, self.ball, &ranges, &all, self.target) {
            Some(Least { multipliers, at }) => (multipliers, at),
            None => (self.ascend(&ranges, &all, by.clone(), STEPS_OF_KNOWN_PHASES).1.multipliers, None),
        };
        let mut kept = PhaseBound { multipliers: Vec::new(), ..by };
        let stated = conditions.len();
        let mut conditions = Vec::new();
        for (k, (&condition, &multiplier)) in all.iter().zip(&multipliers).enumerate() {
            if k >= stated && multiplier == 0.0 {
                continue;
            }
            if k >= stated {
                number = self.divide_by_known(number, condition);
            }
            conditions.push(condition);
            kept.multipliers.push(multiplier);
        }
        self.add(number, conditions, ranges, kept, lower, STEPS.1);
        let Some(mut after) = self.open.pop() else { return true };
        if after.number != number {
            self.open.push(after);
            return true;
        }
        after.is_finished = true;
        if let Some(least) = least {
            after.bound.at = least;
        }
        self.open.push(after);
        true
    }

    /// Divides a part by a condition that holds everywhere in it. Returns the number of the side where it holds.
    fn divide_by_known(&mut self, number: usize, condition: Condition) -> usize {
        let first = self.nodes.len();
        self.nodes.extend([Node::Open, Node::Open]);
        let Condition { layer, unit, is_active } = condition;
        self.nodes[number] = Node::Split { layer, unit, children: [first, first + 1] };
        let (side, other) = if is_active { (first, first + 1) } else { (first + 1, first) };
        self.nodes[other] = Node::Empty;
        side
    }

    /// By how much a condition raises the bound of a part, as a few steps show, up to the target.
    fn tried(&mut self, open: &Open, condition: Condition) -> f64 {
        let mut ranges = open.ranges.clone();
        let range = &mut ranges[condition.layer][condition.unit];
        *range = if condition.is_active { (0.0, range.1) } else { (range.0, 0.0) };
        let mut conditions = open.conditions.clone();
        conditions.push(condition);
        let (bound, _) = self.ascend(&ranges, &conditions, open.by.clone(), STEPS.2);
        bound.lower.min(self.target) - open.lower
    }

    /// The nodes, each before its two parts.
    pub fn into_nodes(mut self) -> Vec<PhaseNode> {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut next = vec![0];
        while let Some(number) = next.pop() {
            nodes.push(match std::mem::replace(&mut self.nodes[number], Node::Empty) {
                Node::Split { layer, unit, children: [active, inactive] } => {
                    next.extend([inactive, active]);
                    PhaseNode::Split { layer, unit }
                }
                Node::Closed(by) => PhaseNode::Closed(by),
                Node::Open | Node::Empty => PhaseNode::Closed(PhaseBound::default()),
            });
        }
        nodes
    }
}

/// The layers of a graph over the ball of a radius, if the graph is a relu network. See [`Layers::of`].
fn layers_of(graph: &Graph<'_>, ball: Ball<'_>) -> Option<Layers> {
    let reach = ball.set.half_widths(graph.inputs).into_iter().fold(0.0, f64::max) * ball.radius;
    Layers::of(graph, reach)
}

/// The nodes of a proof that the margin of a relu network is at least `required`, with at most some parts; and whether
/// it is complete. For tests of the checker.
#[cfg(test)]
pub(crate) fn proof_by_phases(
    graph: &Graph<'_>,
    set: &crate::uncertainty::SharedSet,
    radius: f64,
    required: f64,
    most: usize,
) -> (Vec<PhaseNode>, bool) {
    let ball = Ball { set, radius };
    let Some(layers) = layers_of(graph, ball) else { return (Vec::new(), false) };
    let mut phases = Phases::new(&layers, ball, required);
    while phases.lowest().is_some() && phases.len() < most && phases.step() {}
    let is_complete = phases.lowest().is_none();
    (phases.into_nodes(), is_complete)
}
