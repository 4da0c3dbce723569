//! The `loopbox` command: what the recorder left on a device, read on a desk.
//!
//! It is thin: it reads files, calls `loopbox-report` and writes what that says.
//!
//! Exit codes: 0 all is well; 1 nothing could be done; 2 something was shown, but a file is damaged or was
//! skipped; 64 the command line is wrong.
#![forbid(unsafe_code)]

mod args;
mod cmd;
mod fleet;
mod input;
mod mapping;
mod output;

use clap::Parser;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Done,
    /// Something was shown, but not everything that should have been there.
    Partial,
}

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let wrong = error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if wrong { 64 } else { 0 });
        }
    };
    match cmd::run(args) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(2),
        Err(error) if error.is::<clap::Error>() => {
            output::complain(format_args!("{error}"));
            ExitCode::from(64)
        }
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
