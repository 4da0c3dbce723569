//! `loopbox export`.

use crate::args::Mappings;
use crate::{Outcome, input, output};
use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::error::ErrorKind;
use loopbox_report::export;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What to write.
    #[arg(short, long, value_enum)]
    format: Format,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    mapping: Mappings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Everything, as loopbox show --json (docs/json.md)
    Json,
    /// Protobuf trace for ui.perfetto.dev and trace_processor
    Perfetto,
    /// Trace Event Format for chrome://tracing
    Chrome,
    /// Processed profile for profiler.firefox.com
    Firefox,
    /// For speedscope.app
    Speedscope,
    /// One line a stack with its microseconds, for flame graph tools
    Collapsed,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let [file] = args.paths.as_slice() else {
        let what = "this format holds one report; give one PATH";
        return Err(clap::Error::raw(ErrorKind::TooManyValues, what).into());
    };
    let format = match args.format {
        Format::Json => export::Format::Json,
        Format::Perfetto => export::Format::Perfetto,
        Format::Chrome => export::Format::Chrome,
        Format::Firefox => export::Format::Firefox,
        Format::Speedscope => export::Format::Speedscope,
        Format::Collapsed => export::Format::Collapsed,
    };
    if format == export::Format::Perfetto && args.output.is_none() && io::stdout().is_terminal() {
        bail!("a Perfetto trace is not text: give a file with -o");
    }
    let opened = input::open(file, &args.mapping)?;
    let mut bytes = Vec::new();
    export::write(format, &opened.analysis, &mut bytes)?;
    output::bytes(&bytes, args.output.as_deref())?;
    Ok(opened.outcome())
}
