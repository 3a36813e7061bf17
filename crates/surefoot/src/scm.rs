//! Structural causal models: how features cause each other.
//!
//! Every feature is `X_i := f_i(parents, U_i)`, the graph has no cycle, and each equation can be solved for
//! its noise. A counterfactual is computed in three steps:
//!
//! 1. *abduct*: recover the noise of an individual from the features;
//! 2. *act*: replace the equations of the features that are intervened upon;
//! 3. *predict*: evaluate the equations in causal order with that noise.
//!
//! All vectors are in standardised units and in the order of the features.

mod block;
mod compose;
mod derivatives;
mod equation;
mod formula;
mod linear;
mod network;
mod order;
mod properties;
mod sample;
mod slopes;

use std::sync::Arc;

pub(crate) use block::{Downstream, Tape};
pub(crate) use compose::Known;
pub use equation::Equation;
pub use sample::Noise;
pub(crate) use slopes::SlopeError;

use crate::digest::Digest;
use crate::error::{CausalModelError, FeatureError, PeopleError};
use crate::{Error, Features, Result};
use equation::Mechanism;
use order::causal_order;

/// A change to the equations of a model.
#[derive(Clone, Copy, Debug)]
pub enum Intervention<'a> {
    /// `X_i := f_i(parents, U_i) + D_i` for every feature: a perturbation, which spreads to
    /// everything downstream.
    Additive(&'a [f64]),
    /// `X_i := x_i + change` for these features, where `x` is the individual; their own
    /// equations are cut. The hard, *relative* intervention of the paper.
    Shift {
        /// The features intervened upon.
        features: &'a [usize],
        /// The change of each.
        change: &'a [f64],
    },
    /// `X_i := value` for these features; their own equations are cut. The hard,
    /// *absolute* intervention.
    Set {
        /// The features intervened upon.
        features: &'a [usize],
        /// The new value of each.
        value: &'a [f64],
    },
}

#[derive(Clone, Debug)]
struct Node {
    parents: Vec<usize>,
    mechanism: Arc<dyn Mechanism>,
}

/// A structural causal model over the features of a problem.
///
/// ```
/// use surefoot::{Equation, Feature, Features, Intervention, Scm};
///
/// let features = Features::new(vec![Feature::new("income"), Feature::new("savings")])?;
/// let scm = Scm::new(&features, vec![("savings", Equation::formula("0.5 * income + u"))])?;
///
/// // Raising income by 2 raises savings by 1.
/// let raise = Intervention::Shift { features: &[0], change: &[2.0] };
/// assert_eq!(scm.counterfactual(&[1.0, 3.0], raise)?, vec![3.0, 4.0]);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scm {
    features: Features,
    nodes: Vec<Node>,
    /// Parents before children.
    order: Vec<usize>,
}

impl Scm {
    /// A model from the equations of some features; those without one are roots, `X := u`
    /// in their own units.
    ///
    /// Errors name the features involved: an equation for an unknown feature, two equations for one
    /// feature, an unknown parent, a cycle, or an equation whose noise cannot be recovered.
    pub fn new(features: &Features, equations: Vec<(&str, Equation)>) -> Result<Self> {
        let mut declared: Vec<Option<Equation>> = vec![None; features.len()];
        for (name, equation) in equations {
            if declared[features.index(name)?].replace(equation).is_some() {
                return Err(Error::CausalModel(CausalModelError::DuplicateEquation { feature: name.into() }));
            }
        }
        let compile = |(i, equation): (usize, Option<Equation>)| {
            let (parents, mechanism) = equation.unwrap_or_else(Equation::root).compile(features, i)?;
            Ok(Node { parents, mechanism })
        };
        let nodes: Vec<Node> = declared.into_iter().enumerate().map(compile).collect::<Result<_>>()?;
        let order = causal_order(features, &nodes)?;
        Ok(Self { features: features.clone(), nodes, order })
    }

    /// Checks the equation of a feature alone; the error is that of [`Scm::new`] for a model with this
    /// equation only.
    pub(crate) fn check_equation(features: &Features, name: &str, equation: &Equation) -> Result<()> {
        let i = features.index(name)?;
        let (parents, _) = equation.clone().compile(features, i)?;
        match parents.contains(&i) {
            true => {
                Err(Error::CausalModel(CausalModelError::Cycle { features: vec![name.into(), name.into()] }))
            }
            false => Ok(()),
        }
    }

    /// The features of the model.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Direct causes of a feature.
    ///
    /// # Panics
    /// If there is no such feature.
    pub fn parents(&self, feature: usize) -> &[usize] {
        &self.nodes[feature].parents
    }

    /// Every feature, causes before their effects.
    pub(crate) fn causal_order(&self) -> &[usize] {
        &self.order
    }

    /// Adds the content of the model to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        for node in &self.nodes {
            digest.count(node.parents.len());
            node.parents.iter().for_each(|&parent| digest.count(parent));
            node.mechanism.digest(digest);
        }
    }

    /// Whether a feature follows, directly or through others, from another.
    ///
    /// # Panics
    /// If there is no such cause.
    pub fn is_downstream(&self, feature: usize, cause: usize) -> bool {
        self.downstream(&[cause]).contains(feature)
    }

    /// The same equations over features that differ in limits, directions and weights only.
    pub(crate) fn with_features(&self, features: Features) -> Self {
        Self { features, ..self.clone() }
    }

    /// The same model in which some features follow from nothing.
    pub(crate) fn with_roots(mut self, roots: &[usize]) -> Result<Self> {
        for &i in roots {
            let (parents, mechanism) = Equation::root().compile(&self.features, i)?;
            self.nodes[i] = Node { parents, mechanism };
        }
        self.order = causal_order(&self.features, &self.nodes)?;
        Ok(self)
    }

    /// Positions of the features that follow from at least one of some causes, in ascending order;
    /// causes that follow from others are among them.
    pub(crate) fn followers(&self, causes: &[usize]) -> Vec<usize> {
        let mut is_cause = vec![false; self.nodes.len()];
        causes.iter().for_each(|&i| is_cause[i] = true);
        let mut follows = vec![false; self.nodes.len()];
        for &i in &self.order {
            follows[i] = self.nodes[i].parents.iter().any(|&p| is_cause[p] || follows[p]);
        }
        (0..follows.len()).filter(|&i| follows[i]).collect()
    }

    /// Whether each feature moves when `changed` do and no other feature of `intervention` does.
    pub(crate) fn moved_by(&self, changed: &[usize], intervention: &[usize]) -> Vec<bool> {
        let mut moved = vec![false; self.nodes.len()];
        changed.iter().for_each(|&i| moved[i] = true);
        for &i in &self.order {
            if !intervention.contains(&i) {
                moved[i] = self.nodes[i].parents.iter().any(|&parent| moved[parent]);
            }
        }
        moved
    }

    fn name(&self, i: usize) -> String {
        self.features.feature(i).name.clone()
    }

    /// The noise of an individual: the inverse of [`Scm::predict`]. The noise of an
    /// equation is in the units of that equation.
    pub fn abduct(&self, individual: &[f64]) -> Result<Vec<f64>> {
        self.check_length(individual)?;
        let mut parents = Vec::new();
        (0..self.nodes.len())
            .map(|i| self.nodes[i].mechanism.noise(self.gather(i, individual, &mut parents), individual[i]))
            .collect()
    }

    /// The individual with this noise.
    pub fn predict(&self, noise: &[f64]) -> Result<Vec<f64>> {
        self.check_length(noise)?;
        let mut individual = vec![0.0; noise.len()];
        let mut parents = Vec::new();
        for &i in &self.order {
            let value = self.nodes[i].mechanism.value(self.gather(i, &individual, &mut parents), noise[i]);
            individual[i] = self.finite(i, value)?;
        }
        Ok(individual)
    }

    /// The counterfactual of an individual under an intervention.
    ///
    /// Features whose causes stay as they were are copied rather than computed again, so an
    /// intervention that changes nothing gives the individual back to the bit.
    pub fn counterfactual(&self, individual: &[f64], intervention: Intervention<'_>) -> Result<Vec<f64>> {
        self.counterfactual_with(individual, intervention, &[])
    }

    /// As [`Scm::counterfactual`] in a model whose equations have other coefficients.
    pub(crate) fn counterfactual_with(
        &self,
        individual: &[f64],
        intervention: Intervention<'_>,
        slopes: &[SlopeError<f64>],
    ) -> Result<Vec<f64>> {
        self.check_length(individual)?;
        let mut result = individual.to_vec();
        let mut parents = Vec::new();
        let forced = self.forced(individual, intervention)?;
        for &i in &self.order {
            if let Some(value) = forced[i] {
                result[i] = value;
                continue;
            }
            if self.nodes[i].parents.iter().any(|&p| result[p] != individual[p]) {
                let mechanism = &self.nodes[i].mechanism;
                let tilt = |at: &[f64]| -> f64 {
                    let own = slopes.iter().filter(|slope| slope.feature == i);
                    own.map(|slope| slope.error * at[self.nodes[i].parents[slope.parent]]).sum()
                };
                let (before, after) = (tilt(individual), tilt(&result));
                let noise =
                    mechanism.noise(self.gather(i, individual, &mut parents), individual[i] - before)?;
                let value = mechanism.value(self.gather(i, &result, &mut parents), noise);
                result[i] = self.finite(i, value + after)?;
            }
            if let Intervention::Additive(perturbation) = intervention {
                result[i] = self.finite(i, result[i] + perturbation[i])?;
            }
        }
        Ok(result)
    }

    /// Whether the model can produce an individual who acts on some features: no value is beyond a
    /// clip, and the noise of every feature downstream of these can be recovered. The first feature
    /// for which it cannot is the error.
    pub(crate) fn require_producible(&self, individual: &[f64], acted_upon: &[usize]) -> Result<()> {
        let mut parents = Vec::new();
        let downstream = self.downstream(acted_upon);
        for (i, Node { mechanism, .. }) in self.nodes.iter().enumerate() {
            if mechanism.is_clipped() || downstream.contains(i) {
                mechanism.noise(self.gather(i, individual, &mut parents), individual[i])?;
            }
        }
        Ok(())
    }

    /// The perturbation that shifts no feature of an individual beyond its clip and is otherwise the
    /// same: nowhere larger.
    pub(crate) fn within_clips(&self, individual: &[f64], mut perturbation: Vec<f64>) -> Vec<f64> {
        if !self.nodes.iter().any(|node| node.mechanism.is_clipped()) {
            return perturbation;
        }
        let Ok(noise) = self.abduct(individual) else { return perturbation };
        let mut perturbed = individual.to_vec();
        let mut parents = Vec::new();
        for &i in &self.order {
            let mechanism = &self.nodes[i].mechanism;
            if self.nodes[i].parents.iter().any(|&p| perturbed[p] != individual[p]) {
                perturbed[i] = mechanism.value(self.gather(i, &perturbed, &mut parents), noise[i]);
            }
            let shifted = perturbed[i] + perturbation[i];
            let clipped = mechanism.clip(self.gather(i, &perturbed, &mut parents), shifted);
            if clipped != shifted {
                perturbation[i] = clipped - perturbed[i];
            }
            perturbed[i] += perturbation[i];
        }
        perturbation
    }

    /// The values that the intervention imposes.
    fn forced(&self, individual: &[f64], intervention: Intervention<'_>) -> Result<Vec<Option<f64>>> {
        let mut forced = vec![None; self.nodes.len()];
        let (features, amounts) = match intervention {
            Intervention::Additive(perturbation) => {
                self.check_length(perturbation)?;
                return Ok(forced);
            }
            Intervention::Shift { features, change } => (features, change),
            Intervention::Set { features, value } => (features, value),
        };
        if features.len() != amounts.len() {
            return Err(Error::People(PeopleError::VectorLength {
                expected: features.len(),
                found: amounts.len(),
            }));
        }
        for (&i, &amount) in features.iter().zip(amounts) {
            self.check_feature(i)?;
            let value = match intervention {
                Intervention::Set { .. } => amount,
                _ => individual[i] + amount,
            };
            if forced[i].replace(self.finite(i, value)?).is_some() {
                return Err(Error::People(PeopleError::RepeatedIntervention { feature: self.name(i) }));
            }
        }
        Ok(forced)
    }

    /// The perturbation `D` with `CF(from, D) = to`: the differences of two individuals without the
    /// downstream consequences of each difference.
    pub fn perturbation_between(&self, from: &[f64], to: &[f64]) -> Result<Vec<f64>> {
        self.check_length(to)?;
        let noise = self.abduct(from)?;
        let mut parents = Vec::new();
        let difference = |i: usize| {
            let expected = self.nodes[i].mechanism.value(self.gather(i, to, &mut parents), noise[i]);
            self.finite(i, to[i] - expected)
        };
        (0..self.nodes.len()).map(difference).collect()
    }

    /// The values of a feature's parents.
    fn gather<'a>(&self, i: usize, individual: &[f64], buffer: &'a mut Vec<f64>) -> &'a [f64] {
        buffer.clear();
        buffer.extend(self.nodes[i].parents.iter().map(|&p| individual[p]));
        buffer
    }

    fn finite(&self, i: usize, value: f64) -> Result<f64> {
        if value.is_finite() {
            return Ok(value);
        }
        Err(Error::CausalModel(CausalModelError::EquationNotFinite { feature: self.name(i), value }))
    }

    fn check_length(&self, vector: &[f64]) -> Result<()> {
        if vector.len() != self.nodes.len() {
            return Err(Error::People(PeopleError::VectorLength {
                expected: self.nodes.len(),
                found: vector.len(),
            }));
        }
        match vector.iter().position(|v| !v.is_finite()) {
            Some(i) => {
                Err(Error::People(PeopleError::VectorNotFinite { feature: self.name(i), value: vector[i] }))
            }
            None => Ok(()),
        }
    }

    fn check_feature(&self, index: usize) -> Result<()> {
        if index < self.nodes.len() {
            return Ok(());
        }
        Err(Error::Feature(FeatureError::NoSuchFeature { index, features: self.nodes.len() }))
    }
}
