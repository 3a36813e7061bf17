//! An intervention set, with everything about it that does not depend on the individual.

use super::{Exact, rounding};
use crate::{ActionKind, Constraint};

/// One intervention set.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub features: Vec<usize>,
    /// The cost weight of each change.
    pub weights: Vec<f64>,
    /// The computed gain of each change: what a unit of it adds to the score.
    pub gains: Gains,
    /// Upper bounds of the gains, rounding included, for proofs that no action suffices.
    pub most: Gains,
    /// The largest decrease of the score by a perturbation, and the error bound of that number.
    pub worst_decrease: f64,
    pub worst_decrease_error: f64,
    /// For each requirement of the problem, what a unit of each change adds to it, with error bounds.
    pub requirements: Vec<Effects>,
}

/// What a unit of each change adds to the value of a requirement.
#[derive(Clone, Debug)]
pub(super) struct Effects {
    pub values: Vec<f64>,
    pub errors: Vec<f64>,
}

/// What a unit of each change adds to the score.
#[derive(Clone, Debug)]
pub(super) struct Gains {
    pub values: Vec<f64>,
    /// Whether the sign of each gain is certain. If not, the change may go either way.
    pub certain: Vec<bool>,
    /// Positions in descending order of `|gain| / weight`.
    pub order: Vec<usize>,
}

impl Gains {
    fn new(values: Vec<f64>, certain: Vec<bool>, weights: &[f64]) -> Self {
        let worth = |k: usize| values[k].abs() / weights[k];
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
        Self { values, certain, order }
    }
}

impl Exact<'_> {
    /// Prepares an intervention set.
    pub(super) fn prepare(&self, features: Vec<usize>) -> Set {
        let weights: Vec<f64> = features.iter().map(|&i| self.problem.features().feature(i).weight).collect();
        let is_named = self.flags(&features);
        let sizes = self.arrows.sizes(self.weights, &is_named);
        let error = |i: usize| if self.problem.scm().is_some() { self.rounding(sizes[i]) } else { 0.0 };
        let response = self.arrows.response(self.weights, &is_named);
        let computed: Vec<f64> = features.iter().map(|&i| response[i]).collect();
        // A gain that is no larger than its own error may be zero.
        let certain: Vec<bool> = features.iter().zip(&computed).map(|(&i, g)| g.abs() > error(i)).collect();
        let gains = computed.iter().zip(&certain).map(|(&g, &certain)| if certain { g } else { 0.0 });
        let gains = Gains::new(gains.collect(), vec![true; features.len()], &weights);
        let most = features.iter().zip(&computed).map(|(&i, g)| g + error(i).copysign(*g)).collect();
        let most = Gains::new(most, certain, &weights);
        let uncertainty = self.problem.uncertainty();
        let worst_decrease = uncertainty.support(&self.response(&features));
        let worst_decrease_error = self.rounding(uncertainty.support(&sizes));
        let effects = |rule: &Constraint| -> Effects {
            let (_, coefficients) = rule.upper_terms();
            let sizes = self.arrows.sizes(coefficients, &is_named);
            let response = self.arrows.response(coefficients, &is_named);
            Effects {
                values: features.iter().map(|&i| response[i]).collect(),
                errors: features.iter().map(|&i| self.rounding(sizes[i])).collect(),
            }
        };
        let requirements = self.problem.requirements().iter().map(effects).collect();
        Set { features, weights, gains, most, worst_decrease, worst_decrease_error, requirements }
    }

    /// What a unit of perturbation of each feature adds to the score once the action is taken.
    pub(super) fn response(&self, intervention: &[usize]) -> Vec<f64> {
        let cut = match self.problem.action_kind() {
            ActionKind::Relative => &[],
            ActionKind::Absolute => intervention,
        };
        let mut response = self.arrows.response(self.weights, &self.flags(cut));
        cut.iter().for_each(|&i| response[i] = 0.0);
        response
    }

    /// Whether each feature is one of some.
    pub(super) fn flags(&self, features: &[usize]) -> Vec<bool> {
        let mut flags = vec![false; self.weights.len()];
        features.iter().for_each(|&i| flags[i] = true);
        flags
    }

    /// An upper bound of the rounding error of a number computed along the graph from terms of this total
    /// size.
    pub(super) fn rounding(&self, size: f64) -> f64 {
        rounding(size, 2 * self.weights.len() + 4)
    }
}
