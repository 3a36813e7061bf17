//! Answers and proofs as they are written, in the order of the table of people.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use crate::table::Writer;
use anyhow::{Context, Result, anyhow};
use surefoot::file::{AtomicFile, Audience};
use surefoot::report::{Heading, Values};

use super::chunk::Chunk;
use super::counts::Counts;
use super::journal::Paths;
use crate::verify::MOST_PROOF_BYTES;
use crate::{formulas, words};

/// The outputs of a run.
pub struct Output<'a> {
    path: &'a Path,
    writer: Writer,
    /// The answers of a group of people, until the group is complete.
    group: Vec<Values>,
    proofs: Option<Proofs<'a>>,
    counts: Counts,
    /// Whose proofs were left out, since they are too long.
    too_long: Vec<String>,
}

impl<'a> Output<'a> {
    /// Creates the outputs. They get their names when they are complete.
    pub fn create(paths: &Paths<'a>, headings: &[Heading]) -> Result<Self> {
        Ok(Self {
            path: paths.output,
            writer: Writer::create_report(paths.output, headings)?,
            group: Vec::new(),
            proofs: paths.proofs.map(Proofs::create).transpose()?,
            counts: Counts::default(),
            too_long: Vec::new(),
        })
    }

    /// Adds answers. Tables are written group by group, so that their bytes do not depend on chunks.
    pub fn write(&mut self, chunk: Chunk, ends_group: bool) -> Result<()> {
        self.counts += chunk.counts;
        self.too_long.extend(chunk.too_long);
        if let Some(proofs) = &mut self.proofs {
            proofs.write(&mut chunk.proofs.as_bytes())?;
        }
        if self.group.is_empty() {
            self.group = chunk.columns;
        } else {
            self.group.iter_mut().zip(chunk.columns).for_each(|(all, more)| append(all, more));
        }
        if ends_group {
            self.writer.write_report(std::mem::take(&mut self.group))?;
        }
        Ok(())
    }

    /// Adds proofs that were saved by an earlier run.
    pub fn write_proofs(&mut self, saved: &mut dyn Read) -> Result<()> {
        self.proofs.as_mut().map_or(Ok(()), |proofs| proofs.write(saved))
    }

    /// Completes the outputs; what to say of them.
    pub fn finish(self) -> Result<String> {
        self.proofs.map_or(Ok(()), Proofs::finish)?;
        formulas::finish(self.writer, self.path)?;
        let left_out = match &self.too_long[..] {
            [] => String::new(),
            [first, ..] => format!(
                "{} of more than {MOST_PROOF_BYTES} bytes {} left out, the first that of {}; a smaller --evaluations \
                 gives shorter ones.\n",
                words::number_of(self.too_long.len(), "proof"),
                if self.too_long.len() == 1 { "was" } else { "were" },
                surefoot::escape_line(first)
            ),
        };
        Ok(format!("{}{left_out}Written to {}.\n", self.counts, self.path.display()))
    }
}

/// Adds rows to a column.
fn append(all: &mut Values, more: Values) {
    match (all, more) {
        (Values::Text(all), Values::Text(mut more)) => all.append(&mut more),
        (Values::Number(all), Values::Number(mut more)) => all.append(&mut more),
        (Values::Boolean(all), Values::Boolean(mut more)) => all.append(&mut more),
        _ => unreachable!("a column has one type"),
    }
}

/// Proofs, line by line. They hold what is known of people, so that a new file is for its owner alone.
struct Proofs<'a> {
    path: &'a Path,
    target: AtomicFile,
    file: BufWriter<File>,
}

impl<'a> Proofs<'a> {
    fn create(path: &'a Path) -> Result<Self> {
        let created = AtomicFile::create(path, Audience::Owner)
            .and_then(|target| Ok((BufWriter::new(target.writer()?), target)));
        let (file, target) =
            created.map_err(|error| anyhow!("{} cannot be written: {}", path.display(), error.kind()))?;
        Ok(Self { path, target, file })
    }

    fn write(&mut self, lines: &mut dyn Read) -> Result<()> {
        let written = io::copy(lines, &mut self.file);
        written.map(drop).with_context(|| format!("{} cannot be written", self.path.display()))
    }

    fn finish(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.target.commit());
        written.with_context(|| format!("{} cannot be written", self.path.display()))
    }
}
