//! `loopbox diagnose`.

use crate::args::{Mappings, Terminal};
use crate::{Outcome, input, output};
use anyhow::Result;
use loopbox_report::{View, text};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Prints JSON: the member `verdict` of schema loopbox.report/1.
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    #[command(flatten)]
    mapping: Mappings,
    #[command(flatten)]
    terminal: Terminal,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let opened = input::open(&args.file, &args.mapping)?;
    let view = View::new(&opened.analysis);
    if args.json {
        output::plain(&(serde_json::to_string_pretty(&view.verdict)? + "\n"))?;
    } else {
        output::text(&text::diagnosis(&view), &args.terminal)?;
    }
    Ok(opened.outcome())
}
