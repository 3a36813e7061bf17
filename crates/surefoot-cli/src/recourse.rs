//! `surefoot recourse`: what everybody in a table can do.

pub mod answering;
mod chunk;
mod counts;
mod journal;
mod output;
mod pipeline;
mod stream;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use surefoot::recourse::Relaxed;
use surefoot::{ProblemFile, describe_options};

use crate::effort::Effort;
use crate::people;
use answering::{Answered, Answering, Wanted};
pub use counts::Counts;
use journal::Paths;

/// What `surefoot recourse` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    #[arg(required_unless_present = "person")]
    people: Option<PathBuf>,
    /// Where to write the answers: CSV, Parquet or Arrow.
    #[arg(short, long, value_name = "FILE", required_unless_present = "person")]
    output: Option<PathBuf>,
    /// One person instead, as JSON in own units: '{"age": 31, "income": 2400}'.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["people", "output", "id"])]
    person: Option<String>,
    /// The column that identifies people; `id` if there is one, otherwise the number of the row.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Also write the proof of every answer, of several options the first, into this file, one line of
    /// JSON each, for `surefoot verify`.
    #[arg(long, value_name = "FILE", conflicts_with = "person")]
    proofs: Option<PathBuf>,
    /// Up to this many actions for each person that change different things, the cheapest first.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    options: u16,
    #[command(flatten)]
    effort: Effort,
    /// Also explain why people have no action, if that is proven: for which smaller uncertainty there is
    /// one, and which limits, fixed features or rules prevent it. One --person, and everybody if the problem
    /// is linear without constraints, gets the explanation anyway; otherwise it may cost up to seven times
    /// --evaluations for each of them.
    #[arg(long)]
    explain: bool,
    /// Go on where a run with the same problem, people and options was broken off. While a run goes on, its answers
    /// are saved every second beside the output, in a file whose name ends in `.part`.
    #[arg(long, conflicts_with = "person")]
    resume: bool,
}

impl Options {
    fn wanted(&self) -> Wanted {
        Wanted {
            proofs: self.proofs.is_some(),
            options: self.options,
            explain: self.explain,
            alone: self.person.is_some(),
        }
    }
}

/// Answers everybody, and says how many got which answer.
pub fn run(options: &Options) -> Result<String> {
    let settings = options.effort.settings()?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    let relaxed = Relaxed::all(&problem);
    let answering = Answering::new(&problem, &relaxed, settings, options.wanted())?;
    if let Some(text) = &options.person {
        let person = people::from_json(text, problem.features())?;
        let individual = person.individual(0);
        let mut answers = answering.answers(&[individual])?;
        let Answered { outcomes, reason, .. } = answers.swap_remove(0);
        let text = reason.map_or_else(|| describe_options(&problem, individual, &outcomes), Ok)?;
        return Ok(format!("{text}\n"));
    }
    let (Some(table), Some(output)) = (&options.people, &options.output) else {
        bail!("give a table of people and --output, or --person");
    };
    let paths = Paths { output, proofs: options.proofs.as_deref() };
    stream::answer_table(options, (table, &paths), &file, (&problem, &answering))
}
