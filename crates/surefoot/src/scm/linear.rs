//! `X := coefficients . parents + intercept + u`.

use super::equation::Mechanism;
use crate::digest::Digest;
use crate::error::CausalModelError;
use crate::graph::{AffineForm, Builder};
use crate::magnitude::is_moderate;
use crate::network::{Lanes, Workspace};
use crate::{Error, Feature, Result};

#[derive(Debug)]
pub(super) struct Linear {
    coefficients: Vec<f64>,
    intercept: f64,
}

impl Linear {
    pub fn new(feature: &Feature, coefficients: Vec<f64>, intercept: f64) -> Result<Self> {
        if let Some(&value) = coefficients.iter().chain([&intercept]).find(|v| !is_moderate(**v)) {
            return Err(Error::CausalModel(CausalModelError::EquationNumber {
                feature: feature.name.clone(),
                value,
            }));
        }
        Ok(Self { coefficients, intercept })
    }

    fn mean(&self, parents: &[f64]) -> f64 {
        self.intercept + self.coefficients.iter().zip(parents).map(|(c, p)| c * p).sum::<f64>()
    }
}

impl Mechanism for Linear {
    fn value(&self, parents: &[f64], noise: f64) -> f64 {
        self.mean(parents) + noise
    }

    fn noise(&self, parents: &[f64], value: f64) -> Result<f64> {
        Ok(value - self.mean(parents))
    }

    fn gradient(&self, _: &[f64], _: f64) -> Vec<f64> {
        self.coefficients.clone()
    }

    fn slope(&self, _: &[f64], _: f64) -> f64 {
        1.0
    }

    fn evaluate(
        &self,
        parents: &[Lanes],
        noise: Lanes,
        _: &mut Option<Workspace>,
        partials: Option<&mut [Lanes]>,
    ) -> Lanes {
        if let Some(partials) = partials {
            partials.iter_mut().zip(&self.coefficients).for_each(|(p, &c)| *p = Lanes::splat(c));
        }
        let terms = self.coefficients.iter().zip(parents);
        terms.fold(noise.map(|u| u + self.intercept), |sum, (&c, &p)| sum.zip(p, |sum, p| sum + c * p))
    }

    fn digest(&self, digest: &mut Digest) {
        digest.text("linear");
        digest.numbers(self.coefficients.iter());
        digest.number(self.intercept);
    }

    fn is_additive(&self) -> bool {
        true
    }

    fn coefficients(&self) -> Option<Vec<f64>> {
        Some(self.coefficients.clone())
    }
    fn compose<'a>(&'a self, _: &mut Builder<'a>, parents: &[AffineForm], noise: &AffineForm) -> AffineForm {
        let terms = self.coefficients.iter().zip(parents);
        terms.fold(noise.clone().shifted(self.intercept), |sum, (&c, parent)| sum.plus(c, parent))
    }
}
