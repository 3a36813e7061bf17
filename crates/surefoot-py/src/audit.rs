//! Audits of groups of people.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pyo3::prelude::*;
use surefoot::recourse::Settings;
use surefoot::report::audit::{Examiner, Grouping, GroupingRequest, without_uncertainty};

use crate::action::Actions;
use crate::error::{Fault, Result};
use crate::people::Source;
use crate::problem::Problem;
use crate::table::identities;
use crate::work::{Ended, run};

/// The columns that are needed to group people and that are of no feature. `known` has the columns of the table.
#[pyfunction]
pub fn audit_columns(problem: &Problem, by: Vec<String>, known: Vec<String>) -> Result<Vec<String>> {
    let features = &problem.layout.features;
    let mut columns = Vec::new();
    for text in &by {
        let request = GroupingRequest::parse(text, features, &known)?;
        columns.extend(request.further_columns(features));
    }
    columns.sort();
    columns.dedup();
    Ok(columns)
}

/// The audit of some people.
#[pyfunction]
#[pyo3(signature = (problem, people, by, known, further, actions, ids, id, method, gap, evaluations, seconds, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn audit<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: &Bound<'py, PyAny>,
    by: Vec<String>,
    known: Vec<String>,
    further: HashMap<String, Vec<String>>,
    actions: Option<&Actions>,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    method: &str,
    gap: f64,
    evaluations: Option<usize>,
    seconds: Option<f64>,
    seed: u64,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Audit> {
    let (people, ids) = Source::new(people, &problem.layout).identified(ids, id)?;
    let settings = Settings::given(method.parse()?, gap, evaluations, seconds)?;
    let mut requests: Vec<GroupingRequest> = Vec::with_capacity(by.len());
    for text in &by {
        let request = GroupingRequest::parse(text, &problem.layout.features, &known)?;
        if requests.contains(&request) {
            let grouping = text.clone();
            return Err(surefoot::Error::from(surefoot::error::AuditError::GroupingTwice { grouping }).into());
        }
        requests.push(request);
    }
    let further: BTreeMap<String, Vec<String>> = further.into_iter().collect();
    let advice = match actions {
        None => Vec::new(),
        Some(actions) if actions.actions.len() == people.len() => {
            actions.actions.iter().map(|action| action.iter().cloned().collect()).collect()
        }
        Some(actions) => {
            return Err(Fault::Actions { people: people.len(), actions: actions.actions.len() }.into());
        }
    };
    let ids = identities(ids, people.len());
    let engine = Arc::clone(&problem.problem);
    let audit = run(py, progress, move |watch| {
        let grouping = |request: &GroupingRequest| Grouping::new(request, &people, &further);
        let groupings = requests.iter().map(grouping).collect::<surefoot::Result<Vec<Grouping>>>()?;
        let nominal = without_uncertainty(&engine)?;
        let examiner = Examiner::new(&engine, nominal.as_ref(), &people, &groupings, settings)?;
        let mut examined = Vec::with_capacity(people.len());
        while examined.len() < people.len() {
            watch.step(0)?;
            let next = examined.len()..people.len().min(examined.len() + examiner.batch_size());
            // Whether to go on is asked after each batch; how far it is, while it goes on.
            let done = |people: usize| drop(watch.step(people));
            examined.extend(examiner.examine(next, &advice, &done)?);
        }
        let ids: &[String] = if advice.is_empty() { &[] } else { &ids };
        let audit = surefoot::report::audit::Audit::new(&engine, &groupings, &examined, ids, seed);
        audit.map_err(Ended::from)
    })?;
    Ok(Audit { audit })
}

/// An audit.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct Audit {
    audit: surefoot::report::audit::Audit,
}

#[pymethods]
impl Audit {
    /// Every finding in words.
    fn findings(&self) -> Vec<String> {
        self.audit.findings().iter().map(|text| surefoot::escape_text(text).into_owned()).collect()
    }

    /// The audit as JSON.
    fn json(&self) -> String {
        self.audit.to_json()
    }

    /// The audit as a page of HTML.
    fn page(&self, title: &str) -> String {
        self.audit.page(title)
    }
}
