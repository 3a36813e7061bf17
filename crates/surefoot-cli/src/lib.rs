//! The command `surefoot`: robust causal recourse, with proof.
//!
//! [`run`] is the whole command. Other crates use the tables in files, the reading of graphs and the handling of
//! signals.
//! The commands are in the library because it is compiled while the engine is optimised; a binary
//! has to wait for the engine.

mod answers;
mod attack;
mod audit;
mod certify;
mod data;
mod demo;
mod effort;
mod epsilon;
mod fit;
mod formulas;
mod ids;
mod init;
pub mod interrupt;
mod letters;
mod outputs;
mod people;
mod recourse;
mod reproduce;
pub mod serve;
pub mod table;
mod theory;
mod trade_off;
mod train;
mod validate;
mod verify;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Recourse that still works if circumstances shift a little, with proof.
#[derive(Parser)]
#[command(name = "surefoot", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show everything on built-in data: loan applicants, a classifier, actions for the people it
    /// turns down, and attacks on these actions.
    Demo(demo::Options),
    /// Write a first problem file from a table of people.
    Init(init::Options),
    /// Show how a problem file and a table of people are read, or list every mistake in them.
    #[command(alias = "check")]
    Validate(validate::Options),
    /// Find an action for everybody in a table, with proof.
    Recourse(recourse::Options),
    /// Write a letter to everybody in a table: what was decided and why, what they can do, and what is
    /// proven, with a reference by which it is checked.
    Letters(letters::Options),
    /// Prove that actions, wherever they came from, hold or do not hold.
    Certify(certify::Options),
    /// Verify saved proofs with an independent checker.
    Verify(verify::Options),
    /// Try to break actions, wherever they came from, by the smallest shift of circumstances.
    Attack(attack::Options),
    /// State which groups of people have recourse and at which cost, with what is proven and how sure it is, as a
    /// page and as JSON; also about advice of others.
    Audit(audit::Options),
    /// Show what certainty costs one person: the cheapest action for each size of the uncertainty,
    /// and the largest size for which there is an action.
    TradeOff(trade_off::Options),
    /// State which share of errors the uncertainty of a problem covers, or how large it must be to cover a
    /// share; or write the correlations of a table of people into a problem file.
    Epsilon(epsilon::Options),
    /// State what the paper guarantees for a problem and its people: whether robust recourse exists, what
    /// it costs at most, how stable the cost is, and what breaks a minimum-cost action.
    Theory(theory::Options),
    /// Answer over HTTP what the other commands answer, and show a page on which people ask and try.
    Serve(serve::Options),
    /// Train a classifier that leaves the people it turns down something to do, and write it into a
    /// problem file.
    Train(train::Options),
    /// Fit structural equations to a table and a causal graph, and write them into a problem
    /// file.
    Fit(fit::Options),
    /// Repeat the paper's experiments, and write its figures and a report that compares the published
    /// numbers with the new ones.
    Reproduce(reproduce::Options),
    /// List the data sets of the paper, and download them.
    Data(data::Options),
}

/// What a command says, and whether what it was asked about holds.
struct CommandOutput {
    text: String,
    holds: bool,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> Self {
        Self { text, holds: true }
    }
}

/// Runs the command with the arguments of this process.
///
/// Exit codes: 0 done, 1 something asked for does not hold, 2 bad input.
pub fn run() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os()))
}

/// Runs the command with `arguments`, of which the first is the name of the program; its exit code.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(told) => {
            // Help and version are told in the same way, with the code 0. Nothing is left to be done if even this
            // cannot be written.
            let _ = told.print();
            return u8::try_from(told.exit_code()).unwrap_or(2);
        }
    };
    // The service writes no files, and ends by itself when a signal asks it to.
    if !matches!(arguments.command, Command::Serve(_)) {
        // Without it an interrupted run may leave something behind; that is no reason not to run.
        let _ = interrupt::remove_temporary_files_on_signals();
    }
    let result: anyhow::Result<CommandOutput> = match arguments.command {
        Command::Demo(options) => demo::run(&options).map(|report| report.to_string().into()),
        Command::Init(options) => init::run(&options).map(CommandOutput::from),
        Command::Validate(options) => validate::run(&options).map(CommandOutput::from),
        Command::Recourse(options) => recourse::run(&options).map(CommandOutput::from),
        Command::Letters(options) => letters::run(&options).map(CommandOutput::from),
        Command::Certify(options) => certify::run(&options),
        Command::Verify(options) => verify::run(&options),
        Command::Attack(options) => attack::run(&options),
        Command::Audit(options) => audit::run(&options).map(CommandOutput::from),
        Command::TradeOff(options) => trade_off::run(&options).map(CommandOutput::from),
        Command::Epsilon(options) => epsilon::run(&options).map(CommandOutput::from),
        Command::Theory(options) => theory::run(&options).map(CommandOutput::from),
        Command::Serve(options) => serve::run(&options).map(CommandOutput::from),
        Command::Train(options) => train::run(&options).map(CommandOutput::from),
        Command::Fit(options) => fit::run(&options).map(CommandOutput::from),
        Command::Reproduce(options) => reproduce::run(&options),
        Command::Data(options) => data::run(&options).map(CommandOutput::from),
    };
    let written = result.and_then(|said| {
        io::stdout().write_all(surefoot::escape_text(&said.text).as_bytes())?;
        Ok(said.holds)
    });
    report_leftovers();
    match written {
        Ok(true) => 0,
        Ok(false) => 1,
        // Whoever reads our output may stop early: `surefoot demo | head`.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            warn(&format!("{error:#}"));
            2
        }
    }
}

/// Every command with the names of its options and arguments: `("data fetch", ["--from", ...])`.
pub fn commands() -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut waiting: Vec<(String, clap::Command)> = vec![(String::new(), Arguments::command())];
    while let Some((name, command)) = waiting.pop() {
        let of_subcommand =
            |inner: &clap::Command| (format!("{name} {}", inner.get_name()).trim().to_owned(), inner.clone());
        let inner: Vec<(String, clap::Command)> = command.get_subcommands().map(of_subcommand).collect();
        if inner.is_empty() {
            let named = |argument: &clap::Arg| match argument.get_long() {
                Some(long) => format!("--{long}"),
                None => argument.get_id().to_string(),
            };
            let visible = command.get_arguments().filter(|argument| !argument.is_hide_set());
            found.push((name, visible.map(named).collect()));
        }
        waiting.extend(inner);
    }
    found.sort();
    found
}

/// The graph of a text as `surefoot fit --graph` reads it: features with their causes. DOT, GML, or lines such as
/// `age, sex -> income`.
///
/// # Errors
/// If the text is no directed graph.
pub fn parse_graph(text: &str) -> anyhow::Result<Vec<(String, Vec<String>)>> {
    fit::graph::parse(text)
}

/// Names the temporary files of killed runs that were removed.
fn report_leftovers() {
    for path in surefoot::file::removed_leftovers() {
        warn(&format!("removed {}, a temporary file of an earlier run that was killed", path.display()));
    }
}

/// Writes a message to standard error, with what would act on a terminal escaped.
fn warn(message: &str) {
    let message = format!("surefoot: {message}\n");
    // Nothing is left to be done if even this cannot be written.
    let _ = io::stderr().write_all(surefoot::escape_text(&message).as_bytes());
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
