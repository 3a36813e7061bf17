//! A causal model with every kind of equation, for tests of what must hold for all of them.

use ndarray::{Array2, array};
use surefoot::{Activation, Change, Classifier, Equation, Feature, Features, Layer, Network, Problem, Scm};

/// Nine features, each with another kind of equation over several of those before it.
pub fn features() -> Features {
    let scaled = |name: &str, mean: f64, std: f64| Feature::new(name).scaling(mean, std);
    Features::new(vec![
        scaled("root", 2.0, 3.0),
        scaled("linear", -1.0, 0.5),
        scaled("tanh", 0.5, 2.0),
        scaled("relu", 4.0, 1.5),
        scaled("formula", -2.0, 4.0),
        scaled("searched", 0.0, 0.2),
        scaled("given-inverse", 1.0, 2.0),
        scaled("deep", -1.0, 1.0),
        scaled("clipped", 3.0, 5.0),
    ])
    .unwrap()
}

pub fn network(activation: Activation, inputs: usize) -> Network {
    let weight = Array2::from_shape_fn((5, inputs), |(i, j)| ((3 * i + 5 * j) as f64).sin());
    let first = Layer { weight, bias: array![0.1, -0.2, 0.3, 0.05, -0.4] };
    let second = Layer { weight: array![[0.5, -0.7, 0.2, 0.9, -0.3]], bias: array![0.15] };
    Network::new(vec![first, second], activation).unwrap()
}

fn deep_network() -> Network {
    let layer = |outputs, inputs| Layer {
        weight: Array2::from_shape_fn((outputs, inputs), |(i, j)| ((7 * i + 2 * j + 1) as f64).cos()),
        bias: (0..outputs).map(|i| (i as f64).sin()).collect(),
    };
    Network::new(vec![layer(4, 2), layer(3, 4), layer(1, 3)], Activation::Sigmoid).unwrap()
}

/// The limits of the clipped feature, in standardised units.
#[allow(dead_code, reason = "not every test is about limits")]
pub const CLIP: (f64, f64) = (-1.8, 0.6);

/// Declared out of causal order on purpose.
pub fn scm() -> Scm {
    let equations = vec![
        ("clipped", Equation::formula("max(-6, min(6, 0.6 * formula - root - 11 + tanh(linear) + 4 * u))")),
        ("deep", Equation::network(&["given-inverse", "searched"], deep_network())),
        (
            "given-inverse",
            Equation::formula_with_inverse(
                "exp(0.1 * formula + u) + relu",
                "log(`given-inverse` - relu) - 0.1 * formula",
            ),
        ),
        ("searched", Equation::formula("tanh(u + 0.3 * root) - 0.2 * sigmoid(linear) * exp(-u)")),
        ("formula", Equation::formula("root * tanh / (1 + relu ^ 2) - 2 * u + abs(linear - 20)")),
        ("relu", Equation::network(&["root", "linear", "tanh"], network(Activation::Relu, 3))),
        ("tanh", Equation::network(&["linear"], network(Activation::Tanh, 1))),
        ("linear", Equation::linear(&["root"], vec![0.7], 0.2)),
    ];
    Scm::new(&features(), equations).unwrap()
}

/// A linear problem of three features in a chain, two of which may change.
#[allow(dead_code, reason = "not every test is about linear problems")]
pub fn linear_chain() -> Problem {
    let features = Features::new(vec![
        Feature::new("a").change(Change::Any),
        Feature::new("b").change(Change::Any).scaling(2.0, 3.0),
        Feature::new("c"),
    ])
    .unwrap();
    let equations =
        vec![("b", Equation::linear(&["a"], vec![0.7], 0.1)), ("c", Equation::formula("a - 0.5 * b + u"))];
    let scm = Scm::new(&features, equations).unwrap();
    let classifier = Classifier::linear(vec![1.0, -0.8, 0.6], -0.5, 0.5).unwrap();
    Problem::new(features, classifier).unwrap().with_causal_model(scm).unwrap()
}
