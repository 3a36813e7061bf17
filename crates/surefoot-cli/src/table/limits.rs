//! How much memory a table may ask for.

use std::env;

use super::{Result, TableError};

/// Limits on what a Parquet or Arrow file, however small, may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that what is decoded at a time may take: a batch of an Arrow file with the dictionaries
    /// it refers to, or the pages of a Parquet file that are read together.
    pub memory: u64,
    /// Bytes of one cell that is read as text.
    pub cell: usize,
}

/// The variable that sets [`Limits::memory`], in megabytes.
pub const MEMORY_VARIABLE: &str = "SUREFOOT_TABLE_MB";

/// The variable that sets [`Limits::cell`], in bytes.
pub const CELL_VARIABLE: &str = "SUREFOOT_CELL_BYTES";

const MEGABYTE: u64 = 1 << 20;

impl Default for Limits {
    /// 512 MB, which leaves room for everything else below one gigabyte, and cells of 4 KB, of which a
    /// batch has 32 MB in each column.
    fn default() -> Self {
        Self { memory: 512 * MEGABYTE, cell: 4096 }
    }
}

impl Limits {
    /// The limits that the environment sets, and the defaults for what it does not set.
    pub fn from_environment() -> Result<Self> {
        let default = Self::default();
        let memory = number(MEMORY_VARIABLE)?.map_or(default.memory, |count| count.saturating_mul(MEGABYTE));
        let cell =
            number(CELL_VARIABLE)?.map_or(default.cell, |count| count.try_into().unwrap_or(usize::MAX));
        Ok(Self { memory, cell })
    }

    /// Bytes that the description of a table may take: names, types, and where its parts are. Decoded it
    /// takes up to twenty times as much.
    pub(super) fn description(&self) -> u64 {
        self.memory / 16
    }
}

/// A positive whole number from the environment.
fn number(variable: &'static str) -> Result<Option<u64>> {
    let Some(value) = env::var_os(variable) else { return Ok(None) };
    let value = value.to_string_lossy();
    match value.trim().parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(TableError::Setting { variable, value: value.into_owned() }),
    }
}
