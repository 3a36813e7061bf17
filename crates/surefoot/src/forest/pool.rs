//! Scenarios from failed actions.
//!
//! The point that breaks an action lies in a cell in which the sum is negative. The cell is enlarged as far as
//! an upper bound of the sum stays negative. Every action that holds keeps its whole ball away from the cell.
//! So the adversary answers by moving towards the cell, with radii that make leaving it as expensive as
//! possible.

mod leaving;
mod near;

use super::bound::{SLACK, Scenario, Sides};
use super::flat::{Cell, Forest};
use super::scene::Scene;

/// A cell in which the sum is negative.
#[derive(Clone, Debug)]
pub(crate) struct Bad {
    /// The cell of the point that was found.
    pub own: Cell,
    /// The enlarged cell.
    pub grown: Cell,
    /// A point well inside of the first cell.
    pub pivot: Vec<f64>,
    /// The perturbation that led into the cell, enlarged as far as it stays there. Where features are linked, it
    /// may reach the cell although no feature does by its own perturbation alone.
    push: Vec<f64>,
    /// The sides of the enlarged cell that are bounded: feature, lower and upper end.
    bounded: Vec<Side>,
    /// The side that [`Bad::is_near_again`] looks at first.
    apart: Side,
}

/// A feature with the ends of its side.
type Side = (u32, f64, f64);

/// A side without ends.
const EVERYWHERE: Side = (0, f64::NEG_INFINITY, f64::INFINITY);

/// The way from a centre into a cell.
#[derive(Clone, Debug)]
struct Approach {
    /// The perturbation of each feature, at least.
    needed: Vec<f64>,
    /// Where each feature is before its own perturbation.
    before: Vec<f64>,
}

/// The range of each input, without perturbations, over a box of changes.
pub(crate) fn ranges(scene: &Scene<'_>, sides: &Sides) -> Cell {
    let mut cell = Cell { lower: scene.x.clone(), upper: scene.x.clone() };
    for (i, effects) in scene.effects.iter().enumerate() {
        for &(k, effect) in effects {
            let (a, b) = (effect * sides.lower[k], effect * sides.upper[k]);
            cell.lower[i] += a.min(b);
            cell.upper[i] += a.max(b);
        }
    }
    cell
}

/// The least price of moving each input by one unit; infinite for inputs that no change moves.
pub(crate) fn unit_prices(scene: &Scene<'_>) -> Vec<f64> {
    let price = |effects: &Vec<(usize, f64)>| {
        let each = effects.iter().map(|&(k, effect)| scene.prices[k] / effect.abs());
        each.fold(f64::INFINITY, f64::min)
    };
    scene.effects.iter().map(price).collect()
}

/// The radius that scenarios use, which leaves [`SLACK`] in every live feature unused.
pub(crate) fn usable_limit(scene: &Scene<'_>) -> f64 {
    let live = (0..scene.x.len()).filter(|&i| scene.live[i]);
    let each = live.map(|i| 4.0 * SLACK * (1.0 + scene.x[i].abs()) * scene.weights[i]);
    let radius = match scene.ball.power {
        f64::INFINITY => scene.ball.radius - each.fold(0.0, f64::max),
        _ => scene.ball.radius - each.sum::<f64>(),
    };
    scene.ball.with_radius(radius * (1.0 - 1e-9)).radius
}

impl Bad {
    /// The cell of a point to which a perturbation leads.
    pub fn new(scene: &Scene<'_>, centre: &[f64], point: &[f64], perturbation: &[f64]) -> Self {
        let forest: &Forest = scene.forest;
        let own = forest.cell(point);
        let middle = |i: usize| {
            let (lower, upper) = (own.lower[i], own.upper[i]);
            match (lower.is_finite(), upper.is_finite()) {
                (true, true) => 0.5 * (lower + upper),
                (true, false) => point[i].max(lower + 1e-7 * (1.0 + lower.abs())),
                (false, true) => point[i].min(upper - 1e-7 * (1.0 + upper.abs())),
                (false, false) => point[i],
            }
        };
        let pivot = (0..point.len()).map(middle).collect();
        let push = match scene.is_linked() {
            true => enlarged(scene, centre, point, perturbation, &own),
            false => Vec::new(),
        };
        let mut bad = Self { grown: own.clone(), own, pivot, push, bounded: Vec::new(), apart: EVERYWHERE };
        bad.list_bounded();
        bad
    }

    fn list_bounded(&mut self) {
        self.apart = EVERYWHERE;
        let sides = self.grown.lower.iter().zip(&self.grown.upper).enumerate();
        let is_bounded = |(_, (lower, upper)): &(usize, (&f64, &f64))| lower.is_finite() || upper.is_finite();
        self.bounded =
            sides.filter(is_bounded).map(|(i, (&lower, &upper))| (i as u32, lower, upper)).collect();
    }

    /// Enlarges the first cell around a centre, the side that is cheapest to leave first, while the sum of the
    /// greatest leaves stays negative. `ranges` is where centres may be. Returns the number of visited nodes.
    pub fn grow(&mut self, scene: &Scene<'_>, centre: &[f64], ranges: &Cell, prices: &[f64]) -> usize {
        let forest = scene.forest;
        self.grown.clone_from(&self.own);
        let mut visited = 0;
        let mut values: Vec<f64> =
            forest.roots.iter().map(|&root| forest.greatest(root, &self.grown, &mut visited)).collect();
        let mut sum: f64 = forest.start + values.iter().sum::<f64>();
        let reach = |i: usize| if scene.live[i] { scene.ball.radius / scene.weights[i] } else { 0.0 };
        let mut frozen = vec![[false; 2]; centre.len()];
        for _ in 0..300 {
            let mut next: Option<(f64, usize, usize)> = None;
            for i in 0..centre.len() {
                let ways =
                    [centre[i] - self.grown.lower[i] + reach(i), self.grown.upper[i] + reach(i) - centre[i]];
                let ends = [ranges.lower[i] < self.grown.lower[i], ranges.upper[i] > self.grown.upper[i]];
                for side in 0..2 {
                    let price = prices[i] * ways[side];
                    if ends[side] && !frozen[i][side] && next.is_none_or(|(least, ..)| price < least) {
                        next = Some((price, i, side));
                    }
                }
            }
            let Some((_, i, side)) = next else { break };
            let old = if side == 1 { self.grown.upper[i] } else { self.grown.lower[i] };
            let list = forest.thresholds(i);
            if side == 1 {
                let place = list.partition_point(|&t| t <= old);
                self.grown.upper[i] = list.get(place).copied().unwrap_or(f64::INFINITY);
            } else {
                let place = list.partition_point(|&t| t < old);
                self.grown.lower[i] = if place > 0 { list[place - 1] } else { f64::NEG_INFINITY };
            }
            // Only trees that test this threshold change.
            let mut raised: Vec<(usize, f64)> = Vec::new();
            let mut total = sum;
            for &tree in forest.testers(i, old) {
                let tree = tree as usize;
                let value = forest.greatest(forest.roots[tree], &self.grown, &mut visited);
                if value != values[tree] {
                    total += value - values[tree];
                    raised.push((tree, value));
                }
            }
            if total >= -4.0 * forest.rounding {
                if side == 1 {
                    self.grown.upper[i] = old
                } else {
                    self.grown.lower[i] = old
                }
                frozen[i][side] = true;
            } else {
                sum = total;
                raised.into_iter().for_each(|(tree, value)| values[tree] = value);
            }
        }
        self.list_bounded();
        visited
    }

    /// The way from a centre into the enlarged cell, if the ball is large enough.
    fn approach(&self, scene: &Scene<'_>, centre: &[f64], limit: f64) -> Option<Approach> {
        let n = centre.len();
        let (mut needed, mut before, mut deviations) = (vec![0.0; n], centre.to_vec(), vec![0.0; n]);
        let mut sum = 0.0;
        for &i in &scene.order {
            let from: f64 = scene.causes[i].iter().map(|&(j, c)| c * deviations[j]).sum();
            before[i] += from;
            let (lower, upper) = (self.grown.lower[i], self.grown.upper[i]);
            let (least, most) = interior(scene, i, lower, upper);
            let is_inside = before[i] > lower && before[i] >= least && before[i] <= most;
            let way = if is_inside { 0.0 } else { before[i].clamp(least, most.max(least)) - before[i] };
            if way != 0.0 && !scene.live[i] {
                return None;
            }
            (needed[i], deviations[i]) = (way.abs(), from + way);
            sum += scene.ball.term(way.abs() * scene.weights[i]);
            if sum > limit {
                return None;
            }
        }
        Some(Approach { needed, before })
    }

    /// Whether the perturbation leads from a centre into the enlarged cell.
    fn pushes(&self, scene: &Scene<'_>, centre: &[f64]) -> bool {
        !self.push.is_empty() && {
            let point = scene.perturbed(centre, &self.push);
            self.bounded
                .iter()
                .all(|&(i, lower, upper)| point[i as usize] > lower && point[i as usize] <= upper)
        }
    }

    /// By how much smaller the ball around a centre could be and still reach the enlarged cell.
    pub fn depth(&self, scene: &Scene<'_>, centre: &[f64], usable: f64) -> f64 {
        let ball = scene.ball.with_radius(usable);
        let size = |approach: Approach| {
            let needed = approach.needed.iter().zip(&scene.weights);
            ball.size(needed.map(|(needed, w)| ball.term(needed * w)).sum())
        };
        self.approach(scene, centre, ball.limit()).map_or(0.0, |approach| usable - size(approach))
    }

    /// The scenarios that make it expensive to leave the cell from a centre, of which there are none if the ball does not
    /// reach the cell from there: always the same perturbation where features are linked, and the one that moves
    /// features towards the cell.
    pub fn scenarios(
        &self,
        scene: &Scene<'_>,
        centre: &[f64],
        ranges: &Cell,
        prices: &[f64],
        usable: f64,
    ) -> impl Iterator<Item = Scenario> {
        // The pivot is so far that the perturbation is always the same.
        let far = |(c, d): (&f64, &f64)| c + 1e6f64.copysign(*d);
        let constant = self.pushes(scene, centre).then(|| Scenario {
            pivot: centre.iter().zip(&self.push).map(far).collect(),
            radii: self.push.iter().map(|d| d.abs()).collect(),
        });
        constant.into_iter().chain(self.towards(scene, centre, ranges, prices, usable))
    }

    /// The scenario that moves features towards the cell.
    fn towards(
        &self,
        scene: &Scene<'_>,
        centre: &[f64],
        ranges: &Cell,
        prices: &[f64],
        usable: f64,
    ) -> Option<Scenario> {
        let ball = scene.ball.with_radius(usable);
        let limit = ball.limit();
        let n = centre.len();
        let Approach { needed, before } = self.approach(scene, centre, limit)?;
        // Far away from everything, infinite distances cancel out.
        if needed.iter().chain(&before).any(|number| number.is_nan()) {
            return None;
        }
        if ball.power == f64::INFINITY {
            let radius = |i: usize| if scene.live[i] { usable / scene.weights[i] } else { 0.0 };
            return Some(Scenario { pivot: self.pivot.clone(), radii: (0..n).map(radius).collect() });
        }
        // Where each feature may be before its own perturbation, the most that a radius can be of use, and the
        // distance to the sides that can be left.
        let lowest = |i: usize| ranges.lower[i] + (before[i] - centre[i]);
        let highest = |i: usize| ranges.upper[i] + (before[i] - centre[i]);
        let most = |i: usize| {
            let beyond = (self.grown.lower[i] - lowest(i)).max(highest(i) - self.grown.upper[i]);
            // Bounds leave room for rounding at the end of the box.
            let beyond = beyond + room_of(scene, i) * (2.0 + scene.x[i].abs());
            if scene.live[i] { beyond.clamp(needed[i], 1e3f64.max(needed[i])) } else { 0.0 }
        };
        let room = |i: usize| {
            let up = match highest(i) > self.grown.upper[i] {
                true => self.grown.upper[i] - before[i],
                false => f64::INFINITY,
            };
            let down = match lowest(i) < self.grown.lower[i] {
                true => before[i] - self.grown.lower[i],
                false => f64::INFINITY,
            };
            up.min(down)
        };
        let (most, room): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (most(i), room(i))).unzip();
        let radius = |i: usize, price: f64| match prices[i].is_finite() && room[i].is_finite() {
            true => (price / prices[i] - room[i]).max(needed[i]).min(most[i]),
            false => needed[i],
        };
        let size =
            |price: f64| -> f64 { (0..n).map(|i| ball.term(radius(i, price) * scene.weights[i])).sum() };
        let (mut low, mut high) = (0.0f64, 0.0f64);
        for i in (0..n).filter(|&i| prices[i].is_finite() && room[i].is_finite()) {
            high = high.max(prices[i] * (room[i] + most[i]));
        }
        if size(high) <= limit {
            low = high;
        } else {
            for _ in 0..24 {
                let middle = 0.5 * (low + high);
                if size(middle) <= limit {
                    low = middle
                } else {
                    high = middle
                }
                if high - low <= 1e-5 * high {
                    break;
                }
            }
        }
        let radii = (0..n).map(|i| radius(i, low)).collect();
        Some(Scenario { pivot: self.pivot.clone(), radii })
    }
}

/// The distance to the end of a side that rounding errors do not cover, relative to `1 + |x|`. Bounds leave more room to an
/// input that follows others.
fn room_of(scene: &Scene<'_>, i: usize) -> f64 {
    if scene.linked[i] { 1e-7 } else { 1e-9 }
}

/// The part of a side of a cell that is so far from its ends that rounding errors do not lead out.
fn interior(scene: &Scene<'_>, i: usize, lower: f64, upper: f64) -> (f64, f64) {
    if !scene.live[i] || scene.ball.radius == 0.0 {
        return (lower, upper);
    }
    let room = room_of(scene, i);
    let middle = if lower.is_finite() && upper.is_finite() { 0.5 * (lower + upper) } else { f64::NAN };
    // A cell without a lower or an upper end has no middle, and the other number is taken.
    let least = if lower.is_finite() { (lower + room * (1.0 + lower.abs())).min(middle) } else { lower };
    let most = if upper.is_finite() { (upper - room * (1.0 + upper.abs())).max(middle) } else { upper };
    (least, most)
}

/// A perturbation within the radius that scenarios use which leads from a centre into a cell: a multiple, as large as
/// possible, of one that leads near to a point there.
fn enlarged(scene: &Scene<'_>, centre: &[f64], point: &[f64], perturbation: &[f64], cell: &Cell) -> Vec<f64> {
    let ball = scene.ball.with_radius(usable_limit(scene));
    let side = |i: usize| interior(scene, i, cell.lower[i], cell.upper[i]);
    let fits = |d: &[f64]| {
        let terms = d.iter().zip(&scene.weights).map(|(d, w)| ball.term((d * w).abs()));
        terms.sum::<f64>() <= ball.limit()
    };
    let enters = |d: &[f64]| {
        let reached = scene.perturbed(centre, d);
        (0..d.len()).filter(|&i| scene.live[i]).all(|i| reached[i] >= side(i).0 && reached[i] <= side(i).1)
    };
    let inner = |i: usize| match scene.live[i] {
        true => point[i].max(side(i).0).min(side(i).1),
        false => centre[i],
    };
    let inner: Vec<f64> = (0..point.len()).map(inner).collect();
    let inner = scene.perturbation(centre, &inner).map(|(inner, _)| inner).filter(|inner| fits(inner));
    let base = inner.unwrap_or_else(|| perturbation.to_vec());
    let scaled = |share: f64| -> Vec<f64> { base.iter().map(|d| share * d).collect() };
    // Sizes grow with the share, so the largest that fits is found by halving.
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if fits(&scaled(middle)) { low = middle } else { high = middle }
    }
    let mut share = low;
    for _ in 0..6 {
        if enters(&scaled(share)) {
            return scaled(share);
        }
        share = 0.5 * (share + low.min(1.0));
    }
    if enters(&base) && fits(&base) { base } else { scaled(low.min(1.0 - 1e-9)) }
}
