//! `loopbox check`.

use crate::args::Terminal;
use crate::{Outcome, input, output};
use anyhow::{Result, bail};
use loopbox_report::{Analysis, broken_promises};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Reports, or rings that were pulled from a device.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    terminal: Terminal,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let (mut usable, mut sound, mut text) = (0, 0, String::new());
    for file in &args.files {
        match check(file) {
            Ok(faults) => {
                usable += 1;
                sound += usize::from(faults.is_empty());
                let state = if faults.is_empty() { "intact" } else { "damaged" };
                let _ = writeln!(text, "{}: {state}", file.display());
                for fault in faults {
                    let _ = writeln!(text, "  {fault}");
                }
            }
            Err(error) if args.files.len() == 1 => return Err(error),
            Err(error) => output::complain(format_args!("{error:#}")),
        }
    }
    output::text(&text, &args.terminal)?;
    match (usable, sound == args.files.len()) {
        (0, _) => bail!("none of {} files is a report", args.files.len()),
        (_, true) => Ok(Outcome::Done),
        (_, false) => Ok(Outcome::Partial),
    }
}

/// What is wrong with a report, in words; an error when it is none.
fn check(file: &Path) -> Result<Vec<String>> {
    let analysis = Analysis::new(&input::decode(file)?);
    let mut faults: Vec<String> = analysis
        .losses
        .iter()
        .map(|loss| match loss.offset {
            Some(offset) => format!("offset {offset}: {}", loss.what),
            None => loss.what.clone(),
        })
        .collect();
    faults.extend(broken_promises(&analysis));
    Ok(faults)
}
