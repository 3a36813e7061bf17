//! The margin of one individual as a graph in the perturbation or in the action.

use super::joint::{Parts, Reach, parts};
use super::{Scenario, no_perturbation, perturbed, resolved};
use crate::error::PeopleError;
use crate::graph::{AffineForm, Builder, Graph};
use crate::scm::{Downstream, Known};
use crate::{ActionKind, Constraint, Error, Problem, Result};

/// Composes the margin of an individual who acts on a set of features.
#[derive(Clone, Debug)]
pub(crate) struct Composer<'p> {
    problem: &'p Problem,
    individual: Vec<f64>,
    noise: Vec<f64>,
    features: Vec<usize>,
    downstream: Option<Downstream>,
    /// How the coordinates of joint perturbations become shifts, if more than a shift is uncertain.
    reach: Option<Reach<AffineForm>>,
}

/// Coordinates `y` of perturbations, `D_i = sum_j y_j basis_ij / weight_i`. The weights of the norm are
/// divided out, so the ball is a scaled uncertainty set. The coordinates of a round set may be rotated.
#[derive(Clone, Debug)]
pub(crate) struct Coordinates {
    width: usize,
    weights: Vec<f64>,
    /// The orthogonal matrix, row by row; `None` for the identity.
    basis: Option<Vec<f64>>,
}

impl Coordinates {
    pub fn of(problem: &Problem) -> Self {
        let width = problem.perturbation_width();
        Self { width, weights: problem.uncertainty().weights(width), basis: None }
    }

    /// The same coordinates, rotated by an orthogonal matrix, row by row, whose columns are the new axes.
    /// It replaces an earlier rotation.
    pub fn turned(&self, basis: Vec<f64>) -> Self {
        Self { basis: Some(basis), ..self.clone() }
    }

    /// The orthogonal matrix, row by row; empty for the identity.
    pub fn basis(&self) -> &[f64] {
        self.basis.as_deref().unwrap_or_default()
    }

    /// The perturbation of given coordinates.
    pub fn perturbation(&self, y: &[f64]) -> Vec<f64> {
        let n = self.width;
        let turned = |i: usize| match &self.basis {
            Some(basis) => (0..n).map(|j| basis[i * n + j] * y[j]).sum(),
            None => y[i],
        };
        (0..n).map(|i| turned(i) / self.weights[i]).collect()
    }

    /// The coordinates of a given perturbation.
    pub fn of_perturbation(&self, perturbation: &[f64]) -> Vec<f64> {
        let n = self.width;
        let scaled = |i: usize| perturbation[i] * self.weights[i];
        match &self.basis {
            Some(basis) => (0..n).map(|j| (0..n).map(|i| basis[i * n + j] * scaled(i)).sum()).collect(),
            None => (0..n).map(scaled).collect(),
        }
    }

    /// Converts a gradient in the coordinates, which must not be rotated, into one in the perturbation.
    pub fn of_gradient(&self, gradient: &[f64]) -> Vec<f64> {
        gradient.iter().zip(&self.weights).map(|(g, w)| g * w).collect()
    }

    fn forms(&self) -> Vec<AffineForm> {
        let n = self.width;
        let form = |i: usize| {
            let mut terms = match &self.basis {
                Some(basis) => basis[i * n..(i + 1) * n].to_vec(),
                None => (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect(),
            };
            terms.iter_mut().for_each(|t| *t /= self.weights[i]);
            AffineForm { constant: 0.0, terms }
        };
        (0..n).map(form).collect()
    }
}

impl<'p> Composer<'p> {
    /// An error if the individual does not fit the problem, or if the causal model cannot produce the
    /// individual.
    pub fn new(problem: &'p Problem, individual: &[f64], features: &[usize]) -> Result<Self> {
        let width = problem.features().len();
        if individual.len() != width {
            return Err(Error::People(PeopleError::VectorLength {
                expected: width,
                found: individual.len(),
            }));
        }
        if let Some(i) = individual.iter().position(|v| !v.is_finite()) {
            let feature = problem.features().feature(i).name.clone();
            return Err(Error::People(PeopleError::VectorNotFinite { feature, value: individual[i] }));
        }
        problem.require_usual(individual)?;
        let noise = match problem.scm() {
            Some(scm) => scm.abduct(individual)?,
            None => Vec::new(),
        };
        let downstream = problem.scm().map(|scm| scm.downstream(features));
        let constants = |values: Vec<f64>| values.into_iter().map(AffineForm::constant).collect();
        let reach = match problem.joint() {
            None => None,
            Some(joint) => {
                let Reach { centre, scale } = Reach::of(problem, joint, individual)?;
                Some(Reach { centre: constants(centre), scale: constants(scale) })
            }
        };
        let (individual, features) = (individual.to_vec(), features.to_vec());
        Ok(Self { problem, individual, noise, features, downstream, reach })
    }

    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The margin as a function of the perturbation, for a fixed change.
    pub fn in_perturbation(&self, change: &[f64], coordinates: &Coordinates) -> Graph<'p> {
        let change: Vec<AffineForm> = change.iter().map(|&c| AffineForm::constant(c)).collect();
        let graph = self.compose(Builder::new(coordinates.width), &coordinates.forms(), &change);
        Graph { must_be_defined: true, ..graph }
    }

    /// The margin as a function of the change, for a fixed perturbation.
    pub fn in_change(&self, perturbation: &[f64]) -> Graph<'p> {
        let graph = Builder::new(self.features.len());
        let forms: Vec<AffineForm> = perturbation.iter().map(|&d| AffineForm::constant(d)).collect();
        let change: Vec<AffineForm> = (0..self.features.len()).map(|k| graph.input(k)).collect();
        self.under(perturbation, self.compose(graph, &forms, &change))
    }

    /// The margin of changes far away, for a fixed perturbation. The first inputs are the coefficients of
    /// the rays, the others the changes of the features in `rest`.
    pub fn in_rays(&self, perturbation: &[f64], rays: &[Vec<f64>], rest: &[usize]) -> Graph<'p> {
        let graph = Builder::new(rays.len() + rest.len());
        let forms: Vec<AffineForm> = perturbation.iter().map(|&d| AffineForm::constant(d)).collect();
        let change = |k: usize| match rest.iter().position(|&r| r == k) {
            Some(place) => graph.input(rays.len() + place),
            None => AffineForm { constant: 0.0, terms: rays.iter().map(|ray| ray[k]).collect() },
        };
        let change: Vec<AffineForm> = (0..self.features.len()).map(change).collect();
        self.under(perturbation, self.compose(graph, &forms, &change))
    }

    /// A graph of the margin under a fixed perturbation.
    fn under(&self, perturbation: &[f64], graph: Graph<'p>) -> Graph<'p> {
        Graph { is_vacuous: !self.concerns_somebody(perturbation), ..graph }
    }

    /// The perturbation, reduced to what clips allow.
    pub fn within_clips(&self, perturbation: Vec<f64>) -> Vec<f64> {
        match self.problem.scm() {
            // Clips and further uncertainty are not combined.
            Some(scm) if self.reach.is_none() => scm.within_clips(&self.individual, perturbation),
            _ => perturbation,
        }
    }

    /// Whether a perturbation leads to an individual whom the causal model can produce.
    pub fn concerns_somebody(&self, perturbation: &[f64]) -> bool {
        let Some(scm) = self.problem.scm() else { return true };
        let individual = &self.individual;
        let resolved = resolved(self.problem, individual, perturbation, &[], &[]);
        resolved.is_ok_and(|parts| {
            perturbed(scm, individual, &self.features, &parts.shift, &parts.slopes).is_ok()
        })
    }

    /// The perturbation that leaves the individual as they are.
    pub fn no_perturbation(&self) -> Vec<f64> {
        // The individual has been checked, so there is one.
        let width = self.problem.perturbation_width();
        no_perturbation(self.problem, &self.individual).unwrap_or_else(|_| vec![0.0; width])
    }

    /// The value of a requirement as a function of the change, without a perturbation; rounded up.
    pub fn of_requirement(&self, requirement: &Constraint) -> Graph<'p> {
        let mut graph = Builder::new(self.features.len());
        let change: Vec<AffineForm> = (0..self.features.len()).map(|k| graph.input(k)).collect();
        let output = self.required(&mut graph, &[(requirement, 1.0)], &change);
        graph.finish(output)
    }

    /// The weighted sum of requirement values, as functions of the change without a perturbation, and of
    /// margins in scenarios. There is one composer for each variant of the problem.
    pub fn in_sum<'m>(
        composers: &[Self],
        requirements: &[(&Constraint, f64)],
        margins: impl Iterator<Item = (&'m Scenario, f64)>,
    ) -> Graph<'p> {
        let base = &composers[0];
        let mut graph = Builder::new(base.features.len());
        let change: Vec<AffineForm> = (0..base.features.len()).map(|k| graph.input(k)).collect();
        let mut sum = base.required(&mut graph, requirements, &change);
        let mut is_vacuous = false;
        for (Scenario { variant, perturbation }, share) in margins {
            let composer = &composers[*variant];
            let forms: Vec<AffineForm> = perturbation.iter().map(|&d| AffineForm::constant(d)).collect();
            let acted = composer.acted(&mut graph, &forms, &change);
            let margin = composer.problem.classifier().compose(&mut graph, &acted);
            sum = sum.plus(share, &margin);
            is_vacuous |= !composer.concerns_somebody(perturbation);
        }
        Graph { is_vacuous, ..graph.finish(sum) }
    }

    fn required(
        &self,
        graph: &mut Builder<'p>,
        requirements: &[(&Constraint, f64)],
        change: &[AffineForm],
    ) -> AffineForm {
        let unperturbed = vec![AffineForm::constant(0.0); self.individual.len()];
        let plain = Parts { shift: unperturbed, change: change.to_vec(), slopes: Vec::new() };
        let acted = self.acted_by_parts(graph, &plain);
        let mut sum = AffineForm::constant(0.0);
        for (requirement, share) in requirements {
            let (constant, coefficients) = requirement.upper_terms();
            sum = sum.shifted(share * constant);
            for (form, c) in acted.iter().zip(coefficients).filter(|(_, c)| **c != 0.0) {
                sum = sum.plus(share * c, form);
            }
        }
        sum
    }

    fn compose(
        &self,
        mut graph: Builder<'p>,
        perturbation: &[AffineForm],
        change: &[AffineForm],
    ) -> Graph<'p> {
        let acted = self.acted(&mut graph, perturbation, change);
        let output = self.problem.classifier().compose(&mut graph, &acted);
        graph.finish(output)
    }

    /// The individual after perturbation and action.
    fn acted(
        &self,
        graph: &mut Builder<'p>,
        perturbation: &[AffineForm],
        change: &[AffineForm],
    ) -> Vec<AffineForm> {
        let parts = match (self.problem.joint(), &self.reach) {
            (Some(joint), Some(reach)) => parts(graph, joint, reach, perturbation, &self.features, change),
            _ => Parts { shift: perturbation.to_vec(), change: change.to_vec(), slopes: Vec::new() },
        };
        self.acted_by_parts(graph, &parts)
    }

    fn acted_by_parts(&self, graph: &mut Builder<'p>, parts: &Parts<AffineForm>) -> Vec<AffineForm> {
        let Parts { shift: perturbation, change, slopes } = parts;
        let x = &self.individual;
        let problem = self.problem;
        let before = graph.len();
        let perturbed: Vec<AffineForm> = match problem.scm() {
            Some(scm) => scm.compose_perturbed(graph, x, &self.noise, perturbation, slopes),
            None => perturbation.iter().zip(x).map(|(d, &x)| d.clone().shifted(x)).collect(),
        };
        let noise = match (problem.scm(), &self.downstream) {
            (Some(scm), Some(downstream)) => scm.compose_noise(graph, downstream, &perturbed),
            _ => Vec::new(),
        };
        if graph.len() > before {
            graph.end_perturbed();
        }
        let mut acted = perturbed.clone();
        for (&i, change) in self.features.iter().zip(change) {
            acted[i] = match problem.action_kind() {
                ActionKind::Relative => perturbed[i].clone().plus(1.0, change),
                ActionKind::Absolute => change.clone().shifted(x[i]),
            };
        }
        if let (Some(scm), Some(downstream)) = (problem.scm(), &self.downstream) {
            let known = Known {
                x,
                noise: &self.noise,
                perturbation,
                perturbed: &perturbed,
                noise_of_perturbed: &noise,
                slopes,
            };
            scm.compose_acted(graph, downstream, &known, &mut acted);
        }
        acted
    }
}

impl Coordinates {
    /// The perturbation with given coordinates, reduced to what clips allow, and scaled down if rounding
    /// makes it larger than the uncertainty.
    pub(crate) fn admissible(&self, composer: &Composer<'_>, y: &[f64]) -> Vec<f64> {
        let mut perturbation = composer.within_clips(self.perturbation(y));
        composer.problem().uncertainty().shrink(&mut perturbation);
        perturbation
    }
}
