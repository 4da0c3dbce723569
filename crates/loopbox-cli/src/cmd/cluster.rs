//! `loopbox cluster`.

use crate::batch::BatchOptions;
use crate::destination::Destination;
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::Result;
use loopbox_report::Analysis;
use loopbox_report::cluster::{self, Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox cluster reports/
  loopbox cluster reports/ --in-app com.example --limit 5
  loopbox cluster reports/ --html -o week.html
  loopbox cluster reports/ --mapping mapping-5.2.txt --mapping mapping-5.3.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchOptions,
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
    let destination = Destination::new(args.output.as_deref(), &args.batch.paths)?;
    let visit = |clusters: &mut Clusters, analysis: &Analysis, path: &str| {
        clusters.add(Sighting::new(analysis, &diagnose(analysis), path));
        Ok(())
    };
    let batch = args.batch.read(Clusters::default, visit)?;
    let mut whole = Clusters::default();
    for part in batch.states {
        whole.merge(part);
    }
    let summary = whole.summary(batch.skipped);
    if args.json {
        destination.write((serde_json::to_string_pretty(&summary)? + "\n").as_bytes())?;
    } else if args.html {
        destination.write(cluster::html(&summary, args.limit).as_bytes())?;
    } else if args.output.is_some() {
        let text = anstream::adapter::strip_str(&cluster::text(&summary, args.limit)).to_string();
        destination.write(text.as_bytes())?;
    } else {
        output::write_text(&cluster::text(&summary, args.limit), &args.terminal)?;
    }
    Ok(batch.outcome)
}
