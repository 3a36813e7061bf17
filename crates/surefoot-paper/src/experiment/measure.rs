//! One unit of work: a classifier is trained, those it turns down get recourse, standard and
//! robust, which is attacked; and for the same people it is proven what can be.

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

/// What is tried to break certified actions.
const REFUTATION: ProjectedGradient = ProjectedGradient { steps: 40, samples: 400, restarts: 8, seed: 3 };

/// What a unit of work gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Of the classifier, on the test split.
    pub accuracy: f64,
    /// Matthews correlation on the test split.
    pub mcc: f64,
    /// How many of the test split it turns down.
    pub turned_down: usize,
    /// Which rows of the data set are asked about.
    pub rows: Vec<usize>,
    /// For each size of uncertainty, what the paper's method finds for them.
    pub answers: Vec<Answers>,
    /// For some sizes of uncertainty, what can be proven for them, or for the first of them.
    pub proofs: Vec<Proofs>,
}

/// What the paper's method finds: the exact optimum for linear classifiers, Algorithm 1 for
/// networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// The uncertainty that the actions are made robust against.
    pub epsilon: f64,
    /// For each person the cost of the action found.
    pub cost: Vec<Option<f64>>,
    /// For each person the size of the smallest perturbation found to break that action; nothing
    /// where there is no action, and where none breaks it.
    pub smallest_break: Vec<Option<f64>>,
}

/// What is proven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proofs {
    /// The uncertainty.
    pub epsilon: f64,
    /// For each person, or the first of them.
    pub people: Vec<Proven>,
}

/// What is proven for a person.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Proven {
    /// An action holds for every perturbation.
    Certified {
        /// What it costs.
        cost: f64,
        /// No action that holds costs less.
        bound: f64,
        /// Whether an attack breaks it all the same; that would be a mistake of ours.
        broken: bool,
    },
    /// No action holds.
    Impossible,
    /// Neither, within the budget.
    Undecided,
}

impl Answers {
    /// Whether somebody got an action that no attack breaks within the uncertainty.
    pub fn holds(&self, person: usize) -> bool {
        self.cost[person].is_some() && !self.is_broken(person)
    }

    /// Whether somebody got an action that breaks within the uncertainty.
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

/// Sizes of uncertainty for which proofs are looked for.
pub(super) fn proven_epsilons(unit: &Unit) -> &'static [f64] {
    match (unit.model, unit.method) {
        (Model::Linear, Method::Erm) => &[0.001, 0.01, COMPARED, 0.5],
        (_, Method::Erm) => &[COMPARED, 0.5],
        _ => &[COMPARED],
    }
}

/// Does a unit of work; with the seconds that training, recourse and proofs took.
pub(super) fn measure(
    unit: &Unit,
    settings: &Settings,
    table: &Prepared,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<(Measured, [f64; 3])> {
    // A share of one of the three parts is done.
    let expected = effort::of(unit, settings);
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
            // As far from the boundary as the published answers stay.
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
            // Exact where everything is linear.
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

/// Proves what can be proven, and attacks what is certified.
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
        // Everybody asked about is turned down.
        Outcome::Undecided(_) | Outcome::Unproved(_) | Outcome::AlreadyFavourable => Proven::Undecided,
    };
    Ok(Proofs { epsilon, people: outcomes.iter().zip(broken).map(proven).collect() })
}
