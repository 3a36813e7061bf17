//! Small problems whose settings are drawn independently of each other.
//!
//! The unit tests of the engine include this file by its path: a dependency on this crate would bring
//! them a second copy of the engine.

use std::ops::Range;

use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::classifier::Reach;
use surefoot::uncertainty::{Factor, Product};
use surefoot::{
    ActionKind, Activation, Classifier, Cost, Equation, Features, Layer, Network, Norm, NormKind, Problem,
    Scm, UncertaintySet, WeightEllipsoid,
};

/// All activations.
pub const ACTIVATIONS: [Activation; 3] = [Activation::Tanh, Activation::Relu, Activation::Sigmoid];

/// All kinds of norm.
pub const NORM_KINDS: [NormKind; 3] = [NormKind::L1, NormKind::L2, NormKind::Linf];

/// Formulas with additive noise that are defined for all values of the parents `{p}` and `{q}`, which
/// may be the same.
pub const FORMULAS: [&str; 8] = [
    "0.5 * {p} * {q} + u",
    "max({p}, {q}) - ({p} - 1)^2 / 3 + u",
    "sigmoid({q}) / (2 + tanh({p})) + 2 * u",
    "abs({p}) * exp(-{q}^2) + sqrt(1 + {p}^2) + u",
    "log(2 + {p}^2) + exp(0.3 * {q}) + u",
    "min({p}, 0.5) + {q}^3 / 10 + u",
    "1 / (3 + {p}^2 * {q}^2) + u",
    "tanh({q}) * {p} - 0.3 * max({p}, {q}) + u",
];

/// One of several values, each as likely as the others.
pub fn one<T: Clone>(random: &mut ChaCha8Rng, values: &[T]) -> T {
    values[random.random_range(0..values.len())].clone()
}

/// Independent numbers, each uniform in a range.
pub fn uniform(random: &mut ChaCha8Rng, count: usize, range: Range<f64>) -> Vec<f64> {
    (0..count).map(|_| random.random_range(range.clone())).collect()
}

/// A network whose weights are uniform in `[-scale, scale]` and whose biases are uniform in `[-1, 1]`.
pub fn network(random: &mut ChaCha8Rng, widths: &[usize], activation: Activation, scale: f64) -> Network {
    let mut layer = |pair: &[usize]| Layer {
        weight: Array2::from_shape_simple_fn((pair[1], pair[0]), || random.random_range(-1.0..1.0) * scale),
        bias: Array1::from_shape_simple_fn(pair[1], || random.random_range(-1.0..1.0)),
    };
    Network::new(widths.windows(2).map(&mut layer).collect(), activation).unwrap()
}

/// A positive definite matrix, with standard errors that differ by a factor of up to thirty.
pub fn covariance(random: &mut ChaCha8Rng, width: usize, scale: f64) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = (0..width + 2).map(|_| uniform(random, width, -1.0..1.0)).collect();
    let sizes: Vec<f64> = (0..width).map(|_| scale * one(random, &[0.1, 1.0, 3.0])).collect();
    let entry =
        |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>() * sizes[i] * sizes[j];
    (0..width).map(|i| (0..width).map(|j| entry(i.min(j), i.max(j))).collect()).collect()
}

/// A norm of any kind, with or without weights.
pub fn norm(random: &mut ChaCha8Rng, width: usize) -> Norm {
    let kind = one(random, &NORM_KINDS);
    match random.random_bool(0.5) {
        true => Norm::unweighted(kind),
        false => Norm::weighted(kind, uniform(random, width, 0.5..2.0)).unwrap(),
    }
}

/// A product of balls over random groups of coordinates, some of which are exact.
pub fn product(random: &mut ChaCha8Rng, width: usize) -> Product {
    let count = random.random_range(1..=width);
    let mut groups = vec![Vec::new(); count];
    (0..width).for_each(|i| groups[random.random_range(0..count)].push(i));
    groups.retain(|group| !group.is_empty());
    let factors = groups
        .into_iter()
        .map(|group| Factor::new(one(random, &NORM_KINDS), one(random, &[0.0, 0.3, 1.0, 1.0, 2.0]), group));
    Product::new(factors.collect()).unwrap()
}

/// The problem with any norm, one of the radii, any cost and any kind of action.
pub fn with_settings(random: &mut ChaCha8Rng, problem: Problem, epsilons: &[f64]) -> Problem {
    let norm = norm(random, problem.features().len());
    problem
        .with_uncertainty(norm, one(random, epsilons))
        .unwrap()
        .with_cost(one(random, &[Cost::L1, Cost::L2]))
        .with_action_kind(one(random, &[ActionKind::Relative, ActionKind::Relative, ActionKind::Absolute]))
}

/// The kinds of equation of a causal model.
#[derive(Clone, Copy, PartialEq)]
enum Variety {
    Linear,
    Network,
    Formula,
    Mixed,
}

/// A causal model whose equations are all linear, all networks, all formulas or any of these. Each
/// feature but the first follows from one or two of those before it, or has no equation.
pub fn causal_model(random: &mut ChaCha8Rng, features: &Features, formulas: &[&str]) -> Scm {
    use Variety::{Formula, Linear, Mixed, Network};
    let model = one(random, &[Linear, Network, Formula, Mixed]);
    let names = features.names();
    let mut equations = Vec::new();
    for i in 1..names.len() {
        if random.random_bool(0.25) {
            continue;
        }
        let mut parents = vec![one(random, &names[..i])];
        parents.extend(Some(one(random, &names[..i])).filter(|second| *second != parents[0]));
        let named: Vec<&str> = parents.iter().map(|name| name.as_str()).collect();
        let variety = if model == Mixed { one(random, &[Linear, Network, Formula]) } else { model };
        let equation = match variety {
            Linear | Mixed => Equation::linear(
                &named,
                uniform(random, named.len(), -1.0..1.0),
                random.random_range(-0.5..0.5),
            ),
            Network => {
                let activation = one(random, &ACTIVATIONS);
                Equation::network(&named, network(random, &[named.len(), 4, 1], activation, 1.0))
            }
            Formula => {
                let formula = one(random, formulas).replace("{p}", named[0]);
                Equation::formula(formula.replace("{q}", named[named.len() - 1]))
            }
        };
        equations.push((names[i].as_str(), equation));
    }
    Scm::new(features, equations).unwrap()
}

/// Problems with a network over the same features.
pub struct Family<'a> {
    /// The features.
    pub features: &'a Features,
    /// The widths of the classifier's hidden layers, as alternatives.
    pub hidden: &'a [&'a [usize]],
    /// The scales of its weights, as alternatives.
    pub scales: &'a [f64],
    /// The radii of the uncertainty, as alternatives.
    pub epsilons: &'a [f64],
    /// The formulas of the causal model, as alternatives: see [`FORMULAS`].
    pub formulas: &'a [&'a str],
}

impl Family<'_> {
    /// A problem of the family; three of four have a causal model.
    pub fn draw(&self, random: &mut ChaCha8Rng) -> Problem {
        let (classifier, _) = self.classifier(random);
        self.around(random, classifier)
    }

    /// A problem of the family whose weights are uncertain within an ellipsoid.
    pub fn draw_with_ellipsoid(&self, random: &mut ChaCha8Rng) -> Problem {
        let (classifier, weights) = self.classifier(random);
        let scale = one(random, &[0.01, 0.1, 0.5]);
        let reach = Reach::Radius(random.random_range(0.1..3.0));
        let ellipsoid = WeightEllipsoid::new(&covariance(random, weights, scale), reach).unwrap();
        self.around(random, classifier.with_weight_ellipsoid(ellipsoid).unwrap())
    }

    /// A network, and the number of weights of its last layer.
    fn classifier(&self, random: &mut ChaCha8Rng) -> (Classifier, usize) {
        let width = self.features.len();
        let widths = [&[width][..], one(random, self.hidden), &[1]].concat();
        let (activation, scale) = (one(random, &ACTIVATIONS), one(random, self.scales));
        let network = network(random, &widths, activation, scale);
        (Classifier::network(network, 0.5).unwrap(), widths[widths.len() - 2] + 1)
    }

    fn around(&self, random: &mut ChaCha8Rng, classifier: Classifier) -> Problem {
        let mut problem = Problem::new(self.features.clone(), classifier).unwrap();
        if random.random_bool(0.75) {
            let scm = causal_model(random, self.features, self.formulas);
            problem = problem.with_causal_model(scm).unwrap();
        }
        with_settings(random, problem, self.epsilons)
    }
}

/// Somebody whom the causal model can produce, with noise that is uniform in `[-1, 1]`.
pub fn individual(random: &mut ChaCha8Rng, problem: &Problem) -> Vec<f64> {
    let noise = uniform(random, problem.features().len(), -1.0..1.0);
    problem.scm().map_or(noise.clone(), |scm| scm.predict(&noise).unwrap())
}

/// A set of the engine with the required functions alone, so that it has the default implementations of
/// all others.
#[derive(Debug)]
pub struct Plain(pub &'static dyn UncertaintySet);

impl UncertaintySet for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn words(&self) -> &'static str {
        self.0.words()
    }

    fn gauge(&self, y: &[f64]) -> f64 {
        self.0.gauge(y)
    }

    fn support(&self, row: &[f64]) -> f64 {
        self.0.support(row)
    }

    fn project(&self, y: &mut [f64], radius: f64) {
        self.0.project(y, radius);
    }
}
