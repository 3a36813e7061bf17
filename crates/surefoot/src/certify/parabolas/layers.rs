//! The network whose margin is bounded, as a function of the perturbation's coordinates.

use crate::Activation;
use crate::graph::Graph;
use crate::network::{LANES, Lanes, WideLayer, on_lanes};

/// A margin `constant + linear . y + sum_j weight_j tanh(z_j)` with
///
/// ```text
/// one hidden layer:   z = origin + columns y
/// two hidden layers:  z = bias + W tanh(origin + columns y)
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Layers<'p> {
    pub inputs: usize,
    /// The number of units of the first layer.
    pub units: usize,
    /// The layer W; `None` if there is one hidden layer.
    pub second: Option<&'p WideLayer>,
    /// The arguments of the first layer: one column for each coordinate.
    pub columns: Vec<Lanes>,
    pub origin: Vec<Lanes>,
    /// The weight of each unit of the last hidden layer in the margin.
    pub weight: Vec<Lanes>,
    pub linear: Vec<f64>,
    pub constant: f64,
    /// An upper bound of the difference between the margin and what is computed here from the numbers
    /// above, for every argument of length at most the radius.
    pub rounding: f64,
}

impl<'p> Layers<'p> {
    /// The layers of a graph over the ball of a radius. `None` unless the graph is a tanh network with one
    /// or two hidden layers whose inputs are affine in the coordinates.
    pub(crate) fn of(graph: &Graph<'p>, radius: f64) -> Option<Self> {
        let [operation] = &graph.operations[..] else { return None };
        let network = operation.operator.elements().network()?;
        let hidden = network.layers().len() - 1;
        if graph.is_vacuous || network.activation() != Activation::Tanh || hidden > 2 {
            return None;
        }
        let inputs = graph.inputs;
        let (own, share) = graph.output.terms.split_at(inputs.min(graph.output.terms.len()));
        let share = *share.first()?;
        let mut linear = own.to_vec();
        linear.resize(inputs, 0.0);
        let layers = network.wide();
        let term = |k: usize, i: usize| operation.arguments[k].terms.get(i).copied().unwrap_or(0.0);
        let arguments = operation.arguments.len();
        let mut columns = Vec::new();
        for i in 0..inputs {
            let mut column = vec![Lanes::ZERO; layers[0].forward.blocks()];
            layers[0].forward.multiply(&on_lanes(arguments, |k| term(k, i)), &mut column);
            columns.extend(column);
        }
        let constants = on_lanes(arguments, |k| operation.arguments[k].constant);
        let mut origin = vec![Lanes::ZERO; layers[0].forward.blocks()];
        layers[0].forward.multiply(&constants, &mut origin);
        origin.iter_mut().zip(&layers[0].bias).for_each(|(p, &b)| *p = *p + b);
        let mut one = [Lanes::ZERO];
        one[0].0[0] = share;
        let last = &layers[hidden];
        let mut weight = vec![Lanes::ZERO; last.backward.blocks()];
        last.backward.multiply(&one, &mut weight);
        let constant = graph.output.constant + share * last.bias[0].0[0];
        // The size of an argument of the first layer, then of a later one: sums of absolute values.
        let size = |k: usize| {
            let form = &operation.arguments[k];
            form.constant.abs() + radius * form.terms.iter().map(|t| t.abs()).sum::<f64>()
        };
        let mut sizes = vec![Lanes::ZERO; origin.len()];
        layers[0].forward.multiply_sizes(&on_lanes(arguments, size), &mut sizes);
        sizes.iter_mut().zip(&layers[0].bias).for_each(|(s, b)| *s = *s + b.map(f64::abs));
        let units = layers[0].backward.inputs();
        let mut widest = arguments + inputs + layers[0].backward.inputs();
        let second = (hidden == 2).then(|| &layers[1]);
        if let Some(second) = second {
            let below: Vec<Lanes> = sizes.iter().map(|s| s.map(|s| s + 4.0)).collect();
            sizes.resize(second.forward.blocks(), Lanes::ZERO);
            second.forward.multiply_sizes(&below, &mut sizes);
            sizes.iter_mut().zip(&second.bias).for_each(|(s, b)| *s = *s + b.map(f64::abs));
            widest += second.backward.inputs();
        }
        let total = |(w, s): (&Lanes, &Lanes)| (0..LANES).map(|l| w.0[l].abs() * (s.0[l] + 4.0)).sum::<f64>();
        let size = weight.iter().zip(&sizes).map(total).sum::<f64>()
            + constant.abs()
            + graph.output.constant.abs()
            + radius * linear.iter().map(|t| t.abs()).sum::<f64>();
        let rounding = 8.0 * f64::EPSILON * (widest + 64) as f64 * size;
        rounding.is_finite().then_some(Self {
            inputs,
            units,
            second,
            columns,
            origin,
            weight,
            linear,
            constant,
            rounding,
        })
    }
}
