//! Writing to stdout (with colours and a pager on a terminal), to stderr and to files.

use crate::options::TerminalOptions;
use anyhow::{Context, Result};
use std::fmt::Arguments;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Prints one line to stderr.
pub(crate) fn print_error(what: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "loopbox: {what}");
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
    if io::stdout().is_terminal() && page(text) {
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

/// Writes plain text, such as JSON, to stdout.
pub(crate) fn write_plain(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Writes bytes to a file, or to stdout.
pub(crate) fn write_bytes(bytes: &[u8], file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        return std::fs::write(path, bytes).with_context(|| path.display().to_string());
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Writes a file that is either complete or not there at all.
pub(crate) fn write_whole_file<T>(path: &Path, write: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let written = || -> Result<T> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // As for any new file, the umask decides who may read it; temporary files are private by default.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let part = builder.tempfile_in(folder)?;
        let result = write(part.as_file())?;
        part.persist(path)?;
        Ok(result)
    };
    written().with_context(|| path.display().to_string())
}
