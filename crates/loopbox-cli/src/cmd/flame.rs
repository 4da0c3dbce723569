//! `loopbox flame`.

use crate::destination::Destination;
use crate::input;
use crate::options::ReadOptions;
use crate::outcome::Outcome;
use anyhow::{Context, Result};
use loopbox_format::model::Token;
use loopbox_report::flame;
use std::path::PathBuf;
use std::slice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox flame hang.lbx -o hang.svg
  loopbox flame hang.lbx --merged -o all.svg
  loopbox flame hang.lbx --token 46 > message.svg")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx), or an ANR trace as text.
    file: PathBuf,
    /// Draws the stacks of message N; with after-N, of what ran outside of messages after message N. Without
    /// this option, draws the stacks of the dump.
    #[arg(long, value_name = "N")]
    token: Option<Token>,
    /// Sums up equal call paths instead of keeping the order of time. Without --token, this covers the stacks
    /// of all messages.
    #[arg(long)]
    merged: bool,
    /// Writes the SVG to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let destination = Destination::new(args.output.as_deref(), slice::from_ref(&args.file))?;
    let loaded = input::load(&args.file, &args.reading)?;
    let choice = flame::TreeChoice { token: args.token, merged: args.merged };
    let mut svg = Vec::new();
    flame::write(&loaded.analysis, choice, &mut svg).with_context(|| args.file.display().to_string())?;
    destination.write(&svg)?;
    Ok(loaded.outcome())
}
