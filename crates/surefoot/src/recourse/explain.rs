//! Explanations of why no action holds.
//!
//! An explanation consists of two kinds of facts. Each is the proven answer of a method to a modified
//! problem:
//!
//! - the largest uncertainty for which an action holds ([`Reach`]);
//! - the restrictions whose removal, one at a time, would allow an action ([`Relaxation`]): the limits of
//!   a feature, its largest change or its step, its being fixed or changeable in one direction only, a
//!   constraint, a forbidden transition, what may be changed together.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::trade_off::{Searches, TOLERANCE};
use super::{Exact, Reach, Settings, Solver};
use crate::cancel;
use crate::outcome::{Outcome, Recourse};
use crate::problem::OwnProblem;
use crate::{Budget, Change, Feature, Kind, Problem, Result};

/// A restriction that is removed.
#[derive(Clone, Debug, PartialEq)]
pub enum Relaxation {
    /// The limits of a feature.
    Limits(usize),
    /// The largest change of a feature.
    MostChange(usize),
    /// That a feature changes by multiples of a step.
    Step(usize),
    /// That a feature, or the columns of a group, are fixed or may change in one direction only.
    Change(Vec<usize>),
    /// A constraint, by its position.
    Constraint(usize),
    /// A forbidden transition, by its position.
    Transition(usize),
    /// The largest number of changes.
    MostChanges,
    /// A list of which at most one thing may be changed, by its position.
    OneOf(usize),
}

/// A problem without one of its restrictions.
#[derive(Clone, Debug)]
pub struct Relaxed {
    relaxation: Relaxation,
    /// `None` if the result is not a valid problem.
    problem: Option<Problem>,
}

/// The reasons why no action holds for an individual. All of them are proven.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The largest uncertainty for which there is an action.
    pub reach: Reach,
    /// The restrictions whose removal alone allows an action that holds, with that action.
    pub enough: Vec<(Relaxation, Recourse)>,
    /// Whether it is proven for every other restriction that its removal alone allows no action.
    pub is_exhaustive: bool,
}

impl Relaxed {
    /// The problem without each of its restrictions in turn.
    pub fn all(problem: &Problem) -> Vec<Self> {
        let features = problem.features();
        let mut all = Vec::new();
        let mut push = |relaxation: Relaxation, problem: Result<Problem>| {
            all.push(Relaxed { relaxation, problem: problem.ok() });
        };
        for (i, feature) in features.iter().enumerate() {
            if is_limited(problem, i, feature) {
                let unlimited = features.altered(|k, feature| {
                    if k == i {
                        (feature.lower, feature.upper) = (f64::NEG_INFINITY, f64::INFINITY);
                    }
                });
                push(Relaxation::Limits(i), problem.with_features(unlimited));
            }
            let is_actionable = feature.is_actionable();
            if is_actionable && feature.most_change.min(feature.most_change_share).is_finite() {
                let unlimited = features.altered(|k, feature| {
                    if k == i {
                        (feature.most_change, feature.most_change_share) = (f64::INFINITY, f64::INFINITY);
                    }
                });
                push(Relaxation::MostChange(i), problem.with_features(unlimited));
            }
            if is_actionable && feature.step.is_some() {
                let free = features.altered(|k, feature| {
                    if k == i {
                        feature.step = None;
                    }
                });
                push(Relaxation::Step(i), problem.with_features(free));
            }
        }
        let mut units: Vec<Vec<usize>> = features.groups().into_iter().map(|group| group.columns).collect();
        units.extend((0..features.len()).filter(|&i| features.feature(i).group.is_none()).map(|i| vec![i]));
        units.sort();
        for unit in units {
            if unit.iter().any(|&i| features.feature(i).change != Change::Any) {
                let free = features.altered(|k, feature| {
                    if unit.contains(&k) {
                        feature.change = Change::Any;
                    }
                });
                push(Relaxation::Change(unit), problem.with_features(free));
            }
        }
        for k in 0..problem.constraints().len() {
            let mut rest = problem.constraints().to_vec();
            rest.remove(k);
            push(Relaxation::Constraint(k), problem.clone().with_constraints(rest));
        }
        for k in 0..problem.forbidden().len() {
            let mut rest = problem.forbidden().to_vec();
            rest.remove(k);
            push(Relaxation::Transition(k), problem.clone().with_forbidden(rest));
        }
        let limits = problem.change_limits();
        if limits.most_changes().is_some() {
            let rest = limits.without_most_changes();
            push(Relaxation::MostChanges, problem.clone().with_change_limits(rest));
        }
        for k in 0..limits.one_of().len() {
            push(Relaxation::OneOf(k), problem.clone().with_change_limits(limits.without_one_of(k)));
        }
        all
    }
}

/// Whether a feature has a limit that may stop an action.
fn is_limited(problem: &Problem, i: usize, feature: &Feature) -> bool {
    let follows = || {
        let causes = problem.features().actionable();
        problem.scm().is_some_and(|scm| causes.into_iter().any(|cause| scm.is_downstream(i, cause)))
    };
    feature.kind != Kind::Binary
        && (feature.lower.is_finite() || feature.upper.is_finite())
        && (feature.is_actionable() || follows())
}

/// Explains why no action holds; prepared once for a problem and used for any number of individuals.
///
/// ```
/// use surefoot::recourse::{Explainer, Relaxed, Settings};
/// use surefoot::{Change, Classifier, Feature, Features, Norm, Problem, describe_explanation, recourse};
///
/// let income = Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, 4500.0).change(Change::Increase);
/// let features = Features::new(vec![income])?;
/// let problem = Problem::new(features.clone(), Classifier::linear(vec![1.0], 0.0, 0.5)?)?
///     .with_uncertainty(Norm::L2, 1.5)?;
/// let people = surefoot::People::from_own_units(&features, &[[2400.0]])?;
/// let outcome = &recourse(&problem, &people)?[0];
/// let relaxed = Relaxed::all(&problem);
/// let explainer = Explainer::new(&problem, &relaxed, Settings::default())?;
/// let explanation = explainer.explain(people.individual(0), outcome)?.unwrap();
/// assert_eq!(
///     describe_explanation(&problem, &explanation),
///     "There is one for shifts of up to 0.9999 standard deviations (1.5 was asked for), and none for \
///      1.001 or more. There would be one if income could rise to 5250.1, above its limit of 4500. All of \
///      this is proven."
/// );
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Debug)]
pub struct Explainer<'p> {
    problem: &'p Problem,
    relaxed: &'p [Relaxed],
    settings: Settings,
    /// The method for each relaxed problem, prepared when it is first needed.
    methods: Vec<OnceLock<Option<Solver<'p>>>>,
    /// For linear problems without requirements, whose largest uncertainty has a closed form.
    exact: Option<Exact<'p>>,
}

impl<'p> Explainer<'p> {
    /// Prepares explanations with the relaxed problems that [`Relaxed::all`] gives.
    ///
    /// An explanation costs less than seven times the evaluations of the budget: the enclosure of the reach
    /// as in [`trade_off`](super::trade_off()), and a whole budget for all relaxed problems together, in equal
    /// shares, which [`Complete::with_budget`](super::Complete::with_budget) may exceed.
    ///
    /// # Errors
    /// If the settings make no sense, or if no method can answer the problem.
    pub fn new(problem: &'p Problem, relaxed: &'p [Relaxed], settings: Settings) -> Result<Self> {
        Solver::new(problem, settings)?;
        let exact = Exact::new(problem).ok().filter(|_| problem.requirements().is_empty());
        let methods = relaxed.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { problem, relaxed, settings, methods, exact })
    }

    /// Whether an explanation takes only microseconds: the problem is linear and has no requirements on
    /// outcomes.
    pub fn is_cheap(&self) -> bool {
        self.exact.is_some()
    }

    /// Why no action holds for an individual; `None` if the outcome is not `Impossible`.
    ///
    /// # Errors
    /// As the methods that answer.
    pub fn explain(&self, individual: &[f64], outcome: &Outcome) -> Result<Option<Explanation>> {
        if !matches!(outcome, Outcome::Impossible(_)) {
            return Ok(None);
        }
        let reach = self.reach(individual, outcome)?;
        let without = |k: usize| -> Result<Option<Outcome>> {
            let share = self.settings.budget.evaluations / self.relaxed.len();
            let settings = Settings { budget: Budget { evaluations: share.max(1) }, ..self.settings };
            // Without some restrictions there are too many intervention sets for any method.
            let prepare = || Solver::new(self.relaxed[k].problem.as_ref()?, settings).ok();
            self.methods[k].get_or_init(prepare).as_ref().map(|method| method.solve(individual)).transpose()
        };
        let outcomes: Vec<Option<Outcome>> = match self.is_cheap() {
            true => (0..self.relaxed.len()).map(without).collect::<Result<_>>()?,
            false => {
                let current = cancel::Cancel::current();
                let without = |k: usize| cancel::with(current.clone(), || without(k));
                (0..self.relaxed.len()).into_par_iter().map(without).collect::<Result<_>>()?
            }
        };
        let is_known =
            |outcome: &Option<Outcome>| matches!(outcome, Some(Outcome::Found(_) | Outcome::Impossible(_)));
        let is_exhaustive = outcomes.iter().all(is_known);
        let enough = self.relaxed.iter().zip(outcomes).filter_map(|(relaxed, outcome)| match outcome {
            Some(Outcome::Found(found)) => Some((relaxed.relaxation.clone(), found)),
            _ => None,
        });
        let mut enough: Vec<(Relaxation, Recourse)> = enough.collect();
        // A restriction beyond which only enormous changes help says little.
        enough.sort_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
        Ok(Some(Explanation { reach, enough, is_exhaustive }))
    }

    fn reach(&self, individual: &[f64], outcome: &Outcome) -> Result<Reach> {
        if self.problem.ball().is_none() {
            return Ok(Reach { possible: None, impossible: Some(0.0) });
        }
        let epsilon = self.problem.epsilon();
        let own = self.problem.for_person(individual)?;
        match &self.exact {
            Some(exact) if own.is_none() => {
                let Reach { possible, impossible } = exact.largest_epsilon(individual)?;
                let impossible = impossible.map_or(epsilon, |impossible| impossible.min(epsilon));
                Ok(Reach { possible, impossible: Some(impossible) })
            }
            _ => {
                let (problem, individual) = OwnProblem::or(own.as_ref(), self.problem, individual);
                let searches = Searches::new(problem, individual, self.settings)?;
                searches.with_known(epsilon, outcome.clone()).enclose(TOLERANCE, &|_| {})
            }
        }
    }
}
