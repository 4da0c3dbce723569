//! Writing to stdout (with colours and a pager on a terminal) and to stderr.

use crate::options::TerminalOptions;
use anyhow::Result;
use loopbox_report::{harmless, is_hidden};
use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Prints one line to stderr. The names of files and of archive entries, and the contents of reports, may
/// contain characters that a terminal interprets. These are replaced, and so are line breaks, because a
/// second line could seem to be the command's own.
pub(crate) fn print_error(what: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "loopbox: {}", harmless(&what.to_string()));
}

/// Prints to stderr several lines that the command wrote itself. Characters that a terminal interprets are
/// replaced.
pub(crate) fn print_lines(lines: &str) {
    let lines: Vec<String> = lines.lines().map(harmless).collect();
    let _ = writeln!(anstream::stderr(), "loopbox: {}", lines.join("\n"));
}

/// A path in a form that is safe in a line on a terminal.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&path.display().to_string())
}

/// Whether the reader of the output has closed it, as `head` does. That is not an error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe))
}

/// Text in which a terminal interprets only line breaks and styles. Code that builds a text makes foreign
/// content harmless first, because only that code knows which styles are its own. This is the last check of
/// the whole text.
fn for_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, c)) = rest.char_indices().find(|&(_, c)| !matches!(c, '\n' | '\t') && is_hidden(c)) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let style = from.strip_prefix("\u{1b}[").and_then(|from| {
            let end = from.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            from[end..].starts_with('m').then_some(2 + end + 1)
        });
        out.push_str(style.map_or("\u{FFFD}", |len| &from[..len]));
        rest = &from[style.unwrap_or(c.len_utf8())..];
    }
    out + rest
}

/// Writes text with ANSI styles to stdout: through a pager on a terminal, without styles elsewhere.
pub(crate) fn write_text(text: &str, terminal: &TerminalOptions) -> Result<()> {
    let text = &for_terminal(text);
    if terminal.plain {
        return Ok(anstream::StripStream::new(io::stdout().lock()).write_all(text.as_bytes())?);
    }
    // NO_COLOR, CLICOLOR and TERM=dumb are meant for what the pager shows, too. anstream forgets the last
    // where CI is set.
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let plain = dumb || anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let text = if plain {
        Cow::Owned(anstream::adapter::strip_str(text).to_string())
    } else {
        Cow::Borrowed(text.as_str())
    };
    if io::stdout().is_terminal() && page(&text) {
        return Ok(());
    }
    Ok(anstream::stdout().write_all(text.as_bytes())?)
}

/// Shows text in `$LOOPBOX_PAGER`, `$PAGER` or `less`; returns false when that program is `cat` or could not
/// be started.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_styles_and_lines_and_nothing_else() {
        let ours = "\u{1b}[1;31mé\u{1b}[0m\n\u{1b}[m";
        assert_eq!(for_terminal(ours), ours);
        let hostile = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{1b}[1\u{9b}31md\u{202E}\r\te\u{1b}";
        let shown = "a\u{FFFD}]0;title\u{FFFD}b\u{FFFD}[2Jc\u{FFFD}[1\u{FFFD}31md\u{FFFD}\u{FFFD}\te\u{FFFD}";
        assert_eq!(for_terminal(hostile), shown);
    }
}
