//! The linear programs of the search by cuts, and what their multipliers prove.

use super::boxes::{Cuboid, cost_of};
use super::columns::Columns;
use super::cuts::WORTHWHILE;
use super::solve::{Incumbent, Set, Solver};
use crate::certify::LEAST_MARGIN;
use crate::graph::{Graph, Interpolated, Operation, Order, Plane, Region};
use crate::program::{Program, Row, Solution};
use crate::proof::{RuledOut, WeightedMargin};
use crate::{Activation, Cost};

/// The largest number of scenarios found at solutions of the linear program that are added to it; no more
/// than features.
const ADDED: usize = 3;
/// The amount by which a candidate exceeds each requirement, in units of about one standard deviation.
const INSIDE: f64 = 1e-7;

/// Relative room for rounding.
const ROUNDING: f64 = 1e-12;

/// The source of a cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// A requirement of the problem, by number.
    Requirement(usize),
    /// A scenario of the pool, by number.
    Scenario(usize),
    /// A scenario of the pool, and the point, both by number, at which the bound of its margin touches.
    Interpolated(usize, usize),
}

impl Source {
    /// The scenario, if it is one.
    pub fn scenario(self) -> Option<usize> {
        match self {
            Source::Scenario(k) | Source::Interpolated(k, _) => Some(k),
            Source::Requirement(_) => None,
        }
    }
}

/// A function that is not negative for any action that holds: affine or, with other slopes where changes are
/// negative, affine on both sides of zero of each change.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub source: Source,
    pub plane: Plane,
    pub negative: Option<Vec<f64>>,
}

/// A box that is being bounded: the actions within its sides that cost at most `limit`.
pub(super) struct Open {
    pub set: usize,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub limit: f64,
    pub cuts: Vec<Cut>,
}

/// The solution of the linear program of a box.
pub(super) struct Bounded {
    pub point: Vec<f64>,
    pub multipliers: Vec<f64>,
    /// A lower bound of the cost of the actions that hold.
    pub cost: f64,
}

impl Solver<'_, '_> {
    /// Bounds the cost of a box by linear programs over its cuts. The solution is attacked, and what
    /// breaks it becomes a cut. `None` if the box is ruled out.
    pub(super) fn bound_by_program(&mut self, open: &mut Open) -> Option<Bounded> {
        self.interpolate(open);
        let mut best = self.solve_program(open)?;
        self.refine(open, &best);
        best = self.solve_program(open)?;
        for _ in 0..ADDED.min(open.lower.len()) {
            if self.prover.is_spent() {
                break;
            }
            let Some(k) = self.try_point(open, &best) else { break };
            let mut is_separating = false;
            for cut in self.cuts_at(open, k, &best.point) {
                is_separating |= cut.value(&best.point) < 0.0;
                open.cuts.push(cut);
            }
            if !is_separating {
                break;
            }
            let next = self.solve_program(open)?;
            let is_little = next.cost < best.cost * (1.0 + WORTHWHILE);
            best = next;
            if is_little {
                break;
            }
        }
        Some(best)
    }

    /// Cuts by a scenario, the tightest of which is tight at a point.
    fn cuts_at(&mut self, open: &Open, k: usize, point: &[f64]) -> Vec<Cut> {
        let region = self.region(open);
        if let Some(cut) = self.interpolated(open.set, k, &region, point) {
            return vec![cut];
        }
        let plane = self.plane(open.set, k, &region);
        let refined = self.refined(open.set, k, &region, point);
        let set = &self.sets[open.set];
        let cut = |plane| set.cut(Source::Scenario(k), plane, (&open.lower, &open.upper));
        [Some(plane), refined].into_iter().flatten().map(cut).collect()
    }

    /// Replaces the planes of a box by interpolated cuts, where margins can be interpolated.
    fn interpolate(&mut self, open: &mut Open) {
        let region = self.region(open);
        let incumbent = self.incumbent.as_ref().filter(|found| found.set == open.set);
        let Some(Incumbent { change, .. }) = incumbent else { return };
        let sides = open.lower.iter().zip(&open.upper);
        let point: Vec<f64> = change.iter().zip(sides).map(|(c, (&l, &u))| c.max(l).min(u)).collect();
        let mut cuts = Vec::new();
        for cut in &open.cuts {
            match cut.source {
                Source::Scenario(k) => {
                    let Some(cut) = self.interpolated(open.set, k, &region, &point) else { return };
                    cuts.push(cut);
                }
                _ => cuts.push(cut.clone()),
            }
        }
        open.cuts = cuts;
    }

    /// Attacks the solution of a linear program. Returns a scenario that breaks it; otherwise offers
    /// the solution as an incumbent.
    fn try_point(&mut self, open: &Open, bounded: &Bounded) -> Option<usize> {
        let set = open.set;
        let inside = self.point_inside(open).unwrap_or_else(|| bounded.point.clone());
        let point = self.sets[set].integrality.near(&open.lower, &open.upper, &inside);
        let (set, point) = match self.sets[set].followers.is_empty() {
            true => (set, point),
            false => self.suggested(open, bounded, &point),
        };
        let start = open.cuts.iter().zip(&bounded.multipliers).rev();
        let start = start.filter(|(_, m)| **m > 0.0).find_map(|(cut, _)| cut.source.scenario());
        let start = start.map(|k| self.pool[k].clone());
        let (scenario, value) = self.attack(set, &point, start.as_ref());
        if value >= 0.0 {
            let cost = cost_of(self.cost(), &self.sets[set].weights, &point);
            if self.incumbent.as_ref().is_none_or(|found| cost < found.cost) && self.survives(set, &point) {
                self.offer(set, point);
            }
            return None;
        }
        if self.meets(set, &point) {
            self.note(set, &point, value);
        }
        self.search_suggested_set(set, &point);
        self.add(set, &point, scenario)
    }

    /// For a box with open requirements: the cheapest point that meets every cut by at least [`INSIDE`],
    /// so that rounding does not violate a requirement.
    fn point_inside(&self, open: &Open) -> Option<Vec<f64>> {
        let is_requirement = |cut: &Cut| matches!(cut.source, Source::Requirement(_));
        if !open.cuts.iter().any(is_requirement) {
            return None;
        }
        let columns = Columns::new(&open.cuts, &open.lower, &open.upper, &self.sets[open.set].weights);
        let usable = open.cuts.iter().filter(|cut| cut.is_usable());
        let mut rows: Vec<Row> = usable.map(|cut| columns.row(cut)).collect();
        rows.iter_mut().for_each(|row| row.need += INSIDE);
        let Columns { weights, lower, upper, .. } = &columns;
        let program = Program { rows: &rows, weights, cost: self.cost(), lower, upper };
        match program.solve() {
            Solution::Optimal { point, .. } => Some(columns.changes(&point)),
            _ => None,
        }
    }

    /// Adds, for each scenario that bounds the cost, a cut that is tight at the solution.
    fn refine(&mut self, open: &mut Open, bounded: &Bounded) {
        let region = self.region(open);
        for number in 0..bounded.multipliers.len() {
            let Some(k) = open.cuts[number].source.scenario() else { continue };
            if bounded.multipliers[number] <= 0.0 {
                continue;
            }
            let cut = match open.cuts[number].source {
                Source::Interpolated(..) => self.interpolated(open.set, k, &region, &bounded.point),
                _ => {
                    let refined = self.refined(open.set, k, &region, &bounded.point);
                    let sides = (&open.lower[..], &open.upper[..]);
                    refined.map(|plane| self.sets[open.set].cut(Source::Scenario(k), plane, sides))
                }
            };
            open.cuts.extend(cut);
        }
    }

    /// Whether margins of a set can be interpolated along rays: those of relu networks of affine arguments, at l1
    /// cost, with affine requirements.
    pub(super) fn has_rays(&mut self, set: usize) -> bool {
        if self.cost() != Cost::L1 || !self.sets[set].followers.is_empty() {
            return false;
        }
        self.compose(set);
        let Set { composers, graphs, requirements, .. } = &self.sets[set];
        let is_relu = |operation: &Operation<'_>| {
            let network = operation.operator.elements().network();
            network.is_some_and(|network| network.activation() == Activation::Relu)
        };
        let is_network = |graph: &Graph<'_>| matches!(&graph.operations[..], [only] if is_relu(only));
        let is_suitable = match graphs.is_empty() {
            true => {
                composers.iter().all(|composer| is_network(&composer.in_change(&composer.no_perturbation())))
            }
            false => graphs.iter().all(is_network),
        };
        is_suitable && requirements.iter().all(|rule| rule.operations.is_empty())
    }

    /// A bound of the margin in a scenario that is interpolated along the rays of the cost limit and
    /// touches at a point. `None` where there is none.
    fn interpolated(&mut self, set: usize, k: usize, region: &Region, point: &[f64]) -> Option<Cut> {
        if region.rays().is_none() || !self.has_rays(set) {
            return None;
        }
        let graph = &self.sets[set].graphs[k];
        self.prover.jets.evaluate(graph, point, Order::Value);
        let Interpolated { plane, negative } =
            self.prover.affine.bound(graph, region).interpolate(&self.prover.jets, point)?;
        if self.points.last().is_none_or(|last| last != point) {
            self.points.push(point.to_vec());
        }
        let source = Source::Interpolated(k, self.points.len() - 1);
        Some(Cut { source, plane, negative: Some(negative) })
    }

    /// An affine upper bound of the margin in a scenario that is tight near a point.
    fn refined(&mut self, set: usize, k: usize, region: &Region, point: &[f64]) -> Option<Plane> {
        let mut graph = self.sets[set].graphs[k].clone();
        graph.output = graph.output.scaled(-1.0);
        self.prover.jets.evaluate(&graph, point, Order::Value);
        let below = self.prover.affine.bound(&graph, region).refine(&self.prover.jets)?;
        let linear = below.linear.iter().map(|a| -a).collect();
        Some(Plane { linear, constant: -below.constant, ..below })
    }

    /// Solves the linear program over the cuts of a box. `None` if the box is ruled out.
    fn solve_program(&mut self, open: &Open) -> Option<Bounded> {
        let usable: Vec<usize> = (0..open.cuts.len()).filter(|&j| open.cuts[j].is_usable()).collect();
        let columns = Columns::new(&open.cuts, &open.lower, &open.upper, &self.sets[open.set].weights);
        let rows: Vec<Row> = usable.iter().map(|&j| columns.row(&open.cuts[j])).collect();
        let Columns { weights, lower, upper, .. } = &columns;
        let program = Program { rows: &rows, weights, cost: self.cost(), lower, upper };
        let all = |few: Vec<f64>| {
            let mut all = vec![0.0; open.cuts.len()];
            usable.iter().zip(few).for_each(|(&j, m)| all[j] = m);
            all
        };
        let cheapest = open.cuboid().cheapest();
        let (point, multipliers, cost) = match program.solve() {
            Solution::Optimal { point, multipliers } => {
                let cost = program.cost_bound(&multipliers);
                (columns.changes(&point), all(multipliers), cost)
            }
            Solution::Infeasible { multipliers } => (cheapest, all(multipliers), f64::INFINITY),
            Solution::Unknown => (cheapest, vec![0.0; open.cuts.len()], 0.0),
        };
        let is_ruled_out = cost >= open.limit
            && open.candidates(&multipliers).iter().any(|m| self.rule_out(open, m, open.limit));
        match is_ruled_out {
            true => None,
            // Not even a cost that rounding leaves unproven may be infinite.
            false if cost == f64::INFINITY => Some(Bounded { point, multipliers, cost: 0.0 }),
            false => Some(Bounded { point, multipliers, cost: cost.min(open.limit) }),
        }
    }

    /// Rules out the actions of a box that cost at most `cost_limit`, if the weighted sum of the cuts is
    /// negative for all of them.
    pub(super) fn rule_out(&mut self, open: &Open, multipliers: &[f64], cost_limit: f64) -> bool {
        let Set { integrality, weights, .. } = &self.sets[open.set];
        let Some((lower, upper)) =
            integrality.tightened(open.cuboid().shrunk(self.cost(), weights, cost_limit))
        else {
            // All its integer-valued actions cost more.
            return true;
        };
        let largest = multipliers.iter().fold(0.0f64, |most, m| most.max(*m));
        let shares: Vec<f64> = multipliers.iter().map(|m| m / largest).collect();
        let asked = -LEAST_MARGIN * shares.iter().sum::<f64>();
        let columns = Columns::new(&open.cuts, &lower, &upper, weights);
        let most = columns.highest(&open.cuts, &shares, self.cost(), cost_limit);
        if most >= asked || most.is_nan() || asked.is_nan() {
            return false;
        }
        let terms: Vec<(Source, f64)> =
            open.cuts.iter().zip(shares).filter(|(_, s)| *s > 0.0).map(|(cut, s)| (cut.source, s)).collect();
        self.state_ruled_out(open, (lower, upper), &terms, cost_limit);
        true
    }

    /// Adds a part of a box to the proof. Terms with the same source are added up.
    pub(super) fn state_ruled_out(
        &mut self,
        open: &Open,
        (lower, upper): (Vec<f64>, Vec<f64>),
        terms: &[(Source, f64)],
        cost: f64,
    ) {
        let mut margins: Vec<((usize, Option<usize>), f64)> = Vec::new();
        let mut requirements: Vec<(usize, f64)> = Vec::new();
        for &(source, share) in terms {
            match source {
                Source::Requirement(number) => add_to(&mut requirements, number, share),
                Source::Scenario(k) => add_to(&mut margins, (k, None), share),
                Source::Interpolated(k, point) => add_to(&mut margins, (k, Some(point)), share),
            }
        }
        let margin = |((k, point), share): ((usize, Option<usize>), f64)| WeightedMargin {
            scenario: self.pool[k].clone(),
            share,
            touches: point.map(|number| self.points[number].clone()),
        };
        self.ruled_out.push(RuledOut {
            features: self.sets[open.set].features.clone(),
            undecided: self.sets[open.set].undecided(),
            lower,
            upper,
            cost,
            margins: margins.into_iter().map(margin).collect(),
            cone: None,
            requirements,
        });
    }
}

impl Cut {
    /// Whether the linear program can use it.
    fn is_usable(&self) -> bool {
        let Plane { linear, constant, error, .. } = &self.plane;
        let mut slopes = linear.iter().chain(self.negative.iter().flatten());
        (constant + error).is_finite() && slopes.all(|a| a.is_finite())
    }

    /// An upper bound of the greatest value over a box.
    pub fn highest(&self, lower: &[f64], upper: &[f64]) -> f64 {
        let Some(negative) = &self.negative else {
            return self.plane.upper(&Region::cuboid(lower.to_vec(), upper.to_vec()));
        };
        let Plane { linear, constant, error, .. } = &self.plane;
        let (mut sum, mut size) = (constant + error, constant.abs() + error);
        for k in 0..linear.len() {
            let at = |t: f64| match if t > 0.0 { linear[k] } else { negative[k] } {
                0.0 => 0.0,
                slope => slope * t,
            };
            // Zero matters where the function is concave there.
            let zero = if lower[k] < 0.0 && upper[k] > 0.0 { 0.0 } else { f64::NEG_INFINITY };
            let end = at(lower[k]).max(at(upper[k])).max(zero);
            (sum, size) = (sum + end, size + end.abs());
        }
        let bound = sum + ROUNDING * size;
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// The slope along a side; `None` if it is not the same on the whole side.
    pub fn slope_on(&self, k: usize, lower: f64, upper: f64) -> Option<f64> {
        let slope = self.plane.linear[k];
        match &self.negative {
            Some(negative) if upper <= 0.0 => Some(negative[k]),
            Some(negative) if lower < 0.0 && negative[k] != slope => None,
            _ => Some(slope),
        }
    }

    /// The upper bound at a point.
    fn value(&self, point: &[f64]) -> f64 {
        let Plane { linear, constant, error, .. } = &self.plane;
        let slope = |k: usize| match &self.negative {
            Some(negative) if point[k] < 0.0 => negative[k],
            _ => linear[k],
        };
        constant + error + point.iter().enumerate().map(|(k, t)| slope(k) * t).sum::<f64>()
    }
}

impl Open {
    pub fn cuboid(&self) -> Cuboid {
        Cuboid::new(self.set, self.lower.clone(), self.upper.clone(), 0.0)
    }

    /// The sum of the lengths of the sides.
    pub fn length(&self) -> f64 {
        self.lower.iter().zip(&self.upper).map(|(l, u)| u - l).sum()
    }

    /// Multipliers to try: the given ones and, for each unbounded side, the same with that multiplier of
    /// the last margin for which the sum does not depend on the side.
    fn candidates(&self, multipliers: &[f64]) -> Vec<Vec<f64>> {
        let mut candidates = vec![multipliers.to_vec()];
        let is_margin = |&j: &usize| self.cuts[j].source.scenario().is_some();
        let Some(last) = (0..self.cuts.len()).rev().filter(is_margin).find(|&j| self.cuts[j].is_usable())
        else {
            return candidates;
        };
        for k in 0..self.lower.len() {
            let own = self.cuts[last].plane.linear[k];
            if self.lower[k].is_finite() && self.upper[k].is_finite() || own == 0.0 {
                continue;
            }
            let others =
                self.cuts.iter().zip(multipliers).enumerate().filter(|(j, (_, m))| *j != last && **m > 0.0);
            let slope: f64 = others.map(|(_, (cut, m))| m * cut.plane.linear[k]).sum();
            let share = -slope / own;
            if share > 0.0 && share.is_finite() {
                let mut candidate = multipliers.to_vec();
                candidate[last] = share;
                candidates.push(candidate);
            }
        }
        candidates
    }
}

/// Adds a share to that of a key in a list.
fn add_to<K: PartialEq>(list: &mut Vec<(K, f64)>, key: K, share: f64) {
    match list.iter_mut().find(|(other, _)| *other == key) {
        Some((_, sum)) => *sum += share,
        None => list.push((key, share)),
    }
}
