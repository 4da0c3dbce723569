//! How the end of a command is recognised. adb's own exit code is also 0 when the device disconnects before
//! the command has ended.

/// What a command's shell writes last on its standard error, before the exit code.
const MARK: &str = "loopbox: end of command, exit code ";

/// Maximum size of the mark in bytes, with the exit code.
pub(crate) const MAX_LEN: u64 = MARK.len() as u64 + 4;

/// The command with the mark after it. The command is one quoted word and runs in a separate shell, because
/// it may end its shell or replace it with another program.
pub(crate) fn marked(quoted: &str) -> String {
    format!("sh -c {quoted}\necho \"{MARK}$?\" >&2")
}

/// The standard error without the mark, and the exit code; `None` where the mark is missing.
pub(crate) fn of(stderr: &[u8]) -> Option<(&[u8], u8)> {
    let at = stderr.windows(MARK.len()).rposition(|window| window == MARK.as_bytes())?;
    let (before, mark) = stderr.split_at(at);
    let code = std::str::from_utf8(mark.get(MARK.len()..)?).ok()?;
    Some((before, code.trim_end().parse().ok()?))
}
