//! Writing: colours where they are wanted, a pager where a person reads, and no fuss when a pipe closes.

use crate::args::Terminal;
use anyhow::{Context, Result};
use std::fmt::Arguments;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Says one line on stderr.
pub(crate) fn complain(what: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "loopbox: {what}");
}

/// Whether the reader of our output has gone, as `head` does; that is no error of ours.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe))
}

/// Writes text with ANSI styles to stdout: through a pager on a terminal, without styles elsewhere.
pub(crate) fn text(text: &str, terminal: &Terminal) -> Result<()> {
    if terminal.plain {
        return Ok(anstream::StripStream::new(io::stdout().lock()).write_all(text.as_bytes())?);
    }
    if io::stdout().is_terminal() && page(text) {
        return Ok(());
    }
    Ok(anstream::stdout().write_all(text.as_bytes())?)
}

/// Shows text in `$LOOPBOX_PAGER`, `$PAGER` or `less`; false when there is none that runs.
///
/// `less` gets `-FRX`, unless `$LESS` says otherwise: quit when it all fits, keep colours and the screen.
fn page(text: &str) -> bool {
    let from_env = |name| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
    let pager = from_env("LOOPBOX_PAGER").or_else(|| from_env("PAGER")).unwrap_or_else(|| "less".into());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(stdin) = &mut child.stdin {
        // The reader may quit before the end.
        let _ = stdin.write_all(text.as_bytes());
    }
    drop(child.stdin.take());
    let _ = child.wait();
    true
}

/// Writes plain text, such as JSON, to stdout.
pub(crate) fn plain(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Writes bytes to a file, or to stdout.
pub(crate) fn bytes(bytes: &[u8], file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        return std::fs::write(path, bytes).with_context(|| path.display().to_string());
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
