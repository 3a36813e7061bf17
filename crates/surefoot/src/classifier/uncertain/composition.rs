//! The worst case over a box of weights as part of a graph.
//!
//! Each unit of a hidden layer is replaced by its least value, by its greatest one or by both, as later layers need
//! them; these are units of the same kind with shifted arguments. So the whole is a dense network of the features x
//! and of the sizes of features:
//!
//! ```text
//! z_k -+ (r_k0 + sum_j r_kj |x_j|)
//! ```
//!
//! If all radii are the same, the sum is a single further input `r (1 + sum_j |x_j|)`. The least value of `v h`
//! for an uncertain weight v is `(v - r) h` for relu and sigmoid, which are not negative, and `v h - r |h|` for
//! tanh, with `|tanh z| = tanh |z|`.

use ndarray::{Array1, Array2};

use super::super::weights::WeightUncertainty;
use super::Dense;
use crate::Result;
use crate::graph::{Affine, AffineForm, Builder, Graph, Interval, Jets, Order, Region, Sizes, Unit};
use crate::network::{Activation, Layer, Network};

/// One end of the interval of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Lower,
    Upper,
}

impl End {
    fn sign(self) -> f64 {
        match self {
            End::Lower => -1.0,
            End::Upper => 1.0,
        }
    }

    /// The end of a factor that gives this end of its product with a weight.
    fn times(self, weight: f64) -> End {
        if (weight >= 0.0) == (self == End::Lower) { End::Lower } else { End::Upper }
    }
}

/// An affine function of the features and of their sizes.
#[derive(Clone, Debug)]
struct Argument {
    constant: f64,
    features: Vec<f64>,
    /// The coefficient of the common sum, or of the size of each feature.
    sizes: Vec<f64>,
}

/// The least value of `v tanh z` for v in `[-below, above]` and z between two arguments:
/// `-max(above tanh(max(-lower, 0)), below tanh(max(upper, 0)))`.
#[derive(Clone, Debug)]
struct Signless {
    above: f64,
    below: f64,
    minus_lower: Argument,
    upper: Argument,
}

/// The worst case as a sum of an affine function, a network, and a few single units.
#[derive(Clone, Debug)]
pub(super) struct Composition {
    /// The sizes of features with their radii, where a single sum of them is needed: for a linear model, and where all
    /// radii are the same.
    sum: Option<Sizes>,
    /// The constant of that sum.
    constant: f64,
    /// The size of one number.
    size: Sizes,
    linear: Argument,
    network: Option<Network>,
    /// The arguments of tanh units whose sizes are further inputs of the network.
    magnitudes: Vec<Argument>,
    /// Tanh units whose uncertain weight may have either sign.
    signless: Vec<Signless>,
}

impl Composition {
    pub fn new(trained: &Dense, uncertainty: WeightUncertainty) -> Result<Self> {
        let first = &trained.layers[0];
        let radius = |w: &f64| uncertainty.radius(*w);
        let size = Sizes::new(vec![1.0]);
        let (magnitudes, signless) = (Vec::new(), Vec::new());
        let Some(activation) = trained.activation else {
            let features = first.weight.row(0).to_vec();
            return Ok(Self {
                sum: Some(Sizes::new(features.iter().map(radius).collect())),
                constant: radius(&first.bias[0]),
                size,
                linear: Argument { constant: first.bias[0], features, sizes: vec![-1.0] },
                network: None,
                magnitudes,
                signless,
            });
        };
        let sum = match uncertainty {
            WeightUncertainty::Within(radius) => Some(Sizes::new(vec![radius; first.weight.ncols()])),
            WeightUncertainty::Share(_) => None,
        };
        let linear = Argument { constant: 0.0, features: Vec::new(), sizes: Vec::new() };
        let constant = radius(&0.0);
        let mut this = Self { sum, constant, size, linear, network: None, magnitudes, signless };
        this.add_network(trained, uncertainty, activation)?;
        Ok(this)
    }

    /// The network of the ends of units, from the last layer to the first.
    fn add_network(
        &mut self,
        trained: &Dense,
        uncertainty: WeightUncertainty,
        activation: Activation,
    ) -> Result<()> {
        let last = trained.layers.len() - 1;
        let is_tanh = activation == Activation::Tanh;
        let is_exact_tanh = is_tanh && !trained.is_coarse();
        let argument = |&(k, end): &(usize, End)| Argument::of_unit(trained, uncertainty, k, end);
        // The ends that are needed of the units of the layer above, from the output downwards.
        let mut needed = vec![(0, End::Lower)];
        let mut layers: Vec<Layer> = Vec::new();
        // Tanh units whose sizes count, with the radii of their weights.
        let (mut sizes, mut radii) = (Vec::new(), Vec::new());
        for layer in trained.layers[1..=last].iter().rev() {
            let mut rows: Vec<Vec<(usize, End, f64)>> = Vec::with_capacity(needed.len());
            let mut biases = Vec::with_capacity(needed.len());
            for &(m, end) in &needed {
                let mut bias = layer.bias[m] + end.sign() * uncertainty.radius(layer.bias[m]);
                let mut row = Vec::new();
                for (k, &w) in layer.weight.row(m).iter().enumerate() {
                    let r = uncertainty.radius(w);
                    if is_exact_tanh && w.abs() < r {
                        self.signless.push(Signless {
                            above: r + w,
                            below: r - w,
                            minus_lower: argument(&(k, End::Lower)).negated(),
                            upper: argument(&(k, End::Upper)),
                        });
                        continue;
                    }
                    let weight = if is_tanh { w } else { w + end.sign() * r };
                    row.push((k, end.times(weight), weight));
                    if is_exact_tanh {
                        sizes.push((k, end.times(weight)));
                        radii.push(r);
                    } else if is_tanh {
                        bias += end.sign() * r;
                    }
                }
                rows.push(row);
                biases.push(bias);
            }
            let mut below: Vec<(usize, End)> = rows.iter().flatten().map(|&(k, end, _)| (k, end)).collect();
            below.sort_unstable();
            below.dedup();
            let mut weight = Array2::zeros((rows.len(), below.len() + radii.len()));
            for (m, row) in rows.iter().enumerate() {
                for &(k, end, w) in row {
                    if let Ok(place) = below.binary_search(&(k, end)) {
                        weight[[m, place]] = w;
                    }
                }
            }
            for (place, r) in radii.iter().enumerate() {
                weight[[0, below.len() + place]] = -r;
            }
            layers.push(Layer { weight, bias: Array1::from(biases) });
            needed = below;
        }
        self.magnitudes = sizes.iter().map(argument).collect();
        let units: Vec<Argument> = needed.iter().map(argument).collect();
        if units.is_empty() {
            // The weights of all units may have either sign.
            self.linear.constant = layers[0].bias[0];
            return Ok(());
        }
        layers.push(first_layer(&units, self.magnitudes.len()));
        layers.reverse();
        self.network = Some(Network::new(layers, activation)?);
        Ok(())
    }

    /// The worst case as part of a graph of the features.
    pub fn compose<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> AffineForm {
        let sizes: Vec<AffineForm> = match &self.sum {
            Some(sum) => vec![graph.operate(sum, x.to_vec()).shifted(self.constant)],
            None => x.iter().map(|x| graph.operate(&self.size, vec![x.clone()])).collect(),
        };
        let form = |argument: &Argument| argument.form(x, &sizes);
        let mut output = form(&self.linear);
        for Signless { above, below, minus_lower, upper } in &self.signless {
            let mut part = |factor: f64, argument: &Argument| {
                let positive = graph.unit(Unit::Relu, form(argument));
                graph.unit(Unit::Tanh, positive).scaled(factor)
            };
            let (one, other) = (part(*above, minus_lower), part(*below, upper));
            let more = graph.unit(Unit::Relu, one.plus(-1.0, &other));
            output = output.plus(-1.0, &other).plus(-1.0, &more);
        }
        let Some(network) = &self.network else { return output };
        let magnitudes: Vec<AffineForm> =
            self.magnitudes.iter().map(|z| graph.operate(&self.size, vec![form(z)])).collect();
        let arguments: Vec<AffineForm> = x.iter().cloned().chain(sizes).chain(magnitudes).collect();
        graph.network(network, &arguments).plus(1.0, &output)
    }

    /// The graph of the worst case as a function of the features.
    fn graph(&self, inputs: usize) -> Graph<'_> {
        let mut graph = Builder::new(inputs);
        let x: Vec<AffineForm> = (0..inputs).map(|j| graph.input(j)).collect();
        let output = self.compose(&mut graph, &x);
        graph.finish(output)
    }

    pub fn range(&self, x: &[Interval]) -> Interval {
        let region = Region::cuboid(x.iter().map(|x| x.lower).collect(), x.iter().map(|x| x.upper).collect());
        let (graph, mut affine) = (self.graph(x.len()), Affine::default());
        let bounded = affine.bound(&graph, &region);
        Interval { lower: bounded.lower(), upper: bounded.upper() }.or_everything()
    }

    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        Jets::default().evaluate(&self.graph(x.len()), x, Order::Gradient).gradient
    }
}

impl Argument {
    /// An end of the argument of a unit of the first layer.
    fn of_unit(trained: &Dense, uncertainty: WeightUncertainty, k: usize, end: End) -> Self {
        let layer = &trained.layers[0];
        let (row, bias) = (layer.weight.row(k), layer.bias[k]);
        let features = row.to_vec();
        match uncertainty {
            // The radius of the bias is part of the common sum.
            WeightUncertainty::Within(_) => Self { constant: bias, features, sizes: vec![end.sign()] },
            WeightUncertainty::Share(_) => Self {
                constant: bias + end.sign() * uncertainty.radius(bias),
                features,
                sizes: row.iter().map(|&w| end.sign() * uncertainty.radius(w)).collect(),
            },
        }
    }

    fn negated(self) -> Self {
        let negated = |values: Vec<f64>| values.into_iter().map(|v| -v).collect();
        Self { constant: -self.constant, features: negated(self.features), sizes: negated(self.sizes) }
    }

    fn form(&self, x: &[AffineForm], sizes: &[AffineForm]) -> AffineForm {
        let terms = self.features.iter().zip(x).chain(self.sizes.iter().zip(sizes));
        terms.fold(AffineForm::constant(self.constant), |sum, (&w, form)| sum.plus(w, form))
    }
}

/// The first layer: units of the features and their sizes, then units of one further input each.
fn first_layer(units: &[Argument], magnitudes: usize) -> Layer {
    let width = units[0].features.len() + units[0].sizes.len();
    let mut weight = Array2::zeros((units.len() + magnitudes, width + magnitudes));
    let mut bias = Array1::zeros(units.len() + magnitudes);
    for (k, unit) in units.iter().enumerate() {
        bias[k] = unit.constant;
        let row = unit.features.iter().chain(&unit.sizes);
        weight.row_mut(k).iter_mut().zip(row).for_each(|(place, &w)| *place = w);
    }
    for k in 0..magnitudes {
        weight[[units.len() + k, width + k]] = 1.0;
    }
    Layer { weight, bias }
}
