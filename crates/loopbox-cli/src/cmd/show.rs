//! `loopbox show`.

use crate::batch::BatchReading;
use crate::options::{ReadOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::{input, output};
use anyhow::Result;
use clap::error::ErrorKind;
use loopbox_report::cluster::{self, Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::json::ReportView;
use loopbox_report::{Analysis, json_text, text};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The most groups that are shown, as many as `loopbox cluster` shows.
const MAX_GROUPS: usize = 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox hang.lbx
  loopbox anr_2026-11-26-18-47-24-123
  loopbox show hang.lbx --full
  loopbox show - --plain < hang.lbx
  loopbox show hang.lbx --json")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx), or an ANR trace as text. Several files give one line each, and
    /// then their groups.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Prints JSON (schema loopbox.report/1, see docs/json.md).
    #[arg(long, conflicts_with_all = ["plain", "full"])]
    json: bool,
    /// Shows every node of every stack tree.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let [file] = args.files.as_slice() else { return several(args) };
    let loaded = input::load(file, &args.reading)?;
    let (analysis, diagnosis) = (&loaded.analysis, &loaded.diagnosis());
    if args.json {
        output::write_plain(json_text(&ReportView::new(analysis, diagnosis))?)?;
    } else {
        output::write_text(
            &text::show(analysis, diagnosis, text::Options { full: args.full }),
            &args.terminal,
        )?;
    }
    Ok(loaded.outcome())
}

/// The path and the headline of a report.
type Line = (String, String);

/// Prints one line for each file, in the given order, then the groups.
fn several(args: &Args) -> Result<Outcome> {
    if args.json || args.full {
        let what = "--json and --full are for one report; `loopbox cluster --json` is for several";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what).into());
    }
    let reading = BatchReading { reading: args.reading.clone(), jobs: None };
    let visit = |(lines, clusters): &mut (Vec<Line>, Clusters), analysis: &Analysis, path: &str| {
        let diagnosis = diagnose(analysis);
        let level = diagnosis.confidence.map_or("no", |level| level.as_str());
        lines.push((path.to_owned(), format!("{} ({level} confidence)", diagnosis.headline)));
        clusters.add(Sighting::new(analysis, &diagnosis, path));
        Ok(())
    };
    let batch = reading.read(&args.files, Default::default, visit)?;
    let (mut lines, mut clusters) = (Vec::new(), Clusters::default());
    for (more, part) in batch.states {
        lines.extend(more);
        clusters.merge(part);
    }
    let place = |path: &str| args.files.iter().position(|file| file.to_string_lossy() == path);
    lines.sort_by_cached_key(|(path, _)| (place(path), path.clone()));
    let mut out = String::new();
    for (path, headline) in &lines {
        let _ = writeln!(out, "{}: {headline}", output::shown(Path::new(path)));
    }
    out.push('\n');
    out.push_str(&cluster::text(&clusters.summary(batch.skipped, batch.duplicates), MAX_GROUPS));
    output::write_text(&out, &args.terminal)?;
    Ok(batch.outcome)
}
