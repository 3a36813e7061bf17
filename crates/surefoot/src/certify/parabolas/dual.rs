//! Parabolas below the units, and the quadratic function below the margin that they add up to.
//!
//! With `zeta = z - origin = J y + W rho` for the arguments of the last hidden layer, and numbers that may
//! be chosen freely,
//!
//! ```text
//! weight_j tanh(z_j) >= c_j + alpha_j zeta_j^2 + beta_j zeta_j                      on the range of zeta_j
//! sum_j alpha_j zeta_j^2 = y^T J^T diag(alpha) J y + sum_k (m_k . y) rho_k + rho^T G rho
//! m_k . y = twist_k u_k + r_k . y,    rho^T G rho >= -sum_k n_k rho_k^2             by Gershgorin's circles
//! (r_k . y - shift_k) rho_k >= -split_k (r_k . y - shift_k)^2 / 2 - rho_k^2 / (2 split_k)
//! (e_k + shift_k + twist_k u_k) rho_k - (n_k + 1 / (2 split_k)) rho_k^2 >= c_k + a_k u_k^2 + b_k u_k
//! ```
//!
//! with `G = W^T diag(alpha) W`, `m_k = 2 sum_j alpha_j W_jk J_j` and `e = W^T beta`. The constants are the
//! least values of functions of one number, so the bound is a quadratic function of y.

use nalgebra::{DMatrix, DVector};

use super::domain::{Domain, Ellipsoid};
use super::layers::Layers;
use super::least::least;
use super::ranges::{Inner, Ranges};
use crate::graph::{Gram, dot};
use crate::network::{LANES, Lanes, Real, Vectorised, WideLayer, on_lanes, vectorised};

/// The numbers that define a quadratic lower bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Dual {
    /// The parabolas of the last hidden layer.
    pub alpha: Vec<Lanes>,
    pub beta: Vec<Lanes>,
    /// The parabolas of the first of two hidden layers: their squares beyond `e_k curvature_k`, their linear
    /// terms.
    pub square: Vec<Lanes>,
    pub line: Vec<Lanes>,
    /// The logarithm of `split`, then `shift` and `twist`.
    pub split: Vec<Lanes>,
    pub shift: Vec<Lanes>,
    pub twist: Vec<Lanes>,
    /// The logarithms of the multipliers of the slabs, then that of the ellipsoid.
    pub slabs: Vec<f64>,
    pub ellipsoid: f64,
}

/// `constant + linear . y + y^T matrix y`.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub constant: f64,
    pub linear: DVector<f64>,
    pub matrix: DMatrix<f64>,
}

impl Form {
    /// Adds terms that are at most zero on a domain, with the multipliers of its slabs and its ellipsoid.
    pub fn add_multipliers(&mut self, domain: &Domain, slabs: &[f64], ellipsoid: f64) {
        for (slab, &multiplier) in domain.slabs.iter().zip(slabs) {
            let direction = DVector::from_column_slice(&slab.direction);
            self.matrix += multiplier * &direction * direction.transpose();
            self.linear -= multiplier * (slab.lower + slab.upper) * direction;
            self.constant += multiplier * slab.lower * slab.upper;
        }
        if let Some(Ellipsoid { centre, matrix }) = &domain.ellipsoid {
            let turned = matrix * centre;
            self.matrix += ellipsoid * matrix;
            self.linear -= 2.0 * ellipsoid * &turned;
            self.constant += ellipsoid * (centre.dot(&turned) - 1.0);
        }
    }
}

/// What a [`Dual`] determines before constants are computed.
pub(super) struct Parts {
    /// The coefficients `e`, and those of rho^2 by Gershgorin's circles.
    pub e: Vec<Lanes>,
    pub circles: Vec<Lanes>,
    pub split: Vec<Lanes>,
    /// The squares of the first layer's parabolas.
    pub square: Vec<Lanes>,
    /// The rows `r_k`: one column for each coordinate.
    pub rest: Vec<Lanes>,
}

impl Dual {
    /// The number of blocks of the last and of the first of two hidden layers.
    pub fn blocks(&self) -> (usize, usize) {
        (self.alpha.len(), self.square.len())
    }

    /// The first dual variables: parabolas through the ends and the middle of each unit's range.
    pub fn start(layers: &Layers<'_>, ranges: &Ranges, domain: &Domain) -> Self {
        let blocks = ranges.lower.len();
        let mut dual =
            Dual { alpha: vec![Lanes::ZERO; blocks], beta: vec![Lanes::ZERO; blocks], ..Dual::default() };
        for b in 0..blocks {
            for l in 0..LANES {
                let (low, high) = (ranges.lower[b].0[l], ranges.upper[b].0[l]);
                let (origin, weight) = (ranges.origin[b].0[l], layers.weight[b].0[l]);
                let (bend, slope) = interpolate(low, high, |z| (origin + z).tanh());
                dual.alpha[b].0[l] = weight * bend;
                dual.beta[b].0[l] = weight * slope;
            }
        }
        if let Some(inner) = &ranges.inner {
            let zero = vec![Lanes::ZERO; inner.lower.len()];
            dual.split = vec![Lanes::splat(5e-3f64.ln()); inner.lower.len()];
            (dual.square, dual.line, dual.shift, dual.twist) =
                (zero.clone(), zero.clone(), zero.clone(), zero);
        }
        dual.ellipsoid = 0.3f64.ln();
        dual.slabs = vec![50f64.ln(); domain.slabs.len()];
        dual
    }

    /// The numbers rounded to a few digits, as they are saved: with the whole square of the first layer's
    /// parabolas, and with `split` itself in place of its logarithm.
    pub fn effective(&self, layers: &Layers<'_>, ranges: &Ranges) -> Self {
        let lanes = |x: &[Lanes]| -> Vec<Lanes> { x.iter().map(|x| x.map(few_digits)).collect() };
        let mut dual = Self { alpha: lanes(&self.alpha), beta: lanes(&self.beta), ..self.clone() };
        if let Some(inner) = &ranges.inner {
            let curvatures = curvatures(layers, inner);
            let parts = parts(layers, ranges, &curvatures, &dual, Vec::new());
            dual.square = lanes(&parts.square);
            dual.split = lanes(&parts.split);
            dual.line = lanes(&self.line);
            dual.shift = lanes(&self.shift);
            dual.twist = lanes(&self.twist);
        }
        dual
    }
}

/// The number with six significant digits that is nearest.
pub(in crate::certify) fn few_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// The square and the linear coefficient of the parabola through both ends and the middle.
pub(super) fn interpolate(low: f64, high: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let half = 0.5 * (high - low);
    if half < 1e-6 {
        return (0.0, 0.0);
    }
    let middle = low + half;
    let (first, between, last) = (f(low), f(middle), f(high));
    let bend = 0.5 * (first - 2.0 * between + last) / (half * half);
    (bend, 0.5 * (last - first) / half - 2.0 * bend * middle)
}

/// The curvature of each unit of the first layer: its parabola is `curvature u^2 + ...`.
pub(super) fn curvatures(layers: &Layers<'_>, inner: &Inner) -> Vec<Lanes> {
    let at = |b: usize, l: usize| {
        let p = layers.origin[b].0[l];
        interpolate(inner.lower[b].0[l], inner.upper[b].0[l], |u| (p + u).tanh()).0
    };
    (0..inner.lower.len()).map(|b| Lanes::from_fn(|l| at(b, l))).collect()
}

/// Computes `G = W^T diag(concave) W`, row by row, with the absolute values of the negative alpha.
pub(super) struct ConcaveGram<'a> {
    pub second: &'a WideLayer,
    pub alpha: &'a [Lanes],
    pub matrix: &'a mut [Lanes],
}

impl Vectorised for ConcaveGram<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let ConcaveGram { second, alpha, matrix } = self;
        let (units, below) = (second.backward.inputs(), second.backward.blocks());
        matrix.fill(Lanes::ZERO);
        for j in 0..units {
            let concave = (-alpha[j / LANES].0[j % LANES]).max(0.0);
            if concave == 0.0 {
                continue;
            }
            for k in 0..second.forward.inputs() {
                let factor = concave * second.backward.weights(k / LANES, j).0[k % LANES];
                for b in 0..below {
                    let w = second.backward.weights(b, j);
                    let sum = &mut matrix[k * below + b].0;
                    for l in 0..LANES {
                        sum[l] = f64::fused::<FUSED>(factor, w.0[l], sum[l]);
                    }
                }
            }
        }
    }
}

/// The coefficients of rho^2 by Gershgorin's circles of the concave part of G.
fn circles(layers: &Layers<'_>, alpha: &[Lanes]) -> Vec<Lanes> {
    let Some(second) = layers.second else { return Vec::new() };
    let (units, below) = (second.forward.inputs(), second.backward.blocks());
    let mut matrix = vec![Lanes::ZERO; units * below];
    vectorised(ConcaveGram { second, alpha, matrix: &mut matrix });
    let sum =
        |k: usize| matrix[k * below..(k + 1) * below].iter().flat_map(|b| b.0).map(f64::abs).sum::<f64>();
    // The magnitudes of all terms, for their rounding.
    let outputs = second.backward.inputs();
    let mut rows = vec![Lanes::ZERO; second.forward.blocks()];
    second.forward.multiply_sizes(&on_lanes(units, |_| 1.0), &mut rows);
    rows.iter_mut().zip(alpha).for_each(|(row, a)| *row = *row * a.map(|a| (-a).max(0.0)));
    let mut terms = vec![Lanes::ZERO; below];
    second.backward.multiply_sizes(&rows, &mut terms);
    let rounding = 16.0 * f64::EPSILON * (units + outputs + 64) as f64;
    on_lanes(units, |k| sum(k) + rounding * terms[k / LANES].0[k % LANES])
}

/// The parts of the quadratic that need no constants.
pub(super) fn parts(
    layers: &Layers<'_>,
    ranges: &Ranges,
    curvatures: &[Lanes],
    dual: &Dual,
    circles: Vec<Lanes>,
) -> Parts {
    let (blocks, below) = dual.blocks();
    let n = layers.inputs;
    let Some(second) = layers.second else {
        return Parts { e: Vec::new(), circles, split: Vec::new(), square: Vec::new(), rest: Vec::new() };
    };
    let mut e = vec![Lanes::ZERO; below];
    second.backward.multiply(&dual.beta, &mut e);
    let scaled: Vec<Lanes> =
        ranges.columns.iter().enumerate().map(|(k, &v)| v * dual.alpha[k % blocks]).collect();
    let mut rest = vec![Lanes::ZERO; n * below];
    second.backward.multiply(&scaled, &mut rest);
    for (k, rest) in rest.iter_mut().enumerate() {
        *rest = rest.map(|x| 2.0 * x) - dual.twist[k % below] * layers.columns[k];
    }
    let square = (0..below).map(|b| dual.square[b] + e[b] * curvatures[b]).collect();
    let split = dual.split.iter().map(|s| s.map(f64::exp)).collect();
    Parts { e, circles, split, square, rest }
}

/// The quadratic without its constants.
pub(super) fn form(layers: &Layers<'_>, ranges: &Ranges, dual: &Dual, parts: &Parts) -> Form {
    let n = layers.inputs;
    let (blocks, below) = dual.blocks();
    let mut matrix = vec![0.0; n * n];
    vectorised(Gram { columns: &ranges.columns, weight: &dual.alpha, hessian: &mut matrix, inputs: n });
    let mut linear = layers.linear.clone();
    for i in 0..n {
        linear[i] += dot(&dual.beta, &ranges.columns[i * blocks..(i + 1) * blocks]);
    }
    let mut constant = layers.constant;
    if below > 0 {
        vectorised(Gram { columns: &layers.columns, weight: &parts.square, hessian: &mut matrix, inputs: n });
        let negative: Vec<Lanes> = parts.split.iter().map(|s| s.map(|s| -0.5 * s)).collect();
        vectorised(Gram { columns: &parts.rest, weight: &negative, hessian: &mut matrix, inputs: n });
        let pulled: Vec<Lanes> = (0..below).map(|b| parts.split[b] * dual.shift[b]).collect();
        for i in 0..n {
            linear[i] += dot(&dual.line, &layers.columns[i * below..(i + 1) * below])
                + dot(&pulled, &parts.rest[i * below..(i + 1) * below]);
        }
        constant -= 0.5 * dot(&pulled, &dual.shift);
    }
    Form { constant, linear: DVector::from_vec(linear), matrix: DMatrix::from_row_slice(n, n, &matrix) }
}

/// A quadratic below the margin on a domain, without multipliers, and the sum of the magnitudes of the terms
/// that it was computed from. The squares of `dual` are those of [`Dual::effective`].
pub(super) fn quadratic(layers: &Layers<'_>, ranges: &Ranges, domain: &Domain, dual: &Dual) -> (Form, f64) {
    let circles = circles(layers, &dual.alpha);
    let curvatures = vec![Lanes::ZERO; dual.blocks().1];
    let parts = parts(layers, ranges, &curvatures, dual, circles);
    let mut form = form(layers, ranges, dual, &parts);
    let (blocks, below) = dual.blocks();
    // The sizes of all terms.
    let mut size = form.constant.abs();
    let reach = |columns: &[Lanes], blocks: usize, b: usize, l: usize| {
        let square: f64 = (0..layers.inputs).map(|i| columns[i * blocks + b].0[l].powi(2)).sum();
        square.sqrt() * domain.radius
    };
    for b in 0..blocks {
        for l in 0..LANES {
            let (weight, origin) = (layers.weight[b].0[l], ranges.origin[b].0[l]);
            let (alpha, beta) = (dual.alpha[b].0[l], dual.beta[b].0[l]);
            let (low, high) = (ranges.lower[b].0[l], ranges.upper[b].0[l]);
            let f = |z: f64| weight * (origin + z).tanh() - (alpha * z + beta) * z;
            form.constant += least(f, low, high, 0.77 * weight.abs() + 2.0 * alpha.abs());
            let far = low.abs().max(high.abs()) + reach(&ranges.columns, blocks, b, l);
            size += weight.abs() * (1.0 + origin.abs()) + (alpha.abs() * far + beta.abs()) * far;
        }
    }
    let (Some(inner), Some(second)) = (&ranges.inner, layers.second) else { return (form, size) };
    // The magnitudes of the terms of e, of z and of the rows m.
    let absolute: Vec<Lanes> = dual.beta.iter().map(|b| b.map(f64::abs)).collect();
    let mut e_terms = vec![Lanes::ZERO; below];
    second.backward.multiply_sizes(&absolute, &mut e_terms);
    let absolute: Vec<Lanes> = layers.weight.iter().map(|w| w.map(f64::abs)).collect();
    let mut z_terms = vec![Lanes::ZERO; below];
    second.backward.multiply_sizes(&absolute, &mut z_terms);
    let absolute: Vec<Lanes> = (0..ranges.columns.len())
        .map(|k| (ranges.columns[k] * dual.alpha[k % blocks]).map(|x| 2.0 * x.abs()))
        .collect();
    let mut m_terms = vec![Lanes::ZERO; layers.inputs * below];
    second.backward.multiply_sizes(&absolute, &mut m_terms);
    for b in 0..below {
        for l in 0..LANES {
            let (p, slope, offset) = (layers.origin[b].0[l], inner.slope[b].0[l], inner.offset[b].0[l]);
            let (low, high, radius) = (inner.lower[b].0[l], inner.upper[b].0[l], inner.radius[b].0[l]);
            let (pull, twist) = (parts.e[b].0[l] + dual.shift[b].0[l], dual.twist[b].0[l]);
            let (square, line) = (parts.square[b].0[l], dual.line[b].0[l]);
            let split = parts.split[b].0[l];
            let price = 0.5 / split + parts.circles[b].0[l];
            let f = |u: f64| {
                let rho = (p + u).tanh() - offset - slope * u;
                (pull + twist * u - price * rho) * rho - (square * u + line) * u
            };
            // The largest second derivative, from those of rho: at most 0.77, with slopes of at most `steep`.
            let end = |u: f64| 1.0 - (p + u).tanh().powi(2);
            let top = if p + low <= 0.0 && p + high >= 0.0 { 1.0 } else { end(low).max(end(high)) };
            let steep = (top - slope).abs().max((end(low).min(end(high)) - slope).abs());
            let far = low.abs().max(high.abs());
            let bend = 0.77 * pull.abs()
                + twist.abs() * (2.0 * steep + 0.77 * far)
                + 2.0 * price * (steep * steep + 0.77 * radius)
                + 2.0 * square.abs();
            form.constant += least(f, low, high, bend);
            let own = reach(&layers.columns, below, b, l);
            let shift = dual.shift[b].0[l].abs();
            let row = reach(&m_terms, below, b, l) + twist.abs() * own + shift;
            size += (e_terms[b].0[l] + shift + twist.abs() * far + row) * radius
                + price * radius * (radius + 1.0 + far)
                + (square.abs() * far + line.abs()) * far
                + split * row * row
                + z_terms[b].0[l] * (offset.abs() + slope * own + radius);
        }
    }
    (form, size)
}
