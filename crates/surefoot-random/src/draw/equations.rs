//! Draws causal models: linear equations, networks and formulas.

use std::fmt::Write as _;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use surefoot::{Activation, Feature, Kind, Network};

use super::{digits, one};

/// How a feature follows from others.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    feature: usize,
    parents: Vec<usize>,
    form: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Linear { coefficients: Vec<f64>, intercept: f64, raw: bool },
    Network(Network),
    Formula(String),
}

impl Equation {
    /// Whether a feature is among the causes.
    pub(super) fn is_cause(&self, feature: usize) -> bool {
        self.parents.contains(&feature)
    }
}

/// The kinds of equation that a model draws from.
#[derive(Clone, Copy, PartialEq)]
enum Variety {
    None,
    Linear,
    Network,
    Formula,
    Mixed,
}

/// The equations of a random acyclic graph; often none. A binary feature has none, because no action
/// may change it through an equation.
pub(super) fn draw(random: &mut ChaCha8Rng, features: &[Feature]) -> Vec<Equation> {
    use Variety::{Formula, Linear, Mixed, Network, None};
    let variety = one(random, &[None, None, Linear, Network, Formula, Formula, Mixed, Mixed]);
    let mut order: Vec<usize> = (0..features.len()).collect();
    order.shuffle(random);
    let mut equations = Vec::new();
    for place in 1..order.len() {
        let feature = order[place];
        let has_equation = random.random_bool(0.7);
        if variety == None || features[feature].kind == Kind::Binary || !has_equation {
            continue;
        }
        let mut parents: Vec<usize> = order[..place].to_vec();
        parents.shuffle(random);
        parents.truncate(random.random_range(1..=parents.len().min(3)));
        let variety = match variety {
            Mixed => one(random, &[Linear, Network, Formula]),
            other => other,
        };
        let form = match variety {
            Linear | None | Mixed => Shape::Linear {
                coefficients: parents.iter().map(|_| digits(random.random_range(-1.2..1.2), 3)).collect(),
                intercept: digits(random.random_range(-1.0..1.0), 2),
                raw: random.random_bool(0.5),
            },
            Network => {
                let activation = one(random, &[Activation::Tanh, Activation::Relu, Activation::Sigmoid]);
                let hidden = random.random_range(1..=5);
                Shape::Network(crate::network(random, &[parents.len(), hidden, 1], activation, 0.8))
            }
            Formula => Shape::Formula(formula(random, features, feature, &parents)),
        };
        equations.push(Equation { feature, parents, form });
    }
    equations
}

/// A formula in people's own units. Some are undefined for some parents, and some cannot give every
/// value.
fn formula(random: &mut ChaCha8Rng, features: &[Feature], feature: usize, parents: &[usize]) -> String {
    let scaled = |i: usize| {
        let Feature { name, mean, std, .. } = &features[i];
        match (*mean, *std) {
            (0.0, 1.0) => name.clone(),
            _ => format!("(({name} - ({mean:?})) / {std:?})"),
        }
    };
    let p = scaled(parents[0]);
    let q = scaled(*parents.last().unwrap());
    let c = digits(random.random_range(0.2..1.5), 2) * one(random, &[-1.0, 1.0]);
    let shift = digits(random.random_range(1.5..4.0), 2);
    let additive = match random.random_range(0..14) {
        0 => format!("({c:?}) * {p}"),
        1 => format!("({c:?}) * {p} * {q}"),
        2 => format!("({c:?}) * sqrt({p} + {shift:?})"),
        3 => format!("({c:?}) * log({p} + {shift:?})"),
        4 => format!("({c:?}) * exp(0.4 * {p})"),
        5 => format!("({c:?}) * tanh({p} + {q})"),
        6 => format!("({c:?}) * max({p}, 0)"),
        7 => format!("({c:?}) * min({p}, 0.5 * {q} + 1)"),
        8 => format!("({c:?}) * {p} / (2 + {q} ^ 2)"),
        9 => format!("({c:?}) / ({p} + {shift:?})"),
        10 => format!("({c:?}) * abs({p})"),
        11 => format!("({c:?}) * sigmoid(2 * {p})"),
        _ => String::new(),
    };
    let Feature { mean, std, lower, upper, .. } = &features[feature];
    if !additive.is_empty() {
        let formula = format!("({mean:?}) + {std:?} * ({additive}) + u");
        // Cut off at a limit.
        return match random.random_range(0..6) {
            0 if lower.is_finite() => format!("max({lower:?}, {formula})"),
            1 if upper.is_finite() => format!("min({upper:?}, {formula})"),
            _ => formula,
        };
    }
    let whole = match random.random_range(0..3) {
        0 => format!("u * exp(0.3 * {p})"),
        1 => format!("exp(0.3 * {p} + u)"),
        _ => format!("({c:?}) * {p} + exp(u)"),
    };
    format!("({mean:?}) + {std:?} * ({whole})")
}

impl Equation {
    pub(super) fn write<'a>(
        &'a self,
        text: &mut String,
        features: &[Feature],
        networks: &mut Vec<(String, &'a Network)>,
    ) {
        let name = &features[self.feature].name;
        writeln!(text, "\n[[equation]]\nfeature = \"{name}\"").unwrap();
        if let Shape::Formula(formula) = &self.form {
            return writeln!(text, "formula = \"{formula}\"").unwrap();
        }
        let parents: Vec<&str> = self.parents.iter().map(|&i| features[i].name.as_str()).collect();
        writeln!(text, "parents = {parents:?}").unwrap();
        match &self.form {
            Shape::Linear { coefficients, intercept, raw: false } => {
                writeln!(text, "coefficients = {coefficients:?}\nintercept = {intercept:?}").unwrap();
            }
            Shape::Linear { coefficients, intercept, raw: true } => {
                let std = features[self.feature].std;
                let raw: Vec<f64> =
                    coefficients.iter().zip(&self.parents).map(|(c, &i)| c * std / features[i].std).collect();
                writeln!(text, "coefficients = {raw:?}\nintercept = {:?}\ninputs = \"raw\"", std * intercept)
                    .unwrap();
            }
            Shape::Network(network) => {
                let file = format!("{name}.safetensors");
                let activation = format!("{:?}", network.activation()).to_lowercase();
                writeln!(text, "network = \"{file}\"\nactivation = \"{activation}\"").unwrap();
                networks.push((file, network));
            }
            Shape::Formula(_) => {}
        }
    }
}
