//! Runs that are interrupted, killed or disturbed: no temporary file is left, and every output is
//! the old one or the new one, whole.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use command::{done, surefoot, text};
use rand::{RngExt, SeedableRng};

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

fn temporary_files(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.ends_with(".partial")).collect()
}

fn write_people(folder: &Path, name: &str, people: u32, savings: f64) {
    let rows: String = (0..people).map(|i| format!("{},{savings}\n", -0.001 * f64::from(i % 900))).collect();
    std::fs::write(folder.join(name), format!("income,savings\n{rows}")).unwrap();
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_surefoot"))
        .current_dir(folder)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Removes the answers that a run has saved which was broken off after a second or more.
fn remove_saved_answers(folder: &Path) {
    for name in names(folder).into_iter().filter(|name| name.ends_with(".part")) {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
}

/// A run that takes minutes, once it has so many temporary files.
fn start_long_run(folder: &Path, arguments: &[&str], files: usize) -> Child {
    let run = start(folder, arguments);
    let started = Instant::now();
    while temporary_files(folder).len() < files && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(temporary_files(folder).len(), files);
    run
}

fn send(signal: &str, process: &Child) {
    // Fails if the process has ended.
    let arguments = [format!("-{signal}"), process.id().to_string()];
    let _ = Command::new("kill").args(arguments).stderr(Stdio::null()).status().unwrap();
}

/// Whether this process ignores a signal, as under `nohup` or in the background of a script. Then the
/// command, which inherits that, ignores it too.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

#[test]
fn nothing_is_left_beside_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    // With proofs: minutes of work.
    write_people(at, "people.csv", 300_000, 0.1);
    let arguments =
        ["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"];
    for (name, number) in
        [("HUP", 1), ("INT", 2), ("QUIT", 3), ("ABRT", 6), ("USR1", 10), ("ALRM", 14), ("TERM", 15)]
    {
        if is_ignored(number) {
            continue;
        }
        let mut run = start_long_run(at, &arguments, 2);
        send(name, &run);
        // Whoever waits for it sees which signal ended it.
        assert_eq!(run.wait().unwrap().signal(), Some(number));
        remove_saved_answers(at);
        assert_eq!(names(at), ["people.csv", "problem.toml"]);
    }
    if cfg!(target_os = "linux") {
        for number in [29, 30, 34, 64] {
            let mut run = start_long_run(at, &arguments, 2);
            send(&number.to_string(), &run);
            assert_eq!(run.wait().unwrap().code(), Some(128 + number));
            remove_saved_answers(at);
            assert_eq!(names(at), ["people.csv", "problem.toml"]);
        }
    }
}

/// Signals meet every part of a short run: the start, the creation of temporary files, and the end,
/// where they get their names.
#[test]
fn signals_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    write_people(at, "people.csv", 20, 0.1);
    let arguments =
        ["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"];
    let outputs = ["answers.csv", "proofs.jsonl"];
    let begin = Instant::now();
    done(at, &arguments);
    let mut run_time = begin.elapsed();
    let new = outputs.map(|name| std::fs::read(at.join(name)).unwrap());
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let (mut old_stayed, mut replaced) = (0, 0);
    for round in 0..240 {
        outputs.iter().for_each(|name| std::fs::write(at.join(name), "the old one").unwrap());
        let mut run = start(at, &arguments);
        match round % 3 {
            0 => std::thread::sleep(run_time.mul_f64(random.random())),
            1 => while temporary_files(at).is_empty() && run.try_wait().unwrap().is_none() {},
            _ => std::thread::sleep(run_time.mul_f64(random.random_range(0.9..1.1))),
        }
        send(["INT", "TERM", "HUP"][round / 3 % 3], &run);
        run.wait().unwrap();
        remove_saved_answers(at);
        assert_eq!(names(at), ["answers.csv", "people.csv", "problem.toml", "proofs.jsonl"], "round {round}");
        let mut is_done = true;
        for (name, new) in outputs.iter().zip(&new) {
            let found = std::fs::read(at.join(name)).unwrap();
            assert!(found == *new || found == b"the old one", "{name}: {} bytes", found.len());
            *if found == *new { &mut replaced } else { &mut old_stayed } += 1;
            is_done &= found == *new;
        }
        // How long a run takes, on a machine that has other work too.
        if round % 3 == 2 {
            run_time = run_time.mul_f64(if is_done { 0.8 } else { 1.1 });
        }
    }
    // Otherwise the moments were badly chosen.
    assert!(old_stayed > 20 && replaced > 10, "{old_stayed} stayed, {replaced} were replaced");
}

/// `nohup` lets a run survive the end of its session.
#[test]
fn ignored_signals_stay_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    write_people(at, "people.csv", 300_000, 0.1);
    let mut run = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_surefoot")])
        .args(["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"])
        .current_dir(at)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while temporary_files(at).len() < 2 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    send("HUP", &run);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(run.try_wait().unwrap(), None);
    send("TERM", &run);
    assert_eq!(run.wait().unwrap().signal(), Some(15));
    remove_saved_answers(at);
    assert_eq!(names(at), ["people.csv", "problem.toml"]);
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    write_people(at, "many.csv", 300_000, 0.1);
    write_people(at, "few.csv", 3, 0.1);
    let of = |people| ["recourse", "problem.toml", people, "-o", "answers.csv", "--proofs", "proofs.jsonl"];
    let mut killed = start_long_run(at, &of("many.csv"), 2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    remove_saved_answers(at);
    let left = temporary_files(at);
    assert_eq!(left.len(), 2);
    // A run that is still going keeps its own.
    let mut living = start_long_run(
        at,
        &["recourse", "problem.toml", "many.csv", "-o", "other.csv", "--proofs", "other.jsonl"],
        4,
    );
    let run = surefoot(at, &of("few.csv"));
    assert!(run.status.success());
    let said = text(&run.stderr);
    for name in &left {
        assert!(
            said.contains(&format!("{name}, a temporary file of an earlier run that was killed")),
            "{said}"
        );
        assert!(!at.join(name).exists());
    }
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(temporary_files(at).len(), 2);
    // Nothing to report any more.
    done(at, &of("few.csv"));
    send("TERM", &living);
    living.wait().unwrap();
    remove_saved_answers(at);
    let expected = ["answers.csv", "few.csv", "many.csv", "problem.toml", "proofs.jsonl"];
    assert_eq!(names(at), expected);
}

#[test]
fn two_runs_with_one_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    // While one works, another begins and ends.
    write_people(at, "many.csv", 300_000, 0.1);
    write_people(at, "few.csv", 3, 0.1);
    let of = |people| ["recourse", "problem.toml", people, "-o", "answers.csv", "--proofs", "proofs.jsonl"];
    let mut long = start_long_run(at, &of("many.csv"), 2);
    let held = temporary_files(at);
    // It may say that it cannot be resumed, since the other one has the file for that.
    assert!(surefoot(at, &of("few.csv")).status.success());
    assert_eq!(temporary_files(at), held);
    send("TERM", &long);
    long.wait().unwrap();
    remove_saved_answers(at);

    // Both at once, again and again: what is there is whole, and of one of them.
    let mut wholes = Vec::new();
    for (name, people, savings) in [("a.csv", 3000, 0.1), ("b.csv", 4000, 0.2)] {
        write_people(at, name, people, savings);
        done(at, &["recourse", "problem.toml", name, "-o", "answers.csv"]);
        wholes.push(std::fs::read(at.join("answers.csv")).unwrap());
    }
    assert_ne!(wholes[0], wholes[1]);
    for _ in 0..20 {
        let runs = ["a.csv", "b.csv"]
            .map(|name| start(at, &["recourse", "problem.toml", name, "-o", "answers.csv"]));
        for mut run in runs {
            assert!(run.wait().unwrap().success());
        }
        assert!(wholes.contains(&std::fs::read(at.join("answers.csv")).unwrap()));
        assert!(temporary_files(at).is_empty());
    }
}

#[test]
fn planted_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    write_people(at, "people.csv", 3, 0.1);
    std::fs::write(at.join("victim.txt"), "precious").unwrap();
    let planted = "ln -s victim.txt answers.csv.$$.partial; exec \"$0\" \"$@\"";
    symlink("victim.txt", at.join("answers.csv.AAAAAAAAAAAA.partial")).unwrap();
    let run = Command::new("sh")
        .args(["-c", planted, env!("CARGO_BIN_EXE_surefoot")])
        .args(["recourse", "problem.toml", "people.csv", "-o", "answers.csv"])
        .current_dir(at)
        .output()
        .unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{}", text(&run.stderr));
    assert_eq!(std::fs::read_to_string(at.join("victim.txt")).unwrap(), "precious");
    assert!(!at.join("answers.csv").is_symlink());
    assert!(std::fs::read_to_string(at.join("answers.csv")).unwrap().contains("found"));
    // They belong to somebody else.
    assert_eq!(temporary_files(at).len(), 2);
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
    let said = done(at, &[&arguments[..], &["--proofs", "/dev/stdout"]].concat());
    assert!(said.contains("{\"id\":\"1\",\"proof\":"), "{said}");
}
