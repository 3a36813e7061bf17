//! `surefoot verify`: whether saved proofs are right, by the independent checker.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use surefoot::proof::Reference;
use surefoot::{Outcome, Problem, ProblemFile, SavedProof, Verification, describe, escape_line, verify};

use crate::CommandOutput;
use crate::answers::EXAMPLES;
use crate::words::{are, have, number_of, people};

/// What `surefoot verify` can be asked.
#[derive(Args)]
pub struct Options {
    /// The problem file.
    problem: PathBuf,
    /// The proofs, as `surefoot recourse --proofs` and `surefoot letters` write them.
    proofs: PathBuf,
    /// Only the proof with this reference, as a letter states it; says also what it proves.
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
}

/// Verifies every proof of a file.
pub fn run(options: &Options) -> Result<CommandOutput> {
    let reference = options.reference.as_deref().map(str::parse::<Reference>).transpose();
    let reference = reference.context("--reference")?;
    let problem = ProblemFile::read(&options.problem)?.problem()?;
    match reference {
        Some(reference) => verify_one(&problem, &options.proofs, &reference),
        None => verify_file(&problem, &options.proofs),
    }
}

/// How many proofs were verified, and what is wrong with the others.
#[derive(Default)]
pub struct Report {
    verified: Counts,
    wrong: usize,
    unverified: usize,
    /// Proofs that were made for another problem.
    elsewhere: usize,
    /// A sentence on each of the first proofs that were not verified.
    pub examples: String,
}

impl Report {
    pub fn failed(&self) -> usize {
        self.wrong + self.unverified + self.elsewhere
    }

    pub fn add(&mut self, id: &str, outcome: &Outcome, verification: Verification) {
        let id = escape_line(id);
        let fault = match verification {
            Verification::Verified(_) => return self.verified.add(outcome),
            Verification::OtherProblem { what } => {
                self.elsewhere += 1;
                format!("The proof of {id} is for another problem: the {what} not the same.")
            }
            Verification::Wrong(fault) => {
                self.wrong += 1;
                format!("The proof of {id} is wrong: {fault}.")
            }
            Verification::Unverified(fault) => {
                self.unverified += 1;
                format!("The proof of {id} could not be verified: {fault}.")
            }
        };
        if self.failed() <= EXAMPLES {
            self.examples += &fault;
            self.examples.push('\n');
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { verified, wrong, unverified, elsewhere, examples } = self;
        let count = verified.all() + self.failed();
        let mut faults = Vec::new();
        if *wrong > 0 {
            faults.push(format!("{wrong} {} wrong", are(*wrong)));
        }
        if *unverified > 0 {
            faults.push(format!("{unverified} could not be verified"));
        }
        if *elsewhere > 0 {
            faults.push(format!("{elsewhere} {} for another problem", are(*elsewhere)));
        }
        let all = number_of(count, "proof");
        match (faults.is_empty(), verified.all()) {
            (true, 1) => write!(f, "{all}, verified: {verified}.")?,
            (true, _) => write!(f, "{all}, all verified: {verified}.")?,
            (false, 0) => write!(f, "{all}, none verified: {}.", faults.join(", "))?,
            (false, some) => write!(f, "{all}: {}, {some} verified: {verified}.", faults.join(", "))?,
        }
        write!(f, "\n{examples}")
    }
}

/// Verifies the proofs of a file, line by line.
pub fn verify_file(problem: &Problem, path: &Path) -> Result<CommandOutput> {
    let file = surefoot::file::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} proofs, {per_sec}")?);
    let mut report = Report::default();
    let mut lines = Lines { path, reader: BufReader::new(file), number: 0 };
    loop {
        let batch = lines.next_batch()?;
        if batch.is_empty() {
            break;
        }
        let verified = batch
            .par_iter()
            .map(|(number, line)| -> Result<(String, SavedProof, Verification)> {
                let place = || format!("{}, line {number}", path.display());
                let (id, proof) = parsed(line).with_context(place)?;
                let verification = verify(problem, &proof).with_context(place)?;
                bar.inc(1);
                Ok((id, proof, verification))
            })
            .collect::<Result<Vec<_>>>()?;
        for (id, proof, verification) in verified {
            report.add(&id, &proof.outcome, verification);
        }
    }
    bar.finish_and_clear();
    if report.verified.all() + report.failed() == 0 {
        bail!("{}: holds no proof; {EXPECTED}", path.display());
    }
    Ok(CommandOutput { text: report.to_string(), holds: report.failed() == 0 })
}

/// The identifier and the proof of a line.
fn parsed(line: &str) -> Result<(String, SavedProof)> {
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|_| anyhow!("is not JSON; {EXPECTED}"))?;
    let (Some(id), Some(proof)) = (value["id"].as_str(), value.get("proof")) else {
        bail!("has no `id` with a `proof`; {EXPECTED}");
    };
    let proof = SavedProof::from_value(proof).map_err(|error| anyhow!("{error}; {EXPECTED}"))?;
    Ok((id.to_owned(), proof))
}

/// Verifies the proof with a reference, and says what it proves.
fn verify_one(problem: &Problem, path: &Path, reference: &Reference) -> Result<CommandOutput> {
    let file = surefoot::file::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut lines = Lines { path, reader: BufReader::new(file), number: 0 };
    loop {
        let batch = lines.next_batch()?;
        if batch.is_empty() {
            bail!(
                "{}: has no proof with the reference {reference}; give the file of proofs beside the letter, as it was \
                 written",
                path.display()
            );
        }
        let of_line = |(number, line): &(usize, String)| -> Result<Option<(String, SavedProof)>> {
            let (id, proof) = parsed(line).with_context(|| format!("{}, line {number}", path.display()))?;
            Ok((Reference::of(&id, &proof) == *reference).then_some((id, proof)))
        };
        let found = batch.par_iter().map(of_line).collect::<Result<Vec<_>>>()?;
        let Some((id, proof)) = found.into_iter().flatten().next() else { continue };
        let mut report = Report::default();
        let verification = verify(problem, &proof)?;
        let holds = matches!(verification, Verification::Verified(_));
        report.add(&id, &proof.outcome, verification);
        let mut text = report.to_string();
        if holds {
            let words = describe(problem, &proof.individual, &proof.outcome)?;
            text = format!("The proof of {} ({reference}) is verified. It says: {words}\n", escape_line(&id));
        }
        return Ok(CommandOutput { text, holds });
    }
}

/// What was verified, and how often.
#[derive(Default)]
struct Counts {
    /// Actions that hold, with a bound on the cost of any that does.
    bounded: usize,
    /// The largest relative gap between the cost of one of these and its bound.
    gap: f64,
    /// Actions that hold; of their cost nothing is stated.
    unbounded: usize,
    impossible: usize,
    favourable: usize,
    undecided: usize,
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
            Outcome::AlreadyFavourable => self.favourable += 1,
            // Nothing is claimed of an action that is not proven.
            Outcome::Undecided(_) | Outcome::Unproved(_) => self.undecided += 1,
        }
    }

    fn all(&self) -> usize {
        self.bounded + self.unbounded + self.impossible + self.favourable + self.undecided
    }
}

/// A clause for each claim that was verified, without those of which there are none.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { bounded, gap, unbounded, impossible, favourable, undecided } = self;
        let hold = |count: usize| {
            format!("{} {}", number_of(count, "action"), if count == 1 { "holds" } else { "hold" })
        };
        let mut clauses = Vec::new();
        if *bounded > 0 {
            // In tenths of a percent, rounded up; exact answers differ by rounding alone.
            let percent = if *gap <= 1e-6 { 1e-4 } else { (1000.0 * gap).ceil() / 10.0 };
            let cost = if *bounded == 1 { "costs" } else { "cost" };
            let cheapest = "the cheapest action that holds";
            clauses.push(format!("{} and {cost} at most {percent}% more than {cheapest}", hold(*bounded)));
        }
        if *unbounded > 0 {
            clauses.push(format!("{}, with nothing stated about the cost", hold(*unbounded)));
        }
        if *impossible > 0 {
            clauses.push(format!("{} {} no action that holds", people(*impossible), have(*impossible)));
        }
        if *favourable > 0 {
            clauses.push(format!("{} {} treated favourably already", people(*favourable), are(*favourable)));
        }
        if *undecided > 0 {
            let what = "the lower bound on the cost of an action that holds";
            clauses.push(format!("{what}, for {} whose answer is undecided", people(*undecided)));
        }
        f.write_str(&clauses.join("; "))
    }
}

/// What the command reads: the remedy for every file that is something else.
const EXPECTED: &str = "give the file that `surefoot recourse --proofs` wrote, with one proof in each line";

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
                bail!(
                    "{}: has more than {MOST_PROOF_BYTES} bytes, and no proof is that long; {EXPECTED}",
                    place()
                );
            }
            bytes += line.len();
            let line =
                String::from_utf8(line).map_err(|_| anyhow!("{}: is not text; {EXPECTED}", place()))?;
            batch.push((self.number, line));
        }
        Ok(batch)
    }
}
