//! Proofs that anybody's actions hold, or do not.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::report::{Judged, VerdictTable};
use surefoot::{Budget, Certificate, Verdict};

use crate::action::{Actions, acting, hindrances};
use crate::error::Result;
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table, identities};
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
    let table = VerdictTable::new(&problem.problem);
    let ids = identities(ids, count);
    let mut rows = Vec::with_capacity(count);
    for (i, id) in ids.iter().enumerate() {
        rows.push(Judged { id, action: verdicts[i].map(|verdict| (verdict, hindrances[i].as_ref())) });
    }
    Columns::of_report(table.headings(), table.values(&rows)?)
}
