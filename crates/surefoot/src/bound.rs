//! Bounds of a margin: proven statements about all perturbations, or all actions, of a region.
//!
//! Causal model, action and classifier are composed into one graph of an individual's margin.
//! [`in_perturbation`] and [`in_action`] enclose it between two parallel planes over a ball, a box, or
//! their intersection; [`curvature`] gives a matrix below its Hessian. All bounds account for rounding:
//! they hold for the margin in exact arithmetic and for its computed value. A bound that is infinite or
//! NaN states nothing. Of a problem with several variants, each has bounds of its own: see
//! [`Problem::variants`].

#[cfg(test)]
mod tests;

use ndarray::Array2;

use crate::error::{PeopleError, SettingError};
use crate::graph::{Affine, Bounded, Jets, Region};
use crate::margin::{Composer, Coordinates};
use crate::{Action, Error, Problem, Result};

/// Bounds hold over a set that is larger by this share, to cover the rounding of coordinates.
const ROOM: f64 = 1e-12;

/// Two parallel planes, `constant + linear . v -+ error`, that enclose the margin for every v of a
/// region, and the resulting lower and upper bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Planes {
    /// The slope of both planes: in the perturbation of each feature, or in each change.
    pub linear: Vec<f64>,
    /// The middle between the planes at the origin.
    pub constant: f64,
    /// Half the distance between the planes.
    pub error: f64,
    /// A lower bound of the margin.
    pub lower: f64,
    /// An upper bound of the margin.
    pub upper: f64,
}

/// Bounds of the margin of an action over all perturbations of the uncertainty set, or over those between
/// `lower` and `upper`.
///
/// # Errors
/// If individual, action or box do not fit the problem, or if the causal model cannot produce the
/// individual.
pub fn in_perturbation(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    between: Option<(&[f64], &[f64])>,
) -> Result<Planes> {
    problem.require_one_variant("these bounds are")?;
    action.check(problem.features())?;
    let composer = Composer::new(problem, individual, &action.features)?;
    let coordinates = Coordinates::of(problem);
    let graph = composer.in_perturbation(&action.change, &coordinates);
    let mut region = Region::uncertain(problem.uncertainty(), graph.inputs, ROOM);
    if let Some((lower, upper)) = between {
        check(graph.inputs, lower, upper)?;
        let (lower, upper) = (coordinates.of_perturbation(lower), coordinates.of_perturbation(upper));
        match region.clone().within(&lower, &upper) {
            Some(part) => region = part,
            // The intersection is empty, so any bound holds.
            None => {
                let linear = vec![0.0; graph.inputs];
                let (lower, upper) = (f64::INFINITY, f64::NEG_INFINITY);
                return Ok(Planes { linear, constant: 0.0, error: 0.0, lower, upper });
            }
        }
    }
    let mut planes = planes(problem, &Affine::default().bound(&graph, &region));
    planes.linear = coordinates.of_gradient(&planes.linear);
    Ok(planes)
}

/// Bounds of the margin under a perturbation over all actions on some features between `lower` and
/// `upper`, whose ends may be infinite, where their results are defined. They state nothing if the
/// perturbation concerns nobody.
///
/// # Errors
/// If anything does not fit the problem, or if the causal model cannot produce the individual.
pub fn in_action(
    problem: &Problem,
    individual: &[f64],
    features: &[usize],
    between: (&[f64], &[f64]),
    perturbation: &[f64],
) -> Result<Planes> {
    problem.require_one_variant("these bounds are")?;
    Action { features: features.to_vec(), change: vec![0.0; features.len()] }.check(problem.features())?;
    let composer = Composer::new(problem, individual, features)?;
    check(features.len(), between.0, between.1)?;
    check(problem.perturbation_width(), perturbation, perturbation)?;
    let graph = composer.in_change(perturbation);
    let region = Region::cuboid(between.0.to_vec(), between.1.to_vec());
    Ok(planes(problem, &Affine::default().bound(&graph, &region)))
}

/// A matrix M below the Hessian of the margin in the perturbation over the whole uncertainty set: for
/// every v, `v^T (Hessian - M) v >= 0`. `None` if no such matrix exists or is known.
///
/// # Errors
/// As [`in_perturbation`].
pub fn curvature(problem: &Problem, individual: &[f64], action: &Action) -> Result<Option<Array2<f64>>> {
    problem.require_one_variant("these bounds are")?;
    action.check(problem.features())?;
    let composer = Composer::new(problem, individual, &action.features)?;
    let coordinates = Coordinates::of(problem);
    let graph = composer.in_perturbation(&action.change, &coordinates);
    let region = Region::uncertain(problem.uncertainty(), graph.inputs, ROOM);
    let mut affine = Affine::default();
    let bounded = affine.bound(&graph, &region);
    let origin = vec![0.0; graph.inputs];
    let bound = bounded.curvature(&origin, &mut Jets::default(), false);
    let n = graph.inputs;
    let weights = coordinates.of_gradient(&vec![1.0; n]);
    let entry = |matrix: &[f64], i: usize, j: usize| matrix[i * n + j] * weights[i] * weights[j];
    Ok(bound.map(|bound| Array2::from_shape_fn((n, n), |(i, j)| entry(&bound.matrices[0], i, j))))
}

/// Parts of a graph that do not depend on its inputs are evaluated once, in floating point. This is a
/// bound of the relative error that they cause, amplification by later operations included.
const FOLDED: f64 = 1e-11;

fn planes(problem: &Problem, bounded: &Bounded<'_, '_>) -> Planes {
    let plane = &bounded.plane;
    let number = |x: f64, otherwise: f64| if x.is_nan() { otherwise } else { x };
    // For linear problems the sums already account for their rounding.
    let linear = problem.classifier().coefficients().is_ok()
        && problem.scm().is_none_or(|scm| scm.coefficients().is_ok());
    let room = if linear { 0.0 } else { FOLDED * (1.0 + plane.constant.abs()) };
    Planes {
        linear: plane.linear.clone(),
        constant: plane.constant,
        error: plane.error + room,
        lower: number(bounded.lower() - room, f64::NEG_INFINITY),
        upper: number(bounded.upper() + room, f64::INFINITY),
    }
}

fn check(width: usize, lower: &[f64], upper: &[f64]) -> Result<()> {
    for ends in [lower, upper] {
        if ends.len() != width {
            return Err(Error::People(PeopleError::VectorLength { expected: width, found: ends.len() }));
        }
    }
    match lower.iter().zip(upper).find(|(l, u)| l > u || l.is_nan() || u.is_nan()) {
        Some((&value, _)) => Err(Error::Setting(SettingError::Setting { setting: "lower", value })),
        None => Ok(()),
    }
}
