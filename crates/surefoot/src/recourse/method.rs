//! The trait of all methods, and the list of them.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use super::cases::Cases;
use super::local::Local;
use super::trees::Trees;
use super::{Complete, Descent, Exact, Observer, Settings};
use crate::error::{CausalModelError, SettingError};
use crate::proof::Proof;
use crate::{Error, Outcome, Problem, Result};

/// A method, prepared for one problem and used for any number of individuals.
///
/// A method that proves its answers returns them as [`Outcome::Found`], [`Outcome::Impossible`] or
/// [`Outcome::Undecided`]; one that does not returns [`Outcome::Unproved`] instead of `Found`.
pub trait Method: fmt::Debug + Send + Sync {
    /// The answer for one individual, and the number of evaluations; zero where a closed form answers.
    ///
    /// # Errors
    /// If the individual does not have one finite value for each feature, or if the causal model cannot
    /// produce them.
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)>;

    /// The answer with a proof that can be saved and verified.
    ///
    /// # Errors
    /// As [`Method::solve`]; [`SettingError::NoProof`] if the method proves nothing.
    fn prove(&self, individual: &[f64]) -> Result<Proof>;

    /// Has an observer told of better answers as they are found, if the method has any before the last.
    fn observe(&mut self, _observer: Observer) {}

    /// The answer of a closed form; `None` if the individual needs a search.
    ///
    /// # Errors
    /// As [`Method::solve`].
    fn solve_at_once(&self, _individual: &[f64]) -> Result<Option<Outcome>> {
        Ok(None)
    }

    /// The answers for several individuals, in order, on all cores. `progress` is called with the number of
    /// individuals that were answered since the last call.
    ///
    /// # Errors
    /// As [`Method::solve`].
    fn solve_all(&self, individuals: &[&[f64]], progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Outcome>> {
        let solve = |individual: &&[f64]| {
            let (outcome, _) = self.solve(individual)?;
            progress(1);
            Ok(outcome)
        };
        individuals.par_iter().with_min_len(self.batch_size()).map(solve).collect()
    }

    /// The number of individuals that a thread should answer at a time. Closed forms take less than a
    /// microsecond, so that several of them are worth the transfer to another thread.
    fn batch_size(&self) -> usize {
        if self.is_closed_form() { 256 } else { 1 }
    }

    /// Whether most individuals are answered by a closed form.
    fn is_closed_form(&self) -> bool {
        false
    }
}

/// The name of a method, or `auto` for the first that proves its answers and accepts the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodName(&'static str);

/// One line for each method.
struct Listed {
    name: &'static str,
    /// Whether `auto` may choose it: only methods that prove their answers.
    is_automatic: bool,
    /// Whether its searches keep to the gap, the budget and the seconds of the settings.
    is_limited: bool,
    /// Whether it answers problems that limit what is changed together by [`Cases`].
    is_by_cases: bool,
    prepare: Prepare,
}

type Prepare = for<'p> fn(&'p Problem, Settings) -> Result<Box<dyn Method + 'p>>;

/// Every method, in the order in which `auto` tries them.
const METHODS: [Listed; 5] = [
    Listed {
        name: "exact",
        is_automatic: true,
        is_limited: true,
        is_by_cases: true,
        prepare: |problem, settings| Exact::prepare_method(problem, settings),
    },
    Listed {
        name: "trees",
        is_automatic: true,
        is_limited: true,
        is_by_cases: true,
        prepare: |problem, settings| Trees::prepare_method(problem, settings),
    },
    Listed {
        name: "complete",
        is_automatic: true,
        is_limited: true,
        is_by_cases: true,
        prepare: |problem, settings| Complete::prepare_method(problem, settings),
    },
    Listed {
        name: "local",
        is_automatic: false,
        is_limited: true,
        is_by_cases: true,
        prepare: |problem, settings| Local::prepare_method(problem, settings),
    },
    Listed {
        name: "descent",
        is_automatic: false,
        is_limited: false,
        is_by_cases: false,
        prepare: |problem, settings| Descent::prepare_method(problem, settings),
    },
];

impl MethodName {
    /// The first method that proves its answers and accepts the problem.
    pub const AUTO: Self = Self("auto");

    /// Every name, `auto` first.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::AUTO).chain(METHODS.iter().map(|listed| Self(listed.name)))
    }

    /// The name as text.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Whether the method proves its answers.
    pub fn proves(self) -> bool {
        METHODS.iter().all(|listed| listed.name != self.0 || listed.is_automatic)
    }

    /// Whether searches of the method keep to the gap, the budget and the seconds of the [`Settings`].
    pub fn is_limited(self) -> bool {
        METHODS.iter().all(|listed| listed.name != self.0 || listed.is_limited)
    }

    /// The names of the methods whose searches are limited, for messages.
    pub fn limited() -> String {
        let limited: Vec<&str> = Self::all().filter(|name| name.is_limited()).map(Self::as_str).collect();
        limited.join(", ")
    }

    /// Prepares the method for a problem.
    pub(super) fn prepare(self, problem: &Problem, settings: Settings) -> Result<Box<dyn Method + '_>> {
        let is_by_cases = METHODS.iter().all(|listed| listed.name != self.0 || listed.is_by_cases);
        if is_by_cases && problem.has_change_limits() {
            return Cases::prepare_method(problem, self, settings);
        }
        if let Some(listed) = METHODS.iter().find(|listed| listed.name == self.0) {
            return (listed.prepare)(problem, settings);
        }
        let mut refused = Err(Error::CausalModel(CausalModelError::OtherFeatures));
        for listed in METHODS.iter().filter(|listed| listed.is_automatic) {
            refused = (listed.prepare)(problem, settings);
            // Only a model of another kind goes on to the next method; other errors concern all methods.
            if !matches!(&refused, Err(error) if error.is_for_another_method()) {
                break;
            }
        }
        refused
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl FromStr for MethodName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names: Vec<&str> = Self::all().map(Self::as_str).collect();
        let known = Self::all().find(|name| name.0 == text);
        known.ok_or_else(|| {
            Error::Setting(SettingError::UnknownMethod { name: text.into(), known: names.join(", ") })
        })
    }
}
