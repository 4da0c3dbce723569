//! Writing to stdout (with colours and a pager on a terminal) and to stderr.

use crate::options::TerminalOptions;
use anyhow::Result;
use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Command, Stdio};

/// Prints one line to stderr. What names of files and contents of reports would do to a terminal is left out.
pub(crate) fn print_error(what: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "loopbox: {}", harmless(&what.to_string()));
}

/// Text without characters that a terminal acts on, except for line breaks.
pub(crate) fn harmless(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', "\u{FFFD}")
}

/// Whether the reader of the output has closed it, as `head` does. That is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe))
}

/// Writes text with ANSI styles to stdout: through a pager on a terminal, without styles elsewhere.
pub(crate) fn write_text(text: &str, terminal: &TerminalOptions) -> Result<()> {
    if terminal.plain {
        return Ok(anstream::StripStream::new(io::stdout().lock()).write_all(text.as_bytes())?);
    }
    // NO_COLOR, CLICOLOR and TERM=dumb are meant for what the pager shows, too. anstream forgets the last where CI is set.
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let plain = dumb || anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let text =
        if plain { Cow::Owned(anstream::adapter::strip_str(text).to_string()) } else { Cow::Borrowed(text) };
    if io::stdout().is_terminal() && page(&text) {
        return Ok(());
    }
    Ok(anstream::stdout().write_all(text.as_bytes())?)
}

/// Shows text in `$LOOPBOX_PAGER`, `$PAGER` or `less`; returns false when no pager could be started.
///
/// Unless `$LESS` is set, `less` gets `-FRX`: it quits when the text fits, and keeps colours and the screen.
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
        // The user may quit before the end.
        let _ = stdin.write_all(text.as_bytes());
    }
    drop(child.stdin.take());
    let _ = child.wait();
    true
}

/// Writes plain text, such as JSON, or bytes to stdout.
pub(crate) fn write_plain(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes.as_ref())?;
    Ok(out.flush()?)
}
