//! `surefoot letters`: a letter for everybody in a table.

mod folder;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::recourse::Relaxed;
use surefoot::report::letter::{Format, Language, LetterSettings, LetterWriter, Template, Wording, Written};
use surefoot::{Problem, ProblemFile};

use crate::effort::Effort;
use crate::interrupt;
use crate::people::{Group, Source};
use crate::recourse::Counts;
use crate::verify::MOST_PROOF_BYTES;
use folder::Folder;

/// What `surefoot letters` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    people: PathBuf,
    /// The folder to write. It must be empty or not exist yet.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// The form of the letters: `text` and `html`, a file for each person; `document`, one HTML document with a page
    /// each, for printing; `json`, a line for each person; `table`, a column of texts in `letters.csv`.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = forms())]
    format: Form,
    /// The language: `en`, English, or `de`, German.
    #[arg(long, value_name = "LANGUAGE", default_value = "en", value_parser = languages())]
    language: Language,
    /// A template of your own instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Your own codes and words for reasons, and words for features in another language: a file such as
    /// `reasons.toml`.
    #[arg(long, value_name = "FILE")]
    reasons: Option<PathBuf>,
    /// Up to this many things to do for each person that change different things, the cheapest first.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    options: u8,
    /// The column that identifies people; `id` if there is one, otherwise the number of the row.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    #[command(flatten)]
    effort: Effort,
}

/// The form of the letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Files of a format.
    Files(Format),
    /// A column of texts.
    Table,
}

impl Form {
    /// The layout of each letter.
    fn format(self) -> Format {
        match self {
            Self::Files(format) => format,
            Self::Table => Format::Text,
        }
    }
}

fn forms() -> impl TypedValueParser<Value = Form> {
    let names = Format::ALL.map(|(name, _)| name).into_iter().chain(["table"]);
    PossibleValuesParser::new(names).map(|name| name.parse().map_or(Form::Table, Form::Files))
}

fn languages() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::code)).try_map(|code| code.parse::<Language>())
}

/// People whose letters are in memory at a time.
const BATCH: usize = 64;

/// Writes a letter to everybody, and says how many got which answer.
pub fn run(options: &Options) -> Result<String> {
    let settings = options.effort.settings()?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    if options.options > 1 && !settings.method.proves() {
        bail!(
            "--options {}: the method `{}` finds one action for each person; leave out --options, or choose another \
             --method",
            options.options,
            settings.method
        );
    }
    let format = options.format.format();
    if format == Format::Json && options.template.is_some() {
        bail!("--template: JSON has no layout; leave out --template, or choose another --format");
    }
    let template = match &options.template {
        Some(path) => Template::read(format, path).context("--template")?,
        None => Template::built_in(format)?,
    };
    let wording = match &options.reasons {
        Some(path) => Wording::read(path, problem.features()).context("--reasons")?,
        None => Wording::default(),
    };
    let letters =
        LetterSettings { language: options.language, others: usize::from(options.options) - 1, wording };
    let relaxed = Relaxed::all(&problem);
    let writer = LetterWriter::new(&problem, &relaxed, settings, letters)?;
    let total = count_people(options, &problem)?;
    let mut folder = Folder::create(&options.output, options.format)?;
    let bar = ProgressBar::new(total as u64)
        .with_style(ProgressStyle::with_template("{spinner} {pos} of {len} letters, {eta} to go")?);
    let (temporary, cleared) = (folder.temporary(), bar.clone());
    interrupt::before_the_end(move || {
        cleared.finish_and_clear();
        // Under another name nothing is added to it while it is removed. A folder that is left nobody takes for the
        // letters.
        let ended = temporary.with_extension("ended");
        let _ = std::fs::rename(&temporary, &ended).and_then(|()| std::fs::remove_dir_all(&ended));
    });
    let result = write_all(options, &problem, (&writer, &template), &mut folder, &bar);
    bar.finish_and_clear();
    let result = result.and_then(|counts| {
        let proves = settings.method.proves();
        folder.finish()?;
        let shown = options.output.display();
        let check = match proves && total > 0 {
            true => format!(
                "Every statement can be checked by its reference: surefoot verify {} {} --reference REFERENCE\n",
                options.problem.display(),
                options.output.join(folder::PROOFS).display()
            ),
            false => String::new(),
        };
        // Other languages than that of the problem file need its words in that language.
        let words = match (options.language, &options.reasons) {
            (Language::German, None) => {
                "Labels, units and descriptions are those of the problem file; --reasons gives them in German.\n"
            }
            _ => "",
        };
        Ok(format!("{counts}Written to {shown}.\n{words}{check}"))
    });
    interrupt::nothing_before_the_end();
    result
}

/// The number of people. Everybody is checked, so that a mistake in the last row is reported before any work.
fn count_people(options: &Options, problem: &Problem) -> Result<usize> {
    let mut source = Source::open(&options.people, problem.features(), options.id.as_deref())?;
    let mut count = 0;
    while let Some(group) = source.next()? {
        group.check(problem)?;
        count += group.ids.len();
    }
    Ok(count)
}

fn write_all(
    options: &Options,
    problem: &Problem,
    (writer, template): (&LetterWriter<'_>, &Template),
    folder: &mut Folder,
    bar: &ProgressBar,
) -> Result<Counts> {
    let mut source = Source::open(&options.people, problem.features(), options.id.as_deref())?;
    let mut counts = Counts::default();
    while let Some(group) = source.next()? {
        for start in (0..group.ids.len()).step_by(BATCH) {
            let people = start..group.ids.len().min(start + BATCH);
            let written: Vec<(Written, String)> = people
                .clone()
                .into_par_iter()
                .map(|i| one(problem, &group, i, writer, template, bar))
                .collect::<Result<_>>()?;
            for (i, (written, text)) in people.zip(&written) {
                counts.add(&written.outcome);
                let mut lines = String::new();
                for (_, proof) in &written.proofs {
                    let line = proof.to_line(&group.ids[i]);
                    if line.len() > MOST_PROOF_BYTES {
                        bail!(
                            "{}: the proof has more than {MOST_PROOF_BYTES} bytes; a smaller --evaluations gives shorter ones",
                            group.place(i)
                        );
                    }
                    lines.push_str(&line);
                }
                folder.add(&written.letter, text, &lines)?;
            }
        }
    }
    Ok(counts)
}

/// The letter to one person.
fn one(
    problem: &Problem,
    group: &Group,
    i: usize,
    writer: &LetterWriter<'_>,
    template: &Template,
    bar: &ProgressBar,
) -> Result<(Written, String)> {
    let written = writer.write(&group.ids[i], group.people.individual(i));
    let written = written.map_err(|error| group.locate(problem, error))?;
    let text = match template.format() {
        Format::Document => template.letter(&written.letter),
        Format::Text | Format::Html | Format::Json => template.page(&written.letter),
    }?;
    bar.inc(1);
    Ok((written, text))
}
