//! `loopbox schema`: the JSON schemas of what the commands print.

use crate::outcome::Outcome;
use crate::output;
use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use loopbox_report::{json_text, schema};
use std::fmt::Write as _;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  loopbox schema
  loopbox schema report > report.schema.json")]
pub(crate) struct Args {
    /// The schema; without it, the names of all are printed.
    #[arg(value_parser = PossibleValuesParser::new(schema::names()))]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let text = match &args.name {
        None => schema::names().fold(String::new(), |mut text, name| {
            let _ = writeln!(text, "{name}");
            text
        }),
        Some(name) => json_text(&schema::named(name).context("no schema has this name")?)?,
    };
    output::write_plain(text.as_bytes())?;
    Ok(Outcome::Complete)
}
