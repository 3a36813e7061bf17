//! Dense networks as models.

use std::sync::Arc;

use super::model::{Blocks, Model, Precision};
use super::uncertain::Dense;
use crate::digest::Digest;
use crate::graph::{AffineForm, Builder, Interval, Operator};
use crate::network::{Lanes, Network, SingleWorkspace, Workspace};

/// A network whose output is the logit.
#[derive(Clone, Debug)]
pub(super) struct NetworkModel(pub Arc<Network>);

impl Model for NetworkModel {
    fn inputs(&self) -> usize {
        self.0.inputs()
    }

    fn logit(&self, x: &[f64]) -> f64 {
        self.0.value(x)
    }

    fn range(&self, x: &[Interval]) -> Interval {
        Operator::range(&*self.0, x)
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        self.0.gradient(x)
    }

    fn dense(&self) -> Option<Dense> {
        Some(Dense { layers: self.0.layers().to_vec(), activation: Some(self.0.activation()) })
    }

    fn blocks(&self, precision: Precision) -> Option<Box<dyn Blocks>> {
        let network = self.0.clone();
        Some(match precision {
            Precision::Double => Box::new(Double { workspace: network.workspace(), network }),
            Precision::Single => Box::new(Single { workspace: network.single_workspace(), network }),
        })
    }

    fn compose<'a>(&'a self, graph: &mut Builder<'a>, x: &[AffineForm]) -> Option<AffineForm> {
        Some(graph.network(&self.0, x))
    }

    fn add_to_digest(&self, digest: &mut Digest) {
        self.0.digest(digest);
    }
}

#[derive(Debug)]
struct Double {
    network: Arc<Network>,
    workspace: Workspace,
}

impl Blocks for Double {
    fn logits(&mut self, x: &[Lanes]) -> Lanes {
        self.network.forward(x, &mut self.workspace)
    }

    fn gradient(&mut self, gradient: &mut [Lanes]) {
        self.network.backward(&mut self.workspace, gradient);
    }
}

#[derive(Debug)]
struct Single {
    network: Arc<Network>,
    workspace: SingleWorkspace,
}

impl Blocks for Single {
    fn logits(&mut self, x: &[Lanes]) -> Lanes {
        self.network.forward_single(x, &mut self.workspace)
    }

    fn gradient(&mut self, gradient: &mut [Lanes]) {
        self.network.backward_single(&mut self.workspace, gradient);
    }
}
