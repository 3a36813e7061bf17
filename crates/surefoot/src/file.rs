//! Files that are written whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

/// Links followed before they are taken for a circle.
const MOST_LINKS: usize = 40;

/// Where what is written to a path ends up: at the end of its links, also where there is nothing
/// yet. Replacing a link by a file would leave what it points to as it was.
///
/// # Errors
/// If the links lead round in a circle.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = std::fs::read_link(&at) else { return Ok(at) };
        at = at.parent().map_or(next.clone(), |folder| folder.join(&next));
    }
    // The system has its own word for it.
    std::fs::metadata(path).map(|_| at)
}

/// The name under which a file is written until it is whole: in the same folder, so that it can be
/// renamed, and of this process alone.
pub fn aside(destination: &Path) -> PathBuf {
    let mut aside = destination.as_os_str().to_owned();
    aside.push(format!(".{}.partial", std::process::id()));
    aside.into()
}

/// Whether something is there that cannot be replaced by a file: a device, or a pipe. It is written
/// to as it is.
pub fn is_special(destination: &Path) -> bool {
    std::fs::metadata(destination).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Writes aside and renames, so that half a file is never left; permissions stay as they were.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = destination(path)?;
    if is_special(&path) {
        return std::fs::write(path, bytes);
    }
    let aside = aside(&path);
    let write = || {
        std::fs::write(&aside, bytes)?;
        if let Ok(before) = std::fs::metadata(&path) {
            std::fs::set_permissions(&aside, before.permissions())?;
        }
        std::fs::rename(&aside, &path)
    };
    // If it cannot be removed either there is nothing more to be done.
    write().inspect_err(|_| drop(std::fs::remove_file(&aside)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/file"), "before").unwrap();
        symlink("deep/file", at("first")).unwrap();
        symlink(at("first"), at("second")).unwrap();
        symlink("deep/new", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        for (name, file) in [("second", "deep/file"), ("dangling", "deep/new"), ("plain", "plain")] {
            write_whole(&at(name), b"after").unwrap();
            assert_eq!(fs::read(at(file)).unwrap(), b"after", "{name}");
        }
        assert!(["first", "second", "dangling"].map(at).iter().all(|link| link.is_symlink()));
        assert!(write_whole(&at("circle"), b"").is_err() && at("circle").is_symlink());
        assert_eq!(fs::read_dir(at("deep")).unwrap().count(), 2);
    }

    #[test]
    fn devices_are_written_to() {
        assert!(is_special(Path::new("/dev/null")));
        write_whole(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(is_special(Path::new("/dev/null")));
    }
}
