//! The smallest perturbation that breaks an action for a classifier of trees, by exact searches of balls.

use rayon::prelude::*;

use super::{Break, confirm};
use crate::certify::NODES_PER_EVALUATION;
use crate::error::{CausalModelError, PeopleError};
use crate::forest::{Adversary, Forest, Question, Scene};
use crate::{Action, Budget, Error, People, Problem, Result};

/// The radius, in standardised units, up to which a break is searched for. Radii are doubled until one is found
/// or the last was beyond this, so that a larger one may be found too.
const FARTHEST: f64 = 10.0;
/// The first radius, if the problem has no uncertainty.
const FIRST: f64 = 0.01;
/// The relative accuracy of the size of the smallest break.
const ACCURACY: f64 = 1e-6;

/// The smallest break of each action. `None` if the problem is not one of tree ensembles that are searched
/// exactly.
pub(super) fn smallest(
    problem: &Problem,
    people: &People,
    actions: &[Action],
) -> Option<Result<Vec<Option<Break>>>> {
    let forest = Forest::of(problem.classifier())?;
    Scene::new(problem, &forest, &vec![0.0; problem.features().len()], &[])?;
    if people.features() != problem.features() {
        return Some(Err(Error::CausalModel(CausalModelError::OtherFeatures)));
    }
    if actions.len() != people.len() {
        let lengths = PeopleError::VectorLength { expected: people.len(), found: actions.len() };
        return Some(Err(Error::People(lengths)));
    }
    let each = actions.par_iter().enumerate();
    Some(each.map(|(i, action)| of_one(problem, &forest, people.individual(i), action)).collect())
}

fn of_one(problem: &Problem, forest: &Forest, individual: &[f64], action: &Action) -> Result<Option<Break>> {
    action.check(problem.features())?;
    let Some(scene) = Scene::new(problem, forest, individual, &action.features) else { return Ok(None) };
    let centre = scene.centre(&action.change);
    let most = Budget::default().evaluations * NODES_PER_EVALUATION / 128;
    let search = |radius: f64| {
        let scene = scene.with_radius(radius);
        let question = Question { wanted: 0.0, is_least: false, most };
        let worst = Adversary::default().least(&scene, &centre, question);
        let is_found = worst.found < 0.0;
        let found = is_found.then(|| confirm(problem, individual, action, &worst.perturbation, radius))?;
        found.filter(|found| found.size <= radius)
    };
    let epsilon = problem.uncertainty().radius();
    if let Some(found) = confirm(problem, individual, action, &vec![0.0; individual.len()], 0.0) {
        return Ok(Some(found));
    }
    let (mut without, mut radius) = (0.0, if epsilon > 0.0 { epsilon } else { FIRST });
    let mut best = loop {
        if let Some(found) = search(radius) {
            break found;
        }
        if radius > FARTHEST {
            return Ok(None);
        }
        (without, radius) = (radius, 2.0 * radius);
    };
    while best.size - without > ACCURACY * best.size {
        let middle = 0.5 * (without + best.size);
        match search(middle) {
            Some(found) if found.size < best.size => best = found,
            _ => without = middle,
        }
    }
    Ok(Some(best))
}
