//! Perturbation and action as a graph, `CF(CF(x, D), theta)`: the two passes of
//! [`block`](super::block) with forms in place of numbers.

use super::formula::ROUND_TRIP_ERROR;
use super::{Downstream, Node, Scm, SlopeError};
use crate::graph::{AffineForm, Builder};

/// The inputs of the composition of an action.
#[derive(Clone, Copy)]
pub(crate) struct Known<'f> {
    /// The individual, with their noise.
    pub x: &'f [f64],
    pub noise: &'f [f64],
    /// The perturbation, and the perturbed individual with the noise by [`Scm::compose_noise`].
    pub perturbation: &'f [AffineForm],
    pub perturbed: &'f [AffineForm],
    pub noise_of_perturbed: &'f [Option<AffineForm>],
    /// Errors of coefficients.
    pub slopes: &'f [SlopeError<AffineForm>],
}

impl Scm {
    /// The perturbed individual, `x'_i = f_i(parents of x', u_i) + D_i`, in a model with errors of
    /// coefficients.
    pub(crate) fn compose_perturbed<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        x: &[f64],
        noise: &[f64],
        perturbation: &[AffineForm],
        slopes: &[SlopeError<AffineForm>],
    ) -> Vec<AffineForm> {
        let mut perturbed = vec![AffineForm::default(); x.len()];
        for &i in &self.order {
            let node = &self.nodes[i];
            let parents: Vec<AffineForm> = node.parents.iter().map(|&p| perturbed[p].clone()).collect();
            let value = if node.parents.is_empty() {
                AffineForm::constant(x[i])
            } else {
                let value = node.mechanism.compose(graph, &parents, &AffineForm::constant(noise[i]));
                let value = self.with_round_trip_error(graph, i, x, noise, value);
                self.with_slope_errors(graph, i, x, &parents, slopes, value)
            };
            // The model produces nobody beyond a clip. A shift that ends at the clip is smaller and gives
            // an existing individual.
            perturbed[i] = node.mechanism.compose_clip(graph, &parents, value.plus(1.0, &perturbation[i]));
        }
        perturbed
    }

    /// Adds to the value of feature `i` what errors of coefficients make of the changes of its parents.
    fn with_slope_errors<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        i: usize,
        x: &[f64],
        parents: &[AffineForm],
        slopes: &[SlopeError<AffineForm>],
        value: AffineForm,
    ) -> AffineForm {
        slopes.iter().filter(|slope| slope.feature == i).fold(value, |value, slope| {
            let change = parents[slope.parent].clone().shifted(-x[self.nodes[i].parents[slope.parent]]);
            value.plus(1.0, &graph.product(slope.error.clone(), change))
        })
    }

    /// Widens the value of feature `i` by the difference between `x` and its reconstruction from the noise, if
    /// that exceeds rounding. A feature without changed causes is copied instead of computed again, and the two
    /// differ if the inverse of an equation is only approximate.
    fn with_round_trip_error<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        i: usize,
        x: &[f64],
        noise: &[f64],
        value: AffineForm,
    ) -> AffineForm {
        if value.as_constant().is_some() {
            return value;
        }
        let parents: Vec<f64> = self.nodes[i].parents.iter().map(|&p| x[p]).collect();
        let error = (self.nodes[i].mechanism.value(&parents, noise[i]) - x[i]).abs();
        if error <= 1e-13 * x[i].abs().max(1.0) {
            return value;
        }
        let slack = graph.slack(error, &AffineForm::constant(0.0));
        value.plus(1.0, &slack)
    }

    /// The noise of the perturbed individual, for the features downstream of an action whose noise is not
    /// additive; `None` for the others.
    pub(crate) fn compose_noise<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        downstream: &Downstream,
        perturbed: &[AffineForm],
    ) -> Vec<Option<AffineForm>> {
        let mut noise = vec![None; self.nodes.len()];
        for &i in downstream.0.iter().filter(|&&i| !self.nodes[i].mechanism.is_additive()) {
            let Node { parents, mechanism } = &self.nodes[i];
            let parents: Vec<AffineForm> = parents.iter().map(|&p| perturbed[p].clone()).collect();
            noise[i] = Some(mechanism.compose_noise(graph, &parents, &perturbed[i]));
        }
        noise
    }

    /// The individual after the action. Features acted upon are given in `acted`, all others there are
    /// those of the perturbed individual; features downstream are computed.
    pub(crate) fn compose_acted<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        downstream: &Downstream,
        known: &Known<'_>,
        acted: &mut [AffineForm],
    ) {
        let Known { x, noise, perturbation, perturbed, noise_of_perturbed, slopes } = *known;
        for &i in &downstream.0 {
            let node = &self.nodes[i];
            let of = |values: &[AffineForm]| -> Vec<AffineForm> {
                node.parents.iter().map(|&p| values[p].clone()).collect()
            };
            let parents = of(acted);
            if parents == of(perturbed) {
                // The feature is copied instead of computed again.
                acted[i] = perturbed[i].clone();
                continue;
            }
            let value = match &noise_of_perturbed[i] {
                None => {
                    let value = node.mechanism.compose(graph, &parents, &AffineForm::constant(noise[i]));
                    let value = self.with_round_trip_error(graph, i, x, noise, value);
                    let value = self.with_slope_errors(graph, i, x, &parents, slopes, value);
                    value.plus(1.0, &perturbation[i])
                }
                Some(noise) => node.mechanism.compose(graph, &parents, noise),
            };
            // The recovered noise of the perturbed individual is as accurate as the inverse.
            let exact = node.mechanism.has_exact_noise();
            acted[i] = if exact || value.as_constant().is_some() {
                value
            } else {
                let slack = graph.slack(ROUND_TRIP_ERROR, &perturbed[i]);
                value.plus(1.0, &slack)
            };
        }
    }
}
