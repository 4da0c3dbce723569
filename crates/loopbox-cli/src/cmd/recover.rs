//! `loopbox recover`.

use crate::destination::Destination;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::slice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox recover pulled.lbr -o recovered.lbx")]
pub(crate) struct Args {
    /// The ring file (it ends in .lbr) from the app's no-backup folder.
    #[arg(value_name = "RING")]
    ring: PathBuf,
    /// Writes the report to this file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let destination = Destination::new(Some(&args.output), slice::from_ref(&args.ring))?;
    let name = || args.ring.display().to_string();
    let bytes = input::read(&args.ring)?.bytes;
    let ring = loopbox_store::recover(&bytes).with_context(name)?;
    let report = loopbox_format::report::encode(&ring.report).with_context(name)?;
    destination.write(&report)?;
    for damage in &ring.damage {
        output::print_error(format_args!("warning: {}: {damage}", args.ring.display()));
    }
    Ok(if ring.damage.is_empty() { Outcome::Complete } else { Outcome::Partial })
}
