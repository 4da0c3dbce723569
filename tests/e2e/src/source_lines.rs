//! The lines of frames, looked up in the sources of the tests' apps.

use anyhow::{Context, Result, ensure};
use loopbox_report::{Analysis, Frame};
use loopbox_setup::workspace::root;
use std::fs;

/// Checks the app's frames in stacks that have the outermost frame first. The line of a frame, in the source
/// below `tests/app`, must call the method of the next frame. Returns how many frames were checked.
///
/// # Errors
/// With the first frame that has no line, or whose line does not call the next frame's method.
pub fn check_lines(stacks: &[Vec<&Frame>], package: &str) -> Result<usize> {
    let mut checked = 0;
    for stack in stacks {
        for pair in stack.windows(2) {
            let [caller, callee] = pair else { continue };
            if !caller.class.starts_with(package) || callee.method.starts_with("access$") {
                continue;
            }
            let folder = caller.class.rsplit_once('.').map_or("", |(folder, _)| folder).replace('.', "/");
            let source = root().join("tests/app").join(folder).join(&caller.file);
            let text = fs::read_to_string(&source).with_context(|| format!("{}", source.display()))?;
            let number = caller.line.with_context(|| format!("{} has no line", caller.full()))?;
            let line = text.lines().nth(number as usize - 1).context("no such line")?;
            let called = callee.method.split('$').next().unwrap_or_default();
            ensure!(line.contains(&format!("{called}(")), "{} does not call {called}: {line}", caller.full());
            checked += 1;
        }
    }
    Ok(checked)
}

/// All stacks of a report, each once, with the outermost frames first.
pub fn all_stacks(analysis: &Analysis) -> Vec<Vec<&Frame>> {
    let trees = analysis.trees.iter();
    let stacks = trees.flat_map(|tree| tree.stack_runs().into_iter().map(|run| tree.stack(run.top)));
    stacks.map(|stack| stack.into_iter().map(|frame| &analysis.frames[frame]).collect()).collect()
}
