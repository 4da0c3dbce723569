//! `loopbox retrace`.

use crate::args::{Mappings, Terminal};
use crate::mapping::Mapper;
use crate::{Outcome, input, output};
use anyhow::{Context, Result, anyhow};
use loopbox_report::{View, text};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx).
    file: PathBuf,
    #[command(flatten)]
    mapping: RequiredMapping,
    /// Writes a report file with the names of the source; without it the report is printed as by `show`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    terminal: Terminal,
}

#[derive(Debug, clap::Args)]
struct RequiredMapping {
    /// R8's or ProGuard's mapping.txt of the build that the report is of.
    #[arg(long = "mapping", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mapper = Mapper::load(&Mappings { files: args.mapping.files.clone() })?;
    let mut decoded = input::decode(&args.file)?;
    mapper.apply(&mut decoded.report).map_err(|why| anyhow!("{}: {why}", args.file.display()))?;
    let opened = input::Opened::new(&args.file, decoded);
    if let Some(path) = &args.output {
        let bytes =
            loopbox_format::report::encode(&opened.decoded.report).context("the report cannot be encoded")?;
        output::bytes(&bytes, Some(path))?;
    } else {
        let view = View::new(&opened.analysis);
        output::text(&text::show(&view, text::Options::default()), &args.terminal)?;
    }
    Ok(opened.outcome())
}
