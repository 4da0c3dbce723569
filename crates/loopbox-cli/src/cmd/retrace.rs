//! `loopbox retrace`.

use crate::config::app_packages;
use crate::destination::Destination;
use crate::input::STDIO;
use crate::mapping::Mapper;
use crate::options::{PackageOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Context, Result, anyhow};
use loopbox_report::{text, text_of};
use std::path::PathBuf;
use std::slice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox retrace hang.lbx --mapping mapping.txt
  loopbox retrace hang.lbx --mapping mapping.txt -o readable.lbx
  loopbox retrace anr_2026-11-26 --mapping mapping.txt
  loopbox retrace --mapping mapping.txt.gz < logcat.txt")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx), or any text with stack traces; without it, stdin.
    #[arg(default_value = STDIO, hide_default_value = true)]
    file: PathBuf,
    #[command(flatten)]
    mapping: RequiredMapping,
    /// Writes the deobfuscated report or text to this file instead of stdout. A report is written as `show`
    /// prints it; in a text only names change.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    packages: PackageOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

#[derive(Debug, clap::Args)]
struct RequiredMapping {
    /// R8's or ProGuard's mapping.txt of the build that the report is of, as it is or packed by gzip.
    #[arg(long = "mapping", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let destination = Destination::new(args.output.as_deref(), slice::from_ref(&args.file))?;
    let mapper = Mapper::load(&args.mapping.files)?;
    let packages = app_packages(&args.packages)?;
    let unpacked = input::read(&args.file)?;
    if input::is_text(&unpacked.bytes) {
        return text(args, &mapper, &unpacked.bytes, &destination);
    }
    let mut decoded = input::decode_unpacked(unpacked, &args.file, None)?.decoded;
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

/// Deobfuscates any text: only names change in it.
fn text(args: &Args, mapper: &Mapper, bytes: &[u8], destination: &Destination<'_>) -> Result<Outcome> {
    let name = || args.file.display().to_string();
    let text = text_of(bytes).with_context(|| format!("{}: neither a report nor a text", name()))?;
    let retraced = mapper.retrace_text(&text).map_err(|why| anyhow!("{}: {why}", name()))?;
    destination.write(retraced.text.as_bytes())?;
    if retraced.renamed == 0 {
        output::print_error(format_args!("warning: {}: nothing was renamed: {}", name(), retraced.missing));
        return Ok(Outcome::Partial);
    }
    Ok(Outcome::Complete)
}
