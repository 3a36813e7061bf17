//! `surefoot data`: the paper's data sets, where their files come from and how to get them.

mod checksum;
mod fetch;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use surefoot_paper::DataSet;
use surefoot_paper::data::{Entry, Files, PublicFile};
use textwrap::{WordSeparator, WordSplitter};

/// What `surefoot data` can be asked.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the data sets: contents, source and terms of the public files, and whether each file is
    /// there.
    List(List),
    /// Download the files of data sets and check that they are the published ones.
    Fetch(Fetch),
}

#[derive(Args)]
struct List {
    /// The folder with the files; if not given, the one that the variable SUREFOOT_DATA names,
    /// shared/data beside the checkout, or where `fetch` puts them.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Args)]
struct Fetch {
    /// The data sets: compas, adult, loan, german, bail.
    #[arg(required = true, value_name = "NAME", value_parser = data_set)]
    names: Vec<DataSet>,
    /// The folder to put the files into; if not given, the one that the variable SUREFOOT_DATA
    /// names, or else the folder for data of your programs.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to download the file instead, for example from a mirror. If this ends with `/`, the
    /// name of the file follows.
    #[arg(long)]
    url: Option<String>,
}

/// Columns of text.
const WIDTH: usize = 100;

/// Does what is asked and says what there is to say.
pub fn run(options: &Options) -> Result<String> {
    match &options.command {
        Command::List(options) => list(options),
        Command::Fetch(options) => fetch_all(options),
    }
}

fn data_set(name: &str) -> Result<DataSet, String> {
    let known: Vec<&str> = DataSet::ALL.iter().map(|data| data.name()).collect();
    DataSet::named(name).ok_or_else(|| format!("there are {}", known.join(", ")))
}

fn list(options: &List) -> Result<String> {
    let files = options.data.as_ref().map_or_else(Files::locate, Files::in_folder);
    let mut text = String::new();
    for data in DataSet::ALL {
        let entry = data.entry();
        writeln!(text, "{}: {}", entry.name, entry.title)?;
        write_wrapped(&mut text, "", entry.about)?;
        write_wrapped(&mut text, "From:", entry.origin)?;
        write_wrapped(&mut text, "Terms:", entry.terms)?;
        for file in entry.files {
            write_wrapped(&mut text, "File:", &format!("{}, {} bytes", file.name, grouped(file.size)))?;
            write_wrapped(&mut text, "", &format!("SHA-256 {}", file.sha256))?;
            write_wrapped(&mut text, "", &address(file))?;
            write_wrapped(&mut text, "Here:", &presence(entry, file, &files)?)?;
        }
        text.push('\n');
    }
    let folders: Vec<String> = files.folders().iter().map(|folder| folder.display().to_string()).collect();
    writeln!(text, "Looked in {}.", folders.join(", then "))?;
    Ok(text)
}

/// Where to download a file.
fn address(file: &PublicFile) -> String {
    let member = file.member.map_or_else(String::new, |member| format!(" (which contains {member})"));
    format!("{}{member}", file.address)
}

/// Whether a file is here, and the published one.
fn presence(entry: &Entry, file: &PublicFile, files: &Files) -> Result<String> {
    let Ok(path) = files.path(entry, file) else {
        return Ok(format!("no; get it with `surefoot data fetch {}`", entry.name));
    };
    let found = checksum::of_file(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
    Ok(if found == file.sha256 {
        format!("{}, the published file", path.display())
    } else {
        format!("{}, but not the published file: its SHA-256 is {found}", path.display())
    })
}

fn fetch_all(options: &Fetch) -> Result<String> {
    let folder = options.data.clone().unwrap_or_else(Files::download_folder);
    let files: Vec<(&Entry, &PublicFile)> = options
        .names
        .iter()
        .flat_map(|data| data.entry().files.iter().map(|file| (data.entry(), file)))
        .collect();
    if let Some(url) = &options.url
        && files.len() > 1
        && !url.ends_with('/')
    {
        bail!(
            "--url {url}: names one file, but {} are to be downloaded; end it with `/` to name a folder",
            files.len()
        );
    }
    let mut text = String::new();
    for (entry, file) in files {
        let address = match &options.url {
            Some(url) if url.ends_with('/') => format!("{url}{}", file.name),
            Some(url) => url.clone(),
            None => file.address.to_owned(),
        };
        let (path, fetched) = fetch::fetch(entry, file, &folder, &address)?;
        let done = if fetched { "downloaded" } else { "is already there" };
        writeln!(text, "{}: {done}; SHA-256 is that of the published file.", path.display())?;
    }
    if options.data.is_some() {
        writeln!(text, "To use this folder, give --data {} or set SUREFOOT_DATA.", folder.display())?;
    }
    Ok(text)
}

/// A paragraph under a heading, addresses unbroken.
fn write_wrapped(text: &mut String, heading: &str, paragraph: &str) -> std::fmt::Result {
    let first = format!("  {heading:<7}");
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(&first)
        .subsequent_indent("         ")
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    writeln!(text, "{}", textwrap::fill(paragraph, options))
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 8_128, 1_234_567].map(grouped), ["0", "999", "8,128", "1,234,567"]);
    }
}
