//! The statements of the theory about a problem, before or instead of solving it.
//!
//! Statements are numbered as in "On the Adversarial Robustness of Causal Algorithmic
//! Recourse" (Dominguez-Olmedo, Karimi and Schölkopf, 2022).
//!
//! [`existence`], [`extra_cost`], [`cost_stability`] and [`fragility`] are the individual statements;
//! they reject a problem to which they do not apply. [`Theory`] makes all of them about any problem and
//! any individual, and names the conditions that are not met.

mod break_action;
mod condition;
mod person;
mod statement;
mod summary;

pub use break_action::{Breaking, break_action};
pub use condition::Unmet;
pub use person::{AboutPerson, NoStatement, RobustRecourse, Statement};
pub use statement::{AboutProblem, Guarantee, Theory, standard};
pub use summary::Summary;
pub(crate) use summary::median;

use crate::action::feasible_change;
use crate::error::SettingError;
use crate::margin::{counterfactual, margin};
use crate::recourse::Exact;
use crate::{
    Action, ActionKind, Change, Error, Feature, Infeasible, Intervention, Problem, Result, infeasibility,
};

/// The result of Propositions 1 to 3 about the existence of robust recourse.
#[derive(Clone, Debug, PartialEq)]
pub struct Existence {
    /// The largest worst-case margin that any individual within the limits can have without
    /// acting. If it is negative nobody is robustly classified, and no action whose
    /// counterfactual stays within the limits can be robust, even if everybody has standard
    /// recourse (Proposition 1).
    pub most_robust_margin: f64,
    /// The features that may not change both ways. If there are none and somebody is
    /// robustly classified, everybody has robust recourse (Proposition 2).
    pub restricted: Vec<usize>,
    /// The actionable features that are unbounded in the direction that raises the score, alone
    /// or while others are held. If there is one, everybody has robust recourse (Proposition 3).
    pub unbounded: Vec<usize>,
}

impl Existence {
    /// Whether everybody, whatever their features, is guaranteed robust recourse.
    pub fn is_guaranteed(&self) -> bool {
        !self.unbounded.is_empty() || (self.restricted.is_empty() && self.most_robust_margin >= 0.0)
    }
}

/// The problem, if its actions are relative and real-valued.
fn relative<'p>(exact: &Exact<'p>) -> Result<&'p Problem> {
    exact.problem().require_continuous()?;
    match exact.problem().action_kind() {
        ActionKind::Relative => Ok(exact.problem()),
        ActionKind::Absolute => Err(Error::Setting(SettingError::AbsoluteActions)),
    }
}

/// Checks the conditions of Propositions 1 to 3 for a linear problem with relative actions.
pub fn existence(exact: &Exact<'_>) -> Result<Existence> {
    relative(exact)?;
    conditions_of_existence(exact)
}

/// As [`existence`], for any restriction of actions.
fn conditions_of_existence(exact: &Exact<'_>) -> Result<Existence> {
    let problem = exact.problem();
    let features = problem.features();
    let unbounded = |&(i, gain): &(usize, f64)| {
        let (down, up) = feasible_change(features, i, 0.0);
        gain > 0.0 && up.is_infinite() || gain < 0.0 && down.is_infinite()
    };
    let mut unbounded: Vec<usize> = exact.all_gains().into_iter().filter(unbounded).map(|(i, _)| i).collect();
    unbounded.sort_unstable();
    unbounded.dedup();
    Ok(Existence {
        most_robust_margin: most_robust_margin(exact, |_| false)?,
        restricted: (0..features.len()).filter(|&i| features.feature(i).change != Change::Any).collect(),
        unbounded,
    })
}

/// The largest worst-case margin of anybody within the limits; `is_unlimited` features have none.
fn most_robust_margin(exact: &Exact<'_>, is_unlimited: impl Fn(usize) -> bool) -> Result<f64> {
    let problem = exact.problem();
    let (weights, intercept) = problem.classifier().coefficients()?;
    let best = |(i, (w, feature)): (usize, (&f64, &Feature))| {
        let (lower, upper) = feature.standardised_limits();
        match *w {
            0.0 => 0.0,
            _ if is_unlimited(i) => f64::INFINITY,
            w if w > 0.0 => w * upper,
            w => w * lower,
        }
    };
    let best: f64 = weights.iter().zip(problem.features().iter()).enumerate().map(best).sum();
    Ok(intercept + best - exact.worst_decrease_of_observation())
}

/// The bound of Proposition 6 on the extra cost of robustness.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraCost {
    /// `beta = epsilon ||J^T w||* / <w, J theta>`: the action scaled by `1 + beta` is robust
    /// and costs at most that factor more. The causal form (Appendix, Proposition 6).
    pub beta: f64,
    /// Without a causal model: the form of the main text, which separates the contributions of actionable
    /// and of other features. Never below `beta`.
    pub separated: Option<f64>,
    /// The action scaled by `1 + beta`.
    pub action: Action,
    /// Whether that action is feasible (limits, integer values, constraints). The bound is valid only if
    /// it is.
    pub is_feasible: bool,
    /// Why it is not. `None` if it is, or if rounding alone puts it outside a limit.
    pub obstacle: Option<Infeasible>,
}

/// Bounds the extra cost of making a recourse action robust: `c(a') <= (1 + beta) c(a)`.
///
/// `None` if the action is no recourse action: it does not raise the score, or not up to the decision
/// boundary.
pub fn extra_cost(exact: &Exact<'_>, individual: &[f64], action: &Action) -> Result<Option<ExtraCost>> {
    let problem = exact.problem();
    let zero = vec![0.0; individual.len()];
    let after = margin(problem, individual, action, &zero)?;
    let gained = after - problem.classifier().score(individual);
    if after < 0.0 || gained <= 0.0 {
        return Ok(None);
    }
    let raise = after - exact.worst_case(individual, action)?.margin;
    let beta = raise / gained;
    let change: Vec<f64> = action.change.iter().map(|c| c * (1.0 + beta)).collect();
    let within = |(&i, &c): (&usize, &f64)| {
        let (down, up) = feasible_change(problem.features(), i, individual[i]);
        c >= down && c <= up
    };
    let is_within = action.features.iter().zip(&change).all(within);
    let scaled = Action { features: action.features.clone(), change };
    let obstacle = infeasibility(problem, individual, &scaled)?;
    let meets = || -> Result<bool> {
        Ok(problem.is_met(individual, &counterfactual(problem, individual, &scaled, &zero)?))
    };
    let is_feasible = is_within && obstacle.is_none() && meets()?;
    let separated = match problem.scm() {
        Some(_) => None,
        None => {
            let (weights, _) = problem.classifier().coefficients()?;
            let uncertainty = problem.uncertainty();
            let part = |actionable: bool| {
                let masked = weights.iter().zip(problem.features().iter());
                let masked = masked.map(|(w, f)| if f.is_actionable() == actionable { *w } else { 0.0 });
                uncertainty.norm().dual(&masked.collect::<Vec<_>>())
            };
            Some(uncertainty.radius() * (part(true) + part(false)) / gained)
        }
    };
    Ok(Some(ExtraCost { beta, separated, action: scaled, is_feasible, obstacle }))
}

/// How much the cost of standard recourse varies between an individual and similar ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostStability {
    /// The cost of standard recourse for the individual.
    pub cost: f64,
    /// The least cost among the individuals of the uncertainty set; 0 if one is favourable.
    pub least: f64,
    /// The greatest cost among them; infinite if one has no recourse.
    pub greatest: f64,
}

impl CostStability {
    /// `delta(x)`: the largest difference in cost to a similar individual (Appendix D). It is
    /// at most the cost of a robust action, and if it is infinite there is none.
    pub fn delta(&self) -> f64 {
        (self.greatest - self.cost).max(self.cost - self.least)
    }
}

/// The stability of cost of Appendix D, exactly.
///
/// As in the paper, similar individuals are assumed to have the same feasible changes as the individual.
/// Their scores fill the interval `s(x) +- epsilon ||J^T w||*`, and the cost depends only on the score,
/// monotonically. `None` if the individual has no recourse at all.
pub fn cost_stability(exact: &Exact<'_>, individual: &[f64]) -> Result<Option<CostStability>> {
    relative(exact)?;
    let (need, spread) = needs(exact, individual)?;
    let cost = |need: f64| if need <= 0.0 { 0.0 } else { exact.cost_of_raising(individual, need) };
    if cost(need).is_infinite() {
        return Ok(None);
    }
    let (least, greatest) = (cost(need - spread), cost(need + spread));
    Ok(Some(CostStability { cost: cost(need), least, greatest }))
}

/// The amount by which an individual's score must rise, and the largest difference of that amount for
/// similar ones.
fn needs(exact: &Exact<'_>, individual: &[f64]) -> Result<(f64, f64)> {
    let nothing = Action { features: Vec::new(), change: Vec::new() };
    let need = -margin(exact.problem(), individual, &nothing, &vec![0.0; individual.len()])?;
    Ok((need, exact.worst_decrease_of_observation()))
}

/// The perturbation by which Theorem 1 shows that a minimum-cost action is fragile.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragility {
    /// A perturbation of at most the given size under which the action leads to the same result as a
    /// cheaper action without it.
    pub perturbation: Vec<f64>,
    /// That cheaper action.
    pub cheaper: Action,
    /// The margin under the perturbation; negative if the action has minimum cost. An action with a
    /// safety margin breaks once the perturbation is as large as that margin.
    pub margin: f64,
}

/// Undoes up to `radius` of an action's largest change, and finds the perturbation with the same effect.
///
/// For relative actions and additive noise, `CF(CF(x, D), a) = CF(x, a')` with `a'` the
/// cheaper action. If `a` has minimum cost, `a'` is no recourse action, so `D` breaks `a`,
/// however small it is (Theorem 1). `None` if the action changes nothing.
pub fn fragility(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    radius: f64,
) -> Result<Option<Fragility>> {
    require_theorem_1(problem)?;
    if !(radius.is_finite() && radius >= 0.0) {
        return Err(Error::Setting(SettingError::Epsilon { epsilon: radius }));
    }
    // Rejects an individual or an action that does not fit the problem.
    margin(problem, individual, action, &vec![0.0; individual.len()])?;
    let Some(&k) = by_effort(problem, action).first() else { return Ok(None) };
    let mut removed = vec![0.0; action.change.len()];
    removed[k] = action.change[k];
    take_back(problem, individual, action, &removed, radius)
}

/// Rejects a problem for which the construction of Theorem 1 has no meaning.
fn require_theorem_1(problem: &Problem) -> Result<()> {
    problem.require_one_variant("the theory is")?;
    problem.require_no_change_limits("the theory")?;
    if let Some(scm) = problem.scm() {
        scm.require_additive()?;
    }
    match problem.action_kind() {
        ActionKind::Relative => Ok(()),
        ActionKind::Absolute => Err(Error::Setting(SettingError::AbsoluteActions)),
    }
}

/// Positions of the nonzero changes of an action, the costliest first.
fn by_effort(problem: &Problem, action: &Action) -> Vec<usize> {
    let weight = |k: usize| problem.features().feature(action.features[k]).weight;
    let effort = |k: usize| (weight(k) * action.change[k]).abs();
    let mut order: Vec<usize> = (0..action.change.len()).filter(|&k| action.change[k] != 0.0).collect();
    order.sort_by(|&a, &b| effort(b).total_cmp(&effort(a)));
    order
}

/// Undoes as large a share of `removed` as a perturbation of at most `radius` can.
///
/// Requires relative actions and additive noise. `None` if only the zero perturbation qualifies.
fn take_back(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    removed: &[f64],
    radius: f64,
) -> Result<Option<Fragility>> {
    let largest = removed.iter().fold(0.0, |a: f64, c| a.max(c.abs()));
    let mut share = if largest > 0.0 { (radius / largest).min(1.0) } else { 0.0 };
    // Keeping the other features of the action at their values may need a perturbation as well, so the
    // step is shortened until the total fits.
    while share > 0.0 {
        let change: Vec<f64> = removed.iter().map(|c| -share * c).collect();
        let features = &action.features;
        let perturbation = match problem.scm() {
            None => {
                let mut perturbation = vec![0.0; individual.len()];
                features.iter().zip(&change).for_each(|(&i, c)| perturbation[i] = *c);
                perturbation
            }
            Some(scm) => {
                let moved =
                    scm.counterfactual(individual, Intervention::Shift { features, change: &change })?;
                scm.perturbation_between(individual, &moved)?
            }
        };
        let size = problem.uncertainty().size(&perturbation);
        if size <= radius {
            let mut cheaper = action.clone();
            cheaper.change.iter_mut().zip(&change).for_each(|(c, back)| *c += back);
            let margin = margin(problem, individual, action, &perturbation)?;
            return Ok(Some(Fragility { perturbation, cheaper, margin }));
        }
        share *= (radius / size).min(1.0 - 1e-9);
    }
    Ok(None)
}
