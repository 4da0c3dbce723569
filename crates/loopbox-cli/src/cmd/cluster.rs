//! `loopbox cluster`.

use crate::args::Terminal;
use crate::fleet::Fleet;
use crate::{Outcome, output};
use anyhow::Result;
use loopbox_report::cluster::{self, Clusters, Sighting};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    fleet: Fleet,
    /// Prints JSON (schema loopbox.cluster/1, see docs/clustering.md) with all groups.
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Writes one self-contained HTML page.
    #[arg(long)]
    html: bool,
    /// Shows at most so many groups.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    terminal: Terminal,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let visit = |clusters: &mut Clusters, analysis: &_, path: &str| {
        clusters.add(Sighting::new(analysis, path));
        Ok(())
    };
    let (parts, tally, outcome) = args.fleet.read(Clusters::default, visit)?;
    let mut whole = Clusters::default();
    for part in parts {
        whole.merge(part);
    }
    let summary = whole.summary(tally.skipped());
    let file = args.output.as_deref();
    if args.json {
        output::bytes((serde_json::to_string_pretty(&summary)? + "\n").as_bytes(), file)?;
    } else if args.html {
        output::bytes(cluster::html(&summary, args.limit).as_bytes(), file)?;
    } else if file.is_some() {
        let text = anstream::adapter::strip_str(&cluster::text(&summary, args.limit)).to_string();
        output::bytes(text.as_bytes(), file)?;
    } else {
        output::text(&cluster::text(&summary, args.limit), &args.terminal)?;
    }
    Ok(outcome)
}
