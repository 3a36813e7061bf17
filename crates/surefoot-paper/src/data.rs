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
pub use table::{Origin, Period, Table};

/// The result type of this module.
pub type Result<T> = std::result::Result<T, DataError>;

/// A causal graph: features with their direct causes. Features that are not listed are roots.
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

/// The catalogue entry of a data set, a constant in its file.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name that commands and files use.
    pub name: &'static str,
    /// A title.
    pub title: &'static str,
    /// A description: people, features, and the favourable outcome.
    pub about: &'static str,
    /// Who publishes it, and which public file this is.
    pub origin: &'static str,
    /// Its licence, or the terms under which it may be used.
    pub terms: &'static str,
    /// The files that are read.
    pub files: &'static [PublicFile],
    /// The causal graph; `None` if none is known.
    pub graph: Graph,
    read: fn(&Files) -> Result<Table>,
}

/// A public file of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicFile {
    /// Its name in a data folder.
    pub name: &'static str,
    /// The publisher's name for it if that differs; the file is also found by this name.
    pub published_as: Option<&'static str>,
    /// The address of the download.
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

    /// The paper's causal graph; `None` where it has no causal model, so that features change
    /// independently.
    pub fn graph(self) -> Graph {
        self.entry().graph
    }

    /// Reads and processes its files as the paper does.
    ///
    /// Real-valued features are standardised (standard deviations divide by N - 1); binary ones and codes
    /// are left as they are. Loan, which needs no file, is the authors' sample if that exists, and
    /// otherwise a sample of the model: see [`Table::origin`].
    pub fn read(self, files: &Files) -> Result<Table> {
        (self.entry().read)(files)
    }
}

impl fmt::Display for DataSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
