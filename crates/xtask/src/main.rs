//! `cargo xtask`: one module per command, this file only dispatches.
#![forbid(unsafe_code)]

mod android;
mod bench;
mod bionic;
mod book;
#[cfg(test)]
mod conventions;
#[cfg(test)]
mod cycles;
mod demo;
mod offsets;
#[cfg(test)]
mod options;
mod phone;
mod prebuilt;
mod release;
mod run;
mod stress;
mod suite;
mod testbed;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use loopbox_setup::warm_jvm;

/// The commands of the Loopbox workspace: set-up, tests, measurements, packaging
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the Android libraries as they ship, and check them
    Android(android::AndroidArgs),
    /// Measure, as ratios within one run
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Run the shipped library on the C libraries of devices
    Bionic(bionic::BionicArgs),
    /// Build the book of the documentation, and check every link in it
    Book,
    /// The main job, once: an app hangs on a real Android Runtime, its report is written and shown
    Demo,
    /// The ART layout tables: check them, or compare a library with them
    Offsets(offsets::OffsetsArgs),
    /// Run everything on a phone, through adb, and write down what was seen
    Phone(phone::PhoneArgs),
    /// Make the folder of a release and check it, or check one that is there
    Release(release::ReleaseArgs),
    /// Run an app of your own on a testbed, and list the reports that it left
    Run(run::RunArgs),
    /// Run for long what tests run briefly
    #[command(subcommand)]
    Stress(stress::StressCommand),
    /// Run every check, as CI does
    Test(suite::TestArgs),
    /// Set testbeds up: real Android Runtimes to run tests on
    Testbed(testbed::TestbedArgs),
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == warm_jvm::CLIENT
    {
        return warm_jvm::client(rest).unwrap_or_else(|error| failed(&error));
    }
    let result = match Cli::parse().command {
        Command::Run(args) => return run::run(&args).unwrap_or_else(|error| failed(&error)),
        Command::Android(args) => android::run(args),
        Command::Bench(command) => bench::run(&command),
        Command::Bionic(args) => bionic::run(args),
        Command::Book => book::run(),
        Command::Demo => demo::demo(),
        Command::Offsets(args) => offsets::run(&args),
        Command::Phone(args) => phone::run(args),
        Command::Release(args) => release::run(&args),
        Command::Stress(command) => stress::run(&command),
        Command::Test(args) => suite::test(&args),
        Command::Testbed(args) => testbed::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}
