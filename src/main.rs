//! wireproof measures a network path and proves each figure.

mod cli;
mod commands;
mod exit;
mod identity;
mod output;
mod paths;
mod profiles;
mod progress;
mod references;
mod resets;
mod zone;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::answer_shell();
    commands::run(cli::read()).into()
}
