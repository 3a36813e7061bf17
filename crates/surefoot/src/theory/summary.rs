//! Statements about many people in numbers.

use super::{AboutPerson, RobustRecourse};
use crate::{Outcome, Problem};

/// Counts of statements about people, and the numbers whose medians are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many are treated favourably already.
    pub favourable: usize,
    /// How many have a standard action.
    pub found: usize,
    /// How many provably have none.
    pub impossible: usize,
    /// For how many that could not be decided.
    pub undecided: usize,
    /// For how many robust recourse exists.
    pub exists: usize,
    /// For how many it does not exist.
    pub does_not_exist: usize,
    /// For how many the statements do not decide it.
    pub unknown: usize,
    /// The factors by which robust recourse costs more at most.
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

    /// How many people there are.
    pub fn people(&self) -> usize {
        self.favourable + self.found + self.impossible + self.undecided
    }
}

/// The median; of an even number of values the upper of the two in the middle. `None` if there are none.
pub(crate) fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
