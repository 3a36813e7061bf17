//! The best multipliers of a part in which the phases of all units are known.
//!
//! There the margin and the arguments are affine in the perturbation y, and the least margin is the optimum of
//!
//! ```text
//! minimise   a . y
//! such that  s_k z_k(y) >= 0  for every condition k,   y in the ball
//! ```
//!
//! The multipliers of its conditions are those of the bound. Over a box and over a ball of the l1 norm it is a linear
//! program; over a round ball the dual is maximised by coordinates, each in closed form.

use super::bound::{Ball, Condition, Ranges, bound, start};
use super::layers::Layers;
use crate::Cost;
use crate::program::{Program, Row, Solution};
use crate::proof::PhaseBound;

/// A coefficient of the objective counts as at least this share of the largest one.
const LEAST_WEIGHT: f64 = 1e-9;
/// Multipliers that prove a part to be empty are scaled by powers of ten up to this one.
const LARGEST_POWER: i32 = 12;
/// The largest number of rounds of an ascent by coordinates. It ends where a round changes multipliers by less than
/// this share.
const ROUNDS: usize = 300;
const LEAST_CHANGE: f64 = 1e-10;

/// The least margin of a part.
pub(super) struct Least {
    /// The multipliers of the conditions for which the bound is highest; of an empty part, some for which the bound
    /// reaches the target.
    pub multipliers: Vec<f64>,
    /// Where the margin is least, unless the part is empty.
    pub at: Option<Vec<f64>>,
}

/// A part as a program: the gradient of the margin, and for each condition the affine function that must not be
/// negative.
struct Part {
    objective: Vec<f64>,
    conditions: Vec<(Vec<f64>, f64)>,
}

/// Finds the least margin of a part. `None` if the set is of another kind or the program is not solved.
pub(super) fn solve(
    layers: &Layers,
    ball: Ball<'_>,
    ranges: &Ranges,
    conditions: &[Condition],
    target: f64,
) -> Option<Least> {
    let part = Part::new(layers, ranges, conditions);
    let reach: Vec<f64> =
        ball.set.half_widths(layers.inputs).iter().map(|width| width * ball.radius).collect();
    let (multipliers, at) = if ball.set.is_box() {
        part.least_in_box(&reach)?
    } else if ball.set.is_round() {
        (part.least_in_round_ball(ball.radius), None)
    } else if ball.set.name() == "l1" {
        part.least_in_cross(ball.radius)?
    } else {
        return None;
    };
    if at.is_some() {
        return Some(Least { multipliers, at });
    }
    // Multipliers of an empty part prove any margin if they are large enough.
    let lower = |multipliers: &[f64]| {
        let by = PhaseBound { slopes: start(ranges).slopes, multipliers: multipliers.to_vec() };
        bound(layers, ball, ranges, conditions, &by).lower
    };
    let scaled = (0..=LARGEST_POWER)
        .map(|power| multipliers.iter().map(|m| m * 10f64.powi(power)).collect::<Vec<f64>>());
    let enough = scaled.into_iter().find(|scaled| lower(scaled) >= target);
    Some(Least { multipliers: enough.unwrap_or(multipliers), at: None })
}

impl Part {
    fn new(layers: &Layers, ranges: &Ranges, conditions: &[Condition]) -> Self {
        let (mut objective, _) = substituted(layers, ranges, layers.hidden.len(), layers.weight.clone());
        objective.iter_mut().zip(&layers.linear).for_each(|(a, own)| *a += own);
        let affine = |condition: &Condition| {
            let Condition { layer, unit, is_active } = *condition;
            let sign = if is_active { 1.0 } else { -1.0 };
            let weights = layers.hidden[layer].row(unit).iter().map(|w| sign * w).collect();
            let (linear, constant) = substituted(layers, ranges, layer, weights);
            (linear, constant + sign * layers.hidden[layer].bias[unit])
        };
        Self { objective, conditions: conditions.iter().map(affine).collect() }
    }

    /// The multipliers over a box with these half-widths and, unless the part is empty, where the margin is least.
    /// With `t_i = h_i + sign(a_i) y_i` all costs are positive.
    fn least_in_box(&self, reach: &[f64]) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
        let signs: Vec<f64> = self.objective.iter().map(|a| if *a < 0.0 { -1.0 } else { 1.0 }).collect();
        let row = |(linear, constant): &(Vec<f64>, f64)| {
            let coefficients: Vec<f64> = linear.iter().zip(&signs).map(|(w, s)| w * s).collect();
            let shift: f64 = coefficients.iter().zip(reach).map(|(w, h)| w * h).sum();
            Row { doubt: vec![0.0; coefficients.len()], coefficients, need: shift - constant }
        };
        let rows: Vec<Row> = self.conditions.iter().map(row).collect();
        let upper: Vec<f64> = reach.iter().map(|h| 2.0 * h).collect();
        let (multipliers, point) = least(&rows, &positive(&self.objective), &upper)?;
        let at = |t: Vec<f64>| t.iter().zip(reach).zip(&signs).map(|((t, h), s)| s * (t - h)).collect();
        Some((multipliers, point.map(at)))
    }

    /// The same over a ball of the l1 norm. Increases and decreases are variables of their own; of those that lower the
    /// margin, what they lack to the radius.
    fn least_in_cross(&self, radius: f64) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
        let n = self.objective.len();
        // The k-th variable changes coordinate k % n, upwards or downwards.
        let way = |k: usize| if k < n { 1.0 } else { -1.0 };
        let costs: Vec<f64> = (0..2 * n).map(|k| way(k) * self.objective[k % n]).collect();
        let signs: Vec<f64> = costs.iter().map(|c| if *c < 0.0 { -1.0 } else { 1.0 }).collect();
        let start = |k: usize| if signs[k] < 0.0 { radius } else { 0.0 };
        let row = |linear: &dyn Fn(usize) -> f64, constant: f64| {
            let shift: f64 = (0..2 * n).map(|k| linear(k) * start(k)).sum();
            let coefficients: Vec<f64> = (0..2 * n).map(|k| linear(k) * signs[k]).collect();
            Row { doubt: vec![0.0; 2 * n], coefficients, need: -constant - shift }
        };
        let conditions = self.conditions.iter();
        let mut rows: Vec<Row> =
            conditions.map(|(linear, constant)| row(&|k| way(k) * linear[k % n], *constant)).collect();
        rows.push(row(&|_| -1.0, radius));
        let (mut multipliers, point) = least(&rows, &positive(&costs), &vec![radius; 2 * n])?;
        multipliers.pop();
        let changes = |t: Vec<f64>| -> Vec<f64> { (0..2 * n).map(|k| start(k) + signs[k] * t[k]).collect() };
        let at = |t: Vec<f64>| {
            let changes = changes(t);
            (0..n).map(|i| changes[i] - changes[n + i]).collect()
        };
        Some((multipliers, point.map(at)))
    }

    /// The multipliers over a Euclidean ball: the maximum of the dual
    /// `-sum_k m_k c_k - radius |a - sum_k m_k w_k|` over `m >= 0`, for conditions `w_k . y + c_k >= 0`.
    fn least_in_round_ball(&self, radius: f64) -> Vec<f64> {
        let mut multipliers = vec![0.0; self.conditions.len()];
        let mut rest = self.objective.clone();
        for _ in 0..ROUNDS {
            let (mut changed, mut size) = (0.0f64, 0.0f64);
            for (m, (linear, constant)) in multipliers.iter_mut().zip(&self.conditions) {
                let length = linear.iter().map(|w| w * w).sum::<f64>().sqrt();
                if length == 0.0 {
                    continue;
                }
                // Along this multiplier, the rest is `across` away from its nearest point at `foot`.
                rest.iter_mut().zip(linear).for_each(|(v, w)| *v += *m * w);
                let along = rest.iter().zip(linear).map(|(v, w)| v * w).sum::<f64>() / length;
                let across = (rest.iter().map(|v| v * v).sum::<f64>() - along * along).max(0.0).sqrt();
                let slope = -constant / (radius * length);
                let best = match slope {
                    _ if slope <= -1.0 => 0.0,
                    // No point of the ball meets the condition.
                    _ if slope >= 1.0 => 1e3 * (along.abs() + across + 1.0) / length,
                    _ => (along + across * slope / (1.0 - slope * slope).sqrt()) / length,
                };
                let best = best.max(0.0);
                (changed, size) = (changed.max((best - *m).abs()), size.max(best));
                *m = best;
                rest.iter_mut().zip(linear).for_each(|(v, w)| *v -= best * w);
            }
            if changed <= LEAST_CHANGE * size {
                break;
            }
        }
        multipliers
    }
}

/// The costs of variables that are at least zero.
fn positive(costs: &[f64]) -> Vec<f64> {
    let largest = costs.iter().fold(0.0f64, |most, c| most.max(c.abs()));
    costs.iter().map(|c| c.abs().max(LEAST_WEIGHT * largest).max(f64::MIN_POSITIVE)).collect()
}

/// The multipliers of the rows and, if all can be met, the cheapest point between zero and some upper limits.
fn least(rows: &[Row], weights: &[f64], upper: &[f64]) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let lower = vec![0.0; upper.len()];
    match (Program { rows, weights, cost: Cost::L1, lower: &lower, upper }).solve() {
        Solution::Optimal { multipliers, point } => Some((multipliers, Some(point))),
        Solution::Infeasible { multipliers } => Some((multipliers, None)),
        Solution::Unknown => None,
    }
}

/// `weights . h` for the values h that enter a layer, as an affine function of the perturbation: the linear part and
/// the constant. The phases of all earlier units are known.
fn substituted(layers: &Layers, ranges: &Ranges, layer: usize, mut weights: Vec<f64>) -> (Vec<f64>, f64) {
    let mut constant = 0.0;
    let mut below = Vec::new();
    for (number, layer) in layers.hidden[..layer].iter().enumerate().rev() {
        for (v, (lower, _)) in weights.iter_mut().zip(&ranges[number]) {
            if *lower < 0.0 {
                *v = 0.0;
            }
        }
        constant += weights.iter().zip(&layer.bias).map(|(v, b)| v * b).sum::<f64>();
        layer.backward(&weights, &mut below);
        std::mem::swap(&mut weights, &mut below);
    }
    (weights, constant)
}
