//! The reasons for a decision, ranked: what counts against somebody, and whether something can be done about it.
//!
//! [docs/definition.md](https://github.com/surefoot/surefoot/blob/main/docs/definition.md#reasons) has the definition.

use crate::feature::{Features, Group};
use crate::margin::outcome;
use crate::{Action, Cost, Kind, Outcome, Problem, Scm, essential};

/// The most reasons that are given.
pub const MOST_REASONS: usize = 4;
/// A feature that no action changes is a reason if it accounts for at least this share of the shortfall.
const LEAST_SHARE: f64 = 0.1;

/// A thing that people know as one: a feature, or the columns of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// The positions of its features, in order.
    pub positions: Vec<usize>,
}

impl Thing {
    /// Everything that people know of a problem, in the order of the features.
    pub fn all(features: &Features) -> Vec<Self> {
        let groups = features.groups();
        let group_of = |i: usize| groups.iter().find(|group: &&Group| group.columns.contains(&i));
        let thing = |i: usize| match group_of(i) {
            Some(group) => (group.columns.first() == Some(&i)).then(|| group.columns.clone()),
            None => Some(vec![i]),
        };
        (0..features.len()).filter_map(thing).map(|positions| Self { positions }).collect()
    }

    /// The first of its features.
    pub fn first(&self) -> usize {
        self.positions[0]
    }
}

/// Whether something can be done about a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The action that was found changes it.
    Changed,
    /// Actions may change it, and the answer is none, or none that is known.
    Changeable,
    /// No action changes it directly; it follows from features that actions change.
    Follows,
    /// No action changes it.
    Fixed,
}

/// One reason for an unfavourable decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What it is about.
    pub thing: Thing,
    /// Whether something can be done about it.
    pub remedy: Remedy,
    /// The share of the shortfall that would be made up: by what the action changes of it, or with the typical value.
    /// It may be more than one, and for changes of an action that only work together not positive.
    pub share: f64,
    /// The share of the cost of the action; `None` unless the action changes it.
    pub effort: Option<f64>,
    /// The typical value in standardised units, a number for each of its features; `None` if the action changes it.
    pub typical: Option<Vec<f64>>,
}

/// At most [`MOST_REASONS`] reasons for a decision, the most important first. None if the decision is favourable.
///
/// `typical` is the value, in own units, with which the value of a feature is compared; `None`: its mean.
///
/// # Panics
/// If the individual or the answer does not fit the problem.
pub fn reasons(
    problem: &Problem,
    individual: &[f64],
    answer: &Outcome,
    typical: &dyn Fn(usize) -> Option<f64>,
) -> Vec<Reason> {
    let before = problem.score(individual);
    if matches!(answer, Outcome::AlreadyFavourable) || before.is_nan() || before >= 0.0 {
        return Vec::new();
    }
    let things = Thing::all(problem.features());
    let action = answer.advice().map(|advice| essential(problem, advice.action));
    let mut reasons = match &action {
        Some(action) => changed(problem, individual, before, &things, action),
        None => Vec::new(),
    };
    let is_changed = |thing: &Thing| reasons.iter().any(|reason| reason.thing == *thing);
    let others = things.iter().filter(|thing| !is_changed(thing));
    let others: Vec<Reason> = others
        .filter_map(|thing| unchanged(problem, individual, before, thing, action.is_some(), typical))
        .collect();
    by_share(&mut reasons);
    reasons.truncate(MOST_REASONS);
    let mut others = others;
    by_share(&mut others);
    // What can be done comes before what cannot, if there is room for some of them only.
    others.truncate(MOST_REASONS - reasons.len());
    reasons.extend(others);
    by_share(&mut reasons);
    reasons
}

/// The largest share first; of equal ones in the order of the features.
fn by_share(reasons: &mut [Reason]) {
    reasons.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.thing.first().cmp(&b.thing.first())));
}

/// A reason for everything that an action changes.
fn changed(
    problem: &Problem,
    individual: &[f64],
    before: f64,
    things: &[Thing],
    action: &Action,
) -> Vec<Reason> {
    let part = |thing: &Thing| -> Action {
        let named = action.features.iter().zip(&action.change);
        let named = named.filter(|(i, change)| thing.positions.contains(i) && **change != 0.0);
        let (features, change) = named.map(|(&i, &change)| (i, change)).unzip();
        Action { features, change }
    };
    let power = |action: &Action| match problem.cost() {
        Cost::L1 => problem.cost().of(problem.features(), action),
        // Squares of weighted changes add up to the square of the cost.
        Cost::L2 => problem.cost().of(problem.features(), action).powi(2),
    };
    let whole = power(action);
    let parts = things.iter().map(|thing| (thing, part(thing))).filter(|(_, part)| !part.features.is_empty());
    let reason = |(thing, part): (&Thing, Action)| {
        // A part of an action may have no result of its own.
        let after = outcome(problem, individual, &part).map_or(before, |after| problem.score(&after));
        let gain = if after.is_finite() { after - before } else { 0.0 };
        Reason {
            thing: thing.clone(),
            remedy: Remedy::Changed,
            share: gain / -before,
            effort: Some(power(&part) / whole),
            typical: None,
        }
    };
    parts.map(reason).collect()
}

/// The reason for something that the action does not change, if it accounts for enough of the shortfall.
fn unchanged(
    problem: &Problem,
    individual: &[f64],
    before: f64,
    thing: &Thing,
    has_action: bool,
    typical: &dyn Fn(usize) -> Option<f64>,
) -> Option<Reason> {
    let remedy = remedy(problem, thing);
    // The cheapest action leaves it as it is: something else is easier to change.
    if has_action && remedy == Remedy::Changeable {
        return None;
    }
    let value = typical_value(problem.features(), thing, typical)?;
    let mut other = individual.to_vec();
    thing.positions.iter().zip(&value).for_each(|(&i, &value)| other[i] = value);
    let share = (problem.score(&other) - before) / -before;
    let is_enough = share.is_finite() && share >= LEAST_SHARE;
    is_enough.then(|| Reason { thing: thing.clone(), remedy, share, effort: None, typical: Some(value) })
}

/// Whether actions may change a thing, or something that it follows from.
pub(super) fn remedy(problem: &Problem, thing: &Thing) -> Remedy {
    let actionable = problem.features().actionable();
    if thing.positions.iter().any(|i| actionable.contains(i)) {
        return Remedy::Changeable;
    }
    let follows = |scm: &&Scm| {
        thing.positions.iter().any(|&i| actionable.iter().any(|&cause| scm.is_downstream(i, cause)))
    };
    if problem.causal_models().iter().any(follows) { Remedy::Follows } else { Remedy::Fixed }
}

/// The typical value of a thing in standardised units: the one that is stated, otherwise the mean, of whole numbers
/// the nearest, of categories the one with the highest mean. `None` where no category has a higher mean than the others.
fn typical_value(
    features: &Features,
    thing: &Thing,
    typical: &dyn Fn(usize) -> Option<f64>,
) -> Option<Vec<f64>> {
    if let [only] = thing.positions[..] {
        let feature = features.feature(only);
        let value = typical(only).unwrap_or(feature.mean);
        let value = match feature.kind {
            Kind::Real => value,
            Kind::Integer => value.round(),
            Kind::Binary => value.round().clamp(0.0, 1.0),
        };
        return Some(vec![feature.standardise(value)]);
    }
    let mean = |i: &usize| features.feature(*i).mean;
    let most = thing.positions.iter().max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
    let others = thing.positions.iter().filter(|i| *i != most);
    let is_highest = others.clone().all(|i| mean(i) < mean(most));
    let value = |&i: &usize| features.feature(i).standardise(f64::from(u8::from(i == *most)));
    is_highest.then(|| thing.positions.iter().map(value).collect())
}
