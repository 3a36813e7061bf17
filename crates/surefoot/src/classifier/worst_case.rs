//! The worst case over uncertain weights, whatever the set of weights.

use std::sync::Arc;

use super::ellipsoid::EllipsoidModel;
use super::model::Shared;
use super::uncertain::{Dense, UncertainModel};

/// The worst case over a set of weights.
#[derive(Clone, Debug)]
pub(super) enum WorstCase {
    Box(Arc<UncertainModel>),
    Ellipsoid(Arc<EllipsoidModel>),
}

impl WorstCase {
    pub fn model(&self) -> Shared {
        match self {
            WorstCase::Box(worst) => Shared(worst.clone()),
            WorstCase::Ellipsoid(worst) => Shared(worst.clone()),
        }
    }

    pub fn worst(&self, x: &[f64]) -> Dense {
        match self {
            WorstCase::Box(worst) => worst.worst(x),
            WorstCase::Ellipsoid(worst) => worst.worst(x),
        }
    }

    pub fn is_exact(&self) -> bool {
        match self {
            WorstCase::Box(worst) => worst.is_exact(),
            WorstCase::Ellipsoid(_) => true,
        }
    }

    pub fn words(&self) -> String {
        match self {
            WorstCase::Box(worst) => worst.uncertainty().words(),
            WorstCase::Ellipsoid(worst) => worst.words(),
        }
    }
}
