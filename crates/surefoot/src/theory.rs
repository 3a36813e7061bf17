//! What the theory says of a linear problem before, or instead of, solving it.
//!
//! Statements are numbered as in "On the Adversarial Robustness of Causal Algorithmic
//! Recourse" (Dominguez-Olmedo, Karimi and Schölkopf, 2022).

use crate::action::feasible_change;
use crate::margin::margin;
use crate::recourse::Exact;
use crate::{Action, ActionKind, Change, Error, Feature, Intervention, Problem, Result};

/// What Propositions 1 to 3 say about the existence of robust recourse.
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

/// The problem, if its actions are relative and of any size.
fn relative<'p>(exact: &Exact<'p>) -> Result<&'p Problem> {
    exact.problem().require_continuous()?;
    match exact.problem().action_kind() {
        ActionKind::Relative => Ok(exact.problem()),
        ActionKind::Absolute => Err(Error::AbsoluteActions),
    }
}

/// Checks the conditions of Propositions 1 to 3 for a linear problem with relative actions.
pub fn existence(exact: &Exact<'_>) -> Result<Existence> {
    let problem = relative(exact)?;
    let features = problem.features();
    let (weights, intercept) = problem.classifier().coefficients()?;
    let best = |(w, feature): (&f64, &Feature)| {
        let (lower, upper) = feature.standardised_limits();
        match *w {
            0.0 => 0.0,
            w if w > 0.0 => w * upper,
            w => w * lower,
        }
    };
    let most_robust_score = intercept + weights.iter().zip(features.iter()).map(best).sum::<f64>();
    let unbounded = |&(i, gain): &(usize, f64)| {
        let (down, up) = feasible_change(features, i, 0.0);
        gain > 0.0 && up.is_infinite() || gain < 0.0 && down.is_infinite()
    };
    let mut unbounded: Vec<usize> = exact.all_gains().filter(unbounded).map(|(i, _)| i).collect();
    unbounded.sort_unstable();
    unbounded.dedup();
    Ok(Existence {
        most_robust_margin: most_robust_score - exact.raise_of_observation()?,
        restricted: (0..features.len()).filter(|&i| features.feature(i).change != Change::Any).collect(),
        unbounded,
    })
}

/// The bound of Proposition 6 on what robustness costs on top of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraCost {
    /// `beta = epsilon ||J^T w||* / <w, J theta>`: the action scaled by `1 + beta` is robust
    /// and costs at most that factor more. The causal form (Appendix, Proposition 6).
    pub beta: f64,
    /// Without a causal model, the form of the main text, which separates what the
    /// actionable and the unactionable features contribute; never below `beta`.
    pub separated: Option<f64>,
    /// The action scaled by `1 + beta`.
    pub action: Action,
    /// Whether that action respects the limits; the bound is only promised if it does.
    pub is_feasible: bool,
}

/// Bounds the extra cost of making a recourse action robust: `c(a') <= (1 + beta) c(a)`.
///
/// Nothing if the action is no recourse action to begin with: it does not raise the score,
/// or not up to the decision boundary.
pub fn extra_cost(exact: &Exact<'_>, individual: &[f64], action: &Action) -> Result<Option<ExtraCost>> {
    let problem = exact.problem();
    problem.require_continuous()?;
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
    let is_feasible = action.features.iter().zip(&change).all(within);
    let separated = match problem.scm() {
        Some(_) => None,
        None => {
            let (weights, _) = problem.classifier().coefficients()?;
            let part = |actionable: bool| {
                let masked = weights.iter().zip(problem.features().iter());
                let masked = masked.map(|(w, f)| if f.is_actionable() == actionable { *w } else { 0.0 });
                problem.norm().dual(&masked.collect::<Vec<_>>())
            };
            Some(problem.epsilon() * (part(true) + part(false)) / gained)
        }
    };
    let action = Action { features: action.features.clone(), change };
    Ok(Some(ExtraCost { beta, separated, action, is_feasible }))
}

/// How much the cost of standard recourse varies between an individual and similar ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostStability {
    /// The cost of standard recourse for the individual.
    pub cost: f64,
    /// The least cost among the individuals of the uncertainty set; 0 if one is favourable.
    pub least: f64,
    /// The greatest; infinite if one has no recourse.
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
/// As there, similar individuals are taken to have the same feasible changes as the
/// individual. The score of similar individuals fills the interval
/// `s(x) +- epsilon ||J^T w||*` and the cost only depends on it, monotonically. Nothing if
/// the individual has no recourse at all.
pub fn cost_stability(exact: &Exact<'_>, individual: &[f64]) -> Result<Option<CostStability>> {
    let zero = vec![0.0; individual.len()];
    let nothing = Action { features: Vec::new(), change: Vec::new() };
    let need = -margin(relative(exact)?, individual, &nothing, &zero)?;
    let spread = exact.raise_of_observation()?;
    let cost = |need: f64| if need <= 0.0 { 0.0 } else { exact.cost_of_raising(individual, need) };
    if cost(need).is_infinite() {
        return Ok(None);
    }
    let (least, greatest) = (cost(need - spread), cost(need + spread));
    Ok(Some(CostStability { cost: cost(need), least, greatest }))
}

/// The perturbation by which Theorem 1 shows that a minimum-cost action is fragile.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragility {
    /// A perturbation of at most the given size, under which acting leads to where a
    /// cheaper action would have led.
    pub perturbation: Vec<f64>,
    /// That cheaper action.
    pub cheaper: Action,
    /// The margin that is left; negative if the action was one of minimum cost. (One that was
    /// found with a safety margin breaks once the perturbation is as large as that.)
    pub margin: f64,
}

/// Takes back up to `radius` of an action's largest change and finds the perturbation that
/// amounts to the same.
///
/// For relative actions and additive noise, `CF(CF(x, D), a) = CF(x, a')` with `a'` the
/// cheaper action. If `a` has minimum cost, `a'` is no recourse action, so `D` breaks `a`,
/// however small it is (Theorem 1). Nothing if the action changes nothing.
pub fn fragility(
    problem: &Problem,
    individual: &[f64],
    action: &Action,
    radius: f64,
) -> Result<Option<Fragility>> {
    if let Some(scm) = problem.scm() {
        scm.require_additive()?;
    }
    if problem.action_kind() == ActionKind::Absolute {
        return Err(Error::AbsoluteActions);
    }
    if !(radius.is_finite() && radius >= 0.0) {
        return Err(Error::Epsilon { epsilon: radius });
    }
    // Refuses an individual or an action that does not fit the problem.
    margin(problem, individual, action, &vec![0.0; individual.len()])?;
    let weight = |k: usize| problem.features().feature(action.features[k]).weight;
    let effort = |k: usize| (weight(k) * action.change[k]).abs();
    let largest = (0..action.change.len()).reduce(|a, b| if effort(b) > effort(a) { b } else { a });
    let Some(k) = largest.filter(|&k| action.change[k] != 0.0) else { return Ok(None) };

    let mut step = action.change[k].abs().min(radius);
    // Holding the other features of the action in place may take a perturbation of its own:
    // shorten the step until the whole fits.
    loop {
        let back = -step.copysign(action.change[k]);
        let mut change = vec![0.0; action.change.len()];
        change[k] = back;
        let features = &action.features;
        let perturbation = match problem.scm() {
            None => {
                let mut perturbation = vec![0.0; individual.len()];
                perturbation[features[k]] = back;
                perturbation
            }
            Some(scm) => {
                let moved =
                    scm.counterfactual(individual, Intervention::Shift { features, change: &change })?;
                scm.perturbation_between(individual, &moved)?
            }
        };
        let size = problem.norm().value(&perturbation);
        if size <= radius {
            let mut cheaper = action.clone();
            cheaper.change[k] += back;
            let margin = margin(problem, individual, action, &perturbation)?;
            return Ok(Some(Fragility { perturbation, cheaper, margin }));
        }
        step *= (radius / size).min(1.0 - 1e-9);
        if step == 0.0 {
            return Ok(None);
        }
    }
}
