//! Verifies a lower bound on the cost along the divisions that a proof states.
//!
//! The boxes of an intervention set are read one after the other, each before its two parts. A box that is not
//! divided must be closed: its cheapest action costs at least the bound, or no action meets a requirement, or
//! its reason shows that no cheaper action holds.

mod cell;
mod path;

use path::Path;

use super::super::cost_bound::RuledOutCount;
use super::super::cover::Sides;
use super::super::effort::allowed_changes;
use super::super::integer::Cells;
use super::super::prove::Work;
use super::super::sets::sets;
use super::super::{Fault, Stop};
use super::Situation;
use crate::proof::{Dividing, Division, SavedProof, TreeReason};
use crate::trees::{Member, Node};
use crate::{Cost, Problem};

/// What every live feature can be perturbed beyond the radii of a scenario, relative to `1 + |x|`. Where the box
/// ends on a threshold, the perturbation is chosen within that much so that the input is on the side of the
/// rest of the box.
const SLACK: f64 = 1e-10;
/// Room for inputs that follow others, which may be moved within their slack.
const SLACK_OF_EFFECTS: f64 = 1e-8;

/// An intervention set that is verified.
struct Checked<'c, 'p> {
    problem: &'p Problem,
    situation: &'c Situation<'p>,
    cells: Cells<'c>,
    prices: Vec<f64>,
    bound: f64,
}

/// How an input follows from the change in a scenario.
#[derive(Clone, Copy)]
enum Input {
    /// It lies between two numbers.
    Between(f64, f64),
    /// It is `x + change`, perturbed towards a pivot by at most a radius.
    Own { k: usize, base: f64, pivot: f64, radius: f64, slack: f64 },
    /// It is `x + change`, as the definition of the margin computes it.
    Exact { k: usize },
    /// It lies between two numbers; its value at the cheapest change and without any, and the most by which one
    /// unit of price moves it.
    Moved { lower: f64, upper: f64, first: f64, zero: f64, steepness: f64 },
}

/// Verifies that no feasible action with a cost below the bound holds.
pub(in super::super) fn nothing_cheaper(
    problem: &Problem,
    saved: &SavedProof,
    dividing: &Dividing,
    bound: f64,
    work: &mut Work,
) -> Result<RuledOutCount, Stop> {
    let mut count = RuledOutCount::default();
    if !(bound > 0.0) {
        return Ok(count);
    }
    for features in sets(problem)? {
        count.sets += 1;
        let uncovered = |sides: &Sides| {
            let features = features.iter().map(|&i| problem.features().feature(i).name.clone()).collect();
            let (lower, upper) = sides.clone();
            Stop::Wrong(Fault::ActionsNotCovered { features, lower, upper })
        };
        let whole = allowed_changes(problem, &saved.individual, &features);
        let stated = dividing.sets.iter().find(|(stated, _)| *stated == features);
        let situation = Situation::new(problem, &saved.individual, &features);
        let (Some((_, divisions)), Some(situation)) = (stated, situation) else {
            return Err(uncovered(&whole));
        };
        let checked = Checked {
            problem,
            situation: &situation,
            cells: Cells::new(problem, &saved.individual, &features),
            prices: features.iter().map(|&i| problem.features().feature(i).weight).collect(),
            bound,
        };
        let mut open = vec![whole];
        let mut steps = divisions.iter();
        while let Some(sides) = open.pop() {
            match steps.next() {
                Some(&Division::At { change, at }) if change < features.len() => {
                    let (mut first, mut second) = (sides.clone(), sides);
                    first.1[change] = first.1[change].min(at);
                    second.0[change] = second.0[change].max(at.next_up());
                    open.extend([second, first]);
                }
                Some(&Division::Closed(reason)) => {
                    count.boxes += 1;
                    let Some(sides) = checked.cells.hull(&sides) else { continue };
                    if checked.is_closed(&sides) {
                        continue;
                    }
                    let Some(number) = reason else { return Err(uncovered(&sides)) };
                    let reason = dividing.reasons.get(number).ok_or_else(|| uncovered(&sides))?;
                    if !work.take() {
                        return Err(Stop::Unverified(Fault::RuledOut { part: number, bound: f64::INFINITY }));
                    }
                    let greatest = match reason {
                        TreeReason::Scenario { pivot, radii } => {
                            checked.scenario(number, &sides, pivot, radii)?
                        }
                        TreeReason::Cell { lower, upper } => checked.cell(&sides, lower, upper),
                    };
                    if !(greatest < 0.0) {
                        return Err(Stop::Unverified(Fault::RuledOut { part: number, bound: greatest }));
                    }
                }
                _ => return Err(uncovered(&sides)),
            }
        }
    }
    Ok(count)
}

impl Checked<'_, '_> {
    /// Whether a box needs no reason.
    fn is_closed(&self, sides: &Sides) -> bool {
        let Some(cheapest) = self.cells.cheapest(sides) else { return true };
        let cost = self.problem.cost().of(self.problem.features(), &cheapest);
        if self.bound.is_finite() && cost * (1.0 + 1e-12) >= self.bound {
            return true;
        }
        let s = self.situation;
        self.problem.requirements().iter().any(|rule| {
            let (constant, coefficients) = rule.upper_terms();
            let (mut greatest, mut size) = (constant, constant.abs());
            for (coefficient, x) in coefficients.iter().zip(s.x) {
                greatest += coefficient * x;
                size += (coefficient * x).abs();
            }
            for k in 0..s.set.len() {
                let slope: f64 = coefficients.iter().zip(&s.effects).map(|(c, effects)| c * effects[k]).sum();
                if slope != 0.0 {
                    let term = slope * if slope > 0.0 { sides.1[k] } else { sides.0[k] };
                    greatest += term;
                    size += term.abs();
                }
            }
            greatest < -1e-12 * (1.0 + size)
        })
    }

    fn price(&self, k: usize, change: f64) -> f64 {
        let weighted = self.prices[k] * change.abs();
        if self.problem.cost() == Cost::L2 { weighted * weighted } else { weighted }
    }

    /// The cheapest change of a box of real numbers, and what may be spent beyond it.
    fn budget(&self, sides: &Sides) -> (Vec<f64>, f64) {
        let cheapest: Vec<f64> = sides.0.iter().zip(&sides.1).map(|(&l, &u)| 0.0f64.max(l).min(u)).collect();
        let spent: f64 = cheapest.iter().enumerate().map(|(k, &c)| self.price(k, c)).sum();
        let total = if self.problem.cost() == Cost::L2 { self.bound * self.bound } else { self.bound };
        let left =
            if total.is_finite() { (total - spent) * (1.0 + 1e-12) + 1e-12 * spent } else { f64::INFINITY };
        (cheapest, left)
    }

    /// An upper bound of the score under a scenario, over the actions of a box that cost less than the bound.
    fn scenario(&self, part: usize, sides: &Sides, pivot: &[f64], radii: &[f64]) -> Result<f64, Stop> {
        let s = self.situation;
        let wrong = |size: f64| Stop::Wrong(Fault::Perturbation { part, size, epsilon: s.radius });
        let is_valid = |r: &f64| *r >= 0.0 && r.is_finite();
        if pivot.len() != s.x.len() || radii.len() != s.x.len() || !radii.iter().all(is_valid) {
            return Err(wrong(f64::NAN));
        }
        let size = s.size((0..s.x.len()).filter(|&i| s.is_live[i]).map(|i| match radii[i] {
            0.0 if s.radius == 0.0 => 0.0,
            radius => (radius + 2.0 * SLACK * (1.0 + s.x[i].abs())) * s.weights[i],
        }));
        if !(size <= s.radius) {
            return Err(wrong(size));
        }
        let (cheapest, left) = self.budget(sides);
        let inputs = self.inputs(sides, &cheapest, pivot, radii);
        let spent = cheapest.iter().enumerate().map(|(k, &c)| self.price(k, c)).sum();
        let ranges = vec![(f64::NEG_INFINITY, f64::INFINITY); inputs.len()];
        let mut path = Path { sides: sides.clone(), ranges, spent };
        let mut sum = s.start;
        for &root in s.ensemble.roots() {
            sum += self.greatest(root, &inputs, &cheapest, left, &mut path, 0.0);
        }
        Ok(sum + s.rounding)
    }

    /// How every input follows from the change. Ancestors come first, so that the deviations of causes are
    /// known: their ranges, their values at the cheapest change, and the most by which changes move them.
    fn inputs(&self, sides: &Sides, cheapest: &[f64], pivot: &[f64], radii: &[f64]) -> Vec<Input> {
        let s = self.situation;
        let (n, count) = (s.x.len(), s.set.len());
        let mut inputs = vec![Input::Between(0.0, 0.0); n];
        let mut deviations = vec![(0.0, 0.0, [0.0; 2], vec![0.0; count]); n];
        for &i in &s.order {
            let (mut lower, mut upper, mut first) = (s.x[i], s.x[i], s.x[i]);
            for k in (0..count).filter(|&k| s.effects[i][k] != 0.0) {
                let effect = s.effects[i][k];
                let ends = [effect * sides.0[k], effect * sides.1[k]];
                lower += ends[0].min(ends[1]);
                upper += ends[0].max(ends[1]);
                first += effect * cheapest[k];
            }
            let (mut low, mut high, mut now, mut slopes) = (0.0, 0.0, [0.0; 2], vec![0.0; count]);
            for &(j, c) in &s.causes[i] {
                let (from, to, at, by) = &deviations[j];
                low += (c * from).min(c * to);
                high += (c * from).max(c * to);
                now = [now[0] + c * at[0], now[1] + c * at[1]];
                slopes.iter_mut().zip(by).for_each(|(slope, by)| *slope += c.abs() * by);
            }
            let radius = if s.is_live[i] { radii[i] } else { 0.0 };
            let towards = |value: f64| (pivot[i] - value).max(-radius).min(radius);
            let moved: Vec<f64> = (0..count).map(|k| slopes[k] + s.effects[i][k].abs()).collect();
            if s.is_live[i] {
                deviations[i] = (
                    low + towards(upper + low),
                    high + towards(lower + high),
                    [now[0] + towards(first + now[0]), now[1] + towards(s.x[i] + now[1])],
                    if radius > 0.0 { moved.clone() } else { slopes },
                );
            }
            let is_own = s.set.iter().position(|&member| member == i).filter(|_| low == high);
            let slack = SLACK * (1.0 + s.x[i].abs());
            inputs[i] = match is_own {
                Some(k) if s.is_exact(i) => Input::Exact { k },
                Some(k) if lower < upper => {
                    Input::Own { k, base: s.x[i] + low, pivot: pivot[i], radius, slack }
                }
                _ if s.is_exact(i) => Input::Between(lower, upper),
                _ => {
                    let end = |value: f64| value + towards(value);
                    let is_still = lower == upper && s.causes[i].is_empty();
                    let room = if is_still { 1e-13 } else { SLACK_OF_EFFECTS } * (1.0 + s.x[i].abs());
                    let worth = moved.iter().zip(&self.prices).map(|(slope, price)| slope / price);
                    let steepness = match self.problem.cost() {
                        Cost::L1 => worth.fold(0.0, f64::max),
                        Cost::L2 => worth.map(|worth| worth * worth).sum::<f64>().sqrt(),
                    };
                    Input::Moved {
                        lower: end(lower + low) - room,
                        upper: end(upper + high) + room,
                        first: end(first + now[0]),
                        zero: end(s.x[i] + now[1]),
                        steepness: steepness * (1.0 + 1e-12),
                    }
                }
            };
        }
        inputs
    }

    /// The greatest value behind a test of several members: each member after the other is below, within or
    /// above.
    fn any_of(
        &self,
        members: &[Member],
        [inside, outside]: [u32; 2],
        inputs: &[Input],
        path: &mut Path,
        needed: f64,
        visit: &dyn Fn(u32, &mut Path, f64) -> f64,
    ) -> f64 {
        let Some((member, rest)) = members.split_first() else { return visit(outside, path, needed) };
        let (s, i, cost) = (self.situation, member.feature as usize, self.problem.cost());
        let old = path.state(i, inputs[i]);
        let mut most = f64::NEG_INFINITY;
        if let Some(price) = path.narrow(s, i, inputs[i], member.lower, true, cost) {
            most = self.any_of(rest, [inside, outside], inputs, path, needed.max(price), visit);
        }
        path.restore(i, inputs[i], old);
        if let Some(above) = path.narrow(s, i, inputs[i], member.lower, false, cost) {
            let old = path.state(i, inputs[i]);
            if let Some(price) = path.narrow(s, i, inputs[i], member.upper, true, cost) {
                most = most.max(visit(inside, path, needed.max(above).max(price)));
            }
            path.restore(i, inputs[i], old);
            if let Some(price) = path.narrow(s, i, inputs[i], member.upper, false, cost) {
                let needed = needed.max(above).max(price);
                most = most.max(self.any_of(rest, [inside, outside], inputs, path, needed, visit));
            }
        }
        path.restore(i, inputs[i], old);
        most
    }

    /// The greatest value of the leaves below a node that actions within the budget reach.
    fn greatest(
        &self,
        at: u32,
        inputs: &[Input],
        cheapest: &[f64],
        left: f64,
        path: &mut Path,
        needed: f64,
    ) -> f64 {
        let s = self.situation;
        let visit = |child: u32, path: &mut Path, needed: f64| {
            let extra = |k: usize| {
                let nearest = cheapest[k].max(path.sides.0[k]).min(path.sides.1[k]);
                (self.price(k, nearest) - self.price(k, cheapest[k])).max(0.0)
            };
            let total: f64 = (0..cheapest.len()).map(extra).sum();
            match total * (1.0 - 1e-12) <= left && needed <= left {
                true => self.greatest(child, inputs, cheapest, left, path, needed),
                false => f64::NEG_INFINITY,
            }
        };
        match s.ensemble.nodes()[at as usize] {
            Node::Leaf(leaf) => s.leaf(leaf),
            Node::AtMost { feature, threshold, left: below, right: above, .. } => {
                let i = feature as usize;
                let mut most = f64::NEG_INFINITY;
                for (is_left, child) in [(true, below), (false, above)] {
                    let old = path.state(i, inputs[i]);
                    if let Some(price) = path.narrow(s, i, inputs[i], threshold, is_left, self.problem.cost())
                    {
                        most = most.max(visit(child, path, needed.max(price)));
                    }
                    path.restore(i, inputs[i], old);
                }
                most
            }
            Node::AnyOf { first, count, left: below, right: above, .. } => {
                let members = s.ensemble.members(first, count);
                self.any_of(members, [below, above], inputs, path, needed, &visit)
            }
        }
    }
}
