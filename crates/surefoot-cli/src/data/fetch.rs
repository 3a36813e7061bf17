//! Downloads of public files.
//!
//! A file is kept in memory until it is whole and its checksum is right, then written atomically.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use surefoot::file::{Audience, write_atomically};
use surefoot_paper::data::{Entry, Files, PublicFile};
use ureq::Agent;
use zip::ZipArchive;

use super::checksum;

/// The largest archive that is taken.
const LARGEST_ARCHIVE: u64 = 64 << 20;

/// Downloads a file into a folder unless it is there; says where it is and whether it was
/// downloaded.
pub fn fetch(entry: &Entry, file: &PublicFile, folder: &Path, address: &str) -> Result<(PathBuf, bool)> {
    if let Ok(path) = Files::in_folder(folder).path(entry, file) {
        let found =
            checksum::of_file(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        if found != file.sha256 {
            bail!(
                "{}: is not the published file (its SHA-256 is {found} rather than {}); \
                 rename or remove it, or give another folder with --data",
                path.display(),
                file.sha256
            );
        }
        return Ok((path, false));
    }
    let path = folder.join(file.name);
    let content = download(file, address)
        .and_then(|bytes| whole(file, bytes))
        .map_err(|error| anyhow!("{address}: {error:#}; {}", by_hand(file, &path)))?;
    save(&path, &content).with_context(|| format!("{}: cannot be written", path.display()))?;
    Ok((path, true))
}

/// What to do where a download fails.
fn by_hand(file: &PublicFile, path: &Path) -> String {
    let member = file.member.map_or_else(String::new, |member| format!(", take {member} from it"));
    format!(
        "nothing was written; try again, or download {}{member} and save it as {} ({} bytes, SHA-256 {})",
        file.address,
        path.display(),
        file.size,
        file.sha256
    )
}

/// What a server sends.
fn download(file: &PublicFile, address: &str) -> Result<Vec<u8>> {
    let settings = Agent::config_builder()
        .timeout_resolve(Some(Duration::from_secs(30)))
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .user_agent(concat!("surefoot/", env!("CARGO_PKG_VERSION")))
        .build();
    let answer = settings.new_agent().get(address).call().map_err(|error| match error {
        ureq::Error::StatusCode(code) => anyhow!("the server answered with status {code}"),
        error => anyhow!(error),
    })?;
    let mut body = answer.into_body();
    let announced = body.content_length();
    let bar = ProgressBar::new(announced.unwrap_or(file.size));
    bar.set_style(ProgressStyle::with_template("{msg} [{bar:30}] {bytes} of {total_bytes}, {eta} left")?);
    bar.set_message(file.name);
    // One byte too many is enough to know that it is something else.
    let most = if file.member.is_some() { LARGEST_ARCHIVE } else { file.size } + 1;
    let mut bytes = Vec::new();
    let read = bar.wrap_read(body.as_reader().take(most)).read_to_end(&mut bytes);
    bar.finish_and_clear();
    read.with_context(|| {
        let expected = announced.map_or_else(String::new, |length| format!(" of {length}"));
        format!("the download ended early, after {}{expected} bytes", bytes.len())
    })?;
    Ok(bytes)
}

/// The file itself, taken out of its archive if it comes in one, and certainly the published one.
fn whole(file: &PublicFile, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let content = match file.member {
        // A mirror may have the file as it is.
        Some(member) if bytes.starts_with(b"PK") => {
            let mut archive = ZipArchive::new(Cursor::new(bytes)).context("is not a complete zip archive")?;
            let inside = archive.by_name(member).with_context(|| format!("does not contain {member}"))?;
            let mut content = Vec::new();
            inside.take(file.size + 1).read_to_end(&mut content).context("is not a complete zip archive")?;
            content
        }
        _ => bytes,
    };
    let found = checksum::of_bytes(&content);
    if found != file.sha256 {
        let size = match content.len() as u64 {
            size if size > file.size => format!("more than {} bytes", file.size),
            size => format!("{size} bytes rather than {}", file.size),
        };
        bail!("this is not the published file: {size}, SHA-256 {found} rather than {}", file.sha256);
    }
    Ok(content)
}

/// Writes a file, and its folder if there is none.
fn save(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    write_atomically(path, content, Audience::Umask)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    const FILE: PublicFile = PublicFile {
        name: "abc.txt",
        published_as: None,
        address: "http://example.invalid/abc.zip",
        member: Some("abc.txt"),
        size: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    };

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn a_file_is_taken_out_of_its_archive() {
        let bytes = archive(&[("readme.txt", "read me"), ("abc.txt", "abc")]);
        assert_eq!(whole(&FILE, bytes.clone()).unwrap(), b"abc");
        assert_eq!(whole(&FILE, b"abc".to_vec()).unwrap(), b"abc");
        for length in 0..bytes.len() {
            assert!(whole(&FILE, bytes[..length].to_vec()).is_err(), "{length}");
        }
        let said = |files: &[(&str, &str)]| format!("{:#}", whole(&FILE, archive(files)).unwrap_err());
        assert!(said(&[("other.txt", "abc")]).contains("does not contain abc.txt"), "{}", said(&[]));
        assert!(said(&[("abc.txt", "abd")]).contains("3 bytes rather than 3, SHA-256"));
        assert!(said(&[("abc.txt", "abcabcabc")]).contains("more than 3 bytes"));
    }
}
