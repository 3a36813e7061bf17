//! Errors in the files of a data set, with file, line, column and remedy.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Entry, PublicFile};

/// Errors in the files of a data set.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named by the message of their variant")]
pub enum DataError {
    /// A file is missing.
    #[error(
        "{file}: is not in {}; get it with `surefoot data fetch {data}`, or download {address}{} \
         yourself (SHA-256 {sha256}) and name its folder with --data or in SUREFOOT_DATA",
        folders(looked_in), within(*member)
    )]
    Missing {
        data: &'static str,
        file: &'static str,
        looked_in: Vec<PathBuf>,
        address: &'static str,
        member: Option<&'static str>,
        sha256: &'static str,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// A column is missing.
    #[error("{}, line 1: has no column `{column}`; {REMEDY}", path.display())]
    Column { path: PathBuf, column: String },
    /// A line has too few or too many cells.
    #[error("{}, line {line}: has {found} cells rather than {expected}; {REMEDY}", path.display())]
    LineLength { path: PathBuf, line: u64, expected: u64, found: u64 },
    /// A line is not UTF-8.
    #[error("{}, line {line}: is not UTF-8; {REMEDY}", path.display())]
    Encoding { path: PathBuf, line: u64 },
    /// A cell has an unexpected content.
    #[error(
        "{}, line {line}, column `{column}`: `{found}` is not {expected}; {REMEDY}",
        path.display()
    )]
    Cell { path: PathBuf, line: u64, column: String, found: String, expected: &'static str },
    /// A file has too few people for a standard deviation.
    #[error("{}: has {found} usable people; there must be two at least; {REMEDY}", path.display())]
    TooFewPeople { path: PathBuf, found: usize },
    /// A file is not a numpy file, or has another type or shape.
    #[error("{}: is no numpy file of {expected}: {reason}; {REMEDY}", path.display())]
    Numpy { path: PathBuf, expected: &'static str, reason: String },
    /// The engine refuses the content.
    #[error("{}: {source}; {REMEDY}", path.display())]
    Refused { path: PathBuf, source: Box<surefoot::Error> },
}

/// The remedy for a file that differs from the published one.
const REMEDY: &str = "`surefoot data list` says whether this is the published file";

impl DataError {
    pub(super) fn missing(entry: &Entry, file: &PublicFile, looked_in: &[PathBuf]) -> Self {
        DataError::Missing {
            data: entry.name,
            file: file.name,
            looked_in: looked_in.to_vec(),
            address: file.address,
            member: file.member,
            sha256: file.sha256,
        }
    }

    pub(super) fn read(path: &Path, source: std::io::Error) -> Self {
        DataError::Read { path: path.into(), source }
    }

    pub(super) fn refused(path: &Path, source: surefoot::Error) -> Self {
        DataError::Refused { path: path.into(), source: source.into() }
    }
}

fn folders(looked_in: &[PathBuf]) -> String {
    let names: Vec<String> = looked_in.iter().map(|folder| folder.display().to_string()).collect();
    names.join(" nor in ")
}

fn within(member: Option<&str>) -> String {
    member.map_or_else(String::new, |member| format!(" and take {member} from it"))
}
