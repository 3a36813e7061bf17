//! Tables that are answered as a stream: the same bytes on any number of threads, and runs that are broken off
//! and resumed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod command;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use command::{done, refused, surefoot, text};
use rand::{RngExt, SeedableRng};

const LINEAR: &str = "epsilon = 0.1\n\
    [[feature]]\nname = \"income\"\nchange = \"increase\"\n\
    [[feature]]\nname = \"savings\"\nchange = \"increase\"\n\
    [classifier]\ncoefficients = [0.8, 0.6]\nintercept = -1\n";

/// Creates a folder with the problem of the example `network` and a given number of its people.
fn network_folder(people: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/network");
    for name in ["problem.toml", "classifier.safetensors", "models.safetensors"] {
        std::fs::copy(example.join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("people.csv"), network_people(people)).unwrap();
    folder
}

fn network_people(people: usize) -> String {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut table = "id,gender,education,income,savings\n".to_owned();
    for person in 0..people {
        let gender = u8::from(random.random::<bool>());
        let [education, income, savings] =
            [-0.3..0.2, -4.0..1.0, -10.0..0.0].map(|range| random.random_range(range));
        writeln!(table, "p{person},{gender},{education:.3},{income:.3},{savings:.3}").unwrap();
    }
    table
}

fn linear_people(people: u32) -> String {
    let rows = (0..people).map(|i| format!("{},0.1\n", -0.001 * f64::from(i % 900)));
    format!("income,savings\n{}", rows.collect::<String>())
}

fn command(folder: &Path, threads: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefoot"));
    command.current_dir(folder).args(arguments).env("RAYON_NUM_THREADS", threads.to_string());
    command
}

/// What a run of a table writes to its outputs.
fn written(folder: &Path, threads: usize, arguments: &[&str], outputs: &[&str]) -> Vec<Vec<u8>> {
    let run = command(folder, threads, arguments).output().unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{}", text(&run.stderr));
    outputs.iter().map(|name| std::fs::read(folder.join(name)).unwrap()).collect()
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let network = network_folder(60);
    let linear = command::folder_with(&[("problem.toml", LINEAR), ("people.csv", &linear_people(20_000))]);
    let more: [(&Path, &[&str]); 4] = [
        (network.path(), &["--options", "2"]),
        (network.path(), &["--method", "descent"]),
        (linear.path(), &[]),
        (linear.path(), &["--options", "2"]),
    ];
    for (folder, options) in more {
        for output in ["answers.csv", "answers.parquet", "answers.arrow"] {
            let arguments = [&["recourse", "problem.toml", "people.csv", "-o", output][..], options].concat();
            let runs = [1, 2, 5].map(|threads| written(folder, threads, &arguments, &[output]));
            assert!(runs.iter().all(|run| *run == runs[0]), "{output} {options:?}");
        }
        let rows = std::fs::read_to_string(folder.join("people.csv")).unwrap().lines().count();
        let answers = std::fs::read_to_string(folder.join("answers.csv")).unwrap();
        assert!(answers.lines().count() >= rows && !folder.join("answers.csv.part").exists());
    }
}

const ARGUMENTS: [&str; 11] = [
    "recourse",
    "problem.toml",
    "people.csv",
    "-o",
    "answers.csv",
    "--proofs",
    "proofs.jsonl",
    "--options",
    "2",
    "--gap",
    "0.002",
];
const OUTPUTS: [&str; 2] = ["answers.csv", "proofs.jsonl"];

/// The number of people whose answers are saved, each in a line; the first line says what they are for.
fn saved(folder: &Path) -> usize {
    let part = std::fs::read_to_string(folder.join("answers.csv.part")).unwrap_or_default();
    part.lines().count().saturating_sub(1)
}

/// Ends a run by a signal after it has saved the answers of a given number of people. Returns what it prints.
fn break_off(folder: &Path, signal: &str, arguments: &[&str], people: usize) -> String {
    let mut command = command(folder, 1, arguments);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while saved(folder) < people && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(run.try_wait().unwrap(), None, "it has ended before");
    }
    let arguments = [format!("-{signal}"), run.id().to_string()];
    assert!(Command::new("kill").args(arguments).status().unwrap().success());
    let run = run.wait_with_output().unwrap();
    assert!(run.status.code().is_none() && OUTPUTS.iter().all(|name| !folder.join(name).exists()));
    assert!(saved(folder) >= people);
    text(&run.stderr)
}

fn resume(folder: &Path, arguments: &[&str]) -> Output {
    surefoot(folder, &[arguments, &["--resume"]].concat())
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_stopped() {
    use std::os::unix::fs::PermissionsExt;
    let folder = network_folder(1000);
    let at = folder.path();
    let unbroken = written(at, 2, &ARGUMENTS, &OUTPUTS);
    OUTPUTS.iter().for_each(|name| std::fs::remove_file(at.join(name)).unwrap());
    assert_eq!(break_off(at, "KILL", &ARGUMENTS, 40), "");
    let killed = saved(at);
    let parts = ["answers.csv.part", "proofs.jsonl.part"].map(|name| at.join(name));
    for part in &parts {
        assert_eq!(std::fs::metadata(part).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let said = refused(at, &ARGUMENTS);
    assert!(
        said.contains(&format!("holds the answers of {killed} people")) && said.contains("--resume"),
        "{said}"
    );
    let said = break_off(at, "TERM", &[&ARGUMENTS[..], &["--resume"]].concat(), killed + 40);
    assert!(said.contains(&format!("{killed} people were answered before; going on")), "{said}");
    let ended = saved(at);
    let words =
        format!("broken off: {ended} of 1000 people are done; the same command with --resume goes on");
    assert!(said.contains(&words), "{said}");
    let run = resume(at, &ARGUMENTS);
    assert!(run.status.success());
    let said = text(&run.stderr);
    assert!(said.contains(&format!("{ended} people were answered before; going on")), "{said}");
    assert!(text(&run.stdout).starts_with("1000 people: "));
    let resumed = OUTPUTS.map(|name| std::fs::read(at.join(name)).unwrap());
    assert!(resumed[..] == unbroken[..]);
    assert!(parts.iter().all(|part| !part.exists()));
}

/// A folder with sixty people, of whom some were answered before a run was broken off: the lines of the part
/// file of [`ARGUMENTS`] with its first line, and the proofs.
struct BrokenOff {
    folder: tempfile::TempDir,
    part: Vec<String>,
    proofs: String,
}

const PEOPLE: usize = 60;
const ANSWERED: usize = 30;

impl BrokenOff {
    fn new() -> Self {
        let folder = network_folder(700);
        break_off(folder.path(), "KILL", &ARGUMENTS, ANSWERED + 10);
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let part =
            read("answers.csv.part").lines().take(ANSWERED + 1).map(|line| format!("{line}\n")).collect();
        let proofs =
            read("proofs.jsonl.part").lines().take(ANSWERED).map(|line| format!("{line}\n")).collect();
        Self { folder, part, proofs }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts everything back as it was when the run was broken off, for an output of this name.
    fn reset(&self, output: &str) {
        std::fs::write(self.path("people.csv"), network_people(PEOPLE)).unwrap();
        std::fs::write(self.path(&format!("{output}.part")), self.part.concat()).unwrap();
        std::fs::write(self.path("proofs.jsonl.part"), &self.proofs).unwrap();
        OUTPUTS.iter().for_each(|name| std::fs::remove_file(self.path(name)).unwrap_or_default());
    }

    /// What an unbroken run writes.
    fn unbroken(&self, output: &str) -> Vec<Vec<u8>> {
        let name = format!("unbroken-{output}");
        let mut arguments = ARGUMENTS;
        (arguments[4], arguments[6]) = (&name, "unbroken.jsonl");
        written(self.folder.path(), 2, &arguments, &[&name, "unbroken.jsonl"])
    }

    /// Resumes a run; what it says, and that it writes what an unbroken run writes.
    fn resumed(&self, output: &str) -> String {
        let mut arguments = ARGUMENTS;
        arguments[4] = output;
        let run = resume(self.folder.path(), &arguments);
        let said = text(&run.stderr);
        assert!(run.status.success(), "{said}");
        let found = [output, "proofs.jsonl"].map(|name| std::fs::read(self.path(name)).unwrap());
        assert!(found[..] == self.unbroken(output)[..], "{output}");
        assert!(!self.path(&format!("{output}.part")).exists() && !self.path("proofs.jsonl.part").exists());
        said
    }

    /// What is said when a run cannot be resumed; nothing is lost by that.
    fn refused(&self, arguments: &[&str]) -> String {
        let parts = ["answers.csv.part", "proofs.jsonl.part"];
        let before = parts.map(|name| std::fs::read(self.path(name)).unwrap());
        let said = refused(self.folder.path(), &[arguments, &["--resume"]].concat());
        assert_eq!(parts.map(|name| std::fs::read(self.path(name)).unwrap()), before, "{said}");
        assert!(!self.path("answers.csv").exists() && said.contains("--resume"), "{said}");
        said
    }
}

#[test]
fn runs_are_resumed_with_the_same_input_only() {
    let broken_off = BrokenOff::new();
    let before = format!("{ANSWERED} people were answered before");

    // Every kind of output, and lines that are torn or damaged.
    for output in ["answers.csv", "answers.parquet", "answers.arrow"] {
        broken_off.reset(output);
        assert!(broken_off.resumed(output).contains(&before));
    }
    let part = broken_off.path("answers.csv.part");
    let whole = broken_off.part.concat();
    for (torn, people) in [
        (format!("{whole}{{\"people\":\"00"), ANSWERED),
        (whole[..whole.len() - 1].into(), ANSWERED - 1),
        (whole.replacen("found", "\0\0\0\0\0", 1), 0),
    ] {
        broken_off.reset("answers.csv");
        std::fs::write(&part, torn).unwrap();
        let said = broken_off.resumed("answers.csv");
        assert!(people == 0 || said.contains(&format!("{people} people were answered before")), "{said}");
    }
    // The last proof is torn: its person is answered again.
    broken_off.reset("answers.csv");
    let proofs = broken_off.proofs.as_bytes();
    std::fs::write(broken_off.path("proofs.jsonl.part"), &proofs[..proofs.len() - 5]).unwrap();
    let said = broken_off.resumed("answers.csv");
    assert!(said.contains(&format!("{} people were answered before", ANSWERED - 1)), "{said}");

    // Another problem, another setting, other people.
    broken_off.reset("answers.csv");
    let problem = std::fs::read_to_string(broken_off.path("problem.toml")).unwrap();
    std::fs::write(broken_off.path("problem.toml"), problem.replace("epsilon = 0.1", "epsilon = 0.11"))
        .unwrap();
    assert!(broken_off.refused(&ARGUMENTS).contains("is for another problem"));
    std::fs::write(broken_off.path("problem.toml"), &problem).unwrap();
    let model = std::fs::read(broken_off.path("models.safetensors")).unwrap();
    let mut other = model.clone();
    *other.last_mut().unwrap() ^= 1;
    std::fs::write(broken_off.path("models.safetensors"), other).unwrap();
    assert!(broken_off.refused(&ARGUMENTS).contains("is for another problem"));
    std::fs::write(broken_off.path("models.safetensors"), model).unwrap();
    for (option, value, was) in [("--evaluations", "50000", "60000"), ("--method", "complete", "auto")] {
        let said = broken_off.refused(&[&ARGUMENTS[..], &[option, value]].concat());
        assert!(said.contains(&format!("has {option} {was}, and this run {value}")), "{said}");
    }
    assert!(broken_off.refused(&[&ARGUMENTS[..], &["--explain"]].concat()).contains("--explain"));
    let table = network_people(PEOPLE);
    std::fs::write(broken_off.path("people.csv"), table.replace("p6,", "q6,")).unwrap();
    let said = broken_off.refused(&ARGUMENTS);
    assert!(said.contains("people.csv, line 8: is not who was answered there before"), "{said}");
    std::fs::write(broken_off.path("people.csv"), network_people(5)).unwrap();
    assert!(broken_off.refused(&ARGUMENTS).contains("has fewer people than were answered before"));

    // People who were not answered may be corrected.
    std::fs::write(broken_off.path("people.csv"), table.replace("p50,", "q50,")).unwrap();
    assert!(broken_off.resumed("answers.csv").contains(&before));
}

#[test]
fn what_cannot_be_resumed_is_replaced() {
    let folder = command::folder_with(&[("problem.toml", LINEAR), ("people.csv", &linear_people(5))]);
    let at = folder.path();
    let arguments = ["recourse", "problem.toml", "people.csv", "-o", "answers.csv"];
    let unbroken = written(at, 2, &arguments, &["answers.csv"]);
    let run = resume(at, &arguments);
    let said = text(&run.stderr);
    assert!(run.status.success() && said.contains("answers.csv.part does not exist"), "{said}");
    assert_eq!(std::fs::read(at.join("answers.csv")).unwrap(), unbroken[0]);
    // Answers that were saved for another problem, and a file that holds none.
    let part = at.join("answers.csv.part");
    let header = r#"{"surefoot":"0.1.0","problem":"another","settings":{},"columns":[]}"#;
    std::fs::write(&part, format!("{header}\n")).unwrap();
    assert!(refused(at, &[&arguments[..], &["--resume"]].concat()).contains("--resume: answers.csv.part is"));
    done(at, &arguments);
    assert!(!part.exists());
    std::fs::write(&part, "something else\n").unwrap();
    assert!(refused(at, &arguments).contains("answers.csv.part: does not hold saved answers"));
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "something else\n");
    std::fs::remove_file(&part).unwrap();
    let said =
        refused(at, &["recourse", "problem.toml", "people.csv", "-o", "a.csv", "--proofs", "a.csv.part"]);
    assert!(said.contains("would replace"), "{said}");
    let said = refused(at, &[&arguments[..], &["--proofs", "/dev/null", "--resume"]].concat());
    assert!(said.contains("is a pipe or a device"), "{said}");
}

#[test]
fn a_bad_row_at_the_end_loses_no_answers() {
    // Where each person takes a search, it is found before the first one is answered.
    let folder = network_folder(20);
    let at = folder.path();
    let table = network_people(20) + "p3,1,0.1,0.1,0.1\n";
    std::fs::write(at.join("people.csv"), table).unwrap();
    let said = refused(at, &ARGUMENTS);
    assert!(said.contains("line 22") && said.contains("`p3` is in line 5 already"), "{said}");
    assert!(!said.contains("--resume") && !at.join("answers.csv").exists());

    // Otherwise everybody before it is answered. With proofs, that is so much that it is saved.
    let table = linear_people(20_000);
    let folder =
        command::folder_with(&[("problem.toml", LINEAR), ("people.csv", &format!("{table}x,0.1\n"))]);
    let at = folder.path();
    let arguments =
        ["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"];
    let said = refused(at, &arguments);
    assert!(said.contains("people.csv, line 20002, column `income`: `x` is not a number"), "{said}");
    assert!(said.contains("16384 of 20001 people are done; the same command with --resume"), "{said}");
    assert!(!at.join("answers.csv").exists() && !at.join("proofs.jsonl").exists());
    std::fs::write(at.join("people.csv"), format!("{table}0.5,0.1\n")).unwrap();
    let run = resume(at, &arguments);
    assert!(text(&run.stderr).contains("16384 people were answered before"), "{}", text(&run.stderr));
    let resumed = OUTPUTS.map(|name| std::fs::read(at.join(name)).unwrap());
    assert!(resumed[..] == written(at, 2, &arguments, &OUTPUTS)[..]);
}

/// Steps, special and missing values, and a limit on what is changed: the same as without a break, and `certify` proves
/// the table.
#[test]
fn a_broken_off_run_with_steps_and_values_that_are_special_or_missing() {
    let folder = network_folder(0);
    let at = folder.path();
    let problem = std::fs::read_to_string(at.join("problem.toml")).unwrap();
    let with = |problem: String, feature: &str, fields: &str| {
        let name = format!("name = \"{feature}\"\n");
        assert!(problem.contains(&name), "{problem}");
        problem.replacen(&name, &format!("{name}{fields}\n"), 1)
    };
    let problem = with(problem, "income", "step = 0.25");
    let problem = with(problem, "savings", "special = { \"-99\" = \"no account\" }\nstep = 0.5");
    std::fs::write(at.join("problem.toml"), format!("most_changes = 2\n{problem}")).unwrap();
    let mut special = 0;
    let rows = network_people(1000)
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if row % 7 == 3 {
                special += 1;
                cells[4] = "-99";
            }
            cells.join(",") + "\n"
        })
        .collect::<String>();
    std::fs::write(at.join("people.csv"), rows).unwrap();
    let arguments = ARGUMENTS;
    let unbroken = written(at, 2, &arguments, &OUTPUTS);
    OUTPUTS.iter().for_each(|name| std::fs::remove_file(at.join(name)).unwrap());
    break_off(at, "KILL", &arguments, 20);
    assert!(resume(at, &arguments).status.success());
    let resumed = OUTPUTS.map(|name| std::fs::read(at.join(name)).unwrap());
    assert!(resumed[..] == unbroken[..]);
    let answers = text(&resumed[0]);
    assert!(answers.matches("savings (no account)").count() >= special, "{special}\n{answers}");
    let proven = done(at, &["certify", "problem.toml", "people.csv", "answers.csv"]);
    assert!(proven.contains("proven to hold") && !proven.contains("cannot be taken"), "{proven}");
    assert!(done(at, &["verify", "problem.toml", "proofs.jsonl"]).contains("all verified"));
}
