//! wireproof proves what a network path really does.

mod cli;
mod commands;
mod exit;
mod identity;
mod output;
mod paths;
mod progress;
mod references;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run(cli::read()).into()
}
