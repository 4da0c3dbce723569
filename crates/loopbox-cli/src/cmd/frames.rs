//! `loopbox frames`.

use crate::batch::BatchOptions;
use crate::destination::Destination;
use crate::display_frames;
use crate::options::TerminalOptions;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Result, bail};
use loopbox_report::smoothness::{FailIf, Smoothness, compare};
use loopbox_report::smoothness_views::{comparison_text, html, text};
use loopbox_report::{Analysis, json_text};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox frames hang.lbx
  loopbox frames reports/ --html -o smoothness.html
  loopbox frames base/ --compare variant/
  loopbox frames base/ --compare variant/ --fail-if 'hitch>+10%'")]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchOptions,
    /// Compares the reports of this PATH, the variant, with the others, the base. May be given several times.
    #[arg(long, value_name = "PATH", conflicts_with = "html")]
    compare: Vec<PathBuf>,
    /// Ends with exit code 3 when the condition holds for all screens together. METRIC>+N% (or <-N%) is a
    /// change in per cent, METRIC>+N a change in the metric's unit: both hold only when the change is more
    /// than chance. METRIC>N compares the variant's value alone with N. METRIC is hitch, frozen, fps,
    /// fps-of-rate or jank-gestures. May be given several times.
    #[arg(long, value_name = "CONDITION", requires = "compare")]
    fail_if: Vec<FailIf>,
    /// Prints JSON (schema loopbox.frames/1 or loopbox.frames-compare/1, see docs/frames.md).
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Writes one self-contained HTML page with charts.
    #[arg(long)]
    html: bool,
    /// Shows at most this number of screens, of gestures and of jank frames.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    terminal: TerminalOptions,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let inputs = [args.batch.paths.as_slice(), &args.compare].concat();
    let destination = Destination::new(args.output.as_deref(), &inputs)?;
    let (base, skipped, outcome) = read(&args.batch)?;
    if !args.compare.is_empty() {
        return run_comparison(args, &base, outcome, &destination);
    }
    let view = base.view(skipped);
    if args.json {
        write_json(&view, &destination)?;
    } else if args.html {
        destination.write(html(&view, args.limit).as_bytes())?;
    } else {
        write_text(&text(&view, args.limit), args, &destination)?;
    }
    Ok(outcome)
}

fn run_comparison(
    args: &Args,
    base: &Smoothness,
    outcome: Outcome,
    destination: &Destination<'_>,
) -> Result<Outcome> {
    let other = BatchOptions { paths: args.compare.clone(), ..args.batch.clone() };
    let (variant, _, of_variant) = read(&other)?;
    let mut comparison = compare(base, &variant);
    let answer = |wanted: Option<bool>| -> Vec<String> {
        let these = args.fail_if.iter().filter(|condition| condition.holds(&comparison) == wanted);
        these.map(ToString::to_string).collect()
    };
    let (failed, unknown) = (answer(Some(true)), answer(None));
    (comparison.failed, comparison.unknown) = (failed, unknown);
    if args.json {
        write_json(&comparison, destination)?;
    } else {
        write_text(&comparison_text(&comparison, args.limit), args, destination)?;
    }
    let answered = if comparison.unknown.is_empty() { Outcome::Complete } else { Outcome::Partial };
    Ok(if comparison.failed.is_empty() { outcome.max(of_variant).max(answered) } else { Outcome::Failed })
}

/// All reports of a batch, and how many files could not be used.
fn read(batch: &BatchOptions) -> Result<(Smoothness, u64, Outcome)> {
    let once = display_frames::once(&batch.how, &batch.paths)?;
    let visit = |frames: &mut Smoothness, analysis: &Analysis, path: &str| {
        frames.add(analysis, &once, path);
        Ok(())
    };
    let read = batch.read(Smoothness::default, visit)?;
    display_frames::print_left_out(&once);
    let mut whole = Smoothness::default();
    read.states.into_iter().for_each(|part| whole.merge(part));
    if whole.is_empty() {
        let paths: Vec<_> = batch.paths.iter().map(|path| path.display().to_string()).collect();
        bail!("{}: no report has display frames (docs/frames.md says what writes them)", paths.join(", "));
    }
    Ok((whole, read.skipped, read.outcome))
}

fn write_json(value: &impl Serialize, destination: &Destination<'_>) -> Result<()> {
    destination.write(json_text(value)?.as_bytes())
}

fn write_text(text: &str, args: &Args, destination: &Destination<'_>) -> Result<()> {
    if args.output.is_some() {
        return destination.write(anstream::adapter::strip_str(text).to_string().as_bytes());
    }
    output::write_text(text, &args.terminal)
}
