//! `loopbox check`.

use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Result, bail};
use loopbox_report::{Analysis, Issue, invariant_violations};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Reports, or ring files that were pulled from a device.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let (mut usable, mut intact, mut text) = (0, 0, String::new());
    for file in &args.files {
        match check(file) {
            Ok(faults) => {
                usable += 1;
                intact += usize::from(faults.is_empty());
                let state = if faults.is_empty() { "intact" } else { "damaged" };
                let _ = writeln!(text, "{}: {state}", output::harmless(&file.display().to_string()));
                for fault in faults {
                    let _ = writeln!(text, "  {fault}");
                }
            }
            Err(error) if args.files.len() == 1 => return Err(error),
            Err(error) => output::print_error(format_args!("{error:#}")),
        }
    }
    output::write_text(&text, &args.terminal)?;
    match (usable, intact == args.files.len()) {
        (0, _) => bail!("none of {} files is a report", args.files.len()),
        (_, true) => Ok(Outcome::Complete),
        (_, false) => Ok(Outcome::Partial),
    }
}

/// What is wrong with a report, in words.
///
/// # Errors
/// When the file is not a report.
fn check(file: &Path) -> Result<Vec<String>> {
    let analysis = Analysis::new(&input::decode(file)?);
    let mut faults: Vec<String> = analysis.issues.iter().map(Issue::to_string).collect();
    faults.extend(invariant_violations(&analysis));
    Ok(faults)
}
