//! The search path for the public files.

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
    /// The files of one folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folders: vec![folder.into()] }
    }

    /// The files in the folder that the variable `SUREFOOT_DATA` names; without it, those in `shared/data`
    /// beside the checkout if it exists, and in the download folder of `surefoot data fetch`.
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

    /// The files, for tests that are ignored where one is missing.
    ///
    /// # Panics
    /// If a file is missing.
    pub fn required() -> Self {
        let files = Self::locate();
        for data in DataSet::ALL {
            for file in data.entry().files {
                let path = files.path(data.entry(), file);
                assert!(path.is_ok(), "{}", DataError::missing(data.entry(), file, &files.folders));
            }
        }
        files
    }

    /// The default download folder of `surefoot data fetch`: the folder that the variable `SUREFOOT_DATA`
    /// names, or else `surefoot` in the user's folder for application data (`$XDG_DATA_HOME`,
    /// `~/.local/share`; `%LOCALAPPDATA%` on Windows).
    pub fn download_folder() -> PathBuf {
        if let Some(folder) = given(VARIABLE) {
            return folder;
        }
        let programs = if cfg!(windows) { given("LOCALAPPDATA") } else { given("XDG_DATA_HOME") };
        let home = || std::env::home_dir().unwrap_or_default().join(".local/share");
        programs.unwrap_or_else(home).join("surefoot")
    }

    /// The folders, in the order of the search.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The path of a file of a data set.
    pub fn path(&self, entry: &Entry, file: &PublicFile) -> Result<PathBuf> {
        let names = || [Some(file.name), file.published_as].into_iter().flatten();
        let all = self.folders.iter().flat_map(|folder| names().map(move |name| folder.join(name)));
        let found = all.into_iter().find(|path: &PathBuf| Path::is_file(path));
        found.ok_or_else(|| DataError::missing(entry, file, &self.folders))
    }
}

/// The folder that an environment variable names, if it is set.
fn given(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}
