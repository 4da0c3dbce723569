//! `loopbox monitor`.

use crate::batch::walk_error;
use crate::destination::Destination;
use crate::monitor_files::{self, MonitorFiles};
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Result, bail};
use loopbox_monitor::{Summary, html, text, uiperf};
use loopbox_report::json_text;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox monitor uiperf-2026-11-22.jsonl
  loopbox monitor uiperf/ --html -o week.html
  loopbox monitor uiperf/ --uiperf")]
pub(crate) struct Args {
    /// Files of the performance monitor, as they are or packed by gzip, and folders that are searched for
    /// those that end in .jsonl or .jsonl.gz.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Prints JSON (schema loopbox.monitor/1, see docs/monitor.md).
    #[arg(long, conflicts_with_all = ["html", "uiperf"])]
    json: bool,
    /// Writes one self-contained HTML page with charts.
    #[arg(long, conflicts_with = "uiperf")]
    html: bool,
    /// Writes each stall as an entry of the text log that is known as uiperf.
    #[arg(long)]
    uiperf: bool,
    /// Shows at most this number of scenes, of messages and of stacks.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let destination = Destination::new(args.output.as_deref(), &args.paths)?;
    let MonitorFiles { files, unread } = MonitorFiles::find(&args.paths);
    unread.iter().for_each(|error| output::print_error(format_args!("{}", walk_error(error))));
    if files.is_empty() && unread.is_empty() {
        bail!("no file found: folders are searched for files that end in .jsonl or .jsonl.gz");
    }
    let (mut summary, mut log, mut used) = (Summary::default(), String::new(), 0);
    for path in &files {
        match monitor_files::read(path) {
            Ok(bytes) => {
                used += 1;
                summary.add(&bytes);
                if args.uiperf {
                    log.push_str(&uiperf(&bytes));
                }
            }
            Err(error) => output::print_error(format_args!("{error:#}")),
        }
    }
    if used == 0 {
        bail!("none of {} files could be used", files.len() + unread.len());
    }
    let view = summary.view();
    if args.json {
        destination.write(json_text(&view)?.as_bytes())?;
    } else if args.html {
        destination.write(html(&view, args.limit).as_bytes())?;
    } else if args.uiperf {
        destination.write(log.as_bytes())?;
    } else if args.output.is_some() {
        let text = anstream::adapter::strip_str(&text(&view, args.limit)).to_string();
        destination.write(text.as_bytes())?;
    } else {
        output::write_text(&text(&view, args.limit), &args.terminal)?;
    }
    let complete = used == files.len() && unread.is_empty() && view.cut_lines == 0;
    Ok(if complete { Outcome::Complete } else { Outcome::Partial })
}
