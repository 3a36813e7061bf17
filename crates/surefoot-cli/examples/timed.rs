//! How long the engine takes to answer people: what the Python package is measured against.
//!
//! ```text
//! cargo run --release -p surefoot-cli --example timed -- problem.toml people.f64 ROUNDS
//! ```
//!
//! `people.f64` holds their values in own units, row by row, as doubles. Prints the seconds of
//! every round, from rows in memory to answers in memory.

use std::time::Instant;

use surefoot::{People, Problem, recourse};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [problem, people, rounds] = &arguments[..] else {
        return Err("give a problem file, a file of doubles and how often to answer".into());
    };
    let problem = Problem::read(problem)?;
    let bytes = std::fs::read(people)?;
    let values: Vec<f64> =
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(std::array::from_fn(|i| b[i]))).collect();
    for _ in 0..rounds.parse()? {
        let start = Instant::now();
        let rows: Vec<&[f64]> = values.chunks_exact(problem.features().len()).collect();
        let people = People::from_own_units(problem.features(), &rows)?;
        let answers = recourse(&problem, &people)?;
        println!("{} {}", start.elapsed().as_secs_f64(), answers.len());
    }
    Ok(())
}
