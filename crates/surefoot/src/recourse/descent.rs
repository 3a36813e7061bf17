//! Recourse by descent: the paper's Algorithm 1, for anything differentiable.
//!
//! For rounds with a falling penalty `lambda`, steps of
//!
//! ```text
//! theta <- project(theta - step * d/dtheta [ lambda cost(theta) + loss(CF(CF(x, D*), theta)) ])
//! ```
//!
//! with `loss = -log sigmoid(logit)` and `D*` an approximation of the worst perturbation of
//! the current action. An individual is finished, and keeps the action, as soon as the
//! classifier is favourable both unperturbed and under `D*`. Every intervention set is tried
//! and the cheapest action kept.
//!
//! The result is only a [`Candidate`]: `D*` need not be the worst perturbation, so nothing is proven.
//! Sixteen individuals are processed at a time, one per lane. When one is finished the next one takes its
//! lane, so the steps of each do not depend on the others. Steps are computed in single precision;
//! whether an individual is finished is decided in double precision.

mod evaluator;
mod screen;

use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;
use rayon::prelude::*;

use super::{Method, Settings};
use crate::action::{covering_sets, feasible_change, intervention_sets};
use crate::adam::Adam;
use crate::classifier::Precision;
use crate::error::{CausalModelError, SettingError};
use crate::margin::{Individuals, Margin, outcome};
use crate::network::{LANES, Lanes, sigmoid};
use crate::outcome::{Candidate, Outcome, Undecided, UndecidedReason};
use crate::proof::Proof;
use crate::{Action, Cost, Error, People, Problem, Result};
use evaluator::Evaluator;

/// The settings of Algorithm 1; the default is as published.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// The penalty on the cost in the first round.
    pub penalty: f64,
    /// The factor by which the penalty is multiplied after each round.
    pub decay: f64,
    /// The number of rounds.
    pub rounds: usize,
    /// The number of steps in a round.
    pub steps: usize,
    /// The length of a step.
    pub step: f64,
    /// How a gradient becomes a step.
    pub optimiser: Optimiser,
    /// How the worst perturbation is approximated.
    pub inner: Inner,
    /// Whether to give up an individual before all steps are taken, in two cases. First, a grid over all
    /// actions shows that none comes near the boundary. This may miss an action that works only in a very
    /// small region (14 of 3,000 people for the roughest of the published networks, one or none for
    /// most). Second, the action is at its limits in every coordinate and every gradient points outwards;
    /// then no step moves it any more, and the result is the same.
    pub stop_when_settled: bool,
}

/// How a gradient becomes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimiser {
    /// Adam (Kingma and Ba, 2015) with its usual constants, as published.
    Adam,
    /// The gradient itself.
    Gradient,
}

/// How the worst perturbation of an action is approximated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inner {
    /// One step of full length along the normalised gradient, as published.
    NormalisedStep,
    /// Projected gradient descent with steps of length `epsilon * length`, from the normalised step and
    /// from random points. The worst perturbation on the way counts.
    Projected {
        /// The number of steps from each start.
        steps: usize,
        /// The length of each step, as a share of epsilon.
        length: f64,
        /// The number of random starts.
        restarts: usize,
        /// The seed of the random starts.
        seed: u64,
    },
}

impl Default for Descent {
    fn default() -> Self {
        Self {
            penalty: 1.0,
            decay: 0.9,
            rounds: 100,
            steps: 50,
            step: 0.1,
            optimiser: Optimiser::Adam,
            inner: Inner::NormalisedStep,
            stop_when_settled: true,
        }
    }
}

/// What descent found for one individual.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The classifier is favourable already.
    AlreadyFavourable,
    /// An action that withstood the perturbations tried.
    Found(Candidate),
    /// No action was found. There may be one.
    NotFound,
}

impl Attempt {
    /// The action found, if any.
    pub fn candidate(&self) -> Option<&Candidate> {
        match self {
            Attempt::Found(candidate) => Some(candidate),
            _ => None,
        }
    }
}

/// The method of Wachter et al. (2017): standard recourse where features are independent.
///
/// Rejects a problem with a causal model.
pub fn wachter(problem: &Problem, people: &People) -> Result<Vec<Attempt>> {
    if problem.scm().is_some() {
        return Err(Error::Setting(SettingError::HasCausalModel));
    }
    without_uncertainty(problem, people)
}

/// The method of Karimi et al. (2020): standard recourse through a causal model.
///
/// Rejects a problem without one.
pub fn karimi(problem: &Problem, people: &People) -> Result<Vec<Attempt>> {
    if problem.scm().is_none() {
        return Err(Error::Setting(SettingError::NoCausalModel));
    }
    without_uncertainty(problem, people)
}

fn without_uncertainty(problem: &Problem, people: &People) -> Result<Vec<Attempt>> {
    let problem = problem.clone().with_epsilon(0.0)?;
    Descent::default().solve(&problem, people)
}

/// Algorithm 1 prepared for a problem, as one of the methods.
#[derive(Debug)]
struct DescentMethod<'p> {
    descent: Descent,
    problem: &'p Problem,
}

impl DescentMethod<'_> {
    fn outcome(&self, attempt: Attempt) -> Outcome {
        match attempt {
            Attempt::AlreadyFavourable => Outcome::AlreadyFavourable,
            Attempt::Found(candidate) => Outcome::Unproved(candidate),
            Attempt::NotFound => Outcome::Undecided(Undecided {
                best: Action { features: Vec::new(), change: Vec::new() },
                margin: f64::NEG_INFINITY,
                required: self.problem.safety(),
                cost_bound: 0.0,
                reason: UndecidedReason::Method,
            }),
        }
    }
}

impl Method for DescentMethod<'_> {
    fn solve(&self, individual: &[f64]) -> Result<(Outcome, usize)> {
        let mut outcomes = self.solve_all(&[individual], &|_| {})?;
        Ok((outcomes.swap_remove(0), 0))
    }

    fn prove(&self, _: &[f64]) -> Result<Proof> {
        Err(Error::Setting(SettingError::NoProof { method: "descent" }))
    }

    /// Processes sixteen individuals at a time.
    fn solve_all(&self, individuals: &[&[f64]], progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Outcome>> {
        let features = self.problem.features();
        let rows = Array2::from_shape_fn((individuals.len(), features.len()), |(i, j)| individuals[i][j]);
        let people = People::from_standardised(features, rows.view())?;
        let attempts = self.descent.solve(self.problem, &people)?;
        progress(individuals.len());
        Ok(attempts.into_iter().map(|attempt| self.outcome(attempt)).collect())
    }

    /// Enough that lanes without an individual, at the end of a batch, take little of the time.
    fn batch_size(&self) -> usize {
        64 * LANES
    }
}

/// The intervention sets to try: every one, as published, unless there are too many. Then those that cover
/// all others.
fn sets(problem: &Problem) -> Result<Vec<Vec<usize>>> {
    intervention_sets(problem.features(), problem.scm().is_some())
        .or_else(|_| covering_sets(problem.features(), problem.scm(), problem.action_kind()))
}

impl Descent {
    /// Prepares the method, for the list of methods.
    pub(super) fn prepare_method(problem: &Problem, _: Settings) -> Result<Box<dyn Method + '_>> {
        problem.require_one_variant("the method `descent` is")?;
        problem.require_continuous()?;
        problem.require_ball_only(|what| SettingError::UncertaintyNotKnown { what, method: "descent" })?;
        if problem.classifier().ensemble().is_some() {
            return Err(Error::Setting(SettingError::NoGradient { method: "descent" }));
        }
        sets(problem)?;
        Ok(Box::new(DescentMethod { descent: Descent::default(), problem }))
    }

    /// Tries the intervention sets for everybody whom the classifier rejects, on all cores.
    pub fn solve(&self, problem: &Problem, people: &People) -> Result<Vec<Attempt>> {
        self.check()?;
        problem.require_one_variant("the method `descent` is")?;
        problem.require_continuous()?;
        problem.require_ball_only(|what| SettingError::UncertaintyNotKnown { what, method: "descent" })?;
        if people.features() != problem.features() {
            return Err(Error::CausalModel(CausalModelError::OtherFeatures));
        }
        let turned_down: Vec<usize> =
            (0..people.len()).filter(|&i| problem.classifier().score(people.individual(i)) < 0.0).collect();
        let sets = sets(problem)?;
        let margins: Vec<Margin<'_>> = sets.iter().map(|set| Margin::new(problem, set)).collect();
        let queues: Vec<AtomicUsize> = sets.iter().map(|_| AtomicUsize::new(0)).collect();
        // Each worker goes through the sets; within a set the workers share a queue.
        let worker = |_| -> Result<Vec<Finding>> {
            let mut findings = Vec::new();
            for (set, margin) in margins.iter().enumerate() {
                let next = || turned_down.get(queues[set].fetch_add(1, Ordering::Relaxed)).copied();
                Run::new(self, margin, people)
                    .all(next, |person, change| findings.push((person, set, change)))?;
            }
            Ok(findings)
        };
        let workers = rayon::current_num_threads().min(turned_down.len().div_ceil(LANES));
        let mut findings: Vec<Finding> =
            (0..workers).into_par_iter().map(worker).collect::<Result<Vec<_>>>()?.concat();
        findings.sort_by_key(|(person, set, _)| (*person, *set));

        let mut attempts = vec![Attempt::AlreadyFavourable; people.len()];
        turned_down.iter().for_each(|&person| attempts[person] = Attempt::NotFound);
        for (person, set, change) in findings {
            let action = Action { features: sets[set].clone(), change };
            let cost = problem.cost().of(problem.features(), &action);
            if attempts[person].candidate().is_none_or(|before| cost < before.cost) {
                let counterfactual = outcome(problem, people.individual(person), &action)?;
                attempts[person] = Attempt::Found(Candidate { action, counterfactual, cost });
            }
        }
        Ok(attempts)
    }

    fn check(&self) -> Result<()> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let (rounds, steps) = (self.rounds as f64, self.steps as f64);
        for (setting, value) in [
            ("penalty", self.penalty),
            ("decay", self.decay),
            ("step", self.step),
            ("rounds", rounds),
            ("steps", steps),
        ] {
            if !positive(value) {
                return Err(Error::Setting(SettingError::Setting { setting, value }));
            }
        }
        for (setting, value) in [("rounds", rounds), ("steps", steps)] {
            if value > MOST {
                return Err(Error::Setting(SettingError::Setting { setting, value }));
            }
        }
        match self.inner {
            Inner::Projected { length, .. } if !positive(length) => {
                Err(Error::Setting(SettingError::Setting { setting: "length", value: length }))
            }
            _ => Ok(()),
        }
    }
}

/// The largest number of rounds, and of steps in a round.
const MOST: f64 = 1e6;

/// Person, intervention set, change.
type Finding = (usize, usize, Vec<f64>);

/// The progress of the individual on a lane.
#[derive(Clone, Copy)]
struct Progress {
    person: usize,
    step: usize,
}

/// One worker on one intervention set.
struct Run<'a> {
    settings: &'a Descent,
    margin: &'a Margin<'a>,
    people: &'a People,
    individuals: Individuals,
    /// In single precision, for the steps.
    quick: Evaluator,
    /// In double precision, to decide whether an individual is finished.
    sure: Evaluator,
    progress: [Option<Progress>; LANES],
    change: Vec<Lanes>,
    gradient: Vec<Lanes>,
    limits: Vec<(Lanes, Lanes)>,
    /// Adam's averages of the gradient and of its square.
    averages: Vec<(Lanes, Lanes)>,
    /// The penalty of each round.
    penalties: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(settings: &'a Descent, margin: &'a Margin<'a>, people: &'a People) -> Self {
        let zeros = |n: usize| vec![Lanes::ZERO; n];
        let count = margin.features().len();
        Self {
            settings,
            margin,
            people,
            individuals: margin.individuals(),
            quick: Evaluator::new(margin, Precision::Single),
            sure: Evaluator::new(margin, Precision::Double),
            progress: [None; LANES],
            change: zeros(count),
            gradient: zeros(count),
            limits: vec![(Lanes::ZERO, Lanes::ZERO); count],
            averages: vec![(Lanes::ZERO, Lanes::ZERO); count],
            penalties: (0..settings.rounds)
                .map(|k| settings.penalty * settings.decay.powi(k as i32))
                .collect(),
        }
    }

    /// Processes the queue and reports each action found.
    fn all(
        mut self,
        mut next: impl FnMut() -> Option<usize>,
        mut found: impl FnMut(usize, Vec<f64>),
    ) -> Result<()> {
        let mut scout = Run::new(self.settings, self.margin, self.people);
        loop {
            for lane in 0..LANES {
                while self.progress[lane].is_none()
                    && let Some(person) = next()
                {
                    if !self.settings.stop_when_settled || scout.is_promising(person)? {
                        self.start(lane, person)?;
                    }
                }
            }
            if self.progress.iter().all(Option::is_none) {
                return Ok(());
            }
            let margins = self.evaluate(Precision::Single);
            self.differentiate(margins.1);
            let safety = self.margin.problem().safety();
            let reached = |(plain, perturbed): &(Lanes, Lanes), l: usize| {
                plain.0[l] >= safety && perturbed.0[l] >= safety
            };
            // If single precision reaches the boundary, double precision decides.
            let near = (0..LANES).any(|l| self.progress[l].is_some() && reached(&margins, l));
            let certain = near.then(|| self.evaluate(Precision::Double));
            for lane in 0..LANES {
                let Some(Progress { person, step }) = self.progress[lane] else { continue };
                if reached(&margins, lane) && certain.as_ref().is_some_and(|margins| reached(margins, lane)) {
                    found(person, self.change.iter().map(|change| change.0[lane]).collect());
                    self.progress[lane] = None;
                    continue;
                }
                let settled = !self.descend(lane, step) && self.points_outwards(lane);
                let over = step + 1 >= self.settings.rounds * self.settings.steps;
                let given_up = over || (settled && self.settings.stop_when_settled);
                self.progress[lane] = (!given_up).then_some(Progress { person, step: step + 1 });
            }
        }
    }

    fn start(&mut self, lane: usize, person: usize) -> Result<()> {
        let x = self.people.individual(person);
        self.margin.place(&mut self.individuals, lane, x)?;
        for (k, &i) in self.margin.features().iter().enumerate() {
            let (low, high) = feasible_change(self.margin.problem().features(), i, x[i]);
            (self.limits[k].0.0[lane], self.limits[k].1.0[lane]) = (low, high);
            (self.averages[k].0.0[lane], self.averages[k].1.0[lane]) = (0.0, 0.0);
            self.change[k].0[lane] = 0.0;
        }
        self.progress[lane] = Some(Progress { person, step: 0 });
        (self.quick.is_new, self.sure.is_new) = (true, true);
        Ok(())
    }

    fn evaluate(&mut self, precision: Precision) -> (Lanes, Lanes) {
        let Self { settings, margin, individuals, change, quick, sure, .. } = self;
        let evaluator = match precision {
            Precision::Single => quick,
            Precision::Double => sure,
        };
        evaluator.evaluate(margin, individuals, change, settings)
    }

    /// Turns the gradient of the margin into that of penalised cost plus loss.
    fn differentiate(&mut self, margin: Lanes) {
        let problem = self.margin.problem();
        let offset = crate::network::logit(problem.classifier().threshold());
        // d/dz of -log sigmoid(z) is -sigmoid(-z).
        let slope = margin.map(|m| -sigmoid(-(m + offset)));
        let penalty = Lanes::from_fn(|l| {
            self.progress[l].map_or(0.0, |progress| self.penalties[progress.step / self.settings.steps])
        });
        let weight = |k: usize| problem.features().feature(self.margin.features()[k]).weight;
        let squares =
            |l: usize| (0..self.change.len()).map(|k| (weight(k) * self.change[k].0[l]).powi(2)).sum::<f64>();
        let length = match problem.cost() {
            Cost::L1 => Lanes::splat(1.0),
            Cost::L2 => Lanes::from_fn(|l| squares(l).sqrt()),
        };
        for (k, gradient) in self.gradient.iter_mut().enumerate() {
            let (change, w) = (self.change[k], weight(k));
            let cost = match problem.cost() {
                Cost::L1 => change.map(|c| if c == 0.0 { 0.0 } else { w.copysign(c) }),
                Cost::L2 => change.zip(length, |c, length| if c == 0.0 { 0.0 } else { w * w * c / length }),
            };
            *gradient = penalty * cost + slope * self.quick.gradient[k];
        }
    }

    /// Takes a step. Returns whether the change moved.
    fn descend(&mut self, lane: usize, step: usize) -> bool {
        let mut moved = false;
        let adam = Adam::at(step + 1);
        for k in 0..self.change.len() {
            let gradient = self.gradient[k].0[lane];
            let direction = match self.settings.optimiser {
                Optimiser::Gradient => gradient,
                Optimiser::Adam => {
                    let (first, second) = &mut self.averages[k];
                    adam.direction(gradient, &mut first.0[lane], &mut second.0[lane])
                }
            };
            let (low, high) = (self.limits[k].0.0[lane], self.limits[k].1.0[lane]);
            let before = self.change[k].0[lane];
            let after = before - self.settings.step * direction;
            // A gradient that is NaN gives no direction, so the change stays.
            let after = if after.is_nan() { before } else { after.clamp(low, high) };
            moved |= after != before;
            self.change[k].0[lane] = after;
        }
        moved
    }

    /// Whether, in every coordinate, the change is at a limit and the gradient points beyond it. As the
    /// penalty falls, the gradient only turns further in that direction, so the change will not move
    /// again.
    fn points_outwards(&self, lane: usize) -> bool {
        self.gradient.iter().zip(&self.limits).zip(&self.change).all(|((gradient, (low, high)), change)| {
            let (g, c) = (gradient.0[lane], change.0[lane]);
            (c == low.0[lane] && g >= 0.0) || (c == high.0[lane] && g <= 0.0)
        })
    }
}
