//! `loopbox flame`.

use crate::args::Mappings;
use crate::{Outcome, input, output};
use anyhow::{Context, Result};
use loopbox_report::flame;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Draws the stacks of this message; without it, of the one that was running at the dump.
    #[arg(long, value_name = "N")]
    token: Option<u64>,
    /// Sums up equal call paths instead of keeping the order of time; without --token those of all messages.
    #[arg(long)]
    merged: bool,
    /// Writes the SVG to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    mapping: Mappings,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let opened = input::open(&args.file, &args.mapping)?;
    let choice = flame::Choice { token: args.token, merged: args.merged };
    let mut svg = Vec::new();
    flame::write(&opened.analysis, choice, &mut svg).with_context(|| args.file.display().to_string())?;
    output::bytes(&svg, args.output.as_deref())?;
    Ok(opened.outcome())
}
