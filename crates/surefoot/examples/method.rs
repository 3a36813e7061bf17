//! A method of one's own: change one feature, by the smallest step that is certified.
//!
//! Run with `cargo run -p surefoot --example method`.

use surefoot::error::SettingError;
use surefoot::margin::counterfactual;
use surefoot::outcome::{Undecided, UndecidedReason};
use surefoot::proof::Proof;
use surefoot::recourse::{Method, Settings, Solver};
use surefoot::{
    Action, Budget, Change, Classifier, Error, Feature, Features, Norm, Outcome, Problem, Recourse, Result,
    Verdict, certify, infeasibility,
};

/// Tries changes of one feature at a time, in steps, from the cheapest on.
#[derive(Debug)]
struct Steps<'p> {
    problem: &'p Problem,
    step: f64,
    count: usize,
}

impl Steps<'_> {
    /// Every action that is tried, the cheapest first.
    fn actions(&self) -> Vec<Action> {
        let features = self.problem.features();
        let changes = (1..=self.count).flat_map(|k| [1.0, -1.0].map(|sign| sign * k as f64 * self.step));
        let on = |i: usize| changes.clone().map(move |c| Action { features: vec![i], change: vec![c] });
        let mut actions: Vec<Action> = (0..features.len()).flat_map(on).collect();
        let cost = |action: &Action| self.problem.cost().of(features, action);
        actions.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        actions
    }
}

impl Method for Steps<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let mut evaluations = 0;
        if self.problem.score(individual) >= 0.0 {
            return Ok((Outcome::AlreadyFavourable, evaluations));
        }
        for action in self.actions() {
            if infeasibility(self.problem, individual, &action)?.is_some() {
                continue;
            }
            // A method never grades itself.
            let certificate = certify(self.problem, individual, &action, Budget::default())?;
            evaluations += certificate.evaluations;
            if let Verdict::Holds { margin } = certificate.verdict {
                let cost = self.problem.cost().of(self.problem.features(), &action);
                let counterfactual =
                    counterfactual(self.problem, individual, &action, &vec![0.0; individual.len()])?;
                // Of cheaper actions it proves nothing.
                let found = Recourse { action, counterfactual, cost, cost_bound: 0.0, margin };
                return Ok((Outcome::Found(found), evaluations));
            }
        }
        let undecided = Undecided {
            best: Action { features: Vec::new(), change: Vec::new() },
            margin: f64::NEG_INFINITY,
            required: self.problem.safety(),
            cost_bound: 0.0,
            reason: UndecidedReason::Method,
        };
        Ok((Outcome::Undecided(undecided), evaluations))
    }

    fn prove(&self, _individual: &[f64]) -> Result<Proof> {
        Err(Error::Setting(SettingError::NoProof { method: "steps" }))
    }
}

/// Public so that the tests can run it.
#[expect(clippy::expect_used, reason = "an example that fails is a failed test")]
pub fn main() -> Result<()> {
    let features = Features::new(vec![
        Feature::new("income").change(Change::Increase),
        Feature::new("debt").change(Change::Decrease),
    ])?;
    let classifier = Classifier::linear(vec![1.0, -0.5], 0.0, 0.5)?;
    let problem = Problem::new(features, classifier)?.with_uncertainty(Norm::L2, 0.1)?;
    let individual = [-1.0, 0.0];

    let steps = Steps { problem: &problem, step: 0.01, count: 1000 };
    let mine = Solver::with_method(&problem, Settings::default(), Box::new(steps))?;
    let exact = Solver::new(&problem, Settings::default())?;
    let (mine, exact) = (mine.solve(&individual)?, exact.solve(&individual)?);
    let (mine, exact) = (mine.recourse().expect("found"), exact.recourse().expect("found"));
    println!("steps of 0.01: {:?}; exact: {:?}", mine.action, exact.action);

    // By hand: income must rise by 1 and by what guards against 0.1 in the worst direction.
    let least = 1.0 + 0.1 * f64::hypot(1.0, 0.5);
    assert_eq!(mine.action.features, [0]);
    assert!(mine.cost >= least && mine.cost < least + 0.01, "{} {least}", mine.cost);
    assert!(exact.cost <= mine.cost);
    Ok(())
}
