//! Atomic writes: a file is complete under its name, or it is not there.
//!
//! Content goes into a temporary file `<name>.<random>.partial` in the folder of the destination,
//! which is flushed to disk and then renamed. The temporary file is created exclusively, so that
//! an existing file or a planted link is never opened, and holds an advisory lock for as long as
//! its writer lives. The next writer of the same destination therefore recognises the temporary
//! files of runs that were killed: nobody holds their lock. It removes them and nothing else.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, TempPath};

use super::is_at;

/// The number of links after which a chain is considered a cycle; the limit of Linux.
const MOST_LINKS: usize = 40;

/// The number of random characters in the name of a temporary file.
const RANDOM_CHARACTERS: usize = 12;

/// The suffix of the name of a temporary file.
const SUFFIX: &str = ".partial";

/// The temporary files of this process.
static TEMPORARY: Mutex<Files> = Mutex::new(Files { own: Vec::new(), removed: Vec::new() });

struct Files {
    /// The existing ones. They are created and renamed while this list is locked, so that a holder of the
    /// lock sees all of them.
    own: Vec<PathBuf>,
    /// Files of killed runs that this process has removed.
    removed: Vec<PathBuf>,
}

fn with_files<T>(act: impl FnOnce(&mut Files) -> T) -> T {
    act(&mut TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes every temporary file of this process, then runs `last` before another one can be created
/// or renamed: for a process that is about to be ended by a signal.
pub fn with_temporary_files_removed<T>(last: impl FnOnce() -> T) -> T {
    with_files(|files| {
        for path in files.own.drain(..) {
            // A file that cannot be removed stays; there is no remedy here.
            let _ = std::fs::remove_file(path);
        }
        last()
    })
}

/// The temporary files of killed runs that this process has removed since it was last asked.
pub fn removed_leftovers() -> Vec<PathBuf> {
    with_files(|files| std::mem::take(&mut files.removed))
}

/// The permissions of a new file. A file that replaces another keeps the permissions of that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Readable by its owner only (mode 0600), because it holds personal data.
    Owner,
    /// Readable as the umask of the process allows.
    Umask,
}

/// A file that is written under a temporary name in the folder of its destination until
/// [`AtomicFile::commit`] gives it its own. Dropped before that, it is removed.
///
/// Devices and pipes cannot be replaced; they are written to directly.
#[derive(Debug)]
pub struct AtomicFile {
    destination: PathBuf,
    /// Locked for as long as it is open.
    file: File,
    /// None for devices and pipes, and once the file has its name.
    temporary: Option<TempPath>,
    /// The file at the destination at the start.
    replaced: Option<Metadata>,
}

impl AtomicFile {
    /// Starts a file. If the path is a link, its target is replaced and the link stays.
    ///
    /// # Errors
    /// If the path is a folder, if its folder does not exist or if it cannot be written to.
    pub fn create(path: &Path, audience: Audience) -> io::Result<Self> {
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { destination: path.into(), file, temporary: None, replaced: None });
        }
        let destination = destination(path)?;
        let replaced = std::fs::metadata(&destination).ok();
        if replaced.as_ref().is_some_and(Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A replacement is private until it gets the permissions of the old file.
        let audience = if replaced.is_some() { Audience::Owner } else { audience };
        let removed = remove_leftovers(&destination);
        let (file, temporary) = with_files(|files| {
            files.removed.extend(removed);
            let (file, temporary) = create_temporary(&destination, audience)?;
            files.own.push(temporary.to_path_buf());
            io::Result::Ok((file, temporary))
        })?;
        Ok(Self { destination, file, temporary: Some(temporary), replaced })
    }

    /// Another handle of the file, for writing.
    pub fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Flushes the file to disk and gives it its name and, if it replaces another file, the owner and
    /// permissions of that file.
    pub fn commit(mut self) -> io::Result<()> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        let path = temporary.to_path_buf();
        let prepared = self.prepare();
        let renamed = with_files(|files| {
            files.own.retain(|other| *other != path);
            // An error drops the temporary file, which removes it.
            prepared.and_then(|()| temporary.persist(&self.destination).map_err(|error| error.error))
        });
        renamed.and_then(|()| sync_folder(&self.destination))
    }

    fn prepare(&self) -> io::Result<()> {
        let replaced = std::fs::metadata(&self.destination).ok();
        if let Some(replaced) = replaced.as_ref().or(self.replaced.as_ref()) {
            adopt(&self.file, replaced)?;
        }
        self.file.sync_all()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            with_files(|files| {
                files.own.retain(|other| *other != *temporary);
                drop(temporary);
            });
        }
    }
}

/// Writes a file atomically; see [`AtomicFile`].
pub fn write_atomically(path: &Path, bytes: &[u8], audience: Audience) -> io::Result<()> {
    let file = AtomicFile::create(path, audience)?;
    (&file.file).write_all(bytes)?;
    file.commit()
}

/// The path at the end of a chain of links, whether or not a file is there.
///
/// # Errors
/// If the links form a cycle, or if the system does not allow following them.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    // The system refuses to follow links of other users in folders such as /tmp.
    if let Err(error) = std::fs::metadata(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = std::fs::read_link(&at) else { return Ok(at) };
        at = at.parent().map_or(next.clone(), |folder| folder.join(&next));
    }
    Err(io::Error::other("its links lead round in a circle"))
}

/// Whether a path leads to a device, a pipe or a socket, which a file cannot replace.
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new and locked file beside the destination.
fn create_temporary(destination: &Path, audience: Audience) -> io::Result<(File, TempPath)> {
    let Some(name) = destination.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    let mut prefix = name.to_owned();
    prefix.push(".");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(
        &mut options,
        match audience {
            Audience::Owner => 0o600,
            Audience::Umask => 0o666,
        },
    );
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM_CHARACTERS);
    let made = builder.make_in(folder_of(destination), |path| {
        let file = options.open(path)?;
        // Other errors come from file systems without locks, on which no writer considers the file a
        // leftover either.
        let is_taken = matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock));
        if is_taken || !is_at(&file, path) {
            // Another writer removed the file as a leftover before it was locked; the next name is tried.
            let _ = std::fs::remove_file(path);
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(file)
    })?;
    Ok(made.into_parts())
}

/// Removes the temporary files of killed runs for this destination.
fn remove_leftovers(destination: &Path) -> Vec<PathBuf> {
    let (Some(name), Ok(entries)) = (destination.file_name(), std::fs::read_dir(folder_of(destination)))
    else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let candidates = paths.filter(|path| path.file_name().is_some_and(|other| is_temporary(other, name)));
    candidates.filter(|path| remove_if_abandoned(path)).collect()
}

/// Whether a name has the form of temporary files of a destination.
fn is_temporary(name: &OsStr, destination: &OsStr) -> bool {
    let random = name
        .as_encoded_bytes()
        .strip_prefix(destination.as_encoded_bytes())
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARACTERS && random.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// Removes a regular file without a lock holder; returns whether it did.
fn remove_if_abandoned(path: &Path) -> bool {
    if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let Ok(file) = options.open(path) else { return false };
    // While it is locked here, its writer cannot lock it and continue.
    file.try_lock().is_ok() && is_at(&file, path) && std::fs::remove_file(path).is_ok()
}

/// Gives a file the owner, the group and the permissions of the one that it replaces.
#[cfg(unix)]
fn adopt(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    let mut mode = replaced.mode() & 0o777;
    let (user, group) = (replaced.uid(), replaced.gid());
    // Only the administrator may change the owner; the group may be changed to one of the user's own
    // groups.
    if (own.uid(), own.gid()) != (user, group)
        && fchown(file, Some(user), Some(group)).is_err()
        && fchown(file, None, Some(group)).is_err()
    {
        // The permissions of the old group do not apply to another group.
        mode &= !0o070;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn adopt(file: &File, replaced: &Metadata) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}

/// Flushes the entry of a file in its folder to disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    // A folder that may be written to but not listed cannot be opened.
    let Ok(folder) = File::open(folder_of(path)) else { return Ok(()) };
    match folder.sync_all() {
        // Some file systems cannot flush folders.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
#[path = "atomic_tests.rs"]
mod tests;
