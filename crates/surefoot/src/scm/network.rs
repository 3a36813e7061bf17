//! `X := network(parents) + u`.

use super::equation::Mechanism;
use crate::Result;
use crate::digest::Digest;
use crate::graph::{AffineForm, Builder};
use crate::network::{Lanes, Network, Workspace};

#[derive(Debug)]
pub(super) struct NetworkEquation(pub Network);

impl Mechanism for NetworkEquation {
    fn value(&self, parents: &[f64], noise: f64) -> f64 {
        self.0.value(parents) + noise
    }

    fn noise(&self, parents: &[f64], value: f64) -> Result<f64> {
        Ok(value - self.0.value(parents))
    }

    fn gradient(&self, parents: &[f64], _: f64) -> Vec<f64> {
        self.0.gradient(parents)
    }

    fn slope(&self, _: &[f64], _: f64) -> f64 {
        1.0
    }

    fn evaluate(
        &self,
        parents: &[Lanes],
        noise: Lanes,
        workspace: &mut Option<Workspace>,
        partials: Option<&mut [Lanes]>,
    ) -> Lanes {
        let workspace = workspace.get_or_insert_with(|| self.0.workspace());
        let value = self.0.forward(parents, workspace);
        if let Some(partials) = partials {
            self.0.backward(workspace, partials);
        }
        value + noise
    }

    fn workspace(&self) -> Option<Workspace> {
        Some(self.0.workspace())
    }

    fn digest(&self, digest: &mut Digest) {
        digest.text("network");
        self.0.digest(digest);
    }

    fn is_additive(&self) -> bool {
        true
    }

    fn coefficients(&self) -> Option<Vec<f64>> {
        // A network of a single layer is linear.
        let only_layer = self.0.layers().len() == 1;
        only_layer.then(|| self.0.layers()[0].weight.row(0).to_vec())
    }

    fn compose<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        parents: &[AffineForm],
        noise: &AffineForm,
    ) -> AffineForm {
        graph.network(&self.0, parents).plus(1.0, noise)
    }
}
