//! What identifies people: no two rows may share it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use crate::table::{Place, Table, TableError};
use anyhow::{Result, bail};
use surefoot::escape_line;

/// Finds ids that are in a table twice.
///
/// It keeps a hash of 64 bits of every id, which is about 20 MB for a million people. Two ids may have the same
/// hash, so the table is read again before an id is called repeated.
pub struct Ids {
    path: PathBuf,
    column: String,
    hasher: RandomState,
    seen: HashSet<u64>,
    /// Hashes that several rows have.
    repeated: HashSet<u64>,
}

/// A row whose id an earlier row has.
pub struct Repeated {
    pub id: String,
    /// The row.
    pub place: Place,
    /// The first row with the id.
    pub first: Place,
}

impl Ids {
    /// None seen so far, in this column of this table.
    pub fn new(path: impl Into<PathBuf>, column: impl Into<String>) -> Self {
        let (seen, repeated) = (HashSet::new(), HashSet::new());
        Self { path: path.into(), column: column.into(), hasher: RandomState::new(), seen, repeated }
    }

    /// Adds the id of a row; an error if it is empty, or if an earlier row has it.
    pub fn note(&mut self, id: &str, place: Place) -> Result<()> {
        if id.trim().is_empty() {
            bail!(
                "{}, {place}, column `{}`: nobody is named; give every row its own, or name the column that identifies \
                 people with --id",
                self.path.display(),
                escape_line(&self.column)
            );
        }
        if !self.add(id) {
            return Ok(());
        }
        let mut first = None;
        // The hash of another id before may be the same.
        self.for_each_repeated(|repeated| {
            if repeated.place == place {
                first = Some(repeated.first);
            }
            repeated.place != place
        })?;
        let Some(first) = first else { return Ok(()) };
        bail!(
            "{}, {place}, column `{}`: `{}` is in {first} already; give every row its own, or name the column that \
             identifies people with --id",
            self.path.display(),
            escape_line(&self.column),
            escape_line(id)
        );
    }

    /// Adds the id of a row. Returns whether an earlier row has its hash.
    pub fn add(&mut self, id: &str) -> bool {
        let hash = self.hasher.hash_one(id);
        let is_known = !self.seen.insert(hash);
        if is_known {
            self.repeated.insert(hash);
        }
        is_known
    }

    /// Calls `each` for every row whose id an earlier row has, in order, until it returns false. Reads the
    /// table once; not at all if no hash was added twice.
    pub fn for_each_repeated(&self, mut each: impl FnMut(Repeated) -> bool) -> Result<(), TableError> {
        if self.repeated.is_empty() {
            return Ok(());
        }
        let mut firsts: HashMap<String, Place> = HashMap::new();
        for batch in Table::open(&self.path)?.select(&[], &[&self.column])? {
            let batch = batch?;
            for (id, &place) in batch.texts[0].iter().zip(&batch.places) {
                if !self.repeated.contains(&self.hasher.hash_one(id)) {
                    continue;
                }
                match firsts.get(id) {
                    Some(&first) if !each(Repeated { id: id.clone(), place, first }) => return Ok(()),
                    Some(_) => {}
                    None => {
                        firsts.insert(id.clone(), place);
                    }
                }
            }
        }
        Ok(())
    }
}
