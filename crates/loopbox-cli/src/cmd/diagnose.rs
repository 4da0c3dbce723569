//! `loopbox diagnose`.

use crate::options::{ReadOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::Result;
use loopbox_report::text;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Prints JSON: the member `verdict` of schema loopbox.report/1.
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let loaded = input::load(&args.file, &args.reading)?;
    if args.json {
        output::write_plain(&(serde_json::to_string_pretty(&loaded.diagnosis())? + "\n"))?;
    } else {
        output::write_text(&text::diagnosis(&loaded.view()), &args.terminal)?;
    }
    Ok(loaded.outcome())
}
