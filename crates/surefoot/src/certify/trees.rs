//! Certificates of actions for a classifier of trees, by exact search over cells.

use super::{Budget, NODES_PER_EVALUATION};
use crate::forest::{Adversary, Forest, Question, Scene};
use crate::margin::{Coordinates, margin, outcome};
use crate::proof::{BoundKind, Piece};
use crate::{Action, Certificate, Problem, Result, Verdict};

/// The certificate of an action for a problem with one variant; `None` if the classifier is not a tree ensemble, or if causal model or
/// uncertainty are not those of exact searches.
///
/// # Errors
/// If individual or action do not fit the problem.
pub(crate) fn tree_certificate(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    budget: Budget,
) -> Result<Option<Certificate>> {
    let Some(forest) = Forest::of(problem.classifier()) else { return Ok(None) };
    // Rejects what does not fit.
    outcome(problem, individual, action)?;
    let Some(scene) = Scene::new(problem, &forest, individual, &action.features) else { return Ok(None) };
    let centre = scene.centre(&action.change);
    let most = budget.evaluations.saturating_mul(NODES_PER_EVALUATION);
    let mut adversary = Adversary::default();
    let worst = adversary.least(&scene, &centre, Question { wanted: f64::INFINITY, is_least: true, most });
    let mut perturbation = scene.beyond(&centre, &worst.point).unwrap_or_else(|| worst.perturbation.clone());
    problem.uncertainty().shrink(&mut perturbation);
    let mut found = margin(problem, individual, action, &perturbation)?;
    if found > worst.found {
        let mut other = worst.perturbation;
        problem.uncertainty().shrink(&mut other);
        let margin = margin(problem, individual, action, &other)?;
        if margin < found {
            (perturbation, found) = (other, margin);
        }
    }
    let verdict = if found < 0.0 {
        Verdict::Breaks { variant: 0, perturbation: perturbation.clone(), margin: found }
    } else if worst.lower >= 0.0 {
        // Less what the rounding of sums may amount to.
        Verdict::Holds { margin: (worst.lower.min(found) - 2.0 * forest.rounding).max(0.0) }
    } else {
        Verdict::Undecided { lower: worst.lower, upper: found }
    };
    let pieces = match verdict {
        Verdict::Holds { margin } => vec![whole(problem, margin)],
        _ => Vec::new(),
    };
    Ok(Some(Certificate {
        action: action.clone(),
        verdict,
        basis: Vec::new(),
        worst: Coordinates::of(problem).of_perturbation(&perturbation),
        pieces,
        further: Vec::new(),
        evaluations: adversary.visited() / NODES_PER_EVALUATION,
    }))
}

/// The whole ball as one piece, which a checker divides at thresholds by itself.
fn whole(problem: &Problem, margin: f64) -> Piece {
    let uncertainty = problem.uncertainty();
    let widths = uncertainty.set().half_widths(problem.features().len());
    let upper: Vec<f64> = widths.iter().map(|width| width * uncertainty.radius() * (1.0 + 1e-9)).collect();
    let lower = upper.iter().map(|end| -end).collect();
    Piece { lower, upper, margin, reason: BoundKind::Trees, cells: Vec::new(), phases: Vec::new() }
}

impl Certificate {
    /// Whether the action holds.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.verdict, Verdict::Holds { .. })
    }

    /// The lower bound of the margin of an action that holds; otherwise minus infinity.
    pub(crate) fn margin(&self) -> f64 {
        match self.verdict {
            Verdict::Holds { margin } => margin,
            _ => f64::NEG_INFINITY,
        }
    }
}
