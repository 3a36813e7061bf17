//! `of = "causal model"`: another causal model that may be right, in a file of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::Problem;
use super::super::entry::{EquationEntry, files_of};
use super::super::fields::Fields;
use super::super::file::{TOP_FIELDS, parse};
use super::super::sections::read_equations;
use super::{Context, StatedUncertainty};
use crate::error::{Fault, FileError, FileProblem, Mistake, Mistakes};
use crate::{Error, Result, Scm};

pub(super) const FIELDS: [&str; 1] = ["equations"];

#[derive(Debug)]
struct Alternative {
    /// The path as stated, which is the name of the model.
    path: PathBuf,
    entries: Vec<EquationEntry>,
    scm: Scm,
}

pub(super) fn read(fields: &mut Fields<'_>, context: &Context<'_>) -> Option<Arc<dyn StatedUncertainty>> {
    fields.require("equations", "name the file with the equations of the other causal model");
    let path = PathBuf::from(fields.text("equations")?);
    match equations(&path, context) {
        Ok((entries, scm)) => Some(Arc::new(Alternative { path, entries, scm })),
        Err(error) => {
            fields.report_at("equations", error);
            None
        }
    }
}

/// The `[[equation]]` sections of a file; whatever else it says does not matter. Networks that they name are
/// found as those of the problem file are.
fn equations(path: &Path, context: &Context<'_>) -> Result<(Vec<EquationEntry>, Scm)> {
    let problem = |problem: FileProblem| Error::File(FileError::File { path: path.into(), problem });
    let mistakes = |mistakes: Vec<Mistake>| {
        Error::File(FileError::ProblemFile(Mistakes { path: path.into(), mistakes }))
    };
    let text = context.folder.read_to_string(path);
    let text = text.map_err(|error| problem(FileProblem::Read(error.into())))?;
    let tree = parse(&text, path).map_err(|mistake| mistakes(vec![*mistake]))?;
    let mut top = Fields::new(&tree, None, &TOP_FIELDS);
    let mut found = Vec::new();
    let (entries, scm) = read_equations(&mut top, Some(context.features), context.folder, &mut found);
    found.extend(top.finish());
    match scm {
        Some(scm) if found.is_empty() => scm.require_whole_categories().map(|()| (entries, scm)),
        None if found.is_empty() => {
            let remedy = "give the equations of the other causal model, each headed [[equation]]";
            let fault = Fault::MissingField { field: "equation", remedy };
            Err(mistakes(vec![Mistake { line: None, entry: None, fault }]))
        }
        _ => Err(mistakes(found)),
    }
}

impl StatedUncertainty for Alternative {
    fn apply(&self, problem: Problem) -> Result<Problem> {
        let other = (self.path.display().to_string(), self.scm.clone());
        let all = [problem.alternative_causal_models(), &[other]].concat();
        problem.with_alternative_causal_models(all)
    }

    fn files(&self) -> Vec<PathBuf> {
        [vec![self.path.clone()], files_of(&self.entries)].concat()
    }
}
