//! Runs that are interrupted leave nothing behind; what is written to a link goes where it points.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use command::done;

const PROBLEM: &str = "epsilon = 0.1\n\
    [[feature]]\nname = \"income\"\nchange = \"increase\"\n\
    [[feature]]\nname = \"savings\"\nchange = \"increase\"\n\
    [classifier]\ncoefficients = [0.8, 0.6]\nintercept = -1\n";

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nothing_is_left_beside_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    // With proofs: minutes of work.
    let people: String = (0..300_000).map(|i| format!("{},{}\n", -0.001 * f64::from(i % 900), 0.1)).collect();
    std::fs::write(at.join("people.csv"), format!("income,savings\n{people}")).unwrap();
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_surefoot"))
            .current_dir(at)
            .args(["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while names(at).len() < 4 && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(names(at).iter().filter(|name| name.ends_with(".partial")).count(), 2);
        let sent = Command::new("kill").args([format!("-{name}"), run.id().to_string()]).status().unwrap();
        assert!(sent.success());
        // Whoever waits for it sees which signal ended it.
        assert_eq!(run.wait().unwrap().signal(), Some(number));
        assert_eq!(names(at), ["people.csv", "problem.toml"]);
    }
}

#[test]
fn links_are_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("kept")).unwrap();
    std::fs::write(at.join("kept/problem.toml"), PROBLEM).unwrap();
    std::fs::write(at.join("people.csv"), "income,savings\n0,0\n0.1,0.2\n").unwrap();
    std::fs::write(at.join("kept/answers.csv"), "before").unwrap();
    for name in ["problem.toml", "answers.csv", "proofs.jsonl"] {
        symlink(format!("kept/{name}"), at.join(name)).unwrap();
    }
    let arguments = ["recourse", "problem.toml", "people.csv", "-o", "answers.csv"];
    done(at, &[&arguments[..], &["--proofs", "proofs.jsonl"]].concat());
    done(at, &["fit", "people.csv", "--graph", "income -> savings", "--held-out", "0"]);
    for (name, part) in
        [("problem.toml", "[[equation]]"), ("answers.csv", "found"), ("proofs.jsonl", "proof")]
    {
        assert!(at.join(name).is_symlink(), "{name}");
        let text = std::fs::read_to_string(at.join("kept").join(name)).unwrap();
        assert!(text.contains(part), "{name}: {text}");
    }
    assert_eq!(names(&at.join("kept")), ["answers.csv", "problem.toml", "proofs.jsonl"]);
    // What is no file is not replaced by one.
    done(at, &[&arguments[..], &["--proofs", "/dev/null"]].concat());
    assert!(
        std::fs::metadata("/dev/null").unwrap().file_type()
            != std::fs::metadata(at.join("people.csv")).unwrap().file_type()
    );
}
