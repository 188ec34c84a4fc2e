//! wireproof proves what a network path really does.

mod cli;
mod commands;
mod exit;
mod identity;
mod paths;
mod progress;
mod record;
mod references;
mod under_way;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run(cli::read()).into()
}
