//! Runs other programs and turns their failures into errors a person can act on.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How much of a failed program's output an error shows.
const SHOWN_LINES: usize = 20;

/// Runs a command to its end and returns its standard output. A failure shows the command's own words.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {name}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = errors.lines().chain(text.lines()).filter(|l| !l.trim().is_empty()).collect();
    let shown = said.get(..SHOWN_LINES).unwrap_or(&said).join("\n  ");
    bail!("{name} failed ({})\n  {shown}", output.status)
}

/// A command with arguments.
pub(crate) fn command<S: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Joins paths with `:` as class and library paths want them.
pub(crate) fn path_list<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> String {
    let paths: Vec<String> = paths.into_iter().map(|p| p.as_ref().display().to_string()).collect();
    paths.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_failure_are_told_apart() {
        assert_eq!(run(&mut command("sh", ["-c", "echo yes"])).unwrap(), "yes\n");
        let message = run(&mut command("sh", ["-c", "echo why >&2; exit 3"])).unwrap_err().to_string();
        assert!(message.contains("why") && message.contains('3'), "{message}");
        assert!(run(&mut command("/no/such/program", ["x"])).is_err());
    }
}
