//! How often each kind of answer was given.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use surefoot::Outcome;

use crate::words::{self, are, have};

/// How many people got each kind of answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    favourable: usize,
    found: usize,
    unproved: usize,
    impossible: usize,
    undecided: usize,
}

impl Counts {
    /// Counts the first answer of a person.
    pub fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::AlreadyFavourable => &mut self.favourable,
            Outcome::Found(_) => &mut self.found,
            Outcome::Unproved(_) => &mut self.unproved,
            Outcome::Impossible(_) => &mut self.impossible,
            Outcome::Undecided(_) => &mut self.undecided,
        } += 1;
    }

    /// The number of people.
    pub fn people(&self) -> usize {
        self.favourable + self.found + self.unproved + self.impossible + self.undecided
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.favourable += other.favourable;
        self.found += other.found;
        self.unproved += other.unproved;
        self.impossible += other.impossible;
        self.undecided += other.undecided;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { favourable, found, unproved, impossible, undecided } = self;
        let people = words::people(self.people());
        write!(f, "{people}: {favourable} {} treated favourably already; ", are(*favourable))?;
        if *unproved > 0 {
            write!(f, "{unproved} {} an action that is not proven to hold, ", have(*unproved))?;
        }
        let has = have(*found);
        writeln!(
            f,
            "{found} {has} an action that is proven to hold, {impossible} provably none; {undecided} could not be \
             decided."
        )
    }
}
