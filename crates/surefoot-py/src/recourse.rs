//! Recourse for everybody.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use surefoot::{Action, Budget, Complete, Exact, Outcome, People, describe};

use crate::action::Actions;
use crate::error::Result;
use crate::layout::Column;
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table};
use crate::work::{Ended, run};

/// People between two looks at whether to go on, where each takes less than a microsecond.
const QUICK: usize = 256;

/// The method that answers a problem.
enum Method<'p> {
    Exact(Exact<'p>),
    Complete(Complete<'p>),
}

impl<'p> Method<'p> {
    /// Exact where everything is linear, otherwise complete.
    fn new(problem: &'p surefoot::Problem, gap: f64, evaluations: usize) -> surefoot::Result<Self> {
        match Exact::new(problem) {
            Ok(exact) => Ok(Method::Exact(exact)),
            // What neither can answer the second refuses as well, for the same reason.
            Err(_) => {
                let complete = Complete::new(problem)?.with_gap(gap)?.with_budget(Budget { evaluations })?;
                Ok(Method::Complete(complete))
            }
        }
    }

    fn solve(&self, individual: &[f64]) -> surefoot::Result<Outcome> {
        match self {
            Method::Exact(exact) => exact.solve(individual),
            Method::Complete(complete) => complete.solve(individual),
        }
    }

    /// How many people to answer between two looks at whether to go on.
    fn pace(&self) -> usize {
        match self {
            Method::Exact(_) => QUICK,
            Method::Complete(_) => 1,
        }
    }
}

/// Answers everybody.
#[pyfunction]
#[pyo3(signature = (problem, people, ids, id, gap, evaluations, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn recourse<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: &Bound<'py, PyAny>,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    gap: f64,
    evaluations: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Answers> {
    let (people, read) = Source::new(people, &problem.layout).people(id)?;
    let people = Arc::new(people);
    let evaluations = evaluations.unwrap_or(Budget::default().evaluations);
    let (engine, individuals) = (Arc::clone(&problem.problem), Arc::clone(&people));
    let outcomes = run(py, progress, move |watch| {
        let method = Method::new(&engine, gap, evaluations)?;
        let pace = method.pace();
        let individuals: Vec<&[f64]> = individuals.iter().collect();
        let solve = |group: &[&[f64]]| -> Result<Vec<Outcome>, Ended> {
            watch.step(0)?;
            let outcomes =
                group.iter().map(|individual| method.solve(individual)).collect::<surefoot::Result<_>>()?;
            watch.step(group.len())?;
            Ok(outcomes)
        };
        let groups = individuals.par_chunks(pace).map(solve).collect::<Result<Vec<Vec<Outcome>>, Ended>>()?;
        Ok(groups.into_iter().flatten().collect::<Vec<Outcome>>())
    })?;
    let answers = Answered { people, ids: ids.or(read), outcomes };
    let Problem { layout, problem: engine, .. } = problem;
    Ok(Answers {
        layout: Arc::clone(layout),
        problem: Arc::clone(engine),
        answers: Arc::new(answers),
        table: OnceLock::new(),
    })
}

struct Answered {
    people: Arc<People>,
    ids: Option<Vec<String>>,
    outcomes: Vec<Outcome>,
}

/// Everybody's answers.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct Answers {
    layout: Arc<crate::layout::Layout>,
    problem: Arc<surefoot::Problem>,
    answers: Arc<Answered>,
    table: OnceLock<Py<Table>>,
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.answers.outcomes.len()
    }

    /// How many got which answer.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for word in ["favourable", "found", "impossible", "undecided"] {
            let count = self.answers.outcomes.iter().filter(|outcome| status(outcome) == word).count();
            counts.set_item(word, count)?;
        }
        Ok(counts)
    }

    /// The answers as a table, made when it is first asked for.
    fn table(&self, py: Python<'_>) -> Result<Py<Table>> {
        if let Some(table) = self.table.get() {
            return Ok(table.clone_ref(py));
        }
        let table = Py::new(py, py.detach(|| self.tabulate())?)?;
        Ok(self.table.get_or_init(|| table).clone_ref(py))
    }

    /// The actions that were found.
    fn actions(&self) -> Actions {
        let action = |outcome: &Outcome| outcome.recourse().map(|recourse| recourse.action.clone());
        Actions { actions: self.answers.outcomes.iter().map(action).collect() }
    }

    /// One answer in words.
    fn text(&self, index: usize) -> Result<String> {
        let Answered { people, outcomes, .. } = &*self.answers;
        Ok(describe(&self.problem, people.individual(index), &outcomes[index])?)
    }

    /// Somebody as they are, in own units.
    fn person<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let values = self.problem.features().own_units(self.answers.people.individual(index));
        let person = PyDict::new(py);
        for (name, column) in &self.layout.columns {
            match column {
                Column::Number(at) => person.set_item(name, values[*at])?,
                _ => person.set_item(name, label(column, |at| values[at]))?,
            }
        }
        Ok(person)
    }
}

impl Answers {
    fn tabulate(&self) -> Result<Table> {
        let Answered { people, ids, outcomes } = &*self.answers;
        let features = self.problem.features();
        let found = || outcomes.iter().map(Outcome::recourse);
        let mut columns = Columns::default();
        columns.ids(ids.as_ref(), outcomes.len());
        columns.texts("status", outcomes.iter().map(|outcome| Some(status(outcome))));
        columns.numbers("cost", found().map(|found| Some(found?.cost)));
        let bound = |outcome: &Outcome| match outcome {
            Outcome::Found(recourse) => Some(recourse.cost_bound),
            Outcome::Undecided(undecided) => Some(undecided.cost_bound),
            _ => None,
        };
        columns.numbers("cost_bound", outcomes.iter().map(bound));
        columns.numbers("margin", found().map(|found| Some(found?.margin)));
        columns.truths("certified", found().map(|found| Some(found.is_some())));
        let names = |action: &Action| {
            let names = action.features.iter().map(|&i| features.feature(i).name.clone());
            names.collect::<Vec<_>>().join(";")
        };
        columns.texts("intervention", found().map(|found| Some(names(&found?.action))));
        for i in features.actionable() {
            // In own units, as a change.
            let feature = features.feature(i);
            let change = |action: &Action| {
                let at = action.features.iter().position(|&acted| acted == i)?;
                Some(action.change[at] * feature.std)
            };
            columns.numbers(format!("action:{}", feature.name), found().map(|found| change(&found?.action)));
        }
        for (name, column) in &self.layout.columns {
            let name = format!("counterfactual:{name}");
            match column {
                Column::Number(at) => {
                    let feature = features.feature(*at);
                    columns.numbers(
                        name,
                        found().map(|found| Some(feature.own_units(found?.counterfactual[*at]))),
                    );
                }
                _ => {
                    let value = |at: usize, vector: &[f64]| features.feature(at).own_units(vector[at]);
                    let of = |vector: &[f64]| label(column, |at| value(at, vector));
                    columns.texts(name, found().map(|found| Some(of(&found?.counterfactual))));
                }
            }
        }
        let reason = |(individual, outcome): (&[f64], &Outcome)| match outcome {
            Outcome::Impossible(_) | Outcome::Undecided(_) => {
                describe(&self.problem, individual, outcome).map(Some)
            }
            _ => Ok(None),
        };
        let reasons = people.iter().zip(outcomes).map(reason).collect::<surefoot::Result<Vec<_>>>()?;
        columns.texts("reason", reasons.into_iter());
        columns.finish()
    }
}

/// The category, or level, that values in own units stand for.
fn label(column: &Column, value: impl Fn(usize) -> f64) -> String {
    match column {
        Column::Number(at) => value(*at).to_string(),
        Column::Levels(at, labels) => labels[(value(*at).round() as usize).min(labels.len() - 1)].clone(),
        Column::Categories(first, labels) => {
            let likeliest = (0..labels.len()).max_by(|&a, &b| value(first + a).total_cmp(&value(first + b)));
            labels[likeliest.unwrap_or(0)].clone()
        }
    }
}

fn status(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::AlreadyFavourable => "favourable",
        Outcome::Found(_) => "found",
        Outcome::Impossible(_) => "impossible",
        Outcome::Undecided(_) => "undecided",
    }
}
