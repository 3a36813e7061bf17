//! Actions, wherever they come from.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use surefoot::{Action, Infeasible, People, infeasibility};

use crate::error::{Fault, Result};
use crate::people::Source;
use crate::problem::Problem;

/// What of a difference, as a share of the values, is rounding.
const ROUNDING: f64 = 1e-12;

/// An action, or none, for each of some people.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct Actions {
    /// In standardised units.
    pub actions: Vec<Option<Action>>,
}

#[pymethods]
impl Actions {
    /// From changes in own units by feature; NaN where a feature is not acted upon.
    #[staticmethod]
    fn from_changes(problem: &Problem, changes: Vec<(String, PyReadonlyArray1<'_, f64>)>) -> Result<Self> {
        let features = &problem.layout.features;
        let people = changes.first().map_or(0, |(_, column)| column.as_array().len());
        let mut chosen = Vec::with_capacity(changes.len());
        for (name, column) in &changes {
            let found = column.as_array().len();
            if found != people {
                return Err(Fault::Length { column: name.clone(), expected: people, found }.into());
            }
            chosen.push((features.index(name)?, column.as_array()));
        }
        chosen.sort_by_key(|(feature, _)| *feature);
        let action = |person: usize| {
            let acted = chosen.iter().filter(|(_, column)| !column[person].is_nan());
            let (features, change): (Vec<usize>, Vec<f64>) =
                acted.map(|(i, column)| (*i, column[person] / features.feature(*i).std)).unzip();
            Some(Action { features, change }).filter(|action| !action.features.is_empty())
        };
        Ok(Self { actions: (0..people).map(action).collect() })
    }

    /// From people before and after, in own units: what differs was acted upon. Nobody acts who is
    /// not a number afterwards.
    #[staticmethod]
    fn from_counterfactuals(
        problem: &Problem,
        people: &Bound<'_, PyAny>,
        counterfactuals: &Bound<'_, PyAny>,
    ) -> Result<Self> {
        let features = &problem.layout.features;
        let before = Source::new(people, &problem.layout).values()?;
        let after = Source::new(counterfactuals, &problem.layout).values()?;
        if before.len() != after.len() {
            let (people, actions) = (before.len() / features.len(), after.len() / features.len());
            return Err(Fault::Actions { people, actions }.into());
        }
        let action = |(before, after): (&[f64], &[f64])| {
            if after.iter().any(|value| value.is_nan()) {
                return None;
            }
            let differs =
                |&i: &usize| (after[i] - before[i]).abs() > ROUNDING * (before[i].abs() + after[i].abs());
            let acted: Vec<usize> = (0..features.len()).filter(differs).collect();
            let change = acted.iter().map(|&i| (after[i] - before[i]) / features.feature(i).std).collect();
            Some(Action { features: acted, change }).filter(|action| !action.features.is_empty())
        };
        let rows = before.chunks_exact(features.len()).zip(after.chunks_exact(features.len()));
        Ok(Self { actions: rows.map(action).collect() })
    }

    /// What `parts` gives.
    #[staticmethod]
    fn from_parts(parts: Vec<Option<(Vec<usize>, Vec<f64>)>>) -> Self {
        let whole = |(features, change)| Action { features, change };
        Self { actions: parts.into_iter().map(|part| part.map(whole)).collect() }
    }

    /// The features and the changes of each action, in standardised units.
    fn parts(&self) -> Vec<Option<(Vec<usize>, Vec<f64>)>> {
        let part = |action: &Action| (action.features.clone(), action.change.clone());
        self.actions.iter().map(|action| action.as_ref().map(part)).collect()
    }

    fn __len__(&self) -> usize {
        self.actions.len()
    }

    /// How many people act.
    fn acting(&self) -> usize {
        self.actions.iter().flatten().count()
    }
}

/// The positions of those who act, with their actions; there must be one entry for each person.
pub fn acting(actions: &Actions, people: usize) -> Result<(Vec<usize>, Vec<Action>)> {
    if actions.actions.len() != people {
        return Err(Fault::Actions { people, actions: actions.actions.len() }.into());
    }
    let each = actions.actions.iter().enumerate();
    Ok(each.filter_map(|(i, action)| Some((i, action.clone()?))).unzip())
}

/// Why those who act cannot, if so, for each person; nothing for those who do not act.
pub fn hindrances(problem: &Problem, people: &People, actions: &Actions) -> Result<Vec<Option<Infeasible>>> {
    let why = |(i, action): (usize, &Option<Action>)| -> Result<Option<Infeasible>> {
        let Some(action) = action else { return Ok(None) };
        Ok(infeasibility(&problem.problem, people.individual(i), action)?)
    };
    actions.actions.iter().enumerate().map(why).collect()
}
