//! Whether the database of advisories (RustSec) can be fetched.

use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Runs the command that fetches the advisories. Returns in one line why they are missing, or `None` when
/// they are there. It does not wait for the network beyond the limit.
///
/// # Errors
/// When the command cannot be run at all.
pub(super) fn missing(fetch: &mut Command, limit: Duration) -> Result<Option<String>> {
    let mut said = tempfile::tempfile().context("no temporary file")?;
    let own = |said: &File| said.try_clone().context("no second handle");
    let mut child = fetch
        .stdin(Stdio::null())
        .stdout(own(&said)?)
        .stderr(own(&said)?)
        .spawn()
        .context("cannot run cargo-deny")?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for cargo-deny")? {
            break status;
        }
        if begun.elapsed() > limit {
            // It may have ended in this moment.
            let _ = child.kill();
            child.wait().context("cannot wait for cargo-deny")?;
            return Ok(Some(format!("the database did not come within {} s", limit.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if status.success() {
        return Ok(None);
    }
    let mut text = Vec::new();
    said.rewind().and_then(|()| said.read_to_end(&mut text)).context("its output is gone")?;
    Ok(Some(reason(&String::from_utf8_lossy(&text)).unwrap_or_else(|| status.to_string())))
}

/// The last line of the output that has text. It is the cause, because cargo-deny prints a cause below its
/// consequence.
fn reason(said: &str) -> Option<String> {
    let mut lines = said
        .lines()
        .map(|line| line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ": └╰─│├".contains(c)));
    lines.rfind(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str) -> Option<String> {
        missing(Command::new("sh").args(["-c", script]), Duration::from_mins(2)).unwrap()
    }

    #[test]
    fn a_database_that_came_is_there() {
        assert_eq!(of("echo fetched"), None);
    }

    #[test]
    fn the_reason_is_the_cause() {
        let script = "printf 'error: failed to fetch\\n\\nCaused by:\\n  0: git\\n  1: no route to host\\n' >&2; exit 1";
        assert_eq!(of(script).unwrap(), "no route to host");
        assert_eq!(of("exit 3").unwrap(), "exit status: 3");
    }

    #[test]
    fn a_network_that_does_not_answer_is_given_up() {
        let waits = missing(Command::new("sleep").arg("1000"), Duration::from_millis(50)).unwrap();
        assert_eq!(waits.unwrap(), "the database did not come within 0 s");
    }
}
