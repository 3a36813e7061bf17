//! A model of the box that is worst for one individual.

use super::{Dense, UncertainModel};
use crate::network::{Activation, Layer};

/// The largest number of times that the weights of a deep network are moved.
const ROUNDS: usize = 20;

impl UncertainModel {
    /// A model of the box whose logit for an individual is low: the worst one where the worst case is exact, and
    /// otherwise what steps along the gradient in the weights find.
    pub fn worst(&self, x: &[f64]) -> Dense {
        let trained = &self.trained;
        match &trained.layers[..] {
            [layer] => {
                let moved = self.moved(layer, &[1.0], x);
                Dense { layers: vec![moved], ..trained.clone() }
            }
            [first, last] => {
                let (lower, upper) = &self.passes(x)[0];
                // For each unit, the end of its argument that is worst, and its output there.
                let (mut signs, mut outputs) = (Vec::new(), Vec::new());
                for ((&w, &l), &u) in last.weight.row(0).iter().zip(lower).zip(upper) {
                    let (l, u) = (self.activated(l), self.activated(u));
                    let least = |h: f64| w * h - self.uncertainty.radius(w) * h.abs();
                    let is_lower = least(l) <= least(u);
                    signs.push(if is_lower { 1.0 } else { -1.0 });
                    outputs.push(if is_lower { l } else { u });
                }
                let layers = vec![self.moved(first, &signs, x), self.moved(last, &[1.0], &outputs)];
                Dense { layers, ..trained.clone() }
            }
            _ => self.descended(x),
        }
    }

    /// A layer whose weights are moved as far as possible so that each result changes against the given sign.
    fn moved(&self, layer: &Layer, signs: &[f64], inputs: &[f64]) -> Layer {
        let mut moved = layer.clone();
        for (m, sign) in signs.iter().enumerate() {
            let step = |w: f64, h: f64| w - self.uncertainty.radius(w) * direction(sign * h);
            moved.bias[m] = step(layer.bias[m], 1.0);
            for (w, &h) in moved.weight.row_mut(m).iter_mut().zip(inputs) {
                *w = step(*w, h);
            }
        }
        moved
    }

    /// Moves all weights to the corner of the box against their gradients, again and again as long as the logit falls.
    fn descended(&self, x: &[f64]) -> Dense {
        let mut best = self.trained.clone();
        let (mut values, mut least) = self.outputs(&best, x);
        for _ in 0..ROUNDS {
            let mut signs = vec![1.0];
            let mut next = best.clone();
            for (number, layer) in self.trained.layers.iter().enumerate().rev() {
                next.layers[number] = self.moved(layer, &signs, &values[number]);
                if number > 0 {
                    let passed = best.layers[number].weight.t().dot(&ndarray::Array1::from(signs));
                    signs = passed.iter().zip(&values[number]).map(|(a, h)| a * self.slope(*h)).collect();
                }
            }
            let (moved, logit) = self.outputs(&next, x);
            if logit >= least || logit.is_nan() {
                break;
            }
            (best, values, least) = (next, moved, logit);
        }
        best
    }

    /// The inputs of every layer, and the logit.
    fn outputs(&self, dense: &Dense, x: &[f64]) -> (Vec<Vec<f64>>, f64) {
        let mut values = vec![x.to_vec()];
        let mut logit = f64::NAN;
        for (number, layer) in dense.layers.iter().enumerate() {
            let z = layer.weight.dot(&ndarray::ArrayView1::from(&values[number])) + &layer.bias;
            logit = z[0];
            values.push(z.iter().map(|&z| self.activated(z)).collect());
        }
        (values, logit)
    }

    fn activated(&self, z: f64) -> f64 {
        self.trained.activation.map_or(z, |activation| activation.value(z))
    }

    fn slope(&self, h: f64) -> f64 {
        self.trained.activation.map_or(1.0, |activation: Activation| activation.slope(h))
    }
}

fn direction(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}
