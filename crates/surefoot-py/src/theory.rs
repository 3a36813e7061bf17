//! What the theory says about a problem and its people.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::recourse::Settings;
use surefoot::theory::{AboutPerson, AboutProblem, Guarantee, NoStatement, Summary, Theory, Unmet, standard};
use surefoot::{
    Budget, describe_missing, describe_shift, describe_theory, describe_theory_of_person,
    describe_theory_summary, describe_unmet,
};

use crate::error::Result;
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table};
use crate::work::{Ended, run};

/// Whether robust recourse exists for everybody, the conditions that are not met by statement, everything
/// in words, and a table of the statements about people, if there are any.
type Stated = (String, Vec<(&'static str, Vec<String>)>, String, Option<Table>);

/// The statements about a person and their words.
type Told = (AboutPerson, String);

/// Makes the statements about a problem and, if there are any, about people.
#[pyfunction]
#[pyo3(signature = (problem, people, ids, id, gap, evaluations, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn theory<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: Option<&Bound<'py, PyAny>>,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    gap: f64,
    evaluations: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Stated> {
    let budget = evaluations.map_or(Budget::default(), |evaluations| Budget { evaluations });
    let settings = Settings { gap, budget, ..Settings::default() };
    settings.check()?;
    let about = AboutProblem::new(&problem.problem)?;
    let mut text = describe_theory(&problem.problem, &about);
    let mut table = None;
    if let Some(people) = people {
        let (people, ids) = Source::new(people, &problem.layout).identified(ids, id)?;
        let engine = Arc::clone(&problem.problem);
        let told = run(py, progress, move |watch| {
            let standard = standard(&engine)?;
            let theory = Theory::new(&engine, &standard, settings)?;
            let tell = |individual: &[f64]| -> Result<Told, Ended> {
                watch.step(0)?;
                let person = theory.about_person(individual)?;
                let words =
                    describe_theory_of_person(&engine, &standard, individual, theory.about(), &person)?;
                watch.step(1)?;
                Ok((person, words.join(" ")))
            };
            let individuals: Vec<&[f64]> = people.iter().collect();
            individuals.into_par_iter().map(tell).collect::<Result<Vec<Told>, Ended>>()
        })?;
        let mut summary = Summary::default();
        told.iter().for_each(|(person, _)| summary.add(&problem.problem, person));
        text = format!("{text}\n{}", describe_theory_summary(&summary));
        table = Some(tabulate(problem, &about, ids.as_ref(), &told)?);
    }
    let text = surefoot::escape_text(&text).trim_end().to_owned();
    Ok((about.existence.name().into(), unmet(problem, &about), text, table))
}

/// The conditions of each statement that are not met, in words.
fn unmet(problem: &Problem, about: &AboutProblem) -> Vec<(&'static str, Vec<String>)> {
    let existence: Vec<&Unmet> = match &about.existence {
        Guarantee::Unknown { all, proposition_2, proposition_3 } => {
            all.iter().chain(proposition_2).chain(proposition_3).collect()
        }
        _ => Vec::new(),
    };
    let words = |unmet: Vec<&Unmet>| -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for unmet in unmet {
            let word = describe_unmet(&problem.problem, unmet);
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    };
    vec![
        ("existence", words(existence)),
        ("extra_cost", words(about.extra_cost.iter().collect())),
        ("cost_stability", words(about.cost_stability.iter().collect())),
        ("fragility", words(about.fragility.iter().collect())),
    ]
}

/// A row of statements for each person.
fn tabulate(
    problem: &Problem,
    about: &AboutProblem,
    ids: Option<&Vec<String>>,
    told: &[Told],
) -> Result<Table> {
    let engine = &problem.problem;
    let people = || told.iter().map(|(person, _)| person);
    let breaking = || people().map(|person| person.breaking.as_ref().ok());
    let stability = || people().map(|person| person.cost_stability.as_ref().ok());
    let scaled = |person: &AboutPerson| match &person.extra_cost {
        Ok(_) => Some(true),
        Err(NoStatement::Infeasible(_)) => Some(false),
        Err(_) => None,
    };
    let mut columns = Columns::default();
    columns.ids(ids, told.len());
    columns.texts("status", people().map(|person| Some(person.outcome.status())));
    columns.numbers("cost", people().map(|person| Some(person.outcome.recourse()?.cost)));
    columns.texts("robust", people().map(|person| Some(person.robust.name())));
    columns.numbers("robust_cost_at_most", people().map(|person| person.robust_cost_at_most(engine)));
    columns.numbers("factor_at_most", people().map(|person| person.factor_at_most(engine)));
    columns.truths("scaled_is_feasible", people().map(scaled));
    columns.numbers("similar_cost_least", stability().map(|stability| Some(stability?.least)));
    // Empty where a similar person has no action.
    let greatest = stability().map(|stability| Some(stability?.greatest).filter(|cost| cost.is_finite()));
    columns.numbers("similar_cost_greatest", greatest);
    columns.numbers("breaking_size", breaking().map(|breaking| Some(breaking?.size)));
    let margin = breaking().map(|breaking| Some(breaking?.margin).filter(|margin| margin.is_finite()));
    columns.numbers("breaking_margin", margin);
    for (i, feature) in engine.features().iter().enumerate() {
        let shift = breaking().map(|breaking| Some(feature.std * breaking?.perturbation[i]));
        columns.numbers(format!("shift:{}", feature.name), shift);
    }
    let words = breaking()
        .map(|breaking| breaking.map(|breaking| describe_shift(engine, &breaking.perturbation)).transpose());
    columns.texts("breaks_with", words.collect::<surefoot::Result<Vec<_>>>()?.into_iter());
    columns.texts("text", told.iter().map(|(_, text)| Some(text)));
    columns.texts("reason", people().map(|person| describe_missing(engine, about, person)));
    columns.finish()
}
