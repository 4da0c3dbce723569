#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod args;
mod attachment;
mod batch;
mod cmd;
mod config;
mod configuration;
mod destination;
mod display_frames;
mod document;
mod duplicates;
mod input;
mod mapping;
mod monitor_files;
mod options;
mod outcome;
mod output;
mod server;
mod symbols;

use args::Args;
use outcome::Outcome;
use std::process::ExitCode;

/// With musl's allocator, which the static command would have by default, a folder of reports takes 1.4 times
/// as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// The exit code for a wrong command line (`EX_USAGE` of sysexits.h).
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let args = match Args::read(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => {
            // `--help` and `--version` arrive here, too.
            let is_error = error.use_stderr();
            let _ = error.print();
            return if is_error { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match cmd::run(args.command, Args::definition) {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(2),
        Ok(Outcome::Failed) => ExitCode::from(3),
        Err(error) if error.is::<clap::Error>() => {
            output::print_lines(&error.to_string());
            ExitCode::from(USAGE)
        }
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
