//! Bounds over the part of a box within a limit on the l1 cost, by the ends of its rays.
//!
//! Every action within the limit is an average of the cheapest action of the box and of the ends of rays along
//! which a single change uses up the limit. So a concave function is at least the same average of its values
//! there, and a convex one at most.
//!
//! Every node of a tape has a concave function below it and a convex one above it over the zone, of which only the
//! values at the base and at the ends of the rays are computed. A sum takes them by the signs of its factors.
//! With `low <= z <= high` for the functions of the argument z of a relu unit:
//!
//! ```text
//! max(high, 0)            is convex and above relu(z), as is  u (high - l) / (u - l)  for z in [l, u],
//! low or 0                is concave and below relu(z).
//! ```
//!
//! *Rounding.* Every value is moved outwards by an upper bound of its rounding error.

use super::affine::{Affine, Plane};
use super::ball::Shape;
use super::tape::{Node, Tape};
use super::unit::Range;
use super::zone::{Zone, rounding};
use crate::graph::Unit;

/// A relu unit counts as active at a point if its argument exceeds this. Actions on a kink occur, and rounding
/// must not decide there.
const ACTIVE: f64 = 1e-9;

/// A chord replaces a unit only where it is closer to it by this share of the unit's largest value. At the ends
/// of rays both are the same.
const CLEARLY: f64 = 0.01;

/// The cheapest action of a box, and rays from it.
pub(super) struct Rays {
    base: Vec<f64>,
    ends: Vec<End>,
}

/// The end of a ray: the coordinate, the signed length, and the largest share that it can have in an average
/// that lies in the box.
struct End {
    input: usize,
    length: f64,
    share: f64,
}

/// Lower bounds of the values of a concave function at the base and then at the ends of the rays, and upper
/// bounds of those of a convex one.
#[derive(Clone)]
struct Values {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Rays {
    /// The rays of a zone; `None` unless it is the part of a finite box within an l1 ball.
    pub fn new(zone: &Zone) -> Option<Self> {
        if !zone.followers.is_empty() {
            return None;
        }
        let ball = zone.ball.as_ref().filter(|ball| ball.shape == Shape::L1)?;
        let base = zone.nearest();
        let spent: f64 = base.iter().zip(&ball.weights).map(|(b, w)| w * b.abs()).sum();
        // Longer than exact by more than rounding.
        let left = (ball.radius - spent).max(0.0) * (1.0 + 1e-9) + 1e-12;
        let mut ends = Vec::new();
        for (input, (b, w)) in base.iter().zip(&ball.weights).enumerate() {
            let length = left / w;
            for (sign, room) in [(1.0, zone.upper[input] - b), (-1.0, b - zone.lower[input])] {
                if !(length.is_finite() && room.is_finite()) {
                    return None;
                }
                if room > 0.0 {
                    let share = (room / length * (1.0 + 1e-12)).min(1.0);
                    ends.push(End { input, length: sign * length, share });
                }
            }
        }
        Some(Self { base, ends })
    }

    /// A point of the region near a given one: the point between it and the base at which the rays' shares have the
    /// sum 1, if they have a larger one.
    pub fn nearest(&self, at: &[f64]) -> Vec<f64> {
        let share = |end: &End| ((at[end.input] - self.base[end.input]) / end.length).clamp(0.0, end.share);
        let shares: Vec<f64> = self.ends.iter().map(share).collect();
        let scale = 1.0 / shares.iter().sum::<f64>().max(1.0);
        let mut point = self.base.clone();
        for (end, share) in self.ends.iter().zip(shares) {
            point[end.input] += scale * share * end.length;
        }
        point
    }

    /// The values at the base and at the ends of a number that is affine in the inputs.
    fn affine(&self, Plane { linear, doubt, constant, error }: &Plane) -> Values {
        let mut reach: Vec<f64> = self.base.iter().map(|b| b.abs()).collect();
        self.ends.iter().for_each(|end| reach[end.input] += end.length.abs());
        let at_base = constant + linear.iter().zip(&self.base).map(|(a, b)| a * b).sum::<f64>();
        let size = constant.abs() + linear.iter().zip(&reach).map(|(a, r)| a.abs() * r).sum::<f64>();
        let doubts: f64 = doubt.iter().zip(&reach).map(|(d, r)| d * r).sum();
        let error = (error + doubts) * (1.0 + 1e-12) + 2.0 * rounding(linear.len() + 4) * size;
        let values = std::iter::once(at_base)
            .chain(self.ends.iter().map(|end| at_base + linear[end.input] * end.length))
            .collect::<Vec<f64>>();
        Values {
            low: values.iter().map(|value| value - error).collect(),
            high: values.iter().map(|value| value + error).collect(),
        }
    }

    /// The values of a sum of nodes.
    fn sum(&self, constant: f64, terms: &[(usize, f64)], nodes: &[Option<Values>]) -> Option<Values> {
        let count = self.ends.len() + 1;
        let (mut low, mut high) = (vec![constant; count], vec![constant; count]);
        let mut sizes = vec![constant.abs(); count];
        for &(k, factor) in terms.iter().filter(|(_, factor)| *factor != 0.0) {
            let Values { low: below, high: above } = nodes[k].as_ref()?;
            let (least, most) = if factor > 0.0 { (below, above) } else { (above, below) };
            for v in 0..count {
                low[v] += factor * least[v];
                high[v] += factor * most[v];
                sizes[v] += factor.abs() * least[v].abs().max(most[v].abs());
            }
        }
        let room = 2.0 * rounding(terms.len());
        for v in 0..count {
            low[v] -= room * sizes[v];
            high[v] += room * sizes[v];
        }
        Some(Values { low, high })
    }

    /// The values of a relu unit, given those of its argument, the range of the argument, and the argument at the
    /// point where the functions are to be close to the unit.
    fn relu(&self, argument: &Values, range: Range, z: f64, at: &[f64]) -> Values {
        let Values { mut low, mut high } = argument.clone();
        // Concave functions are least at the base or at an end, convex ones greatest.
        let lower = low.iter().copied().fold(f64::INFINITY, f64::min).max(range.lower);
        let upper = high.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(range.upper);
        if lower >= 0.0 {
            return Values { low, high };
        }
        if upper <= 0.0 {
            return Values { low: vec![0.0; low.len()], high: vec![0.0; high.len()] };
        }
        if !(z > ACTIVE) {
            low.fill(0.0);
        }
        let slope = upper / (upper - lower);
        let chord = |z: f64| {
            let value = slope * (z - lower);
            value + 4.0 * rounding(1) * (value.abs() + lower.abs())
        };
        let chord: Vec<f64> = high.iter().map(|&z| chord(z)).collect();
        high.iter_mut().for_each(|z| *z = z.max(0.0));
        let is_closer = self.average(&chord, at) < self.average(&high, at) - CLEARLY * upper;
        Values { low, high: if is_closer { chord } else { high } }
    }

    /// The average of values that the rays give a point.
    fn average(&self, values: &[f64], at: &[f64]) -> f64 {
        let mut sum = values[0];
        for (end, value) in self.ends.iter().zip(&values[1..]) {
            let share = (at[end.input] - self.base[end.input]) / end.length;
            sum += share.max(0.0) * (value - values[0]);
        }
        sum
    }

    /// Values of a concave function below the result of a tape over the zone, at the base and at the ends; it is
    /// close to the result near the point `at`. Without a point it is the lower end of the affine bound. `None` unless
    /// the tape consists of sums and relu units.
    pub fn concave(&self, tape: &Tape<'_>, affine: &Affine, at: Option<&[f64]>) -> Option<Vec<f64>> {
        if affine.is_unknown || affine.concerns_nobody {
            return None;
        }
        let Some(at) = at else { return affine.plane().map(|plane| self.affine(plane).low) };
        let points = tape.values(at);
        let mut nodes: Vec<Option<Values>> = Vec::with_capacity(tape.nodes.len());
        let mut is_linear = vec![false; tape.nodes.len()];
        tape.levels.first()?.iter().for_each(|&k| is_linear[k] = true);
        for (k, node) in tape.nodes.iter().enumerate() {
            let values = match (node, &affine.planes[k]) {
                (_, Some(plane)) if is_linear[k] => Some(self.affine(plane)),
                (Node::Input, _) => {
                    let linear: Vec<f64> = (0..tape.inputs).map(|i| f64::from(i == k)).collect();
                    let doubt = vec![0.0; tape.inputs];
                    Some(self.affine(&Plane { linear, doubt, constant: 0.0, error: 0.0 }))
                }
                (Node::Sum(constant, terms), _) => self.sum(*constant, terms, &nodes),
                (Node::Apply(Unit::Relu, j), _) => {
                    nodes[*j].as_ref().map(|argument| self.relu(argument, affine.ranges[*j], points[*j], at))
                }
                _ => None,
            };
            nodes.push(values);
        }
        nodes.pop()?.map(|values| values.low)
    }

    /// A lower bound over the zone of a weighted sum of concave functions, given lower bounds of their values at the
    /// base and at the ends.
    pub fn least(&self, functions: &[(f64, Vec<f64>)]) -> f64 {
        let sum = |v: usize| {
            let terms = functions.iter().map(|(share, values)| share * values[v]);
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
            sum - rounding(functions.len()) * size
        };
        let base = sum(0);
        let mut falls: Vec<(f64, f64)> = Vec::with_capacity(self.ends.len());
        for (k, end) in self.ends.iter().enumerate() {
            falls.push((sum(k + 1) - base, end.share));
        }
        if falls.iter().any(|(fall, _)| fall.is_nan()) {
            return f64::NEG_INFINITY;
        }
        falls.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut least, mut size, mut left) = (base, base.abs(), 1.0);
        for (fall, share) in falls.into_iter().take_while(|(fall, _)| *fall < 0.0) {
            let taken = share.min(left);
            least += taken * fall;
            size += taken * fall.abs() + base.abs() * f64::EPSILON;
            left = (left - taken).max(0.0);
        }
        let bound = least - rounding(self.ends.len()) * size;
        if bound.is_finite() { bound } else { f64::NEG_INFINITY }
    }
}
