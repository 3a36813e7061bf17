//! The folder of letters: complete or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use surefoot::report::letter::{FileNames, Format, Letter};
use tempfile::TempDir;

use super::Form;
use crate::formulas;
use crate::table::{Column, Values, Writer};

/// The file of proofs.
pub const PROOFS: &str = "proofs.jsonl";
/// The table of letters.
const TABLE: &str = "letters.csv";

/// A folder that is written under another name beside its place, and gets its own when it is complete.
pub struct Folder {
    path: PathBuf,
    form: Form,
    temporary: TempDir,
    names: FileNames,
    /// All letters of a format that has one file.
    together: Option<BufWriter<File>>,
    has_started: bool,
    proofs: BufWriter<File>,
    has_proofs: bool,
    table: Writer,
}

impl Folder {
    /// Starts a folder. It is for its owner alone, since letters hold personal data.
    pub fn create(path: &Path, form: Form) -> Result<Self> {
        let shown = path.display();
        match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => bail!(
                "--output {shown}: the folder is not empty, and no letter is overwritten; name a new folder, or empty \
                 this one"
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                bail!("--output {shown}: is a file; name a folder")
            }
            Err(error) => bail!("--output {shown}: cannot be read: {error}"),
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".surefoot-letters-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let temporary = builder.tempdir_in(parent).map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotFound => anyhow!(
                    "--output {shown}: cannot be written, since the folder that it is in does not exist; create it, \
                     or give another one"
                ),
                _ => anyhow!("--output {shown}: cannot be written: {error}"),
            }
        })?;
        let together = match form {
            Form::Files(Format::Document) => Some("letters.html"),
            Form::Files(Format::Json) => Some("letters.jsonl"),
            Form::Files(Format::Text | Format::Html) | Form::Table => None,
        };
        let new = |name: &str| new_file(&temporary.path().join(name)).map(BufWriter::new);
        let last = if form == Form::Table { "letter" } else { "file" };
        let columns = ["id", "status", "reference", last].map(|name| (name, Column::Text));
        let table = Writer::create(temporary.path().join(TABLE), &columns)?;
        Ok(Self {
            path: path.to_owned(),
            form,
            names: FileNames::default(),
            together: together.map(new).transpose()?,
            has_started: false,
            proofs: new(PROOFS)?,
            has_proofs: false,
            table,
            temporary,
        })
    }

    /// Where the folder is until it is complete.
    pub fn temporary(&self) -> PathBuf {
        self.temporary.path().to_owned()
    }

    /// Adds a letter with the lines of its proofs.
    pub fn add(&mut self, letter: &Letter, text: &str, proofs: &str) -> Result<()> {
        let last = match (self.form, &mut self.together) {
            (Form::Table, _) => text.to_owned(),
            (Form::Files(format), Some(together)) => {
                if format == Format::Document && !self.has_started {
                    // The head of a document has the words of its first letter.
                    let head = format.start(letter.language, letter.words.title);
                    together.write_all(head.as_bytes())?;
                }
                self.has_started = true;
                together.write_all(text.as_bytes())?;
                if format == Format::Document { "letters.html" } else { "letters.jsonl" }.into()
            }
            (Form::Files(format), None) => {
                let ending = if format == Format::Html { "html" } else { "txt" };
                let name = format!("{}.{ending}", self.names.name(&letter.id));
                let path = self.temporary.path().join(&name);
                let written = new_file(&path)?.write_all(text.as_bytes());
                written.with_context(|| format!("{} cannot be written", path.display()))?;
                name
            }
        };
        self.has_proofs |= !proofs.is_empty();
        self.proofs.write_all(proofs.as_bytes())?;
        let reference = letter.reference.clone();
        let cells = [Some(letter.id.clone()), Some(letter.status.to_owned()), reference, Some(last)];
        let row: Vec<Values> = cells.into_iter().map(|cell| Values::Texts(vec![cell])).collect();
        self.table.write(&row)?;
        Ok(())
    }

    /// Completes the folder and gives it its name.
    pub fn finish(mut self) -> Result<()> {
        if let Some(mut together) = self.together.take() {
            if self.has_started {
                together.write_all(self.form.format().end().as_bytes())?;
            }
            together.flush()?;
        }
        self.proofs.flush()?;
        formulas::finish(self.table, &self.path.join(TABLE))?;
        if !self.has_proofs {
            fs::remove_file(self.temporary.path().join(PROOFS))?;
        }
        let written = || format!("{} cannot be written", self.path.display());
        // An empty folder of that name gives way; one that was filled meanwhile does not.
        match fs::remove_dir(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(written),
            _ => {}
        }
        fs::rename(self.temporary.path(), &self.path).with_context(written)?;
        // It has its name now.
        let _ = self.temporary.keep();
        Ok(())
    }
}

/// A new file for its owner alone; never one that exists.
fn new_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("{} cannot be written", path.display()))
}
