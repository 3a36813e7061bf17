//! The linear programs of the search by cuts, and what their multipliers prove.

use super::boxes::{Cuboid, cost_of, highest};
use super::cuts::WORTHWHILE;
use super::solve::{Set, Solver};
use crate::certify::LEAST_MARGIN;
use crate::graph::{Interval, Order, Plane, Region};
use crate::program::{Program, Row, Solution};
use crate::proof::{RuledOut, WeightedMargin};

/// The largest number of scenarios found at solutions of the linear program that are added to it; no more
/// than features.
const ADDED: usize = 3;
/// The amount by which a candidate exceeds each requirement, in units of about one standard deviation.
const INSIDE: f64 = 1e-7;

/// The source of a cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// A requirement of the problem, by number.
    Requirement(usize),
    /// A scenario of the pool, by number.
    Scenario(usize),
}

/// An affine function that is not negative for any action that holds.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub source: Source,
    pub plane: Plane,
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
        let mut best = self.solve_program(open)?;
        self.refine(open, &best);
        best = self.solve_program(open)?;
        for _ in 0..ADDED.min(open.lower.len()) {
            if self.prover.is_spent() {
                break;
            }
            let Some(k) = self.try_point(open, &best) else { break };
            let region = self.region(open);
            let plane = self.plane(open.set, k, &region);
            let at_point = value_at(&plane, &best.point);
            open.cuts.push(Cut { source: Source::Scenario(k), plane });
            if let Some(plane) = self.refined(open.set, k, &region, &best.point) {
                let is_separating = value_at(&plane, &best.point).min(at_point) < 0.0;
                open.cuts.push(Cut { source: Source::Scenario(k), plane });
                if !is_separating {
                    break;
                }
            } else if at_point >= 0.0 {
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

    /// Attacks the solution of a linear program. Returns a scenario that breaks it; otherwise offers
    /// the solution as an incumbent.
    fn try_point(&mut self, open: &Open, bounded: &Bounded) -> Option<usize> {
        let set = open.set;
        let inside = self.point_inside(open).unwrap_or_else(|| bounded.point.clone());
        let point = self.sets[set].integrality.near(&open.lower, &open.upper, &inside);
        let start = open.cuts.iter().zip(&bounded.multipliers).rev();
        let start = start.filter(|(_, m)| **m > 0.0).find_map(|(cut, _)| match cut.source {
            Source::Scenario(k) => Some(self.pool[k].clone()),
            Source::Requirement(_) => None,
        });
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
        self.add(set, &point, scenario)
    }

    /// For a box with open requirements: the cheapest point that meets every cut by at least [`INSIDE`],
    /// so that rounding does not violate a requirement.
    fn point_inside(&self, open: &Open) -> Option<Vec<f64>> {
        let is_requirement = |cut: &Cut| matches!(cut.source, Source::Requirement(_));
        if !open.cuts.iter().any(is_requirement) {
            return None;
        }
        let mut rows: Vec<Row> = open.cuts.iter().filter(|cut| cut.is_usable()).map(Cut::row).collect();
        rows.iter_mut().for_each(|row| row.need += INSIDE);
        let weights = &self.sets[open.set].weights;
        let program =
            Program { rows: &rows, weights, cost: self.cost(), lower: &open.lower, upper: &open.upper };
        match program.solve() {
            Solution::Optimal { point, .. } => Some(point),
            _ => None,
        }
    }

    /// Adds, for each scenario that bounds the cost, a cut that is tight at the solution.
    fn refine(&mut self, open: &mut Open, bounded: &Bounded) {
        let region = self.region(open);
        for number in 0..bounded.multipliers.len() {
            let Source::Scenario(k) = open.cuts[number].source else { continue };
            if bounded.multipliers[number] > 0.0
                && let Some(plane) = self.refined(open.set, k, &region, &bounded.point)
            {
                open.cuts.push(Cut { source: Source::Scenario(k), plane });
            }
        }
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
        let rows: Vec<Row> = usable.iter().map(|&j| open.cuts[j].row()).collect();
        let weights = &self.sets[open.set].weights;
        let program =
            Program { rows: &rows, weights, cost: self.cost(), lower: &open.lower, upper: &open.upper };
        let all = |few: Vec<f64>| {
            let mut all = vec![0.0; open.cuts.len()];
            usable.iter().zip(few).for_each(|(&j, m)| all[j] = m);
            all
        };
        let cheapest = open.cuboid().cheapest();
        let (point, multipliers, cost) = match program.solve() {
            Solution::Optimal { point, multipliers } => {
                let cost = program.cost_bound(&multipliers);
                (point, all(multipliers), cost)
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
        let region = Region::cuboid(lower.clone(), upper.clone());
        let largest = multipliers.iter().fold(0.0f64, |most, m| most.max(*m));
        let shares: Vec<f64> = multipliers.iter().map(|m| m / largest).collect();
        let asked = -LEAST_MARGIN * shares.iter().sum::<f64>();
        let most = highest(&sum(&open.cuts, &shares, &region), &region, self.cost(), weights, cost_limit);
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
        let mut numbers: Vec<(usize, f64)> = Vec::new();
        let mut requirements: Vec<(usize, f64)> = Vec::new();
        for &(source, share) in terms {
            let (list, number) = match source {
                Source::Scenario(k) => (&mut numbers, k),
                Source::Requirement(number) => (&mut requirements, number),
            };
            match list.iter_mut().find(|(other, _)| *other == number) {
                Some((_, sum)) => *sum += share,
                None => list.push((number, share)),
            }
        }
        let margin = |(k, share): (usize, f64)| WeightedMargin { scenario: self.pool[k].clone(), share };
        self.ruled_out.push(RuledOut {
            features: self.settings.sets[open.set].clone(),
            lower,
            upper,
            cost,
            margins: numbers.into_iter().map(margin).collect(),
            cone: None,
            requirements,
        });
    }
}

impl Cut {
    /// Whether the linear program can use it.
    fn is_usable(&self) -> bool {
        let Plane { linear, constant, error, .. } = &self.plane;
        (constant + error).is_finite() && linear.iter().all(|a| a.is_finite())
    }

    /// The row of the linear program: the upper bound must not be negative.
    fn row(&self) -> Row {
        let Plane { linear, constant, error, .. } = &self.plane;
        Row { coefficients: linear.clone(), need: -(constant + error), doubt: vec![0.0; linear.len()] }
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
        let is_margin = |&j: &usize| matches!(self.cuts[j].source, Source::Scenario(_));
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

/// The value of an affine upper bound at a point.
fn value_at(plane: &Plane, point: &[f64]) -> f64 {
    plane.constant + plane.error + plane.linear.iter().zip(point).map(|(a, t)| a * t).sum::<f64>()
}

/// The weighted sum of cuts, including its rounding error.
fn sum(cuts: &[Cut], shares: &[f64], region: &Region) -> Plane {
    let width = region.inputs();
    let mut sum = Plane { linear: vec![0.0; width], constant: 0.0, error: 0.0, range: Interval::EVERYTHING };
    let mut size = 0.0;
    for (Cut { plane, .. }, &share) in cuts.iter().zip(shares).filter(|(_, share)| **share > 0.0) {
        sum.constant += share * plane.constant;
        sum.error += share * plane.error;
        size += share * plane.constant.abs();
        for i in 0..width {
            sum.linear[i] += share * plane.linear[i];
            size += share * plane.linear[i].abs() * region.size(i);
        }
    }
    sum.error += (width + cuts.len() + 8) as f64 * f64::EPSILON * (size + sum.error);
    sum
}
