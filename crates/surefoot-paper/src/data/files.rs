//! Where the public files are.

use std::path::{Path, PathBuf};

use super::{DataError, DataSet, Entry, PublicFile, Result};

/// The variable that names the folder with the files.
const VARIABLE: &str = "SUREFOOT_DATA";

/// The folders in which the public files are looked for, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    folders: Vec<PathBuf>,
}

impl Files {
    /// Those in one folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folders: vec![folder.into()] }
    }

    /// Those in the folder that the variable `SUREFOOT_DATA` names; without it, in `shared/data`
    /// beside the checkout if there is one, and where `surefoot data fetch` puts them.
    pub fn locate() -> Self {
        if let Some(folder) = given(VARIABLE) {
            return Self::in_folder(folder);
        }
        let here = std::env::current_dir().unwrap_or_default();
        let beside = here.ancestors().map(|folder| folder.join("shared/data"));
        let mut folders: Vec<PathBuf> = beside.filter(|folder| folder.is_dir()).take(1).collect();
        folders.push(Self::download_folder());
        Self { folders }
    }

    /// The same for tests, which may do without them on somebody's own machine.
    ///
    /// # Panics
    /// If a file is missing and the variable `CI` is set.
    pub fn locate_or_skip() -> Option<Self> {
        let files = Self::locate();
        let missing = DataSet::ALL
            .into_iter()
            .flat_map(|data| data.entry().files.iter().map(move |file| (data.entry(), file)))
            .find_map(|(entry, file)| files.path(entry, file).err());
        let Some(missing) = missing else { return Some(files) };
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        eprintln!("skipped: {missing}");
        None
    }

    /// Where `surefoot data fetch` puts files unless told otherwise: the folder that the variable
    /// `SUREFOOT_DATA` names, or else `surefoot` among the data of the person's programs
    /// (`$XDG_DATA_HOME`, `~/.local/share`; `%LOCALAPPDATA%` on Windows).
    pub fn download_folder() -> PathBuf {
        if let Some(folder) = given(VARIABLE) {
            return folder;
        }
        let programs = if cfg!(windows) { given("LOCALAPPDATA") } else { given("XDG_DATA_HOME") };
        let home = || std::env::home_dir().unwrap_or_default().join(".local/share");
        programs.unwrap_or_else(home).join("surefoot")
    }

    /// The folders, in the order in which they are looked into.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Where a file of a data set is.
    pub fn path(&self, entry: &Entry, file: &PublicFile) -> Result<PathBuf> {
        let names = || [Some(file.name), file.published_as].into_iter().flatten();
        let all = self.folders.iter().flat_map(|folder| names().map(move |name| folder.join(name)));
        let found = all.into_iter().find(|path: &PathBuf| Path::is_file(path));
        found.ok_or_else(|| DataError::missing(entry, file, &self.folders))
    }
}

/// The folder that a variable names, if it does.
fn given(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}
