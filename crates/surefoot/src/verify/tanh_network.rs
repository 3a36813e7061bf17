//! The units of a tanh network with one or two hidden layers: their ranges, and parabolas below them.

use nalgebra::{DMatrix, DVector};

use super::ellipsoid::{Outer, Part};
use super::parabolas::Form;
use crate::Activation;
use crate::graph::Graph;
use crate::proof::Parabolas;

/// `constant + linear . y + sum_j weight_j tanh(z_j)`, where the arguments z of the last hidden layer are
/// affine in y or, with two hidden layers, in `tanh(origin + rows y)`.
pub(super) struct Units {
    pub inputs: usize,
    rows: DMatrix<f64>,
    origin: DVector<f64>,
    /// The matrix and the bias of the second hidden layer.
    second: Option<(DMatrix<f64>, DVector<f64>)>,
    weight: DVector<f64>,
    linear: DVector<f64>,
    constant: f64,
    /// An upper bound of the rounding error of the margin and of all numbers above.
    pub error: f64,
}

/// The ranges of the units over a part: of `rows y`, and of the arguments z of the last hidden layer.
pub(super) struct Ranges {
    first: Vec<(f64, f64)>,
    second: Vec<(f64, f64)>,
}

/// The number of intervals at which a unit's remainder is sampled.
const SAMPLES: usize = 32;
/// Larger than the largest second derivative of tanh.
const BEND: f64 = 0.769_801;

impl Units {
    /// The units of a graph, for arguments of length at most `radius`. `None` if it is no such network.
    pub fn of(graph: &Graph<'_>, radius: f64) -> Option<Self> {
        let [operation] = &graph.operations[..] else { return None };
        let network = operation.operator.elements().network()?;
        let layers = network.layers();
        if network.activation() != Activation::Tanh || layers.len() > 3 || graph.is_vacuous {
            return None;
        }
        let n = graph.inputs;
        let matrix = |layer: &crate::network::Layer| {
            let (rows, columns) = layer.weight.dim();
            let matrix = DMatrix::from_fn(rows, columns, |i, j| layer.weight[[i, j]]);
            (matrix, DVector::from_fn(rows, |i, _| layer.bias[i]))
        };
        let term = |terms: &[f64], i: usize| terms.get(i).copied().unwrap_or(0.0);
        let forms = &operation.arguments;
        if forms.iter().any(|form| form.terms.len() > n) {
            return None;
        }
        let arguments = DMatrix::from_fn(forms.len(), n, |k, i| term(&forms[k].terms, i));
        let constants = DVector::from_fn(forms.len(), |k, _| forms[k].constant);
        let (first, bias) = matrix(layers.first()?);
        let (last, end) = matrix(layers.last()?);
        let share = *graph.output.terms.get(n)?;
        let second = (layers.len() == 3).then(|| matrix(&layers[1]));
        let weight = last.row(0).transpose() * share;
        let linear = DVector::from_fn(n, |i, _| term(&graph.output.terms, i));
        let constant = graph.output.constant + share * end[0];
        // Sums of magnitudes, layer by layer; each sum has an error of as many roundings as it has terms.
        let mut sizes =
            first.abs() * (arguments.abs() * DVector::repeat(n, radius) + constants.abs()) + bias.abs();
        if let Some((matrix, bias)) = &second {
            sizes = matrix.abs() * sizes.add_scalar(4.0) + bias.abs();
        }
        let size = weight.abs().dot(&sizes.add_scalar(4.0))
            + constant.abs()
            + graph.output.constant.abs()
            + radius * linear.abs().sum();
        let count = forms.len() + n + layers.iter().map(|layer| layer.bias.len()).sum::<usize>();
        let error = 8.0 * f64::EPSILON * (count + 64) as f64 * size;
        let (rows, origin) = (&first * arguments, first * constants + bias);
        error.is_finite().then_some(Self { inputs: n, rows, origin, second, weight, linear, constant, error })
    }

    /// The number of units.
    pub fn count(&self) -> usize {
        self.origin.len() + self.weight.len()
    }

    pub fn value(&self, y: &DVector<f64>) -> f64 {
        let mut z = &self.origin + &self.rows * y;
        if let Some((matrix, bias)) = &self.second {
            z = matrix * z.map(f64::tanh) + bias;
        }
        self.constant + self.linear.dot(y) + self.weight.dot(&z.map(f64::tanh))
    }

    /// The ranges over a part; `None` if the part is empty.
    pub fn ranges(&self, part: &Part, outer: &[Outer]) -> Option<Ranges> {
        let all = |rows: &DMatrix<f64>| -> Option<Vec<(f64, f64)>> {
            let range = |row: nalgebra::DVector<f64>| part.range(outer, &row);
            let ranges: Vec<(f64, f64)> = rows.row_iter().map(|row| range(row.transpose())).collect();
            ranges.iter().all(|(l, u)| l <= u).then_some(ranges)
        };
        let first = all(&self.rows)?;
        let second = match self.second {
            Some(_) => self.second_ranges(part, outer, &first)?,
            None => first.iter().zip(&self.origin).map(|(range, p)| (range.0 + p, range.1 + p)).collect(),
        };
        Some(Ranges { first, second })
    }

    /// The ranges of the second layer's arguments. At the centre c of an outer ellipsoid,
    ///
    /// ```text
    /// tanh(origin_k + u_k) = t_k + d_k v_k + f_k v_k^2,    v = rows (y - c),
    /// ```
    ///
    /// with f_k between two numbers. The sum of the last terms, times weights, is at most the largest
    /// eigenvalue of a matrix in the coordinates of the ellipsoid, and at most the sum of their bounds.
    fn second_ranges(&self, part: &Part, outer: &[Outer], first: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
        let (matrix, bias) = self.second.as_ref()?;
        let extent = |outer: &&Outer| {
            (&self.rows * &outer.map).row_iter().map(|row| row.norm()).sum::<f64>() * outer.reach
        };
        let chosen = outer.iter().min_by(|a, b| extent(a).total_cmp(&extent(b)))?;
        let n = self.inputs;
        let moved = &self.rows * &chosen.centre;
        let at = &self.origin + &moved;
        let t = at.map(f64::tanh);
        let d = t.map(|t| 1.0 - t * t);
        let rows = matrix * scaled(&d, &self.rows);
        let centre = matrix * (&t - d.component_mul(&moved)) + bias;
        let remainders: Vec<Remainder> = (0..first.len())
            .map(|k| Remainder::of(at[k], first[k].0 - moved[k], first[k].1 - moved[k]))
            .collect();
        let turned = &self.rows * &chosen.map * chosen.reach;
        let mut ranges = Vec::with_capacity(bias.len());
        for (j, row) in rows.row_iter().enumerate() {
            let (low, high) = part.range(outer, &row.transpose());
            let (mut least, mut most) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
            let (mut down, mut up) = (0.0, 0.0);
            for (k, remainder) in remainders.iter().enumerate() {
                let w = matrix[(j, k)];
                let (f, h) = (remainder.factor, remainder.value);
                let ends =
                    |(low, high): (f64, f64)| if w > 0.0 { (w * low, w * high) } else { (w * high, w * low) };
                let (f, h) = (ends(f), ends(h));
                (down, up) = (down + h.0, up + h.1);
                for a in 0..n {
                    let (x, y) = (f.0 * turned[(k, a)], f.1 * turned[(k, a)]);
                    for b in 0..=a {
                        least[(a, b)] += x * turned[(k, b)];
                        most[(a, b)] += y * turned[(k, b)];
                    }
                }
            }
            let down = (-largest(-least)).max(down);
            let up = largest(most).min(up);
            let room = self.error + 1e-13 * (1.0 + centre[j].abs());
            ranges.push((centre[j] + low + down - room, centre[j] + high + up + room));
        }
        ranges.iter().all(|(l, u)| l <= u).then_some(ranges)
    }
}

/// The matrix with each row multiplied by a factor.
fn scaled(factors: &DVector<f64>, matrix: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| factors[i] * matrix[(i, j)])
}

/// An upper bound of the largest eigenvalue of a symmetric matrix, given its lower triangle, or zero.
fn largest(mut matrix: DMatrix<f64>) -> f64 {
    matrix.fill_upper_triangle_with_lower_triangle();
    let size = matrix.norm();
    if !size.is_finite() {
        return f64::INFINITY;
    }
    matrix.symmetric_eigenvalues().max().max(0.0) + 1e-9 * size
}

/// An upper bound of `|tanh(p + u) - offset - slope u|` over an interval. Extrema are at the ends and where
/// the slope of tanh is `slope`.
fn farthest(p: f64, (low, high): (f64, f64), slope: f64, offset: f64) -> f64 {
    let turn = (1.0 - slope.clamp(0.0, 1.0)).sqrt().atanh();
    let points = [low, high, turn - p, -turn - p].into_iter().filter(|u| *u >= low && *u <= high);
    let most = points.map(|u| ((p + u).tanh() - offset - slope * u).abs()).fold(0.0, f64::max);
    // A turn that rounding puts outside the interval is near an end.
    most + 1e-12 * (1.0 + p.abs() + offset.abs() + (1.0 + slope.abs()) * low.abs().max(high.abs()))
}

/// Bounds of `h(v) = tanh(at + v) - tanh(at) - tanh'(at) v` and of `h(v) / v^2`.
struct Remainder {
    factor: (f64, f64),
    value: (f64, f64),
}

impl Remainder {
    /// Samples at a distance s: h changes by at most `BEND s^2 / 8` between them beyond the chord, and
    /// `h(v) / v^2`, whose derivative is at most 1/3, by `s / 6`.
    fn of(at: f64, low: f64, high: f64) -> Self {
        let (t, s) = (at.tanh(), (high - low) / SAMPLES as f64);
        let d = 1.0 - t * t;
        let mut factor = (f64::INFINITY, f64::NEG_INFINITY);
        let mut value = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 0..=SAMPLES {
            let v = low + s * k as f64;
            let h = (at + v).tanh() - t - d * v;
            // Near zero the quotient is half the second derivative, up to a third of the distance.
            let near = v.abs() < 1e-3;
            let f = if near { -t * d } else { h / (v * v) };
            let doubt = if near { v.abs() / 3.0 } else { 1e-15 * (2.0 + at.abs() + v.abs()) / (v * v) };
            factor = (factor.0.min(f - doubt), factor.1.max(f + doubt));
            value = (value.0.min(h), value.1.max(h));
        }
        let (f, h) = (s / 6.0 + 1e-12, BEND * s * s / 8.0 + 1e-14 * (4.0 + at.abs()));
        Self { factor: (factor.0 - f, factor.1 + f), value: (value.0 - h, value.1 + h) }
    }
}

/// The quadratic below the margin that parabolas add up to. `None` if their number is wrong.
///
/// The first of two hidden layers is `tanh(origin_k + u_k) = offset_k + slope_k u_k + rho_k`, so that
/// `z = centre + J y + W rho`. With `zeta = z - centre`, `alpha zeta^2 + beta zeta` lowered by a constant is
/// below `weight tanh`. The products of `m_k . y`, `m_k = 2 sum_j alpha_j W_jk J_j`, with `rho_k` that the
/// squares bring are `twist u rho + shift rho + (r . y - shift) rho`, and the last term is at least
/// `-split (r . y - shift)^2 / 2 - rho^2 / (2 split)`. What depends on u alone is at least
/// `square u^2 + line u` plus a constant. Concave alphas bring at least `-circle_k rho_k^2`.
pub(super) fn quadratic_form(
    units: &Units,
    part: &Part,
    ranges: &Ranges,
    parabolas: &Parabolas,
) -> Option<Form> {
    let Parabolas { outer, inner, .. } = parabolas;
    let is_finite = outer.iter().flatten().chain(inner.iter().flatten()).all(|x| x.is_finite());
    let inner_count = units.second.as_ref().map_or(0, |_| units.origin.len());
    if !is_finite || (outer.len(), inner.len()) != (units.weight.len(), inner_count) {
        return None;
    }
    let (rows, centre) = match &units.second {
        Some((matrix, bias)) => {
            let slopes = DVector::from_iterator(inner_count, inner.iter().map(|unit| unit[5]));
            let offsets = DVector::from_iterator(inner_count, inner.iter().map(|unit| unit[6]));
            (matrix * scaled(&slopes, &units.rows), matrix * offsets + bias)
        }
        None => (units.rows.clone(), units.origin.clone()),
    };
    let alpha = DVector::from_iterator(outer.len(), outer.iter().map(|unit| unit[0]));
    let beta = DVector::from_iterator(outer.len(), outer.iter().map(|unit| unit[1]));
    let weighted = scaled(&alpha, &rows);
    let mut form = Form {
        constant: units.constant,
        linear: &units.linear + rows.tr_mul(&beta),
        matrix: rows.tr_mul(&weighted),
        size: units.constant.abs(),
    };
    for (j, &(low, high)) in ranges.second.iter().enumerate() {
        let (w, a, b, c) = (units.weight[j], alpha[j], beta[j], centre[j]);
        // The sums that the range was computed from are rounded.
        let room = 4.0 * f64::EPSILON * (c.abs() + low.abs() + high.abs());
        let (low, high) = (low - c - room, high - c + room);
        let f = |z: f64| w * (c + z).tanh() - (a * z + b) * z;
        form.constant += least(&f, low, high, BEND * w.abs() + 2.0 * a.abs());
        let far = low.abs().max(high.abs()) + rows.row(j).norm() * part.radius;
        form.size += w.abs() * (1.0 + c.abs()) + (a.abs() * far + b.abs()) * far;
    }
    if let Some((matrix, _)) = &units.second {
        add_first_layer(units, part, ranges, parabolas, matrix, (&alpha, &beta, &weighted), &mut form)?;
    }
    form.constant.is_finite().then_some(form)
}

/// Adds what the remainders of the first of two hidden layers bring, see [`quadratic_form`].
fn add_first_layer(
    units: &Units,
    part: &Part,
    ranges: &Ranges,
    parabolas: &Parabolas,
    matrix: &DMatrix<f64>,
    (alpha, beta, weighted): (&DVector<f64>, &DVector<f64>, &DMatrix<f64>),
    form: &mut Form,
) -> Option<()> {
    let e = matrix.tr_mul(beta);
    let m = 2.0 * matrix.tr_mul(weighted);
    let concave = alpha.map(|a| (-a).max(0.0));
    let rounding = 8.0 * f64::EPSILON * (units.count() + 64) as f64;
    let absolute = matrix.abs();
    let terms = absolute.tr_mul(&concave.component_mul(&absolute.column_sum()));
    let circles = matrix.tr_mul(&scaled(&concave, matrix)).abs().column_sum() + 2.0 * rounding * terms;
    // The magnitudes of the terms of e, of m and of z.
    let (e_terms, m_terms) = (absolute.tr_mul(&beta.abs()), 2.0 * absolute.tr_mul(&weighted.abs()));
    let z_terms = absolute.tr_mul(&units.weight.abs());
    for (k, &[square, line, split, shift, twist, slope, offset]) in parabolas.inner.iter().enumerate() {
        if !(split > 0.0) {
            return None;
        }
        let own = units.rows.row(k).transpose();
        let r = m.row(k).transpose() - twist * &own;
        form.matrix += square * &own * own.transpose() - 0.5 * split * &r * r.transpose();
        form.linear += line * &own + split * shift * &r;
        form.constant -= 0.5 * split * shift * shift;
        let (p, (low, high)) = (units.origin[k], ranges.first[k]);
        let price = 0.5 / split + circles[k];
        let pull = e[k] + shift;
        let f = |u: f64| {
            let rho = (p + u).tanh() - offset - slope * u;
            (pull + twist * u - price * rho) * rho - (square * u + line) * u
        };
        let (far, radius) = (low.abs().max(high.abs()), farthest(p, (low, high), slope, offset));
        // The slope of tanh is largest at zero.
        let flat = |u: f64| 1.0 - (p + u).tanh().powi(2);
        let crosses = p + low <= 0.0 && p + high >= 0.0;
        let steepest = if crosses { 1.0 } else { flat(low).max(flat(high)) };
        let steep = (steepest - slope).abs().max((flat(low).min(flat(high)) - slope).abs()) + 1e-12;
        let bend = BEND * pull.abs()
            + twist.abs() * (2.0 * steep + BEND * far)
            + 2.0 * price * (steep * steep + BEND * radius)
            + 2.0 * square.abs();
        form.constant += least(&f, low, high, bend);
        let reach = (m_terms.row(k).norm() + twist.abs() * own.norm()) * part.radius + shift.abs();
        form.size += (e_terms[k] + shift.abs() + twist.abs() * far + reach) * radius
            + price * radius * (radius + 1.0 + far)
            + (square.abs() * far + line.abs()) * far
            + split * reach * reach
            + z_terms[k] * (offset.abs() + slope.abs() * own.norm() * part.radius + radius);
    }
    Some(())
}

/// A lower bound of a function over an interval, given a bound of its second derivative's absolute value:
/// between two points at a distance h the function is nowhere lower than `bend h^2 / 8` below both.
fn least(f: &dyn Fn(f64) -> f64, low: f64, high: f64, bend: f64) -> f64 {
    const START: usize = 16;
    let at = |k: usize| if k == START { high } else { low + (high - low) * k as f64 / START as f64 };
    let points: Vec<(f64, f64)> = (0..=START).map(|k| (at(k), f(at(k)))).collect();
    let mut lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let mut bound = lowest;
    let mut open: Vec<[(f64, f64); 2]> = points.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    let narrow = (high - low) * 1e-5;
    while let Some([a, b]) = open.pop() {
        let below = a.1.min(b.1) - 0.125 * bend * (b.0 - a.0).powi(2);
        if below >= lowest - 5e-8 || b.0 - a.0 <= narrow || !below.is_finite() {
            bound = if below.is_nan() { f64::NEG_INFINITY } else { bound.min(below) };
            continue;
        }
        let middle = 0.5 * (a.0 + b.0);
        let m = (middle, f(middle));
        lowest = lowest.min(m.1);
        open.extend([[a, m], [m, b]]);
    }
    bound
}
