//! Proofs that anybody's actions hold, or do not.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::{Budget, Certificate, Verdict, describe_shift};

use crate::action::{Actions, acting, add_hindrances, hindrances};
use crate::error::Result;
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table};
use crate::work::{Ended, run};

/// A verdict for each action, as a table.
#[pyfunction]
#[pyo3(signature = (problem, people, actions, ids, id, evaluations, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn certify<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: &Bound<'py, PyAny>,
    actions: &Actions,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    evaluations: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Table> {
    let (people, ids) = Source::new(people, &problem.layout).identified(ids, id)?;
    let count = people.len();
    let (positions, acting) = acting(actions, count)?;
    let hindrances = hindrances(problem, &people, actions)?;
    let budget = evaluations.map_or(Budget::default(), |evaluations| Budget { evaluations });
    budget.check()?;
    let (engine, asked) = (Arc::clone(&problem.problem), positions.clone());
    let certificates = run(py, progress, move |watch| {
        let prove = |(&i, action)| -> Result<Certificate, Ended> {
            watch.step(0)?;
            let certificate = surefoot::certify(&engine, people.individual(i), action, budget)?;
            watch.step(1)?;
            Ok(certificate)
        };
        asked.par_iter().zip(&acting).map(prove).collect::<Result<Vec<Certificate>, Ended>>()
    })?;
    let mut verdicts: Vec<Option<&Verdict>> = vec![None; count];
    positions.iter().zip(&certificates).for_each(|(&i, proven)| verdicts[i] = Some(&proven.verdict));
    let word = |verdict: &Verdict| match verdict {
        Verdict::Holds { .. } => "holds",
        Verdict::Breaks { .. } => "breaks",
        Verdict::Undecided { .. } => "undecided",
    };
    let lower = |verdict: &Verdict| match verdict {
        Verdict::Holds { margin } => Some(*margin),
        Verdict::Breaks { .. } => None,
        Verdict::Undecided { lower, .. } => Some(*lower).filter(|margin| margin.is_finite()),
    };
    let upper = |verdict: &Verdict| match verdict {
        Verdict::Holds { .. } => None,
        Verdict::Breaks { margin, .. } => Some(*margin),
        Verdict::Undecided { upper, .. } => Some(*upper).filter(|margin| margin.is_finite()),
    };
    let shift = |verdict: &Option<&Verdict>| match verdict {
        Some(Verdict::Breaks { perturbation, .. }) => {
            describe_shift(&problem.problem, perturbation).map(Some)
        }
        _ => Ok(None),
    };
    let mut columns = Columns::default();
    columns.ids(ids.as_ref(), count);
    columns.texts("verdict", verdicts.iter().map(|verdict| verdict.map(word)));
    columns.numbers("margin", verdicts.iter().map(|verdict| lower((*verdict)?)));
    columns.numbers("margin_at_most", verdicts.iter().map(|verdict| upper((*verdict)?)));
    let shifts = verdicts.iter().map(shift).collect::<surefoot::Result<Vec<_>>>()?;
    columns.texts("breaks_with", shifts.into_iter());
    add_hindrances(&mut columns, actions, hindrances);
    columns.finish()
}
