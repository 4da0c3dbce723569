//! Runs Java that needs nothing of Android on the JVM that the compilers run on.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::command::run;
use crate::tools::Tools;

/// Compiles the sources, runs `main` of `class` and returns what it printed.
///
/// # Errors
/// When the sources do not compile, or the program ends with a fault.
pub fn run_main(sources: &[PathBuf], class: &str, arguments: &[String]) -> Result<String> {
    let tools = Tools::ensure()?;
    let classes = tempfile::tempdir().context("no folder to compile in")?;
    run(tools.javac().args(["-nowarn", "-proc:none", "-d"]).arg(classes.path()).args(sources))?;
    run(tools.java().arg("-cp").arg(classes.path()).arg(class).args(arguments))
}
