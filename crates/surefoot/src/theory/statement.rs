//! All statements of the theory about a problem.

use super::condition::{Conditions, Unmet};
use super::{conditions_of_existence, most_robust_margin};
use crate::error::SettingError;
use crate::recourse::{Exact, Settings, Solver};
use crate::{Error, LimitsOn, Problem, Result};

/// The conclusion about the existence of robust recourse for everybody whom the classifier rejects.
#[derive(Clone, Debug, PartialEq)]
pub enum Guarantee {
    /// It exists for everybody: these features may change without limit in the direction that raises the
    /// score (Proposition 3).
    Unbounded(Vec<usize>),
    /// It exists for everybody: every feature may change both ways, and somebody within the limits is
    /// robustly classified, with this worst-case margin (Proposition 2).
    RobustlyClassified(f64),
    /// It exists for nobody: this is the best worst-case margin of any outcome within the limits, and it
    /// is negative (Proposition 1).
    Impossible(f64),
    /// The propositions do not decide it.
    Unknown {
        /// Conditions of all propositions that are not met. If there are any, the others are not examined.
        all: Vec<Unmet>,
        /// Conditions of Proposition 2 that are not met.
        proposition_2: Vec<Unmet>,
        /// Conditions of Proposition 3 that are not met.
        proposition_3: Vec<Unmet>,
    },
}

impl Guarantee {
    /// One word: `guaranteed`, `impossible` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unbounded(_) | Self::RobustlyClassified(_) => "guaranteed",
            Self::Impossible(_) => "impossible",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// The statements of the theory about a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct AboutProblem {
    /// Whether robust recourse exists for everybody.
    pub existence: Guarantee,
    /// Conditions of the bound on the extra cost (Proposition 6) that are not met.
    pub extra_cost: Vec<Unmet>,
    /// Conditions of the stability of the cost (Appendix D) that are not met.
    pub cost_stability: Vec<Unmet>,
    /// Conditions of the fragility of minimum-cost actions (Theorem 1) that are not met.
    pub fragility: Vec<Unmet>,
}

impl AboutProblem {
    /// Checks the conditions of every statement.
    ///
    /// # Errors
    /// If nothing is actionable, or if the problem has several variants.
    pub fn new(problem: &Problem) -> Result<Self> {
        problem.require_one_variant("the theory is")?;
        problem.require_no_change_limits("the theory")?;
        Self::with(problem, solver(problem)?.as_ref())
    }

    fn with(problem: &Problem, exact: Option<&Exact<'_>>) -> Result<Self> {
        problem.require_ball_only(|what| SettingError::UncertaintyNotKnown { what, method: "theory" })?;
        let conditions = Conditions(problem);
        let linear = conditions.linear();
        // If the equations are linear, limits on downstream features are convex in the action, so every
        // smaller action is feasible.
        let followers = match problem.scm().is_some_and(|scm| !scm.nonlinear().is_empty()) {
            true => conditions.unlimited_followers(),
            false => Vec::new(),
        };
        Ok(Self {
            existence: guarantee(problem, exact)?,
            extra_cost: linear.clone(),
            cost_stability: [
                linear,
                conditions.relative(),
                conditions.real(),
                conditions.no_largest_changes(),
                conditions.unconstrained(),
                conditions.unlimited_followers(),
            ]
            .concat(),
            fragility: [
                conditions.relative(),
                conditions.additive(),
                conditions.defined(),
                conditions.real(),
                conditions.unconstrained(),
                followers,
            ]
            .concat(),
        })
    }
}

/// The exact solver; `None` if the problem is not linear.
fn solver(problem: &Problem) -> Result<Option<Exact<'_>>> {
    match Exact::new(problem) {
        Ok(exact) => Ok(Some(exact)),
        Err(error) if error.is_for_another_method() => {
            // Rejects a problem without an actionable feature.
            crate::action::require_actionable(problem.features())?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Applies Propositions 1 to 3.
///
/// Proposition 1 also holds with integer features and constraints: they only remove actions. Proposition
/// 3 also holds if other features are integer: an action may leave those unchanged.
fn guarantee(problem: &Problem, exact: Option<&Exact<'_>>) -> Result<Guarantee> {
    let conditions = Conditions(problem);
    let all = [conditions.linear(), conditions.relative()].concat();
    let Some(exact) = exact.filter(|_| all.is_empty()) else {
        return Ok(Guarantee::Unknown { all, proposition_2: Vec::new(), proposition_3: Vec::new() });
    };
    let rounding = rounding(problem)?;
    // If limits apply to actions only, downstream features may leave their limits.
    let followers = match (problem.scm(), problem.limits_on()) {
        (Some(scm), LimitsOn::Action) => scm.followers(&problem.features().actionable()),
        _ => Vec::new(),
    };
    let reachable = most_robust_margin(exact, |i| followers.contains(&i))?;
    if reachable < -rounding {
        return Ok(Guarantee::Impossible(reachable));
    }
    let known = conditions_of_existence(exact)?;
    let is_real = |i: &usize| problem.features().feature(*i).spacing().is_none();
    let unbounded: Vec<usize> = known.unbounded.into_iter().filter(is_real).collect();
    let mut proposition_3 = [conditions.unconstrained(), conditions.unlimited_followers()].concat();
    proposition_3.extend(unbounded.is_empty().then_some(Unmet::UnboundedFeature));
    if proposition_3.is_empty() {
        return Ok(Guarantee::Unbounded(unbounded));
    }
    let mut proposition_2 = [conditions.unconstrained(), conditions.everything_actionable()].concat();
    let is_robust = known.most_robust_margin >= rounding + problem.safety();
    proposition_2.extend((!is_robust).then_some(Unmet::RobustlyClassified));
    Ok(match proposition_2.is_empty() {
        true => Guarantee::RobustlyClassified(known.most_robust_margin),
        false => Guarantee::Unknown { all, proposition_2, proposition_3 },
    })
}

/// An upper bound of the error of the worst-case margin of somebody at the limits: limits are met up to
/// 1e-9 of their size, and sums are rounded.
fn rounding(problem: &Problem) -> Result<f64> {
    let (weights, intercept) = problem.classifier().coefficients()?;
    let finite = |limit: f64| if limit.is_finite() { limit.abs() } else { 0.0 };
    let sizes = weights.iter().zip(problem.features().iter()).map(|(w, feature)| {
        let own = finite(feature.lower).max(finite(feature.upper)) + feature.mean.abs();
        w.abs() * (1.0 + problem.uncertainty().radius() + own / feature.std)
    });
    Ok(1e-9 * (intercept.abs() + sizes.sum::<f64>()))
}

/// The same problem without uncertainty, whose answers are standard recourse.
pub fn standard(problem: &Problem) -> Result<Problem> {
    problem.clone().with_epsilon(0.0)
}

/// Makes the statements of the theory. It is prepared once for a problem and used for any number of
/// individuals.
///
/// ```
/// use surefoot::recourse::Settings;
/// use surefoot::theory::{RobustRecourse, Theory, standard};
/// use surefoot::{Change, Classifier, Feature, Features, Norm, Problem};
///
/// let income = Feature::new("income").scaling(3000.0, 1500.0).change(Change::Increase);
/// let problem = Problem::new(Features::new(vec![income])?, Classifier::linear(vec![1.0], 0.0, 0.5)?)?
///     .with_uncertainty(Norm::L2, 0.1)?;
/// let standard = standard(&problem)?;
/// let theory = Theory::new(&problem, &standard, Settings::default())?;
/// assert_eq!(theory.about().existence.name(), "guaranteed");
/// // The standard action raises income by 0.4 standard deviations, the robust one by 0.5.
/// let person = theory.about_person(&[-0.4])?;
/// assert_eq!(person.robust, RobustRecourse::Exists);
/// assert!((person.robust_cost_at_most(&problem).unwrap() - 0.5).abs() < 1e-6);
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Debug)]
pub struct Theory<'p> {
    pub(super) problem: &'p Problem,
    /// `None` if the problem is not linear.
    pub(super) exact: Option<Exact<'p>>,
    /// The solver for standard recourse.
    pub(super) method: Solver<'p>,
    pub(super) about: AboutProblem,
}

impl<'p> Theory<'p> {
    /// Prepares statements about a problem. `standard` is the same problem without uncertainty, from
    /// [`standard`]; the settings limit the search for standard recourse.
    ///
    /// # Errors
    /// If the settings are invalid, or if no method can answer the problem.
    pub fn new(problem: &'p Problem, standard: &'p Problem, settings: Settings) -> Result<Self> {
        if !settings.method.proves() {
            return Err(Error::Setting(SettingError::NoProof { method: settings.method.as_str() }));
        }
        let method = Solver::new(standard, settings)?;
        let exact = solver(problem)?;
        let about = AboutProblem::with(problem, exact.as_ref())?;
        Ok(Self { problem, exact, method, about })
    }

    /// The statements about the problem.
    pub fn about(&self) -> &AboutProblem {
        &self.about
    }
}
