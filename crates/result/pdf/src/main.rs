//! Sets the PDF reports of wireproof, which starts it from beside its own file: a Typst document as JSON on standard input
//! (`model::Typeset`), a PDF on standard output.

use std::{
    env,
    error::Error,
    io::{self, IsTerminal, Read, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    if env::args_os().len() > 1 || io::stdin().is_terminal() {
        eprintln!("wireproof-pdf sets PDF reports for wireproof, which starts it: wireproof report RUN --format pdf");
        return ExitCode::from(2);
    }
    set().map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn set() -> Result<(), Box<dyn Error>> {
    let mut typeset = Vec::new();
    io::stdin().read_to_end(&mut typeset)?;
    // A kernel without seccomp leaves it the rights of the user who called.
    let _ = wireproof_pdf::confine();
    let pdf = wireproof_pdf::pdf(serde_json::from_slice(&typeset)?)?;
    Ok(io::stdout().write_all(&pdf)?)
}
