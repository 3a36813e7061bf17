//! The exact least distance for a network with one hidden layer of relu, by code that shares nothing with the search.
//!
//! With weights within `delta`, the worst score is, over subsets A of the units with a positive weight,
//!
//! ```text
//! max over A of g_A(y),   g_A(y) = c - delta + sum over k in A of v_k (z_k(y) - t(y)) + sum over v_k < 0 of v_k max(z_k(y) + t(y), 0),
//! t(y) = delta (1 + sum_j |y_j|),    v_k = weight - delta,
//! ```
//!
//! and each `g_A` is concave. So the least distance is the least one over all A, and each of these is found by cutting
//! planes: the nearest point of a polyhedron, which only comes closer to the feasible set from outside.

use surefoot::Network;

/// Cutting planes, and sweeps over the multipliers of the nearest point, for each subset.
const CUTS: usize = 400;
const SWEEPS: usize = 4_000;
const TOLERANCE: f64 = 1e-7;

/// A half-space `slope . step + constant >= 0`.
struct Cut {
    slope: Vec<f64>,
    constant: f64,
}

/// The least length of a step from `x` to a worst score of at least zero.
pub fn least_distance(network: &Network, x: &[f64], delta: f64) -> f64 {
    let [first, last] = network.layers() else { unreachable!("one hidden layer") };
    let weights: Vec<f64> = last.weight.row(0).iter().map(|w| w - delta).collect();
    let positive: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] > 0.0).collect();
    let mut least = f64::INFINITY;
    for subset in 0..1usize << positive.len() {
        let is_active =
            |k: usize| positive.iter().position(|&p| p == k).is_some_and(|p| subset >> p & 1 == 1);
        // The plane that touches `g_A` at a step.
        let touching = |step: &[f64]| {
            let y: Vec<f64> = x.iter().zip(step).map(|(x, s)| x + s).collect();
            let t = delta * (1.0 + y.iter().map(|y| y.abs()).sum::<f64>());
            let mut value = last.bias[0] - delta;
            let mut slope = vec![0.0; x.len()];
            for (k, &v) in weights.iter().enumerate() {
                let row = first.weight.row(k);
                let z = first.bias[k] + row.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>();
                let sign = if v > 0.0 { -1.0 } else { 1.0 };
                let argument = z + sign * t;
                let counts = if v > 0.0 { is_active(k) } else { argument > 0.0 };
                if !counts {
                    continue;
                }
                value += v * argument;
                for (s, (w, y)) in slope.iter_mut().zip(row.iter().zip(&y)) {
                    *s += v * (w + sign * delta * if *y >= 0.0 { 1.0 } else { -1.0 });
                }
            }
            let along: f64 = slope.iter().zip(step).map(|(a, s)| a * s).sum();
            (value, Cut { slope, constant: value - along })
        };
        least = least.min(nearest(x.len(), least, touching));
    }
    least
}

/// The length of the shortest step with a value of at least zero, or infinity if it is not less than `limit`.
fn nearest(width: usize, limit: f64, touching: impl Fn(&[f64]) -> (f64, Cut)) -> f64 {
    let (mut cuts, mut products): (Vec<Cut>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let (mut multipliers, mut step) = (Vec::new(), vec![0.0; width]);
    for _ in 0..CUTS {
        let (value, cut) = touching(&step);
        let length = step.iter().map(|s| s * s).sum::<f64>().sqrt();
        if length >= limit {
            return f64::INFINITY;
        }
        if value >= -TOLERANCE {
            return length;
        }
        let with: Vec<f64> = cuts.iter().chain([&cut]).map(|other| dot(&other.slope, &cut.slope)).collect();
        products.iter_mut().zip(&with).for_each(|(row, p)| row.push(*p));
        products.push(with);
        cuts.push(cut);
        multipliers.push(0.0);
        // The nearest point by coordinate ascent on the dual, `step = sum_i multiplier_i slope_i`.
        for _ in 0..SWEEPS {
            let mut moved = 0.0f64;
            for i in 0..cuts.len() {
                let gained = dot(&products[i], &multipliers);
                let next = (multipliers[i] - (cuts[i].constant + gained) / products[i][i]).max(0.0);
                moved = moved.max((next - multipliers[i]).abs() * products[i][i].sqrt());
                multipliers[i] = next;
            }
            if moved < 1e-10 || multipliers.iter().any(|&m| m > 1e12) {
                break;
            }
        }
        step = (0..width).map(|j| cuts.iter().zip(&multipliers).map(|(c, m)| m * c.slope[j]).sum()).collect();
    }
    // Still outside: what has been reached is a lower bound.
    step.iter().map(|s| s * s).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
