//! Answers that are saved while a run goes on, so that a run that is broken off can be resumed.
//!
//! They are in a part file beside the output, `answers.csv.part`: a first line that says for what they are,
//! then a line of JSON for each batch of people, in the order of the table. Proofs are in a part file of their
//! own. Part files hold personal data: they are for their owner alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use surefoot::file::{KeptFile, destination};
use surefoot::report::Heading;

use super::chunk::{Chunk, SavedChunk};
use crate::words;

/// How often answers are saved. A run that takes less time leaves no part file.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// The number of bytes after which answers are saved before their time: what is held in memory.
const MOST_PENDING: usize = 1 << 23;

/// The outputs of a run.
pub struct Paths<'a> {
    /// The table of answers.
    pub output: &'a Path,
    /// The proofs.
    pub proofs: Option<&'a Path>,
}

/// Where the part file of an output is.
pub fn part_path(output: &Path) -> io::Result<PathBuf> {
    let mut name = OsString::from(destination(output)?);
    name.push(".part");
    Ok(name.into())
}

/// What answers depend on besides the people: the first line of a part file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version that gives the answers.
    pub surefoot: String,
    /// The digest of the problem file and of the files that it names.
    pub problem: String,
    /// Options by their names.
    pub settings: BTreeMap<String, String>,
    /// The columns of the answers.
    pub columns: Vec<String>,
}

impl Header {
    /// What another run has that this one has not, in words; none if answers can be continued.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.surefoot != other.surefoot {
            return Some(format!("is of version {}, and this is {}", other.surefoot, self.surefoot));
        }
        if self.problem != other.problem {
            return Some(
                "is for another problem: the problem file or a file that it names has changed".into(),
            );
        }
        let of = |header: &Self, name: &String| header.settings.get(name).cloned().unwrap_or_default();
        let names = self.settings.keys().chain(other.settings.keys());
        let changed = names.into_iter().find(|name| of(self, name) != of(other, name));
        if let Some(name) = changed {
            return Some(format!("has {name} {}, and this run {}", of(other, name), of(self, name)));
        }
        (self.columns != other.columns).then(|| "has other columns".into())
    }
}

/// A part file. It is created when something is first saved.
struct Part {
    path: PathBuf,
    file: Option<KeptFile>,
    pending: Vec<u8>,
}

impl Part {
    fn new(output: &Path) -> Result<Self> {
        let path = part_path(output).map_err(|error| anyhow!("{}: {error}", output.display()))?;
        Ok(Self { path, file: None, pending: Vec::new() })
    }

    fn save(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let kept = match self.file.take() {
            Some(kept) => kept,
            None => KeptFile::create(&self.path)?,
        };
        self.file.insert(kept).file().write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Opens the part file of an earlier run; none if there is none.
    fn open(&mut self) -> Result<Option<&File>> {
        match KeptFile::open(&self.path) {
            Ok(kept) => Ok(Some(self.file.insert(kept).file())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be opened", self.path.display())),
        }
    }

    /// Cuts off what is behind a position, and goes on there.
    fn cut(&mut self, length: u64) -> Result<()> {
        let Some(kept) = &self.file else { return Ok(()) };
        let mut file = kept.file();
        let cut = file.set_len(length).and_then(|()| file.seek(SeekFrom::Start(length)));
        cut.map_err(|error| anyhow!("{}: cannot be written: {error}", self.path.display()))?;
        Ok(())
    }

    fn remove(self) -> io::Result<()> {
        self.file.map_or(Ok(()), KeptFile::remove)
    }
}

/// The part files of a run.
pub struct Journal {
    answers: Part,
    proofs: Option<Part>,
    people: usize,
    total: usize,
    began: Instant,
    saved: Instant,
}

impl Journal {
    /// The journal of a run that starts from the beginning. A part file of an earlier run is refused if it
    /// could be resumed, and otherwise removed. None if another run is writing the part file.
    pub fn begin(
        paths: &Paths<'_>,
        header: &Header,
        headings: &[Heading],
        total: usize,
    ) -> Result<Option<Self>> {
        let mut journal = Self::new(paths, total)?;
        let earlier = match Earlier::open(&mut journal, headings) {
            Err(error) if is_taken(&error) => {
                warn_not_resumable();
                return Ok(None);
            }
            earlier => earlier?,
        };
        if let Some(mut earlier) = earlier.filter(|earlier| header.difference(&earlier.header).is_none()) {
            while earlier.next().is_some() {}
            bail!(
                "{}: holds the answers of {} from a run that was broken off; add --resume to go on from there, or \
                 delete it to begin again",
                journal.answers.path.display(),
                words::people(earlier.people)
            );
        }
        for part in [Some(&mut journal.answers), journal.proofs.as_mut()].into_iter().flatten() {
            let removed = part.file.take().map_or(Ok(()), KeptFile::remove);
            removed.map_err(|error| anyhow!("{}: cannot be removed: {error}", part.path.display()))?;
        }
        journal.write_header(header);
        Ok(Some(journal))
    }

    /// The journal of a run that goes on where another was broken off, with what was answered before; none
    /// if nothing was.
    pub fn resume(
        paths: &Paths<'_>,
        header: &Header,
        headings: &[Heading],
        total: usize,
    ) -> Result<(Self, Option<Earlier>)> {
        let mut journal = Self::new(paths, total)?;
        let earlier = match Earlier::open(&mut journal, headings) {
            Err(error) if is_taken(&error) => {
                bail!("--resume: another run is writing {}", paths.output.display())
            }
            earlier => earlier?,
        };
        let path = journal.answers.path.display();
        if let Some(difference) = earlier.as_ref().and_then(|earlier| header.difference(&earlier.header)) {
            bail!(
                "--resume: {path} {difference}; put that back as it was, or delete the part file to begin again"
            );
        }
        if earlier.is_none() {
            let why = if journal.answers.file.is_some() { "has no answers" } else { "does not exist" };
            crate::warn(&format!("--resume: {path} {why}; this run begins with the first person"));
            journal.answers.cut(0)?;
            journal.proofs.iter_mut().try_for_each(|proofs| proofs.cut(0))?;
            journal.write_header(header);
        }
        Ok((journal, earlier))
    }

    fn new(paths: &Paths<'_>, total: usize) -> Result<Self> {
        let (began, saved) = (Instant::now(), Instant::now());
        let proofs = paths.proofs.map(Part::new).transpose()?;
        Ok(Self { answers: Part::new(paths.output)?, proofs, people: 0, total, began, saved })
    }

    fn write_header(&mut self, header: &Header) {
        // Texts can always be written.
        let line = serde_json::to_string(header).unwrap_or_default();
        self.answers.pending.extend_from_slice(format!("{line}\n").as_bytes());
    }

    /// Continues behind what was answered before, whose proofs are passed to `copy`.
    pub fn continue_after(
        &mut self,
        earlier: &Earlier,
        copy: impl FnOnce(&mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        self.people = earlier.people;
        self.answers.cut(earlier.answer_bytes)?;
        let Some(proofs) = &mut self.proofs else { return Ok(()) };
        if let Some(kept) = &proofs.file {
            let mut file = kept.file();
            file.rewind()?;
            copy(&mut file.take(earlier.proof_bytes))?;
        }
        proofs.cut(earlier.proof_bytes)
    }

    /// Adds answers, with their line.
    pub fn add(&mut self, chunk: &Chunk, line: &str) -> io::Result<()> {
        self.people += chunk.counts.people();
        if let Some(proofs) = &mut self.proofs {
            proofs.pending.extend_from_slice(chunk.proofs.as_bytes());
        }
        self.answers.pending.extend_from_slice(line.as_bytes());
        self.answers.pending.push(b'\n');
        self.save_if_due()
    }

    /// Saves answers if they have waited for long enough.
    pub fn save_if_due(&mut self) -> io::Result<()> {
        let pending = self.answers.pending.len() + self.proofs.as_ref().map_or(0, |part| part.pending.len());
        if pending >= MOST_PENDING || self.saved.elapsed() >= SAVE_EVERY { self.save() } else { Ok(()) }
    }

    fn save(&mut self) -> io::Result<()> {
        self.saved = Instant::now();
        // Proofs first: an answer whose proof is missing counts as not saved.
        self.proofs.iter_mut().try_for_each(Part::save)?;
        self.answers.save()
    }

    /// Saves everything before the run ends early. What to say of it; none if there is nothing to resume.
    pub fn keep(&mut self) -> Option<String> {
        let is_short = self.answers.file.is_none() && self.began.elapsed() < SAVE_EVERY;
        if is_short || self.people == 0 || self.save().is_err() {
            return None;
        }
        Some(format!(
            "{} of {} people are done; the same command with --resume goes on from there",
            self.people, self.total
        ))
    }

    /// Removes the part files, once the outputs are complete.
    pub fn finish(self) -> io::Result<()> {
        self.answers.remove()?;
        self.proofs.map_or(Ok(()), Part::remove)
    }
}

/// What an earlier run has saved.
pub struct Earlier {
    header: Header,
    headings: Vec<Heading>,
    lines: BufReader<File>,
    /// The size of the proofs that were saved.
    proof_bytes_there: u64,
    people: usize,
    answer_bytes: u64,
    proof_bytes: u64,
}

impl Earlier {
    /// Opens the part files; none if there are none, or if they are empty.
    fn open(journal: &mut Journal, headings: &[Heading]) -> Result<Option<Self>> {
        let proofs = journal.proofs.as_mut().map(Part::open).transpose()?.flatten();
        let proof_bytes_there = proofs.and_then(|file| file.metadata().ok()).map_or(0, |found| found.len());
        let Some(answers) = journal.answers.open()? else { return Ok(None) };
        if answers.metadata()?.len() == 0 {
            return Ok(None);
        }
        let mut lines = BufReader::new(answers.try_clone()?);
        let line = whole_line(&mut lines).unwrap_or_default();
        let Ok(header) = serde_json::from_slice(&line) else {
            let path = journal.answers.path.display();
            bail!(
                "{path}: does not hold saved answers, and would be replaced; move it, or give another --output"
            );
        };
        let (headings, answer_bytes) = (headings.to_vec(), line.len() as u64);
        Ok(Some(Self { header, headings, lines, proof_bytes_there, people: 0, answer_bytes, proof_bytes: 0 }))
    }

    /// The digest of the next people, and their answers. None at the end, and from the first line on that is
    /// torn or whose proofs are not there.
    pub fn next(&mut self) -> Option<(String, Chunk)> {
        let line = whole_line(&mut self.lines)?;
        let mut saved: SavedChunk = serde_json::from_slice(&line).ok()?;
        let proof_bytes = self.proof_bytes.checked_add(saved.proof_bytes)?;
        if proof_bytes > self.proof_bytes_there {
            return None;
        }
        let people = std::mem::take(&mut saved.people);
        let chunk = saved.into_chunk(&self.headings)?;
        self.people += chunk.counts.people();
        self.answer_bytes += line.len() as u64;
        self.proof_bytes = proof_bytes;
        Some((people, chunk))
    }

    /// The number of people whose answers were given so far.
    pub fn people(&self) -> usize {
        self.people
    }
}

/// Whether a part file cannot be opened because another run is writing it.
fn is_taken(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Says that another run has the part file.
pub fn warn_not_resumable() {
    crate::warn("another run is writing this output too; if this one is broken off, it cannot be resumed");
}

/// The next line, if it is whole.
fn whole_line(lines: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(line)
}
