//! The domain of inputs: a box, the intersection of a box and a ball, or a cone. Where features are undecided, boxes and
//! balls are of changes, and inputs follow from them.

use super::ball::Ball;
use super::followers::Followers;
use super::unit::Range;

/// The factor between the ends of a long side.
const LONG: f64 = 16.0;

/// A convex set of inputs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Zone {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub ball: Option<Ball>,
    /// `(n, from, to)`: the first n inputs are nonnegative and their sum is between `from` and `to`,
    /// which may be infinite.
    pub shares: Option<(usize, f64, f64)>,
    /// The inputs that may follow others.
    pub followers: Followers,
}

impl Zone {
    /// The intersection of a box, whose ends may be infinite, with an optional ball; `None` if it is
    /// empty. The box is shrunk to the ball.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>, ball: Option<Ball>) -> Option<Self> {
        let mut zone = Self { lower, upper, ball, shares: None, followers: Followers::default() };
        if (0..zone.lower.len()).any(|i| !(zone.lower[i] <= zone.upper[i])) {
            return None;
        }
        let Some(ball) = &zone.ball else { return Some(zone) };
        ball.tighten(&mut zone.lower, &mut zone.upper).then_some(zone)
    }

    /// Nonnegative coefficients of `count` rays with a sum between `from` and `to`, and a box for the
    /// other inputs.
    pub fn cone(count: usize, from: f64, to: f64, lower: &[f64], upper: &[f64]) -> Self {
        let with = |end: f64, rest: &[f64]| vec![end; count].into_iter().chain(rest.to_vec()).collect();
        let shares = Some((count, from, to));
        let (lower, upper) = (with(0.0, lower), with(to, upper));
        Self { lower, upper, ball: None, shares, followers: Followers::default() }
    }

    /// A single point.
    pub fn point(at: &[f64]) -> Self {
        let (lower, upper) = (at.to_vec(), at.to_vec());
        Self { lower, upper, ball: None, shares: None, followers: Followers::default() }
    }

    /// The same with inputs that may follow others, unless every change of the zone holds them.
    pub fn with_followers(self, followers: &Followers) -> Self {
        Self { followers: followers.within((&self.lower, &self.upper)), ..self }
    }

    /// Both parts of the zone if it is decided whether an input follows its causes: where it is held, and where it is not
    /// changed and follows them.
    pub fn decided(&self, input: usize) -> [Zone; 2] {
        let held = Zone { followers: self.followers.with(input, false), ..self.clone() };
        let mut follows = Zone { followers: self.followers.with(input, true), ..self.clone() };
        (follows.lower[input], follows.upper[input]) = (0.0, 0.0);
        [held, follows]
    }

    /// The length of the range, together with zero, by which an input follows its causes if it does.
    pub fn response(&self, input: usize) -> f64 {
        let row = self.followers.effects_on(input, self.lower.len());
        let opposite: Vec<f64> = row.iter().map(|effect| -effect).collect();
        let doubt = vec![0.0; row.len()];
        (-self.least(&opposite, &doubt)).max(0.0) - self.least(&row, &doubt).min(0.0)
    }

    /// The range of an input.
    pub fn input(&self, i: usize) -> Range {
        if self.followers.is_empty() {
            return Range::new(self.lower[i], self.upper[i]);
        }
        let unit = |sign: f64| -> Vec<f64> {
            (0..self.lower.len()).map(|k| if k == i { sign } else { 0.0 }).collect()
        };
        let doubt = vec![0.0; self.lower.len()];
        Range::new(self.least(&unit(1.0), &doubt), -self.least(&unit(-1.0), &doubt))
    }

    pub fn width(&self, i: usize) -> f64 {
        self.upper[i] - self.lower[i]
    }

    /// The point of the box that is nearest to the origin.
    pub fn nearest(&self) -> Vec<f64> {
        (0..self.lower.len()).map(|i| 0.0f64.max(self.lower[i]).min(self.upper[i])).collect()
    }

    pub fn contains(&self, y: &[f64]) -> bool {
        let sides = (0..y.len()).all(|i| y[i] >= self.lower[i] && y[i] <= self.upper[i]);
        sides && self.shares.is_none() && self.ball.as_ref().is_none_or(|ball| ball.contains(y))
    }

    /// Whether the ends of a side differ by more than a factor of [`LONG`], on one side of zero. Where such a
    /// side ends far away, functions change most near its start.
    pub fn is_long(&self, side: usize) -> bool {
        let (l, u) = (self.lower[side], self.upper[side]);
        let (near, far) = (l.abs().min(u.abs()), l.abs().max(u.abs()));
        l * u > 0.0 && far.is_finite() && far > LONG * near
    }

    /// The two halves, split across one side; a [long](Zone::is_long) side is split at the geometric mean, and
    /// an infinite one at a finite distance.
    pub fn halves(&self, side: usize) -> [Option<Zone>; 2] {
        let (l, u) = (self.lower[side], self.upper[side]);
        let at = match (l.is_finite(), u.is_finite()) {
            (true, true) if self.is_long(side) => (l.abs().sqrt() * u.abs().sqrt()).copysign(l),
            (true, true) => l + 0.5 * (u - l),
            (true, false) => l + l.abs().max(1.0),
            (false, true) => u - u.abs().max(1.0),
            (false, false) => 0.0,
        };
        let (mut below, mut above) = (self.upper.clone(), self.lower.clone());
        (below[side], above[side]) = (at, at);
        let half = |lower, upper| {
            Zone::new(lower, upper, self.ball.clone()).map(|half| half.with_followers(&self.followers))
        };
        [half(self.lower.clone(), below), half(above, self.upper.clone())]
    }

    /// A point of the zone where a linear function is low: the lowest corner of the box or, if that is not in
    /// the ball, the last point of the zone on the segment from the point nearest to the origin to a low point
    /// near the ball.
    pub fn low_point(&self, linear: &[f64]) -> Vec<f64> {
        let start = match self.shares {
            Some((count, from, to)) => {
                let at = if to.is_finite() && linear[..count].iter().all(|a| *a < 0.0) { to } else { from };
                let lowest = (0..count).reduce(|a, b| if linear[b] < linear[a] { b } else { a });
                let mut start = self.nearest();
                start[..count].fill(0.0);
                lowest.into_iter().for_each(|i| start[i] = at);
                start
            }
            None => self.nearest(),
        };
        let first = self.shares.map_or(0, |(count, ..)| count);
        let corner: Vec<f64> = (0..start.len())
            .map(|i| match if linear[i] > 0.0 { self.lower[i] } else { self.upper[i] } {
                _ if i < first || linear[i] == 0.0 => start[i],
                end if end.is_finite() => end,
                end => start[i] + 100.0f64.copysign(end),
            })
            .collect();
        let Some(ball) = &self.ball else { return corner };
        if ball.contains(&corner) {
            return corner;
        }
        let corner = ball.low_point(&self.lower, &self.upper, linear);
        if ball.contains(&corner) {
            return corner;
        }
        let at = |t: f64| -> Vec<f64> { start.iter().zip(&corner).map(|(s, c)| s + t * (c - s)).collect() };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if ball.contains(&at(middle)) { low = middle } else { high = middle }
        }
        at(low)
    }

    /// A lower bound of `sum_i a_i y_i` over the zone, for all coefficients that differ from `linear` by
    /// at most `doubt`.
    pub fn least(&self, linear: &[f64], doubt: &[f64]) -> f64 {
        if !self.followers.is_empty() {
            return self.followers.least((&self.lower, &self.upper), self.ball.as_ref(), linear, doubt);
        }
        let best = self.least_of_box(linear, doubt);
        let Some(ball) = &self.ball else { return best };
        // Sides are finite where there is a ball.
        let doubts: f64 = (0..linear.len()).map(|i| doubt[i] * self.side(i)).sum();
        best.max(ball.least(&self.lower, &self.upper, linear) - doubts)
    }

    fn side(&self, i: usize) -> f64 {
        let end = |end: f64| if end.is_finite() { end.abs() } else { 0.0 };
        end(self.lower[i]).max(end(self.upper[i]))
    }

    fn least_of_box(&self, linear: &[f64], doubt: &[f64]) -> f64 {
        let (mut sum, mut size, mut first) = (0.0, 0.0, 0);
        if let Some((count, from, to)) = self.shares {
            first = count;
            // The input with the lowest coefficient takes the whole sum: the least sum if the coefficient
            // is positive.
            let lowest = (0..count).map(|i| linear[i] - doubt[i]).fold(f64::INFINITY, f64::min);
            let term = if lowest >= 0.0 { lowest * from } else { lowest * to };
            sum += term;
            size += term.abs();
        }
        for i in first..linear.len() {
            let (a, d) = (linear[i], doubt[i]);
            if a == 0.0 && d == 0.0 {
                continue;
            }
            // Along an infinite side the sign of the coefficient must be certain. Then y = end + t with t
            // >= 0 (or <= 0) gives at least the value at the end.
            let end = if a > 0.0 { self.lower[i] } else { self.upper[i] };
            let endless = self.lower[i].is_infinite() || self.upper[i].is_infinite();
            if end.is_infinite() || endless && !(a.abs() > d) {
                return f64::NEG_INFINITY;
            }
            sum += a * end - d * self.side(i);
            size += (a * end).abs() + d * self.side(i);
        }
        let bound = sum - rounding(linear.len()) * size;
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    }
}

/// An upper bound of the rounding error of a sum of `terms` products, relative to the sum of their
/// magnitudes.
pub(super) fn rounding(terms: usize) -> f64 {
    (terms + 8) as f64 * f64::EPSILON
}
