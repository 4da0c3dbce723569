//! The command line.

use crate::cmd::{Command, help};
use crate::input::STDIO;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::path::Path;

/// Reads the reports of the Loopbox recorder about an app that stopped responding.
///
/// `loopbox FILE` shows a report; `-` is stdin as a file to read, and stdout as one to write. A command
/// that reads a report reads an ANR trace, too: the text that Android writes into /data/anr, or the part of
/// it that crash services show. Either may be packed (gzip, zip), and a report may be base64.
///
/// Exit codes: 0 success, 1 nothing could be done, 2 something was printed but a file is damaged or was
/// skipped, 3 a condition of --fail-if holds or `diff` found that something is worse, 64 wrong command line.
#[derive(Debug, Parser)]
#[command(name = "loopbox", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  loopbox hang.lbx
  loopbox diagnose hang.lbx
  loopbox report hang.lbx -o hang.html
  loopbox cluster reports/
  loopbox help reading-a-report")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// The definition of the command line.
    pub(crate) fn definition() -> clap::Command {
        help::with_names(Self::command())
    }

    /// # Errors
    /// When the words are not a command line, and when they ask for help or the version.
    pub(crate) fn read(words: impl Iterator<Item = OsString>) -> clap::error::Result<Self> {
        Self::from_arg_matches(&Self::definition().try_get_matches_from(with_command(words))?)
    }
}

/// Whether a word that is not a command is taken for a file: the file exists, or the word ends in .lbx or
/// .lbr, or it is a path of several parts.
fn is_file(word: &Path) -> bool {
    word.is_file()
        || word.extension().is_some_and(|end| end == "lbx" || end == "lbr")
        || word.components().count() > 1
}

/// The words of the command line. When the first of them is a file instead of a command, `show` is inserted
/// before it.
fn with_command(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    if let Some(first) = words.get(1) {
        let is_command = Args::command().get_subcommands().any(|command| first == command.get_name());
        if !is_command && (first == STDIO || is_file(Path::new(first))) {
            words.insert(1, "show".into());
        }
    }
    words
}
