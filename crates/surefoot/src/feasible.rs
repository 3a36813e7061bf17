//! Whether an action is feasible for an individual.
//!
//! An action that *holds* may still be infeasible: it may change a fixed feature, leave the limits, or
//! change an integer by a fraction. The methods of this crate return feasible actions only; this module
//! checks actions from other sources.

use std::fmt;

use thiserror::Error;

use crate::action::feasible_change;
use crate::error::{CausalModelError, PeopleError};
use crate::feature::Group;
use crate::magnitude::readable;
use crate::margin::outcome;
use crate::problem::OwnProblem;
use crate::{Action, ActionKind, Change, ChangeLimits, Constraint, Error, Kind, Problem, Result, essential};

/// The share of a value below which a difference counts as the rounding of units.
const ROUNDING: f64 = 1e-9;

/// The reasons why an action is infeasible; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasible {
    /// All the reasons.
    pub reasons: Vec<InfeasibleReason>,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<String> = self.reasons.iter().map(InfeasibleReason::to_string).collect();
        f.write_str(&reasons.join("; "))
    }
}

/// One reason, in people's own units.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum InfeasibleReason {
    /// A feature that no action may change.
    #[error("`{feature}` may not be changed")]
    Fixed { feature: String },
    /// A change in the wrong direction.
    #[error("`{feature}` may only {}", if *.up { "rise" } else { "fall" })]
    Direction { feature: String, up: bool },
    /// A category that nobody may leave, or enter.
    #[error("`{category}` may not be {}", if *.entered { "entered" } else { "left" })]
    Category { category: String, entered: bool },
    /// A value beyond a limit.
    #[error(
        "`{feature}` would become {}, {} its limit of {}",
        readable(*value), if *.value > *.limit { "above" } else { "below" }, readable(*limit)
    )]
    Limit { feature: String, value: f64, limit: f64 },
    /// A fractional change of an integer feature.
    #[error("`{feature}` would change by {}, and changes by whole numbers only", readable(*change))]
    NotInteger { feature: String, change: f64 },
    /// A change that is no multiple of the step.
    #[error("`{feature}` would change by {}, and changes by multiples of {} only", readable(*change), readable(*step))]
    NotAStep { feature: String, change: f64, step: f64 },
    /// A change that is larger than the largest one.
    #[error("`{feature}` would change by {}, and may change by {} at most", readable(*change), readable(*most))]
    MostChange { feature: String, change: f64, most: f64 },
    /// No category afterwards, or several.
    #[error("`{group}` would not go from one category to another")]
    NoCategory { group: String },
    /// A forbidden transition between values.
    #[error("`{feature}` may not go from {} to {}", readable(*from), readable(*to))]
    ForbiddenValue { feature: String, from: f64, to: f64 },
    /// A forbidden transition between categories.
    #[error("`{group}` may not go from `{from}` to `{to}`")]
    ForbiddenCategory { group: String, from: String, to: String },
    /// More changes than are allowed.
    #[error("{changes} things would be changed or held ({}), and {most} at most may be", names.join(", "))]
    TooManyChanges { changes: usize, most: usize, names: Vec<String> },
    /// Several changes of which one is allowed.
    #[error("only one of {} may be changed", names.join(", "))]
    OneOf { names: Vec<String> },
    /// A result that the causal model leaves undefined.
    #[error("its result is undefined: {why}")]
    Undefined { why: String },
    /// A constraint that the outcome does not meet.
    #[error("the constraint `{rule}` is not met")]
    Constraint { rule: String },
}

/// The reasons why an action, from whatever source, is infeasible for an individual; `None` if it is
/// feasible.
///
/// ```
/// use surefoot::{Action, Change, Classifier, Feature, Features, Problem, infeasibility};
///
/// let income = Feature::new("income").scaling(3000.0, 1500.0).limits(0.0, 9000.0).change(Change::Increase);
/// let problem = Problem::new(Features::new(vec![income])?, Classifier::linear(vec![1.0], 0.0, 0.5)?)?;
/// let why = |change| infeasibility(&problem, &[0.0], &Action { features: vec![0], change: vec![change] });
/// assert_eq!(why(2.0)?, None);
/// assert_eq!(why(-2.0)?.unwrap().to_string(), "`income` may only rise");
/// assert_eq!(why(5.0)?.unwrap().to_string(), "`income` would become 10500, above its limit of 9000");
/// # Ok::<(), surefoot::Error>(())
/// ```
///
/// # Errors
/// If individual or action do not fit the problem, or if the causal model cannot produce them.
pub fn infeasibility(problem: &Problem, individual: &[f64], action: &Action) -> Result<Option<Infeasible>> {
    let features = problem.features();
    action.check(features)?;
    if individual.len() != features.len() {
        return Err(Error::People(PeopleError::VectorLength {
            expected: features.len(),
            found: individual.len(),
        }));
    }
    let own = problem.for_person(individual)?;
    let (problem, individual) = OwnProblem::or(own.as_ref(), problem, individual);
    let features = problem.features();
    let mut reasons = Vec::new();
    for (&i, &change) in action.features.iter().zip(&action.change) {
        reasons.extend(of_feature(problem, individual, i, change));
    }
    for group in features.groups() {
        reasons.extend(of_group(problem, individual, action, group));
    }
    reasons.extend(together(problem, action));
    match outcome(problem, individual, action) {
        Ok(reached) => {
            // Actions from other sources were read from text, so a violation within rounding is accepted.
            let is_unmet = |rule: &&Constraint| rule.value(&reached) < -rule.rounding(&reached);
            let unmet = problem.requirements().iter().filter(is_unmet);
            reasons.extend(unmet.filter_map(|rule| of_requirement(problem, &reached, action, rule)));
        }
        Err(Error::CausalModel(CausalModelError::ActionUndefined { why })) => {
            reasons.push(InfeasibleReason::Undefined { why: why.to_string() })
        }
        Err(error) => return Err(error),
    }
    Ok((!reasons.is_empty()).then_some(Infeasible { reasons }))
}

/// The reason for an unmet requirement. `None` for a limit on a feature that the action itself changes,
/// which is checked separately.
fn of_requirement(
    problem: &Problem,
    reached: &[f64],
    action: &Action,
    rule: &Constraint,
) -> Option<InfeasibleReason> {
    let Some(i) = rule.limited_feature() else {
        return Some(InfeasibleReason::Constraint { rule: rule.text().into() });
    };
    if action.features.contains(&i) {
        return None;
    }
    let feature = problem.features().feature(i);
    let value = ten_digits(feature.own_units(reached[i]));
    let limit = if value < feature.lower { feature.lower } else { feature.upper };
    Some(InfeasibleReason::Limit { feature: feature.name.clone(), value, limit })
}

/// The reason why the change of one feature is not allowed.
fn of_feature(problem: &Problem, individual: &[f64], i: usize, change: f64) -> Option<InfeasibleReason> {
    let feature = problem.features().feature(i);
    let name = || feature.plain_name().to_owned();
    if !feature.is_actionable() {
        // Holding a feature makes a difference only if something would move it.
        let is_held = problem.action_kind() == ActionKind::Absolute
            || problem.causal_models().iter().any(|scm| !scm.parents(i).is_empty());
        return (change != 0.0 || is_held).then(|| InfeasibleReason::Fixed { feature: name() });
    }
    let by = feature.std * change;
    let whole = by.round();
    if let Some(spacing) = feature.spacing() {
        let steps = by / spacing;
        if (steps - steps.round()).abs() > ROUNDING * steps.abs().max(1.0) {
            return Some(match feature.step {
                Some(step) => InfeasibleReason::NotAStep { feature: name(), change: ten_digits(by), step },
                None => InfeasibleReason::NotInteger { feature: name(), change: by },
            });
        }
    }
    let (lower, upper) = feasible_change(problem.features(), i, individual[i]);
    let slack = ROUNDING * (1.0 + individual[i].abs() + change.abs());
    if change < lower - slack || change > upper + slack {
        let up = change > 0.0;
        let from = feature.start(individual[i]);
        let is_in_direction = feature.change == Change::Any || (feature.change == Change::Increase) == up;
        if is_in_direction && !feature.allows_change(from, by * (1.0 - ROUNDING)) {
            return Some(InfeasibleReason::MostChange {
                feature: name(),
                change: ten_digits(by.abs()),
                most: ten_digits(feature.largest_change(from)),
            });
        }
        return Some(match feature.change {
            Change::Increase | Change::Decrease if feature.group.is_some() => {
                InfeasibleReason::Category { category: name(), entered: up }
            }
            Change::Increase if !up => InfeasibleReason::Direction { feature: name(), up: true },
            Change::Decrease if up => InfeasibleReason::Direction { feature: name(), up: false },
            // Above 1 or below 0 for a column of a group, which is checked with its group.
            _ if feature.group.is_some() => return None,
            _ => {
                let value = ten_digits(feature.own_units(individual[i] + change));
                let (least, most) = match feature.kind {
                    Kind::Binary => (feature.lower.max(0.0), feature.upper.min(1.0)),
                    Kind::Real | Kind::Integer => (feature.lower, feature.upper),
                };
                InfeasibleReason::Limit { feature: name(), value, limit: if up { most } else { least } }
            }
        });
    }
    if feature.kind == Kind::Real || feature.group.is_some() {
        return None;
    }
    let from = feature.own_units(individual[i]).round();
    let is_forbidden = problem.forbidden().iter().any(|rule| rule.forbids_step(i, from, from + whole));
    is_forbidden.then(|| InfeasibleReason::ForbiddenValue { feature: name(), from, to: from + whole })
}

/// The reason why the move of a group is not allowed, if there is one.
fn of_group(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    group: Group,
) -> Option<InfeasibleReason> {
    let feature = |i: usize| problem.features().feature(i);
    let own = |i: usize| feature(i).own_units(individual[i]).round();
    let steps = |i: usize| {
        let place = action.features.iter().position(|&named| named == i);
        place.map_or(0.0, |place| (feature(i).std * action.change[place]).round())
    };
    let moved: Vec<usize> = group.columns.iter().copied().filter(|&i| steps(i) != 0.0).collect();
    if moved.is_empty() {
        return None;
    }
    let leaves = |&&i: &&usize| steps(i) == -1.0 && own(i) == 1.0;
    let enters = |&&i: &&usize| steps(i) == 1.0 && own(i) == 0.0;
    let (Some(&from), Some(&to), 2) = (moved.iter().find(leaves), moved.iter().find(enters), moved.len())
    else {
        return Some(InfeasibleReason::NoCategory { group: group.name });
    };
    let forbids = problem.forbidden().iter().any(|rule| {
        rule.forbids_move(from, to) || rule.forbids_step(from, 1.0, 0.0) || rule.forbids_step(to, 0.0, 1.0)
    });
    let name = |i: usize| feature(i).plain_name().to_owned();
    forbids.then(|| InfeasibleReason::ForbiddenCategory { group: group.name, from: name(from), to: name(to) })
}

/// The reasons why the changes of an action are not allowed together.
fn together(problem: &Problem, action: &Action) -> Vec<InfeasibleReason> {
    let limits = problem.change_limits();
    if *limits == ChangeLimits::none() {
        return Vec::new();
    }
    let things = problem.changed_things(&essential(problem, action));
    let name = |&i: &usize| {
        let feature = problem.features().feature(i);
        feature.group.clone().unwrap_or_else(|| feature.name.clone())
    };
    let mut reasons = Vec::new();
    if let Some(most) = limits.most_changes().filter(|most| things.len() > *most) {
        let names = things.iter().map(name).collect();
        reasons.push(InfeasibleReason::TooManyChanges { changes: things.len(), most, names });
    }
    for list in limits.one_of() {
        let names: Vec<String> = things.iter().filter(|thing| list.contains(thing)).map(name).collect();
        if names.len() > 1 {
            reasons.push(InfeasibleReason::OneOf { names });
        }
    }
    reasons
}

/// Rounds to ten digits, which removes the error of the conversion of units.
fn ten_digits(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}
