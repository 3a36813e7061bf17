//! All statements of the theory about an individual.

use super::{
    Breaking, CostStability, ExtraCost, Guarantee, Theory, break_action, cost_stability, extra_cost, needs,
};
use crate::recourse::Exact;
use crate::{Outcome, Problem, Recourse, Result};

/// The theory's conclusion on whether an individual has robust recourse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobustRecourse {
    /// The decision is favourable already.
    NotNeeded,
    /// An action that withstands every perturbation exists.
    Exists,
    /// No action withstands every perturbation.
    DoesNotExist,
    /// The statements do not decide it; recourse itself may.
    Unknown,
}

impl RobustRecourse {
    /// One word for tables: `unneeded`, `exists`, `none` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotNeeded => "unneeded",
            Self::Exists => "exists",
            Self::DoesNotExist => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// The reason why a statement is not made about an individual.
#[derive(Clone, Debug, PartialEq)]
pub enum NoStatement {
    /// The problem does not meet its conditions; see [`AboutProblem`](super::AboutProblem).
    Unmet,
    /// There is no standard action: none is needed, none exists, or none was found.
    NoAction,
    /// The scaled action, which would be robust, is not feasible.
    Infeasible(Box<ExtraCost>),
    /// The numbers are too close to a boundary to decide.
    Rounding,
    /// No perturbation that was tried breaks the action.
    NotBroken,
}

/// A statement, or the reason why it is not made.
pub type Statement<T> = std::result::Result<T, NoStatement>;

/// The statements of the theory about an individual.
#[derive(Clone, Debug, PartialEq)]
pub struct AboutPerson {
    /// Standard recourse: the answer without uncertainty.
    pub outcome: Outcome,
    /// The conclusion from all statements about the existence of robust recourse.
    pub robust: RobustRecourse,
    /// The bound on the extra cost of robustness; its action is feasible (Proposition 6).
    pub extra_cost: Statement<ExtraCost>,
    /// The cost of standard recourse for similar individuals (Appendix D).
    pub cost_stability: Statement<CostStability>,
    /// A perturbation that breaks the standard action (Theorem 1).
    pub breaking: Statement<Breaking>,
}

impl AboutPerson {
    /// The cost of an action that is proven to be robust. `None` if there is no bound.
    pub fn robust_cost_at_most(&self, problem: &Problem) -> Option<f64> {
        let found = self.outcome.recourse()?;
        match &self.extra_cost {
            Ok(bound) => Some(problem.cost().of(problem.features(), &bound.action)),
            Err(_) if problem.uncertainty().is_none() => Some(found.cost),
            Err(_) => None,
        }
    }

    /// An upper bound of the cost of robust recourse relative to the standard action. `None` if there is
    /// no bound.
    pub fn factor_at_most(&self, problem: &Problem) -> Option<f64> {
        match &self.extra_cost {
            Ok(bound) => Some(1.0 + bound.beta),
            Err(_) => Some(self.robust_cost_at_most(problem)? / self.outcome.recourse()?.cost),
        }
    }
}

impl Theory<'_> {
    /// Makes the statements about an individual.
    ///
    /// # Errors
    /// As the method that finds standard recourse.
    pub fn about_person(&self, individual: &[f64]) -> Result<AboutPerson> {
        let outcome = self.method.solve(individual)?;
        let extra_cost = match outcome.recourse() {
            Some(found) => self.extra_cost(individual, found)?,
            None => Err(NoStatement::NoAction),
        };
        let breaking = match outcome.recourse() {
            Some(found) => self.breaking(individual, found)?,
            None => Err(NoStatement::NoAction),
        };
        let cost_stability = self.cost_stability(individual, &outcome)?;
        let robust = self.robust(&outcome, &extra_cost, &cost_stability);
        Ok(AboutPerson { outcome, robust, extra_cost, cost_stability, breaking })
    }

    fn extra_cost(&self, individual: &[f64], found: &Recourse) -> Result<Statement<ExtraCost>> {
        let Some(exact) = &self.exact else { return Ok(Err(NoStatement::Unmet)) };
        let Some(bound) = extra_cost(exact, individual, &found.action)? else {
            return Ok(Err(NoStatement::Rounding));
        };
        if !bound.is_feasible {
            return Ok(Err(NoStatement::Infeasible(Box::new(bound))));
        }
        // The bound is exact in real arithmetic, so its action is evaluated again in floating point.
        let is_robust = exact.worst_case(individual, &bound.action)?.margin >= 0.0;
        Ok(if is_robust { Ok(bound) } else { Err(NoStatement::Rounding) })
    }

    fn breaking(&self, individual: &[f64], found: &Recourse) -> Result<Statement<Breaking>> {
        if super::require_theorem_1(self.problem).is_err() {
            return Ok(Err(NoStatement::Unmet));
        }
        let broken = break_action(self.problem, individual, &found.action)?;
        Ok(broken.ok_or(NoStatement::NotBroken))
    }

    fn cost_stability(&self, individual: &[f64], outcome: &Outcome) -> Result<Statement<CostStability>> {
        let Some(exact) = self.exact.as_ref().filter(|_| self.about.cost_stability.is_empty()) else {
            return Ok(Err(NoStatement::Unmet));
        };
        Ok(match (cost_stability(exact, individual)?, outcome) {
            (_, Outcome::Impossible(_)) => Err(NoStatement::NoAction),
            (Some(stability), Outcome::Found(_) | Outcome::AlreadyFavourable)
                if is_certain(exact, individual, stability)? =>
            {
                Ok(stability)
            }
            _ => Err(NoStatement::Rounding),
        })
    }

    fn robust(
        &self,
        outcome: &Outcome,
        extra_cost: &Statement<ExtraCost>,
        cost_stability: &Statement<CostStability>,
    ) -> RobustRecourse {
        match (outcome, &self.about.existence) {
            (Outcome::AlreadyFavourable, _) => RobustRecourse::NotNeeded,
            // A robust action is a standard action.
            (Outcome::Impossible(_), _) | (_, Guarantee::Impossible(_)) => RobustRecourse::DoesNotExist,
            (_, Guarantee::Unbounded(_) | Guarantee::RobustlyClassified(_)) => RobustRecourse::Exists,
            (Outcome::Found(_), _) if extra_cost.is_ok() || self.problem.uncertainty().is_none() => {
                RobustRecourse::Exists
            }
            // A robust action must achieve the largest need among similar individuals (Proposition 4).
            _ => match cost_stability {
                Ok(stability) if stability.greatest.is_finite() => RobustRecourse::Exists,
                Ok(_) => RobustRecourse::DoesNotExist,
                Err(_) => RobustRecourse::Unknown,
            },
        }
    }
}

/// Whether rounding cannot change a finite cost of similar individuals into an infinite one, or the
/// reverse.
fn is_certain(exact: &Exact<'_>, individual: &[f64], stability: CostStability) -> Result<bool> {
    let (need, spread) = needs(exact, individual)?;
    let slack = 1e-9 * (need.abs() + spread) + exact.problem().safety();
    let is_infinite = |need: f64| need > 0.0 && exact.cost_of_raising(individual, need).is_infinite();
    let is_same = is_infinite(need + spread - slack) == is_infinite(need + spread + slack);
    Ok(is_same && [stability.cost, stability.least, stability.greatest].iter().all(|cost| !cost.is_nan()))
}
