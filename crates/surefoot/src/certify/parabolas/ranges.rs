//! The ranges of all units over a domain, and the lines that replace the units of the first layer.

use nalgebra::{DMatrix, DVector};

use super::domain::{Domain, Frame};
use super::dual::few_digits;
use super::layers::Layers;
use crate::graph::tanh_line_bound;
use crate::network::{LANES, Lanes, WideLayer};

/// The number of points at which the curvature of a unit is sampled.
const SAMPLES: usize = 24;

/// The units of the first of two hidden layers: `tanh(origin + u) = offset + slope u + rho`.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub lower: Vec<Lanes>,
    pub upper: Vec<Lanes>,
    pub slope: Vec<Lanes>,
    pub offset: Vec<Lanes>,
    /// An upper bound of the absolute value of rho.
    pub radius: Vec<Lanes>,
}

/// The units of the last hidden layer: `z = origin + columns y + W rho`, with `z - origin` in a range.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    pub inner: Option<Inner>,
    pub columns: Vec<Lanes>,
    pub origin: Vec<Lanes>,
    pub lower: Vec<Lanes>,
    pub upper: Vec<Lanes>,
}

impl Ranges {
    /// The ranges over a domain; `None` if the domain is empty.
    pub fn over(layers: &Layers<'_>, domain: &Domain) -> Option<Self> {
        let frames = domain.frames();
        if frames.is_empty() {
            return None;
        }
        let (lower, upper) = domain.ranges(&frames, &layers.columns);
        let crossed =
            |l: &[Lanes], u: &[Lanes]| (0..l.len()).any(|b| (0..LANES).any(|k| l[b].0[k] > u[b].0[k] + 1e-7));
        if crossed(&lower, &upper) {
            return None;
        }
        let Some(second) = layers.second else {
            let (columns, origin) = (layers.columns.clone(), layers.origin.clone());
            return Some(Self { inner: None, columns, origin, lower, upper });
        };
        let inner = Inner::new(layers, lower, upper);
        let (columns, origin) = propagate(second, layers, &inner.slope, &inner.offset);
        let (mut low, mut high) = second_layer(layers, second, domain, &frames, &inner);
        for b in 0..low.len() {
            low[b] = low[b] - origin[b];
            high[b] = high[b] - origin[b];
        }
        if crossed(&low, &high) {
            return None;
        }
        Some(Self { inner: Some(inner), columns, origin, lower: low, upper: high })
    }
}

impl Inner {
    fn new(layers: &Layers<'_>, lower: Vec<Lanes>, upper: Vec<Lanes>) -> Self {
        let blocks = lower.len();
        let zero = vec![Lanes::ZERO; blocks];
        let mut inner = Self { lower, upper, slope: zero.clone(), offset: zero.clone(), radius: zero };
        for b in 0..blocks {
            for l in 0..LANES {
                let p = layers.origin[b].0[l];
                // The rounding of the sums must not make the interval narrower.
                let room = 1e-15 * (p.abs() + 1.0);
                let (low, high) =
                    (inner.lower[b].0[l] - room, inner.upper[b].0[l].max(inner.lower[b].0[l]) + room);
                (inner.lower[b].0[l], inner.upper[b].0[l]) = (low, high);
                let line = tanh_line_bound(p + low, p + high, (p + low).tanh(), (p + high).tanh());
                // Few digits, since the proof states them.
                let (slope, exact) = (few_digits(line.slope), line.slope * p + line.offset);
                let offset = few_digits(exact);
                let far = low.abs().max(high.abs());
                let moved = (slope - line.slope).abs() * far + (offset - exact).abs();
                inner.slope[b].0[l] = slope;
                inner.offset[b].0[l] = offset;
                inner.radius[b].0[l] = line.radius + moved + 1e-14 * (1.0 + p.abs() + far);
            }
        }
        inner
    }
}

/// The columns and the origin of the second layer's arguments, for lines in place of the first layer.
fn propagate(
    second: &WideLayer,
    layers: &Layers<'_>,
    slope: &[Lanes],
    offset: &[Lanes],
) -> (Vec<Lanes>, Vec<Lanes>) {
    let below = slope.len();
    let blocks = second.forward.blocks();
    let scaled: Vec<Lanes> = layers.columns.iter().enumerate().map(|(k, &v)| v * slope[k % below]).collect();
    let mut columns = vec![Lanes::ZERO; layers.inputs * blocks];
    second.forward.multiply(&scaled, &mut columns);
    let mut origin = vec![Lanes::ZERO; blocks];
    second.forward.multiply(offset, &mut origin);
    origin.iter_mut().zip(&second.bias).for_each(|(o, &b)| *o = *o + b);
    (columns, origin)
}

/// The ranges of the second layer's arguments: an affine part, by tangents of the first layer at the centre
/// of an ellipsoid, and a remainder. The remainder of unit j is `sum_k W_jk f_k v_k^2` with
/// `v = columns (y - centre)` and f_k between two numbers, so it is at most the largest eigenvalue of a
/// matrix on the ellipsoid; it is also at most the sum of its terms' bounds.
fn second_layer(
    layers: &Layers<'_>,
    second: &WideLayer,
    domain: &Domain,
    frames: &[Frame],
    inner: &Inner,
) -> (Vec<Lanes>, Vec<Lanes>) {
    let n = layers.inputs;
    let below = inner.lower.len();
    let blocks = second.forward.blocks();
    let column = |k: usize, b: usize, l: usize| layers.columns[k * below + b].0[l];
    let Some(frame) = smallest(layers, frames) else { unreachable!("there is a frame") };
    let zero = vec![Lanes::ZERO; below];
    let [mut slope, mut offset, mut middle, mut radius, mut most, mut spread] =
        std::array::from_fn(|_| zero.clone());
    for b in 0..below {
        for l in 0..LANES {
            let along: f64 = (0..n).map(|i| column(i, b, l) * frame.centre[i]).sum();
            let at = layers.origin[b].0[l] + along;
            let (t, d) = (at.tanh(), 1.0 - at.tanh().powi(2));
            slope[b].0[l] = d;
            offset[b].0[l] = t - d * along;
            let (low, high) = (inner.lower[b].0[l] - along, inner.upper[b].0[l] - along);
            let (curvature, rest) = remainder(at, low, high);
            (middle[b].0[l], radius[b].0[l]) =
                (0.5 * (curvature.0 + curvature.1), 0.5 * (curvature.1 - curvature.0) + 1e-12);
            (most[b].0[l], spread[b].0[l]) = (0.5 * (rest.0 + rest.1), 0.5 * (rest.1 - rest.0) + 1e-12);
        }
    }
    let (columns, origin) = propagate(second, layers, &slope, &offset);
    let (mut lower, mut upper) = domain.ranges(frames, &columns);
    // The matrices, in the coordinates of the ellipsoid: their upper triangles.
    let turned = turned_columns(layers, frame);
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    let weighted = |weight: &[Lanes], absolute: bool| -> Vec<Lanes> {
        let mut input = Vec::with_capacity(pairs.len() * below);
        for &(i, j) in &pairs {
            input.extend((0..below).map(|b| weight[b] * turned[i][b] * turned[j][b]));
        }
        let mut output = vec![Lanes::ZERO; pairs.len() * blocks];
        if absolute {
            second.forward.multiply_sizes(&input, &mut output);
        } else {
            second.forward.multiply(&input, &mut output);
        }
        output
    };
    // With absolute weights, each term must stay a multiple of a positive semidefinite matrix.
    let (central, width) = (weighted(&middle, false), weighted(&radius, true));
    let mut sums = [vec![Lanes::ZERO; blocks], vec![Lanes::ZERO; blocks]];
    second.forward.multiply(&most, &mut sums[0]);
    second.forward.multiply_sizes(&spread, &mut sums[1]);
    for b in 0..blocks {
        for l in 0..LANES {
            let matrix = |sign: f64| {
                let mut matrix = DMatrix::zeros(n, n);
                for (k, &(i, j)) in pairs.iter().enumerate() {
                    let entry = sign * central[k * blocks + b].0[l] + width[k * blocks + b].0[l];
                    (matrix[(i, j)], matrix[(j, i)]) = (entry, entry);
                }
                matrix
            };
            let sum = (sums[0][b].0[l], sums[1][b].0[l]);
            let up = largest_eigenvalue(&matrix(1.0)).max(0.0).min(sum.0 + sum.1);
            let down = largest_eigenvalue(&matrix(-1.0)).max(0.0).min(sum.1 - sum.0);
            let room = layers.rounding + 1e-13 * (1.0 + origin[b].0[l].abs());
            upper[b].0[l] += origin[b].0[l] + up + room;
            lower[b].0[l] += origin[b].0[l] - down - room;
        }
    }
    (lower, upper)
}

/// The columns of the first layer in the coordinates of an ellipsoid.
fn turned_columns(layers: &Layers<'_>, frame: &Frame) -> Vec<Vec<Lanes>> {
    let (n, blocks) = (layers.inputs, layers.origin.len());
    let entry = |i: usize, b: usize, l: usize| {
        let along = (0..n).map(|k| frame.factor[(k, i)] * layers.columns[k * blocks + b].0[l]);
        along.sum::<f64>() * frame.stretch
    };
    let turned = |i: usize| (0..blocks).map(|b| Lanes::from_fn(|l| entry(i, b, l))).collect();
    (0..n).map(turned).collect()
}

/// The frame over which the arguments of the first layer vary least.
fn smallest<'a>(layers: &Layers<'_>, frames: &'a [Frame]) -> Option<&'a Frame> {
    let blocks = layers.origin.len();
    let size = |frame: &Frame| -> f64 {
        let mut sum = 0.0;
        for b in 0..blocks {
            for l in 0..LANES {
                let row = DVector::from_fn(layers.inputs, |i, _| layers.columns[i * blocks + b].0[l]);
                sum += frame.factor.tr_mul(&row).norm();
            }
        }
        frame.stretch * sum
    };
    frames.iter().min_by(|a, b| size(a).total_cmp(&size(b)))
}

/// An upper bound of the largest eigenvalue.
fn largest_eigenvalue(matrix: &DMatrix<f64>) -> f64 {
    let size = matrix.norm();
    if !size.is_finite() {
        return f64::INFINITY;
    }
    if size == 0.0 {
        return 0.0;
    }
    matrix.symmetric_eigenvalues().max() + 1e-9 * size
}

/// For `h(v) = tanh(at + v) - tanh(at) - tanh'(at) v` over an interval: bounds of `h(v) / v^2`, and bounds
/// of h. The derivative of `h(v) / v^2` is at most a sixth of the largest third derivative, 2.
fn remainder(at: f64, low: f64, high: f64) -> ((f64, f64), (f64, f64)) {
    let t = at.tanh();
    let d = 1.0 - t * t;
    let step = (high - low) / (SAMPLES - 1) as f64;
    let mut curvature = (f64::INFINITY, f64::NEG_INFINITY);
    let mut values = (0.0f64, 0.0f64);
    for k in 0..SAMPLES {
        let v = low + step * k as f64;
        let h = (at + v).tanh() - t - d * v;
        let (bend, error) = match v.abs() < 1e-3 {
            true => (-t * d, v.abs() / 3.0),
            false => (h / (v * v), 1e-15 * (2.0 + at.abs() + v.abs()) / (v * v)),
        };
        curvature = (curvature.0.min(bend - error), curvature.1.max(bend + error));
        values = (values.0.min(h), values.1.max(h));
    }
    let (slack, room) = (step / 6.0 + 1e-12, 0.385 * 0.25 * step * step + 1e-13);
    ((curvature.0 - slack, curvature.1 + slack), (values.0 - room, values.1 + room))
}
