//! One unit of work: training of a classifier, standard and robust recourse for the people whom it turns
//! down, attacks on that recourse, and proofs for the same people.

use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use surefoot::attack::{DeepFool, ProjectedGradient, worst_found};
use surefoot::{
    Action, Attack, Break, Budget, Complete, Descent, Exact, Norm, Outcome, People, Problem, smallest_break,
};

use super::prepare::{Prepared, Trained};
use super::{COMPARED, Event, ExperimentError, Result, Settings, Unit, effort};
use crate::reference::SLACK;
use crate::training::{Method, Model};

/// The attack on certified actions.
const REFUTATION: ProjectedGradient = ProjectedGradient { steps: 40, samples: 400, restarts: 8, seed: 3 };

/// The result of a unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The accuracy of the classifier on the test split.
    pub accuracy: f64,
    /// Matthews correlation on the test split.
    pub mcc: f64,
    /// The number of people in the test split whom it turns down.
    pub turned_down: usize,
    /// The rows of the data set for which recourse is computed.
    pub rows: Vec<usize>,
    /// The answers of the paper's method for them, for each size of uncertainty.
    pub answers: Vec<Answers>,
    /// The proofs for them, or for the first of them, for some sizes of uncertainty.
    pub proofs: Vec<Proofs>,
}

/// The answers of the paper's method: the exact optimum for linear classifiers, Algorithm 1 for networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The size of the uncertainty.
    pub epsilon: f64,
    /// The cost of each person's action; `None` if none was found.
    pub cost: Vec<Option<f64>>,
    /// The size of the smallest perturbation that was found to break each person's action; `None` where
    /// there is no action, and where none breaks it.
    pub smallest_break: Vec<Option<f64>>,
}

/// The proofs for one size of uncertainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proofs {
    /// The size of the uncertainty.
    pub epsilon: f64,
    /// The outcome of each person, or of the first of them.
    pub people: Vec<Proven>,
}

/// The proven outcome of a person.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Proven {
    /// An action holds for every perturbation.
    Certified {
        /// Its cost.
        cost: f64,
        /// A proven lower bound of the cost.
        bound: f64,
        /// Whether an attack breaks it nevertheless, which would be an error of the engine.
        broken: bool,
    },
    /// No action holds.
    Impossible,
    /// Neither is proven within the budget.
    Undecided,
}

impl Answers {
    /// Whether a person has an action that no attack breaks within the uncertainty.
    pub fn holds(&self, person: usize) -> bool {
        self.cost[person].is_some() && !self.is_broken(person)
    }

    /// Whether a person has an action that breaks within the uncertainty.
    pub fn is_broken(&self, person: usize) -> bool {
        self.smallest_break[person].is_some_and(|size| size < self.epsilon)
    }
}

impl Measured {
    /// The answers for a size of uncertainty.
    pub fn answers(&self, epsilon: f64) -> Option<&Answers> {
        self.answers.iter().find(|answers| answers.epsilon == epsilon)
    }

    /// The proofs for a size of uncertainty.
    pub fn proofs(&self, epsilon: f64) -> Option<&Proofs> {
        self.proofs.iter().find(|proofs| proofs.epsilon == epsilon)
    }
}

/// The sizes of uncertainty for which proofs are attempted.
pub(super) fn proven_epsilons(unit: &Unit) -> &'static [f64] {
    match (unit.model, unit.method) {
        (Model::Linear, Method::Erm) => &[0.001, 0.01, COMPARED, 0.5],
        (_, Method::Erm) => &[COMPARED, 0.5],
        _ => &[COMPARED],
    }
}

/// The result of a unit of work, and the seconds of training, recourse and proofs.
pub(super) fn measure(
    unit: &Unit,
    settings: &Settings,
    table: &Prepared,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<(Measured, [f64; 3])> {
    // Reports progress of one of the three parts.
    let expected = effort::of_unit(unit, settings);
    let advance = |part: usize, share: f64| watch(Event::Advanced { effort: expected[part] * share });
    let mut seconds = [0.0; 3];
    let begin = Instant::now();
    let trained = table.train(unit, settings, &|share| advance(0, share))?;
    let Trained { accuracy, mcc, turned_down, rows, asked } = trained;
    seconds[0] = begin.elapsed().as_secs_f64();
    let (mut answers, mut proofs) = (Vec::new(), Vec::new());
    if let Some((problem, people)) = &asked {
        let refused = |source| ExperimentError::refused(unit.name())(source);
        let begin = Instant::now();
        let epsilons = unit.epsilons();
        for &epsilon in epsilons {
            answers.push(answer(unit.model, problem, people, epsilon).map_err(refused)?);
            advance(1, 1.0 / epsilons.len() as f64);
        }
        seconds[1] = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let epsilons = proven_epsilons(unit);
        for &epsilon in epsilons {
            let advance = |share: f64| advance(2, share / epsilons.len() as f64);
            proofs.push(prove(unit.model, problem, people, epsilon, settings, &advance).map_err(refused)?);
        }
        seconds[2] = begin.elapsed().as_secs_f64();
    }
    Ok((Measured { accuracy, mcc, turned_down, rows, answers, proofs }, seconds))
}

/// Finds actions by the paper's method and looks for the smallest perturbation that breaks each.
fn answer(model: Model, problem: &Problem, people: &People, epsilon: f64) -> surefoot::Result<Answers> {
    let problem = problem.clone().with_uncertainty(Norm::L2, epsilon)?;
    let found: Vec<Option<(Action, f64)>> = match model {
        Model::Linear => {
            // The safety margin of the published answers.
            let exact_problem = problem.clone().with_safety(SLACK)?;
            let exact = Exact::new(&exact_problem)?;
            let solve = |individual: &[f64]| {
                let outcome = exact.solve(individual)?;
                Ok(outcome.recourse().map(|recourse| (recourse.action.clone(), recourse.cost)))
            };
            people.iter().map(solve).collect::<surefoot::Result<_>>()?
        }
        Model::Network => {
            let attempts = Descent::default().solve(&problem, people)?;
            attempts.iter().map(|a| a.candidate().map(|c| (c.action.clone(), c.cost))).collect()
        }
    };
    let acting: Vec<usize> = (0..found.len()).filter(|&person| found[person].is_some()).collect();
    let actions: Vec<Action> = found.iter().flatten().map(|(action, _)| action.clone()).collect();
    let mut sizes = vec![None; found.len()];
    if let Ok(people) = people.select(&acting) {
        let breaks: Vec<Option<Break>> = match model {
            // DeepFool is exact for linear problems.
            Model::Linear => DeepFool::default().attack(&problem, &people, &actions)?,
            Model::Network => smallest_break(&problem, &people, &actions)?,
        };
        for (&person, broken) in acting.iter().zip(breaks) {
            sizes[person] = broken.map(|broken| broken.size);
        }
    }
    let cost = found.iter().map(|found| found.as_ref().map(|(_, cost)| *cost)).collect();
    Ok(Answers { epsilon, cost, smallest_break: sizes })
}

/// Attempts proofs, and attacks certified actions.
fn prove(
    model: Model,
    problem: &Problem,
    people: &People,
    epsilon: f64,
    settings: &Settings,
    advance: &(dyn Fn(f64) + Sync),
) -> surefoot::Result<Proofs> {
    let problem = problem.clone().with_uncertainty(Norm::L2, epsilon)?;
    let outcomes: Vec<Outcome> = match model {
        Model::Linear => {
            let exact = Exact::new(&problem)?;
            people.iter().map(|individual| exact.solve(individual)).collect::<surefoot::Result<_>>()?
        }
        Model::Network => {
            let budget = Budget { evaluations: settings.evaluations };
            let complete = Complete::new(&problem)?.with_budget(budget)?;
            let first: Vec<&[f64]> = people.iter().take(settings.proofs).collect();
            let share = 1.0 / first.len() as f64;
            let solve = |individual: &[f64]| {
                let outcome = complete.solve(individual);
                advance(share);
                outcome
            };
            first.into_par_iter().map(solve).collect::<surefoot::Result<_>>()?
        }
    };
    if model == Model::Linear {
        advance(1.0);
    }
    let certified: Vec<usize> =
        (0..outcomes.len()).filter(|&person| outcomes[person].recourse().is_some()).collect();
    let actions: Vec<Action> =
        outcomes.iter().filter_map(|outcome| Some(outcome.recourse()?.action.clone())).collect();
    let mut broken = vec![false; outcomes.len()];
    if let Ok(people) = people.select(&certified) {
        for (&person, worst) in certified.iter().zip(worst_found(&problem, &people, &actions, &REFUTATION)?) {
            broken[person] = worst.margin < 0.0;
        }
    }
    let proven = |(outcome, broken): (&Outcome, bool)| match outcome {
        Outcome::Found(found) => Proven::Certified { cost: found.cost, bound: found.cost_bound, broken },
        Outcome::Impossible(_) => Proven::Impossible,
        // The last cannot occur: recourse is computed for people who are turned down.
        Outcome::Undecided(_) | Outcome::Unproved(_) | Outcome::AlreadyFavourable => Proven::Undecided,
    };
    Ok(Proofs { epsilon, people: outcomes.iter().zip(broken).map(proven).collect() })
}
