//! The domain of a graph's inputs: an uncertainty set, a box, their intersection, the part of a box of
//! actions within a limit on the cost, or what follows from such a part.

mod cut;
mod followers;
mod limit;

use followers::Following;
pub(crate) use followers::{Follower, Followers};
use limit::Limit;
pub(crate) use limit::Rays;

use crate::Cost;
use crate::graph::Interval;
use crate::network::{LANES, Lanes, Vectorised, vectorised};
use crate::uncertainty::{Part, SharedSet, Uncertainty};

/// The intersection of an uncertainty set and a box. In the coordinates of a graph all weights of the
/// norm are one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Region {
    /// The scaled set; `None` if the region is a box.
    ball: Option<Ball>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Whether the box contains the whole ball.
    whole: bool,
    /// `(n, from, to)`: the first n inputs are not limited by the box but satisfy `y_i >= 0` and `from <=
    /// y_1 + ... + y_n <= to`.
    sum_limits: Option<(usize, f64, f64)>,
    /// The limit on the cost, if the inputs are the changes of an action.
    cost_limit: Option<Limit>,
    /// The changes that lead to the inputs, if inputs may follow others. Then `lower` and `upper` are bounds of the
    /// inputs.
    following: Option<Following>,
}

/// An uncertainty set, scaled by a radius.
#[derive(Clone, Debug, PartialEq)]
struct Ball {
    set: SharedSet,
    radius: f64,
    /// The largest Euclidean length of a point, bounded from above.
    circumradius: f64,
}

impl Region {
    /// The set of all perturbations, in their coordinates, with its radius enlarged by the factor `1 +
    /// room`.
    pub fn uncertain(uncertainty: &Uncertainty, inputs: usize, room: f64) -> Self {
        let (set, radius) = (uncertainty.set().clone(), uncertainty.radius() * (1.0 + room));
        let upper: Vec<f64> = set.half_widths(inputs).into_iter().map(|width| radius * width).collect();
        let lower = upper.iter().map(|end| -end).collect();
        let circumradius = radius * set.circumradius(inputs);
        let ball = (!set.is_box()).then_some(Ball { set, radius, circumradius });
        Self { ball, lower, upper, whole: true, sum_limits: None, cost_limit: None, following: None }
    }

    /// A box, whose ends may be infinite.
    pub fn cuboid(lower: Vec<f64>, upper: Vec<f64>) -> Self {
        Self { ball: None, lower, upper, whole: false, sum_limits: None, cost_limit: None, following: None }
    }

    /// The product of `{y >= 0, from <= sum of y <= to}` for the first `count` inputs and a box for the
    /// others. `to` may be infinite.
    pub fn orthant_slab(count: usize, from: f64, to: f64, lower: &[f64], upper: &[f64]) -> Self {
        let with =
            |end: f64, rest: &[f64]| vec![end; count].into_iter().chain(rest.iter().copied()).collect();
        let sum_limits = Some((count, from, to));
        let (lower, upper) = (with(0.0, lower), with(to, upper));
        Self { ball: None, lower, upper, whole: false, sum_limits, cost_limit: None, following: None }
    }

    /// The part of a box, the inputs of which are the changes of an action, that costs at most `limit`.
    /// With a finite limit the sides must be finite.
    pub fn within_cost(mut self, cost: Cost, weights: &[f64], limit: f64) -> Self {
        self.cost_limit = limit.is_finite().then(|| Limit::new(cost, weights.to_vec(), limit));
        self
    }

    /// The inputs that follow from the changes of a box that cost at most `limit`, if some inputs may follow
    /// others. With a finite limit the sides must be finite.
    pub fn following(
        (lower, upper): (Vec<f64>, Vec<f64>),
        (cost, weights, limit): (Cost, &[f64], f64),
        followers: Followers,
    ) -> Self {
        let limit = limit.is_finite().then(|| Limit::new(cost, weights.to_vec(), limit));
        let following = Following { followers, lower, upper, limit };
        let width = following.lower.len();
        let mut columns = vec![Lanes::ZERO; width * width.div_ceil(LANES)];
        let blocks = width.div_ceil(LANES);
        (0..width).for_each(|i| columns[i * blocks + i / LANES].0[i % LANES] = 1.0);
        let (mut low, mut high) = (vec![Lanes::ZERO; blocks], vec![Lanes::ZERO; blocks]);
        following.ranges(&columns, &mut low, &mut high);
        let ends = |lanes: &[Lanes]| (0..width).map(|i| lanes[i / LANES].0[i % LANES]).collect();
        Self { following: Some(following), ..Self::cuboid(ends(&low), ends(&high)) }
    }

    pub fn inputs(&self) -> usize {
        self.lower.len()
    }

    /// The rays that span the part of a box within a limit on the l1 cost. `None` for any other region.
    pub fn rays(&self) -> Option<Rays> {
        self.cost_limit.as_ref()?.rays(&self.lower, &self.upper)
    }

    pub fn side(&self, i: usize) -> Interval {
        Interval { lower: self.lower[i], upper: self.upper[i] }
    }

    /// The largest absolute value of a finite end of an input's interval. Finite linear bounds are
    /// attained at such ends.
    pub fn size(&self, i: usize) -> f64 {
        if let Some((count, from, to)) = self.sum_limits
            && i < count
        {
            return if to.is_finite() { to } else { from };
        }
        let ends = [self.lower[i].abs(), self.upper[i].abs()];
        ends.into_iter().filter(|end| end.is_finite()).fold(0.0, f64::max)
    }

    /// The intersection with a box; `None` if it is empty.
    pub fn within(mut self, lower: &[f64], upper: &[f64]) -> Option<Region> {
        for i in 0..self.inputs() {
            self.lower[i] = self.lower[i].max(lower[i]);
            self.upper[i] = self.upper[i].min(upper[i]);
            if self.lower[i] > self.upper[i] {
                return None;
            }
        }
        self.tightened()
    }

    /// The two halves, split at a value of one input; `None` for a half that does not meet the ball.
    pub fn split(&self, input: usize, at: f64) -> [Option<Region>; 2] {
        let mut halves = [self.clone(), self.clone()];
        halves[0].upper[input] = at;
        halves[1].lower[input] = at;
        halves.map(Region::tightened)
    }

    /// Shrinks the box without changing its intersection with the set; `None` if that is empty.
    fn tightened(mut self) -> Option<Region> {
        self.whole = false;
        let Some(ball) = &self.ball else { return Some(self) };
        ball.set.tighten_box(ball.radius, &mut self.lower, &mut self.upper).then_some(self)
    }

    /// The set with the box that limits it, if there is a set.
    fn part(&self) -> Option<(&SharedSet, Part<'_>)> {
        let Ball { set, radius, .. } = self.ball.as_ref()?;
        Some((set, Part { radius: *radius, lower: &self.lower, upper: &self.upper }))
    }

    /// The point of the box that is nearest to the origin.
    pub fn nearest(&self) -> Vec<f64> {
        (0..self.inputs()).map(|i| 0.0f64.clamp(self.lower[i], self.upper[i])).collect()
    }

    /// Whether a point is in the box.
    pub fn contains(&self, y: &[f64]) -> bool {
        y.iter().enumerate().all(|(i, y)| *y >= self.lower[i] && *y <= self.upper[i])
    }

    /// An upper bound of the Euclidean distance between a point of the region and any other.
    pub fn distance(&self, from: &[f64]) -> f64 {
        let far = |i: usize| (self.upper[i] - from[i]).max(from[i] - self.lower[i]).max(0.0);
        let corner = (0..self.inputs()).map(|i| far(i).powi(2)).sum::<f64>().sqrt();
        let length = from.iter().map(|y| y * y).sum::<f64>().sqrt();
        let distance = match self.ball {
            Some(Ball { circumradius: radius, .. }) => {
                // Let `from` be the point of the box nearest to the origin. Its distance to any point of
                // the region is at most the other leg of a right triangle with hypotenuse `radius`.
                let nearest = from == self.nearest();
                let rest = (radius * radius - length * length).max(0.0).sqrt();
                corner.min(if nearest && !self.whole { rest } else { radius + length })
            }
            None => corner,
        };
        distance * (1.0 + 1e-12)
    }

    /// The largest squared length of a point of the region.
    pub fn longest_squared(&self) -> f64 {
        let corner = (0..self.inputs()).map(|i| self.side(i).size().powi(2)).sum::<f64>();
        let ball = self.ball.as_ref();
        ball.map_or(corner, |ball| corner.min(ball.circumradius * ball.circumradius)) * (1.0 + 1e-12)
    }

    /// Whether the set is a Euclidean ball.
    pub fn is_round(&self) -> bool {
        self.ball.as_ref().is_some_and(|ball| ball.set.is_round())
    }

    /// Projects a point into set and box: to the nearest point if the set is round, otherwise
    /// approximately.
    pub fn project(&self, y: &mut [f64]) {
        match self.part() {
            Some((set, part)) => set.project_into(part, y),
            None => y.iter_mut().enumerate().for_each(|(i, y)| *y = y.clamp(self.lower[i], self.upper[i])),
        }
    }

    /// A point of the region where `row . y` is approximately least.
    pub fn lowest(&self, row: &[f64]) -> Vec<f64> {
        let corner = |i: usize| if row[i] > 0.0 { self.lower[i] } else { self.upper[i] };
        match self.part() {
            Some((set, part)) => set.lowest(part, row),
            None => (0..row.len()).map(corner).collect(),
        }
    }

    /// A lower bound of `row . y`. It is tight for a part of a round set; otherwise it is that of
    /// [`Region::range`].
    pub fn least(&self, row: &[f64]) -> f64 {
        let first = self.range(row).lower;
        self.multiplied(row).map_or(first, |(_, bound)| first.max(bound))
    }

    /// The Lagrange multiplier of the set that gives the best lower bound of `row . y`, and that bound.
    /// `None` unless the region is a part of a round set.
    fn multiplied(&self, row: &[f64]) -> Option<(f64, f64)> {
        let (set, part) = self.part().filter(|_| !self.whole)?;
        set.multiplier(part, row)
    }

    /// A lower and an upper bound of `row . y`.
    pub fn range(&self, row: &[f64]) -> Interval {
        let mut columns = [Lanes::ZERO; 64];
        let mut more = Vec::new();
        let columns = if row.len() <= columns.len() {
            &mut columns[..row.len()]
        } else {
            more.resize(row.len(), Lanes::ZERO);
            &mut more[..]
        };
        columns.iter_mut().zip(row).for_each(|(column, &a)| column.0[0] = a);
        let (mut lower, mut upper) = ([Lanes::ZERO], [Lanes::ZERO]);
        self.ranges(columns, &mut lower, &mut upper);
        Interval { lower: lower[0].0[0], upper: upper[0].0[0] }
    }

    /// As [`Region::range`] for many rows at once: one row per lane, one block of columns per input.
    pub fn ranges(&self, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        if let Some(following) = &self.following {
            return following.ranges(columns, lower, upper);
        }
        match self.part() {
            Some((set, part)) if self.whole => set.ranges(part.radius, columns, lower, upper),
            part => {
                vectorised(BoxRanges { region: self, columns, lower, upper });
                if let Some((set, part)) = part {
                    set.tighten_ranges(part, columns, lower, upper);
                }
                if let Some(limit) = &self.cost_limit {
                    limit.tighten((&self.lower, &self.upper), columns, lower, upper);
                }
            }
        }
    }
}

/// Ranges of rows over the box, including the inputs with a limited sum.
struct BoxRanges<'a> {
    region: &'a Region,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for BoxRanges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let BoxRanges { region, columns, lower, upper } = self;
        let (inputs, blocks) = (region.inputs(), lower.len());
        for b in 0..blocks {
            let row = |i: usize| &columns[i * blocks + b].0;
            let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
            let mut first = 0;
            if let Some((count, from, to)) = region.sum_limits {
                first = count;
                let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
                for i in 0..count {
                    for l in 0..LANES {
                        least[l] = least[l].min(row(i)[l]);
                        most[l] = most[l].max(row(i)[l]);
                    }
                }
                // The finite end `from` is used where the coefficient is zero, so that zero is never
                // multiplied by infinity.
                for l in 0..LANES {
                    let end = |x: f64, near: bool| {
                        if near { from * x } else { x * to }
                    };
                    low[l] = end(least[l], least[l] >= 0.0);
                    high[l] = end(most[l], most[l] <= 0.0);
                }
            }
            for i in first..inputs {
                let (down, up) = (region.lower[i], region.upper[i]);
                for l in 0..LANES {
                    // A zero coefficient contributes zero, even if the end is infinite.
                    let a = row(i)[l];
                    let (x, y) = if a == 0.0 { (0.0, 0.0) } else { (a * down, a * up) };
                    low[l] += if x < y { x } else { y };
                    high[l] += if x < y { y } else { x };
                }
            }
            lower[b].0 = low;
            upper[b].0 = high;
        }
    }
}
