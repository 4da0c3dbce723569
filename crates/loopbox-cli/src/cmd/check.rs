//! `loopbox check`.

use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::{Result, bail};
use loopbox_report::{Analysis, Issue, invariant_violations};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox check hang.lbx
  loopbox check reports/*.lbx")]
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
            Ok(Faults { damage, lost }) => {
                usable += 1;
                intact += usize::from(damage.is_empty() && lost.is_empty());
                let state = match (damage.is_empty(), lost.is_empty()) {
                    (false, _) => "damaged",
                    (true, false) => "incomplete: not all of the ring that it is from could be recovered",
                    (true, true) => "intact",
                };
                let _ = writeln!(text, "{}: {state}", output::shown(file));
                for fault in damage.iter().chain(&lost) {
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

/// The faults of a report, in words.
struct Faults {
    damage: Vec<String>,
    /// What had already been lost in the ring that the report was recovered from.
    lost: Vec<String>,
}

/// Finds the faults of a file.
///
/// # Errors
/// When the file is not a report.
fn check(file: &Path) -> Result<Faults> {
    let analysis = Analysis::new(&input::decode_report(file)?);
    let mut damage: Vec<String> = analysis.issues.iter().map(Issue::to_string).collect();
    damage.extend(invariant_violations(&analysis));
    Ok(Faults { damage, lost: analysis.lost })
}
