//! What a command reads and what it writes: no output replaces a file that is read or another output,
//! and that it can be written is seen before any time is spent.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use surefoot::ProblemFile;
use surefoot::file::destination;
use surefoot::problem::EquationForm;

/// Files that a command reads and files that it will write, each with its word in messages.
#[derive(Clone, Default)]
pub struct Outputs {
    taken: Vec<(String, Identity)>,
}

impl Outputs {
    /// Adds a file that is read, or that another part of a problem needs. One that is not there
    /// cannot be replaced.
    pub fn keep(mut self, what: &str, path: &Path) -> Self {
        self.taken.extend(identity(path).ok().map(|identity| (what.to_owned(), identity)));
        self
    }

    /// Adds a problem file and every file that it names.
    pub fn keep_problem(self, file: &ProblemFile) -> Self {
        self.keep("the problem file", file.path()).keep_equations(file).keep_classifier(file)
    }

    /// Adds the networks of a problem's equations.
    pub fn keep_equations(self, file: &ProblemFile) -> Self {
        file.equation_entries().iter().fold(self, |outputs, entry| match &entry.form {
            EquationForm::Network { network, .. } => {
                let what = format!("the network of the equation of `{}`", entry.feature);
                outputs.keep(&what, &file.folder().path().join(&network.path))
            }
            EquationForm::Formula { .. } | EquationForm::Linear { .. } => outputs,
        })
    }

    /// Adds the files of a problem's classifier.
    pub fn keep_classifier(self, file: &ProblemFile) -> Self {
        file.classifier_files().iter().fold(self, |outputs, path| {
            outputs.keep("a file of the classifier", &file.folder().path().join(path))
        })
    }

    /// Adds an output. Refuses one that would replace any of the others, or that is a folder, or
    /// for which there is no folder.
    pub fn check(mut self, option: &str, path: &Path) -> Result<Self> {
        let shown = path.display();
        if path.is_dir() {
            bail!("{option} {shown}: is a folder and cannot be written; name a file in it");
        }
        let identity = match identity(path) {
            Ok(identity) => identity,
            Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
                "{option} {shown}: cannot be written, since its folder does not exist; create the folder, or \
                 give another one"
            ),
            Err(error) => bail!("{option} {shown}: cannot be written: {error}"),
        };
        if let Some((what, _)) = self.taken.iter().find(|(_, taken)| *taken == identity) {
            bail!("{option} {shown}: is {what}, which it would replace; give another name");
        }
        self.taken.push((format!("what {option} writes"), identity));
        Ok(self)
    }
}

/// Which file a path leads to, whatever the path looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// One that exists: on Unix its device and its number there.
    #[cfg(unix)]
    Existing(u64, u64),
    /// A place, by the resolved path of its folder.
    Place(PathBuf),
}

/// Which file a path leads to through all links. It need not exist, but its folder must.
fn identity(path: &Path) -> io::Result<Identity> {
    match std::fs::metadata(path) {
        Ok(found) => existing(path, &found),
        Err(_) => {
            let path = destination(path)?;
            let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
            Ok(Identity::Place(folder(&path)?.join(name)))
        }
    }
}

#[cfg(unix)]
fn existing(_path: &Path, found: &Metadata) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    Ok(Identity::Existing(found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn existing(path: &Path, _found: &Metadata) -> io::Result<Identity> {
    std::fs::canonicalize(path).map(Identity::Place)
}

fn folder(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::canonicalize(folder.unwrap_or(Path::new(".")))
}

/// Whether two paths lead to one file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

/// Where networks go unless it is said: `loan.toml` has `loan.classifier.safetensors`, so that
/// problems in one folder do not share one.
pub fn beside(problem: &Path, what: &str) -> PathBuf {
    problem.with_extension(format!("{what}.safetensors"))
}

/// Refuses a problem file that cannot be written into.
pub fn editable(problem: &Path) -> Result<()> {
    if problem.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        bail!("{}: is JSON, which this command cannot edit; write the problem as TOML", problem.display());
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
    use std::os::unix::fs::symlink;

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
        std::fs::hard_link(&table, root.path().join("hard")).unwrap();
        symlink("more/../people.csv", root.path().join("soft")).unwrap();
        for (name, words) in [
            ("people.csv", "is the table"),
            ("hard", "is the table"),
            ("soft", "is the table"),
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
        // Also where neither exists yet, and one is a link to the other.
        symlink("log.csv", root.path().join("later")).unwrap();
        let twice = Outputs::default().check("--log", &log).unwrap();
        let twice = twice.check("--output", &root.path().join("later"));
        assert!(twice.err().unwrap().to_string().contains("what --log writes"));
    }
}
