//! The report: one self-contained page that compares the published numbers with ours.

mod retraining;
mod tables;

use std::path::{Path, PathBuf};

use minijinja::{Environment, Value, context};

use super::{Conclusion, ExperimentError, Result, Results, Settings, conclusion, figures};
use crate::data::Origin;
use surefoot::file::{Audience, write_atomically};
use tables::{Agreement, Table};

/// The page.
const PAGE: &str = include_str!("report/page.html");

/// The files of a report.
#[derive(Clone, Debug)]
pub struct Written {
    /// The page.
    pub page: PathBuf,
    /// The folder with the figures.
    pub figures: PathBuf,
    /// The paper's conclusions and whether they hold.
    pub conclusions: Vec<Conclusion>,
}

/// Draws all figures, as SVG and PNG, and writes the page. The same results give the same bytes.
///
/// # Errors
/// If a file cannot be written.
pub fn write(settings: &Settings, results: &Results, folder: &Path) -> Result<Written> {
    let place = folder.join("figures");
    std::fs::create_dir_all(&place).map_err(ExperimentError::write(&place))?;
    let drawn = figures::all(results)?;
    for figure in &drawn {
        figure.drawing.write(&place, figure.name).map_err(ExperimentError::write(place.join(figure.name)))?;
    }
    let conclusions = conclusion::all(results);
    let mut agreement = Agreement::default();
    let shown: Vec<Value> = drawn
        .iter()
        .map(|figure| {
            let tables: Vec<Table> = tables::of(figure.name, results, &mut agreement);
            context! {
                name => figure.name,
                title => figure.title,
                caption => figure.caption,
                svg => figure.drawing.svg(),
                tables => tables,
            }
        })
        .collect();
    let page = Environment::new().render_named_str(
        "report.html",
        PAGE,
        context! {
            conclusions => conclusions.iter().map(|c| verdict(c, &drawn)).collect::<Vec<Value>>(),
            figures => shown,
            agreement => agreement,
            settings => context! {
                seeds => settings.seeds,
                people => settings.people,
                proofs => settings.proofs,
                evaluations => settings.evaluations,
            },
            origins => results.origins.iter().map(|(data, origin)| context! {
                name => figures::label(*data),
                title => data.entry().title,
                origin => match origin {
                    Origin::File(path) => path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
                    Origin::Drawn { seed } => format!("drawn from its model with seed {seed}"),
                },
            }).collect::<Vec<Value>>(),
            version => env!("CARGO_PKG_VERSION"),
        },
    );
    let page = page.map_err(|source| ExperimentError::Page { source: source.into() })?;
    let path = folder.join("report.html");
    let written = write_atomically(&path, page.as_bytes(), Audience::Umask);
    written.map_err(ExperimentError::write(&path))?;
    Ok(Written { page: path, figures: place, conclusions })
}

fn verdict(conclusion: &Conclusion, drawn: &[figures::Figure]) -> Value {
    let Conclusion { claim, criterion, figure, holds, evidence } = conclusion;
    let title = drawn.iter().find(|drawn| drawn.name == *figure).map(|drawn| drawn.title);
    context! {
        claim,
        criterion,
        figure,
        figure_title => title,
        verdict => match holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "not examined",
        },
        class => match holds {
            Some(true) => "holds",
            Some(false) => "fails",
            None => "open",
        },
        evidence => if holds.is_some() { evidence.as_str() } else { "This run lacks what it takes." },
    }
}
