//! The search by cuts: how a box of actions is bounded, shrunk and split.
//!
//! Over a box, the margin in a scenario has an affine upper bound. It is a *cut*: every action
//! of the box that holds satisfies `a.t + b >= 0`. Several scenarios give several cuts, and the open
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
//! The solution of the linear program is attacked. The scenario that breaks it gives a further cut;
//! if none does, the solution is the new incumbent.

use super::boxes::{Cuboid, DISTANCE};
use super::programs::{Bounded, Open, Source};
use super::requirements::Requirement;
use super::solve::{Incumbent, Set, Solver};
use crate::certify::LEAST_MARGIN;
use crate::graph::{Order, Plane, Region};
use crate::margin::margin;
use crate::proof::Scenario;

/// The largest number of scenarios that a box takes over from the box that it is a part of.
const INHERITED: usize = 8;
/// The number of recent scenarios of the pool that are tried as well.
const MORE: usize = 2;
/// The attacks on an action that is cheaper than the incumbent by this share of the gap.
const STARTS: usize = 4;
const CHEAPER: f64 = 0.5;
/// Boxes with several long sides are searched up to a cost of this many times the least weight first.
const NEAR: f64 = 4.0;
/// The largest number of times that a box is shrunk before a linear program bounds it. A box with fewer features
/// is shrunk once for each of them.
const CONTRACTIONS: usize = 3;
/// A side is shrunk if it loses at least this share of its length.
const WORTH_SHRINKING: f64 = 0.1;
/// A box is bounded again if its sides together lost at least this share of their lengths.
const WORTH_REPEATING: f64 = 0.15;
/// The proven cost of a box is stated in a proof if it exceeds the known one by at least this share.
pub(super) const WORTHWHILE: f64 = 0.003;
/// The share by which a cost is rounded down, so that the sum that rules out cheaper actions is clearly
/// negative.
const ROUNDED_DOWN: f64 = 1e-4;

/// The largest difference, relative to margins above one, between the margin by the definition and the
/// composed one.
const AGREEMENT: f64 = 1e-10;

impl Solver<'_, '_> {
    /// Rules out a box, or splits it into parts with a higher bound of their cost.
    pub(super) fn process_box(&mut self, cuboid: Cuboid) {
        if cuboid.is_far_part {
            return self.process_cone(cuboid);
        }
        if cuboid.cost >= cuboid.limit {
            return;
        }
        let cuboid = self.with_changed_decided(cuboid);
        let limit = self.limit().min(cuboid.limit).min(self.near_limit(&cuboid));
        let Set { integrality, weights, .. } = &self.sets[cuboid.set];
        let Some((lower, upper)) = integrality.tightened(cuboid.shrunk(self.cost(), weights, limit)) else {
            // All its integer-valued actions cost more.
            return self.push(Cuboid { cost: limit, ..cuboid });
        };
        let open_feature = self.sets[cuboid.set].followers.iter().map(|follower| follower.input).next();
        if let Some(place) = open_feature
            && !Cuboid::new(cuboid.set, lower.clone(), upper.clone(), 0.0).long_sides().is_empty()
        {
            return self.decide(cuboid, place);
        }
        if self.split_long_sides(&cuboid, &lower, &upper) {
            return;
        }
        let Some(requirements) = self.open_requirements(&cuboid) else { return };
        if limit < cuboid.limit {
            // More expensive actions of the box stay open.
            self.push(Cuboid { cost: cuboid.cost.max(limit), ..cuboid.clone() });
        }
        let mut open = Open { set: cuboid.set, lower, upper, limit, cuts: Vec::new() };
        let inherited = match cuboid.scenarios.is_empty() && self.has_rays(cuboid.set) {
            true => self.binding_scenarios(cuboid.set),
            false => cuboid.scenarios.clone(),
        };
        let numbers = self.scenarios_to_try(&open, &inherited);
        if self.is_excluded(&mut open, &numbers, &requirements) {
            return;
        }
        let Some(bounded) = self.bound_by_program(&mut open) else { return };
        let mut cost = cuboid.cost;
        let proven = bounded.cost * (1.0 - ROUNDED_DOWN);
        if proven > (1.0 + WORTHWHILE) * cost && self.rule_out(&open, &bounded.multipliers, proven) {
            cost = proven;
        }
        self.split_bounded(open, bounded, cost);
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

    /// The scenarios of the pool in which the incumbent's margins are least, after attacks on a slightly
    /// cheaper action.
    fn binding_scenarios(&mut self, set: usize) -> Vec<usize> {
        let incumbent = self.incumbent.as_ref().filter(|found| found.set == set);
        let Some(Incumbent { change, .. }) = incumbent.cloned() else { return Vec::new() };
        let cheaper: Vec<f64> = change.iter().map(|c| c * (1.0 - CHEAPER * self.settings.gap)).collect();
        let starts: Vec<Option<Scenario>> = self
            .margins(set, &cheaper)
            .into_iter()
            .take(STARTS)
            .map(|(_, k)| Some(self.pool[k].clone()))
            .chain([None])
            .collect();
        for start in starts {
            let (scenario, value) = self.attack(set, &cheaper, start.as_ref());
            if value < 0.0 {
                self.add(set, &cheaper, scenario);
            }
        }
        self.margins(set, &change).into_iter().take(INHERITED).map(|(_, k)| k).collect()
    }

    /// The scenarios that may exclude a box or bound its cost: those of its parent, some recent ones,
    /// and one that breaks the action in its middle. Those with the lowest margins there come first.
    fn scenarios_to_try(&mut self, open: &Open, inherited: &[usize]) -> Vec<usize> {
        let middle = self.middle(open);
        let recent = self.margins(open.set, &middle);
        let mut order: Vec<(f64, usize)> = recent.iter().copied().take(MORE).collect();
        for &k in inherited {
            if order.iter().all(|(_, other)| *other != k) {
                order.push((self.margin_in(open.set, &middle, k), k));
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

    /// Attacks the action in the middle of a box. Returns a scenario that breaks it; otherwise makes
    /// it an incumbent, moved towards the cheapest action.
    fn attack_middle(&mut self, open: &Open, middle: &[f64], start: Option<usize>) -> Option<usize> {
        let start = start.map(|k| self.pool[k].clone());
        let (scenario, value) = self.attack(open.set, middle, start.as_ref());
        let is_allowed = self.meets(open.set, middle);
        if value < 0.0 {
            if is_allowed {
                self.note(open.set, middle, value);
            }
            return self.add(open.set, middle, scenario);
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

    /// An affine bound of the margin in a scenario of the pool.
    pub(super) fn plane(&mut self, set: usize, k: usize, region: &Region) -> Plane {
        self.compose(set);
        let variant = &self.settings.problem.variants()[self.pool[k].variant];
        if variant.scm().is_some() && !self.agrees(set, k, &region.nearest()) {
            self.sets[set].graphs[k].is_vacuous = true;
        }
        self.prover.affine.bound(&self.sets[set].graphs[k], region).plane
    }

    /// Whether the composed margin in a scenario agrees with the definition. Near the edge of the
    /// causal model's domain rounding may be so large that a checker cannot confirm it. Then the
    /// scenario proves nothing.
    fn agrees(&mut self, set: usize, k: usize, change: &[f64]) -> bool {
        let action = self.action(set, change);
        let Scenario { variant, perturbation } = &self.pool[k];
        let variant = &self.settings.problem.variants()[*variant];
        let defined = margin(variant, &self.individual, &action, perturbation);
        let Some(defined) = defined.ok().filter(|margin| margin.is_finite()) else { return true };
        (self.margin_in(set, change, k) - defined).abs() <= AGREEMENT * defined.abs().max(1.0)
    }

    /// The margin of an action in a scenario of the pool.
    fn margin_in(&mut self, set: usize, change: &[f64], k: usize) -> f64 {
        self.compose(set);
        self.prover.jets.evaluate(&self.sets[set].graphs[k], change, Order::Value).value
    }

    /// Bounds the margins in some scenarios over a box, and shrinks the box by them. Returns true
    /// if nothing is left of it.
    fn is_excluded(&mut self, open: &mut Open, numbers: &[usize], requirements: &[Requirement]) -> bool {
        for _ in 0..CONTRACTIONS.min(open.lower.len()) {
            let region = self.region(open);
            open.cuts = requirements
                .iter()
                .map(|rule| {
                    let source = Source::Requirement(rule.number);
                    self.sets[open.set].cut(source, rule.plane.clone(), (&open.lower, &open.upper))
                })
                .collect();
            for &k in numbers {
                let plane = self.plane(open.set, k, &region);
                if plane.upper(&region) < -LEAST_MARGIN {
                    let (lower, upper) = (open.lower.clone(), open.upper.clone());
                    self.state_ruled_out(open, (lower, upper), &[(Source::Scenario(k), 1.0)], open.limit);
                    return true;
                }
                let sides = (&open.lower[..], &open.upper[..]);
                open.cuts.push(self.sets[open.set].cut(Source::Scenario(k), plane, sides));
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
    pub(super) fn region(&self, open: &Open) -> Region {
        self.region_of(open.set, &open.lower, &open.upper, open.limit)
    }

    /// Cuts off those ends of a box's sides where a cut is negative. Returns true if nothing is left.
    fn shrink(&mut self, open: &mut Open) -> bool {
        for number in 0..open.cuts.len() {
            let cut = open.cuts[number].clone();
            if !cut.plane.error.is_finite() {
                continue;
            }
            for k in 0..open.lower.len() {
                let (l, u) = (open.lower[k], open.upper[k]);
                let Some(a) = cut.slope_on(k, l, u) else { continue };
                let over_box = cut.highest(&open.lower, &open.upper);
                if a == 0.0 || u <= l || !over_box.is_finite() {
                    continue;
                }
                // Where the cut is zero if the other changes are as favourable as possible.
                let zero = if a > 0.0 { u - over_box / a } else { l - over_box / a };
                let removed = if a > 0.0 { zero - l } else { u - zero };
                if removed < WORTH_SHRINKING * (u - l) || removed.is_nan() {
                    continue;
                }
                let end = if a > 0.0 { zero - 1e-6 * removed } else { zero + 1e-6 * removed };
                let (mut slab_lower, mut slab_upper) = (open.lower.clone(), open.upper.clone());
                if a > 0.0 {
                    slab_upper[k] = end.min(u)
                } else {
                    slab_lower[k] = end.max(l)
                }
                let over_slab = cut.highest(&slab_lower, &slab_upper);
                if over_slab >= -LEAST_MARGIN || over_slab.is_nan() {
                    continue;
                }
                self.state_ruled_out(open, (slab_lower, slab_upper), &[(cut.source, 1.0)], open.limit);
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

    /// Splits a box across the side that causes most of the error of the cuts that bound its cost,
    /// between its middle and the solution of the linear program.
    fn split_bounded(&mut self, open: Open, bounded: Bounded, cost: f64) {
        let mut binding: Vec<(f64, usize)> = Vec::new();
        for (cut, &m) in open.cuts.iter().zip(&bounded.multipliers) {
            if let Some(k) = cut.source.scenario() {
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
        let scenarios = binding.into_iter().map(|(_, k)| k).collect();
        let to_decide = self.feature_to_decide(&open, &bounded, &error_share);
        let Open { set, lower, upper, limit, .. } = open;
        // A shrunk box may consist of more expensive actions alone.
        let cost = cost.max(self.least_cost(set, &lower, &upper));
        let cuboid = Cuboid { limit, scenarios, ..Cuboid::new(set, lower, upper, cost) };
        if let Some(place) = to_decide {
            return self.decide(cuboid, place);
        }
        self.split(cuboid, &error_share, &bounded.point);
    }
}
