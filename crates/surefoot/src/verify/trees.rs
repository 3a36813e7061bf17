//! The checker for tree ensembles.
//!
//! It walks the trees of the [`Ensemble`] over standardised features, computes its own ranges and distances,
//! and uses none of the code of the search. It shares with the search what reading the model gives: the
//! thresholds, into which scalers and units have been folded ([`Ensemble::over`]), and the bound on the
//! rounding of sums ([`Ensemble::rounding`]). An action is verified by dividing the ball at thresholds. A
//! bound on the cost is verified along the divisions that the proof states.

mod divisions;
mod worst;

pub(super) use divisions::nothing_cheaper;
pub(super) use worst::holds;

use crate::trees::Ensemble;
use crate::{ActionKind, Problem};

/// An individual who acts on a set of features, for a classifier of trees and with a linear causal model or
/// none:
///
/// ```text
/// z = x + effects change + d,    d_i = sum over causes of c_ij d_j + D_i  for live features, else 0
/// ```
struct Situation<'p> {
    ensemble: &'p Ensemble,
    x: &'p [f64],
    set: &'p [usize],
    /// The total effect of each change on each feature.
    effects: Vec<Vec<f64>>,
    /// The coefficients of the causes of each live feature.
    causes: Vec<Vec<(usize, f64)>>,
    is_live: Vec<bool>,
    order: Vec<usize>,
    weights: Vec<f64>,
    power: f64,
    radius: f64,
    /// What leaf values are multiplied by, what they are added to, and how far the sum may be off.
    factor: f64,
    start: f64,
    rounding: f64,
}

impl<'p> Situation<'p> {
    /// `None` if the problem is not one of these.
    fn new(problem: &'p Problem, x: &'p [f64], set: &'p [usize]) -> Option<Self> {
        let ensemble = problem.classifier().ensemble()?;
        if problem.joint().is_some() {
            return None;
        }
        let power = problem.uncertainty().set().power()?;
        let n = x.len();
        let mut coefficients = vec![vec![0.0; n]; n];
        let mut order: Vec<usize> = (0..n).collect();
        if let Some(scm) = problem.scm() {
            let matrix = scm.coefficients().ok()?;
            coefficients = matrix.rows().into_iter().map(|row| row.to_vec()).collect();
            // Ancestors first.
            order.sort_by_key(|&i| (0..n).filter(|&j| scm.is_downstream(i, j)).count());
        }
        let is_set = |i: usize| set.contains(&i);
        // Nothing shifts a special value, nor a level that the action sets.
        let is_shifted = |i: usize| problem.action_kind() == ActionKind::Relative || !is_set(i);
        let is_live: Vec<bool> = (0..n).map(|i| is_shifted(i) && !problem.is_exact(i)).collect();
        let mut effects = vec![vec![0.0; set.len()]; n];
        for &i in &order {
            match set.iter().position(|&member| member == i) {
                Some(k) => effects[i][k] = 1.0,
                None => {
                    for j in (0..n).filter(|&j| coefficients[i][j] != 0.0) {
                        for k in 0..set.len() {
                            effects[i][k] += coefficients[i][j] * effects[j][k];
                        }
                    }
                }
            }
        }
        let causes = |i: usize| match is_live[i] {
            true => (0..n)
                .filter(|&j| is_live[j] && coefficients[i][j] != 0.0)
                .map(|j| (j, coefficients[i][j]))
                .collect(),
            false => Vec::new(),
        };
        let arithmetic = ensemble.arithmetic();
        let constant = match ensemble.is_compared() {
            true => 0.0,
            false => arithmetic.start / arithmetic.divisor * arithmetic.factor + arithmetic.shift,
        };
        Some(Self {
            ensemble,
            x,
            set,
            effects,
            causes: (0..n).map(causes).collect(),
            is_live,
            order,
            weights: problem.uncertainty().weights(n),
            power,
            radius: problem.uncertainty().radius(),
            factor: arithmetic.factor / arithmetic.divisor,
            start: constant - problem.classifier().offset(),
            rounding: 2.0 * ensemble.rounding(),
        })
    }

    /// The size of a perturbation from the sizes of its weighted coordinates.
    fn size(&self, sizes: impl Iterator<Item = f64>) -> f64 {
        match self.power {
            1.0 => sizes.sum(),
            2.0 => sizes.map(|size| size * size).sum::<f64>().sqrt(),
            _ => sizes.fold(0.0, f64::max),
        }
    }

    /// The value of a leaf in units of the score.
    fn leaf(&self, leaf: u32) -> f64 {
        self.ensemble.leaf_value(leaf) * self.factor
    }

    /// Whether a feature is neither cause nor effect among live features.
    fn is_alone(&self, i: usize) -> bool {
        self.causes[i].is_empty() && self.causes.iter().flatten().all(|&(j, _)| j != i)
    }

    /// Whether the value of a feature is computed as the definition of the margin does: it follows its own
    /// change alone, and no perturbation.
    fn is_exact(&self, i: usize) -> bool {
        let is_own = |k: usize| if self.set[k] == i { 1.0 } else { 0.0 };
        (self.radius == 0.0 || !self.is_live[i])
            && (0..self.set.len()).all(|k| self.effects[i][k] == is_own(k))
    }
}
