//! Counts and medians of the statements about many people.

use super::{AboutPerson, RobustRecourse};
use crate::{Outcome, Problem};

/// The counts of statements about people, and the numbers from which medians are computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of people with a favourable decision.
    pub favourable: usize,
    /// The number of people with a standard action.
    pub found: usize,
    /// The number of people who provably have none.
    pub impossible: usize,
    /// The number of people for whom that could not be decided.
    pub undecided: usize,
    /// The number of people for whom robust recourse exists.
    pub exists: usize,
    /// The number of people for whom it does not exist.
    pub does_not_exist: usize,
    /// The number of people for whom the statements do not decide it.
    pub unknown: usize,
    /// Upper bounds of the cost of robust recourse relative to the standard action.
    pub factors: Vec<f64>,
    /// The largest differences in cost to similar people; infinite if one of them has no action.
    pub differences: Vec<f64>,
    /// The sizes of the perturbations that break standard actions.
    pub sizes: Vec<f64>,
}

impl Summary {
    /// Adds a person.
    pub fn add(&mut self, problem: &Problem, person: &AboutPerson) {
        *match person.outcome {
            Outcome::AlreadyFavourable => &mut self.favourable,
            Outcome::Found(_) => &mut self.found,
            Outcome::Impossible(_) => &mut self.impossible,
            Outcome::Undecided(_) | Outcome::Unproved(_) => &mut self.undecided,
        } += 1;
        match person.robust {
            RobustRecourse::NotNeeded => {}
            RobustRecourse::Exists => self.exists += 1,
            RobustRecourse::DoesNotExist => self.does_not_exist += 1,
            RobustRecourse::Unknown => self.unknown += 1,
        }
        self.factors.extend(person.factor_at_most(problem));
        self.differences.extend(person.cost_stability.as_ref().ok().map(|stability| stability.delta()));
        self.sizes.extend(person.breaking.as_ref().ok().map(|breaking| breaking.size));
    }

    /// The number of people.
    pub fn people(&self) -> usize {
        self.favourable + self.found + self.impossible + self.undecided
    }
}

/// The median; the upper of the two middle values for an even number of values. `None` if there are none.
pub(crate) fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
