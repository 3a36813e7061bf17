//! `surefoot certify`: whether actions hold, wherever they came from.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::check::{Checked, SavedProof, check};
use surefoot::{
    Action, Budget, Certificate, Infeasible, Outcome, Problem, ProblemFile, Verdict, certify, describe_shift,
    escape_line, infeasibility,
};
use surefoot_cli::table::{Column, Values, Writer};

use crate::CommandOutput;
use crate::answers::{Answers, EXAMPLES, Hindered};
use crate::effort::check_evaluations;
use crate::formulas;
use crate::outputs::Outputs;
use crate::people::Source;

/// What `surefoot certify` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// A table of people: CSV, Parquet or Arrow.
    #[arg(required_unless_present = "check")]
    people: Option<PathBuf>,
    /// A table of actions: a column `id` and, for each feature acted upon, a column
    /// `action:<feature>` with its change in own units (empty: not acted upon), as `surefoot
    /// recourse` writes it.
    #[arg(required_unless_present = "check")]
    answers: Option<PathBuf>,
    /// Check saved proofs again instead, as `surefoot recourse --proofs` writes them, with code that
    /// shares next to nothing with what found them.
    #[arg(long, value_name = "PROOFS", conflicts_with_all = ["people", "answers", "output", "id"])]
    check: Option<PathBuf>,
    /// Where to write the verdicts: CSV, Parquet or Arrow.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The column that identifies people in both tables; `id` if there is one, otherwise the number
    /// of the row.
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Bounds and evaluations that each action may cost.
    #[arg(long, default_value_t = Budget::default().evaluations)]
    evaluations: usize,
}

/// Says of how many actions it is proven that they hold, and of how many that they do not.
pub fn run(options: &Options) -> Result<CommandOutput> {
    check_evaluations(options.evaluations)?;
    let file = ProblemFile::read(&options.problem)?;
    let problem = file.problem()?;
    if let Some(path) = &options.check {
        return check_proofs(&problem, path);
    }
    let (Some(people), Some(answers)) = (&options.people, &options.answers) else {
        bail!("give a table of people and one of actions, or --check");
    };
    if let Some(output) = &options.output {
        let outputs =
            Outputs::default().keep("the table of people", people).keep("the table of actions", answers);
        outputs.keep_problem(&file).check("--output", output)?;
    }
    let mut promised = Answers::open(answers, problem.features(), options.id.as_deref())?;
    let mut source = Source::open(people, problem.features(), options.id.as_deref())?;
    let columns = [
        ("id", Column::Text),
        ("verdict", Column::Text),
        ("margin", Column::Number),
        ("margin_at_most", Column::Number),
        ("breaks_with", Column::Text),
        ("feasible", Column::Truth),
        ("reason", Column::Text),
    ];
    let mut writer = options.output.as_ref().map(|path| Writer::create(path, &columns)).transpose()?;
    let (mut holding, mut breaking, mut undecided, mut without) = (0, 0, 0, 0);
    let mut examples = String::new();
    let mut hindered = Hindered::default();
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} actions, {per_sec}")?);
    let budget = Budget { evaluations: options.evaluations };
    while let Some(group) = source.next()? {
        let mut asked: Vec<(&String, &[f64], Action)> = Vec::new();
        for (id, individual) in group.ids.iter().zip(group.people.iter()) {
            let actions = promised.take(id)?;
            without += usize::from(actions.is_empty());
            asked.extend(actions.into_iter().map(|action| (id, individual, action)));
        }
        let certificates = asked
            .par_iter()
            .map(|(_, individual, action)| {
                let certificate = certify(&problem, individual, action, budget)?;
                let why = infeasibility(&problem, individual, action)?;
                bar.inc(1);
                Ok((certificate, why))
            })
            .collect::<surefoot::Result<Vec<(Certificate, Option<Infeasible>)>>>()
            .map_err(|error| group.locate(&problem, error))?;
        let mut rows: [Vec<Option<String>>; 3] = Default::default();
        let mut margins: [Vec<Option<f64>>; 2] = Default::default();
        let mut reasons = Vec::with_capacity(asked.len());
        for ((id, ..), (certificate, why)) in asked.iter().zip(&certificates) {
            reasons.push(hindered.note(id, why.as_ref()));
            let (word, lower, upper, shift) = match &certificate.verdict {
                Verdict::Holds { margin } => {
                    holding += 1;
                    ("holds", Some(*margin), None, None)
                }
                Verdict::Breaks { perturbation, margin } => {
                    breaking += 1;
                    let shift = describe_shift(&problem, perturbation)?;
                    if breaking <= EXAMPLES {
                        writeln!(examples, "That of {} breaks with {shift}.", escape_line(id))?;
                    }
                    ("breaks", None, Some(*margin), Some(shift))
                }
                Verdict::Undecided { lower, upper } => {
                    undecided += 1;
                    ("undecided", Some(*lower), Some(*upper), None)
                }
            };
            rows[0].push(Some((*id).clone()));
            rows[1].push(Some(word.into()));
            rows[2].push(shift);
            margins[0].push(lower.filter(|margin| margin.is_finite()));
            margins[1].push(upper.filter(|margin| margin.is_finite()));
        }
        if let Some(writer) = &mut writer {
            let ([ids, words, shifts], [lower, upper]) = (rows, margins);
            let numbers = Values::Numbers;
            writer.write(&[
                Values::Texts(ids),
                Values::Texts(words),
                numbers(lower),
                numbers(upper),
                Values::Texts(shifts),
                Values::Truths(reasons.iter().map(|why| Some(why.is_none())).collect()),
                Values::Texts(reasons),
            ])?;
        }
    }
    bar.finish_and_clear();
    promised.finish(people)?;
    if let (Some(writer), Some(path)) = (writer, &options.output) {
        formulas::finish(writer, path)?;
    }
    let epsilon = problem.epsilon();
    let mut text = format!(
        "{} actions: {holding} are proven to hold for every shift of up to {epsilon}, {breaking} do not, {undecided} \
         could not be decided. {without} people have no action.\n",
        holding + breaking + undecided
    );
    text += &examples;
    write!(text, "{hindered}")?;
    if let Some(path) = &options.output {
        writeln!(text, "Written to {}.", path.display())?;
    }
    Ok(CommandOutput { text, holds: breaking == 0 && undecided == 0 && hindered.count == 0 })
}

/// Checks saved proofs, line by line.
fn check_proofs(problem: &Problem, path: &Path) -> Result<CommandOutput> {
    let file = surefoot::file::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} proofs, {per_sec}")?);
    let (mut counts, mut wrong, mut open, mut elsewhere) = (Counts::default(), 0, 0, 0);
    let mut examples = String::new();
    let mut lines = Lines { path, reader: BufReader::new(file), number: 0 };
    loop {
        let some = lines.next_batch()?;
        if some.is_empty() {
            break;
        }
        let checked = some
            .par_iter()
            .map(|(number, line)| -> Result<(String, SavedProof, Checked)> {
                let place = || format!("{}, line {number}", path.display());
                let value: serde_json::Value = serde_json::from_str(line).with_context(place)?;
                let (Some(id), Some(proof)) = (value["id"].as_str(), value.get("proof")) else {
                    bail!("{}: no `id` with a `proof`; `surefoot recourse --proofs` writes them", place());
                };
                let proof = SavedProof::from_value(proof).with_context(place)?;
                let checked = check(problem, &proof).with_context(place)?;
                bar.inc(1);
                Ok((id.to_owned(), proof, checked))
            })
            .collect::<Result<Vec<_>>>()?;
        for (id, proof, checked) in checked {
            let id = escape_line(&id);
            let fault = match checked {
                Checked::Verified(_) => {
                    counts.add(&proof.outcome);
                    continue;
                }
                Checked::OtherProblem { what } => {
                    elsewhere += 1;
                    format!("That of {id} is for another problem: the {what} not the same.")
                }
                Checked::Wrong(fault) => {
                    wrong += 1;
                    format!("That of {id} is wrong: {fault}.")
                }
                Checked::Unverified(fault) => {
                    open += 1;
                    format!("That of {id} could not be verified: {fault}.")
                }
            };
            if wrong + open + elsewhere <= EXAMPLES {
                writeln!(examples, "{fault}")?;
            }
        }
    }
    bar.finish_and_clear();
    let failed = wrong + open + elsewhere;
    if counts.all() + failed == 0 {
        bail!("{}: there is no proof in it; `surefoot recourse --proofs` writes them", path.display());
    }
    let mut text = format!(
        "{} proofs: verified {counts}; {wrong} are wrong, {open} could not be verified",
        counts.all() + failed
    );
    if elsewhere > 0 {
        write!(text, ", {elsewhere} are for another problem")?;
    }
    Ok(CommandOutput { text: format!("{text}.\n{examples}"), holds: failed == 0 })
}

/// What was verified, and how often.
#[derive(Default)]
struct Counts {
    /// Actions that hold, with a bound on the cost of any that does.
    bounded: usize,
    /// By how much one of these may be dearer than need be, as a share: the most.
    gap: f64,
    /// Actions that hold; of their cost nothing is stated.
    unbounded: usize,
    impossible: usize,
    other: usize,
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Found(found) if found.cost_bound > 0.0 || found.cost == 0.0 => {
                self.bounded += 1;
                let gap = found.cost / found.cost_bound - 1.0;
                self.gap = self.gap.max(gap);
            }
            Outcome::Found(_) => self.unbounded += 1,
            Outcome::Impossible(_) => self.impossible += 1,
            Outcome::Undecided(_) | Outcome::AlreadyFavourable => self.other += 1,
        }
    }

    fn all(&self) -> usize {
        self.bounded + self.unbounded + self.impossible + self.other
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { bounded, gap, unbounded, impossible, other } = self;
        write!(f, "that {bounded} actions hold")?;
        if *bounded > 0 {
            // In tenths of a percent, rounded up.
            let percent = (1000.0 * gap - 0.01).ceil().max(0.0) / 10.0;
            write!(f, " and cost at most {percent}% more than any that does")?;
        }
        if *unbounded > 0 {
            write!(f, ", that {unbounded} hold, with nothing stated of what they cost")?;
        }
        write!(f, ", that {impossible} people have none, and what is said of {other} others")
    }
}

/// Proofs in memory at a time, and after how many bytes there are no more.
const BATCH: (usize, usize) = (256, 1 << 24);

/// The longest line of a file of proofs that is written and read: 64 MiB. Of searches that spent the
/// default budget, the longest that we have seen has 1.1 MB. Parsed, a line takes at most sixteen times
/// its length.
pub const MOST_PROOF_BYTES: usize = 1 << 26;

/// The lines of a file of proofs, of which none may have more than [`MOST_PROOF_BYTES`].
struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    /// How many were read.
    number: usize,
}

impl Lines<'_> {
    /// The next lines with their numbers; none at the end.
    fn next_batch(&mut self) -> Result<Vec<(usize, String)>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH.0 && bytes < BATCH.1 {
            let mut line = Vec::new();
            let read = (&mut self.reader).take(MOST_PROOF_BYTES as u64 + 1).read_until(b'\n', &mut line);
            read.with_context(|| format!("{} cannot be read", self.path.display()))?;
            if line.is_empty() {
                break;
            }
            self.number += 1;
            let place = || format!("{}, line {}", self.path.display(), self.number);
            if line.pop_if(|last| *last == b'\n').is_none() && line.len() > MOST_PROOF_BYTES {
                bail!("{}: has more than {MOST_PROOF_BYTES} bytes, and no proof is that long", place());
            }
            bytes += line.len();
            let line = String::from_utf8(line).with_context(place)?;
            batch.push((self.number, line));
        }
        Ok(batch)
    }
}
