//! `surefoot data`, run as people run it; downloads are from a server in the test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use command::text;
use surefoot_paper::DataSet;
use surefoot_paper::data::Files;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Serves one answer after the other, to one request each; says where, and what was asked for.
fn serve(answers: Vec<Vec<u8>>) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            asked.push(lines.next().unwrap().unwrap());
            while !lines.next().unwrap().unwrap().is_empty() {}
            // Whoever has read enough may hang up.
            let _ = stream.write_all(&answer);
        }
        asked
    });
    (address, served)
}

/// An answer that announces so many bytes.
fn answer(status: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn surefoot(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
    for variable in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(variable);
    }
    command.env("SUREFOOT_DATA", folder).current_dir(folder).arg("data").args(arguments).output().unwrap()
}

/// What a command says that refuses, or succeeds.
fn said(arguments: &[&str], folder: &Path, code: i32) -> String {
    let output = surefoot(arguments, folder);
    let said = text(if code == 0 { &output.stdout } else { &output.stderr });
    assert_eq!(output.status.code(), Some(code), "{}{}", text(&output.stdout), text(&output.stderr));
    said
}

fn content(files: &Files, data: DataSet, number: usize) -> Vec<u8> {
    std::fs::read(files.path(data.entry(), &data.entry().files[number]).unwrap()).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn a_whole_file_is_downloaded_once() {
    let files = Files::required();
    let folder = tempfile::tempdir().unwrap();
    let bail = content(&files, DataSet::Bail, 0);
    let (address, served) = serve(vec![answer("200 OK", bail.len(), &bail)]);
    let place = folder.path().join("new/folder");
    let place = place.to_str().unwrap();
    let report = said(&["fetch", "bail", "--url", &address, "--data", place], folder.path(), 0);
    assert!(report.contains("bail.csv: downloaded; SHA-256 is that of the published file."), "{report}");
    assert!(report.contains(&format!("--data {place}")), "{report}");
    assert_eq!(served.join().unwrap(), ["GET /bail.csv HTTP/1.1"]);
    assert_eq!(std::fs::read(Path::new(place).join("bail.csv")).unwrap(), bail);
    assert_eq!(std::fs::read_dir(place).unwrap().count(), 1);
    // The server is gone, and nothing is asked of it.
    let report = said(&["fetch", "bail", "--url", &address, "--data", place], folder.path(), 0);
    assert!(report.contains("is already there"), "{report}");
}

#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn several_files_and_archives_are_downloaded() {
    let files = Files::required();
    let folder = tempfile::tempdir().unwrap();
    let german = content(&files, DataSet::German, 0);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("SouthGermanCredit.asc", SimpleFileOptions::default()).unwrap();
    archive.write_all(&german).unwrap();
    let archive = archive.finish().unwrap().into_inner();
    let sample = [0, 1].map(|number| content(&files, DataSet::Loan, number));
    let answers = [&archive, &sample[0], &sample[1]].map(|body| answer("200 OK", body.len(), body));
    let (address, served) = serve(answers.to_vec());
    let report = said(&["fetch", "german", "loan", "--url", &address], folder.path(), 0);
    assert_eq!(report.matches("downloaded").count(), 3, "{report}");
    assert_eq!(served.join().unwrap().len(), 3);
    assert_eq!(std::fs::read(folder.path().join("SouthGermanCredit.asc")).unwrap(), german);
    let here = Files::in_folder(folder.path());
    assert_eq!(DataSet::German.read(&here).unwrap().rows.nrows(), 1000);
    assert_eq!(DataSet::Loan.read(&here).unwrap().rows.nrows(), 1000);
    let list = said(&["list"], folder.path(), 0);
    assert_eq!(list.matches("the published file\n").count(), 3, "{list}");
    assert_eq!(list.matches("no; get it with `surefoot data fetch").count(), 3, "{list}");
}

/// Whatever goes wrong, the error says what and how to get the file by hand, and nothing is
/// written.
#[test]
fn a_failed_download_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (half, size) = (vec![b'1'; 4096], DataSet::Bail.entry().files[0].size as usize);
    for (served, expected) in [
        (answer("200 OK", size, &half), "the download ended early, after 4096 of 651814 bytes"),
        (
            answer("200 OK", half.len(), &half),
            "not the published file: 4096 bytes rather than 651814, SHA-256 ",
        ),
        (answer("200 OK", size, &vec![b'1'; size]), "651814 bytes rather than 651814, SHA-256 "),
        (answer("200 OK", size + 9, &vec![b'1'; size + 9]), "not the published file: more than 651814 bytes"),
        // One that closes the connection without having said how much there is.
        ([&b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"[..], &half].concat(), "4096 bytes rather than"),
        (answer("404 Not Found", 0, b""), "the server answered with status 404"),
        (answer("500 Internal Server Error", 4, b"oops"), "the server answered with status 500"),
        (b"hello\r\n\r\n".to_vec(), "nothing was written"),
        (Vec::new(), "nothing was written"),
    ] {
        let (address, server) = serve(vec![served]);
        let error = said(&["fetch", "bail", "--url", &address], folder.path(), 2);
        server.join().unwrap();
        assert!(error.contains(expected), "{expected}: {error}");
        let file = DataSet::Bail.entry().files[0];
        for part in [&address, file.address, file.sha256, folder.path().to_str().unwrap()] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(is_empty(folder.path()), "{expected}");
    }
    // One that speaks no TLS.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || listener.accept().unwrap().0.write_all(&answer("200 OK", 2, b"hi")));
    let error = said(&["fetch", "bail", "--url", &address], folder.path(), 2);
    let _ = server.join().unwrap();
    assert!(error.contains("nothing was written") && is_empty(folder.path()), "{error}");
    // Nobody answers at all.
    let nobody = format!("http://{}/", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let error = said(&["fetch", "bail", "--url", &nobody], folder.path(), 2);
    assert!(error.contains("nothing was written") && is_empty(folder.path()), "{error}");
}

#[test]
fn a_file_of_that_name_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bail.csv");
    std::fs::write(&path, "mine").unwrap();
    let error = said(&["fetch", "bail"], folder.path(), 2);
    assert!(error.contains("is not the published file") && error.contains("--data"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    let list = said(&["list", "--data", folder.path().to_str().unwrap()], folder.path(), 0);
    assert!(list.contains("but not the published file: its SHA-256 is"), "{list}");
}

#[test]
fn the_list_tells_what_each_is_and_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let list = said(&["list"], folder.path(), 0);
    for data in DataSet::ALL {
        let entry = data.entry();
        assert!(list.contains(&format!("{}: {}\n", entry.name, entry.title)), "{list}");
        for file in entry.files {
            for part in [file.name, file.address, file.sha256] {
                assert!(list.contains(part), "{part}: {list}");
            }
        }
    }
    assert!(list.contains(&format!("Looked in {}.", folder.path().display())), "{list}");
}

#[test]
fn names_and_addresses_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let error = said(&["fetch", "campos"], folder.path(), 2);
    assert!(error.contains("there are compas, adult, loan, german, bail"), "{error}");
    let error = said(&["fetch", "loan", "--url", "http://127.0.0.1:9/x"], folder.path(), 2);
    assert!(error.contains("end it with `/`"), "{error}");
}

/// The files at hand are those whose checksums the catalogue states.
#[test]
#[cfg_attr(without_data, ignore = "files of the data sets are missing")]
fn the_files_at_hand_are_the_published_ones() {
    let files = Files::required();
    let folder = files.path(DataSet::Bail.entry(), &DataSet::Bail.entry().files[0]).unwrap();
    let list = said(&["list"], folder.parent().unwrap(), 0);
    assert_eq!(list.matches("the published file\n").count(), 6, "{list}");
}
