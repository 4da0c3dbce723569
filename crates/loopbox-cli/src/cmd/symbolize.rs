//! `loopbox symbolize`.

use crate::options::{ReadOptions, TerminalOptions};
use crate::outcome::Outcome;
use crate::symbols::{MissingSymbols, symbolize};
use crate::{input, output};
use anyhow::{Result, bail};
use clap::ValueEnum;
use loopbox_report::json::NativeStackView;
use loopbox_report::{json_text, text};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox symbolize hang.lbx --symbols symbols/
  loopbox symbolize hang.lbx --symbols symbols/ --format json")]
pub(crate) struct Args {
    /// The report (a file that ends in .lbx), or an ANR trace as text.
    file: PathBuf,
    #[command(flatten)]
    symbols: RequiredSymbols,
    /// How to print the frames.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    terminal: TerminalOptions,
}

#[derive(Debug, clap::Args)]
struct RequiredSymbols {
    /// A folder with unstripped libraries, which are found by their build ids. May be given several times.
    #[arg(long = "symbols", value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines of a tombstone, each with its functions, files and lines.
    Text,
    /// Schema loopbox.symbolize/1, see docs/native-frames.md.
    Json,
}

#[derive(Serialize)]
struct Symbolized<'a> {
    schema: &'static str,
    native: NativeStackView<'a>,
    missing: &'a [MissingSymbols],
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut loaded = input::load(&args.file, &args.reading)?;
    let native = loaded.analysis.main_thread.as_mut().and_then(|main| main.native.as_mut());
    let Some(native) = native else {
        bail!("{}: the report has no native stack: no SIGQUIT stopped the main thread", args.file.display())
    };
    let missing = symbolize(native, &args.symbols.folders)?;
    let named = native.frames.iter().any(|frame| !frame.functions.is_empty());
    let analysis = &loaded.analysis;
    if args.format == Format::Json {
        let native = analysis.main_thread.as_ref().and_then(|main| main.native.as_ref());
        if let Some(native) = native {
            let native = NativeStackView::new(native, analysis.dump_ns);
            let symbolized = Symbolized { schema: "loopbox.symbolize/1", native, missing: &missing };
            output::write_plain(json_text(&symbolized)?)?;
        }
    } else {
        let mut text = text::native_stack(analysis);
        if !missing.is_empty() {
            text.push_str("\n  symbols to look for:\n");
            for missing in &missing {
                let _ = writeln!(text, "    {missing}");
            }
        }
        output::write_text(&text, &args.terminal)?;
    }
    Ok(if named { loaded.outcome() } else { Outcome::Partial })
}
