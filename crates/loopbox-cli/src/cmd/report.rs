//! `loopbox report`.

use crate::destination::Destination;
use crate::options::{ReadOptions, SymbolOptions};
use crate::outcome::Outcome;
use crate::symbols::symbolize;
use crate::{input, output};
use anyhow::Result;
use loopbox_report::html;
use std::path::PathBuf;
use std::slice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox report hang.lbx -o hang.html
  loopbox report hang.lbx --mapping mapping.txt --symbols symbols/ -o hang.html")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx), or an ANR trace as text.
    file: PathBuf,
    /// Writes the page to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    symbols: SymbolOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let destination = Destination::new(args.output.as_deref(), slice::from_ref(&args.file))?;
    let mut loaded = input::load(&args.file, &args.reading)?;
    let native = loaded.analysis.main_thread.as_mut().and_then(|main| main.native.as_mut());
    if let Some(native) = native.filter(|_| !args.symbols.folders.is_empty()) {
        for missing in symbolize(native, &args.symbols.folders)? {
            output::print_error(format_args!("no symbols: {missing}"));
        }
    }
    destination.write(html::page(&loaded.analysis, &loaded.diagnosis())?.as_bytes())?;
    Ok(loaded.outcome())
}
