//! The command `surefoot`: robust causal recourse, with proof.

use std::process::ExitCode;

fn main() -> ExitCode {
    surefoot_cli::run()
}
