//! `X := formula(parents, u)`, in people's own units.

mod noise;
mod own_units;
mod root;

use super::equation::Mechanism;
use crate::digest::Digest;
use crate::error::{CausalModelError, PeopleError};
use crate::error::{FormulaProblem, Obstacle};
use crate::expression::{Arithmetic, Clip, Expression, Input, Operator, Trend};
use crate::graph::{AffineForm, Builder, Interval};
use crate::network::{Lanes, Workspace};
use crate::{Error, Feature, Features, Result};
use root::root;

/// The maximum difference, in standardised units and relative to values beyond 1, between a value and its
/// reconstruction from its noise. People with a larger one are refused.
pub(super) const ROUND_TRIP_ERROR: f64 = 1e-6;
/// The tolerance for values beyond a clip, in the same units, because of rounding.
const BEYOND_CLIP: f64 = 1e-12;

#[derive(Debug)]
pub(super) struct Formula {
    feature: Feature,
    parents: Vec<Feature>,
    expression: Expression,
    /// Clips around the formula, the outermost first, and the formula inside.
    clips: Vec<Clip>,
    inside: Expression,
    /// The meaning of each slot of these.
    slots: Vec<Slot>,
    /// Whether it is `g(parents) + coefficient * u`.
    is_additive: bool,
    inversion: Inversion,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Parent(usize),
    Noise,
    Value,
}

/// How the noise is recovered.
#[derive(Debug)]
enum Inversion {
    /// From `g(parents) + coefficient * u` inside the clips.
    Additive { coefficient: f64 },
    /// By a second formula.
    Given { expression: Expression, slots: Vec<Slot> },
    /// By root search on the formula inside the clips, which is strictly monotone in the noise.
    Search { increasing: bool },
}

/// Refuses a formula with an ambiguous `u`: a feature has this name, and the formula does not distinguish
/// it from the noise.
pub(super) fn require_one_meaning(features: &Features, i: usize, formula: &str) -> Result<()> {
    // Errors of parsing are reported elsewhere.
    let Ok(expression) = Expression::parse(formula) else { return Ok(()) };
    let noise = expression.inputs().iter().find(|input| input.is_noise());
    let is_told_apart = expression.inputs().iter().any(|input| input.quoted && input.name == "u");
    match noise.filter(|_| features.index("u").is_ok() && !is_told_apart) {
        None => Ok(()),
        Some(noise) => Err(Error::CausalModel(CausalModelError::Formula {
            feature: features.feature(i).name.clone(),
            formula: formula.into(),
            column: noise.column,
            problem: FormulaProblem::NoiseOrFeature,
        })),
    }
}

impl Formula {
    /// Parses the formula, finds the parents and checks that the noise can be recovered.
    pub fn new(
        features: &Features,
        i: usize,
        formula: &str,
        inverse: Option<&str>,
    ) -> Result<(Vec<usize>, Self)> {
        let feature = features.feature(i).clone();
        let fault = |text: &str, (column, problem): (usize, FormulaProblem)| {
            Error::CausalModel(CausalModelError::Formula {
                feature: feature.name.clone(),
                formula: text.into(),
                column,
                problem,
            })
        };
        let expression = Expression::parse(formula).map_err(|f| fault(formula, f))?;
        let mut indices = Vec::new();
        let mut slots = Vec::new();
        for input in expression.inputs() {
            slots.push(if input.is_noise() {
                Slot::Noise
            } else {
                let index = features.index(&input.name).map_err(|_| {
                    let problem = FormulaProblem::Name { name: input.name.clone(), known: features.names() };
                    fault(formula, (input.column, problem))
                })?;
                indices.push(index);
                Slot::Parent(indices.len() - 1)
            });
        }
        let noise = slots.iter().position(|&slot| slot == Slot::Noise);
        let not_invertible = |reason| {
            Error::CausalModel(CausalModelError::NotInvertible {
                feature: feature.name.clone(),
                formula: formula.into(),
                reason,
            })
        };
        let noise = noise.ok_or_else(|| not_invertible(Obstacle::Absent))?;
        let (clips, inside) = expression.unclipped(noise);
        let coefficient = inside.coefficient(noise);
        if coefficient == Some(0.0) {
            return Err(not_invertible(Obstacle::Absent));
        }
        let inversion = match (inverse, coefficient) {
            (Some(text), _) => {
                let parse = Expression::parse(text).and_then(|inverse| {
                    let slots = inverse_slots(features, i, &indices, inverse.inputs())?;
                    Ok(Inversion::Given { expression: inverse, slots })
                });
                parse.map_err(|f| fault(text, f))?
            }
            (None, Some(coefficient)) => Inversion::Additive { coefficient },
            (None, None) => match inside.trend(noise).map_err(not_invertible)? {
                Trend::Constant => return Err(not_invertible(Obstacle::Absent)),
                trend => Inversion::Search { increasing: trend == Trend::Increasing },
            },
        };
        let is_additive = coefficient.is_some() && clips.is_empty();
        let parents = indices.iter().map(|&p| features.feature(p).clone()).collect();
        Ok((indices, Self { feature, parents, expression, clips, inside, slots, is_additive, inversion }))
    }
}

/// An inverse may name the feature itself and its parents, and nothing else.
fn inverse_slots(
    features: &Features,
    i: usize,
    parents: &[usize],
    inputs: &[Input],
) -> Result<Vec<Slot>, (usize, FormulaProblem)> {
    let name = |i: usize| features.feature(i).name.as_str();
    let slot = |input: &Input| {
        if input.is_noise() {
            return Err((input.column, FormulaProblem::NoiseInInverse));
        }
        if input.name == name(i) {
            return Ok(Slot::Value);
        }
        let parent = parents.iter().position(|&p| input.name == name(p));
        parent.map(Slot::Parent).ok_or_else(|| {
            let known = [i].iter().chain(parents).map(|&p| name(p).into()).collect();
            (input.column, FormulaProblem::InverseName { name: input.name.clone(), known })
        })
    };
    inputs.iter().map(slot).collect()
}

impl Mechanism for Formula {
    fn value(&self, parents: &[f64], noise: f64) -> f64 {
        self.feature.standardise(self.own_value(parents, noise))
    }

    fn noise(&self, parents: &[f64], value: f64) -> Result<f64> {
        let own = self.feature.own_units(value);
        let unreachable =
            || Error::People(PeopleError::Unreachable { feature: self.feature.name.clone(), value: own });
        let noise = match &self.inversion {
            Inversion::Additive { coefficient } => (own - self.own_inside(parents, 0.0)) / coefficient,
            Inversion::Given { expression, slots } => {
                expression.evaluate(&|slot| self.input(slots[slot], parents, own))
            }
            Inversion::Search { increasing } => {
                let sign = if *increasing { 1.0 } else { -1.0 };
                root(|noise| sign * (self.own_inside(parents, noise) - own)).unwrap_or(f64::NAN)
            }
        };
        let limit = self.own_clipped(parents, own);
        if ((limit - own) / self.feature.std).abs() > BEYOND_CLIP * value.abs().max(1.0) {
            return Err(Error::People(PeopleError::BeyondClip {
                feature: self.feature.name.clone(),
                value: own,
                limit,
            }));
        }
        let back = match self.inversion {
            Inversion::Given { .. } => self.own_value(parents, noise),
            _ => self.own_inside(parents, noise),
        };
        let error = ((back - own) / self.feature.std).abs();
        if noise.is_finite() && error <= ROUND_TRIP_ERROR * value.abs().max(1.0) {
            return Ok(noise);
        }
        match self.inversion {
            Inversion::Given { .. } if noise.is_finite() => {
                Err(Error::CausalModel(CausalModelError::WrongInverse {
                    feature: self.feature.name.clone(),
                    value: own,
                    noise,
                    back,
                }))
            }
            _ => Err(unreachable()),
        }
    }

    fn gradient(&self, parents: &[f64], noise: f64) -> Vec<f64> {
        let in_parent = |(j, parent): (usize, &Feature)| {
            self.derivative(Slot::Parent(j), parents, noise) * parent.std / self.feature.std
        };
        self.parents.iter().enumerate().map(in_parent).collect()
    }

    fn slope(&self, parents: &[f64], noise: f64) -> f64 {
        self.derivative(Slot::Noise, parents, noise) / self.feature.std
    }

    fn evaluate(
        &self,
        parents: &[Lanes],
        noise: Lanes,
        _: &mut Option<Workspace>,
        partials: Option<&mut [Lanes]>,
    ) -> Lanes {
        let input = |slot: usize| match self.slots[slot] {
            Slot::Parent(j) => parents[j].map(|p| self.parents[j].own_units(p)),
            Slot::Noise | Slot::Value => noise,
        };
        if let Some(partials) = partials {
            for (slot, meaning) in self.slots.iter().enumerate() {
                if let Slot::Parent(j) = *meaning {
                    let scale = self.parents[j].std / self.feature.std;
                    partials[j] = self.expression.derivative(slot, &input).map(|d| d * scale);
                }
            }
        }
        self.expression.evaluate(&input).map(|value| self.feature.standardise(value))
    }

    fn digest(&self, digest: &mut Digest) {
        digest.text("formula");
        digest.text(&self.expression.canonical());
        if let Inversion::Given { expression, .. } = &self.inversion {
            digest.text(&expression.canonical());
        }
    }

    fn is_additive(&self) -> bool {
        self.is_additive
    }

    fn is_total(&self) -> bool {
        self.expression.is_total()
    }

    fn coefficients(&self) -> Option<Vec<f64>> {
        if !self.is_additive() {
            return None;
        }
        let mut coefficients = vec![0.0; self.parents.len()];
        for (slot, meaning) in self.slots.iter().enumerate() {
            let coefficient = self.expression.coefficient(slot).filter(|c| c.is_finite())?;
            if let Slot::Parent(j) = *meaning {
                coefficients[j] = coefficient * self.parents[j].std / self.feature.std;
            }
        }
        Some(coefficients)
    }

    fn has_exact_noise(&self) -> bool {
        matches!(self.inversion, Inversion::Additive { .. })
    }

    fn noise_slopes(&self, parents: &[f64], noise: f64) -> Vec<f64> {
        let value = self.own_inside(parents, noise);
        let slopes = |of: Slot| match &self.inversion {
            Inversion::Given { expression, slots } => {
                self.derivative_of(expression, slots, of, parents, value)
            }
            _ => {
                let inside = |of: Slot| self.derivative_of(&self.inside, &self.slots, of, parents, noise);
                let slope = inside(Slot::Noise);
                if of == Slot::Value { 1.0 / slope } else { -inside(of) / slope }
            }
        };
        let in_parent = |(j, parent): (usize, &Feature)| slopes(Slot::Parent(j)) * parent.std;
        let in_parents = self.parents.iter().enumerate().map(in_parent);
        in_parents.chain([slopes(Slot::Value) * self.feature.std]).collect()
    }

    fn is_clipped(&self) -> bool {
        !self.clips.is_empty()
    }

    fn clip(&self, parents: &[f64], value: f64) -> f64 {
        let own = self.feature.own_units(value);
        match self.own_clipped(parents, own) {
            // The value is the same to the bit where nothing is clipped.
            clipped if clipped == own => value,
            clipped => self.feature.standardise(clipped),
        }
    }

    fn compose_clip<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        parents: &[AffineForm],
        value: AffineForm,
    ) -> AffineForm {
        if self.clips.is_empty() {
            return value;
        }
        let own = value.scaled(self.feature.std).shifted(self.feature.mean);
        let clipped = self.clips.iter().rev().fold(own, |value, clip| {
            let limit = self.compose_own(graph, &clip.limit, &self.slots, parents, &value);
            graph.combine(if clip.is_max { Operator::Max } else { Operator::Min }, limit, value)
        });
        clipped.shifted(-self.feature.mean).scaled(1.0 / self.feature.std)
    }

    fn compose<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        parents: &[AffineForm],
        noise: &AffineForm,
    ) -> AffineForm {
        let own = self.compose_own(graph, &self.expression, &self.slots, parents, noise);
        own.shifted(-self.feature.mean).scaled(1.0 / self.feature.std)
    }

    fn compose_noise<'a>(
        &'a self,
        graph: &mut Builder<'a>,
        parents: &[AffineForm],
        value: &AffineForm,
    ) -> AffineForm {
        let own = value.clone().scaled(self.feature.std).shifted(self.feature.mean);
        match &self.inversion {
            Inversion::Given { expression, slots } => {
                self.compose_own(graph, expression, slots, parents, &own)
            }
            Inversion::Additive { coefficient } => {
                let without = AffineForm::constant(0.0);
                let without = self.compose_own(graph, &self.inside, &self.slots, parents, &without);
                own.plus(-1.0, &without).scaled(1.0 / coefficient)
            }
            Inversion::Search { .. } => graph.operate(self, parents.iter().chain([value]).cloned().collect()),
        }
    }
}

fn flipped(x: Interval) -> Interval {
    Interval { lower: -x.upper, upper: -x.lower }
}

#[cfg(test)]
mod tests;
