//! `loopbox retrace`.

use crate::config::app_packages;
use crate::destination::Destination;
use crate::mapping::Mapper;
use crate::options::{PackageOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, anyhow};
use loopbox_report::text;
use std::path::PathBuf;
use std::slice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox retrace hang.lbx --mapping mapping.txt
  loopbox retrace hang.lbx --mapping mapping.txt -o readable.lbx")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    #[command(flatten)]
    mapping: RequiredMapping,
    /// Writes the deobfuscated report to this file, instead of printing it as `show` does.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    packages: PackageOptions,
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
    let destination = Destination::new(args.output.as_deref(), slice::from_ref(&args.file))?;
    let mapper = Mapper::load(&args.mapping.files)?;
    let packages = app_packages(&args.packages)?;
    let mut decoded = input::decode(&args.file)?;
    mapper.apply(&mut decoded.report).map_err(|why| anyhow!("{}: {why}", args.file.display()))?;
    let loaded = input::LoadedReport::new(&args.file, decoded, &packages);
    if args.output.is_some() {
        let bytes =
            loopbox_format::report::encode(&loaded.decoded.report).context("the report cannot be encoded")?;
        destination.write(&bytes)?;
    } else {
        output::write_text(
            &text::show(&loaded.analysis, &loaded.diagnosis(), text::Options::default()),
            &args.terminal,
        )?;
    }
    Ok(loaded.outcome())
}
