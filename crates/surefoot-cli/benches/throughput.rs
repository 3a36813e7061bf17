//! How many people per second `surefoot recourse`, `certify` and `attack` answer from Parquet to
//! Parquet, and how much memory that takes: a linear problem like the paper's Adult, 1,000,000
//! people, on one thread and on all. `SUREFOOT_PEOPLE` asks for another number of them.
//!
//! Asked for are 100,000 people per second and core for recourse, and less than 500 MB for all. A
//! second of a core is one of the processor, however busy the machine is with other things.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefoot_cli::table::{BATCH_ROWS, Column, Values, Writer};

/// Six features, two of which people can change, with linear causes.
const PROBLEM: &str = r#"
epsilon = 0.1

[[feature]]
name = "sex"
kind = "binary"

[[feature]]
name = "age"
mean = 38.6
std = 13.6
limits = [17, 90]

[[feature]]
name = "country"
kind = "binary"

[[feature]]
name = "married"
kind = "binary"

[[feature]]
name = "education"
mean = 10.1
std = 2.57
limits = [1, 16]
change = "increase"

[[feature]]
name = "hours"
mean = 40.4
std = 12.4
limits = [1, 99]
change = "any"

[[equation]]
feature = "education"
parents = ["sex", "age", "country", "married"]
coefficients = [-0.1, 0.05, 0.4, 0.1]
intercept = -0.3

[[equation]]
feature = "hours"
parents = ["sex", "age", "country", "married", "education"]
coefficients = [0.4, 0.02, 0.05, 0.1, 0.15]
intercept = -0.4

[classifier]
coefficients = [0.8, 0.4, 0.2, 2.0, 0.9, 0.4]
intercept = -3.2
"#;

fn write_people(path: &Path, people: usize) {
    let names = ["sex", "age", "country", "married", "education", "hours"];
    let columns: Vec<(&str, Column)> =
        [("id", Column::Text)].into_iter().chain(names.map(|name| (name, Column::Number))).collect();
    let mut writer = Writer::create(path, &columns).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for start in (0..people).step_by(BATCH_ROWS) {
        let rows = start..people.min(start + BATCH_ROWS);
        let mut column = |of: &dyn Fn(f64) -> f64| {
            Values::Numbers(rows.clone().map(|_| Some(of(random.random::<f64>()))).collect())
        };
        let binary = |share: f64| move |u: f64| f64::from(u8::from(u < share));
        let values = [
            column(&binary(0.67)),
            column(&|u| 17.0 + (73.0 * u * u).floor()),
            column(&binary(0.9)),
            column(&binary(0.47)),
            column(&|u| 1.0 + (15.0 * u).floor()),
            column(&|u| 1.0 + 80.0 * u),
        ];
        let ids = Values::Texts(rows.map(|row| Some(format!("person-{row}"))).collect());
        writer.write(&[&[ids][..], &values].concat()).unwrap();
    }
    writer.finish().unwrap();
}

/// What a command took.
#[derive(Default)]
struct Taken {
    seconds: f64,
    /// Of all cores together.
    processor_seconds: f64,
    /// At its most.
    megabytes: f64,
}

/// What the kernel knows of a running process; nothing once it is over.
fn look(process: u32) -> Option<(f64, f64)> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).ok();
    let status = read("status")?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = most.trim().strip_suffix(" kB")?.parse().ok()?;
    // Behind the name in parentheses; times are in hundredths of a second.
    let stat = read("stat")?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11..13)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    Some((kilobytes / 1024.0, ticks / 100.0))
}

/// Runs a command, which must succeed.
fn measure(folder: &Path, threads: usize, arguments: &[&str]) -> Taken {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_surefoot"))
        .current_dir(folder)
        .args(arguments)
        .env("RAYON_NUM_THREADS", threads.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut taken = Taken::default();
    let status = loop {
        // Both only ever grow, so little is missed between two looks.
        if let Some((megabytes, processor_seconds)) = look(child.id()) {
            taken = Taken { megabytes, processor_seconds, ..taken };
        }
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(status.success(), "{arguments:?}: {status}");
    Taken { seconds: start.elapsed().as_secs_f64(), ..taken }
}

fn main() {
    let people = std::env::var("SUREFOOT_PEOPLE").map_or(1_000_000, |number| number.parse().unwrap());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("problem.toml"), PROBLEM).unwrap();
    write_people(&at.join("people.parquet"), people);
    println!("{people} people, from Parquet to Parquet");
    println!("command    threads   seconds     people/s   people/s of a core   peak MB");
    for (command, threads) in [("recourse", 1), ("recourse", cores), ("attack", cores), ("certify", cores)] {
        let mut arguments = vec![command, "problem.toml", "people.parquet"];
        if command != "recourse" {
            arguments.push("answers.parquet");
        }
        let output = if command == "recourse" { "answers.parquet" } else { "verdicts.parquet" };
        let taken = measure(at, threads, &[&arguments[..], &["--output", output]].concat());
        let Taken { seconds, processor_seconds, megabytes } = taken;
        let (rate, of_a_core) = (people as f64 / seconds, people as f64 / processor_seconds);
        println!("{command:<10} {threads:>7} {seconds:>9.2} {rate:>12.0} {of_a_core:>20.0} {megabytes:>9.0}");
    }
}
