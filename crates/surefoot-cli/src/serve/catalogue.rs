//! The problems that are served, and their files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};
use surefoot::recourse::{Relaxed, Settings, Solver};
use surefoot::report::letter::Wording;
use surefoot::{Problem, ProblemFile};

use super::fault::Fault;

/// A problem as it was read. It never changes; a new content of its files is another one.
pub struct Served {
    /// Its name in requests.
    pub name: String,
    /// The problem.
    pub problem: Problem,
    /// A digest of the files that it was read from.
    pub digest: String,
    /// Own words for reasons and features.
    pub wording: Wording,
    /// Whether most people are answered by a closed form.
    pub is_closed_form: bool,
    relaxed: OnceLock<Vec<Relaxed>>,
}

impl Served {
    /// Reads a problem with everything that it names, and the files that were read.
    fn read(name: &str, path: &Path, reasons: Option<&Path>) -> Result<(Self, Vec<PathBuf>)> {
        // Whoever may write a problem file must not be able to have other files read.
        let file = ProblemFile::read_confined(path)?;
        let mut files = vec![path.to_owned()];
        let folder = path.parent().unwrap_or(Path::new(""));
        files.extend(file.named_files().into_iter().map(|named| folder.join(named)));
        files.extend(reasons.map(Path::to_owned));
        let problem = file.problem()?;
        let wording = match reasons {
            Some(path) => Wording::read(path, problem.features()).context("--reasons")?,
            None => Wording::default(),
        };
        let mut digest = Sha256::new();
        for file in &files {
            let bytes = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        }
        let digest = digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        // A problem that no method answers is refused before anybody asks.
        let is_closed_form = Solver::new(&problem, Settings::default())?.is_closed_form();
        let relaxed = OnceLock::new();
        let served = Self { name: name.into(), problem, digest, wording, is_closed_form, relaxed };
        Ok((served, files))
    }

    /// The problem without each of its restrictions in turn, for explanations.
    pub fn relaxed(&self) -> &[Relaxed] {
        self.relaxed.get_or_init(|| Relaxed::all(&self.problem))
    }
}

/// What of a file tells that it was changed: size, time and number.
#[derive(Clone, PartialEq)]
struct Stamp(Option<(u64, Option<SystemTime>, u64)>);

impl Stamp {
    fn of(path: &Path) -> Self {
        let stamp = |data: fs::Metadata| (data.len(), data.modified().ok(), number(&data));
        Self(fs::metadata(path).ok().map(stamp))
    }
}

#[cfg(unix)]
fn number(data: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(data)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}

/// A problem under its name.
#[derive(Clone)]
pub struct Entry {
    /// The problem that is served; none if its file never was valid.
    pub served: Option<Arc<Served>>,
    /// What is wrong with the present files, if the problem that was read before is still served.
    pub mistake: Option<String>,
    path: PathBuf,
    stamps: Vec<(PathBuf, Stamp)>,
}

/// Every problem by its name.
pub type Entries = BTreeMap<String, Entry>;

/// Where the problems are.
enum Place {
    /// One file, with own words for reasons.
    File(PathBuf, Option<PathBuf>),
    /// A folder of files and of folders with a `problem.toml`.
    Folder(PathBuf),
}

/// The problems that are served.
pub struct Catalogue {
    place: Place,
    entries: RwLock<Arc<Entries>>,
    /// The stamps of files that changed at the last look. They are read once they stay the same, since they may be
    /// half written.
    changing: Mutex<Vec<(PathBuf, Vec<Stamp>)>>,
}

/// Something that happened to a problem, for the log.
pub struct Change {
    /// The name of the problem.
    pub name: String,
    /// What is wrong with its files; `None` if it was read, or is gone.
    pub mistake: Option<String>,
}

impl Catalogue {
    /// Reads a problem file, or every one of a folder.
    ///
    /// # Errors
    /// If no problem is valid.
    pub fn open(path: &Path, reasons: Option<&Path>) -> Result<Self> {
        let place = match path.is_dir() {
            true if reasons.is_some() => {
                bail!("--reasons: is for one problem; give its file instead of a folder")
            }
            true => Place::Folder(path.to_owned()),
            false => Place::File(path.to_owned(), reasons.map(Path::to_owned)),
        };
        let catalogue = Self { place, entries: RwLock::default(), changing: Mutex::default() };
        if let Place::File(path, reasons) = &catalogue.place {
            // The mistakes of the only problem are the error.
            Served::read(&name_of(path)?, path, reasons.as_deref())?;
        }
        let changes = catalogue.read_changed(false)?;
        if catalogue.entries().values().all(|entry| entry.served.is_none()) {
            let first = changes.into_iter().find_map(|change| change.mistake);
            let why = first.unwrap_or_else(|| "there is neither a .toml file nor a folder with one".into());
            bail!("{}: holds no problem that can be served: {why}", path.display());
        }
        Ok(catalogue)
    }

    /// Every problem as it is now.
    pub fn entries(&self) -> Arc<Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A problem by its name, which may be left out if there is only one.
    pub fn find(&self, name: Option<&str>) -> Result<Arc<Served>, Fault> {
        let entries = self.entries();
        let served = |entry: &Entry| entry.served.clone();
        let found = match name {
            Some(name) => entries.get(name).and_then(served),
            None if entries.len() == 1 => entries.values().find_map(served),
            None => None,
        };
        found.ok_or_else(|| {
            let known = entries.iter().filter(|(_, entry)| entry.served.is_some());
            let known: Vec<String> = known.map(|(name, _)| format!("`{name}`")).collect();
            let known = known.join(", ");
            Fault::UnknownProblem(match name {
                Some(name) => format!(
                    "there is no problem `{}`; there are {known}",
                    surefoot::escape_line(&name.chars().take(100).collect::<String>())
                ),
                None => format!("say with `problem` which one is meant: {known}"),
            })
        })
    }

    /// Reads the problems whose files changed, and returns what happened. A problem that is invalid now stays as it
    /// was.
    ///
    /// # Errors
    /// If the folder cannot be read, or if two of its problems have one name.
    pub fn reload(&self) -> Result<Vec<Change>> {
        self.read_changed(true)
    }

    /// As [`Catalogue::reload`]; whether files are read only if they are the same as at the last look.
    fn read_changed(&self, waits: bool) -> Result<Vec<Change>> {
        let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let last = std::mem::take(&mut *changing);
        let (paths, reasons) = match &self.place {
            Place::File(path, reasons) => {
                (BTreeMap::from([(name_of(path)?, path.clone())]), reasons.as_deref())
            }
            Place::Folder(folder) => (problems_of(folder)?, None),
        };
        let before = self.entries();
        let (mut entries, mut changes) = (Entries::new(), Vec::new());
        for (name, path) in paths {
            let old = before.get(&name).filter(|entry| entry.path == path);
            let is_same = |entry: &&Entry| entry.stamps.iter().all(|(path, stamp)| Stamp::of(path) == *stamp);
            if let Some(entry) = old.filter(is_same) {
                entries.insert(name, entry.clone());
                continue;
            }
            let known = old.into_iter().flat_map(|old| old.stamps.iter().map(|(path, _)| path));
            let now: Vec<Stamp> = known.chain([&path]).map(|path| Stamp::of(path)).collect();
            if waits && !last.iter().any(|(of, stamps)| *of == path && *stamps == now) {
                changing.push((path, now));
                entries.extend(old.map(|old| (name, old.clone())));
                continue;
            }
            let entry = read_entry(&name, path, reasons, old);
            let is_news = old.is_none_or(|old| old.mistake != entry.mistake || entry.mistake.is_none());
            if is_news {
                changes.push(Change { name: name.clone(), mistake: entry.mistake.clone() });
            }
            entries.insert(name, entry);
        }
        let gone = before.keys().filter(|name| !entries.contains_key(*name));
        changes.extend(gone.map(|name| Change { name: name.clone(), mistake: None }));
        if !changes.is_empty() || entries.len() != before.len() {
            *self.entries.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(entries);
        }
        Ok(changes)
    }
}

/// Reads a problem; one that is invalid is replaced by the old one. Files that change while they are read are read
/// again at the next look.
fn read_entry(name: &str, path: PathBuf, reasons: Option<&Path>, old: Option<&Entry>) -> Entry {
    let stamp = |path: &PathBuf| (path.clone(), Stamp::of(path));
    let first = stamp(&path);
    // Only the files that were read before are known if these are invalid.
    let known = old.map_or(Vec::new(), |old| old.stamps.iter().map(|(path, _)| path.clone()).collect());
    let mut stamps: Vec<(PathBuf, Stamp)> = known.iter().map(stamp).collect();
    match Served::read(name, &path, reasons) {
        Ok((served, files)) => {
            stamps = files.iter().map(stamp).collect();
            let is_still = stamps.first() == Some(&first);
            if !is_still && let Some(stamp) = stamps.first_mut() {
                stamp.1 = Stamp(None);
            }
            Entry { served: Some(Arc::new(served)), mistake: None, path, stamps }
        }
        Err(error) => {
            if !stamps.iter().any(|(known, _)| *known == path) {
                stamps.push(first);
            }
            let served = old.and_then(|old| old.served.clone());
            Entry { served, mistake: Some(format!("{error:#}")), path, stamps }
        }
    }
}

/// The problems of a folder: `NAME.toml` and `NAME.json`, and `NAME/problem.toml`.
fn problems_of(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let cannot = || format!("{} cannot be read", folder.display());
    let mut problems: BTreeMap<String, PathBuf> = BTreeMap::new();
    let entries = fs::read_dir(folder).with_context(cannot)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()
        .with_context(cannot)?;
    paths.sort();
    for path in paths {
        let is_problem = path.extension().is_some_and(|ending| ending == "toml" || ending == "json");
        let path = match path.is_dir() {
            true => path.join("problem.toml"),
            false if is_problem => path,
            false => continue,
        };
        let is_hidden = path.strip_prefix(folder).is_ok_and(|rest| {
            rest.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
        });
        if is_hidden || !path.is_file() {
            continue;
        }
        let name = name_of(&path)?;
        if let Some(other) = problems.insert(name.clone(), path.clone()) {
            bail!("{} and {} are both called `{name}`; rename one", other.display(), path.display());
        }
    }
    Ok(problems)
}

/// The name of a problem: that of its file or, for `problem.toml`, of its folder.
fn name_of(path: &Path) -> Result<String> {
    let stem = |path: &Path| path.file_stem().map(|name| name.to_string_lossy().into_owned());
    let folder = || {
        let folder = fs::canonicalize(path).ok()?.parent()?.to_owned();
        folder.file_name().map(|name| name.to_string_lossy().into_owned())
    };
    let name = match stem(path) {
        Some(name) if name == "problem" => folder().or(Some(name)),
        name => name,
    };
    name.ok_or_else(|| anyhow!("{}: is no file; give a problem file or a folder", path.display()))
}
