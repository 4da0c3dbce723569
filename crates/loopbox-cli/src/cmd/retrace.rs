//! `loopbox retrace`.

use crate::mapping::Mapper;
use crate::options::{MappingOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, anyhow};
use loopbox_report::text;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    #[command(flatten)]
    mapping: RequiredMapping,
    /// Writes the deobfuscated report to this file, instead of printing it as `show` does.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    terminal: TerminalOptions,
}

#[derive(Debug, clap::Args)]
struct RequiredMapping {
    /// R8's or ProGuard's mapping.txt of the build that the report is of.
    #[arg(long = "mapping", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mapper = Mapper::load(&MappingOptions { files: args.mapping.files.clone() })?;
    let mut decoded = input::decode(&args.file)?;
    mapper.apply(&mut decoded.report).map_err(|why| anyhow!("{}: {why}", args.file.display()))?;
    let loaded = input::LoadedReport::new(&args.file, decoded);
    if let Some(path) = &args.output {
        let bytes =
            loopbox_format::report::encode(&loaded.decoded.report).context("the report cannot be encoded")?;
        output::write_bytes(&bytes, Some(path))?;
    } else {
        let view = loaded.view();
        output::write_text(&text::show(&view, text::Options::default()), &args.terminal)?;
    }
    Ok(loaded.outcome())
}
