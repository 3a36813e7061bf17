//! Perturbation and action as a graph, `CF(CF(x, D), theta)`: the two passes of
//! [`block`](super::block) with forms in place of numbers.

use super::{Downstream, Scm};
use crate::graph::{Builder, Form};

/// What a value may differ from itself after a trip through its noise, relative to values
/// beyond 1: equations are refused where it is more.
const TRIP: f64 = 1e-6;

impl Scm {
    /// The perturbed individual, `x'_i = f_i(parents of x', u_i) + D_i`.
    pub(crate) fn compose_perturbed<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        x: &[f64],
        noise: &[f64],
        perturbation: &[Form],
    ) -> Vec<Form> {
        let mut perturbed = vec![Form::default(); x.len()];
        for &i in &self.order {
            let node = &self.nodes[i];
            let value = if node.parents.is_empty() {
                Form::constant(x[i])
            } else {
                let parents: Vec<Form> = node.parents.iter().map(|&p| perturbed[p].clone()).collect();
                let value = node.mechanism.compose(graph, &parents, &Form::constant(noise[i]));
                self.with_error_of_trip(graph, i, x, noise, value)
            };
            perturbed[i] = value.plus(1.0, &perturbation[i]);
        }
        perturbed
    }

    /// Where nothing changes a feature is copied rather than computed again; if an inverse is
    /// only nearly right that makes a difference.
    fn with_error_of_trip<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        i: usize,
        x: &[f64],
        noise: &[f64],
        value: Form,
    ) -> Form {
        if value.as_constant().is_some() {
            return value;
        }
        let parents: Vec<f64> = self.nodes[i].parents.iter().map(|&p| x[p]).collect();
        let error = (self.nodes[i].mechanism.value(&parents, noise[i]) - x[i]).abs();
        if error <= 1e-13 * x[i].abs().max(1.0) {
            return value;
        }
        let slack = graph.slack(error, &Form::constant(0.0));
        value.plus(1.0, &slack)
    }

    /// The individual who has acted: features acted upon are as given in `acted`, everything
    /// else there is as in the perturbed individual, and what is downstream follows.
    #[expect(clippy::too_many_arguments, reason = "the two individuals and what is between them")]
    pub(crate) fn compose_acted<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        downstream: &Downstream,
        x: &[f64],
        noise: &[f64],
        perturbation: &[Form],
        perturbed: &[Form],
        acted: &mut [Form],
    ) {
        for &i in &downstream.0 {
            let node = &self.nodes[i];
            let of =
                |values: &[Form]| -> Vec<Form> { node.parents.iter().map(|&p| values[p].clone()).collect() };
            let parents = of(acted);
            if parents == of(perturbed) {
                // Copied rather than computed again, even where the noise could not be recovered.
                acted[i] = perturbed[i].clone();
                continue;
            }
            let value = if node.mechanism.is_additive() {
                let value = node.mechanism.compose(graph, &parents, &Form::constant(noise[i]));
                self.with_error_of_trip(graph, i, x, noise, value).plus(1.0, &perturbation[i])
            } else {
                let noise = node.mechanism.compose_noise(graph, &of(perturbed), &perturbed[i]);
                node.mechanism.compose(graph, &parents, &noise)
            };
            // The noise of the perturbed individual, which is recovered afresh, is as good as
            // its inverse.
            let exact = node.mechanism.is_additive() && !node.mechanism.has_given_inverse();
            acted[i] = if exact || value.as_constant().is_some() {
                value
            } else {
                let slack = graph.slack(TRIP, &perturbed[i]);
                value.plus(1.0, &slack)
            };
        }
    }
}
