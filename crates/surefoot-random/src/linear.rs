//! Small linear problems.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::{Classifier, Equation, Features, Scm};

use crate::small::uniform;

/// A linear classifier, and somebody whom it turns down by 0.01 to `most`.
pub fn turned_down(random: &mut ChaCha8Rng, width: usize, most: f64) -> (Classifier, Vec<f64>) {
    let weights = uniform(random, width, -2.0..2.0);
    let individual = uniform(random, width, -1.0..1.0);
    let score: f64 = weights.iter().zip(&individual).map(|(w, x)| w * x).sum();
    let intercept = -score - random.random_range(0.01..most);
    (Classifier::linear(weights, intercept, 0.5).unwrap(), individual)
}

/// A linear causal model in which each feature follows from one to all of those before it, or has no
/// equation.
pub fn linear_causal_model(random: &mut ChaCha8Rng, features: &Features) -> Scm {
    let names = features.names();
    let mut equations = Vec::new();
    for i in 1..names.len() {
        let parents: Vec<&str> =
            names[..i].iter().filter(|_| random.random_bool(0.7)).map(|name| name.as_str()).collect();
        if !parents.is_empty() {
            let coefficients = uniform(random, parents.len(), -1.5..1.5);
            let equation = Equation::linear(&parents, coefficients, random.random_range(-0.5..0.5));
            equations.push((names[i].as_str(), equation));
        }
    }
    Scm::new(features, equations).unwrap()
}
