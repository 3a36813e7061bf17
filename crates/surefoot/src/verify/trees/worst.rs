//! Verifies that an action holds for every perturbation, by dividing the ball at thresholds.

use super::super::prove::Work;
use super::super::robustness::Held;
use super::super::{Fault, Stop, TOLERANCE};
use super::Situation;
use crate::trees::{Member, Node};
use crate::{Problem, Recourse, SavedProof};

/// Room for rounding of inputs, relative to their size.
const ROOM: f64 = 1e-13;
/// The number of sweeps by which the smallest perturbation of a box is approximated.
const SWEEPS: usize = 6;
/// The number of rounds of sweeps, after each of which the perturbation is checked.
const ROUNDS: usize = 16;
/// The least side, relative to the radius, of a box that is halved.
const LEAST_SIDE: f64 = 1e-5;

/// The part of the inputs with `lower < z <= upper`.
#[derive(Clone)]
struct Part {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// The bound of the score on a part.
struct Bounded {
    least: f64,
    /// Where the part should be divided; `None` if every tree has its least leaf at the nearest point.
    at: Option<(usize, f64)>,
    /// Whether every tree has a single leaf.
    is_single: bool,
}

/// What one tree adds.
struct Leaves {
    least: f64,
    greatest: f64,
    turn: Option<(usize, f64)>,
}

/// The ball around the result of an action.
struct Around<'s, 'p> {
    situation: &'s Situation<'p>,
    centre: Vec<f64>,
    linked: Vec<usize>,
    /// The greatest deviation of each feature in the ball of radius one.
    spreads: Vec<f64>,
}

/// Verifies that the margin of the action found is at least the stated one. `None` if the problem is not one
/// of tree ensembles that are searched exactly.
pub(in super::super) fn holds(
    problem: &Problem,
    saved: &SavedProof,
    found: &Recourse,
    work: &mut Work,
) -> Option<Result<Held, Stop>> {
    let situation = Situation::new(problem, &saved.individual, &found.action.features)?;
    let around = Around::new(&situation, &found.action.change);
    let wanted = (found.margin - TOLERANCE).max(0.0);
    let whole = around.whole();
    let mut open = vec![whole];
    let mut held = Held { margin: f64::INFINITY, pieces: 0 };
    while let Some(part) = open.pop() {
        let Some(point) = around.nearest(&part) else { continue };
        if !work.take() {
            let bound = f64::NEG_INFINITY;
            return Some(Err(Stop::Unverified(Fault::Piece { piece: 0, bound, stated: found.margin })));
        }
        let mut bounded = around.bound(&part, &point);
        let is_least = bounded.at.is_none() && (bounded.is_single || !situation.ensemble.is_compared());
        if is_least && (bounded.least + situation.rounding).abs() <= 2.0 * situation.rounding {
            // The least leaf of every tree is that of the point, and rounding is monotone.
            bounded.least = problem.classifier().score(&point);
        }
        if bounded.least >= wanted {
            held.margin = held.margin.min(bounded.least);
            held.pieces += 1;
            continue;
        }
        let Some((feature, at)) = bounded.at.or_else(|| around.longest(&part)) else {
            let fault = Fault::Piece { piece: 0, bound: bounded.least, stated: found.margin };
            return Some(Err(Stop::Unverified(fault)));
        };
        let (mut left, mut right) = (part.clone(), part);
        left.upper[feature] = at;
        right.lower[feature] = at;
        open.extend([left, right]);
    }
    Some(Ok(held))
}

impl<'s, 'p> Around<'s, 'p> {
    fn new(situation: &'s Situation<'p>, change: &[f64]) -> Self {
        let n = situation.x.len();
        let centre = |i: usize| {
            let moved: f64 =
                situation.effects[i].iter().zip(change).map(|(effect, change)| effect * change).sum();
            situation.x[i] + moved
        };
        // Deviations for perturbations of one feature at a time.
        let mut rows = vec![vec![0.0; n]; n];
        for &i in &situation.order {
            if situation.is_live[i] {
                rows[i][i] = 1.0 / situation.weights[i];
                for &(j, c) in &situation.causes[i] {
                    for k in 0..n {
                        rows[i][k] += c * rows[j][k];
                    }
                }
            }
        }
        let spread = |row: &Vec<f64>| match situation.power {
            1.0 => row.iter().fold(0.0f64, |most, r| most.max(r.abs())),
            2.0 => row.iter().map(|r| r * r).sum::<f64>().sqrt(),
            _ => row.iter().map(|r| r.abs()).sum(),
        };
        Self {
            situation,
            centre: (0..n).map(centre).collect(),
            linked: (0..n).filter(|&i| situation.is_live[i] && !situation.is_alone(i)).collect(),
            spreads: rows.iter().map(spread).collect(),
        }
    }

    /// How far a computed input may be from the exact one.
    fn room(&self, i: usize) -> f64 {
        match self.situation.is_exact(i) {
            true => 0.0,
            false => ROOM * (1.0 + self.situation.x[i].abs() + self.centre[i].abs()),
        }
    }

    fn whole(&self) -> Part {
        let reach = |i: usize| {
            let spread =
                if self.situation.is_live[i] { self.situation.radius * self.spreads[i] } else { 0.0 };
            spread * (1.0 + 1e-12) + self.room(i)
        };
        let n = self.centre.len();
        Part {
            lower: (0..n).map(|i| (self.centre[i] - reach(i)).next_down()).collect(),
            upper: (0..n).map(|i| self.centre[i] + reach(i)).collect(),
        }
    }

    /// The distance of a feature from its centre to an interval, in units of its own perturbation.
    fn distance(&self, i: usize, lower: f64, upper: f64) -> f64 {
        let beyond = (lower - self.centre[i]).max(self.centre[i] - upper) - self.room(i);
        match beyond > 0.0 {
            false => 0.0,
            true if !self.situation.is_live[i] => f64::INFINITY,
            true => beyond * self.situation.weights[i] * (1.0 - 1e-12),
        }
    }

    /// A point of a part that is near to the centre; `None` if the ball does not reach the part.
    fn nearest(&self, part: &Part) -> Option<Vec<f64>> {
        let mut point = self.centre.clone();
        for i in 0..point.len() {
            let lower = part.lower[i].next_up();
            if lower > part.upper[i] {
                return None;
            }
            point[i] = point[i].clamp(lower, part.upper[i]);
        }
        let alone = self.situation.size(
            (0..point.len())
                .filter(|i| !self.linked.contains(i))
                .map(|i| self.distance(i, part.lower[i], part.upper[i])),
        );
        if alone > self.situation.radius {
            return None;
        }
        if !self.linked.is_empty() && !self.approach(part, &mut point, alone) {
            return None;
        }
        Some(point)
    }

    /// The weighted perturbations of linked features that lead to a point.
    fn perturbations(&self, point: &[f64]) -> Vec<f64> {
        let deviation = |i: usize| point[i] - self.centre[i];
        let perturbation = |&i: &usize| {
            let followed: f64 = self.situation.causes[i].iter().map(|&(j, c)| c * deviation(j)).sum();
            (deviation(i) - followed) * self.situation.weights[i]
        };
        self.linked.iter().map(perturbation).collect()
    }

    /// Moves a point so that the perturbations of linked features become small. `false` if a plane separates
    /// the part from the ball.
    fn approach(&self, part: &Part, point: &mut [f64], alone: f64) -> bool {
        let s = self.situation;
        let radius = match s.power {
            1.0 => s.radius - alone,
            2.0 => (s.radius * s.radius - alone * alone).max(0.0).sqrt(),
            _ => s.radius,
        };
        let mut shares = vec![1.0; self.linked.len()];
        for _ in 0..ROUNDS {
            for _ in 0..SWEEPS {
                for &i in self.linked.iter().rev() {
                    let sizes = self.perturbations(point);
                    let (mut slope, mut square) = (0.0, 0.0);
                    for ((&f, size), share) in self.linked.iter().zip(&sizes).zip(&shares) {
                        let own = if f == i { 1.0 } else { 0.0 };
                        let caused: f64 = s.causes[f].iter().filter(|(j, _)| *j == i).map(|(_, c)| c).sum();
                        let factor = (own - caused) * s.weights[f];
                        slope += share * factor * size;
                        square += share * factor * factor;
                    }
                    point[i] = (point[i] - slope / square).clamp(part.lower[i].next_up(), part.upper[i]);
                }
            }
            let sizes = self.perturbations(point);
            if s.size(sizes.iter().map(|size| size.abs())) <= radius {
                return true;
            }
            let normal: Vec<f64> = sizes.iter().zip(&shares).map(|(size, share)| size * share).collect();
            if self.separates(part, &normal, radius) {
                return false;
            }
            // Weighted squares approach the norm.
            let most = sizes.iter().fold(0.0f64, |most, size| most.max(size.abs()));
            for (share, size) in shares.iter_mut().zip(&sizes) {
                let relative = size.abs() / most.max(f64::MIN_POSITIVE);
                *share = match s.power {
                    1.0 => 1.0 / (relative + 1e-4),
                    2.0 => 1.0,
                    _ => *share * (relative + 1e-2),
                };
            }
        }
        true
    }

    /// Whether every point of a part is beyond the ball of a radius in the direction of a normal.
    fn separates(&self, part: &Part, normal: &[f64], radius: f64) -> bool {
        let s = self.situation;
        let mut row = vec![0.0; self.centre.len()];
        for (&i, v) in self.linked.iter().zip(normal) {
            row[i] += v * s.weights[i];
            s.causes[i].iter().for_each(|&(j, c)| row[j] -= c * v * s.weights[i]);
        }
        let (mut least, mut error) = (0.0, 0.0);
        for i in (0..row.len()).filter(|&i| row[i] != 0.0) {
            let end = if row[i] > 0.0 { part.lower[i] } else { part.upper[i] };
            let term = row[i] * (end - self.centre[i]);
            least += term;
            error += row[i].abs() * self.room(i) + 1e-12 * term.abs();
        }
        let dual = match s.power {
            1.0 => normal.iter().fold(0.0f64, |most, v| most.max(v.abs())),
            2.0 => normal.iter().map(|v| v * v).sum::<f64>().sqrt(),
            _ => normal.iter().map(|v| v.abs()).sum(),
        };
        least - error > radius * dual * (1.0 + 1e-12)
    }

    /// The longest side of linked features that is not too short, and its middle.
    fn longest(&self, part: &Part) -> Option<(usize, f64)> {
        let length = |i: usize| (part.upper[i] - part.lower[i]) / self.spreads[i];
        let longest = self.linked.iter().copied().reduce(|a, b| if length(b) > length(a) { b } else { a })?;
        let middle = 0.5 * (part.lower[longest] + part.upper[longest]);
        (length(longest) > LEAST_SIDE * self.situation.radius).then_some((longest, middle))
    }

    fn bound(&self, part: &Part, point: &[f64]) -> Bounded {
        let mut bounded = Bounded { least: self.situation.start, at: None, is_single: true };
        let mut most = 0.0;
        for &root in self.situation.ensemble.roots() {
            let own = self.situation.leaf(self.situation.ensemble.leaf(root, point));
            let mut leaves = Leaves { least: f64::INFINITY, greatest: f64::NEG_INFINITY, turn: None };
            self.walk(root, &mut part.clone(), point, None, &mut leaves);
            if leaves.least == f64::INFINITY {
                return Bounded { least: f64::INFINITY, ..bounded };
            }
            bounded.least += leaves.least;
            bounded.is_single &= leaves.least == leaves.greatest;
            let regret = own.clamp(leaves.least, leaves.greatest) - leaves.least;
            if regret > most && leaves.turn.is_some() {
                (most, bounded.at) = (regret, leaves.turn);
            }
        }
        bounded.least -= self.situation.rounding;
        bounded
    }

    /// Whether the ball reaches a part, judged by its features one by one.
    fn is_near(&self, part: &Part) -> bool {
        let s = self.situation;
        let alone = |i: &usize| !self.linked.contains(i);
        let sizes = (0..self.centre.len()).filter(alone);
        let size = s.size(sizes.map(|i| self.distance(i, part.lower[i], part.upper[i])));
        let together = |i: &usize| {
            let beyond =
                (part.lower[*i] - self.centre[*i]).max(self.centre[*i] - part.upper[*i]) - self.room(*i);
            if beyond > 0.0 { beyond / self.spreads[*i] * (1.0 - 1e-12) } else { 0.0 }
        };
        let linked = self.linked.iter().map(together).fold(0.0, f64::max);
        s.size([size, linked].into_iter()) * (1.0 - 1e-12) <= s.radius
    }

    /// Collects the leaves below a node that the ball may reach within a part.
    fn walk(&self, at: u32, part: &mut Part, point: &[f64], turn: Option<(usize, f64)>, leaves: &mut Leaves) {
        let node = self.situation.ensemble.nodes()[at as usize];
        match node {
            Node::Leaf(leaf) => {
                let value = self.situation.leaf(leaf);
                leaves.greatest = leaves.greatest.max(value);
                if value < leaves.least {
                    (leaves.least, leaves.turn) = (value, turn);
                }
            }
            Node::AtMost { feature, threshold, left, right, .. } => {
                let i = feature as usize;
                let (lower, upper) = (part.lower[i], part.upper[i]);
                let here = point[i] <= threshold;
                if lower < threshold {
                    part.upper[i] = upper.min(threshold);
                    if self.is_near(part) {
                        let turn = if here { turn } else { turn.or(Some((i, threshold))) };
                        self.walk(left, part, point, turn, leaves);
                    }
                    part.upper[i] = upper;
                }
                if upper > threshold {
                    part.lower[i] = lower.max(threshold);
                    if self.is_near(part) {
                        let turn = if here { turn.or(Some((i, threshold))) } else { turn };
                        self.walk(right, part, point, turn, leaves);
                    }
                    part.lower[i] = lower;
                }
            }
            Node::AnyOf { first, count, left, right, .. } => {
                let members = self.situation.ensemble.members(first, count);
                self.walk_any_of(members, [left, right], part, point, turn, leaves);
            }
        }
    }

    /// As [`Around::walk`], behind a test of several members: each after the other is below, within or above.
    fn walk_any_of(
        &self,
        members: &[Member],
        children: [u32; 2],
        part: &mut Part,
        point: &[f64],
        turn: Option<(usize, f64)>,
        leaves: &mut Leaves,
    ) {
        let Some((member, rest)) = members.split_first() else {
            return self.walk(children[1], part, point, turn, leaves);
        };
        let i = member.feature as usize;
        let (lower, upper) = (part.lower[i], part.upper[i]);
        let ways = [
            (lower, upper.min(member.lower), false, member.lower),
            (lower.max(member.lower), upper.min(member.upper), true, member.lower),
            (lower.max(member.upper), upper, false, member.upper),
        ];
        for (from, to, is_inside, at) in ways {
            if from >= to {
                continue;
            }
            (part.lower[i], part.upper[i]) = (from, to);
            if self.is_near(part) {
                let is_here = point[i] > from && point[i] <= to;
                let at = if lower < at && at < upper { at } else { member.upper };
                let turn = if is_here { turn } else { turn.or(Some((i, at))) };
                match is_inside {
                    true => self.walk(children[0], part, point, turn, leaves),
                    false => self.walk_any_of(rest, children, part, point, turn, leaves),
                }
            }
            (part.lower[i], part.upper[i]) = (lower, upper);
        }
    }
}
