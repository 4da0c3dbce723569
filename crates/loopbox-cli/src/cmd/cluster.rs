//! `loopbox cluster`.

use crate::batch::BatchReading;
use crate::destination::Destination;
use crate::display_frames;
use crate::monitor_files::{self, MonitorFiles, ReadStall};
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context as _, Result, anyhow, bail};
use loopbox_report::cluster::{self, Active, Clusters, Known, Sighting, Summary};
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, json_text};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox cluster reports/
  loopbox cluster reports/ --in-app com.example --limit 5
  loopbox cluster reports/ --html -o week.html
  loopbox cluster reports/ uiperf-2026-11-22.jsonl
  loopbox cluster reports/ --jank
  loopbox cluster reports/ --sessions 480000
  loopbox cluster reports/ --known known.json --remember next.json --slack -o new.json
  loopbox cluster reports/ --mapping mapping-5.2.txt --mapping mapping-5.3.txt")]
pub(crate) struct Args {
    /// Reports, files of the performance monitor, and folders. Of a folder, the files that end in .lbx,
    /// .jsonl or .jsonl.gz are read.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    how: BatchReading,
    /// Groups the jank frames of reports by the stacks that delayed them. The groups are ranked by the total
    /// time for which their frames stayed on the display after their first refresh.
    #[arg(long)]
    jank: bool,
    /// How many users used the app while the reports were collected: each group then has its rate per 1,000
    /// users.
    #[arg(long, value_name = "N", conflicts_with_all = ["sessions", "jank"], value_parser = clap::value_parser!(u64).range(1..))]
    users: Option<u64>,
    /// How many sessions the app had while the reports were collected: each group then has its rate per 1,000
    /// sessions.
    #[arg(long, value_name = "N", conflicts_with = "jank", value_parser = clap::value_parser!(u64).range(1..))]
    sessions: Option<u64>,
    /// Leaves out the groups in this file, which --remember has written. While the file does not exist, no
    /// group is known.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Writes the groups of --known and all that were found to this file, for the next run.
    #[arg(long, value_name = "FILE")]
    remember: Option<PathBuf>,
    /// Prints JSON (schema loopbox.cluster/1, see docs/clustering.md) with all groups.
    #[arg(long, conflicts_with_all = ["html", "slack"])]
    json: bool,
    /// Writes one self-contained HTML page.
    #[arg(long, conflicts_with = "slack")]
    html: bool,
    /// Writes the message of a Slack webhook, and nothing when there is no group.
    #[arg(long)]
    slack: bool,
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
    let memory =
        args.remember.as_deref().map(|file| Destination::new(Some(file), &args.paths)).transpose()?;
    let known = args.known.as_deref().map(read_known).transpose()?;
    let (clusters, left_out, outcome) = if args.jank { janks(args)? } else { reports_and_stalls(args)? };
    let mut summary = clusters.summary(left_out.skipped, left_out.duplicates);
    if let Some(users) = args.users {
        summary.add_rates(Active::Users, users);
    } else if let Some(sessions) = args.sessions {
        summary.add_rates(Active::Sessions, sessions);
    }
    let mut remembered = known.clone().unwrap_or_default();
    remembered.add(&summary);
    if let Some(known) = &known {
        known.take_out_of(&mut summary);
    }
    write(args, &destination, &summary)?;
    // Last: what was not written is new the next time, too.
    if let Some(memory) = memory {
        memory.write(remembered.to_json()?.as_bytes())?;
    }
    Ok(outcome)
}

/// The known groups; none when the file does not exist yet.
fn read_known(path: &Path) -> Result<Known> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            output::print_error(format_args!(
                "note: {}: is not there yet, so all groups are new",
                path.display()
            ));
            return Ok(Known::default());
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    Known::parse(&text).map_err(|error| anyhow!("{} {error}", path.display()))
}

fn write(args: &Args, destination: &Destination<'_>, summary: &Summary) -> Result<()> {
    if args.json {
        destination.write(json_text(summary)?.as_bytes())
    } else if args.html {
        destination.write(cluster::html(summary, args.limit).as_bytes())
    } else if args.slack {
        destination.write(cluster::slack(summary, args.limit)?.unwrap_or_default().as_bytes())
    } else if args.output.is_some() {
        let text = anstream::adapter::strip_str(&cluster::text(summary, args.limit)).to_string();
        destination.write(text.as_bytes())
    } else {
        output::write_text(&cluster::text(summary, args.limit), &args.terminal)
    }
}

/// How many files are in no group.
struct LeftOut {
    /// Files that could not be used.
    skipped: u64,
    /// Files that have the same recording as another file.
    duplicates: u64,
}

/// The groups, the files that are in no group, and whether all files could be used.
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
    let mut files = MonitorFiles::find(&named.into_iter().chain(folders).collect::<Vec<_>>());
    // The search for reports has named and counted the same folders.
    files.unread.clear();
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
    let once = display_frames::once(&args.how, &args.paths)?;
    let visit = |clusters: &mut Clusters, analysis: &Analysis, path: &str| {
        clusters.add_janks(Sighting::of_janks(analysis, &once, path));
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
