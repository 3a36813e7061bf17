//! What holds for all equations of a causal model: linear, additive, defined everywhere.

use ndarray::Array2;

use super::Scm;
use crate::error::CausalModelError;
use crate::{Error, Kind, Result};

impl Scm {
    /// Checks that no action on one feature changes a binary feature or a category by a fraction; the error
    /// names both.
    pub fn require_whole_categories(&self) -> Result<()> {
        let is_binary = |i: usize| self.features.feature(i).kind == Kind::Binary;
        // Whether a binary feature is downstream of each feature.
        let mut has_binary_effect = vec![false; self.nodes.len()];
        for &i in self.order.iter().rev() {
            let passes_on = is_binary(i) || has_binary_effect[i];
            self.nodes[i].parents.iter().for_each(|&parent| has_binary_effect[parent] |= passes_on);
        }
        let Some(cause) = self.features.actionable().into_iter().find(|&cause| has_binary_effect[cause])
        else {
            return Ok(());
        };
        let downstream = self.downstream(&[cause]);
        match (0..self.features.len()).find(|&i| is_binary(i) && downstream.contains(i)) {
            Some(i) => Err(Error::CausalModel(CausalModelError::CategoryFollows {
                feature: self.name(i),
                cause: self.name(cause),
            })),
            None => Ok(()),
        }
    }

    /// Whether every equation is a function of the parents plus noise; otherwise an error
    /// that names the first feature whose equation is not.
    pub fn require_additive(&self) -> Result<()> {
        match self.nodes.iter().position(|node| !node.mechanism.is_additive()) {
            Some(i) => {
                Err(Error::CausalModel(CausalModelError::EquationNotAdditive { feature: self.name(i) }))
            }
            None => Ok(()),
        }
    }

    /// The matrix `A` with `X = A X + (terms of the noise)`, if every equation is linear;
    /// otherwise an error that names the first feature whose equation is not.
    pub fn coefficients(&self) -> Result<Array2<f64>> {
        let mut matrix = Array2::zeros((self.nodes.len(), self.nodes.len()));
        for (i, node) in self.nodes.iter().enumerate() {
            let not_linear =
                || Error::CausalModel(CausalModelError::EquationNotLinear { feature: self.name(i) });
            let coefficients = node.mechanism.coefficients().ok_or_else(not_linear)?;
            for (&parent, coefficient) in node.parents.iter().zip(coefficients) {
                matrix[[i, parent]] += coefficient;
            }
        }
        Ok(matrix)
    }

    /// The coefficient of a cause in the equation of an effect, if that is linear.
    pub(crate) fn coefficient(&self, effect: usize, cause: usize) -> Option<f64> {
        let node = &self.nodes[effect];
        let coefficients = node.mechanism.coefficients()?;
        Some(node.parents.iter().zip(coefficients).filter(|(p, _)| **p == cause).map(|(_, c)| c).sum())
    }

    /// By how much a feature changes per unit of each feature of a set, the others of which are held: its
    /// coefficients of them, directly and through features outside of the set. `None` if these effects are not linear.
    pub(crate) fn linear_effects(&self, feature: usize, set: &[usize]) -> Option<Vec<f64>> {
        let mut effects: Vec<Option<Vec<f64>>> = vec![None; self.nodes.len()];
        let nothing = vec![0.0; set.len()];
        for &i in &self.order {
            let node = &self.nodes[i];
            if let Some(place) = set.iter().position(|&k| k == i).filter(|_| i != feature) {
                let mut own = nothing.clone();
                own[place] = 1.0;
                effects[i] = Some(own);
                continue;
            }
            let moves = |p: &&usize| effects[**p].as_ref() != Some(&nothing);
            effects[i] = match node.mechanism.coefficients() {
                _ if !node.parents.iter().any(|p| moves(&p)) => Some(nothing.clone()),
                None => None,
                Some(coefficients) => {
                    let mut sum = Some(nothing.clone());
                    for (&parent, c) in node.parents.iter().zip(&coefficients) {
                        match (&mut sum, &effects[parent]) {
                            (Some(sum), Some(of_parent)) => {
                                sum.iter_mut().zip(of_parent).for_each(|(s, e)| *s += c * e);
                            }
                            _ => sum = None,
                        }
                    }
                    sum
                }
            };
            if i == feature {
                break;
            }
        }
        effects.swap_remove(feature)
    }

    /// Positions of the features whose equation is not linear, in ascending order.
    pub(crate) fn nonlinear(&self) -> Vec<usize> {
        let is_linear = |i: &usize| self.nodes[*i].mechanism.coefficients().is_some();
        (0..self.nodes.len()).filter(|i| !is_linear(i)).collect()
    }

    /// The first feature, if any, whose equation clips its values.
    pub(crate) fn first_clipped(&self) -> Option<usize> {
        self.nodes.iter().position(|node| node.mechanism.is_clipped())
    }

    /// Positions of the features whose noise is not additive, in ascending order.
    pub(crate) fn nonadditive(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&i| !self.nodes[i].mechanism.is_additive()).collect()
    }

    /// The features whose equations may be undefined somewhere.
    pub(crate) fn partial(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&i| !self.nodes[i].mechanism.is_total()).collect()
    }
}
