//! `loopbox export`.

use crate::args::Mappings;
use crate::{Outcome, input, output};
use anyhow::{Context, Error, Result, bail};
use clap::ValueEnum;
use clap::error::ErrorKind;
use loopbox_report::export;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What to write.
    #[arg(short, long, value_enum)]
    format: Format,
    /// Writes the stacks of this message (seed); without it, of the one that was running at the dump.
    #[arg(long, value_name = "N")]
    token: Option<u64>,
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
    /// The article's text of one stack tree: name;count;offset;children;
    Seed,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let [file] = args.paths.as_slice() else {
        return Err(wrong("this format holds one report; give one PATH"));
    };
    if args.token.is_some() && args.format != Format::Seed {
        return Err(wrong("--token is for --format seed; the other formats hold all stacks"));
    }
    let format = match args.format {
        Format::Json => export::Format::Json,
        Format::Perfetto => export::Format::Perfetto,
        Format::Chrome => export::Format::Chrome,
        Format::Firefox => export::Format::Firefox,
        Format::Speedscope => export::Format::Speedscope,
        Format::Collapsed => export::Format::Collapsed,
        Format::Seed => return seed(args, file),
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

fn wrong(what: &'static str) -> Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, what).into()
}

fn seed(args: &Args, file: &Path) -> Result<Outcome> {
    let opened = input::open(file, &args.mapping)?;
    let text = export::seed(&opened.decoded.report, &opened.analysis, args.token);
    let text = text.with_context(|| file.display().to_string())? + "\n";
    output::bytes(text.as_bytes(), args.output.as_deref())?;
    Ok(opened.outcome())
}
