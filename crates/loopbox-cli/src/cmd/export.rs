//! `loopbox export`.

use crate::fleet::Fleet;
use crate::{Outcome, input, output};
use anyhow::{Context, Error, Result, bail};
use clap::ValueEnum;
use clap::error::ErrorKind;
use loopbox_report::export;
use loopbox_report::export::parquet::{ROW_GROUP, Row, Table};
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    fleet: Fleet,
    /// What to write.
    #[arg(short, long, value_enum)]
    format: Format,
    /// Writes the stacks of this message (seed); without it, of the one that was running at the dump.
    #[arg(long, value_name = "N")]
    token: Option<u64>,
    /// Writes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Everything, as loopbox show --json (docs/json.md)
    Json,
    /// Protobuf trace for ui.perfetto.dev and trace_processor
    Perfetto,
    /// Trace Event Format for chrome://tracing
    Chrome,
    /// Processed profile for profiler.firefox.com
    Firefox,
    /// For speedscope.app
    Speedscope,
    /// One line a stack with its microseconds, for flame graph tools
    Collapsed,
    /// The article's text of one stack tree: name;count;offset;children;
    Seed,
    /// One table of any number of reports, for SQL engines (docs/parquet.md)
    Parquet,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    if args.token.is_some() && args.format != Format::Seed {
        return Err(wrong("--token is for --format seed; the other formats hold all stacks"));
    }
    let format = match args.format {
        Format::Json => Some(export::Format::Json),
        Format::Perfetto => Some(export::Format::Perfetto),
        Format::Chrome => Some(export::Format::Chrome),
        Format::Firefox => Some(export::Format::Firefox),
        Format::Speedscope => Some(export::Format::Speedscope),
        Format::Collapsed => Some(export::Format::Collapsed),
        Format::Seed => None,
        Format::Parquet => return table(args),
    };
    let [file] = args.fleet.paths.as_slice() else {
        return Err(wrong("this format holds one report; give one PATH"));
    };
    let Some(format) = format else { return seed(args, file) };
    if format == export::Format::Perfetto && args.output.is_none() && io::stdout().is_terminal() {
        bail!("a Perfetto trace is not text: give a file with -o");
    }
    let opened = input::open(file, &args.fleet.mapping)?;
    let mut bytes = Vec::new();
    export::write(format, &opened.analysis, &mut bytes)?;
    output::bytes(&bytes, args.output.as_deref())?;
    Ok(opened.outcome())
}

fn wrong(what: &'static str) -> Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, what).into()
}

fn seed(args: &Args, file: &Path) -> Result<Outcome> {
    let opened = input::open(file, &args.fleet.mapping)?;
    let text = export::seed(&opened.decoded.report, &opened.analysis, args.token);
    let text = text.with_context(|| file.display().to_string())? + "\n";
    output::bytes(text.as_bytes(), args.output.as_deref())?;
    Ok(opened.outcome())
}

/// Rows of each thread go to the file a row group at a time.
fn table(args: &Args) -> Result<Outcome> {
    let Some(path) = &args.output else {
        return Err(wrong("a Parquet file is not text: give a file with -o"));
    };
    let whole = whole_file(path, |file| {
        let table = Mutex::new(Table::new(BufWriter::new(file))?);
        let write = |rows: &mut Vec<Row>| -> Result<()> {
            table.lock().unwrap_or_else(PoisonError::into_inner).write(rows)?;
            rows.clear();
            Ok(())
        };
        let visit = |rows: &mut Vec<Row>, analysis: &_, path: &str| {
            rows.push(Row::new(analysis, path));
            if rows.len() >= ROW_GROUP { write(rows) } else { Ok(()) }
        };
        let (mut parts, _, outcome) = args.fleet.read(Vec::new, visit)?;
        parts.iter_mut().try_for_each(write)?;
        table.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        Ok(outcome)
    });
    whole.with_context(|| path.display().to_string())
}

/// Writes a file that is there as a whole or not at all.
fn whole_file<T>(path: &Path, write: impl FnOnce(File) -> Result<T>) -> Result<T> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let result = write(File::create(&part)?);
    if result.is_ok() {
        fs::rename(&part, path)?;
    } else {
        let _ = fs::remove_file(&part);
    }
    result
}
