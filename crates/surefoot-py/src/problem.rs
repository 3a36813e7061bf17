//! Causal models and problems.

use std::path::PathBuf;
use std::sync::Arc;

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::error::{ModelError, PeopleError};
use surefoot::report::AnswerTable;
use surefoot::uncertainty::named_norms;
use surefoot::{
    ActionKind, ChangeLimits, Committee, Constraint, Cost, Error, Forbidden, Intervention, LimitsOn,
    ProblemFile, Scm,
};

use crate::error::{Result, choice};
use crate::layout::{Declared, Layout, Stated};
use crate::model::{DeclaredClassifier, DeclaredEquation};
use crate::people::Source;
use crate::work::run;

/// How features cause each other.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct CausalModel {
    layout: Arc<Layout>,
    scm: Arc<Scm>,
}

#[pymethods]
impl CausalModel {
    #[new]
    fn new(features: Vec<Declared>, equations: Vec<(String, DeclaredEquation<'_>)>) -> Result<Self> {
        let layout = Layout::new(features)?;
        let mut compiled = Vec::with_capacity(equations.len());
        for (feature, equation) in &equations {
            compiled.push((feature.as_str(), equation.compile(feature, &layout.features)?));
        }
        let scm = Scm::new(&layout.features, compiled)?;
        Ok(Self { layout: Arc::new(layout), scm: Arc::new(scm) })
    }

    /// The direct causes of a feature.
    fn parents(&self, feature: &str) -> Result<Vec<String>> {
        let features = &self.layout.features;
        let parents = self.scm.parents(features.index(feature)?);
        Ok(parents.iter().map(|&i| features.feature(i).name.clone()).collect())
    }

    /// What becomes of people whose features are shifted or set, in own units.
    fn counterfactual<'py>(
        &self,
        py: Python<'py>,
        people: &Bound<'py, PyAny>,
        changes: Vec<(String, f64)>,
        relative: bool,
    ) -> Result<Bound<'py, PyArray2<f64>>> {
        let (people, _) = Source::new(people, &self.layout).people(None)?;
        let features = &self.layout.features;
        let mut chosen = Vec::with_capacity(changes.len());
        let mut amounts = Vec::with_capacity(changes.len());
        for (name, amount) in &changes {
            let at = features.index(name)?;
            let feature = features.feature(at);
            chosen.push(at);
            amounts.push(if relative { amount / feature.std } else { feature.standardise(*amount) });
        }
        let (layout, scm) = (Arc::clone(&self.layout), Arc::clone(&self.scm));
        let shape = (people.len(), people.width());
        let values = run(py, None, move |watch| {
            let become_ = |individual: &[f64]| {
                watch.step(1)?;
                let intervention = match relative {
                    true => Intervention::Shift { features: &chosen, change: &amounts },
                    false => Intervention::Set { features: &chosen, value: &amounts },
                };
                Ok(layout.features.own_units(&scm.counterfactual(individual, intervention)?))
            };
            let individuals: Vec<&[f64]> = people.iter().collect();
            individuals.into_par_iter().map(become_).collect::<std::result::Result<Vec<_>, _>>()
        })?;
        let flat: Vec<f64> = values.into_iter().flatten().collect();
        let expected = shape.0 * shape.1;
        let array = Array2::from_shape_vec(shape, flat);
        let array = array.map_err(|_| Error::People(PeopleError::VectorLength { expected, found: 0 }))?;
        Ok(array.into_pyarray(py))
    }
}

/// Everything but the people.
#[pyclass(frozen, module = "surefoot._engine")]
pub struct Problem {
    /// The columns of people's tables.
    pub layout: Arc<Layout>,
    /// What the engine answers.
    pub problem: Arc<surefoot::Problem>,
    /// Files beside the problem file that it names.
    files: Vec<PathBuf>,
}

#[pymethods]
impl Problem {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "what a problem consists of; Python names them")]
    fn new(
        features: Vec<Declared>,
        classifiers: Vec<(String, DeclaredClassifier<'_>)>,
        agree: Option<usize>,
        causal_model: Option<Py<CausalModel>>,
        alternatives: Vec<(String, Py<CausalModel>)>,
        epsilon: f64,
        norm: &str,
        cost: &str,
        form: &str,
        limits_on: &str,
        safety: Option<f64>,
        constraints: Vec<String>,
        forbidden_categories: Vec<(String, Vec<String>, Vec<String>)>,
        forbidden_values: Vec<(String, Vec<f64>, Vec<f64>)>,
        most_changes: Option<usize>,
        one_of: Vec<Vec<String>>,
        uncertainty: Option<&str>,
    ) -> Result<Self> {
        let layout = Layout::new(features)?;
        let forms = [("relative", ActionKind::Relative), ("absolute", ActionKind::Absolute)];
        let subjects = [("outcome", LimitsOn::Outcome), ("action", LimitsOn::Action)];
        let mut members = Vec::with_capacity(classifiers.len());
        for (name, classifier) in &classifiers {
            members.push((name.clone(), classifier.compile(&layout.features)?));
        }
        let Some((_, first)) = members.first().cloned() else {
            return Err(Error::Model(ModelError::Agreement { agree: 0, members: 0 }).into());
        };
        let mut problem = surefoot::Problem::new(layout.features.clone(), first)?
            .with_uncertainty(layout.norm(choice("norm", norm, &named_norms())?)?, epsilon)?
            .with_cost(choice("cost", cost, &[("l1", Cost::L1), ("l2", Cost::L2)])?)
            .with_action_kind(choice("form of action", form, &forms)?)
            .with_limits_on(choice("limits_on", limits_on, &subjects)?)?;
        if let Some(safety) = safety {
            problem = problem.with_safety(safety)?;
        }
        if let Some(model) = causal_model {
            problem = problem.with_causal_model(model.get().scm.as_ref().clone())?;
        }
        if let Some(agree) = agree {
            problem = problem.with_committee(Committee::new(members, agree)?)?;
        }
        let others =
            alternatives.iter().map(|(name, model)| (name.clone(), model.get().scm.as_ref().clone()));
        problem = problem.with_alternative_causal_models(others.collect())?;
        let features = &layout.features;
        let rules = constraints.iter().map(|rule| Constraint::parse(features, rule));
        problem = problem.with_constraints(rules.collect::<surefoot::Result<_>>()?)?;
        let mut forbidden = Vec::new();
        for (group, from, to) in &forbidden_categories {
            let from: Vec<&str> = from.iter().map(String::as_str).collect();
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            forbidden.push(Forbidden::categories(features, group, &from, &to)?);
        }
        for (feature, from, to) in &forbidden_values {
            forbidden.push(Forbidden::values(features, feature, from, to)?);
        }
        for (column, change) in &layout.directions {
            forbidden.extend(Forbidden::against_order(features, column, *change)?);
        }
        problem = problem.with_forbidden(forbidden)?;
        let mut limits = ChangeLimits::none();
        if let Some(most) = most_changes {
            limits = limits.with_most_changes(most)?;
        }
        for names in &one_of {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            limits = limits.with_one_of(features, &names)?;
        }
        problem = problem.with_change_limits(limits)?;
        if let Some(sections) = uncertainty {
            problem = problem.with_sections(sections)?;
        }
        Ok(Self { layout: Arc::new(layout), problem: Arc::new(problem), files: Vec::new() })
    }

    /// Reads a problem file, with the files that it names.
    #[staticmethod]
    fn read(path: PathBuf) -> Result<Self> {
        let file = ProblemFile::read(path)?;
        let problem = file.problem()?;
        let files = file.named_files();
        let layout = Layout::plain(problem.features());
        Ok(Self { layout: Arc::new(layout), problem: Arc::new(problem), files })
    }

    /// The files that the problem file names, relative to it.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// The features, by the keywords of `surefoot.Feature`.
    #[getter]
    fn features(&self) -> Vec<Stated> {
        self.layout.stated(self.problem.norm())
    }

    /// The direct causes of each feature that has any.
    fn graph(&self) -> Vec<(String, Vec<String>)> {
        let features = self.problem.features();
        let name = |&i: &usize| features.feature(i).name.clone();
        let causes = |scm: &Scm, i: usize| scm.parents(i).iter().map(name).collect::<Vec<String>>();
        let of = |scm: &Scm| (0..features.len()).map(|i| (name(&i), causes(scm, i))).collect::<Vec<_>>();
        let graph = self.problem.scm().map(of).unwrap_or_default();
        graph.into_iter().filter(|(_, causes)| !causes.is_empty()).collect()
    }

    /// The columns of a table of answers: the name of each, and whether it holds "number" or "text".
    fn answer_columns(&self, has_options: bool) -> Vec<(String, &'static str)> {
        let headings = AnswerTable::new(&self.problem, has_options).headings();
        headings.into_iter().map(|heading| (heading.name, heading.holds.words())).collect()
    }

    #[getter]
    fn epsilon(&self) -> f64 {
        self.problem.epsilon()
    }

    #[getter]
    fn threshold(&self) -> f64 {
        self.problem.classifier().threshold()
    }

    #[getter]
    fn is_causal(&self) -> bool {
        self.problem.scm().is_some() || !self.problem.alternative_causal_models().is_empty()
    }

    /// Logit minus the logit of the threshold.
    fn score<'py>(&self, py: Python<'py>, people: &Bound<'py, PyAny>) -> Result<Bound<'py, PyArray1<f64>>> {
        let (people, _) = Source::new(people, &self.layout).people(None)?;
        let problem = Arc::clone(&self.problem);
        let scores = run(py, None, move |_| {
            let individuals: Vec<&[f64]> = people.iter().collect();
            Ok(individuals
                .into_par_iter()
                .with_min_len(64)
                .map(|individual| problem.score(individual))
                .collect::<Vec<f64>>())
        })?;
        Ok(scores.into_pyarray(py))
    }
}
