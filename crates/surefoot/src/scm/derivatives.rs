//! Derivatives of what a causal model predicts.

use ndarray::Array2;

use super::{Node, Scm};
use crate::Result;

impl Scm {
    /// The Jacobian `d X / d D` of the features in an additive perturbation, at an
    /// individual, with the equations of the features in `cut` cut.
    ///
    /// With nothing cut it belongs to the observational map; with the features of an action
    /// cut, to the interventional map at the counterfactual of that action, and the columns
    /// of `cut` then say what the action's own change does.
    pub fn jacobian(&self, individual: &[f64], cut: &[usize]) -> Result<Array2<f64>> {
        let partials = self.partials(individual, cut)?;
        let mut jacobian = Array2::eye(self.nodes.len());
        for &i in &self.order {
            for (&parent, &partial) in self.nodes[i].parents.iter().zip(&partials[i]) {
                let cause = jacobian.row(parent).to_owned();
                jacobian.row_mut(i).scaled_add(partial, &cause);
            }
        }
        Ok(jacobian)
    }

    /// The Jacobian `d X / d U` of the observational map in the noise, at an individual; the
    /// same as [`Scm::jacobian`] where every noise is simply added in standardised units.
    pub fn noise_jacobian(&self, individual: &[f64]) -> Result<Array2<f64>> {
        let mut jacobian = self.jacobian(individual, &[])?;
        let noise = self.abduct(individual)?;
        let mut parents = Vec::new();
        for (i, mut column) in jacobian.columns_mut().into_iter().enumerate() {
            let slope = self.nodes[i].mechanism.slope(self.gather(i, individual, &mut parents), noise[i]);
            column *= self.finite(i, slope)?;
        }
        Ok(jacobian)
    }

    /// The product of the transposed [`Scm::jacobian`] with a vector, without forming it: how
    /// a function of the features with this gradient responds to perturbations.
    pub fn pullback(&self, individual: &[f64], cut: &[usize], gradient: &[f64]) -> Result<Vec<f64>> {
        self.check_length(gradient)?;
        let partials = self.partials(individual, cut)?;
        let mut response = gradient.to_vec();
        for &i in self.order.iter().rev() {
            for (&parent, partial) in self.nodes[i].parents.iter().zip(&partials[i]) {
                response[parent] += partial * response[i];
            }
        }
        Ok(response)
    }

    /// Derivatives of each equation in its parents at an individual; empty where cut.
    fn partials(&self, individual: &[f64], cut: &[usize]) -> Result<Vec<Vec<f64>>> {
        self.check_length(individual)?;
        cut.iter().try_for_each(|&i| self.check_feature(i))?;
        let mut values = Vec::new();
        let of = |i: usize| {
            let Node { parents, mechanism } = &self.nodes[i];
            if cut.contains(&i) || parents.is_empty() {
                return Ok(Vec::new());
            }
            let values = self.gather(i, individual, &mut values);
            // The noise of an additive equation does not enter its derivatives.
            let noise = if mechanism.is_additive() { 0.0 } else { mechanism.noise(values, individual[i])? };
            let gradient = mechanism.gradient(values, noise);
            gradient.iter().try_for_each(|&g| self.finite(i, g).map(|_| ()))?;
            Ok(gradient)
        };
        (0..self.nodes.len()).map(of).collect()
    }
}
