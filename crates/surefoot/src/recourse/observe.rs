//! Better answers, told while a search goes on.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Action;

/// Something better than before.
#[derive(Clone, Debug, PartialEq)]
pub enum Improvement {
    /// A cheaper action that withstood every attack so far. That it holds is not proven.
    Incumbent {
        /// The action.
        action: Action,
        /// Its cost.
        cost: f64,
    },
    /// A higher proven lower bound of the cost of any action that holds.
    Bound(f64),
    /// A cheaper action that is proven to hold.
    Proven {
        /// The action.
        action: Action,
        /// Its cost.
        cost: f64,
    },
}

/// What was told last.
#[derive(Clone, Copy)]
struct Told {
    incumbent: f64,
    bound: f64,
    proven: f64,
}

/// What improvements are passed on to.
type Tell = dyn Fn(Improvement) + Send + Sync;

/// Passes improvements on, each only if it is better than those before. It is made for one individual.
#[derive(Clone)]
pub struct Observer {
    tell: Arc<Tell>,
    told: Arc<Mutex<Told>>,
}

/// A bound is told if it is higher by this share.
const BOUND_SHARE: f64 = 1e-3;

impl Observer {
    /// An observer that passes improvements on to a function.
    pub fn new(tell: impl Fn(Improvement) + Send + Sync + 'static) -> Self {
        let told = Told { incumbent: f64::INFINITY, bound: 0.0, proven: f64::INFINITY };
        Self { tell: Arc::new(tell), told: Arc::new(Mutex::new(told)) }
    }

    /// Passes an improvement on, if it is one.
    pub(crate) fn tell(&self, improvement: Improvement) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_better = match &improvement {
            Improvement::Incumbent { cost, .. } => {
                let is_better = *cost < told.incumbent.min(told.proven);
                told.incumbent = cost.min(told.incumbent);
                is_better
            }
            Improvement::Bound(bound) => {
                let is_better = bound.is_finite() && *bound > told.bound * (1.0 + BOUND_SHARE);
                told.bound = if is_better { *bound } else { told.bound };
                is_better
            }
            Improvement::Proven { cost, .. } => {
                let is_better = *cost < told.proven;
                told.proven = cost.min(told.proven);
                is_better
            }
        };
        drop(told);
        if is_better {
            (self.tell)(improvement);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
