//! The score of everybody in a table, one line each: `scores problem.toml people.csv`.
//!
//! A score is the logit minus that of the threshold: favourable iff not negative.

use std::io::{BufWriter, Write};

use surefoot::{People, Problem};
use surefoot_cli::table::Table;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(problem), Some(people)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("give a problem file and a table of people");
    };
    let problem = Problem::read(problem)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for batch in Table::open(people)?.select(&problem.features().names(), &[])? {
        let rows: Vec<Vec<f64>> = batch?.numbers.rows().into_iter().map(|row| row.to_vec()).collect();
        for individual in People::from_own_units(problem.features(), &rows)?.iter() {
            writeln!(out, "{}", problem.score(individual))?;
        }
    }
    Ok(out.flush()?)
}
