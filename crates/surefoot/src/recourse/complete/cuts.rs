//! The search by cuts: how a box of actions is bounded, shrunk and split.
//!
//! Over a box, the margin under a perturbation D has an affine upper bound. It is a *cut*: every action
//! of the box that holds satisfies `a.t + b >= 0`. Several perturbations give several cuts, and the open
//! requirements give further ones. Together they
//!
//! - *rule out* the box, if one of them is negative everywhere or if a linear program over all of them
//!   has no solution;
//! - *shrink* the box to the part that satisfies each of them;
//! - *bound the cost* of every action of the box that holds, by the optimum of that linear program. Its
//!   multipliers prove the bound.
//!
//! All bounds are taken over those actions of the box that cost less than the incumbent. With many
//! features this part is far smaller than the box.
//!
//! The solution of the linear program is attacked. The perturbation that breaks it gives a further cut;
//! if none does, the solution is the new incumbent.

use super::boxes::{Cuboid, DISTANCE, cost_of, highest};
use super::requirements::Requirement;
use super::solve::{Set, Solver};
use crate::certify::LEAST_MARGIN;
use crate::graph::{Interval, Order, Plane, Region};
use crate::margin::margin;
use crate::program::{Program, Row, Solution};
use crate::proof::{RuledOut, WeightedMargin};

/// The largest number of perturbations that a box takes over from the box that it is a part of.
const INHERITED: usize = 8;
/// The number of recent perturbations of the pool that are tried as well.
const MORE: usize = 2;
/// Boxes with several long sides are searched up to a cost of this many times the least weight first.
const NEAR: f64 = 4.0;
/// A box is shrunk at most so many times before it is bounded by a linear program.
const CONTRACTIONS: usize = 3;
/// A side is shrunk if it loses at least this share of its length.
const WORTH_SHRINKING: f64 = 0.1;
/// A box is bounded again if its sides together lost at least this share of their lengths.
const WORTH_REPEATING: f64 = 0.15;
/// The largest number of perturbations found at solutions of the linear program that are added to it.
const ADDED: usize = 3;
/// The proven cost of a box is stated in a proof if it exceeds the known one by at least this share.
const WORTHWHILE: f64 = 0.003;
/// The share by which a cost is rounded down, so that the sum that rules out cheaper actions is clearly
/// negative.
const ROUNDED_DOWN: f64 = 1e-4;

/// The amount by which a candidate exceeds each requirement, in units of about one standard deviation.
const INSIDE: f64 = 1e-7;

/// The largest difference, relative to margins above one, between the margin by the definition and the
/// composed one.
const AGREEMENT: f64 = 1e-10;

/// The source of a cut.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// A requirement of the problem, by number.
    Requirement(usize),
    /// A perturbation of the pool, by number.
    Perturbation(usize),
}

/// An affine function that is not negative for any action that holds.
#[derive(Clone, Debug)]
struct Cut {
    source: Source,
    plane: Plane,
}

/// A box that is being bounded: the actions within its sides that cost at most `limit`.
struct Open {
    set: usize,
    lower: Vec<f64>,
    upper: Vec<f64>,
    limit: f64,
    cuts: Vec<Cut>,
}

/// The solution of the linear program of a box.
struct Bounded {
    point: Vec<f64>,
    multipliers: Vec<f64>,
    /// A lower bound of the cost of the actions that hold.
    cost: f64,
}

impl Solver<'_, '_> {
    /// Rules out a box, or splits it into parts with a higher bound of their cost.
    pub(super) fn process_box(&mut self, cuboid: Cuboid) {
        if cuboid.far {
            return self.process_cone(cuboid);
        }
        if cuboid.cost >= cuboid.limit {
            return;
        }
        let limit = self.limit().min(cuboid.limit).min(self.near_limit(&cuboid));
        let Set { integrality, weights, .. } = &self.sets[cuboid.set];
        let Some((lower, upper)) = integrality.tightened(cuboid.shrunk(self.cost(), weights, limit)) else {
            // All its integer-valued actions cost more.
            return self.push(Cuboid { cost: limit, ..cuboid });
        };
        if self.split_long_sides(&cuboid, &lower, &upper) {
            return;
        }
        let Some(requirements) = self.open_requirements(&cuboid) else { return };
        if limit < cuboid.limit {
            // More expensive actions of the box stay open.
            self.push(Cuboid { cost: cuboid.cost.max(limit), ..cuboid.clone() });
        }
        let mut open = Open { set: cuboid.set, lower, upper, limit, cuts: Vec::new() };
        let numbers = self.perturbations_to_try(&open, &cuboid.cuts);
        if self.is_excluded(&mut open, &numbers, &requirements) {
            return;
        }
        let Some(bounded) = self.bound_by_program(&mut open) else { return };
        let mut cost = cuboid.cost;
        let proven = bounded.cost * (1.0 - ROUNDED_DOWN);
        if proven > (1.0 + WORTHWHILE) * cost && self.rule_out(&open, &bounded.multipliers, proven) {
            cost = proven;
        }
        self.split(open, bounded, cost);
    }

    /// The limit on the cost up to which a box with several long sides is searched first. More expensive
    /// actions are split by the directions of their changes.
    fn near_limit(&self, cuboid: &Cuboid) -> f64 {
        let long = cuboid.long_sides();
        if long.len() < 2 {
            return f64::INFINITY;
        }
        let least = long.iter().map(|&k| self.sets[cuboid.set].weights[k]).fold(f64::INFINITY, f64::min);
        let limit = (NEAR * least).max(4.0 * cuboid.cost);
        if limit <= DISTANCE * least { limit } else { f64::INFINITY }
    }

    /// Splits a box with sides too long for affine bounds: at zero, or into a near and a far part.
    fn split_long_sides(&mut self, cuboid: &Cuboid, lower: &[f64], upper: &[f64]) -> bool {
        let long = Cuboid::new(cuboid.set, lower.to_vec(), upper.to_vec(), 0.0).long_sides();
        if let Some(&k) = long.iter().find(|&&k| lower[k] < 0.0 && upper[k] > 0.0) {
            let (mut below, mut above) = (cuboid.clone(), cuboid.clone());
            (below.upper[k], above.lower[k]) = (0.0, 0.0);
            self.push(below);
            self.push(above);
            return true;
        }
        // Parts of a far part that cones did not rule out are not split into a near and a far part again.
        let is_far = long.iter().any(|&k| lower[k] >= DISTANCE || upper[k] <= -DISTANCE);
        if long.len() < 2 || is_far {
            return false;
        }
        self.push_near_and_far(cuboid.set, cuboid.lower.clone(), cuboid.upper.clone(), cuboid.cost);
        true
    }

    /// The perturbations that may exclude a box or bound its cost: those of its parent, some recent ones,
    /// and one that breaks the action in its middle. Those with the lowest margins there come first.
    fn perturbations_to_try(&mut self, open: &Open, inherited: &[usize]) -> Vec<usize> {
        let middle = self.middle(open);
        let recent = self.margins(open.set, &middle);
        let mut order: Vec<(f64, usize)> = recent.iter().copied().take(MORE).collect();
        for &k in inherited {
            if order.iter().all(|(_, other)| *other != k) {
                order.push((self.margin_under(open.set, &middle, k), k));
            }
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_likely = order.first().is_some_and(|(margin, _)| *margin < 0.0);
        let mut numbers: Vec<usize> = order.into_iter().map(|(_, k)| k).collect();
        if !is_likely && let Some(k) = self.attack_middle(open, &middle, numbers.first().copied()) {
            numbers.insert(0, k);
        }
        numbers
    }

    /// Attacks the action in the middle of a box. Returns a perturbation that breaks it; otherwise makes
    /// it an incumbent, moved towards the cheapest action.
    fn attack_middle(&mut self, open: &Open, middle: &[f64], start: Option<usize>) -> Option<usize> {
        let start = start.map(|k| self.pool[k].clone());
        let (perturbation, value) = self.attack(open.set, middle, start.as_deref());
        let is_allowed = self.meets(open.set, middle);
        if value < 0.0 {
            if is_allowed {
                self.note(open.set, middle, value);
            }
            return self.add(open.set, middle, perturbation);
        }
        if is_allowed {
            self.improve(&open.cuboid(), middle);
        }
        None
    }

    /// An action in the middle of a box.
    fn middle(&self, open: &Open) -> Vec<f64> {
        let integrality = &self.sets[open.set].integrality;
        integrality.near(&open.lower, &open.upper, &open.cuboid().middle())
    }

    /// An affine bound of the margin under a perturbation of the pool.
    fn plane(&mut self, set: usize, k: usize, region: &Region) -> Plane {
        self.compose(set);
        if self.settings.problem.scm().is_some() && !self.agrees(set, k, &region.nearest()) {
            self.sets[set].graphs[k].is_of_nobody = true;
        }
        self.prover.affine.bound(&self.sets[set].graphs[k], region).plane
    }

    /// Whether the composed margin under a perturbation agrees with the definition. Near the edge of the
    /// causal model's domain rounding may be so large that a checker cannot confirm it. Then the
    /// perturbation proves nothing.
    fn agrees(&mut self, set: usize, k: usize, change: &[f64]) -> bool {
        let action = self.action(set, change);
        let defined = margin(self.settings.problem, &self.individual, &action, &self.pool[k]);
        let Some(defined) = defined.ok().filter(|margin| margin.is_finite()) else { return true };
        (self.margin_under(set, change, k) - defined).abs() <= AGREEMENT * defined.abs().max(1.0)
    }

    /// The margin of an action under a perturbation of the pool.
    fn margin_under(&mut self, set: usize, change: &[f64], k: usize) -> f64 {
        self.compose(set);
        self.prover.jets.evaluate(&self.sets[set].graphs[k], change, Order::Value).value
    }

    /// Bounds the margins under some perturbations over a box, and shrinks the box by them. Returns true
    /// if nothing is left of it.
    fn is_excluded(&mut self, open: &mut Open, numbers: &[usize], requirements: &[Requirement]) -> bool {
        for _ in 0..CONTRACTIONS {
            let region = self.region(open);
            open.cuts = requirements
                .iter()
                .map(|rule| Cut { source: Source::Requirement(rule.number), plane: rule.plane.clone() })
                .collect();
            for &k in numbers {
                let plane = self.plane(open.set, k, &region);
                if plane.upper(&region) < -LEAST_MARGIN {
                    let (lower, upper) = (open.lower.clone(), open.upper.clone());
                    self.state_ruled_out(open, (lower, upper), &[(Source::Perturbation(k), 1.0)], open.limit);
                    return true;
                }
                open.cuts.push(Cut { source: Source::Perturbation(k), plane });
            }
            let before = open.length();
            if self.shrink(open) {
                return true;
            }
            if open.length() > (1.0 - WORTH_REPEATING) * before {
                break;
            }
        }
        false
    }

    /// The actions of a box that cost at most the limit.
    fn region(&self, open: &Open) -> Region {
        let weights = &self.sets[open.set].weights;
        Region::cuboid(open.lower.clone(), open.upper.clone()).within_cost(self.cost(), weights, open.limit)
    }

    /// Cuts off those ends of a box's sides where a cut is negative. Returns true if nothing is left.
    fn shrink(&mut self, open: &mut Open) -> bool {
        for number in 0..open.cuts.len() {
            let Cut { source, plane } = open.cuts[number].clone();
            if !(plane.error.is_finite()) {
                continue;
            }
            for k in 0..open.lower.len() {
                let a = plane.linear[k];
                let (l, u) = (open.lower[k], open.upper[k]);
                let over_box = plane.upper(&Region::cuboid(open.lower.clone(), open.upper.clone()));
                if a == 0.0 || !(u > l) || !over_box.is_finite() {
                    continue;
                }
                // Where the cut is zero if the other changes are as favourable as possible.
                let zero = if a > 0.0 { u - over_box / a } else { l - over_box / a };
                let removed = if a > 0.0 { zero - l } else { u - zero };
                if !(removed >= WORTH_SHRINKING * (u - l)) {
                    continue;
                }
                let end = if a > 0.0 { zero - 1e-6 * removed } else { zero + 1e-6 * removed };
                let (mut slab_lower, mut slab_upper) = (open.lower.clone(), open.upper.clone());
                if a > 0.0 {
                    slab_upper[k] = end.min(u)
                } else {
                    slab_lower[k] = end.max(l)
                }
                let slab = Region::cuboid(slab_lower.clone(), slab_upper.clone());
                if !(plane.upper(&slab) < -LEAST_MARGIN) {
                    continue;
                }
                self.state_ruled_out(open, (slab_lower, slab_upper), &[(source, 1.0)], open.limit);
                if a > 0.0 {
                    open.lower[k] = end
                } else {
                    open.upper[k] = end
                }
                if open.lower[k] >= u || open.upper[k] <= l {
                    return true;
                }
                let sides = (std::mem::take(&mut open.lower), std::mem::take(&mut open.upper));
                let Some((lower, upper)) = self.sets[open.set].integrality.tightened(sides) else {
                    return true;
                };
                (open.lower, open.upper) = (lower, upper);
            }
        }
        false
    }

    /// Bounds the cost of a box by linear programs over its cuts. The solution is attacked, and what
    /// breaks it becomes a cut. `None` if the box is ruled out.
    fn bound_by_program(&mut self, open: &mut Open) -> Option<Bounded> {
        let mut best = self.solve_program(open)?;
        self.refine(open, &best);
        best = self.solve_program(open)?;
        for _ in 0..ADDED {
            if self.prover.is_spent() {
                break;
            }
            let Some(k) = self.try_point(open, &best) else { break };
            let region = self.region(open);
            let plane = self.plane(open.set, k, &region);
            let at_point = value_at(&plane, &best.point);
            open.cuts.push(Cut { source: Source::Perturbation(k), plane });
            if let Some(plane) = self.refined(open.set, k, &region, &best.point) {
                let is_separating = value_at(&plane, &best.point).min(at_point) < 0.0;
                open.cuts.push(Cut { source: Source::Perturbation(k), plane });
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

    /// Attacks the solution of a linear program. Returns a perturbation that breaks it; otherwise offers
    /// the solution as an incumbent.
    fn try_point(&mut self, open: &Open, bounded: &Bounded) -> Option<usize> {
        let set = open.set;
        let inside = self.point_inside(open).unwrap_or_else(|| bounded.point.clone());
        let point = self.sets[set].integrality.near(&open.lower, &open.upper, &inside);
        let start = open.cuts.iter().zip(&bounded.multipliers).rev();
        let start = start.filter(|(_, m)| **m > 0.0).find_map(|(cut, _)| match cut.source {
            Source::Perturbation(k) => Some(self.pool[k].clone()),
            Source::Requirement(_) => None,
        });
        let (perturbation, value) = self.attack(set, &point, start.as_deref());
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
        self.add(set, &point, perturbation)
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

    /// Adds, for each perturbation that bounds the cost, a cut that is tight at the solution.
    fn refine(&mut self, open: &mut Open, bounded: &Bounded) {
        let region = self.region(open);
        for number in 0..bounded.multipliers.len() {
            let Source::Perturbation(k) = open.cuts[number].source else { continue };
            if bounded.multipliers[number] > 0.0
                && let Some(plane) = self.refined(open.set, k, &region, &bounded.point)
            {
                open.cuts.push(Cut { source: Source::Perturbation(k), plane });
            }
        }
    }

    /// An affine upper bound of the margin under a perturbation that is tight near a point.
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
    fn rule_out(&mut self, open: &Open, multipliers: &[f64], cost_limit: f64) -> bool {
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
        if !(most < asked) {
            return false;
        }
        let terms: Vec<(Source, f64)> =
            open.cuts.iter().zip(shares).filter(|(_, s)| *s > 0.0).map(|(cut, s)| (cut.source, s)).collect();
        self.state_ruled_out(open, (lower, upper), &terms, cost_limit);
        true
    }

    /// Adds a part of a box to the proof. Terms with the same source are added up.
    fn state_ruled_out(
        &mut self,
        open: &Open,
        (lower, upper): (Vec<f64>, Vec<f64>),
        terms: &[(Source, f64)],
        cost: f64,
    ) {
        let (mut numbers, mut requirements): (Vec<(usize, f64)>, Vec<(usize, f64)>) = Default::default();
        for &(source, share) in terms {
            let (list, number) = match source {
                Source::Perturbation(k) => (&mut numbers, k),
                Source::Requirement(number) => (&mut requirements, number),
            };
            match list.iter_mut().find(|(other, _)| *other == number) {
                Some((_, sum)) => *sum += share,
                None => list.push((number, share)),
            }
        }
        let margin = |(k, share): (usize, f64)| WeightedMargin { perturbation: self.pool[k].clone(), share };
        self.ruled_out.push(RuledOut {
            features: self.sets[open.set].composer.features().to_vec(),
            lower,
            upper,
            cost,
            margins: numbers.into_iter().map(margin).collect(),
            cone: None,
            requirements,
        });
    }

    /// Splits a box across the side that causes most of the error of the cuts that bound its cost,
    /// between its middle and the solution of the linear program.
    fn split(&mut self, open: Open, bounded: Bounded, cost: f64) {
        let mut binding: Vec<(f64, usize)> = Vec::new();
        for (cut, &m) in open.cuts.iter().zip(&bounded.multipliers) {
            if let Source::Perturbation(k) = cut.source {
                match binding.iter_mut().find(|(_, other)| *other == k) {
                    Some((sum, _)) => *sum += m,
                    None => binding.push((m, k)),
                }
            }
        }
        binding.sort_by(|a, b| b.0.total_cmp(&a.0));
        binding.truncate(INHERITED.min(open.lower.len() + 1));
        let region = self.region(&open);
        let mut error_share = vec![0.0; open.lower.len()];
        for &(m, k) in binding.iter().filter(|(m, _)| *m > 0.0).take(MORE) {
            let share = self.prover.affine.bound(&self.sets[open.set].graphs[k], &region).error_share();
            error_share.iter_mut().zip(share).for_each(|(sum, e)| *sum += m * e);
        }
        let cuts = binding.into_iter().map(|(_, k)| k).collect();
        let Open { set, lower, upper, limit, .. } = open;
        let cuboid = Cuboid { limit, cuts, ..Cuboid::new(set, lower, upper, cost) };
        self.cut(cuboid, &error_share, &bounded.point);
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
    fn cuboid(&self) -> Cuboid {
        Cuboid::new(self.set, self.lower.clone(), self.upper.clone(), 0.0)
    }

    /// The sum of the lengths of the sides.
    fn length(&self) -> f64 {
        self.lower.iter().zip(&self.upper).map(|(l, u)| u - l).sum()
    }

    /// Multipliers to try: the given ones and, for each unbounded side, the same with that multiplier of
    /// the last margin for which the sum does not depend on the side.
    fn candidates(&self, multipliers: &[f64]) -> Vec<Vec<f64>> {
        let mut candidates = vec![multipliers.to_vec()];
        let is_margin = |&j: &usize| matches!(self.cuts[j].source, Source::Perturbation(_));
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
