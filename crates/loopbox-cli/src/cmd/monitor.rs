//! `loopbox monitor`.

use crate::destination::Destination;
use crate::input::STDIO;
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use loopbox_monitor::{Summary, html, text, uiperf};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The ends of the files that a folder is searched for.
const ENDS: [&str; 2] = [".jsonl", ".jsonl.gz"];
/// The most bytes of a file, unpacked: many times what an app keeps.
const MAX_LEN: u64 = 256 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox monitor uiperf-2026-11-22.jsonl
  loopbox monitor uiperf/ --html -o week.html
  loopbox monitor uiperf/ --uiperf")]
pub(crate) struct Args {
    /// Files of the performance monitor, as they are or packed by gzip, and folders that are searched for those that end in
    /// .jsonl or .jsonl.gz.
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
    let files = find(&args.paths)?;
    let (mut summary, mut log, mut used) = (Summary::default(), String::new(), 0);
    for path in &files {
        match read(path) {
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
        bail!("none of {} files could be used", files.len());
    }
    let view = summary.view();
    if args.json {
        destination.write((serde_json::to_string_pretty(&view)? + "\n").as_bytes())?;
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
    let complete = used == files.len() && view.cut_lines == 0;
    Ok(if complete { Outcome::Complete } else { Outcome::Partial })
}

/// The files that were named, and those of folders, in the order of their names.
fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.with_context(|| path.display().to_string())?;
            let name = entry.file_name().to_string_lossy();
            if entry.file_type().is_file() && ENDS.iter().any(|end| name.ends_with(end)) {
                found.push(entry.into_path());
            }
        }
    }
    if found.is_empty() {
        bail!("no file found: folders are searched for files that end in .jsonl or .jsonl.gz");
    }
    Ok(found)
}

/// The bytes of a file, unpacked. Of one that was cut off on its way, what is there.
fn read(path: &Path) -> Result<Vec<u8>> {
    let name = || path.display().to_string();
    let mut bytes = Vec::new();
    let file: Box<dyn Read> = if path == Path::new(STDIO) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(name)?)
    };
    file.take(MAX_LEN + 1).read_to_end(&mut bytes).with_context(name)?;
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(&bytes[..]).take(MAX_LEN + 1).read_to_end(&mut unpacked);
        if unpacked.is_empty() {
            read.context("a gzip file that cannot be unpacked").with_context(name)?;
        }
        bytes = unpacked;
    }
    if bytes.len() as u64 > MAX_LEN {
        bail!("{}: larger than a file of the monitor can be ({} MiB)", path.display(), MAX_LEN >> 20);
    }
    Ok(bytes)
}
