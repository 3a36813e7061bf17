//! Recourse for everybody.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use surefoot::recourse::{Explainer, Relaxed, Settings, Solver};
use surefoot::report::{Answer, AnswerTable};
use surefoot::{Outcome, People, SavedProof, describe, describe_explanation};

use crate::action::Actions;
use crate::error::{Fault, Result};
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table, identities};
use crate::work::{Ended, run};

/// People that are answered between two looks at whether to go on: with a closed form, or by descent.
const GROUP: usize = 256;

/// What stands in the way of a person who has no action, in words.
fn obstacles(
    explainer: Option<&Explainer<'_>>,
    problem: &surefoot::Problem,
    individual: &[f64],
    outcome: &Outcome,
) -> surefoot::Result<Option<String>> {
    let explanation =
        explainer.map(|explainer| explainer.explain(individual, outcome)).transpose()?.flatten();
    Ok(explanation.map(|known| describe_explanation(problem, &known)).filter(|text| !text.is_empty()))
}

/// Refuses settings that are given and have no effect with a method that proves nothing.
fn refuse_ineffective(settings: Settings, given: [(&'static str, bool); 3]) -> Result<()> {
    match given.into_iter().find(|(_, is_given)| *is_given && !settings.method.proves()) {
        Some((setting, _)) => Err(Fault::NoEffect { setting, method: settings.method.as_str() }.into()),
        None => Ok(()),
    }
}

/// The answers of a group of people.
struct Answered {
    outcomes: Vec<Outcome>,
    /// How many answers each person has; empty if that is one.
    counts: Vec<usize>,
    /// The proof of everybody's first answer, if it was asked for.
    proofs: Vec<SavedProof>,
}

/// The first answer of everybody, with its proof if it is asked for: a search gives both at once, and a closed form is
/// evaluated once more.
fn first_answers(
    solver: &Solver<'_>,
    problem: &surefoot::Problem,
    group: &[&[f64]],
    proofs: bool,
) -> surefoot::Result<(Vec<Outcome>, Vec<SavedProof>)> {
    if !proofs {
        return Ok((solver.solve_all(group, &|_| {})?, Vec::new()));
    }
    let mut proved = Vec::with_capacity(group.len());
    for individual in group {
        let (outcome, proof) = solver.solve_with_proof(individual)?;
        proved.push((outcome, proof.saved(problem, individual)));
    }
    Ok(proved.into_iter().unzip())
}

/// Answers everybody.
#[pyfunction]
#[pyo3(signature = (problem, people, ids, id, method, gap, evaluations, seconds, options, explain, proofs, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn recourse<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: &Bound<'py, PyAny>,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    method: &str,
    gap: f64,
    evaluations: Option<usize>,
    seconds: Option<f64>,
    options: usize,
    explain: bool,
    proofs: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Answers> {
    let (people, ids) = Source::new(people, &problem.layout).identified(ids, id)?;
    let people = Arc::new(people);
    let (settings, count) = (Settings::given(method.parse()?, gap, evaluations, seconds)?, options);
    refuse_ineffective(settings, [("options", options > 1), ("explain", explain), ("proofs", proofs)])?;
    let (engine, asking) = (Arc::clone(&problem.problem), Arc::clone(&people));
    let (outcomes, persons, obstacles, proofs) = run(py, progress, move |watch| {
        let solver = Solver::new(&engine, settings)?;
        let is_closed_form = solver.is_closed_form();
        let relaxed = Relaxed::all(&engine);
        let explainer = match settings.method.proves() {
            true => Some(Explainer::new(&engine, &relaxed, settings)?),
            false => None,
        };
        let is_asked = explain || asking.len() == 1;
        let explainer = explainer.as_ref().filter(|explainer| is_asked || explainer.is_cheap());
        let individuals: Vec<&[f64]> = asking.iter().collect();
        // A search may take seconds for one person.
        let group_size = if solver.is_closed_form() || !settings.method.proves() { GROUP } else { 1 };
        // Everybody's answers in a row, and how many each has unless that is one.
        let solve = |group: &[&[f64]]| -> Result<Answered, Ended> {
            watch.step(0)?;
            let (first, proofs) = first_answers(&solver, &engine, group, proofs)?;
            let (mut outcomes, mut counts) = (Vec::with_capacity(group.len()), Vec::new());
            match count {
                1 => outcomes = first,
                _ => {
                    for (individual, first) in group.iter().zip(first) {
                        let several = solver.options_after(first, individual, count)?;
                        counts.push(several.len());
                        outcomes.extend(several);
                    }
                }
            }
            watch.step(group.len())?;
            Ok(Answered { outcomes, counts, proofs })
        };
        let explain = |(&person, outcome): (&usize, &Outcome)| -> Result<Option<String>, Ended> {
            watch.step(0)?;
            Ok(obstacles(explainer, &engine, individuals[person], outcome)?)
        };
        let groups = individuals.par_chunks(group_size).map(solve).collect::<Result<Vec<_>, Ended>>()?;
        let (mut outcomes, mut counts, mut saved) = (Vec::new(), Vec::new(), Vec::new());
        for group in groups {
            outcomes.extend(group.outcomes);
            counts.extend(group.counts);
            saved.extend(group.proofs);
        }
        let persons: Vec<usize> = match count {
            1 => (0..outcomes.len()).collect(),
            _ => {
                let counts = counts.into_iter().enumerate();
                counts.flat_map(|(person, count)| std::iter::repeat_n(person, count)).collect()
            }
        };
        let obstacles = persons.par_iter().zip(&outcomes).map(explain).collect::<Result<Vec<_>, Ended>>()?;
        // Without being asked for, proofs of a closed form are made when they are wanted.
        let proofs = match (proofs, is_closed_form && settings.method.proves()) {
            (true, _) => Proofs::Kept(saved),
            (false, true) => Proofs::OnRequest,
            (false, false) => Proofs::None,
        };
        Ok((outcomes, persons, obstacles, proofs))
    })?;
    Ok(Answers {
        problem: Arc::clone(&problem.problem),
        ids: identities(ids, people.len()),
        people,
        outcomes,
        persons,
        obstacles,
        has_options: options > 1,
        settings,
        proofs,
        table: OnceLock::new(),
    })
}

/// The proofs of the first answer of each person.
enum Proofs {
    Kept(Vec<SavedProof>),
    /// A closed form gives them again in a moment.
    OnRequest,
    None,
}

/// Everybody's answers.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct Answers {
    problem: Arc<surefoot::Problem>,
    people: Arc<People>,
    ids: Vec<String>,
    outcomes: Vec<Outcome>,
    /// Whose answer each is.
    persons: Vec<usize>,
    /// What stands in the way of those who have no action, as far as it was asked for.
    obstacles: Vec<Option<String>>,
    has_options: bool,
    settings: Settings,
    proofs: Proofs,
    table: OnceLock<Py<Table>>,
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.outcomes.len()
    }

    /// How many got which answer.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for word in ["favourable", "found", "unproved", "impossible", "undecided"] {
            counts.set_item(word, self.outcomes.iter().filter(|outcome| outcome.status() == word).count())?;
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

    /// The actions that were found, the first of each person.
    fn actions(&self) -> Actions {
        let mut actions = vec![None; self.people.len()];
        for (&person, outcome) in self.persons.iter().zip(&self.outcomes).rev() {
            actions[person] = outcome.advice().map(|advice| advice.action.clone());
        }
        Actions { actions }
    }

    /// The lines of a file of proofs, one for each person, without their ends.
    fn proofs(&self, py: Python<'_>) -> Result<Vec<String>> {
        let made;
        let proofs = match &self.proofs {
            Proofs::Kept(proofs) => proofs,
            Proofs::None => return Err(Fault::NoProofs.into()),
            Proofs::OnRequest => {
                let (problem, people) = (Arc::clone(&self.problem), Arc::clone(&self.people));
                let settings = self.settings;
                made = run(py, None, move |watch| {
                    let solver = Solver::new(&problem, settings)?;
                    let prove = |individual: &&[f64]| -> Result<SavedProof, Ended> {
                        watch.step(0)?;
                        Ok(solver.prove(individual)?.saved(&problem, individual))
                    };
                    let individuals: Vec<&[f64]> = people.iter().collect();
                    individuals.par_iter().map(prove).collect::<Result<Vec<_>, Ended>>()
                })?;
                &made
            }
        };
        let line = |(id, proof): (&String, &SavedProof)| proof.to_line(id).trim_end().to_owned();
        Ok(py.detach(|| self.ids.par_iter().zip(proofs).map(line).collect()))
    }

    /// The position of the person whose answer this is.
    fn person_of(&self, index: usize) -> usize {
        self.persons[index]
    }

    /// One answer in words.
    fn text(&self, index: usize) -> Result<String> {
        Ok(surefoot::escape_text(&self.words(index)?).into_owned())
    }

    /// Somebody as they are, in own units.
    fn person<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let features = self.problem.features();
        let values = features.own_units(self.people.individual(self.persons[index]));
        let person = PyDict::new(py);
        for column in features.columns() {
            let at = column.positions().start;
            match column.text(|i| values[i]) {
                Some(text) => person.set_item(column.name(), text)?,
                None => person.set_item(column.name(), features.feature(at).snap_to_integer(values[at]))?,
            }
        }
        Ok(person)
    }
}

impl Answers {
    /// One answer in the words of the engine, with what stands in the way if there is no action.
    fn words(&self, index: usize) -> surefoot::Result<String> {
        let individual = self.people.individual(self.persons[index]);
        let answer = describe(&self.problem, individual, &self.outcomes[index])?;
        Ok(self.obstacles[index].as_ref().map_or(answer.clone(), |obstacles| format!("{answer} {obstacles}")))
    }

    fn tabulate(&self) -> Result<Table> {
        let Self { outcomes, persons, .. } = self;
        let reason = |(index, outcome): (usize, &Outcome)| match outcome {
            Outcome::Impossible(_) | Outcome::Undecided(_) => self.words(index).map(Some),
            _ => Ok(None),
        };
        let reasons = outcomes.iter().enumerate().map(reason).collect::<surefoot::Result<Vec<_>>>()?;
        let first = |row: usize| persons.partition_point(|&person| person < persons[row]);
        let row = |(row, outcome): (usize, _)| Answer {
            id: self.ids[persons[row]].as_str(),
            option: row - first(row),
            outcome,
            reason: reasons[row].as_deref(),
            individual: self.people.individual(persons[row]),
        };
        let rows: Vec<Answer<'_>> = outcomes.iter().enumerate().map(row).collect();
        let table = AnswerTable::new(&self.problem, self.has_options);
        Columns::of_report(table.headings(), table.values(&rows))
    }
}
