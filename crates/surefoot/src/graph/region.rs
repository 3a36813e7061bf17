//! Where the inputs of a graph may be: a ball, a box, or what they have in common.

mod cut;

use crate::graph::Interval;
use crate::network::{LANES, Lanes, Real, Vectorised, vectorised};
use crate::{Norm, NormKind};

/// A ball around the origin and a box, intersected. In the coordinates of a graph all weights of
/// the norm are one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Region {
    /// The kind of ball and its radius; none where the box is all there is.
    ball: Option<(NormKind, f64)>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Whether the box holds the whole ball.
    whole: bool,
    /// The first so many inputs are not in a box but at least zero, with a sum between two
    /// numbers.
    far: Option<(usize, f64, f64)>,
}

/// Multipliers of the ball's constraint that are tried, relative to that of the ball alone.
const MULTIPLIERS: [f64; 5] = [0.75, 1.0, 1.2, 1.6, 2.6];
/// Steps of the search for the best multiplier.
const STEPS: usize = 12;

impl Region {
    /// A ball around the origin.
    pub fn ball(kind: NormKind, inputs: usize, radius: f64) -> Self {
        let ball = (kind != NormKind::Linf).then_some((kind, radius));
        Self { ball, lower: vec![-radius; inputs], upper: vec![radius; inputs], whole: true, far: None }
    }

    /// A box, whose ends may be infinite.
    pub fn cuboid(lower: Vec<f64>, upper: Vec<f64>) -> Self {
        Self { ball: None, lower, upper, whole: false, far: None }
    }

    /// A box but for the first so many inputs: there everything that is at least zero and adds up
    /// to something between two numbers, of which the second may be infinite.
    pub fn far(count: usize, from: f64, to: f64, lower: &[f64], upper: &[f64]) -> Self {
        let with =
            |end: f64, rest: &[f64]| vec![end; count].into_iter().chain(rest.iter().copied()).collect();
        let far = Some((count, from, to));
        Self { ball: None, lower: with(0.0, lower), upper: with(to, upper), whole: false, far }
    }

    pub fn inputs(&self) -> usize {
        self.lower.len()
    }

    pub fn side(&self, i: usize) -> Interval {
        Interval { lower: self.lower[i], upper: self.upper[i] }
    }

    /// The largest size of an input where bounds are attained: at an end that is finite.
    pub fn size(&self, i: usize) -> f64 {
        if let Some((count, from, to)) = self.far
            && i < count
        {
            return if to.is_finite() { to } else { from };
        }
        let ends = [self.lower[i].abs(), self.upper[i].abs()];
        ends.into_iter().filter(|end| end.is_finite()).fold(0.0, f64::max)
    }

    /// The part between two points; nothing if it misses the ball.
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

    /// The two halves, cut at a value of one input; nothing where a half misses the ball.
    pub fn split(&self, input: usize, at: f64) -> [Option<Region>; 2] {
        let mut halves = [self.clone(), self.clone()];
        halves[0].upper[input] = at;
        halves[1].lower[input] = at;
        halves.map(Region::tightened)
    }

    /// The smallest box that has the same in common with the ball; nothing if that is nothing.
    fn tightened(mut self) -> Option<Region> {
        self.whole = false;
        let Some((kind, radius)) = self.ball else { return Some(self) };
        let near = |r: &Region, i: usize| r.lower[i].max(-r.upper[i]).max(0.0);
        // Room for rounding, so that nothing is lost.
        let radius = radius * (1.0 + 1e-12);
        let total = |r: &Region| -> f64 {
            (0..r.inputs()).map(|i| if kind == NormKind::L1 { near(r, i) } else { near(r, i).powi(2) }).sum()
        };
        let used = total(&self);
        let limit = if kind == NormKind::L1 { radius } else { radius * radius };
        if used > limit {
            return None;
        }
        for i in 0..self.inputs() {
            let own = near(&self, i);
            let reach = match kind {
                NormKind::L1 => limit - used + own,
                _ => (limit - used + own * own).sqrt(),
            } * (1.0 + 1e-12);
            self.lower[i] = self.lower[i].max(-reach);
            self.upper[i] = self.upper[i].min(reach);
        }
        Some(self)
    }

    /// The point of the box that is nearest to the origin.
    pub fn nearest(&self) -> Vec<f64> {
        (0..self.inputs()).map(|i| 0.0f64.clamp(self.lower[i], self.upper[i])).collect()
    }

    /// Whether a point is in the box.
    pub fn contains(&self, y: &[f64]) -> bool {
        y.iter().enumerate().all(|(i, y)| *y >= self.lower[i] && *y <= self.upper[i])
    }

    /// No point of the region is farther than this, in Euclidean distance, from a point of it.
    pub fn distance(&self, from: &[f64]) -> f64 {
        let far = |i: usize| (self.upper[i] - from[i]).max(from[i] - self.lower[i]).max(0.0);
        let corner = (0..self.inputs()).map(|i| far(i).powi(2)).sum::<f64>().sqrt();
        let length = from.iter().map(|y| y * y).sum::<f64>().sqrt();
        let distance = match self.ball {
            Some((_, radius)) => {
                // Around the point of the box nearest to the origin nothing of the ball is
                // farther than the rest of a right triangle.
                let nearest = from == self.nearest();
                let rest = (radius * radius - length * length).max(0.0).sqrt();
                corner.min(if nearest && !self.whole { rest } else { radius + length })
            }
            None => corner,
        };
        distance * (1.0 + 1e-12)
    }

    /// The largest squared length of a point of the ball.
    pub fn longest(&self) -> f64 {
        let corner = (0..self.inputs()).map(|i| self.side(i).size().powi(2)).sum::<f64>();
        self.ball.map_or(corner, |(_, radius)| corner.min(radius * radius)) * (1.0 + 1e-12)
    }

    /// Whether it is cut from an l2 ball.
    pub fn is_round(&self) -> bool {
        matches!(self.ball, Some((NormKind::L2, _)))
    }

    /// Moves a point into ball and box: to the nearest one, but roughly unless the ball is of l2.
    pub fn project(&self, y: &mut [f64]) {
        if let Some((NormKind::L2, radius)) = self.ball {
            let limit = radius * radius;
            let inside = |share: f64, i: usize, y: f64| (share * y).clamp(self.lower[i], self.upper[i]);
            let square = |share: f64, y: &[f64]| -> f64 {
                y.iter().enumerate().map(|(i, &y)| inside(share, i, y).powi(2)).sum()
            };
            let mut share = 1.0;
            if square(share, y) > limit {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..24 {
                    share = 0.5 * (low + high);
                    if square(share, y) > limit { high = share } else { low = share }
                }
                share = low;
            }
            y.iter_mut().enumerate().for_each(|(i, y)| *y = inside(share, i, *y));
            return;
        }
        if let Some((kind, radius)) = self.ball {
            Norm::unweighted(kind).project(y, radius);
        }
        y.iter_mut().enumerate().for_each(|(i, y)| *y = y.clamp(self.lower[i], self.upper[i]));
    }

    /// A point of the region where `row . y` is about least.
    pub fn lowest(&self, row: &[f64]) -> Vec<f64> {
        let corner = |i: usize| if row[i] > 0.0 { self.lower[i] } else { self.upper[i] };
        let mut y: Vec<f64> = (0..row.len()).map(corner).collect();
        match self.ball {
            Some((NormKind::L2, radius)) => {
                let square = |y: &[f64]| y.iter().map(|y| y * y).sum::<f64>();
                if square(&y) <= radius * radius {
                    return y;
                }
                let length = square(row).sqrt();
                let (mut low, mut high) = (0.0, 1e6 * length / radius);
                for _ in 0..40 {
                    let middle: f64 = if low == 0.0 { 1e-3 * high } else { (low * high).sqrt() };
                    for i in 0..y.len() {
                        y[i] = (-row[i] / middle).clamp(self.lower[i], self.upper[i]);
                    }
                    if square(&y) > radius * radius { low = middle } else { high = middle }
                }
                y
            }
            Some((kind, radius)) => {
                let down: Vec<f64> = row.iter().map(|r| -r).collect();
                y = Norm::unweighted(kind).maximiser(&down, radius);
                y.iter_mut().enumerate().for_each(|(i, y)| *y = y.clamp(self.lower[i], self.upper[i]));
                y
            }
            None => y,
        }
    }

    /// A bound from below of `row . y`: the best there is for a part of an l2 ball, as
    /// [`Region::range`] otherwise.
    pub fn least(&self, row: &[f64]) -> f64 {
        let first = self.range(row).lower;
        self.multiplied(row).map_or(first, |(_, bound)| first.max(bound))
    }

    /// The multiplier of the ball with which the bound from below of `row . y` is best, and that
    /// bound; nothing for what is no part of an l2 ball.
    fn multiplied(&self, row: &[f64]) -> Option<(f64, f64)> {
        let (_, radius) = self.ball.filter(|(kind, _)| *kind == NormKind::L2 && !self.whole)?;
        // The dual in the multiplier of the ball is concave; its slope is half the squared length
        // of the minimiser less that of the radius.
        let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        let (mut low, mut high) = (0.0, length / radius);
        let mut best = (0.0, f64::NEG_INFINITY);
        let mut multiplier = 0.7 * high;
        for _ in 0..STEPS {
            if !(multiplier > 0.0 && multiplier.is_finite()) {
                break;
            }
            let (mut bound, mut square) = (-0.5 * multiplier * radius * radius, 0.0);
            for (i, &a) in row.iter().enumerate() {
                let y = (-a / multiplier).clamp(self.lower[i], self.upper[i]);
                bound += y * (a + 0.5 * multiplier * y);
                square += y * y;
            }
            if bound > best.1 {
                best = (multiplier, bound);
            }
            let excess = square / (radius * radius) - 1.0;
            if excess.abs() < 1e-6 {
                break;
            }
            if excess > 0.0 {
                low = multiplier;
                if high <= low {
                    high = 2.0 * low;
                }
            } else {
                high = multiplier;
            }
            multiplier = 0.5 * (low + high);
        }
        Some(best)
    }

    /// A bound from below of `row . y`, and one from above.
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

    /// The same for many rows at a time, rows on lanes and inputs one after the other.
    pub fn ranges(&self, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        vectorised(Ranges { region: self, columns, lower, upper });
    }
}

struct Ranges<'a> {
    region: &'a Region,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for Ranges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Ranges { region, columns, lower, upper } = self;
        let (inputs, blocks) = (region.inputs(), lower.len());
        for b in 0..blocks {
            let row = |i: usize| &columns[i * blocks + b].0;
            let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
            match region.ball {
                Some((NormKind::L2, radius)) if region.whole => {
                    for i in 0..inputs {
                        for l in 0..LANES {
                            high[l] = f64::fused::<FUSED>(row(i)[l], row(i)[l], high[l]);
                        }
                    }
                    for l in 0..LANES {
                        high[l] = radius * high[l].sqrt();
                        low[l] = -high[l];
                    }
                }
                Some((NormKind::L1, radius)) if region.whole => {
                    for i in 0..inputs {
                        for l in 0..LANES {
                            high[l] = high[l].max(radius * row(i)[l].abs());
                            low[l] = -high[l];
                        }
                    }
                }
                _ => {
                    let mut first = 0;
                    if let Some((count, from, to)) = region.far {
                        first = count;
                        let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
                        for i in 0..count {
                            for l in 0..LANES {
                                least[l] = least[l].min(row(i)[l]);
                                most[l] = most[l].max(row(i)[l]);
                            }
                        }
                        // Nothing times infinity is nothing.
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
                            // Nothing times infinity is nothing.
                            let a = row(i)[l];
                            let (x, y) = if a == 0.0 { (0.0, 0.0) } else { (a * down, a * up) };
                            low[l] += if x < y { x } else { y };
                            high[l] += if x < y { y } else { x };
                        }
                    }
                }
            }
            if !region.whole {
                match region.ball {
                    Some((NormKind::L2, radius)) => {
                        multipliers::<FUSED>(region, radius, inputs, row, &mut low, &mut high);
                    }
                    Some((_, radius)) => {
                        let mut most = [0.0f64; LANES];
                        for i in 0..inputs {
                            for l in 0..LANES {
                                most[l] = most[l].max(radius * row(i)[l].abs());
                            }
                        }
                        for l in 0..LANES {
                            low[l] = low[l].max(-most[l]);
                            high[l] = high[l].min(most[l]);
                        }
                    }
                    None => {}
                }
            }
            lower[b].0 = low;
            upper[b].0 = high;
        }
    }
}

/// Over box and ball together: for any multiplier `m >= 0`,
/// `sum_i min over y_i of (a_i y_i + m y_i^2 / 2) - m radius^2 / 2` is a bound from below.
#[inline(always)]
fn multipliers<'a, const FUSED: bool>(
    region: &Region,
    radius: f64,
    inputs: usize,
    row: impl Fn(usize) -> &'a [f64; LANES],
    low: &mut [f64; LANES],
    high: &mut [f64; LANES],
) {
    let mut length = [0.0; LANES];
    for i in 0..inputs {
        for l in 0..LANES {
            length[l] = f64::fused::<FUSED>(row(i)[l], row(i)[l], length[l]);
        }
    }
    for l in 0..LANES {
        length[l] = length[l].sqrt() / radius + f64::MIN_POSITIVE;
    }
    for share in MULTIPLIERS {
        let (mut multiplier, mut inverse) = ([0.0; LANES], [0.0; LANES]);
        let (mut down, mut up) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            multiplier[l] = share * length[l];
            inverse[l] = 1.0 / multiplier[l];
            down[l] = -0.5 * multiplier[l] * radius * radius;
            up[l] = -down[l];
        }
        for i in 0..inputs {
            let (first, last) = (region.lower[i], region.upper[i]);
            for l in 0..LANES {
                let a = row(i)[l];
                let y = a * inverse[l];
                let at = (-y).max(first).min(last);
                down[l] = f64::fused::<FUSED>(at, f64::fused::<FUSED>(0.5 * multiplier[l], at, a), down[l]);
                let at = y.max(first).min(last);
                up[l] = f64::fused::<FUSED>(at, f64::fused::<FUSED>(-0.5 * multiplier[l], at, a), up[l]);
            }
        }
        for l in 0..LANES {
            low[l] = low[l].max(down[l]);
            high[l] = high[l].min(up[l]);
        }
    }
}
