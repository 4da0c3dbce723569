//! `cargo xtask run`: your own app on a testbed, with the recorder, to reproduce a hang.

mod main_class;
mod reports;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab_launch::Launcher;
use loopbox_setup::workspace::{root, target};

/// Run an app of your own on a testbed, and list the reports that it left.
///
/// The sources, of Java 17 or Kotlin, are compiled against Loopbox's public API and the testbed's framework.
/// `java.io.tmpdir` is a new folder: reports that the app puts there are listed at the end, each with its
/// reason and its verdict. The exit code is the app's.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The testbed: art10, art11, ...
    testbed: String,
    /// Sources of Java or Kotlin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The class whose `main(String[])` runs; by default the only class of the sources that has one
    #[arg(long, value_name = "CLASS")]
    main: Option<String>,
    /// An environment variable of the app; may be repeated
    #[arg(long, value_name = "K=V", value_parser = variable)]
    env: Vec<(String, String)>,
    /// With the library exactly as it ships, in place of the one with debug assertions
    #[arg(long)]
    shipped: bool,
    /// Arguments of `main`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable is written NAME=VALUE".into()),
    }
}

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    for file in &args.files {
        ensure!(file.is_file(), "there is no file {}", file.display());
        let is_source = file.extension().is_some_and(|end| end == "java" || end == "kt");
        ensure!(is_source, "{} is no source of Java or Kotlin", file.display());
    }
    let main = match &args.main {
        Some(main) => main.clone(),
        None => main_class::only(&args.files)?,
    };
    let folder = new_folder(&target().join("run"))?;
    let mut launcher = Launcher::of_sources(&args.testbed, &args.files, folder.join("app.jar"))?;
    if args.shipped {
        launcher = launcher.with_shipped_library()?;
    }
    let shown = folder.strip_prefix(root()).unwrap_or(&folder);
    let mut app = launcher.app(&main).property("java.io.tmpdir", folder.display());
    for (name, value) in &args.env {
        app = app.env(name, value);
    }
    for argument in &args.arguments {
        app = app.argument(argument);
    }
    let status = app.run(|pid| {
        let testbed = &args.testbed;
        eprintln!("{main} runs on {testbed} as process {pid}; java.io.tmpdir is {}", shown.display());
    })?;
    eprintln!("{main} ended: {status}");
    print!("{}", reports::listed(&folder, shown)?);
    Ok(code(status))
}

/// The exit code as a shell reports it.
fn code(status: ExitStatus) -> ExitCode {
    let of_signal = || status.signal().map_or(1, |signal| 128 + signal);
    ExitCode::from(u8::try_from(status.code().unwrap_or_else(of_signal)).unwrap_or(1))
}

/// Creates the next of the numbered folders of runs.
fn new_folder(runs: &Path) -> Result<PathBuf> {
    fs::create_dir_all(runs).with_context(|| format!("cannot create {}", runs.display()))?;
    let mut last = 0;
    for entry in fs::read_dir(runs).with_context(|| format!("cannot read {}", runs.display()))? {
        let number = entry?.file_name().to_string_lossy().parse::<u32>();
        last = last.max(number.unwrap_or(0));
    }
    loop {
        last += 1;
        let folder = runs.join(last.to_string());
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            // Another run was quicker.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot create {}", folder.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_a_separate_folder_and_later_ones_higher_numbers() {
        let runs = tempfile::tempdir().unwrap();
        fs::create_dir(runs.path().join("9")).unwrap();
        fs::create_dir(runs.path().join("notes")).unwrap();
        assert_eq!(new_folder(runs.path()).unwrap(), runs.path().join("10"));
        assert_eq!(new_folder(runs.path()).unwrap(), runs.path().join("11"));
    }

    #[test]
    fn a_variable_has_a_name_and_a_value_that_may_be_empty() {
        assert_eq!(variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert_eq!(variable("A="), Ok(("A".into(), String::new())));
        assert!(variable("A").is_err() && variable("=b").is_err());
    }
}
