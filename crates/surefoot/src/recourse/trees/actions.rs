//! The feasible actions of an individual on one set of features.

use crate::action::feasible_change;
use crate::forest::{Scene, Sides};
use crate::integer::Integrality;
use crate::margin::outcome;
use crate::{Action, Problem};

/// By how much the value of a requirement must be negative on a whole box, in units of about one standard
/// deviation, so that no action of the box meets it.
const UNMET: f64 = 1e-9;

/// The actions on a set of features.
#[derive(Clone, Debug)]
pub(super) struct Actions<'p> {
    problem: &'p Problem,
    individual: &'p [f64],
    features: Vec<usize>,
    weights: Vec<f64>,
    integrality: Integrality,
    /// The box of feasible changes.
    whole: (Vec<f64>, Vec<f64>),
}

impl<'p> Actions<'p> {
    pub fn new(problem: &'p Problem, individual: &'p [f64], features: &[usize]) -> Self {
        let sides = features.iter().map(|&i| feasible_change(problem.features(), i, individual[i]));
        Self {
            problem,
            individual,
            features: features.to_vec(),
            weights: features.iter().map(|&i| problem.features().feature(i).weight).collect(),
            integrality: Integrality::new(problem, individual, features),
            whole: sides.unzip(),
        }
    }

    /// The box of all actions; `None` if there are none.
    pub fn whole(&self) -> Option<Sides> {
        let (lower, upper) = self.integrality.tightened(self.whole.clone())?;
        Some(Sides { lower, upper })
    }

    /// The action with a given change.
    pub fn action(&self, change: &[f64]) -> Action {
        Action { features: self.features.clone(), change: change.to_vec() }
    }

    /// The cheapest action of a box.
    pub fn cheapest(&self, sides: &Sides) -> Vec<f64> {
        self.integrality.cheapest(&sides.lower, &sides.upper, self.problem.cost(), &self.weights)
    }

    /// The cheapest action of a box whose real changes are at least `inset` times the radius away from the
    /// sides of the box. A change of zero stays zero.
    pub fn inside(&self, scene: &Scene<'_>, sides: &Sides, inset: f64) -> Vec<f64> {
        let mut change = self.cheapest(sides);
        for (k, change) in change.iter_mut().enumerate() {
            let (lower, upper) = (sides.lower[k], sides.upper[k]);
            if *change == 0.0 || self.integrality.is_integer(k) {
                continue;
            }
            let inset = (inset * scene.ball.radius).max(1e-7 * (1.0 + change.abs()));
            *change = match upper - lower > 2.0 * inset {
                true => 0.0f64.clamp(lower + inset, upper - inset),
                false => 0.5 * (lower + upper),
            };
        }
        change
    }

    pub fn has_requirements(&self) -> bool {
        !self.problem.requirements().is_empty()
    }

    /// Whether no action of a box meets the requirements.
    pub fn excludes(&self, scene: &Scene<'_>, sides: &Sides) -> bool {
        self.problem.requirements().iter().any(|rule| {
            let (constant, coefficients) = rule.upper_terms();
            let mut by_change = vec![0.0; self.features.len()];
            let (mut greatest, mut size) = (constant, constant.abs());
            for (i, &coefficient) in coefficients.iter().enumerate() {
                greatest += coefficient * scene.x[i];
                size += (coefficient * scene.x[i]).abs();
                for &(k, effect) in &scene.effects[i] {
                    by_change[k] += coefficient * effect;
                }
            }
            for (k, &slope) in by_change.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
                let term = slope * if slope > 0.0 { sides.upper[k] } else { sides.lower[k] };
                greatest += term;
                size += term.abs();
            }
            greatest < -UNMET * (1.0 + size)
        })
    }

    /// Whether an action meets the requirements, by the definition.
    pub fn is_met(&self, change: &[f64]) -> bool {
        if self.problem.requirements().is_empty() {
            return true;
        }
        let reached = outcome(self.problem, self.individual, &self.action(change));
        reached.is_ok_and(|reached| self.problem.is_met(self.individual, &reached))
    }

    /// Whether a box is divided where a change is at most `at`, and beyond.
    pub fn divides(&self, sides: &Sides, k: usize, at: f64) -> bool {
        if self.integrality.is_integer(k) {
            return at >= sides.lower[k] && at < sides.upper[k];
        }
        let least = 1e-12 * (1.0 + at.abs());
        at > sides.lower[k] + least && at < sides.upper[k] - least
    }

    /// Both parts of a box; `None` for a part without an integer-valued action.
    pub fn halves(&self, sides: &Sides, k: usize, at: f64) -> [Option<Sides>; 2] {
        let (mut first, mut second) = (sides.clone(), sides.clone());
        first.upper[k] = at;
        second.lower[k] = at.next_up();
        [first, second].map(|part| {
            let (lower, upper) = self.integrality.tightened((part.lower, part.upper))?;
            Some(Sides { lower, upper })
        })
    }

    /// The action with another value of one change; with zero for a column of a category, all columns of its
    /// group stay. `None` if the value is not feasible.
    pub fn with(&self, change: &[f64], k: usize, value: f64) -> Option<Vec<f64>> {
        let mut with = change.to_vec();
        if let Some(group) = self.integrality.groups().iter().find(|group| group.columns.contains(&k)) {
            if value != 0.0 {
                return None;
            }
            group.columns.iter().for_each(|&column| with[column] = 0.0);
            return Some(with);
        }
        with[k] = value;
        Some(self.integrality.near(&self.whole.0, &self.whole.1, &with))
    }

    /// The action with its changes multiplied, but for categories.
    pub fn scaled(&self, change: &[f64], share: f64) -> Vec<f64> {
        let scale = |(k, &c): (usize, &f64)| if self.integrality.is_category(k) { c } else { share * c };
        let scaled: Vec<f64> = change.iter().enumerate().map(scale).collect();
        self.integrality.near(&self.whole.0, &self.whole.1, &scaled)
    }

    /// The changes as they will be displayed, where these are feasible.
    pub fn displayed(&self, change: &[f64]) -> Vec<f64> {
        let displayed = |(k, &change): (usize, &f64)| {
            let (i, features) = (self.features[k], self.problem.features());
            let form = self.problem.action_kind();
            let rounded =
                crate::action::rounded_for_display(features.feature(i), form, self.individual[i], change);
            if rounded >= self.whole.0[k] && rounded <= self.whole.1[k] { rounded } else { change }
        };
        change.iter().enumerate().map(displayed).collect()
    }
}
