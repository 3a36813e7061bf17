//! The limit on the cost of the actions in a region.

use crate::Cost;
use crate::network::{LANES, Lanes, Vectorised, vectorised};

/// The number of multipliers that are tried for each row, by tangents and by bisection.
const TANGENTS: usize = 5;
const STEPS: usize = 9;
/// Tangents are tried until no bound can be lowered by more than this factor.
const CLOSE: f64 = 1.01;
/// The number of rows that are bounded together.
const TOGETHER: usize = 8;
/// Relative room for rounding.
const ROUNDING: f64 = 1e-13;

/// The part of a box with `cost(y) <= limit`, where `cost(y)` is the sum of `w_i |y_i|` or the Euclidean
/// length of `w_i y_i`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limit {
    pub cost: Cost,
    pub weights: Vec<f64>,
    pub limit: f64,
}

/// The cheapest point of a box of actions, and how far each coordinate alone can move from there within the
/// limit on an l1 cost. Every action within the limit is an average of the point and of the ends of the rays:
///
/// ```text
/// t = base + sum_i x_i reach_i (+-e_i),    x_i = |t_i - base_i| / reach_i,    sum_i x_i <= 1.
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rays {
    pub base: Vec<f64>,
    pub reach: Vec<f64>,
    /// Whether an action of the box is beyond the base in this direction.
    pub up: Vec<bool>,
    pub down: Vec<bool>,
}

impl Limit {
    /// Slightly larger than asked for, so that no action is lost by rounding.
    pub fn new(cost: Cost, weights: Vec<f64>, limit: f64) -> Self {
        Self { cost, weights, limit: limit * (1.0 + 1e-9) + 1e-12 }
    }

    /// The rays that span the part of a box with finite sides within the limit. `None` unless the cost is the
    /// sum of absolute values.
    pub fn rays(&self, lower: &[f64], upper: &[f64]) -> Option<Rays> {
        if self.cost != Cost::L1 {
            return None;
        }
        let base: Vec<f64> = lower.iter().zip(upper).map(|(&l, &u)| 0.0f64.max(l).min(u)).collect();
        let spent: f64 = base.iter().zip(&self.weights).map(|(b, w)| w * b.abs()).sum();
        // Slightly longer than exact, so that rounding leaves no action outside.
        let left = (self.limit - spent).max(0.0) * (1.0 + 1e-9) + 1e-12;
        let reach: Vec<f64> = self.weights.iter().map(|w| left / w).collect();
        let up = base.iter().zip(upper).map(|(b, u)| b < u).collect();
        let down = base.iter().zip(lower).map(|(b, l)| b > l).collect();
        reach.iter().all(|reach| reach.is_finite()).then_some(Rays { base, reach, up, down })
    }

    /// Tightens the ranges of many rows over a box to those over its part within the limit. The box has
    /// finite sides.
    pub fn tighten(
        &self,
        (lower, upper): (&[f64], &[f64]),
        columns: &[Lanes],
        least: &mut [Lanes],
        most: &mut [Lanes],
    ) {
        match self.cost {
            Cost::L1 => vectorised(Knapsack { limit: self, lower, upper, columns, least, most }),
            Cost::L2 => vectorised(Ellipsoid { limit: self, lower, upper, columns, least, most }),
        }
    }
}

/// Ranges for the sum of absolute values. With the cheapest point c of the box and what it leaves of the
/// limit, for every multiplier `m >= 0`,
///
/// ```text
/// a.y <= a.c + m (limit - cost(c)) + sum_i max(0, |a_i| - m w_i) room_i,
/// ```
///
/// where `room_i` is the length of the side beyond `c_i` in the direction of the sign of `a_i`. It is a
/// convex, piecewise linear function of m. Each step goes to the intersection of the tangents on both sides
/// of its minimum.
struct Knapsack<'a> {
    limit: &'a Limit,
    lower: &'a [f64],
    upper: &'a [f64],
    columns: &'a [Lanes],
    least: &'a mut [Lanes],
    most: &'a mut [Lanes],
}

impl Vectorised for Knapsack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Knapsack { limit, lower, upper, columns, least, most } = self;
        let blocks = least.len();
        let weights = &limit.weights;
        let near = |i: usize| 0.0f64.max(lower[i]).min(upper[i]);
        let spent: f64 = (0..weights.len()).map(|i| weights[i] * near(i).abs()).sum();
        let left = (limit.limit - spent).max(0.0);
        let most_expensive: f64 =
            (0..weights.len()).map(|i| weights[i] * (upper[i] - near(i)).max(near(i) - lower[i])).sum();
        if most_expensive <= left {
            return;
        }
        let sides = Sides { weights, lower, upper, left };
        for b in 0..blocks {
            // So few lanes at a time that all sums stay in registers.
            for first in (0..LANES).step_by(TOGETHER) {
                let row = |i: usize| part(&columns[i * blocks + b], first);
                let (mut base, mut size, mut high) = ([0.0; TOGETHER], [0.0; TOGETHER], [0.0f64; TOGETHER]);
                for i in 0..weights.len() {
                    for l in 0..TOGETHER {
                        base[l] += row(i)[l] * near(i);
                        size[l] += (row(i)[l] * near(i)).abs();
                        high[l] = high[l].max(row(i)[l].abs() / weights[i]);
                    }
                }
                for (sign, ends) in [(1.0, &mut most[b].0), (-1.0, &mut least[b].0)] {
                    let best = least_bound(sides, row, sign, high);
                    for l in 0..TOGETHER {
                        let bound = base[l] + sign * (best[l] + ROUNDING * (size[l] + best[l]));
                        let end = &mut ends[first + l];
                        let is_tighter = if sign > 0.0 { bound < *end } else { bound > *end };
                        *end = if is_tighter { bound } else { *end };
                    }
                }
            }
        }
    }
}

/// Neighbouring lanes.
#[inline(always)]
fn part(lanes: &Lanes, first: usize) -> &[f64; TOGETHER] {
    lanes.0[first..].first_chunk().unwrap_or(&[0.0; TOGETHER])
}

/// The least bound on `sign a.(y - c)` over some multipliers up to `high`, for each lane.
#[inline(always)]
fn least_bound<'r>(
    sides: Sides<'_>,
    row: impl Fn(usize) -> &'r [f64; TOGETHER] + Copy,
    sign: f64,
    high: [f64; TOGETHER],
) -> [f64; TOGETHER] {
    let (mut from, mut to) = ([0.0; TOGETHER], high);
    let (mut before, mut falling) = value_and_slope(sides, row, sign, &from);
    let (mut after, mut rising) = (high, [sides.left; TOGETHER]);
    (0..TOGETHER).for_each(|l| after[l] *= sides.left);
    let mut best = before;
    (0..TOGETHER).for_each(|l| best[l] = if after[l] < best[l] { after[l] } else { best[l] });
    for _ in 0..TANGENTS {
        let (mut m, mut is_open) = (from, false);
        for l in 0..TOGETHER {
            let apart = after[l] - before[l] + falling[l] * from[l] - rising[l] * to[l];
            let crossing = apart / (falling[l] - rising[l]);
            // Of two parallel tangents both ends are as good.
            m[l] = crossing.max(from[l]).min(to[l]);
            let lowest = before[l] + falling[l] * (m[l] - from[l]);
            is_open |= falling[l] < 0.0 && best[l] > CLOSE * lowest;
        }
        if !is_open {
            break;
        }
        let (sum, slope) = value_and_slope(sides, row, sign, &m);
        for l in 0..TOGETHER {
            best[l] = if sum[l] < best[l] { sum[l] } else { best[l] };
            // Where the bound falls with the multiplier, the minimum is at a larger one.
            let is_falling = slope[l] < 0.0;
            from[l] = if is_falling { m[l] } else { from[l] };
            before[l] = if is_falling { sum[l] } else { before[l] };
            falling[l] = if is_falling { slope[l] } else { falling[l] };
            to[l] = if is_falling { to[l] } else { m[l] };
            after[l] = if is_falling { after[l] } else { sum[l] };
            rising[l] = if is_falling { rising[l] } else { slope[l] };
        }
    }
    best
}

/// The sides of a box, their weights, and what its cheapest point leaves of the limit.
#[derive(Clone, Copy)]
struct Sides<'a> {
    weights: &'a [f64],
    lower: &'a [f64],
    upper: &'a [f64],
    left: f64,
}

/// The bound on `sign a.(y - c)` for each lane and its slope, at a multiplier.
#[inline(always)]
fn value_and_slope<'r>(
    Sides { weights, lower, upper, left }: Sides<'_>,
    row: impl Fn(usize) -> &'r [f64; TOGETHER],
    sign: f64,
    m: &[f64; TOGETHER],
) -> ([f64; TOGETHER], [f64; TOGETHER]) {
    let (mut sum, mut slope) = ([0.0; TOGETHER], [left; TOGETHER]);
    for i in 0..weights.len() {
        let near = 0.0f64.max(lower[i]).min(upper[i]);
        let (up, down) = (upper[i] - near, near - lower[i]);
        for l in 0..TOGETHER {
            let a = sign * row(i)[l];
            let room = if a > 0.0 { up } else { down };
            let over = a.abs() - m[l] * weights[i];
            sum[l] += if over > 0.0 { over * room } else { 0.0 };
            slope[l] -= if over > 0.0 { weights[i] * room } else { 0.0 };
        }
    }
    (0..TOGETHER).for_each(|l| sum[l] += m[l] * left);
    (sum, slope)
}

/// Ranges for the Euclidean length: for every multiplier `m > 0`,
///
/// ```text
/// a.y <= sum_i max over y_i in its side of (a_i y_i - m (w_i y_i)^2 / 2) + m limit^2 / 2.
/// ```
struct Ellipsoid<'a> {
    limit: &'a Limit,
    lower: &'a [f64],
    upper: &'a [f64],
    columns: &'a [Lanes],
    least: &'a mut [Lanes],
    most: &'a mut [Lanes],
}

impl Vectorised for Ellipsoid<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Ellipsoid { limit, lower, upper, columns, least, most } = self;
        let blocks = least.len();
        let (weights, square) = (&limit.weights, limit.limit * limit.limit);
        let near = |i: usize| weights[i] * 0.0f64.max(lower[i]).min(upper[i]);
        let left = (square - (0..weights.len()).map(|i| near(i) * near(i)).sum::<f64>()).max(1e-12 * square);
        for b in 0..blocks {
            let row = |i: usize| &columns[i * blocks + b].0;
            let mut length = [0.0f64; LANES];
            for i in 0..weights.len() {
                for l in 0..LANES {
                    length[l] += (row(i)[l] / weights[i]) * (row(i)[l] / weights[i]);
                }
            }
            // With this multiplier no coordinate beyond the cheapest point uses more than is left.
            let mut start = [0.0; LANES];
            (0..LANES).for_each(|l| start[l] = (length[l] / left).sqrt());
            for (sign, ends) in [(1.0, &mut most[b].0), (-1.0, &mut least[b].0)] {
                let (mut from, mut to) = ([0.0; LANES], start);
                for step in 0..=STEPS {
                    let mut m = to;
                    if step > 0 {
                        (0..LANES).for_each(|l| m[l] = 0.5 * (from[l] + to[l]));
                    }
                    let (mut sum, mut size, mut used) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
                    for i in 0..weights.len() {
                        let w = weights[i];
                        for l in 0..LANES {
                            let a = sign * row(i)[l];
                            let y = (a / (m[l] * w * w)).max(lower[i]).min(upper[i]);
                            let price = 0.5 * m[l] * (w * y) * (w * y);
                            sum[l] += a * y - price;
                            size[l] += (a * y).abs() + price;
                            used[l] += (w * y) * (w * y);
                        }
                    }
                    for l in 0..LANES {
                        let given = 0.5 * m[l] * square;
                        let bound = sign * (sum[l] + given + ROUNDING * (size[l] + given));
                        // False for NaN, which a multiplier of zero gives.
                        let is_tighter = if sign > 0.0 { bound < ends[l] } else { bound > ends[l] };
                        ends[l] = if is_tighter { bound } else { ends[l] };
                        let is_outside = used[l] > square;
                        from[l] = if is_outside { m[l] } else { from[l] };
                        to[l] = if is_outside { to[l] } else { m[l] };
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::Cost;
    use crate::graph::Region;

    /// The least and the greatest value of a row of two coefficients over a box within a cost limit: for
    /// every value of the first input on a fine grid, at both ends of the second.
    fn exact(cost: Cost, w: &[f64], limit: f64, [lower, upper, row]: [&Vec<f64>; 3]) -> (f64, f64) {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for step in 0..=20_000 {
            let first = lower[0] + (upper[0] - lower[0]) * f64::from(step) / 20_000.0;
            let spent = w[0] * first.abs();
            let reach = match cost {
                Cost::L1 => (limit - spent) / w[1],
                Cost::L2 => (limit * limit - spent * spent).sqrt() / w[1],
            };
            let (from, to) = (lower[1].max(-reach), upper[1].min(reach));
            if from <= to {
                for second in [from, to] {
                    let value = row[0] * first + row[1] * second;
                    (least, most) = (least.min(value), most.max(value));
                }
            }
        }
        (least, most)
    }

    /// Ranges contain every sample, and those of two inputs are hardly wider than the exact ones.
    #[test]
    fn ranges_within_a_cost_limit() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for round in 0..400 {
            let width = random.random_range(1..6);
            let cost = if round % 2 == 0 { Cost::L1 } else { Cost::L2 };
            let weights: Vec<f64> = (0..width).map(|_| random.random_range(0.3..3.0)).collect();
            let lower: Vec<f64> = (0..width).map(|_| random.random_range(-1.5..0.5)).collect();
            let upper: Vec<f64> = lower.iter().map(|l| l + random.random_range(0.0..2.0)).collect();
            let row: Vec<f64> = (0..width).map(|_| random.random_range(-2.0..2.0)).collect();
            let of = |y: &[f64]| cost.of_weighted(y.iter().zip(&weights).map(|(y, w)| w * y));
            let nearest: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| 0.0f64.max(*l).min(*u)).collect();
            let limit = of(&nearest) + random.random_range(0.01..2.0);
            let whole = Region::cuboid(lower.clone(), upper.clone());
            let region = whole.clone().within_cost(cost, &weights, limit);
            let range = region.range(&row);
            let over_box = whole.range(&row);
            assert!(range.lower >= over_box.lower && range.upper <= over_box.upper);
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for _ in 0..4000 {
                let mut y: Vec<f64> = (0..width).map(|i| random.random_range(lower[i]..=upper[i])).collect();
                // Half of the samples are corners, moved towards the cheapest point until they fit.
                if random.random_bool(0.5) {
                    y = (0..width)
                        .map(|i| if random.random_bool(0.5) { lower[i] } else { upper[i] })
                        .collect();
                    for i in 0..width {
                        if random.random_bool(0.3) {
                            y[i] = nearest[i];
                        }
                    }
                }
                let (mut inside, mut outside) = (0.0, 1.0);
                let at = |share: f64| -> Vec<f64> {
                    y.iter().zip(&nearest).map(|(y, n)| n + share * (y - n)).collect()
                };
                if of(&y) > limit {
                    for _ in 0..40 {
                        let middle = 0.5 * (inside + outside);
                        if of(&at(middle)) <= limit { inside = middle } else { outside = middle }
                    }
                    y = at(inside);
                }
                let value: f64 = y.iter().zip(&row).map(|(y, a)| y * a).sum();
                (least, most) = (least.min(value), most.max(value));
            }
            assert!(least >= range.lower - 1e-12 && most <= range.upper + 1e-12, "{range:?} {least} {most}");
            if width == 2 {
                let (least, most) = exact(cost, &weights, limit, [&lower, &upper, &row]);
                let slack = 0.01 * (over_box.upper - over_box.lower) + 1e-6;
                assert!(
                    least <= range.lower + slack && most >= range.upper - slack,
                    "{range:?} {least} {most}"
                );
            }
        }
    }
}
