//! The retraining experiment: whether recourse survives that the model is trained again, and the causal model
//! fitted again, on other data.
//!
//! A [`Trial`] trains a model on some rows of a data set and fits its causal model to them: this version is
//! *deployed*. The people whom it turns down get an action for each [`Guard`], that is for each choice of what to
//! guard against. Then *later versions* are trained and fitted on other rows, and each action is judged by each
//! of them. No guard has seen a later version or its rows.

mod division;
mod guard;
mod judge;
pub(crate) mod statistic;
#[cfg(test)]
mod tests;
mod version;

use std::cell::Cell;
use std::fmt;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use surefoot::recourse::{Settings as Effort, Solver};
use surefoot::{Action, Budget, Outcome, Problem};

use super::prepare::Prepared;
use super::{Event, ExperimentError, Result, Settings, effort};
use crate::data::{DataSet, Table};
use crate::training::{Method, Model, recipe};
use division::Division;
use guard::Guards;
use judge::Judge;
use version::Version;

pub use guard::Guard;
pub use judge::{Held, Judged, Verdicts};

/// The data sets of the experiment. (The public file of Bail is another version than the paper's.)
pub(super) const DATA: [DataSet; 4] = [DataSet::Compas, DataSet::Adult, DataSet::Loan, DataSet::German];

/// The data sets whose tables have [periods](crate::data::Period).
pub(super) const DATED: [DataSet; 1] = [DataSet::Compas];

/// The maximum number of people of a trial with a linear model.
const PEOPLE: usize = 50;

/// The same for networks, and for Loan, where more features may change. Their answers take longer.
const FEWER_PEOPLE: usize = 10;

/// The number of bootstraps of the deployed rows that form the committee, together with the deployed model.
pub(super) const COMMITTEE: usize = 10;

/// The number of later versions on each choice of rows.
pub(super) const LATER: usize = 10;

/// A trial: one deployed version, and what becomes of its recourse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The data set.
    pub data: DataSet,
    /// The model.
    pub model: Model,
    /// The seed of the split.
    pub seed: u32,
    /// Whether the deployed version is of one period and the later versions are of the next.
    pub by_period: bool,
}

/// The rows on which a later version is trained and fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// A bootstrap of the deployed rows, which is not in the committee.
    Bootstrap,
    /// As many other people.
    People,
    /// As many people of the next period.
    Period,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retrained {
    /// The rows of the people who are asked about.
    pub rows: Vec<usize>,
    /// The answers for each guard.
    pub guarded: Vec<Guarded>,
    /// With how many later versions each person needs no action, for each choice of their rows.
    pub favourable: Vec<(Change, Vec<usize>)>,
}

/// The answers with one guard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarded {
    /// What is guarded against.
    pub guard: Guard,
    /// The cost of each person's action; `None` if there is none.
    pub costs: Vec<Option<f64>>,
    /// The number of people for whom neither an action was found nor its impossibility was proven.
    pub undecided: usize,
    /// What later versions say of the actions, for each choice of their rows.
    pub judged: Vec<Judged>,
}

impl Trial {
    /// The name of its file, without ending: `retraining_compas_linear_s0`.
    pub fn name(&self) -> String {
        let period = if self.by_period { "_period" } else { "" };
        format!("retraining_{}_{}{period}_s{}", self.data, self.model, self.seed)
    }

    /// The choices of rows for later versions.
    pub fn changes(&self) -> &'static [Change] {
        if self.by_period { &[Change::Period] } else { &[Change::Bootstrap, Change::People] }
    }

    /// The maximum number of people.
    pub(super) fn people(&self, settings: &Settings) -> usize {
        match (self.data, self.model) {
            (DataSet::Loan, Model::Linear) => settings.people.min(FEWER_PEOPLE),
            (_, Model::Linear) => settings.people.min(PEOPLE),
            (_, Model::Network) => settings.people.min(settings.proofs).min(FEWER_PEOPLE),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Change::Bootstrap => "bootstrap",
            Change::People => "other people",
            Change::Period => "next period",
        })
    }
}

impl Retrained {
    /// The answers with a guard.
    pub fn of(&self, guard: Guard) -> Option<&Guarded> {
        self.guarded.iter().find(|guarded| guarded.guard == guard)
    }
}

impl Guarded {
    /// What later versions of one choice of rows say of the actions.
    pub fn on(&self, change: Change) -> Option<&Judged> {
        self.judged.iter().find(|judged| judged.change == change)
    }
}

/// The result of a trial, and the seconds of training, recourse and judging.
pub(super) fn measure(
    trial: &Trial,
    settings: &Settings,
    prepared: &Prepared,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<(Retrained, [f64; 3])> {
    let refused = |source| ExperimentError::refused(trial.name())(source);
    let expected = effort::of_trial(trial, settings);
    let advance = |part: usize, share: f64| watch(Event::Advanced { effort: expected[part] * share });
    let mut seconds = [0.0; 3];
    let (table, features) = (&prepared.table, &prepared.table.features);

    let begin = Instant::now();
    let division = trial.division(table);
    let versions = trial.train(settings, table, &division, &|share| advance(0, share)).map_err(refused)?;
    let Versions { deployed, committee, later } = &versions;
    seconds[0] = begin.elapsed().as_secs_f64();

    let person = |row: &usize| table.rows.row(*row).to_vec();
    let turned_down = |row: &usize| deployed.classifier.score(&person(row)) < 0.0;
    let rows = division.asked.iter().copied().filter(turned_down);
    let rows: Vec<usize> = rows.take(trial.people(settings)).collect();
    let people: Vec<Vec<f64>> = rows.iter().map(person).collect();
    let budget = Budget { evaluations: settings.evaluations };
    let judge = Judge { features, deployed, budget };
    let guards = Guards::new(features, deployed, committee).map_err(refused)?;
    let mut guarded = Vec::new();
    for guard in guards.available() {
        let begin = Instant::now();
        let problem = guards.problem(guard).map_err(refused)?;
        let outcomes = solve(&problem, &people, budget).map_err(refused)?;
        advance(1, 1.0 / Guard::ALL.len() as f64);
        seconds[1] += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        guarded.push(judged(guard, &outcomes, &people, later, &judge).map_err(refused)?);
        advance(2, 1.0 / Guard::ALL.len() as f64);
        seconds[2] += begin.elapsed().as_secs_f64();
    }
    let favourable = |person: &Vec<f64>, versions: &[Version]| {
        versions.iter().filter(|version| version.classifier.score(person) >= 0.0).count()
    };
    let favourable = later.iter().map(|(change, versions)| {
        (*change, people.iter().map(|person| favourable(person, versions)).collect())
    });
    Ok((Retrained { rows, guarded, favourable: favourable.collect() }, seconds))
}

/// The versions of a trial.
struct Versions {
    deployed: Version,
    /// Trained on bootstraps of the deployed rows.
    committee: Vec<Version>,
    later: Vec<(Change, Vec<Version>)>,
}

impl Trial {
    fn division(&self, table: &Table) -> Division {
        match &table.periods {
            Some(periods) if self.by_period => Division::by_period(periods, self.seed),
            _ => Division::by_people(table.favourable.len(), self.seed),
        }
    }

    /// Trains all versions. `advance` is called after each with its share of the work.
    fn train(
        &self,
        settings: &Settings,
        table: &Table,
        division: &Division,
        advance: &dyn Fn(f64),
    ) -> surefoot::Result<Versions> {
        let (labels, seed) = (&table.favourable, self.seed);
        let share = 1.0 / (1 + COMMITTEE + LATER * self.changes().len()) as f64;
        // No two versions start from the same weights.
        let number = Cell::new(1000 * u64::from(seed));
        let train = |rows: &[usize]| {
            let mut training = recipe(self.data, self.model, Method::Erm, number.replace(number.get() + 1));
            training.epochs = training.epochs.min(settings.epochs);
            let version = Version::train(table, self.data.graph(), rows, &training);
            advance(share);
            version
        };
        let deployed = train(&division.deployed)?;
        let committee = (0..COMMITTEE).map(|number| train(&division.member(labels, seed, number)));
        let committee = committee.collect::<surefoot::Result<_>>()?;
        let changed = |&change: &Change| {
            let versions = (0..LATER).map(|number| train(&division.later(labels, seed, change, number)));
            Ok((change, versions.collect::<surefoot::Result<_>>()?))
        };
        let later = self.changes().iter().map(changed).collect::<surefoot::Result<_>>()?;
        Ok(Versions { deployed, committee, later })
    }
}

/// The answers for people.
fn solve(problem: &Problem, people: &[Vec<f64>], budget: Budget) -> surefoot::Result<Vec<Outcome>> {
    let individuals: Vec<&[f64]> = people.iter().map(Vec::as_slice).collect();
    Solver::new(problem, Effort { budget, ..Effort::default() })?.solve_all(&individuals, &|_| {})
}

/// The answers with a guard, judged by later versions.
fn judged(
    guard: Guard,
    outcomes: &[Outcome],
    people: &[Vec<f64>],
    later: &[(Change, Vec<Version>)],
    judge: &Judge<'_>,
) -> surefoot::Result<Guarded> {
    let actions: Vec<Option<&Action>> =
        outcomes.iter().map(|outcome| outcome.recourse().map(|recourse| &recourse.action)).collect();
    let judged = later.iter().map(|(change, versions)| judge.judge(*change, versions, people, &actions));
    Ok(Guarded {
        guard,
        costs: outcomes.iter().map(|outcome| Some(outcome.recourse()?.cost)).collect(),
        undecided: outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Undecided(_))).count(),
        judged: judged.collect::<surefoot::Result<_>>()?,
    })
}
