//! The `[[uncertainty]]` sections of a problem file. Each kind has its own file and one line in [`KINDS`].

mod causal_model;
mod classifier;
mod equation;
mod execution;
mod person;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Problem;
use super::fields::Fields;
use super::sections::tables;
use super::syntax::Node;
use crate::error::{Mistake, SettingError};
use crate::file::ModelFolder;
use crate::{Error, Features, Result, Sources};

/// What a section states.
pub(super) trait StatedUncertainty: Debug + Send + Sync {
    /// The same problem with what the section states.
    ///
    /// # Errors
    /// If it does not fit the problem.
    fn apply(&self, problem: Problem) -> Result<Problem>;

    /// The files that the section names, relative to the problem file, and those that they name.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// One line for each kind.
struct Kind {
    /// What is uncertain: the word after `of`.
    of: &'static str,
    /// Its fields.
    fields: &'static [&'static str],
    read: fn(&mut Fields<'_>, &Context<'_>) -> Option<Arc<dyn StatedUncertainty>>,
}

const KINDS: [Kind; 5] = [
    Kind { of: "causal model", fields: &causal_model::FIELDS, read: causal_model::read },
    Kind { of: "classifier", fields: &classifier::FIELDS, read: classifier::read },
    Kind { of: "person", fields: &person::FIELDS, read: person::read },
    Kind { of: "execution", fields: &execution::FIELDS, read: execution::read },
    Kind { of: "equation", fields: &equation::FIELDS, read: equation::read },
];

/// What sections refer to.
pub(super) struct Context<'a> {
    pub features: &'a Features,
    pub folder: &'a ModelFolder,
}

/// A section that has been read.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub line: Option<usize>,
    pub entry: String,
    pub stated: Arc<dyn StatedUncertainty>,
}

/// Reads all sections.
pub(super) fn read_uncertainty(
    top: &mut Fields<'_>,
    features: Option<&Features>,
    folder: &ModelFolder,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Section> {
    let nodes: &[Node] = tables(top, "uncertainty", "a list of tables, each headed [[uncertainty]]");
    let choices = KINDS.each_ref().map(|kind| (kind.of, kind));
    let mut sections = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let entry = format!("uncertainty {}", position + 1);
        let mut all: Vec<&'static str> = vec!["of"];
        all.extend(KINDS.iter().flat_map(|kind| kind.fields));
        // The kind is read first, since it says which fields there are.
        let kind = Fields::new(node, None, &all).choice("of", &choices);
        let known: Vec<&'static str> = match kind {
            Some(kind) => ["of"].into_iter().chain(kind.fields.iter().copied()).collect(),
            None => all,
        };
        let mut fields = Fields::new(node, Some(entry.clone()), &known);
        fields.require("of", "say what is uncertain");
        fields.choice("of", &choices);
        let stated = match (kind, features) {
            (Some(kind), Some(features)) => (kind.read)(&mut fields, &Context { features, folder }),
            _ => None,
        };
        if let Some(stated) = stated {
            sections.push(Section { line: node.line, entry, stated });
        }
        mistakes.extend(fields.finish());
    }
    sections
}

/// The problem with everything that the sections state. An error says which section does not fit.
pub(super) fn apply(sections: &[Section], problem: Problem) -> std::result::Result<Problem, Box<Mistake>> {
    sections.iter().try_fold(problem, |problem, Section { line, entry, stated }| {
        let mistake =
            |error: Error| Box::new(Mistake { line: *line, entry: Some(entry.clone()), fault: error.into() });
        stated.apply(problem).map_err(mistake)
    })
}

impl Problem {
    /// The problem with everything that `[[uncertainty]]` sections state: a list of tables in JSON, with the
    /// fields that the sections have in a problem file, from the current folder. Set the causal model before.
    ///
    /// # Errors
    /// If a section cannot be understood or does not fit the problem.
    pub fn with_sections(self, json: &str) -> Result<Self> {
        let refuse = |mistake: Box<Mistake>| Error::Setting(SettingError::Section { mistake });
        let tree = Node::from_json(&format!("{{\"uncertainty\": {json}}}")).map_err(refuse)?;
        let mut top = Fields::new(&tree, None, &["uncertainty"]);
        let mut mistakes = Vec::new();
        let sections =
            read_uncertainty(&mut top, Some(&self.features), &ModelFolder::new(Path::new("")), &mut mistakes);
        mistakes.extend(top.finish());
        match mistakes.into_iter().next() {
            Some(mistake) => Err(refuse(Box::new(mistake))),
            None => apply(&sections, self).map_err(refuse),
        }
    }
}

/// The same problem with more in its sources of uncertainty.
fn with_more(problem: Problem, add: impl FnOnce(&mut Sources)) -> Result<Problem> {
    let mut sources = problem.sources().cloned().unwrap_or_default();
    add(&mut sources);
    problem.with_sources(sources)
}

/// The positions of features that are named in a field; reports unknown ones.
fn positions(fields: &mut Fields<'_>, field: &'static str, features: &Features) -> Option<Vec<usize>> {
    let names = fields.one_or_more_texts(field)?;
    let mut positions = Vec::with_capacity(names.len());
    for name in &names {
        match features.index(name) {
            Ok(position) => positions.push(position),
            Err(error) => fields.report_at(field, error),
        }
    }
    (positions.len() == names.len()).then_some(positions)
}
