//! The kinds of equation, and their common interface.

use std::fmt::Debug;
use std::sync::Arc;

use super::{formula, linear, network};
use crate::digest::Digest;
use crate::error::CausalModelError;
use crate::graph::{AffineForm, Builder};
use crate::network::{Lanes, Network, Workspace};
use crate::{Error, Features, Result};

/// `X := f(parents, U)` with its inverse: value from parents and noise, noise from parents
/// and value.
///
/// Parents, value and derivatives are in standardised units; the noise is in the units of the equation. To
/// add a kind: a file of its own like `linear.rs`, one variant of [`Declaration`] with its constructor on
/// [`Equation`], and its line in [`Equation::compile`].
pub(super) trait Mechanism: Debug + Send + Sync {
    /// The value, possibly not finite where the equation is undefined.
    fn value(&self, parents: &[f64], noise: f64) -> f64;

    /// The noise that gives this value; an error where there is none.
    fn noise(&self, parents: &[f64], value: f64) -> Result<f64>;

    /// Derivatives in each parent.
    fn gradient(&self, parents: &[f64], noise: f64) -> Vec<f64>;

    /// Derivative in the noise.
    fn slope(&self, parents: &[f64], noise: f64) -> f64;

    /// The values of a block of individuals and, where asked for, the derivatives in each
    /// parent.
    fn evaluate(
        &self,
        parents: &[Lanes],
        noise: Lanes,
        workspace: &mut Option<Workspace>,
        partials: Option<&mut [Lanes]>,
    ) -> Lanes;

    /// The workspace of [`Mechanism::evaluate`], if it needs one.
    fn workspace(&self) -> Option<Workspace> {
        None
    }

    /// Whether it is a function of the parents plus a multiple of the noise.
    fn is_additive(&self) -> bool;

    /// Whether it is defined for all parents and all noise.
    fn is_total(&self) -> bool {
        true
    }

    /// The coefficients of the parents, if it is linear with additive noise.
    fn coefficients(&self) -> Option<Vec<f64>>;

    /// Whether the noise is recovered without root search and without a given inverse, which may be
    /// approximate.
    fn has_exact_noise(&self) -> bool {
        self.is_additive()
    }

    /// Derivatives of the noise in each parent and then in the value, by the implicit function theorem.
    fn noise_slopes(&self, parents: &[f64], noise: f64) -> Vec<f64> {
        let slope = self.slope(parents, noise);
        let in_parents = self.gradient(parents, noise).into_iter().map(|g| -g / slope);
        in_parents.chain([1.0 / slope]).collect()
    }

    /// Whether values are clipped at limits, beyond which there are none.
    fn is_clipped(&self) -> bool {
        false
    }

    /// The value after the clips.
    fn clip(&self, _: &[f64], value: f64) -> f64 {
        value
    }

    /// [`Mechanism::clip`] as a part of a graph.
    fn compose_clip<'a>(&'a self, _: &mut Builder<'a>, _: &[AffineForm], value: AffineForm) -> AffineForm {
        value
    }

    /// Adds the content of the equation to a digest.
    fn digest(&self, digest: &mut Digest);

    /// The value as a part of a graph.
    fn compose<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        parents: &[AffineForm],
        noise: &AffineForm,
    ) -> AffineForm;

    /// The noise that gives this value as a part of a graph; it is not called for additive noise.
    fn compose_noise<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        _: &[AffineForm],
        value: &AffineForm,
    ) -> AffineForm {
        graph.slack(f64::INFINITY, value)
    }
}

/// The structural equation of a feature; see [`Scm::new`](crate::Scm::new).
#[derive(Clone, Debug)]
pub struct Equation(Declaration);

#[derive(Clone, Debug)]
enum Declaration {
    Linear { parents: Vec<String>, coefficients: Vec<f64>, intercept: f64 },
    Network { parents: Vec<String>, network: Network },
    Formula { formula: String, inverse: Option<String> },
    Root,
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

impl Equation {
    /// `X := coefficients . parents + intercept + u`, all in standardised units.
    pub fn linear(parents: &[&str], coefficients: Vec<f64>, intercept: f64) -> Self {
        Self(Declaration::Linear { parents: owned(parents), coefficients, intercept })
    }

    /// `X := network(parents) + u`, all in standardised units.
    pub fn network(parents: &[&str], network: Network) -> Self {
        Self(Declaration::Network { parents: owned(parents), network })
    }

    /// A formula over parents by name and the noise `u`, all in people's own units:
    /// `-4 + 1.5 * max(income, 0) + u`.
    ///
    /// Operators `+ - * / ^` and parentheses, functions exp, log, sqrt, tanh, sigmoid, abs,
    /// min, max. Names that are not words go between back quotes, as does a feature that is called
    /// `u`: without them a formula is refused that may mean it. Where the noise is not
    /// simply added it is recovered by root search, which needs a formula that is strictly
    /// monotone in `u` (or give the [inverse](Self::formula_with_inverse)).
    ///
    /// Around that a formula may be clipped, `max(0, min(10, 2 * income + u))`. The noise of a value at the
    /// clip is the one that just reaches it; values beyond the clip cannot be produced.
    pub fn formula(formula: impl Into<String>) -> Self {
        Self(Declaration::Formula { formula: formula.into(), inverse: None })
    }

    /// A formula with a second one that solves it for `u`, over the feature's own name and
    /// its parents. Each use checks that the formula gives the value back; where several noises
    /// give the same value the inverse decides which one is meant.
    pub fn formula_with_inverse(formula: impl Into<String>, inverse: impl Into<String>) -> Self {
        Self(Declaration::Formula { formula: formula.into(), inverse: Some(inverse.into()) })
    }

    /// `X := u`, in own units: a feature without causes.
    pub(super) fn root() -> Self {
        Self(Declaration::Root)
    }

    /// Resolves names and checks numbers; `i` is the feature that the equation is for.
    pub(super) fn compile(self, features: &Features, i: usize) -> Result<(Vec<usize>, Arc<dyn Mechanism>)> {
        match self.0 {
            Declaration::Linear { parents, coefficients, intercept } => {
                let positions = resolve(features, i, &parents)?;
                check_inputs(features, i, parents, coefficients.len())?;
                let mechanism = linear::Linear::new(features.feature(i), coefficients, intercept)?;
                Ok((positions, Arc::new(mechanism)))
            }
            Declaration::Network { parents, network } => {
                let positions = resolve(features, i, &parents)?;
                check_inputs(features, i, parents, network.inputs())?;
                Ok((positions, Arc::new(network::NetworkEquation(network))))
            }
            Declaration::Formula { formula, inverse } => {
                formula::require_one_meaning(features, i, &formula)?;
                let (parents, mechanism) = formula::Formula::new(features, i, &formula, inverse.as_deref())?;
                Ok((parents, Arc::new(mechanism)))
            }
            Declaration::Root => {
                let (parents, mechanism) = formula::Formula::new(features, i, "u", None)?;
                Ok((parents, Arc::new(mechanism)))
            }
        }
    }
}

/// Refuses an equation with another number of inputs than parents.
fn check_inputs(features: &Features, i: usize, parents: Vec<String>, inputs: usize) -> Result<()> {
    if inputs == parents.len() {
        return Ok(());
    }
    Err(Error::CausalModel(CausalModelError::EquationInputs {
        feature: features.feature(i).name.clone(),
        parents,
        inputs,
    }))
}

fn resolve(features: &Features, i: usize, parents: &[String]) -> Result<Vec<usize>> {
    let feature = || features.feature(i).name.clone();
    let mut resolved = Vec::with_capacity(parents.len());
    for parent in parents {
        let index = features.index(parent).map_err(|_| {
            Error::CausalModel(CausalModelError::UnknownParent {
                feature: feature(),
                parent: parent.clone(),
                known: features.names(),
            })
        })?;
        if resolved.contains(&index) {
            return Err(Error::CausalModel(CausalModelError::DuplicateParent {
                feature: feature(),
                parent: parent.clone(),
            }));
        }
        resolved.push(index);
    }
    Ok(resolved)
}
