//! Files that stay behind when their process ends early, so that a later run continues them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::is_at;

/// A file that only its owner may read and that one process at a time may write.
///
/// It is locked for as long as it is open. Unlike an [`AtomicFile`](super::AtomicFile) it stays where it is
/// when the process ends, by an error or by a signal, until [`KeptFile::remove`] is called.
#[derive(Debug)]
pub struct KeptFile {
    path: PathBuf,
    file: File,
}

impl KeptFile {
    /// Creates an empty file. A file or link of that name is removed first, unless a process has it open as
    /// a kept file.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process writes it.
    pub fn create(path: &Path) -> io::Result<Self> {
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => Self::open(path)?.remove()?,
            // A link is removed, and never followed.
            Ok(_) => std::fs::remove_file(path)?,
            Err(_) => {}
        }
        let mut options = options();
        options.create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::lock(path, options.open(path)?)
    }

    /// Opens an existing file, at its start. Others than its owner may not read it from now on.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it does not exist, [`io::ErrorKind::WouldBlock`] if another process
    /// writes it, and an error if it is not a regular file or belongs to somebody else.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !std::fs::symlink_metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut options = options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(path)?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        Self::lock(path, file)
    }

    fn lock(path: &Path, file: File) -> io::Result<Self> {
        // Other errors come from file systems without locks.
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if is_taken || !is_at(&file, path) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Self { path: path.into(), file })
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Removes the file, unless its name belongs to another file by now.
    pub fn remove(self) -> io::Result<()> {
        if is_at(&self.file, &self.path) { std::fs::remove_file(&self.path) } else { Ok(()) }
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.csv.part");
        assert_eq!(KeptFile::open(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        let first = KeptFile::create(&path).unwrap();
        first.file().write_all(b"one").unwrap();
        for taken in [KeptFile::create(&path), KeptFile::open(&path)] {
            assert_eq!(taken.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        }
        drop(first);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        drop(KeptFile::open(&path).unwrap());
        let second = KeptFile::create(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
        second.remove().unwrap();
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_others_cannot_read() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("a.part"), folder.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        symlink(&victim, &path).unwrap();
        assert!(KeptFile::open(&path).is_err());
        let kept = KeptFile::create(&path).unwrap();
        kept.file().write_all(b"new").unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        drop(kept);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let kept = KeptFile::open(&path).unwrap();
        assert_eq!(mode(), 0o600);
        // A name that belongs to another file by now stays.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "other").unwrap();
        kept.remove().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
    }
}
