//! `loopbox diagnose`.

use crate::options::{ReadOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::Result;
use clap::ValueEnum;
use loopbox_report::export::{TicketFormat, ticket};
use loopbox_report::{json_text, text};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox diagnose hang.lbx
  loopbox diagnose hang.lbx --mapping mapping.txt
  loopbox diagnose hang.lbx --json
  loopbox diagnose hang.lbx --format markdown > ticket.md
  loopbox diagnose hang.lbx --format slack > message.json")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx), or an ANR trace as text.
    file: PathBuf,
    /// Prints JSON: the member `verdict` of schema loopbox.report/1.
    #[arg(long, conflicts_with_all = ["plain", "format"])]
    json: bool,
    /// Prints the verdict as the text of a ticket.
    #[arg(long, value_enum, conflicts_with = "plain")]
    format: Option<Format>,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For trackers and pull requests: CommonMark.
    Markdown,
    /// For a Slack webhook: JSON.
    Slack,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let loaded = input::load(&args.file, &args.reading)?;
    if args.json {
        output::write_plain(json_text(&loaded.diagnosis())?)?;
    } else if let Some(format) = args.format {
        let format = match format {
            Format::Markdown => TicketFormat::Markdown,
            Format::Slack => TicketFormat::Slack,
            Format::Sarif => TicketFormat::Sarif,
        };
        let path = args.file.to_string_lossy();
        output::write_plain(&ticket(format, &loaded.analysis, &loaded.diagnosis(), &path)?)?;
    } else {
        output::write_text(&text::diagnosis(&loaded.analysis, &loaded.diagnosis()), &args.terminal)?;
    }
    Ok(loaded.outcome())
}
