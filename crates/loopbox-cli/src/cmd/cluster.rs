//! `loopbox cluster`.

use crate::batch::BatchReading;
use crate::destination::Destination;
use crate::monitor_files::{self, ReadStall};
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Result, bail};
use loopbox_report::cluster::{self, Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, json_text};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox cluster reports/
  loopbox cluster reports/ --in-app com.example --limit 5
  loopbox cluster reports/ --html -o week.html
  loopbox cluster reports/ uiperf-2026-11-22.jsonl
  loopbox cluster reports/ --jank
  loopbox cluster reports/ --mapping mapping-5.2.txt --mapping mapping-5.3.txt")]
pub(crate) struct Args {
    /// Reports, files of the performance monitor, and folders that are searched for those, by their ends:
    /// .lbx, and .jsonl or .jsonl.gz.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    how: BatchReading,
    /// Groups the jank frames of reports, by the stacks of what held them up; ranked by how long they stood
    /// too long, together.
    #[arg(long)]
    jank: bool,
    /// Prints JSON (schema loopbox.cluster/1, see docs/clustering.md) with all groups.
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Writes one self-contained HTML page.
    #[arg(long)]
    html: bool,
    /// Shows at most this number of groups.
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
    let (clusters, left_out, outcome) = if args.jank { janks(args)? } else { reports_and_stalls(args)? };
    let summary = clusters.summary(left_out.skipped, left_out.duplicates);
    if args.json {
        destination.write(json_text(&summary)?.as_bytes())?;
    } else if args.html {
        destination.write(cluster::html(&summary, args.limit).as_bytes())?;
    } else if args.output.is_some() {
        let text = anstream::adapter::strip_str(&cluster::text(&summary, args.limit)).to_string();
        destination.write(text.as_bytes())?;
    } else {
        output::write_text(&cluster::text(&summary, args.limit), &args.terminal)?;
    }
    Ok(outcome)
}

/// How many files are in no group.
struct LeftOut {
    /// Those that could not be used.
    skipped: u64,
    /// Those that have the recording of another one.
    duplicates: u64,
}

/// The groups, the files that are in none, and whether all could be used.
type Grouped = (Clusters, LeftOut, Outcome);

fn reports_and_stalls(args: &Args) -> Result<Grouped> {
    let (named, paths): (Vec<PathBuf>, Vec<PathBuf>) =
        args.paths.iter().cloned().partition(|path| !path.is_dir() && monitor_files::is_named_so(path));
    let report = |clusters: &mut Clusters, analysis: &Analysis, path: &str| {
        clusters.add(Sighting::new(analysis, &diagnose(analysis), path));
        Ok(())
    };
    let (reports, used_reports) = args.how.read_all(&paths, Clusters::default, report)?;
    let folders = paths.into_iter().filter(|path| path.is_dir());
    let files = monitor_files::find(&named.into_iter().chain(folders).collect::<Vec<_>>())?;
    let stall = |clusters: &mut Clusters, read: &ReadStall<'_>| {
        clusters.add(Sighting::of_stall(read.analysis, &diagnose(read.analysis), read.path));
        Ok(())
    };
    let (stalls, used_files) = args.how.read_stalls(&files, Clusters::default, stall)?;
    let skipped = reports.skipped + stalls.skipped;
    match (used_reports + used_files, skipped) {
        (0, 0) => {
            bail!("no report found: folders are searched for files that end in .lbx, .jsonl or .jsonl.gz")
        }
        (0, n) => bail!("none of {n} files could be used"),
        _ => {}
    }
    let outcome = reports.outcome.max(stalls.outcome);
    let left_out = LeftOut { skipped, duplicates: reports.duplicates };
    Ok((merged(reports.states.into_iter().chain(stalls.states)), left_out, outcome))
}

fn janks(args: &Args) -> Result<Grouped> {
    let visit = |clusters: &mut Clusters, analysis: &Analysis, path: &str| {
        clusters.add_janks(Sighting::of_janks(analysis, path));
        Ok(())
    };
    let batch = args.how.read(&args.paths, Clusters::default, visit)?;
    let clusters = merged(batch.states);
    if clusters.is_empty() {
        bail!("no report has a jank frame (docs/frames.md says what writes them)");
    }
    let left_out = LeftOut { skipped: batch.skipped, duplicates: batch.duplicates };
    Ok((clusters, left_out, batch.outcome))
}

fn merged(parts: impl IntoIterator<Item = Clusters>) -> Clusters {
    let mut whole = Clusters::default();
    parts.into_iter().for_each(|part| whole.merge(part));
    whole
}
