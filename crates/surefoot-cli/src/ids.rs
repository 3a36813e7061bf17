//! What identifies people: no two rows may share it.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use anyhow::{Result, bail};
use surefoot::escape_line;
use surefoot_cli::table::{Place, Table, TableError};

/// Refuses an id that is in a table twice.
///
/// Of every id it keeps a hash of 64 bits, which is about 20 MB for a million people. Where two hashes are
/// the same the table is read again up to there, so that nothing is refused by chance.
pub struct Ids {
    path: PathBuf,
    column: String,
    hasher: RandomState,
    seen: HashSet<u64>,
}

impl Ids {
    /// None seen so far, in this column of this table.
    pub fn new(path: impl Into<PathBuf>, column: impl Into<String>) -> Self {
        Self { path: path.into(), column: column.into(), hasher: RandomState::new(), seen: HashSet::new() }
    }

    /// Notes the id of a row; an error if a row before has it.
    pub fn note(&mut self, id: &str, place: Place) -> Result<()> {
        let Some(first) = self.repeats(id, place)? else { return Ok(()) };
        bail!(
            "{}, {place}, column `{}`: `{}` is in {first} already; give every row its own, or name the column that \
             identifies people with --id",
            self.path.display(),
            escape_line(&self.column),
            escape_line(id)
        );
    }

    /// Notes the id of a row; the row before that has it, if there is one.
    pub fn repeats(&mut self, id: &str, place: Place) -> Result<Option<Place>, TableError> {
        if self.seen.insert(self.hasher.hash_one(id)) {
            return Ok(None);
        }
        self.first(id, place)
    }

    /// The first row with this id, if it is before `place`.
    fn first(&self, id: &str, place: Place) -> Result<Option<Place>, TableError> {
        for batch in Table::open(&self.path)?.select(&[], &[&self.column])? {
            let batch = batch?;
            for (found, &at) in batch.texts[0].iter().zip(&batch.places) {
                if at == place {
                    return Ok(None);
                }
                if found == id {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }
}
