//! The command `surefoot`: robust causal recourse, with proof.

mod check;
mod data;
mod demo;
mod fit;
mod init;
mod train;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Recourse that still works if circumstances shift a little, with proof.
#[derive(Parser)]
#[command(name = "surefoot", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the whole story on built-in data: loan applicants, a classifier, what those it
    /// turns down can do, and whether that holds.
    Demo(demo::Options),
    /// Write a first problem file from a table of people.
    Init(init::Options),
    /// Say what is understood of a problem file and of a table of people, or list every mistake.
    Check(check::Options),
    /// Train the classifier that decides, so that those it turns down can do something about
    /// it, and write it into a problem file.
    Train(train::Options),
    /// Fit structural equations to a table and a causal graph, and write them into a problem
    /// file.
    Fit(fit::Options),
    /// The data sets of the paper: what they are, and how to get them.
    Data(data::Options),
}

/// Exit codes: 0 done, 2 bad input.
fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo(options) => demo::run(&options).map(|report| report.to_string()),
        Command::Init(options) => init::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Train(options) => train::run(&options),
        Command::Fit(options) => fit::run(&options),
        Command::Data(options) => data::run(&options),
    };
    let written = result.and_then(|text| Ok(io::stdout().write_all(text.as_bytes())?));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output may stop early: `surefoot demo | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be done if even this cannot be written.
            let _ = writeln!(io::stderr(), "surefoot: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
