//! `surefoot recourse`: what everybody in a table can do.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::check::SavedProof;
use surefoot::file::{AtomicFile, Audience};
use surefoot::recourse::{require_budget, require_gap};
use surefoot::{Budget, Complete, Exact, Outcome, People, Problem, ProblemFile, describe, describe_options};
use surefoot_cli::table::{Column, Values, Writer};

use crate::certify::MOST_PROOF_BYTES;
use crate::outputs::Outputs;
use crate::people::{self, Source};

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
    /// JSON each, for `surefoot certify --check`. Answers are then those of the method for networks,
    /// also for linear problems, where they may be dearer by the gap.
    #[arg(long, value_name = "FILE", conflicts_with = "person")]
    proofs: Option<PathBuf>,
    /// Up to so many actions for each person that change different things, the cheapest first.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    options: u16,
    /// Networks: how much dearer, as a share, an action should be at most than the proven bound; more
    /// where nothing so cheap can be proved.
    #[arg(long, default_value_t = 0.01)]
    gap: f64,
    /// Networks: bounds and evaluations that the search for each person may cost; hard cases may cost
    /// up to four times as many.
    #[arg(long, default_value_t = Budget::default().evaluations)]
    evaluations: usize,
}

/// The method that answers a problem.
pub enum Method<'p> {
    Exact(Exact<'p>),
    Complete(Complete<'p>),
}

impl<'p> Method<'p> {
    /// Exact where everything is linear, otherwise complete.
    pub fn new(problem: &'p Problem, gap: f64, evaluations: usize) -> surefoot::Result<Self> {
        match Exact::new(problem) {
            Ok(exact) => Ok(Method::Exact(exact)),
            Err(error) if error.is_beyond_exact() => Self::complete(problem, gap, evaluations),
            Err(error) => Err(error),
        }
    }

    /// The complete method, whatever the problem: its proofs can be saved.
    fn complete(problem: &'p Problem, gap: f64, evaluations: usize) -> surefoot::Result<Self> {
        let complete = Complete::new(problem)?.with_gap(gap)?.with_budget(Budget { evaluations })?;
        Ok(Method::Complete(complete))
    }

    /// The answer, with its proof if that is to be kept and there is one to keep.
    fn prove(
        &self,
        problem: &Problem,
        individual: &[f64],
    ) -> surefoot::Result<(Outcome, Option<SavedProof>)> {
        match self {
            Method::Exact(exact) => Ok((exact.solve(individual)?, None)),
            Method::Complete(complete) => {
                let proof = complete.prove(individual)?;
                let saved = proof.saved(problem, individual);
                Ok((proof.outcome, Some(saved)))
            }
        }
    }

    /// Up to so many answers, the cheapest first, and the proof of the first if it is to be kept.
    fn answers(
        &self,
        problem: &Problem,
        individual: &[f64],
        options: &Options,
    ) -> surefoot::Result<(Vec<Outcome>, Option<SavedProof>)> {
        let (first, proof) = match options.proofs {
            Some(_) => self.prove(problem, individual)?,
            None => (self.solve(individual)?, None),
        };
        if options.options == 1 {
            return Ok((vec![first], proof));
        }
        let first = RefCell::new(Some(first));
        let answer = |problem: &Problem, individual: &[f64]| match first.take() {
            Some(first) => Ok(first),
            None => Method::new(problem, options.gap, options.evaluations)?.solve(individual),
        };
        Ok((surefoot::recourse::options(problem, individual, options.options.into(), answer)?, proof))
    }

    pub fn solve(&self, individual: &[f64]) -> surefoot::Result<Outcome> {
        match self {
            Method::Exact(exact) => exact.solve(individual),
            Method::Complete(complete) => complete.solve(individual),
        }
    }
}

/// Proofs, line by line. They hold what is known of people, so that a new file is for its owner alone.
struct Proofs<'a> {
    path: &'a Path,
    target: AtomicFile,
    file: BufWriter<File>,
    /// The longest line that is written; `certify --check` reads no longer ones.
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
                "Left out are {} proofs of more than {} bytes, the first that of {first}; a smaller \
                 --evaluations gives shorter ones.\n",
                self.too_long.len(),
                self.longest
            ),
        })
    }
}

/// How often each kind of answer was given.
#[derive(Default)]
struct Counts {
    favourable: usize,
    found: usize,
    impossible: usize,
    undecided: usize,
}

/// Answers everybody, and says how many got which answer.
pub fn run(options: &Options) -> Result<String> {
    let gap = options.gap;
    require_gap(gap)
        .map_err(|_| anyhow!("--gap {gap}: must be more than 0 and less than 1, such as 0.01"))?;
    check_evaluations(options.evaluations)?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    let method = match options.proofs {
        Some(_) => Method::complete(&problem, options.gap, options.evaluations)?,
        None => Method::new(&problem, options.gap, options.evaluations)?,
    };
    if let Some(text) = &options.person {
        let person = people::from_json(text, problem.features())?;
        let (outcomes, _) = method.answers(&problem, person.individual(0), options)?;
        return Ok(format!("{}\n", describe_options(&problem, person.individual(0), &outcomes)?));
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
    let mut writer = Writer::create(output, &columns(&problem, options.options > 1))?;
    let mut proofs = options.proofs.as_deref().map(Proofs::create).transpose()?;
    let mut counts = Counts::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} people, {per_sec}")?);
    while let Some(group) = source.next()? {
        let individuals: Vec<&[f64]> = group.people.iter().collect();
        let answers = individuals
            .into_par_iter()
            .map(|individual| {
                let answer = method.answers(&problem, individual, options);
                bar.inc(1);
                answer
            })
            .collect::<surefoot::Result<Vec<(Vec<Outcome>, Option<SavedProof>)>>>()
            .map_err(|error| group.blame(&problem, error))?;
        let (outcomes, saved): (Vec<Vec<Outcome>>, Vec<Option<SavedProof>>) = answers.into_iter().unzip();
        if let Some(proofs) = &mut proofs {
            for (id, proof) in group.ids.iter().zip(saved.iter()) {
                proof.iter().try_for_each(|proof| proofs.write(id, proof))?;
            }
        }
        outcomes.iter().for_each(|options| options.iter().take(1).for_each(|first| counts.add(first)));
        writer.write(&values(&problem, &group.ids, &group.people, &outcomes, options.options > 1)?)?;
    }
    bar.finish_and_clear();
    let left_out = proofs.map(Proofs::finish).transpose()?.unwrap_or_default();
    writer.finish()?;
    Ok(format!("{counts}{left_out}Written to {}.\n", output.display()))
}

/// Refuses a budget of nothing.
pub fn check_evaluations(evaluations: usize) -> Result<()> {
    let refused = |_| anyhow!("--evaluations {evaluations}: must be at least 1");
    require_budget(Budget { evaluations }).map_err(refused)
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::AlreadyFavourable => &mut self.favourable,
            Outcome::Found(_) => &mut self.found,
            Outcome::Impossible(_) => &mut self.impossible,
            Outcome::Undecided(_) => &mut self.undecided,
        } += 1;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { favourable, found, impossible, undecided } = self;
        let people = favourable + found + impossible + undecided;
        writeln!(
            f,
            "{people} people: {favourable} are treated favourably already; {found} have an action that is proven \
             to hold, {impossible} provably none; {undecided} could not be decided."
        )
    }
}

/// The columns of a table of answers.
fn columns(problem: &Problem, has_options: bool) -> Vec<(String, Column)> {
    let mut columns: Vec<(String, Column)> = vec![("id".into(), Column::Text)];
    columns.extend(has_options.then(|| ("option".into(), Column::Number)));
    columns.push(("status".into(), Column::Text));
    columns.extend(["cost", "cost_bound", "margin", "epsilon"].map(|name| (name.to_owned(), Column::Number)));
    columns.push(("certified".into(), Column::Truth));
    columns.push(("intervention".into(), Column::Text));
    let features = problem.features();
    let actionable = features.actionable();
    columns
        .extend(actionable.iter().map(|&i| (format!("action:{}", features.feature(i).name), Column::Number)));
    columns.extend(features.iter().map(|f| (format!("counterfactual:{}", f.name), Column::Number)));
    columns.push(("reason".into(), Column::Text));
    columns
}

fn values(
    problem: &Problem,
    ids: &[String],
    people: &People,
    answers: &[Vec<Outcome>],
    has_options: bool,
) -> Result<Vec<Values>> {
    let features = problem.features();
    let mut rows = Vec::new();
    for (person, options) in answers.iter().enumerate() {
        rows.extend((0..options.len()).map(|option| (person, option)));
    }
    let outcomes: Vec<&Outcome> = rows.iter().map(|&(person, option)| &answers[person][option]).collect();
    let numbers =
        |of: &dyn Fn(&Outcome) -> Option<f64>| Values::Numbers(outcomes.iter().map(|&o| of(o)).collect());
    let texts =
        |of: &dyn Fn(&Outcome) -> Option<String>| Values::Texts(outcomes.iter().map(|&o| of(o)).collect());
    let found = |outcome: &Outcome| outcome.recourse().is_some();
    let mut values = vec![Values::Texts(rows.iter().map(|&(person, _)| Some(ids[person].clone())).collect())];
    if has_options {
        // Counted from 1; somebody without an action has no option.
        let number = |(&(_, option), outcome): (&(usize, usize), &&Outcome)| {
            outcome.recourse().map(|_| (option + 1) as f64)
        };
        values.push(Values::Numbers(rows.iter().zip(&outcomes).map(number).collect()));
    }
    values.extend([
        texts(&|outcome| Some(outcome.status().into())),
        numbers(&|outcome| outcome.recourse().map(|recourse| recourse.cost)),
        numbers(&|outcome| match outcome {
            Outcome::Found(recourse) => Some(recourse.cost_bound),
            Outcome::Undecided(undecided) => Some(undecided.cost_bound),
            _ => None,
        }),
        numbers(&|outcome| outcome.recourse().map(|recourse| recourse.margin)),
        numbers(&|_| Some(problem.epsilon())),
        Values::Truths(outcomes.iter().map(|outcome| Some(found(outcome))).collect()),
        texts(&|outcome| {
            let names = |i: &usize| features.feature(*i).name.clone();
            outcome.recourse().map(|r| r.action.features.iter().map(names).collect::<Vec<_>>().join(";"))
        }),
    ]);
    for i in features.actionable() {
        // In own units, as a change.
        values.push(numbers(&|outcome| {
            let action = &outcome.recourse()?.action;
            let at = action.features.iter().position(|&feature| feature == i)?;
            Some(features.feature(i).tidied(action.change[at] * features.feature(i).std))
        }));
    }
    for (i, feature) in features.iter().enumerate() {
        values.push(numbers(&|outcome| {
            Some(feature.tidied(feature.own_units(outcome.recourse()?.counterfactual[i])))
        }));
    }
    let reasons = rows.iter().zip(&outcomes).map(|(&(person, _), outcome)| match outcome {
        Outcome::Impossible(_) | Outcome::Undecided(_) => {
            describe(problem, people.individual(person), outcome).map(Some)
        }
        _ => Ok(None),
    });
    values.push(Values::Texts(reasons.collect::<surefoot::Result<_>>().context("an answer in words")?));
    Ok(values)
}

#[cfg(test)]
mod tests {
    use surefoot::{Change, Classifier, Feature, Features};

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
        assert!(said.starts_with("Left out are 2 proofs of more than"), "{said}");
        assert!(said.contains("the first that of benjamin"), "{said}");
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }
}
