//! Answers a table of people: reads, answers and writes at the same time.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::interrupt;
use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use sha2::{Digest, Sha256};
use surefoot::file::is_special;
use surefoot::report::AnswerTable;
use surefoot::{Problem, ProblemFile};

use super::Options;
use super::answering::Answering;
use super::chunk::Chunk;
use super::journal::{Earlier, Header, Journal, Paths, part_path, warn_not_resumable};
use super::output::Output;
use super::pipeline::{self, Pipeline};
use crate::outputs::Outputs;
use crate::people::{self, Group, Source};
use crate::verify::MOST_PROOF_BYTES;
use crate::words;

/// People for each thread that are answered ahead of the slowest, by a search. In 1024 the slowest may take a
/// thousand times as long as the others.
const SEARCH_WINDOW: usize = 1024;

/// People for each thread that are answered ahead of the slowest, where batches are answered.
const BATCH_WINDOW: usize = 1 << 14;

/// A journal that the thread of signals may use too. None if there is nothing to resume.
type SharedJournal = Arc<Mutex<Option<Journal>>>;

fn lock(journal: &SharedJournal) -> MutexGuard<'_, Option<Journal>> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers everybody in a table, and says how many got which answer.
pub fn answer_table(
    options: &Options,
    (table, paths): (&Path, &Paths<'_>),
    file: &ProblemFile,
    (problem, answering): (&Problem, &Answering<'_>),
) -> Result<String> {
    let can_resume = check_outputs(options, table, paths, file)?;
    let answers = AnswerTable::new(problem, options.options > 1);
    let headings = answers.headings();
    let columns = headings.iter().map(|heading| heading.name.clone()).collect();
    let header = Header {
        surefoot: env!("CARGO_PKG_VERSION").into(),
        problem: problem_digest(file)?,
        settings: settings(options),
        columns,
    };
    let source = Source::open(table, problem.features(), options.id.as_deref())?;
    let total = count_people(options, table, problem, answering)?;
    let (journal, earlier) = match (can_resume, options.resume) {
        (false, _) => (None, None),
        (true, false) => (Journal::begin(paths, &header, &headings, total)?, None),
        (true, true) => {
            let (journal, earlier) = Journal::resume(paths, &header, &headings, total)?;
            (Some(journal), earlier)
        }
    };
    let journal: SharedJournal = Arc::new(Mutex::new(journal));
    let bar = progress_bar(total)?;
    let output = Output::create(paths, &headings)?;
    let mut stream = Stream {
        people: Batches { source, group: None, at: 0 },
        batch: answering.solver.batch_size(),
        output,
        journal: journal.clone(),
        problem,
    };
    let (at_end, cleared) = (journal.clone(), bar.clone());
    interrupt::before_the_end(move || {
        cleared.finish_and_clear();
        if let Some(said) = lock(&at_end).as_mut().and_then(Journal::keep) {
            crate::warn(&format!("broken off: {said}"));
        }
    });
    let result = stream.skip(earlier, &bar).and_then(|()| {
        bar.enable_steady_tick(Duration::from_millis(250));
        answer_all(&mut stream, answering, &answers, &bar)
    });
    bar.finish_and_clear();
    let result = result.and_then(|()| stream.output.finish());
    interrupt::nothing_before_the_end();
    let journal = lock(&journal).take();
    match (result, journal) {
        (Ok(said), journal) => {
            let removed = journal.map_or(Ok(()), Journal::finish);
            removed
                .with_context(|| format!("the part file of {} cannot be removed", paths.output.display()))?;
            Ok(said)
        }
        (Err(error), Some(mut journal)) => Err(match journal.keep() {
            Some(said) => anyhow!("{error:#}\n{said}"),
            None => error,
        }),
        (Err(error), None) => Err(error),
    }
}

/// Refuses outputs that would replace something else. Whether answers can be saved meanwhile: not beside a device
/// or a pipe.
fn check_outputs(options: &Options, table: &Path, paths: &Paths<'_>, file: &ProblemFile) -> Result<bool> {
    let mut outputs = Outputs::default().keep("the table of people", table).keep_problem(file);
    let named = [("--output", Some(paths.output)), ("--proofs", paths.proofs)];
    let named: Vec<(&str, &Path)> =
        named.into_iter().filter_map(|(option, path)| Some((option, path?))).collect();
    for (option, path) in &named {
        outputs = outputs.check(option, path)?;
    }
    if let Some((option, path)) = named.iter().find(|(_, path)| is_special(path)) {
        if options.resume {
            bail!("--resume: {option} {} is a pipe or a device, and no file; name a file", path.display());
        }
        return Ok(false);
    }
    for (option, path) in &named {
        let part = part_path(path).map_err(|error| anyhow!("{option} {}: {error}", path.display()))?;
        outputs = outputs.check(&format!("the part file of {option},"), &part)?;
    }
    Ok(true)
}

/// The digest of a problem file and of all files that it names.
fn problem_digest(file: &ProblemFile) -> Result<String> {
    let mut digest = Sha256::new();
    let named = file.named_files();
    let opened = named.iter().map(|path| (path.as_path(), file.folder().open(path)));
    for (path, open) in [(file.path(), surefoot::file::open(file.path()))].into_iter().chain(opened) {
        let mut content = Vec::new();
        let read = open.and_then(|mut open| open.read_to_end(&mut content));
        read.with_context(|| format!("{} cannot be read", path.display()))?;
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(&content);
    }
    Ok(digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The options on which answers depend.
fn settings(options: &Options) -> BTreeMap<String, String> {
    let mut settings = options.effort.named();
    settings.push(("--options", options.options.to_string()));
    settings.push(("--explain", options.explain.to_string()));
    settings.push(("--proofs", options.proofs.is_some().to_string()));
    settings.push(("--id", options.id.clone().unwrap_or_else(|| "(none)".into())));
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The number of people. Where each takes a search, the whole table is checked, which takes no time beside that:
/// a mistake in the last row is reported before the first is answered.
fn count_people(
    options: &Options,
    table: &Path,
    problem: &Problem,
    answering: &Answering<'_>,
) -> Result<usize> {
    if answering.solver.is_closed_form() {
        return people::count_rows(table);
    }
    let mut source = Source::open(table, problem.features(), options.id.as_deref())?;
    let mut count = 0;
    while let Some(group) = source.next()? {
        group.check(problem)?;
        count += group.ids.len();
    }
    Ok(count)
}

fn progress_bar(total: usize) -> Result<ProgressBar> {
    let style =
        ProgressStyle::with_template("{spinner} {pos} of {len} people, {rate} per second, {eta} to go")?;
    let rate = |state: &ProgressState, text: &mut dyn fmt::Write| {
        let rate = state.per_sec();
        // A bar that cannot be drawn is no reason to stop.
        let _ = write!(text, "{rate:.*}", if rate < 10.0 { 2 } else { 0 });
    };
    Ok(ProgressBar::new(total as u64).with_style(style.with_key("rate", rate)))
}

/// Some people of a group.
struct Batch {
    group: Arc<Group>,
    range: Range<usize>,
}

impl Batch {
    fn ends_group(&self) -> bool {
        self.range.end == self.group.ids.len()
    }
}

/// Gives out people in the order of the table.
struct Batches<'a> {
    source: Source<'a>,
    group: Option<Arc<Group>>,
    at: usize,
}

impl Batches<'_> {
    /// The next people, up to `most` and to the end of their group; none at the end.
    fn next(&mut self, most: usize) -> Result<Option<Batch>> {
        if self.group.as_ref().is_none_or(|group| self.at == group.ids.len()) {
            self.group = self.source.next()?.map(Arc::new);
            self.at = 0;
        }
        let Some(group) = self.group.clone() else { return Ok(None) };
        let range = self.at..group.ids.len().min(self.at.saturating_add(most));
        self.at = range.end;
        Ok(Some(Batch { group, range }))
    }
}

/// A run: people who are read, answers that are written and saved.
struct Stream<'a> {
    people: Batches<'a>,
    /// The people that a thread answers at a time.
    batch: usize,
    output: Output<'a>,
    journal: SharedJournal,
    problem: &'a Problem,
}

impl Stream<'_> {
    /// Writes what was answered before, if the people are still the same.
    fn skip(&mut self, earlier: Option<Earlier>, bar: &ProgressBar) -> Result<()> {
        let Some(mut earlier) = earlier else { return Ok(()) };
        while let Some((digest, chunk)) = earlier.next() {
            let remedy = "put the table back as it was, or delete the part file to begin again";
            let Some(batch) = self.people.next(chunk.counts.people())? else {
                bail!("--resume: the table has fewer people than were answered before; {remedy}");
            };
            if batch.group.digest(batch.range.clone()) != digest {
                let after = match batch.range.len() {
                    1 => String::new(),
                    more => format!(", or one of the {} after", more - 1),
                };
                let place = batch.group.place(batch.range.start);
                bail!("--resume: {place}{after}: is not who was answered there before; {remedy}");
            }
            self.output.write(chunk, batch.ends_group())?;
        }
        if let Some(journal) = lock(&self.journal).as_mut() {
            journal.continue_after(&earlier, |proofs| self.output.write_proofs(proofs))?;
        }
        let were = if earlier.people() == 1 { "was" } else { "were" };
        crate::warn(&format!("{} {were} answered before; going on", words::people(earlier.people())));
        bar.set_position(earlier.people() as u64);
        bar.reset_eta();
        Ok(())
    }

    /// Uses the journal, if there is one.
    fn save(&self, act: impl FnOnce(&mut Journal) -> io::Result<()>) -> Result<()> {
        let mut journal = lock(&self.journal);
        let Some(saved) = journal.as_mut().map(act) else { return Ok(()) };
        let Err(error) = saved else { return Ok(()) };
        *journal = None;
        if error.kind() == io::ErrorKind::WouldBlock {
            warn_not_resumable();
            return Ok(());
        }
        Err(error).context("the part file cannot be written")
    }
}

/// The answers of a batch with their line in the journal, or the error.
struct Answers {
    batch: Batch,
    chunk: surefoot::Result<(Chunk, String)>,
}

impl Pipeline for Stream<'_> {
    type Task = Batch;
    type Answer = Answers;

    fn next(&mut self) -> Result<Option<Batch>> {
        self.people.next(self.batch)
    }

    fn take(&mut self, answers: Answers) -> Result<()> {
        let Answers { batch, chunk } = answers;
        let (chunk, line) = chunk.map_err(|error| batch.group.locate(self.problem, error))?;
        self.save(|journal| journal.add(&chunk, &line))?;
        self.output.write(chunk, batch.ends_group())
    }

    fn idle(&mut self) -> Result<()> {
        self.save(Journal::save_if_due)
    }
}

/// Answers everybody who is left.
fn answer_all(
    stream: &mut Stream<'_>,
    answering: &Answering<'_>,
    table: &AnswerTable<'_>,
    bar: &ProgressBar,
) -> Result<()> {
    let workers = rayon::current_num_threads();
    let ahead = if stream.batch == 1 { SEARCH_WINDOW } else { BATCH_WINDOW };
    let window = workers * (ahead / stream.batch).max(2);
    pipeline::run(stream, workers, window, |batch: Batch| {
        let (group, range) = (&batch.group, batch.range.clone());
        let individuals: Vec<&[f64]> = range.clone().map(|i| group.people.individual(i)).collect();
        let chunk = answering.answers(&individuals).map(|answered| {
            let people = (&group.ids[range.clone()], &individuals[..]);
            let chunk = Chunk::new(table, people, &answered, MOST_PROOF_BYTES);
            let line = chunk.to_line(&group.digest(range));
            (chunk, line)
        });
        bar.inc(individuals.len() as u64);
        Answers { batch, chunk }
    })
}
