//! The entry point: one problem, one method, and its settings.

use super::options::options;
use super::trade_off::{TradeOff, trade_off};
use super::{Method, MethodName, Observer};
use crate::error::{CausalModelError, SettingError};
use crate::problem::OwnProblem;
use crate::proof::Proof;
use crate::{Budget, Error, Outcome, People, Problem, Result};

/// The method, and the effort that an answer may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The method.
    pub method: MethodName,
    /// The largest share by which the cost of an action should exceed the proven bound; see
    /// [`Complete::with_gap`](super::Complete::with_gap). The method `local`, which proves no bound, lets the
    /// cost rise by this share where an action can then do without a change; `descent` accepts the default
    /// only.
    pub gap: f64,
    /// The number of evaluations that the search for each individual may cost; see
    /// [`Complete::with_budget`](super::Complete::with_budget).
    pub budget: Budget,
    /// The seconds that each answer may take, if they are limited. Answers then depend on the machine and
    /// its load; see [`Complete::with_seconds`](super::Complete::with_seconds).
    pub seconds: Option<f64>,
}

impl Default for Settings {
    /// The automatic choice of a method, a gap of 1% and the default budget.
    fn default() -> Self {
        Self { method: MethodName::AUTO, gap: 0.01, budget: Budget::default(), seconds: None }
    }
}

impl Settings {
    /// The settings of a caller who may leave out the limits of the effort; see [`Budget::given`].
    ///
    /// # Errors
    /// As [`Settings::check`]. A limit is also rejected for a method that does not keep to it if it equals
    /// the default.
    pub fn given(
        method: MethodName,
        gap: f64,
        evaluations: Option<usize>,
        seconds: Option<f64>,
    ) -> Result<Self> {
        let settings = Self { method, gap, budget: Budget::given(evaluations, seconds), seconds };
        settings.check()?;
        settings.check_limits(evaluations.is_some())?;
        Ok(settings)
    }

    /// Rejects a gap, a budget or a time with which no method can work, whatever the problem, and those that
    /// have no effect on the method.
    pub fn check(self) -> Result<()> {
        if !(self.gap.is_finite() && self.gap > 0.0 && self.gap < 1.0) {
            return Err(Error::Setting(SettingError::Setting { setting: "gap", value: self.gap }));
        }
        if let Some(seconds) = self.seconds
            && !(seconds.is_finite() && seconds > 0.0)
        {
            return Err(Error::Setting(SettingError::Setting { setting: "seconds", value: seconds }));
        }
        self.budget.check()?;
        self.check_limits(self.budget != Budget::default())
    }

    /// Rejects a gap, seconds and evaluations if the method does not keep to them.
    fn check_limits(self, has_budget: bool) -> Result<()> {
        let has_gap = self.gap != Self::default().gap;
        let limits = [("seconds", self.seconds.is_some()), ("evaluations", has_budget), ("gap", has_gap)];
        match limits.into_iter().find(|&(_, is_set)| is_set && !self.method.is_limited()) {
            Some((setting, _)) => Err(Error::Setting(SettingError::NoEffect {
                setting,
                method: self.method.as_str(),
                others: MethodName::limited(),
            })),
            None => Ok(()),
        }
    }
}

/// A problem with the method that the settings name, prepared once for all individuals.
///
/// ```
/// use surefoot::recourse::{Settings, Solver};
/// use surefoot::{Change, Classifier, Feature, Features, Problem};
///
/// let income = Feature::new("income").change(Change::Increase);
/// let problem = Problem::new(Features::new(vec![income])?, Classifier::linear(vec![1.0], 0.0, 0.5)?)?;
/// let solver = Solver::new(&problem, Settings { method: "complete".parse()?, ..Settings::default() })?;
/// assert_eq!(solver.solve(&[-1.0])?.status(), "found");
/// # Ok::<(), surefoot::Error>(())
/// ```
#[derive(Debug)]
pub struct Solver<'p> {
    problem: &'p Problem,
    settings: Settings,
    method: Box<dyn Method + 'p>,
}

impl<'p> Solver<'p> {
    /// Prepares the method.
    ///
    /// # Errors
    /// If the settings make no sense, or if the method cannot answer the problem.
    pub fn new(problem: &'p Problem, settings: Settings) -> Result<Self> {
        settings.check()?;
        Ok(Self { problem, settings, method: settings.method.prepare(problem, settings)? })
    }

    /// Uses a custom method that was prepared for the problem. [`Solver::options`] and
    /// [`Solver::trade_off`], which solve modified problems as well, use the method that the settings
    /// name.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn with_method(
        problem: &'p Problem,
        settings: Settings,
        method: Box<dyn Method + 'p>,
    ) -> Result<Self> {
        settings.check()?;
        Ok(Self { problem, settings, method })
    }

    /// The answer for one individual.
    ///
    /// # Errors
    /// If the individual does not have one finite value for each feature, or if the causal model cannot
    /// produce them.
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.solve_counted(individual)?.0)
    }

    /// The answer, and the number of evaluations.
    pub(super) fn solve_counted(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        match self.problem.for_person(individual)? {
            Some(own) => self.settings.method.prepare(&own.problem, self.settings)?.solve(&own.individual),
            None => self.method.solve(individual),
        }
    }

    /// The answers for people, in order, on all cores.
    ///
    /// # Errors
    /// As [`Solver::solve`]; if the people have other features than the problem.
    pub fn solve_people(&self, people: &People) -> Result<Vec<Outcome>> {
        if people.features() != self.problem.features() {
            return Err(Error::CausalModel(CausalModelError::OtherFeatures));
        }
        let individuals: Vec<&[f64]> = people.iter().collect();
        self.solve_all(&individuals, &|_| {})
    }

    /// The answers for individuals, in order, on all cores. `progress` is called with the number of
    /// individuals that were answered since the last call.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve_all(
        &self,
        individuals: &[&[f64]],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Outcome>> {
        if !individuals.iter().any(|individual| self.problem.is_own(individual)) {
            return self.method.solve_all(individuals, progress);
        }
        self.problem.each_by_own(individuals, |problem, _, chosen| {
            match std::ptr::eq(problem, self.problem) {
                true => self.method.solve_all(chosen, progress),
                false => self.settings.method.prepare(problem, self.settings)?.solve_all(chosen, progress),
            }
        })
    }

    /// The number of individuals that a thread should answer at a time, by [`Solver::solve_all`].
    pub fn batch_size(&self) -> usize {
        self.method.batch_size()
    }

    /// The answer with a proof that can be saved and verified. The proven bound on the cost may be weaker
    /// than that of [`Solver::solve`], by no more than the gap.
    ///
    /// # Errors
    /// As [`Solver::solve`]; [`SettingError::NoProof`] if the method proves nothing.
    pub fn prove(&self, individual: &[f64]) -> Result<Proof> {
        match self.problem.for_person(individual)? {
            Some(own) => self.settings.method.prepare(&own.problem, self.settings)?.prove(&own.individual),
            None => self.method.prove(individual),
        }
    }

    /// The answer of [`Solver::solve`] with a proof. A search gives both at once, and a closed form is evaluated once
    /// more.
    ///
    /// # Errors
    /// As [`Solver::prove`].
    pub fn solve_with_proof(&self, individual: &[f64]) -> Result<(Outcome, Proof)> {
        let answer = |method: &dyn Method, individual: &[f64]| {
            let proof = method.prove(individual)?;
            match method.is_closed_form() {
                true => Ok((method.solve(individual)?.0, proof)),
                false => Ok((proof.outcome.clone(), proof)),
            }
        };
        match self.problem.for_person(individual)? {
            Some(own) => {
                answer(&*self.settings.method.prepare(&own.problem, self.settings)?, &own.individual)
            }
            None => answer(&*self.method, individual),
        }
    }

    /// Has an observer told of better answers as they are found. The answers are the same. Searches for further
    /// options, and those for people with special values, are not observed.
    pub fn with_observer(mut self, observer: Observer) -> Self {
        self.method.observe(observer);
        self
    }

    /// The answer of [`Solver::solve`] if a closed form gives it, within microseconds; `None` if the individual
    /// needs a search.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve_at_once(&self, individual: &[f64]) -> Result<Option<Outcome>> {
        match self.problem.for_person(individual)? {
            Some(_) => Ok(None),
            None => self.method.solve_at_once(individual),
        }
    }

    /// Up to `count` actions of an individual that change different features; the first is that of
    /// [`Solver::solve`].
    ///
    /// # Errors
    /// As [`Solver::solve`]; if `count` is zero.
    pub fn options(&self, individual: &[f64], count: usize) -> Result<Vec<Outcome>> {
        let first = self.solve(individual)?;
        self.options_after(first, individual, count)
    }

    /// As [`Solver::options`], if the first answer is already known.
    ///
    /// # Errors
    /// As [`Solver::options`].
    pub fn options_after(&self, first: Outcome, individual: &[f64], count: usize) -> Result<Vec<Outcome>> {
        let own = self.problem.for_person(individual)?;
        let (problem, individual) = OwnProblem::or(own.as_ref(), self.problem, individual);
        let answer = |problem: &Problem| Solver::new(problem, self.settings)?.solve(individual);
        options(problem, first, count, &answer)
    }

    /// The cheapest action of an individual for each size of the uncertainty, and the largest size for which
    /// there is one; see [`trade_off`].
    ///
    /// # Errors
    /// As [`trade_off`].
    pub fn trade_off(
        &self,
        individual: &[f64],
        epsilons: Option<&[f64]>,
        progress: impl Fn(f64),
    ) -> Result<TradeOff> {
        trade_off(self.problem, individual, epsilons, self.settings, progress)
    }

    /// Whether most individuals are answered by a closed form, in about a microsecond.
    pub fn is_closed_form(&self) -> bool {
        self.method.is_closed_form()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Classifier, Constraint, Feature, Features, Norm};

    fn constrained() -> Problem {
        let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-4.0, 4.0);
        let features = Features::new((0..4).map(feature).collect()).unwrap();
        let rules = ["x0 + x1 <= 0.3", "x2 - x3 <= 0.2", "x1 + x2 + x3 <= 0.9"];
        let rules = rules.map(|rule| Constraint::parse(&features, rule).unwrap());
        let classifier = Classifier::linear(vec![1.0, 0.9, 0.8, 0.7], -1.3, 0.5).unwrap();
        let problem = Problem::new(features, classifier).unwrap().with_constraints(rules.to_vec()).unwrap();
        problem.with_uncertainty(Norm::L2, 0.1).unwrap()
    }

    #[test]
    fn limits_are_refused_with_methods_that_do_not_keep_to_them() {
        for method in MethodName::all() {
            let refused = |evaluations, seconds| match Settings::given(method, 0.01, evaluations, seconds) {
                Ok(_) => None,
                Err(Error::Setting(SettingError::NoEffect { setting, others, .. })) => {
                    assert_eq!(others, "auto, exact, trees, complete, local");
                    Some(setting)
                }
                Err(other) => panic!("{other}"),
            };
            let is_descent = method.as_str() == "descent";
            assert_eq!(refused(None, None), None);
            assert_eq!(refused(None, Some(1.0)), is_descent.then_some("seconds"), "{method}");
            let usual = Some(Budget::default().evaluations);
            assert_eq!(refused(usual, None), is_descent.then_some("evaluations"), "{method}");
            let gap = Settings::given(method, 0.05, None, None);
            let is_refused = matches!(
                gap,
                Err(Error::Setting(SettingError::NoEffect { setting: "gap", method: "descent", .. }))
            );
            assert_eq!((is_refused, gap.is_err()), (is_descent, is_descent), "{method}");
            // Whoever builds the settings is refused by the solver.
            let settings = Settings { method, seconds: Some(1.0), ..Settings::default() };
            assert_eq!(settings.check().is_err(), is_descent, "{method}");
            let settings = Settings { method, budget: Budget { evaluations: 10 }, ..Settings::default() };
            assert_eq!(settings.check().is_err(), is_descent, "{method}");
        }
    }

    #[test]
    fn settings_reach_the_method_that_answers() {
        let problem = constrained();
        let used = |evaluations: usize| {
            let settings = Settings { budget: Budget { evaluations }, ..Settings::default() };
            let solver = Solver::new(&problem, settings).unwrap();
            assert!(solver.is_closed_form());
            solver.solve_counted(&[-0.5, -0.5, 0.0, 0.0]).unwrap().1
        };
        assert!(used(1) <= 500, "{}", used(1));
        for gap in [0.0, 1.0] {
            assert!(Solver::new(&problem, Settings { gap, ..Settings::default() }).is_err());
        }
    }

    #[test]
    fn a_method_is_chosen_by_its_name() {
        let problem = constrained();
        for name in MethodName::all() {
            assert_eq!(name.as_str().parse::<MethodName>().unwrap(), name);
            let solver = Solver::new(&problem, Settings { method: name, ..Settings::default() });
            // Descent does not support constraints, and the classifier has no trees.
            assert_eq!(solver.is_ok(), !["descent", "trees"].contains(&name.as_str()), "{name}");
        }
        let message = "newton".parse::<MethodName>().unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no method `newton`; the methods are auto, exact, trees, complete, local, descent"
        );
    }
}
