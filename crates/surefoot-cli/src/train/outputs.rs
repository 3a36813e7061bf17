//! Where results go: never over what is read, and seen to be possible before any time is spent.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Files that a command reads and files that it will write, each with its word in messages.
#[derive(Default)]
pub struct Outputs {
    taken: Vec<(String, PathBuf)>,
}

impl Outputs {
    /// Files that are read, or that other parts of a problem need.
    pub fn keep(mut self, what: &str, path: &Path) -> Self {
        self.taken.extend(place(path).map(|place| (what.to_owned(), place)));
        self
    }

    /// Refuses an output that would replace one of them, or for which there is no folder.
    pub fn check(mut self, option: &str, path: &Path) -> Result<Self> {
        let shown = path.display();
        if path.is_dir() {
            bail!("{option} {shown}: is a folder; name a file in it");
        }
        let Some(place) = place(path) else {
            bail!("{option} {shown}: its folder does not exist; make it first, or give another place");
        };
        if let Some((what, _)) = self.taken.iter().find(|(_, taken)| *taken == place) {
            bail!("{option} {shown}: is {what}, which it would replace; give another name");
        }
        self.taken.push((format!("what {option} writes"), place));
        Ok(self)
    }
}

/// The whole path of a file that need not exist in a folder that must.
fn place(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().or_else(|| Some(folder(path)?.join(path.file_name()?)))
}

fn folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok().filter(|folder| folder.is_dir())
}

/// Whether two paths are of one file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    place(a).is_some() && place(a) == place(b)
}

/// Where networks go unless it is said: `loan.toml` has `loan.classifier.safetensors`, so that
/// problems in one folder do not share one.
pub fn beside(problem: &Path, what: &str) -> PathBuf {
    problem.with_extension(format!("{what}.safetensors"))
}

/// Refuses a problem file that cannot be written into.
pub fn editable(problem: &Path) -> Result<()> {
    if problem.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        bail!(
            "{}: is JSON, which is read but never written into; write the problem as TOML",
            problem.display()
        );
    }
    Ok(())
}

/// A path as seen from a folder; the whole where the two have nothing in common.
pub fn relative(path: &Path, seen_from: &Path) -> Result<PathBuf> {
    let lost = || format!("{} cannot be found", path.display());
    let path = std::fs::canonicalize(path).with_context(lost)?;
    let from = folder(&seen_from.join("problem.toml")).with_context(lost)?;
    let common = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    if !path.components().take(common).any(|part| matches!(part, Component::Normal(_))) {
        return Ok(path);
    }
    let up = from.components().skip(common).map(|_| OsStr::new(".."));
    Ok(up.chain(path.components().skip(common).map(|part| part.as_os_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_as_seen_from_the_problem_file() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::create_dir(at("models")).unwrap();
        std::fs::write(at("models/m"), "").unwrap();
        std::fs::write(at("a/b/m"), "").unwrap();
        let seen = |path: &str, from: &str| relative(&at(path), &at(from)).unwrap();
        assert_eq!(seen("a/b/m", "a"), Path::new("b/m"));
        assert_eq!(seen("a/b/m", "a/b"), Path::new("m"));
        assert_eq!(seen("models/m", "a/b"), Path::new("../../models/m"));
        assert!(relative(&at("none"), &at("a")).is_err());
    }

    #[test]
    fn an_output_replaces_nothing_that_is_read() {
        let root = tempfile::tempdir().unwrap();
        let table = root.path().join("people.csv");
        std::fs::write(&table, "").unwrap();
        std::fs::create_dir(root.path().join("more")).unwrap();
        let check = |name: &str| {
            Outputs::default().keep("the table", &table).check("--log", &root.path().join(name)).map(|_| ())
        };
        for (name, words) in [
            ("people.csv", "is the table"),
            ("more/../people.csv", "is the table"),
            ("more", "is a folder"),
            ("none/log.csv", "folder does not exist"),
        ] {
            let said = check(name).unwrap_err().to_string();
            assert!(said.contains(words) && said.starts_with("--log "), "{said}");
        }
        check("log.csv").unwrap();
        let log = root.path().join("log.csv");
        let twice = Outputs::default().check("--log", &log).unwrap().check("--output", &log);
        assert!(twice.err().unwrap().to_string().contains("what --log writes"));
    }
}
