//! `loopbox export`.

use crate::batch::{Batch, BatchOptions};
use crate::destination::{Destination, write_file};
use crate::display_frames;
use crate::input;
use crate::monitor_files::MonitorFiles;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Error, Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use flate2::read::MultiGzDecoder;
use loopbox_format::model::Token;
use loopbox_monitor::StallRow;
use loopbox_report::diagnose::diagnose;
use loopbox_report::export::parquet::{ROW_GROUP, ReportRow, Row, ScreenRow, Table};
use loopbox_report::export::{self, Format, perfetto};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, PoisonError};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox export hang.lbx -f perfetto -o hang.pb
  loopbox export hang.lbx -f perfetto --with profile.perfetto-trace -o both.pb
  loopbox export hang.lbx -f firefox -o hang.json
  loopbox export hang.lbx -f tree-text --token 46
  loopbox export reports/ -f parquet -o reports.parquet
  loopbox export uiperf/ -f parquet-stalls -o stalls.parquet")]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchOptions,
    /// The format to write.
    #[arg(short, long, value_enum)]
    format: OutputFormat,
    /// Writes the stacks of message N (tree-text); with after-N, of what ran outside of messages after
    /// message N. Without this option, writes the stacks of the dump.
    #[arg(long, value_name = "N")]
    token: Option<Token>,
    /// Adds the report to this system trace, gzipped or not, instead of writing a separate trace (perfetto).
    #[arg(long, value_name = "TRACE")]
    with: Option<PathBuf>,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What `--format` can be: a format of one report, or one that needs more than the analysis of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputFormat {
    OneReport(Format),
    TreeText,
    /// A row for each report.
    Parquet,
    /// A row for each screen with display frames.
    ParquetScreens,
    /// A row for each stall of the performance monitor.
    ParquetStalls,
}

impl ValueEnum for OutputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<OutputFormat>> = LazyLock::new(|| {
            let others = [
                OutputFormat::TreeText,
                OutputFormat::Parquet,
                OutputFormat::ParquetScreens,
                OutputFormat::ParquetStalls,
            ];
            Format::ALL.map(OutputFormat::OneReport).into_iter().chain(others).collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::OneReport(format) => (format.name(), format.description()),
            Self::TreeText => {
                ("tree-text", "Text of one stack tree: name;count;offset;children; for each node")
            }
            Self::Parquet => {
                ("parquet", "One table of any number of reports, for SQL engines (docs/parquet.md)")
            }
            Self::ParquetScreens => {
                ("parquet-screens", "The same with a row for each screen that has display frames")
            }
            Self::ParquetStalls => {
                ("parquet-stalls", "The same with a row for each stall in files of the performance monitor")
            }
        };
        Some(PossibleValue::new(name).help(help))
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    if args.token.is_some() && args.format != OutputFormat::TreeText {
        return Err(usage_error("--token is for --format tree-text; the other formats have all stacks"));
    }
    let inputs: Vec<PathBuf> = args.batch.paths.iter().chain(&args.with).cloned().collect();
    let destination = Destination::new(args.output.as_deref(), &inputs)?;
    if let Some(trace) = &args.with {
        if args.format != OutputFormat::OneReport(Format::Perfetto) {
            return Err(usage_error(
                "--with is for --format perfetto; the other formats have one report only",
            ));
        }
        return merged(args, trace);
    }
    match args.format {
        OutputFormat::OneReport(format) => one_report(args, format, &destination),
        OutputFormat::TreeText => tree_text(args, &destination),
        OutputFormat::Parquet => table(args, |write| {
            args.batch.read(Vec::new, |rows: &mut Vec<ReportRow>, analysis, path| {
                rows.push(ReportRow::new(analysis, &diagnose(analysis), path));
                write(rows, ROW_GROUP)
            })
        }),
        OutputFormat::ParquetScreens => table(args, |write| {
            let once = display_frames::once(&args.batch.how, &args.batch.paths)?;
            let read = args.batch.read(Vec::new, |rows: &mut Vec<ScreenRow>, analysis, path| {
                rows.extend(ScreenRow::all(analysis, &once, path));
                write(rows, ROW_GROUP)
            });
            display_frames::print_left_out(&once);
            read
        }),
        OutputFormat::ParquetStalls => table(args, |write| {
            let files = MonitorFiles::find(&args.batch.paths);
            let (batch, used) =
                args.batch.how.read_stalls(&files, Vec::new, |rows: &mut Vec<StallRow>, read| {
                    let diagnosis = diagnose(read.analysis);
                    rows.push(StallRow::new(read.stall, read.base, read.analysis, &diagnosis, read.path));
                    write(rows, ROW_GROUP)
                })?;
            match (used, batch.skipped) {
                (0, 0) => {
                    bail!("no file found: folders are searched for files that end in .jsonl or .jsonl.gz")
                }
                (0, n) => bail!("none of {n} files could be used"),
                _ => Ok(batch),
            }
        }),
    }
}

fn usage_error(what: &'static str) -> Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, what).into()
}

/// The path of the report, for formats of a single report.
///
/// # Errors
/// When the command line has another number of paths.
fn only_file(args: &Args) -> Result<&Path> {
    match args.batch.paths.as_slice() {
        [file] => Ok(file),
        _ => Err(usage_error("this format is for one report; give one PATH")),
    }
}

fn one_report(args: &Args, format: Format, destination: &Destination<'_>) -> Result<Outcome> {
    let file = only_file(args)?;
    if !format.is_text() && args.output.is_none() && io::stdout().is_terminal() {
        bail!("this format is not text: give a file with -o");
    }
    let loaded = input::load(file, &args.batch.how.reading)?;
    if loaded.analysis.trees.is_empty() && format.name() != "json" {
        output::print_error(format_args!(
            "note: {}: the report has no stacks, so the output has none",
            file.display()
        ));
    }
    let mut bytes = Vec::new();
    export::write(format, &loaded.analysis, &loaded.diagnosis(), &mut bytes)?;
    destination.write(&bytes)?;
    Ok(loaded.outcome())
}

/// A note warns when the clocks of a trace and of a report differ by this much or more.
const CLOCKS_DIFFER_NS: u64 = 60_000_000_000;

/// Writes a trace of the system with the report merged into it.
fn merged(args: &Args, trace: &Path) -> Result<Outcome> {
    let Some(output) = &args.output else {
        return Err(usage_error("this format is not text: give a file with -o"));
    };
    let loaded = input::load(only_file(args)?, &args.batch.how.reading)?;
    let shown = || trace.display().to_string();
    let mut file = BufReader::new(File::open(trace).with_context(shown)?);
    let is_packed = file.fill_buf().with_context(shown)?.starts_with(&[0x1f, 0x8b]);
    let mut unpacked: Box<dyn BufRead> =
        if is_packed { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) };
    let merged = write_file(output, |out| {
        let mut out = BufWriter::new(out);
        let merged = perfetto::merge(&mut unpacked, &loaded.analysis, &mut out).with_context(shown)?;
        out.flush()?;
        Ok(merged)
    })?;
    if merged.clocks_differ_ns.is_some_and(|ns| ns >= CLOCKS_DIFFER_NS) {
        output::print_error(format_args!(
            "note: {}: its clocks are {:.0} s from those of the report: it may be of another device or start of the device",
            shown(),
            merged.clocks_differ_ns.unwrap_or_default() as f64 / 1e9
        ));
    }
    Ok(loaded.outcome())
}

fn tree_text(args: &Args, destination: &Destination<'_>) -> Result<Outcome> {
    let file = only_file(args)?;
    let loaded = input::load(file, &args.batch.how.reading)?;
    let text = export::tree_text(&loaded.decoded.report, &loaded.analysis, args.token);
    let text = text.with_context(|| file.display().to_string())? + "\n";
    destination.write(text.as_bytes())?;
    Ok(loaded.outcome())
}

/// Writes the rows to the file if there are at least as many as the second argument says.
type WriteRows<'w, R> = dyn Fn(&mut Vec<R>, usize) -> Result<()> + Sync + 'w;

/// Writes a table. Each thread collects rows; they go to the file a row group at a time.
fn table<R: Row + Send>(
    args: &Args,
    read: impl FnOnce(&WriteRows<'_, R>) -> Result<Batch<Vec<R>>>,
) -> Result<Outcome> {
    let Some(path) = &args.output else {
        return Err(usage_error("a Parquet file is not text: give a file with -o"));
    };
    write_file(path, |file| {
        let written = AtomicU64::new(0);
        let table = Mutex::new(Table::new(BufWriter::new(file))?);
        let write = |rows: &mut Vec<R>, at_least: usize| -> Result<()> {
            if rows.len() >= at_least {
                written.fetch_add(rows.len() as u64, Relaxed);
                table.lock().unwrap_or_else(PoisonError::into_inner).write(rows)?;
                rows.clear();
            }
            Ok(())
        };
        let mut batch = read(&write)?;
        batch.states.iter_mut().try_for_each(|rows| write(rows, 1))?;
        table.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        if written.into_inner() == 0 {
            output::print_error(format_args!(
                "note: {}: the table has no row: nothing in these files is one",
                path.display()
            ));
        }
        Ok(batch.outcome)
    })
}
