//! What certainty costs one person.

use std::sync::Arc;

use pyo3::prelude::*;
use surefoot::recourse::{Settings, TradeOff, trade_off as curve};
use surefoot::{Outcome, describe};

use crate::error::{Fault, Result};
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table};
use crate::work::run;

/// The answer of one person for each size of the uncertainty, as a table, and the largest size that is
/// proven to be possible and the smallest that is proven to be impossible.
#[pyfunction]
#[pyo3(signature = (problem, person, epsilons, method, gap, evaluations, seconds, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn trade_off<'py>(
    py: Python<'py>,
    problem: &Problem,
    person: &Bound<'py, PyAny>,
    epsilons: Option<Vec<f64>>,
    method: &str,
    gap: f64,
    evaluations: Option<usize>,
    seconds: Option<f64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<(Table, Option<f64>, Option<f64>)> {
    let (people, _) = Source::new(person, &problem.layout).people(None)?;
    if people.len() != 1 {
        return Err(Fault::NotOne { people: people.len() }.into());
    }
    let settings = Settings::given(method.parse()?, gap, evaluations, seconds)?;
    let individual = people.individual(0).to_vec();
    let (engine, asking) = (Arc::clone(&problem.problem), individual.clone());
    let TradeOff { epsilons, answers, reach, .. } = run(py, progress, move |watch| {
        // Nobody waits for what an interrupted search still finds.
        let step = |_| drop(watch.step(1));
        Ok(curve(&engine, &asking, epsilons.as_deref(), settings, step)?)
    })?;
    let mut columns = Columns::default();
    columns.numbers("epsilon", epsilons.iter().copied().map(Some));
    columns.texts("status", answers.iter().map(|answer| Some(answer.status())));
    columns.numbers("cost", answers.iter().map(|answer| Some(answer.recourse()?.cost)));
    let bound = |answer: &Outcome| match answer {
        Outcome::Found(found) => Some(found.cost_bound),
        Outcome::Undecided(undecided) => Some(undecided.cost_bound),
        Outcome::AlreadyFavourable | Outcome::Impossible(_) | Outcome::Unproved(_) => None,
    };
    columns.numbers("cost_bound", answers.iter().map(bound));
    let text = |(epsilon, answer): (&f64, &Outcome)| {
        let problem = (*problem.problem).clone().with_epsilon(*epsilon)?;
        describe(&problem, &individual, answer)
    };
    let texts = epsilons.iter().zip(&answers).map(text).collect::<surefoot::Result<Vec<String>>>()?;
    columns.texts("text", texts.into_iter().map(Some));
    Ok((columns.finish()?, reach.possible, reach.impossible))
}
