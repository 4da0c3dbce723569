//! `cargo xtask book`: the pages of `docs` as one book, after a check of every link in the repository's
//! pages.

mod links;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use loopbox_setup::command;
use loopbox_setup::workspace::root;

use crate::prebuilt::MDBOOK;

pub(crate) fn run() -> Result<()> {
    println!("{}", build()?.join("index.html").display());
    Ok(())
}

/// Builds the book; returns the folder that it is in.
///
/// # Errors
/// When a link of any page in the repository leads nowhere, a page is missing in the table of contents, or
/// mdBook reports a warning or an error.
pub(crate) fn build() -> Result<PathBuf> {
    let faults = links::faults(&root())?;
    ensure!(faults.is_empty(), "in the documentation:\n  {}", faults.join("\n  "));
    let built = command::outcome(Command::new(MDBOOK.ensure()?).arg("build").arg(root().join("docs")))?;
    let warned = built.errors.lines().any(|line| line.contains("WARN") || line.contains("ERROR"));
    ensure!(built.status.success() && !warned, "mdBook says:\n{}", built.errors);
    Ok(root().join("target/book"))
}
