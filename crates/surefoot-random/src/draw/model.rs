//! Draws classifiers.

use std::fmt::Write as _;

use ndarray::Array1;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use surefoot::{Activation, Classifier, Feature, Network};

use super::{digits, one};

/// A classifier over standardised features.
#[derive(Clone, Debug)]
pub(super) struct Model {
    shape: Shape,
    threshold: f64,
}

#[derive(Clone, Debug)]
enum Shape {
    Linear { coefficients: Vec<f64>, intercept: f64, raw: bool },
    Network(Network),
}

pub(super) fn draw(random: &mut ChaCha8Rng, width: usize) -> Model {
    let shape = if random.random_bool(0.3) {
        let mut coefficient = |_| match random.random_bool(0.1) {
            true => 0.0,
            false => digits(random.random_range(-2.0..2.0), 4),
        };
        let coefficients = (0..width).map(&mut coefficient).collect();
        Shape::Linear { coefficients, intercept: 0.0, raw: random.random_bool(0.5) }
    } else {
        let activation = one(random, &[Activation::Tanh, Activation::Relu, Activation::Sigmoid]);
        let mut widths = vec![width, random.random_range(2..=12)];
        if random.random_bool(0.4) {
            widths.push(random.random_range(2..=8));
        }
        widths.push(1);
        let scale = one(random, &[0.6, 1.0, 1.8]);
        Shape::Network(crate::network(random, &widths, activation, scale))
    };
    let threshold = match random.random_bool(0.6) {
        true => 0.5,
        false => digits(random.random_range(0.1..0.9), 2),
    };
    Model { shape, threshold }
}

impl Model {
    /// Moves the intercept so that somebody, in standardised units, has this score but for rounding.
    pub(super) fn aim(&mut self, individual: &[f64], score: f64) {
        let classifier = match &self.shape {
            Shape::Linear { coefficients, intercept, .. } => {
                Classifier::linear(coefficients.clone(), *intercept, self.threshold)
            }
            Shape::Network(network) => Classifier::network(network.clone(), self.threshold),
        };
        let missing = score - classifier.unwrap().score(individual);
        match &mut self.shape {
            Shape::Linear { intercept, .. } => *intercept += missing,
            Shape::Network(network) => {
                let mut layers = network.layers().to_vec();
                layers.last_mut().unwrap().bias += &Array1::from(vec![missing]);
                *network = Network::new(layers, network.activation()).unwrap();
            }
        }
    }

    pub(super) fn name(&self) -> String {
        match &self.shape {
            Shape::Linear { .. } => "linear".into(),
            Shape::Network(network) => format!("{:?} network", network.activation()),
        }
    }

    pub(super) fn write<'a>(
        &'a self,
        text: &mut String,
        features: &[Feature],
        networks: &mut Vec<(String, &'a Network)>,
    ) {
        writeln!(text, "\n[classifier]\nthreshold = {:?}", self.threshold).unwrap();
        match &self.shape {
            Shape::Linear { coefficients, intercept, raw: false } => {
                writeln!(text, "coefficients = {coefficients:?}\nintercept = {intercept:?}").unwrap();
            }
            Shape::Linear { coefficients, intercept, raw: true } => {
                let own: Vec<f64> = coefficients.iter().zip(features).map(|(c, f)| c / f.std).collect();
                let shift: f64 = own.iter().zip(features).map(|(c, f)| c * f.mean).sum();
                writeln!(
                    text,
                    "coefficients = {own:?}\nintercept = {:?}\ninputs = \"raw\"",
                    intercept - shift
                )
                .unwrap();
            }
            Shape::Network(network) => {
                let activation = format!("{:?}", network.activation()).to_lowercase();
                writeln!(text, "network = \"classifier.safetensors\"\nactivation = \"{activation}\"")
                    .unwrap();
                networks.push(("classifier.safetensors".into(), network));
            }
        }
    }
}
