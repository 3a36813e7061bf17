//! The choice between the methods that answer with proof.

use super::{Complete, Exact, require_budget, require_gap};
use crate::outcome::Outcome;
use crate::{Budget, Problem, Result};

/// How much effort an answer may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How much dearer, as a share, an action should be at most than the proven bound on the cost;
    /// see [`Complete::with_gap`].
    pub gap: f64,
    /// The work that the search for each individual may cost; see [`Complete::with_budget`].
    pub budget: Budget,
}

impl Default for Settings {
    /// A gap of 1% and the default budget.
    fn default() -> Self {
        Self { gap: 0.01, budget: Budget::default() }
    }
}

impl Settings {
    /// Refuses a gap or a budget with which no method can work.
    pub fn check(self) -> Result<()> {
        require_gap(self.gap)?;
        require_budget(self.budget)
    }
}

/// The method that answers a problem, prepared for any number of individuals.
#[derive(Clone, Debug)]
pub enum Method<'p> {
    /// For linear classifiers and causal models.
    Exact(Exact<'p>),
    /// For all others.
    Complete(Complete<'p>),
}

impl<'p> Method<'p> {
    /// Chooses [`Exact`] where everything is linear, otherwise [`Complete`]. Settings are checked
    /// either way, so that a mistake is reported whatever the problem.
    pub fn new(problem: &'p Problem, settings: Settings) -> Result<Self> {
        settings.check()?;
        match Exact::new(problem) {
            Ok(exact) => Ok(Self::Exact(exact.with_settings(settings)?)),
            Err(error) if error.is_beyond_exact() => Self::complete(problem, settings),
            Err(error) => Err(error),
        }
    }

    /// Chooses [`Complete`] whatever the problem, because its proofs can be saved.
    pub fn complete(problem: &'p Problem, settings: Settings) -> Result<Self> {
        Ok(Self::Complete(Complete::new(problem)?.with_gap(settings.gap)?.with_budget(settings.budget)?))
    }

    /// The answer for one individual.
    ///
    /// # Errors
    /// As [`Exact::solve`] and [`Complete::solve`].
    pub fn solve(&self, individual: &[f64]) -> Result<Outcome> {
        Ok(self.solve_counted(individual)?.0)
    }

    /// The answer, and the evaluations that it took; none where a closed form answers.
    pub(crate) fn solve_counted(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        match self {
            Self::Exact(exact) => exact.solve_counted(individual),
            Self::Complete(complete) => {
                let proof = complete.prove(individual)?;
                Ok((proof.outcome, proof.evaluations))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Classifier, Constraint, Feature, Features, Norm};

    /// A linear problem whose constraints another method must answer has the settings too.
    #[test]
    fn settings_reach_the_method_that_answers() {
        let feature = |i: usize| Feature::new(format!("x{i}")).change(Change::Any).limits(-4.0, 4.0);
        let features = Features::new((0..4).map(feature).collect()).unwrap();
        let rules = ["x0 + x1 <= 0.3", "x2 - x3 <= 0.2", "x1 + x2 + x3 <= 0.9"];
        let rules = rules.map(|rule| Constraint::parse(&features, rule).unwrap());
        let classifier = Classifier::linear(vec![1.0, 0.9, 0.8, 0.7], -1.3, 0.5).unwrap();
        let problem = Problem::new(features, classifier).unwrap().with_constraints(rules.to_vec()).unwrap();
        let problem = problem.with_uncertainty(Norm::L2, 0.1).unwrap();
        let used = |evaluations: usize| {
            let settings = Settings { budget: Budget { evaluations }, ..Settings::default() };
            let method = Method::new(&problem, settings).unwrap();
            assert!(matches!(method, Method::Exact(_)));
            method.solve_counted(&[-0.5, -0.5, 0.0, 0.0]).unwrap().1
        };
        assert!(used(1) <= 500, "{}", used(1));
        for gap in [0.0, 1.0] {
            assert!(Method::new(&problem, Settings { gap, ..Settings::default() }).is_err());
        }
    }
}
