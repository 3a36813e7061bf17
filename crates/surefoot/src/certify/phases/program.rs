//! The best multipliers of a part in which the phases of all units are known.
//!
//! There the margin and the arguments are affine in the perturbation y. Over a box, the least margin is the optimum
//! of a linear program
//!
//! ```text
//! minimise   a . y
//! such that  s_k z_k(y) >= 0  for every condition k,   -h_i <= y_i <= h_i
//! ```
//!
//! and the multipliers of its rows are those of the bound. With `t_i = h_i + sign(a_i) y_i` it is a [`Program`].

use super::bound::{Ball, Condition, Ranges, bound};
use super::layers::Layers;
use crate::Cost;
use crate::program::{Program, Row, Solution};
use crate::proof::PhaseBound;

/// A coefficient of the objective counts as at least this share of the largest one.
const LEAST_WEIGHT: f64 = 1e-9;
/// Multipliers that prove a part to be empty are scaled by powers of ten up to this one.
const LARGEST_POWER: i32 = 12;

/// The least margin of a part.
pub(super) struct Least {
    /// The multipliers of the conditions for which the bound is highest; of an empty part, some for which the bound
    /// reaches the target.
    pub multipliers: Vec<f64>,
    /// Where the margin is least, unless the part is empty.
    pub at: Option<Vec<f64>>,
}

/// Solves the linear program of a part. `None` if the ball is no box or the program is not solved.
pub(super) fn solve(
    layers: &Layers,
    ball: Ball<'_>,
    ranges: &Ranges,
    conditions: &[Condition],
    target: f64,
) -> Option<Least> {
    if !ball.set.is_box() {
        return None;
    }
    let reach: Vec<f64> =
        ball.set.half_widths(layers.inputs).iter().map(|width| width * ball.radius).collect();
    let last = layers.hidden.len();
    let (mut objective, _) = substituted(layers, ranges, last, layers.weight.clone());
    objective.iter_mut().zip(&layers.linear).for_each(|(a, own)| *a += own);
    let signs: Vec<f64> = objective.iter().map(|a| if *a < 0.0 { -1.0 } else { 1.0 }).collect();
    let largest = objective.iter().fold(0.0f64, |most, a| most.max(a.abs()));
    let weights: Vec<f64> =
        objective.iter().map(|a| a.abs().max(LEAST_WEIGHT * largest).max(f64::MIN_POSITIVE)).collect();
    let row = |condition: &Condition| {
        let Condition { layer, unit, is_active } = *condition;
        let sign = if is_active { 1.0 } else { -1.0 };
        let (linear, constant) = substituted(
            layers,
            ranges,
            layer,
            layers.hidden[layer].row(unit).iter().map(|w| sign * w).collect(),
        );
        let constant = constant + sign * layers.hidden[layer].bias[unit];
        let coefficients: Vec<f64> = linear.iter().zip(&signs).map(|(w, s)| w * s).collect();
        let shift: f64 = coefficients.iter().zip(&reach).map(|(w, h)| w * h).sum();
        let doubt = vec![0.0; coefficients.len()];
        Row { coefficients, need: shift - constant, doubt }
    };
    let rows: Vec<Row> = conditions.iter().map(row).collect();
    let (lower, upper) = (vec![0.0; reach.len()], reach.iter().map(|h| 2.0 * h).collect::<Vec<f64>>());
    let program = Program { rows: &rows, weights: &weights, cost: Cost::L1, lower: &lower, upper: &upper };
    match program.solve() {
        Solution::Optimal { multipliers, point } => {
            let at = point.iter().zip(&reach).zip(&signs).map(|((t, h), sign)| sign * (t - h)).collect();
            Some(Least { multipliers, at: Some(at) })
        }
        Solution::Infeasible { multipliers } => (0..=LARGEST_POWER).find_map(|power| {
            let multipliers = multipliers.iter().map(|m| m * 10f64.powi(power)).collect();
            let by = PhaseBound { slopes: super::bound::start(ranges).slopes, multipliers };
            let is_enough = bound(layers, ball, ranges, conditions, &by).lower >= target;
            is_enough.then_some(Least { multipliers: by.multipliers, at: None })
        }),
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
