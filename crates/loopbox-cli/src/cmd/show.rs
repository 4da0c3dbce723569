//! `loopbox show`.

use crate::options::{ReadOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::Result;
use loopbox_report::json::ReportView;
use loopbox_report::{json_text, text};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox hang.lbx
  loopbox show hang.lbx --full
  loopbox show - --plain < hang.lbx
  loopbox show hang.lbx --json")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Prints JSON (schema loopbox.report/1, see docs/json.md).
    #[arg(long, conflicts_with_all = ["plain", "full"])]
    json: bool,
    /// Shows every node of every stack tree.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let loaded = input::load(&args.file, &args.reading)?;
    let (analysis, diagnosis) = (&loaded.analysis, &loaded.diagnosis());
    if args.json {
        output::write_plain(json_text(&ReportView::new(analysis, diagnosis))?)?;
    } else {
        output::write_text(
            &text::show(analysis, diagnosis, text::Options { full: args.full }),
            &args.terminal,
        )?;
    }
    Ok(loaded.outcome())
}
