//! The paper's data sets: what they are, where their public files come from, and how those
//! become a table of standardised features, a causal graph and what people may change.
//!
//! ```no_run
//! use surefoot_paper::data::{DataSet, Files};
//!
//! let table = DataSet::Compas.read(&Files::locate())?;
//! println!("{} people, {} features", table.rows.nrows(), table.features.len());
//! # Ok::<(), surefoot_paper::data::DataError>(())
//! ```
//!
//! The files are not part of this project. [`Files`] says where they are looked for; the command
//! `surefoot data fetch` downloads them. Loan needs none.

mod error;
mod files;
mod text;
mod table;
mod npy;
mod compas;
mod adult;
mod loan;
mod german;
mod bail;

use std::fmt;

pub use error::DataError;
pub use files::Files;
pub use table::{Origin, Table};

/// What can come of reading data.
pub type Result<T> = std::result::Result<T, DataError>;

/// Who causes whom: features and their causes. Those not listed have none.
pub type Graph = &'static [(&'static str, &'static [&'static str])];

/// The paper's data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSet {
    /// COMPAS recidivism scores.
    Compas,
    /// Adult income.
    Adult,
    /// The synthetic Loan model.
    Loan,
    /// South German Credit.
    German,
    /// Bail, North Carolina.
    Bail,
}

/// What is known of a data set: one such constant in the file of each.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name that commands and files use.
    pub name: &'static str,
    /// A title.
    pub title: &'static str,
    /// Who the people are, what is known of them and which outcome is favourable.
    pub about: &'static str,
    /// Who publishes it, and which public file this is.
    pub origin: &'static str,
    /// Its licence, or the terms under which it may be used.
    pub terms: &'static str,
    /// The files that are read.
    pub files: &'static [PublicFile],
    /// Who causes whom; nothing if no causal model is known.
    pub graph: Graph,
    read: fn(&Files) -> Result<Table>,
}

/// A file that others publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicFile {
    /// What it is called in a folder of data.
    pub name: &'static str,
    /// What its publisher calls it, if otherwise; found by this name too.
    pub published_as: Option<&'static str>,
    /// Where to download it.
    pub address: &'static str,
    /// The file within a zip archive, if the address is that of one.
    pub member: Option<&'static str>,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: &'static str,
}

impl DataSet {
    /// All of them, in the paper's order.
    pub const ALL: [DataSet; 5] =
        [DataSet::Compas, DataSet::Adult, DataSet::Loan, DataSet::German, DataSet::Bail];

    /// The catalogue.
    pub fn entry(self) -> &'static Entry {
        match self {
            DataSet::Compas => &compas::ENTRY,
            DataSet::Adult => &adult::ENTRY,
            DataSet::Loan => &loan::ENTRY,
            DataSet::German => &german::ENTRY,
            DataSet::Bail => &bail::ENTRY,
        }
    }

    /// The name that commands and files use.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The data set of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|data| data.name() == name)
    }

    /// Who causes whom, as the paper has it; nothing where it knows of no causal model, so that
    /// features are changed independently of each other.
    pub fn graph(self) -> Graph {
        self.entry().graph
    }

    /// Reads and processes its files as the paper does.
    ///
    /// Real-valued features are standardised (standard deviations divide by N - 1); binary ones
    /// and codes are left as they are. Loan, which needs no file, is the authors' sample if that
    /// is there, and otherwise drawn: see [`Table::origin`].
    pub fn read(self, files: &Files) -> Result<Table> {
        (self.entry().read)(files)
    }
}

impl fmt::Display for DataSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
