//! A relu network as a function of the perturbation's coordinates.

use crate::Activation;
use crate::graph::Graph;

/// The arguments `z = weight h + bias` of the units of a hidden layer, where h are the coordinates or the
/// values of the units of the layer before.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub units: usize,
    pub inputs: usize,
    /// The weights, one row for each unit.
    rows: Vec<f64>,
    /// The same weights, one column for each input.
    columns: Vec<f64>,
    pub bias: Vec<f64>,
    /// For each unit, the sum of the magnitudes of the terms of its argument anywhere in the ball.
    pub sizes: Vec<f64>,
}

impl Layer {
    pub fn row(&self, unit: usize) -> &[f64] {
        &self.rows[unit * self.inputs..(unit + 1) * self.inputs]
    }

    /// `out = weight h + bias`.
    pub fn forward(&self, h: &[f64], out: &mut Vec<f64>) {
        out.clone_from(&self.bias);
        for (column, &h) in self.columns.chunks_exact(self.units).zip(h) {
            if h != 0.0 {
                out.iter_mut().zip(column).for_each(|(z, w)| *z += w * h);
            }
        }
    }

    /// `out = weight^T v`.
    pub fn backward(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.inputs, 0.0);
        for (row, &v) in self.rows.chunks_exact(self.inputs).zip(v) {
            if v != 0.0 {
                out.iter_mut().zip(row).for_each(|(x, w)| *x += w * v);
            }
        }
    }
}

/// A margin `constant + linear . y + weight . relu(z)` with the arguments z of the last of some layers of relu
/// units.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub inputs: usize,
    pub hidden: Vec<Layer>,
    /// The weight of each unit of the last layer in the margin.
    pub weight: Vec<f64>,
    pub linear: Vec<f64>,
    pub constant: f64,
    /// An upper bound of the relative rounding error of a sum over a layer.
    pub rounding: f64,
}

impl Layers {
    /// The layers of a graph over a ball of which `reach` is the largest value of a coordinate. `None` unless the
    /// graph is a relu network whose inputs are affine in the coordinates.
    pub fn of(graph: &Graph<'_>, reach: f64) -> Option<Self> {
        let [operation] = &graph.operations[..] else { return None };
        let network = operation.operator.elements().network()?;
        if graph.is_vacuous || network.activation() != Activation::Relu || network.layers().len() < 2 {
            return None;
        }
        let inputs = graph.inputs;
        let (own, share) = graph.output.terms.split_at(inputs.min(graph.output.terms.len()));
        let share = *share.first()?;
        let mut linear = own.to_vec();
        linear.resize(inputs, 0.0);
        let arguments = &operation.arguments;
        let (last, before) = network.layers().split_last()?;
        let mut sizes: Vec<f64> = arguments
            .iter()
            .map(|form| form.constant.abs() + reach * form.terms.iter().map(|t| t.abs()).sum::<f64>())
            .collect();
        let mut hidden = Vec::with_capacity(before.len());
        let mut widest = arguments.len() + inputs;
        for (number, layer) in before.iter().enumerate() {
            let (units, width) = layer.weight.dim();
            let entry = |j: usize, i: usize| match number {
                0 => (0..width)
                    .map(|k| layer.weight[[j, k]] * arguments[k].terms.get(i).copied().unwrap_or(0.0))
                    .sum(),
                _ => layer.weight[[j, i]],
            };
            let columns = if number == 0 { inputs } else { width };
            let rows = (0..units * columns).map(|at| entry(at / columns, at % columns)).collect::<Vec<f64>>();
            let offset = |j: usize| match number {
                0 => (0..width).map(|k| layer.weight[[j, k]] * arguments[k].constant).sum::<f64>(),
                _ => 0.0,
            };
            sizes = (0..units)
                .map(|j| {
                    let terms = (0..width).map(|k| layer.weight[[j, k]].abs() * sizes[k]).sum::<f64>();
                    terms + layer.bias[j].abs()
                })
                .collect();
            hidden.push(Layer {
                units,
                inputs: columns,
                columns: (0..units * columns).map(|at| rows[at % units * columns + at / units]).collect(),
                rows,
                bias: (0..units).map(|j| layer.bias[j] + offset(j)).collect(),
                sizes: sizes.clone(),
            });
            widest += units;
        }
        let weight: Vec<f64> = last.weight.row(0).iter().map(|w| w * share).collect();
        let constant = graph.output.constant + share * last.bias[0];
        let rounding = 16.0 * f64::EPSILON * (widest + 64) as f64;
        let is_finite = sizes.iter().chain(&weight).chain(&linear).all(|x| x.is_finite());
        (is_finite && constant.is_finite()).then_some(Self {
            inputs,
            hidden,
            weight,
            linear,
            constant,
            rounding,
        })
    }

    /// The least rounding error of a margin: that of its terms beside the units.
    pub fn own_error(&self, reach: f64) -> f64 {
        let linear: f64 = self.linear.iter().map(|a| a.abs()).sum();
        let last = self
            .hidden
            .last()
            .map_or(0.0, |layer| layer.sizes.iter().zip(&self.weight).map(|(size, w)| size * w.abs()).sum());
        self.rounding * (self.constant.abs() + reach * linear + last)
    }
}
