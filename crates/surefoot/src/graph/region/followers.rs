//! Inputs that may follow other inputs.
//!
//! An action that changes a feature holds it, so that it no longer follows its causes. While it is undecided
//! whether an action changes a feature, the region consists of changes t, and the inputs y of the graph are
//!
//! ```text
//! y_i = t_i + lambda_i sum_k b_ik y_k     for followers, with any lambda_i from 0 to 1,
//! y_i = t_i                               for the others.
//! ```
//!
//! A held feature has lambda 0; one that the action does not change has t = 0 and lambda 1. For a row a, what a
//! unit of `t_k` in either direction contributes to `a.y` is at most
//!
//! ```text
//! gain_k(+-) = +-a_k + sum over followers i of k of |b_ik| max(0, gain_i(+- sign b_ik)),
//! ```
//!
//! because for given lambdas the contribution is the same sum with `lambda_i gain_i` in place of `max(0, gain_i)`. So
//! `a.y <= sum_k gain_k(sign t_k) |t_k|`.

use super::limit::Limit;
use crate::Cost;
use crate::network::{LANES, Lanes, Vectorised, vectorised};

/// Followers follow by up to this share more, so that rounding loses no action.
const ROOM: f64 = 1e-12;
/// The number of multipliers that are tried for each row.
const STEPS: usize = 9;
/// Relative room for rounding.
const ROUNDING: f64 = 1e-12;

/// An input that may follow others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Follower {
    pub input: usize,
    /// The inputs that it follows, which are no followers of it, with the change per unit of each.
    pub causes: Vec<(usize, f64)>,
}

/// Inputs that may follow others, causes before their effects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Followers(Vec<Follower>);

impl Followers {
    /// From followers of which none follows a later one.
    pub fn new(followers: Vec<Follower>) -> Self {
        Self(followers)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Follower> {
        self.0.iter()
    }

    /// What a unit of each change contributes at most to a row, upwards and downwards.
    pub fn gains(&self, row: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut up: Vec<Lanes> = row.iter().map(|a| Lanes::splat(*a)).collect();
        let mut down: Vec<Lanes> = row.iter().map(|a| Lanes::splat(-a)).collect();
        self.pass_on(&mut up, &mut down);
        let first = |lanes: Vec<Lanes>| lanes.into_iter().map(|lanes| lanes.0[0]).collect();
        (first(up), first(down))
    }

    /// Adds to the gains of causes those of their followers, the last ones first.
    #[inline(always)]
    fn pass_on(&self, up: &mut [Lanes], down: &mut [Lanes]) {
        for Follower { input, causes } in self.0.iter().rev() {
            let positive = |lanes: &Lanes| lanes.map(|gain| if gain > 0.0 { gain } else { 0.0 });
            let (rise, fall) = (positive(&up[*input]), positive(&down[*input]));
            for &(cause, effect) in causes {
                let (same, other) = if effect > 0.0 { (rise, fall) } else { (fall, rise) };
                let size = effect.abs() * (1.0 + ROOM);
                for l in 0..LANES {
                    up[cause].0[l] += size * same.0[l];
                    down[cause].0[l] += size * other.0[l];
                }
            }
        }
    }
}

/// Changes in a box within a limit on the cost, with followers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Following {
    pub followers: Followers,
    /// The box of changes; finite where there is a limit.
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub limit: Option<Limit>,
}

impl Following {
    /// The ranges of many rows: one row per lane, one block of columns per input.
    pub fn ranges(&self, columns: &[Lanes], lower: &mut [Lanes], upper: &mut [Lanes]) {
        vectorised(Ranges { following: self, columns, lower, upper });
    }

    fn near(&self, i: usize) -> f64 {
        0.0f64.max(self.lower[i]).min(self.upper[i])
    }

    /// The largest sum of gains over the box. It is convex along each side, so that it is largest at an end.
    #[inline(always)]
    fn most_in_box(&self, up: &[Lanes], down: &[Lanes]) -> Lanes {
        let mut most = Lanes::ZERO;
        let mut size = Lanes::ZERO;
        for i in 0..up.len() {
            for l in 0..LANES {
                let at = |t: f64| match if t > 0.0 { up[i].0[l] } else { down[i].0[l] } {
                    // Also where the side is infinite.
                    0.0 => 0.0,
                    gain => gain * t.abs(),
                };
                let end = at(self.lower[i]).max(at(self.upper[i]));
                most.0[l] += end;
                size.0[l] += end.abs();
            }
        }
        most.zip(size, |most, size| most + ROUNDING * size)
    }

    /// An upper bound of the sum of gains within the limit for some multipliers m of the cost:
    ///
    /// ```text
    /// l1:  base + m left + sum_i (max(0, up_i - m w_i) above_i + max(0, down_i - m w_i) below_i),
    /// l2:  sum_i max over t_i in its side of (gain_i |t_i| - m (w_i t_i)^2 / 2) + m limit^2 / 2,
    /// ```
    ///
    /// where `base` is the sum at the cheapest point of the box, `left` what that leaves of the limit, and
    /// `above_i` and `below_i` the lengths of the side beyond it.
    #[inline(always)]
    fn most_within(&self, limit: &Limit, up: &[Lanes], down: &[Lanes]) -> Lanes {
        let mut high = Lanes::ZERO;
        for i in 0..up.len() {
            let weight = limit.weights[i];
            for l in 0..LANES {
                let gain = up[i].0[l].max(down[i].0[l]).max(0.0) / weight;
                high.0[l] = match limit.cost {
                    Cost::L1 => high.0[l].max(gain),
                    Cost::L2 => high.0[l] + gain * gain,
                };
            }
        }
        let spent: Vec<f64> = (0..up.len()).map(|i| limit.weights[i] * self.near(i).abs()).collect();
        let left = match limit.cost {
            Cost::L1 => (limit.limit - spent.iter().sum::<f64>()).max(0.0),
            Cost::L2 => {
                let square = limit.limit * limit.limit;
                let left = (square - spent.iter().map(|s| s * s).sum::<f64>()).max(1e-12 * square);
                high = high.map(|squares| (squares / left).sqrt());
                left
            }
        };
        let mut best = Lanes::splat(f64::INFINITY);
        let (mut from, mut to) = (Lanes::ZERO, high);
        for step in 0..=STEPS {
            let m = if step == 0 { to } else { from.zip(to, |a, b| 0.5 * (a + b)) };
            let (bound, is_too_low) = match limit.cost {
                Cost::L1 => self.with_multiplier_of_sum(limit, left, up, down, m),
                Cost::L2 => self.with_multiplier_of_length(limit, up, down, m),
            };
            for l in 0..LANES {
                // False for NaN, which a multiplier of zero gives.
                best.0[l] = if bound.0[l] < best.0[l] { bound.0[l] } else { best.0[l] };
                from.0[l] = if is_too_low[l] { m.0[l] } else { from.0[l] };
                to.0[l] = if is_too_low[l] { to.0[l] } else { m.0[l] };
            }
        }
        best
    }

    /// The bound of a multiplier for l1 cost, and whether a larger one is better.
    #[inline(always)]
    fn with_multiplier_of_sum(
        &self,
        limit: &Limit,
        left: f64,
        up: &[Lanes],
        down: &[Lanes],
        m: Lanes,
    ) -> (Lanes, [bool; LANES]) {
        let (mut sum, mut size) = (m.map(|m| m * left), m.map(|m| m * left));
        let mut slope = [left; LANES];
        for i in 0..up.len() {
            let (near, weight) = (self.near(i), limit.weights[i]);
            let (above, below) = (self.upper[i] - near, near - self.lower[i]);
            for l in 0..LANES {
                let base = if near > 0.0 { up[i].0[l] * near } else { down[i].0[l] * -near };
                let (rise, fall) = (up[i].0[l] - m.0[l] * weight, down[i].0[l] - m.0[l] * weight);
                // The cheapest point of a side is its nearest end to zero, or zero.
                let rise = if rise > 0.0 && near >= 0.0 { rise * above } else { 0.0 };
                let fall = if fall > 0.0 && near <= 0.0 { fall * below } else { 0.0 };
                sum.0[l] += base + rise + fall;
                size.0[l] += base.abs() + rise + fall;
                slope[l] -= if rise > 0.0 { weight * above } else { 0.0 };
                slope[l] -= if fall > 0.0 { weight * below } else { 0.0 };
            }
        }
        (sum.zip(size, |sum, size| sum + ROUNDING * size), slope.map(|slope| slope < 0.0))
    }

    /// The same for l2 cost.
    #[inline(always)]
    fn with_multiplier_of_length(
        &self,
        limit: &Limit,
        up: &[Lanes],
        down: &[Lanes],
        m: Lanes,
    ) -> (Lanes, [bool; LANES]) {
        let square = limit.limit * limit.limit;
        let given = m.map(|m| 0.5 * m * square);
        let (mut sum, mut size, mut used) = (given, given, Lanes::ZERO);
        for i in 0..up.len() {
            let (lower, upper, weight) = (self.lower[i], self.upper[i], limit.weights[i]);
            for l in 0..LANES {
                let value = |gain: f64, from: f64, to: f64| {
                    let t = (gain / (m.0[l] * weight * weight)).max(from).min(to);
                    let length = (weight * t) * (weight * t);
                    let price = 0.5 * m.0[l] * length;
                    (gain * t - price, (gain * t).abs() + price, length)
                };
                let rise = value(up[i].0[l], lower.max(0.0), upper);
                let fall = value(down[i].0[l], (-upper).max(0.0), -lower);
                let (most, terms, length) = match (upper >= 0.0, lower <= 0.0) {
                    (true, true) if fall.0 > rise.0 => fall,
                    (true, _) => rise,
                    (false, _) => fall,
                };
                sum.0[l] += most;
                size.0[l] += terms;
                used.0[l] += length;
            }
        }
        (sum.zip(size, |sum, size| sum + ROUNDING * size), used.0.map(|used| used > square))
    }
}

struct Ranges<'a> {
    following: &'a Following,
    columns: &'a [Lanes],
    lower: &'a mut [Lanes],
    upper: &'a mut [Lanes],
}

impl Vectorised for Ranges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Ranges { following, columns, lower, upper } = self;
        let (inputs, blocks) = (following.lower.len(), lower.len());
        let (mut up, mut down) = (vec![Lanes::ZERO; inputs], vec![Lanes::ZERO; inputs]);
        for b in 0..blocks {
            for (sign, ends) in [(1.0, &mut upper[b]), (-1.0, &mut lower[b])] {
                for i in 0..inputs {
                    up[i] = columns[i * blocks + b].map(|a| sign * a);
                    down[i] = up[i].map(|a| -a);
                }
                following.followers.pass_on(&mut up, &mut down);
                let mut most = following.most_in_box(&up, &down);
                if let Some(limit) = &following.limit {
                    let within = following.most_within(limit, &up, &down);
                    most = most.zip(within, |a, b| if b < a { b } else { a });
                }
                *ends = most.map(|most| sign * most);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::{Follower, Followers};
    use crate::Cost;
    use crate::graph::Region;

    /// No sample exceeds the range of a row, and where the causes are linear a sample comes close to it.
    #[test]
    fn ranges_contain_every_response_of_followers() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut closest = f64::INFINITY;
        for round in 0..300 {
            let width = random.random_range(2..6);
            let cost = if round % 2 == 0 { Cost::L1 } else { Cost::L2 };
            let weights: Vec<f64> = (0..width).map(|_| random.random_range(0.3..3.0)).collect();
            let mut followers = Vec::new();
            for input in 1..width {
                let mut causes = Vec::new();
                for k in 0..input {
                    if random.random_bool(0.6) {
                        causes.push((k, random.random_range(-1.5..1.5)));
                    }
                }
                followers.push(Follower { input, causes });
            }
            let lower: Vec<f64> = (0..width).map(|_| random.random_range(-1.5..0.3)).collect();
            let upper: Vec<f64> = lower.iter().map(|l| l + random.random_range(0.0..2.0)).collect();
            let row: Vec<f64> = (0..width).map(|_| random.random_range(-2.0..2.0)).collect();
            let of = |t: &[f64]| cost.of_weighted(t.iter().zip(&weights).map(|(t, w)| w * t));
            let nearest: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| 0.0f64.max(*l).min(*u)).collect();
            let limit =
                if round % 3 == 0 { f64::INFINITY } else { of(&nearest) + random.random_range(0.1..2.0) };
            let region = Region::following(
                (lower.clone(), upper.clone()),
                (cost, &weights, limit),
                Followers::new(followers.clone()),
            );
            let range = region.range(&row);
            let sides: Vec<_> = (0..width).map(|i| region.side(i)).collect();
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for _ in 0..4000 {
                let mut t: Vec<f64> = (0..width)
                    .map(|i| match random.random_range(0..4) {
                        0 => lower[i],
                        1 => upper[i],
                        2 => nearest[i],
                        _ => random.random_range(lower[i]..=upper[i]),
                    })
                    .collect();
                if of(&t) > limit {
                    let (mut inside, mut outside) = (0.0, 1.0);
                    let at = |share: f64| -> Vec<f64> {
                        t.iter().zip(&nearest).map(|(t, n)| n + share * (t - n)).collect()
                    };
                    for _ in 0..40 {
                        let middle = 0.5 * (inside + outside);
                        if of(&at(middle)) <= limit { inside = middle } else { outside = middle }
                    }
                    t = at(inside);
                }
                let mut y = t.clone();
                for Follower { input, causes } in &followers {
                    let share = if random.random_bool(0.8) {
                        f64::from(random.random_bool(0.5))
                    } else {
                        random.random_range(0.0..1.0)
                    };
                    y[*input] += share * causes.iter().map(|&(k, b)| b * y[k]).sum::<f64>();
                }
                let value: f64 = y.iter().zip(&row).map(|(y, a)| y * a).sum();
                (least, most) = (least.min(value), most.max(value));
                for (side, y) in sides.iter().zip(&y) {
                    assert!(*y >= side.lower - 1e-12 && *y <= side.upper + 1e-12, "{side:?} {y}");
                }
            }
            assert!(least >= range.lower - 1e-12 && most <= range.upper + 1e-12, "{range:?} {least} {most}");
            closest = closest.min((range.upper - most) / (range.upper - range.lower));
        }
        assert!(closest < 0.01, "{closest}");
    }
}
