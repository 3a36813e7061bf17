//! `surefoot recourse`: what everybody in a table can do.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::check::SavedProof;
use surefoot::{Budget, Complete, Exact, Outcome, People, Problem, describe};
use surefoot_cli::table::{Column, Values, Writer};
use tempfile::NamedTempFile;

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
    /// Also write the proof of every answer into this file, one line of JSON each, for `surefoot
    /// certify --check`.
    #[arg(long, value_name = "FILE", conflicts_with = "person")]
    proofs: Option<PathBuf>,
    /// Networks: how much dearer, as a share, an action should be at most than the proven bound; more
    /// where nothing so cheap can be proved.
    #[arg(long, default_value_t = 0.01)]
    gap: f64,
    /// Networks: bounds and evaluations that each person may cost.
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
            Err(surefoot::Error::ClassifierNotLinear | surefoot::Error::EquationNotLinear { .. }) => {
                Self::complete(problem, gap, evaluations)
            }
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

    pub fn solve(&self, individual: &[f64]) -> surefoot::Result<Outcome> {
        match self {
            Method::Exact(exact) => exact.solve(individual),
            Method::Complete(complete) => complete.solve(individual),
        }
    }
}

/// Proofs, line by line; written aside until all are there.
struct Proofs<'a> {
    path: &'a Path,
    file: BufWriter<NamedTempFile>,
}

impl<'a> Proofs<'a> {
    fn create(path: &'a Path) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .permissions(readable())
            .tempfile_in(folder)
            .map_err(|error| anyhow!("{} cannot be written: {}", path.display(), error.kind()))?;
        Ok(Self { path, file: BufWriter::new(file) })
    }

    fn write(&mut self, id: &str, proof: &SavedProof) -> Result<()> {
        let id = serde_json::Value::from(id);
        writeln!(self.file, "{{\"id\":{id},\"proof\":{}}}", proof.to_json())
            .with_context(|| format!("{} cannot be written", self.path.display()))
    }

    fn finish(self) -> Result<()> {
        let written = self.file.into_inner().map_err(|error| error.into_error());
        let written = written.and_then(|file| file.persist(self.path).map_err(|error| error.error));
        written.map(|_| ()).with_context(|| format!("{} cannot be written", self.path.display()))
    }
}

/// As other files are: to be read by everybody.
fn readable() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o644)
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
    let problem = Problem::read(&options.problem)?;
    let method = match options.proofs {
        Some(_) => Method::complete(&problem, options.gap, options.evaluations)?,
        None => Method::new(&problem, options.gap, options.evaluations)?,
    };
    if let Some(text) = &options.person {
        let person = people::from_json(text, problem.features())?;
        let outcome = method.solve(person.individual(0))?;
        return Ok(format!("{}\n", describe(&problem, person.individual(0), &outcome)?));
    }
    let (Some(table), Some(output)) = (&options.people, &options.output) else {
        bail!("give a table of people and --output, or --person");
    };
    if same_file(table, output) || same_file(&options.problem, output) {
        bail!("--output {}: that is what is read; give another name", output.display());
    }
    let mut source = Source::open(table, problem.features(), options.id.as_deref())?;
    let mut writer = Writer::create(output, &columns(&problem))?;
    let mut proofs = options.proofs.as_deref().map(Proofs::create).transpose()?;
    let mut counts = Counts::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} people, {per_sec}")?);
    while let Some(group) = source.next()? {
        let individuals: Vec<&[f64]> = group.people.iter().collect();
        let keep = proofs.is_some();
        let answers = individuals
            .into_par_iter()
            .map(|individual| {
                let answer = match keep {
                    true => method.prove(&problem, individual),
                    false => method.solve(individual).map(|outcome| (outcome, None)),
                };
                bar.inc(1);
                answer
            })
            .collect::<surefoot::Result<Vec<(Outcome, Option<SavedProof>)>>>()
            .map_err(|error| group.blame(&problem, error))?;
        let (outcomes, saved): (Vec<Outcome>, Vec<Option<SavedProof>>) = answers.into_iter().unzip();
        if let Some(proofs) = &mut proofs {
            for (id, proof) in group.ids.iter().zip(saved.iter()) {
                proof.iter().try_for_each(|proof| proofs.write(id, proof))?;
            }
        }
        outcomes.iter().for_each(|outcome| counts.add(outcome));
        writer.write(&values(&problem, &group.ids, &group.people, &outcomes)?)?;
    }
    bar.finish_and_clear();
    if let Some(proofs) = proofs {
        proofs.finish()?;
    }
    writer.finish()?;
    Ok(format!("{counts}Written to {}.\n", output.display()))
}

pub fn same_file(a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
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
fn columns(problem: &Problem) -> Vec<(String, Column)> {
    let mut columns: Vec<(String, Column)> =
        vec![("id".into(), Column::Text), ("status".into(), Column::Text)];
    columns.extend(["cost", "cost_bound", "margin"].map(|name| (name.to_owned(), Column::Number)));
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

fn values(problem: &Problem, ids: &[String], people: &People, outcomes: &[Outcome]) -> Result<Vec<Values>> {
    let features = problem.features();
    let numbers = |of: &dyn Fn(&Outcome) -> Option<f64>| Values::Numbers(outcomes.iter().map(of).collect());
    let texts = |of: &dyn Fn(&Outcome) -> Option<String>| Values::Texts(outcomes.iter().map(of).collect());
    let found = |outcome: &Outcome| outcome.recourse().is_some();
    let mut values = vec![
        Values::Texts(ids.iter().cloned().map(Some).collect()),
        texts(&|outcome| Some(status(outcome).into())),
        numbers(&|outcome| outcome.recourse().map(|recourse| recourse.cost)),
        numbers(&|outcome| match outcome {
            Outcome::Found(recourse) => Some(recourse.cost_bound),
            Outcome::Undecided(undecided) => Some(undecided.cost_bound),
            _ => None,
        }),
        numbers(&|outcome| outcome.recourse().map(|recourse| recourse.margin)),
        Values::Truths(outcomes.iter().map(|outcome| Some(found(outcome))).collect()),
        texts(&|outcome| {
            let names = |i: &usize| features.feature(*i).name.clone();
            outcome.recourse().map(|r| r.action.features.iter().map(names).collect::<Vec<_>>().join(";"))
        }),
    ];
    for i in features.actionable() {
        // In own units, as a change.
        values.push(numbers(&|outcome| {
            let action = &outcome.recourse()?.action;
            let at = action.features.iter().position(|&feature| feature == i)?;
            Some(action.change[at] * features.feature(i).std)
        }));
    }
    for (i, feature) in features.iter().enumerate() {
        values.push(numbers(&|outcome| Some(feature.own_units(outcome.recourse()?.counterfactual[i]))));
    }
    let reasons = people.iter().zip(outcomes).map(|(individual, outcome)| match outcome {
        Outcome::Impossible(_) | Outcome::Undecided(_) => describe(problem, individual, outcome).map(Some),
        _ => Ok(None),
    });
    values.push(Values::Texts(reasons.collect::<surefoot::Result<_>>().context("an answer in words")?));
    Ok(values)
}

fn status(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::AlreadyFavourable => "favourable",
        Outcome::Found(_) => "found",
        Outcome::Impossible(_) => "impossible",
        Outcome::Undecided(_) => "undecided",
    }
}
