//! `loopbox report`.

use crate::options::{MappingOptions, SymbolOptions};
use crate::outcome::Outcome;
use crate::symbols::symbolize;
use crate::{input, output};
use anyhow::Result;
use loopbox_report::html;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    /// Writes the page to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    mapping: MappingOptions,
    #[command(flatten)]
    symbols: SymbolOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut loaded = input::load(&args.file, &args.mapping)?;
    let native = loaded.analysis.main_thread.as_mut().and_then(|main| main.native.as_mut());
    if let Some(native) = native.filter(|_| !args.symbols.folders.is_empty()) {
        for missing in symbolize(native, &args.symbols.folders)? {
            output::print_error(format_args!("no symbols: {missing}"));
        }
    }
    output::write_bytes(html::page(&loaded.analysis, &loaded.view())?.as_bytes(), args.output.as_deref())?;
    Ok(loaded.outcome())
}
