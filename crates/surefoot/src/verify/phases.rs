//! Lower bounds of a relu network by the phases of its units.
//!
//! A proof divides the ball of perturbations by the signs of arguments of units. On a part, an argument has a range
//! `[l, u]`. Where the sign is known, the unit is zero or its argument. Elsewhere
//!
//! ```text
//! c z <= relu(z) <= (z - l) u / (u - l),    0 <= c <= 1
//! ```
//!
//! For a part in which `s_k z_k >= 0`, and multipliers `m_k >= 0`, the margin is at least the margin less
//! `sum_k m_k s_k z_k`. Substituting the units from the last layer to the first leaves an affine function
//! of the perturbation, whose least value over the ball is computed by the [`Zone`].
//!
//! Any slopes c and any multipliers are valid, so the checker needs nothing but these and the units that divide.

use nalgebra::{DMatrix, DVector};

use super::prove::Work;
use super::zone::{Zone, rounding};
use crate::Activation;
use crate::graph::Graph;
use crate::proof::{PhaseBound, PhaseNode};

/// The network of a margin: for each hidden layer the matrix and the bias of its arguments; the first is about
/// the perturbation's coordinates.
pub(super) struct Relus {
    hidden: Vec<(DMatrix<f64>, DVector<f64>)>,
    /// For each layer, bounds of the magnitudes of the terms of its arguments in the ball.
    sizes: Vec<DVector<f64>>,
    weight: DVector<f64>,
    linear: DVector<f64>,
    constant: f64,
    /// The relative rounding error of one substitution, and that of the margin itself.
    share: f64,
    error: f64,
}

/// The ranges of all arguments over a part of the ball.
type Ranges = Vec<Vec<(f64, f64)>>;

/// A part of the ball: the ranges, and the conditions with the sign that an argument must have.
#[derive(Clone)]
struct Part {
    ranges: Ranges,
    conditions: Vec<(usize, usize, f64)>,
}

impl Relus {
    /// The network of a graph over a zone. `None` if it is no relu network.
    pub fn of(graph: &Graph<'_>, zone: &Zone) -> Option<Self> {
        let [operation] = &graph.operations[..] else { return None };
        let network = operation.operator.elements().network()?;
        if network.activation() != Activation::Relu || graph.is_vacuous {
            return None;
        }
        let n = graph.inputs;
        let forms = &operation.arguments;
        let term = |terms: &[f64], i: usize| terms.get(i).copied().unwrap_or(0.0);
        if forms.iter().any(|form| form.terms.len() > n) {
            return None;
        }
        let reach = DVector::from_fn(n, |i, _| zone.lower[i].abs().max(zone.upper[i].abs()));
        let arguments = DMatrix::from_fn(forms.len(), n, |k, i| term(&forms[k].terms, i));
        let constants = DVector::from_fn(forms.len(), |k, _| forms[k].constant);
        let layers = network.layers();
        let (last, before) = layers.split_last()?;
        let mut size = arguments.abs() * &reach + constants.abs();
        let (mut hidden, mut sizes, mut count) = (Vec::new(), Vec::new(), n + forms.len());
        for (number, layer) in before.iter().enumerate() {
            let (rows, columns) = layer.weight.dim();
            let matrix = DMatrix::from_fn(rows, columns, |i, j| layer.weight[[i, j]]);
            let bias = DVector::from_fn(rows, |i, _| layer.bias[i]);
            size = matrix.abs() * &size + bias.abs();
            sizes.push(size.clone());
            count += rows;
            hidden.push(match number {
                0 => (&matrix * &arguments, &matrix * &constants + bias),
                _ => (matrix, bias),
            });
        }
        let share = *graph.output.terms.get(n)?;
        let weight = DVector::from_fn(last.weight.ncols(), |i, _| last.weight[[0, i]] * share);
        let linear = DVector::from_fn(n, |i, _| term(&graph.output.terms, i));
        let constant = graph.output.constant + share * last.bias[0];
        let relative = 4.0 * rounding(count + 64);
        let whole = graph.output.constant.abs()
            + (share * last.bias[0]).abs()
            + linear.abs().dot(&reach)
            + sizes.last()?.dot(&weight.abs());
        let error = relative * whole;
        (error.is_finite() && !hidden.is_empty()).then_some(Self {
            hidden,
            sizes,
            weight,
            linear,
            constant,
            share: relative,
            error,
        })
    }

    pub fn value(&self, y: &[f64]) -> f64 {
        let y = DVector::from_column_slice(y);
        let mut h = y.clone();
        for (matrix, bias) in &self.hidden {
            h = (matrix * h + bias).map(|z| z.max(0.0));
        }
        self.constant + self.linear.dot(&y) + self.weight.dot(&h)
    }

    /// Proves that the margin is at least `wanted` on the whole zone. Returns the bound that was reached where that
    /// fails.
    pub fn at_least(
        &self,
        zone: &Zone,
        nodes: &[PhaseNode],
        wanted: f64,
        work: &mut Work,
    ) -> Result<(), f64> {
        let mut ranges = Vec::new();
        for number in 0..self.hidden.len() {
            let own = self.ranges_of_layer(zone, number, &ranges);
            ranges.push(own);
        }
        let mut nodes = nodes.iter();
        let mut open = vec![Some(Part { ranges, conditions: Vec::new() })];
        while let Some(part) = open.pop() {
            let node = nodes.next().ok_or(f64::NEG_INFINITY)?;
            match (node, part) {
                (PhaseNode::Split { layer, unit }, Some(part)) => {
                    if !work.take() || self.sizes.get(*layer).is_none_or(|sizes| *unit >= sizes.len()) {
                        return Err(f64::NEG_INFINITY);
                    }
                    open.push(self.part_with(zone, &part, (*layer, *unit, -1.0)));
                    open.push(self.part_with(zone, &part, (*layer, *unit, 1.0)));
                }
                // Nothing is there, nor in any part of it.
                (PhaseNode::Split { .. }, None) => open.extend([None, None]),
                (PhaseNode::Closed(_), None) => {}
                (PhaseNode::Closed(by), Some(part)) => {
                    let lower = if work.take() { self.bound(zone, &part, by) } else { f64::NEG_INFINITY };
                    if !(lower >= wanted) {
                        return Err(lower);
                    }
                }
            }
        }
        Ok(())
    }

    /// The ranges of the arguments of a layer, given those of earlier ones. Units whose sign is open are replaced by
    /// lines; the line below has the slope 1 where the range reaches farther above zero than below, else 0.
    fn ranges_of_layer(&self, zone: &Zone, number: usize, ranges: &Ranges) -> Vec<(f64, f64)> {
        let (matrix, bias) = &self.hidden[number];
        let least = |unit: usize, sign: f64| {
            let (mut row, mut constant) = (sign * matrix.row(unit).transpose(), sign * bias[unit]);
            let mut size = self.sizes[number][unit];
            for before in (0..number).rev() {
                for (j, v) in row.iter_mut().enumerate() {
                    let (slope, offset) = line(ranges[before][j], *v, |(l, u)| f64::from(u8::from(u > -l)));
                    constant += *v * offset;
                    size += v.abs() * self.sizes[before][j];
                    *v *= slope;
                }
                let (matrix, bias) = &self.hidden[before];
                constant += row.dot(bias);
                row = matrix.tr_mul(&row);
            }
            constant + zone.least(row.as_slice(), &vec![0.0; row.len()]) - self.share * size
        };
        let range = |unit: usize| {
            let most = self.sizes[number][unit] * (1.0 + self.share);
            (least(unit, 1.0).max(-most), (-least(unit, -1.0)).min(most))
        };
        (0..bias.len()).map(range).collect()
    }

    /// The part in which an argument also has a sign; `None` if it is empty.
    fn part_with(&self, zone: &Zone, part: &Part, condition: (usize, usize, f64)) -> Option<Part> {
        let (layer, unit, sign) = condition;
        let mut part = part.clone();
        part.conditions.push(condition);
        let (l, u) = part.ranges[layer][unit];
        if if sign > 0.0 { u < 0.0 } else { l > 0.0 } {
            return None;
        }
        part.ranges[layer][unit] = if sign > 0.0 { (l.max(0.0), u) } else { (l, u.min(0.0)) };
        for number in layer + 1..self.hidden.len() {
            let new = self.ranges_of_layer(zone, number, &part.ranges);
            for (range, new) in part.ranges[number].iter_mut().zip(new) {
                *range = (range.0.max(new.0), range.1.min(new.1));
                if range.0 > range.1 {
                    return None;
                }
            }
        }
        Some(part)
    }

    /// A lower bound of the margin on a part.
    fn bound(&self, zone: &Zone, part: &Part, by: &PhaseBound) -> f64 {
        let fits = by.slopes.len() == self.hidden.len()
            && by.slopes.iter().zip(&self.sizes).all(|(slopes, sizes)| slopes.len() == sizes.len())
            && by.multipliers.len() == part.conditions.len();
        let are_valid = by.slopes.iter().flatten().all(|slope| (0.0..=1.0).contains(slope))
            && by.multipliers.iter().all(|m| *m >= 0.0 && m.is_finite());
        if !fits || !are_valid {
            return f64::NEG_INFINITY;
        }
        let (mut row, mut constant) = (self.weight.clone(), self.constant);
        let mut size = constant.abs();
        for (number, (matrix, bias)) in self.hidden.iter().enumerate().rev() {
            for (j, v) in row.iter_mut().enumerate() {
                let (slope, offset) = line(part.ranges[number][j], *v, |_| by.slopes[number][j]);
                constant += *v * offset;
                size += v.abs() * self.sizes[number][j];
                *v *= slope;
            }
            let own = part.conditions.iter().zip(&by.multipliers).filter(|((layer, ..), _)| *layer == number);
            for (&(_, unit, sign), m) in own {
                row[unit] -= m * sign;
                size += m * self.sizes[number][unit];
            }
            constant += row.dot(bias);
            row = matrix.tr_mul(&row);
        }
        row += &self.linear;
        let lower =
            constant + zone.least(row.as_slice(), &vec![0.0; row.len()]) - self.share * size - self.error;
        if lower.is_nan() { f64::NEG_INFINITY } else { lower }
    }
}

/// Slope and offset of the line that is below `weight * relu(z)` when it is multiplied by the weight.
fn line((l, u): (f64, f64), weight: f64, below: impl Fn((f64, f64)) -> f64) -> (f64, f64) {
    match (l, u) {
        _ if l >= 0.0 => (1.0, 0.0),
        _ if u <= 0.0 => (0.0, 0.0),
        _ if weight >= 0.0 => (below((l, u)), 0.0),
        _ => (u / (u - l), -l * u / (u - l)),
    }
}
