//! Random problems, and whether everything that Surefoot says about each agrees.
//!
//! ```sh
//! cargo bench -p surefoot-cli --bench consistency -- --count 2000 --seed 1
//! ```
//!
//! Prints every contradiction with the number of its case, and ends with 1 if there is one. `--only`
//! repeats a single case; `--keep FOLDER` writes the files of every case with a contradiction there.
//! Every fourth case also goes through the command.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use surefoot_random::{Case, Contradiction, Settings, Tally, command, contradictions};

#[derive(Parser)]
struct Arguments {
    /// How many problems are drawn.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// The seed they are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the first.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only the problem with this number, also through the command.
    #[arg(long)]
    only: Option<u64>,
    /// Where to keep the files of problems with contradictions.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Cargo gives this to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let numbers = match arguments.only {
        Some(only) => only..only + 1,
        None => arguments.first..arguments.first + arguments.count,
    };
    let (mut tally, mut kinds, mut slowest) =
        (Tally::default(), BTreeMap::<&str, Vec<u64>>::new(), Vec::new());
    let start = Instant::now();
    for number in numbers.clone() {
        let folder = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let is_integer = arguments.only.is_some() || number % 4 == 0;
        let (found, summary) = examine(arguments.seed, number, is_integer, folder.path(), &mut tally);
        slowest.push((begun.elapsed().as_secs_f64(), number));
        if found.is_empty() {
            continue;
        }
        println!("case {number}: {summary}");
        for contradiction in &found {
            println!("  {contradiction}");
            let numbers = kinds.entry(contradiction.property).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
        if let Some(keep) = &arguments.keep {
            keep_files(folder.path(), &keep.join(format!("{}-{number}", arguments.seed)), &found);
        }
    }
    slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{} problems in {:.0} s: {tally:?}", numbers.count(), start.elapsed().as_secs_f64());
    println!("slowest: {:.1?}", &slowest[..slowest.len().min(5)]);
    for (kind, numbers) in &kinds {
        println!("{kind}: {} cases, {:?}", numbers.len(), &numbers[..numbers.len().min(12)]);
    }
    if kinds.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn examine(
    seed: u64,
    number: u64,
    through_command: bool,
    folder: &Path,
    tally: &mut Tally,
) -> (Vec<Contradiction>, String) {
    let examined = catch_unwind(|| {
        let case = Case::draw(seed, number);
        let mut tally = Tally::default();
        let mut found = contradictions(&case, folder, Settings::default(), &mut tally);
        if through_command {
            let binary = Path::new(env!("CARGO_BIN_EXE_surefoot"));
            found.extend(command::contradictions(binary, &case, folder, Settings::default()));
        }
        (found, case.summary(), tally)
    });
    match examined {
        Ok((found, summary, counted)) => {
            *tally += counted;
            (found, summary)
        }
        Err(_) => (vec![Contradiction { property: "no panic", detail: String::new() }], String::new()),
    }
}

/// Copies the files of a case, and writes down what contradicts itself.
fn keep_files(from: &Path, to: &Path, found: &[Contradiction]) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
    let lines: Vec<String> = found.iter().map(Contradiction::to_string).collect();
    std::fs::write(to.join("contradictions.txt"), lines.join("\n") + "\n").unwrap();
}
