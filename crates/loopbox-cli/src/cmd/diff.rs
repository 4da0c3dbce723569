//! `loopbox diff`.

use crate::batch::{Batch, BatchReading};
use crate::destination::Destination;
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Result, bail};
use clap::ValueEnum;
use loopbox_report::cluster::diff::{self, Comparison, Gate, SideInput};
use loopbox_report::cluster::{Active, Clusters, Sighting};
use loopbox_report::diagnose::diagnose;
use loopbox_report::{Analysis, json_text};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::slice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox diff reports-5.2/ reports-5.3/ --users-before 120000 --users-after 34000
  loopbox diff 5.2 5.3 --in reports/
  loopbox diff 5.2 5.3 --in reports/ --format markdown > comment.md
  loopbox diff 5.2 5.3 --in reports/ --format junit --fail-on new -o hangs.xml")]
pub(crate) struct Args {
    /// The older reports: a folder, a file, or with --in an app version.
    before: PathBuf,
    /// The newer reports.
    after: PathBuf,
    /// BEFORE and AFTER are app versions, such as `5.3.0` or `5.3.0 (50300)`. Their reports are in this file
    /// or folder. May be given several times.
    #[arg(long = "in", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How many users used the app of BEFORE: rates are per 1,000 users. Without it, rates are per 1,000
    /// users who sent a report.
    #[arg(long, value_name = "N", requires = "users_after", value_parser = clap::value_parser!(u64).range(1..))]
    users_before: Option<u64>,
    /// How many users used the app of AFTER.
    #[arg(long, value_name = "N", requires = "users_before", value_parser = clap::value_parser!(u64).range(1..))]
    users_after: Option<u64>,
    /// How many sessions the app of BEFORE had: rates are reports per 1,000 sessions.
    #[arg(
        long,
        value_name = "N",
        requires = "sessions_after",
        conflicts_with = "users_before",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    sessions_before: Option<u64>,
    /// How many sessions the app of AFTER had.
    #[arg(long, value_name = "N", requires = "sessions_before", value_parser = clap::value_parser!(u64).range(1..))]
    sessions_after: Option<u64>,
    /// Exits with 3 when this has happened.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Worse)]
    fail_on: FailOn,
    /// How to print the comparison.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: BatchReading,
    #[command(flatten)]
    terminal: TerminalOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A problem is surely worse, or surely new.
    Worse,
    /// A problem is surely worse, or any problem is new. For a new problem one report is enough.
    New,
    /// This option never causes exit code 3.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal.
    Text,
    /// A table for a pull request.
    Markdown,
    /// Schema loopbox.diff/1, see docs/diff.md.
    Json,
    /// Each problem as a test, for CI.
    Junit,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let (inputs, [before, after], complete) =
        if args.paths.is_empty() { of_paths(args)? } else { of_versions(args)? };
    let destination = Destination::new(args.output.as_deref(), &inputs)?;
    let users = args.users_before.zip(args.users_after).map(|of| (Active::Users, of.into()));
    let sessions = args.sessions_before.zip(args.sessions_after).map(|of| (Active::Sessions, of.into()));
    let gate = match args.fail_on {
        FailOn::Worse => Gate::Worse,
        FailOn::New => Gate::New,
        FailOn::Nothing => Gate::Nothing,
    };
    let comparison = Comparison::new(&before, &after, users.or(sessions), gate);
    let text = match args.format {
        Format::Markdown => diff::markdown(&comparison),
        Format::Junit => diff::junit(&comparison),
        Format::Json => json_text(&comparison)?,
        Format::Text if args.output.is_none() => {
            output::write_text(&diff::text(&comparison), &args.terminal)?;
            return Ok(outcome(&comparison, complete));
        }
        Format::Text => anstream::adapter::strip_str(&diff::text(&comparison)).to_string(),
    };
    destination.write(text.as_bytes())?;
    Ok(outcome(&comparison, complete))
}

fn outcome(comparison: &Comparison, complete: bool) -> Outcome {
    match (comparison.failed, complete) {
        (true, _) => Outcome::Failed,
        (false, true) => Outcome::Complete,
        (false, false) => Outcome::Partial,
    }
}

/// What is compared: the paths of the command line, the reports of the two sides, and whether all reports
/// could be used.
type Sides = (Vec<PathBuf>, [SideInput; 2], bool);

fn sighting(analysis: &Analysis, path: &str) -> Sighting {
    Sighting::new(analysis, &diagnose(analysis), path)
}

fn of_paths(args: &Args) -> Result<Sides> {
    let side = |path: &PathBuf| -> Result<(SideInput, bool)> {
        let visit = |clusters: &mut Clusters, analysis: &Analysis, path: &str| {
            clusters.add(sighting(analysis, path));
            Ok(())
        };
        // A release without a hang has no report.
        let batch: Batch<Clusters> =
            args.reading.read_if_any(slice::from_ref(path), Clusters::default, visit)?;
        let complete = batch.outcome == Outcome::Complete;
        let name = path.to_string_lossy().into_owned();
        let (skipped, duplicates) = (batch.skipped, batch.duplicates);
        Ok((SideInput { name, clusters: merged(batch.states), skipped, duplicates }, complete))
    };
    let (before, before_complete) = side(&args.before)?;
    let (after, after_complete) = side(&args.after)?;
    let inputs = vec![args.before.clone(), args.after.clone()];
    Ok((inputs, [before, after], before_complete && after_complete))
}

/// The reports of both sides, and all versions that were found.
#[derive(Default)]
struct Versions {
    sides: [Clusters; 2],
    found: BTreeSet<String>,
}

fn of_versions(args: &Args) -> Result<Sides> {
    let wanted = [&args.before, &args.after].map(|version| version.to_string_lossy().into_owned());
    let visit = |versions: &mut Versions, analysis: &Analysis, path: &str| {
        let version = &analysis.meta.process.app_version;
        versions.found.insert(version.clone());
        for (side, wanted) in versions.sides.iter_mut().zip(&wanted) {
            if is_version(version, wanted) {
                side.add(sighting(analysis, path));
            }
        }
        Ok(())
    };
    let batch = args.reading.read(&args.paths, Versions::default, visit)?;
    let (mut sides, mut found) = ([Vec::new(), Vec::new()], BTreeSet::new());
    for Versions { sides: [before, after], found: more } in batch.states {
        sides[0].push(before);
        sides[1].push(after);
        found.extend(more);
    }
    if let Some(missing) =
        wanted.iter().find(|wanted| !found.iter().any(|version| is_version(version, wanted)))
    {
        let known: Vec<&str> = found.iter().map(String::as_str).take(20).collect();
        bail!("no report is of version {missing}; there are reports of {}", known.join(", "));
    }
    let [before, after] = sides.map(merged);
    let [before_name, after_name] = wanted;
    let (skipped, duplicates) = (batch.skipped, batch.duplicates);
    let side = |name, clusters| SideInput { name, clusters, skipped, duplicates };
    let complete = batch.outcome == Outcome::Complete;
    Ok((args.paths.clone(), [side(before_name, before), side(after_name, after)], complete))
}

/// Whether the version of a report, such as `5.3.0 (50300)`, is the wanted one. The wanted version may lack
/// the code in brackets, and zeros at its end: `5.3`.
fn is_version(version: &str, wanted: &str) -> bool {
    let Some(mut rest) = version.strip_prefix(wanted) else { return false };
    while let Some(zero) = rest.strip_prefix(".0") {
        rest = zero;
    }
    rest.is_empty() || rest.starts_with(" (")
}

fn merged(parts: Vec<Clusters>) -> Clusters {
    let mut whole = Clusters::default();
    parts.into_iter().for_each(|part| whole.merge(part));
    whole
}
