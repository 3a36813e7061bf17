//! Reads files by name: regular files of limited size only.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use super::is_at;

/// The maximum size of a file that is read as a whole (problem files and models): 1 GiB.
pub const MOST_BYTES: u64 = 1 << 30;

/// The reason why an existing file cannot be read.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// An error of the system.
    #[error("{}", match .0 { io::ErrorKind::NotFound => "there is no such file".to_owned(), other => other.to_string() })]
    System(io::ErrorKind),
    /// It is a folder, a pipe, a device or a socket.
    #[error("it is {0}; give a regular file")]
    Special(&'static str),
    /// It is larger than [`MOST_BYTES`].
    #[error("it has more than {MOST_BYTES} bytes")]
    TooLarge,
    /// It is not in the folder to which the reader is confined.
    #[error("it is outside the folder of the problem file, and only files in that folder may be read")]
    Outside,
}

impl From<ReadProblem> for io::Error {
    fn from(problem: ReadProblem) -> Self {
        match problem {
            ReadProblem::System(kind) => kind.into(),
            problem => io::Error::other(problem),
        }
    }
}

impl From<io::Error> for ReadProblem {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ReadProblem>());
        inner.cloned().unwrap_or(ReadProblem::System(error.kind()))
    }
}

/// Opens a regular file to read it. A pipe, on which opening would wait, or a device, which may have
/// no end, is refused.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening some devices has side effects; they are refused before.
    require_regular(&std::fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    // The file may have been replaced meanwhile.
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most [`MOST_BYTES`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_whole(open(path)?)
}

/// Reads a regular file of at most [`MOST_BYTES`] that holds UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// The content of an open file of at most [`MOST_BYTES`].
pub(crate) fn read_whole(file: File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    if size > MOST_BYTES {
        return Err(ReadProblem::TooLarge.into());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize)?;
    // The file may grow meanwhile, and the size of virtual files is unknown.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ReadProblem::TooLarge.into());
    }
    Ok(bytes)
}

fn require_regular(found: &Metadata) -> Result<(), ReadProblem> {
    if found.is_file() {
        return Ok(());
    }
    let kind = if found.is_dir() { "a folder" } else { special(found) };
    Err(ReadProblem::Special(kind))
}

#[cfg(unix)]
fn special(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special(_found: &Metadata) -> &'static str {
    "no regular file"
}

/// The folder of a problem file, from which the paths of models in it are resolved.
///
/// A confined one opens only files in that folder: absolute paths and `..` are refused without access to
/// the disk, and so are links that lead out of the folder. An unconfined one opens any regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFolder {
    path: PathBuf,
    is_confined: bool,
}

impl ModelFolder {
    /// A folder from which paths may lead anywhere.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_confined: false }
    }

    /// A confined folder, which no path may leave.
    pub fn confined(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_confined: true }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file by its path relative to the folder.
    pub fn open(&self, named: &Path) -> io::Result<File> {
        let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if self.is_confined && !named.components().all(stays) {
            return Err(ReadProblem::Outside.into());
        }
        let path = self.path.join(named);
        let file = open(&path)?;
        if self.is_confined && !is_inside(&file, &path, &resolved(&self.path)?) {
            return Err(ReadProblem::Outside.into());
        }
        Ok(file)
    }

    /// Reads a file that holds UTF-8 by its path relative to the folder.
    pub(crate) fn read_to_string(&self, named: &Path) -> io::Result<String> {
        String::from_utf8(read_whole(self.open(named)?)?).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Opens a file beside another. A link may lead only to the folder of that file, or to the folder of
    /// its target if it is a link.
    pub(crate) fn open_beside(&self, named: &Path, name: &str) -> io::Result<File> {
        let beside = named.with_file_name(name);
        let file = self.open(&beside)?;
        let (path, model) = (self.path.join(&beside), self.path.join(named));
        let folders = [model.parent().map(resolved), std::fs::canonicalize(&model)?.parent().map(resolved)];
        let is_there = folders.into_iter().flatten().flatten().any(|folder| {
            std::fs::canonicalize(&path).is_ok_and(|path| path.parent() == Some(&folder))
                && is_inside(&file, &path, &folder)
        });
        if is_there { Ok(file) } else { Err(ReadProblem::Outside.into()) }
    }
}

/// The path of a folder with all links resolved.
fn resolved(folder: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Whether an open file is in a folder once links are resolved. It is compared with the file at the
/// resolved path, because a link may have changed after the file was opened.
fn is_inside(file: &File, path: &Path, folder: &Path) -> bool {
    let Ok(path) = std::fs::canonicalize(path) else { return false };
    path.starts_with(folder) && is_at(file, &path)
}
