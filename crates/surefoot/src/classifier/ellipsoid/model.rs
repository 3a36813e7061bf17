//! The worst case over an ellipsoid of weights, as a model of its own.
//!
//! With the inputs z of the last layer, a one for the intercept included, and a factor F of the covariance
//!
//! ```text
//! logit(x) = min over w of w.z = w0.z - r |F^T z|,    at w = w0 - r F F^T z / |F^T z|
//! ```
//!
//! This is the exact worst case, since all weights of the layer belong to the same unit. The layers before the last
//! one are certain.

use super::super::model::Model;
use super::super::uncertain::Dense;
use super::WeightEllipsoid;
use crate::Result;
use crate::digest::Digest;
use crate::graph::{Affine, AffineForm, Builder, EuclideanNorm, Graph, Interval, Region, Unit};
use crate::network::Layer;

/// The worst case over an ellipsoid of the weights of the last layer.
#[derive(Clone, Debug)]
pub(in super::super) struct EllipsoidModel {
    trained: Dense,
    ellipsoid: WeightEllipsoid,
}

impl EllipsoidModel {
    /// # Errors
    /// If the covariance is that of another number of weights.
    pub fn new(trained: Dense, ellipsoid: WeightEllipsoid) -> Result<Self> {
        let this = Self { trained, ellipsoid };
        this.ellipsoid.check_width(this.last().weight.ncols() + 1)?;
        Ok(this)
    }

    pub fn ellipsoid(&self) -> &WeightEllipsoid {
        &self.ellipsoid
    }

    /// What is guarded against, in words.
    pub fn words(&self) -> String {
        self.ellipsoid.words(self.trained.layers.len() > 1)
    }

    /// The model of the ellipsoid whose logit for an individual is least.
    pub fn worst(&self, x: &[f64]) -> Dense {
        let stretched = self.stretched(&self.last_inputs(x));
        let long = EuclideanNorm::of(&stretched);
        let width = self.ellipsoid.width;
        let moved = |i: usize, w: f64| {
            let row = self.ellipsoid.factor[i * width..][..width].iter();
            // Without an error of the score, every weight of the ellipsoid is as bad.
            let along = |y: f64| if long > 0.0 { y / long } else { 0.0 };
            let step: f64 = row.zip(&stretched).map(|(f, y)| f * along(*y)).sum();
            w - self.ellipsoid.radius * step
        };
        let mut dense = self.trained.clone();
        if let Some(Layer { weight, bias }) = dense.layers.last_mut() {
            weight.iter_mut().enumerate().for_each(|(i, w)| *w = moved(i, *w));
            bias[0] = moved(width - 1, bias[0]);
        }
        dense
    }

    fn last(&self) -> &Layer {
        &self.trained.layers[self.trained.layers.len() - 1]
    }

    /// The inputs of the last layer.
    fn last_inputs(&self, x: &[f64]) -> Vec<f64> {
        let Dense { layers, activation } = &self.trained;
        let mut values = x.to_vec();
        for layer in &layers[..layers.len() - 1] {
            let z = layer.weight.dot(&ndarray::ArrayView1::from(&values)) + &layer.bias;
            values = z.iter().map(|&z| activation.map_or(z, |activation| activation.value(z))).collect();
        }
        values
    }

    /// `r F^T z`, whose length is what the worst case costs.
    fn stretched(&self, inputs: &[f64]) -> Vec<f64> {
        let WeightEllipsoid { width, factor, radius, .. } = &self.ellipsoid;
        let along = |k: usize| -> f64 {
            let sum = inputs.iter().enumerate().map(|(i, z)| factor[i * width + k] * z).sum::<f64>();
            radius * (sum + factor[(width - 1) * width + k])
        };
        (0..*width).map(along).collect()
    }

    /// The graph of the worst case as a function of the features.
    fn graph(&self) -> Graph<'_> {
        let inputs = self.inputs();
        let mut graph = Builder::new(inputs);
        let x: Vec<AffineForm> = (0..inputs).map(|j| graph.input(j)).collect();
        let output = self.worst_case(&mut graph, &x);
        graph.finish(output)
    }

    fn worst_case<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> AffineForm {
        let Dense { layers, activation } = &self.trained;
        let mut values = x.to_vec();
        for layer in &layers[..layers.len() - 1] {
            let arguments = layer.weight.rows().into_iter().zip(&layer.bias);
            let arguments: Vec<AffineForm> =
                arguments.map(|(row, &bias)| weighted(bias, row.iter().copied(), &values)).collect();
            values = match activation {
                Some(activation) => {
                    let unit = Unit::from(*activation);
                    arguments.into_iter().map(|argument| graph.unit(unit, argument)).collect()
                }
                None => arguments,
            };
        }
        let Layer { weight, bias } = self.last();
        let trained = weighted(bias[0], weight.row(0).iter().copied(), &values);
        let WeightEllipsoid { width, factor, radius, .. } = &self.ellipsoid;
        let stretched = |k: usize| {
            let column = |i: usize| radius * factor[i * width + k];
            weighted(column(width - 1), (0..width - 1).map(column), &values)
        };
        let lost = graph.operate(&EuclideanNorm, (0..*width).map(stretched).collect());
        trained.plus(-1.0, &lost)
    }
}

/// `constant + weights . values`.
fn weighted(constant: f64, weights: impl Iterator<Item = f64>, values: &[AffineForm]) -> AffineForm {
    weights.zip(values).fold(AffineForm::constant(constant), |sum, (w, value)| sum.plus(w, value))
}

impl Model for EllipsoidModel {
    fn inputs(&self) -> usize {
        self.trained.layers[0].weight.ncols()
    }

    fn logit(&self, x: &[f64]) -> f64 {
        let inputs = self.last_inputs(x);
        let Layer { weight, bias } = self.last();
        let trained = bias[0] + weight.row(0).iter().zip(&inputs).map(|(w, z)| w * z).sum::<f64>();
        trained - EuclideanNorm::of(&self.stretched(&inputs))
    }

    fn range(&self, x: &[Interval]) -> Interval {
        let region = Region::cuboid(x.iter().map(|x| x.lower).collect(), x.iter().map(|x| x.upper).collect());
        let (graph, mut affine) = (self.graph(), Affine::default());
        let bounded = affine.bound(&graph, &region);
        Interval { lower: bounded.lower(), upper: bounded.upper() }.or_everything()
    }

    /// That of the worst model, by the theorem of Danskin.
    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        match self.worst(x).model() {
            Ok(model) => model.gradient(x),
            Err(_) => vec![0.0; x.len()],
        }
    }

    fn compose<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> Option<AffineForm> {
        Some(self.worst_case(graph, x))
    }

    fn add_to_digest(&self, digest: &mut Digest) {
        self.ellipsoid.digest(digest);
        match self.trained.clone().model() {
            Ok(model) => model.add_to_digest(digest),
            Err(_) => unreachable!("the layers were those of a model"),
        }
    }
}
