//! The files that remain after writing, with concurrent interference.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically(path, bytes, Audience::Umask)
}

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
        write(&at(name), b"after").unwrap();
        assert_eq!(fs::read(at(file)).unwrap(), b"after", "{name}");
    }
    assert!(["first", "second", "dangling"].map(at).iter().all(|link| link.is_symlink()));
    assert!(write(&at("circle"), b"").is_err() && at("circle").is_symlink());
    assert_eq!(names(&at("deep")), ["file", "new"]);
}

#[test]
fn devices_are_written_to() {
    assert!(is_special(Path::new("/dev/null")));
    write(Path::new("/dev/null"), b"nothing").unwrap();
    assert!(is_special(Path::new("/dev/null")));
}

#[test]
fn folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(write(folder.path(), b"").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    let nowhere = write(&folder.path().join("none/file"), b"").unwrap_err();
    assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn permissions_are_those_of_the_file_that_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for before in [0o600, 0o640, 0o644, 0o666, 0o400] {
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
        for audience in [Audience::Owner, Audience::Umask] {
            let file = AtomicFile::create(&path, audience).unwrap();
            file.writer().unwrap().write_all(b"after").unwrap();
            // Other users cannot read it before it has the permissions of the old file.
            let temporary = names(folder.path()).into_iter().find(|name| name != "file").unwrap();
            assert_eq!(mode(&folder.path().join(temporary)), 0o600);
            file.commit().unwrap();
            assert_eq!(mode(&path), before, "{audience:?}");
        }
        fs::remove_file(&path).unwrap();
    }
    write_atomically(&path, b"", Audience::Owner).unwrap();
    assert_eq!(mode(&path), 0o600);
    // Only the administrator can try this.
    if std::os::unix::fs::chown(&path, Some(12345), Some(23456)).is_ok() {
        write(&path, b"after").unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid(), mode(&path)), (12345, 23456, 0o600));
    }
    // The mode of a file that any other program creates.
    fs::write(folder.path().join("other"), "").unwrap();
    write(&folder.path().join("shared"), b"").unwrap();
    assert_eq!(mode(&folder.path().join("shared")), mode(&folder.path().join("other")));
}

#[test]
fn nothing_is_left_of_a_file_that_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "before").unwrap();
    let file = AtomicFile::create(&path, Audience::Owner).unwrap();
    file.writer().unwrap().write_all(b"half").unwrap();
    assert_eq!(names(folder.path()).len(), 2);
    drop(file);
    assert_eq!(names(folder.path()), ["file"]);
    // A folder, which cannot be replaced, is created at the destination meanwhile.
    let file = AtomicFile::create(&folder.path().join("other"), Audience::Owner).unwrap();
    fs::create_dir_all(folder.path().join("other/deep")).unwrap();
    assert!(file.commit().is_err());
    assert_eq!(names(folder.path()), ["file", "other"]);
    assert_eq!(fs::read(&path).unwrap(), b"before");
}

#[test]
fn leftovers_are_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let precious = ["file", "file.partial", "file.12345.partial", "file.abcdefABCDE_.partial", "victim"];
    let others = ["profile.abcdefABCDEF.partial", "file.abcdefABCDEF", "file.csv.abcdefABCDEF.partial"];
    for name in precious.iter().chain(&others) {
        fs::write(at(name), name).unwrap();
    }
    fs::create_dir(at("file.aFolderAFold.partial")).unwrap();
    symlink("victim", at("file.aLinkALinkAL.partial")).unwrap();
    let kept = names(folder.path());
    fs::write(at("file.abcdefABCDEF.partial"), "killed").unwrap();
    fs::write(at("file.012345678901.partial"), "killed").unwrap();
    let living = AtomicFile::create(&at("file"), Audience::Umask).unwrap();
    let during = names(folder.path());
    assert_eq!(during.len(), kept.len() + 1, "{during:?}");
    // Another writer does not touch a file that the first one holds.
    write(&at("file"), b"second").unwrap();
    assert_eq!(names(folder.path()), during);
    living.writer().unwrap().write_all(b"first").unwrap();
    living.commit().unwrap();
    assert_eq!(names(folder.path()), kept);
    assert_eq!(fs::read(at("file")).unwrap(), b"first");
    assert_eq!(fs::read(at("victim")).unwrap(), b"victim");
    let removed = removed_leftovers();
    for name in ["file.abcdefABCDEF.partial", "file.012345678901.partial"] {
        assert!(removed.iter().any(|path| path.ends_with(name) && path.starts_with(folder.path())), "{name}");
    }
}

/// Many concurrent writers of one file: each succeeds, and the file is complete at any moment.
#[test]
fn writers_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let content = |writer: usize| format!("{writer}\n").repeat(1000).into_bytes();
    write(&path, &content(0)).unwrap();
    std::thread::scope(|scope| {
        for writer in 1..=8 {
            let (path, content) = (&path, &content);
            scope.spawn(move || {
                for _ in 0..50 {
                    write(path, &content(writer)).unwrap();
                    let found = fs::read(path).unwrap();
                    assert!((0..=8).any(|writer| found == content(writer)), "{} bytes", found.len());
                }
            });
        }
    });
    assert_eq!(names(folder.path()), ["file"]);
}
