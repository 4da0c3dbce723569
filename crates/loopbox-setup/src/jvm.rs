//! Runs Java programs on the JVM that the compilers use. These programs do not need Android.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::{path_list, run};
use crate::tools::Tools;

/// Compiles the sources, runs `main` of `class` and returns what it printed.
///
/// # Errors
/// When the sources do not compile, or the program ends with a fault.
pub fn run_main(sources: &[PathBuf], class: &str, arguments: &[String]) -> Result<String> {
    let classes = tempfile::tempdir().context("no folder to compile in")?;
    compile(sources, &[], classes.path())?;
    run_on(&[classes.path().to_owned()], class, arguments)
}

/// Compiles the sources, which need `class_path`, into the folder `classes`.
///
/// # Errors
/// When they do not compile.
pub fn compile(sources: &[PathBuf], class_path: &[PathBuf], classes: &Path) -> Result<()> {
    let mut javac = Tools::ensure()?.javac();
    javac.args(["-nowarn", "-proc:none", "-cp", &path_list(class_path), "-d"]).arg(classes);
    run(javac.args(sources))?;
    Ok(())
}

/// Runs `main` of `class` and returns what it printed.
///
/// # Errors
/// When the program ends with a fault.
pub fn run_on(class_path: &[PathBuf], class: &str, arguments: &[String]) -> Result<String> {
    run(Tools::ensure()?.java().args(["-cp", &path_list(class_path), class]).args(arguments))
}
