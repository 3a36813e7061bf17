//! Letters to everybody.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;
use surefoot::Error;
use surefoot::error::SettingError;
use surefoot::recourse::{Relaxed, Settings};
use surefoot::report::letter::{FileNames, Format, LetterSettings, LetterWriter, Template, Wording};

use crate::error::{Fault, Result};
use crate::people::Source;
use crate::problem::Problem;
use crate::table::identities;
use crate::work::{Ended, run};

/// A letter: what it is for, and its forms.
#[pyclass(frozen, get_all, module = "surefoot._engine")]
pub struct Letter {
    id: String,
    status: String,
    reference: Option<String>,
    text: String,
    /// A whole page.
    html: String,
    /// What a document has of it between the first and the last page.
    page: String,
    json: String,
    /// The name of a file for it, without an ending.
    file_name: String,
    /// The lines of the file of proofs.
    proofs: String,
}

/// Writes a letter to everybody; what comes before and after the letters of a document.
#[pyfunction]
#[pyo3(signature = (problem, people, ids, id, language, options, reasons, text_template, html_template, method, gap, evaluations, seconds, progress))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn letters<'py>(
    py: Python<'py>,
    problem: &Problem,
    people: &Bound<'py, PyAny>,
    ids: Option<Vec<String>>,
    id: Option<&str>,
    language: &str,
    options: usize,
    reasons: Option<PathBuf>,
    text_template: Option<PathBuf>,
    html_template: Option<PathBuf>,
    method: &str,
    gap: f64,
    evaluations: Option<usize>,
    seconds: Option<f64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Result<Vec<Letter>> {
    let (people, ids) = Source::new(people, &problem.layout).identified(ids, id)?;
    let settings = Settings::given(method.parse()?, gap, evaluations, seconds)?;
    if options == 0 {
        return Err(Error::Setting(SettingError::Setting { setting: "options", value: 0.0 }).into());
    }
    if options > 1 && !settings.method.proves() {
        return Err(Fault::NoEffect { setting: "options", method: settings.method.as_str() }.into());
    }
    let wording = match reasons {
        Some(path) => Wording::read(&path, problem.problem.features())?,
        None => Wording::default(),
    };
    let template = |format: Format, path: Option<PathBuf>| match path {
        Some(path) => Template::read(format, &path),
        None => Template::built_in(format),
    };
    let (text, html) =
        (template(Format::Text, text_template)?, template(Format::Html, html_template.clone())?);
    let document = template(Format::Document, html_template)?;
    let words = LetterSettings { language: language.parse()?, others: options.saturating_sub(1), wording };
    let ids = identities(ids, people.len());
    let engine = Arc::clone(&problem.problem);
    let mut letters = run(py, progress, move |watch| {
        let relaxed = Relaxed::all(&engine);
        let writer = LetterWriter::new(&engine, &relaxed, settings, words)?;
        let individuals: Vec<&[f64]> = people.iter().collect();
        let write = |(id, individual): (&String, &&[f64])| -> Result<Letter, Ended> {
            watch.step(0)?;
            let written = writer.write(id, individual)?;
            let letter = Letter {
                id: id.clone(),
                status: written.letter.status.to_owned(),
                reference: written.letter.reference.clone(),
                text: text.page(&written.letter)?,
                html: html.page(&written.letter)?,
                page: document.letter(&written.letter)?,
                json: written.letter.to_json(),
                file_name: String::new(),
                proofs: written.proofs.iter().map(|(_, proof)| proof.to_line(id)).collect(),
            };
            watch.step(1)?;
            Ok(letter)
        };
        ids.par_iter().zip(&individuals).map(write).collect::<Result<Vec<Letter>, Ended>>()
    })?;
    let mut names = FileNames::default();
    letters.iter_mut().for_each(|letter| letter.file_name = names.name(&letter.id));
    Ok(letters)
}

/// What comes before and after the letters of a document.
#[pyfunction]
pub fn document_frame(language: &str, title: &str) -> Result<(String, String)> {
    let format = Format::Document;
    Ok((format.start(language.parse()?, title), format.end().to_owned()))
}
