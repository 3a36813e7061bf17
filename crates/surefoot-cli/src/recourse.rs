//! `surefoot recourse`: what everybody in a table can do.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::file::{AtomicFile, Audience};
use surefoot::proof::SavedProof;
use surefoot::recourse::{Explainer, Relaxed, Solver};
use surefoot::report::{Answer, AnswerTable};
use surefoot::{Outcome, Problem, ProblemFile, describe, describe_explanation, describe_options};
use surefoot_cli::table::Writer;

use crate::effort::Effort;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::{self, Source};
use crate::verify::MOST_PROOF_BYTES;
use crate::words::{self, are, have};

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
    /// is linear without constraints, gets the explanation anyway; otherwise it may cost up to six times
    /// --evaluations for each of them.
    #[arg(long)]
    explain: bool,
}

/// What one person is answered.
struct Answered {
    /// Up to as many as were asked for, the cheapest first.
    outcomes: Vec<Outcome>,
    /// Of the first, if it is to be kept.
    proof: Option<SavedProof>,
    /// Why there is no action, in words.
    reason: Option<String>,
}

/// Answers people of one problem.
struct Answering<'a> {
    problem: &'a Problem,
    solver: Solver<'a>,
    options: &'a Options,
    /// Explains why people have no action, where that was asked for or costs little.
    explainer: Option<Explainer<'a>>,
}

impl<'a> Answering<'a> {
    fn new(problem: &'a Problem, relaxed: &'a [Relaxed], options: &'a Options) -> Result<Self> {
        let settings = options.effort.settings()?;
        let solver = Solver::new(problem, settings)?;
        if options.proofs.is_some() && !settings.method.proves() {
            bail!(
                "--proofs: the method `{}` proves nothing; leave out --proofs, or choose another --method",
                settings.method
            );
        }
        if options.options > 1 && !settings.method.proves() {
            bail!(
                "--options {}: the method `{}` finds one action for each person; leave out --options, or choose \
                 another --method",
                options.options,
                settings.method
            );
        }
        if options.explain && !settings.method.proves() {
            bail!(
                "--explain: the method `{}` proves nothing, so that it cannot say what stands in the way; leave out \
                 --explain, or choose another --method",
                settings.method
            );
        }
        let explainer = match settings.method.proves() {
            true => Some(Explainer::new(problem, relaxed, settings)?),
            false => None,
        };
        let is_asked = options.explain || options.person.is_some();
        let explainer = explainer.filter(|explainer| is_asked || explainer.is_cheap());
        Ok(Self { problem, solver, options, explainer })
    }

    /// Everybody's answer; `progress` is called with the number of people that were answered.
    fn answers(
        &self,
        individuals: &[&[f64]],
        progress: &(dyn Fn(usize) + Sync),
    ) -> surefoot::Result<Vec<Answered>> {
        // A search gives its proof with the answer; a closed form is evaluated once more.
        if self.options.proofs.is_some() && !self.solver.is_closed_form() {
            let proved = individuals.par_iter().map(|individual| {
                let proof = self.solver.prove(individual)?;
                let saved = proof.saved(self.problem, individual);
                let answered = self.complete(individual, proof.outcome, Some(saved));
                progress(1);
                answered
            });
            return proved.collect();
        }
        let outcomes = self.solver.solve_all(individuals, progress)?;
        let complete = |(individual, outcome): (&&[f64], Outcome)| {
            let proof = match self.options.proofs {
                Some(_) => Some(self.solver.prove(individual)?.saved(self.problem, individual)),
                None => None,
            };
            self.complete(individual, outcome, proof)
        };
        individuals.par_iter().zip(outcomes).map(complete).collect()
    }

    /// The first answer of a person, with further options and the reason why there is no action.
    fn complete(
        &self,
        individual: &[f64],
        first: Outcome,
        proof: Option<SavedProof>,
    ) -> surefoot::Result<Answered> {
        let reason = self.reason(individual, &first)?;
        let outcomes = match self.options.options {
            1 => vec![first],
            count => self.solver.options_after(first, individual, count.into())?,
        };
        Ok(Answered { outcomes, proof, reason })
    }

    /// Why a person has no action, in words.
    fn reason(&self, individual: &[f64], outcome: &Outcome) -> surefoot::Result<Option<String>> {
        if !matches!(outcome, Outcome::Impossible(_) | Outcome::Undecided(_)) {
            return Ok(None);
        }
        let explanation =
            self.explainer.as_ref().map(|explainer| explainer.explain(individual, outcome)).transpose()?;
        let explanation = explanation.flatten().map(|known| describe_explanation(self.problem, &known));
        let mut text = describe(self.problem, individual, outcome)?;
        if let Some(explanation) = explanation.filter(|text| !text.is_empty()) {
            text = format!("{text} {explanation}");
        }
        Ok(Some(text))
    }
}

/// Proofs, line by line. They hold what is known of people, so that a new file is for its owner alone.
struct Proofs<'a> {
    path: &'a Path,
    target: AtomicFile,
    file: BufWriter<File>,
    /// The longest line that is written; `surefoot verify` reads no longer ones.
    longest: usize,
    /// Whose proofs were left out, since they are longer.
    too_long: Vec<String>,
}

impl<'a> Proofs<'a> {
    fn create(path: &'a Path) -> Result<Self> {
        let created = AtomicFile::create(path, Audience::Owner)
            .and_then(|target| Ok((BufWriter::new(target.writer()?), target)));
        let (file, target) =
            created.map_err(|error| anyhow!("{} cannot be written: {}", path.display(), error.kind()))?;
        Ok(Self { path, target, file, longest: MOST_PROOF_BYTES, too_long: Vec::new() })
    }

    fn write(&mut self, id: &str, proof: &SavedProof) -> Result<()> {
        let line = format!("{{\"id\":{},\"proof\":{}}}", serde_json::Value::from(id), proof.to_json());
        if line.len() > self.longest {
            self.too_long.push(id.to_owned());
            return Ok(());
        }
        writeln!(self.file, "{line}").with_context(|| format!("{} cannot be written", self.path.display()))
    }

    /// Completes the file; what to say of proofs that were left out.
    fn finish(self) -> Result<String> {
        let written = self.file.into_inner().map_err(|error| error.into_error());
        let written = written.and_then(|_| self.target.commit());
        written.with_context(|| format!("{} cannot be written", self.path.display()))?;
        Ok(match &self.too_long[..] {
            [] => String::new(),
            [first, ..] => format!(
                "{} of more than {} bytes {} left out, the first that of {}; a smaller --evaluations gives shorter \
                 ones.\n",
                words::number_of(self.too_long.len(), "proof"),
                self.longest,
                if self.too_long.len() == 1 { "was" } else { "were" },
                surefoot::escape_line(first)
            ),
        })
    }
}

/// How often each kind of answer was given.
#[derive(Default)]
struct Counts {
    favourable: usize,
    found: usize,
    unproved: usize,
    impossible: usize,
    undecided: usize,
}

/// Answers everybody, and says how many got which answer.
pub fn run(options: &Options) -> Result<String> {
    options.effort.settings()?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    let relaxed = Relaxed::all(&problem);
    let answering = Answering::new(&problem, &relaxed, options)?;
    if let Some(text) = &options.person {
        let person = people::from_json(text, problem.features())?;
        let individual = person.individual(0);
        let mut answers = answering.answers(&[individual], &|_| {})?;
        let Answered { outcomes, reason, .. } = answers.swap_remove(0);
        let text = reason.map_or_else(|| describe_options(&problem, individual, &outcomes), Ok)?;
        return Ok(format!("{text}\n"));
    }
    let (Some(table), Some(output)) = (&options.people, &options.output) else {
        bail!("give a table of people and --output, or --person");
    };
    let outputs = Outputs::default().keep("the table of people", table).keep_problem(&file);
    let outputs = outputs.check("--output", output)?;
    if let Some(proofs) = &options.proofs {
        outputs.check("--proofs", proofs)?;
    }
    let mut source = Source::open(table, problem.features(), options.id.as_deref())?;
    let answer_table = AnswerTable::new(&problem, options.options > 1);
    let mut writer = Writer::create_report(output, &answer_table.headings())?;
    let mut proofs = options.proofs.as_deref().map(Proofs::create).transpose()?;
    let mut counts = Counts::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} people, {per_sec}")?);
    while let Some(group) = source.next()? {
        let individuals: Vec<&[f64]> = group.people.iter().collect();
        let answered = answering
            .answers(&individuals, &|count| bar.inc(count as u64))
            .map_err(|error| group.locate(&problem, error))?;
        for (id, person) in group.ids.iter().zip(&answered) {
            if let (Some(proofs), Some(proof)) = (&mut proofs, &person.proof) {
                proofs.write(id, proof)?;
            }
            person.outcomes.iter().take(1).for_each(|first| counts.add(first));
        }
        writer.write_report(answer_table.values(&rows(&group.ids, &answered)))?;
    }
    bar.finish_and_clear();
    let left_out = proofs.map(Proofs::finish).transpose()?.unwrap_or_default();
    formulas::finish(writer, output)?;
    Ok(format!("{counts}{left_out}Written to {}.\n", output.display()))
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::AlreadyFavourable => &mut self.favourable,
            Outcome::Found(_) => &mut self.found,
            Outcome::Unproved(_) => &mut self.unproved,
            Outcome::Impossible(_) => &mut self.impossible,
            Outcome::Undecided(_) => &mut self.undecided,
        } += 1;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { favourable, found, unproved, impossible, undecided } = self;
        let count = favourable + found + unproved + impossible + undecided;
        write!(
            f,
            "{}: {favourable} {} treated favourably already; ",
            words::people(count),
            are(*favourable)
        )?;
        if *unproved > 0 {
            write!(f, "{unproved} {} an action that is not proven to hold, ", have(*unproved))?;
        }
        let has = have(*found);
        writeln!(
            f,
            "{found} {has} an action that is proven to hold, {impossible} provably none; {undecided} could not be \
             decided."
        )
    }
}

/// The rows of a table of answers.
fn rows<'a>(ids: &'a [String], answers: &'a [Answered]) -> Vec<Answer<'a>> {
    let rows = ids.iter().zip(answers).flat_map(|(id, answered)| {
        let reason = answered.reason.as_deref();
        let outcomes = answered.outcomes.iter().enumerate();
        outcomes.map(move |(option, outcome)| Answer { id, option, outcome, reason })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use surefoot::{Change, Classifier, Complete, Feature, Features};

    use super::*;

    #[test]
    fn proofs_that_are_too_long_to_be_checked_are_left_out() {
        let features = Features::new(vec![Feature::new("income").change(Change::Increase)]).unwrap();
        let problem = Problem::new(features, Classifier::linear(vec![1.0], 0.0, 0.5).unwrap()).unwrap();
        let proof = Complete::new(&problem).unwrap().prove(&[-1.0]).unwrap().saved(&problem, &[-1.0]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proofs.jsonl");
        let mut proofs = Proofs::create(&path).unwrap();
        proofs.longest = proof.to_json().len() + "{'id':'ana','proof':}".len();
        for id in ["ana", "benjamin", "carl"] {
            proofs.write(id, &proof).unwrap();
        }
        let said = proofs.finish().unwrap();
        assert!(said.starts_with("2 proofs of more than"), "{said}");
        assert!(said.contains("the first that of benjamin"), "{said}");
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }
}
