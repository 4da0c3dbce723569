//! `loopbox flame`.

use crate::options::MappingOptions;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result};
use loopbox_report::flame;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Draws the stacks of message N, or after-N for what ran outside of messages after it; without it, those of the dump.
    #[arg(long, value_name = "N", value_parser = loopbox_report::parse_token)]
    token: Option<u64>,
    /// Sums up equal call paths instead of keeping the order of time; without --token, of all messages.
    #[arg(long)]
    merged: bool,
    /// Writes the SVG to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    mapping: MappingOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let loaded = input::load(&args.file, &args.mapping)?;
    let choice = flame::TreeChoice { token: args.token, merged: args.merged };
    let mut svg = Vec::new();
    flame::write(&loaded.analysis, choice, &mut svg).with_context(|| args.file.display().to_string())?;
    output::write_bytes(&svg, args.output.as_deref())?;
    Ok(loaded.outcome())
}
