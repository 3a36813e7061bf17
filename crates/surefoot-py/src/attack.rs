//! Attacks on anybody's actions.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::attack::{Attack, CarliniWagner, DeepFool, FastGradient, ProjectedGradient, search_further};
use surefoot::report::{AttackTable, Attacked};
use surefoot::{Action, Break, Budget, People, Problem as Engine, smallest_break};

use crate::action::{Actions, acting, hindrances};
use crate::error::{Result, choice};
use crate::people::Source;
use crate::problem::Problem;
use crate::table::{Columns, Table, identities};
use crate::work::{Ended, run};

/// People attacked between two looks at whether to go on.
const GROUP: usize = 256;

/// The ways of attacking.
#[derive(Clone, Copy)]
enum Method {
    Smallest,
    FastGradient,
    ProjectedGradient,
    DeepFool,
    CarliniWagner,
}

impl Method {
    fn run(
        self,
        problem: &Engine,
        people: &People,
        actions: &[Action],
    ) -> surefoot::Result<Vec<Option<Break>>> {
        match self {
            Method::Smallest => smallest_break(problem, people, actions),
            Method::FastGradient => FastGradient.attack(problem, people, actions),
            Method::ProjectedGradient => ProjectedGradient::default().attack(problem, people, actions),
            Method::DeepFool => DeepFool::default().attack(problem, people, actions),
            Method::CarliniWagner => CarliniWagner::default().attack(problem, people, actions),
        }
    }
}

/// The smallest perturbation found to break each action, as a table.
#[pyfunction]
#[pyo3(signature = (problem, people, actions, ids, id, method, evaluations, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn attack<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: &Bound<'py, PyAny>,
    actions: &Actions,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    method: &str,
    evaluations: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Table> {
    let methods = [
        ("smallest", Method::Smallest),
        ("fast_gradient", Method::FastGradient),
        ("projected_gradient", Method::ProjectedGradient),
        ("deepfool", Method::DeepFool),
        ("carlini_wagner", Method::CarliniWagner),
    ];
    let method = choice("attack", method, &methods)?;
    let budget = evaluations.map_or_else(Budget::default, |evaluations| Budget { evaluations });
    budget.check()?;
    let (people, ids) = Source::new(people, &problem.layout).identified(ids, id)?;
    let count = people.len();
    let (positions, acting) = acting(actions, count)?;
    let hindrances = hindrances(problem, &people, actions)?;
    let engine = Arc::clone(&problem.problem);
    let breaks = run(py, progress, move |watch| {
        let mut breaks: Vec<Option<Break>> = vec![None; count];
        for (positions, actions) in positions.chunks(GROUP).zip(acting.chunks(GROUP)) {
            let people = people.select(positions)?;
            let found = method.run(&engine, &people, actions)?;
            let further = |(k, found): (usize, Option<Break>)| -> Result<Option<Break>, Ended> {
                watch.step(0)?;
                let found = match method {
                    Method::Smallest => {
                        search_further(&engine, people.individual(k), &actions[k], found, budget)?
                    }
                    _ => found,
                };
                watch.step(1)?;
                Ok(found)
            };
            let found = found.into_par_iter().enumerate().map(further);
            let found = found.collect::<Result<Vec<Option<Break>>, Ended>>()?;
            positions.iter().zip(found).for_each(|(&i, found)| breaks[i] = found);
        }
        Ok(breaks)
    })?;
    let table = AttackTable::new(&problem.problem);
    let ids = identities(ids, count);
    let mut rows = Vec::with_capacity(count);
    for (i, id) in ids.iter().enumerate() {
        let action = actions.actions[i].as_ref().map(|_| (breaks[i].as_ref(), hindrances[i].as_ref()));
        rows.push(Attacked { id, action });
    }
    Columns::of_report(table.headings(), table.values(&rows)?)
}
