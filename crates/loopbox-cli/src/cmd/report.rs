//! `loopbox report`.

use crate::options::MappingOptions;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::Result;
use loopbox_report::html;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Writes the page to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    mapping: MappingOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let loaded = input::load(&args.file, &args.mapping)?;
    output::write_bytes(html::page(&loaded.analysis, &loaded.view())?.as_bytes(), args.output.as_deref())?;
    Ok(loaded.outcome())
}
