//! `loopbox report`.

use crate::args::Mappings;
use crate::{Outcome, input, output};
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
    mapping: Mappings,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let opened = input::open(&args.file, &args.mapping)?;
    output::bytes(html::page(&opened.analysis)?.as_bytes(), args.output.as_deref())?;
    Ok(opened.outcome())
}
